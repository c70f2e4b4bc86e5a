# SPDX-License-Identifier: BSD-3-Clause
"""``co2forest train``: a model of a table, and an honest estimate of its error."""

import shlex
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import typer
from sklearn.base import clone

from co2forest.cli.actions.tune import chosen_text, search, search_json
from co2forest.cli.layout import pairs_text, size_text
from co2forest.cli.messages import complain, counted, say, say_json
from co2forest.cli.models import family
from co2forest.cli.scores import (
    FEWEST_ROWS,
    guess_error,
    headline,
    interval_text,
    number_text,
    split,
)
from co2forest.cli.tables import (
    STANDARD_INPUT,
    Training,
    name_of,
    new_estimator,
    read_training,
)
from co2forest.files.messages import one_line
from co2forest.models.ensemble import EnsembleView, view_of_features
from co2forest.models.evaluation import Evaluation
from co2forest.models.view import ModelView
from co2forest.tables import TableModel
from co2forest.tuning import TuningResult


@dataclass(frozen=True)
class _Estimate:
    """Metrics on held-out rows, and the error of a guess there."""

    metrics: list[dict[str, Any]]
    guess: float
    n_train: int
    n_test: int


def run(
    *,
    data: Path,
    out: Path,
    model: str | None,
    trees: int | None,
    rounds: int | None,
    tune: bool,
    held_out: float,
    overwrite: bool,
    jobs: int,
    seed: int,
    quiet: bool,
    as_json: bool,
    **columns: Any,
) -> None:
    """Read, estimate the error, train on all rows, write and print."""
    model = model or ("forest" if tune else "ensemble")
    parameters = _parameters(model, trees, rounds, tune=tune)
    training, _ = read_training(data, out, overwrite=overwrite, **columns)
    started = time.monotonic()
    verbose = 0 if quiet else 1
    parameters |= {"n_jobs": jobs, "random_state": seed, "verbose": verbose}
    estimator = new_estimator(training, model, **parameters)
    estimate, tuning = _try_out(training, estimator, held_out, tune=tune, seed=seed, quiet=quiet)
    if tuning is not None:
        estimator = tuning.estimator.set_params(verbose=verbose)
    if not quiet:
        n_rows = len(training.y)
        complain(f"training on {f'all {n_rows} rows' if n_rows > 1 else 'one row'}")
    fitted = _new_model(training, estimator)
    fitted.fit(training.features, training.y, training.row_weights)
    fitted.save(out)
    seconds = time.monotonic() - started
    if as_json:
        say_json(_json(training, fitted, out, estimate, tuning, seconds))
    else:
        say(_text(training, fitted, out, estimate, tuning, seconds))


def _parameters(model: str, trees: int | None, rounds: int | None, *, tune: bool) -> dict[str, Any]:
    """What the options say about the estimator; those that have no meaning for it are refused."""
    meant = {
        "--trees": (trees, {"ensemble": "n_estimators", "forest": "n_estimators"}),
        "--rounds": (rounds, {"ensemble": "n_rounds", "boosting": "n_estimators"}),
        "--tune": (tune or None, {"forest": ""}),
    }
    given: dict[str, Any] = {}
    for option, (value, names) in meant.items():
        if value is not None and model not in names:
            raise typer.BadParameter(f"has no meaning with --model {model}", param_hint=option)
        if value is not None:
            given[names[model]] = value
    if given.pop("", False):
        given["mixture"] = None  # what tuning chooses are parameters of hyperplanes
    return given


def _new_model(training: Training, estimator: Any) -> TableModel:
    return TableModel(
        clone(estimator),
        target=training.target,
        task=training.answers.task,
        encoder=training.encoder,
    )


def _try_out(
    training: Training, estimator: Any, held_out: float, *, tune: bool, seed: int, quiet: bool
) -> tuple[_Estimate | None, TuningResult | None]:
    """The error on rows held out, of the estimator or of what a search without them has chosen."""
    n = len(training.y)
    if held_out == 0 or n < FEWEST_ROWS:
        if held_out:
            complain(f"note: no estimate of the error, which needs {FEWEST_ROWS} rows")
        rows = slice(None)
        return None, _tune(training, rows, estimator, seed=seed, quiet=quiet) if tune else None
    train, test = split(training.y, held_out, seed, classes=training.classes)
    tuning = _tune(training, train, estimator, seed=seed, quiet=quiet) if tune else None
    chosen = estimator if tuning is None else tuning.estimator
    if not quiet:
        complain(f"estimating the error: training on {len(train)} rows, testing on {len(test)}")
    features, y, weights = training.subset(train)
    others, truth, test_weights = training.subset(test)
    try:
        trial = _new_model(training, chosen).fit(features, y, weights)
        evaluation = Evaluation.of(trial, others, truth, test_weights)
    except ValueError as error:  # all rows together are fine
        left = counted(len(train), "row")
        raise ValueError(
            f"{name_of(training.path)}: with --held-out {held_out:g}, training on {left} and "
            f"testing on {len(test)} fails: {error}; try another fraction, or 0 for no estimate"
        ) from error
    guess = guess_error(y, weights, truth, test_weights, classes=training.classes)
    return _Estimate(headline(evaluation), guess, len(train), len(test)), tuning


def _tune(
    training: Training,
    rows: npt.NDArray[np.intp] | slice,
    estimator: Any,
    *,
    seed: int,
    quiet: bool,
) -> TuningResult:
    features, y, weights = training.subset(rows)
    X = clone(training.encoder).fit_transform(features)
    silent = clone(estimator).set_params(verbose=0)  # the search has a progress of its own
    return search(X, y, silent, weights=weights, method="halving", seed=seed, quiet=quiet)


def _text(
    training: Training,
    model: TableModel,
    out: Path,
    estimate: _Estimate | None,
    tuning: TuningResult | None,
    seconds: float,
) -> str:
    lines = [("model", f"{one_line(out)}, {size_text(out.stat().st_size)}")]
    kind = family(model.estimator_)
    lines.append(("kind", f"{kind} ({_trees(model)}) that predicts {_answers(model)}"))
    features = counted(len(view_of_features(model).feature_names), "feature")
    columns = counted(len(model.encoder_.columns_), "column")
    rows = counted(len(training.y), "row")
    lines.append(("trained", f"on {rows}, {features} of {columns}, in {seconds:.1f} s"))
    if tuning is not None:
        lines.append(("parameters", chosen_text(tuning)))
    lines += _estimate_lines(estimate, classes=training.classes)
    return f"{pairs_text(lines)}\n\nNext:\n{_next_steps(training, out)}"


def _trees(model: TableModel) -> str:
    """How many trees there are; in an ensemble, with the weights of its members."""
    ensemble = EnsembleView.of(model)
    if ensemble is None:
        return counted(ModelView.of(model).n_trees, "tree")
    shares = ensemble.forest_share, 1 - ensemble.forest_share
    units = "tree", "round"
    return ", ".join(
        f"{counted(view.n_trees, unit)} with {100 * share:.0f} % of the weight"
        for view, unit, share in zip(ensemble.views, units, shares, strict=True)
    )


def _answers(model: TableModel) -> str:
    target = one_line(model.target_)
    if model.task_ == "regression":
        return f"{target}, a number"
    return f"{target}, {counted(len(model.classes_), 'class', 'classes')}"


def _estimate_lines(estimate: _Estimate | None, *, classes: bool) -> list[tuple[str, str]]:
    if estimate is None:
        return [("error", "not estimated")]
    lines = []
    for metric in estimate.metrics:
        value = number_text(metric, metric["value"])
        interval = f" (95 % interval {interval_text(metric)})" if metric["low"] is not None else ""
        lines.append((metric["name"], value + interval))
    guess = f"{100 * estimate.guess:.2f} %" if classes else f"{estimate.guess:.4g}"
    what = "the most frequent class" if classes else "the mean"
    lines.append(("guessing", f"{guess}, if the answer is always {what}"))
    of_all = f"{estimate.n_test} of {estimate.n_train + estimate.n_test} rows"
    lines.append(("estimated", f"on {of_all}, held out; then trained again on all"))
    return lines


def _next_steps(training: Training, out: Path) -> str:
    """Commands to go on with, by the user's own names."""
    model = shlex.quote(str(out))
    page = shlex.quote(str(out.with_suffix(".html")))
    test = f"TEST{training.path.suffix}" if str(training.path) != STANDARD_INPUT else "TEST.csv"
    return "\n".join(
        (
            f"  co2forest evaluate {model} {test}",
            f"  co2forest report {model} --data {test} --out {page}",
            f"  co2forest predict {model} NEW{Path(test).suffix}",
        )
    )


def _json(
    training: Training,
    model: TableModel,
    out: Path,
    estimate: _Estimate | None,
    tuning: TuningResult | None,
    seconds: float,
) -> dict[str, Any]:
    estimated: dict[str, Any] | None = None
    if estimate is not None:
        estimated = {
            "train_rows": estimate.n_train,
            "test_rows": estimate.n_test,
            "guess": estimate.guess,
            "metrics": [
                {name: metric[name] for name in ("name", "value", "low", "high")}
                for metric in estimate.metrics
            ],
        }
    return {
        "model": str(out),
        "bytes": out.stat().st_size,
        "data": name_of(training.path),
        "rows": len(training.y),
        "target": training.target,
        "task": training.answers.task,
        "classes": model.classes_.tolist() if training.classes else None,
        "columns": model.encoder_.describe(),
        "features": len(view_of_features(model).feature_names),
        "estimate": estimated,
        "tuning": None if tuning is None else search_json(tuning),
        "seconds": round(seconds, 3),
    }
