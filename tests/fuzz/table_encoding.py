# SPDX-License-Identifier: BSD-3-Clause
"""Fuzz what a file says of a table's columns: it is refused, or encodes tables.

python tests/fuzz/table_encoding.py CORPUS [OPTION OF LIBFUZZER ...]
"""

import json
import sys
from pathlib import Path

import atheris
import numpy as np

with atheris.instrument_imports(include=["co2forest"]):
    from co2forest import ModelFormatError
    from co2forest.tables import TableEncoder

sys.path.insert(0, str(Path(__file__).parents[1] / "helpers"))
import damage

TABLE = damage.raw_table(np.random.default_rng(0))


def mutate(data, max_size, seed):
    """A value anywhere becomes another one."""
    generator = np.random.default_rng(seed)
    try:
        stored = json.loads(data)
        damage.change_somewhere(stored, generator)
        data = json.dumps(stored).encode()
    except (ValueError, TypeError, RecursionError, IndexError):  # of what is no object any more
        data = atheris.Mutate(data, max_size)
    return data[:max_size]


def check(data):
    try:
        stored = json.loads(data)
    except (ValueError, RecursionError):
        return
    try:
        encoder = TableEncoder.from_json(stored)
    except ModelFormatError:
        return
    encoder.describe()
    try:
        rows = encoder.transform(TABLE)
    except ValueError:  # the table lacks a column, or has another kind in its place
        return
    assert rows.shape == (len(TABLE), encoder.n_features_out_)


def main():
    corpus = Path(sys.argv[1])
    corpus.mkdir(parents=True, exist_ok=True)
    stored = TableEncoder().fit(TABLE.drop(columns="answer")).to_json()
    (corpus / "seed").write_text(json.dumps(stored))
    atheris.Setup(sys.argv, check, custom_mutator=mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
