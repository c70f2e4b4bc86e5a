# SPDX-License-Identifier: BSD-3-Clause
"""Finished trees in a folder, so that a fit that was stopped can go on.

Every file of trees is a model file of the local forest. It is checked when it is read, and is
useful even if the fit is never finished.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path

from co2forest.estimators.forest import Forest
from co2forest.exceptions import ModelFormatError
from co2forest.files.atomic import write_atomically
from co2forest.files.messages import shown
from co2forest.files.model_file import load_model, save_model

_FORMAT = "co2forest dask fit 1"
_ABOUT = "fit.json"
_DAMAGES = (ValueError, KeyError, TypeError, AttributeError)


class Checkpoint:
    """The folder of a fit.

    ``problem`` holds a digest of everything that the trees depend on; a folder of another problem
    is refused. If the folder has a seed, it replaces the given one, and must equal it if that is
    ``fixed``.
    """

    def __init__(
        self, folder: str | os.PathLike[str], problem: Mapping[str, str], seed: int, *, fixed: bool
    ) -> None:
        self._folder = Path(folder)
        self.seed = seed
        about = self._folder / _ABOUT
        if about.exists():
            self._read(about, problem, fixed=fixed)
            return
        if self._folder.exists() and (not self._folder.is_dir() or any(self._folder.iterdir())):
            raise ValueError(
                f"checkpoint={os.fspath(folder)!r} must be a folder that does not exist yet, is "
                "empty, or has been the checkpoint of the same fit"
            )
        self._folder.mkdir(parents=True, exist_ok=True)
        content = {"format": _FORMAT, "problem": dict(problem), "seed": seed}
        text = json.dumps(content, indent=1)
        write_atomically(about, lambda file: file.write_text(text, encoding="utf-8"))

    def _read(self, about: Path, problem: Mapping[str, str], *, fixed: bool) -> None:
        name = f"checkpoint={os.fspath(self._folder)!r}"
        try:
            content = json.loads(about.read_text(encoding="utf-8"))
            if content["format"] != _FORMAT or type(content["seed"]) is not int:
                raise ValueError(shown(content))
            stored = content["problem"]
            differing = [name for name in problem if stored.get(name) != problem[name]]
        except _DAMAGES as error:
            raise ValueError(
                f"{name}: {_ABOUT} is damaged ({shown(str(error))}); delete the folder to start "
                "again"
            ) from error
        if fixed and content["seed"] != self.seed:
            differing.append("random_state")
        if differing:
            raise ValueError(
                f"{name} belongs to another fit: it differs in {', '.join(differing)}; name "
                "another folder, or delete it to start again"
            )
        self.seed = content["seed"]

    def keep(self, first_tree: int, trees: Forest) -> None:
        """Store a fitted forest of trees, the first of which has this number."""
        save_model(trees, self._folder / f"trees-{first_tree:06d}.safetensors")

    def kept(self) -> dict[int, Forest]:
        """All that is stored, by the number of the first tree."""
        files = sorted(self._folder.glob("trees-[0-9]*.safetensors"))
        return {int(path.stem.removeprefix("trees-")): _load(path) for path in files}


def _load(path: Path) -> Forest:
    try:
        trees: Forest = load_model(path)
    except ModelFormatError as error:
        raise ValueError(f"{error}; delete the file, and its trees will be grown again") from error
    return trees
