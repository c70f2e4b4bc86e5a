# SPDX-License-Identifier: BSD-3-Clause
"""What the benchmark needs from a library.

Every process reads the attributes of the classes. A library is imported when its adapter is
created, which happens only in its own measuring process. This file and measure.py may only need
Python and NumPy and, for estimators, the oldest scikit-learn of benchmarks/environments.
"""

import importlib
import pickle
from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar

FOREST_SIZES = (1, 3, 10, 30, 100)
BOOSTING_SIZES = (10, 30, 100, 300)


class Adapter(ABC):
    """One library with one setting. Labels are integers from 0 on, X is float32 or uint8."""

    label: str  # in tables and figures
    module: str  # what is imported; it knows its version
    requirement: str  # what to install
    family: str = "forest"  # or "boosting", where "trees" are rounds
    environment: str | None = None  # run by the Python of .venv-NAME instead of .venv
    variables: ClassVar[dict[str, str]] = {}  # environment variables of the measuring process
    sizes: tuple[int, ...] = FOREST_SIZES  # the numbers of trees of a curve

    def __init__(self):
        self.library = importlib.import_module(self.module)

    def version(self):
        root = importlib.import_module(self.module.split(".", maxsplit=1)[0])
        return root.__version__

    @abstractmethod
    def fit(self, X, y, trees, threads, seed, **settings):
        """Fit a new model; settings are parameters with the library's own names."""

    @abstractmethod
    def predictor(self, model, threads):
        """A function from rows to labels. One-time setup belongs here, where it is not timed."""

    @abstractmethod
    def save(self, model, path):
        """Store the model as users of the library do, in a file or folder at this path."""

    def validator(self, model):  # noqa: B027 (a default, not a gap)
        """A function that only validates rows, as predict does; None if this is not measured."""


class ScikitLearnAdapter(Adapter):
    """A library whose models are scikit-learn estimators with n_jobs."""

    @abstractmethod
    def estimator(self, trees, threads, seed, **settings):
        """The estimator, not yet fitted."""

    def fit(self, X, y, trees, threads, seed, **settings):
        return self.estimator(trees, threads, seed, **settings).fit(X, y)

    def predictor(self, model, threads):
        return model.set_params(n_jobs=threads).predict

    def save(self, model, path):
        with Path(path).open("wb") as file:
            pickle.dump(model, file, protocol=pickle.HIGHEST_PROTOCOL)

    def validator(self, model):
        from sklearn.utils.validation import validate_data

        # The arguments of scikit-learn's own forest.
        return lambda X: validate_data(
            model, X, dtype="float32", accept_sparse="csr", reset=False, ensure_all_finite=False
        )
