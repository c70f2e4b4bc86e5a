# SPDX-License-Identifier: BSD-3-Clause
"""Read the configuration file: problems, forests and the cells to measure."""

import tomllib
from pathlib import Path
from typing import NamedTuple

FILE = Path(__file__).parent / "config.toml"
QUICK = Path(__file__).parent / "quick.toml"
KINDS = ("selection", "forest")


class Cell(NamedTuple):
    """One measurement. The seed of a selection is the number of its split of the images."""

    kind: str
    problem: str
    forest: str
    seed: int

    def __str__(self):
        return f"{self.kind} {self.problem} {self.forest} seed {self.seed}"


def read(path=FILE):
    with path.open("rb") as file:
        config = tomllib.load(file)
    sizes, wanted = config["forest"]["trees"], config["report"]["trees"]
    for size in (*wanted, config["forest"]["trees_of_depths"]):
        if size not in sizes:
            raise SystemExit(f"{path.name}: {size} trees are not in forest.trees={sizes}")
    for name, problem in config["problems"].items():
        if not 0 < problem["held_out"] < problem["people"]:
            raise SystemExit(
                f"{path.name}: problems.{name}.held_out={problem['held_out']} must be at least 1 "
                f"and less than people={problem['people']}"
            )
    return config


def selected_on(config, problem):
    """The problem whose training images choose the parameters: this one, or another."""
    return config["problems"][problem].get("selected_on", problem)


def samples_per_tree(config, problem):
    """How many windows each tree of its forests draws."""
    return config["problems"][problem].get("samples_per_tree", config["forest"]["samples_per_tree"])


def cells(config, kinds=KINDS, problems=None, forests=None, seeds=None):
    """All cells, selections before the forests that need them."""
    return [
        Cell(kind, problem, forest, seed)
        for problem in problems or config["problems"]
        for forest in forests or config["forests"]
        for kind in KINDS
        if kind in kinds and (kind == "forest" or selected_on(config, problem) == problem)
        for seed in ([0] if kind == "selection" else seeds or config["forest"]["seeds"])
    ]
