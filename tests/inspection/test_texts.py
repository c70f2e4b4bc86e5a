# SPDX-License-Identifier: BSD-3-Clause
"""Trees as text and for Graphviz."""

import re
import shutil
import subprocess

import numpy as np
import pytest
from sklearn.datasets import load_iris

from co2forest import CO2ForestClassifier
from co2forest.baselines import AxisForestRegressor
from co2forest.inspection import export_dot, export_text
from co2forest.models.view import ModelView


@pytest.fixture(scope="module")
def iris():
    data = load_iris(as_frame=True)
    names = data.target_names[data.target]
    return (
        CO2ForestClassifier(5, random_state=0, mixture=None).fit(data.data, names),
        data.data,
        names,
    )


def test_text_is_the_tree(iris):
    """The tests of the text, read as arithmetic, send rows where the tree does."""
    model, X, _ = iris
    view = ModelView.of(model)
    leaves, tree = view.leaves(view.checked(X))[:, 0], view.tree(0)
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
    model = CO2ForestClassifier(1, random_state=0, mixture=None).fit(X, y * 0)
    assert export_text(model) == "answer: 0: 100% (n = 300, entropy 0)\n"
    assert "->" not in export_dot(model)


def test_graphviz_reads_every_tree():
    names = ['quote " inside', "back\\slash\\", "new\nline", "<b>markup</b>", "ümläut {x|y}"]
    X = np.random.default_rng(0).normal(size=(80, 5)).astype(np.float32)
    model = CO2ForestClassifier(2, random_state=0, mixture=None).fit(X, X[:, 0] + X[:, 1] > 0)
    text = export_dot(model, 1, feature_names=names, class_names=['no "way"', "yes;"])
    assert _without_strings(text).count("{") == _without_strings(text).count("}") == 1
    tree = ModelView.of(model).tree(1)
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
