# SPDX-License-Identifier: BSD-3-Clause
"""How good a forest is on rows that it has not seen, and how certain a difference is."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier
from sklearn.metrics import accuracy_score, get_scorer, r2_score

from co2forest._sklearn_compat import safe_indexing
from co2forest.files.messages import shown

REPLICATES = 50  # of a bootstrap; their spread is then known to 10 %

# What a forest may be asked although its trees have drawn the rows.
_HARMLESS = ("get_params", "get_metadata_routing")

Rows = npt.NDArray[np.intp]
Outputs = npt.NDArray[np.float64]  # probabilities of classes, or values


class Score(NamedTuple):
    """How good a candidate is."""

    score: float
    difference: float  # to the estimator as given, with the same number of trees
    standard_error: float  # of the difference
    seconds: float  # that growing and scoring took


class Measurement(NamedTuple):
    """A score, and what a paired comparison with another one needs.

    ``evidence`` has a number for each row (right or wrong; NaN where there is no prediction), or
    the score of each bootstrap sample of the rows.
    """

    score: float
    evidence: npt.NDArray[np.float64]


class Sample(NamedTuple):
    """Rows to train forests on, or to judge them by."""

    X: Any
    y: npt.NDArray[Any]
    weights: npt.NDArray[np.float64] | None

    def take(self, rows: Rows) -> "Sample":
        """Some of the rows, in this order."""
        weights = None if self.weights is None else self.weights[rows]
        return Sample(safe_indexing(self.X, rows), self.y[rows], weights)


class Judge:
    """Scores forests on the same rows and the same bootstrap samples of them.

    It keeps no X, because there may be many judges.
    """

    def __init__(
        self,
        scoring: Any,
        y: npt.NDArray[Any],
        weights: npt.NDArray[np.float64] | None,
        *,
        classes: bool,
        seed: int,
    ) -> None:
        self._scoring = scoring
        self._y = y
        self._weights = weights
        self._seed = seed
        self._classes = (
            np.unique(y, return_inverse=True)[1] if classes else np.zeros(len(y), dtype=np.intp)
        )
        self._by_row = classes and scoring in (None, "accuracy")
        self._scorer = None if self._by_row else resolve_scorer(scoring, classes=classes)

    def on_hold_out(self, forest: Any, X: Any) -> Measurement:
        """Measure a forest that was fitted on other rows."""
        everything = np.ones(len(self._y), dtype=bool)
        return self._measure(forest, X, _outputs_of(forest, X), everything, seen=False)

    def on_out_of_bag(self, forest: Any, X: Any) -> Measurement:
        """Measure a forest that was fitted on these very rows with ``oob_score``."""
        name = "oob_decision_function_" if is_classifier(forest) else "oob_prediction_"
        return self._measure(
            forest, X, getattr(forest, name), _left_out(forest, len(self._y)), seen=True
        )

    def _measure(
        self, forest: Any, X: Any, outputs: Outputs, known: npt.NDArray[np.bool_], *, seen: bool
    ) -> Measurement:
        """Measure by outputs, where they are known; ``seen``: trees have drawn the rows."""
        if not known.any():
            return Measurement(math.nan, np.full(len(known), math.nan))
        if self._by_row:
            right = (_labels_of(forest, outputs) == self._y).astype(np.float64)
            right[~known] = np.nan
            return Measurement(_mean(right, self._weights), right)
        unseen = Sample(X, self._y, self._weights)

        def score(rows: Rows) -> float:
            sample = unseen.take(rows)
            kind = _KnownClasses if is_classifier(forest) else _KnownOutputs
            return self._score(kind(forest, sample.X, outputs[rows], seen), sample)

        # The same bootstrap samples for all forests.
        samples = (
            _bootstrap(self._classes, known, np.random.default_rng([self._seed, number]))
            for number in range(REPLICATES)
        )
        evidence = np.array([score(rows) for rows in samples])
        return Measurement(score(np.flatnonzero(known)), evidence)

    def _score(self, forest: Any, unseen: Sample) -> float:
        assert self._scorer is not None  # noqa: S101 (else every row has a score of its own)
        named = self._scoring is None or isinstance(self._scoring, str)
        weights = {} if unseen.weights is None or not named else {"sample_weight": unseen.weights}
        try:
            score = self._scorer(forest, unseen.X, unseen.y, **weights)
        except Exception as error:
            error.add_note(f"raised by scoring={shown(self._scoring)} in tune_forest")
            raise
        if not isinstance(score, Real) and not (isinstance(score, np.ndarray) and score.ndim == 0):
            raise TypeError(
                f"scoring={shown(self._scoring)} must give a number, got {shown(score)}"
            )
        return float(score) if math.isfinite(score) else math.nan

    def standard_error(self, measurement: Measurement, reference: Measurement) -> float:
        """The standard error of the difference of two scores of these rows.

        It counts one more row that one forest gets right and the other gets wrong. Otherwise a
        single such row would be a difference of more than one standard error.
        """
        difference = measurement.evidence - reference.evidence
        known = ~np.isnan(difference)
        difference = difference[known]
        if len(difference) < 2:
            return math.nan
        if not self._by_row or not difference.any():
            return float(difference.std(ddof=1))
        weights = self._weights
        weights = np.ones(len(difference)) if weights is None else weights[known]
        deviation = weights * (difference - np.average(difference, weights=weights))
        return float(np.sqrt((deviation**2).sum() + weights.mean() ** 2) / weights.sum())


def _outputs_of(forest: Any, X: Any) -> Outputs:
    """What a forest says about rows: probabilities of classes, or values."""
    outputs: Outputs = forest.predict_proba(X) if is_classifier(forest) else forest.predict(X)
    return outputs


def _labels_of(forest: Any, outputs: Outputs) -> npt.NDArray[Any]:
    """The most probable classes."""
    labels: npt.NDArray[Any] = forest.classes_.take(outputs.argmax(axis=1))
    return labels


@dataclass(eq=False, repr=False)
class _KnownOutputs:
    """A fitted forest that need not predict again.

    One that has not seen the rows does whatever else it is asked. One that has must not: its trees
    would be judged by rows that they were fitted on.
    """

    _fitted: Any
    _X: Any
    _known: Outputs
    _seen: bool  # whether its trees have drawn rows of X

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._fitted, name)
        reveals = name == "estimators_" or (callable(value) and name not in _HARMLESS)
        if self._seen and reveals and not name.startswith("__"):
            raise AttributeError(
                f"method='oob' cannot give scoring the forest's {name}, because its trees have "
                "drawn rows of X; use predict, predict_proba, predict_log_proba or score, or "
                "method='holdout'"
            )
        return value

    def predict(self, X: Any) -> npt.NDArray[Any]:
        return self._outputs(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        return float(r2_score(y, self.predict(X), sample_weight=sample_weight))

    def _outputs(self, X: Any) -> Outputs:
        if X is self._X:
            return self._known
        if not self._seen:
            return _outputs_of(self._fitted, X)
        rows = X.shape[0] if hasattr(X, "shape") else len(X)
        if rows != len(self._known):
            raise ValueError(
                f"method='oob' has outputs for the {len(self._known)} rows of X that scoring is "
                f"given, but it asked for {rows}; predict them all, or use method='holdout'"
            )
        return self._known


class _KnownClasses(_KnownOutputs):
    """The same for a classifier."""

    def predict(self, X: Any) -> npt.NDArray[Any]:
        return _labels_of(self._fitted, self._outputs(X))

    def predict_proba(self, X: Any) -> Outputs:
        return self._outputs(X)

    def predict_log_proba(self, X: Any) -> Outputs:
        with np.errstate(divide="ignore"):
            return np.log(self._outputs(X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        return float(accuracy_score(y, self.predict(X), sample_weight=sample_weight))


def resolve_scorer(scoring: Any, *, classes: bool) -> Callable[..., Any]:
    """A function of an estimator, X and y."""
    if scoring is None:
        scoring = "accuracy" if classes else "r2"
    if isinstance(scoring, str):
        try:
            return get_scorer(scoring)  # type: ignore[no-any-return]
        except ValueError as error:
            raise ValueError(
                f"scoring={scoring!r} is not a scorer of scikit-learn; "
                "sklearn.metrics.get_scorer_names() lists them"
            ) from error
    if not callable(scoring):
        raise TypeError(
            "scoring must be None, the name of a scorer or a callable scorer(estimator, X, y), "
            f"got {shown(scoring)}"
        )
    return scoring  # type: ignore[no-any-return]


def _left_out(forest: Any, n_rows: int) -> npt.NDArray[np.bool_]:
    """Which rows at least one tree has not drawn."""
    left_out = np.zeros(n_rows, dtype=bool)
    for rows in forest.estimators_samples_:
        left_out |= np.bincount(rows, minlength=n_rows) == 0
    return left_out


def _bootstrap(classes: Rows, known: npt.NDArray[np.bool_], rng: np.random.Generator) -> Rows:
    """Draw rows with replacement, and add one row of each class that would be missing.

    Many scorers fail if a class is missing.
    """
    rows = rng.integers(len(known), size=len(known))
    rows = rows[known[rows]]
    missing = np.setdiff1d(classes[known], classes[rows])
    added = [rng.choice(np.flatnonzero(known & (classes == number))) for number in missing]
    return np.concatenate([rows, np.array(added, dtype=np.intp)])


def _mean(values: npt.NDArray[np.float64], weights: npt.NDArray[np.float64] | None) -> float:
    known = ~np.isnan(values)
    if weights is None:
        return float(values[known].mean())
    if not weights[known].any():
        return math.nan
    return float(np.average(values[known], weights=weights[known]))
