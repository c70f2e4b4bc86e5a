# SPDX-License-Identifier: BSD-3-Clause
"""Columns of a table as numbers for a forest."""

from collections.abc import Iterable
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from co2forest._sklearn_compat import Interval
from co2forest.exceptions import ModelFormatError
from co2forest.files.messages import listed, shown
from co2forest.fitting.parameters import Constraints
from co2forest.tables._choice import choose
from co2forest.tables._columns import (
    MOST_CATEGORIES,
    Categories,
    Cells,
    Column,
    check_flag,
    check_name,
    check_strings,
    column_from_json,
    column_to_json,
)
from co2forest.tables._frames import check_frame
from co2forest.tables.cells import CellError, InfiniteCellError

# A CSR matrix takes 8 bytes for each number that is not zero, an array 4 for each number. On 10,000
# rows training on CSR takes 1.9 times as long at 108 features, of which 9 % are not zero, 1.3 times
# at 258 (5 %), and half as long at 1008 (3 %, a twentieth of the memory).
_SPARSE_FROM = 300  # features
_SPARSE_BELOW = 0.1  # fraction of the numbers that are not zero


class TableEncoder(TransformerMixin, BaseEstimator):
    r"""Learn from a table how its columns become numbers, and convert them.

    - Numbers stay as they are, also if they are written as text. Missing ones become NaN, which a
      forest takes for the mean. If 5 % or more are missing, an indicator tells where.
    - Dates (ISO 8601, or as 24.12.2015) become days since 2000, month, weekday and hour, as far as
      these vary.
    - Text and categories get an indicator for each category that occurs at least twice and in one
      of a thousand rows, up to `max_categories` of the most frequent. All others share one
      indicator, and missing values have their own.
    - Constants and identifiers are dropped. Identifiers are whole numbers without repeats that
      count the rows or have such a name, and text if more than half of the rows have a text of
      their own.

    Parameters
    ----------
    max_categories : int, default=50
        The largest number of category indicators that a column gets.
    drop : sequence of str, default=()
        Columns to leave out.
    keep : sequence of str, default=()
        Columns that are not identifiers, whatever they look like.
    categorical : sequence of str, default=()
        Columns whose numbers stand for categories.

    Attributes
    ----------
    columns_ : list
        The columns in use, and what becomes of each.
    dropped_ : dict of str to str
        The others, and why.
    sparse_ : bool
        Whether `transform` gives a CSR matrix.
    feature_names_in_ : ndarray of str
        Names of the columns in use.
    n_features_out_ : int
        The number of features.

    Examples
    --------
    >>> import pandas as pd
    >>> from co2forest.tables import TableEncoder
    >>> frame = pd.DataFrame({"id": [1, 2, 3, 4], "size": [2.5, 1, 4, 3], "colour": list("rgrg")})
    >>> encoder = TableEncoder().fit(frame)
    >>> encoder.get_feature_names_out().tolist()
    ['size', 'colour=g', 'colour=r']
    >>> print(*encoder.describe(), sep="\n")
    size: a number
    colour: 2 categories
    id: dropped, an identifier: every row has a whole number of its own
    """

    _parameter_constraints: ClassVar[Constraints] = {
        "max_categories": [Interval(Integral, 1, MOST_CATEGORIES, closed="both")],
        "drop": ["array-like"],
        "keep": ["array-like"],
        "categorical": ["array-like"],
    }

    def __init__(
        self,
        max_categories: int = 50,
        *,
        drop: Iterable[str] = (),
        keep: Iterable[str] = (),
        categorical: Iterable[str] = (),
    ) -> None:
        self.max_categories = max_categories
        self.drop = drop
        self.keep = keep
        self.categorical = categorical

    def fit(self, frame: Any, y: Any = None) -> Self:
        """Decide what becomes of the columns of a frame, which must not include the target.

        Parameters
        ----------
        frame : pandas.DataFrame
            The table.
        y : None
            Ignored.

        Returns
        -------
        TableEncoder
            The fitted encoder itself.
        """
        del y
        self._validate_params()
        check_frame(frame)
        asked = {role: self._asked(role, frame) for role in ("drop", "keep", "categorical")}
        columns: list[Column] = []
        dropped: dict[str, str] = {}
        for name in frame.columns:
            chosen: Column | str = "as asked"
            if name not in asked["drop"]:
                chosen = choose(
                    name,
                    frame[name],
                    categorical=name in asked["categorical"],
                    keep=name in asked["keep"],
                    most=int(self.max_categories),
                )
            if isinstance(chosen, str):
                dropped[name] = chosen
            else:
                columns.append(chosen)
        if not columns:
            reasons = [f"{name} ({reason})" for name, reason in dropped.items()]
            raise ValueError(f"no column is left to learn from; dropped: {listed(reasons, 400)}")
        self._set_columns(columns, dropped)
        self.sparse_ = self._is_sparse(frame)
        return self

    def _asked(self, role: str, frame: Any) -> set[str]:
        names = getattr(self, role)
        unknown = [name for name in names if name not in frame.columns]
        if unknown:
            raise ValueError(
                f"{role} names columns that the table does not have: {listed(unknown)}; "
                f"it has {listed(frame.columns)}"
            )
        return set(names)

    def _set_columns(self, columns: list[Column], dropped: dict[str, str]) -> None:
        self.columns_ = columns
        self.dropped_ = dropped
        self.n_features_out_ = sum(len(column.feature_names()) for column in columns)

    @property
    def feature_names_in_(self) -> npt.NDArray[np.object_]:
        """Names of the columns in use."""
        return np.array([column.name for column in self.columns_], dtype=object)

    def _is_sparse(self, frame: Any) -> bool:
        if self.n_features_out_ < _SPARSE_FROM:
            return False
        filled = 0
        for column in self.columns_:
            for rows, values in _encoded(column, frame):
                filled += int(np.count_nonzero(values)) if isinstance(rows, slice) else len(rows)
        return filled < _SPARSE_BELOW * len(frame) * self.n_features_out_

    def transform(self, frame: Any) -> Any:
        """Turn a table into numbers.

        Parameters
        ----------
        frame : pandas.DataFrame
            It must have all columns of ``feature_names_in_``, in any order. Others are ignored.
            Categories that were not in training count as rare ones, or get no indicator at all if
            there were none; `notes` says so.

        Returns
        -------
        ndarray of float32 or scipy.sparse.csr_matrix of shape (rows, features)

        Raises
        ------
        ValueError
            If columns are missing (the message names all of them), or if a cell is of the wrong
            kind, such as a word in a column of numbers.
        """
        check_is_fitted(self)
        check_frame(frame)
        missing = [name for name in self.feature_names_in_ if name not in frame.columns]
        if missing:
            raise ValueError(
                f"the table lacks {len(missing)} of the {len(self.columns_)} columns that the "
                f"model was trained with: {listed(missing)}; it has {listed(frame.columns)}"
            )
        return self._sparse_rows(frame) if self.sparse_ else self._dense_rows(frame)

    def _dense_rows(self, frame: Any) -> npt.NDArray[np.float32]:
        rows = np.zeros((len(frame), self.n_features_out_), dtype=np.float32)
        at = 0
        for column in self.columns_:
            for places, values in _encoded(column, frame):
                rows[places, at] = values
                at += 1
        return rows

    def _sparse_rows(self, frame: Any) -> sp.csr_matrix:
        places_of: list[npt.NDArray[np.int64]] = []
        values_of: list[npt.NDArray[np.float32]] = []
        for column in self.columns_:
            for places, values in _encoded(column, frame):
                if isinstance(places, slice):
                    nonzero = np.flatnonzero(values)
                    places_of.append(nonzero)
                    values_of.append(values[nonzero])
                else:
                    places_of.append(places)
                    filled = np.empty(len(places), dtype=np.float32)
                    filled[:] = values
                    values_of.append(filled)
        begins = np.cumsum([0, *map(len, places_of)])
        arrays = (np.concatenate(values_of), np.concatenate(places_of), begins)
        return sp.csc_matrix(arrays, shape=(len(frame), self.n_features_out_)).tocsr()

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Names of the features: ``column``, ``column=category``, ``column:part`` of a date.

        Parameters
        ----------
        input_features : None
            Ignored.

        Returns
        -------
        ndarray of str
        """
        del input_features
        check_is_fitted(self)
        names = [name for column in self.columns_ for name in column.feature_names()]
        return np.array(names, dtype=object)

    def describe(self) -> list[str]:
        """Describe what becomes of each column, in a line for each.

        Returns
        -------
        list of str
        """
        check_is_fitted(self)
        used = [f"{column.name}: {column.describe()}" for column in self.columns_]
        return used + [f"{name}: dropped, {reason}" for name, reason in self.dropped_.items()]

    def notes(self, frame: Any) -> list[str]:
        """List columns and categories of a table that were not in training.

        Parameters
        ----------
        frame : pandas.DataFrame
            A table that `transform` takes.

        Returns
        -------
        list of str
        """
        check_is_fitted(self)
        known = {*self.feature_names_in_, *self.dropped_}
        extra = [name for name in frame.columns if name not in known]
        notes = [f"columns that were not in training are ignored: {listed(extra)}"] if extra else []
        for column in self.columns_:
            if not isinstance(column, Categories) or column.name not in frame.columns:
                continue
            words, count = column.unseen(frame[column.name])
            if words:
                rows = f"{count} row{'' if count == 1 else 's'}"
                notes.append(
                    f"{column.name}: in {rows}, categories that were not in training, "
                    f"taken for none of the others: {listed(words)}"
                )
        return notes

    def text_columns(self) -> list[str]:
        """List columns whose cells are words, even if they look like numbers.

        Returns
        -------
        list of str
        """
        check_is_fitted(self)
        return [column.name for column in self.columns_ if isinstance(column, Categories)]

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "columns_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags

    # --- files

    def to_json(self) -> dict[str, Any]:
        """Write a fitted encoder as plain values.

        Returns
        -------
        dict
            For `from_json`.
        """
        check_is_fitted(self)
        names = ("drop", "keep", "categorical")
        return {
            "max_categories": int(self.max_categories),
            **{name: [str(item) for item in getattr(self, name)] for name in names},
            "columns": [column_to_json(column) for column in self.columns_],
            "dropped": [[name, reason] for name, reason in self.dropped_.items()],
            "sparse": self.sparse_,
        }

    @classmethod
    def from_json(cls, stored: Any) -> Self:
        """Read a fitted encoder from plain values, none of which is trusted.

        Parameters
        ----------
        stored : dict
            What `to_json` gave.

        Returns
        -------
        TableEncoder

        Raises
        ------
        ModelFormatError
            If anything in it is wrong.
        """
        keys = {"max_categories", "drop", "keep", "categorical", "columns", "dropped", "sparse"}
        if not isinstance(stored, dict) or stored.keys() != keys:
            found = sorted(stored) if isinstance(stored, dict) else stored
            raise ModelFormatError(
                f"an encoder must be an object with {', '.join(sorted(keys))}, got {shown(found)}"
            )
        asked = {}
        for name in ("drop", "keep", "categorical"):
            check_strings(name, stored[name])
            asked[name] = list(stored[name])
        encoder = cls(stored["max_categories"], **asked)
        try:
            encoder._validate_params()
        except ValueError as error:
            raise ModelFormatError(str(error)) from error
        if not isinstance(stored["columns"], list) or not stored["columns"]:
            raise ModelFormatError(f"'columns' must be a list, got {shown(stored['columns'])}")
        columns = [column_from_json(column) for column in stored["columns"]]
        encoder._set_columns(columns, _dropped_from_json(stored["dropped"]))
        names = [*encoder.feature_names_in_, *encoder.dropped_]
        if len(set(names)) != len(names):
            raise ModelFormatError("two columns have the same name")
        check_flag("sparse", stored["sparse"])
        encoder.sparse_ = stored["sparse"]
        return encoder

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        if self.__sklearn_is_fitted__():
            fitted = {"columns_", "dropped_", "n_features_out_", "sparse_"}
            state = {name: value for name, value in state.items() if name not in fitted}
            state["fitted"] = self.to_json()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        fitted = state.pop("fitted", None)
        super().__setstate__(state)
        if fitted is not None:
            checked = type(self).from_json(fitted)
            self._set_columns(checked.columns_, checked.dropped_)
            self.sparse_ = checked.sparse_


def _encoded(column: Column, frame: Any) -> list[Cells]:
    """Encode a column; an error names the place of a cell of the wrong kind."""
    try:
        return column.encode(frame[column.name])
    except InfiniteCellError as error:
        raise ValueError(f"column {column.name!r}, {error}") from None
    except CellError as error:
        raise ValueError(
            f"column {column.name!r}, {error} is not {column.wanted}, as it was in training"
        ) from None


def _dropped_from_json(stored: Any) -> dict[str, str]:
    if not isinstance(stored, list) or not all(
        isinstance(pair, list) and len(pair) == 2 for pair in stored
    ):
        raise ModelFormatError(f"'dropped' must be a list of pairs, got {shown(stored)}")
    for name, reason in stored:
        check_name("dropped", name)
        check_name("dropped", reason)
    if len({name for name, _ in stored}) != len(stored):
        raise ModelFormatError("'dropped' must have different names")
    return dict(stored)
