"""Forests with different parameters, grown and scored on the same parts of the data."""

import math
import time
import warnings
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


class TrialSettings(NamedTuple):
    """What all trials have in common."""

    out_of_bag: bool
    scoring: Any
    classes: bool
    seed: int
    n_jobs: int | None


class Trials:
    """The candidates of one stage; number 0 is the estimator as given."""

    def __init__(
        self,
        stage: str,
        estimator: BaseForest,
        candidates: list[Params],
        parts: list[Part],
        settings: TrialSettings,
        record: Record,
    ) -> None:
        self.stage = stage
        self.candidates = candidates
        self._estimator = estimator
        self._parts = parts
        self._settings = settings
        self._record = record
        self._judges = [
            Judge(settings.scoring, *part.judged(), classes=settings.classes, seed=settings.seed)
            for part in parts
        ]
        self._forests: dict[int, list[BaseForest]] = {}
        self._verdicts: dict[tuple[int, int], list[Verdict]] = {}

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
            self._new_forest(self.candidates[number], part) for part in self._parts
        ]
        verdicts = []
        for forest, part, judge in zip(forests, self._parts, self._judges, strict=True):
            forest.set_params(n_estimators=trees)
            seen = part.seen()
            with warnings.catch_warnings():
                # Rows that every tree drew are left out of the score.
                warnings.filterwarnings("ignore", message=".* have no out-of-bag estimate")
                forest.fit(seen.X, seen.y, seen.weights)
            judged = judge.on_out_of_bag if self._settings.out_of_bag else judge.on_hold_out
            del seen  # two parts at once are more than the data
            verdicts.append(judged(forest, part.unseen().X))
        if keep:
            self._forests[number] = forests
        if number == 0:
            self._verdicts[0, trees] = verdicts
        return verdicts

    def _new_forest(self, params: Params, part: Part) -> Any:
        forest: Any = clone(self._estimator)
        forest.set_params(**params)
        forest.set_params(
            n_jobs=self._settings.n_jobs,
            oob_score=self._settings.out_of_bag,
            random_state=self._settings.seed,
            verbose=0,
            warm_start=True,
        )
        if isinstance(forest.max_samples, Integral):  # of all rows, of which some are held out
            forest.set_params(max_samples=min(forest.max_samples, part.n_seen))
        if self._settings.out_of_bag and _draws_all(forest, part.n_seen):
            forest.set_params(bootstrap=True)
        return forest

    def _standard_error(self, verdicts: list[Verdict], reference: list[Verdict]) -> float:
        """Of the mean over the parts."""
        errors = [
            judge.standard_error(verdict, given)
            for judge, verdict, given in zip(self._judges, verdicts, reference, strict=True)
        ]
        return math.sqrt(sum(error**2 for error in errors)) / len(errors)


def _mean_score(verdicts: list[Verdict]) -> float:
    return sum(verdict.score for verdict in verdicts) / len(verdicts)


def _draws_all(forest: Any, n_rows: int) -> bool:
    """Whether no tree would leave a row out."""
    draws = n_rows if forest.max_samples is None else forest.max_samples
    count = int(draws) if isinstance(draws, Integral) else round(draws * n_rows)
    return count >= n_rows
