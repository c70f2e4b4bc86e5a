# SPDX-License-Identifier: BSD-3-Clause
"""How good predictions are."""

import numpy as np
from sklearn.metrics import roc_auc_score

SMALLEST = 1e-7  # of a probability: one certain mistake costs 16, not infinity
BINS = 15


def scores_of_classes(probabilities, y):
    """Error in %, log loss, AUC and calibration error of probabilities: a column for each class."""
    raw = np.asarray(probabilities, dtype=float)
    p = np.clip(raw, SMALLEST, 1)
    p /= p.sum(axis=1, keepdims=True)
    return {
        "error": float(100 * np.mean(raw.argmax(axis=1) != y)),  # rounding decides no ties
        "logloss": float(-np.mean(np.log(p[np.arange(len(y)), y]))),
        "auc": area(p, y),
        "ece": calibration_error(raw, y),
    }


def area(p, y):
    """Area under the ROC curve: of class 1 of two, or the mean of each class against the others."""
    if p.shape[1] == 2:
        return float(roc_auc_score(y, p[:, 1]))
    return float(np.mean([roc_auc_score(y == label, p[:, label]) for label in np.unique(y)]))


def calibration_error(p, y):
    """Mean distance of confidence and accuracy over bins of the predicted class's probability."""
    confidence = p.max(axis=1)
    right = p.argmax(axis=1) == y
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    gaps = np.bincount(bins, weights=confidence - right, minlength=BINS)
    return float(np.abs(gaps).sum() / len(y))


def scores_of_numbers(predicted, y):
    return {"rmse": float(np.sqrt(np.mean((predicted - y) ** 2)))}
