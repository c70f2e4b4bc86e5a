# SPDX-License-Identifier: BSD-3-Clause
"""Markdown tables of the results for docs/robustness.md."""

import statistics
from collections import Counter

from adapters import ADAPTERS, adapter_class
from regions import markdown
from robustness.repetition import CALLS, FITS, THREADS

NOT_MEASURED, NOT_TRIED = "not measured", "not tried"
FILE_OUTCOMES = {  # heading: outcome
    "process ended": "killed",
    "hung": "hang",
    "exception": "exception",
    "same predictions": "same predictions",
    "other predictions": "other predictions",
}


def tables(rows):
    """All tables of one run."""
    order = list(ADAPTERS)
    rows = sorted(rows, key=lambda row: order.index(row["library"]))  # even if added later
    libraries = list(dict.fromkeys(row["library"] for row in rows))
    parts = [_heading(rows, libraries)]
    failed = [row for row in rows if row["outcome"] == "failed"]
    rows = [row for row in rows if row["outcome"] != "failed"]
    files = [row for row in rows if row["attack"] in {"damaged file", "forged child"}]
    if files:
        parts.append(_file_table(files))
    parts.append(_behaviour_table(rows, libraries))
    parts += [f"- {_label(r['library'])}, {r['attack']}: failed, {r['detail']}" for r in failed]
    return "\n".join(parts)


def _heading(rows, libraries):
    versions = {row["library"]: row["version"] for row in rows}
    names = ", ".join(f"{_label(library)} {versions[library]}" for library in libraries)
    return f"Run {rows[0]['run']} (UTC): {names}.\n"


def _label(library):
    return adapter_class(library).label


# --- files


def _file_table(rows):
    formats = dict.fromkeys((row["library"], row["case"].split(", ")[0]) for row in rows)
    forged = list(
        dict.fromkeys(row["case"].split(", ")[1] for row in rows if row["attack"] == "forged child")
    )
    headings = ["file", "damaged", *FILE_OUTCOMES]
    headings += [f"forged child {int(child):.0e}" for child in forged]
    lines = []
    for library, form in formats:
        own = [r for r in rows if (r["library"], r["case"].split(", ")[0]) == (library, form)]
        counts = Counter()
        for row in own:
            if row["attack"] == "damaged file":
                counts[row["outcome"]] += int(row["count"])
        cells = [counts[outcome] for outcome in FILE_OUTCOMES.values()]
        cells += [_forged_cell(own, child) for child in forged]
        lines.append([f"{_label(library)}, {form}", counts.total(), *cells])
    reasons = dict.fromkeys(
        f"Not tried, {_label(row['library'])}: {row['detail']}.\n"
        for row in rows
        if row["outcome"] == NOT_TRIED
    )
    return "\n".join([markdown(headings, lines), *reasons])


def _forged_cell(rows, child):
    for row in rows:
        if row["attack"] == "forged child" and row["case"].split(", ")[1] == child:
            return _outcome(row)
    return NOT_MEASURED


def _outcome(row):
    if row["detail"] and row["outcome"] != NOT_TRIED:
        return f"{row['outcome']}: {row['detail']}"
    return row["outcome"]


# --- behaviour


def _behaviour_table(rows, libraries):
    fits = FITS * len(THREADS)
    measures = {
        f"different results of {CALLS} equal predictions": _distinct("predict twice", ""),
        f"different predictions of {fits} equal fits": _distinct("fit twice", "predictions"),
        f"different files of {fits} equal fits": _distinct("fit twice", "files"),
        "Ctrl-C in a fit, one thread": _interruption("threads 1"),
        "Ctrl-C in a fit, two threads": _interruption("threads 2"),
        "eight threads predict at once": _counts("eight threads"),
        "a forked child fits and predicts": _counts("fork"),
        "a fit with too little memory": _counts("too little memory"),
    }
    lines = []
    for name, cell in measures.items():
        cells = [cell([row for row in rows if row["library"] == library]) for library in libraries]
        lines.append([name, *cells])
    return markdown(["attack", *map(_label, libraries)], lines)


def _distinct(attack, case):
    def cell(rows):
        own = [r for r in rows if r["attack"] == attack and r["case"].startswith(case)]
        return "; ".join(row["value"] or _outcome(row) for row in own) or NOT_MEASURED

    return cell


def _interruption(case):
    """The median time, the exceptions, and threads that go on working."""

    def cell(rows):
        own = [r for r in rows if r["attack"] == "Ctrl-C" and r["case"] == case]
        seconds = [float(row["value"]) for row in own if row["value"]]
        parts = [f"{statistics.median(seconds):.2f} s"] if seconds else []
        outcomes = Counter(row["outcome"].partition(":")[0] for row in own)
        parts += [f"{outcome} ({count})" for outcome, count in outcomes.items()]
        busy = [int(row["detail"].split()[0]) for row in own if row["value"]]
        if any(busy):
            parts.append(f"up to {max(busy)} threads work on")
        return ", ".join(parts) or NOT_MEASURED

    return cell


def _counts(attack):
    def cell(rows):
        outcomes = Counter()
        for row in rows:
            if row["attack"] == attack:
                outcomes[_short_outcome(row)] += int(row["count"])
        parts = [f"{outcome} ({count})" for outcome, count in outcomes.most_common()]
        return ", ".join(parts) or NOT_MEASURED

    return cell


def _short_outcome(row):
    named = row["outcome"] in {"exception", "killed", "unusable"}
    return _outcome(row) if named else row["outcome"]
