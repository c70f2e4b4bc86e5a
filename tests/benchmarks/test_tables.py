# SPDX-License-Identifier: BSD-3-Clause
"""The comparison on ordinary tables, with a tiny suite."""

import csv
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import log_loss, roc_auc_score

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
pytestmark = pytest.mark.skipif(
    not BENCHMARKS.exists(), reason="only a source checkout has the benchmarks"
)

METHODS = ["co2forest", "co2boosting", "random_forest", "extra_trees", "hist_gradient_boosting"]
METHODS += ["lightgbm", "lightgbm_early_stopping", "xgboost", "catboost"]

SUITE = """
import numpy as np
import pandas as pd

TASKS = {"fruit": "multiclass", "price": "regression"}


def names():
    return list(TASKS)


def info():
    return {name: {"name": name, "task": task} for name, task in TASKS.items()}


def load(name):
    rng = np.random.RandomState(0)
    size = rng.normal(size=150)
    colour = pd.Categorical(rng.choice(["blue", "green", "red"], 150))
    score = size + colour.codes + 0.3 * rng.normal(size=150)
    X = pd.DataFrame({"size [cm]": size, "colour": colour, "weight": np.arange(150) % 7})
    X.loc[::10, "size [cm]"] = np.nan
    X.loc[::9, "colour"] = None
    y = np.digitize(score, [0.5, 1.5]) if name == "fruit" else 1000 * score
    return X, y, ["colour"]


def splits(name):
    orders = [np.random.RandomState(seed).permutation(150) for seed in range(3)]
    return [(order[:100], order[100:]) for order in orders]
"""

PAGE = """A page.

<!-- measured: tables_targets -->
<!-- end measured -->
<!-- measured: tables_ranks -->
<!-- end measured -->
<!-- measured: tables_beside_forest -->
<!-- end measured -->
<!-- measured: tables_beside_ours -->
<!-- end measured -->
<!-- measured: tables_costs -->
<!-- end measured -->
<!-- measured: tables_logloss -->
old numbers
<!-- end measured -->
<!-- measured: tables_rmse -->
<!-- end measured -->
"""


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "suite"
    folder.mkdir()
    (folder / "suite.py").write_text(SUITE)
    return folder


@pytest.fixture
def start(data, tmp_path, monkeypatch):
    """Runs the program with options."""
    from tables import run

    documents = tmp_path / "documents"
    documents.mkdir()
    (documents / "tables.md").write_text(PAGE)

    def call(*options):
        command = ["run", "--results", tmp_path, "--documents", documents, *options]
        monkeypatch.setattr(sys, "argv", [str(part) for part in command])
        run.main()

    return call


def row(set_, method, value, *, split=0, cpu=1.0, run="first", **more):
    """A stored row; the value is the log loss of a class*, or else the RMSE."""
    classes = set_.startswith("class")
    known = {"run": run, "set": set_, "method": method, "split": str(split), "fit_cpu_s": str(cpu)}
    known |= {"task": "binary" if classes else "regression", "rmse": "", "logloss": ""}
    return known | {"logloss" if classes else "rmse": str(value)} | more


def cells_of(text, label):
    """The cells of the table row that begins with the label."""
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("|")]
    (found,) = [line[1:] for line in lines if line[0] == label]
    return found


def compute(name, rows, peers=()):
    from tables import report

    return report.tables(rows, peers)[name]()


# --- Cells


@pytest.mark.plain_build  # its processes see only what is installed
def test_cells_are_measured_once_and_reported(start, data, tmp_path, capsys):
    import store

    options = ["--data", data, "--splits", "0", "--methods", "random_forest", "co2forest"]
    for _ in range(2):
        start(*options)
    rows = store.read(tmp_path / "tables.csv")
    assert [(r["set"], r["task"], r["split"], r["method"]) for r in rows] == [
        ("fruit", "multiclass", "0", "random_forest"),
        ("fruit", "multiclass", "0", "co2forest"),
        ("price", "regression", "0", "random_forest"),
        ("price", "regression", "0", "co2forest"),
    ]
    for fruit in rows[:2]:
        assert 0 < float(fruit["error"]) < 50
        assert 0 < float(fruit["logloss"]) < 16.2  # that of certain mistakes
        assert 0.5 < float(fruit["auc"]) < 1
        assert 0 < float(fruit["ece"]) < 0.5
        assert fruit["rmse"] == ""
    for price in rows[2:]:
        assert 0 < float(price["rmse"]) < 1
        assert price["error"] == price["ece"] == ""
    assert all(float(each["fit_cpu_s"]) > 0 for each in rows)
    assert {r["run"] for r in rows} == {r["run"] for r in store.read(tmp_path / "runs.csv")}
    page = (tmp_path / "documents" / "tables.md").read_text()
    assert page.startswith("A page.")
    assert "old numbers" not in page
    forest, ours = (f"{float(each['logloss']):.3f}" for each in rows[:2])
    assert [text.strip("*") for text in cells_of(page, "fruit")] == [ours, forest]
    assert page in capsys.readouterr().out


def test_what_is_run_again(start, data, tmp_path, monkeypatch):
    import store
    from tables import run

    measured = []

    def measure(cell, args):
        measured.append(cell)
        if cell.method == "extra_trees":
            return {"status": "failed: no memory"}
        return {"status": "ok", "task": "regression", "rmse": 0.5, "fit_cpu_s": 2.0}

    monkeypatch.setattr(run, "measure", measure)
    options = ["--data", data, "--sets", "price", "--methods", "random_forest", "extra_trees"]
    for _ in range(2):
        with pytest.raises(SystemExit, match="2 cells failed"):
            start(*options, "--splits", "0", "1")
    cells = [("price", split, m) for split in (0, 1) for m in ("random_forest", "extra_trees")]
    assert measured == [*cells, cells[1], cells[3]]
    for again in (["--again"], ["--again", "random_forest"]):
        measured.clear()
        start(*options[:-1], "--splits", "1", *again)
        assert measured == [cells[2]]
    assert [r["split"] for r in store.read(tmp_path / "tables.csv")] == ["0", "1", "1", "1"]


def test_what_is_not_there_is_skipped_and_said(capsys, monkeypatch):
    from tables import methods, run

    some = {
        "nowhere": methods.Method("a", "no_such_module", "Forest"),
        "no_class": methods.Ours("b", "co2forest", "CO2NoSuch"),
        "no_parameter": methods.Ours("c", "co2forest", "CO2Forest", {"polish": 1}),
        "forest": methods.METHODS["random_forest"],
    }
    monkeypatch.setattr(run, "METHODS", some)
    assert run.available(some) == ["forest"]
    printed = capsys.readouterr().err
    assert "nowhere is skipped: no_such_module is not installed" in printed
    assert "no_class is skipped: co2forest has no CO2NoSuch" in printed
    assert "no_parameter is skipped: CO2Forest has no parameter polish" in printed


def test_wrong_options_end_with_a_line(start, data, tmp_path, capsys):
    suite = ["--data", data]
    for options in (
        [],
        ["--data", tmp_path],
        [*suite, "--methods", "forrest"],
        [*suite, "--sets", "none"],
        [*suite, "--splits", "3"],
        [*suite, "--methods", "extra_trees", "--again", "xgboost"],
    ):
        with pytest.raises(SystemExit):
            start(*options)
    errors = capsys.readouterr().err
    assert "--data: the folder of a suite is needed" in errors
    assert "--data: no suite.py in" in errors
    assert "no method forrest; there are co2forest" in errors
    assert "no table none; there are fruit, price" in errors
    assert "--splits: 3 must be from 0 to 2" in errors
    assert "--again: xgboost is not among --methods" in errors


# --- Methods


@pytest.mark.parametrize("name", ["fruit", "price"])
@pytest.mark.parametrize("method", METHODS)
def test_methods_learn(data, name, method):
    from tables import cell, methods, suites

    if methods.METHODS[method].missing():
        pytest.skip(methods.METHODS[method].missing())
    result = cell.measure(methods.METHODS[method], suites.read_split(data, name, 0))
    if name == "price":
        assert result["rmse"] < 0.9  # 1 is the mean as a prediction
    else:
        assert result["error"] < 45
        assert result["auc"] > 0.7
    assert "version" in result


def test_forest_gets_codes(data):
    from tables import methods, scores, suites

    split = suites.read_split(data, "fruit", 1)
    method = methods.METHODS["random_forest"]
    encode = method.encoder(split.X_train, split.categorical)
    X = encode(split.X_test)
    colours = split.X_test["colour"].astype(object)
    codes = {"blue": 0, "green": 1, "red": 2}
    assert X[:, 0].tolist() == [codes.get(colour, 3) for colour in colours]  # 3 is a gap
    np.testing.assert_array_equal(X[:, 1], split.X_test["size [cm]"])
    few = split.X_train["colour"] != "green"
    unseen = method.encoder(split.X_train[few], ["colour"])(split.X_test)
    assert set(unseen[colours == "green", 0]) == {-1}

    forest = RandomForestClassifier(n_jobs=1, random_state=0)
    forest.fit(encode(split.X_train), split.y_train)
    found = scores.scores_of_classes(method.fit(split)(split.X_test), split.y_test)
    assert found["error"] == pytest.approx(100 * (1 - forest.score(X, split.y_test)))


def test_a_class_that_training_lacks_has_no_probability(data):
    from tables import methods, suites

    split = suites.read_split(data, "fruit", 0)
    some = split.y_train != 1
    split = split._replace(X_train=split.X_train[some], y_train=split.y_train[some])
    found = methods.METHODS["random_forest"].fit(split)(split.X_test)
    assert found.shape == (50, 3)
    assert found[:, 1].max() == 0
    np.testing.assert_allclose(found.sum(axis=1), 1)


def test_numbers_are_in_training_deviations(data):
    from tables import suites

    split = suites.read_split(data, "price", 2)
    assert np.std(split.y_train) == pytest.approx(1)
    assert np.mean(split.y_train) == pytest.approx(0)
    _, y, _ = suites.open_suite(data).load("price")
    train, test = suites.open_suite(data).splits("price")[2]
    back = split.y_test * y[train].std() + y[train].mean()
    np.testing.assert_allclose(back, y[test])


# --- Scores


@pytest.mark.parametrize("classes", [2, 4])
def test_scores_are_those_of_scikit_learn(classes):
    from tables.scores import scores_of_classes, scores_of_numbers

    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(classes), 500)
    y = np.array([rng.choice(classes, p=each) for each in p])
    found = scores_of_classes(p, y)
    assert found["error"] == pytest.approx(100 * np.mean(p.argmax(axis=1) != y))
    assert found["logloss"] == pytest.approx(log_loss(y, p), rel=1e-4)
    area = roc_auc_score(y, p[:, 1] if classes == 2 else p, multi_class="ovr")
    assert found["auc"] == pytest.approx(area, abs=1e-4)
    right, top = p.argmax(axis=1) == y, p.max(axis=1)
    rates, means = calibration_curve(right, top, n_bins=15)
    sizes = np.histogram(top, np.linspace(0, 1, 16))[0]
    expected = np.average(np.abs(rates - means), weights=sizes[sizes > 0])
    assert found["ece"] == pytest.approx(expected)
    assert scores_of_numbers(p[:, 0], y) == {
        "rmse": pytest.approx(np.sqrt(np.mean((p[:, 0] - y) ** 2)))
    }


def test_certain_mistakes_and_missing_classes_have_scores():
    from tables.scores import scores_of_classes

    found = scores_of_classes([[1, 0, 0], [0, 1, 0], [1, 0, 0]], np.array([0, 1, 1]))
    assert found["logloss"] == pytest.approx(np.log(1e7) / 3, rel=1e-4)
    assert found["auc"] == pytest.approx(0.75)  # of classes 0 and 1 alone
    assert found["ece"] == pytest.approx(1 / 3)


# --- The report


def test_sets_and_comparisons():
    rows = [
        row("number", "random_forest", 9, run="old"),  # measured again below
        row("number", "random_forest", 0.4),
        row("number", "random_forest", 0.6, split=1),
        row("number", "xgboost", 0.2, split=1),
        row("class", "random_forest", 0.2, auc="0.9", error="0"),
        row("class", "xgboost", 0.4, auc="0.8", error="10"),
    ]
    text = compute("tables_rmse", rows)
    assert text.startswith("Means over 1 to 2 splits.")
    assert cells_of(text, "number") == ["0.500", "**0.200**"]
    assert cells_of(compute("tables_auc", rows), "class") == ["**0.9000**", "0.8000"]
    # On the one split that both have; errors of 0 have no ratio.
    beside = cells_of(compute("tables_beside_forest", rows), "XGBoost")
    assert beside == ["2.000 (0/1)", "0.333 (1/1)", "-0.1000 (0/1)", "- (0/1)"]
    assert compute("tables_beside_ours", rows) == "Nothing is measured yet.\n"
    ours = [*rows, row("class", "co2ensemble", 0.1, auc="0.95", error="5")]
    beside = cells_of(compute("tables_beside_ours", ours), "XGBoost")
    assert beside == ["0.250 (1/1)", "-", "+0.1500 (1/1)", "0.500 (1/1)"]


def test_log_losses_near_zero_do_not_decide_a_mean():
    rows = [row("class", "random_forest", 1e-4), row("class", "xgboost", 1e-7)]
    assert cells_of(compute("tables_beside_forest", rows), "XGBoost")[0] == "1.000 (1/1)"


def test_ranks_leave_out_our_variants_and_what_is_incomplete():
    values = {
        "co2ensemble": (0.1, 0.2),
        "co2forest": (0.05, 0.3),
        "random_forest": (0.2, 0.2),
        "xgboost": (0.3, 0.1),
    }
    names = ("class", "number")
    rows = [
        row(name, method, value)
        for method, pair in values.items()
        for name, value in zip(names, pair, strict=True)
    ]
    few = [row("class", "lightgbm", 0.01)]
    rows += [row("number_b", "random_forest", 0.2), row("number_b", "xgboost", 0.1)]
    text = compute("tables_ranks", rows + few)
    assert text.startswith("Not all of these methods have results of number_b.\n")
    assert "| method | log loss or RMSE, 2 sets | log loss, 1 sets |" in text
    assert cells_of(text, "CO2 ensemble")[:3] == ["1.75", "2.00", "2.50"]
    assert cells_of(text, "CO2 forest")[:3] == ["2.00", "2.00", "3.00"]
    assert cells_of(text, "XGBoost")[:3] == ["2.00", "4.00", "1.00"]
    assert cells_of(text, "LightGBM")[:3] == ["-", "1.00", "-"]  # it has one of three sets
    text = compute("tables_ranks", [*rows, *few, row("number", "lightgbm", 0.01)])
    assert cells_of(text, "LightGBM")[:3] == ["1.00", "1.00", "1.00"]
    assert cells_of(text, "CO2 ensemble")[0] == "2.75"


def test_costs_are_compared_within_a_run():
    rows = [
        row("class", "random_forest", 0.5, cpu=2, ece="0.1"),
        row("class", "xgboost", 0.5, cpu=1, ece="0.3"),
        row("class", "co2forest", 0.5, cpu=8, run="second", ece="0.2"),
    ]
    text = compute("tables_costs", rows)
    assert cells_of(text, "XGBoost") == ["0.3000", "0.50"]
    assert cells_of(text, "CO2 forest") == ["0.2000", "-"]
    rows.append(row("class", "random_forest", 0.5, cpu=4, run="second", ece="0.1"))
    assert cells_of(compute("tables_costs", rows), "CO2 forest") == ["0.2000", "2.00"]


def test_targets():
    def targets(*ours):
        values = {
            "random_forest": (0.4, 0.5, 0.3),
            "extra_trees": (0.5, 0.4, 0.4),
            "xgboost": (0.3, 0.3, 0.6),
            "co2forest": ours,
        }
        names = ("class_a", "class_b", "number")
        rows = [
            row(name, method, value)
            for method, each in values.items()
            for name, value in zip(names, each, strict=False)
        ]
        lines = compute("tables_targets", rows).splitlines()[2:]
        return [line.strip("| ").split(" | ")[1:] for line in lines]

    below_classes, below_numbers, ahead, *_ = targets(0.4, 0.2, 0.2)
    assert below_classes == ["2 of 2 sets", "yes"]
    assert below_numbers == ["1 of 1 sets", "yes"]
    assert ahead == ["1.50; XGBoost 2.33", "yes"]
    below_classes, below_numbers, ahead, *_ = targets(0.5, 0.41, 0.7)
    assert below_classes == ["0 of 2 sets; behind on class_a (1.250), class_b (1.025)", "no"]
    assert below_numbers == ["0 of 1 sets; behind on number (2.333)", "no"]
    assert ahead[1] == "no"
    below_classes, below_numbers, ahead, *_ = targets(0.3)
    assert below_classes == ["1 of 1 sets", "not all measured"]
    assert ahead == ["-", "not all measured"]


def test_results_from_elsewhere_are_printed_with_a_mark(start, data, tmp_path, capsys):
    import store
    from tables.run import FIELDS

    def stored(path, fields, rows):
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, fields, restval="", extrasaction="ignore")
            writer.writeheader()
            writer.writerows(rows)

    rows = [row("price", "random_forest", 0.5), row("price", "random_forest", 0.1, split=1)]
    stored(tmp_path / "tables.csv", FIELDS, rows)
    peers = [row("price", "random_forest", 9), row("price", "catboost", 0.25)]
    stored(data / "peers.csv", FIELDS[1:], peers)
    assert len(store.read(data / "peers.csv")) == 2
    start("--report", "--data", data, "--splits", "0")
    printed = capsys.readouterr().out
    assert cells_of(printed, "price") == ["0.500", "**0.250** \\*"]
    assert "Measured elsewhere" in printed
    page = (tmp_path / "documents" / "tables.md").read_text()
    assert cells_of(page, "price") == ["**0.300**"]
    assert "elsewhere" not in page
