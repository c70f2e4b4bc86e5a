# SPDX-License-Identifier: BSD-3-Clause
"""Stored cells: CSV files that get rows as they are measured.

If two rows have the same key, the later one counts, because a cell may be stopped while it is
stored.
"""

import json

import numpy as np

import store
from faces.config import Cell

COUNTED = ("true_positives", "false_positives", "false_negatives")
FIELDS = {
    "selection": [
        *("problem", "forest", "split", "parameters", "jaccard", "fit_images", "held_out_images"),
        *("trees", "samples_per_tree", "cpu_seconds", "wall_seconds"),
    ],
    "counts": ["problem", "forest", "seed", "trees", "depth", "class", *COUNTED],
    "images": ["problem", "forest", "seed", "trees", "image", "jaccard"],
    "fits": [
        *("problem", "forest", "seed", "parameters", "trees", "samples_per_tree"),
        *("cpu_seconds_per_tree", "wall_seconds_per_tree", "leaves_per_tree", "depth"),
        *("model_megabytes", "test_images", "test_wall_seconds"),
    ],
}
KEYS = {
    "selection": ("problem", "forest", "split", "parameters"),
    "counts": ("problem", "forest", "seed", "trees", "depth", "class"),
    "images": ("problem", "forest", "seed", "trees", "image"),
    "fits": ("problem", "forest", "seed"),
}


def path(folder, kind):
    return folder / f"faces_{kind}.csv"


def read(folder, kind):
    rows = store.read(path(folder, kind))
    return list({tuple(row[key] for key in KEYS[kind]): row for row in rows}.values())


def add(folder, kind, rows):
    store.append(path(folder, kind), FIELDS[kind], [store.rounded(row) for row in rows])


def as_text(parameters):
    return json.dumps(parameters, sort_keys=True)


def done_forests(folder):
    """The finished forests. The row in "fits" is written last, so it stands for all rows."""
    rows = read(folder, "fits")
    return {Cell("forest", row["problem"], row["forest"], int(row["seed"])) for row in rows}


def map_path(folder, problem, forest, seed):
    return folder / f"{problem}-{forest}-{seed}.npz"


def keep_maps(folder, cell, maps):
    """Store the label maps of the test images for the pictures; git does not track them."""
    target = map_path(folder, cell.problem, cell.forest, cell.seed)
    folder.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(target.name + ".tmp")
    with temporary.open("wb") as file:
        np.savez_compressed(file, maps=np.array(maps))
    temporary.replace(target)


def read_maps(folder, problem, forest, seed):
    """The stored label maps, or None."""
    source = map_path(folder, problem, forest, seed)
    if not source.exists():
        return None
    with np.load(source) as data:
        return data["maps"]
