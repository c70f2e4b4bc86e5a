"""Generated rows of three classes that overlap; workers import this to make them."""

import dask
import dask.array as da
import numpy as np


def block(seed, n_rows, n_features):
    """Rows with the label as the last column."""
    rows = np.random.default_rng(seed).standard_normal((n_rows, n_features + 1), dtype=np.float32)
    rows[:, -1] = np.digitize(rows[:, 0] - rows[:, 1] + 0.5 * rows[:, -1], [-0.5, 0.5])
    return rows


def features(rows):
    return np.ascontiguousarray(rows[:, :-1])


def labels(rows):
    return rows[:, -1].astype(np.int64)


def lazy(n_rows, n_features, n_partitions):
    """X and y as arrays of Dask."""
    size = n_rows // n_partitions
    blocks = [dask.delayed(block)(seed, size, n_features) for seed in range(n_partitions)]
    X = [da.from_delayed(dask.delayed(features)(b), (size, n_features), np.float32) for b in blocks]
    y = [da.from_delayed(dask.delayed(labels)(b), (size,), np.int64) for b in blocks]
    return da.concatenate(X), da.concatenate(y)
