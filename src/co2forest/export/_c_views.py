# SPDX-License-Identifier: BSD-3-Clause
"""Columns with categories and gaps, and the features that trees see of them, as C source."""

from collections.abc import Iterator

from co2forest.data.columns.columns import Column
from co2forest.data.columns.frames import Value
from co2forest.data.columns.views import ColumnViews, ViewKind
from co2forest.export._c_literals import Table, offsets, pieces, smallest, string_literal

_MOST_IN_COMMENT = 8  # categories of a column; the table has all of them
_LONGEST_IN_COMMENT = 60  # characters


def view_pieces(views: ColumnViews | None) -> dict[str, str]:
    """What the templates need of them; nothing if the columns are the features."""
    if views is None:
        names = ("described_code", "described_columns", "declared_code", "code", "expand", "seen")
        return dict.fromkeys(names, "") | {"row": "x"}
    c = pieces("views.c.in")
    kinds = sorted(set(views.views.arrays()["kind"].tolist()))
    cases = "".join(c[f"case {ViewKind(kind).name}"] for kind in kinds)
    code = views.columns.has_categories
    return {
        "described_code": c["code: described"] if code else "",
        "described_columns": c["described"],
        "declared_code": c["code: declared"] if code else "",
        "code": c["code: function"] if code else "",
        "expand": (c["code of a value"] if ViewKind.TABLE in kinds else "")
        + c["expand"].replace("$cases", cases),
        "seen": c["seen"],
        "row": "columns",
    }


def view_tables(views: ColumnViews | None) -> Iterator[Table]:
    """Names, contents and meanings of the tables of numbers; only those that a kind needs."""
    if views is None:
        return
    arrays = views.views.arrays()
    kinds = set(arrays["kind"].tolist())
    yield "view_column", smallest(arrays["column"]), "For each feature: the column it is seen of."
    yield "view_kind", arrays["kind"], "Number, missing, equals a code, table by code."
    if kinds & {ViewKind.EQUALS, ViewKind.TABLE}:
        comment = "The code, or where a table begins in the values."
        yield "view_argument", smallest(arrays["argument"]), comment
    if ViewKind.TABLE in kinds:
        yield "view_size", smallest(arrays["size"]), "Codes of a table."
        comment = "A table ends with the values of other codes and of NaN."
        yield "view_value", arrays["values"], comment
    if views.columns.has_categories:
        counts = [column.n_categories for column in views.columns.columns]
        comment = "Where the categories of each column begin and end."
        yield "category_begin", smallest(offsets(counts)), comment


def categories_table(views: ColumnViews | None, prefix: str) -> str:
    """The categories of all columns, as strings."""
    if views is None or not views.columns.has_categories:
        return ""
    items = [item for column in views.columns.columns for item in _category_items(column)]
    n_categories = sum(column.n_categories for column in views.columns.columns)
    if n_categories == 0:
        items, n_categories = ["NULL"], 1  # C has no empty arrays
    head = f"/* The categories of all columns. */\nstatic const char *const {prefix}_category"
    return f"\n{head}[{n_categories}] = {{\n" + "\n".join(items) + "\n};\n"


def _category_items(column: Column) -> Iterator[str]:
    if column.categories:
        yield f"/* {_in_comment(column.name)} */"
    for value in column.categories or ():
        text = str(value)
        # No string of C is equal to one with a NUL character, so it is never found.
        yield "NULL," if "\0" in text else f"{string_literal(text)},"


def columns_comment(views: ColumnViews | None) -> str:
    """A line for each column: its number, its name, and its first categories with their codes."""
    if views is None:
        return ""
    return "".join(
        f" *     {number} {_in_comment(column.name)}: {_content(column)}\n"
        for number, column in enumerate(views.columns.columns)
    )


def _content(column: Column) -> str:
    if column.categories is None:
        return "numbers"
    first = column.categories[:_MOST_IN_COMMENT]
    text = ", ".join(f"{code} {_in_comment(value)}" for code, value in enumerate(first))
    more = column.n_categories - len(first)
    return f"{text or 'no categories'}{f' and {more} more' if more else ''}"


def _in_comment(value: Value) -> str:
    """A text that cannot end a comment, whatever it is."""
    text = str(value)
    short = text if len(text) <= _LONGEST_IN_COMMENT else text[: _LONGEST_IN_COMMENT - 3] + "..."
    return string_literal(short.replace("\0", "\ufffd"), escaped=b"*/")
