# SPDX-License-Identifier: BSD-3-Clause
"""Fitted models that the tests of files and pickles share."""

import warnings

import pytest

from damage import models


@pytest.fixture(scope="session")
def kinds_of_models():
    """Of every kind, by name, with rows to predict; no test changes them."""
    with warnings.catch_warnings(action="ignore", category=UserWarning):  # of rows always drawn
        return {name: (model, X) for name, model, X in models()}
