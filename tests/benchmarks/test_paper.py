# SPDX-License-Identifier: BSD-3-Clause
"""The runner of the paper's experiments, on small data and with small forests."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

from co2forest import CO2ForestClassifier
from co2forest.baselines import AxisForestClassifier

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
pytestmark = pytest.mark.skipif(
    not BENCHMARKS.exists(), reason="only a source checkout has the benchmarks"
)

CONFIG = """
[forest]
sizes = [1, 2, 5, 12]
seeds = [0]
trees = 12
chunk = 5
max_cpu_seconds = 1000
[report]
complete_sizes = [2, 5, 12]
published_sizes = [2, 5, 12]
other_sizes = [2, 5, 12]
[depth]
set = "small"
seeds = [0, 1]
nu = [1, 10]
max_depth = 4
validation_rows = 100
divide_by = 2
parameters = { solver = "cccp" }
univariate = {}
cpu_seconds = 1
[nu]
set = "small"
seeds = [0]
nu = [1, 100]
depths = [2, 3]
max_depth = 3
validation_rows = 100
divide_by = 2
parameters = { solver = "cccp" }
univariate = {}
cpu_seconds = 1
[sets.small]
title = "Small"
published = { rf = [20.5, 19.5, 18.5], co2 = [15.5, 14.5, 13.5] }
[sets.part]
title = "Part"
published = { rf = [70.5, 69.5, 68.5], co2 = [65.5, 64.5, 63.5] }
[methods.rf]
label = "random forest"
class = "co2forest.baselines.AxisForestClassifier"
selection = { strategy = "grid", parameter = "max_features", powers = [0.5, 0.9], trees = 3 }
published_as = "rf"
pilot = {}
[methods.rf_sklearn]
label = "scikit-learn's"
class = "sklearn.ensemble.RandomForestClassifier"
parameters = { criterion = "entropy" }
selection = { strategy = "same_as", method = "rf" }
published_as = "rf"
pilot = {}
[methods.co2]
label = "CO2 forest"
class = "co2forest.CO2ForestClassifier"
selection = { strategy = "tune", trial_trees = 9, options = { method = "halving" } }
published_as = "co2"
pilot = {}
"""


def make_data(kind="complete"):
    X, y = make_classification(
        900, 8, n_informative=5, n_classes=3, flip_y=0.1, random_state=0, shift=1
    )
    X = X.astype(np.float32)
    parts = {"X_train": X[:500], "y_train": y[:500], "X_test": X[500:], "y_test": y[500:]}
    return SimpleNamespace(kind=kind, **parts)


@pytest.fixture
def settings(tmp_path):
    from paper import config

    (tmp_path / "config.toml").write_text(CONFIG)
    return config.read(tmp_path / "config.toml")


@pytest.fixture
def start(settings, tmp_path, monkeypatch):
    """Runs the program with options."""
    from paper import run

    kinds = {"small": "complete", "part": "subset"}
    monkeypatch.setattr(run, "load_dataset", lambda name, folder: make_data(kinds[name]))
    monkeypatch.setattr(
        "co2forest.tuning.tune_forest",
        lambda X, y, **_: SimpleNamespace(best_params={"nu": np.float64(3)}, best_score=0.9),
    )
    fixed = ["--config", tmp_path / "config.toml", "--results", tmp_path / "results", "--jobs", "1"]

    def call(*options):
        command = ["run", *fixed, "--documents", tmp_path / "documents", *options]
        monkeypatch.setattr(sys, "argv", [str(part) for part in command])
        run.main()

    return call


def rows_of(tmp_path, kind):
    from paper import cells

    return cells.read(tmp_path / "results", kind)


@pytest.mark.parametrize(
    "forest",
    [
        AxisForestClassifier(12, random_state=0),
        CO2ForestClassifier(12, random_state=0),
        RandomForestClassifier(12, random_state=0),
    ],
)
def test_blocks_are_disjoint_forests(forest):
    from paper.forests import BlockErrors

    data = make_data()
    forest.fit(data.X_train, data.y_train)
    blocks = BlockErrors([1, 5, 12, 20], data.y_test)
    trees = [tree.predict_proba(data.X_test) for tree in forest.estimators_]
    for probabilities in trees:
        blocks.add(probabilities, forest.classes_)
    rows = {row["size"]: row for row in blocks.rows()}

    def error(some):
        return 100 * np.mean(np.mean(some, axis=0).argmax(axis=1) != data.y_test)

    assert list(rows) == [1, 5, 12]
    assert rows[1]["error_percent"] == pytest.approx(np.mean([error([t]) for t in trees]))
    direct = [error(trees[:5]), error(trees[5:10])]
    assert rows[5]["error_percent"] == pytest.approx(np.mean(direct))
    assert rows[5]["error_sd"] == pytest.approx(np.std(direct, ddof=1))
    assert rows[5]["blocks"] == 2
    whole = 100 * np.mean(forest.predict(data.X_test) != data.y_test)
    assert rows[12]["error_percent"] == pytest.approx(whole)


def test_cell_is_one_forest_whatever_its_chunks(settings):
    from paper import forests
    from paper.config import Cell

    data = make_data()
    rows = forests.measure(settings, Cell("forest", "small", "co2", 3), data, 1, {"nu": 2.0})
    whole = CO2ForestClassifier(12, nu=2.0, random_state=3).fit(data.X_train, data.y_train)
    error = 100 * np.mean(whole.predict(data.X_test) != data.y_test)
    assert [row["size"] for row in rows] == [1, 2, 5, 12]
    assert rows[-1]["error_percent"] == pytest.approx(error)
    assert rows[-1]["reached"] == 12
    assert json.loads(rows[-1]["parameters"]) == {"nu": 2.0}


def test_cell_ends_with_its_time(settings, monkeypatch):
    from paper import forests
    from paper.config import Cell

    clock = iter(range(0, 1000, 2))  # each fit takes two seconds
    monkeypatch.setattr(forests, "cpu_seconds", lambda: next(clock))
    settings["methods"]["rf"]["max_cpu_seconds_of"] = {"small": 7}
    rows = forests.measure(settings, Cell("forest", "small", "rf", 0), make_data(), 1, {})
    assert {row["reached"] for row in rows} == {3}  # after six seconds, and one is not enough
    assert [row["size"] for row in rows] == [1, 2]


def test_time_that_is_not_enough_for_a_tree_is_stored(settings, monkeypatch):
    from paper import forests
    from paper.config import Cell

    def endless(forest, X, y):
        while True:
            pass

    monkeypatch.setattr(AxisForestClassifier, "fit", endless)
    settings["methods"]["rf"]["max_cpu_seconds"] = 0.2
    (row,) = forests.measure(settings, Cell("forest", "small", "rf", 0), make_data(), 1, {})
    assert (row["size"], row["reached"], row["error_percent"]) == (0, 0, "")
    assert 0.1 < row["cpu_seconds_per_tree"] < 5


@pytest.mark.parametrize(
    "make",
    [
        lambda depth: AxisForestClassifier(1, max_depth=depth, bootstrap=False, random_state=0),
        lambda depth: CO2ForestClassifier(
            1, max_depth=depth, solver="cccp", random_state=0, mixture=None
        ),
        lambda depth: CO2ForestClassifier(1, max_depth=depth, random_state=0, mixture=None),
    ],
)
def test_tree_cut_at_a_depth_is_the_tree_of_that_depth(make):
    from paper.trees import errors_by_depth

    data = make_data()
    train, rest = (data.X_train, data.y_train), (data.X_test, data.y_test)
    rows = list(errors_by_depth(make(6).fit(*train), *train, *rest))
    assert [row["depth"] for row in rows] == [1, 2, 3, 4, 5, 6]
    for row in rows:
        tree = make(row["depth"]).fit(*train)
        assert row["train_error_percent"] == pytest.approx(100 * (1 - tree.score(*train)))
        assert row["validation_error_percent"] == pytest.approx(100 * (1 - tree.score(*rest)))
        assert row["leaves"] == len(np.unique(tree.apply(data.X_train)))


def test_rows_that_end_early_in_a_deep_tree():
    from paper.trees import errors_by_depth

    data = make_data()
    train = data.X_train, data.y_train
    tree = AxisForestClassifier(1, bootstrap=False, random_state=0).fit(*train)
    lengths = np.diff(tree.decision_path(data.X_test)[0].indptr)
    shallow = lengths == lengths.min()
    rest = data.X_test[shallow], data.y_test[shallow]
    rows = list(errors_by_depth(tree, *train, *rest))
    assert rows[-1]["depth"] >= lengths.min()
    assert rows[-1]["validation_error_percent"] == pytest.approx(100 * (1 - tree.score(*rest)))


def test_interrupted_run_goes_on(start, tmp_path, monkeypatch, capsys):
    from paper import forests, run

    monkeypatch.setattr(run, "write_report", lambda *_: None)
    measured = []
    measure = forests.measure

    def stop_at_third(config, cell, *args):
        measured.append((cell.set, cell.method))
        if len(measured) == 3:
            raise KeyboardInterrupt
        return measure(config, cell, *args)

    monkeypatch.setattr(forests, "measure", stop_at_third)
    with pytest.raises(SystemExit, match="goes on with the missing cells"):
        start("--only", "forest")
    stored = rows_of(tmp_path, "forest")
    assert {(row["set"], row["method"]) for row in stored} == set(measured[:2])
    start("--only", "selection", "forest", "--methods", "rf", "rf_sklearn", "co2", "--list")
    listed = capsys.readouterr().out
    assert "done     forest small rf seed 0" in listed
    assert "missing  forest part co2 seed 0" in listed
    start("--only", "forest")
    assert len(measured) == 7  # six cells, one of them twice
    assert measured[3] == measured[2]
    assert len(set(measured)) == 6
    assert rows_of(tmp_path, "forest")[: len(stored)] == stored
    assert "left]" in capsys.readouterr().out


def test_forests_use_what_was_selected(start, tmp_path, monkeypatch):
    from paper import run

    monkeypatch.setattr(run, "write_report", lambda *_: None)
    start("--only", "selection", "forest", "--sets", "small")
    chosen = {
        row["method"]: json.loads(row["parameters"]) for row in rows_of(tmp_path, "selection")
    }
    assert chosen["rf"]["max_features"] in {3, 6}
    assert chosen["co2"] == {"nu": 3.0}
    used = {row["method"]: json.loads(row["parameters"]) for row in rows_of(tmp_path, "forest")}
    assert used == {"rf": chosen["rf"], "rf_sklearn": chosen["rf"], "co2": chosen["co2"]}


def test_report_of_stored_cells(start, tmp_path):
    pytest.importorskip("matplotlib")
    start()
    documents = tmp_path / "documents"
    written = {path.name: path.read_bytes() for path in documents.iterdir()}
    tables = {"table1.md", "table1.csv", "orderings.csv"}
    assert set(written) == tables | {"figure1.svg", "figure2.svg", "nu_study.svg"}
    for path in documents.iterdir():
        path.unlink()
    start("--report")
    assert {path.name: path.read_bytes() for path in documents.iterdir()} == written
    text = written["table1.md"].decode()
    complete, rest = text.split("## Subsets and stand-ins")
    row = next(r for r in rows_of(tmp_path, "forest") if r["method"] == "co2" and r["size"] == "12")
    error = float(row["error_percent"])
    assert f"{error:.2f} (13.5, {error - 13.5:+.2f})" in complete
    assert "Part (subset)" in rest
    for number in ("70.5", "69.5", "68.5", "65.5", "64.5", "63.5"):
        assert number not in text
    assert "part" not in written["orderings.csv"].decode()


def stored_curves(**errors):
    """Curves of 1000 test rows on the set "small"."""
    from paper.measured import Curve, Point

    return {
        ("small", method): Curve(
            "complete", {s: Point(e, 1000) for s, e in by_size.items()}, 12, max(by_size), 0.5
        )
        for method, by_size in errors.items()
    }


def test_orderings_know_noise(settings):
    from paper import tables

    # One standard error at 10 % of 1000 rows is 0.95 %, so that noise is 2.7 %.
    curves = stored_curves(
        co2={2: 10.0, 5: 10.0, 12: 10.0}, rf={2: 12.5, 5: 13.5, 12: 7.0}, rf_sklearn={2: 13.0}
    )
    rows = [row for row in tables.ordering_rows(settings, curves) if row["other"] == "rf"]
    assert [row["outcome"] for row in rows] == ["within noise", "holds", "fails"]
    assert rows[0]["noise"] == pytest.approx(2.82, abs=0.01)
    assert [row["paper_difference"] for row in rows] == [-5, -5, -5]
    text = tables.markdown(settings, curves)
    assert r"12.50\* (20.5, -8.00)" in text
    assert "13.50 (19.5, -6.00)" in text


def test_small_forest_does_not_pass_for_a_large_one(settings):
    from paper import tables

    curves = stored_curves(co2={2: 10.0, 5: 9.0, 12: 8.0}, rf={2: 12.0, 5: 11.0})
    assert "11.00 at 5 (18.5)" in tables.markdown(settings, curves)
    last = [row for row in tables.table_rows(settings, curves) if row["method"] == "rf"][-1]
    assert (last["size"], last["measured_size"], last["difference"]) == (12, 5, "")
    pairs = [row["size"] for row in tables.ordering_rows(settings, curves)]
    assert pairs == [2, 5]


def test_unknown_names_are_refused(start, capsys):
    with pytest.raises(SystemExit):
        start("--sets", "smal")
    assert "'smal' is not one of small, part" in capsys.readouterr().err


def test_configuration_of_the_project():
    import importlib

    from datasets.by_name import list_datasets
    from paper import config

    settings = config.read()
    assert set(settings["sets"]) <= set(list_datasets())
    for method in settings["methods"].values():
        module, _, name = method["class"].rpartition(".")
        getattr(importlib.import_module(module), name)(**method.get("parameters", {}))
        assert set(method["pilot"]) == set(settings["sets"])
    planned = config.cells(settings)
    assert len(planned) == len(set(planned))
    assert {cell.kind for cell in planned} == set(config.KINDS)
