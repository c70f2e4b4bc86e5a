"""The page: sections, style and script joined into one file."""

import base64
import hashlib
from importlib import resources
from string import Template
from typing import Any

from co2forest.report._html import Html, embedded_json, escaped, tag
from co2forest.report._numbers import whole
from co2forest.report._row_section import mistakes
from co2forest.report._sections import (
    calibration_section,
    curve_section,
    importance_section,
    metric_table,
    section,
    summary,
)
from co2forest.segmentation.colours import hexadecimal, label_colours

_STYLES = ("base.css", "parts.css", "explorer.css")
# In this order, in one function: each may use what those before it define.
_SCRIPTS = (
    "dom.js",
    "theme.js",
    "pictures.js",
    "rows.js",
    "filters.js",
    "layout.js",
    "nodes.js",
    "stage.js",
    "histogram.js",
    "panel.js",
    "explorer.js",
    "main.js",
)
_DRAWN_HERE = ("errors",)  # large, and no script needs it
_MOST_COLOURS = 256  # from there on they come again


def page(document: dict[str, Any]) -> str:
    """The whole file."""
    sections = _sections(document)
    style = "\n".join(_asset(name) for name in _STYLES)
    script = "\n".join(['"use strict";', "(() => {", *map(_asset, _SCRIPTS), "})();"])
    contents = [tag("li", tag("a", title, href=f"#{name}")) for name, title, _ in sections]
    colours = label_colours(range(min(len(document["names"]), _MOST_COLOURS)))
    data = {key: value for key, value in document.items() if key not in _DRAWN_HERE}
    data |= {"colours": [hexadecimal(c) for c in colours[: len(document["names"])]]}
    return Template(_asset("page.html")).substitute(
        title=escaped(document["title"]),
        subtitle=escaped(_subtitle(document)),
        version=escaped(document["model"]["version"]),
        style=style,
        style_hash=_digest(style),
        script=script,
        script_hash=_digest(script),
        contents="\n".join(contents),
        sections="\n".join(part for _, _, part in sections),
        data=embedded_json(data),
    )


def _sections(document: dict[str, Any]) -> list[tuple[str, str, Html]]:
    task = document["model"]["task"]
    mistake_title = {"classes": "Confusion", "labels": "Labels", "numbers": "Errors"}[task]
    parts = [
        ("summary", "Summary", summary(document)),
        ("metrics", "Metrics", metric_table(document)),
        ("trees", "Error and trees", curve_section(document)),
        ("mistakes", mistake_title, mistakes(document)),
        ("importances", "Importances", importance_section(document)),
    ]
    if task != "numbers":
        parts.append(("calibration", "Calibration", calibration_section(document)))
    parts.append(("explorer", "Tree explorer", _explorer(document)))
    return parts


def _subtitle(document: dict[str, Any]) -> str:
    model = document["model"]
    trees = "one tree" if model["n_trees"] == 1 else f"{whole(model['n_trees'])} trees"
    return f"{model['name']}, {trees}, on {whole(document['data']['n_rows'])} rows"


def _explorer(document: dict[str, Any]) -> Html:
    trees = document["explorer"]["trees"]
    if not trees:
        return section("explorer", "Tree explorer", lead="No tree was put into this file.")
    n_shown = sum(len(tree["nodes"]) for tree in trees)
    n_nodes = sum(tree["n_nodes"] for tree in trees)
    n_trees = document["model"]["n_trees"]
    left_out = []
    if len(trees) < n_trees:
        left_out.append(f"{len(trees)} of the {whole(n_trees)} trees are in this file")
    if n_shown < n_nodes:
        left_out.append(
            f"of these trees the {whole(n_shown)} nodes with the most training rows, "
            f"out of {whole(n_nodes)}"
        )
    if document["explorer"]["n_rows"] < document["data"]["n_rows"]:
        left_out.append(
            f"a random sample of {whole(document['explorer']['n_rows'])} of the rows goes "
            "through the trees"
        )
    note = None
    if left_out:
        note = tag("p", "To keep the file small, " + "; ".join(left_out) + ".", class_="note")
    lead = (
        "Each inner node asks on which side of a hyperplane a row lies. Open a node to see its "
        "weights and how it parts the given rows, or follow one row from the root to its leaf."
    )
    missing = tag("p", "The explorer needs JavaScript; everything above does not.", class_="note")
    return section(
        "explorer",
        "Tree explorer",
        note,
        Html(f"<noscript>{missing}</noscript>"),
        tag("div", id="explorer-app", class_="needs-script card"),
        lead=lead,
    )


def _asset(name: str) -> str:
    return resources.files("co2forest.report").joinpath("assets", name).read_text("utf-8").strip()


def _digest(text: str) -> str:
    """What the page's policy says of the only style and script that may run."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
