# SPDX-License-Identifier: BSD-3-Clause
"""The table of interrupted work for docs/robustness.md."""

from regions import markdown

CSV = "ctrl_c.csv"


def of(rows):
    """A line for each work, from the last run of it."""
    found = {(row["work"], row["threads"]): row for row in rows}
    lines = []
    for work in dict.fromkeys(work for work, _ in found):
        mine = [found[key] for key in sorted(found) if key[0] == work]
        moments, ended = (sum(int(row[name]) for row in mine) for name in ("moments", "ended"))
        seconds = [f"{row['computing_median']} / {row['computing_most']}" for row in mine]
        longest = max(float(row["waiting_most"]) for row in mine)
        left = max(int(row["threads_left"]) for row in mine)
        lines.append([work, moments, ended, *seconds, f"{longest:.2f}", left])
    head = ["work", "moments", "`KeyboardInterrupt`", "computing, one thread", "two threads"]
    head += ["waiting, most", "threads left"]
    return markdown(head, lines)
