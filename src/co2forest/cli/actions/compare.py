# SPDX-License-Identifier: BSD-3-Clause
"""``co2forest compare``: a CO2 forest beside other forests and boosting, on a table."""

import pickle
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.model_selection import KFold, StratifiedKFold
from threadpoolctl import threadpool_limits

from co2forest.cli.codes import Preparation, as_they_are, codes, few_categories
from co2forest.cli.layout import rows_text, size_text
from co2forest.cli.messages import progress_bar, say, say_json
from co2forest.cli.scores import split
from co2forest.cli.tables import Training, name_of, new_estimator, read_training
from co2forest.files.atomic import write_atomically
from co2forest.files.messages import one_line

Rows = npt.NDArray[np.intp]

_OWN, _OTHERS, _FOLDS = "#b3261e", "#7a8ca3", "#222222"  # colours of a picture


@dataclass
class Method:
    """A method, and what it has done in all folds."""

    name: str
    estimator: Any
    takes: Callable[[], Preparation] = as_they_are  # how it gets the columns
    fold_errors: list[float] = field(default_factory=list)
    losses: list[npt.NDArray[np.float64]] = field(default_factory=list)  # of rows
    seconds: list[float] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)


def run(
    *,
    data: Path,
    plot: Path | None,
    folds: int,
    held_out: float | None,
    trees: int,
    boost: bool,
    overwrite: bool,
    jobs: int,
    seed: int,
    quiet: bool,
    as_json: bool,
    **columns: Any,
) -> None:
    """Fit all on the same rows, test all on the same others, print and draw."""
    if plot is not None:
        _check_matplotlib()
    training, _ = read_training(data, plot, overwrite=overwrite, **columns)
    splits = list(_splits(training, folds, held_out, seed))
    methods = _methods(training, trees=trees, boost=boost, jobs=jobs, seed=seed)
    # Gradient boosting has no n_jobs.
    limits = threadpool_limits(None if jobs < 0 else jobs, user_api="openmp")
    total = len(splits) * len(methods)
    with limits, progress_bar(total, unit="fits", quiet=quiet) as progress:
        done = 0
        for train, test in splits:
            fold = _Fold(training, train, test)
            for method in methods:
                fold.run(method)
                done += 1
                progress(done)
    tested = np.concatenate([test for _, test in splits])
    weights = training.subset(tested)[2]
    results = [_result(m, methods[0], weights, classes=training.classes) for m in methods]
    how = f"{folds}-fold cross-validation"
    if held_out is not None:
        how = f"test on {len(tested)} rows held out"
    if plot is not None:
        _draw(plot, results, classes=training.classes, target=training.target, how=how)
    if as_json:
        say_json(
            {
                "data": name_of(data),
                "rows": len(training.y),
                "target": training.target,
                "task": training.answers.task,
                "test": how,
                "methods": results,
                "plot": None if plot is None else str(plot),
            }
        )
        return
    say(_text(results, classes=training.classes))
    error = "fraction of wrong classes" if training.classes else "root mean squared error"
    say(
        f"\nError: {error}; {how}.\n"
        "Difference is that from the CO2 forest; an asterisk marks those within noise,\n"
        "which is twice their standard error. Size is that of the pickled model."
    )
    if plot is not None:
        say(f"{one_line(plot)}: drawn")


def _splits(
    training: Training, folds: int, held_out: float | None, seed: int
) -> Iterator[tuple[Rows, Rows]]:
    """Rows to train with and rows to test with."""
    n = len(training.y)
    if held_out is not None:
        yield split(training.y, held_out, seed, classes=training.classes)
        return
    if n < 2 * folds:
        raise ValueError(f"{name_of(training.path)}: {n} rows are too few for --folds {folds}")
    smallest = np.unique(training.y, return_counts=True)[1].min() if training.classes else 0
    kind = StratifiedKFold if smallest >= folds else KFold
    yield from kind(folds, shuffle=True, random_state=seed).split(np.empty(n), training.y)


def _methods(training: Training, *, trees: int, boost: bool, jobs: int, seed: int) -> list[Method]:
    random_forest, extra_trees, boosting = (
        (RandomForestClassifier, ExtraTreesClassifier, HistGradientBoostingClassifier)
        if training.classes
        else (RandomForestRegressor, ExtraTreesRegressor, HistGradientBoostingRegressor)
    )
    shared: dict[str, Any] = {"n_jobs": jobs, "random_state": seed}
    found = [
        Method("CO2 forest", new_estimator(training, "forest", n_estimators=trees, **shared)),
        Method("random forest", random_forest(trees, **shared), codes),
        Method("extra trees", extra_trees(trees, **shared), codes),
        Method("gradient boosting", boosting(random_state=seed), few_categories),
    ]
    if boost:
        boosted = new_estimator(training, "boosting", n_estimators=trees, **shared)
        found.insert(1, Method("boosted CO2 trees", boosted))
    return found


class _Fold:
    """Rows to train and to test with, encoded by what the training rows have."""

    def __init__(self, training: Training, train: Rows, test: Rows) -> None:
        features, self._y, self._weights = training.subset(train)
        others, self._truth, self._test_weights = training.subset(test)
        encoder = clone(training.encoder).fit(features)
        self._X, self._X_test = encoder.transform(features), encoder.transform(others)
        self._classes = training.classes

    def run(self, method: Method) -> None:
        """Fit, test and measure one of them."""
        prepare = method.takes()
        X, X_test = prepare.fit_transform(self._X), prepare.transform(self._X_test)
        estimator = clone(method.estimator)
        started = time.perf_counter()
        estimator.fit(X, self._y, sample_weight=self._weights)
        method.seconds.append(time.perf_counter() - started)
        method.sizes.append(len(pickle.dumps(estimator)))
        predicted = estimator.predict(X_test)
        losses = (
            (predicted != self._truth).astype(np.float64)
            if self._classes
            else (predicted - self._truth) ** 2
        )
        method.losses.append(losses)
        mean = np.average(losses, weights=self._test_weights)
        method.fold_errors.append(_error(mean, classes=self._classes))


def _error(mean_loss: Any, *, classes: bool) -> float:
    """In percent for classes; the RMSE for numbers."""
    return 100 * float(mean_loss) if classes else float(mean_loss) ** 0.5


def _result(
    method: Method, first: Method, weights: npt.NDArray[np.float64] | None, *, classes: bool
) -> dict[str, Any]:
    """What is shown about a method."""
    losses, own = np.concatenate(method.losses), np.concatenate(first.losses)
    unit = np.ones(len(losses)) if weights is None else weights / weights.mean()
    mean, mean_of_first = np.average(losses, weights=unit), np.average(own, weights=unit)
    # Both have met the same rows, so the difference is known better than the errors.
    differences = (losses - own) * unit
    standard_error = float(differences.std() / len(differences) ** 0.5)
    error = _error(mean, classes=classes)
    return {
        "method": method.name,
        "error_percent" if classes else "rmse": error,
        "difference": error - _error(mean_of_first, classes=classes),
        "within_noise": bool(abs(differences.mean()) <= 2 * standard_error),
        "folds": method.fold_errors,
        "fit_seconds": float(np.mean(method.seconds)),
        "bytes": round(float(np.mean(method.sizes))),
    }


def _text(results: list[dict[str, Any]], *, classes: bool) -> str:
    key = "error_percent" if classes else "rmse"
    number = ".2f" if classes else ".4g"
    unit = " %" if classes else ""
    rows = []
    for place, result in enumerate(results):
        difference = f"{result['difference']:+{number}}{unit}"
        mark = " *" if result["within_noise"] and place else "  "
        rows.append(
            (
                result["method"],
                f"{result[key]:{number}}{unit}",
                "" if place == 0 else difference + mark,
                f"{result['fit_seconds']:.2f} s",
                size_text(result["bytes"]),
            )
        )
    columns = ("method", "error" if classes else "RMSE", "difference  ", "fit time", "size")
    return rows_text(columns, rows, left=["method"])


def _check_matplotlib() -> None:
    """Before the work begins."""
    try:
        import matplotlib  # noqa: ICN001, F401
    except ImportError as error:
        raise ImportError("--plot needs matplotlib: pip install 'co2forest[plot]'") from error


def _draw(
    path: Path, results: list[dict[str, Any]], *, classes: bool, target: str, how: str
) -> None:
    """Errors with those of the folds, and fit times beside them."""
    from matplotlib.figure import Figure  # which needs no display

    key = "error_percent" if classes else "rmse"
    names = [result["method"] for result in results]
    colours = [_OWN if "CO2" in name else _OTHERS for name in names]
    figure = Figure(figsize=(9, 1.4 + 0.45 * len(names)), layout="constrained")
    errors, times = figure.subplots(1, 2, sharey=True)
    errors.barh(names, [result[key] for result in results], color=colours, height=0.62)
    for place, result in enumerate(results):
        if len(result["folds"]) > 1:
            places = [place] * len(result["folds"])
            errors.plot(result["folds"], places, "o", color=_FOLDS, markersize=3, alpha=0.6)
    dots = " (dots: folds)" if len(results[0]["folds"]) > 1 else ""
    errors.set_xlabel(("wrong classes, %" if classes else "root mean squared error") + dots)
    errors.invert_yaxis()
    bars = times.barh(
        names, [result["fit_seconds"] for result in results], color=colours, height=0.62
    )
    times.bar_label(bars, fmt="%.2f", padding=3, fontsize=9)
    times.margins(x=0.12)
    times.set_xlabel("fit time, s")
    for axes in (errors, times):
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(axis="y", length=0)
    figure.suptitle(f"{target}: {how}", fontsize=11)
    form = path.suffix.lower().removeprefix(".")
    write_atomically(path, lambda file: figure.savefig(file, format=form, dpi=150))
