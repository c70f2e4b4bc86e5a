# SPDX-License-Identifier: BSD-3-Clause
"""Lazy data for the tests on Dask: workers import it to make blocks, and to make them again."""

import dask
import dask.array as da
import numpy as np


def block(seed, n_rows, n_features):
    """Rows of three classes that overlap, with the label as the last column."""
    random = np.random.RandomState(seed)
    X = random.normal(size=(n_rows, n_features))
    noise = random.normal(scale=0.5, size=n_rows)
    y = np.digitize(X[:, 0] - X[:, 1] + noise, [-0.5, 0.5])
    return np.column_stack([X, y]).astype(np.float32)


def large_block(seed, n_rows, n_features):
    """The same without copies in double precision."""
    rows = np.random.default_rng(seed).standard_normal((n_rows, n_features + 1), dtype=np.float32)
    rows[:, -1] = np.digitize(rows[:, 0] - rows[:, 1] + 0.5 * rows[:, -1], [-0.5, 0.5])
    return rows


def features(rows):
    return np.ascontiguousarray(rows[:, :-1])


def labels(rows):
    return rows[:, -1].astype(np.int64)


def collections(blocks, n_rows, n_features):
    """X and y as arrays of Dask: of delayed blocks, or of futures, and of known lengths."""
    rows = [dask.delayed(part) for part in blocks]
    X = [
        da.from_delayed(dask.delayed(features)(part), (n_rows, n_features), np.float32)
        for part in rows
    ]
    y = [da.from_delayed(dask.delayed(labels)(part), (n_rows,), np.int64) for part in rows]
    return da.concatenate(X), da.concatenate(y)


def lazy_data(n_partitions=6, n_rows=500, n_features=8, make=block):
    """X and y that workers make from seeds, so that they can make a lost block again."""
    blocks = [dask.delayed(make)(seed, n_rows, n_features) for seed in range(n_partitions)]
    return collections(blocks, n_rows, n_features)
