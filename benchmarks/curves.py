# SPDX-License-Identifier: BSD-3-Clause
"""Measurements of a run as curves over the number of trees."""

from typing import NamedTuple

import store


class Point(NamedTuple):
    """One library with one number of trees: the mean error, and medians of everything else."""

    trees: int
    error: float  # percent
    fit_cpu: float  # seconds
    predict_one_thread: float  # CPU milliseconds per 1000 rows
    row: float  # microseconds
    row_validation: float | None  # microseconds
    model_bytes: float


def median(rows, field):
    found = store.spread(rows, field)
    return found and found.median


def read_curves(rows, threads):
    """Points by set and library, ordered by the number of trees."""
    rows = [row for row in rows if int(row["threads"]) == threads]
    curves = {}
    for (name, library, trees), group in store.grouped(rows, "set", "library", "trees").items():
        point = Point(
            int(trees),
            store.spread(group, "error_percent").mean,
            median(group, "fit_cpu_seconds"),
            median(group, "predict_one_thread_cpu_ms_per_1000"),
            median(group, "row_us"),
            median(group, "row_validation_us"),
            median(group, "model_bytes"),
        )
        curves.setdefault((name, library), []).append(point)
    return {key: sorted(points) for key, points in curves.items()}


def with_trees(points, trees):
    return next((point for point in points if point.trees == trees), None)


def first_below(points, error):
    """The smallest forest that makes no more errors."""
    return next((point for point in points if point.error <= error), None)


def largest_within(points, fit_cpu):
    """The largest forest whose fit takes no more CPU time."""
    return next((point for point in reversed(points) if point.fit_cpu <= fit_cpu), None)
