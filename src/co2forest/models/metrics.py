# SPDX-License-Identifier: BSD-3-Clause
"""How good the predictions are, each number with its confidence interval.

Proportions have Wilson's interval; everything else has that of the bootstrap.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from math import sqrt
from typing import Any

import numpy as np
import scipy.sparse as sp

from co2forest.data.outputs.base import Codes, Floats
from co2forest.models.calibration import Reliability
from co2forest.models.evaluation import Evaluation

# From weights of rows, (resamples, rows), to a number for each resample; NaN if it has none.
Statistic = Callable[[Floats], Floats]

_SEED = 20151116
_QUANTILES = (0.025, 0.975)
_NORMAL = 1.959964  # the quantile 0.975 of the normal distribution
_BLOCK = 2**21  # weights that exist at a time
_WORK = 10**7  # weights in all, as long as the number of resamples stays between these:
_FEWEST, _MOST = 200, 1000

_MOST_CURVES = 30  # classes whose areas under the curve are calculated
_LEAST_PROBABILITY = float(np.finfo(np.float64).eps)  # as scikit-learn's log_loss has it


@dataclass(frozen=True)
class Metric:
    """A number that says how good predictions are; as a percentage if it is a share."""

    name: str
    about: str
    statistic: Statistic
    share: bool = False  # shown in percent
    lower_is_better: bool = False
    proportion: bool = False  # of rows, so that Wilson's interval holds
    output: str | None = None  # of several numbers


_Proportion = partial(Metric, share=True, proportion=True)
_Loss = partial(Metric, lower_is_better=True)


def metrics(evaluation: Evaluation) -> list[dict[str, Any]]:
    """All metrics of a task, as JSON values."""
    of_task = {"classes": _of_classes, "labels": _of_labels, "numbers": _of_numbers}
    listed = of_task[evaluation.task](evaluation)
    weights = evaluation.weights
    intervals = iter(bootstrap([m.statistic for m in listed if not m.proportion], weights))
    results = []
    for metric in listed:
        value = float(metric.statistic(weights[None])[0])
        interval = wilson(value, weights) if metric.proportion else next(intervals)
        if not np.isfinite(value):
            continue  # such as the area under the curve if y has a single class
        fields = asdict(metric)
        del fields["statistic"], fields["proportion"]
        low, high = interval or (None, None)
        method = None if interval is None else "Wilson" if metric.proportion else "bootstrap"
        results.append(fields | {"value": value, "low": low, "high": high, "method": method})
    return results


def _of_classes(evaluation: Evaluation) -> list[Metric]:
    truth, probability = evaluation.truth, evaluation.probability
    counts = _Counts.of(truth, evaluation.prediction, len(evaluation.names))
    of_truth = _of_truth(probability, truth)
    found = [
        _Proportion("Accuracy", "fraction of rows that get the right class", _right(evaluation)),
        Metric(
            "Balanced accuracy",
            "mean over the classes of the fraction of their rows that is found (recall)",
            counts.balanced_accuracy,
            share=True,
        ),
        Metric("F1, macro", "mean over the classes of precision and recall combined", counts.f1),
        _Loss(
            "Log loss",
            "mean of -log(probability of the true class)",
            _mean(-np.log(np.clip(of_truth, _LEAST_PROBABILITY, 1))),
        ),
        _Loss(
            "Brier score",
            "mean squared distance of probabilities to the truth",
            _mean(_brier(probability, of_truth)),
        ),
        _calibration_error(evaluation),
    ]
    area = _area(probability, truth)
    return found[:3] + area + found[3:]


def _of_labels(evaluation: Evaluation) -> list[Metric]:
    truth, probability = evaluation.truth, evaluation.probability
    present = np.where(truth == 1, probability, 1 - probability)
    return [
        _Proportion(
            "All labels right", "fraction of rows without a wrong label", _right(evaluation)
        ),
        Metric(
            "Labels right",
            "fraction of all labels that are right; one minus the Hamming loss",
            _mean((truth == evaluation.prediction).mean(axis=1)),
            share=True,
        ),
        Metric("F1, micro", "all labels together", _label_f1(evaluation, macro=False)),
        Metric("F1, macro", "mean over the labels", _label_f1(evaluation, macro=True)),
        _Loss(
            "Log loss",
            "mean over labels of -log(probability of what is true)",
            _mean(-np.log(np.clip(present, _LEAST_PROBABILITY, 1)).mean(axis=1)),
        ),
        _calibration_error(evaluation),
    ]


def _of_numbers(evaluation: Evaluation) -> list[Metric]:
    several = len(evaluation.names) > 1
    found = []
    for k, name in enumerate(evaluation.names):
        truth, error = evaluation.truth[:, k], evaluation.prediction[:, k] - evaluation.truth[:, k]
        metric = partial(Metric, output=name if several else None)
        loss = partial(metric, lower_is_better=True)
        explained = "fraction of the variance explained; 0 is as good as the mean of y"
        found += [
            metric("R2", explained, _r2(truth, error)),
            loss("RMSE", "root of the mean squared error, in units of y", _rmse(error)),
            loss("Mean absolute error", "in units of y", _mean(np.abs(error))),
            metric("Mean error", "prediction minus truth; 0 is best", _mean(error)),
        ]
    return found


def _calibration_error(evaluation: Evaluation) -> Metric:
    return _Loss(
        "Expected calibration error",
        "mean distance between what is said and what happens, over ten bins",
        Reliability.of(evaluation).expected_error,
        share=True,
    )


def _right(evaluation: Evaluation) -> Statistic:
    return _mean((~evaluation.wrong).astype(np.float64))


def _mean(values: Floats) -> Statistic:
    def statistic(weights: Floats) -> Floats:
        means: Floats = weights @ values / weights.sum(axis=1)
        return means

    return statistic


def _rmse(error: Floats) -> Statistic:
    largest = float(np.abs(error).max()) or 1.0  # squares of 1e200 overflow
    mean_square = _mean((error / largest) ** 2)
    return lambda weights: largest * np.sqrt(mean_square(weights))


def _r2(truth: Floats, error: Floats) -> Statistic:
    centred = truth - truth.mean()  # sums of squares of large numbers would lose all digits
    unit = max(float(np.abs(centred).max()), float(np.abs(error).max())) or 1.0
    mean, square = _mean(centred / unit), _mean((centred / unit) ** 2)
    unexplained = _mean((error / unit) ** 2)

    def statistic(weights: Floats) -> Floats:
        variance = square(weights) - mean(weights) ** 2
        with np.errstate(divide="ignore", invalid="ignore"):
            # Rounding leaves some 1e-16 of a variance that is none.
            return np.where(variance > 1e-12, 1 - unexplained(weights) / variance, np.nan)

    return statistic


def _of_truth(probability: Floats, truth: Codes) -> Floats:
    """The probability of what is true; zero for classes that the model does not know."""
    known = truth < probability.shape[1]
    chosen = np.take_along_axis(probability, np.where(known, truth, 0)[:, None], axis=1)
    return np.where(known, chosen[:, 0], 0.0)


def _brier(probability: Floats, of_truth: Floats) -> Floats:
    """The Brier score of each row; with two classes only one is counted, as in scikit-learn."""
    squares: Floats = (probability**2).sum(axis=1) - of_truth**2 + (1 - of_truth) ** 2
    return squares / 2 if probability.shape[1] == 2 else squares


@dataclass(frozen=True)
class _Counts:
    """Rows by class: true, predicted, and both; (rows, classes) each."""

    true: sp.csr_array
    predicted: sp.csr_array
    right: sp.csr_array

    @classmethod
    def of(cls, truth: Codes, prediction: Codes, n_classes: int) -> "_Counts":
        shape, ones = (len(truth), n_classes), np.ones(len(truth))
        rows = np.arange(len(truth))
        right = (truth == prediction).astype(np.float64)
        return cls(
            sp.csr_array((ones, (rows, truth)), shape=shape),
            sp.csr_array((ones, (rows, prediction)), shape=shape),
            sp.csr_array((right, (rows, truth)), shape=shape),
        )

    def balanced_accuracy(self, weights: Floats) -> Floats:
        return _mean_of_ratios(weights @ self.right, weights @ self.true)

    def f1(self, weights: Floats) -> Floats:
        either = weights @ self.true + weights @ self.predicted
        return _mean_of_ratios(2 * (weights @ self.right), either)


def _label_f1(evaluation: Evaluation, *, macro: bool) -> Statistic:
    truth, prediction = (
        each.astype(np.float64) for each in (evaluation.truth, evaluation.prediction)
    )

    def statistic(weights: Floats) -> Floats:
        right = 2 * (weights @ (truth * prediction))
        either = weights @ (truth + prediction)
        if not macro:
            return _mean_of_ratios(right.sum(axis=1)[:, None], either.sum(axis=1)[:, None])
        # scikit-learn counts a label that occurs nowhere as zero.
        ratios: Floats = np.divide(right, either, out=np.zeros_like(right), where=either > 0)
        return np.asarray(ratios.mean(axis=1))

    return statistic


def _mean_of_ratios(above: Floats, below: Floats) -> Floats:
    """Over columns where there is something to divide by."""
    present = below > 0
    ratios = np.divide(above, below, out=np.zeros_like(above), where=present)
    with np.errstate(invalid="ignore"):
        means: Floats = ratios.sum(axis=1) / present.sum(axis=1)
    return means


def _area(probability: Floats, truth: Codes) -> list[Metric]:
    n_classes = probability.shape[1]
    if not 2 <= n_classes <= _MOST_CURVES:
        return []
    classes = [1] if n_classes == 2 else list(range(n_classes))
    # The curve of a class needs rows with and without it.
    areas = [
        _area_of(probability[:, k], truth == k)
        for k in classes
        if 0 < np.count_nonzero(truth == k) < len(truth)
    ]
    if not areas:
        return []

    def statistic(weights: Floats) -> Floats:
        return np.asarray(np.mean([area(weights) for area in areas], axis=0))

    about = "how often a row of the second class gets a higher probability than one of the first"
    if n_classes > 2:
        about = "each class of y against the rest, mean over these classes"
    return [Metric("ROC AUC", about, statistic)]


def _area_of(score: Floats, positive: Any) -> Statistic:
    """The area under the curve of weighted rows: ties count half."""
    order = np.argsort(score, kind="stable")
    positive = positive[order].astype(np.float64)
    first_of_tie = np.flatnonzero(np.diff(score[order], prepend=-np.inf))

    def statistic(weights: Floats) -> Floats:
        weights = weights[:, order]
        above = np.add.reduceat(weights * positive, first_of_tie, axis=1)
        below = np.add.reduceat(weights * (1 - positive), first_of_tie, axis=1)
        beaten = np.cumsum(below, axis=1) - below / 2
        with np.errstate(invalid="ignore"):  # a class without rows
            area: Floats = (above * beaten).sum(axis=1) / (above.sum(axis=1) * below.sum(axis=1))
        return area

    return statistic


def wilson(share: float, weights: Floats) -> tuple[float, float]:
    """Interval of a proportion; weights count as many rows as have the same standard error."""
    n = float(weights.sum() ** 2 / (weights**2).sum())
    square = _NORMAL**2
    centre = (share + square / (2 * n)) / (1 + square / n)
    half = _NORMAL / (1 + square / n) * sqrt(share * (1 - share) / n + square / (4 * n * n))
    return max(0.0, centre - half), min(1.0, centre + half)


def n_resamples(n_rows: int) -> int:
    """Fewer for more rows, whose intervals depend less on chance."""
    return int(np.clip(_WORK // n_rows, _FEWEST, _MOST))


def bootstrap(statistics: list[Statistic], weights: Floats) -> list[tuple[float, float] | None]:
    """Percentile intervals of statistics; None where the rows are not enough.

    A resample draws as many rows as there are, with replacement; the seed is fixed, so that the
    same data give the same intervals.
    """
    n_rows = len(weights)
    if n_rows < 2:
        return [None] * len(statistics)
    random = np.random.default_rng(_SEED)
    total = n_resamples(n_rows)
    step = max(1, _BLOCK // n_rows)
    drawn: list[list[Floats]] = [[] for _ in statistics]
    for begin in range(0, total, step):
        counts = [
            np.bincount(random.integers(0, n_rows, n_rows), minlength=n_rows)
            for _ in range(min(step, total - begin))
        ]
        resampled = np.stack(counts) * weights
        resampled = resampled[resampled.sum(axis=1) > 0]  # most weights may be zero
        for values, statistic in zip(drawn, statistics, strict=True):
            values.append(statistic(resampled))
    return [_interval(np.concatenate(values)) for values in drawn]


def _interval(values: Floats) -> tuple[float, float] | None:
    values = values[np.isfinite(values)]
    if not len(values):
        return None
    low, high = np.quantile(values, _QUANTILES)
    return float(low), float(high)
