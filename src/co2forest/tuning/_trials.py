# SPDX-License-Identifier: BSD-3-Clause
"""Forests with different parameters, grown and scored on the same splits of the data."""

import math
import time
import warnings
from abc import ABC, abstractmethod
from numbers import Integral
from typing import Any

from sklearn.base import clone

from co2forest.tuning._candidates import Params
from co2forest.tuning._checkpoint import Memory
from co2forest.tuning._scores import Judge, Measurement, Score
from co2forest.tuning._splits import Split


class Trials(ABC):
    """The candidates of one stage; number 0 is the estimator as given."""

    def __init__(self, stage: str, candidates: list[Params], n_splits: int, record: Memory) -> None:
        self.stage = stage
        self.candidates = candidates
        self._n_splits = n_splits
        self._record = record
        self._forests: dict[int, list[Any]] = {}
        self._measurements: dict[tuple[int, int], list[Measurement]] = {}

    @abstractmethod
    def _new_forest(self, params: Params, split: int) -> Any:
        """A forest for one split that keeps its trees when it is fitted again."""

    @abstractmethod
    def _fit_and_judge(self, forest: Any, split: int) -> Measurement:
        """Fit a forest on one side of a split, and measure it on the other."""

    @abstractmethod
    def _error(self, split: int, measurement: Measurement, reference: Measurement) -> float:
        """The standard error of the difference of two scores on a split."""

    def score(self, number: int, trees: int, *, keep: bool = False) -> Score:
        """The score of a candidate with this many trees; ``keep`` its forests to add more."""
        known = self._record.get(self.stage, number, trees)
        if known is not None:
            return known
        if number and (0, trees) not in self._measurements:  # its score came from a record
            self._judge(0, trees, keep=keep)
        started = time.perf_counter()
        measurements = self._judge(number, trees, keep=keep)
        reference = self._measurements[0, trees]
        score = Score(
            _mean_score(measurements),
            _mean_score(measurements) - _mean_score(reference),
            self._standard_error(measurements, reference),
            time.perf_counter() - started,
        )
        self._record.put(self.stage, number, trees, score)
        return score

    def drop(self, number: int) -> None:
        """Forget the forests of a candidate that is out."""
        self._forests.pop(number, None)

    def _judge(self, number: int, trees: int, *, keep: bool) -> list[Measurement]:
        forests = self._forests.pop(number, None) or [
            self._new_forest(self.candidates[number], split) for split in range(self._n_splits)
        ]
        measurements = [
            self._fit_and_judge(forest.set_params(n_estimators=trees), split)
            for split, forest in enumerate(forests)
        ]
        if keep:
            self._forests[number] = forests
        if number == 0:
            self._measurements[0, trees] = measurements
        return measurements

    def _standard_error(
        self, measurements: list[Measurement], reference: list[Measurement]
    ) -> float:
        """The standard error of the mean over the splits."""
        errors = [
            self._error(split, measurement, given)
            for split, (measurement, given) in enumerate(zip(measurements, reference, strict=True))
        ]
        return math.sqrt(sum(error**2 for error in errors)) / len(errors)


class RowTrials(Trials):
    """Forests that see some rows and are judged by others."""

    def __init__(
        self,
        stage: str,
        estimator: Any,
        candidates: list[Params],
        splits: list[Split],
        judges: list[Judge],
        record: Memory,
    ) -> None:
        super().__init__(stage, candidates, len(splits), record)
        self._estimator = estimator
        self._splits = splits
        self._judges = judges

    def _fit_and_judge(self, forest: Any, split: int) -> Measurement:
        seen = self._splits[split].seen()
        with warnings.catch_warnings():
            # Rows that every tree drew are left out of the score.
            warnings.filterwarnings("ignore", message=".* have no out-of-bag estimate")
            forest.fit(seen.X, seen.y, seen.weights)
        judge = self._judges[split]
        judged = judge.on_out_of_bag if forest.oob_score else judge.on_hold_out
        del seen  # both sides at once would be another copy of the data
        return judged(forest, self._splits[split].unseen().X)

    def _error(self, split: int, measurement: Measurement, reference: Measurement) -> float:
        return self._judges[split].standard_error(measurement, reference)

    def _new_forest(self, params: Params, split: int) -> Any:
        forest: Any = clone(self._estimator).set_params(**params)
        n_seen = self._splits[split].n_seen
        if isinstance(forest.max_samples, Integral):  # it counts all rows; some are held out
            forest.set_params(max_samples=min(forest.max_samples, n_seen))
        if forest.oob_score and _draws_all(forest, n_seen):
            forest.set_params(bootstrap=True)
        return forest


def _mean_score(measurements: list[Measurement]) -> float:
    return sum(measurement.score for measurement in measurements) / len(measurements)


def _draws_all(forest: Any, n_rows: int) -> bool:
    """Whether no tree would leave a row out."""
    draws = n_rows if forest.max_samples is None else forest.max_samples
    count = int(draws) if isinstance(draws, Integral) else round(draws * n_rows)
    return count >= n_rows
