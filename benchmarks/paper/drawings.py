# SPDX-License-Identifier: BSD-3-Clause
"""The figures of the report, in the style of the other benchmarks."""

import statistics

import matplotlib.pyplot as plt
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator

import figures
from paper import cells, tables
from paper.config import UNIVARIATE

COLOURS = {
    "co2": figures.COLOURS["co2forest"],
    "co2_paper": figures.COLOURS["xgboost"],
    "rf_sklearn": figures.COLOURS["random_forest"],
    "rf": figures.COLOURS["extra_trees"],
    "oc1": figures.COLOURS["ydf_oblique"],
    "cart_lc": figures.COLOURS["ydf"],
    "two_probe": figures.COLOURS["treeple"],
    "lda": figures.COLOURS["aeon"],
}
# From light to dark, for growing nu.
NU_COLOURS = ["#f2b134", "#e0732c", "#c0252d", "#6b1230"]
TRAINING, VALIDATION = "#1f5fa8", figures.COLOURS["co2forest"]
LEAVES = "#22773a"
LOWEST_SHOWN = {"training": 0.1, "validation": 4}  # percent; training errors go down to zero


def write(config, curves, results, folder, formats):
    """Draw everything that has cells."""
    depth, nu = cells.read(results, "depth"), cells.read(results, "nu")
    with plt.rc_context(figures.STYLE):  # it also makes the files reproducible
        if curves:
            figures.save(figure2(config, curves), folder, "figure2", formats)
        if depth:
            figures.save(figure1(depth), folder, "figure1", formats)
        if nu:
            figures.save(nu_study(config, nu), folder, "nu_study", formats)


def figure2(config, curves):
    """Test error against the number of trees, a panel for each set; crosses are the paper's."""
    sets = list(dict.fromkeys(name for name, _, _ in tables.measured_cells(config, curves)))
    columns = min(3, len(sets))
    rows = -(-len(sets) // columns)
    figure, grid = plt.subplots(
        *(rows, columns), figsize=(9.6, 2.75 * rows + 0.8), layout="constrained", squeeze=False
    )
    figure.get_layout_engine().set(w_pad=0.08, h_pad=0.08)
    for axes in grid.flat[len(sets) :]:
        axes.axis("off")
    for axes, name in zip(grid.flat, sets, strict=False):
        draw_panel(config, curves, axes, name)
    drawn = [m for m in config["methods"] if any((name, m) in curves for name in sets)]
    handles = [
        Line2D([], [], color=colour(m), label=config["methods"][m]["label"], **line(m))
        for m in drawn
    ]
    handles.append(
        Line2D([], [], color=figures.INK, marker="x", linestyle="", label="in the paper")
    )
    figure.legend(handles=handles, loc="outside lower center", ncols=3, handlelength=2.6)
    return figure


def draw_panel(config, curves, axes, name):
    xs, errors = [], []
    for method in config["methods"]:
        curve = curves.get((name, method))
        if curve is None or not curve.points:
            continue
        sizes = list(curve.points)
        values = [curve.points[size].error for size in sizes]
        axes.loglog(sizes, values, color=colour(method), **line(method))
        xs, errors = xs + sizes, errors + values
        for size in config["report"]["complete_sizes"]:
            paper = tables.published(config, name, curve.kind, method, size)
            if paper is not None:
                axes.plot(size, paper, color=colour(method, paper=True), marker="x", **CROSS)
                xs, errors = [*xs, size], [*errors, paper]
    axes.set_title(config["sets"][name]["title"])
    axes.set_xlabel("trees")
    axes.set_ylabel("test error, %")
    if errors:
        figures.format_axes(axes, xs, errors)


CROSS = {"markersize": 5.5, "markeredgewidth": 1.4, "zorder": 6, "linestyle": ""}


def colour(method, *, paper=False):
    """The colour of a method; the paper's crosses use those of CO2, OC1 and scikit-learn."""
    if paper:
        method = {"co2_paper": "co2", "rf": "rf_sklearn"}.get(method, method)
    return COLOURS.get(method, figures.QUIET)


def line(method):
    if method == "co2":
        return {"linewidth": 2.2, "marker": "o", "markersize": 3.6, "zorder": 5}
    dashed = {"linestyle": (0, (3.5, 1.8))} if method == "co2_paper" else {}
    return {"linewidth": 1.3, "marker": "o", "markersize": 2.4, "zorder": 3} | dashed


def mean_by(rows, method, key, field):
    """The mean over seeds of a field, by depth or nu, where all seeds have it."""
    groups = {}
    mine = [row for row in rows if row["method"] == method]
    for row in mine:
        groups.setdefault(key(row), []).append(float(row[field]))
    seeds = len({row["seed"] for row in mine})
    return {x: statistics.fmean(v) for x, v in sorted(groups.items()) if len(v) == seeds}


def figure1(rows):
    """Training and validation error of single trees against their depth."""
    methods = sorted({r["method"] for r in rows} - {UNIVARIATE}, key=nu_of)
    figure, panels = plt.subplots(1, 2, figsize=(9.6, 3.6), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.08, h_pad=0.08)
    fields = {"training": "train_error_percent", "validation": "validation_error_percent"}
    for axes, (title, field) in zip(panels, fields.items(), strict=True):
        means = mean_by(rows, UNIVARIATE, lambda row: int(row["depth"]), field)
        axes.plot(*xy(means), color=figures.INK, linestyle="--", linewidth=1.3, label=UNIVARIATE)
        for i, method in enumerate(methods):
            means = mean_by(rows, method, lambda row: int(row["depth"]), field)
            shade = NU_COLOURS[i * (len(NU_COLOURS) - 1) // max(1, len(methods) - 1)]
            label = rf"$\nu$ = {nu_of(method):g}"
            axes.plot(
                *xy(means), color=shade, linewidth=1.6, marker="o", markersize=2.8, label=label
            )
        axes.set_title(f"{title.capitalize()} error")
        axes.set_xlabel("depth of the tree")
        axes.set_ylabel(f"{title} error, %")
        axes.xaxis.set_major_locator(MaxNLocator(10, integer=True))
        axes.set_yscale("log")
        axes.set_ylim(LOWEST_SHOWN[title], 100)
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter(FuncFormatter(figures.plain))
        axes.yaxis.set_minor_formatter(NullFormatter())
    panels[1].legend(loc="upper right")
    return figure


def nu_of(method):
    return float(method.removeprefix("nu="))


def xy(means):
    return list(means), list(means.values())


def nu_study(config, rows):
    """Accuracy and number of leaves of single trees against nu, a column for each depth."""
    depths = config["nu"]["depths"]
    figure, panels = plt.subplots(
        2,
        len(depths),
        figsize=(9.6, 5.2),
        layout="constrained",
        sharex=True,
        sharey="row",
        height_ratios=(1, 0.8),
        squeeze=False,
    )
    figure.get_layout_engine().set(w_pad=0.1, h_pad=0.06)
    for column, depth in enumerate(depths):
        at = at_depth(rows, depth)
        above, below = panels[:, column]
        draw_nu(above, at, "train_error_percent", TRAINING, "training", "D", accuracy)
        draw_nu(above, at, "validation_error_percent", VALIDATION, "validation", "o", accuracy)
        draw_univariate(above, at, "train_error_percent", TRAINING, accuracy)
        draw_nu(below, at, "leaves", LEAVES, "leaves", "o")
        draw_univariate(below, at, "leaves", LEAVES)
        above.set_title(f"Depth {depth}")
        below.set_xlabel(r"$\nu$")
        below.set_xscale("log")
        below.xaxis.set_minor_locator(NullLocator())
        below.xaxis.set_major_formatter(FuncFormatter(figures.plain))
    panels[0, 0].set_ylabel("accuracy, %")
    panels[1, 0].set_ylabel("active leaves")
    panels[1, 0].set_ylim(0)
    panels[0, -1].legend(loc="lower left")
    return figure


def accuracy(error):
    return 100 - error


def at_depth(rows, depth):
    """For each tree the row of this depth, or of its own depth if it is shallower."""
    trees = {}
    for row in rows:
        if int(row["depth"]) <= depth:
            trees.setdefault((row["method"], row["seed"]), []).append(row)
    return [max(tree, key=lambda row: int(row["depth"])) for tree in trees.values()]


def draw_nu(axes, rows, field, shade, label, marker, change=float):
    means = {}
    for method in {row["method"] for row in rows} - {UNIVARIATE}:
        values = mean_by(rows, method, lambda _: 0, field)
        means[nu_of(method)] = change(values[0])
    means = dict(sorted(means.items()))
    axes.plot(*xy(means), color=shade, linewidth=1.7, marker=marker, markersize=3.6, label=label)


def draw_univariate(axes, rows, field, shade, change=float):
    """Draw the tree without optimisation as a horizontal line."""
    values = mean_by(rows, UNIVARIATE, lambda _: 0, field)
    if values:
        axes.axhline(
            change(values[0]),
            color=shade,
            linestyle="--",
            linewidth=1.2,
            label="univariate, training" if change is accuracy else None,
        )
