# SPDX-License-Identifier: BSD-3-Clause
"""A forest on Dask is the forest that its draws stand for, whatever kind the data are of."""

import itertools
import re
import warnings

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_classification
from sklearn.utils import compute_sample_weight

from co2forest import CO2ForestClassifier, CO2ForestRegressor
from co2forest.dask import DaskCO2ForestClassifier, DaskCO2ForestRegressor, _fit, _targets
from co2forest.dask._cluster import Running
from co2forest.dask._draws import PILOT, draw_rows, draws_per_partition
from co2forest.dask._memory import Schedule
from co2forest.dask._targets import Targets, find_labels
from co2forest.dask._tasks import Recipe, Source, by_batch, decide_by_pilot, draw, grow
from co2forest.data.outputs.classes import ClassOutputs
from co2forest.data.outputs.labels import LabelOutputs
from co2forest.fitting.decide import decide
from co2forest.fitting.grow import grow_here
from co2forest.fitting.plan import Draws
from co2forest.fitting.trees import TreeRange
from network_messages import received

X, Y = make_classification(1200, 8, n_informative=5, n_redundant=0, n_classes=3, random_state=0)
X = X.astype(np.float32)
SIZES = [300, 100, 500, 300]
CHUNKS = tuple(SIZES)
CLASSES = ClassOutputs(np.arange(3))


def chunked(array):
    chunks = (CHUNKS,) if array.ndim == 1 else (CHUNKS, array.shape[1])
    return da.from_array(array, chunks=chunks)


def trees_of(forest):
    return forest.to_local()._forest


def same_trees(a, b):
    ours, theirs = trees_of(a).arrays(), trees_of(b).arrays()
    return all(ours[name].tobytes() == theirs[name].tobytes() for name in ours)


def grown_by_hand(forest, rows, outputs, targets, weights, mean):
    """Each tree from the rows and counts that the draws name."""
    local = forest.to_local()
    draws = local._draws
    seed, replace = draws.seed, draws.bootstrap
    begins = np.concatenate([[0], np.cumsum(SIZES)])
    known = local.scale_, getattr(local, "solver_", None)
    trees = []
    for tree in range(local.n_estimators):
        per_partition = draws_per_partition(
            np.array(SIZES), draws.n_draws, seed, tree, replace=replace
        )
        chosen, counts = [], []
        for number, n in enumerate(per_partition):
            if n:
                some, times = draw_rows(SIZES[number], n, seed, tree, number, replace=replace)
                chosen.append(some + begins[number])
                counts.append(times)
        chosen, counts = np.concatenate(chosen), np.concatenate(counts)
        weight = (counts * weights[chosen]).astype(np.float32)
        data = outputs.training_set(rows[chosen], targets[chosen], weight)
        plan = decide(local, data, Draws.every_row(len(chosen), seed), 1, known)
        trees.append(grow_here(plan, data, TreeRange(tree, 1, mean)).forest.arrays())
    return trees


def assert_grown_by_hand(forest, *args):
    for tree, expected in enumerate(grown_by_hand(forest, *args)):
        ours = trees_of(forest).tree(tree).arrays()
        for name in expected:
            if name != "spread":  # that of the first tree's rows
                assert ours[name].tobytes() == expected[name].tobytes(), (tree, name)


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"bootstrap": False, "max_samples": 0.3},
        {"bootstrap": False},
        {"max_samples": 200, "trees_per_task": 3, "scale": "standard"},
    ],
    ids=str,
)
def test_trees_are_grown_from_what_was_drawn(threads, params):
    forest = DaskCO2ForestClassifier(5, random_state=3, mixture=None, **params)
    forest.fit(chunked(X), chunked(Y))
    mean = X.astype(np.float64).mean(axis=0).astype(np.float32)
    assert trees_of(forest).arrays()["mean"] == pytest.approx(mean, abs=1e-7)
    mean = trees_of(forest).arrays()["mean"].copy()
    codes = Y.astype(np.uint8)
    assert_grown_by_hand(forest, X, CLASSES, codes, np.ones(len(X)), mean)


def test_weights_are_multiplied(threads):
    weights = np.random.RandomState(0).randint(1, 5, len(X)).astype(np.float32)
    forest = DaskCO2ForestClassifier(3, class_weight="balanced", random_state=0)
    forest.fit(chunked(X), chunked(Y), chunked(weights))
    mean = trees_of(forest).arrays()["mean"].copy()
    np.testing.assert_allclose(mean, np.average(X, axis=0, weights=weights), rtol=1e-4, atol=1e-6)
    total = weights * compute_sample_weight("balanced", Y).astype(np.float32)
    assert_grown_by_hand(forest, X, CLASSES, Y.astype(np.uint8), total, mean)


def test_numbers_are_grown_from_what_was_drawn(threads):
    y = (X[:, 0] * 3 + X[:, 1] ** 2).astype(np.float64) + 1e5
    forest = DaskCO2ForestRegressor(3, max_samples=0.5, random_state=0, mixture=None)
    forest.fit(chunked(X), chunked(y))
    mean = trees_of(forest).arrays()["mean"].copy()
    assert_grown_by_hand(forest, X, forest.to_local()._outputs, y[:, None], np.ones(len(X)), mean)
    # The unit of y is that of all rows, because the sample for it has them all.
    local = CO2ForestRegressor(1, random_state=0, mixture=None).fit(X, y)
    np.testing.assert_allclose(forest.to_local()._outputs.units, local._outputs.units, rtol=1e-12)


def test_the_number_of_workers_and_of_tasks_does_not_matter(threads, client):
    """In threads of this process, and in other processes."""
    ours, labels = chunked(X), chunked(Y)
    forests = [
        DaskCO2ForestClassifier(6, random_state=0, client=some, trees_per_task=trees).fit(
            ours, labels
        )
        for some, trees in ((threads, "auto"), (threads, 1), (client, 4))
    ]
    assert same_trees(forests[0], forests[1])
    assert same_trees(forests[0], forests[2])
    other = DaskCO2ForestClassifier(6, random_state=1, client=threads).fit(ours, labels)
    assert not same_trees(forests[0], other)


@pytest.mark.parametrize("order", ["label", "feature"])
def test_sorted_data_lose_nothing(threads, order):
    rows, labels = make_classification(
        6000, 10, n_informative=6, n_classes=4, class_sep=1.5, random_state=1
    )
    train, test = slice(0, 4000), slice(4000, None)
    key = labels[train] if order == "label" else rows[train, 0]
    rank = np.argsort(key, kind="stable")
    sorted_rows, sorted_labels = rows[train][rank], labels[train][rank]
    ours, theirs = [], []
    for seed in range(3):
        params = {"n_estimators": 10, "bootstrap": True, "random_state": seed}
        forest = DaskCO2ForestClassifier(**params, max_samples=2000)
        forest.fit(
            da.from_array(sorted_rows, chunks=(500, 10)), da.from_array(sorted_labels, chunks=500)
        )
        ours.append(forest.to_local().score(rows[test], labels[test]))
        local = CO2ForestClassifier(**params, max_samples=2000, mixture=None).fit(
            sorted_rows, sorted_labels
        )
        theirs.append(local.score(rows[test], labels[test]))
    # The standard error of such a difference of means is 0.005.
    assert np.mean(ours) == pytest.approx(np.mean(theirs), abs=0.02)
    assert np.mean(ours) > 0.85


def test_a_sample_without_a_class_keeps_its_column(threads):
    labels = np.where(np.arange(len(Y)) == 700, "rare", np.array(["a", "b", "c"])[Y])
    forest = DaskCO2ForestClassifier(4, max_samples=20, random_state=0)
    forest.fit(chunked(X), chunked(labels))
    assert forest.classes_.tolist() == ["a", "b", "c", "rare"]
    assert forest.predict_proba(X[:5]).shape == (5, 4)
    assert set(forest.predict(chunked(X)).compute()) <= {"a", "b", "c", "rare"}


@pytest.mark.parametrize("kind", ["object", "str", "category", "bool", "float", "int8", "date"])
def test_labels_of_all_kinds(threads, kind):
    labels = {
        "object": np.array(["x", "yy", "zzz"], dtype=object)[Y],
        "str": np.array(["x", "yy", "zzz"])[Y],
        "category": pd.Series(np.array(["x", "yy", "zzz"])[Y]).astype("category"),
        "bool": Y > 0,
        "float": Y.astype(np.float64),
        "int8": Y.astype(np.int8) - 1,
        "date": np.array(["2020-01-01", "2021-01-01", "2022-01-01"], dtype="datetime64[D]")[Y],
    }[kind]
    local = CO2ForestClassifier(2, bootstrap=True, random_state=0, mixture=None).fit(X, labels)
    if isinstance(labels, pd.Series):
        frame = dd.from_pandas(pd.DataFrame(X).rename(columns=str).assign(y=labels), npartitions=4)
        data = frame.drop(columns="y"), frame["y"]
    else:
        data = chunked(X), chunked(labels)
    forest = DaskCO2ForestClassifier(4, random_state=0).fit(*data)
    np.testing.assert_array_equal(forest.classes_, local.classes_)
    assert forest.score(*data) > 0.9


def test_missing_values_stand_for_the_mean_of_all_partitions(threads):
    holes = X.copy()
    holes[np.random.RandomState(0).random(X.shape) < 0.2] = np.nan
    holes[:300, 2] = np.nan  # nothing is known in the first partition
    forest = DaskCO2ForestClassifier(5, random_state=0).fit(chunked(holes), chunked(Y))
    mean = trees_of(forest).arrays()["mean"]
    np.testing.assert_allclose(mean, np.nanmean(holes, axis=0), rtol=1e-4, atol=1e-6)
    filled = np.where(np.isnan(holes), mean, holes)
    np.testing.assert_array_equal(forest.predict_proba(holes), forest.predict_proba(filled))


def test_bytes_stay_bytes_and_sparse_stays_sparse(threads):
    whole = np.clip(np.round(X * 20 + 100), 0, 255).astype(np.uint8)
    dense = DaskCO2ForestClassifier(3, random_state=0).fit(chunked(whole), chunked(Y))
    floats = DaskCO2ForestClassifier(3, random_state=0)
    floats.fit(chunked(whole.astype(np.float32)), chunked(Y))
    assert same_trees(dense, floats)
    thin = np.where(np.random.RandomState(0).random(X.shape) < 0.7, 0, X).astype(np.float32)
    blocks = chunked(thin).map_blocks(sp.csr_matrix)
    sparse = DaskCO2ForestClassifier(3, random_state=0, mixture=None).fit(blocks, chunked(Y))
    expected = DaskCO2ForestClassifier(3, random_state=0, mixture=None)
    expected.fit(chunked(thin), chunked(Y))
    assert sparse.score(blocks, chunked(Y)) == pytest.approx(
        expected.score(chunked(thin), chunked(Y)), abs=0.05
    )
    np.testing.assert_allclose(
        trees_of(sparse).arrays()["mean"], trees_of(expected).arrays()["mean"], atol=1e-6
    )
    assert sparse.predict(blocks).compute().shape == (1200,)


def test_rows_of_weight_zero_are_never_drawn(threads):
    weights = np.zeros(len(X), dtype=np.float32)
    weights[250:450] = 1.0
    forest = DaskCO2ForestClassifier(3, random_state=0, oob_score=True)
    forest.fit(chunked(X), chunked(Y), chunked(weights))
    assert forest.to_local()._draws.n_rows == 200
    assert (trees_of(forest).arrays()["sample_count"] <= 200).all()
    only = DaskCO2ForestClassifier(3, random_state=0, class_weight={0: 1, 1: 0, 2: 1})
    only.fit(chunked(X), chunked(Y))
    assert only.to_local()._draws.n_rows == np.count_nonzero(Y != 1)
    assert set(only.predict(X)) == {0, 2}


def test_several_labels_and_costs(threads):
    labels = np.stack([Y == 0, Y == 1, X[:, 0] > 0], axis=1).astype(int)
    forest = DaskCO2ForestClassifier(5, class_weight="balanced", oob_score=True, random_state=0)
    forest.fit(chunked(X), chunked(labels))
    assert forest.n_outputs_ == 3
    assert forest.score(chunked(X), chunked(labels)) > 0.9
    assert 0.5 < forest.oob_score_ < 0.95
    for ours, local in zip(
        forest.predict_proba(chunked(X)), forest.to_local().predict_proba(X), strict=True
    ):
        np.testing.assert_array_equal(ours.compute(), local)
    np.testing.assert_array_equal(forest.predict(chunked(X)).compute(), forest.predict(X))
    costs = [[0, 1, 9], [1, 0, 9], [1, 1, 0]]
    careful = DaskCO2ForestClassifier(5, cost_matrix=costs, random_state=0)
    careful.fit(chunked(X), chunked(Y))
    plain = DaskCO2ForestClassifier(5, random_state=0).fit(chunked(X), chunked(Y))
    assert np.mean(careful.predict(X) == 2) < np.mean(plain.predict(X) == 2)


def test_balance_of_what_was_drawn(threads):
    few = np.where(np.arange(len(Y)) % 20 == 0, 1, 0)
    forest = DaskCO2ForestClassifier(
        3, class_weight="balanced_subsample", max_depth=1, random_state=0
    ).fit(chunked(X), chunked(few))
    arrays = trees_of(forest).arrays()
    roots = arrays["tree_begin"][:-1]
    assert arrays["impurity"][roots] == pytest.approx(1.0, abs=1e-5)  # both classes weigh the same


@pytest.mark.parametrize("loss", ["squared", "huber", "quantile", "poisson"])
def test_numbers(threads, loss):
    y = np.exp(X[:, 0] / 2) + (X[:, 1] > 0)
    forest = DaskCO2ForestRegressor(10, loss=loss, random_state=0, oob_score=True)
    forest.fit(chunked(X), chunked(y))
    assert forest.score(chunked(X), chunked(y)) == pytest.approx(forest.to_local().score(X, y))
    assert 0.6 < forest.oob_score_ < forest.score(chunked(X), chunked(y))


def test_several_outputs(threads):
    y = np.stack([X[:, 0], 1000 * X[:, 1]], axis=1)
    forest = DaskCO2ForestRegressor(5, solver="select", random_state=0).fit(chunked(X), chunked(y))
    assert forest.n_outputs_ == 2
    prediction = forest.predict(chunked(X))
    assert prediction.shape == (1200, 2)
    np.testing.assert_array_equal(prediction.compute(), forest.to_local().predict(X))
    assert forest.score(chunked(X), chunked(y)) > 0.9


def test_out_of_bag_scores_judge_as_new_rows_do(threads):
    train, test = slice(0, 800), slice(800, None)
    labels = da.from_array(Y[train], chunks=200)
    forest = DaskCO2ForestClassifier(40, oob_score=True, random_state=0)
    forest.fit(da.from_array(X[train], chunks=(200, 8)), labels)
    assert forest.oob_score_ == pytest.approx(forest.to_local().score(X[test], Y[test]), abs=0.05)
    assert not hasattr(forest.to_local(), "oob_score_")


def test_a_warm_start_goes_on(threads):
    whole = DaskCO2ForestClassifier(8, random_state=0).fit(chunked(X), chunked(Y))
    forest = DaskCO2ForestClassifier(3, random_state=0, warm_start=True)
    forest.fit(chunked(X), chunked(Y))
    forest.set_params(estimator__n_estimators=8).fit(chunked(X), chunked(Y))
    assert same_trees(forest, whole)
    with pytest.warns(UserWarning, match="n_estimators has not grown"):
        forest.fit(chunked(X), chunked(Y))
    with pytest.raises(ValueError, match="n_estimators=2 must be at least the 8 trees"):
        forest.set_params(estimator__n_estimators=2).fit(chunked(X), chunked(Y))
    with pytest.raises(ValueError, match="other classes than in the first fit"):
        forest.set_params(estimator__n_estimators=9).fit(chunked(X), chunked(Y + 1))
    assert same_trees(forest, whole)  # as it was


def test_limits_that_are_parts_are_parts_of_what_a_tree_draws(threads):
    by_part = DaskCO2ForestClassifier(2, max_samples=400, min_samples_leaf=0.05, random_state=0)
    by_number = DaskCO2ForestClassifier(2, max_samples=400, min_samples_leaf=20, random_state=0)
    assert same_trees(by_part.fit(chunked(X), chunked(Y)), by_number.fit(chunked(X), chunked(Y)))


def test_empty_partitions_and_unknown_lengths(threads):
    """A filter leaves partitions of unknown lengths, and one of them empty."""
    frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(8)]).assign(y=Y, part=0)
    frame.loc[300:400, "part"] = 1
    filtered = dd.from_pandas(frame, npartitions=12)
    filtered = filtered[filtered.part == 1]
    rows, labels = filtered[[f"f{i}" for i in range(8)]], filtered["y"]
    forest = DaskCO2ForestClassifier(3, random_state=0).fit(rows, labels)
    assert forest.to_local()._draws.n_rows == 101
    assert forest._partition_sizes.count(0) == 10
    prediction = forest.predict(rows).compute()
    assert prediction.index.equals(frame.index[300:401])
    arrays = rows.to_dask_array(), labels.to_dask_array()  # lengths are unknown here, too
    same = DaskCO2ForestClassifier(3, random_state=0).fit(*arrays)
    assert same_trees(forest, same)


def test_chunks_of_x_and_y_may_differ(threads):
    ours = DaskCO2ForestClassifier(3, random_state=0).fit(chunked(X), chunked(Y))
    columns = da.from_array(X, chunks=(CHUNKS, 3))  # parts of the columns in each block
    other = DaskCO2ForestClassifier(3, random_state=0)
    other.fit(columns, da.from_array(Y, chunks=77))
    assert same_trees(ours, other)


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # which Dask uses
def test_partitions_are_the_files(threads, tmp_path):
    """Dask would like to read several files at once where only the column of labels is read."""
    frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(8)]).assign(y=Y, weight=1.0, more=0)
    bounds = np.concatenate([[0], np.cumsum(SIZES)])
    for number, (begin, end) in enumerate(itertools.pairwise(bounds)):
        frame.iloc[begin:end].to_parquet(tmp_path / f"{number}.parquet", index=False)
    files = dd.read_parquet(tmp_path)
    rows = files[[f"f{i}" for i in range(8)]]
    arrays = DaskCO2ForestClassifier(3, random_state=0).fit(chunked(X), chunked(Y))
    for data in (
        (rows, files["y"]),
        (rows, files["y"], files["weight"]),
        (rows, dd.read_parquet(tmp_path, columns=["y"])["y"]),  # read apart
        (rows, chunked(Y)),
        (chunked(X), files["y"]),
    ):
        forest = DaskCO2ForestClassifier(3, random_state=0).fit(*data)
        assert forest._partition_sizes == SIZES
        assert same_trees(forest, arrays)
        assert forest.score(*data[:2]) == arrays.score(X, Y)


def test_what_x_and_y_have_in_common_is_read_once(threads, tmp_path):
    diary = tmp_path / "diary"
    begins = [0, 400, 800]

    def load(begin):
        with diary.open("a") as file:
            file.write(f"{begin}\n")
        part = slice(begin, begin + 400)
        return pd.DataFrame(X[part]).rename(columns=str).assign(y=Y[part])

    files = dd.from_map(load, begins, meta=load(0).iloc[:0])
    diary.unlink()
    DaskCO2ForestClassifier(3, random_state=0).fit(files.drop(columns="y"), files["y"])
    read = sorted(map(int, diary.read_text().split()))
    assert read == sorted(begins * 2)  # to look at it, and to keep it


@pytest.mark.parametrize("kind", ["one class", "one row", "one draw", "one tree"])
def test_the_least_there_can_be(threads, kind):
    rows = chunked(X)[:1] if kind == "one row" else chunked(X)
    labels = chunked(Y)[: rows.shape[0]] * (0 if kind == "one class" else 1)
    forest = DaskCO2ForestClassifier(
        1 if kind == "one tree" else 3,
        max_samples=1 if kind == "one draw" else None,
        random_state=0,
    ).fit(rows, labels)
    shares = forest.predict_proba(chunked(X)).compute()
    assert shares.shape == (1200, 3 if kind in {"one draw", "one tree"} else 1)
    np.testing.assert_allclose(shares.sum(axis=1), 1)


def test_filters_of_warnings_are_left_alone(monkeypatch):
    """Threads share them, and what one of two sets for a moment the other may restore for ever."""
    find_labels(np.arange(100), np.ones(100, dtype=bool))  # many classes are nothing to warn of
    seen = []
    check = _targets.check_classification_targets
    monkeypatch.setattr(
        _targets,
        "check_classification_targets",
        lambda y: (seen.extend(warnings.filters), check(y)),
    )
    find_labels(np.arange(100), np.ones(100, dtype=bool))
    assert seen == warnings.filters


@pytest.mark.parametrize(("n_groups", "persist"), [(1, True), (3, False)])
def test_waves_and_groups_do_not_matter(threads, monkeypatch, n_groups, persist):
    """Three waves of two tasks, from partitions that are kept or read again."""
    params = {"n_estimators": 6, "random_state": 0, "trees_per_task": 1}
    expected = DaskCO2ForestClassifier(**params).fit(chunked(X), chunked(Y))
    schedule = Schedule(1, 2, 1, n_groups, persist)
    monkeypatch.setattr(_fit, "make_schedule", lambda *_: schedule)
    sent = []
    send = Running.send
    monkeypatch.setattr(
        Running, "send", lambda *args, **kw: (sent.append(len(args[1])), send(*args, **kw))[1]
    )
    forest = DaskCO2ForestClassifier(**params).fit(chunked(X), chunked(Y))
    assert same_trees(forest, expected)
    assert sent == [len(SIZES), 1, 2, 2, 2]  # the survey, the trial, and three waves


def test_progress_shows_trees_workers_and_time(threads, capsys):
    DaskCO2ForestClassifier(6, trees_per_task=1, verbose=1).fit(chunked(X), chunked(Y))
    lines = capsys.readouterr().err.splitlines()
    assert "0/6 trees" in lines[0]
    assert "6/6 trees, 2 workers" in lines[-1]
    assert all(
        re.search(r"[1-5]/6 trees, 2 workers, \d+ s, \d+ s left", line) for line in lines[1:-1]
    )
    assert len(lines) > 2
    DaskCO2ForestClassifier(2).fit(chunked(X), chunked(Y))
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("several", [False, True])
def test_messages_may_lie_anywhere(storage, several):
    """Arrays from a network begin in the middle of a number and cannot be written to."""
    y = np.stack([Y == 0, Y == 1], axis=1).astype(np.float32) if several else Y
    targets = Targets(LabelOutputs.read(y) if several else CLASSES)
    draws = Draws(0, len(X), len(X), bootstrap=True, partitioned=True)
    source = Source("float32", targets, [len(X)], [len(X)], draws)
    weights = np.arange(len(X), dtype=np.float32) + 1
    estimator = CO2ForestClassifier(2, mixture=None)

    def fit(sent):
        source, X, y, weights, mean = sent(source_and_data)
        groups = by_batch([draw(0, X, y, weights, source, [{PILOT: 600, 0: 500, 1: 500}])])
        source, groups = sent((source, groups))
        outputs, plan = sent(decide_by_pilot(estimator, source, 2, groups))
        recipe, groups = sent((Recipe(plan, outputs, mean), groups))
        assert recipe.mean.flags.aligned == (sent is not received)
        return sent(grow(recipe, [0, 1], groups).forest).arrays()

    source_and_data = source, storage(X), y, weights, X.mean(axis=0)
    here, there = fit(lambda value: value), fit(received)
    for name in here:
        assert here[name].tobytes() == there[name].tobytes(), name
