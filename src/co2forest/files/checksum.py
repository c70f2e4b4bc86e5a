# SPDX-License-Identifier: BSD-3-Clause
"""The checksum of a model file: of its header and of all arrays."""

import hashlib
import json
from typing import Any

import numpy as np
import numpy.typing as npt


def canonical(header: Any) -> str:
    """Write a header as text that does not depend on the order of its keys."""
    return json.dumps(header, sort_keys=True, separators=(",", ":"), allow_nan=False)


def checksum(header: dict[str, Any], arrays: dict[str, npt.NDArray[Any]]) -> str:
    """SHA-256 of the meaning: not of the order or the spaces in the header."""
    rest = {name: value for name, value in header.items() if name != "checksum"}
    digest = hashlib.sha256(canonical(rest).encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name}:{array.dtype.str}:{array.shape}\n".encode())
        digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return "sha256:" + digest.hexdigest()
