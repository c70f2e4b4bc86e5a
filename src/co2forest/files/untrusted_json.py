# SPDX-License-Identifier: BSD-3-Clause
"""JSON that anybody may have written, parsed in memory and time that are known before."""

import json
from typing import Any

from co2forest.exceptions import ModelFormatError

# Values of any model, so that few features may stand beside many names; they take some 200 MB.
_FREE_VALUES = 2**21


def check_values(text: str, n_bytes: int) -> None:
    """Raise if the text may have more values than a model with ``n_bytes`` of arrays needs.

    A value takes up to 90 bytes, thirty times its text: 99 MB of empty lists would become 3 GB. A
    feature has eight bytes in arrays, and often a name; what else a header lists are classes and
    columns. What separates values is counted, also within strings, because that is quick.
    """
    most = _FREE_VALUES + n_bytes // 4
    if sum(map(text.count, ",[{")) > most:
        raise ModelFormatError(f"the header lists more than the {most} values that a model needs")


def parse(text: str, n_bytes: int) -> Any:
    """What the text says; see `check_values`."""
    check_values(text, n_bytes)
    try:
        return json.loads(text, object_pairs_hook=_object)
    except (ValueError, RecursionError) as error:
        raise ModelFormatError(f"the header is not JSON ({error})") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ValueError("a name occurs twice in an object")
    return values
