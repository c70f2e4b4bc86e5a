# SPDX-License-Identifier: BSD-3-Clause
"""Rows as exported models take them: numbers only, with codes in the place of categories."""

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from co2forest.data.rows import validated_rows
from co2forest.models.ensemble import EnsembleView
from co2forest.models.view import ModelView


def to_codes(estimator: Any, X: Any) -> npt.NDArray[np.float32]:
    """Write rows as the numbers that an exported model takes.

    Numbers stay as they are. A category becomes its code: its place in the list of categories that
    the export has for the column, or the length of that list if training had no such category, or
    only once. A missing value becomes NaN.

    Parameters
    ----------
    estimator : classifier or regressor of this library
        Fitted; the one that `to_c`, `to_json` or `to_onnx` exports.
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        What `predict` takes.

    Returns
    -------
    ndarray of shape (n_samples, n_features)
        float32, C-contiguous.

    Examples
    --------
    >>> import pandas as pd
    >>> from co2forest import CO2TreeClassifier, to_codes
    >>> frame = pd.DataFrame({"kind": ["cat", "dog", "cat", "dog", "cat"], "age": [1, 2, 3, 4, 5]})
    >>> tree = CO2TreeClassifier(random_state=0).fit(frame, ["a", "b", "a", "b", "a"])
    >>> to_codes(tree, pd.DataFrame({"kind": ["dog", "owl", None], "age": [7, 8, 9]}))
    array([[ 1.,  7.],
           [ 2.,  8.],
           [nan,  9.]], dtype=float32)
    """
    ensemble = EnsembleView.of_estimator(estimator)
    view = ModelView.of_estimator(estimator) if ensemble is None else ensemble.forest
    rows = validated_rows(view.estimator, X, reset=False)
    dense = rows.toarray() if sp.issparse(rows) else rows
    return np.ascontiguousarray(dense, dtype=np.float32)
