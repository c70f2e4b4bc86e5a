# SPDX-License-Identifier: BSD-3-Clause
"""Draw the stored results into docs/figures.

    python benchmarks/figures.py [--run RUN] [--scaling-run RUN] [--formats svg png]

The same results give the same files, byte for byte, as long as matplotlib stays the same.
"""

import argparse
import math
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator

import curves
import datasets
import headline
import store
from adapters import ADAPTERS
from run import SPEED
from scaling import SCALING

FOLDER = Path(__file__).parent.parent / "docs" / "figures"
OURS, FOREST = "co2forest", "random_forest"
INK, QUIET = "#333333", "#8a8a8a"

COLOURS = {
    "co2forest": "#d1231f",
    "random_forest": "#1f5fa8",
    "extra_trees": "#63a9dd",
    "ydf": "#7bbf6a",
    "ydf_oblique": "#22773a",
    "treeple": "#7b4fa3",
    "aeon": "#b08d3c",
    "hist_gradient_boosting": "#4a5560",
    "lightgbm": "#2aa198",
    "xgboost": "#e08214",
    "catboost": "#c973b1",
}
STYLE = {
    "axes.axisbelow": True,
    "axes.edgecolor": QUIET,
    "axes.grid": True,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.7,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "font.size": 9,
    "grid.color": "#e9e9e9",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "savefig.facecolor": "white",
    "svg.hashsalt": "co2forest",
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "xtick.minor.size": 0,
    "ytick.minor.size": 0,
}
# Single trees would squeeze the rest of a panel, so errors above this multiple of the best are cut.
WORST_SHOWN = 4.5


def line_style(library):
    """Our line is drawn on top; boosting is dashed."""
    if library == OURS:
        return {"linewidth": 2.4, "marker": "o", "markersize": 4.2, "zorder": 5}
    forest = ADAPTERS[library].family == "forest"
    return {
        "linewidth": 1.3,
        "marker": "o" if forest else "s",
        "markersize": 2.8,
        "linestyle": "-" if forest else (0, (3.5, 1.8)),
        "zorder": 3,
    }


def plain(value, _=None):
    return f"{value:g}"


def power(value, _=None):
    """Write large and small numbers as powers of ten."""
    if 0.01 <= value < 10_000:
        return plain(value)
    return f"$10^{{{round(math.log10(value))}}}$"


def format_axes(axes, xs, errors):
    low = min(errors)
    high = min(max(errors), WORST_SHOWN * low)
    margin = (high / low) ** 0.06
    axes.set_ylim(low / margin, high * margin)
    shown = [x for x, error in zip(xs, errors, strict=True) if error <= high]
    axes.set_xlim(min(shown) / 1.5, max(shown) * 1.5)
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.xaxis.set_major_formatter(FuncFormatter(power))
    # A few round numbers, whether a panel spans a factor of 1.2 or 4.
    wide = high / low > 3
    axes.yaxis.set_major_locator(
        LogLocator(subs=(1, 1.5, 2, 3, 4, 5, 7)) if wide else MaxNLocator(7, steps=(1, 2, 5, 10))
    )
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(plain))


def panels(count, width=9.6, height=2.75):
    """A grid of panels, with one more cell for the legend."""
    columns = min(3, count + 1)
    rows = -(-(count + 1) // columns)
    figure, axes = plt.subplots(
        rows, columns, figsize=(width, height * rows), layout="constrained", squeeze=False
    )
    figure.get_layout_engine().set(w_pad=0.08, h_pad=0.08)
    cells = list(axes.flat)
    for cell in cells[count:]:
        cell.axis("off")
    return figure, cells[:count], cells[count]


def draw_panels(found, sets, libraries, x_of, x_label, annotate=None):
    figure, cells, legend = panels(len(sets))
    lines = {}
    for axes, name in zip(cells, sets, strict=True):
        xs, errors = [], []
        for library in libraries:
            points = found.get((name, library), [])
            if not points:
                continue
            x, error = [x_of(point) for point in points], [point.error for point in points]
            (lines[library],) = axes.loglog(x, error, color=COLOURS[library], **line_style(library))
            xs, errors = xs + x, errors + error
        format_axes(axes, xs, errors)
        axes.set_title(datasets.TITLES.get(name, name))
        axes.set_xlabel(x_label)
        axes.set_ylabel("test error, %")
        if annotate:
            annotate(axes, found, name)
    shown = [library for library in libraries if library in lines]
    texts = legend.legend(
        [lines[library] for library in shown],
        [ADAPTERS[library].label for library in shown],
        loc="center left",
        handlelength=2.6,
        labelspacing=0.55,
    ).get_texts()
    if OURS in shown:
        texts[shown.index(OURS)].set(color=COLOURS[OURS], fontweight="bold")
    return figure


def mark_time_saved(axes, found, name):
    """Draw an arrow from the largest random forest to our first forest that is as good."""
    theirs = found.get((name, FOREST), [])[-1:]
    ours = curves.first_below(found.get((name, OURS), []), theirs[0].error) if theirs else None
    if not ours or ours.fit_cpu > theirs[0].fit_cpu:
        return
    end = theirs[0]
    axes.annotate(
        "",
        (ours.fit_cpu, end.error),
        (end.fit_cpu, end.error),
        arrowprops={"arrowstyle": "->", "color": INK, "linewidth": 1, "linestyle": (0, (1, 1.5))},
        zorder=4,
    )
    axes.annotate(
        f"1/{end.fit_cpu / ours.fit_cpu:.0f} of the time",
        (end.fit_cpu, end.error),
        xytext=(2, -11),
        textcoords="offset points",
        ha="right",
        fontsize=8,
        fontweight="bold",
        zorder=6,
        path_effects=[withStroke(linewidth=2.5, foreground="white")],
    )


def draw_growth(axes, rows, field, label):
    """Draw the CPU time per tree, and what it would be if it grew linearly."""
    groups = store.grouped([row for row in rows if row["experiment"] == field], field)
    points = sorted(
        (int(key[0]), curves.median(group, "fit_cpu_seconds") / int(group[0]["trees"]))
        for key, group in groups.items()
    )
    sizes, seconds = zip(*points, strict=True)
    axes.loglog(
        sizes,
        [seconds[-1] * size / sizes[-1] for size in sizes],
        color=QUIET,
        linestyle=(0, (1, 1.5)),
        linewidth=1.2,
    )
    axes.loglog(sizes, seconds, color=COLOURS[OURS], **line_style(OURS))
    axes.annotate(
        "linear",
        (sizes[0], seconds[-1] * sizes[0] / sizes[-1]),
        color=QUIET,
        fontsize=8,
        xytext=(12, -4),
        textcoords="offset points",
    )
    axes.xaxis.set_major_formatter(FuncFormatter(power))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_major_formatter(FuncFormatter(plain))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set_title(f"Growth with {field}")
    axes.set_xlabel(label)
    axes.set_ylabel("fit, CPU s per tree")


def draw_bars(axes, heights, title, label):
    """Draw one bar per key, with its value."""
    bars = axes.barh(list(heights), list(heights.values()), color=COLOURS[OURS], height=0.55)
    axes.bar_label(bars, fmt="%.2g", padding=3, fontsize=8.5)
    axes.invert_yaxis()
    axes.margins(x=0.15)
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)
    axes.set_title(title)
    axes.set_xlabel(label)


def draw_scaling(rows):
    figure, ((by_rows, by_features), (memory, vectors)) = plt.subplots(
        2, 2, figsize=(9.6, 5.4), layout="constrained"
    )
    figure.get_layout_engine().set(w_pad=0.1, h_pad=0.1)
    draw_growth(by_rows, rows, "rows", "rows")
    draw_growth(by_features, rows, "features", "features")
    groups = store.grouped(
        [row for row in rows if row["experiment"] == "memory"], "rows", "features", "dtype"
    )
    fractions = {
        f"{count} x {features}, {dtype}": (
            curves.median(group, "fit_peak_mib") / curves.median(group, "input_mib")
        )
        for (count, features, dtype), group in groups.items()
    }
    draw_bars(memory, fractions, "Memory of a fit", "peak above the input, as a fraction")
    names = {"co2forest": "widest", "co2forest_avx2": "AVX2", "co2forest_baseline": "baseline"}
    groups = store.grouped([row for row in rows if row["experiment"] == "vectors"], "library")
    seconds = {
        names[library]: curves.median(groups[library,], "fit_cpu_seconds")
        for library in names
        if (library,) in groups
    }
    draw_bars(vectors, seconds, "Vector instructions", "fit, CPU s")
    return figure


def save(figure, folder, name, formats):
    folder.mkdir(parents=True, exist_ok=True)
    for ending in formats:
        metadata = {"Date": None} if ending == "svg" else {"Software": None}
        figure.savefig(folder / f"{name}.{ending}", dpi=160, metadata=metadata)
    plt.close(figure)


def draw_all(folder, formats=("svg",), results=store.FOLDER, run=None, scaling_run=None, threads=2):
    rows = store.rows_of_run(results / SPEED, run)
    found = curves.read_curves(rows, threads)
    measured = dict.fromkeys(name for name, _ in found)
    sets = sorted(measured, key=[*datasets.SETS, *measured].index)
    libraries = list(ADAPTERS)
    forests = [library for library in libraries if ADAPTERS[library].family == "forest"]
    drawings = {
        "error_fit_time": (libraries, lambda p: p.fit_cpu, "fit, CPU seconds", mark_time_saved),
        "error_model_size": (libraries, lambda p: p.model_bytes / 1e6, "saved model, MB", None),
        "error_trees": (forests, lambda p: p.trees, "trees", None),
    }
    with plt.rc_context(STYLE):
        for name, (shown, x_of, x_label, annotate) in drawings.items():
            figure = draw_panels(found, sets, shown, x_of, x_label, annotate)
            save(figure, folder, name, formats)
        if (results / SCALING).exists():
            scaling = store.rows_of_run(results / SCALING, scaling_run)
            save(draw_scaling(scaling), folder, "scaling", formats)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    store.add_options_of_readers(parser)
    parser.add_argument("--figures", type=Path, default=FOLDER, help="folder to draw into")
    parser.add_argument("--formats", nargs="+", default=["svg"], choices=["svg", "png"])
    args = parser.parse_args()
    draw_all(args.figures, args.formats, args.results, args.run, args.scaling_run, args.threads)
    if (args.results / headline.RESULTS).exists():
        headline.write(args.figures / headline.NAME, args.results)


if __name__ == "__main__":
    main()
