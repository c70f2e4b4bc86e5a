# SPDX-License-Identifier: BSD-3-Clause
"""The tables of the page, made from stored scores only."""

import itertools

from faces import measured

ORDER = ("co2", "two_probe", "axis")  # the paper's order, best first


def number(value):
    return "-" if value is None else f"{value:.2f}"


def table(heads, rows):
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows])


def titles(settings):
    return [(name, problem["title"]) for name, problem in settings["problems"].items()]


def labels(settings):
    return [(name, forest["label"]) for name, forest in settings["forests"].items()]


def table2(settings, scores):
    sizes = settings["report"]["trees"]
    heads = [f"{title}, {size} trees" for _, title in titles(settings) for size in sizes]
    heads += [f"paper: LFW, {size} trees" for size in sizes]
    rows = []
    for forest, label in labels(settings):
        row = [scores.jaccard(p, forest, n) for p, _ in titles(settings) for n in sizes]
        rows.append([label, *map(number, [*row, *settings["forests"][forest]["published"]])])
    return table(["forest", *heads], rows)


def summary(settings, scores):
    """For each problem, a sentence about the order of the forests and their differences."""
    size = settings["forest"]["trees_of_depths"]
    lines = []
    for problem, title in titles(settings):
        found = {forest: scores.jaccard(problem, forest, size) for forest in ORDER}
        if None in found.values():
            lines.append(f"- {title}: not measured yet.")
            continue
        order = sorted(ORDER, key=found.get, reverse=True)
        names = [settings["forests"][forest]["label"] for forest in order]
        same = "the paper's order" if tuple(order) == ORDER else "not the paper's order"
        over_probe, over_axis = (found["co2"] - found[other] for other in ORDER[1:])
        lines.append(
            f"- {title}: {names[0]}, {names[1]}, {names[2]}, which is {same}. With {size} trees "
            f"the CO2 forest differs from the two-probe forest by {over_probe:+.2f} points and "
            f"from the random forest by {over_axis:+.2f} (paper: {_published(settings)})."
        )
    return "\n".join(lines)


def _published(settings):
    at = settings["report"]["trees"].index(settings["forest"]["trees_of_depths"])
    first, *others = (settings["forests"][forest]["published"][at] for forest in ORDER)
    return " and ".join(f"{first - other:+.2f}" for other in others)


def differences(settings, scores):
    rows = []
    for problem, title in titles(settings):
        of_images = {forest: scores.by_image(problem, forest) for forest in ORDER}
        for one, other in itertools.combinations(ORDER, 2):
            pair = " - ".join(settings["forests"][forest]["label"] for forest in (one, other))
            found = measured.difference(of_images[one], of_images[other])
            if found:
                better = f"{found.better} of {found.images}"
                rows.append([title, pair, f"{found.mean:+.2f} ± {found.noise:.2f}", better])
    return table(["problem", "forests", "mean difference", "first is better"], rows)


def classes(settings, scores):
    size = settings["forest"]["trees_of_depths"]
    tables = []
    for problem, title in titles(settings):
        columns = {forest: scores.by_class(problem, forest, size) for forest in settings["forests"]}
        names = list(dict.fromkeys(name for column in columns.values() for name in column))
        rows = [[name, *(number(c.get(name)) for c in columns.values())] for name in names]
        heads = [title, *(label for _, label in labels(settings))]
        tables.append(table(heads, rows))
    return "\n\n".join(tables)


def selection(settings, scores):
    rows = []
    for problem, title in titles(settings):
        for forest, label in labels(settings):
            chosen = scores.chosen(problem, forest)
            if chosen:
                texts = [f"{name}={value}" for name, value in chosen.parameters.items()]
                texts = texts or ["defaults"]
                numbers = [chosen.candidates, number(chosen.score), number(chosen.at_first)]
                rows.append([title, label, ", ".join(texts), *numbers])
    heads = ["problem", "forest", "chosen", "candidates", "its score", "balanced defaults"]
    return table(heads, rows)


def costs(settings, scores):
    fields = {
        "windows of a tree": "samples_per_tree",
        "CPU s": "cpu_seconds_per_tree",
        "leaves of a tree": "leaves_per_tree",
        "depth of the deepest": "depth",
        "MB of the model": "model_megabytes",
    }
    rows = []
    for problem, title in titles(settings):
        for forest, label in labels(settings):
            fits = scores.fits.get((problem, forest))
            if fits:
                means = [sum(float(f[name]) for f in fits) / len(fits) for name in fields.values()]
                shown = [f"{mean:.0f}" if mean > 999 else f"{mean:.3g}" for mean in means]
                rows.append([title, label, *shown])
    return table(["problem", "forest", *fields], rows)
