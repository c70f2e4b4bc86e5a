# SPDX-License-Identifier: BSD-3-Clause
"""Data for the benchmarks: sets in NPZ files, and generated sets of any size."""

import os
from pathlib import Path

import numpy as np

# In the order of tables and figures.
TITLES = {
    "letter": "Letter",
    "pendigits": "Pendigits",
    "satimage": "SatImage",
    "usps": "USPS",
    "mnist": "MNIST",
    "connect4": "Connect4",
    "covertype_subset": "Covertype, 80 000 rows",
    "protein_standin_qian_sejnowski": "Protein stand-in",
}
SETS = tuple(TITLES)


def default_folder(name="paper"):
    return Path(os.environ.get("CO2FOREST_DATA", "data")) / name


def check_folder(parser, folder, sets):
    """Exit with a line that says what is missing."""
    for name in sets:
        if not (folder / f"{name}.npz").exists():
            parser.error(f"no {name}.npz in {folder}; name its folder with --data")


def load(folder, name):
    """X_train, y_train, X_test and y_test. Bytes stay bytes, everything else becomes float32."""
    with np.load(Path(folder) / f"{name}.npz") as data:
        parts = [data[key] for key in ("X_train", "y_train", "X_test", "y_test")]
    for i in (0, 2):
        if parts[i].dtype != np.uint8:
            parts[i] = parts[i].astype(np.float32)
    return parts


def generate(rows, features, dtype="float32", test_rows=2000, seed=0):
    """Eight classes, which depend on three quadratic functions of the first 16 features.

    One label in ten is wrong, so no node becomes pure, and a tree with a budget of leaves spends
    all of it. The other features are noise, so trees look the same for any number of them.
    """
    rng = np.random.default_rng(seed)
    planes = rng.standard_normal((3, 2, 16)).astype(np.float32)
    parts = []
    for count in (rows, test_rows):
        X = rng.standard_normal((count, features), dtype=np.float32)
        linear, other = X[:, :16] @ planes[:, 0].T, X[:, :16] @ planes[:, 1].T
        y = ((linear + 0.25 * other**2 - 4 > 0) @ [1, 2, 4]).astype(np.uint8)
        wrong = rng.random(count) < 0.1
        y[wrong] = rng.integers(0, 8, wrong.sum())
        if dtype == "uint8":
            X = np.clip(X * 32 + 128, 0, 255).astype(np.uint8)
        parts += [X, y]
    return parts
