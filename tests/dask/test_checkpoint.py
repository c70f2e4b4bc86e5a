# SPDX-License-Identifier: BSD-3-Clause
"""A fit that was stopped goes on where it was, or says why it cannot."""

import dask.array as da
import numpy as np
import pytest

from co2forest import load_model
from co2forest.dask import DaskCO2ForestClassifier, DaskCO2ForestRegressor, _tasks

RANDOM = np.random.RandomState(0)
ROWS = RANDOM.normal(size=(400, 4)).astype(np.float32)
X = da.from_array(ROWS, chunks=(100, 4))
Y = da.from_array((ROWS[:, 0] > 0).astype(int), chunks=100)


@pytest.fixture
def grown(monkeypatch):
    """Numbers of the trees that workers grow; they are threads of this process."""
    trees = []
    original = _tasks.Recipe.tree

    def tree(self, number, groups):
        trees.append(number)
        return original(self, number, groups)

    monkeypatch.setattr(_tasks.Recipe, "tree", tree)
    return trees


def forest(folder, n_estimators=6, **params):
    params = {"random_state": 0, "trees_per_task": 2} | params
    return DaskCO2ForestClassifier(n_estimators, checkpoint=folder, **params)


def digests(estimator):
    return {name: array.tobytes() for name, array in estimator.to_local()._forest.arrays().items()}


def test_only_missing_trees_are_grown(threads, tmp_path, grown):
    whole = forest(None).fit(X, Y)
    folder = tmp_path / "some" / "folder"
    forest(folder).fit(X, Y)
    assert sorted(path.name for path in folder.iterdir()) == [
        "fit.json",
        "trees-000000.safetensors",
        "trees-000002.safetensors",
        "trees-000004.safetensors",
    ]
    (folder / "trees-000002.safetensors").unlink()
    grown.clear()
    again = forest(folder).fit(X, Y)
    assert sorted(grown) == [2, 3]
    assert digests(again) == digests(whole)
    np.testing.assert_array_equal(again.n_iter_, whole.n_iter_)


def test_more_and_fewer_trees_may_be_asked_for(threads, tmp_path, grown):
    forest(tmp_path).fit(X, Y)
    grown.clear()
    more = forest(tmp_path, 9, trees_per_task=3).fit(X, Y)
    assert sorted(grown) == [6, 7, 8]
    assert digests(more) == digests(forest(None, 9).fit(X, Y))
    fewer = forest(tmp_path, 3).fit(X, Y)
    assert digests(fewer) == digests(forest(None, 3).fit(X, Y))


def test_what_is_stored_are_models(threads, tmp_path):
    forest(tmp_path).fit(X, Y)
    some = load_model(tmp_path / "trees-000004.safetensors")
    assert some._forest.n_trees == 2
    assert some.score(ROWS, Y.compute()) > 0.9


def test_without_a_seed_the_folder_has_it(threads, tmp_path, grown):
    first = forest(tmp_path, random_state=None).fit(X, Y)
    grown.clear()
    again = forest(tmp_path, random_state=None).fit(X, Y)
    assert grown == []
    assert digests(first) == digests(again)


@pytest.mark.parametrize(
    ("change", "part"),
    [
        (lambda: forest(None, max_depth=3), "parameters"),
        (lambda: forest(None, max_samples=50), "parameters"),
        (lambda: forest(None, random_state=1), "random_state"),
        (lambda: DaskCO2ForestRegressor(6, random_state=0), "parameters"),
    ],
)
def test_another_fit_is_refused(threads, tmp_path, change, part):
    forest(tmp_path).fit(X, Y)
    other = change().set_params(checkpoint=tmp_path)
    with pytest.raises(ValueError, match=f"belongs to another fit: it differs in .*{part}"):
        other.fit(X, Y)


@pytest.mark.parametrize(
    "data",
    [(X + 1, Y), (X, 1 - Y), (X.rechunk((200, 4)), Y), (X, Y, da.ones(400) * 2)],
    ids=["X", "y", "partitions", "weights"],
)
def test_other_data_are_refused(threads, tmp_path, data):
    forest(tmp_path).fit(X, Y)
    with pytest.raises(ValueError, match="differs in X, y or sample_weight; name another folder"):
        forest(tmp_path).fit(*data)


def test_a_folder_of_somebody_else(threads, tmp_path):
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(ValueError, match="must be a folder that does not exist yet, is empty"):
        forest(tmp_path).fit(X, Y)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
    with pytest.raises(ValueError, match="must be a folder"):
        forest(tmp_path / "thesis.tex").fit(X, Y)


def test_damage(threads, tmp_path):
    forest(tmp_path).fit(X, Y)
    trees = tmp_path / "trees-000002.safetensors"
    content = trees.read_bytes()
    trees.write_bytes(content[:-10])
    with pytest.raises(ValueError, match=r"trees-000002.*delete the file, and its trees"):
        forest(tmp_path).fit(X, Y)
    trees.write_bytes(content)
    (tmp_path / "fit.json").write_text('{"format": "co2forest dask fit 1"}')
    with pytest.raises(ValueError, match=r"fit\.json is damaged .* delete the folder"):
        forest(tmp_path).fit(X, Y)


def test_a_warm_start_uses_it_too(threads, tmp_path, grown):
    warm = forest(None, 2, warm_start=True).fit(X, Y)
    grown.clear()
    warm.set_params(estimator__n_estimators=6, checkpoint=tmp_path).fit(X, Y)
    assert sorted(grown) == [2, 3, 4, 5]
    assert digests(warm) == digests(forest(None).fit(X, Y))
