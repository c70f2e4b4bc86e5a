# SPDX-License-Identifier: BSD-3-Clause
"""The table of interrupted work for docs/robustness.md."""

from regions import markdown

CSV = "ctrl_c.csv"


def of(rows):
    """The last run, a line for each work."""
    last = max((row["run"] for row in rows), default="")
    rows = [row for row in rows if row["run"] == last]
    lines = []
    for work in dict.fromkeys(row["work"] for row in rows):
        mine = [row for row in rows if row["work"] == work]
        moments, ended = (sum(int(row[name]) for row in mine) for name in ("moments", "ended"))
        seconds = [f"{row['computing_median']} / {row['computing_most']}" for row in mine]
        longest = max(float(row["waiting_most"]) for row in mine)
        left = max(int(row["threads_left"]) for row in mine)
        lines.append([work, moments, ended, *seconds, f"{longest:.2f}", left])
    head = ["work", "moments", "`KeyboardInterrupt`", "computing, one thread", "two threads"]
    head += ["waiting, most", "threads left"]
    return markdown(head, lines)
