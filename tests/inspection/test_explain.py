# SPDX-License-Identifier: BSD-3-Clause
"""Contributions add up to predictions, for every kind of estimator, and say what matters."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.inspection import permutation_importance

import export_models
import inspection_reference as reference
from baseline_models import BASELINES, fresh, name_of, targets
from co2forest import (
    CO2BoostingClassifier,
    CO2BoostingRegressor,
    CO2ForestClassifier,
    CO2ForestRegressor,
    CO2TreeClassifier,
)
from co2forest.baselines import AxisForestClassifier, AxisForestRegressor
from co2forest.inspection import _contributions, explain
from co2forest.inspection._shares import coefficients, squared_spreads
from co2forest.tables import fit_table


def assert_adds_up(why, expected):
    total = why.base + why.contributions.sum(axis=1)
    scale = np.abs(np.asarray(expected)).max(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    np.testing.assert_allclose(total / scale, why.prediction / scale, atol=1e-10)
    np.testing.assert_allclose(why.prediction / scale, expected / scale, atol=1e-12)


def said(model, X):
    """What is explained, from the public interface."""
    if isinstance(model, CO2BoostingClassifier):
        scores = (
            model._raw(X) * model._outputs.inverse_temperature
        )  # for two classes no method tells both
        if model.n_classes_ == 2:
            np.testing.assert_allclose(scores[:, 1] - scores[:, 0], model.decision_function(X))
        return scores
    if isinstance(model, CO2BoostingRegressor) and model.loss == "poisson":
        return np.log(model.predict(X))
    if hasattr(model, "predict_proba"):
        return export_models.votes_of(model, X)
    return model.predict(X)


@pytest.mark.parametrize("name", export_models.MODELS)
def test_contributions_add_up_and_agree_with_a_walk(name):
    model, X = export_models.model(name)
    X = X[200:206]  # not seen in training
    why = explain(model, X)
    assert_adds_up(why, said(model, X))
    expected = reference.contributions(model, X)
    boosted = isinstance(model, CO2BoostingClassifier | CO2BoostingRegressor)
    expected = expected if boosted else expected / model._forest.n_trees
    if isinstance(model, CO2BoostingClassifier):
        expected = expected * model._outputs.inverse_temperature
    elif why.explains == "prediction":
        expected = expected * model._outputs.units[1]
    expected = expected.reshape(why.contributions.shape)
    scale = np.abs(expected).max(axis=(0, 1))
    scale = np.where(scale > 0, scale, 1.0)
    np.testing.assert_allclose(why.contributions / scale, expected / scale, atol=1e-9)


@pytest.mark.parametrize("estimator", BASELINES, ids=name_of)
def test_every_baseline(estimator, blobs):
    X, y = blobs
    model = fresh(estimator).fit(X, targets(estimator, y))
    assert_adds_up(explain(model, X[:20]), said(model, X[:20]))


def test_axis_aligned_steps_belong_to_their_feature(blobs):
    X, y = blobs
    model = AxisForestClassifier(3, random_state=0).fit(X, y)
    why, expected = explain(model, X[:10]), np.zeros((10, 8, 3))
    arrays, leaves = model._forest.arrays(), model.apply(X[:10])
    for tree in range(3):
        values = reference.node_values(model._forest, tree)
        for row in range(10):
            for node, child, _ in reference.path_to(arrays, tree, leaves[row, tree]):
                (feature,), _ = reference.hyperplane(arrays, node)
                expected[row, feature] += (values[child] - values[node]) / 3
    np.testing.assert_allclose(why.contributions, expected, atol=1e-12)


@pytest.mark.parametrize(
    "estimator", [CO2ForestClassifier(5, mixture=None), AxisForestClassifier(5)]
)
def test_blocks_do_not_matter(estimator, digits, monkeypatch):
    X, _, y, _ = digits
    model = estimator.set_params(random_state=0).fit(X, y)
    whole = explain(model, X[:30])
    for name, size in (("_LEAVES", 40), ("_WEIGHTS", 200), ("_NODE_VALUES", 3000)):
        monkeypatch.setattr(_contributions, name, size)
    parts = explain(model, X[:30])
    np.testing.assert_allclose(parts.contributions, whole.contributions, atol=1e-12)
    np.testing.assert_allclose(parts.base, whole.base, atol=1e-12)


def test_bytes_floats_and_sparse_rows_have_the_same_explanation(digits):
    X, _, y, _ = digits
    model = CO2ForestClassifier(4, random_state=0, mixture=None).fit(X, y)
    plain = explain(model, X[:20]).contributions
    for rows in (X[:20].astype(np.float32), sp.csr_array(X[:20].astype(np.float32))):
        np.testing.assert_allclose(explain(model, rows).contributions, plain, atol=1e-12)


def test_a_missing_value_is_the_mean():
    X = np.random.default_rng(0).normal(size=(300, 4)).astype(np.float32)
    model = AxisForestRegressor(5, random_state=0).fit(X, X[:, 2] + X[:, 0])
    missing = X[200:210].copy()
    missing[:, 2] = np.nan
    known = np.where(np.isnan(missing), model._forest.arrays()["mean"], missing)
    np.testing.assert_allclose(
        explain(model, missing).contributions, explain(model, known).contributions, atol=1e-9
    )


def test_features_that_matter_come_first():
    X = np.random.default_rng(0).normal(size=(500, 8)).astype(np.float32)
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    model = CO2ForestClassifier(20, random_state=0, mixture=None).fit(X[:300], y[:300])
    strength = np.abs(explain(model, X[300:]).contributions[:, :, 1]).mean(axis=0)
    permuted = permutation_importance(
        model, X[300:], y[300:], scoring="neg_log_loss", n_repeats=3, random_state=0
    ).importances_mean
    assert set(np.argsort(-strength)[:2]) == set(np.argsort(-permuted)[:2]) == {0, 1}
    assert strength[:2].min() > 4 * strength[2:].max()


def test_a_class_is_spoken_for_by_what_makes_it():
    X = np.random.default_rng(0).normal(size=(400, 4)).astype(np.float32)
    model = CO2ForestRegressor(10, random_state=0, mixture=None).fit(X, 3 * X[:, 0] - 2 * X[:, 1])
    got = explain(model, X).contributions
    assert np.corrcoef(got[:, 0], 3 * X[:, 0])[0, 1] > 0.9
    assert np.corrcoef(got[:, 1], -2 * X[:, 1])[0, 1] > 0.9


@pytest.mark.parametrize("size", [1.0, 1e-30, 1e30])
def test_shares_sum_to_one_and_are_bounded(size):
    rng = np.random.default_rng(0)
    for _ in range(200):
        p = rng.integers(1, 6)
        weights = rng.normal(size=p) * size * 10.0 ** rng.integers(-3, 4, p)
        deviations = rng.standard_t(1, size=p) / size  # wide tails: pushes that cancel each other
        squares = squared_spreads(np.abs(rng.normal(size=p)) * rng.integers(0, 2, p) / size)
        side, level = rng.choice([-1.0, 1.0]), rng.normal()
        pushed, variance = weights * deviations, weights**2 * squares
        got = coefficients(
            pushed.sum(), np.abs(pushed).sum(), variance.sum(), level, np.array(side)
        )
        share = got.deviation * pushed + got.variance * variance
        np.testing.assert_allclose(share.sum(), 1, atol=1e-9)
        assert np.abs(share).sum() <= 5 + 1e-9


def test_features_constant_in_training_share_by_weight():
    X = np.zeros((40, 2), dtype=np.float32)
    X[:, 0] = np.arange(40)
    model = CO2TreeClassifier(random_state=0).fit(X, np.arange(40) > 20)
    row = np.array([[3.0, 1e6]], dtype=np.float32)
    assert_adds_up(explain(model, row), model.predict_proba(row))


def test_shapes_and_names(blobs):
    X, y = blobs
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(8)])
    model = CO2ForestClassifier(3, random_state=0, mixture=None).fit(
        frame, np.array(["a", "b", "c"])[y]
    )
    why = explain(model, frame[:7])
    assert why.contributions.shape == (7, 8, 3)
    assert (why.base.shape, why.prediction.shape) == ((3,), (7, 3))
    assert (why.feature_names[1], why.output_names) == ("c1", ["a", "b", "c"])
    numbers = explain(CO2ForestRegressor(3, random_state=0, mixture=None).fit(X, y), X[:7])
    assert (numbers.contributions.shape, numbers.prediction.shape) == ((7, 8), (7,))
    assert isinstance(numbers.base, float)
    assert (numbers.feature_names[1], numbers.output_names) == ("x1", ["y"])


def test_frame_of_a_row(blobs):
    X, y = blobs
    why = explain(CO2ForestClassifier(3, random_state=0, mixture=None).fit(X, y), X[:4])
    frame = why.to_frame(2)
    np.testing.assert_allclose(frame.sum(), why.prediction[2] - why.base, atol=1e-12)
    assert (np.diff(np.abs(frame).max(axis=1)) <= 0).all()
    assert list(frame.columns) == ["0", "1", "2"]
    with pytest.raises(ValueError, match="row=-1 must be a whole number from 0 to 3"):
        why.to_frame(-1)
    with pytest.raises(TypeError, match="row='a' must be a whole number from 0 to 3"):
        why.to_frame("a")
    with pytest.raises(ValueError, match="row=4 must be a whole number from 0 to 3"):
        why.to_frame(4)


def test_tables():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.normal(size=80), "kind": rng.choice(["s", "b"], 80)})
    frame["price"] = frame["size"] + (frame["kind"] == "b")
    model = fit_table(frame, "price", estimator=CO2ForestRegressor(4, random_state=0, mixture=None))
    why = explain(model, frame[:10])
    assert_adds_up(why, model.predict(frame[:10]))
    assert why.output_names == ["price"]
    assert "size" in why.feature_names


def test_what_cannot_be_explained(blobs):
    X, y = blobs
    with pytest.raises(TypeError, match="must be a fitted classifier or regressor"):
        explain("forest", X)
    with pytest.raises(ValueError, match="7 features"):
        explain(CO2ForestClassifier(2, random_state=0, mixture=None).fit(X, y), X[:, :7])
