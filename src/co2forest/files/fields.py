# SPDX-License-Identifier: BSD-3-Clause
"""Plain values in the header of a model file: how they are written, and read without trust."""

import json
import re
from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from co2forest.exceptions import ModelFormatError
from co2forest.files.messages import shown, warn_caller

# How a fit runs, not what it gives: a model is the same file for every number of threads, and the
# machine that loads it has other cores.
NOT_STORED = frozenset({"n_jobs", "verbose"})

# Labels that `fit` takes: NumPy's names of booleans, integers, floats, strings, dates, durations.
_LABEL_DTYPE = re.compile(
    r"\|b1|\|[iu]1|[<>][iu][248]|[<>]f(2|4|8|12|16)|[<>]U[1-9][0-9]{0,7}|\|O"
    r"|[<>][mM]8(\[([1-9][0-9]{0,8})?(Y|M|W|D|h|m|s|ms|us|ns|ps|fs|as)\])?"
)
# Characters. A label that is predicted takes the width of the dtype, so a file must not decide it.
_WIDEST_BEYOND_NEED = 1000


class Fields:
    """Named values and arrays of a file; whatever is not as it should be raises."""

    def __init__(self, values: Any, arrays: dict[str, npt.NDArray[Any]]) -> None:
        if not isinstance(values, dict):
            raise ModelFormatError("'fitted' must be an object")
        self._values: dict[str, Any] = dict(values)
        self._arrays = dict(arrays)

    def __contains__(self, name: str) -> bool:
        return name in self._values or name in self._arrays

    def value(self, name: str) -> Any:
        """Any value."""
        if name not in self._values:
            raise ModelFormatError(f"{name!r} is missing")
        return self._values.pop(name)

    def number(self, name: str) -> float:
        """A number; null stands for NaN, which JSON does not have."""
        value = self.value(name)
        if value is None:
            return float("nan")
        if type(value) not in (int, float) or abs(value) > 1e300:
            _refuse(name, value, "a number or null")
        return float(value)

    def strings(self, name: str, count: int) -> npt.NDArray[np.object_]:
        """As many strings as said."""
        values = self.value(name)
        strings = isinstance(values, list) and all(type(value) is str for value in values)
        if not strings or len(values) != count:
            _refuse(name, values, f"a list of {count} strings")
        return np.array(values, dtype=object)

    def labels(self, name: str) -> npt.NDArray[Any]:
        """Labels as `encode_labels` writes them."""
        return _decode_labels(name, self.value(name))

    def array(self, name: str, shape: tuple[int, ...]) -> npt.NDArray[np.float64]:
        """Finite float64 numbers of a shape."""
        array = self.any_array(name)
        if array.dtype != np.float64 or array.shape != shape or not np.isfinite(array).all():
            raise ModelFormatError(
                f"the array {name!r} must hold finite float64 numbers of shape {shape}, "
                f"but is {array.dtype} of shape {array.shape}"
                + ("" if np.isfinite(array).all() else " and not finite")
            )
        return array

    def any_array(self, name: str) -> npt.NDArray[Any]:
        """An array of which nothing is known yet."""
        if name not in self._arrays:
            raise ModelFormatError(f"the array {name!r} is missing")
        return self._arrays.pop(name)

    def arrays_of(self, prefix: str) -> dict[str, npt.NDArray[Any]]:
        """All arrays whose names begin so, without that beginning."""
        names = [name for name in self._arrays if name.startswith(prefix)]
        return {name.removeprefix(prefix): self._arrays.pop(name) for name in names}

    def refuse_the_rest(self) -> None:
        """Nothing may be left that nobody has read."""
        left = [*self._values, *self._arrays]
        if left:
            raise ModelFormatError(f"unknown entries: {shown(left)}")


def check_integer(name: str, value: Any, low: int, high: int) -> None:
    """Raise unless it is a whole number in [low, high]."""
    if type(value) is not int or not low <= value <= high:
        _refuse(name, value, f"a whole number from {low} to {high}")


def encode_labels(labels: npt.NDArray[Any]) -> dict[str, Any]:
    """Labels as JSON values with their dtype."""
    dtype = labels.dtype
    values = labels.tolist()
    if dtype.kind == "O" and all(isinstance(value, str) for value in values):
        values = [str.__str__(value) for value in values]  # np.str_ and enumerations, too
    elif dtype.kind == "O" or dtype.names is not None or not _LABEL_DTYPE.fullmatch(dtype.str):
        kinds = sorted({type(value).__name__ for value in values})
        raise TypeError(
            f"labels of dtype {dtype} ({', '.join(kinds)}) cannot be stored; numbers, booleans, "
            "dates and strings can"
        )
    elif dtype.kind in "mM":
        values = labels.astype(dtype.newbyteorder("=")).view(np.int64).tolist()
    elif dtype.kind == "f":
        values = [int(label) for label in labels]  # fit takes no others; also exact for float128
    elif dtype.kind == "U" and dtype.itemsize // 4 > _widest(values):
        dtype = np.dtype(f"{dtype.byteorder}U{_widest(values)}")
    return {"dtype": dtype.str, "values": values}


def _widest(values: list[str]) -> int:
    return max(map(len, values), default=0) + _WIDEST_BEYOND_NEED


def _decode_labels(name: str, stored: Any) -> npt.NDArray[Any]:
    if not isinstance(stored, dict) or stored.keys() != {"dtype", "values"}:
        _refuse(name, stored, "an object with 'dtype' and 'values'")
    values = stored["values"]
    if not (isinstance(stored["dtype"], str) and _LABEL_DTYPE.fullmatch(stored["dtype"])):
        _refuse(f"{name}.dtype", stored["dtype"], "the dtype of labels")
    try:
        dtype = np.dtype(stored["dtype"])
    except (TypeError, ValueError):  # float128 or a unit that this machine does not have
        _refuse(f"{name}.dtype", stored["dtype"], "a dtype of this machine's NumPy")
    needed = {"b": bool, "U": str, "O": str}.get(dtype.kind, int)
    if not isinstance(values, list) or not all(type(value) is needed for value in values):
        _refuse(f"{name}.values", values, f"a list of {needed.__name__}")
    if dtype.kind == "U" and dtype.itemsize // 4 > _widest(values):
        _refuse(f"{name}.dtype", stored["dtype"], f"not longer than U{_widest(values)}")
    try:
        with np.errstate(over="ignore"):
            if dtype.kind in "mM":
                whole = np.array(values, dtype=np.int64)
                labels = whole.view(dtype.newbyteorder("=")).astype(dtype)
            else:
                labels = np.array(values, dtype=object).astype(dtype)
        same = encode_labels(labels)["values"] == values  # neither cut off nor rounded
    except (OverflowError, ValueError):
        same = False
    if not same:
        _refuse(f"{name}.values", values, f"labels of dtype {dtype}")
    if len(np.unique(labels)) != len(labels):
        _refuse(f"{name}.values", values, "different from each other")
    return labels


def encode_parameters(parameters: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters as JSON values; those that have none become the default, with a warning."""
    encoded = {}
    for name, value in parameters.items():
        if name in NOT_STORED:
            continue
        try:
            encoded[name] = _encode_parameter(value)
        except (TypeError, ValueError):
            warn_caller(
                f"{name}={value!r} cannot be stored in a model file; the loaded model will have "
                f"{name}={defaults[name]!r}. Predictions are not affected."
            )
            encoded[name] = defaults[name]
    return encoded


def _encode_parameter(value: Any) -> Any:
    if isinstance(value, dict):  # class_weight: its keys are labels, which JSON would make strings
        pairs = [[_encode_scalar(key), _encode_scalar(weight)] for key, weight in value.items()]
        return {"pairs": pairs}
    if isinstance(value, (list, tuple, np.ndarray)) and np.ndim(value) == 1:
        return {"items": [_encode_scalar(item) for item in value]}  # categorical_features
    if isinstance(value, (list, tuple, np.ndarray)):  # cost_matrix
        rows = np.asarray(value, dtype=np.float64)
        json.dumps(rows.tolist(), allow_nan=False)
        return {"rows": rows.tolist()}
    return _encode_scalar(value)


def _encode_scalar(value: Any) -> Any:
    plain = value.item() if isinstance(value, np.generic) else value
    if plain is not None and type(plain) not in (bool, int, float, str):
        raise TypeError(f"{value!r} is not a plain value")
    json.dumps(plain, allow_nan=False)
    return plain


def decode_parameters(stored: Any, known: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters to construct an estimator with; their values are not yet checked."""
    if not isinstance(stored, dict):
        _refuse("parameters", stored, "an object")
    unknown = stored.keys() - (known.keys() - NOT_STORED)
    if unknown:
        raise ModelFormatError(f"unknown parameters: {shown(sorted(unknown))}")
    return {name: _decode_parameter(name, value) for name, value in stored.items()}


def _decode_parameter(name: str, value: Any) -> Any:
    if isinstance(value, dict) and value.keys() == {"rows"}:
        return _decode_rows(name, value["rows"])
    if isinstance(value, dict) and value.keys() == {"items"}:
        items = value["items"]
        if not isinstance(items, list) or not all(map(_is_scalar, items)):
            _refuse(name, items, "a list of plain values")
        return items
    if isinstance(value, dict):
        pairs = value.get("pairs")
        if (
            value.keys() != {"pairs"}
            or not isinstance(pairs, list)
            or not all(
                isinstance(pair, list) and len(pair) == 2 and all(map(_is_scalar, pair))
                for pair in pairs
            )
        ):
            _refuse(name, value, "pairs of labels and weights")
        return dict(pairs)
    if not _is_scalar(value):
        _refuse(name, value, "a plain value")
    return value


def _decode_rows(name: str, rows: Any) -> list[list[float]]:
    if not isinstance(rows, list) or not all(
        isinstance(row, list) and all(type(number) is float for number in row) for row in rows
    ):
        _refuse(name, rows, "rows of numbers")
    return rows


def _is_scalar(value: Any) -> bool:
    return value is None or type(value) in (bool, int, float, str)


def _refuse(name: str, value: Any, right: str) -> NoReturn:
    raise ModelFormatError(f"{name!r} must be {right}, got {shown(value)}")
