# SPDX-License-Identifier: BSD-3-Clause
"""A comparison of candidates: its record, which of them get how many trees, and which one wins."""

import math
from collections.abc import Callable
from numbers import Integral
from typing import Any, NamedTuple

from sklearn.base import clone
from sklearn.utils import check_random_state

from co2forest.fitting.progress import ProgressBar
from co2forest.tuning._candidates import NOT_TUNED, Params
from co2forest.tuning._checkpoint import Checkpoint, Memory
from co2forest.tuning._scores import Score
from co2forest.tuning._trials import Trials
from co2forest.tuning.result import Table

# After each round, one candidate in three goes on, with three times the trees. With a factor of
# two, the first round would have two trees. So few trees misjudge what makes single trees weak but
# forests good, such as a small max_features.
_FACTOR = 3
_FEWEST_TREES = 4


class Entry(NamedTuple):
    """The last score of a candidate."""

    trees: int
    score: Score


# Called after each score: candidates done, candidates in all, trees grown, best score so far.
Report = Callable[[int, int, int, float], None]


def fixed_params(estimator: Any) -> Params:
    """The parameters that scores depend on."""
    params = estimator.get_params(deep=False)
    return {name: value for name, value in params.items() if name not in NOT_TUNED}


def record_of(checkpoint: Any, search: dict[str, str], random_state: Any) -> Memory:
    """Where scores and the seed are kept; a checkpoint has the seed of an earlier run."""
    if isinstance(random_state, Integral):
        check_random_state(random_state)  # knows which numbers are seeds
        seed = int(random_state)
    else:
        seed = int(check_random_state(random_state).randint(2**31 - 1))
    if checkpoint is None:
        return Memory(seed)
    drawn = random_state is None
    known = {"random_state": "drawn" if drawn else str(seed)}
    return Checkpoint(checkpoint, search | known, seed, fixed=not drawn)


def compare(
    trials: Trials, trees: int, *, method: str, standard_errors: float, verbose: int
) -> tuple[int, list[Entry]]:
    """Return the number of the winner, and the scores of all."""
    halving = method == "halving"
    strategy = halve if halving else try_all
    total = work(len(trials.candidates), trees, halving=halving)
    if not verbose:
        entries = strategy(trials, trees, lambda *_: None)
    else:
        with ProgressBar(total, width=12, lines=total) as bar:
            entries = strategy(trials, trees, _reporter(bar, trials.stage))
    if all(math.isnan(entry.score.score) for entry in entries):
        raise ValueError(
            "no candidate has a score that is a finite number: scoring does not suit these data"
            + (", or every tree drew every row: try more trees" if method == "oob" else "")
        )
    return winner(entries, standard_errors), entries


def _reporter(bar: ProgressBar, stage: str) -> Callable[[int, int, int, float], None]:
    grown = 0

    def report(done: int, count: int, trees: int, best: float) -> None:
        nonlocal grown
        grown = min(grown + trees, bar.total)
        bar(grown, f"{stage} {done}/{count}, best {best:.4f}")

    return report


def table_of(estimator: Any, candidates: list[Params], entries: list[Entry], best: int) -> Table:
    """A row for each candidate: its parameters and its last score."""
    names = list(dict.fromkeys(name for params in candidates for name in params))
    given = {name: getattr(estimator, name) for name in names}
    return [
        given | params | entry.score._asdict() | {"trees": entry.trees, "chosen": number == best}
        for number, (params, entry) in enumerate(zip(candidates, entries, strict=True))
    ]


def result_estimator(estimator: Any, params: Params, seed: int) -> Any:
    """The estimator with the chosen parameters, not fitted."""
    chosen: Any = clone(estimator).set_params(**params)
    if chosen.random_state is None:
        chosen.set_params(random_state=seed)
    return chosen


def try_all(trials: Trials, trees: int, report: Report) -> list[Entry]:
    """Every candidate with all trees."""
    count = len(trials.candidates)
    entries = []
    best = -math.inf
    for number in range(count):
        score = trials.score(number, trees)
        entries.append(Entry(trees, score))
        best = _larger(best, score.score)
        report(number + 1, count, trees, best)
    return entries


def halve(trials: Trials, trees: int, report: Report) -> list[Entry]:
    """All candidates with few trees, then the best third with three times as many, and so on.

    The estimator as given always stays.
    """
    count = len(trials.candidates)
    left = list(range(count))
    entries: dict[int, Entry] = {}
    rungs = rungs_of(count, trees)
    grown = 0
    for rung in rungs:
        best = -math.inf
        for place, number in enumerate(left):
            earlier = entries[number].score.seconds if number in entries else 0.0
            score = trials.score(number, rung, keep=rung < trees)
            best = _larger(best, score.score)
            entries[number] = Entry(rung, score._replace(seconds=earlier + score.seconds))
            report(place + 1, len(left), rung - grown, best)
        grown = rung
        if rung < trees:
            left = _best_of(left, entries)
            for number in set(entries) - set(left):
                trials.drop(number)
    return [entries[number] for number in range(count)]


def work(count: int, trees: int, *, halving: bool) -> int:
    """The number of trees that a comparison grows at most."""
    if not halving:
        return count * trees
    total, grown = 0, 0
    for rung in rungs_of(count, trees):
        total += count * (rung - grown)
        grown = rung
        count = max(math.ceil(count / _FACTOR), min(count, 2))
    return total


def rungs_of(count: int, trees: int) -> list[int]:
    """The numbers of trees at which candidates are compared."""
    rungs = [trees]
    for _ in range(math.ceil(math.log(count, _FACTOR))):
        fewer = math.ceil(rungs[0] / _FACTOR)
        if fewer < _FEWEST_TREES:
            break
        rungs.insert(0, fewer)
    return rungs


def winner(entries: list[Entry], standard_errors: float) -> int:
    """The best candidate that beats the first by more than this many standard errors.

    Only candidates that got all trees count. Of equal ones, the earlier wins.
    """
    given = entries[0]
    best = 0
    for number, entry in enumerate(entries):
        if entry.trees != given.trees or math.isnan(entry.score.score):
            continue
        if number and not _clearly_better(entry.score, given.score, standard_errors):
            continue
        if entry.score.score > _or_least(entries[best].score.score):
            best = number
    return best


def _clearly_better(score: Score, given: Score, standard_errors: float) -> bool:
    if math.isnan(given.score):
        return True
    noise = 0.0 if math.isnan(score.standard_error) else score.standard_error
    return score.difference > standard_errors * noise


def _best_of(left: list[int], entries: dict[int, Entry]) -> list[int]:
    order = sorted(left, key=lambda number: (-_or_least(entries[number].score.score), number))
    count = max(2, math.ceil(len(left) / _FACTOR))  # the estimator as given, and a challenger
    others = [number for number in order if number != 0]
    return sorted([0, *others[: count - 1]])


def _larger(best: float, score: float) -> float:
    return best if math.isnan(score) else max(best, score)


def _or_least(score: float) -> float:
    return -math.inf if math.isnan(score) else score
