# SPDX-License-Identifier: BSD-3-Clause
"""Random views of columns, and what they show, in plain NumPy."""

import numpy as np

from co2forest import _native

NUMBER, MISSING, EQUALS, TABLE, FOLDED = range(5)
NO_FOLDS = np.empty(0, dtype=np.uint8)
ODD = (np.nan, -1, -0.0, 1.5, 1e30, -1e30, np.inf, -np.inf, 255, 2**24)  # as a category


class Builder:
    """Views, one after the other."""

    def __init__(self):
        self.views, self.values = [], []

    def add(self, kind, column, argument=0, size=0):
        """A view without numbers of its own."""
        self.views.append((column, kind, argument, size))
        return self

    def add_values(self, kind, column, size, values):
        """A table."""
        self.add(kind, column, len(self.values), size)
        self.values.extend(values)
        return self

    def arrays(self):
        """As ``_native.Views`` takes them."""
        column, kind, argument, size = (np.array(part) for part in zip(*self.views, strict=True))
        return {
            "column": column.astype(np.int32),
            "kind": kind.astype(np.uint8),
            "argument": argument.astype(np.int64),
            "size": size.astype(np.int64),
            "values": np.array(self.values, dtype=np.float32),
        }


def every_kind(n_folds=3):
    """Two views of each kind, but one folded table, of four columns."""
    out = Builder().add(NUMBER, 0).add(MISSING, 0).add(EQUALS, 1, 2).add(EQUALS, 1, 0)
    out.add_values(TABLE, 1, 3, range(5)).add_values(FOLDED, 2, 2, range(4 * n_folds))
    return out.add_values(TABLE, 3, 2, (0, 1, 5, 7)).add(NUMBER, 3).add(MISSING, 2)


def random_views(rng, n_columns, n_features, n_folds):
    """Views of any kind and order, some of them twice."""
    out = Builder()
    for _ in range(n_features):
        kind, column = rng.integers(5 if n_folds else 4), int(rng.integers(n_columns))
        size = int(rng.integers(1, 12))
        if kind == EQUALS:
            out.add(kind, column, int(rng.choice([*range(8), 5000])))
        elif kind in (TABLE, FOLDED):
            length = (size + 2) * (n_folds if kind == FOLDED else 1)
            out.add_values(kind, column, size, rng.normal(size=length))
        else:
            out.add(kind, column)
    return out.arrays()


def random_rows(rng, n, n_columns, odd=ODD, share=0.3):
    """Codes, and some values that are none."""
    X = rng.integers(0, 9, (n, n_columns)).astype(np.float32)
    return np.where(rng.random(X.shape) < share, rng.choice(np.float32(odd), X.shape), X)


def expanded(arrays, X, folds):
    """What ``Views.expand`` must give."""
    out = np.zeros((len(X), len(arrays["kind"])), dtype=np.float32)
    values = arrays["values"]
    for j, kind in enumerate(arrays["kind"]):
        x = X[:, arrays["column"][j]]
        argument, size = int(arrays["argument"][j]), int(arrays["size"][j])
        if kind == NUMBER:
            out[:, j] = x
        elif kind == MISSING:
            out[:, j] = np.isnan(x)
        elif kind == EQUALS:
            out[:, j] = x == argument
        else:
            known = np.isin(x, np.arange(size))
            place = np.where(known, np.where(known, x, 0).astype(int), size)
            place[np.isnan(x)] = size + 1
            fold = folds.astype(int) if kind == FOLDED else 0
            out[:, j] = values[argument + fold * (size + 2) + place]
    return out


def rows_of(arrays, X, folds=NO_FOLDS, n_folds=0):
    """The rows, and the dense rows that they must be like."""
    views = _native.Views(arrays, X.shape[1], n_folds)
    return _native.view_rows(X, views, folds), _native.dense_rows(expanded(arrays, X, folds))
