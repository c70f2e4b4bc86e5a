# SPDX-License-Identifier: BSD-3-Clause
"""Which parameters tune_forest chooses, against loops written with scikit-learn alone."""

import math

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.metrics import accuracy_score, get_scorer, make_scorer
from sklearn.model_selection import ParameterGrid, StratifiedShuffleSplit

from co2forest import CO2ForestClassifier, CO2ForestRegressor
from co2forest.baselines import (
    AxisForestClassifier,
    AxisForestRegressor,
    TwoProbeForestClassifier,
)
from co2forest.tuning import PAPER_EXPONENTS, PAPER_GRID, tune_forest
from co2forest.tuning._comparison import Entry, rungs_of, winner, work
from co2forest.tuning._scores import Score

GRID = {"nu": [0.01, 1, 100], "max_depth": [2, None]}
QUICK = {"max_features_grid": None, "trial_n_estimators": 3, "random_state": 0}


def by_hand(X, y, candidates, make, seed=0):
    """Scores on one stratified hold-out, and the rows that each candidate got right."""
    train, test = next(StratifiedShuffleSplit(1, test_size=0.2, random_state=seed).split(X, y))
    right = [
        make(params).fit(X[train], y[train]).predict(X[test]) == y[test] for params in candidates
    ]
    return np.array([r.mean() for r in right]), np.array(right)


def choice_by_hand(scores, right, standard_errors=1.0):
    """The rule, written with the textbook's formula of the standard error."""
    difference = right.astype(float) - right[0]
    n = right.shape[1]
    noise = np.sqrt(n * difference.var(axis=1) + 1) / n  # one more row that differs
    passing = np.flatnonzero(scores - scores[0] > standard_errors * noise)
    return passing[scores[passing].argmax()] if len(passing) else 0


def entries(*scores, noise=0.0):
    return [Entry(30, Score(s, s - scores[0], noise, 0.0)) for s in scores]


@pytest.mark.parametrize("standard_errors", [0.0, 1.0, 3.0])
def test_hold_out_chooses_what_a_loop_does(blobs, standard_errors):
    X, y = blobs
    candidates = [{}, *ParameterGrid(GRID)]
    candidates = [c for c in candidates if c.get("nu") or not c]
    scores, right = by_hand(
        X,
        y,
        candidates,
        lambda params: CO2ForestClassifier(7, random_state=0, **params, mixture=None),
    )
    result = tune_forest(
        X,
        y,
        estimator=CO2ForestClassifier(mixture=None),
        grid=GRID,
        max_features_grid=None,
        trial_n_estimators=7,
        standard_errors=standard_errors,
        random_state=0,
    )
    assert [row["score"] for row in result.table] == pytest.approx(scores, abs=1e-12)
    best = choice_by_hand(scores, right, standard_errors)
    assert [row["chosen"] for row in result.table] == [i == best for i in range(len(scores))]
    expected = {name: value for name, value in candidates[best].items() if value is not None}
    assert result.best_params == expected
    assert result.best_score == pytest.approx(scores[best])


def test_number_of_features_is_chosen_by_axis_aligned_forests():
    X = np.random.default_rng(0).normal(size=(600, 64)).astype(np.float32)
    y = (X[:, 3] > 0) + (X[:, 5] > 0)  # a node should look at more than a few features
    counts = [8, 12, 18, 27, 42]  # 64 to the powers 0.5 ... 0.9
    scores, right = by_hand(
        X, y, counts, lambda q: AxisForestClassifier(100, max_features=q, random_state=0)
    )
    result = tune_forest(X, y, grid={"nu": [1]}, trial_n_estimators=3, random_state=0)
    table = result.max_features_table
    assert [row["max_features"] for row in table] == ["sqrt", *counts[1:]]
    assert [row["score"] for row in table] == pytest.approx(scores, abs=1e-12)
    best = choice_by_hand(scores, right)
    assert best > 0  # else the rest says nothing
    assert [row["chosen"] for row in table] == [i == best for i in range(5)]
    tried = [row["max_features"] for row in result.table]
    assert tried == ["sqrt", counts[best], counts[best]]  # as given, with q alone, with nu too
    assert result.max_features == result.estimator.max_features


def test_out_of_bag_chooses_what_a_loop_does(blobs):
    X, y = blobs
    nus = ["auto", 0.01, 1, 100]
    forests = [
        CO2ForestClassifier(
            15, nu=nu, bootstrap=True, oob_score=True, random_state=3, mixture=None
        ).fit(X, y)
        for nu in nus
    ]
    right = np.array([f.classes_[f.oob_decision_function_.argmax(axis=1)] == y for f in forests])
    result = tune_forest(
        X,
        y,
        estimator=CO2ForestClassifier(mixture=None),
        grid={"nu": nus[1:]},
        max_features_grid=None,
        method="oob",
        trial_n_estimators=15,
        random_state=3,
    )
    assert [row["score"] for row in result.table] == pytest.approx([f.oob_score_ for f in forests])
    best = choice_by_hand(right.mean(axis=1), right)
    assert result.estimator.nu == nus[best]
    assert result.estimator.bootstrap is False  # only the trials need it
    assert not hasattr(result.estimator, "oob_score_")


def test_out_of_bag_without_an_estimate_for_every_row(blobs):
    result = tune_forest(
        *blobs, method="oob", grid={"nu": [1]}, **QUICK | {"trial_n_estimators": 1}
    )
    assert all(0.4 < row["score"] < 1 for row in result.table)


@pytest.mark.parametrize("max_samples", [1.0, 300, 1, 0.5])
def test_out_of_bag_with_any_number_of_draws(blobs, max_samples):
    forest = CO2ForestClassifier(3, max_samples=max_samples, mixture=None)
    result = tune_forest(*blobs, estimator=forest, method="oob", grid={"nu": [1]}, **QUICK)
    assert result.best_score > 0.3


def test_halving_finds_a_clear_winner_with_fewer_trees(informative):
    X, y = informative
    clear = {"max_depth": [2, 3, None], "min_samples_leaf": [250, 270, 1]}
    estimator = AxisForestClassifier(5, max_depth=1, min_samples_leaf=260)
    common = {"estimator": estimator, "grid": clear, "max_features_grid": None, "random_state": 0}
    full = tune_forest(X, y, **common)
    halved = tune_forest(X, y, method="halving", **common)
    assert full.best_params == halved.best_params == {"max_depth": None, "min_samples_leaf": 1}
    assert full.best_score == halved.best_score  # grown in steps, the forest is the same
    assert halved.table[0]["trees"] == 30  # stays to the end
    trees = [row["trees"] for row in halved.table]
    assert sum(trees) < 0.5 * 30 * len(trees)
    assert sorted(set(trees)) == [4, 10, 30]


def test_halving_compares_forests_of_equal_size(blobs):
    halved = tune_forest(
        *blobs, method="halving", grid=GRID, max_features_grid=None, random_state=0
    )
    for row in halved.table:
        few = tune_forest(
            *blobs,
            grid=GRID,
            max_features_grid=None,
            trial_n_estimators=row["trees"],
            random_state=0,
        )
        same = next(
            r for r in few.table if (r["nu"], r["max_depth"]) == (row["nu"], row["max_depth"])
        )
        assert (row["score"], row["difference"]) == (same["score"], same["difference"])


def test_rungs():
    assert rungs_of(20, 30) == [4, 10, 30]
    assert rungs_of(1, 30) == [30]
    assert rungs_of(2, 30) == [10, 30]
    assert rungs_of(50, 1) == [1]
    assert rungs_of(50, 12) == [4, 12]
    assert work(20, 30, halving=True) < work(20, 30, halving=False) / 3 == 200


def test_the_earlier_of_equal_candidates_wins():
    assert winner(entries(0.5, 0.5, 0.5), 0.0) == 0
    assert winner(entries(0.5, 0.7, 0.7), 1.0) == 1


def test_only_a_clear_difference_replaces_the_estimator_as_given():
    assert winner(entries(0.5, 0.58, 0.59, noise=0.1), 1.0) == 0
    assert winner(entries(0.5, 0.58, 0.59, noise=0.1), 0.5) == 2
    assert winner(entries(0.5, 0.58, 0.59, noise=0.1), 0.0) == 2
    assert winner(entries(0.5, math.nan, 0.4), 0.0) == 0
    assert winner(entries(math.nan, 0.3, 0.4), 1.0) == 2


def test_candidates_that_went_out_do_not_win():
    given, lucky = entries(0.5, 0.9)
    assert winner([given, lucky._replace(trees=4)], 0.0) == 0


@pytest.mark.parametrize("method", ["holdout", "halving", "oob"])
def test_same_result_for_every_number_of_threads(digits, method, assert_same_trees):
    X, _, y, _ = digits
    first, second = (
        tune_forest(
            X[:300],
            y[:300],
            estimator=CO2ForestClassifier(4, mixture=None),
            grid={"nu": [0.1, 10]},
            trial_n_estimators=5,
            method=method,
            n_jobs=n_jobs,
            random_state=5,
        )
        for n_jobs in (1, 2)
    )
    without_time = [
        [{k: v for k, v in row.items() if k != "seconds"} for row in r.table]
        for r in (first, second)
    ]
    assert without_time[0] == without_time[1]
    assert_same_trees(first.estimator, second.estimator)


def test_random_state_may_be_a_generator(blobs):
    first, second = (
        tune_forest(*blobs, grid={"nu": [1]}, **QUICK | {"random_state": np.random.RandomState(3)})
        for _ in range(2)
    )
    assert first.random_state == second.random_state
    assert first.best_score == second.best_score


def test_defaults_are_the_papers(blobs):
    result = tune_forest(*blobs, trial_n_estimators=2, refit=False, random_state=0)
    tried = {(row["nu"], row["learning_rate"]) for row in result.table[1:]} - {("auto", "auto")}
    assert tried == {(nu, eta) for nu in PAPER_GRID["nu"] for eta in PAPER_GRID["learning_rate"]}
    assert PAPER_EXPONENTS == (0.5, 0.6, 0.7, 0.8, 0.9)
    assert not hasattr(result.estimator, "classes_")  # refit=False


@pytest.mark.parametrize("method", ["holdout", "oob"])
@pytest.mark.parametrize("scoring", ["jaccard_macro", "neg_log_loss", "roc_auc_ovr", "accuracy"])
def test_scorers_by_name(blobs, scoring, method):
    X, y = blobs
    plain = CO2ForestClassifier(mixture=None)
    result = tune_forest(
        X, y, estimator=plain, grid={"nu": [1]}, scoring=scoring, method=method, **QUICK
    )
    assert result.scoring == scoring
    if method == "oob":
        assert all(math.isfinite(row["standard_error"]) for row in result.table)
        return
    train, test = next(StratifiedShuffleSplit(1, test_size=0.2, random_state=0).split(X, y))
    forest = CO2ForestClassifier(3, random_state=0, mixture=None).fit(X[train], y[train])
    assert result.table[0]["score"] == pytest.approx(get_scorer(scoring)(forest, X[test], y[test]))


def test_bootstrap_and_formula_agree_on_the_standard_error(digits):
    X, _, y, _ = digits
    grid = {"max_depth": [2, 5]}
    formula = tune_forest(X, y, grid=grid, **QUICK)
    drawn = tune_forest(X, y, grid=grid, scoring=make_scorer(accuracy_score), **QUICK)
    for one, other in zip(formula.table[1:], drawn.table[1:], strict=True):
        assert one["score"] == pytest.approx(other["score"])
        assert other["standard_error"] == pytest.approx(one["standard_error"], rel=0.4)


def test_any_parameter_and_several_grids(blobs):
    grids = [{"solver": ["cccp", "auto"]}, {"scale": ["minmax"], "bootstrap": [True]}]
    result = tune_forest(*blobs, grid=grids, **QUICK)
    assert [(r["solver"], r["scale"], r["bootstrap"]) for r in result.table] == [
        ("auto", "auto", False),  # as given; the grid's repetition of it is left out
        ("cccp", "auto", False),
        ("auto", "minmax", True),
    ]


def test_max_features_of_the_grid_replaces_the_first_step(blobs):
    result = tune_forest(*blobs, grid={"max_features": [1, 8]}, random_state=0)
    assert result.max_features_table == []
    assert [row["max_features"] for row in result.table] == ["sqrt", 1, 8]


def test_the_result_keeps_what_is_not_tuned(blobs):
    estimator = CO2ForestClassifier(4, min_samples_leaf=3, random_state=11, mixture=None)
    result = tune_forest(*blobs, estimator=estimator, grid={"nu": [1]}, **QUICK)
    assert result.estimator is not estimator
    assert (result.estimator.n_estimators, result.estimator.random_state) == (4, 11)
    assert result.estimator.min_samples_leaf == 3
    assert not hasattr(estimator, "classes_")
    assert len(result.estimator.estimators_) == 4


def test_other_forests(blobs):
    X, y = blobs
    result = tune_forest(
        X, y, estimator=TwoProbeForestClassifier(3), grid={"max_depth": [1]}, random_state=0
    )
    assert result.best_params == {}
    assert result.max_features is None
    numbers = X[:, 0] + X[:, 1] ** 2
    for method in ("holdout", "halving", "oob"):
        regression = tune_forest(
            X,
            numbers,
            estimator=AxisForestRegressor(5, max_depth=1),
            grid={"max_depth": [None]},
            method=method,
            random_state=0,
        )
        assert regression.best_params["max_depth"] is None
        assert regression.scoring == "R2"
        assert len(regression.max_features_table) == 6


def test_numbers_of_a_co2_forest(blobs):
    X, _ = blobs
    result = tune_forest(
        X,
        X[:, 0] + X[:, 1] ** 2,
        estimator=CO2ForestRegressor(4, mixture=None),
        grid={"nu": [1]},
        trial_n_estimators=3,
        random_state=0,
    )
    assert result.max_features_table[0]["max_features"] == round(X.shape[1] ** 0.8)  # "auto"
    assert result.scoring == "R2"
    assert len(result.estimator.estimators_) == 4


def test_several_hold_outs_are_averaged(blobs):
    X, y = blobs
    plain = CO2ForestClassifier(mixture=None)
    result = tune_forest(X, y, estimator=plain, grid={"nu": [1]}, n_splits=3, **QUICK)
    splits = StratifiedShuffleSplit(3, test_size=0.2, random_state=0).split(X, y)
    scores = [
        CO2ForestClassifier(3, random_state=0, mixture=None).fit(X[a], y[a]).score(X[b], y[b])
        for a, b in splits
    ]
    assert result.table[0]["score"] == pytest.approx(np.mean(scores))


def test_weights_count_in_training_and_scores(blobs):
    X, y = blobs
    weights = np.random.default_rng(0).integers(0, 4, len(y))
    search = {"estimator": CO2ForestClassifier(mixture=None), "grid": {"nu": [1]}, **QUICK}
    result = tune_forest(X, y, sample_weight=weights, **search)
    a, b = next(StratifiedShuffleSplit(1, test_size=0.2, random_state=0).split(X, y))
    forest = CO2ForestClassifier(3, random_state=0, mixture=None).fit(X[a], y[a], weights[a])
    assert result.table[0]["score"] == pytest.approx(forest.score(X[b], y[b], weights[b]))
    loss = tune_forest(X, y, sample_weight=weights, scoring="neg_log_loss", **search)
    expected = get_scorer("neg_log_loss")(forest, X[b], y[b], sample_weight=weights[b])
    assert loss.table[0]["score"] == pytest.approx(expected)


@pytest.mark.parametrize("method", ["holdout", "halving"])
def test_a_group_is_never_on_both_sides(method):
    X, y = make_classification(200, 5, random_state=0)
    groups = np.repeat(np.arange(20), 10)
    X[:, 0] = np.arange(200)
    held_out = set()

    def score(estimator, X, y):
        held_out.update(X[:, 0].astype(int))
        return estimator.score(X, y) if hasattr(estimator, "score") else 0.0

    tune_forest(X, y, grid={"nu": [1]}, groups=groups, scoring=score, method=method, **QUICK)
    assert len(held_out) == 40
    assert len(set(groups[sorted(held_out)])) == 4
