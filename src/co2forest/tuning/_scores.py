"""How good a forest is on rows that it has not seen, and how sure a difference of two is."""

import math
from collections.abc import Callable
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier
from sklearn.metrics import get_scorer

from co2forest._forest import BaseForest
from co2forest._sklearn_compat import safe_indexing
from co2forest._stored import shown

_REPLICATES = 50  # of a bootstrap; their spread is then known to 10 %

Rows = npt.NDArray[np.intp]


class Verdict(NamedTuple):
    """A score, and what a paired comparison with another one needs.

    ``evidence`` has a number for each row (right or wrong; NaN where there is no prediction), or
    the score of each bootstrap sample of the rows.
    """

    score: float
    evidence: npt.NDArray[np.float64]


class UnseenRows(NamedTuple):
    """Rows to judge forests by."""

    X: Any
    y: npt.NDArray[Any]
    weights: npt.NDArray[np.float64] | None

    def part(self, rows: Rows) -> "UnseenRows":
        """Some of the rows, in this order."""
        weights = None if self.weights is None else self.weights[rows]
        return UnseenRows(safe_indexing(self.X, rows), self.y[rows], weights)


class Judge:
    """Scores forests on the same rows and the same bootstrap samples of them."""

    def __init__(self, scoring: Any, unseen: UnseenRows, *, classes: bool, seed: int) -> None:
        self._scoring = scoring
        self._unseen = unseen
        self._seed = seed
        self._classes = (
            np.unique(unseen.y, return_inverse=True)[1]
            if classes
            else np.zeros(len(unseen.y), dtype=np.intp)
        )
        self._by_row = classes and scoring in (None, "accuracy")
        self._scorer = None if self._by_row else resolve_scorer(scoring, classes=classes)

    def on_hold_out(self, forest: BaseForest) -> Verdict:
        """Of a forest that was fitted on other rows."""
        everything = np.ones(len(self._unseen.y), dtype=bool)
        return self._verdict(forest, _outputs(forest, self._unseen.X), everything, forest)

    def on_out_of_bag(self, forest: BaseForest) -> Verdict:
        """Of a forest that was fitted on these very rows with ``oob_score``."""
        name = "oob_decision_function_" if is_classifier(forest) else "oob_prediction_"
        return self._verdict(forest, getattr(forest, name), _left_out(forest), None)

    def _verdict(
        self,
        forest: BaseForest,
        outputs: npt.NDArray[np.float64],
        known: npt.NDArray[np.bool_],
        scored: BaseForest | None,
    ) -> Verdict:
        """The verdict from predictions; ``scored`` can make them anew, for the score itself."""
        if not known.any():
            return Verdict(math.nan, np.full(len(known), math.nan))
        if self._by_row:
            right = (_labels(forest, outputs) == self._unseen.y).astype(np.float64)
            right[~known] = np.nan
            return Verdict(_mean(right, self._unseen.weights), right)
        rows = np.flatnonzero(known)
        part = self._unseen.part(rows)
        score = self._score(scored or _KnownOutputs(forest, outputs[rows]), part)
        evidence = [self._replicate(forest, outputs, known, i) for i in range(_REPLICATES)]
        return Verdict(score, np.array(evidence))

    def _replicate(
        self,
        forest: BaseForest,
        outputs: npt.NDArray[np.float64],
        known: npt.NDArray[np.bool_],
        number: int,
    ) -> float:
        """The score of a bootstrap sample, the same one for all forests."""
        rows = _bootstrap(self._classes, known, np.random.default_rng([self._seed, number]))
        return self._score(_KnownOutputs(forest, outputs[rows]), self._unseen.part(rows))

    def _score(self, forest: Any, unseen: UnseenRows) -> float:
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

    def standard_error(self, verdict: Verdict, reference: Verdict) -> float:
        """The standard error of the difference of two scores of these rows."""
        difference = verdict.evidence - reference.evidence
        known = ~np.isnan(difference)
        difference = difference[known]
        if len(difference) < 2:
            return math.nan
        if not self._by_row:
            return float(difference.std(ddof=1))
        weights = self._unseen.weights
        weights = np.ones(len(difference)) if weights is None else weights[known]
        deviation = weights * (difference - np.average(difference, weights=weights))
        return float(np.sqrt((deviation**2).sum()) / weights.sum())


def resolve_scorer(scoring: Any, *, classes: bool) -> Callable[..., Any]:
    """A function of an estimator, X and y."""
    if scoring is None:
        scoring = "accuracy" if classes else "r2"
    if isinstance(scoring, str):
        try:
            return get_scorer(scoring)  # type: ignore[no-any-return]
        except ValueError as error:
            raise ValueError(
                f"scoring={scoring!r} is no scorer of scikit-learn; "
                "sklearn.metrics.get_scorer_names() lists them"
            ) from error
    if not callable(scoring):
        raise TypeError(
            "scoring must be None, the name of a scorer or a callable scorer(estimator, X, y), "
            f"got {shown(scoring)}"
        )
    return scoring  # type: ignore[no-any-return]


class _KnownOutputs:
    """A fitted forest whose outputs for some rows are known: whatever else it is asked, it does."""

    def __init__(self, forest: BaseForest, outputs: npt.NDArray[np.float64]) -> None:
        self._fitted = forest
        self._known = outputs

    def __getattr__(self, name: str) -> Any:
        return getattr(self._fitted, name)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        del X
        return _labels(self._fitted, self._known) if is_classifier(self._fitted) else self._known

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        del X
        return self._known


def _outputs(forest: Any, X: Any) -> npt.NDArray[np.float64]:
    outputs: npt.NDArray[np.float64] = (
        forest.predict_proba(X) if is_classifier(forest) else forest.predict(X)
    )
    return outputs


def _labels(forest: Any, outputs: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
    labels: npt.NDArray[Any] = forest.classes_.take(outputs.argmax(axis=1))
    return labels


def _left_out(forest: BaseForest) -> npt.NDArray[np.bool_]:
    """Which rows at least one tree did not draw."""
    samples = forest.estimators_samples_
    left_out = np.zeros(forest._drawn_from, dtype=bool)  # noqa: SLF001
    for rows in samples:
        drawn = np.zeros(len(left_out), dtype=bool)
        drawn[rows] = True
        left_out |= ~drawn
    return left_out


def _bootstrap(classes: Rows, known: npt.NDArray[np.bool_], rng: np.random.Generator) -> Rows:
    """Rows drawn with replacement, and one more of each class that would be missing.

    Many scorers fail without it.
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
