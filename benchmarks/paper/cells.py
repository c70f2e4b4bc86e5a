# SPDX-License-Identifier: BSD-3-Clause
"""Stored cells: a CSV file for each kind. A cell is added when it has ended."""

import json

import store
from paper.config import Cell

IDENTITY = ["set", "method", "seed"]
STUDY = ["depth", "train_error_percent", "validation_error_percent", "leaves", "cpu_seconds"]
FIELDS = {
    "selection": [*IDENTITY, "parameters", "error_percent", "cpu_seconds", "wall_seconds"],
    "forest": [
        *(*IDENTITY, "size", "error_percent", "error_sd", "blocks", "trees", "reached"),
        *("cpu_seconds_per_tree", "wall_seconds_per_tree", "test_rows", "kind", "parameters"),
    ],
    "depth": [*IDENTITY, *STUDY],
    "nu": [*IDENTITY, *STUDY],
}


def path(folder, kind):
    return folder / f"{kind}.csv"


def read(folder, kind):
    """The rows of all cells of a kind."""
    return store.read(path(folder, kind))


def done(folder, kinds):
    return {
        Cell(kind, row["set"], row["method"], int(row["seed"]))
        for kind in kinds
        for row in read(folder, kind)
    }


def add(folder, cell, rows):
    """Store a cell. All its rows are written at once, so that a kill leaves all or none."""
    identity = {"set": cell.set, "method": cell.method, "seed": cell.seed}
    store.append(
        path(folder, cell.kind),
        FIELDS[cell.kind],
        [store.rounded(identity | row) for row in rows],
    )


def selected(folder, name, method, seed):
    """The parameters that a selection cell has chosen, or None."""
    for row in read(folder, "selection"):
        if (row["set"], row["method"], int(row["seed"])) == (name, method, seed):
            return json.loads(row["parameters"])
    return None
