# SPDX-License-Identifier: BSD-3-Clause
"""The page: templates filled with the numbers of a report, with style and script in one file."""

import base64
import hashlib
import re
from functools import cache
from importlib import resources
from typing import Any

from co2forest.report import _numbers
from co2forest.report._numbers import NOTHING, exact, number, percent, reading, whole
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
_STATIC_ROWS = 10  # that are there without a script
_HEAT_LEVELS = 6
_MOST_NAMED = 10  # classes
_TILES = 4
_TILE_ORDER = (  # of the metrics, those that say the most first
    "Accuracy",
    "All labels right",
    "R2",
    "ROC AUC",
    "Labels right",
    "RMSE",
    "Log loss",
    "Mean absolute error",
    "Expected calibration error",
    "F1, macro",
)
_WITH_BASE = ("Accuracy", "All labels right")  # metrics that a base rate stands beside
# Characters that HTML has no place for, and halves of pairs, which UTF-8 has none for.
_IMPOSSIBLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


@cache
def environment() -> Any:
    """Templates in which all text is escaped, whoever wrote it."""
    try:
        import jinja2
    except ImportError as error:
        raise ImportError("reports need Jinja2: pip install 'co2forest[report]'") from error
    made = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: _file("templates", name)),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_written,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":")}
    forms = {name: getattr(_numbers, name) for name in ("number", "percent", "size", "whole")}
    made.filters |= forms | {"digest": _digest}
    axes = ("curve_axes", "reliability_axes", "residual_axes", "scatter_axes")
    drawn = {name: getattr(_numbers, name) for name in ("short_percent", *axes)}
    made.globals |= forms | drawn | {"heat": _heat, "share": _share}
    return made


def page(document: dict[str, Any]) -> str:
    """The whole file."""
    from markupsafe import Markup

    style = "\n".join(_file("assets", name) for name in _STYLES)
    scripts = (_file("assets", name) for name in _SCRIPTS)
    script = "\n".join(['"use strict";', "(() => {", *scripts, "})();"])
    n_colours = min(len(document["names"]), _MOST_COLOURS)
    colours = label_colours(range(n_colours))
    for_script = {key: value for key, value in document.items() if key not in _DRAWN_HERE}
    metrics = [_shown_metric(metric) for metric in document["metrics"]]
    html: str = (
        environment()
        .get_template("page.html")
        .render(
            **document,
            # Files of this package, the only text that is not escaped.
            style=Markup(style),  # noqa: S704
            script=Markup(script),  # noqa: S704
            for_script=for_script | {"colours": [hexadecimal(c) for c in colours[:n_colours]]},
            sections=_sections(document),
            task=_task(document["model"]),
            tiles=_tiles(metrics),
            shown_metrics=metrics,
            class_facts=_class_facts(document),
            curve_step=max(1, len(document["curve"]["trees"]) // 20),
            first_rows=_first_rows(document),
            left_out=_left_out(document),
        )
    )
    return html


def _file(folder: str, name: str) -> str:
    return resources.files("co2forest.report").joinpath(folder, name).read_text("utf-8").strip()


def _digest(text: str) -> str:
    """What the page's policy says of the only style and script that may run."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")


def _written(value: Any) -> Any:
    """What templates write: possible characters, and numbers of drawings with five digits."""
    if isinstance(value, float):
        return f"{value:.5g}"
    return type(value)(_IMPOSSIBLE.sub("\ufffd", value)) if isinstance(value, str) else value


def _heat(count: int, total: int) -> str:
    """The class of a cell: how much of its row it holds."""
    level = min(_HEAT_LEVELS, 1 + int(_HEAT_LEVELS * count / total)) if count else 0
    return f" heat-{level}" if level else ""


def _share(some: int, total: int) -> str:
    """In percent, short enough for a narrow column."""
    return number(100 * some / total, 3) if total else NOTHING


def _sections(document: dict[str, Any]) -> list[tuple[str, str]]:
    """Names of the sections, which are those of their templates, and headings."""
    task = document["model"]["task"]
    mistakes = {"classes": "Confusion", "labels": "Labels", "numbers": "Errors"}[task]
    sections = {
        "summary": "Summary",
        "metrics": "Metrics",
        "trees": "Error and trees",
        "mistakes": mistakes,
        "importances": "Importances",
        "calibration": "Calibration",
        "explorer": "Tree explorer",
    }
    if task == "numbers":
        del sections["calibration"]
    return list(sections.items())


def _task(model: dict[str, Any]) -> str:
    n = model["n_outputs"]
    if model["task"] == "numbers":
        return "regression" + (f", {n} outputs" if n > 1 else "")
    kind = "classification" if model["task"] == "classes" else "several labels per row"
    return f"{kind}, {n} {model['task']}"


def _shown_metric(metric: dict[str, Any]) -> dict[str, Any]:
    """A metric as text."""
    form = percent if metric["share"] else exact
    better = "lower" if metric["lower_is_better"] else "higher"
    interval = "no interval"
    if metric["low"] is not None:
        interval = f"{form(metric['low'])} to {form(metric['high'])}"
    return {
        "key": metric["name"],
        "name": metric["name"] + (f" of {metric['output']}" if metric["output"] else ""),
        "value": form(metric["value"]),
        "interval": interval,
        "method": metric["method"] or NOTHING,
        "better": "near 0" if metric["name"] == "Mean error" else better,
        "about": metric["about"],
        "has_base": metric["name"] in _WITH_BASE,
    }


def _tiles(metrics: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The most telling metrics; of several outputs, those of the first."""
    by_name = {metric["key"]: metric for metric in reversed(metrics)}
    return [by_name[name] for name in _TILE_ORDER if name in by_name][:_TILES]


def _class_facts(document: dict[str, Any]) -> list[tuple[str, str]]:
    """Which classes the rows have."""
    data = document["data"]
    if "class_counts" not in data:
        return []
    present = list(zip(data["class_counts"], document["names"], strict=True))
    most, least = max(present, key=lambda c: c[0]), min(present, key=lambda c: c[0])
    facts = [
        ("Most frequent class", f"{most[1]}, {whole(most[0])} rows"),
        ("Least frequent class", f"{least[1]}, {whole(least[0])} rows"),
    ]
    if data["unknown_classes"]:
        n_unknown = len(data["unknown_classes"])
        named = [f"{name} ({whole(count)} rows)" for count, name in present[-n_unknown:]]
        more = [f"{n_unknown - _MOST_NAMED} more"] if n_unknown > _MOST_NAMED else []
        listed = ", ".join(named[:_MOST_NAMED] + more)
        facts.append(("Classes that training did not have", f"{listed}; they count as wrong"))
    return facts


def _first_rows(document: dict[str, Any]) -> list[list[str]]:
    """The head of the table of rows and the first wrong ones; nothing if there are none."""
    rows, task = document["rows"], document["model"]["task"]
    pairs = zip(rows["truth"], rows["prediction"], strict=True)
    wrong = [i for i, (truth, said) in enumerate(pairs) if truth != said][:_STATIC_ROWS]
    if not wrong:
        return []
    table = [["Row", "Truth", "Prediction"]]
    table[0] += ["Probability"] if task == "classes" else []
    table[0] += [column["name"] for column in rows["columns"]]
    for i in wrong:
        cells = [str(rows["number"][i])]
        cells += [_answer(document, rows[which][i]) for which in ("truth", "prediction")]
        cells += [percent(rows["probability"][i])] if task == "classes" else []
        values = [column["values"][i] for column in rows["columns"]]
        table.append(cells + [v if isinstance(v, str) else reading(v) for v in values])
    return table


def _answer(document: dict[str, Any], value: Any) -> str:
    """Truth or prediction as text."""
    task, names = document["model"]["task"], document["names"]
    if task == "classes":
        return str(names[value])
    if task == "labels":
        return ", ".join(name for name, has in zip(names, value, strict=True) if has) or "none"
    return ", ".join(reading(v) for v in value)


def _left_out(document: dict[str, Any]) -> list[str]:
    """What the explorer does not have."""
    trees, n_trees = document["explorer"]["trees"], document["model"]["n_trees"]
    n_shown = sum(len(tree["nodes"]) for tree in trees)
    n_nodes = sum(tree["n_nodes"] for tree in trees)
    n_sent, n_rows = document["explorer"]["n_rows"], document["data"]["n_rows"]
    notes = []
    if len(trees) < n_trees:
        notes.append(f"{len(trees)} of the {whole(n_trees)} trees are in this file")
    if n_shown < n_nodes:
        notes.append(
            f"of these trees the {whole(n_shown)} nodes with the most training rows, "
            f"out of {whole(n_nodes)}"
        )
    if n_sent < n_rows:
        notes.append(f"a random sample of {whole(n_sent)} of the rows goes through the trees")
    return notes
