"""The sections of the page as HTML that is complete without a script."""

from typing import Any

from co2forest.report._charts import bar, error_curve, reliability, residuals, scatter
from co2forest.report._html import Child, Html, joined, tag
from co2forest.report._numbers import NOTHING, exact, number, percent, size, whole

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
_HEAT_LEVELS = 6
_MOST_NAMED = 10  # classes
_ROOMY_CLASSES = 14  # so many columns of a confusion matrix have room on a common screen
_TASKS = {"classes": "classification", "labels": "several labels per row", "numbers": "regression"}


def section(name: str, title: str, *children: Child, lead: Child = None) -> Html:
    """A part of the page with its heading."""
    heading = tag("h2", title, id=f"{name}-title")
    text = None if lead is None else tag("p", lead, class_="lead")
    return tag("section", heading, text, *children, id=name, aria_labelledby=f"{name}-title")


def card(*children: Child, **attributes: Any) -> Html:
    """A framed part of a section."""
    return tag("div", *children, class_="card", **attributes)


def figure(drawing: Html, caption: Child, data: Html | None = None) -> Html:
    """A drawing, what it shows, and its numbers as a table."""
    numbers = None
    if data is not None:
        numbers = tag("details", tag("summary", "The numbers as a table"), data)
    return card(tag("figure", drawing, tag("figcaption", tag("p", caption), numbers)))


def table(head: list[Child], rows: list[list[Child]], *, caption: str, **attributes: Any) -> Html:
    """A table whose first column names the rows, in a frame that scrolls if it is too wide."""
    header = tag("tr", [tag("th", name, scope="col") if name else tag("td") for name in head])
    body = [
        tag("tr", tag("th", row[0], scope="row"), [tag("td", cell) for cell in row[1:]])
        for row in rows
    ]
    return _scrolling(
        tag(
            "table", tag("caption", caption), tag("thead", header), tag("tbody", body), **attributes
        ),
        caption,
    )


def _scrolling(content: Html, name: str) -> Html:
    return tag("div", content, class_="scrolls", tabindex="0", role="region", aria_label=name)


def summary(document: dict[str, Any]) -> Html:
    """What the model is, how good it is in a few numbers, and what it was shown."""
    model, data = document["model"], document["data"]
    by_name = {m["name"]: m for m in reversed(document["metrics"])}  # of outputs the first
    chosen = [by_name[name] for name in _TILE_ORDER if name in by_name][:_TILES]
    tiles = tag("ul", [_tile(metric, document) for metric in chosen], class_="tiles")
    facts = [
        ("Estimator", model["name"]),
        ("Task", _task(document)),
        ("Trees", whole(model["n_trees"])),
        ("Nodes", whole(model["n_nodes"])),
        ("Leaves", whole(model["n_leaves"])),
        ("Splits on the longest way", whole(model["depth"])),
        ("Features per split", number(model["features_per_split"], 3)),
        ("Size in memory", size(model["bytes"])),
        ("Library", f"co2forest {model['version']}"),
    ]
    rows = [
        ("Rows", whole(data["n_rows"]) + (", weighted" if data["weighted"] else "")),
        ("Features", whole(data["n_features"]) + (", sparse" if data["sparse"] else "")),
        ("Missing values", whole(data["missing"]) if data["missing"] else "none"),
        *_classes(document),
    ]
    return section(
        "summary",
        "Summary",
        tiles,
        tag(
            "div",
            card(tag("h3", "Model"), _facts(facts)),
            card(tag("h3", "Data"), _facts(rows)),
            card(tag("h3", "Parameters"), _parameters(model["parameters"])),
            class_="columns",
        ),
    )


def _task(document: dict[str, Any]) -> str:
    n = document["model"]["n_outputs"]
    task = document["model"]["task"]
    what = {"classes": f"{n} classes", "labels": f"{n} labels", "numbers": f"{n} outputs"}[task]
    return _TASKS[task] if task == "numbers" and n == 1 else f"{_TASKS[task]}, {what}"


def _classes(document: dict[str, Any]) -> list[tuple[str, str]]:
    data = document["data"]
    if "class_counts" not in data:
        return []
    present = [
        (count, name) for count, name in zip(data["class_counts"], document["names"], strict=True)
    ]
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
        facts.append(("Classes that training had not", f"{listed}; they count as wrong"))
    return facts


def _facts(facts: list[tuple[str, str]]) -> Html:
    return tag(
        "dl",
        [tag("div", tag("dt", name), tag("dd", value)) for name, value in facts],
        class_="facts",
    )


def _tile(metric: dict[str, Any], document: dict[str, Any]) -> Html:
    below = _interval(metric)
    if metric["name"] in ("Accuracy", "All labels right"):
        below += f" · base rate {percent(1 - document['curve']['base'])}"
    name = metric["name"] if metric["output"] is None else f"{metric['name']} of {metric['output']}"
    return tag(
        "li",
        tag("span", name, class_="tile-name"),
        tag("strong", _form(metric)(metric["value"]), class_="tile-value"),
        tag("span", below, class_="tile-note"),
    )


def _form(metric: dict[str, Any]) -> Any:
    return percent if metric["share"] else exact


def _interval(metric: dict[str, Any]) -> str:
    if metric["low"] is None:
        return "no interval"
    form = _form(metric)
    return f"{form(metric['low'])} to {form(metric['high'])}"


def _parameters(parameters: list[dict[str, str]]) -> Html:
    if not parameters:
        return tag("p", "All parameters have their defaults.")
    rows: list[list[Child]] = [
        [tag("code", p["name"]), tag("code", p["value"]), tag("code", p["default"])]
        for p in parameters
    ]
    return table(
        ["Parameter", "Value", "Default"], rows, caption="Parameters that are not the defaults"
    )


def metric_table(document: dict[str, Any]) -> Html:
    """All metrics with their intervals, and how these were found."""
    several = any(m["output"] for m in document["metrics"])
    head: list[Child] = ["Metric", "Value", "95 % interval", "Interval by", "Better", "What it is"]
    rows: list[list[Child]] = []
    for m in document["metrics"]:
        name = f"{m['name']} of {m['output']}" if several else m["name"]
        better = "lower" if m["lower_is_better"] else "higher"
        better = "near 0" if m["name"] == "Mean error" else better
        rows.append(
            [name, _form(m)(m["value"]), _interval(m), m["method"] or NOTHING, better, m["about"]]
        )
    lead = [
        f"On the {whole(document['data']['n_rows'])} rows given. ",
        "Intervals have a confidence of 95 %: ",
        "Wilson's score interval for parts of all rows, else the percentiles of ",
        f"{whole(document['resamples'])} bootstrap resamples of the rows with a fixed seed. ",
        "They tell what chance in these rows does, not in the training.",
    ]
    content = table(head, rows, caption="Metrics with 95 % confidence intervals", class_="metrics")
    return section("metrics", "Metrics", card(content), lead=lead)


def curve_section(document: dict[str, Any]) -> Html:
    """The error against the number of trees."""
    curve = document["curve"]
    share = document["model"]["task"] != "numbers"
    form = percent if share else number
    last = curve["errors"][-1]
    lead = [
        f"The {curve['name']} after each tree; in the end {form(last)}. ",
        f"The base rate, {form(curve['base'])}, is the error of giving {curve['base_about']}.",
    ]
    if len(curve["trees"]) == 1:
        return section(
            "trees", "Error and trees", lead=[*lead, " There is one tree, so there is no curve."]
        )
    step = max(1, len(curve["trees"]) // 20)
    some = sorted({*range(0, len(curve["trees"]), step), len(curve["trees"]) - 1})
    rows: list[list[Child]] = [[curve["trees"][i], form(curve["errors"][i])] for i in some]
    data = table(["Trees", "Error"], rows, caption="Error by number of trees")
    caption = "Error on the given rows after each tree."
    if curve["base"] >= 4 * max(curve["errors"]):
        caption += f" The base rate, {form(curve['base'])}, lies far above the figure."
    drawing = figure(error_curve(curve, share=share), caption, data)
    return section("trees", "Error and trees", drawing, lead=lead)


def importance_section(document: dict[str, Any]) -> Html:
    """The features that account for most of the decrease of impurity."""
    listed = [
        (document["features"][str(j)], share) for j, share in document["importances"] if share > 0
    ]
    n_features = document["model"]["n_features"]
    lead = (
        "The decrease of impurity that a hyperplane brings is shared among its features by "
        "weight times standard deviation, and averaged over trees."
    )
    if not listed:
        return section(
            "importances", "Importances", lead="No tree has a split, so no feature matters."
        )
    rows: list[list[Child]] = [
        [name, bar(share / listed[0][1]), percent(share)] for name, share in listed
    ]
    shown = (
        "All features"
        if len(listed) == n_features
        else f"The first {len(listed)} of {whole(n_features)} features"
    )
    content = table(["Feature", "", "Importance"], rows, caption=shown, class_="bars")
    return section("importances", "Importances", card(content), lead=lead)


def calibration_section(document: dict[str, Any]) -> Html:
    """Whether probabilities mean what they say."""
    calibration = document["calibration"]
    rows: list[list[Child]] = [
        [
            f"{b['low']:.1f} to {b['high']:.1f}",
            whole(b["count"]),
            percent(b["said"]),
            percent(b["happened"]),
        ]
        for b in calibration["bins"]
    ]
    weighted = document["data"]["weighted"]
    head: list[Child] = [
        "Probability",
        "Weight" if weighted else "Number",
        "Mean probability",
        "Came true",
    ]
    data = table(head, rows, caption="Reliability by bin")
    which = {
        "label": "Of all labels of all rows",
        "predicted class": "Of the predicted class of each row (top label)",
    }.get(calibration["what"], f"Of {calibration['what']} against the other one")
    lead = [
        f"{which}: where a probability of 80 % is given, 80 % should come true. ",
        "The expected calibration error, the mean distance from that over ten bins, is ",
        f"{percent(calibration['expected_error'])}.",
    ]
    caption = (
        "Dots on the dashed line are probabilities that mean what they say; "
        "bars count what is in each bin."
    )
    drawing = figure(reliability(calibration), caption, data)
    return section("calibration", "Calibration", drawing, lead=lead)


def heat(count: int, total: int) -> str | None:
    """The class of a cell: how much of its row it holds."""
    if not count:
        return None
    return f"heat-{min(_HEAT_LEVELS, 1 + int(_HEAT_LEVELS * count / total))}"


def confusion_table(confusion: dict[str, Any]) -> Html:
    """The matrix; the script makes its cells buttons."""
    names, counts = confusion["names"], confusion["counts"]
    top = tag(
        "tr",
        tag(
            "th",
            "Truth ",
            tag("span", "\u2193", aria_hidden="true"),
            " / prediction ",
            tag("span", "\u2192", aria_hidden="true"),
            scope="col",
            class_="corner",
        ),
        [tag("th", name, scope="col") for name in names],
        tag("th", "Recall, %", scope="col"),
    )
    rows = []
    for i, (name, row) in enumerate(zip(names, counts, strict=True)):
        total = sum(row)
        cells = [
            tag(
                "td",
                whole(count) if count else tag("span", "0", class_="zero"),
                class_=" ".join(filter(None, ("right" if i == j else "wrong", heat(count, total)))),
                data_truth=i,
                data_prediction=j,
                data_count=count,
            )
            for j, count in enumerate(row)
        ]
        found = tag("td", _share(row[i], total), class_="found")
        rows.append(tag("tr", tag("th", name, scope="row"), cells, found))
    rows.append(_precision_row(counts))
    caption = "Rows by true and predicted class"
    content = tag(
        "table",
        tag("caption", caption),
        tag("thead", top),
        tag("tbody", rows),
        class_="confusion dense" if len(names) > _ROOMY_CLASSES else "confusion",
        id="confusion",
    )
    return _scrolling(content, caption)


def _share(part: int, total: int) -> str:
    """In percent, short enough for a narrow column."""
    return number(100 * part / total, 3) if total else NOTHING


def _precision_row(counts: list[list[int]]) -> Html:
    """Of the rows that are given a class the part that has it."""
    cells = []
    for j, column in enumerate(zip(*counts, strict=True)):
        cells.append(tag("td", _share(column[j], sum(column)), class_="found"))
    return tag("tr", tag("th", "Precision, %", scope="row"), cells, tag("td"))


def label_counts(labels: list[dict[str, Any]]) -> Html:
    """How often each label is found, missed and wrongly given."""
    head: list[Child] = ["Label", "Found", "Missed", "Wrongly given", "Precision", "Recall"]
    rows: list[list[Child]] = [
        [
            entry["name"],
            whole(entry["found"]),
            tag("span", whole(entry["missed"]), data_label=entry["label"], data_kind="missed"),
            tag("span", whole(entry["invented"]), data_label=entry["label"], data_kind="invented"),
            percent(entry["precision"]),
            percent(entry["recall"]),
        ]
        for entry in labels
    ]
    return table(head, rows, caption="Labels and mistakes", id="label-counts")


def number_figures(errors: list[dict[str, Any]], document: dict[str, Any]) -> Html:
    """For each output two figures."""
    figures: list[Child] = []
    n_rows = document["data"]["n_rows"]
    for output in errors:
        of = f" of {output['name']}" if len(document["names"]) > 1 else ""
        points = len(output["truth"])
        some = f", {whole(points)} of {whole(n_rows)} rows" if points < n_rows else ""
        figures += [
            figure(
                scatter(output),
                f"Predictions{of} against the truth{some}. On the dashed line they agree.",
            ),
            figure(
                residuals(output),
                f"Errors{of}: prediction minus truth. "
                "The largest one percent are in the outermost bins.",
            ),
        ]
    return joined(tag("div", figures, class_="figures"))
