# SPDX-License-Identifier: BSD-3-Clause
"""What a search shows: tables, heat map, progress."""

import pickle
import re
import sys
from pathlib import Path

import joblib
import numpy as np
import pytest

from co2forest import CO2ForestClassifier
from co2forest.tuning import TuningResult, tune_forest

PAGE = Path(__file__).parents[2] / "docs" / "tuning.md"
GRID = {"nu": [0.1, 1, 10], "learning_rate": [0.01, 0.03]}


@pytest.fixture(scope="module")
def search():
    """Arguments of a small search."""
    X = np.random.default_rng(0).normal(size=(150, 6)).astype(np.float32)
    return {
        "X": X,
        "y": np.where(X[:, 0] + X[:, 1] > 0, "<yes>", "no"),
        "estimator": CO2ForestClassifier(2, mixture=None),
        "grid": GRID,
        "trial_n_estimators": 4,
        "max_features_grid": [0.5, 0.9],
        "random_state": 0,
    }


@pytest.fixture(scope="module")
def result(search):
    return tune_forest(**search)


@pytest.fixture
def plt():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    yield plt
    plt.close("all")


def test_text_has_a_line_for_each_candidate(result):
    lines = repr(result).splitlines()
    assert lines[0].startswith("TuningResult: ")
    assert f"accuracy {result.best_score:.4f} on the hold-out" in lines[0]
    assert lines[2].split()[-6:] == ["score", "difference", "standard", "error", "trees", "seconds"]
    assert lines[3].startswith("as given")
    assert len(lines) == 3 + len(result.table)
    starred = [i for i, line in enumerate(lines[3:]) if "*" in line]
    assert starred == [i for i, row in enumerate(result.table) if row["chosen"]]
    assert str(result) == repr(result)


def test_html_escapes_and_has_a_row_for_each_candidate(result):
    text = result._repr_html_()
    assert text.count("<tr>") == 1 + len(result.table)
    strange = TuningResult(
        estimator=result.estimator,
        best_params={"scale": "<b>"},
        best_score=0.5,
        max_features=None,
        table=[dict(result.table[0], scale="<b>", score=float("nan"))],
    )
    assert "<b>" not in strange._repr_html_()


def test_pandas(result):
    frame = result.to_pandas()
    assert frame["score"].tolist() == [row["score"] for row in result.table]
    assert {"nu", "learning_rate", "trees", "standard_error", "chosen"} <= set(frame.columns)
    assert frame["chosen"].sum() == 1


@pytest.mark.parametrize("module", ["pandas", "matplotlib"])
def test_what_is_missing_is_named(result, monkeypatch, module):
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setitem(sys.modules, f"{module}.pyplot", None)
    with pytest.raises(ImportError, match=f"needs {module}: pip install {module}"):
        result.to_pandas() if module == "pandas" else result.plot()


def test_results_have_a_hash(result):
    assert len({result, result}) == 1


def test_pickles(result, tmp_path):
    X = np.zeros((1, 6), dtype=np.float32)
    joblib.dump(result, tmp_path / "result.joblib")
    for again in (pickle.loads(pickle.dumps(result)), joblib.load(tmp_path / "result.joblib")):
        assert repr(again) == repr(result)
        assert again.estimator.predict(X) == result.estimator.predict(X)


def test_heat_map_shows_every_score(result, plt):
    ax = result.plot()
    drawn = ax.images[0].get_array()
    texts = {text.get_text() for text in ax.texts}
    assert drawn.shape == (3, 2)
    for row in result.table[1:]:
        if row["nu"] == "auto":
            continue
        place = GRID["nu"].index(row["nu"]), GRID["learning_rate"].index(row["learning_rate"])
        assert drawn[place] == row["difference"]
        assert f"{row['score']:.4f}" in texts
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("learning_rate", "nu")
    assert f"as given: {result.table[0]['score']:.4f}" in ax.get_title()
    framed = any(row["chosen"] and row["nu"] != "auto" for row in result.table)
    assert len(ax.patches) == framed


def test_heat_map_of_other_parameters(result, search, plt):
    ax = plt.subplots()[1]
    assert result.plot(ax, x="nu", y=None) is ax
    assert ax.images[0].get_array().shape[0] == 1
    with pytest.raises(ValueError, match=r"y='solver' does not vary.*these do: .*nu"):
        result.plot(y="solver")
    with pytest.raises(ValueError, match="x=None does not vary"):
        result.plot(x=None)
    nothing = tune_forest(**search | {"grid": {}, "max_features_grid": None})
    with pytest.raises(ValueError, match="these do: none"):
        nothing.plot()


@pytest.mark.parametrize(
    ("grid", "axes"),
    [
        ({"nu": [1, 10], "learning_rate": [0.1, 0.01]}, ("learning_rate", "nu")),
        ({"nu": [1, 10]}, ("nu", "")),
        ({"solver": ["auto", "cccp"], "nu": [1, 10]}, ("nu", "solver")),
        ({"solver": ["cccp"], "scale": ["minmax"]}, ("solver", "scale")),
    ],
)
def test_heat_map_finds_its_axes(search, plt, grid, axes):
    ax = tune_forest(**search | {"grid": grid, "max_features_grid": None}).plot()
    assert sorted((ax.get_xlabel(), ax.get_ylabel())) == sorted(axes)


def test_heat_map_of_halving_says_how_many_trees(search, plt):
    arguments = search | {"method": "halving", "trial_n_estimators": 12}
    ax = tune_forest(**arguments).plot()
    texts = [text.get_text() for text in ax.texts]
    assert any("4 trees" in text for text in texts)


def test_heat_map_with_the_cell_of_the_estimator_as_given(search, plt):
    arguments = search | {
        "max_features_grid": None,
        "estimator": CO2ForestClassifier(2, nu=1, mixture=None),
    }
    result = tune_forest(**arguments | {"grid": {"nu": [0.1, 1, 10]}})
    drawn = result.plot(x="nu", y=None).images[0].get_array()
    assert drawn.shape == (1, 3)
    assert drawn[0, 1] == 0


@pytest.mark.parametrize("method", ["holdout", "halving"])
def test_progress_has_a_line_for_each_candidate(search, capsys, method):
    tune_forest(**search | {"verbose": 1, "method": method})
    lines = capsys.readouterr().err.splitlines()
    assert any(re.search(r"max_features 2/2, best [01]\.\d{4}, ", line) for line in lines)
    grid = [line for line in lines if "] grid" in line]
    assert "grid 1/" in grid[0]
    assert grid[0].endswith("s left")
    assert not grid[-1].endswith("left")
    assert all(len(line) < 80 for line in lines)


def test_progress_on_a_terminal_is_one_line(search, capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    tune_forest(**search | {"verbose": 1})
    out = capsys.readouterr().err
    assert out.count("\n") == 2  # one for each step
    assert max(map(len, out.replace("\n", "\r").split("\r"))) == 79


@pytest.mark.slow
@pytest.mark.skipif(not PAGE.exists(), reason="only a source checkout has the documentation")
def test_examples_of_the_documentation_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = {}
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(blocks) == 3
    for block in blocks:
        exec(block, names)
    assert "TuningResult: " in capsys.readouterr().out
    assert (tmp_path / "search.json").exists()


def test_silent_by_default(search, capsys):
    tune_forest(**search)
    assert capsys.readouterr() == ("", "")
