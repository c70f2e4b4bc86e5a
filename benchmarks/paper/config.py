"""The configuration file: what it says about sets, methods and the cells to measure."""

import tomllib
from pathlib import Path
from typing import NamedTuple

FILE = Path(__file__).parent / "config.toml"
KINDS = ("selection", "forest", "depth", "nu")
UNIVARIATE = "univariate"  # the method of the studies that has no nu


class Cell(NamedTuple):
    """One measurement, stored as a whole or not at all."""

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
    ways = ("none", "grid", "tune", "same_as")
    if selection["way"] not in ways:
        raise SystemExit(
            f"methods.{name}.selection.way={selection['way']!r} must be one of {', '.join(ways)}"
        )
    if selection["way"] == "same_as" and selection["method"] not in config["methods"]:
        raise SystemExit(f"methods.{name}.selection.method={selection['method']!r} is no method")


def limit(config, method, name, key):
    """A number of trees or CPU seconds: for the method on the set, the method, the set, or all."""
    of_method = config["methods"][method]
    places = (of_method.get(key + "_of", {}).get(name), of_method.get(key))
    found = [place for place in (*places, config["sets"][name].get(key)) if place is not None]
    return found[0] if found else config["forest"][key]


def trees(config, method, name):
    """No more than the set allows, whatever the method would like."""
    most = config["sets"][name].get("trees", config["forest"]["trees"])
    return min(most, limit(config, method, name, "trees"))


def cells(config, kinds=KINDS, sets=None, methods=None, seeds=None):
    """All cells, selections before the forests that need them."""
    found = []
    for name in config["sets"]:
        for kind in ("selection", "forest"):
            for method, settings in config["methods"].items():
                if kind == "selection" and settings["selection"]["way"] in {"none", "same_as"}:
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
