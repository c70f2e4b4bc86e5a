# SPDX-License-Identifier: BSD-3-Clause
"""CO2 forests for numbers: losses, units, solvers, and the quantiles of the leaves."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize_scalar
from sklearn.base import clone
from sklearn.datasets import make_friedman1
from sklearn.exceptions import NotFittedError
from sklearn.metrics import mean_absolute_error, mean_pinball_loss, mean_poisson_deviance

from co2forest import (
    CO2ForestRegressor,
    CO2TreeRegressor,
    ModelFormatError,
    _native,
    load_model,
)
from co2forest.data.losses import Loss
from co2forest.data.training_set import TrainingSet
from co2forest.fitting import trial
from co2forest.fitting.solvers import DEFAULT_SOLVER, SOLVERS, choose_solver
from co2forest.fitting.trees import Grown
from fitted_state import assert_same_state, change

LOSSES = ["squared", "huber", "quantile", "poisson"]
every_loss = pytest.mark.parametrize("loss", LOSSES)


@pytest.fixture(scope="module")
def friedman():
    """400 training and 400 test rows of a smooth function with noise; all targets positive."""
    X, y = make_friedman1(800, 10, noise=1.0, random_state=0)
    y = np.maximum(y, 0.1)
    return X[:400], X[400:], y[:400], y[400:]


def forest_of(**params):
    return CO2ForestRegressor(**{"n_estimators": 20, "random_state": 0} | params, mixture=None)


# --- what each loss is for


@pytest.mark.parametrize(
    ("loss", "solver"),
    [(loss, solver) for loss in LOSSES for solver in ("auto", "ridge", "warm", "cccp")]
    + [("squared", "select")],
)
def test_every_loss_and_solver_learns(friedman, loss, solver):
    X, X_test, y, y_test = friedman
    forest = forest_of(loss=loss, solver=solver).fit(X, y)
    assert forest.score(X_test, y_test) > 0.6
    assert forest.solver_ in SOLVERS
    if solver != "select":
        assert forest.solver_ == ("warm" if solver == "auto" else solver)


def test_huber_ignores_outliers(friedman):
    X, X_test, y, y_test = friedman
    y = y.copy()
    y[::10] += 500.0
    plain, robust = (forest_of(loss=loss, min_samples_leaf=10) for loss in ("squared", "huber"))
    wrong = mean_absolute_error(y_test, plain.fit(X, y).predict(X_test))
    assert mean_absolute_error(y_test, robust.fit(X, y).predict(X_test)) < 0.4 * wrong


@pytest.mark.parametrize("alpha", [0.1, 0.5, 0.9])
def test_quantiles_have_their_part_of_rows_below(alpha):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1600, 4))
    y = X[:, 0] + np.exp(0.5 * X[:, 1]) * rng.normal(size=1600)
    X, X_test, y, y_test = X[:800], X[800:], y[:800], y[800:]
    forest = forest_of(loss="quantile", alpha=alpha).fit(X, y)
    assert np.mean(y_test <= forest.predict(X_test)) == pytest.approx(alpha, abs=0.05)
    constant = np.full(800, np.quantile(y, alpha))
    loss = mean_pinball_loss(y_test, forest.predict(X_test), alpha=alpha)
    assert loss < 0.85 * mean_pinball_loss(y_test, constant, alpha=alpha)


def test_poisson_tells_small_means_apart():
    """A tree of few leaves spends them where the squared error hardly looks."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(4000, 2))
    mean = np.where(X[:, 0] < 0.5, np.where(X[:, 1] < 0.5, 0.02, 0.6), 40.0 + 3 * (X[:, 1] > 0.5))
    y = rng.poisson(mean)
    deviance = {}
    for loss in ("squared", "poisson"):
        tree = CO2TreeRegressor(loss=loss, max_leaf_nodes=3, random_state=0).fit(X, y)
        deviance[loss] = mean_poisson_deviance(mean, np.maximum(tree.predict(X), 1e-6))
    assert deviance["poisson"] < 0.7 * deviance["squared"]


def leaf_of(y, weight=None, **params):
    """What is predicted where all rows are alike."""
    return (
        CO2TreeRegressor(random_state=0, **params)
        .fit(np.ones((len(y), 2)), y, weight)
        .predict(np.ones((1, 2)))[0]
    )


def test_leaves_are_means_quantiles_and_huber_centres():
    rng = np.random.default_rng(0)
    y = 50.0 + 3.0 * rng.standard_t(1.5, 101)
    weight = rng.integers(1, 4, 101)
    repeated = np.repeat(y, weight)
    assert leaf_of(y, weight) == pytest.approx(repeated.mean(), rel=1e-6)
    counts = np.abs(y)
    assert leaf_of(counts, weight, loss="poisson") == pytest.approx(
        np.repeat(counts, weight).mean(), rel=1e-6
    )
    for alpha in (0.11, 0.5, 0.93):
        expected = np.quantile(repeated, alpha, method="averaged_inverted_cdf")
        assert leaf_of(y, weight, loss="quantile", alpha=alpha) == pytest.approx(expected, rel=1e-5)
    for delta in (0.1, 1.35, 1e6):
        deviation = np.sort(np.abs(repeated - np.sort(repeated)[(len(repeated) - 1) // 2]))
        distance = delta * 1.4826 * deviation[(len(repeated) - 1) // 2]

        def huber(x, distance=distance):
            error = np.abs(x - repeated)
            return np.where(error <= distance, error**2, 2 * distance * error - distance**2).sum()

        expected = minimize_scalar(huber, bounds=(y.min(), y.max()), options={"xatol": 1e-9}).x
        assert leaf_of(y, weight, loss="huber", delta=delta) == pytest.approx(expected, rel=1e-5)


def test_huber_without_a_median_deviation_takes_the_standard_deviation():
    y = np.r_[np.zeros(90), np.arange(10.0)]  # more than half of the targets are the same
    distance = 1.35 * y.std()
    expected = minimize_scalar(
        lambda x: np.where(
            np.abs(y - x) <= distance, (y - x) ** 2, 2 * distance * np.abs(y - x) - distance**2
        ).sum(),
        bounds=(0, 9),
        options={"xatol": 1e-9},
    ).x
    assert leaf_of(y, loss="huber") == pytest.approx(expected, rel=1e-5)


# --- units


@every_loss
@pytest.mark.parametrize(("factor", "offset"), [(2.0**-60, 0), (1e-9, 0), (3e8, 5e8), (0.3, -7)])
def test_predictions_follow_the_unit_of_targets(friedman, loss, factor, offset):
    X, X_test, y, _ = friedman
    if loss == "poisson":
        offset = 0
    forest = forest_of(loss=loss, alpha=0.3, n_estimators=5)
    plain, other = clone(forest).fit(X, y), clone(forest).fit(X, factor * y + offset)
    np.testing.assert_array_equal(other.apply(X_test), plain.apply(X_test))
    np.testing.assert_allclose(
        other.predict(X_test), factor * plain.predict(X_test) + offset, rtol=1e-6
    )


def test_predictions_follow_the_unit_of_each_output(friedman):
    X, X_test, y, _ = friedman
    both = np.c_[y, np.sin(y)]
    for loss in LOSSES[:3]:
        forest = forest_of(loss=loss, n_estimators=5)
        plain = clone(forest).fit(X, both)
        other = clone(forest).fit(X, both * [1000.0, 0.01] + [5.0, 3.0])
        np.testing.assert_allclose(
            other.predict(X_test), plain.predict(X_test) * [1000.0, 0.01] + [5.0, 3.0], rtol=1e-4
        )


@pytest.mark.parametrize(
    ("loss", "unit"), [("squared", 2), ("huber", 2), ("quantile", 1), ("poisson", 1)]
)
def test_least_decrease_is_in_units_of_targets(friedman, loss, unit):
    X, _, y, _ = friedman
    tree = CO2TreeRegressor(loss=loss, max_leaf_nodes=2, min_samples_leaf=1, random_state=0)
    for factor in (1.0, 100.0):
        arrays = clone(tree).fit(X, factor * y)._forest.arrays()
        impurity, weight = arrays["impurity"].astype(float), arrays["weighted_count"]
        decrease = impurity[0] - weight[1:] @ impurity[1:] / weight[0]
        scale = factor**unit
        if loss == "squared":
            decrease *= y.var()
        elif loss == "huber":
            decrease *= (1.4826 * np.median(np.abs(y - np.median(y)))) ** 2
        else:
            decrease *= y.std() if loss == "quantile" else y.mean()
        for part, leaves in ((0.98, 2), (1.02, 1)):
            least = part * decrease * scale
            grown = clone(tree).set_params(min_impurity_decrease=least).fit(X, factor * y)
            assert grown.get_n_leaves() == leaves


# --- rows of every kind


@every_loss
def test_bytes_floats_and_sparse_rows(loss, assert_same_trees):
    rng = np.random.default_rng(0)
    X = (rng.integers(0, 100, (300, 9)) * (rng.random((300, 9)) < 0.5)).astype(np.uint8)
    y = X[:, 0] * 0.1 + X[:, 1] + 1.0
    forest = forest_of(loss=loss, n_estimators=5)
    of_bytes, of_floats = clone(forest).fit(X, y), clone(forest).fit(X.astype(np.float32), y)
    assert_same_trees(of_bytes, of_floats)
    sparse = clone(forest).fit(sp.csr_array(X.astype(np.float32)), y)
    np.testing.assert_array_equal(sparse.predict(X), sparse.predict(sp.csr_array(X)))
    assert sparse.score(X, y) == pytest.approx(of_bytes.score(X, y), abs=0.03)


@every_loss
def test_missing_values_stand_for_the_mean(friedman, loss):
    X, _, y, _ = friedman
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.02, np.nan, X)
    forest = forest_of(loss=loss, n_estimators=5).fit(holes, y)
    filled = np.where(np.isnan(holes), np.nanmean(holes, axis=0).astype(np.float32), holes)
    np.testing.assert_array_equal(forest.predict(holes), forest.predict(filled))


# --- bad targets and parameters


@pytest.mark.parametrize("estimator", [forest_of(n_estimators=2), CO2TreeRegressor()], ids=repr)
@pytest.mark.parametrize(
    ("params", "y", "message"),
    [
        ({"loss": "poisson"}, [1.0, 2.0, -1.0, 0.0], r"y\[2\]=\[-1.0\] is negative.*'poisson'"),
        ({"loss": "poisson"}, [0.0] * 4, "y is zero in every row.*'poisson' needs a positive"),
        ({"loss": "poisson"}, [[1, 0]] * 4, r"y\[:, 1\] is zero in every row"),
        ({}, [[1.0, 2.0], [1.0], [2.0], [3.0]], "inhomogeneous|sequence"),
        ({}, [1.0, np.nan, 2.0, 3.0], "Input y contains NaN"),
        ({"loss": "huber"}, [1.0, np.inf, 2.0, 3.0], "Input y contains infinity"),
        ({"loss": ["squared"]}, [1.0] * 4, "'loss' parameter of CO2"),
        ({"loss": "absolute"}, [1.0] * 4, "'loss' parameter of CO2"),
        ({"alpha": 0.0}, [1.0] * 4, "'alpha' parameter of CO2"),
        ({"alpha": 1}, [1.0] * 4, "'alpha' parameter of CO2"),
        ({"alpha": np.nan}, [1.0] * 4, "'alpha' parameter of CO2"),
        ({"delta": 0}, [1.0] * 4, "'delta' parameter of CO2"),
        ({"delta": np.inf}, [1.0] * 4, "'delta' parameter of CO2"),
        ({"delta": 1e7}, [1.0] * 4, "'delta' parameter of CO2"),
        ({"delta": 1e-7}, [1.0] * 4, "'delta' parameter of CO2"),
        ({"solver": "newton"}, [1.0] * 4, "'solver' parameter of CO2"),
        ({"keep_targets": "yes"}, [1.0] * 4, "'keep_targets' parameter of CO2"),
        ({"min_samples_leaf": "all"}, [1.0] * 4, "'min_samples_leaf' parameter of CO2"),
    ],
    ids=lambda value: "" if isinstance(value, list) else str(value)[:30],
)
def test_bad_targets_and_parameters(estimator, params, y, message):
    model = clone(estimator).set_params(**params)
    with pytest.raises(ValueError, match=message):
        model.fit(np.arange(8.0).reshape(4, 2), y)
    with pytest.raises(NotFittedError):
        model.predict(np.ones((1, 2)))


def test_counts_of_rows_without_weight_do_not_help():
    with pytest.raises(ValueError, match="y is zero in every row that has a weight"):
        forest_of(loss="poisson").fit(np.eye(3), [0, 0, 5], [1, 1, 0])


@pytest.mark.parametrize("loss", ["huber", "quantile", "poisson"])
@pytest.mark.parametrize("unit", [1e-300, 1e300])
def test_targets_of_any_size(friedman, loss, unit):
    X, _, y, _ = friedman
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        forest = forest_of(loss=loss, n_estimators=3, min_samples_leaf=1).fit(X, y / 30 * unit)
    np.testing.assert_allclose(forest.predict(X) / unit * 30, y, rtol=1e-3, atol=1e-3)


def test_a_warm_start_keeps_loss_and_solver(friedman, assert_same_trees):
    X, _, y, _ = friedman
    params = {"loss": "huber", "solver": "select", "keep_targets": True, "max_samples": 0.6}
    grown = forest_of(n_estimators=3, warm_start=True, **params).fit(X, y)
    grown.set_params(n_estimators=7).fit(X, y)
    at_once = forest_of(n_estimators=7, **params).fit(X, y)
    assert_same_trees(grown, at_once)
    assert grown.solver_ == at_once.solver_
    np.testing.assert_array_equal(grown.predict_quantiles(X), at_once.predict_quantiles(X))
    grown.set_params(n_estimators=8, loss="poisson")
    with pytest.raises(ValueError, match=r"loss differs from.*poisson, not huber delta=1\.35"):
        grown.fit(X, y)
    grown.set_params(loss="huber", delta=2.0)
    with pytest.raises(ValueError, match=r"huber delta=2\.0, not huber delta=1\.35"):
        grown.fit(X, y)
    grown.set_params(delta=1.35)
    with pytest.raises(ValueError, match="keep_targets=True with warm_start=True needs the y"):
        grown.fit(X, y + 1)
    with pytest.raises(ValueError, match="keep_targets=True with warm_start=True needs the y"):
        grown.set_params(bootstrap=True).fit(X, y)
    assert len(grown.estimators_) == 7


# --- the choice of a solver


def test_select_takes_the_solver_with_the_smallest_loss(friedman, monkeypatch):
    X, _, y, _ = friedman
    X = X.astype(np.float32)
    for loss in LOSSES:
        forest = forest_of(loss=loss)
        outputs, data = forest._read(X, y, None)
        plan = forest._decide(outputs, data)
        for best in SOLVERS:
            fitted = []

            def grow(plan, part, trees, best=best, fitted=fitted):
                fitted.append((plan.solver, part.n_rows))
                assert plan.kinds[0].split == forest_of()._split_params(10, plan.solver)
                tree = CO2TreeRegressor(max_leaf_nodes=10, random_state=0)
                order = 1 if plan.solver == best else -1  # or of other rows
                tree.fit(part.X, part.targets[::order, 0])
                offset, unit = tree._outputs.units
                # In the units of the whole, as a trial's forest is.
                arrays = dict(tree._forest.arrays())
                arrays["value"] = (arrays["value"] * unit[0] + offset[0]).astype(np.float32)
                return Grown(_native.Forest(arrays, 1, distributions=False), tree.n_iter_)

            monkeypatch.setattr(trial, "grow_here", grow)
            assert choose_solver(plan, data, forest._split_params) == best
            assert fitted == [(solver, 320) for solver in SOLVERS]


def test_few_rows_are_not_tried(friedman):
    X, _, y, _ = friedman
    assert forest_of(solver="select").fit(X[:40], y[:40]).solver_ == DEFAULT_SOLVER


def test_select_does_not_depend_on_order_or_repeats(friedman):
    X, _, y, _ = friedman
    X = X.astype(np.float32)
    weight = np.random.default_rng(0).integers(0, 3, 400)
    forest = forest_of(solver="select", n_estimators=2)
    weighted = clone(forest).fit(X, y, weight)
    repeated = np.repeat(np.arange(400), weight)
    twin = clone(forest).fit(X[repeated], y[repeated])
    assert weighted.solver_ == twin.solver_
    np.testing.assert_allclose(weighted.predict(X), twin.predict(X), rtol=1e-9)
    shuffled = np.random.default_rng(1).permutation(repeated)
    assert clone(forest).fit(X[shuffled], y[shuffled]).solver_ == twin.solver_


def test_subsets_of_a_training_set_keep_their_loss():
    loss = Loss("poisson", text="poisson")
    data = TrainingSet(
        np.ones((4, 2), np.float32),
        np.ones((4, 1), np.float32),
        np.ones(4, np.float32),
        1,
        3.0,
        loss,
    )
    subset = data.subset(np.array([1, 2]), np.ones(2, np.float32))
    assert subset.loss == loss
    assert (subset.impurity_unit, subset.rows.count, subset.n_rows) == (3.0, 2, 2)


# --- trees


@every_loss
def test_trees_of_a_forest(friedman, loss):
    X, X_test, y, _ = friedman
    forest = forest_of(loss=loss, n_estimators=4, max_samples=0.7, keep_targets=True).fit(X, y)
    trees = forest.estimators_
    assert {type(tree) for tree in trees} == {CO2TreeRegressor}
    mean = np.mean([tree.predict(X_test) for tree in trees], axis=0)
    np.testing.assert_allclose(forest.predict(X_test), mean, rtol=1e-9)
    leaves = np.stack([tree.apply(X_test) for tree in trees], axis=1)
    np.testing.assert_array_equal(forest.apply(X_test), leaves)
    indicator, begin = forest.decision_path(X_test)
    assert indicator.shape == (400, begin[-1])
    depths = [tree.decision_path(X_test).sum(axis=1).max() - 1 for tree in trees]
    assert [tree.get_depth() for tree in trees] >= depths
    # The leaf of a tree is what the loss makes of the targets that the tree kept for it.
    if loss != "quantile":
        return
    for tree in trees:
        np.testing.assert_allclose(
            tree.predict(X_test), tree.predict_quantiles(X_test, 0.5), atol=2.5
        )


# --- quantiles of the leaves


def slow_quantiles(forest, X_train, y, weight, X, levels):
    """Meinshausen's definition, row by row."""
    train, test = forest.apply(X_train), forest.apply(X)
    result = np.empty((len(X), y.shape[1], len(levels)))
    for i in range(len(X)):
        total = np.zeros(len(y))
        for t, drawn in enumerate(forest.estimators_samples_):
            own = np.bincount(drawn, minlength=len(y)) * weight * (train[:, t] == test[i, t])
            total += own / own.sum() / train.shape[1]
        for k in range(y.shape[1]):
            order = np.argsort(y[:, k], kind="stable")
            below = np.cumsum(total[order])
            for j, level in enumerate(levels):
                place = np.searchsorted(below, level - 1e-9)
                if level == 0:
                    place = np.flatnonzero(total[order] > 0)[0]
                result[i, k, j] = y[order[min(place, len(y) - 1)], k]
    return result


@pytest.mark.parametrize(
    "params", [{}, {"bootstrap": True}, {"max_samples": 0.5, "max_leaf_nodes": 6}], ids=str
)
@pytest.mark.parametrize("weighted", [False, True])
def test_quantiles_are_those_of_the_definition(params, weighted):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)).astype(np.float32)
    y = np.round(np.c_[X[:, 0], X[:, 1] * 100] + rng.normal(size=(60, 2)), 1)
    weight = rng.integers(0, 4, 60).astype(float) if weighted else None
    forest = forest_of(n_estimators=7, min_samples_leaf=4, keep_targets=True, **params)
    forest.fit(X, y, weight)
    levels = [0.0, 0.1, 0.25, 0.5, 0.8, 1.0]
    weight = np.ones(60) if weight is None else weight
    counted = weight > 0  # a tree may reach no leaf with a row that does not count
    expected = slow_quantiles(forest, X, y, weight, X[counted][:15], levels)
    np.testing.assert_array_equal(forest.predict_quantiles(X[counted][:15], levels), expected)
    for tree, drawn in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        leaf, own = tree.apply(X), np.bincount(drawn, minlength=60) * weight
        kept = np.array([y[(leaf == leaf[i]) & (own > 0)].max(axis=0) for i in range(60)])
        np.testing.assert_array_equal(tree.predict_quantiles(X, 1.0), kept)


def test_quantiles_in_blocks(friedman, monkeypatch):
    X, X_test, y, _ = friedman
    forest = forest_of(keep_targets=True, min_samples_leaf=5).fit(X, y)
    expected = forest.predict_quantiles(X_test)
    monkeypatch.setattr("co2forest.data.outputs.quantiles._MOST_ENTRIES", 3000)  # 7 trees or rows
    np.testing.assert_array_equal(forest.predict_quantiles(X_test), expected)


def test_shapes_of_quantiles(friedman):
    X, X_test, y, _ = friedman
    one = forest_of(n_estimators=3, keep_targets=True).fit(X, y)
    assert one.predict_quantiles(X_test).shape == (400, 3)
    assert one.predict_quantiles(X_test, [0.5]).shape == (400, 1)
    assert one.predict_quantiles(X_test, 0.5).shape == (400,)
    two = clone(one).fit(X, np.c_[y, -y])
    assert two.predict_quantiles(X_test, (0.2, 0.8)).shape == (400, 2, 2)
    assert two.predict_quantiles(X_test, 0.5).shape == (400, 2)


def test_quantiles_cover_their_part(friedman):
    X, X_test, y, y_test = friedman
    forest = forest_of(n_estimators=50, keep_targets=True, min_samples_leaf=5).fit(X, y)
    low, high = forest.predict_quantiles(X_test, (0.05, 0.95)).T
    assert (low <= high).all()
    assert 0.85 < np.mean((low <= y_test) & (y_test <= high)) <= 1.0
    spread = np.subtract(*np.quantile(y_test, (0.95, 0.05)))
    assert np.mean(high - low) < 0.8 * spread


@pytest.mark.parametrize("quantiles", [1.5, -0.1, [], [[0.5]], "median", [0.5, np.nan], None])
def test_wrong_quantiles(friedman, quantiles):
    X, _, y, _ = friedman
    forest = forest_of(n_estimators=1, keep_targets=True).fit(X, y)
    with pytest.raises(ValueError, match="quantiles must be a number from 0 to 1"):
        forest.predict_quantiles(X, quantiles)


def test_quantiles_need_the_targets(friedman):
    X, _, y, _ = friedman
    forest = forest_of(n_estimators=1, keep_targets=True)
    with pytest.raises(NotFittedError):
        forest.predict_quantiles(X)
    forest.fit(X, y).set_params(keep_targets=False).fit(X, y)
    with pytest.raises(ValueError, match="fit CO2ForestRegressor with keep_targets=True"):
        forest.predict_quantiles(X)


@pytest.mark.parametrize("estimator", [forest_of(bootstrap=True), CO2TreeRegressor()], ids=repr)
@pytest.mark.parametrize("way", ["file", "mapped file", "pickle"])
def test_quantiles_after_a_round_trip(friedman, estimator, way, path):
    X, X_test, y, _ = friedman
    model = clone(estimator).set_params(keep_targets=True, min_samples_leaf=3)
    model.fit(X, np.c_[y, y**2], np.arange(400) % 3)
    if way == "pickle":
        twin = pickle.loads(pickle.dumps(model))
    else:
        model.save(path)
        twin = load_model(path, mmap_mode="r" if way.startswith("mapped") else None)
    assert_same_state(model, twin)
    np.testing.assert_array_equal(twin.predict_quantiles(X_test), model.predict_quantiles(X_test))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"_kept.leaves": np.zeros((2, 3), np.uint16)}, "do not fit each other"),
        ({"_kept.leaves": np.zeros((2, 400), np.int64)}, "do not fit each other"),
        ({"_kept.leaves": np.full((2, 400), 60000, np.uint16)}, "not a node of its tree"),
        ({"_kept.targets": np.full((400, 1), np.nan)}, "kept targets must be finite"),
        ({"_kept.weights": np.full(400, -1.0)}, "weights not negative"),
        ({"_kept.weights": None}, "not a fitted CO2ForestRegressor"),
        ({"solver_": "newton"}, "solver_ must be one of warm"),
        ({"_kept": 3}, "_kept must be KeptTargets, got int"),
        ({"_outputs.loss": 3}, "the loss must be a Loss, got int"),
        ({"_outputs.loss": None}, "the loss of CO2ForestRegressor is None"),
        ({"_outputs.loss": Loss("magic", text="magic")}, "the loss must be one of"),
        ({"_outputs.loss": Loss("cost", text="cost")}, "the loss must be one of"),
        ({"_outputs.loss": Loss("cost")}, "the loss 'squared' is not 'cost'"),
        ({"_outputs.loss": Loss(text=3)}, "the loss must be one of"),
        ({"_outputs.loss": Loss("huber", "1", "huber delta=1")}, "is not 'huber' of level '1'"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_was_kept_is_checked(friedman, changes, message):
    X, _, y, _ = friedman
    forest = forest_of(n_estimators=2, keep_targets=True).fit(X, y)
    change(forest, changes)
    data = pickle.dumps(forest)
    with pytest.raises(ModelFormatError, match=message):
        pickle.loads(data)


def test_leaves_without_rows_have_no_quantiles(friedman):
    """Of a file that somebody else has made: no crash."""
    X, _, y, _ = friedman
    forest = forest_of(n_estimators=1, keep_targets=True).fit(X, y)
    change(forest, {"_kept.leaves": np.zeros((1, 400), np.uint16)})
    assert np.isnan(pickle.loads(pickle.dumps(forest)).predict_quantiles(X)).all()
