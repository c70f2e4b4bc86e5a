# SPDX-License-Identifier: BSD-3-Clause
"""Views of fitted models: their trees, names and units."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris

import export_models
from co2forest import CO2ForestClassifier, CO2ForestRegressor
from co2forest.baselines import AxisForestRegressor
from co2forest.models.view import ModelView
from co2forest.tables import fit_table


@pytest.mark.parametrize("name", export_models.MODELS)
def test_leaves_add_up_to_predictions(name):
    model, X = export_models.model(name)
    view = ModelView.of(model)
    leaves = view.leaves(view.checked(X))
    said = sum(view.tree(i).values[leaves[:, i]] for i in range(view.n_trees))
    said = view.units.start + view.units.share * said
    if view.kind == "scores":
        said = np.exp(said) / np.exp(said).sum(axis=1, keepdims=True)
    elif view.kind == "logarithms":
        said = np.exp(said)
    expected = export_models.votes_of(model, X)
    np.testing.assert_allclose(said, expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(
        view.leaves(view.checked(X)), np.reshape(model.apply(X), leaves.shape)
    )


def test_nodes_of_a_tree(blobs):
    X, y = blobs
    view = ModelView.of(CO2ForestClassifier(2, random_state=0, mixture=None).fit(X, y))
    tree = view.tree(1)
    assert (view.kind, view.impurity.name) == ("classes", "entropy")
    np.testing.assert_allclose(tree.values[0], np.bincount(y) / len(y), atol=1e-6)
    part = np.bincount(y) / len(y)
    np.testing.assert_allclose(tree.impurity[0], -(part * np.log2(part)).sum(), rtol=1e-5)
    rows, leaves = view.filled(view.checked(X)), view.leaves(view.checked(X))[:, 1]
    for row in range(0, 300, 30):
        path = tree.path(leaves[row])
        assert path[0] == 0
        assert tree.is_leaf(path[-1])
        assert [int(tree.depth[node]) for node in path] == list(range(len(path)))
        for node, child in pairwise(path):
            features, weights = tree.hyperplane(node)
            right = rows[row, features] @ weights >= tree.threshold[node]
            assert child == tree.left[node] + right
            assert tree.parent[child] == node


def test_rows_have_the_mean_for_missing_values():
    model, X = export_models.model("numbers: AxisForestRegressor")
    view = ModelView.of(model)
    rows, mean = view.filled(view.checked(X)), view.mean.astype(np.float32)
    numbers = [view.feature_names.index(f"x{j}") for j in range(6)]  # each before its gaps
    np.testing.assert_array_equal(rows[:, numbers], np.where(np.isnan(X), mean[numbers], X))
    assert np.isnan(X).any()  # the user's rows are left alone
    complete = np.nan_to_num(X)
    view = ModelView.of(CO2ForestRegressor(2, mixture=None).fit(complete, complete[:, 0]))
    mean = view.mean.astype(np.float32)
    sparse = sp.csr_array(np.array([[np.nan, 0, 0, 0, 0, 1.0]], dtype=np.float32))
    assert view.filled(view.checked(sparse)).toarray()[0].tolist() == [mean[0], 0, 0, 0, 0, 1]


def test_impurity_in_units_of_y():
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = 1000 + 50 * X[:, 0]
    tree = ModelView.of(AxisForestRegressor(1, bootstrap=False, random_state=0).fit(X, y)).tree(0)
    np.testing.assert_allclose(tree.impurity[0], y.var(), rtol=1e-5)
    np.testing.assert_allclose(tree.values[0], y.mean(), rtol=1e-6)


def test_names():
    data = load_iris(as_frame=True)
    X = data.data
    model = CO2ForestClassifier(5, random_state=0, mixture=None).fit(
        X, data.target_names[data.target]
    )
    view = ModelView.of(model)
    assert view.feature_names == list(X.columns)
    assert view.output_names == ["setosa", "versicolor", "virginica"]
    frame = pd.DataFrame(
        {"a b": [1.0, 2, 3, 4] * 10, "c": [*"uvwx"] * 10, "t": [1.5, 2, 3, 4] * 10}
    )
    table = ModelView.of(
        fit_table(frame, "t", estimator=CO2ForestRegressor(2, random_state=0, mixture=None))
    )
    assert table.output_names == ["t"]
    indicators = [f"c={value}" for value in "uvwx"]
    assert table.feature_names == ["a b", *indicators, "c: mean target"]
    assert table.column_names == ["a b", "c"]
    assert table.column_of_feature.tolist() == [0, 1, 1, 1, 1, 1]
    np.testing.assert_allclose(table.importances, table.model.feature_importances_)
    assert table.leaves(table.checked(frame[:3])).shape == (3, 2)
