# SPDX-License-Identifier: BSD-3-Clause
"""The search: first the number of features, then everything else."""

import functools
import os
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier

from co2forest import __version__
from co2forest.baselines import AxisForestClassifier, AxisForestRegressor
from co2forest.estimators.classifier import CO2ForestClassifier
from co2forest.files.problem_digest import digest
from co2forest.fitting.parameters import resolve_max_features
from co2forest.tuning._arguments import (
    check_exponents,
    check_fraction,
    check_numbers,
    check_problem,
)
from co2forest.tuning._candidates import (
    Grid,
    candidates_of_features,
    candidates_of_grid,
    check_sampling,
    distinct,
    names_in,
)
from co2forest.tuning._comparison import (
    compare,
    fixed_params,
    record_of,
    result_estimator,
    table_of,
)
from co2forest.tuning._scores import Judge, resolve_scorer
from co2forest.tuning._splits import Problem, Split, hold_outs
from co2forest.tuning._trials import RowTrials
from co2forest.tuning.result import Table, TuningResult

# The paper selects on these: nu and eta together, q (a power of the number of features) before.
PAPER_GRID = {"nu": [0.1, 1, 4, 10, 43, 100], "learning_rate": [0.03, 0.01, 0.003]}
PAPER_EXPONENTS = (0.5, 0.6, 0.7, 0.8, 0.9)

_AXIS_TREES = 100
_AXIS_TREES_HALVING = 50  # the two that are left take most of the time


def tune_forest(
    X: Any,
    y: Any,
    *,
    estimator: Any = None,
    grid: Grid | None = None,
    max_features_grid: Iterable[float] | None = PAPER_EXPONENTS,
    method: str = "holdout",
    scoring: str | Callable[[Any, Any, Any], float] | None = None,
    standard_errors: float = 1.0,
    holdout_size: float = 0.2,
    n_splits: int = 1,
    trial_n_estimators: int = 30,
    checkpoint: str | os.PathLike[str] | None = None,
    sample_weight: Any = None,
    groups: Any = None,
    refit: bool = True,
    n_jobs: int | None = None,
    random_state: int | np.random.RandomState | None = None,
    verbose: int = 0,
) -> TuningResult:
    """Choose parameters of a forest by trials on rows that are held out.

    First, axis-aligned forests of 100 trees choose ``max_features`` (the paper's q). Then small
    forests choose the other parameters (the paper's nu and eta). The estimator as given is always a
    candidate, and another one replaces it only if it is better by more than noise.

    Parameters
    ----------
    X, y : array-like
        The data, as for ``fit``.
    estimator : forest of co2forest, default=None
        What to tune; None is ``CO2ForestClassifier()``. It is not changed.
    grid : dict of lists, or list of such dicts, default=None
        Values by parameter; all combinations are tried. None is `PAPER_GRID`, as far as the
        estimator has these parameters. Empty: no trials except those for ``max_features``.
    max_features_grid : iterable of float, default=PAPER_EXPONENTS
        ``max_features`` is chosen among the number of features to these powers. None, or a grid
        that has ``max_features`` itself: the step is skipped.
    method : {"holdout", "halving", "oob"}, default="holdout"
        "holdout" gives each candidate all trees. "halving" gives all of them a few, then the best
        third three times as many, and so on; much faster. "oob" holds no rows out and judges a tree
        by those that it did not draw; candidates that draw all rows get ``bootstrap=True`` in the
        trials, not in the result.
    scoring : str or callable, default=None
        A scorer's name, or ``scorer(estimator, X, y)``; larger is better. None is accuracy, or R2.
    standard_errors : float, default=1.0
        A candidate replaces the estimator as given only if its score is better by more than this
        many standard errors of the difference. 0 takes the best score.
    holdout_size : float, default=0.2
        Fraction of the rows (or groups) to hold out; ignored with "oob".
    n_splits : int, default=1
        Number of random hold-outs over which scores are averaged. Must be 1 with "oob".
    trial_n_estimators : int, default=30
        Trees of each candidate. The result has the estimator's ``n_estimators``.
    checkpoint : str or path-like, default=None
        A file for the scores. A search that was interrupted goes on where it stopped if called
        again with the same arguments; the result is the same.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of rows in training, and in scores unless ``scoring`` is a callable.
    groups : array-like of shape (n_samples,), default=None
        Rows of a group are held out together, or not at all.
    refit : bool, default=True
        Whether to fit the result on all rows.
    n_jobs : int, default=None
        Threads of the trials; None is the estimator's. The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of the hold-out and the trials, and of the result if the estimator has none.
    verbose : int, default=0
        Whether to show candidates, best score and time left, on standard error.

    Returns
    -------
    TuningResult

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from co2forest.tuning import tune_forest
    >>> X, y = load_iris(return_X_y=True)
    >>> result = tune_forest(X, y, grid={"nu": [1, 10]}, trial_n_estimators=5, random_state=0)
    >>> len(result.table)
    3
    """
    check_numbers(
        method=method,
        n_splits=n_splits,
        trial_n_estimators=trial_n_estimators,
        standard_errors=standard_errors,
        checkpoint=checkpoint,
        refit=refit,
        verbose=verbose,
    )
    check_fraction(holdout_size, "holdout_size", "rows")
    estimator = CO2ForestClassifier() if estimator is None else estimator
    problem = check_problem(estimator, X, y, sample_weight, groups, method)
    resolve_scorer(scoring, classes=problem.classes)
    params = estimator.get_params(deep=False)
    if grid is None:
        grid = {name: values for name, values in PAPER_GRID.items() if name in params}
    candidates = candidates_of_grid(estimator, grid)
    exponents = check_exponents(max_features_grid)
    if "max_features" not in params or "max_features" in names_in(grid):
        exponents = []  # it is not to be chosen
    if refit:
        check_sampling(estimator, candidates, len(problem.y))
    search = {
        "version of co2forest": __version__,  # whose scores must not mix with those of another
        "X": digest(problem.X if not hasattr(problem.X, "columns") else np.asarray(problem.X)),
        "y": digest(problem.y),
        "sample_weight": digest(problem.weights),
        "groups": digest(problem.groups),
        "estimator": digest([type(estimator).__name__, distinct(fixed_params(estimator))]),
        "grid": digest([distinct(params) for params in candidates]),
        "max_features_grid": digest(exponents),
        "method": method,
        "scoring": digest(scoring),
        "holdout_size": digest(float(holdout_size)),
        "n_splits": digest(int(n_splits)),
        "trial_n_estimators": digest(int(trial_n_estimators)),
    }
    record = record_of(checkpoint, search, random_state)
    splits = [Split(problem)]
    if method != "oob":
        splits = hold_outs(problem, holdout_size, n_splits, record.seed)
    judges = [
        Judge(scoring, *split.judged(), classes=problem.classes, seed=record.seed)
        for split in splits
    ]
    trial_params = {
        "n_jobs": getattr(estimator, "n_jobs", None) if n_jobs is None else n_jobs,
        "oob_score": method == "oob",
        "random_state": record.seed,
        "verbose": 0,
        "warm_start": True,
    }
    compare_all = functools.partial(
        compare, method=method, standard_errors=standard_errors, verbose=verbose
    )
    make_trials = functools.partial(RowTrials, splits=splits, judges=judges, record=record)

    features_table: Table = []
    if exponents:
        axis = _axis_forest(estimator, problem.n_features)
        choices = candidates_of_features(axis, exponents, problem.n_features)
        trials = make_trials("max_features", clone(axis).set_params(**trial_params), choices)
        trees = _AXIS_TREES_HALVING if method == "halving" else _AXIS_TREES
        best, entries = compare_all(trials, trees)
        features_table = table_of(axis, choices, entries, best)
        # The estimator as given, it with the chosen number of features, and the others with it.
        chosen = choices[best]
        candidates = [{}, *(chosen | others for others in candidates[0 if chosen else 1 :])]
    trials = make_trials("grid", clone(estimator).set_params(**trial_params), candidates)
    best, entries = compare_all(trials, trial_n_estimators)
    result = result_estimator(estimator, candidates[best], record.seed)
    if refit:
        result.fit(X, y, sample_weight)
    return TuningResult(
        estimator=result,
        best_params=candidates[best],
        best_score=entries[best].score.score,
        max_features=result.get_params(deep=False).get("max_features"),
        table=table_of(estimator, candidates, entries, best),
        max_features_table=features_table,
        method=method,
        scoring=_name(scoring, problem),
        random_state=record.seed,
    )


def _axis_forest(estimator: Any, n_features: int) -> Any:
    if not is_classifier(estimator):
        given = estimator.max_features
        if given == "auto":  # which only CO2 forests know
            given = resolve_max_features(given, n_features)
        return AxisForestRegressor(_AXIS_TREES, max_features=given)
    return AxisForestClassifier(
        _AXIS_TREES, max_features=estimator.max_features, class_weight=estimator.class_weight
    )


def _name(scoring: Any, problem: Problem) -> str:
    if scoring is None:
        return "accuracy" if problem.classes else "R2"
    return scoring if isinstance(scoring, str) else getattr(scoring, "__name__", "score")
