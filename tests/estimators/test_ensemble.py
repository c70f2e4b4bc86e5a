# SPDX-License-Identifier: BSD-3-Clause
"""An ensemble: its members are those of fits of their own, and its answers are their blend."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import skops.io
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from co2forest import (
    TRUSTED_TYPES,
    CO2EnsembleClassifier,
    CO2EnsembleRegressor,
    CO2ForestClassifier,
    ModelFormatError,
    load_model,
)
from co2forest.files.fields import encode_labels
from damage import contents, reseal
from fitted_state import assert_same_state, change

SMALL = {"n_estimators": 8, "n_rounds": 20, "random_state": 0}


def classifier(**params):
    return CO2EnsembleClassifier(**SMALL | params)


def regressor(**params):
    return CO2EnsembleRegressor(**SMALL | params)


BOTH = pytest.mark.parametrize("make", [classifier, regressor])


@pytest.fixture(scope="module")
def fitted(blobs):
    """Small ensembles, which no test changes."""
    X, y = blobs
    numbers = X[:, :2] @ [[1.0, 2.0], [3.0, -1.0]] + y[:, None]
    return {
        classifier: (classifier().fit(X, y), y),
        regressor: (regressor().fit(X, numbers), numbers),
    }


@pytest.fixture(scope="module")
def table():
    """Columns of numbers with gaps, of words, and of categories."""
    random = np.random.default_rng(0)
    number = random.normal(size=300)
    kind = random.choice(["a", "b", "c"], 300)
    frame = pd.DataFrame(
        {
            "number": np.where(random.random(300) < 0.2, np.nan, number),
            "kind": kind,
            "level": pd.Categorical(random.integers(0, 4, 300)),
        }
    )
    return frame, number + (kind == "a")


# --- members and their blend


@BOTH
def test_members_are_those_of_fits_of_their_own(make, fitted, blobs):
    model, y = fitted[make]
    X, _ = blobs
    for member in (model.forest_, model.boosting_):
        assert_same_state(member, clone(member).fit(X, y))
    assert model.forest_.max_samples < 1.0
    assert model.forest_.random_state != model.boosting_.random_state


def test_numbers_are_blended(fitted, blobs):
    model, _ = fitted[regressor]
    X, _ = blobs
    w = model.forest_share_
    assert 0.0 < w < 1.0
    expected = w * model.forest_.predict(X) + (1 - w) * model.boosting_.predict(X)
    np.testing.assert_array_equal(model.predict(X), expected)
    assert expected.shape == (300, 2)
    assert model.n_outputs_ == 2


def test_probabilities_are_blended(fitted, blobs):
    model, _ = fitted[classifier]
    X, _ = blobs
    w = model.forest_share_
    expected = w * model.forest_.predict_proba(X) + (1 - w) * model.boosting_.predict_proba(X)
    np.testing.assert_array_equal(model.predict_proba(X), expected)
    np.testing.assert_array_equal(model.predict(X), model.classes_[expected.argmax(axis=1)])
    np.testing.assert_array_equal(model.predict_log_proba(X), np.log(expected))
    np.testing.assert_array_equal(model.decision_function(X), np.log(expected))
    assert model.n_classes_ == 3


def test_two_classes_have_one_decision(blobs):
    X, y = blobs
    model = classifier().fit(X, np.array(["no", "yes"])[(y > 0).astype(int)])
    logs = model.predict_log_proba(X)
    decision = model.decision_function(X)
    np.testing.assert_array_equal(decision, logs[:, 1] - logs[:, 0])
    np.testing.assert_array_equal(model.predict(X) == "yes", decision > 0)


@BOTH
def test_importances_are_weighted(make, fitted):
    model, _ = fitted[make]
    w = model.forest_share_
    forest, boosting = model.forest_.feature_importances_, model.boosting_.feature_importances_
    np.testing.assert_allclose(model.feature_importances_, w * forest + (1 - w) * boosting)
    assert np.isclose(model.feature_importances_.sum(), 1.0)


def test_the_better_member_has_the_larger_share():
    """Boosting of one round is much worse than a forest; here that of many is better."""
    random = np.random.default_rng(0)
    X = random.normal(size=(2000, 6)).astype(np.float32)
    y = X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * random.normal(size=2000)
    assert regressor(n_rounds=1).fit(X, y).forest_share_ > 0.9
    assert regressor(n_estimators=40, n_rounds=300).fit(X, y).forest_share_ < 0.3
    labels = np.digitize(y, [-1, 0, 1])
    assert classifier(n_rounds=1).fit(X, labels).forest_share_ > 0.8


def test_a_blend_is_better_than_its_members(digits):
    X, X_test, y, y_test = digits
    model = CO2EnsembleClassifier(30, n_rounds=100, random_state=0).fit(X, y)
    losses = [
        log_loss(y_test, each.predict_proba(X_test))
        for each in (model, model.forest_, model.boosting_)
    ]
    assert losses[0] < min(losses[1:])


# --- data of every kind


@BOTH
def test_frames_with_words_and_gaps(make, table):
    frame, number = table
    y = number if make is regressor else np.where(number > 0, "high", "low")
    train, test, y_train, y_test = train_test_split(frame, y, random_state=0)
    model = make(n_estimators=30, n_rounds=50).fit(train, y_train)
    assert model.score(test, y_test) > (0.6 if make is regressor else 0.75)
    assert model.feature_names_in_.tolist() == ["number", "kind", "level"]
    assert len(model.feature_importances_) == 3
    new = test.assign(kind="d").head(5)
    assert model.unknown_categories(new) == {"kind": {"d": 5}}
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(test.rename(columns={"kind": "sort"}))


@BOTH
def test_sparse_rows_are_like_dense_ones(make, blobs):
    X, y = blobs
    X = np.where(X > 0.5, X, 0)
    model = make().fit(sp.csr_array(X), y)
    np.testing.assert_array_equal(model.predict(sp.csr_array(X)), model.predict(X))


def test_weights_of_rows_and_classes(blobs):
    X, y = blobs
    weights = np.array([1.0, 5.0, 0.5])
    model = classifier(class_weight=dict(enumerate(weights))).fit(X, y)
    by_rows = classifier().fit(X, y, weights[y])
    np.testing.assert_array_equal(model.predict_proba(X), by_rows.predict_proba(X))
    assert model.forest_share_ == by_rows.forest_share_
    assert (model.predict(X) == 1).sum() > (classifier().fit(X, y).predict(X) == 1).sum()


@BOTH
@pytest.mark.parametrize("n_rows", [1, 2, 5, 19, 40])
def test_few_rows(make, n_rows, blobs):
    X, y = blobs
    model = make().fit(X[:n_rows], y[:n_rows])
    assert model.predict(X).shape == (300,)
    if n_rows < 20:  # boosting holds none out
        assert model.forest_share_ == 0.5


@BOTH
def test_one_answer(make, blobs):
    X, _ = blobs
    model = make().fit(X, np.ones(300))
    assert model.predict(X).tolist() == [1.0] * 300
    assert model.forest_share_ == 0.5


@pytest.mark.parametrize(
    ("make", "params", "y", "message"),
    [
        (classifier, {}, np.eye(3)[np.arange(300) % 3], "y should be a 1d array"),
        (classifier, {"n_rounds": 0}, np.arange(300) % 3, "The 'n_rounds' parameter"),
        (classifier, {"n_estimators": 0}, np.arange(300) % 3, "The 'n_estimators' parameter"),
        (classifier, {"class_weight": "balanced_subsample"}, np.arange(300) % 3, "'class_weight'"),
        (classifier, {}, None, "CO2EnsembleClassifier requires y to be passed"),
        (regressor, {}, None, "CO2EnsembleRegressor requires y to be passed"),
        (regressor, {}, np.full(300, np.nan), "Input y contains NaN"),
    ],
)
def test_bad_arguments(make, params, y, message, blobs):
    with pytest.raises(ValueError, match=message):
        make(**params).fit(blobs[0], y)


@BOTH
def test_rows_are_those_of_training(make, fitted, blobs):
    model, _ = fitted[make]
    name = type(model).__name__
    with pytest.raises(ValueError, match=f"X has 3 features, but {name} is expecting 8"):
        model.predict(blobs[0][:, :3])
    with pytest.raises(NotFittedError):
        make().predict(blobs[0])


# --- fits


@pytest.mark.threads
@BOTH
def test_threads_do_not_matter(make, blobs, digest_of):
    X, y = blobs
    digests = {digest_of(make(n_jobs=n_jobs).fit(X, y)) for n_jobs in (None, 2, 3)}
    assert len(digests) == 1


@BOTH
def test_the_number_of_threads_may_change_after_the_fit(make, fitted, blobs):
    model, _ = fitted[make]
    twin = pickle.loads(pickle.dumps(model)).set_params(n_jobs=2)
    np.testing.assert_array_equal(twin.predict(blobs[0]), model.predict(blobs[0]))


@BOTH
@pytest.mark.parametrize("member", ["forest", "boosting"])
def test_an_interrupted_fit_changes_nothing(make, member, fitted, blobs, monkeypatch):
    model = pickle.loads(pickle.dumps(fitted[make][0]))
    before = dict(vars(model))

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(make()._member_kinds[member], "_grow", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(blobs[0][:, :3], blobs[1])
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is before[name] for name in before)


@BOTH
def test_another_fit_forgets_the_first(make, blobs):
    X, y = blobs
    frame = pd.DataFrame(X[:, :3], columns=list("abc"))
    model = make().fit(frame, y).fit(X, y)
    assert_same_state(model, make().fit(X, y))


# --- files and pickles


@BOTH
@pytest.mark.parametrize("mmap_mode", [None, "r"])
def test_files(make, mmap_mode, fitted, blobs, path):
    model, _ = fitted[make]
    model.save(path)
    twin = load_model(path, mmap_mode=mmap_mode)
    assert_same_state(model, twin)
    np.testing.assert_array_equal(twin.predict(blobs[0]), model.predict(blobs[0]))


@BOTH
def test_files_of_frames(make, table, path):
    frame, number = table
    model = make().fit(frame, number > 0)
    model.save(path)
    twin = load_model(path)
    assert_same_state(model, twin)
    np.testing.assert_array_equal(twin.predict(frame), model.predict(frame))


def test_mapped_weights_of_both_members_stay_in_the_file(fitted, path, monkeypatch):
    fitted[classifier][0].save(path)
    mapped = []

    def memmap(*arguments):
        mapped.append(arguments)
        return memory_map(*arguments)

    memory_map = np.memmap
    monkeypatch.setattr(np, "memmap", memmap)
    load_model(path)
    assert mapped == []
    load_model(path, mmap_mode="r")
    assert len(mapped) == 2


@BOTH
def test_pickles_and_skops(make, fitted, blobs):
    model, _ = fitted[make]
    through_skops = skops.io.loads(skops.io.dumps(model), trusted=TRUSTED_TYPES)
    for twin in (pickle.loads(pickle.dumps(model)), through_skops):
        assert_same_state(model, twin)
        np.testing.assert_array_equal(twin.predict(blobs[0]), model.predict(blobs[0]))


BAD_FILES = {
    r"forest_share must be in \[0, 1\], got 1.5": lambda h, _: h["fitted"].update(forest_share=1.5),
    r"forest_share must be in \[0, 1\], got 1$": lambda h, _: h["fitted"].update(forest_share=1),
    "'forest_share' is missing": lambda h, _: h["fitted"].clear(),
    "'members' are those of ensembles, not of CO2EnsembleC": lambda h, _: h.pop("members"),
    "'members' are those of ensembles, not of CO2ForestC": lambda h, _: h.update(
        estimator="CO2ForestClassifier", parameters={}
    ),
    "'members' must be an object with forest and boosting": lambda h, _: h["members"].pop("forest"),
    "'members' must be an object with forest and boosting, got 3": lambda h, _: h.update(members=3),
    "the member 'forest' must be an object with": lambda h, _: h["members"].update(forest=[]),
    "the member 'boosting' must be an object with": lambda h, _: h["members"]["boosting"].update(
        members={}
    ),
    "the member 'forest' must be a CO2ForestClassifier, got 'CO2E": lambda h, _: h["members"][
        "forest"
    ].update(estimator="CO2EnsembleClassifier"),
    "unknown parameters": lambda h, _: h["members"]["forest"]["parameters"].update(depth=3),
    "The 'l2_regularization' parameter": lambda h, _: h["members"]["boosting"]["parameters"].update(
        l2_regularization=-1
    ),
    "not fitted to the same data": lambda h, _: h["members"]["boosting"]["fitted"].update(
        classes=encode_labels(np.array([0, 1, 3]))
    ),
    "the array 'n_iter' is missing": lambda _, a: a.pop("boosting.n_iter"),
    "forest array 'left' is missing": lambda _, a: a.pop("forest.forest.left"),
    "unknown entries: .*'more'": lambda _, a: a.update(more=np.zeros(3)),
    "unknown entries: .*'notes'": lambda h, _: h["members"]["forest"]["fitted"].update(notes=""),
}


@pytest.mark.parametrize("message", BAD_FILES)
@pytest.mark.parametrize("mmap_mode", [None, "r"])
def test_bad_files(message, mmap_mode, fitted, path):
    fitted[classifier][0].save(path)
    header, arrays = contents(path.read_bytes())
    BAD_FILES[message](header, arrays)
    path.write_bytes(reseal(header, arrays))
    with pytest.raises(ModelFormatError, match=message):
        load_model(path, mmap_mode=mmap_mode)


def test_members_of_other_columns_are_refused(table, path):
    """Each is sound, but they would see rows in different ways."""
    frame, number = table
    model = regressor().fit(frame, number)
    other = regressor().fit(frame.assign(kind="a"), number)
    change(model, {"boosting_": other.boosting_})
    with pytest.raises(ModelFormatError, match="not fitted to the same data"):
        pickle.loads(pickle.dumps(model))
    model.save(path)
    with pytest.raises(ModelFormatError, match="not fitted to the same data"):
        load_model(path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"forest_": None}, "forest_ must be a CO2ForestClassifier, got None"),
        ({"boosting_": CO2ForestClassifier()}, "boosting_ must be a CO2BoostingClassifier"),
        ({"forest_": CO2ForestClassifier()}, "not a fitted CO2EnsembleClassifier"),
        ({"forest_share_": 2.0}, "forest_share must be in"),
        ({"forest_share_": float("nan")}, "forest_share must be in"),
        ({"n_features_in_": 7}, "the columns of the ensemble are not those of its members"),
        ({"feature_names_in_": np.array(["a"] * 8)}, "the columns of the ensemble are not those"),
    ],
)
def test_bad_pickles(changes, message, fitted):
    model = pickle.loads(pickle.dumps(fitted[classifier][0]))
    change(model, changes)
    with pytest.raises(ModelFormatError, match=message):
        pickle.loads(pickle.dumps(model))
