# SPDX-License-Identifier: BSD-3-Clause
"""Scores in a file, so that an interrupted search can go on."""

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from co2forest.files.atomic import write_atomically
from co2forest.files.messages import finite, shown
from co2forest.tuning._scores import Score

_FORMAT = "co2forest tuning 1"
_DAMAGES = (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError)


class Memory:
    """Scores that nobody needs after the search."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._scores: dict[str, Score] = {}

    def get(self, stage: str, number: int, trees: int) -> Score | None:
        """The score, if it is known."""
        return self._scores.get(_key(stage, number, trees))

    def put(self, stage: str, number: int, trees: int, score: Score) -> None:
        """Remember a score."""
        self._scores[_key(stage, number, trees)] = score


class Checkpoint(Memory):
    """Scores that are in a file as soon as they are known.

    ``problem`` names what the scores depend on, each with its digest; a file of another
    problem is refused. The seed is that of the file if there is one; ``fixed``: it must be equal.
    """

    def __init__(
        self, path: str | os.PathLike[str], problem: Mapping[str, str], seed: int, *, fixed: bool
    ) -> None:
        super().__init__(seed)
        self._path = Path(path)
        self._problem = dict(problem)
        self._fixed = fixed
        if self._path.exists():
            self._read()
        else:
            self._write()  # tells now, not after an hour, if that is impossible

    def put(self, stage: str, number: int, trees: int, score: Score) -> None:
        """Remember a score in the file."""
        super().put(stage, number, trees, score)
        self._write()

    def _read(self) -> None:
        if not self._path.is_file():
            raise ValueError(f"checkpoint={os.fspath(self._path)!r} is not a regular file")
        try:
            text = self._path.read_text(encoding="utf-8")
            content = json.loads(text, parse_constant=_refuse_constant)
            if content["format"] != _FORMAT:
                raise ValueError(f"format {shown(content['format'])}")
            problem, seed, scores = content["problem"], content["seed"], content["scores"]
            known = {str(key): _decode(values) for key, values in scores.items()}
            differing = [name for name in self._problem if problem.get(name) != self._problem[name]]
            if type(seed) is not int or not 0 <= seed < 2**32:
                raise ValueError(f"seed {shown(seed)}")
        except _DAMAGES as error:
            raise self._damaged(f"{type(error).__name__}: {shown(str(error))}") from error
        if differing:
            raise ValueError(
                f"checkpoint={os.fspath(self._path)!r} belongs to another search: it differs in "
                f"{', '.join(differing)}; name another file, or delete it to start again"
            )
        if self._fixed and seed != self.seed:
            raise self._damaged(f"seed {seed}, but random_state stands for {self.seed}")
        self.seed = seed
        self._scores = known

    def _damaged(self, reason: str) -> ValueError:
        return ValueError(
            f"checkpoint={os.fspath(self._path)!r} is damaged or not a checkpoint of tune_forest "
            f"({reason}); delete it to start again"
        )

    def _write(self) -> None:
        content = {
            "format": _FORMAT,
            "problem": self._problem,
            "seed": self.seed,
            "scores": finite(self._scores),
        }
        text = json.dumps(content, indent=1, allow_nan=False)
        write_atomically(self._path, lambda file: file.write_text(text, encoding="utf-8"))


def _key(stage: str, number: int, trees: int) -> str:
    return f"{stage} {number}, {trees} trees"


def _decode(values: Any) -> Score:
    plain = isinstance(values, list) and len(values) == len(Score._fields)
    if not plain or not all(
        value is None or (type(value) in (int, float) and math.isfinite(value)) for value in values
    ):
        raise ValueError(f"score {shown(values)}")
    return Score(*(math.nan if value is None else float(value) for value in values))


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number in JSON")
