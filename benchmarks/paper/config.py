# SPDX-License-Identifier: BSD-3-Clause
"""Read the configuration file: sets, methods and the cells to measure."""

import tomllib
from pathlib import Path
from typing import NamedTuple

FILE = Path(__file__).parent / "config.toml"
KINDS = ("selection", "forest", "depth", "nu")
UNIVARIATE = "univariate"  # the method of the studies without nu


class Cell(NamedTuple):
    """One measurement, stored completely or not at all."""

    kind: str
    set: str
    method: str
    seed: int

    def __str__(self):
        return f"{self.kind} {self.set} {self.method} seed {self.seed}"


def read(path=FILE):
    with path.open("rb") as file:
        config = tomllib.load(file)
    for name, method in config["methods"].items():
        _check_selection(config, name, method["selection"])
    return config


def _check_selection(config, name, selection):
    strategies = ("none", "grid", "tune", "same_as")
    if selection["strategy"] not in strategies:
        raise SystemExit(
            f"methods.{name}.selection.strategy={selection['strategy']!r} "
            f"must be one of {', '.join(strategies)}"
        )
    if selection["strategy"] == "same_as" and selection["method"] not in config["methods"]:
        raise SystemExit(f"methods.{name}.selection.method={selection['method']!r} is not a method")


def limit(config, method, name, key):
    """A limit of trees or CPU seconds: of the method on the set, the method, the set, or all."""
    of_method = config["methods"][method]
    places = (of_method.get(key + "_of", {}).get(name), of_method.get(key))
    found = [place for place in (*places, config["sets"][name].get(key)) if place is not None]
    return found[0] if found else config["forest"][key]


def trees(config, method, name):
    """The number of trees: never more than the set allows."""
    most = config["sets"][name].get("trees", config["forest"]["trees"])
    return min(most, limit(config, method, name, "trees"))


def cells(config, kinds=KINDS, sets=None, methods=None, seeds=None):
    """All cells, selections before the forests that need them."""
    found = []
    for name in config["sets"]:
        for kind in ("selection", "forest"):
            for method, settings in config["methods"].items():
                if kind == "selection" and settings["selection"]["strategy"] in {"none", "same_as"}:
                    continue
                if trees(config, method, name) == 0:
                    continue
                seeds_of_all = config["forest"]["seeds"]
                found.extend(Cell(kind, name, method, seed) for seed in seeds_of_all)
    for kind in ("depth", "nu"):
        study = config[kind]
        for method in [UNIVARIATE, *(f"nu={nu:g}" for nu in study["nu"])]:
            found.extend(Cell(kind, study["set"], method, seed) for seed in study["seeds"])
    return [
        cell
        for cell in found
        if cell.kind in kinds
        and (sets is None or cell.set in sets)
        and (methods is None or cell.method in methods)
        and (seeds is None or cell.seed in seeds)
    ]
