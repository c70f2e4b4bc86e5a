"""Jaccard scores from counts of pixels."""

import numpy as np


def confusion(truth, predicted, n_classes):
    """Pixels by class of the truth (rows) and of the prediction (columns)."""
    pairs = truth.astype(np.int64).ravel() * n_classes + predicted.ravel()
    return np.bincount(pairs, minlength=n_classes**2).reshape(n_classes, n_classes)


def counts(matrix):
    """For each class the true positives, false positives and false negatives."""
    right = np.diag(matrix)
    return right, matrix.sum(axis=0) - right, matrix.sum(axis=1) - right


def jaccard(right, false, missed):
    """In percent; NaN for a class that neither the truth nor the prediction has."""
    union = np.asarray(right) + false + missed
    return np.where(union > 0, 100 * np.asarray(right) / np.maximum(union, 1), np.nan)


def mean_jaccard(right, false, missed):
    """The mean over the classes that occur."""
    return float(np.nanmean(jaccard(right, false, missed)))
