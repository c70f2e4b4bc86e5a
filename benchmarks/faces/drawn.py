# SPDX-License-Identifier: BSD-3-Clause
"""Draw faces for the quick mode."""

import numpy as np

HEIGHT, WIDTH = 28, 24
CLASSES = ["background", "skin", "eyes", "mouth"]
COLOURS = np.array([[60, 70, 90], [200, 160, 130], [50, 90, 160], [190, 50, 60]])


def draw(rng):
    """Draw a face at a random place with noise, and its label map."""
    row, column = np.mgrid[:HEIGHT, :WIDTH]
    y, x = HEIGHT / 2 + rng.uniform(-2, 2), WIDTH / 2 + rng.uniform(-2, 2)
    labels = np.zeros((HEIGHT, WIDTH), np.uint8)
    labels[((row - y) / 10) ** 2 + ((column - x) / 8) ** 2 < 1] = 1
    for side in (-3, 3):
        labels[((row - y + 3) / 2) ** 2 + ((column - x - side) / 2) ** 2 < 1] = 2
    labels[((row - y - 4) / 2) ** 2 + ((column - x) / 4) ** 2 < 1] = 3
    noisy = COLOURS[labels] + rng.normal(0, 25, (HEIGHT, WIDTH, 3))
    return noisy.clip(0, 255).astype(np.uint8), labels


def write(folder, train=6, test=4):
    """Write drawn_faces.npz in the format of the other problems."""
    rng = np.random.default_rng(0)
    parts = {"classes": np.array(CLASSES)}
    for part, count in (("train", train), ("test", test)):
        drawings = [draw(rng) for _ in range(count)]
        parts[f"X_{part}"] = np.array([picture for picture, _ in drawings])
        parts[f"y_{part}"] = np.array([labels for _, labels in drawings])
    folder.mkdir(parents=True, exist_ok=True)
    np.savez(folder / "drawn_faces.npz", **parts)
