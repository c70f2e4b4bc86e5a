# SPDX-License-Identifier: BSD-3-Clause
"""Data and comparisons that several test files share."""

import hashlib
import os
import signal

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_classification

from co2forest import CO2ForestClassifier
from small_models import CODES, X

# Settings of Dask, before anything imports it, and for all processes that tests start. Its profiler
# calls sys._current_frames, which now and then stops the whole process for ever in Python 3.11
# (https://github.com/python/cpython/issues/106883).
os.environ["DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED"] = "False"
if os.name == "posix":  # workers are forked from a process that has imported most of what they need
    os.environ["DASK_DISTRIBUTED__WORKER__MULTIPROCESSING_METHOD"] = "forkserver"


@pytest.fixture(scope="session", autouse=True)
def _interruptible():
    """Ctrl-C reaches the tests and the processes they start.

    Jobs in the background (nohup, cron, some CI runners) start with SIGINT ignored, and so do their
    children.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(autouse=True)
def _seeded():
    """``random_state=None`` draws from NumPy's global generator: no test may fail by chance."""
    np.random.seed(20151116)  # noqa: NPY002


@pytest.fixture(scope="session")
def blobs():
    """300 rows, 8 features, 3 classes that overlap: deep trees with many leaves."""
    X, y = make_classification(
        300, 8, n_informative=5, n_redundant=1, n_classes=3, flip_y=0.1, random_state=7
    )
    return X.astype(np.float32), y


@pytest.fixture(scope="session")
def digits():
    """900 training and 897 test rows of the 8 x 8 digits, as uint8."""
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    X, y = X[order].astype(np.uint8), y[order]
    return X[:900], X[900:], y[:900], y[900:]


@pytest.fixture
def informative():
    """600 rows, 10 features; the label depends on features 2 and 6 alone."""
    X = np.random.default_rng(0).normal(size=(600, 10)).astype(np.float32)
    return X, (X[:, 2] + X[:, 6] > 0).astype(int)


@pytest.fixture(scope="session")
def assert_same_trees():
    """Compare two fitted estimators to the last bit of their native arrays."""

    def compare(a, b, *, ignore=()):
        left, right = a._forest.arrays(), b._forest.arrays()
        assert left.keys() == right.keys()
        for name in left.keys() - set(ignore):
            np.testing.assert_array_equal(left[name], right[name], err_msg=name)

    return compare


@pytest.fixture
def digest_of(tmp_path):
    """A digest of the bytes of an estimator's model file."""

    def digest(estimator):
        path = tmp_path / "model.safetensors"
        estimator.save(path)
        return hashlib.sha256(path.read_bytes()).hexdigest()

    return digest


@pytest.fixture
def path(tmp_path):
    """Where a test may write a model."""
    return tmp_path / "model.safetensors"


@pytest.fixture(scope="session")
def forest():
    """A small fitted forest, which no test changes."""
    return CO2ForestClassifier(3, random_state=0, mixture=None).fit(X, CODES)
