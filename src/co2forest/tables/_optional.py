# SPDX-License-Identifier: BSD-3-Clause
"""The libraries that tables need and the estimators do not."""

import functools
import importlib
from typing import Any


@functools.cache
def library(name: str) -> Any:
    """A module of pandas or pyarrow."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise ImportError(f"tables need {package}: pip install 'co2forest[tables]'") from error
