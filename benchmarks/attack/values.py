# SPDX-License-Identifier: BSD-3-Clause
"""Rows, answers and weights such as no careful user would pass, and now and then sound ones."""

import contextlib
import datetime as dt
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import scipy.sparse as sp

EXTREMES = [0.0, -0.0, 1e-45, 1e-39, -1e-39, 1e-38, 1.0, 16777216.0, 1e19, 1e38, -3.4e38]
BEYOND_FLOAT32 = [1e39, -1e300, 1e308, 5e-324]
WORDS = ["a", "b", "", "a ", "A", "nan", "None", "1", "-1.5", "=1+1", "\x1b[2J", "\N{OWL}"]


class Problem(NamedTuple):
    """What is passed to fit, and rows to predict."""

    X: Any
    y: Any
    weight: Any
    later: Any


def pick(options, rng):
    return options[rng.integers(len(options))]


def draw(rng, *, of_numbers, several) -> Problem:
    """A problem for an estimator of numbers, or of classes, and of several outputs if it can."""
    small = rng.random() < 0.1
    n, p = pick([0, 1, 2, 3] if small else [9, 30, 60, 200], rng), pick([1, 2, 3, 6, 40], rng)
    p = 0 if rng.random() < 0.02 else p
    X, later = (numbers(m, p, rng) for m in (n, max(1, n // 2)))
    suits = rng.random() < 0.9
    y = sound_answers(X, rng, of_numbers, several) if suits else strange_answers(X, rng)
    weight = weights(n, rng) if rng.random() < 0.2 else None
    container = pick(CONTAINERS, rng)
    X = container(X, rng)
    if rng.random() < 0.2:
        container = pick(CONTAINERS, rng)
        later = numbers(len(later), pick([p, p, p + 1, 0], rng), rng)
    return Problem(X, y, weight, container(later, rng))


def numbers(n, p, rng):
    """A matrix of float64."""
    kind = rng.integers(7)
    if kind < 3:
        X = rng.normal(size=(n, p))
    elif kind == 3:
        X = rng.integers(-2, 3, size=(n, p)).astype(float)
    elif kind == 4:
        X = rng.choice(EXTREMES, size=(n, p))
    elif kind == 5:
        X = rng.normal(size=(n, p)) * rng.choice([1e-41, 1e-38, 1e-20, 1e20, 1e37], size=p)
    else:
        X = 1e7 + rng.normal(size=(n, p))
    if n and p:
        if rng.random() < 0.3:
            X[:, rng.integers(p)] = X[0, 0]
        if rng.random() < 0.2:
            X = X[rng.integers(n, size=n)]
        if rng.random() < 0.3:
            X[rng.random(X.shape) < 0.2] = np.nan
        if rng.random() < 0.05:
            X[rng.integers(n), rng.integers(p)] = pick([np.inf, -np.inf, *BEYOND_FLOAT32], rng)
    return X


# --- containers of a matrix


def as_it_is(X, rng):
    return X.astype(pick(["f4", "f8"], rng)) if np.all(np.abs(X) < 1e38) else X


def of_other_type(X, rng):
    numbers_ = ["f2", "f4", "f8", ">f4", ">f8", "g", "i1", "i4", "i8", "u1", "u4", "u8", "?"]
    with np.errstate(all="ignore"):
        return X.astype(pick([*numbers_, "c8", "O", "U5", "S3", "M8[s]", "m8[s]"], rng))


def of_other_layout(X, rng):
    X = X.astype(pick(["f4", "f8", "u1"], rng)) if rng.random() < 0.8 else X
    kinds = [
        lambda: np.asfortranarray(X),
        lambda: np.repeat(X, 2, axis=0)[::2],
        lambda: X[::-1, ::-1],
        lambda: np.broadcast_to(X[:1], X.shape),
        lambda: np.repeat(X, 3, axis=1)[:, ::3],
        lambda: _read_only(X),
        lambda: _misaligned(X),
    ]
    return pick(kinds, rng)()


def _read_only(X):
    X.setflags(write=False)
    return X


def _misaligned(X):
    odd = np.empty(X.nbytes + 1, dtype=np.uint8)[1:].view(X.dtype).reshape(X.shape)
    odd[...] = X
    return odd


def of_other_shape(X, rng):
    return pick([X.ravel(), X[None], X[:, :, None], X.T, X[:, :0], np.array(1.5), X[:1, :]], rng)


def of_other_class(X, rng):
    lists = [X.tolist, lambda: tuple(map(tuple, X)), lambda: [[1.0], [1.0, 2.0]], lambda: list(X)]
    others = [lambda: np.ma.masked_array(X, X > 1), lambda: "words", lambda: None, lambda: X.shape]
    return pick([*lists, *others, lambda: memoryview(np.ascontiguousarray(X))], rng)()


def sparse(X, rng):
    X = np.where(np.nan_to_num(X) > 0.3, X, 0).astype(pick(["f4", "f8", "u1", "i8"], rng))
    kinds = [sp.csr_matrix, sp.csr_array, sp.csc_matrix, sp.coo_array, sp.lil_matrix, sp.dok_array]
    return pick([*kinds, sp.bsr_array, sp.dia_array], rng)(X)


def frame(X, rng):
    columns = {f"x{j}": column(X[:, j], rng) for j in range(X.shape[1])}
    table = pd.DataFrame(columns, index=range(len(X)))
    if rng.random() < 0.1:
        table.columns = [pick(["x0", 3, ("a", "b"), None, "\N{OWL}"], rng) for _ in columns]
    if rng.random() < 0.2:
        table.index = rng.integers(3, size=len(X))
    if rng.random() < 0.1 and X.shape[1]:
        table = table[[*rng.permutation(table.columns)]]
    if rng.random() < 0.3:
        return other_library(table, rng)
    return table


def other_library(table, rng):
    try:
        return pick([pl.from_pandas, pa.Table.from_pandas], rng)(table)
    except Exception:  # noqa: BLE001 (not every column has a type there)
        return table


def column(values, rng):
    n = len(values)
    plain = [lambda: values, lambda: values, lambda: np.where(rng.random(n) < 0.3, np.nan, values)]
    usual = [
        lambda: pd.Categorical(rng.choice(["a", "b", "c"], n), ["a", "b", "c", "d"]),
        lambda: pd.Series(rng.choice([*WORDS, None], n), dtype=pick(["object", "str"], rng)),
        lambda: pd.array(rng.integers(0, 3, n), dtype="Int64"),
        lambda: rng.random(n) < 0.5,
        lambda: pd.Categorical(rng.integers(0, max(1, n), n)),  # most categories occur once
    ]
    odd = [b"x", 1, "1", 1.5, None, float("nan"), (1,), dt.date(2020, 1, 1), True]
    odd += [[1], {}, 2**70, object()] if rng.random() < 0.3 else []
    rare = [
        lambda: pd.Series([None] * n, dtype="object"),
        lambda: pd.Series(rng.choice([*WORDS, "\ud800"], n), dtype="object"),
        lambda: pd.Series([pick(odd, rng) for _ in range(n)], dtype="object"),
        lambda: pd.date_range("2020-01-01", periods=n).to_series().to_numpy(),
    ]
    return pick(pick([plain, plain, usual, usual, usual, rare], rng), rng)()


CONTAINERS = [as_it_is] * 4 + [of_other_layout] * 3 + [sparse] * 3 + [frame] * 6
CONTAINERS += [of_other_type, of_other_shape, of_other_class]


# --- answers and weights


def sound_answers(X, rng, of_numbers, several):
    score = _score(X)
    if of_numbers:
        kinds = [lambda: score, lambda: np.floor(np.abs(score)), lambda: 1e6 + score]
        return pick(kinds + several * [lambda: np.c_[score, -score] + 10], rng)()
    codes = _codes(X)
    words = np.array(["no", "yes", "\N{OWL}"], dtype=pick(["U3", "O"], rng))
    kinds = [lambda: codes, lambda: codes > 0, lambda: words[codes]]
    kinds += [lambda: rng.integers(0, len(X) + 1, len(X))]
    return pick(kinds + several * [lambda: np.c_[codes > 0, score > 1]], rng)()


def strange_answers(X, rng):
    n, score, codes = len(X), _score(X), _codes(X)
    kinds = [
        lambda: codes.astype(pick(["f4", "i1", "u8", "O", "?", "M8[s]", "U3", ">i4", "c8"], rng)),
        lambda: rng.choice([0.0, 1e300, -1e300, 1e-300, 5e-324, 1.0], n),
        lambda: rng.choice([1.0, np.nan, np.inf], n),
        lambda: np.where(codes == 0, None, "a"),
        lambda: np.array([pick([1, "1", 2.0, None, True], rng) for _ in range(n)], dtype=object),
        lambda: np.zeros(n),
        lambda: np.c_[codes, score],
        lambda: codes[:, None],
        lambda: codes[:-1] if n else [1],
        codes.tolist,
        lambda: pd.Series(codes, index=rng.permutation(n)),
        lambda: pd.Categorical(codes),
        lambda: sp.csr_array(np.eye(max(1, n), dtype=int)),
        lambda: None,
        lambda: "words",
        lambda: rng.integers(-(2**62), 2**62, n),
        lambda: rng.poisson(2.0, n),
        lambda: -1.0 - rng.random(n),
    ]
    return pick(kinds, rng)()


def _score(X):
    return np.clip(np.nan_to_num(X[:, 0]), -9, 9) if X.shape[1] else np.zeros(len(X))


def _codes(X):
    return np.digitize(_score(X), [0.0, 0.8])


def weights(n, rng):
    kinds = [
        lambda: np.ones(n),
        lambda: rng.integers(0, 3, n),
        lambda: rng.choice([0.0, 1e-30, 0.5, 1.0, 1e30], n),
        lambda: rng.choice([1e-300, 5e-324, 1e300], n),
        lambda: rng.choice([1.0, -1.0, np.nan, np.inf], n),
        lambda: np.zeros(n),
        lambda: np.ones(n + 1),
        lambda: np.ones((n, 2)),
        lambda: np.full(n, "1"),
        lambda: 2.0,
        lambda: [None] * n,
    ]
    return pick(kinds, rng)()


# --- sparse matrices with arrays that do not fit together


def broken_sparse(rng):
    """A matrix whose arrays were edited by hand, as `scipy.sparse.load_npz` reads them."""
    n, p = int(rng.integers(1, 40)), int(rng.integers(1, 12))
    X = np.where(rng.random((n, p)) < 0.4, rng.normal(size=(n, p)), 0)
    kinds = [sp.csr_matrix, sp.csr_array, sp.csr_array, sp.csc_array, sp.coo_array, sp.bsr_array]
    matrix = pick([*kinds, sp.dia_array], rng)(X.astype(pick(["f4", "f8"], rng)))
    names = {"coo": ["coords", "data"], "dia": ["offsets", "data"]}.get(
        matrix.format, ["indptr", "indices", "data"]
    )
    for _ in range(rng.integers(1, 4)):
        name = pick(names, rng)
        arrays = getattr(matrix, name)
        if name == "coords":
            rows, columns = arrays
            pair = (_edited(rows, rng), columns), (rows, _edited(columns, rng))
            matrix.coords = pick(pair, rng)
        else:
            setattr(matrix, name, _edited(arrays, rng))
    if rng.random() < 0.1:
        matrix._shape = (pick([0, 1, n, 10**6], rng), pick([0, 1, p, 10**6], rng))  # noqa: SLF001
    if rng.random() < 0.3:
        matrix.has_canonical_format = matrix.has_sorted_indices = True
    return matrix


def _edited(array, rng):
    edges = [0, 1, -1, 5, 10**5, 5 * 10**8, -(4 * 10**7), 2**31 - 1, -(2**31)]
    kinds = [
        lambda: array[: rng.integers(len(array) + 1)],
        lambda: np.concatenate([array, array[:3]]),
        lambda: array.astype(pick(["i4", "i8", "u1", "f8", "?", "u8"], rng)),
        lambda: rng.permutation(array),
        lambda: _with(array.astype(np.int64), pick([2**32 + 3, 2**62, -(2**62)], rng), rng),
        *3 * [lambda: _with(array.copy(), pick(edges, rng), rng)],
    ]
    return pick(kinds, rng)()


def _with(array, value, rng):
    with contextlib.suppress(OverflowError):  # bytes
        array[rng.integers(max(1, len(array))) :][:1] = value
    return array
