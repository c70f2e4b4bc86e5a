# SPDX-License-Identifier: BSD-3-Clause
"""The rows that a report shows: which ones, what is said about them, and their features."""

import base64
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from co2forest.data.outputs.base import Floats
from co2forest.models.arguments import image_size
from co2forest.models.evaluation import Evaluation

_SHOWN_COLUMNS = 8
_LONGEST_CELL = 60  # characters
_IMAGE_BYTES = 600_000  # of the pictures of all rows, about as much as a page takes without delay
_FEWEST_ROWS = 20  # that are shown, however large their pictures are
_OTHERS = 0.25  # fraction of the rows shown that are not chosen for their errors

Order = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Picture:
    """How the features of a row lie in an image; several channels are put side by side."""

    height: int
    width: int  # of one channel
    channels: int

    @classmethod
    def of(cls, image_shape: Any, n_features: int) -> "Picture | None":
        """Check ``image_shape``; None if there is none."""
        return None if image_shape is None else cls(*image_size(image_shape, n_features))

    @property
    def n_bytes(self) -> int:
        """What one image takes in the page."""
        return self.height * self.width * self.channels * 4 // 3

    def encode(self, bytes_of_features: npt.NDArray[np.uint8]) -> str:
        """Bytes in the order in which they are drawn."""
        pixels = bytes_of_features.reshape(self.height, self.width, self.channels)
        drawn = np.ascontiguousarray(pixels.transpose(0, 2, 1))
        return base64.b64encode(drawn.tobytes()).decode("ascii")

    def described(self) -> dict[str, int]:
        """As JSON values."""
        return {"height": self.height, "width": self.width * self.channels}


def choose_rows(evaluation: Evaluation, max_rows: int, picture: Picture | None) -> Order:
    """Rows to show: the most wrong first, then others that may be followed through trees."""
    if picture is not None:
        max_rows = min(max_rows, max(_FEWEST_ROWS, _IMAGE_BYTES // picture.n_bytes))
    order = _by_error(evaluation)
    if len(order) <= max_rows:
        return order
    others = int(_OTHERS * max_rows)
    if evaluation.task == "numbers":  # all of which are more or less wrong
        first, rest = order[: max_rows - others], order[max_rows - others :]
    else:
        n_wrong = int(np.count_nonzero(evaluation.wrong))
        others = min(others, len(order) - n_wrong)
        first, rest = order[: min(n_wrong, max_rows - others)], order[n_wrong:]
    return np.concatenate([first, _spread(evaluation, rest, max_rows - len(first))])


def _by_error(evaluation: Evaluation) -> Order:
    """All rows: first the most wrong ones, taking turns over the kinds of confusion."""
    if evaluation.task == "numbers":
        return np.argsort(-_relative_errors(evaluation), kind="stable")
    wrong = np.flatnonzero(evaluation.wrong)
    if evaluation.task == "labels":
        distance = np.abs(evaluation.probability - evaluation.truth)
        first = wrong[np.argsort(-distance[wrong].max(axis=1), kind="stable")]
    else:
        sure = wrong[np.argsort(-evaluation.confidence[wrong], kind="stable")]
        cell = evaluation.truth[sure] * len(evaluation.names) + evaluation.prediction[sure]
        first = sure[np.argsort(_rank_in_group(cell), kind="stable")]
    return np.concatenate([first, np.flatnonzero(~evaluation.wrong)])


def _relative_errors(evaluation: Evaluation) -> Floats:
    """The largest error of each row over its outputs, in units of these."""
    error = np.abs(evaluation.prediction - evaluation.truth)
    unit = error.max(axis=0)
    relative: Floats = (error / np.where(unit > 0, unit, 1)).max(axis=1)
    return relative


def _rank_in_group(group: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """0 for the first of each group, 1 for the second, ..."""
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    rank = np.empty(len(group), dtype=np.int64)
    rank[order] = np.arange(len(group)) - np.repeat(starts, np.diff(starts, append=len(group)))
    return rank


def _spread(evaluation: Evaluation, rows: Order, count: int) -> Order:
    """Some of the rows: equally many from each class, or from the whole range of y."""
    if evaluation.task == "classes":
        rank = _rank_in_group(evaluation.truth[rows])
        return np.sort(rows[np.argsort(rank, kind="stable")[:count]])
    if evaluation.task == "numbers":
        rows = rows[np.argsort(evaluation.truth[rows, 0], kind="stable")]
    if len(rows) <= count:
        return np.sort(rows)
    return np.sort(rows[np.linspace(0, len(rows) - 1, count).astype(np.intp)])


def row_table(
    evaluation: Evaluation, chosen: Order, importances: Floats, picture: Picture | None
) -> dict[str, Any]:
    """What is shown of the chosen rows, a list for each column."""
    table: dict[str, Any] = {
        "number": chosen.tolist(),
        "index": None if evaluation.index is None else [evaluation.index[i] for i in chosen],
        "truth": evaluation.truth[chosen].tolist(),
        "prediction": evaluation.prediction[chosen].tolist(),
        "probability": None,
        "columns": [],
        "images": None,
    }
    if evaluation.task == "classes":
        table["probability"] = evaluation.confidence[chosen].tolist()
    elif evaluation.task == "labels":
        table["probability"] = evaluation.probability[chosen].tolist()
    if picture is not None:
        table["images"] = _images(_dense(evaluation.rows[chosen]), picture)
    else:
        strongest = np.argsort(-importances, kind="stable")[:_SHOWN_COLUMNS]
        names = [evaluation.view.column_names[j] for j in strongest]
        values = _columns_of(evaluation, chosen, strongest)
        table["columns"] = [
            {"name": name, "values": cells} for name, cells in zip(names, values, strict=True)
        ]
    return table


def _columns_of(evaluation: Evaluation, chosen: Order, columns: Order) -> list[list[Any]]:
    """The cells of some rows in some columns."""
    if evaluation.given is None:
        return list(_dense(evaluation.cells[chosen][:, columns]).T.tolist())
    return [[_cell(value) for value in evaluation.given[j](chosen)] for j in columns]


def _cell(value: Any) -> float | str | None:
    """A cell of a table: a number, text, or None where it is missing."""
    if isinstance(value, str):
        return value if len(value) <= _LONGEST_CELL else value[: _LONGEST_CELL - 3] + "..."
    if isinstance(value, Real) and not isinstance(value, bool | np.bool_):
        return int(value) if isinstance(value, Integral) else float(value)
    missing = value is None or (value != value) is not False  # noqa: PLR0124  NaT, pandas.NA
    return None if missing else str(value)


def _dense(rows: Any) -> Floats:
    return np.asarray(rows.toarray() if sp.issparse(rows) else rows, dtype=np.float64)


def _images(rows: Floats, picture: Picture) -> list[str]:
    """Each row from its least to its greatest number, as grey values."""
    finite = np.where(np.isfinite(rows), rows, np.nan)
    low = np.nanmin(finite, axis=1, keepdims=True, initial=np.inf)
    high = np.nanmax(finite, axis=1, keepdims=True, initial=-np.inf)
    range_ = np.where(high > low, high - low, 1)
    grey = np.nan_to_num(255 * (finite - low) / range_).astype(np.uint8)
    return [picture.encode(row) for row in grey]
