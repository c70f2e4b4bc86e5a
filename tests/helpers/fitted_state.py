# SPDX-License-Identifier: BSD-3-Clause
"""What a fitted estimator consists of: compared to the last field, or changed as nobody may."""

import copy
import dataclasses

import numpy as np
from sklearn.base import BaseEstimator

from co2forest import _native


def assert_same_state(model, twin, ignore=("n_jobs", "verbose")):
    """All attributes of two fitted estimators are of the same types and have the same values."""
    assert type(twin) is type(model)
    assert vars(twin).keys() == vars(model).keys()
    for name in vars(model).keys() - set(ignore):
        assert_same_value(getattr(model, name), getattr(twin, name), name)


def assert_same_value(value, other, name):
    """Compare numbers, arrays with their dtypes, forests, and frozen values field by field."""
    assert type(other) is type(value), name
    if isinstance(value, np.ndarray):
        assert other.dtype == value.dtype, name
    if isinstance(value, _native.Forest | _native.Views):
        left, right = value.arrays(), other.arrays()
        assert left.keys() == right.keys()
        for key in left:
            assert_same_value(left[key], right[key], f"{name}.{key}")
    elif isinstance(value, BaseEstimator):
        assert_same_state(value, other)
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            key = field.name
            assert_same_value(vars(value)[key], vars(other)[key], f"{name}.{key}")
    else:
        np.testing.assert_array_equal(other, value, err_msg=name)


def change(estimator, changes):
    """Change attributes of an estimator; "_draws.seed" is a field of a frozen value."""
    for name, new in changes.items():
        holder, key = _holder(estimator, name)
        holder[key] = new


def remove(estimator, name):
    """Take an attribute, or a field of a frozen value, away from an estimator."""
    holder, key = _holder(estimator, name)
    del holder[key]


def _holder(estimator, name):
    attribute, _, field = name.partition(".")
    if not field:
        return vars(estimator), attribute
    value = copy.copy(getattr(estimator, attribute))  # other estimators may share it
    setattr(estimator, attribute, value)
    return vars(value), field
