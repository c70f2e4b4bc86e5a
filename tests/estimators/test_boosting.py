# SPDX-License-Identifier: BSD-3-Clause
"""Boosting: leaves and scores against a slow loop in NumPy, stopping, warm starts, units."""

import itertools
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from co2forest import (
    CO2BoostingClassifier,
    CO2BoostingRegressor,
    ModelFormatError,
    load_model,
)
from co2forest.data.outputs.classes import ClassOutputs
from co2forest.data.outputs.scores import best_inverse_temperature, log_softmax
from co2forest.fitting.boost import boost
from co2forest.fitting.progress import ProgressBar
from fitted_state import assert_same_state, change
from network_messages import received

LOSSES = ("squared", "huber", "quantile", "poisson")
SMALL = {"n_estimators": 12, "max_leaf_nodes": 6, "early_stopping": False, "random_state": 0}
SMALL |= {"split": "co2"}


def regressor(**params):
    return CO2BoostingRegressor(**SMALL | params)


def narrow_regressor(**params):
    return regressor(**{"split": "narrow"} | params)


def classifier(**params):
    return CO2BoostingClassifier(**SMALL | {"calibrate": False} | params)


def narrow_classifier(**params):
    return classifier(**{"split": "narrow"} | params)


NUMBERS = (regressor, narrow_regressor)
CLASSES = (classifier, narrow_classifier)
BOTH = pytest.mark.parametrize("make", [*NUMBERS, *CLASSES])
OF_NUMBERS = pytest.mark.parametrize("make", NUMBERS)
OF_CLASSES = pytest.mark.parametrize("make", CLASSES)


@pytest.fixture(scope="module")
def numbers():
    """240 rows, 5 features; counts that depend on an oblique direction."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(240, 5)).astype(np.float32)
    return X, rng.poisson(np.exp(1 + 0.7 * np.sin(X[:, 0] + X[:, 1]))).astype(float)


@pytest.fixture(scope="module")
def classes():
    """400 rows, 5 features, three classes that overlap."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(400, 5)).astype(np.float32)
    z = X[:, 0] * X[:, 1] + X[:, 2] + 0.3 * rng.normal(size=400)
    return X, np.digitize(z, [-0.5, 0.6])


def data_for(make, numbers, classes):
    return numbers if make in NUMBERS else classes


def folds_of(model, X, y):
    """For each row one more than the fold that holds it out in a fit to these data, or zero."""
    plan = model._decide(*model._read(X, y, None))
    assert plan.trees.draws.seed == model._seed
    return plan.held_out


def leaf_values(model, tree):
    arrays = model._forest.arrays()
    begin, end = arrays["tree_begin"][tree : tree + 2]
    out = {}
    for node in range(begin, end):
        first, last = arrays["value_begin"][node : node + 2]
        if last > first:
            out[node - begin] = arrays["value"][first:last].astype(float)
    return out


def best_constant(loss, y, w, level):
    """The minimum of a loss without curvature, among a fine grid."""
    grid = np.linspace(y.min(), y.max(), 4001)
    e = y[None] - grid[:, None]
    if loss == "quantile":
        values = np.where(e >= 0, level * e, (level - 1) * e)
    else:
        values = np.where(abs(e) <= level, e**2, 2 * level * abs(e) - level**2)
    return grid[(values @ w).argmin()]


# --- leaves and scores


@pytest.mark.parametrize("subsample", [1.0, 0.6])
@pytest.mark.parametrize("outputs", [1, 2])
@pytest.mark.parametrize("loss", LOSSES)
@OF_NUMBERS
def test_leaves_are_newton_steps(make, loss, outputs, subsample, numbers):
    X, y = numbers
    Y = np.stack([y, y[::-1] * 0.5 + 1], axis=1)[:, :outputs]
    w = np.random.default_rng(0).uniform(0.5, 2, len(y)).astype(np.float32).astype(float)
    shrinkage, l2, alpha = 0.3, 2.0, 0.7
    model = make(
        loss=loss, alpha=alpha, learning_rate=shrinkage, l2_regularization=l2, subsample=subsample
    ).fit(X, Y if outputs > 1 else y, sample_weight=w)
    l2 *= w.mean()  # in rows, and a row of relative weights has their mean
    offset, unit = model._outputs.units
    t = (Y - offset) / unit
    level = alpha
    if loss == "huber":
        level = 1.35 * 1.4826 * np.median(abs(t))
    F = np.tile(model._outputs.start, (len(y), 1))
    if loss == "squared":
        np.testing.assert_allclose(
            model._outputs.start, np.average(t, axis=0, weights=w), rtol=1e-5
        )
    if loss == "poisson":
        np.testing.assert_allclose(
            model._outputs.start, np.log(np.average(t, axis=0, weights=w)), atol=1e-5
        )
    leaves = model.apply(X)
    for tree in range(model.n_estimators_):
        for leaf, value in leaf_values(model, tree).items():
            here = leaves[:, tree] == leaf
            r, v = (t - F)[here], w[here]
            if loss == "squared":
                expected = v @ r / (v.sum() + l2)
            elif loss == "poisson":
                mu = np.exp(F[here])
                expected = v @ (t[here] - mu) / (v @ mu + l2)
            else:
                best = [best_constant(loss, r[:, k], v, level) for k in range(outputs)]
                expected = np.array(best) * v.sum() / (v.sum() + l2)
            tolerance = 2e-3 if loss in ("huber", "quantile") else 1e-5
            np.testing.assert_allclose(value, shrinkage * expected, atol=tolerance, rtol=1e-4)
        values = leaf_values(model, tree)
        F += np.stack([values[leaf] for leaf in leaves[:, tree]])
    raw = np.exp(F) if loss == "poisson" else F
    predicted = model.predict(X).reshape(len(y), outputs)
    np.testing.assert_allclose(predicted, raw * unit + offset, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("subsample", [1.0, 0.6])
@pytest.mark.parametrize("n_classes", [2, 3])
@OF_CLASSES
def test_leaves_of_classes_are_newton_steps(make, n_classes, classes, subsample):
    X, y = classes
    y = np.minimum(y, n_classes - 1)
    w = np.random.default_rng(0).uniform(0.5, 2, len(y)).astype(np.float32).astype(float)
    model = make(learning_rate=0.3, l2_regularization=0.7, subsample=subsample)
    model.fit(X, y, sample_weight=w)
    Y = np.eye(n_classes)[y]
    prior = np.log(w @ Y / w.sum())
    np.testing.assert_allclose(model._outputs.start, prior - prior.mean(), atol=1e-6)
    F = np.tile(model._outputs.start, (len(y), 1))
    leaves = model.apply(X)
    for tree in range(model.n_estimators_):
        P = np.exp(log_softmax(F))
        values = leaf_values(model, tree)
        for leaf, value in values.items():
            here = leaves[:, tree] == leaf
            g = w[here] @ (Y - P)[here]
            h = w[here] @ (P * (1 - P))[here] + 0.7 * w.mean()
            np.testing.assert_allclose(
                value, 0.3 * (n_classes - 1) / n_classes * g / h, rtol=1e-3, atol=1e-5
            )
        F += np.stack([values[leaf] for leaf in leaves[:, tree]])
        log_loss = -np.average(log_softmax(F)[np.arange(len(y)), y], weights=w)
        np.testing.assert_allclose(model.train_score_[tree], log_loss, rtol=1e-4)
    np.testing.assert_allclose(model.predict_proba(X), np.exp(log_softmax(F)), atol=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
@OF_NUMBERS
def test_training_loss_falls(make, loss, numbers):
    X, y = numbers
    scores = make(loss=loss, n_estimators=40).fit(X, y).train_score_
    assert (np.diff(scores) < 1e-9).all()
    assert scores[-1] < 0.9 * scores[0]


def test_quantiles_cover_their_part(numbers):
    X, y = numbers
    y = y + np.random.default_rng(0).uniform(size=len(y))
    for alpha in (0.1, 0.5, 0.9):
        model = regressor(loss="quantile", alpha=alpha, n_estimators=60, learning_rate=0.2)
        below = np.mean(y <= model.fit(X, y).predict(X))
        assert abs(below - alpha) < 0.06


def test_huber_ignores_a_few_absurd_targets(numbers):
    X, y = numbers
    bad = y.copy()
    bad[::20] += 1000
    error = {
        loss: np.abs(regressor(loss=loss, n_estimators=100).fit(X, bad).predict(X) - y).mean()
        for loss in ("squared", "huber")
    }
    assert error["huber"] < 0.2 * error["squared"]


def test_several_outputs_share_a_tree(numbers):
    X, y = numbers
    Y = np.stack([y, -3 * y, X[:, 2]], axis=1)
    model = regressor(n_estimators=60).fit(X, Y)
    assert model._forest.n_trees == 60
    assert model.predict(X).shape == Y.shape
    assert model.score(X, Y) > 0.6


# --- stages, stopping, warm starts


@BOTH
def test_last_stage_is_the_prediction(make, numbers, classes):
    X, y = data_for(make, numbers, classes)
    model = make().fit(X, y)
    stages = list(model.staged_predict(X))
    assert len(stages) == model.n_estimators_ == 12
    np.testing.assert_allclose(stages[-1], model.predict(X), rtol=1e-12)
    assert np.any(stages[0] != stages[-1])
    if make in CLASSES:
        last = list(model.staged_predict_proba(X))[-1]
        np.testing.assert_allclose(last, model.predict_proba(X), rtol=1e-12)


@pytest.mark.parametrize("subsample", [1.0, 0.7])
@BOTH
def test_a_warm_start_goes_on_exactly(make, subsample, numbers, classes, assert_same_trees):
    X, y = data_for(make, numbers, classes)
    whole = make(n_estimators=20, subsample=subsample).fit(X, y)
    model = make(n_estimators=10, subsample=subsample, warm_start=True).fit(X, y)
    model.set_params(n_estimators=20).fit(X, y)
    assert_same_trees(model, whole)
    np.testing.assert_array_equal(model.train_score_, whole.train_score_)
    with pytest.warns(UserWarning, match="n_estimators has not grown"):
        model.fit(X, y)
    with pytest.raises(ValueError, match="must be at least the 20 trees"):
        model.set_params(n_estimators=5).fit(X, y)


def test_a_warm_start_refuses_other_data(numbers, classes):
    X, y = numbers
    model = regressor(warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match="another number of outputs"):
        model.set_params(n_estimators=20).fit(X, np.stack([y, y], axis=1))
    with pytest.raises(ValueError, match="another number of features"):
        model.fit(X[:, :3], y)
    X, y = classes
    labels = classifier(warm_start=True).fit(X, y).set_params(n_estimators=20)
    with pytest.raises(ValueError, match="other classes"):
        labels.fit(X, y > 0)


@BOTH
def test_all_rows_get_the_rounds_of_the_folds(make, numbers, classes, assert_same_trees):
    X, y = data_for(make, numbers, classes)
    options = {"learning_rate": 0.3, "scale": "soft"}
    stops = {"early_stopping": True, "validation_fraction": 0.3, "n_iter_no_change": 15}
    model = make(n_estimators=400, n_folds=3, **options, **stops).fit(X, y)
    kept = len(model.validation_score_)
    assert model.n_estimators_ == len(model.train_score_) == round(1.1 * kept) < 400
    if make is not classifier:  # which has the fewest errors there
        assert model.validation_score_.argmin() == kept - 1
    # The trees are those without folds, whatever the number of rounds that folds try.
    assert_same_trees(model, make(n_estimators=model.n_estimators_, **options).fit(X, y))


@BOTH
def test_folds_are_fits_to_the_other_rows(make, numbers, classes):
    X, y = data_for(make, numbers, classes)
    options = {"n_estimators": 8, "n_folds": 3, "early_stopping": True}
    model = make(**options).fit(X, y)
    folds = folds_of(model, X, y)
    assert (abs(np.bincount(folds)[1:] - 0.1 * len(y)) <= 1).all()
    plan = model._decide(*model._read(X, y, None))
    boosted = boost(plan, model._read(X, y, None)[1])
    for fold in (1, 2, 3):
        held_out = folds == fold
        alone = replace(plan, held_out=np.where(held_out, 1, 0).astype(np.uint8), refit=False)
        only = boost(alone, model._read(X, y, None)[1])
        there = ~np.isnan(only.held_out_scores[:, 0])
        np.testing.assert_array_equal(there, held_out)
        # They differ in their random numbers, but not in what they know.
        a, b = boosted.held_out_scores[held_out], only.held_out_scores[held_out]
        assert np.corrcoef(a[:, 0], b[:, 0])[0, 1] > 0.8
    np.testing.assert_array_equal(np.isnan(boosted.held_out_scores[:, 0]), folds == 0)


@BOTH
def test_a_fold_does_not_learn_from_what_it_holds_out(make, numbers, classes):
    X, y = data_for(make, numbers, classes)
    model = make(early_stopping=True, n_iter_no_change=100, scale="soft", n_folds=2).fit(X, y)
    folds = folds_of(model, X, y)
    other = y.copy()
    if make in NUMBERS:
        other[folds == 1] = y[folds == 1][::-1]  # the same median and variance of all targets
    else:
        other[folds == 1] = np.random.default_rng(0).permutation(y[folds == 1])
    scores = []
    for targets in (y, other):
        outputs, data = model._read(X, targets, None)
        plan = replace(model._decide(outputs, data), patience=0, held_out=folds)
        scores.append(boost(plan, data).held_out_scores)
    np.testing.assert_allclose(scores[0][folds == 1], scores[1][folds == 1], rtol=1e-6)
    assert not np.allclose(scores[0][folds == 2], scores[1][folds == 2], rtol=1e-3)


@BOTH
def test_a_warm_start_holds_the_same_rows_out(make, numbers, classes):
    X, y = data_for(make, numbers, classes)
    options = {"early_stopping": True, "warm_start": True, "n_iter_no_change": 100}
    model = make(n_estimators=5, **options).fit(X, y)
    first = folds_of(model, X, y)
    assert first.max() == 1
    model.set_params(n_estimators=9).fit(X, y)
    np.testing.assert_array_equal(folds_of(model, X, y), first)
    whole = make(n_estimators=9, **options).fit(X, y)
    np.testing.assert_allclose(model.validation_score_[:5], whole.validation_score_[:5])


def test_every_class_is_held_out_in_proportion(classes):
    X, y = classes
    model = classifier(early_stopping=True, validation_fraction=0.25, n_folds=4).fit(X, y)
    for fold in (1, 2, 3, 4):
        held_out = folds_of(model, X, y) == fold
        assert (abs(np.bincount(y[held_out]) - 0.25 * np.bincount(y)) <= 1).all()


def test_auto_stops_early_from_twenty_rows_on():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 3))
    y = rng.normal(size=20)
    model = regressor(early_stopping="auto")
    assert len(model.fit(X, y).validation_score_) > 0
    assert len(model.fit(X[:19], y[:19]).validation_score_) == 0
    weights = np.r_[0, np.ones(19)]
    assert len(model.fit(X, y, weights).validation_score_) == 0


# --- the two ways


def test_a_trial_chooses_how_trees_are_split():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 8))
    oblique = np.abs(X @ rng.normal(size=8))
    single = np.where(X[:, 0] > 0.3, 2.0, 0.0) + (X[:, 1] > 0) + 0.1 * rng.normal(size=1500)
    for y, split in ((oblique, "co2"), (single, "narrow")):
        model = CO2BoostingRegressor(n_estimators=20, random_state=0).fit(X, y)
        assert model.split_ == split
        classes = CO2BoostingClassifier(n_estimators=20, random_state=0)
        assert classes.fit(X, np.digitize(y, np.quantile(y, [0.4, 0.8]))).split_ == split


def test_sparse_rows_are_split_by_hyperplanes(classes):
    X, y = classes
    model = CO2BoostingClassifier(n_estimators=5, random_state=0).fit(sp.csr_array(X), y)
    assert model.split_ == "co2"


def test_what_the_user_sets_holds_in_both_ways(numbers):
    X, y = numbers
    for split in ("narrow", "co2"):
        model = regressor(split=split, max_leaf_nodes=3, n_estimators=2).fit(X, y)
        assert (np.diff(model._forest.arrays()["tree_begin"]) == 5).all()


def test_a_category_is_one_feature_of_narrow_trees():
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 30, 600)
    frame = pd.DataFrame({"kind": pd.Categorical([f"k{k}" for k in kinds]), "x": rng.random(600)})
    y = rng.normal(size=30)[kinds]
    model = CO2BoostingRegressor(split="narrow", n_estimators=200, random_state=0).fit(frame, y)
    assert model.score(frame, y) > 0.95


def test_held_out_rows_tell_how_sure_probabilities_may_be():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 4))
    y = (X[:, 0] + 1.5 * rng.normal(size=1500) > 0).astype(int)
    rows = np.arange(500)
    for stops in ("auto", False):
        model = classifier(n_estimators=30, learning_rate=0.5, calibrate=True, early_stopping=stops)
        model.set_params(max_leaf_nodes=None).fit(X[:1000], y[:1000])
        assert model._outputs.inverse_temperature < 0.8
        calibrated = -model.predict_log_proba(X[1000:])[rows, y[1000:]].mean()
        raw = -log_softmax(model._raw(X[1000:]))[rows, y[1000:]].mean()
        assert calibrated < 0.95 * raw
        votes = clone(model).set_params(calibrate=False).fit(X[:1000], y[:1000])
        assert votes._outputs.inverse_temperature == 1
        np.testing.assert_array_equal(votes.predict(X), model.predict(X))


def test_the_temperature_is_the_best_one():
    rng = np.random.default_rng(0)
    raw = 3 * rng.normal(size=(2000, 3))
    codes = (log_softmax(raw / 2) + rng.gumbel(size=raw.shape)).argmax(axis=1)
    assert abs(best_inverse_temperature(raw, codes, None) - 0.5) < 0.05


# --- weights, units, kinds of rows


@BOTH
def test_weights_are_repeats(make, numbers, classes, assert_same_trees):
    X, y = data_for(make, numbers, classes)
    times = np.random.default_rng(0).integers(0, 3, len(y))
    model = make(scale="soft", min_samples_leaf=1)  # which counts rows
    weighted = clone(model).fit(X, y, sample_weight=times)
    repeated = clone(model).fit(X.repeat(times, axis=0), y.repeat(times))
    assert_same_trees(weighted, repeated, ignore=["sample_count"])
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-12)


@pytest.mark.parametrize("loss", ["squared", "huber", "quantile"])
def test_the_unit_of_y_does_not_matter(loss, numbers):
    X, y = numbers
    y = y + X[:, 0]  # no ties, which other roundings would break differently
    plain = regressor(loss=loss).fit(X, y).predict(X)
    other = regressor(loss=loss).fit(X, 1024 * y - 512).predict(X)
    np.testing.assert_allclose(other, 1024 * plain - 512, rtol=1e-4, atol=1e-2)


def test_the_unit_of_counts_does_not_matter(numbers):
    X, y = numbers
    plain = regressor(loss="poisson").fit(X, y).predict(X)
    assert (plain > 0).all()
    other = regressor(loss="poisson").fit(X, 1024 * y).predict(X)
    np.testing.assert_allclose(other, 1024 * plain, rtol=1e-9)


@BOTH
def test_threads_do_not_matter(make, numbers, classes, digest_of):
    X, y = data_for(make, numbers, classes)
    models = [make(n_jobs=n_jobs).fit(X, y) for n_jobs in (None, 2)]
    assert digest_of(models[0]) == digest_of(models[1])
    np.testing.assert_array_equal(models[0].predict(X), models[1].predict(X))


@BOTH
def test_kinds_of_rows_agree(make, numbers, classes):
    X, y = data_for(make, numbers, classes)
    whole = np.clip(np.round(20 * X + 60), 0, 120)
    models = [
        make(scale="soft").fit(rows, y)
        for rows in (whole.astype(np.uint8), whole.astype(np.float32), sp.csr_array(whole))
    ]
    for model, rows in itertools.product(models[1:], (whole, sp.csr_array(whole))):
        np.testing.assert_allclose(model.predict(rows), models[0].predict(whole), rtol=1e-9)


@BOTH
def test_missing_values_stand_for_the_mean(make, numbers, classes):
    X, y = data_for(make, numbers, classes)
    holes = X.copy()
    holes[::25, 1] = np.nan
    model = make().fit(holes, y)
    filled = holes.copy()
    filled[::25, 1] = np.nanmean(holes[:, 1].astype(float))
    np.testing.assert_array_equal(model.predict(holes), model.predict(filled))


def test_names_and_labels(classes):
    X, y = classes
    frame = pd.DataFrame(X, columns=list("abcde"))
    labels = np.array(["no", "perhaps", "yes"])[y]
    model = classifier(early_stopping=True).fit(frame, labels)
    assert model.feature_names_in_.tolist() == list("abcde")
    assert model.classes_.tolist() == ["no", "perhaps", "yes"]
    codes = classifier(early_stopping=True).fit(X, y).predict(X)
    np.testing.assert_array_equal(model.predict(frame), model.classes_[codes])
    np.testing.assert_allclose(model.predict_proba(frame).sum(axis=1), 1)
    np.testing.assert_array_equal(model.decision_function(frame).argmax(axis=1), codes)


def test_two_classes_have_one_decision(classes):
    X, y = classes
    model = classifier().fit(X, y > 0)
    decision = model.decision_function(X)
    assert decision.shape == y.shape
    np.testing.assert_array_equal(decision > 0, model.predict(X))
    np.testing.assert_allclose(1 / (1 + np.exp(-decision)), model.predict_proba(X)[:, 1])


def test_class_weights(classes):
    X, y = classes
    weighted = classifier(class_weight={0: 20.0}).fit(X, y)
    same = classifier().fit(X, y, sample_weight=np.where(y == 0, 20.0, 1.0))
    np.testing.assert_array_equal(weighted.predict_proba(X), same.predict_proba(X))
    assert (weighted.predict(X) == 0).sum() > (classifier().fit(X, y).predict(X) == 0).sum()


def test_importances_find_the_features_that_matter():
    X = np.random.default_rng(0).normal(size=(600, 6))
    model = regressor(n_estimators=30).fit(X, np.sin(2 * X[:, 1]) + X[:, 4] ** 2)
    assert set(np.argsort(model.feature_importances_)[-2:]) == {1, 4}


# --- what goes wrong


@BOTH
def test_an_interrupted_fit_changes_nothing(make, numbers, classes, monkeypatch):
    X, y = data_for(make, numbers, classes)
    model = make(verbose=1).fit(X, y)
    before = vars(model).copy()
    told = []

    def interrupt(_, done, said=""):
        told.append(done)
        if done > 0:
            raise KeyboardInterrupt

    monkeypatch.setattr(ProgressBar, "__call__", interrupt)
    model.set_params(n_estimators=10**6)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[::2], y[::2])
    assert 0 < max(told) < 10**6
    model.set_params(n_estimators=12)
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is before[name] for name in before if name.endswith("_"))
    assert model._forest is before["_forest"]


@pytest.mark.parametrize(
    ("params", "y", "message"),
    [
        ({}, [1.0, np.nan] * 50, "y contains NaN"),
        ({}, [1.0, np.inf] * 50, "y contains infinity"),
        ({"loss": "poisson"}, [1.0, -2.0] * 50, r"y\[1\]=\[-2.0\] is negative, but loss='poisson'"),
        ({}, [[1.0], [1.0, 2.0]] * 50, "setting an array element|inhomogeneous"),
        ({}, None, "requires y to be passed"),
        ({"alpha": 1.0}, [1.0, 2.0] * 50, "'alpha' parameter"),
        ({"learning_rate": 0.0}, [1.0, 2.0] * 50, "'learning_rate' parameter"),
        ({"loss": "absolute"}, [1.0, 2.0] * 50, "'loss' parameter"),
        ({"split": "oblique"}, [1.0, 2.0] * 50, "'split' parameter"),
        (
            {"early_stopping": True, "n_folds": 11},
            [1.0, 2.0] * 50,
            "n_folds=11 cannot each hold out .* n_folds must be at most 10",
        ),
        (
            {"early_stopping": True, "validation_fraction": 0.001},
            [1.0, 2.0] * 50,
            "validation_fraction=0.001 with n_samples = 100 leaves no row .* to validate on",
        ),
    ],
)
def test_bad_arguments(params, y, message):
    X = np.random.default_rng(0).normal(size=(100, 3))
    with pytest.raises(ValueError, match=message):
        regressor(**params).fit(X, y)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("y", [np.zeros(50), np.full(50, 7.0)])
def test_constant_targets(loss, y):
    X = np.random.default_rng(0).normal(size=(50, 3))
    if loss == "poisson" and not y.any():
        with pytest.raises(ValueError, match="loss='poisson' needs a positive"):
            regressor(loss=loss).fit(X, y)
        return
    np.testing.assert_allclose(regressor(loss=loss).fit(X, y).predict(X), y, atol=1e-6)


def test_one_class():
    X = np.random.default_rng(0).normal(size=(50, 3))
    model = classifier().fit(X, np.full(50, "a"))
    assert set(model.predict(X)) == {"a"}
    np.testing.assert_array_equal(model.predict_proba(X), np.ones((50, 1)))


@BOTH
def test_only_the_proportions_of_weights_matter(make, numbers, classes):
    X, y = data_for(make, numbers, classes)
    w = np.random.default_rng(0).uniform(0.5, 2, len(y)).astype(np.float32)
    model, twin = make().fit(X, y, w), make().fit(X, y, w / 2**20)
    np.testing.assert_allclose(model.train_score_, twin.train_score_, rtol=0.05)
    assert twin.train_score_[-1] < 0.9 * twin.train_score_[0]


def test_steps_of_classes_are_bounded(classes):
    X, y = classes
    model = classifier(
        learning_rate=1.0,
        l2_regularization=0.0,
        subsample=0.3,
        n_estimators=60,
        max_leaf_nodes=None,
    ).fit(X, y)
    for tree in range(model.n_estimators_):
        assert max(abs(v).max() for v in leaf_values(model, tree).values()) <= 3 + 4


# --- files


@BOTH
@pytest.mark.parametrize("early_stopping", [True, False])
def test_files_and_pickles(make, early_stopping, numbers, classes, path):
    X, y = data_for(make, numbers, classes)
    model = make(early_stopping=early_stopping, n_iter_no_change=3).fit(X, y)
    model.save(path)
    for twin in (
        load_model(path),
        load_model(path, mmap_mode="r"),
        pickle.loads(pickle.dumps(model)),
    ):
        assert_same_state(model, twin)
        np.testing.assert_array_equal(twin.predict(X), model.predict(X))
        np.testing.assert_array_equal(twin.validation_score_, model.validation_score_)
        assert twin.n_estimators_ == model.n_estimators_
        assert twin.get_params() == model.get_params()
    if make in CLASSES:
        np.testing.assert_array_equal(load_model(path).predict_proba(X), model.predict_proba(X))


@BOTH
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"_outputs.start": np.zeros(2)}, "start must be . finite numbers"),
        ({"_outputs.start": np.full(1, np.nan)}, "start must be . finite numbers"),
        ({"_outputs.start": None}, "start must be . finite numbers, got None"),
        ({"_outputs": ClassOutputs(np.arange(3))}, "_outputs must be .*Scores, got ClassOutputs"),
        ({"_seed": -1}, "'seed' must be a whole number"),
        ({"_seed": None}, "'seed' must be a whole number"),
        ({"split_": "axis"}, "split must be one of .*, got 'axis'"),
    ],
    ids=str,
)
def test_pickles_of_other_numbers_are_refused(make, changes, message, numbers, classes):
    model = make().fit(*data_for(make, numbers, classes))
    change(model, changes)
    with pytest.raises(ModelFormatError, match=message):
        clone(model).__setstate__(model.__getstate__())


@pytest.mark.parametrize("factor", [-1.0, 0.0, np.nan, 1e7, 1, None, "1"])
def test_pickles_of_another_temperature_are_refused(classes, factor):
    model = classifier().fit(*classes)
    change(model, {"_outputs.inverse_temperature": factor})
    with pytest.raises(ModelFormatError, match=r"temperature must be in \(0, 1e6\)"):
        clone(model).__setstate__(model.__getstate__())


@BOTH
def test_a_warm_start_goes_on_after_a_message(make, numbers, classes, assert_same_trees):
    """Whose arrays begin in the middle of a number."""
    X, y = data_for(make, numbers, classes)
    model = make(n_estimators=3, warm_start=True).fit(X, y)
    twin = received(model)
    for each in (model, twin):
        each.set_params(n_estimators=6).fit(X, y)
    assert_same_trees(model, twin)
