# SPDX-License-Identifier: BSD-3-Clause
"""Results of the benchmarks: append-only CSV files, and summaries of their rows."""

import csv
import datetime as dt
import os
import platform
import statistics
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent / "results"
RUNS = "runs.csv"
RUN_FIELDS = ["run", "script", "cpu", "vectors", "cores", "python", "system"]


def read(path):
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def append(path, fields, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, fields, lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerows(rows)


def start_run(folder, script):
    """Start a run: store its machine and return its name."""
    run = dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%S")
    machine = {
        "run": run,
        "script": script,
        **processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "system": platform.system(),
    }
    append(folder / RUNS, RUN_FIELDS, [machine])
    return run


def processor():
    """The processor's model and its widest vectors."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return {"cpu": platform.processor() or platform.machine(), "vectors": "unknown"}
    lines = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
    values = {key.strip(): value.strip() for key, value in lines.items()}
    flags = values.get("flags", "").split()
    vectors = next((name for name in ("avx512f", "avx2", "sse2") if name in flags), "unknown")
    return {"cpu": values.get("model name", platform.machine()), "vectors": vectors}


def rows_of_run(path, run=None):
    """The rows of one run, or of the last one in the file."""
    rows = read(path)
    if not rows:
        raise SystemExit(f"no results in {path}")
    chosen = run or max(row["run"] for row in rows)
    rows = [row for row in rows if row["run"] == chosen]
    if not rows:
        raise SystemExit(f"no run {chosen} in {path}")
    return rows


def rounded(result):
    """Numbers as text with five digits; more would only be noise."""
    return {
        key: f"{value:.5g}" if isinstance(value, float) else value for key, value in result.items()
    }


class Spread(NamedTuple):
    """One quantity over the repeats of a measurement."""

    median: float
    mean: float
    low: float
    high: float
    count: int


def spread(rows, field):
    """The spread of a field over rows, or None if no row has it."""
    values = [float(row[field]) for row in rows if row[field] not in {"", None}]
    if not values:
        return None
    return Spread(
        statistics.median(values), statistics.fmean(values), min(values), max(values), len(values)
    )


def grouped(rows, *fields):
    """Successful rows, grouped by the values of these fields."""
    groups = {}
    for row in rows:
        if row["status"] == "ok":
            groups.setdefault(tuple(row[field] for field in fields), []).append(row)
    return groups


def add_options_of_readers(parser):
    """Add the options of scripts that only read results."""
    parser.add_argument("--run", help="run in speed.csv; default: the last")
    parser.add_argument("--scaling-run", help="run in scaling.csv; default: the last")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--results", type=Path, default=FOLDER, help="folder of CSV files")
