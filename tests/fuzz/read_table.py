# SPDX-License-Identifier: BSD-3-Clause
"""Fuzz read_table: whatever the bytes, it refuses a file or returns a frame that a table can be.

python tests/fuzz/read_table.py CORPUS [OPTION OF LIBFUZZER ...]
"""

import functools
import io
import sys
import tempfile
import warnings
from pathlib import Path

import atheris
import numpy as np
import pandas as pd

with atheris.instrument_imports(include=["co2forest.tables"]):
    from co2forest.tables import TableEncoder, read_table

from sklearn.datasets import dump_svmlight_file

# By the first byte of an input, which is not part of the file; None decides by the content.
FORMATS = (None, "csv", "tsv", "parquet", "npz", "libsvm")


def write_seeds(folder):
    frame = pd.DataFrame({"a": [1.5, 2, 3], "b": ["x", "y", None], "day": ["2020-01-02"] * 3})
    writers = {
        "csv": frame.to_csv,
        "tsv": functools.partial(frame.to_csv, sep="\t"),
        "parquet": frame.to_parquet,
        "npz": functools.partial(np.savez, X=np.eye(3), y=np.arange(3)),
        "libsvm": functools.partial(dump_svmlight_file, np.eye(3), np.arange(3)),
    }
    for name, write in writers.items():
        file = io.BytesIO()
        write(file)
        kind = bytes([FORMATS.index(name)])
        (folder / f"seed-{name}").write_bytes(kind + file.getvalue())


def check(path, data):
    path.write_bytes(data[1:])
    try:
        frame = read_table(path, format=FORMATS[data[0] % len(FORMATS)] if data else None)
        rows = TableEncoder().fit_transform(frame)
    except ValueError:
        return
    assert len(rows) == len(frame)


def main():
    corpus = Path(sys.argv[1])
    corpus.mkdir(parents=True, exist_ok=True)
    write_seeds(corpus)
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table"
        atheris.Setup(sys.argv, lambda data: check(path, data))
        atheris.Fuzz()


if __name__ == "__main__":
    main()
