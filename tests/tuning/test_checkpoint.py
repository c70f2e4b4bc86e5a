# SPDX-License-Identifier: BSD-3-Clause
"""Searches that are interrupted and go on."""

import functools
import json
import pickle
import subprocess
import sys

import numpy as np
import pytest
from sklearn.metrics import fbeta_score, make_scorer

from co2forest import CO2ForestClassifier
from co2forest.tuning import tune_forest
from co2forest.tuning._trials import Trials

# Two numbers of features, then four candidates or five.
SEARCH = {
    "grid": {"nu": [0.1, 1, 10]},
    "max_features_grid": [0.5, 0.9],
    "trial_n_estimators": 4,
    "random_state": 0,
}


@pytest.fixture
def small(blobs):
    X, y = blobs
    return X[:120], y[:120]


@pytest.fixture
def file(tmp_path):
    return tmp_path / "search.json"


@pytest.fixture
def interrupt(monkeypatch):
    """Raise Ctrl-C instead of growing the next forest after so many; None: only count them."""
    original = Trials._judge

    def after(count):
        done = []

        def judge(self, *args, **kwargs):
            if len(done) == count:
                raise KeyboardInterrupt
            done.append(args)
            return original(self, *args, **kwargs)

        monkeypatch.setattr(Trials, "_judge", judge)
        return done

    return after


def without_time(result):
    return [
        [{k: v for k, v in row.items() if k != "seconds"} for row in table]
        for table in (result.table, result.max_features_table)
    ]


@pytest.mark.parametrize("method", ["holdout", "halving", "oob"])
def test_a_search_interrupted_anywhere_ends_as_if_it_had_not_been(
    small, tmp_path, interrupt, method, assert_same_trees
):
    search = SEARCH | {"method": method, "estimator": CO2ForestClassifier(2, mixture=None)}
    done = interrupt(None)
    whole = tune_forest(*small, **search)
    total = len(done)
    assert total >= 6
    for count in range(total):
        file = tmp_path / f"{count}.json"
        interrupt(count)
        with pytest.raises(KeyboardInterrupt):
            tune_forest(*small, checkpoint=file, **search)
        assert len(json.loads(file.read_text())["scores"]) == count
        again = interrupt(None)
        resumed = tune_forest(*small, checkpoint=file, **search)
        assert without_time(resumed) == without_time(whole)
        assert resumed.best_params == whole.best_params
        assert len(again) <= total - count + 3  # the estimator as given once more for each size
    assert_same_trees(resumed.estimator, whole.estimator)
    assert [f.name for f in tmp_path.iterdir() if f.suffix != ".json"] == []


def test_a_finished_search_grows_nothing_again(small, file, interrupt):
    first = tune_forest(*small, checkpoint=file, **SEARCH)
    interrupt(0)
    second = tune_forest(*small, checkpoint=file, **SEARCH)
    assert second.table == first.table  # the seconds, too
    assert second.max_features_table == first.max_features_table


def test_a_search_without_seed_goes_on_with_the_same(small, file, interrupt):
    search = SEARCH | {"random_state": None}
    interrupt(3)
    with pytest.raises(KeyboardInterrupt):
        tune_forest(*small, checkpoint=file, **search)
    interrupt(None)
    resumed = tune_forest(*small, checkpoint=file, **search)
    whole = tune_forest(*small, **search | {"random_state": resumed.random_state})
    assert without_time(resumed) == without_time(whole)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"grid": {"nu": [1, 10]}}, "grid"),
        ({"random_state": 1}, "random_state"),
        ({"random_state": None}, "random_state"),
        ({"method": "halving"}, "method"),
        ({"estimator": CO2ForestClassifier(min_samples_leaf=2, mixture=None)}, "estimator"),
        ({"trial_n_estimators": 5}, "trial_n_estimators"),
        ({"scoring": "jaccard_macro"}, "scoring"),
        ({"max_features_grid": None}, "max_features_grid"),
        ({"sample_weight": np.ones(120)}, "sample_weight"),
        ({"holdout_size": 0.3}, "holdout_size"),
    ],
)
def test_the_file_of_another_search_is_refused(small, file, change, named):
    tune_forest(*small, checkpoint=file, **SEARCH)
    before = file.read_bytes()
    with pytest.raises(ValueError, match=f"belongs to another search: it differs in {named};"):
        tune_forest(*small, checkpoint=file, **SEARCH | change)
    assert file.read_bytes() == before


def fbeta(beta):
    return make_scorer(fbeta_score, beta=beta, average="macro")


def with_beta(estimator, X, y, *, beta):
    return fbeta(beta)(estimator, X, y)


@pytest.mark.parametrize("scoring", [fbeta, lambda beta: functools.partial(with_beta, beta=beta)])
def test_scorers_are_recognised_by_their_arguments(small, file, scoring):
    search = SEARCH | {"max_features_grid": None, "grid": {}, "refit": False, "checkpoint": file}
    first = tune_forest(*small, scoring=scoring(0.1), **search)
    assert tune_forest(*small, scoring=scoring(0.1), **search).table == first.table
    with pytest.raises(ValueError, match="it differs in scoring;"):
        tune_forest(*small, scoring=scoring(10), **search)


def test_the_file_of_another_version_is_refused(small, file, monkeypatch):
    tune_forest(*small, checkpoint=file, **SEARCH)
    monkeypatch.setattr("co2forest.tuning.search.__version__", "0.0.1")
    with pytest.raises(ValueError, match="it differs in version of co2forest;"):
        tune_forest(*small, checkpoint=file, **SEARCH)


def test_whole_numbers_may_be_written_either_way(small, file):
    first = tune_forest(*small, checkpoint=file, **SEARCH)
    search = SEARCH | {"grid": {"nu": [0.1, 1.0, np.float32(10)]}}
    assert tune_forest(*small, checkpoint=file, **search).table == first.table


def test_one_row_and_all_rows_are_different(small, file):
    search = SEARCH | {"max_features_grid": None, "checkpoint": file}
    one, every = (
        CO2ForestClassifier(2, max_samples=1, mixture=None),
        CO2ForestClassifier(2, max_samples=1.0, mixture=None),
    )
    result = tune_forest(*small, estimator=one, **search | {"grid": {"max_samples": [1.0]}})
    assert result.best_params == {"max_samples": 1.0}
    file.unlink()
    tune_forest(*small, estimator=one, **search)
    with pytest.raises(ValueError, match="it differs in estimator;"):
        tune_forest(*small, estimator=every, **search)


def test_the_file_of_other_data_is_refused(small, file):
    X, y = small
    tune_forest(X, y, checkpoint=file, **SEARCH)
    other = X.copy()
    other[5, 3] += 1
    with pytest.raises(ValueError, match="differs in X;"):
        tune_forest(other, y, checkpoint=file, **SEARCH)
    with pytest.raises(ValueError, match="differs in y;"):
        tune_forest(X, y[::-1], checkpoint=file, **SEARCH)


def test_threads_seed_and_size_of_the_result_may_change(small, file):
    tune_forest(*small, checkpoint=file, **SEARCH)
    estimator = CO2ForestClassifier(3, n_jobs=2, random_state=4)
    result = tune_forest(*small, checkpoint=file, estimator=estimator, n_jobs=2, **SEARCH)
    assert len(result.estimator.estimators_) == 3


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe\x00",
        b'{"format": "co2forest tuning 1"}',
        b'{"format": "other"}',
        b'{"format": "co2forest tuning 1", "problem": {}, "seed": "x", "scores": {}}',
        b'{"format": "co2forest tuning 1", "problem": {}, "seed": 1, "scores": {"a": [1]}}',
        b'{"format": "co2forest tuning 1", "problem": [], "seed": 1, "scores": {}}',
        b"[" * 100_000,
    ],
)
def test_a_damaged_file_is_refused_in_one_line(small, file, content):
    file.write_bytes(content)
    with pytest.raises(ValueError, match=r"search.json' is damaged or not a checkpoint.*") as error:
        tune_forest(*small, checkpoint=file, **SEARCH)
    assert "\n" not in str(error.value)
    assert file.read_bytes() == content


@pytest.mark.parametrize(
    "value", ["1" + "0" * 400, "1e400", "-1e999", "Infinity", "NaN", "true", "1" * 5000]
)
def test_scores_that_are_no_numbers_are_refused_in_one_line(small, file, value):
    tune_forest(*small, checkpoint=file, **SEARCH)
    text = file.read_text()
    score = json.loads(text)["scores"]["grid 0, 4 trees"][0]
    file.write_text(text.replace(str(score), value, 1))
    with pytest.raises(ValueError, match=r"search.json' is damaged or not a checkpoint.*") as error:
        tune_forest(*small, checkpoint=file, **SEARCH)
    assert "\n" not in str(error.value)


def test_another_seed_in_the_file_is_refused(small, file):
    for seed in (0, np.random.RandomState(0)):
        tune_forest(*small, checkpoint=file, **SEARCH | {"random_state": seed})
        content = json.loads(file.read_text())
        content["seed"] += 1
        file.write_text(json.dumps(content))
        again = seed if seed == 0 else np.random.RandomState(0)
        with pytest.raises(ValueError, match=r"is damaged .*\(seed \d+, but random_state stands"):
            tune_forest(*small, checkpoint=file, **SEARCH | {"random_state": again})
        file.unlink()


def test_a_file_that_is_cut_off_anywhere_is_refused(small, file):
    whole = tune_forest(*small, checkpoint=file, **SEARCH)
    good = file.read_bytes()
    for end in range(0, len(good), 97):
        file.write_bytes(good[:end])
        with pytest.raises(ValueError, match="is damaged"):
            tune_forest(*small, checkpoint=file, **SEARCH)
    file.write_bytes(good)
    assert tune_forest(*small, checkpoint=file, **SEARCH).table == whole.table


def test_a_place_that_cannot_be_written_is_known_at_once(small, tmp_path, interrupt):
    interrupt(0)  # before any forest
    with pytest.raises(OSError, match="nowhere"):
        tune_forest(*small, checkpoint=tmp_path / "nowhere" / "search.json", **SEARCH)
    with pytest.raises(ValueError, match="is not a regular file"):
        tune_forest(*small, checkpoint=tmp_path, **SEARCH)


def test_a_failed_write_leaves_the_old_file(small, file, interrupt, monkeypatch):
    interrupt(3)
    with pytest.raises(KeyboardInterrupt):
        tune_forest(*small, checkpoint=file, **SEARCH)
    before = file.read_bytes()

    def full(descriptor):
        raise OSError(28, "No space left on device")

    interrupt(None)
    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match=r"No space left.*search\.json"):
        tune_forest(*small, checkpoint=file, **SEARCH)
    assert file.read_bytes() == before
    assert list(file.parent.iterdir()) == [file]


def test_the_file_is_whole_at_every_moment(small, file, monkeypatch):
    """Looked at after every write to it, and before it takes its name."""
    from pathlib import Path

    seen = []
    replace = Path.replace

    def look(self, target):
        if file.exists():
            seen.append(len(json.loads(file.read_text())["scores"]))
        json.loads(self.read_text())
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", look)
    tune_forest(*small, checkpoint=file, **SEARCH)
    assert seen == list(range(len(seen)))
    assert len(seen) >= 6


@pytest.mark.plain_build  # its process sees only what is installed
def test_another_process_goes_on(small, file, interrupt, tmp_path):
    interrupt(4)
    with pytest.raises(KeyboardInterrupt):
        tune_forest(*small, checkpoint=file, **SEARCH)
    interrupt(None)
    whole = tune_forest(*small, **SEARCH)
    (tmp_path / "data.pickle").write_bytes(pickle.dumps((small, SEARCH)))
    code = (
        "import pickle, sys\n"
        "from co2forest.tuning import tune_forest\n"
        "data, search = pickle.load(open(sys.argv[1], 'rb'))\n"
        "print(tune_forest(*data, checkpoint=sys.argv[2], refit=False, **search).best_score)"
    )
    command = [sys.executable, "-c", code, tmp_path / "data.pickle", file]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert float(done.stdout) == whole.best_score
