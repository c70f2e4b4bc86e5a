# SPDX-License-Identifier: BSD-3-Clause
"""The images of a problem, and which of them a split holds out."""

from typing import NamedTuple

import numpy as np


class Images(NamedTuple):
    pictures: list  # arrays of (height, width, channels)
    maps: list  # a class for each pixel
    names: list  # names of the classes

    def part(self, numbers):
        return Images(
            [self.pictures[i] for i in numbers], [self.maps[i] for i in numbers], self.names
        )


def load(folder, problem, part):
    """Load the "train" or "test" images; only the final forests ask for the latter."""
    with np.load(folder / f"{problem['file']}.npz") as data:
        pictures, maps = data[f"X_{part}"], data[f"{problem['labels']}_{part}"]
        names = [str(name).replace("_", " ") for name in data[problem["names"]]]
    return Images(list(pictures), list(maps), names)


def split(problem, count, number):
    """Indices of the training images to fit with, and of the held-out ones."""
    people, pictures = problem["people"], problem["pictures"]
    if count % (people * pictures):
        raise SystemExit(
            f"{problem['file']}.npz has {count} training images, which is no multiple of "
            f"people={people} times pictures={pictures}"
        )
    order = np.random.RandomState(0).permutation(people)
    # Successive splits take successive people, so that they share few or none.
    order = np.roll(order, -number * problem["held_out"])
    person = np.arange(count) // pictures % people
    out = np.isin(person, order[: problem["held_out"]])
    return np.flatnonzero(~out), np.flatnonzero(out)
