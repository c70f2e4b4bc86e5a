# SPDX-License-Identifier: BSD-3-Clause
"""The native core and forests whose leaves hold numbers: what it refuses of them."""

import numpy as np
import pytest

from co2forest import CO2ForestClassifier, _native
from co2forest.baselines import AxisForestRegressor
from native_forests import X, Y, drop_last, make_loop, misaligned, set_value, shift_offset, train


@pytest.fixture(scope="module")
def forest_arrays():
    forest = CO2ForestClassifier(3, max_depth=3, random_state=0, mixture=None).fit(X, Y)
    return {name: np.array(array) for name, array in forest._forest.arrays().items()}


@pytest.fixture(scope="module")
def number_arrays():
    forest = AxisForestRegressor(3, max_depth=3, random_state=0).fit(X, np.c_[X[:, 0] * 5, Y])
    return {name: np.array(array) for name, array in forest._forest.arrays().items()}


def test_numbers_are_no_probabilities(forest_arrays, number_arrays):
    numbers = _native.Forest(number_arrays, 2, distributions=False)
    assert not numbers.distributions
    assert _native.Forest(forest_arrays, 3).distributions
    with pytest.raises(ValueError, match="forest array 'value' must"):
        _native.Forest(number_arrays, 2)
    with pytest.raises(ValueError, match="'value_begin' leaves an output of a leaf without"):
        _native.Forest(forest_arrays, 3, distributions=False)
    one_hot = _native.Forest(forest_arrays, 3)
    with pytest.raises(ValueError, match="forests"):
        _native.Forest.concatenate([numbers, one_hot])
    assert not numbers.tree(1).distributions
    assert not _native.Forest.concatenate([numbers, numbers]).distributions


NUMBER_CORRUPTIONS = {
    "value: NaN": set_value("value", 0, np.nan),
    "value: infinite": set_value("value", 0, np.inf),
    "value: too short": drop_last("value"),
    "value_output: no such output": set_value("value_output", 1, 2),
    "value_output: twice": set_value("value_output", 1, 0),
    "value_begin: a value less": shift_offset("value_begin", False, -1),
    "impurity: too large": set_value("impurity", 0, 2e30),
    "left: a loop": make_loop,
}


@pytest.mark.parametrize("name", NUMBER_CORRUPTIONS)
def test_corrupted_forests_of_numbers_are_refused(number_arrays, name):
    arrays = {key: array.copy() for key, array in number_arrays.items()}
    NUMBER_CORRUPTIONS[name](arrays)
    with pytest.raises(ValueError, match=r"forest array '\w+'"):
        _native.Forest(arrays, 2, distributions=False)


def train_numbers(**changes):
    params = _native.TrainParams()
    params.grow.split = _native.AxisParams()
    params.sampling.n_draws = 3
    params.n_trees = params.n_threads = 1
    return train(**{"target": np.eye(3, 2, dtype=np.float32), "params": params} | changes)


def test_native_training_on_numbers():
    forest, _ = train_numbers()
    assert (forest.n_outputs, forest.distributions) == (2, False)


@pytest.mark.parametrize(
    "bad",
    [
        {"target": np.ones((2, 2), dtype=np.float32)},
        {"target": np.ones((3, 1), dtype=np.float32)},
        {"target": np.ones((3, 0), dtype=np.float32), "n_outputs": 0},
        {"target": np.full((3, 2), np.nan, dtype=np.float32)},
        {"target": np.full((3, 2), np.inf, dtype=np.float32)},
        {"target": np.full((3, 2), -2e15, dtype=np.float32)},
        {"target": misaligned(np.ones((3, 2), dtype=np.float32))},
        {"n_outputs": 3},
        {"n_outputs": -1},
    ],
    ids=lambda bad: next(iter(bad)),
)
def test_bad_native_training_on_numbers(bad):
    with pytest.raises(ValueError, match=r"values|target|aligned"):
        train_numbers(**bad)


@pytest.mark.parametrize("split", [_native.CoordinateParams(), _native.DiscriminantParams()])
def test_splits_for_classes_refuse_numbers(split):
    params = _native.TrainParams()
    params.grow.split = split
    params.sampling.n_draws = 3
    params.n_trees = params.n_threads = 1
    with pytest.raises(ValueError, match="Params are for classes"):
        train_numbers(params=params)
