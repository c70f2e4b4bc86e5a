# SPDX-License-Identifier: BSD-3-Clause
"""The features that a forest sees of its columns. No copy of X holds them: they are views.

- A column of numbers is one feature. Where at least a twentieth of the rows lack it, a second one
  tells which; columns with the same gaps share it.
- A category that is frequent enough has an indicator. The others share one, and gaps have one.
- A column of three or more categories also has the mean target of the row's category
  (`co2forest.data.columns.statistics`).

Hyperplanes see all of these. Trees that look at one or a few features at a time see means in the
place of indicators, which say too little one by one (`co2forest.fitting.mixture`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from co2forest import _native
from co2forest.data.columns.columns import Column, Columns
from co2forest.data.columns.statistics import N_BLOCKS, blocks_of, target_statistics
from co2forest.exceptions import ModelFormatError
from co2forest.files.arrays import aligned
from co2forest.files.fields import Fields
from co2forest.files.messages import shown

# Fewer gaps say little, and an indicator is one more column that may be noise.
_LEAST_GAPS = 0.05
_LEAST_SHARE = 0.001  # of the rows, for a category with an indicator
_MOST_INDICATORS = 50  # of a column
_FEWEST_FOR_MEANS = 3  # categories; an indicator says all about two
NO_BLOCKS = np.empty(0, dtype=np.uint8)

Matrix = npt.NDArray[np.float32]


class ViewKind(IntEnum):
    """What a feature is of its column; native/rows/views/views.hpp says it exactly."""

    NUMBER = 0
    MISSING = 1
    EQUALS = 2
    TABLE = 3
    FOLDED_TABLE = 4


def _matrix(X: Any) -> Matrix:
    """Checked rows as the core takes columns; they may be bytes or a CSR matrix."""
    dense = X.toarray() if sp.issparse(X) else X
    return aligned(dense.astype(np.float32, order="C", copy=False))


@dataclass(frozen=True, eq=False)
class ColumnViews:
    """Columns, and the features that a forest sees of them."""

    columns: Columns
    views: _native.Views
    feature_names: tuple[str, ...]
    means: tuple[int, ...]  # the features that are mean targets of categories

    @property
    def n_features(self) -> int:
        """The number of features."""
        return self.views.n_features

    @cached_property
    def column_of_feature(self) -> npt.NDArray[np.int32]:
        """The column that each feature is seen of."""
        return np.array(self.views.arrays()["column"])

    @cached_property
    def summary(self) -> list[int]:
        """The features without indicators of columns that also have means."""
        column, kind = self.column_of_feature, self.views.arrays()["kind"]
        means = np.isin(np.arange(self.n_features), self.means)
        indicators = np.isin(kind, [ViewKind.EQUALS, ViewKind.TABLE]) & ~means
        return np.flatnonzero(~(indicators & np.isin(column, column[means]))).tolist()

    def rows(self, X: Any) -> _native.Rows:
        """Rows for the native core."""
        return _native.view_rows(_matrix(X), self.views, NO_BLOCKS)

    def expand(self, X: Any) -> Matrix:
        """The features themselves, for those who look at a few rows."""
        return self.views.expand(_matrix(X), NO_BLOCKS)

    def by_column(self, of_features: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Sum what features have over those of each column."""
        summed = np.bincount(self.column_of_feature, of_features, len(self.columns))
        return summed.astype(np.float64)

    # --- files

    def stored(self) -> dict[str, npt.NDArray[Any]]:
        """The arrays that a model file keeps."""
        views = {f"views.{name}": array for name, array in self.views.arrays().items()}
        described = {"features": self.feature_names, "means": self.means}
        return {"columns": self.columns.stored(described), **views}

    @classmethod
    def restore(cls, fields: Fields) -> Self | None:
        """Read what a file says about columns; None if it says nothing."""
        if "columns" not in fields:
            return None
        columns, described = Columns.restore(fields.any_array("columns"))
        arrays = fields.arrays_of("views.")
        if arrays.keys() - _ARRAYS:
            raise ModelFormatError(f"unknown views: {shown(sorted(arrays.keys() - _ARRAYS))}")
        try:
            views = _native.Views(arrays, len(columns))
        except (TypeError, ValueError) as error:
            raise ModelFormatError(f"the views of columns are damaged: {error}") from error
        return cls(columns, views, *(tuple(described[name]) for name in ("features", "means")))

    def check(self) -> None:
        """Raise unless values from a file or a pickle are sound."""
        state: Any = vars(self)
        columns, views, names, means = (state.get(name) for name in _STORED)
        if not isinstance(columns, Columns) or not isinstance(views, _native.Views):
            raise ModelFormatError("columns and their views must be of these types")
        columns.check()
        if views.n_columns != len(columns) or views.n_folds != 0:
            raise ModelFormatError(
                f"{len(columns)} columns, but views of {views.n_columns} in {views.n_folds} folds"
            )
        _check_categories_seen(columns, views.arrays())
        strings = isinstance(names, tuple) and all(type(name) is str for name in names)
        if not strings or len(self.feature_names) != views.n_features:
            raise ModelFormatError(f"{views.n_features} features must have names")
        whole = isinstance(means, tuple) and all(type(mean) is int for mean in means)
        tables = np.flatnonzero(views.arrays()["kind"] == ViewKind.TABLE).tolist()
        if not whole or len(set(means)) != len(means) or not {*means} <= {*tables}:
            raise ModelFormatError(f"means of targets must be tables, got {shown(means)}")

    def check_names(self, given: Any) -> None:
        """Raise unless the estimator's names of columns, from a file or a pickle, are these."""
        names = [column.name for column in self.columns.columns]
        if not isinstance(given, np.ndarray) or given.tolist() != names:
            raise ModelFormatError(
                f"feature_names_in_ must be the names of the columns, got {shown(given)}"
            )


_STORED = ("columns", "views", "feature_names", "means")
_ARRAYS = frozenset({"column", "kind", "argument", "size", "values"})


def _check_categories_seen(columns: Columns, arrays: dict[str, npt.NDArray[Any]]) -> None:
    """Raise unless views are of codes where a column has categories, and only of its own codes."""
    found = [column.categories is not None for column in columns.columns]
    categorical = np.array(found)[arrays["column"]]
    n_codes = np.array([column.n_categories for column in columns.columns])[arrays["column"]]
    kind = arrays["kind"]
    wrong = categorical & (kind == ViewKind.NUMBER)
    wrong |= (kind == ViewKind.EQUALS) & (arrays["argument"] >= n_codes)
    wrong |= (kind == ViewKind.TABLE) & (arrays["size"] != n_codes)
    if wrong.any():
        j = int(np.flatnonzero(wrong)[0])
        name = columns.columns[int(arrays["column"][j])].name
        raise ModelFormatError(f"feature {j} does not fit the categories of column {shown(name)}")


@dataclass(frozen=True, eq=False)
class TrainingViews:
    """The views in training: a row sees means of the targets of rows before its block."""

    of_columns: ColumnViews  # for rows that training does not have
    views: _native.Views
    blocks: npt.NDArray[np.uint8]  # of rows; the native core calls them folds

    def rows(self, X: Matrix) -> _native.Rows:
        """Rows for the native core."""
        return _native.view_rows(aligned(X), self.views, aligned(self.blocks))

    def expand(self, X: Matrix) -> Matrix:
        """The features of the rows, as a copy."""
        return self.views.expand(aligned(X), aligned(self.blocks))

    def subset(self, rows: npt.NDArray[np.intp]) -> Self:
        """The views of some of the rows."""
        blocks = self.blocks[rows] if self.blocks.size else self.blocks
        return type(self)(self.of_columns, self.views, blocks)


class _View(NamedTuple):
    """A feature to be: a column, what is seen of it, and a name for people."""

    column: int
    kind: int
    name: str
    argument: int = 0
    values: Matrix | None = None
    before: Matrix | None = None  # in the place of the values, in training: for each block


class Targets(NamedTuple):
    """What a training set says about its targets."""

    values: npt.NDArray[Any]  # codes of classes, or numbers with a column for each output
    n_outputs: int
    weights: npt.NDArray[np.float32]  # empty if all are one


def see(
    columns: Columns, X: Matrix, targets: Targets, earlier: ColumnViews | None = None
) -> TrainingViews | None:
    """Choose the views of training data; None if all columns are numbers without many gaps.

    A warm start keeps the ``earlier`` ones, because its trees were grown on them.
    """
    found = _choose(columns, X, targets)
    if earlier is None:
        return found
    if found is None or not _alike(found.of_columns, earlier):
        raise ValueError(
            "warm_start=True, but the columns have other categories or gaps than in the first fit"
        )
    return replace(found, of_columns=earlier)


def _alike(views: ColumnViews, others: ColumnViews) -> bool:
    """Whether features are the same views; the values in their tables may differ."""
    here, there = views.views.arrays(), others.views.arrays()
    names = ("column", "kind", "argument", "size")
    return all(np.array_equal(here[name], there[name]) for name in names)


def _choose(columns: Columns, X: Matrix, targets: Targets) -> TrainingViews | None:
    gaps = _columns_with_gaps(columns, X, targets.weights)
    if not gaps and not columns.has_categories:
        return None
    blocks = blocks_of(len(X))
    views: list[_View] = []
    for j, column in enumerate(columns.columns):
        if column.categories is None:
            views.append(_View(j, ViewKind.NUMBER, column.name))
            if j in gaps:
                views.append(_View(j, ViewKind.MISSING, f"{column.name} is missing"))
        else:
            views += _views_of_categories(j, column, X[:, j], blocks, targets)
    if not views:
        raise ValueError("no column has anything to learn from: each has one category or none")
    names = tuple(view.name for view in views)
    means = tuple(i for i, view in enumerate(views) if view.before is not None)
    of_columns = ColumnViews(columns, _native_views(views, len(columns)), names, means)
    if not means:
        return TrainingViews(of_columns, of_columns.views, NO_BLOCKS)
    return TrainingViews(of_columns, _native_views(views, len(columns), N_BLOCKS), blocks)


def _columns_with_gaps(
    columns: Columns, X: Matrix, weights: npt.NDArray[np.float32]
) -> frozenset[int]:
    """Columns of numbers whose gaps a feature should tell: the first of those with the same."""
    found: dict[bytes, int] = {}
    total = float(weights.sum()) if weights.size else float(len(X))
    for j, column in enumerate(columns.columns):
        if column.categories is not None:
            continue
        missing = np.isnan(X[:, j])
        if not missing.any():
            continue
        if weights.size:
            missing &= weights > 0
        share = float(weights[missing].sum() if weights.size else missing.sum()) / total
        if _LEAST_GAPS <= share < 1:
            found.setdefault(np.packbits(missing).tobytes(), j)
    return frozenset(found.values())


def _views_of_categories(
    j: int, column: Column, encoded: Matrix, blocks: npt.NDArray[np.uint8], targets: Targets
) -> Iterator[_View]:
    k, name = column.n_categories, column.name
    codes = np.where(np.isnan(encoded), k + 1, encoded).astype(np.int64)
    counts = np.bincount(codes, minlength=k + 2)
    least = max(2.0, _LEAST_SHARE * len(encoded))
    n_own = int(np.count_nonzero(counts[: min(k, _MOST_INDICATORS)] >= least))
    values = [str(category) for category in (column.categories or ())[:n_own]]
    others, missing = bool(counts[n_own : k + 1].any()), bool(counts[k + 1])
    n_kinds = n_own + others + missing
    if n_kinds < 2 and k < 2:
        return
    if n_own == 2 and n_kinds == 2:  # one indicator says all
        values = values[:1]
    yield from (_View(j, ViewKind.EQUALS, f"{name}={value}", c) for c, value in enumerate(values))
    if others and k > 0:  # without any category, gaps say all
        rest = np.zeros(k + 2, dtype=np.float32)
        rest[n_own : k + 1] = 1.0
        yield _View(j, ViewKind.TABLE, f"{name}=(other)", values=rest)
    if missing:
        yield _View(j, ViewKind.MISSING, f"{name} is missing")
    if k + missing >= _FEWEST_FOR_MEANS:
        found = target_statistics(codes, k + 2, blocks, *targets)
        n = len(found.of_all)
        for d in range(n):
            label = f"{name}: mean target" + (f" {d + 1}" if n > 1 else "")
            yield _View(j, ViewKind.TABLE, label, values=found.of_all[d], before=found.before[d])


def _native_views(views: Sequence[_View], n_columns: int, n_folds: int = 0) -> _native.Views:
    """Views for the core; with folds, those of training."""
    values: list[Matrix] = []
    argument, size, kind = [], [], []
    at = 0
    for view in views:
        folded = n_folds > 0 and view.before is not None
        table = view.before if folded else view.values
        kind.append(ViewKind.FOLDED_TABLE if folded else view.kind)
        argument.append(view.argument if table is None else at)
        size.append(0 if table is None else table.shape[-1] - 2)
        if table is not None:
            values.append(table.ravel())
            at += table.size
    arrays = {
        "column": np.array([view.column for view in views], dtype=np.int32),
        "kind": np.array(kind, dtype=np.uint8),
        "argument": np.array(argument, dtype=np.int64),
        "size": np.array(size, dtype=np.int64),
        "values": np.concatenate(values) if values else np.empty(0, dtype=np.float32),
    }
    return _native.Views(arrays, n_columns, n_folds)
