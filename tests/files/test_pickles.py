# SPDX-License-Identifier: BSD-3-Clause
"""pickle, joblib, cloudpickle, skops and copies: everything comes back, and nothing unchecked."""

import copy
import io
import json
import os
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path

import cloudpickle
import joblib
import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import damage
from co2forest import (
    TRUSTED_TYPES,
    CO2ForestClassifier,
    CO2TreeClassifier,
    ModelFormatError,
    _native,
)
from co2forest.data.outputs.labels import LabelOutputs
from co2forest.data.outputs.numbers import NumberOutputs
from co2forest.data.outputs.scores import ClassScores
from fitted_state import change, remove

NUMBERS = NumberOutputs(np.ones((2, 3)), one_dimensional=False)  # three outputs, as blobs have
SCORES = ClassScores(np.arange(3), np.zeros(3))


@pytest.mark.parametrize(
    "way", ["pickle", "cloudpickle", "skops", "copy", "deepcopy", "joblib", "joblib-mmap"]
)
@pytest.mark.parametrize(
    "estimator", [CO2ForestClassifier(5, mixture=None), CO2TreeClassifier()], ids=repr
)
def test_round_trips(blobs, tmp_path, way, estimator, assert_same_trees):
    X, y = blobs
    model = clone(estimator).fit(X, np.array(["a", "b", "c"])[y])
    if way.startswith("joblib"):
        joblib.dump(model, tmp_path / "model.joblib")
        mode = "r" if way.endswith("mmap") else None
        twin = joblib.load(tmp_path / "model.joblib", mmap_mode=mode)
    else:
        twin = {
            "pickle": lambda m: pickle.loads(pickle.dumps(m)),
            "cloudpickle": lambda m: cloudpickle.loads(cloudpickle.dumps(m)),
            "skops": through_skops,
            "copy": copy.copy,
            "deepcopy": copy.deepcopy,
        }[way](model)
    assert_same_trees(model, twin)
    np.testing.assert_array_equal(model.predict_proba(X), twin.predict_proba(X))
    np.testing.assert_array_equal(model.predict(X), twin.predict(X))
    np.testing.assert_array_equal(model.feature_importances_, twin.feature_importances_)
    np.testing.assert_array_equal(model.n_iter_, twin.n_iter_)
    assert twin.get_params() == model.get_params()


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_every_pickle_protocol(blobs, protocol):
    X, y = blobs
    forest = CO2ForestClassifier(5, random_state=0, mixture=None).fit(X, y)
    twin = pickle.loads(pickle.dumps(forest, protocol=protocol))
    np.testing.assert_array_equal(forest.predict_proba(X), twin.predict_proba(X))


def test_a_warm_start_goes_on_after_a_round_trip(blobs, assert_same_trees):
    X, y = blobs
    forest = CO2ForestClassifier(5, warm_start=True, bootstrap=True, mixture=None).fit(X, y)
    twin = pickle.loads(pickle.dumps(forest))
    for model in (forest, twin):
        model.set_params(n_estimators=9).fit(X, y)
    assert_same_trees(forest, twin)


def through_skops(model):
    return skops.io.loads(skops.io.dumps(model), trusted=TRUSTED_TYPES)


def test_skops_needs_no_other_trust(blobs):
    X, y = blobs
    model = make_pipeline(
        StandardScaler(), CO2ForestClassifier(3, random_state=0, mixture=None)
    ).fit(X, y)
    data = skops.io.dumps(model)
    assert set(skops.io.get_untrusted_types(data=data)) <= set(TRUSTED_TYPES)
    np.testing.assert_array_equal(through_skops(model).predict_proba(X), model.predict_proba(X))


# --- what is wrong is refused on the way in


@pytest.mark.parametrize("module", [pickle, cloudpickle])
def test_damaged_numbers_are_noticed(blobs, module):
    """A pickle has no checksum, but the forest in it has."""
    forest = CO2ForestClassifier(2, random_state=0, mixture=None).fit(*blobs)
    data = module.dumps(forest)
    arrays = forest._forest.arrays()
    for name, array in arrays.items():
        if array.nbytes < 20:
            continue
        at = data.find(array.tobytes())
        assert at > 0, name
        damaged = bytearray(data)
        damaged[at + array.nbytes // 2] ^= 1
        with pytest.raises(ValueError, match=r"the forest's digest is wrong"):
            pickle.loads(damaged)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs children that may crash")
@pytest.mark.parametrize("count", [200, pytest.param(10_000, marks=pytest.mark.slow)])
def test_no_flipped_bit_changes_predictions(count):
    """Of no estimator: a digest covers all attributes."""
    pytest.importorskip("distributed")
    command = [sys.executable, Path(damage.__file__).with_name("flips.py"), "0", str(count)]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(result.stdout)
    assert len(found) == 21
    for name, outcomes in found.items():
        assert outcomes["wrong"] == 0, name
        assert outcomes["refused"] > 0.9 * count, name


def test_a_pickle_without_a_seal_is_refused(blobs):
    forest = CO2ForestClassifier(2, random_state=0, mixture=None).fit(*blobs)
    state = {name: value for name, value in forest.__getstate__().items() if name != "_seal"}
    with pytest.raises(ModelFormatError, match=r"the digest of CO2ForestClassifier is wrong"):
        CO2ForestClassifier().__setstate__(state)


def test_attributes_of_users_survive(blobs):
    """Whatever they are, also if they come back in parts or as other objects."""
    forest = CO2ForestClassifier(2, random_state=0, mixture=None).fit(*blobs)
    forest.set_params(max_depth=10**5000, oob_score=len, random_state=np.random.RandomState(0))
    forest.notes_ = [forest, {"self": forest, "set": {"a", "b"}, "frame": pd.DataFrame({"a": [1]})}]
    forest.notes_.append(forest.notes_)
    forest.numbers_ = [np.longdouble(1) / 3, np.arange(3, dtype="g"), 1j, b"x", float("nan"), -0.0]
    forest.days_ = np.array(["2015-11-16"], dtype="M8[D]"), np.array([(1, "a")], dtype="i4,O")
    for module in (pickle, cloudpickle):
        twin = module.loads(module.dumps(forest))
        assert twin.notes_[0] is twin
        assert twin.notes_[2] is twin.notes_
        again = copy.deepcopy(twin)
        np.testing.assert_array_equal(again.predict(blobs[0]), forest.predict(blobs[0]))


def test_a_child_far_away_is_refused(blobs):
    """scikit-learn's trees take it, and end the process in predict."""
    forest = CO2ForestClassifier(2, random_state=0, mixture=None).fit(*blobs)
    arrays = {name: np.array(array) for name, array in forest._forest.arrays().items()}
    arrays["left"][0] = 10**9

    class Forged:
        def __reduce__(self):
            return _native.Forest, (arrays, 3)

    for module in (pickle, cloudpickle):
        with pytest.raises(ValueError, match="forest array 'left' must"):
            pickle.loads(module.dumps(Forged()))


def test_a_skops_file_with_other_arrays_is_refused(blobs):
    """Every array of the archive in turn becomes one of zeros, as long as it was."""
    X, y = blobs
    forest = CO2ForestClassifier(2, random_state=0, mixture=None).fit(X, y)
    source = zipfile.ZipFile(io.BytesIO(skops.io.dumps(forest)))
    refused = 0
    for name in source.namelist():
        if not name.endswith(".npy"):
            continue
        changed = io.BytesIO()
        with zipfile.ZipFile(changed, "w") as target:
            for other in source.namelist():
                data = source.read(other)
                if other == name:
                    buffer = io.BytesIO()
                    np.save(buffer, np.zeros_like(np.load(io.BytesIO(data))))
                    data = buffer.getvalue()
                target.writestr(other, data)
        try:
            model = skops.io.loads(changed.getvalue(), trusted=TRUSTED_TYPES)
        except ValueError:
            refused += 1
        else:
            np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    # All but those that are zeros anyway, or not the forest's.
    assert refused >= 12


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"_forest": None}, "_forest must be a Forest, got NoneType"),
        ({"n_features_in_": 7}, "n_features_in_=7, but the forest has 8"),
        ({"_outputs.classes": np.arange(2)}, "names 2 outputs, but the forest has 3"),
        ({"_outputs.classes": np.arange(4)}, "names 4 outputs, but the forest has 3"),
        ({"_outputs.classes": np.arange(3)[:, None]}, "classes_ must be a row of labels"),
        ({"_outputs.classes": [0, 1, 2]}, "classes_ must be a row of labels"),
        ({"_outputs.classes": None}, "classes_ must be a row of labels, got None"),
        ({"_outputs": None}, "_outputs must be ClassOutputs or .*, got NoneType"),
        ({"_outputs": NUMBERS}, "_outputs must be ClassOutputs or .*, got NumberOutputs"),
        ({"_outputs": SCORES}, "_outputs must be ClassOutputs or .*, got ClassScores"),
        ({"_outputs": LabelOutputs(np.arange(2), 3)}, "leaves hold probabilities, not numbers"),
        ({"scale_": "auto"}, "scale_ must be one of"),
        ({"_draws.n_rows": 0}, "'n_rows' must be a whole number from 1"),
        ({"_draws.n_draws": -5}, "'n_draws' must be a whole number from 1 to 300, got -5"),
        ({"_draws.n_draws": 301}, "'n_draws' must be a whole number from 1 to 300, got 301"),
        ({"_draws.bootstrap": 1}, "bootstrap must be true or false"),
        ({"_draws.balance": 1}, "balance must be true or false"),
        ({"_draws.partitioned": 1}, "partitioned must be true or false"),
        ({"_draws.first_tree": -1}, "'first_tree' must be a whole number"),
        ({"_draws.seed": -1}, "'seed' must be a whole number"),
        ({"_draws": None}, "_draws must be Draws, got NoneType"),
        ({"_draws": NUMBERS}, "_draws must be Draws, got NumberOutputs"),
        ({"n_iter_": np.zeros(3)}, r"n_iter_ has shape \(3,\), but the forest has 2 trees"),
    ],
)
def test_attributes_that_do_not_fit_together_are_refused(blobs, changes, message):
    forest = CO2ForestClassifier(2, random_state=0, mixture=None).fit(*blobs)
    change(forest, changes)
    with pytest.raises(ModelFormatError, match=message):
        CO2ForestClassifier(mixture=None).__setstate__(forest.__getstate__())
    data = pickle.dumps(forest)
    with pytest.raises(ModelFormatError, match=message):
        pickle.loads(data)
    if "_forest" not in changes:
        with pytest.raises(ModelFormatError, match=message):
            through_skops(forest)


@pytest.mark.parametrize(
    "name",
    ["_draws", "_draws.seed", "_draws.n_draws", "n_features_in_", "_outputs", "_outputs.classes"],
)
def test_attributes_that_are_missing_are_refused(blobs, name):
    forest = CO2ForestClassifier(2, random_state=0, mixture=None).fit(*blobs)
    remove(forest, name)
    missing = name.rpartition(".")[2]
    with pytest.raises(ModelFormatError, match=f"not a fitted CO2ForestClassifier.*{missing}"):
        pickle.loads(pickle.dumps(forest))
