# SPDX-License-Identifier: BSD-3-Clause
"""A comparison of candidates: its record, its winner and its table."""

import math
from collections.abc import Callable
from numbers import Integral
from typing import Any

from sklearn.base import clone
from sklearn.utils import check_random_state

from co2forest.fitting.progress import ProgressBar
from co2forest.tuning._candidates import NOT_TUNED, Params
from co2forest.tuning._checkpoint import Checkpoint, Memory
from co2forest.tuning._strategies import Entry, halve, try_all, winner, work
from co2forest.tuning._trials import Trials
from co2forest.tuning.result import Table


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
