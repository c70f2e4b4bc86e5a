# SPDX-License-Identifier: BSD-3-Clause
"""What a report says: its numbers, its text, and what it refuses."""

import re
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import metrics

import export_models
from co2forest import (
    CO2BoostingClassifier,
    CO2ForestClassifier,
    CO2ForestRegressor,
    CO2TreeClassifier,
)
from co2forest.baselines import AxisForestClassifier
from co2forest.models.calibration import Reliability
from co2forest.models.evaluation import Evaluation
from co2forest.models.metrics import wilson
from co2forest.report import write_report
from co2forest.report._page import environment
from co2forest.segmentation import ForestSegmenter
from co2forest.tables import fit_table
from report_pages import (
    EVIL,
    cancer_report,
    digits_report,
    document_of,
    labels_report,
    numbers_report,
    table,
)


@pytest.fixture(scope="module")
def digits_page(tmp_path_factory):
    return digits_report(tmp_path_factory.mktemp("report"))


@pytest.fixture(scope="module")
def cancer_page(tmp_path_factory):
    return cancer_report(tmp_path_factory.mktemp("report"))


@pytest.fixture(scope="module")
def numbers_page(tmp_path_factory):
    return numbers_report(tmp_path_factory.mktemp("report"))


@pytest.fixture(scope="module")
def labels_page(tmp_path_factory):
    return labels_report(tmp_path_factory.mktemp("report"))


def values_of(document, output=None):
    return {m["name"]: m["value"] for m in document["metrics"] if m["output"] == output}


def test_metrics_of_many_classes(digits_page):
    forest, X, y, path = digits_page
    found = values_of(document_of(path))
    proba, said = forest.predict_proba(X), forest.predict(X)
    expected = {
        "Accuracy": metrics.accuracy_score(y, said),
        "Balanced accuracy": metrics.balanced_accuracy_score(y, said),
        "F1, macro": metrics.f1_score(y, said, average="macro"),
        "ROC AUC": metrics.roc_auc_score(y, proba, multi_class="ovr"),
        "Log loss": metrics.log_loss(y, proba),
        "Brier score": metrics.brier_score_loss(y, proba),
    }
    assert {name: found[name] for name in expected} == pytest.approx(expected, rel=1e-9)


def test_metrics_of_two_classes_with_weights(cancer_page, tmp_path):
    forest, X, y, _ = cancer_page
    weights = np.random.default_rng(0).random(len(y))
    weights[:5] = 0
    document = document_of(write_report(forest, X, y, tmp_path / "r.html", sample_weight=weights))
    found = values_of(document)
    proba, said = forest.predict_proba(X)[:, 1], forest.predict(X)
    is_second = y == forest.classes_[1]
    expected = {
        "Accuracy": metrics.accuracy_score(y, said, sample_weight=weights),
        "F1, macro": metrics.f1_score(y, said, average="macro", sample_weight=weights),
        "ROC AUC": metrics.roc_auc_score(is_second, proba, sample_weight=weights),
        "Brier score": metrics.brier_score_loss(is_second, proba, sample_weight=weights),
    }
    assert {name: found[name] for name in expected} == pytest.approx(expected, rel=1e-6)


def test_metrics_of_numbers(numbers_page):
    forest, X, y, path = numbers_page
    document = document_of(path)
    said = forest.predict(X)
    for k, name in enumerate(("y0", "y1")):
        expected = {
            "R2": metrics.r2_score(y[:, k], said[:, k]),
            "RMSE": metrics.root_mean_squared_error(y[:, k], said[:, k]),
            "Mean absolute error": metrics.mean_absolute_error(y[:, k], said[:, k]),
            "Mean error": np.mean(said[:, k] - y[:, k]),
        }
        assert values_of(document, name) == pytest.approx(expected, rel=1e-9)


def test_metrics_of_labels(labels_page):
    forest, X, y, path = labels_page
    document = document_of(path)
    said = forest.predict(X)
    proba = np.stack([p[:, 1] for p in forest.predict_proba(X)], axis=1)
    log_losses = [metrics.log_loss(y[:, k], proba[:, k]) for k in range(3)]
    expected = {
        "All labels right": metrics.accuracy_score(y, said),
        "Labels right": 1 - metrics.hamming_loss(y, said),
        "F1, micro": metrics.f1_score(y, said, average="micro"),
        "F1, macro": metrics.f1_score(y, said, average="macro"),
        "Log loss": np.mean(log_losses),
    }
    found = values_of(document)
    assert {name: found[name] for name in expected} == pytest.approx(expected, rel=1e-9)
    for k, entry in enumerate(document["labels"]):
        (_, invented), (missed, hits) = metrics.confusion_matrix(y[:, k], said[:, k])
        assert (entry["found"], entry["missed"], entry["invented"]) == (hits, missed, invented)


def test_intervals_cover_the_value_and_match_their_formulas(digits_page):
    document = document_of(digits_page[3])
    assert {m["method"] for m in document["metrics"]} == {"Wilson", "bootstrap"}
    for metric in document["metrics"]:
        if metric["name"] != "Expected calibration error":  # which is biased in resamples
            assert metric["low"] <= metric["value"] <= metric["high"]
    accuracy = document["metrics"][0]
    # The known example of Wilson's interval: 10 of 20.
    assert wilson(0.5, np.ones(20)) == pytest.approx((0.2993, 0.7007), abs=1e-4)
    assert accuracy["high"] - accuracy["low"] == pytest.approx(
        2 * 1.96 * np.sqrt(accuracy["value"] * (1 - accuracy["value"]) / 500), rel=0.05
    )
    balanced = document["metrics"][1]  # classes are about equally frequent, so almost the same
    assert balanced["high"] - balanced["low"] == pytest.approx(
        accuracy["high"] - accuracy["low"], rel=0.15
    )


def test_confusion_matrix(digits_page):
    forest, X, y, path = digits_page
    confusion = document_of(path)["confusion"]
    np.testing.assert_array_equal(
        confusion["counts"], metrics.confusion_matrix(y, forest.predict(X))
    )
    assert confusion["names"] == [str(k) for k in range(10)]


def test_many_classes_are_folded_into_the_last_cell(tmp_path):
    X = np.random.default_rng(0).normal(size=(400, 3)).astype(np.float32)
    y = np.arange(400) % 40
    forest = CO2ForestClassifier(2, max_depth=6, random_state=0, mixture=None).fit(X, y)
    confusion = document_of(write_report(forest, X, y, tmp_path / "r.html"))["confusion"]
    assert len(confusion["names"]) == 30
    assert confusion["names"][-1] == "11 other classes"
    assert np.sum(confusion["counts"]) == 400


def test_calibration_adds_up(cancer_page):
    forest, X, y, path = cancer_page
    calibration = document_of(path)["calibration"]
    assert sum(b["count"] for b in calibration["bins"]) == len(y)
    said, true = forest.predict_proba(X)[:, 1], y == forest.classes_[1]
    distances = 0.0
    for b in calibration["bins"]:
        inside = np.minimum((said * 10).astype(int), 9) == round(10 * b["low"])
        assert b["said"] == pytest.approx(said[inside].mean())
        assert b["happened"] == pytest.approx(true[inside].mean())
        distances += inside.sum() * abs(b["said"] - b["happened"])
    assert calibration["expected_error"] == pytest.approx(distances / len(y))


def test_probabilities_that_are_right_are_calibrated():
    forest = CO2ForestClassifier(3, random_state=0, mixture=None)
    X = np.random.default_rng(0).normal(size=(50, 2))
    evaluation = Evaluation.of(forest.fit(X, np.arange(50) % 3), X, np.arange(50) % 3, None)
    assert not evaluation.wrong.any()
    assert Reliability.of(evaluation).expected_error(np.ones((1, 50))) == pytest.approx(0)


def test_curve_ends_at_the_error_of_the_whole_forest(digits_page):
    forest, X, y, path = digits_page
    curve = document_of(path)["curve"]
    assert curve["trees"] == [1, 2, 3, 4]
    assert curve["errors"][-1] == pytest.approx(1 - forest.score(X, y))
    assert curve["base"] == pytest.approx(1 - np.bincount(y).max() / len(y))


def test_importances_are_the_largest_ones(digits_page):
    forest, _, _, path = digits_page
    listed = document_of(path)["importances"]
    assert len(listed) == 20
    assert [share for _, share in listed] == sorted(forest.feature_importances_)[::-1][:20]
    assert all(forest.feature_importances_[j] == share for j, share in listed)


def test_wrong_rows_are_all_there_and_come_first(digits_page):
    forest, X, y, path = digits_page
    rows = document_of(path)["rows"]
    assert len(rows["number"]) == 120
    assert len(set(rows["number"])) == 120
    wrong = np.flatnonzero(forest.predict(X) != y)
    assert set(rows["number"][: len(wrong)]) == set(wrong.tolist())
    assert rows["truth"] == y[rows["number"]].tolist()
    assert rows["prediction"] == forest.predict(X)[rows["number"]].tolist()
    proba = forest.predict_proba(X)[rows["number"]].max(axis=1)
    assert rows["probability"] == pytest.approx(proba.tolist(), rel=1e-3)
    assert len(set(np.array(rows["truth"])[len(wrong) :])) == 10  # right ones of every class


def test_largest_errors_come_first(numbers_page):
    forest, X, y, path = numbers_page
    rows = document_of(path)["rows"]
    error = np.abs(forest.predict(X) - y)
    relative = (error / error.max(axis=0)).max(axis=1)
    assert rows["number"][:45] == np.argsort(-relative, kind="stable")[:45].tolist()
    shown = rows["columns"][0]
    column = int(shown["name"][1:])
    values = [np.nan if value is None else value for value in shown["values"]]
    np.testing.assert_allclose(values, X[rows["number"], column], rtol=1e-6)
    np.testing.assert_array_equal(rows["truth"], y[rows["number"]])
    np.testing.assert_array_equal(rows["prediction"], forest.predict(X)[rows["number"]])


def test_rows_go_where_the_forest_sends_them(digits_page):
    forest, X, _, path = digits_page
    document = document_of(path)
    leaves = forest.apply(X)
    for k, tree in enumerate(document["explorer"]["trees"]):
        nodes = tree["nodes"]
        assert tree["leaf"] == leaves[document["rows"]["number"], k].tolist()
        counts = np.bincount(leaves[:, k], minlength=tree["n_nodes"])
        for node in nodes:
            if "bars" not in node:
                assert node["given"] == counts[node["id"]]
        for last, distances in zip(tree["last"], tree["distances"], strict=True):
            way = [last]
            while nodes[way[0]]["parent"] >= 0:
                way.insert(0, nodes[way[0]]["parent"])
            for i, distance in enumerate(distances[: len(way) - 1]):
                assert way[i + 1] == nodes[way[i]]["left"] + (distance >= 0)


def test_nodes_say_what_the_forest_has(digits_page):
    forest, _, _, path = digits_page
    arrays = forest._forest.tree(0).arrays()
    nodes = document_of(path)["explorer"]["trees"][0]["nodes"]
    assert [node["id"] for node in nodes] == list(range(len(arrays["left"])))
    for node in nodes:
        i = node["id"]
        assert node["count"] == arrays["sample_count"][i]
        assert node["impurity"] == pytest.approx(arrays["impurity"][i], rel=1e-3)
        if len(node["value"]) < 8:  # which is the most that a node lists
            assert sum(share for _, share in node["value"]) == pytest.approx(1, abs=0.01)
        if node["left"] >= 0:
            left, right = arrays["left"][i], arrays["left"][i] + 1
            count = arrays["sample_count"]
            after = (
                count[left] * arrays["impurity"][left] + count[right] * arrays["impurity"][right]
            )
            assert node["after"] == pytest.approx(after / count[i], rel=1e-3)
            assert node["after"] <= node["impurity"]
            assert np.hypot.reduce([weight for _, weight in node["bars"]]) <= 1.001


def test_histograms_count_every_row_on_its_side(digits_page):
    nodes = document_of(digits_page[3])["explorer"]["trees"][0]["nodes"]
    for node in nodes:
        if node["left"] < 0:
            continue
        sides = [0, 0]
        for _, first, counts in node["histogram"]["series"]:
            for k, count in enumerate(counts):
                sides[first + k >= node["histogram"]["zero"]] += count
        assert sides == [nodes[node["left"]]["given"], nodes[node["left"] + 1]["given"]]


def test_large_trees_are_cut_and_the_page_says_so(tmp_path):
    X = np.random.default_rng(0).normal(size=(900, 4)).astype(np.float32)
    y = np.random.default_rng(1).integers(0, 3, 900)  # nothing to learn: trees as large as can be
    forest = CO2ForestClassifier(11, random_state=0, mixture=None).fit(X, y)
    path = write_report(forest, X, y, tmp_path / "r.html", max_rows=30)
    document = document_of(path)
    trees = document["explorer"]["trees"]
    assert len(trees) == 10
    for tree in trees:
        assert len(tree["nodes"]) < tree["n_nodes"]
        hidden = sum(node.get("hidden", 0) for node in tree["nodes"])
        assert hidden == tree["n_nodes"] - len(tree["nodes"])
        assert len(tree["last"]) == 30
    text = path.read_text("utf-8")
    assert "10 of the 11 trees are in this file" in text
    assert "nodes with the most training rows" in text
    assert path.stat().st_size < 2_500_000


def test_text_of_users_is_escaped_everywhere(cancer_page):
    text = cancer_page[3].read_text("utf-8")
    assert EVIL not in text
    assert "<img" not in text
    assert document_of(cancer_page[3])["names"][0] == EVIL
    assert "&lt;/script&gt;&lt;img" in text
    assert text.count("<script") == 2


def test_impossible_characters_do_not_stop_a_report(tmp_path):
    X = np.random.default_rng(0).normal(size=(30, 2))
    labels = np.array(["\ud800", "\x00\u2028"])[np.arange(30) % 2]
    forest = CO2ForestClassifier(2, random_state=0, mixture=None).fit(X, labels)
    path = write_report(forest, X, labels, tmp_path / "r.html", title="\ud800\x00")
    assert document_of(path)["names"] == forest.classes_.tolist()


def test_a_missing_jinja_is_named(numbers_page, tmp_path, monkeypatch):
    forest, X, y, _ = numbers_page
    monkeypatch.setitem(sys.modules, "jinja2", None)
    environment.cache_clear()
    with pytest.raises(ImportError, match=r"pip install 'co2forest\[report\]'"):
        forest.report(X, y, tmp_path / "r.html")
    assert not any(tmp_path.iterdir())


def test_page_loads_nothing(digits_page):
    text = digits_page[3].read_text("utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text).group(1)
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    addresses = set(re.findall(r'(?:src|href)="([^"#]*)', text))
    assert addresses <= {"", "data:,"}
    assert re.findall(r"https?://[^\s\"']*", text) == ["http://www.w3.org/2000/svg"]  # a name
    assert not re.search(r'\sstyle="', text)  # the policy would ignore it


def test_static_parts_need_no_script(digits_page):
    text = digits_page[3].read_text("utf-8")
    body = text[text.index("<body") : text.index('<script type="application/json"')]
    for part in (
        "95 % interval",
        "Wilson",
        "Reliability by bin",
        "Rows by true and predicted class",
    ):
        assert part in body
    assert body.count("<svg") >= 22  # a curve, a diagram, 20 bars
    assert body.count("<h2") == body.count("<section") == 7


def test_same_model_and_data_give_the_same_bytes(numbers_page, tmp_path):
    forest, X, y, path = numbers_page
    again = forest.report(X, y, tmp_path / "again.html", trees=1, max_rows=60)
    assert again.read_bytes() == path.read_bytes()


def test_files_are_replaced_only_if_asked(numbers_page, tmp_path):
    forest, X, y, _ = numbers_page
    path = tmp_path / "r.html"
    path.write_text("mine")
    with pytest.raises(FileExistsError, match="overwrite=True"):
        forest.report(X, y, path)
    assert path.read_text() == "mine"
    assert forest.report(X, y, path, overwrite=True) == path
    with pytest.raises(FileNotFoundError, match="is not a folder"):
        forest.report(X, y, tmp_path / "missing" / "r.html")


@pytest.mark.parametrize("name", sorted(export_models.MODELS))
def test_every_kind_of_model_has_a_report(name, tmp_path):
    forest, X = export_models.model(name)
    X = X[:100]
    y = forest.predict(X)
    document = document_of(forest.report(X, y, tmp_path / "r.html", trees=1, max_rows=20))
    assert document["model"]["name"] == type(forest).__name__
    base = document["curve"]["base"]
    assert document["curve"]["errors"][-1] == pytest.approx(0, abs=1e-6 * base)
    assert len(document["explorer"]["trees"]) == 1


@pytest.mark.parametrize("name", sorted(export_models.ENSEMBLES))
def test_the_report_of_an_ensemble(name, tmp_path):
    """It is about the whole ensemble, but for the trees and their curve, which the page says."""
    model, X = export_models.model(name)
    X = X[:100]
    y = model.forest_.predict(X)
    path = model.report(X, y, tmp_path / "r.html", trees=1, max_rows=20)
    document, page = document_of(path), path.read_text("utf-8")
    about = document["model"]
    assert about["name"] == type(model).__name__
    assert (about["n_trees"], about["n_rounds"]) == (8, model.boosting_.n_estimators_)
    assert about["forest_share"] == pytest.approx(model.forest_share_)
    base = document["curve"]["base"]
    assert document["curve"]["errors"][-1] == pytest.approx(0, abs=1e-6 * base)
    name = "Accuracy" if name.startswith("classes") else "R2"
    if about["n_outputs"] == 1 or name == "Accuracy":
        assert values_of(document)[name] == pytest.approx(model.score(X, y))
    importances = dict(document["importances"])
    expected = model.feature_importances_
    assert importances == pytest.approx({j: expected[j] for j in importances}, abs=1e-6)
    assert "This is about the forest alone" in page
    assert "Weight of the forest" in page


@pytest.mark.parametrize("kind", ["list", "uint8", "sparse", "frame", "missing"])
def test_every_kind_of_rows(kind, tmp_path, digits):
    X, _, y, _ = digits
    X, y = X[:120], y[:120]
    if kind == "sparse":
        X = sp.csr_array(X.astype(np.float32))
    elif kind == "frame":
        pandas = pytest.importorskip("pandas")
        X = pandas.DataFrame(X, columns=[f"pixel {i}" for i in range(64)])
    elif kind == "missing":
        X = X.astype(np.float64)
        X[::3, 5] = np.nan
    forest = AxisForestClassifier(2, random_state=0).fit(X, y)
    given = X.tolist() if kind == "list" else X
    document = document_of(write_report(forest, given, y, tmp_path / "r.html"))
    assert document["data"]["n_rows"] == 120
    assert document["data"]["sparse"] == (kind == "sparse")
    assert document["data"]["missing"] == (40 if kind == "missing" else 0)
    name = document["rows"]["columns"][0]["name"]
    assert name.startswith("pixel " if kind == "frame" else "x")


def test_models_of_tables_show_raw_columns(tmp_path):
    frame = table()
    model = fit_table(
        frame[:120], "kind", estimator=CO2ForestClassifier(5, random_state=0, mixture=None)
    )
    path = model.report(frame[120:], None, tmp_path / "r.html")
    document = document_of(path)
    assert document["data"]["n_rows"] == 119  # one row has no target
    assert values_of(document)["Accuracy"] == pytest.approx(model.score(frame[120:]))
    columns = {column["name"]: column["values"] for column in document["rows"]["columns"]}
    assert set(columns) == {"size", "colour"}
    assert set(columns["colour"]) == {"red", "green", "blue", None}
    assert columns["size"].count(None) == 1
    assert "colour=red" in document["features"].values()
    given = document_of(
        model.report(frame[120:].drop(columns="kind"), frame["kind"][120:], tmp_path / "s.html")
    )
    assert given["metrics"] == document["metrics"]


def test_small_things(tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32)
    y = (X[:, 0] > 0).astype(int)
    stump = CO2TreeClassifier(max_depth=1, random_state=0).fit(X, y)
    one_row = document_of(stump.report(X[:1], y[:1], tmp_path / "row.html"))
    assert {m["name"]: m["method"] for m in one_row["metrics"]}["Log loss"] is None
    assert len(one_row["explorer"]["trees"][0]["nodes"]) == 3
    root = CO2TreeClassifier(random_state=0).fit(X, np.zeros(40))
    assert (
        document_of(root.report(X, np.zeros(40), tmp_path / "root.html"))["importances"][0][1] == 0
    )
    none = document_of(stump.report(X, y, tmp_path / "none.html", trees=0, max_rows=0))
    assert none["explorer"]["trees"] == []
    assert none["rows"]["number"] == []
    some = document_of(
        CO2ForestClassifier(6, random_state=0, mixture=None)
        .fit(X, y)
        .report(X, y, tmp_path / "s.html", trees=[4, 1])
    )
    assert [tree["number"] for tree in some["explorer"]["trees"]] == [1, 4]


def test_a_folder_is_no_file(tmp_path):
    X = np.eye(8, dtype=np.float32)
    forest = CO2ForestClassifier(1, random_state=0, mixture=None).fit(X, [0, 1] * 4)
    with pytest.raises(IsADirectoryError, match="is a folder; give the name of a file to write"):
        write_report(forest, X, [0, 1] * 4, tmp_path, overwrite=True)


def test_classes_that_training_had_not_count_as_wrong(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 3)).astype(np.float32)
    y = np.array(["a", "b"])[(X[:, 0] > 0).astype(int)]
    forest = CO2ForestClassifier(3, random_state=0, mixture=None).fit(X, y)
    new = np.r_[y[:50], np.full(10, "c")]
    document = document_of(write_report(forest, X, new, tmp_path / "r.html"))
    assert document["data"]["unknown_classes"] == ["c"]
    assert "c (10 rows); they count as wrong" in (tmp_path / "r.html").read_text()
    # With two classes the Brier score still counts one of them, so that reports can be compared.
    squares = (forest.predict_proba(X) - (new[:, None] == ["a", "b"])) ** 2
    squares[50:, 0] += 1  # the third class, of which a model says nothing
    assert values_of(document)["Brier score"] == pytest.approx(squares.sum(axis=1).mean() / 2)
    assert values_of(document)["Accuracy"] == pytest.approx(forest.score(X, new))
    assert np.sum(document["confusion"]["counts"][2]) == 10
    alone = document_of(write_report(forest, X[y == "a"], y[y == "a"], tmp_path / "one.html"))
    assert "ROC AUC" not in values_of(alone)


def test_large_and_constant_numbers(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 2)).astype(np.float32)
    forest = CO2ForestRegressor(2, random_state=0, mixture=None).fit(
        X, 1e300 * X[:, 0].astype(float)
    )
    document = document_of(forest.report(X, 1e300 * X[:, 1].astype(float), tmp_path / "large.html"))
    assert values_of(document)["R2"] < 1
    constant = document_of(forest.report(X, np.full(60, 3.0), tmp_path / "constant.html"))
    assert "R2" not in values_of(constant)
    assert "NaN" not in (tmp_path / "large.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"y": None}, ValueError, "y must be"),
        ({"y": np.zeros(3)}, ValueError, "inconsistent numbers"),
        ({"y": ["no", "yes"] * 20}, ValueError, "none of the model's classes"),
        ({"image_shape": (2, 2)}, ValueError, "has 4 pixels"),
        ({"image_shape": 3}, TypeError, "image_shape must be"),
        ({"trees": -1}, ValueError, "trees=-1 must be a whole number of at least 0"),
        ({"trees": [7]}, ValueError, "trees=7 must be a whole number from 0 to 1"),
        ({"trees": "all"}, TypeError, "a whole number or a list"),
        ({"trees": [0.5]}, TypeError, "trees=0.5 must be a whole number"),
        ({"max_rows": -1}, ValueError, "max_rows=-1 must be"),
        ({"max_rows": 2.5}, TypeError, "max_rows=2.5 must be"),
        ({"title": 3}, TypeError, "title must be"),
        ({"sample_weight": np.zeros(40)}, ValueError, "at least one non-zero"),
    ],
)
def test_what_is_refused(arguments, error, message, tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32)
    y = np.arange(40) % 2
    forest = CO2ForestClassifier(2, random_state=0, mixture=None).fit(X, y)
    with pytest.raises(error, match=message):
        write_report(forest, X, arguments.pop("y", y), tmp_path / "r.html", **arguments)
    assert list(tmp_path.iterdir()) == []


def test_other_models_are_refused(tmp_path):
    with pytest.raises(TypeError, match="for a segmenter classifier_"):
        write_report(ForestSegmenter(), np.zeros((2, 3)), [0, 1], tmp_path / "r.html")
    with pytest.raises(ValueError, match="not fitted"):
        write_report(CO2BoostingClassifier(), np.zeros((2, 3)), [0, 1], tmp_path / "r.html")
