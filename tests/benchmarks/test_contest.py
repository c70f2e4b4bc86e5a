# SPDX-License-Identifier: BSD-3-Clause
"""The comparisons of regressors, boosting and refinement, on tiny data."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
pytestmark = pytest.mark.skipif(
    not BENCHMARKS.exists(), reason="only a source checkout has the benchmarks"
)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Two outputs of very different size, and classes."""
    folder = tmp_path_factory.mktemp("data")
    X = np.random.default_rng(0).normal(size=(400, 3))
    numbers = np.column_stack([1e-4 * X[:, 0] + 5, 1e4 * X[:, 1]])
    for name, y in {"pair": numbers, "one": numbers[:, 1], "classes": X[:, 0] > 0}.items():
        parts = {"X_train": X[:300], "y_train": y[:300], "X_test": X[300:], "y_test": y[300:]}
        np.savez(folder / f"{name}.npz", **parts)
    return folder


@pytest.fixture
def start(data, tmp_path, monkeypatch):
    """Runs the program with options."""
    from contest import run

    def call(experiment, *options):
        command = ["run", experiment, "--data", data, "--results", tmp_path]
        command += ["--documents", tmp_path / "documents", *options]
        monkeypatch.setattr(sys, "argv", [str(part) for part in command])
        run.main()

    return call


def row(method, error, cpu=1.0, *, set_="a", seed=0, run="first", trees=1):
    from contest.experiments import REGRESSION

    known = {"run": run, "set": set_, "method": method, "seed": str(seed), "rmse": str(error)}
    known |= {"fit_cpu_seconds": str(cpu), "trees": str(trees)}
    return dict.fromkeys(REGRESSION.fields, "") | known


def cells_of(text, label):
    """The cells of the table row that begins with the label, in each table that has one."""
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("|")]
    return [line[1:] for line in lines if line[0] == label]


@pytest.mark.slow
@pytest.mark.plain_build  # its processes see only what is installed
def test_cells_are_measured_once_and_reported(start, tmp_path, capsys):
    import store

    start("regression", "--sets", "pair", "--methods", "extra_trees", "--seeds", "1")
    for _ in range(2):
        start("regression", "--sets", "pair", "--methods", "extra_trees", "--seeds", "2")
    rows = store.read(tmp_path / "regression.csv")
    assert [(r["set"], r["method"], r["seed"]) for r in rows] == [
        ("pair", "extra_trees", "0"),
        ("pair", "extra_trees", "1"),
    ]
    for each in rows:
        assert 0 < float(each["rmse"]) < 0.5
        assert float(each["fit_cpu_seconds"]) > 0
        assert int(each["trees"]) == 100
        assert int(each["leaves"]) > 1000
    assert len({r["run"] for r in rows} & {r["run"] for r in store.read(tmp_path / "runs.csv")})
    page = (tmp_path / "documents" / "regression.md").read_text()
    mean = np.mean([float(each["rmse"]) for each in rows])
    assert cells_of(page, "pair")[0] == [f"**{mean:.4g}**"]
    assert page in capsys.readouterr().out


def test_cell_again_and_failures(start, tmp_path, monkeypatch):
    import store
    from contest import run

    measured = []

    def measure(experiment, cell, args):
        measured.append(cell)
        if cell.method == "extra_trees":
            return {"status": "failed: no memory"}
        return {"status": "ok", "rmse": 0.5, "fit_cpu_seconds": 2.0, "trees": 1, "rounds": None}

    monkeypatch.setattr(run, "measure", measure)
    options = ["--sets", "one", "pair", "--seeds", "1", "--methods", "random_forest", "extra_trees"]
    for _ in range(2):
        with pytest.raises(SystemExit, match="2 cells failed"):
            start("regression", *options)
    cells = [("one", "random_forest", 0), ("one", "extra_trees", 0)]
    cells += [("pair", "random_forest", 0), ("pair", "extra_trees", 0)]
    assert measured == [*cells, cells[1], cells[3]]
    start("regression", *options[:-1], "--again", "random_forest")
    assert measured[6:] == [cells[0], cells[2]]
    rows = store.read(tmp_path / "regression.csv")
    assert [r["method"] for r in rows] == ["random_forest"] * 4


def test_missing_class_and_parameter_are_skipped_and_said(start, monkeypatch, capsys):
    from contest import experiments

    methods = {
        "nowhere": experiments.Estimator("a", "no_such_module", "Forest"),
        "no_class": experiments.Estimator("b", "co2forest", "CO2NoSuchForest"),
        "no_parameter": experiments.forest("c", "co2forest", "CO2ForestClassifier", polish=1),
    }
    some = replace(experiments.REFINEMENT, methods=methods)
    monkeypatch.setitem(experiments.EXPERIMENTS, "refinement", some)
    start("refinement", "--sets", "classes")
    printed = capsys.readouterr()
    assert "nowhere is skipped: no_such_module is not installed" in printed.err
    assert "no_class is skipped: co2forest has no CO2NoSuchForest" in printed.err
    assert "no_parameter is skipped: CO2ForestClassifier has no parameter polish" in printed.err
    assert "Nothing is measured yet." in printed.out


def test_wrong_names_end_with_a_line(start, capsys):
    again = ["--methods", "extra_trees", "--again", "random_forest"]
    for options in (["--methods", "forrest"], ["--sets", "none"], ["--seeds", "0"], again):
        with pytest.raises(SystemExit):
            start("regression", *options)
    errors = capsys.readouterr().err
    assert "no method forrest; there are random_forest" in errors
    assert "no none.npz in" in errors
    assert "--again: random_forest is not among --methods" in errors
    assert "--seeds: 0 must be at least 1" in errors


def test_rmse_is_in_units_of_the_training_deviation(data):
    import datasets
    from contest.experiments import BOOSTING, REGRESSION

    _, y_train, _, y_test = datasets.load(data, "pair")
    prepared, tested = REGRESSION.prepared(y_train, y_test)
    np.testing.assert_allclose(prepared.std(axis=0), 1)
    mean = np.zeros_like(tested)  # the training mean, as a prediction
    z = (y_test - y_train.mean(axis=0)) / y_train.std(axis=0)
    expected = np.sqrt(np.mean([np.mean(z[:, output] ** 2) for output in range(2)]))
    assert REGRESSION.error_of(mean, tested) == pytest.approx(expected)
    labels = np.array([0, 1, 2, 3])
    assert BOOSTING.error_of(np.array([0, 1, 2, 0]), labels) == 25


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
@pytest.mark.parametrize(("name", "outputs"), [("pair", 2), ("one", 1), ("classes", 1)])
def test_boosters_stop_early(data, library, name, outputs):
    pytest.importorskip(library)
    import datasets
    from contest import cell, experiments

    make = getattr(experiments, library)
    task, experiment = "Regressor", experiments.REGRESSION
    if name == "classes":
        task, experiment = "Classifier", experiments.BOOSTING
    parts = datasets.load(data, name)
    result = cell.measure(experiment, make(task, 400, 5), parts, 0)
    assert result[experiment.error] < (10 if name == "classes" else 0.4)
    assert 1 <= result["rounds"] < 395
    # Each model has its best round, then five more in vain.
    assert result["trees"] == pytest.approx(outputs * (result["rounds"] + 5))
    assert cell.measure(experiment, make(task, 2, 5), parts, 0)["rounds"] <= 2


def test_boosters_hold_out_the_same_rows(data):
    pytest.importorskip("lightgbm")
    pytest.importorskip("xgboost")
    import datasets
    from contest import experiments

    X, y, *_ = datasets.load(data, "classes")
    boosters = [make("Classifier", 5, 5) for make in (experiments.lightgbm, experiments.xgboost)]
    (_, mine, _, held), (_, other, _, _) = (booster.parts(X, y, 3) for booster in boosters)
    np.testing.assert_array_equal(mine, other)
    assert len(mine) == 30
    assert np.mean(held) == pytest.approx(np.mean(y), abs=0.02)


def test_report_compares_with_references():
    from contest import report
    from contest.experiments import REGRESSION

    rows = [
        row("random_forest", 0.9, 5, run="old"),  # measured again below
        row("random_forest", 0.4, 10, trees=100),
        row("random_forest", 0.6, 10, trees=100, seed=1),
        row("random_forest", 0.2, 4, trees=100, set_="b"),
        row("extra_trees", 0.25, 5, trees=50),
        row("extra_trees", 0.25, 5, trees=50, seed=1),
        row("extra_trees", 0.4, 8, trees=50, set_="b"),
        row("lightgbm_500", 0.1, 1, run="other"),
    ]
    page = report.page(REGRESSION, rows)
    assert "means over 1 to 2 seeds." in page
    assert cells_of(page, "a")[0] == ["0.5", "0.25", "**0.1**"]
    assert cells_of(page, "b")[0] == ["**0.2**", "0.4", "-"]
    beside_forest, beside_boosting, *_ = cells_of(page, "extra trees")
    # Half and twice the error; half and twice the time, and twice that per tree.
    assert beside_forest == ["2", "+0.000", "1", "0", "1", "2"]
    # ln(0.25 / 0.1) on the one set that both have; never in the same run.
    assert beside_boosting == ["1", "+0.916", "0", "0", "-", "-"]
    assert cells_of(page, "random forest")[0][:4] == ["2", "+0.000", "", "1"]


def test_co2_boosting_tells_its_rounds():
    from types import SimpleNamespace

    from contest.experiments import co2_boosting

    method = co2_boosting("Regressor", 500, 50)
    assert method.parameters["n_iter_no_change"] == 50
    counts = method.counts(SimpleNamespace(n_estimators_=7, n_iter_=np.ones(7)))
    assert (counts.trees, counts.rounds) == (7, 7)
