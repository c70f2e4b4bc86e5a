"""Finished trees in a folder, so that a fit that was stopped can go on.

Every file of trees is a model file of the local estimator: checked when it is read, and of use even
if the fit is never finished.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path

from co2forest._files import write_atomically
from co2forest._forest import BaseForest
from co2forest._stored import shown
from co2forest.exceptions import ModelFormatError
from co2forest.model_file import load_model, save_model

_FORMAT = "co2forest dask fit 1"
_ABOUT = "fit.json"
_DAMAGES = (ValueError, KeyError, TypeError, AttributeError)


class Checkpoint:
    """The folder of a fit.

    ``problem`` names what the trees depend on, each part with its digest; a folder of another
    problem is refused. The seed is that of the folder, if there is one; ``fixed``: it must be
    equal.
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
            differing = [part for part in problem if content["problem"].get(part) != problem[part]]
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

    def keep(self, first_tree: int, trees: BaseForest) -> None:
        """Store trees, a fitted forest of their own, that begin with a number."""
        save_model(trees, self._folder / f"trees-{first_tree:06d}.safetensors")

    def kept(self) -> dict[int, BaseForest]:
        """All that is stored, by the number of the first tree."""
        return {int(path.stem.removeprefix("trees-")): _load(path) for path in self._files()}

    def _files(self) -> list[Path]:
        return sorted(self._folder.glob("trees-[0-9]*.safetensors"))


def _load(path: Path) -> BaseForest:
    try:
        trees: BaseForest = load_model(path)
    except ModelFormatError as error:
        raise ValueError(f"{error}; delete the file, and its trees will be grown again") from error
    return trees
