"""Where predictions go wrong: a matrix or figures, and a table of rows."""

from typing import Any

from co2forest.report._html import Child, Html, tag
from co2forest.report._numbers import percent, reading, whole
from co2forest.report._sections import (
    card,
    confusion_table,
    label_counts,
    number_figures,
    section,
    table,
)

_STATIC_ROWS = 10  # that are there without a script


def mistakes(document: dict[str, Any]) -> Html:
    """Where predictions go wrong, and for which rows."""
    task = document["model"]["task"]
    what: Html
    if task == "classes":
        title, what = "Confusion", card(confusion_table(document["confusion"]))
        lead = "Rows by what is true and what is predicted. Choose a cell to see its rows below."
    elif task == "labels":
        title, what = "Labels", card(label_counts(document["labels"]))
        lead = "How often each label is found. Choose a number of mistakes to see the rows below."
    else:
        title, what = "Errors", number_figures(document["errors"], document)
        lead = "Predictions beside the truth, and the rows with the largest differences."
    return section("mistakes", title, what, _rows(document), lead=lead)


def _rows(document: dict[str, Any]) -> Html:
    rows, task = document["rows"], document["model"]["task"]
    numbers = task == "numbers"
    heading = "Rows with the largest errors" if numbers else "Misclassified rows"
    heading = "Rows with wrong labels" if task == "labels" else heading
    shown = _first_rows(document)
    static: Html = (
        _static_table(document, shown, heading)
        if shown
        else tag("p", "No row is wrong." if not numbers else "There are no rows.")
    )
    n_shown = len(rows["number"])
    left_out = document["data"]["n_rows"] - n_shown
    note = None
    if left_out:
        note = f"The file holds {whole(n_shown)} of {whole(document['data']['n_rows'])} rows: "
        note += (
            "those with the largest errors, and others from the whole range of y."
            if numbers
            else "wrong ones of every kind, the surest mistakes first, and some that are right."
        )
    return card(
        tag("h3", heading, id="rows-title"),
        None if note is None else tag("p", note, class_="note"),
        tag("div", id="rows-filter", class_="needs-script"),
        tag("p", id="rows-status", class_="status needs-script", role="status", aria_live="polite"),
        tag("div", static, id="rows"),
        tag("div", id="rows-pages", class_="needs-script"),
        id="rows-card",
    )


def _first_rows(document: dict[str, Any]) -> list[int]:
    rows = document["rows"]
    wrong = [
        i
        for i, (truth, said) in enumerate(zip(rows["truth"], rows["prediction"], strict=True))
        if truth != said
    ]
    return wrong[:_STATIC_ROWS]


def _static_table(document: dict[str, Any], shown: list[int], caption: str) -> Html:
    rows = document["rows"]
    head: list[Child] = ["Row", "Truth", "Prediction"]
    head += ["Probability"] if document["model"]["task"] == "classes" else []
    head += [column["name"] for column in rows["columns"]]
    body: list[list[Child]] = []
    for i in shown:
        cells: list[Child] = [str(rows["number"][i])]
        cells += [_value(document, rows["truth"][i]), _value(document, rows["prediction"][i])]
        if document["model"]["task"] == "classes":
            cells.append(percent(rows["probability"][i]))
        values = [column["values"][i] for column in rows["columns"]]
        cells += [value if isinstance(value, str) else reading(value) for value in values]
        body.append(cells)
    return table(head, body, caption=caption)


def _value(document: dict[str, Any], value: Any) -> str:
    """Truth or prediction as text."""
    task, names = document["model"]["task"], document["names"]
    if task == "classes":
        return str(names[value])
    if task == "labels":
        return ", ".join(name for name, has in zip(names, value, strict=True) if has) or "none"
    return ", ".join(reading(v) for v in value)
