# SPDX-License-Identifier: BSD-3-Clause
"""Sparse matrices whose arrays do not fit together; SciPy's compiled code would end the process."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.ensemble import RandomForestClassifier

from co2forest import CO2ForestClassifier
from co2forest.models.curves import error_by_trees

X = np.random.default_rng(0).random((40, 6)).astype(np.float32)
X[X < 0.5] = 0
Y = np.arange(40) % 2


@pytest.fixture(scope="module")
def forest():
    return CO2ForestClassifier(2, random_state=0).fit(X, Y)


def entry(name, place, value):
    def change(matrix):
        getattr(matrix, name)[place] = value

    return change


def shorter(name, n):
    def change(matrix):
        setattr(matrix, name, getattr(matrix, name)[:n])

    return change


def column(value):
    """The first entry of a row of lists has another column."""

    def change(matrix):
        matrix.rows[3] = [value, *matrix.rows[3][1:]]

    return change


def wraps(matrix):
    matrix.indices = matrix.indices.astype(np.int64)
    matrix.indices[1] += 2**32


def other(name, convert):
    def change(matrix):
        setattr(matrix, name, convert(getattr(matrix, name)))

    return change


COMPRESSED = {
    "a huge pointer": (entry("indptr", 2, 500_000_000), "X.indptr .* must go up from 0"),
    "a negative pointer": (entry("indptr", 0, -40_000_000), "X.indptr .* it goes from -40000000"),
    "a pointer that goes back": (entry("indptr", 3, 0), "X.indptr .* down in between"),
    "a last pointer too far": (entry("indptr", -1, 10**6), "X.indptr .* to 1000000"),
    "too few pointers": (shorter("indptr", 3), "X.indptr .* has 3 entries; [0-9]+ are needed"),
    "no pointers": (shorter("indptr", 0), "X.indptr .* has 0 entries"),
    "a huge index": (entry("indices", 1, 2_000_000_000), "X.indices .* got 2000000000"),
    "a negative index": (entry("indices", 1, -2_000_000_000), "X.indices .* got -2000000000"),
    "an index of 64 bits": (wraps, "X.indices .* got 429496"),
    "too few indices": (shorter("indices", 3), "X.indices .* has 3 entries"),
    "too few values": (shorter("data", 3), "X.indices .* 3 are needed"),
    "indices with fractions": (other("indices", np.float64), "X.indices .* whole numbers"),
    "indices in a list": (other("indices", list), "X.indices .* 1-D array"),
    "values in a list": (other("data", list), "X.data .* [13]-D array"),
    "another shape": (other("_shape", lambda shape: (10**6, 10**6)), "X.indptr .* has"),
}
OTHERS = {
    "coo, a huge row": ("coo", entry("row", 0, 2_000_000_000), "X.row .* got 2000000000"),
    "coo, a negative row": ("coo", entry("row", 0, -2_000_000_000), "X.row .* from 0 to 39"),
    "coo, a huge column": ("coo", entry("col", 0, 2_000_000_000), "X.col .* from 0 to 5"),
    "coo, too few values": ("coo", shorter("data", 3), "X.row .* 3 are needed"),
    "lil, a row with more values": ("lil", entry("data", 3, [1.0] * 1000), "row 3 .* 1000 values"),
    "lil, a huge column": ("lil", column(2**32 + 3), "row 3 .* in column 4294967299"),
    "lil, a negative column": ("lil", column(-1), "row 3 .* in column -1; .* 0 to 5"),
    "lil, too few rows": ("lil", shorter("rows", 5), "X.rows .* a list of each row"),
    "lil, too few lists of values": ("lil", shorter("data", 5), "X.data .* a list of each row"),
    "bsr, flat blocks": ("bsr", other("data", np.ravel), "X.data .* 3-D array"),
    "bsr, empty blocks": ("bsr", other("data", lambda data: data[:, :0]), "blocks of 0 x 2"),
    "bsr, a row too many": ("bsr", other("_shape", lambda _: (41, 6)), "41 x 6.* blocks of 2 x 2"),
    "dia, too few offsets": (
        "dia",
        shorter("offsets", 2),
        "X.offsets .* has 2 entries; [0-9]+ are",
    ),
    "dia, offsets of a byte": ("dia", other("offsets", np.uint8), "X.offsets .* int64, got uint8"),
    "dia, a huge offset": (
        "dia",
        entry("offsets", 0, 2**31 - 1),
        "X.offsets .* from -39 to 5",
    ),
    "dia, one row of numbers": ("dia", other("data", np.ravel), "X.data .* 2-D array"),
}
CASES = {
    f"{storage}, {name}": (storage, *case)
    for storage in ("csr", "csc", "bsr")
    for name, case in COMPRESSED.items()
} | OTHERS


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_arrays_that_do_not_fit(forest, case):
    storage, change, message = case
    matrix = sp.bsr_array(X, blocksize=(2, 2)) if storage == "bsr" else sp.csr_array(X)
    matrix = matrix.asformat(storage)
    change(matrix)
    with pytest.raises(ValueError, match=message):
        forest.predict(matrix)
    with pytest.raises(ValueError, match=message):
        CO2ForestClassifier(2, random_state=0).fit(matrix, Y)


def test_arrays_with_room_for_more(forest):
    matrix = sp.csr_array(X)
    matrix.indices = np.r_[matrix.indices, [0, 1]].astype(np.int32)
    matrix.data = np.r_[matrix.data, [9, 9]].astype(np.float32)
    np.testing.assert_array_equal(forest.predict_proba(matrix), forest.predict_proba(X))


def test_blocks_of_dask_and_rows_of_a_reference():
    pytest.importorskip("distributed")
    from co2forest.dask._blocks import to_rows

    matrix = sp.dia_array(X)
    matrix.offsets = matrix.offsets[:2]
    with pytest.raises(ValueError, match=r"X\.offsets"):
        to_rows(matrix)
    reference = RandomForestClassifier(2, random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match=r"X\.offsets"):
        error_by_trees(reference, matrix, Y)
