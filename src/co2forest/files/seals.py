# SPDX-License-Identifier: BSD-3-Clause
"""The seal of a pickled estimator: a digest of all its attributes, so that damage is noticed.

Pickles have no checksum. Seals detect accidents; whoever can write a pickle can run any code.
"""

import dataclasses
import hashlib
from typing import Any

import numpy as np
import numpy.typing as npt

from co2forest.exceptions import ModelFormatError

_SEAL = "_seal"


def sealed(owner: object, state: dict[str, Any]) -> dict[str, Any]:
    """The state of an estimator with a digest, for `__getstate__`."""
    return {**state, _SEAL: _digest(owner, state)}


def unsealed(owner: object, state: dict[str, Any]) -> dict[str, Any]:
    """The state without its digest, for `__setstate__`; ModelFormatError if that is wrong."""
    rest = {name: value for name, value in state.items() if name != _SEAL}
    if state.get(_SEAL) != _digest(owner, rest):
        raise ModelFormatError(
            f"the digest of {type(owner).__name__} is wrong: the pickle is damaged, or written by "
            "another version of co2forest"
        )
    return rest


def _digest(owner: object, state: dict[str, Any]) -> str:
    feeder = _Feeder()
    feeder.feed_type(owner)
    feeder.feed(state)
    return feeder.digest.hexdigest()


class _Feeder:
    """Feeds values to a digest.

    Of objects of other libraries it feeds only the type: what else is the same after unpickling is
    not known. Estimators and the native core's objects have digests of their own.
    """

    def __init__(self) -> None:
        self.digest = hashlib.sha256()
        self._path: set[int] = set()  # of the containers around a value

    def feed_type(self, value: object) -> None:
        kind = type(value)
        self._text(f"{kind.__module__}.{kind.__qualname__}")

    def feed(self, value: Any) -> None:
        if isinstance(value, np.ndarray | np.generic) and not value.dtype.hasobject:
            self._feed_numbers(np.asarray(value))
        elif value is None or isinstance(value, float | complex):
            self._text(f"{type(value).__name__}:{value!r}")
        elif isinstance(value, int):  # in hexadecimal, which has no limit of digits
            self._text(f"{type(value).__name__}:{int(value):x}")
        elif isinstance(value, str):
            self._text(f"str:{value}")
        elif isinstance(value, bytes):
            self._bytes(value)
        elif id(value) in self._path:
            self._text("cycle")
        else:
            self._path.add(id(value))
            self._feed_parts(value)
            self._path.remove(id(value))

    def _feed_parts(self, value: Any) -> None:
        if isinstance(value, np.ndarray):
            self._text(f"array:{value.dtype.str}:{value.shape}")
            self.feed(value.tolist())
        elif isinstance(value, list | tuple):
            self._text(f"list:{len(value)}")
            for item in value:
                self.feed(item)
        elif isinstance(value, dict):
            self._text(f"dict:{len(value)}")
            for key, item in value.items():
                self.feed(key)
                self.feed(item)
        else:
            self.feed_type(value)
            if dataclasses.is_dataclass(value) and type(value).__module__.startswith("co2forest."):
                # Not all attributes: properties that are cached may not be pickled.
                names = (field.name for field in dataclasses.fields(value))
                self.feed({name: vars(value)[name] for name in names if name in vars(value)})

    def _feed_numbers(self, array: npt.NDArray[Any]) -> None:
        self._text(f"array:{array.dtype.str}:{array.shape}")
        if array.dtype.char in "gG":  # some of their bytes mean nothing
            self.feed(array.astype(str).tolist())
        else:
            self._bytes(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)

    def _text(self, text: str) -> None:
        self._bytes(text.encode("utf-8", "surrogatepass"))

    def _bytes(self, data: Any) -> None:
        self.digest.update(len(data).to_bytes(8, "little"))
        self.digest.update(data)
