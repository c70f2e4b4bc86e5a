"""Forests seen for people: trees, errors after each tree, texts."""

import re
import shutil
import subprocess
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.metrics import root_mean_squared_error

import export_models
from co2forest import (
    CO2BoostingRegressor,
    CO2ForestClassifier,
    CO2ForestRegressor,
    CO2TreeClassifier,
)
from co2forest.baselines import AxisForestRegressor
from co2forest.inspection import _curves, export_dot, export_text
from co2forest.inspection._curves import error_by_trees
from co2forest.inspection._trees import ForestView
from co2forest.tables import fit_table


@pytest.fixture(scope="module")
def iris():
    data = load_iris(as_frame=True)
    names = data.target_names[data.target]
    return CO2ForestClassifier(5, random_state=0).fit(data.data, names), data.data, names


# --- views


@pytest.mark.parametrize("name", export_models.MODELS)
def test_leaves_add_up_to_predictions(name):
    model, X = export_models.model(name)
    view = ForestView.of(model)
    leaves = view.leaves(X)
    said = sum(view.tree(i).values[leaves[:, i]] for i in range(view.n_trees))
    said = view.units.start + view.units.part * said
    if view.kind == "scores":
        said = np.exp(said) / np.exp(said).sum(axis=1, keepdims=True)
    elif view.kind == "logarithms":
        said = np.exp(said)
    expected = export_models.numbers_of(model, X)
    np.testing.assert_allclose(said, expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(view.leaves(X), np.reshape(model.apply(X), leaves.shape))


def test_nodes_of_a_tree(blobs):
    X, y = blobs
    view = ForestView.of(CO2ForestClassifier(2, random_state=0).fit(X, y))
    tree = view.tree(1)
    assert (view.kind, view.impurity_name) == ("classes", "entropy")
    np.testing.assert_allclose(tree.values[0], np.bincount(y) / len(y), atol=1e-6)
    part = np.bincount(y) / len(y)
    np.testing.assert_allclose(tree.impurity[0], -(part * np.log2(part)).sum(), rtol=1e-5)
    rows, leaves = view.rows(X), view.leaves(X)[:, 1]
    for row in range(0, 300, 30):
        path = tree.path(leaves[row])
        assert path[0] == 0
        assert tree.is_leaf(path[-1])
        assert [int(tree.depth[node]) for node in path] == list(range(len(path)))
        for node, child in pairwise(path):
            right = tree.projections(node, rows[row : row + 1])[0] >= 0
            assert child == tree.left[node] + right
            assert tree.parent[child] == node


def test_projections_of_sparse_rows():
    model, X = export_models.model("numbers: sparse")
    view = ForestView.of(model)
    tree, rows = view.tree(0), view.rows(X)
    assert sp.issparse(rows)
    dense = tree.projections(0, rows.toarray())
    np.testing.assert_allclose(tree.projections(0, rows), dense, atol=1e-6)


def test_rows_have_the_mean_for_missing_values():
    model, X = export_models.model("numbers: AxisForestRegressor")
    view = ForestView.of(model)
    rows, mean = view.rows(X), view.mean.astype(np.float32)
    np.testing.assert_array_equal(rows, np.where(np.isnan(X), mean, X))
    assert np.isnan(X).any()  # the user's rows are left alone
    sparse = sp.csr_array(np.array([[np.nan, 0, 0, 0, 0, 1.0]], dtype=np.float32))
    assert view.rows(sparse).toarray()[0].tolist() == [mean[0], 0, 0, 0, 0, 1]


def test_impurity_in_units_of_y():
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = 1000 + 50 * X[:, 0]
    tree = ForestView.of(AxisForestRegressor(1, bootstrap=False, random_state=0).fit(X, y)).tree(0)
    np.testing.assert_allclose(tree.impurity[0], y.var(), rtol=1e-5)
    np.testing.assert_allclose(tree.values[0], y.mean(), rtol=1e-6)


def test_names(iris):
    model, X, _ = iris
    view = ForestView.of(model)
    assert view.feature_names == list(X.columns)
    assert view.output_names == ["setosa", "versicolor", "virginica"]
    frame = pd.DataFrame(
        {"a b": [1.0, 2, 3, 4] * 10, "c": [*"uvwx"] * 10, "t": [1.5, 2, 3, 4] * 10}
    )
    table = ForestView.of(fit_table(frame, "t", estimator=CO2ForestRegressor(2, random_state=0)))
    assert table.output_names == ["t"]
    assert table.feature_names == list(table.model.encoder_.get_feature_names_out())
    assert table.leaves(frame[:3]).shape == (3, 2)


# --- errors after each tree


def test_errors_are_those_of_shorter_forests(digits):
    X, X_test, y, y_test = digits
    model = CO2ForestClassifier(8, random_state=0).fit(X, y)
    numbers, errors = error_by_trees(model, X_test, y_test)
    assert numbers.tolist() == list(range(1, 9))
    for n in (1, 3, 8):
        shorter = CO2ForestClassifier(n, random_state=0).fit(X, y)
        np.testing.assert_allclose(errors[n - 1], 1 - shorter.score(X_test, y_test))


@pytest.mark.parametrize("name", export_models.MODELS)
def test_the_last_error_is_that_of_the_model(name):
    model, X = export_models.model(name)
    said = np.array(model.predict(X))
    y = said.copy()
    y[:40] = said[40:80]  # some are wrong
    errors = error_by_trees(model, X, y)[1]
    if hasattr(model, "predict_proba"):
        wrong = np.any((said != y).reshape(len(y), -1), axis=1)
        np.testing.assert_allclose(errors[-1], wrong.mean())
    else:
        ours, truth = said.reshape(len(y), -1), y.reshape(len(y), -1)
        unit = np.abs(truth).max(axis=0)  # squares of 1e200 overflow
        each = np.sqrt((((ours - truth) / unit) ** 2).mean(axis=0)) * unit
        np.testing.assert_allclose(errors[-1], each.mean(), rtol=1e-6)


@pytest.mark.parametrize("block", [2**20, 4096])
def test_out_of_bag(digits, block, monkeypatch):
    monkeypatch.setattr(_curves, "_BLOCK", block)
    X, _, y, _ = digits
    sampled = {"bootstrap": True, "max_samples": 0.3, "oob_score": True, "random_state": 0}
    for forest in (CO2ForestClassifier(12, **sampled), RandomForestClassifier(12, **sampled)):
        errors = error_by_trees(forest.fit(X, y), X, y, out_of_bag=True)[1]
        np.testing.assert_allclose(errors[-1], 1 - forest.oob_score_)
        first = forest.estimators_samples_[0]
        rest = np.setdiff1d(np.arange(len(y)), first)
        tree = forest.estimators_[0]
        wrong = tree.predict_proba(X[rest]).argmax(axis=1) != y[rest]
        np.testing.assert_allclose(errors[0], wrong.mean())


def test_random_forests_of_numbers():
    X, y = load_diabetes(return_X_y=True)
    y = np.c_[y, -y]
    forest = RandomForestRegressor(5, random_state=0).fit(X[:300], y[:300])
    errors = error_by_trees(forest, X[300:], y[300:])[1]
    expected = root_mean_squared_error(y[300:], forest.predict(X[300:]))
    np.testing.assert_allclose(errors[-1], expected)


def test_rounds_of_boosting():
    X, y = load_diabetes(return_X_y=True)
    model = CO2BoostingRegressor(n_estimators=10, random_state=0).fit(X, y)
    errors = error_by_trees(model, X, y)[1]
    staged = [root_mean_squared_error(y, said) for said in model.staged_predict(X)]
    np.testing.assert_allclose(errors, staged, rtol=1e-6)


def test_what_has_no_errors(blobs):
    X, y = blobs
    forest = CO2ForestClassifier(3, bootstrap=True, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"y has none of the model's classes \[0, 1, 2\]"):
        error_by_trees(forest, X, np.full(300, "a"))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        error_by_trees(forest, X, y[:5])
    with pytest.raises(ValueError, match="X has 200 rows, but the trees were drawn from 300"):
        error_by_trees(forest, X[:200], y[:200], out_of_bag=True)
    everything = CO2ForestClassifier(2, bootstrap=False, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="every tree drew all rows"):
        error_by_trees(everything, X, y, out_of_bag=True)
    tree = CO2TreeClassifier(random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="whose trees draw rows, got CO2TreeClassifier"):
        error_by_trees(tree, X, y, out_of_bag=True)
    forest._partitioned = True
    with pytest.raises(ValueError, match="grown on Dask"):
        error_by_trees(forest, X, y, out_of_bag=True)
    numbers = CO2ForestRegressor(2, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="y has 2 columns, but the model predicts 1 outputs"):
        error_by_trees(numbers, X, np.c_[y, y])


# --- texts


def test_text_is_the_tree(iris):
    """The tests of the text, read as arithmetic, send rows where the tree does."""
    model, X, _ = iris
    view = ForestView.of(model)
    leaves, tree = view.leaves(X)[:, 0], view.tree(0)
    text = export_text(model, n_weights=None, feature_names=["a", "b", "c", "d"])
    answers = np.full(len(X), "", dtype=object)
    _follow(text.splitlines(), np.ones(len(X), dtype=bool), X.to_numpy(), answers)
    expected = [view.output_names[k] for k in tree.values[leaves].argmax(axis=1)]
    assert np.mean(answers == expected) > 0.97  # numbers are rounded to three digits


def _follow(lines, here, X, answers):
    """Fill in what the lines of a subtree answer to the rows that are here."""
    if "answer:" in lines[0]:
        answers[here] = re.search(r"answer: (\w+):", lines[0])[1]
        return
    depth = lines[0].index("|---")
    starts = [i for i, line in enumerate(lines) if line.startswith("|---", depth)]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        left, sign, right = re.fullmatch(
            r"(.*) (<|>=|<=|>) (\S+)", lines[start][depth + 5 :]
        ).groups()
        terms = re.findall(r"([+-]? ?[\d.e-]*) ?([abcd])", left)
        total = sum(
            (float(w.replace(" ", "")) if w.strip() else 1.0) * X[:, "abcd".index(name)]
            for w, name in terms
        )
        true = {"<": np.less, ">=": np.greater_equal, "<=": np.less_equal, ">": np.greater}[sign]
        _follow(lines[start + 1 : end], here & true(total, float(right)), X, answers)


def test_text_is_cut(iris):
    model, _, _ = iris
    text = export_text(model, 1, max_depth=1, n_weights=2, class_names=["A", "B", "C"])
    lines = text.splitlines()
    assert len(lines) == 4
    assert "+ 2 more <" in lines[0]
    assert lines[1] == "|   answer: A: 100% (n = 50, entropy 0)"
    assert re.fullmatch(r"\|   answer: B: 50%, C: 50% \(n = 100, .* nodes below\)", lines[3])


def test_text_of_numbers():
    X = np.arange(40, dtype=np.float32)[:, None]
    text = export_text(
        AxisForestRegressor(1, max_depth=1, random_state=0).fit(X, 1e4 * (X[:, 0] > 19))
    )
    assert re.search(r"^\|--- x0 < (19|20)", text)
    assert "answer: y = 10000 (n = " in text


def test_a_tree_of_one_node(blobs):
    X, y = blobs
    model = CO2ForestClassifier(1, random_state=0).fit(X, y * 0)
    assert export_text(model) == "answer: 0: 100% (n = 300, entropy 0)\n"
    assert "->" not in export_dot(model)


def test_graphviz_reads_every_tree():
    names = ['quote " inside', "back\\slash\\", "new\nline", "<b>markup</b>", "ümläut {x|y}"]
    X = np.random.default_rng(0).normal(size=(80, 5)).astype(np.float32)
    model = CO2ForestClassifier(2, random_state=0).fit(X, X[:, 0] + X[:, 1] > 0)
    text = export_dot(model, 1, feature_names=names, class_names=['no "way"', "yes;"])
    assert _without_strings(text).count("{") == _without_strings(text).count("}") == 1
    tree = ForestView.of(model).tree(1)
    assert len(re.findall(r"^    \d+ \[label=", text, re.MULTILINE)) == tree.n_nodes
    assert text.count("->") == tree.n_nodes - 1
    if shutil.which("dot"):
        drawn = subprocess.run(
            ["dot", "-Tplain"], input=text, capture_output=True, text=True, check=True
        )
        assert drawn.stderr == ""
        assert len(re.findall(r"^node ", drawn.stdout, re.MULTILINE)) == tree.n_nodes


def _without_strings(text):
    """The text without what is in quotation marks, which must be well-formed."""
    rest = re.sub(r'"(\\.|[^"\\])*"', "", text)
    assert '"' not in rest
    return rest


def test_graphviz_is_cut(iris):
    model, _, _ = iris
    text = export_dot(model, max_depth=1)
    assert text.count("->") == 2
    assert "nodes below" in text
    assert "dashed" in text


@pytest.mark.parametrize("export", [export_text, export_dot])
def test_wrong_arguments_of_texts(export, iris):
    model, _, _ = iris
    wrong = [
        ({"tree": 5}, ValueError, "tree=5 must be a whole number from 0 to 4"),
        ({"tree": "first"}, TypeError, "tree='first' must be a whole number"),
        ({"max_depth": -1}, ValueError, "max_depth=-1 must be a whole number of at least 0"),
        ({"n_weights": 0}, ValueError, "n_weights=0 must be a whole number of at least 1"),
        ({"feature_names": ["a"]}, ValueError, "feature_names has 1 names, but .* 4 features"),
        ({"feature_names": "abcd"}, TypeError, "feature_names must be a list of 4 names"),
        ({"class_names": ["a"] * 4}, ValueError, "class_names has 4 names, but .* 3 classes"),
    ]
    for arguments, error, message in wrong:
        with pytest.raises(error, match=message):
            export(model, **arguments)
