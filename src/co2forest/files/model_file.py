# SPDX-License-Identifier: BSD-3-Clause
"""Model files: one safetensors file that holds a complete fitted estimator.

The header's metadata has one entry, "co2forest", with a JSON object (one entry only, because
safetensors writes several in random order, and the same model must be the same bytes):

- ``format``: 1. A reader refuses a higher number, and reads every lower one;
- ``library_version``, ``estimator``, ``parameters``;
- ``fitted``: classes, names of features and whatever else is small;
- ``table``, only for a `TableModel`: the target, and how columns become features;
- ``checksum``: SHA-256 of all the above and of all arrays.

The arrays are those of the native forest (``forest.left``, ...; ``native/forest/forest.hpp`` says
what they mean; ``forest.weight`` holds bfloat16 as uint16) and those of the estimator. The checksum
finds accidents. It is no protection against intent, so what is read is checked as if it had none.
"""

import errno
import json
import os
import re
import stat
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file
from sklearn.utils.validation import check_is_fitted

from co2forest._one_fit import as_it_is
from co2forest.exceptions import ModelFormatError
from co2forest.files.arrays import aligned
from co2forest.files.atomic import write_atomically
from co2forest.files.checksum import canonical, checksum
from co2forest.files.fields import Fields, decode_parameters, encode_parameters
from co2forest.files.messages import printable, shown
from co2forest.files.registry import (
    ESTIMATORS,
    TRUSTED_TYPES,
    estimator_class,
    table_model_class,
)
from co2forest.files.storable import Storable

__all__ = ["FORMAT", "TRUSTED_TYPES", "load_model", "save_model"]

FORMAT = 1

_METADATA = "co2forest"
_KEYS = {"format", "library_version", "estimator", "parameters", "fitted", "table", "checksum"}
_MOST_REPLACEMENTS = 100  # of a file while it is read
_FOREST = "forest."  # begins the names of the native arrays
_ForestArrays = dict[str, npt.NDArray[Any]]


def save_model(estimator: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator into one file.

    The file appears complete or not at all: a crash or a full disk leaves what was there before.

    Parameters
    ----------
    estimator : estimator of this library, or TableModel around one
        All of it is written except ``n_jobs`` and ``verbose``, which belong to the machine. A
        parameter that is a function or a generator cannot be written: a warning names it.
    path : str or path-like
        Any name; ``.safetensors`` tells other programs what it is.

    See Also
    --------
    load_model : Reads the file.
    """
    table = None
    if hasattr(estimator, "_stored_table"):  # a model of tables
        estimator = as_it_is(estimator)
        table = estimator._stored_table()  # noqa: SLF001
        estimator = estimator.estimator_
    if hasattr(estimator, "to_local"):  # grown on Dask, but its file is that of any other
        estimator = estimator.to_local()
    known = ESTIMATORS.get(type(estimator).__name__) == type(estimator).__module__
    if not isinstance(estimator, Storable) or not known:
        raise TypeError(
            f"estimator must be one of {', '.join(ESTIMATORS)}, got {type(estimator).__name__}; "
            "for a pipeline use skops.io with trusted=co2forest.TRUSTED_TYPES, for a search, "
            "save its best_estimator_"
        )
    check_is_fitted(estimator)
    estimator = as_it_is(estimator)
    fitted, arrays = estimator._stored()  # noqa: SLF001
    for name, array in estimator._forest.arrays().items():  # noqa: SLF001
        arrays[_FOREST + name] = array
    defaults = type(estimator)().get_params(deep=False)
    header = {
        "format": FORMAT,
        "library_version": version("co2forest"),
        "estimator": type(estimator).__name__,
        "parameters": encode_parameters(estimator.get_params(deep=False), defaults),
        "fitted": fitted,
    }
    if table is not None:
        header["table"] = table
    header["checksum"] = checksum(header, arrays)
    metadata = {_METADATA: canonical(header)}
    write_atomically(Path(path), lambda file: _write_arrays(file, arrays, metadata))


def load_model(path: str | os.PathLike[str], *, mmap_mode: str | None = None) -> Any:
    """Read an estimator that `save_model` wrote.

    Loading runs no code from the file and trusts no number in it. What it returns is safe to use,
    whoever made the file. It does not tell whether the model is a good one.

    Parameters
    ----------
    path : str or path-like
        The file.
    mmap_mode : {None, "r"}, default=None
        With "r", the weights of the hyperplanes, which are nearly all of a large model, stay in the
        file and are shared by all processes that map it. As long as the model lives, the file must
        not be overwritten in place, as ``cp`` does: the model would predict something else, or, if
        the file gets shorter, the system would end the process. Replacing it by `save_model` or
        ``mv`` is safe.

    Returns
    -------
    estimator of this library, or TableModel around one
        As it was saved; ``n_jobs`` and ``verbose`` have their defaults.

    Raises
    ------
    ModelFormatError
        If the file is damaged, inconsistent, or in a newer format than this version knows.
    OSError
        If the file is missing or may not be read.
    """
    if mmap_mode not in (None, "r"):
        raise ValueError(f"mmap_mode must be None or 'r', got {mmap_mode!r}")
    try:
        header, arrays = _read(Path(path), mapped=mmap_mode == "r")
        return _restore(header, arrays, mapped=mmap_mode == "r")
    except ModelFormatError as error:
        raise ModelFormatError(f"{Path(path)}: {printable(error)}") from error


def _read(path: Path, *, mapped: bool) -> tuple[dict[str, Any], _ForestArrays]:
    """The header and the arrays of a file whose checksum is right."""
    for _ in range(_MOST_REPLACEMENTS):
        before = _identity(path)
        try:
            return _read_once(path, mapped=mapped)
        except ModelFormatError:
            # A map opens the file a second time; somebody may have replaced it in between.
            if _identity(path) == before:
                raise
    raise ModelFormatError("the file keeps being replaced")


def _identity(path: Path) -> tuple[int, ...]:
    about = path.stat()
    return about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns


def _read_once(path: Path, *, mapped: bool) -> tuple[dict[str, Any], _ForestArrays]:
    if not stat.S_ISREG(path.stat().st_mode):  # a pipe would wait for ever
        raise ModelFormatError("a directory" if path.is_dir() else "not a regular file")
    with path.open("rb") as plain:  # safetensors says that what it may not read is missing
        beginning = plain.read(2)
    try:
        # Without "pread" the arrays would be read through a map, where a file that somebody
        # truncates in this moment ends the process.
        with safe_open(path, framework="np", backend="pread") as file:
            header = _parse(file.metadata() or {})
            arrays = _read_arrays(file, map_weights_of=path if mapped else None)
    except SafetensorError as error:
        raise ModelFormatError(_diagnosis(beginning, str(error))) from error
    if header.get("checksum") != checksum(header, arrays):
        raise ModelFormatError("the checksum is wrong: the file is damaged")
    return header, arrays


def _diagnosis(beginning: bytes, error: str) -> str:
    """Why safetensors refuses a file, in words for people who do not know it."""
    if not beginning:
        return "the file is empty"
    if "incomplete metadata" in error:
        return "its size is not what its header says: the file is cut off or damaged"
    if beginning[0] == 0x80:  # the first byte of a pickle since protocol 2
        return "a pickle, not a model file; pickle or joblib may load it, if you trust it"
    return f"not a safetensors file ({error})"


def _parse(metadata: dict[str, str]) -> dict[str, Any]:
    if _METADATA not in metadata:
        raise ModelFormatError("a safetensors file, but not a model of co2forest")
    try:
        header = json.loads(metadata[_METADATA])
        canonical(header)  # refuses NaN and infinity, which are not JSON
    except (ValueError, RecursionError) as error:
        raise ModelFormatError(f"the header is not JSON ({error})") from error
    if not isinstance(header, dict) or type(header.get("format")) is not int:
        raise ModelFormatError("the header has no format number")
    if header["format"] > FORMAT:
        raise ModelFormatError(
            f"written in format {shown(header['format'])} by {_writer(header)}; "
            f"co2forest {version('co2forest')} reads formats up to {FORMAT}: please upgrade"
        )
    if header["format"] < 1:
        raise ModelFormatError(f"format {shown(header['format'])} does not exist")
    return header


def _writer(header: dict[str, Any]) -> str:
    return f"co2forest {str(header.get('library_version'))[:40]}"


def _read_arrays(file: Any, map_weights_of: Path | None = None) -> _ForestArrays:
    names = list(file.keys())
    try:
        if map_weights_of is None:
            return {name: file.get_tensor(name) for name in names}
        weights = _FOREST + "weight"
        arrays = {name: file.get_tensor(name) for name in names if name != weights}
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ModelFormatError(
            f"an array has a dtype or shape that NumPy does not support ({error})"
        ) from error
    if weights in names:
        arrays[weights] = _map_array(file, weights, arrays, map_weights_of)
    return arrays


def _map_array(file: Any, name: str, others: _ForestArrays, path: Path) -> npt.NDArray[Any]:
    """An array in the file itself. Arrays lie one behind the other, up to the end of the file."""
    about = file.get_slice(name)
    shape = tuple(about.get_shape())
    if about.get_dtype() != "U16" or len(shape) != 1:
        raise ModelFormatError(f"the array {name!r} must be one row of uint16")
    order = file.offset_keys()
    behind = sum(others[other].nbytes for other in order[order.index(name) + 1 :])
    begin = path.stat().st_size - behind - 2 * shape[0]
    if begin < 0:
        raise ModelFormatError("the file has become shorter")
    if shape[0] == 0:
        return np.empty(0, dtype=np.uint16)
    try:
        array = np.memmap(path, dtype=np.uint16, mode="r", offset=begin, shape=shape)
    except ValueError as error:
        raise ModelFormatError("the file has become shorter") from error
    # Other writers than save_model may begin anywhere.
    return aligned(np.asarray(array))


def _restore(header: dict[str, Any], arrays: _ForestArrays, *, mapped: bool) -> Any:
    """What a header and its arrays describe, all of it checked."""
    estimator = _restore_estimator(header, arrays, mapped=mapped)
    if "table" not in header:
        return estimator
    return table_model_class()._restored(header["table"], estimator)  # noqa: SLF001


def _restore_estimator(header: dict[str, Any], arrays: _ForestArrays, *, mapped: bool) -> Storable:
    if header.keys() - _KEYS:
        raise ModelFormatError(f"unknown entries: {shown(sorted(header.keys() - _KEYS))}")
    name = header.get("estimator")
    if not isinstance(name, str) or name not in ESTIMATORS:
        raise ModelFormatError(
            f"unknown estimator {shown(name)}, written by {_writer(header)}; "
            f"this is {version('co2forest')}"
        )
    kind = estimator_class(name)
    known = kind().get_params(deep=False)
    estimator: Storable = kind(**decode_parameters(header.get("parameters"), known))
    try:
        estimator._validate_params()  # noqa: SLF001
    except ValueError as error:
        raise ModelFormatError(str(error)) from error
    fields = Fields(header.get("fitted"), arrays)
    try:
        estimator._restore(fields, fields.arrays_of(_FOREST), borrow_weights=mapped)  # noqa: SLF001
        estimator._check_consistency()  # noqa: SLF001
    except ModelFormatError:
        raise
    except (ValueError, TypeError, OverflowError) as error:  # the forest refuses its arrays
        raise ModelFormatError(str(error)) from error
    fields.refuse_the_rest()
    return estimator


def _write_arrays(path: Path, arrays: _ForestArrays, metadata: dict[str, str]) -> None:
    try:
        save_file(arrays, path, metadata=metadata)
    except SafetensorError as error:
        number = re.search(r"os error (\d+)", str(error))
        reason = int(number[1]) if number else errno.EIO
        raise OSError(reason, os.strerror(reason), os.fspath(path)) from error
