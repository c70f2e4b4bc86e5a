# SPDX-License-Identifier: BSD-3-Clause
"""Pictures show what they should: texts, lengths of bars, images."""

import sys
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

from co2forest import (
    CO2BoostingClassifier,
    CO2ForestClassifier,
    CO2ForestRegressor,
    CO2TreeClassifier,
)
from co2forest.baselines import AxisForestClassifier
from co2forest.inspection import (
    explain,
    plot_error_curve,
    plot_importances,
    plot_path,
    plot_tree,
    plot_weights,
)
from co2forest.models.curves import error_by_trees
from co2forest.models.view import ModelView
from co2forest.tables import fit_table

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402


@pytest.fixture(autouse=True)
def _closed():
    """Every test closes what it opened; what a failed call leaves open is an error."""
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def iris():
    data = load_iris(as_frame=True)
    forest = CO2ForestClassifier(6, random_state=0, mixture=None).fit(
        data.data, data.target_names[data.target]
    )
    return forest, data.data


@pytest.fixture(scope="module")
def pixels(digits):
    X, _, y, _ = digits
    return CO2ForestClassifier(4, random_state=0, mixture=None).fit(X, y), X, y


def texts(ax):
    return [text.get_text() for text in ax.texts]


def named(ax, gid):
    return [patch for patch in ax.patches if patch.get_gid() == gid]


def drawn(ax):
    """Draw everything: a text that cannot be drawn fails here, not before."""
    ax.figure.canvas.draw()
    return ax


# --- trees


def test_bars_are_standardised_weights(iris):
    forest, X = iris
    ax = drawn(plot_tree(forest, max_depth=1))
    view = ModelView.of(forest)
    features, weights = view.tree(0).hyperplane(0)
    strength = weights * view.spread[features]
    strength /= np.abs(strength).max()
    widths = [named(ax, f"weight of {name}")[0].get_width() for name in X.columns]
    np.testing.assert_allclose(np.array(widths) / np.abs(widths).max(), strength, atol=1e-9)
    colours = [named(ax, f"weight of {name}")[0].get_facecolor()[:3] for name in X.columns]
    assert len(set(colours)) == 2  # one for each sign
    assert all(
        (colour[2] > colour[0]) == (w > 0) for colour, w in zip(colours, strength, strict=True)
    )
    assert set(texts(ax)) >= {*X.columns, "n = 150, entropy 1.58", "+", "\N{MINUS SIGN}", "100%"}


def test_leaves_show_distributions(iris):
    forest, _ = iris
    ax = plot_tree(forest, max_depth=0, class_names=["A", "B", "C"])
    widths = [named(ax, f"part of {name}")[0].get_width() for name in "ABC"]
    np.testing.assert_allclose(widths, widths[0])
    assert texts(ax).count("33%") == 3
    assert "more nodes below" in texts(ax)


def test_few_weights_of_many(pixels):
    forest, _, _ = pixels
    ax = drawn(plot_tree(forest, max_depth=1, n_weights=3))
    weights = len(ModelView.of(forest).tree(0).hyperplane(0)[0])
    assert f"and {weights - 3} more" in texts(ax)
    assert sum(str(patch.get_gid()).startswith("weight of") for patch in ax.patches) == 3


def test_nodes_as_images(pixels):
    forest, _, _ = pixels
    ax = drawn(plot_tree(forest, max_depth=1, image_shape=(8, 8)))
    (image,) = ax.get_images()
    view = ModelView.of(forest)
    features, weights = view.tree(0).hyperplane(0)
    expected = np.zeros(64)
    expected[features] = weights * view.spread[features]
    expected /= np.abs(expected).max()
    np.testing.assert_allclose(image.get_array(), expected.reshape(8, 8), atol=1e-9)
    assert image.get_clim() == (-1, 1)
    left, right, bottom, top = image.get_extent()
    assert right - left == pytest.approx(top - bottom)


def test_axis_aligned_nodes_say_their_test(blobs):
    X, y = blobs
    forest = AxisForestClassifier(1, max_depth=1, random_state=0).fit(X, y)
    tree = ModelView.of(forest).tree(0)
    ax = drawn(plot_tree(forest))
    (feature,), (weight,) = tree.hyperplane(0)
    assert f"x{feature}" in texts(ax)
    threshold = f"{tree.threshold[0] / weight:.3g}".replace("-", "\N{MINUS SIGN}")
    assert any(threshold[:4] in text and text[0] in "<>" for text in texts(ax))
    assert not any("spread" in text for text in texts(ax))  # no bars to explain


@pytest.mark.parametrize("depth", [0, 2, 4])
def test_boxes_do_not_overlap(pixels, depth):
    forest, _, _ = pixels
    ax = plot_tree(forest, max_depth=depth)
    boxes = [patch for patch in ax.patches if type(patch).__name__ == "FancyBboxPatch"]
    extents = np.array([box.get_window_extent().extents for box in boxes])
    for i, a in enumerate(extents):
        for b in extents[i + 1 :]:
            assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]


def test_long_names_stay_in_their_boxes(pixels):
    forest, _, _ = pixels
    names = [f"measurement of a wide meadow, number {j}" for j in range(64)]
    ax = drawn(plot_tree(forest, max_depth=1, feature_names=names))
    (frame, *_) = [p for p in ax.patches if type(p).__name__ == "FancyBboxPatch"]
    bars = [patch for patch in ax.patches if str(patch.get_gid()).startswith("weight of")]
    middle = bars[0].get_window_extent().x0
    for text in ax.texts:
        if text.get_text().startswith("measurement"):
            extent = text.get_window_extent()
            assert frame.get_window_extent().x0 < extent.x0 < extent.x1 < middle


def test_names_are_no_formulas(iris):
    forest, X = iris
    names = ["$x$", "a_b^c", "$\\broken{", "100 $"]
    drawn(plot_tree(forest, feature_names=names, class_names=["$a", "b$", "$c$"]))
    drawn(plot_importances(forest, feature_names=names))
    drawn(plot_path(forest, X.iloc[3], tree=0, feature_names=names, class_names=["$a", "b$", "$"]))


def test_numbers_labels_scores_and_one_class(blobs):
    X, y = blobs
    one = plot_tree(CO2ForestClassifier(1, random_state=0, mixture=None).fit(X, y * 0))
    assert texts(drawn(one)) == ["n = 300, entropy 0", "0", "100%"]
    number = plot_tree(CO2ForestRegressor(1, random_state=0, mixture=None).fit(X, 2.345 * (y > -1)))
    assert "y = 2.35" in texts(drawn(number))
    several = CO2ForestClassifier(1, random_state=0, mixture=None).fit(
        X, np.c_[y == 0, y == 1].astype(int)
    )
    assert {"label 0", "label 1"} <= set(texts(drawn(plot_tree(several, max_depth=1))))
    scores = CO2BoostingClassifier(n_estimators=2, random_state=0).fit(X, y)
    assert {"0", "1", "2"} <= set(texts(drawn(plot_tree(scores, max_depth=1))))


# --- weights


def test_grid_of_weights(pixels):
    forest, _, _ = pixels
    grid = plot_weights(forest, (8, 8))
    assert grid.shape == (2, 2)
    assert [ax.get_title() for ax in grid.ravel()] == [f"tree {i}, node 0" for i in range(4)]
    assert all(ax.get_images()[0].get_clim() == (-1, 1) for ax in grid.ravel())
    one = plot_weights(forest, (8, 8), trees=1, n_columns=8)
    assert one.shape == (2, 8)
    assert one[0, 1].get_title() == "node 1"
    channels = plot_weights(forest, (4, 4, 4), trees=[0, 2], nodes=[0, 1])
    image = channels[0, 0].get_images()[0].get_array()
    plain = grid[0, 0].get_images()[0].get_array()
    np.testing.assert_allclose(image[:, :4], np.asarray(plain).reshape(4, 4, 4)[:, :, 0])
    own = plt.subplots(1, 5)[1]
    assert list(plot_weights(forest, (8, 8), ax=own)) == list(own[:4])


# --- errors


def test_error_curves(pixels, digits):
    forest, X, y = pixels
    _, X_test, _, y_test = digits
    ax = drawn(plot_error_curve(forest, X_test, y_test, reference=(X, y)))
    ours, theirs = ax.get_lines()
    np.testing.assert_array_equal(ours.get_xdata(), [1, 2, 3, 4])
    np.testing.assert_allclose(ours.get_ydata(), error_by_trees(forest, X_test, y_test)[1])
    plain = RandomForestClassifier(4, random_state=0).fit(X, y)
    np.testing.assert_allclose(theirs.get_ydata(), error_by_trees(plain, X_test, y_test)[1])
    assert ax.get_ylabel() == "test error"
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names[0].startswith("CO2ForestClassifier: ")
    assert names[1].startswith("RandomForestClassifier (scikit-learn): ")
    again = plot_error_curve(forest, X_test, y_test, reference=plain, ax=plt.subplots()[1])
    np.testing.assert_allclose(again.get_lines()[1].get_ydata(), theirs.get_ydata())


def test_out_of_bag_curve_of_numbers(blobs):
    X, y = blobs
    forest = CO2ForestRegressor(3, bootstrap=True, random_state=0, mixture=None).fit(X, y)
    ax = drawn(plot_error_curve(forest, X, y, out_of_bag=True, reference=True))
    assert ax.get_ylabel() == "out-of-bag RMSE"
    assert len(ax.get_lines()) == 2
    tree = CO2TreeClassifier(random_state=0).fit(X, y)
    assert drawn(plot_error_curve(tree, X, y)).get_xticks().tolist() == [1]


# --- importances and paths


def test_importances(iris, pixels):
    forest, X = iris
    ax = drawn(plot_importances(forest))
    lengths = [bar.get_width() for bar in ax.patches]
    np.testing.assert_allclose(lengths, np.sort(forest.feature_importances_)[::-1])
    order = np.argsort(-forest.feature_importances_)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == [X.columns[j] for j in order]
    few = drawn(plot_importances(pixels[0], n=3))
    assert len(few.patches) == 3
    rest = 1 - sum(bar.get_width() for bar in few.patches)
    assert f"(61 others together: {rest:.3f}" in few.get_xlabel()


def test_path_of_a_forest(iris):
    forest, X = iris
    why = explain(forest, X[100:101])
    ax = drawn(plot_path(forest, X[100:101]))
    bars = ax.patches
    np.testing.assert_allclose(
        sorted(bar.get_width() for bar in bars), np.sort(why.contributions[0, :, 2]), atol=1e-12
    )
    assert bars[0].get_x() == pytest.approx(why.base[2])
    end = bars[-1].get_x() + bars[-1].get_width()
    assert end == pytest.approx(why.prediction[0, 2])
    names = [tick.get_text() for tick in ax.get_yticklabels()]
    assert (names[0], names[-1]) == ("base rate 33%", "answer 100%")
    assert "petal length (cm) = 6" in names
    assert ax.get_xlabel() == "probability of virginica"
    other = plot_path(forest, X[100:101], output="setosa", n=1)
    assert other.get_xlabel() == "probability of setosa"
    assert len(other.patches) == 2  # and all others
    strongest = max(why.contributions[0, :, 0], key=abs)
    assert other.patches[0].get_width() == pytest.approx(strongest)


def test_path_of_a_tree(iris):
    forest, X = iris
    view, row = ModelView.of(forest), X[119:120]
    tree, leaf = view.tree(2), view.leaves(view.checked(row))[0, 2]
    path = tree.path(leaf)
    ax = drawn(plot_path(forest, row, tree=2, output="virginica"))
    changes = np.diff(tree.values[path, 2])
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], changes, atol=1e-12)
    names = [tick.get_text() for tick in ax.get_yticklabels()][1:-1]
    sides = ["right" if b == tree.left[a] + 1 else "left" for a, b in pairwise(path)]
    for name, node, side in zip(names, path, sides, strict=False):
        assert name.startswith(f"node {node}, {side}\n")
    assert ax.get_title().startswith("tree 2, probability of virginica: ")


def test_steps_of_all_trees_are_the_contributions(pixels):
    forest, X, _ = pixels
    why = explain(forest, X[:1])
    ax = plot_path(forest, X[0], image_shape=(8, 8), output=3)
    shown = ax.get_images()[0].get_array()
    np.testing.assert_allclose(shown, why.contributions[0, :, 3].reshape(8, 8), atol=1e-12)
    trees = [
        plot_path(forest, X[0], tree=i, image_shape=(8, 8), output=3).get_images()[0].get_array()
        for i in range(4)
    ]
    np.testing.assert_allclose(np.mean(trees, axis=0), shown, atol=1e-12)
    assert drawn(ax).get_title().startswith("probability of 3: ")


def test_path_of_numbers_and_missing_values(blobs):
    X, y = blobs
    forest = CO2ForestRegressor(3, random_state=0, mixture=None).fit(X, np.c_[y, -100.0 * y])
    row = X[0].copy()
    row[1] = np.nan
    ax = drawn(plot_path(forest, row, output=1))
    assert ax.get_xlabel() == "y1"
    assert any(tick.get_text() == "x1 = missing" for tick in ax.get_yticklabels())
    assert drawn(plot_path(forest, row, output="y0")).get_xlabel() == "y0"


def test_pictures_of_tables():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.normal(size=60), "kind": rng.choice(["s", "b"], 60)})
    frame["big"] = np.where(frame["size"] > 0, "yes", "no")
    model = fit_table(frame, "big", estimator=CO2ForestClassifier(3, random_state=0, mixture=None))
    drawn(plot_tree(model))
    drawn(plot_importances(model))
    drawn(plot_path(model, frame[:1]))
    drawn(plot_path(model, frame.iloc[0]))
    ax = drawn(plot_error_curve(model, frame, frame["big"], reference=(frame, frame["big"])))
    assert len(ax.get_lines()) == 2


# --- errors


def test_wrong_arguments_are_named_and_leave_no_figure(iris, pixels):
    forest, X = iris
    y = forest.predict(X)
    wrong = [
        (plot_tree, (forest,), {"tree": 6}, "tree=6 must be a whole number from 0 to 5"),
        (plot_tree, (forest,), {"max_depth": True}, "max_depth=True must be a whole number"),
        (plot_tree, (forest,), {"image_shape": (2, 3)}, r"image_shape=\(2, 3\) has 6 pixels"),
        (plot_tree, (forest,), {"image_shape": 4}, "image_shape must be"),
        (plot_tree, (forest,), {"ax": 3}, "ax must be matplotlib axes or None, got 3"),
        (plot_weights, (forest, (4,)), {}, "image_shape must be"),
        (plot_weights, (forest, (2, 2)), {"trees": []}, "trees is empty"),
        (plot_weights, (forest, (2, 2)), {"trees": 7}, "trees=7 must be a whole number from 0 to"),
        (plot_weights, (forest, (2, 2)), {"nodes": 1}, "node 1 of tree 0 is a leaf"),
        (plot_weights, (forest, (2, 2)), {"ax": [1, 2]}, "ax must be an array of"),
        (plot_weights, (forest, (2, 2)), {"n_columns": 0}, "n_columns=0"),
        (plot_importances, (forest,), {"n": 0}, "n=0 must be a whole number of at least 1"),
        (plot_path, (forest, X), {}, "x must be one row, got 150"),
        (plot_path, (forest, X[:1]), {"output": "rose"}, "output='rose' must be one of: setosa"),
        (plot_path, (pixels[0], np.ones(64)), {"output": 10}, "output=10 must be one of: 0, 1"),
        (plot_error_curve, (forest, X, y), {"reference": True}, "needs out_of_bag=True"),
        (plot_error_curve, (forest, X, y), {"reference": (X,)}, "reference must be a tuple"),
        (plot_error_curve, (forest, X, y), {"reference": "rf"}, "reference must be None, True"),
        (plot_error_curve, (forest, X, y), {"out_of_bag": True}, "every tree drew all rows"),
    ]
    for plot, arguments, keywords, message in wrong:
        with pytest.raises((TypeError, ValueError), match=message):
            plot(*arguments, **keywords)
        assert plt.get_fignums() == []
    ax = plt.subplots()[1]
    with pytest.raises(ValueError, match="ax has 1 axes, but there are 6 images"):
        plot_weights(forest, (2, 2), ax=ax)


def test_a_figure_goes_away_when_drawing_fails(iris, monkeypatch):
    forest, X = iris

    def fails(*arguments, **keywords):
        raise RuntimeError("no ink")

    for place in ("_plot_tree._draw_node", "_plot_path._waterfall", "_plot_weights._draw"):
        monkeypatch.setattr(f"co2forest.inspection.{place}", fails)
    for draw in (
        lambda: plot_tree(forest),
        lambda: plot_path(forest, X[:1]),
        lambda: plot_weights(forest, (2, 2)),
    ):
        with pytest.raises(RuntimeError, match="no ink"):
            draw()
        assert plt.get_fignums() == []


def test_without_matplotlib(iris, monkeypatch):
    forest, _ = iris
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    for draw in (plot_tree, plot_importances, lambda model: plot_weights(model, (2, 2))):
        with pytest.raises(ImportError, match=r"pip install 'co2forest\[plot\]'"):
            draw(forest)
