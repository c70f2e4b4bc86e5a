# SPDX-License-Identifier: BSD-3-Clause
"""A suite of tables: a folder whose suite.py reads them and fixes their splits.

suite.py has names(), info() with the "task" of each name (binary, multiclass or regression),
load(name) with a data frame, targets and the names of categorical columns, and splits(name) with
pairs of row numbers. Classes are whole numbers from 0 on.
"""

import importlib.util
from typing import NamedTuple

import numpy as np
import pandas as pd

REGRESSION = "regression"
PEERS = "peers.csv"  # results that somebody measured elsewhere, in the suite's folder


class Split(NamedTuple):
    """Rows to learn from and rows to judge by. Numbers are in training standard deviations."""

    task: str
    X_train: pd.DataFrame
    y_train: np.ndarray
    X_test: pd.DataFrame
    y_test: np.ndarray
    categorical: list[str]
    classes: int | None


def open_suite(folder):
    """The module suite.py of a folder."""
    spec = importlib.util.spec_from_file_location("suite", folder / "suite.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def read_split(folder, name, number):
    suite = open_suite(folder)
    X, y, categorical = suite.load(name)
    train, test = suite.splits(name)[number]
    task = suite.info()[name]["task"]
    if task == REGRESSION:
        y = (y - y[train].mean()) / y[train].std()
    classes = None if task == REGRESSION else int(y.max()) + 1
    frames = [X.iloc[rows].reset_index(drop=True) for rows in (train, test)]
    return Split(task, frames[0], y[train], frames[1], y[test], list(categorical), classes)
