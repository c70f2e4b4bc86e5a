# SPDX-License-Identifier: BSD-3-Clause
"""The data of all attacks. They are generated, so that anyone can repeat the attacks."""

import numpy as np

import datasets

SEED = 0


def small():
    """For files: so small that damage hits every part of a model file."""
    return _generate(500, 16, 50)


def medium():
    """For repeated fits and predictions: integers, so that rows repeat with other labels.

    Then leaves are not pure. Probabilities of just 0 and 1 would always have exact sums.
    """
    X, y, X_test = _generate(20_000, 16, 5000)
    return np.rint(X[:, :8]), y, np.rint(X_test[:, :8])


def large():
    """For interrupted fits, and for fits with too little memory."""
    return _generate(100_000, 32, 10)


def _generate(rows, features, test_rows):
    """X_train, y_train and X_test."""
    return datasets.generate(rows, features, test_rows=test_rows, seed=SEED)[:3]
