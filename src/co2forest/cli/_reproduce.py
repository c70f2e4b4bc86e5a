"""``co2forest reproduce``: Table 1 of the paper, measured here."""

import csv
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from co2forest import CO2ForestClassifier
from co2forest.cli._messages import complain, nearest, progress_bar, say, say_json
from co2forest.datasets import Dataset, DatasetNotFoundError, load_dataset
from co2forest.tuning import PAPER_GRID, tune_forest

_CHUNK = 20  # trees between two looks at the progress
_QUICK_SETS = ("satimage", "pendigits")  # seconds each

# Both solvers and several q beside the paper's grid, as in benchmarks/paper.
_GRID: list[dict[str, list[Any]]] = [
    {**PAPER_GRID, "max_features": ["sqrt"]},
    {"solver": ["auto", "cccp"], "max_features": [1, 2, "log2", "sqrt"]},
]
_TRIALS: dict[str, Any] = {"trial_n_estimators": 30, "n_splits": 3}
_QUICK_TRIALS: dict[str, Any] = {"trial_n_estimators": 10, "n_splits": 1}


@dataclass(frozen=True)
class Published:
    """Test errors of the paper's Table 1, in percent; OC1 was too slow for some sets."""

    co2: float
    random_forest: float
    oc1: float | None


def published() -> dict[str, dict[int, Published]]:
    """Table 1 of the paper, by set and number of trees."""
    table: dict[str, dict[int, Published]] = {}
    text = files("co2forest.cli").joinpath("paper_table1.csv").read_text(encoding="ascii")
    for row in csv.DictReader(text.splitlines()):
        table.setdefault(row["set"], {})[int(row["trees"])] = Published(
            co2=float(row["co2"]),
            random_forest=float(row["random_forest"]),
            oc1=float(row["oc1"]) if row["oc1"] else None,
        )
    return table


def run(
    sets: list[str],
    data: Path | None,
    *,
    quick: bool,
    jobs: int,
    seed: int,
    quiet: bool,
    as_json: bool,
) -> None:
    """Choose parameters, grow, test and print, set after set."""
    table = published()
    results: list[dict[str, Any]] = []
    for dataset in _load(sets, data, list(table), quick=quick):
        if not quiet:
            complain(f"{dataset.name}: choosing parameters, then growing trees")
        sizes = [size for size in table[dataset.name] if not quick or size < 1000]
        parameters, errors = _measure(
            dataset, sizes, quick=quick, jobs=jobs, seed=seed, quiet=quiet
        )
        if not as_json:
            _say_errors(dataset, errors, table[dataset.name], first=not results)
        results.append(
            {
                "set": dataset.name,
                "train_rows": len(dataset.y_train),
                "test_rows": len(dataset.y_test),
                "parameters": parameters,
                "sizes": [
                    {"trees": size, "error_percent": error}
                    | {f"paper_{name}": v for name, v in vars(table[dataset.name][size]).items()}
                    for size, error in errors.items()
                ],
            }
        )
    if as_json:
        say_json({"seed": seed, "sets": results})
    else:
        say(_EXPLAINED)


def _load(
    asked: list[str], folder: Path | None, known: list[str], *, quick: bool
) -> Iterator[Dataset]:
    """The sets that were asked for, or all that are on this machine."""
    if asked:
        for name in asked:
            if name not in known:
                raise ValueError(f"--sets: there is no {name}{nearest(name, known)}")
        for name in asked:
            yield load_dataset(name, folder=folder)
        return
    missing = []
    for name in _QUICK_SETS if quick else known:
        try:
            yield load_dataset(name, folder=folder, download=False)
        except DatasetNotFoundError as error:
            if folder is not None and not folder.is_dir():
                raise
            missing.append((name, error))
        else:
            if quick:
                return
    if quick:
        yield load_dataset(_QUICK_SETS[0], folder=folder)
        return
    if len(missing) == len(known):
        raise DatasetNotFoundError(
            "no data set of the paper is on this machine: name a folder by --data (or "
            f"CO2FOREST_DATA), or download one by --sets {_QUICK_SETS[0]} or another of "
            f"{', '.join(known)}"
        )
    if missing:
        names = ",".join(name for name, _ in missing)
        complain(f"note: not on this machine: {names}; --sets {names} downloads them")


def _measure(
    dataset: Dataset, sizes: list[int], *, quick: bool, jobs: int, seed: int, quiet: bool
) -> tuple[dict[str, Any], dict[int, float]]:
    """The chosen parameters, and the test error in percent of each size."""
    tuned = tune_forest(
        dataset.X_train,
        dataset.y_train,
        estimator=CO2ForestClassifier(n_jobs=jobs, random_state=seed),
        grid=_GRID,
        method="halving",
        standard_errors=0,
        refit=False,
        random_state=seed,
        verbose=0 if quiet else 1,
        **(_QUICK_TRIALS if quick else _TRIALS),
    )
    forest = tuned.estimator.set_params(warm_start=True)
    blocks = _Blocks(sizes, dataset.y_test)
    with progress_bar(max(sizes), unit="trees", quiet=quiet) as progress:
        grown = 0
        while grown < max(sizes):
            trees = min(grown + _CHUNK, max(sizes))
            forest.set_params(n_estimators=trees).fit(dataset.X_train, dataset.y_train)
            for tree in forest.estimators_[grown:]:
                blocks.add(tree.predict_proba(dataset.X_test))
            grown = trees
            progress(grown)
    return tuned.best_params, blocks.errors()


class _Blocks:
    """Errors of forests that are disjoint blocks of trees of the largest: less noise of seeds."""

    def __init__(self, sizes: list[int], truth: npt.NDArray[np.int64]) -> None:
        self._truth = truth
        self._sums: dict[int, Any] = dict.fromkeys(sizes, 0)
        self._found: dict[int, list[float]] = {size: [] for size in sizes}
        self._trees = 0

    def add(self, probabilities: npt.NDArray[np.float64]) -> None:
        """One more tree; labels are numbers of classes."""
        self._trees += 1
        for size in self._sums:
            self._sums[size] = self._sums[size] + probabilities
            if self._trees % size == 0:
                wrong = self._sums[size].argmax(axis=1) != self._truth
                self._found[size].append(100 * float(wrong.mean()))
                self._sums[size] = 0

    def errors(self) -> dict[int, float]:
        """Of each size the mean over its blocks."""
        return {size: float(np.mean(found)) for size, found in self._found.items()}


_COLUMNS = (
    f"{'':18}{'CO2 forest':^35}   {'others, in the paper':>20}\n"
    f"{'set':9}   {'trees':>5}   {'here':>5}   {'paper':>5}   {'difference':18}   "
    f"{'random forest':>13}   {'OC1':>4}"
)

_EXPLAINED = """
Test errors in percent. A difference within noise is smaller than twice its
standard error on so many test rows; a negative one is in favour of this library."""


def _say_errors(
    dataset: Dataset, errors: dict[int, float], table: dict[int, Published], *, first: bool
) -> None:
    if first:
        say(_COLUMNS)
    for size, error in errors.items():
        paper = table[size]
        difference = error - paper.co2
        noise = _noise(error, paper.co2, len(dataset.y_test))
        mark = "within noise" if abs(difference) < noise else ""
        oc1 = "-" if paper.oc1 is None else f"{paper.oc1:.1f}"
        say(
            f"{dataset.name:9}   {size:5}   {error:5.2f}   {paper.co2:5.1f}   {difference:+.2f} "
            f"{mark:12}   {paper.random_forest:13.1f}   {oc1:>4}"
        )
    sys.stdout.flush()  # the next set may take an hour


def _noise(error: float, other: float, rows: int) -> float:
    """Twice the standard error of a difference, of percents of independent rows."""
    return 2 * math.sqrt((error * (100 - error) + other * (100 - other)) / rows)
