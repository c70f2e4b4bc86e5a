# SPDX-License-Identifier: BSD-3-Clause
"""Tables of the commands: reading, splitting and describing them."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from co2forest import (
    CO2BoostingClassifier,
    CO2BoostingRegressor,
    CO2EnsembleClassifier,
    CO2EnsembleRegressor,
    CO2ForestClassifier,
    CO2ForestRegressor,
)
from co2forest.cli.messages import complain, counted, nearest
from co2forest.cli.outputs import check_outputs, prepare_folder
from co2forest.files.messages import listed, one_line
from co2forest.tables import TableEncoder, read_table
from co2forest.tables.cells import number_of
from co2forest.tables.target import CLASSIFICATION, Target, read_target

STANDARD_INPUT = "-"

_KINDS: dict[str, tuple[Any, Any]] = {
    "ensemble": (CO2EnsembleClassifier, CO2EnsembleRegressor),
    "forest": (CO2ForestClassifier, CO2ForestRegressor),
    "boosting": (CO2BoostingClassifier, CO2BoostingRegressor),
}


def name_of(path: Path) -> str:
    """What messages call a file of data."""
    return "standard input" if str(path) == STANDARD_INPUT else one_line(path)


def inputs_of(*paths: Path | None) -> list[Path]:
    """Files that are read, and must not be written."""
    return [path for path in paths if path is not None and str(path) != STANDARD_INPUT]


def naming(path: Path, error: Exception) -> ValueError:
    """The same message, with the file in front if it is not there yet."""
    message = str(error)
    known = message.startswith((str(path), name_of(path)))
    return ValueError(message if known else f"{name_of(path)}: {message}")


class Training:
    """A table to learn from: its columns, its target, and how they are to be used."""

    def __init__(
        self,
        path: Path,
        *,
        target: str | None,
        task: str,
        no_header: bool,
        weights: str | None,
        **roles: list[str] | None,  # drop, keep, categorical: columns, or several between commas
    ) -> None:
        self.path, self.weights = path, weights
        frame = read_table(str(path), header=not no_header)
        self.target = find_target(path, frame, target)
        if weights is not None:
            check_column(path, frame, weights, "--weights")
        columns: dict[str, Any] = {
            role: check_columns(path, frame, names or [], role) for role, names in roles.items()
        }
        for role, names in {**columns, "weights": [weights]}.items():
            if self.target in names:
                raise ValueError(f"--{role} names {self.target}, which is the target")
        self.encoder = TableEncoder(**columns)
        try:
            found = read_target(frame[self.target], task)
        except ValueError as error:
            said = str(error).replace("task='regression'", "--task regression")
            raise naming(path, ValueError(said)) from error
        self.n_rows_in_file = len(frame)
        self._row_in_file = np.flatnonzero(found.known)
        self.frame = frame[found.known].reset_index(drop=True)
        self.answers: Target = found
        self.row_weights = weights_of(path, self.frame, self.weights)

    @property
    def y(self) -> npt.NDArray[Any]:
        """The answers of all rows that have one."""
        return self.answers.values

    @property
    def classes(self) -> bool:
        """Whether classes are to be predicted."""
        return self.answers.task == CLASSIFICATION

    @property
    def features(self) -> Any:
        """The columns without target and weights."""
        others = [self.target] if self.weights is None else [self.target, self.weights]
        features = self.frame.drop(columns=others)
        if features.shape[1] == 0:
            raise ValueError(f"{name_of(self.path)}: has no column to learn from")
        return features

    def fitted_encoder(self) -> TableEncoder:
        """What becomes of the columns; raises if a cell cannot be used, by its row in the file."""
        features = self.features
        try:
            encoder: TableEncoder = clone(self.encoder).fit(features)
            try:
                encoder.transform(features)
            except ValueError:  # again with the rows that were left out, so that it counts them
                whole = features.set_axis(self._row_in_file).reindex(range(self.n_rows_in_file))
                encoder.transform(whole)
                raise
        except ValueError as error:
            raise naming(self.path, error) from error
        return encoder

    def subset(self, rows: npt.NDArray[np.intp] | slice) -> tuple[Any, npt.NDArray[Any], Any]:
        """Features, answers and weights of some rows."""
        weights = None if self.row_weights is None else self.row_weights[rows]
        return self.features.iloc[rows], self.y[rows], weights

    def describe(self) -> None:
        """Say what was found, and why it is taken for classes or numbers."""
        without = self.n_rows_in_file - len(self.frame)
        rows = counted(len(self.frame), "row")
        if without:
            rows += f" ({without} without {one_line(self.target)} left out)"
        complain(f"{name_of(self.path)}: {rows}, {counted(self.features.shape[1], 'column')}")
        complain(f"{self.answers.task}, because {self.answers.reason}")


def read_training(
    data: Path, out: Path | None, *, overwrite: bool, **columns: Any
) -> tuple[Training, TableEncoder]:
    """Read a table and say what becomes of it; before that, see that ``out`` can be written."""
    if out is not None:
        check_outputs([out], inputs_of(data), overwrite=overwrite)
    training = Training(data, **columns)
    if out is not None:
        prepare_folder(out.parent)
    training.describe()
    encoder = training.fitted_encoder()
    _describe_encoder(encoder)
    return training, encoder


def new_estimator(training: Training, model: str, **parameters: Any) -> Any:
    """What learns classes or numbers: a "forest", "boosting", or an "ensemble" of both."""
    of_classes, of_numbers = _KINDS[model]
    return (of_classes if training.classes else of_numbers)(**parameters)


def _describe_encoder(encoder: TableEncoder) -> None:
    """Say what becomes of the columns; those that are treated the same in one line."""
    fates: dict[str, list[str]] = {}
    for column in encoder.columns_:
        fates.setdefault(column.describe(), []).append(column.name)
    for name, reason in encoder.dropped_.items():
        fates.setdefault(f"dropped, {reason}", []).append(name)
    for fate, names in fates.items():
        complain(f"{listed(names)}: {fate}")


def weights_of(path: Path, frame: Any, column: str | None) -> npt.NDArray[np.float64] | None:
    """The column of --weights as numbers."""
    if column is None:
        return None
    try:
        weights = frame[column].to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError):
        weights = np.array([np.nan])
    if not np.isfinite(weights).all() or (weights < 0).any() or not weights.any():
        raise ValueError(
            f"{name_of(path)}: --weights {column} must have numbers that are not negative, and "
            "not all zero"
        )
    return np.asarray(weights)


def check_column(path: Path, frame: Any, name: str, option: str) -> None:
    """A column that an option names must be there."""
    if name in frame.columns:
        return
    missing = f"{name_of(path)}: {option}: there is no column {name}"
    if np.mean([number_of(column) is not None for column in frame.columns]) > 0.5:
        raise ValueError(f"{missing}; the first line looks like data, not names: --no-header")
    raise ValueError(f"{missing}{nearest(name, frame.columns)}")


def find_target(path: Path, frame: Any, asked: str | None) -> str:
    """The column to predict: as asked, or as the format of the file says."""
    target = asked or frame.attrs.get("target")
    if target is None:
        columns = listed([str(name) for name in frame.columns])
        raise ValueError(f"{name_of(path)}: name the column to predict by --target: {columns}")
    check_column(path, frame, target, "--target")
    return str(target)


def check_columns(path: Path, frame: Any, given: Iterable[str], role: str) -> list[str]:
    """Names of columns of an option: each value is one, or several between commas."""
    names: list[str] = []
    for value in given:
        pieces = [value] if value in frame.columns else value.split(",")
        names += [piece.strip() for piece in pieces if piece.strip()]
    for name in names:
        check_column(path, frame, name, f"--{role}")
    return list(dict.fromkeys(names))
