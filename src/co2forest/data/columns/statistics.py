# SPDX-License-Identifier: BSD-3-Clause
"""What the targets say about categories: means of the targets of the rows that have one.

A row's own target must not enter the mean that it is trained with. Nor may the mean tell it: what
the mean over the other rows lacks of that over all is the target itself, and trees find that out.
So rows are in blocks of a random order, and each sees the means over the blocks before its own, as
in CatBoost (Prokhorenkova et al. 2018). Rows to predict see the means over all. Against indicators
alone, the log loss or RMSE of mixtures on validation parts of seven small tables was 3.8 % lower
with 20 blocks, 2.4 % with the means over nine of ten folds, and the same with 8 blocks.

A frequent category has the mean over all rows in training, too. One row is a small part of it, and
means over few blocks would be noise, which hides clean rules: without this, the log loss on
validation parts of eleven tables with categories is 6 % higher (``benchmarks/tables/views.py``).

Several classes have a mean for each. They are projected on the few directions in which the
categories of the column differ most. For two classes that is the share of one of them. A threshold
on the first direction divides categories in the order that Breiman et al. (1984) have shown to be
best for two classes and for numbers, and that Coppersmith, Hong and Hosking (1999) use for more.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

N_BLOCKS = 20
_MOST_DIRECTIONS = 2
# A covariance of more is not formed. The largest of its directions are found within a wider space.
_MANY_OUTPUTS, _SUBSPACE, _ITERATIONS = 128, 10, 15
_FREQUENT = 10.0  # rows; 100 do as well
_FEWEST_PRIOR_ROWS, _MOST_PRIOR_ROWS = 1.0, 100.0


@dataclass(frozen=True, eq=False)
class Statistics:
    """Means of targets by category: (directions, entries), and (directions, blocks, entries)."""

    of_all: npt.NDArray[np.float32]
    before: npt.NDArray[np.float32]


def blocks_of(n_rows: int) -> npt.NDArray[np.uint8]:
    """The block of each row: equally many in each, in an order that has nothing to do with rows."""
    order = np.random.default_rng(0).permutation(n_rows)
    return (order % N_BLOCKS).astype(np.uint8)


def target_statistics(
    codes: npt.NDArray[np.int64],
    n_entries: int,
    blocks: npt.NDArray[np.uint8],
    targets: npt.NDArray[np.generic],
    n_outputs: int,
    weights: npt.NDArray[np.float32],
) -> Statistics:
    """Means for each entry that ``codes`` name; ``targets`` are codes of classes, or numbers."""
    given = weights if weights.size else None
    count = np.bincount(codes, given, n_entries).astype(np.float64)
    sums = _sums(codes, n_entries, targets, n_outputs, given)
    direction = _directions(sums, count)
    along = direction[targets] if targets.ndim == 1 else targets.astype(np.float64) @ direction
    # What lies before block b, and at last everything: (blocks + 1, entries, directions).
    size = _before(blocks, codes, n_entries, given)[..., None]
    weighted = along if given is None else along * given[:, None]
    total = np.stack([_before(blocks, codes, n_entries, each) for each in weighted.T], axis=-1)
    second = np.average(along**2, axis=0, weights=given)
    prior_rows = _prior_rows(total[-1], count, np.asarray(second))
    # Means lean towards that of all rows where there are few.
    whole = total[-1].sum(axis=0) / max(count.sum(), 1e-300)
    total += prior_rows * whole
    total /= size + prior_rows
    frequent = count >= _FREQUENT
    total[:-1, frequent] = total[-1, frequent]
    return Statistics(
        np.ascontiguousarray(total[-1].T, dtype=np.float32),
        np.ascontiguousarray(total[:-1].transpose(2, 0, 1), dtype=np.float32),
    )


def _sums(
    codes: npt.NDArray[np.int64],
    n_entries: int,
    targets: npt.NDArray[np.generic],
    n_outputs: int,
    weights: npt.NDArray[np.float32] | None,
) -> Floats:
    """(entries, outputs): the sum of the targets, or of the classes' indicators."""
    if targets.ndim == 1:
        cell = codes * n_outputs + targets.astype(np.int64)
        counts = np.bincount(cell, weights, n_entries * n_outputs)
        return counts.reshape(n_entries, n_outputs).astype(np.float64)
    columns = [
        np.bincount(codes, column if weights is None else column * weights, n_entries)
        for column in targets.astype(np.float64).T
    ]
    return np.stack(columns, axis=1)


def _before(
    blocks: npt.NDArray[np.uint8],
    codes: npt.NDArray[np.int64],
    n_entries: int,
    values: npt.NDArray[Any] | None,
) -> Floats:
    """(blocks + 1, entries): the sum of values, or the number of rows, before each block."""
    place = (blocks.astype(np.int64) + 1) * n_entries + codes
    sums = np.bincount(place, values, (N_BLOCKS + 1) * n_entries).astype(np.float64, copy=False)
    found = sums.reshape(N_BLOCKS + 1, n_entries)
    return np.asarray(found.cumsum(axis=0, out=found))


def _directions(sums: Floats, count: Floats) -> Floats:
    """(outputs, directions): where the means of categories differ most, by the rows they have."""
    whole = sums.sum(axis=0) / max(count.sum(), 1e-300)
    means = sums / np.maximum(count, 1e-300)[:, None]
    differences = np.where(count[:, None] > 0, means - whole, 0.0)
    n_wanted = min(_MOST_DIRECTIONS, sums.shape[1])
    if sums.shape[1] <= 2:  # one output, or two classes, whose shares sum to one
        n_wanted = 1
    if sums.shape[1] == 1:
        return np.ones((1, 1))
    weighted = differences * count[:, None]
    if sums.shape[1] <= _MANY_OUTPUTS:
        _, vectors = np.linalg.eigh(weighted.T @ differences)
    else:
        vectors = _largest_eigenvectors(weighted, differences)
    directions = vectors[:, ::-1][:, :n_wanted]
    # The sign of an eigenvector is arbitrary; the same data shall give the same model anywhere.
    largest = np.abs(directions).argmax(axis=0)
    return np.asarray(directions * np.sign(directions[largest, np.arange(n_wanted)]))


def _largest_eigenvectors(weighted: Floats, differences: Floats) -> Floats:
    """Those of the covariance, in rising order, by subspace iteration.

    LAPACK would find all of them, which for 2000 outputs takes seconds that Ctrl-C cannot end.
    """
    basis = np.random.default_rng(0).normal(size=(differences.shape[1], _SUBSPACE))
    for _ in range(_ITERATIONS):
        basis, _ = np.linalg.qr(weighted.T @ (differences @ basis))
    _, vectors = np.linalg.eigh((weighted @ basis).T @ (differences @ basis))
    return np.asarray(basis @ vectors)


def _prior_rows(total: Floats, size: Floats, second: Floats) -> Floats:
    """How many rows the mean over all categories counts as, in the mean of one.

    That is the variance within categories divided by the one between them (empirical Bayes), for
    each direction.
    """
    n_rows = max(size.sum(), 1e-300)
    whole = total.sum(axis=0) / n_rows
    means = total / np.maximum(size, 1e-300)[:, None]
    between = np.maximum(size @ (means - whole) ** 2 / n_rows, 0.0)
    within = np.maximum(second - whole**2 - between, 0.0)
    # Chance alone makes the means of categories differ by the variance within, for each of them.
    n_categories = max(int(np.count_nonzero(size)) - 1, 0)
    real = between - within * n_categories / n_rows
    rows = within / np.maximum(real, 1e-9 * np.maximum(within, 1e-300))
    return np.asarray(np.clip(rows, _FEWEST_PRIOR_ROWS, _MOST_PRIOR_ROWS))
