# SPDX-License-Identifier: BSD-3-Clause
"""Columns of a table as estimators take them: numbers and categories."""

from collections.abc import Iterable
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from co2forest.exceptions import ModelFormatError
from co2forest.files.messages import listed, shown
from co2forest.files.seals import sealed, unsealed
from co2forest.fitting.parameters import Constraints
from co2forest.tables._choice import choose
from co2forest.tables._columns import Categories, Column, Gaps
from co2forest.tables._frames import check_frame
from co2forest.tables._optional import library
from co2forest.tables._stored import check_name, check_strings, column_from_json, column_to_json
from co2forest.tables.cells import CellError, InfiniteCellError

_ROLES = ("drop", "keep", "categorical")
_OF_WORDS = (Categories.kind, Gaps.kind)
_EARLIER = {"max_categories", "sparse"}  # what earlier files have, and nothing needs any more


class TableEncoder(TransformerMixin, BaseEstimator):
    r"""Learn from a table which columns are of use, and make numbers and categories of them.

    - Numbers stay as they are. Those that are written as text become numbers.
    - Dates (ISO 8601, or as 24.12.2015) become days since 2000, month, weekday and hour, as far as
      these vary.
    - Text becomes categories. Estimators of this library take them, and gaps, as they are.
    - Constants and identifiers are dropped. Identifiers are whole numbers without repeats that
      count the rows or have such a name, and text if more than half of the rows have a text of
      their own. If such a column has gaps, a feature says where they are.

    Parameters
    ----------
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
    feature_names_in_ : ndarray of str
        Names of the columns in use.
    n_features_out_ : int
        The number of features.
    column_of_feature_ : ndarray of int
        The index of the column that each feature is made of.

    Examples
    --------
    >>> import pandas as pd
    >>> from co2forest.tables import TableEncoder
    >>> frame = pd.DataFrame({"id": [1, 2, 3, 4], "size": [2.5, 1, 4, 3], "colour": list("rgrg")})
    >>> encoder = TableEncoder().fit(frame)
    >>> encoder.get_feature_names_out().tolist()
    ['size', 'colour']
    >>> print(*encoder.describe(), sep="\n")
    size: a number
    colour: 2 categories
    id: dropped, an identifier: every row has a whole number of its own
    """

    _parameter_constraints: ClassVar[Constraints] = {
        "drop": ["array-like"],
        "keep": ["array-like"],
        "categorical": ["array-like"],
    }

    def __init__(
        self,
        *,
        drop: Iterable[str] = (),
        keep: Iterable[str] = (),
        categorical: Iterable[str] = (),
    ) -> None:
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
        asked = {role: self._asked(role, frame) for role in _ROLES}
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
                )
            if isinstance(chosen, str):
                dropped[name] = chosen
            else:
                columns.append(chosen)
        if not columns:
            reasons = [f"{name} ({reason})" for name, reason in dropped.items()]
            raise ValueError(f"no column is left to learn from; dropped: {listed(reasons, 400)}")
        self._set_columns(columns, dropped)
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

    @property
    def column_of_feature_(self) -> npt.NDArray[np.intp]:
        """The index of the column that each feature is made of."""
        counts = [len(column.feature_names()) for column in self.columns_]
        return np.repeat(np.arange(len(counts)), counts)

    def transform(self, frame: Any) -> Any:
        """Make a table of numbers and categories.

        Parameters
        ----------
        frame : pandas.DataFrame
            It must have all columns of ``feature_names_in_``, in any order. Others are ignored.

        Returns
        -------
        pandas.DataFrame
            A column for each of `get_feature_names_out`. Columns of numbers are those of the
            frame, without a copy; NaN and other gaps stay.

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
        cells = [each for column in self.columns_ for each in _encoded(column, frame)]
        # By their places, because columns may have names such as when:month themselves.
        rows = library("pandas").DataFrame(dict(enumerate(cells)), index=frame.index, copy=False)
        return rows.set_axis(self.get_feature_names_out(), axis=1)

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Names of the features: ``column``, ``column:part`` of a date, ``column is missing``.

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
        """List what a table has that was not in training: columns.

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
        return [f"columns that were not in training are ignored: {listed(extra)}"] if extra else []

    def text_columns(self) -> list[str]:
        """List columns whose cells are words, even if they look like numbers.

        Returns
        -------
        list of str
        """
        check_is_fitted(self)
        return [column.name for column in self.columns_ if column.kind in _OF_WORDS]

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
        return {
            **{name: [str(item) for item in getattr(self, name)] for name in _ROLES},
            "columns": [column_to_json(column) for column in self.columns_],
            "dropped": [[name, reason] for name, reason in self.dropped_.items()],
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
        keys = {*_ROLES, "columns", "dropped"}
        if not isinstance(stored, dict) or stored.keys() - _EARLIER != keys:
            found = sorted(stored) if isinstance(stored, dict) else stored
            raise ModelFormatError(
                f"an encoder must be an object with {', '.join(sorted(keys))}, got {shown(found)}"
            )
        asked = {}
        for name in _ROLES:
            check_strings(name, stored[name])
            asked[name] = list(stored[name])
        encoder = cls(**asked)
        if not isinstance(stored["columns"], list) or not stored["columns"]:
            raise ModelFormatError(f"'columns' must be a list, got {shown(stored['columns'])}")
        columns = [column_from_json(column) for column in stored["columns"]]
        encoder._set_columns(columns, _dropped_from_json(stored["dropped"]))
        names = [*encoder.feature_names_in_, *encoder.dropped_]
        if len(set(names)) != len(names):
            raise ModelFormatError("two columns have the same name")
        return encoder

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        if self.__sklearn_is_fitted__():
            fitted = {"columns_", "dropped_", "n_features_out_"}
            state = {name: value for name, value in state.items() if name not in fitted}
            state["fitted"] = self.to_json()
        return sealed(self, state)

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = unsealed(self, state)
        fitted = state.pop("fitted", None)
        super().__setstate__(state)
        if fitted is not None:
            checked = type(self).from_json(fitted)
            self._set_columns(checked.columns_, checked.dropped_)


def _encoded(column: Column, frame: Any) -> list[Any]:
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
