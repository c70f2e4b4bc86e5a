# SPDX-License-Identifier: BSD-3-Clause
"""How good predictions are on rows held out, beside a guess that looks at no column."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import train_test_split

from co2forest.cli.messages import complain, counted
from co2forest.cli.models import encoder_of, estimator_of, feature_columns, rows_of
from co2forest.cli.tables import check_column, find_target, name_of, weights_of
from co2forest.files.messages import listed
from co2forest.models.evaluation import Evaluation
from co2forest.models.metrics import metrics
from co2forest.tables import read_table, unwrap
from co2forest.tables.target import truth

FEWEST_ROWS = 20  # of which some can be held out


def split(
    y: npt.NDArray[Any], fraction: float, seed: int, *, classes: bool
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Rows to train with, and rows held out, stratified by class if classes have enough rows."""
    rows = np.arange(len(y))
    n_out = min(max(round(fraction * len(y)), 1), len(y) - 1)
    strata = _strata(y, n_out) if classes else None
    train, test = train_test_split(rows, test_size=n_out, random_state=seed, stratify=strata)
    return np.sort(train), np.sort(test)


def _strata(y: npt.NDArray[Any], n_out: int) -> npt.NDArray[Any] | None:
    """Classes by which rows can be stratified; those with a single row are one class together."""
    _, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    codes = np.where(counts[codes] < 2, len(counts), codes)
    kinds, sizes = np.unique(codes, return_counts=True)
    if sizes.min() < 2 or len(kinds) > min(n_out, len(y) - n_out):
        return None
    return np.asarray(codes)


def guess_error(
    known: npt.NDArray[Any],
    known_weights: npt.NDArray[np.float64] | None,
    asked: npt.NDArray[Any],
    asked_weights: npt.NDArray[np.float64] | None,
    *,
    classes: bool,
) -> float:
    """The error of always saying the most frequent class, or the mean, of the known answers."""
    if not classes:
        guess = np.average(known, weights=known_weights)
        return float(np.average((asked - guess) ** 2, weights=asked_weights) ** 0.5)
    labels, codes = np.unique(known, return_inverse=True)
    guess = labels[np.bincount(codes, weights=known_weights).argmax()]
    return float(np.average(asked != guess, weights=asked_weights))


def headline(evaluation: Evaluation) -> list[dict[str, Any]]:
    """The error of classes, or RMSE and R2 of numbers, with intervals."""
    found = {metric["name"]: metric for metric in metrics(evaluation)}
    if evaluation.task != "numbers":
        accuracy = found["Accuracy"]
        bounds = {"low": 1 - accuracy["high"], "high": 1 - accuracy["low"]}
        return [{"name": "error", "value": 1 - accuracy["value"], "share": True, **bounds}]
    names = {"RMSE": "RMSE", "R2": "R2", "Mean absolute error": "MAE"}
    return [found[name] | {"name": short} for name, short in names.items() if name in found]


def number_text(metric: dict[str, Any], value: float) -> str:
    """A value of a metric, in percent if it is a share."""
    return f"{100 * value:.2f} %" if metric["share"] else f"{value:.4g}"


def interval_text(metric: dict[str, Any]) -> str:
    """The confidence interval of a metric; empty where the rows are not enough."""
    if metric["low"] is None:
        return ""
    return f"{number_text(metric, metric['low'])} to {number_text(metric, metric['high'])}"


class Labelled:
    """A table with right answers, as a model takes it."""

    def __init__(
        self,
        model: Any,
        path: Path,
        *,
        target: str | None,
        weights: str | None,
        header: bool,
        part: str | None,
    ) -> None:
        encoder = encoder_of(model)
        estimator = estimator_of(model)
        if estimator.n_outputs_ > 1:
            raise ValueError("this model has several answers per row; co2forest.report takes them")
        text = [] if encoder is None else encoder.text_columns()
        columns = feature_columns(model)
        frame = read_table(str(path), header=header, text=text, columns=columns, part=part)
        trained = None if encoder is None else model.target_
        self.target = target = find_target(path, frame, target or trained)
        if weights is not None:
            check_column(path, frame, weights, "--weights")
        try:
            self.y, known = truth(frame[target], getattr(model, "classes_", None))
            frame = frame[known].reset_index(drop=True)
            others = [name for name in (target, weights) if name is not None]
            self.rows = rows_of(model, frame, others=others)
            unwrap(model, self.rows[:1])  # which says what is wrong with its columns
            unused = [name for name in others if name not in columns]
            self.notes = [] if encoder is None else model.notes(frame.drop(columns=unused))
            self.notes += _unknown_classes(self.y, getattr(model, "classes_", None))
        except ValueError as error:
            raise ValueError(f"{name_of(path)}: {error}") from error
        self.weights = weights_of(path, frame, weights)
        self.n_without = int(len(known) - known.sum())
        self._path = path

    def say_notes(self) -> None:
        """What is new in the table, on standard error."""
        for note in self.notes:
            complain(f"note: {name_of(self._path)}: {note}")


def _unknown_classes(y: npt.NDArray[Any], classes: npt.NDArray[Any] | None) -> list[str]:
    """A note on the rows whose class no model can say, because training did not have it."""
    if classes is None:
        return []
    known = set(classes.tolist())
    counts = Counter(label for label in y.tolist() if label not in known)
    if not counts:
        return []
    names = [f"{label} ({counted(count, 'row')})" for label, count in counts.most_common()]
    return [f"classes that were not in training count as wrong: {listed(names)}"]
