# SPDX-License-Identifier: BSD-3-Clause
"""Write the tables of an experiment, in Markdown."""

import math
import statistics
from collections import Counter, defaultdict

import store

COSTS = ("fit_cpu_seconds", "trees", "rounds")
GENERATED = "<!-- Written by benchmarks/contest from benchmarks/results/{}.csv. -->"
BEST = "Errors are means over {}. The best of each set is bold."
RATIOS = (
    "All are means over sets. ln ratio: natural logarithm of a method's error divided by the "
    "reference's; -0.1 means about 10 % less. CPU: seconds of a fit, in total and per tree grown "
    "(rounds times classes or outputs for boosters), divided by the reference's in the same run."
)


def write(experiment, rows, folder):
    """Print the tables and replace the page."""
    text = page(experiment, rows)
    print(text)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{experiment.name}.md"
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_text(text)
    temporary.replace(path)


def page(experiment, rows):
    rows = [row for row in rows if row["method"] in experiment.methods]
    lines = [GENERATED.format(experiment.name), "", f"# {experiment.title}", "", experiment.about]
    errors = means(last_of_cells(rows), experiment.error)
    if not errors:
        return "\n".join([*lines, "", "Nothing is measured yet.", ""])
    lines += ["", BEST.format(seeds(rows)), "", *table(experiment, errors, best=True)]
    for reference in experiment.references:
        if any(method == reference for _, method in errors):
            label = experiment.methods[reference].label
            lines += ["", f"## Compared with {label}", "", *comparison(experiment, rows, reference)]
    lines += ["", RATIOS]
    for field, heading in experiment.details.items():
        values = means(last_of_cells(rows), field)
        if values:
            lines += ["", f"## {heading}", "", "These are means over seeds.", ""]
            lines += table(experiment, values)
    return "\n".join(lines) + "\n"


def last_of_cells(rows):
    """The last row of each cell: a cell that was measured again counts once."""
    return list({(row["set"], row["method"], row["seed"]): row for row in rows}.values())


def means(rows, field):
    """Means over seeds, by set and method, where the field is known."""
    groups = defaultdict(list)
    for row in rows:
        groups[row["set"], row["method"]].append(row)
    spreads = {key: store.spread(group, field) for key, group in groups.items()}
    return {key: spread.mean for key, spread in spreads.items() if spread}


def seeds(rows):
    """The number of seeds: "3 seeds", or "1 to 3 seeds" while some are missing."""
    counts = Counter((row["set"], row["method"]) for row in last_of_cells(rows)).values()
    numbers = [str(number) for number in sorted({min(counts), max(counts)})]
    return " to ".join(numbers) + (" seed" if max(counts) == 1 else " seeds")


def measured(values):
    """Sets and methods, in the order of their first rows."""
    return [list(dict.fromkeys(key[i] for key in values)) for i in (0, 1)]


def table(experiment, values, *, best=False):
    """One row for each set, one column for each method that has a value."""
    sets, present = measured(values)
    methods = [method for method in experiment.methods if method in present]
    labels = [experiment.methods[method].label for method in methods]
    lines = ["| set | " + " | ".join(labels) + " |", "|---|" + "---|" * len(methods)]
    for name in sets:
        lowest = min(values[name, m] for m in methods if (name, m) in values)
        texts = []
        for method in methods:
            value = values.get((name, method))
            text = "-" if value is None else f"{value:.4g}"
            texts.append(f"**{text}**" if best and value == lowest else text)
        lines.append(f"| {name} | " + " | ".join(texts) + " |")
    return lines


def comparison(experiment, rows, reference):
    """One row for each method: its errors and times relative to the reference's."""
    errors = means(last_of_cells(rows), experiment.error)
    whole = cpu_ratios(rows, reference, lambda row: float(row["fit_cpu_seconds"]))
    single = cpu_ratios(
        rows, reference, lambda row: float(row["fit_cpu_seconds"]) / int(row["trees"])
    )
    sets, present = measured(errors)
    lines = ["| method | sets | mean ln ratio | lower error | best of all | CPU | CPU per tree |"]
    lines.append("|---|---|---|---|---|---|---|")
    for method, what in experiment.methods.items():
        pairs = [
            (errors[name, method], errors[name, reference])
            for name in sets
            if (name, method) in errors and (name, reference) in errors
        ]
        if method not in present or not pairs:
            continue
        logarithm = mean_logarithm(mine / other for mine, other in pairs)
        wins = sum(mine < other for mine, other in pairs)
        firsts = sum(is_best(errors, name, method) for name in sets)
        cells = [len(pairs), logarithm, "" if method == reference else wins, firsts]
        cells += [ratio_text(ratios.get(method)) for ratios in (whole, single)]
        lines.append(f"| {what.label} | " + " | ".join(map(str, cells)) + " |")
    return lines


def is_best(errors, name, method):
    others = [error for (set_, _), error in errors.items() if set_ == name]
    return errors.get((name, method)) == min(others)


def mean_logarithm(ratios):
    """The mean logarithm as text, or "-": a set without errors has no logarithm."""
    ratios = list(ratios)
    if min(ratios) <= 0 or math.inf in ratios:
        return "-"
    return f"{statistics.fmean(map(math.log, ratios)):+.3f}"


def cpu_ratios(rows, reference, cost):
    """Geometric means over sets of each method's cost divided by the reference's."""
    return {
        method: statistics.geometric_mean(sets.values())
        for method, sets in cpu_ratios_of_sets(rows, reference, cost).items()
    }


def cpu_ratios_of_sets(rows, reference, cost):
    """Geometric means over seeds of each method's cost divided by the reference's, by set.

    Only costs of the same run, set and seed are divided; the last such run counts.
    """
    costs = {(row["run"], row["set"], row["seed"], row["method"]): cost(row) for row in rows}
    pairs = {}
    for (run, name, seed, method), mine in costs.items():
        other = costs.get((run, name, seed, reference))
        if mine and other:
            pairs[method, name, seed] = mine / other
    by_set = defaultdict(lambda: defaultdict(list))
    for (method, name, _), ratio in pairs.items():
        by_set[method][name].append(ratio)
    return {
        method: {name: statistics.geometric_mean(ratios) for name, ratios in sets.items()}
        for method, sets in by_set.items()
    }


def ratio_text(ratio):
    return "-" if ratio is None else f"{ratio:.3g}"
