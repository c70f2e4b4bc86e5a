# SPDX-License-Identifier: BSD-3-Clause
"""Model files: one safetensors file that holds a complete fitted estimator.

The header's metadata has one entry, "co2forest", with a JSON object (one entry only, because
safetensors writes several in random order, and the same model must be the same bytes):

- ``format``: 1. A reader refuses a higher number, and reads every lower one;
- ``library_version``, ``estimator``, ``parameters``;
- ``fitted``: classes, names of features and whatever else is small;
- ``members``, only for an ensemble: estimator, parameters and fitted values of each, by name;
- ``table``, only for a `TableModel`: the target, and how columns become features;
- ``checksum``: SHA-256 of all the above and of all arrays.

The arrays are those of the native forest (``forest.left``, ...; ``native/forest/forest.hpp`` says
what they mean; ``forest.weight`` holds bfloat16 as uint16) and those of the estimator. Those of a
member have its name in front (``boosting.forest.left``). The checksum finds accidents. It is no
protection against intent, so what is read is checked as if it had none.
"""

import os
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from co2forest._one_fit import as_it_is
from co2forest.exceptions import ModelFormatError
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
from co2forest.files.safetensors_file import SafetensorsFile, write_safetensors
from co2forest.files.storable import (
    ForestArrays,
    Storable,
    StorableEnsemble,
    StorableForest,
)
from co2forest.files.untrusted_json import parse

__all__ = ["FORMAT", "TRUSTED_TYPES", "load_model", "save_model"]

FORMAT = 1

_METADATA = "co2forest"
_OF_ESTIMATOR = {"estimator", "parameters", "fitted"}
_KEYS = _OF_ESTIMATOR | {"format", "library_version", "members", "table", "checksum"}
_FOREST = "forest."  # begins the names of the native arrays


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
    about, arrays = _describe(as_it_is(estimator))
    header = {"format": FORMAT, "library_version": version("co2forest"), **about}
    if table is not None:
        header["table"] = table
    header["checksum"] = checksum(header, arrays)
    texts = {_METADATA: canonical(header)}
    write_atomically(Path(path), lambda file: write_safetensors(file, arrays, texts))


def _describe(estimator: Storable) -> tuple[dict[str, Any], ForestArrays]:
    """What the header says about a fitted estimator, and its arrays."""
    fitted, arrays = estimator._stored()  # noqa: SLF001
    defaults = type(estimator)().get_params(deep=False)
    about: dict[str, Any] = {
        "estimator": type(estimator).__name__,
        "parameters": encode_parameters(estimator.get_params(deep=False), defaults),
        "fitted": fitted,
    }
    if isinstance(estimator, StorableEnsemble):
        about["members"] = {}
        for name, member in estimator._members().items():  # noqa: SLF001
            about["members"][name], its_arrays = _describe(member)
            arrays |= {f"{name}.{key}": array for key, array in its_arrays.items()}
    elif isinstance(estimator, StorableForest):
        native = estimator._forest.arrays()  # noqa: SLF001
        arrays |= {_FOREST + name: array for name, array in native.items()}
    return about, arrays


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


def read_header(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What a file says about its model, of which only the format is checked."""
    with SafetensorsFile(Path(path)) as file:
        return _parse(file)


def _read(path: Path, *, mapped: bool) -> tuple[dict[str, Any], ForestArrays]:
    """The header and the arrays of a file whose checksum is right."""
    with SafetensorsFile(path) as file:
        header = _parse(file)
        arrays = file.arrays(mapped=_FOREST + "weight" if mapped else None)
    if header.get("checksum") != checksum(header, arrays):
        raise ModelFormatError("the checksum is wrong: the file is damaged")
    return header, arrays


def _parse(file: SafetensorsFile) -> dict[str, Any]:
    if _METADATA not in file.texts:
        raise ModelFormatError("a safetensors file, but not a model of co2forest")
    header = parse(file.texts[_METADATA], file.n_bytes)
    try:
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


def _restore(header: dict[str, Any], arrays: ForestArrays, *, mapped: bool) -> Any:
    """What a header and its arrays describe, all of it checked."""
    if header.keys() - _KEYS:
        raise ModelFormatError(f"unknown entries: {shown(sorted(header.keys() - _KEYS))}")
    name = header.get("estimator")
    if not isinstance(name, str) or name not in ESTIMATORS:
        raise ModelFormatError(
            f"unknown estimator {shown(name)}, written by {_writer(header)}; "
            f"this is {version('co2forest')}"
        )
    estimator = _restore_estimator(estimator_class(name), header, arrays, mapped=mapped)
    if "table" not in header:
        return estimator
    return table_model_class()._restored(header["table"], estimator)  # noqa: SLF001


def _restore_estimator(
    kind: Any, about: dict[str, Any], arrays: ForestArrays, *, mapped: bool
) -> Any:
    """An estimator of a known class, as an entry of the header and its arrays describe it."""
    known = kind().get_params(deep=False)
    estimator: Storable = kind(**decode_parameters(about.get("parameters"), known))
    try:
        estimator._validate_params()  # noqa: SLF001
    except ValueError as error:
        raise ModelFormatError(str(error)) from error
    fields = Fields(about.get("fitted"), arrays)
    if isinstance(estimator, StorableEnsemble) != ("members" in about):
        raise ModelFormatError(f"'members' are those of ensembles, not of {kind.__name__}")
    try:
        if isinstance(estimator, StorableEnsemble):
            members = _restore_members(estimator, about["members"], fields, mapped=mapped)
            estimator._restore(fields, members)  # noqa: SLF001
        elif isinstance(estimator, StorableForest):
            forest = fields.arrays_of(_FOREST)
            estimator._restore(fields, forest, borrow_weights=mapped)  # noqa: SLF001
        estimator._check_consistency()  # noqa: SLF001
    except ModelFormatError:
        raise
    except (ValueError, TypeError, OverflowError) as error:  # the forest refuses its arrays
        raise ModelFormatError(str(error)) from error
    fields.refuse_the_rest()
    return estimator


def _restore_members(
    ensemble: StorableEnsemble, described: Any, fields: Fields, *, mapped: bool
) -> dict[str, StorableForest]:
    """The members of an ensemble, which must be of its kinds."""
    kinds = ensemble._member_kinds  # noqa: SLF001
    if not isinstance(described, dict) or described.keys() != kinds.keys():
        raise ModelFormatError(
            f"'members' must be an object with {' and '.join(kinds)}, got {shown(described)}"
        )
    members = {}
    for name, kind in kinds.items():
        about = described[name]
        if not isinstance(about, dict) or about.keys() != _OF_ESTIMATOR:
            raise ModelFormatError(
                f"the member {name!r} must be an object with {', '.join(sorted(_OF_ESTIMATOR))}, "
                f"got {shown(about)}"
            )
        if about["estimator"] != kind.__name__:
            raise ModelFormatError(
                f"the member {name!r} must be a {kind.__name__}, got {shown(about['estimator'])}"
            )
        arrays = fields.arrays_of(f"{name}.")
        members[name] = _restore_estimator(kind, about, arrays, mapped=mapped)
    return members
