# SPDX-License-Identifier: BSD-3-Clause
"""The tables of docs/benchmarks/tables.md, computed from the stored cells.

A cell is the last row of its set, split and method. Two methods are compared on the splits of a set
that both have. Means over sets are over the cells that all methods have.
"""

import statistics
from collections import defaultdict
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

from regions import markdown, replaced
from tables.methods import METHODS
from tables.suites import PEERS, REGRESSION

FOREST, MAIN = "random_forest", "co2ensemble"
JUDGED = (MAIN, "co2boosting", "co2forest")  # ours that have targets
FORESTS = (FOREST, "extra_trees")
MARK = "\\*"
MARKED = f"{MARK} Measured elsewhere, at least in part: from `{PEERS}` of the suite.\n\n"
NOTHING = "Nothing is measured yet.\n"


class Measure(NamedTuple):
    """A column of the CSV file, or how to compute one."""

    field: str
    label: str
    digits: int = 3
    best: object = min

    def loss(self, row):
        """The value of a row, lower is better; None if the row has none."""
        value = self.value(row)
        return 1 - value if self.best is max and value is not None else value

    def value(self, row):
        text = row.get(self.field)
        return float(text) if text else None


# Where nearly all is certain, ratios of log losses say nothing: smaller ones count as this.
LEAST_LOGLOSS = 1e-3


class Loss(Measure):
    """Log loss of classes, RMSE of numbers."""

    def value(self, row):
        text = row["rmse"] if row["task"] == REGRESSION else row["logloss"]
        return float(text) if text else None


LOGLOSS = Measure("logloss", "log loss")
AUC = Measure("auc", "AUC", 4, max)
ERROR = Measure("error", "error", 2)
RMSE = Measure("rmse", "RMSE")
ECE = Measure("ece", "calibration error")
BOTH = Loss("", "log loss or RMSE")


def cells_of(rows, peers=()):
    """The last row of each cell; rows of our own go before those of others."""
    others = [row | {"run": PEERS} for row in peers]
    return {(row["set"], int(row["split"]), row["method"]): row for row in [*others, *rows]}


def label(method):
    return METHODS[method].label if method in METHODS else method


def is_ours(method):
    return METHODS[method].ours if method in METHODS else method.startswith("co2")


def methods_of(cells):
    """The methods that have cells, in the order of METHODS, then those of other versions."""
    present = dict.fromkeys(method for *_, method in cells)
    return [m for m in METHODS if m in present] + [m for m in present if m not in METHODS]


def losses(cells, measure):
    """By set and method, then by split."""
    found = defaultdict(dict)
    for (name, split, method), row in cells.items():
        value = measure.loss(row)
        if value is not None:
            found[name, method][split] = value
    return found


def sets_of(found):
    return list(dict.fromkeys(name for name, _ in found))


def pairs(found, mine, other):
    """The mean losses of two methods over the splits that both have, by set."""
    both = {}
    for name in sets_of(found):
        ours, theirs = found.get((name, mine), {}), found.get((name, other), {})
        common = ours.keys() & theirs.keys()
        if common:
            both[name] = tuple(
                statistics.fmean(each[split] for split in sorted(common)) for each in (ours, theirs)
            )
    return both


def groups(found, methods):
    """Methods to average over the same cells: each variant of ours with all others, then the main.

    A method with less than half of the random forest's cells is left out, because the others lose
    the cells that it lacks. Ours are apart, so that a variant changes nobody's mean.
    """
    wanted = {(name, split) for (name, m), each in found.items() if m == FOREST for split in each}

    def has_half(method):
        lacks = sum(split not in found.get((name, method), {}) for name, split in wanted)
        return wanted and 2 * lacks <= len(wanted)

    enough = [method for method in methods if has_half(method)]
    theirs = [method for method in enough if not is_ours(method)]
    variants = [[method] for method in enough if is_ours(method) and method != MAIN]
    return [[*theirs, *one] for one in [*variants, [m for m in enough if m == MAIN]]]


def averages(found, group):
    """Mean losses of a group by set, over the splits that all of the group have."""
    means = {}
    for name in sets_of(found):
        splits = set.intersection(*(set(found.get((name, method), ())) for method in group))
        if splits:
            means[name] = [
                statistics.fmean(found[name, method][split] for split in sorted(splits))
                for method in group
            ]
    return means


class Summary(NamedTuple):
    """Means over sets, by method, and the sets of the group with the main one of ours."""

    means: dict
    sets: list


def summary(cells, measure, numbers_of_set):
    """Means over sets of what a function makes of the losses of a set."""
    found = losses(cells, measure)
    means, sets = {}, []
    for group in groups(found, methods_of(cells)):
        by_set = averages(found, group) if group else {}
        sets = list(by_set)
        for method, *numbers in zip(group, *map(numbers_of_set, by_set.values()), strict=True):
            if numbers:
                means[method] = statistics.fmean(map(float, numbers))
    return Summary(means, sets)


def ranks(cells, measure):
    return summary(cells, measure, rankdata)


def compared_text(measure, both):
    """The geometric mean ratio, and on how many sets the first is better.

    A set on which one makes no error has no ratio; it counts as a set. Areas are subtracted: where
    they are nearly 1, a ratio of what is missing would be one of rounding errors.
    """
    if not both:
        return "-"
    better = sum(mine < other for mine, other in both.values())
    least = LEAST_LOGLOSS if measure is LOGLOSS else 0.0
    values = [[max(each, least) for each in pair] for pair in both.values()]
    ratios = [mine / other for mine, other in values if mine > 0 and other > 0]
    mean = f"{statistics.geometric_mean(ratios):.3f}" if ratios else "-"
    if measure is AUC:
        mean = f"{statistics.fmean(other - mine for mine, other in both.values()):+.4f}"
    return f"{mean} ({better}/{len(both)})"


def number_text(value, digits):
    return "-" if value is None else f"{value:.{digits}f}"


# --- The tables, by name


def sets_table(measure, cells):
    """One row for each set, one column for each method: means over splits."""
    groups = defaultdict(list)
    for (name, _, method), row in cells.items():
        if measure.value(row) is not None:
            groups[name, method].append(row)
    if not groups:
        return NOTHING
    methods = [m for m in methods_of(cells) if any(key[1] == m for key in groups)]
    table, marked = [], False
    for name in sets_of(groups):
        means = {
            m: statistics.fmean(measure.value(row) for row in groups[name, m])
            for m in methods
            if (name, m) in groups
        }
        best = measure.best(means.values())
        texts = []
        for method in methods:
            text = number_text(means.get(method), measure.digits)
            text = f"**{text}**" if means.get(method) == best else text
            elsewhere = any(row["run"] == PEERS for row in groups.get((name, method), []))
            marked |= elsewhere
            texts.append(text + (f" {MARK}" if elsewhere else ""))
        table.append([name, *texts])
    counts = sorted({len(rows) for rows in groups.values()})
    span = " to ".join(dict.fromkeys(str(n) for n in (counts[0], counts[-1])))
    note = f"Means over {span} split{'s' if counts[-1] > 1 else ''}.\n\n"
    return note + (MARKED if marked else "") + markdown(["set", *map(label, methods)], table)


def ranks_table(cells):
    measures = (BOTH, LOGLOSS, RMSE, AUC, ERROR)
    found = [ranks(cells, measure) for measure in measures]
    methods = [m for m in methods_of(cells) if any(m in each.means for each in found)]
    if not methods:
        return NOTHING
    order = sorted(methods, key=lambda m: found[0].means.get(m, float("inf")))
    table = [[label(m), *(number_text(each.means.get(m), 2) for each in found)] for m in order]
    heads = [f"{m.label}, {len(each.sets)} sets" for m, each in zip(measures, found, strict=True)]
    without = [name for name in sets_of(losses(cells, BOTH)) if name not in found[0].sets]
    note = (
        f"Not all of these methods have results of {' and '.join(without)}.\n\n" if without else ""
    )
    return note + markdown(["method", *heads], table)


def comparison_table(cells, reference=None, mine=None):
    """Every method divided by the reference, or one of ours divided by every method."""
    measures = (LOGLOSS, RMSE, AUC, ERROR)
    found = {measure: losses(cells, measure) for measure in measures}
    present = methods_of(cells)
    if (reference or mine) not in present:
        return NOTHING
    table = []
    for method in present:
        if method not in {reference, mine}:
            both = {
                measure: pairs(each, mine or method, reference or method)
                for measure, each in found.items()
            }
            table.append([label(method), *(compared_text(*item) for item in both.items())])
    return markdown(["method", *(measure.label for measure in measures)], table)


def costs_table(rows, cells):
    """Calibration errors, and CPU seconds in those of the random forest of the same run."""
    errors = summary(cells, ECE, list)
    cpu = cpu_ratios(rows)
    table = [
        [label(m), number_text(errors.means.get(m), 4), number_text(cpu.get(m), 2)]
        for m in methods_of(cells)
    ]
    head = ["method", f"calibration error, {len(errors.sets)} sets", "CPU time"]
    return markdown(head, table) if table else NOTHING


def cpu_ratios(rows):
    """Geometric means over sets. Only seconds of one run are divided; the last such run counts."""
    seconds = {
        (row["run"], row["set"], row["split"], row["method"]): float(row["fit_cpu_s"])
        for row in rows
    }
    ratios = {}
    for (run, name, split, method), mine in seconds.items():
        other = seconds.get((run, name, split, FOREST))
        if mine and other:
            ratios[method, name, split] = mine / other
    by_set = defaultdict(lambda: defaultdict(list))
    for (method, name, _), ratio in ratios.items():
        by_set[method][name].append(ratio)
    return {
        method: statistics.geometric_mean(map(statistics.geometric_mean, sets.values()))
        for method, sets in by_set.items()
    }


def targets_table(cells):
    table = []
    for mine in JUDGED:
        if mine not in methods_of(cells):
            continue
        table += [
            [
                f"{label(mine)}: {measure.label} at or below both forests of scikit-learn",
                *beside_forests(cells, measure, mine),
            ]
            for measure in (LOGLOSS, RMSE)
        ]
        table += [
            [
                f"{label(mine)}: mean rank by {measure.label} ahead of all boosting",
                *beside_boosting(cells, measure, mine),
            ]
            for measure in (BOTH, LOGLOSS, AUC, ERROR, RMSE)
        ]
    return markdown(["target", "measured", "met"], table) if table else NOTHING


def beside_forests(cells, measure, ours):
    found = losses(cells, measure)
    both = [pairs(found, ours, forest) for forest in FORESTS]
    sets = [name for name in sets_of(found) if all(name in each for each in both)]
    worst = {name: max(each[name][0] / each[name][1] for each in both) for name in sets}
    behind = {name: ratio for name, ratio in worst.items() if ratio > 1}
    text = f"{len(sets) - len(behind)} of {len(sets)} sets"
    if behind:
        order = sorted(behind, key=behind.get, reverse=True)
        text += "; behind on " + ", ".join(f"{name} ({behind[name]:.3f})" for name in order)
    lacks = [
        name
        for (name, method), splits in found.items()
        if method == FOREST and not splits.keys() <= found.get((name, ours), {}).keys()
    ]
    return text, "no" if behind else "not all measured" if lacks or not sets else "yes"


def beside_boosting(cells, measure, ours):
    found = losses(cells, measure)
    group = next((each for each in groups(found, methods_of(cells)) if ours in each), [])
    by_set = averages(found, group) if group else {}
    ranked = [rankdata(each) for each in by_set.values()]
    means = dict(zip(group, np.mean(ranked, axis=0), strict=True)) if ranked else {}
    others = {m: rank for m, rank in means.items() if not is_ours(m) and m not in FORESTS}
    if not others:
        return "-", "not all measured"
    order = sorted(others, key=others.get)
    text = f"{means[ours]:.2f}; " + ", ".join(f"{label(m)} {others[m]:.2f}" for m in order)
    return text, "yes" if means[ours] < min(others.values()) else "no"


def tables(rows, peers=()):
    """The functions that compute the tables, by the names of their places in the page."""
    cells = cells_of(rows, peers)
    everything = [*(row | {"run": PEERS} for row in peers), *rows]
    return {
        "tables_targets": partial(targets_table, cells),
        "tables_ranks": partial(ranks_table, cells),
        "tables_beside_forest": partial(comparison_table, cells, reference=FOREST),
        "tables_beside_ours": partial(comparison_table, cells, mine=MAIN),
        "tables_costs": partial(costs_table, everything, cells),
        "tables_logloss": partial(sets_table, LOGLOSS, cells),
        "tables_auc": partial(sets_table, AUC, cells),
        "tables_error": partial(sets_table, ERROR, cells),
        "tables_rmse": partial(sets_table, RMSE, cells),
    }


def page(text, rows, peers=()):
    """The text of the page with the numbers of these rows."""
    return replaced(text, tables(rows, peers))


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_text(text)
    temporary.replace(path)
