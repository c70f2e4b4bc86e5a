# SPDX-License-Identifier: BSD-3-Clause
"""``co2forest info``: what a model file holds."""

from pathlib import Path
from typing import Any

import numpy as np

from co2forest.cli.layout import pairs_text, size_text
from co2forest.cli.messages import counted, say, say_json
from co2forest.cli.models import (
    changed_parameters,
    encoder_of,
    estimator_of,
    family,
    features_of_trees,
    load,
)
from co2forest.files.messages import escaped, finite, listed, one_line, shown
from co2forest.files.model_file import read_header
from co2forest.models.mixture import SPLITS
from co2forest.models.trees import depths_of


def run(*, model: Path, as_json: bool) -> None:
    """Load the file, which checks all of it, and print what it is."""
    loaded = load(model)
    estimator = estimator_of(loaded)
    about = _about_file(model) | _about_model(loaded, estimator)
    if as_json:
        say_json(about)
        return
    say(f"{one_line(model)}: {family(estimator)} that predicts {_predicts(loaded, about)}\n")
    say(pairs_text(_lines(about, estimator)))
    encoder = encoder_of(loaded)
    if encoder is not None:
        say("\nWhat becomes of the columns of a table:")
        say("\n".join(f"  {escaped(line)}" for line in encoder.describe()))


def _about_file(path: Path) -> dict[str, Any]:
    header = read_header(path)  # load() has checked it
    return {
        "model": str(path),
        "bytes": path.stat().st_size,
        "format": header["format"],
        "library_version": str(header["library_version"]),
    }


def _about_model(model: Any, estimator: Any) -> dict[str, Any]:
    encoder = encoder_of(model)
    members = _members(estimator)
    classes = getattr(estimator, "classes_", None)
    if isinstance(classes, list):  # several labels per row
        classes = None
    names = features_of_trees(model)
    return {
        "estimator": type(estimator).__name__,
        "parameters": changed_parameters(estimator),
        **_about_trees(members["forest"]),
        "boosting": _about_trees(members["boosting"]) if "boosting" in members else None,
        "forest_share": getattr(estimator, "forest_share_", None),
        "mixture": getattr(members["forest"], "mixture_", []),
        "features": len(names) if names else int(getattr(estimator, "n_features_in_", 0)) or None,
        "feature_names": names,
        "classes": None if classes is None else classes.tolist(),
        "target": None if encoder is None else model.target_,
        "columns": None if encoder is None else encoder.describe(),
        "oob_score": finite(getattr(estimator, "oob_score_", None)),
    }


def _members(estimator: Any) -> dict[str, Any]:
    """The forest and boosting of an ensemble; of others just one, which is called forest here."""
    if not hasattr(estimator, "forest_share_"):
        return {"forest": estimator}
    return {"forest": estimator.forest_, "boosting": estimator.boosting_}


def _about_trees(estimator: Any) -> dict[str, Any]:
    arrays = estimator._forest.arrays()  # noqa: SLF001
    depths = depths_of(arrays)
    rows = arrays["sample_count"][arrays["tree_begin"][:-1]]  # at the roots
    return {
        "trees": len(depths),
        "leaves": int(np.count_nonzero(arrays["left"] < 0)),
        "least_depth": min(depths),
        "most_depth": max(depths),
        "rows_per_tree": round(float(np.mean(rows))),
    }


def _lines(about: dict[str, Any], estimator: Any) -> list[tuple[str, str]]:
    writer = f"format {about['format']}, written by co2forest {one_line(about['library_version'])}"
    given = [f"{name}={shown(value)}" for name, value in about["parameters"].items()]
    lines = [
        ("file", f"{size_text(about['bytes'])}, {writer}"),
        ("estimator", about["estimator"]),
        ("parameters", "\n".join(given) or "the defaults"),
        *_trees_lines(about),
        ("training", f"about {about['rows_per_tree']} different rows per tree"),
    ]
    lines += [("mixture", _mixture_text(about["mixture"]))] if about["mixture"] else []
    if about["oob_score"] is not None:
        lines.append(("out-of-bag score", f"{about['oob_score']:.4f}"))
    if about["features"]:
        names = about["feature_names"]
        text = f"{about['features']}" + (f": {listed(names)}" if names else ", without names")
        lines.append(("features", text))
    if about["classes"] is not None:
        classes = [str(label) for label in about["classes"]]
        lines.append(("classes", f"{len(classes)}: {listed(classes)}"))
    if hasattr(estimator, "window"):
        lines.append(("window", f"{estimator.window} x {estimator.window} pixels"))
    return lines


def _trees_lines(about: dict[str, Any]) -> list[tuple[str, str]]:
    """How many trees there are and how large, with the weights of an ensemble's members."""
    share = about["forest_share"]
    if share is None:
        return [("trees", _trees_text(about))]
    weights = (f"; {100 * weight:.0f} % of the weight" for weight in (share, 1 - share))
    trees = _trees_text(about), _trees_text(about["boosting"])
    texts = map("".join, zip(trees, weights, strict=True))
    return list(zip(("forest", "boosting"), texts, strict=True))


def _trees_text(about: dict[str, Any]) -> str:
    depth = f"{about['least_depth']}"
    if about["most_depth"] > about["least_depth"]:
        depth += f" to {about['most_depth']}"
    return f"{counted(about['trees'], 'tree')} with {about['leaves']} leaves, depth {depth}"


def _mixture_text(mixture: list[dict[str, Any]]) -> str:
    """How many trees each kind has, and its loss in the trial."""
    used = [kind for kind in mixture if kind["n_trees"]]
    lines = [
        f"{kind['n_trees']}: {SPLITS[kind['split']]}, leaves >= {kind['min_samples_leaf']} "
        f"(loss {kind['loss']:.4f})"
        for kind in used
    ]
    rest = len(mixture) - len(used)
    return "\n".join([*lines, f"{rest} more kinds were tried"] if rest else lines)


def _predicts(model: Any, about: dict[str, Any]) -> str:
    target = f" ({one_line(about['target'])})" if about["target"] else ""
    if about["estimator"] == "ForestSegmenter":
        return "a label for each pixel"
    if isinstance(getattr(estimator_of(model), "classes_", None), list):
        return f"several labels per row{target}"
    return ("classes" if about["classes"] is not None else "numbers") + target
