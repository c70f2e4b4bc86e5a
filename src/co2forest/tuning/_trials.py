"""Forests with different parameters, grown and scored on the same parts of the data."""

import math
import time
import warnings
from abc import ABC, abstractmethod
from numbers import Integral
from typing import Any, NamedTuple, Protocol

from sklearn.base import clone

from co2forest._forest import BaseForest
from co2forest.tuning._candidates import Params
from co2forest.tuning._scores import Judge, Verdict
from co2forest.tuning._splits import Part


class Score(NamedTuple):
    """How good a candidate is."""

    score: float
    difference: float  # to the estimator as given, with as many trees
    standard_error: float  # of the difference
    seconds: float  # that growing and scoring took


class Record(Protocol):
    """Remembers scores, beyond the end of the process if the user wants it."""

    def get(self, stage: str, number: int, trees: int) -> Score | None:
        """The score, if it is known."""

    def put(self, stage: str, number: int, trees: int, score: Score) -> None:
        """Remember a score."""


class Trials(ABC):
    """The candidates of one stage; number 0 is the estimator as given."""

    def __init__(self, stage: str, candidates: list[Params], n_parts: int, record: Record) -> None:
        self.stage = stage
        self.candidates = candidates
        self._n_parts = n_parts  # of the data
        self._record = record
        self._forests: dict[int, list[Any]] = {}
        self._verdicts: dict[tuple[int, int], list[Verdict]] = {}

    @abstractmethod
    def _new_forest(self, params: Params, part: int) -> Any:
        """A forest for one part of the data that keeps its trees when it is fitted again."""

    @abstractmethod
    def _fit_and_judge(self, forest: Any, part: int) -> Verdict:
        """How good a forest is that has seen one side of a part, on the other side."""

    @abstractmethod
    def _error(self, part: int, verdict: Verdict, reference: Verdict) -> float:
        """The standard error of the difference of two scores on a part."""

    def score(self, number: int, trees: int, *, keep: bool = False) -> Score:
        """The score of a candidate with this many trees; ``keep`` its forests to add more."""
        known = self._record.get(self.stage, number, trees)
        if known is not None:
            return known
        if number and (0, trees) not in self._verdicts:  # its score came from a record
            self._judge(0, trees, keep=keep)
        started = time.perf_counter()
        verdicts = self._judge(number, trees, keep=keep)
        reference = self._verdicts[0, trees]
        score = Score(
            _mean_score(verdicts),
            _mean_score(verdicts) - _mean_score(reference),
            self._standard_error(verdicts, reference),
            time.perf_counter() - started,
        )
        self._record.put(self.stage, number, trees, score)
        return score

    def drop(self, number: int) -> None:
        """Forget the forests of a candidate that is out."""
        self._forests.pop(number, None)

    def _judge(self, number: int, trees: int, *, keep: bool) -> list[Verdict]:
        forests = self._forests.pop(number, None) or [
            self._new_forest(self.candidates[number], part) for part in range(self._n_parts)
        ]
        verdicts = [
            self._fit_and_judge(forest.set_params(n_estimators=trees), part)
            for part, forest in enumerate(forests)
        ]
        if keep:
            self._forests[number] = forests
        if number == 0:
            self._verdicts[0, trees] = verdicts
        return verdicts

    def _standard_error(self, verdicts: list[Verdict], reference: list[Verdict]) -> float:
        """Of the mean over the parts."""
        errors = [
            self._error(part, verdict, given)
            for part, (verdict, given) in enumerate(zip(verdicts, reference, strict=True))
        ]
        return math.sqrt(sum(error**2 for error in errors)) / len(errors)


class TrialSettings(NamedTuple):
    """What all trials on rows have in common."""

    out_of_bag: bool
    scoring: Any
    classes: bool
    seed: int
    n_jobs: int | None


class RowTrials(Trials):
    """Forests that see some rows and are judged by others."""

    def __init__(
        self,
        stage: str,
        estimator: BaseForest,
        candidates: list[Params],
        parts: list[Part],
        settings: TrialSettings,
        record: Record,
    ) -> None:
        super().__init__(stage, candidates, len(parts), record)
        self._estimator = estimator
        self._parts = parts
        self._settings = settings
        self._judges = [
            Judge(settings.scoring, *part.judged(), classes=settings.classes, seed=settings.seed)
            for part in parts
        ]

    def _fit_and_judge(self, forest: Any, part: int) -> Verdict:
        seen = self._parts[part].seen()
        with warnings.catch_warnings():
            # Rows that every tree drew are left out of the score.
            warnings.filterwarnings("ignore", message=".* have no out-of-bag estimate")
            forest.fit(seen.X, seen.y, seen.weights)
        judge = self._judges[part]
        judged = judge.on_out_of_bag if self._settings.out_of_bag else judge.on_hold_out
        del seen  # two parts at once are more than the data
        return judged(forest, self._parts[part].unseen().X)

    def _error(self, part: int, verdict: Verdict, reference: Verdict) -> float:
        return self._judges[part].standard_error(verdict, reference)

    def _new_forest(self, params: Params, part: int) -> Any:
        forest: Any = clone(self._estimator)
        forest.set_params(**params)
        forest.set_params(
            n_jobs=self._settings.n_jobs,
            oob_score=self._settings.out_of_bag,
            random_state=self._settings.seed,
            verbose=0,
            warm_start=True,
        )
        n_seen = self._parts[part].n_seen
        if isinstance(forest.max_samples, Integral):  # of all rows, of which some are held out
            forest.set_params(max_samples=min(forest.max_samples, n_seen))
        if self._settings.out_of_bag and _draws_all(forest, n_seen):
            forest.set_params(bootstrap=True)
        return forest


def _mean_score(verdicts: list[Verdict]) -> float:
    return sum(verdict.score for verdict in verdicts) / len(verdicts)


def _draws_all(forest: Any, n_rows: int) -> bool:
    """Whether no tree would leave a row out."""
    draws = n_rows if forest.max_samples is None else forest.max_samples
    count = int(draws) if isinstance(draws, Integral) else round(draws * n_rows)
    return count >= n_rows
