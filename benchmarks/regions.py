# SPDX-License-Identifier: BSD-3-Clause
"""Tables in Markdown, and their places in a page.

A place is between two comments, `<!-- measured: NAME -->` and `<!-- end measured -->`.
"""

import re

REGION = re.compile(r"(<!-- measured: (\w+) -->\n)(.*?)(<!-- end measured -->)", re.DOTALL)


def markdown(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(map(str, line)) + " |\n" for line in lines).replace(
        "| --- ", "|---"
    )


def replaced(text, tables):
    """The text of a page with new tables: functions by name, without arguments."""
    return REGION.sub(lambda found: found[1] + tables[found[2]]() + found[4], text)
