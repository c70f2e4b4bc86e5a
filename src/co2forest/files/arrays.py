# SPDX-License-Identifier: BSD-3-Clause
"""Arrays that may lie anywhere in a buffer, as those of a file or a message do."""

from typing import Any

import numpy.typing as npt


def aligned(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The array itself, or a copy if it begins in the middle of a number, as in a file's buffer."""
    known = array.flags.aligned and array.size > 0  # NumPy says that every empty array is aligned
    return array if known else array.copy()
