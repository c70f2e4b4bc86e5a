# SPDX-License-Identifier: BSD-3-Clause
"""The reader of JSON models that docs/export.md shows."""

import functools
import re
from pathlib import Path

import numpy as np
import scipy.sparse as sp

PAGE = Path(__file__).parents[2] / "docs" / "export.md"


@functools.cache
def reader_of_the_documentation():
    """Its functions, which import nothing but what Python brings."""
    (code,) = re.findall(
        r"```python\n(import json\nimport math\n.*?)```", PAGE.read_text(), re.DOTALL
    )
    definitions = code.partition("\nmodel = json.load")[0]
    assert len([line for line in definitions.splitlines() if line.strip()]) <= 60
    names = {}
    exec(compile(definitions, PAGE, "exec"), names)
    return names


def plain(X):
    """Rows as a program without NumPy has them."""
    rows = X.toarray() if sp.issparse(X) else X
    return [[None if np.isnan(v) else float(v) for v in row] for row in rows]
