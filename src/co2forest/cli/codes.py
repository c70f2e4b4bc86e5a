# SPDX-License-Identifier: BSD-3-Clause
"""Columns as the estimators of scikit-learn take them, for a fair comparison."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.preprocessing import FunctionTransformer, OrdinalEncoder

Preparation = Any  # a transformer of data frames
# Gradient boosting has 255 bins, one of which is for gaps.
_MOST_CATEGORIES = 254


def as_they_are() -> Preparation:
    """For estimators of this library."""
    return FunctionTransformer()


def codes() -> Preparation:
    """Codes for all categories: forests of scikit-learn take numbers only."""
    return _coded(lambda column: column.dtype == "category")


def few_categories() -> Preparation:
    """Codes for columns with more categories than gradient boosting takes as they are."""
    return _coded(lambda column: column.dtype == "category" and column.nunique() > _MOST_CATEGORIES)


def _coded(wanted: Callable[[Any], bool]) -> Preparation:
    """Unknown categories are -1 and gaps -2, each on one side of all thresholds."""
    encoder = OrdinalEncoder(
        handle_unknown="use_encoded_value",
        unknown_value=-1,
        encoded_missing_value=-2,
        dtype=np.float32,
    )
    made = make_column_transformer(
        (encoder, lambda frame: [name for name, column in frame.items() if wanted(column)]),
        remainder="passthrough",
        verbose_feature_names_out=False,
        sparse_threshold=0,
    )
    return made.set_output(transform="pandas")
