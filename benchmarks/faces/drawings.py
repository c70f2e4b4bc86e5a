# SPDX-License-Identifier: BSD-3-Clause
"""The curves: Jaccard score against depth and against the number of trees."""

import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullLocator

import figures

COLOURS = {
    "co2": figures.COLOURS["co2forest"],
    "two_probe": figures.COLOURS["treeple"],
    "axis": figures.COLOURS["random_forest"],
}


def write(settings, scores, folder):
    with plt.rc_context(figures.STYLE):  # it also makes the files reproducible
        for over in ("depth", "trees"):
            figures.save(curves(settings, scores, over), folder, over, ["svg"])


def curves(settings, scores, over):
    """A panel for each problem, a line for each forest."""
    problems = settings["problems"]
    figure, panels = plt.subplots(
        *(1, len(problems)), figsize=(9.6, 3.3), layout="constrained", squeeze=False
    )
    figure.get_layout_engine().set(w_pad=0.08, h_pad=0.08)
    for axes, (problem, about) in zip(panels[0], problems.items(), strict=True):
        for forest, method in settings["forests"].items():
            points = scores.curve(problem, forest, over=over)
            axes.plot(
                *(list(points), list(points.values())),
                color=COLOURS.get(forest, figures.QUIET),
                marker="o",
                label=method["label"],
                **({"linewidth": 2.2} if forest == "co2" else {"linewidth": 1.4}),
                **({"markersize": 4} if forest == "co2" else {"markersize": 3}),
            )
        axes.set_title(about["title"])
        axes.set_xlabel("depth of the trees" if over == "depth" else "trees")
        axes.yaxis.set_major_locator(MaxNLocator(7, steps=(1, 2, 5, 10)))
        if over == "trees":
            axes.set_xscale("log", base=2)
            axes.xaxis.set_minor_locator(NullLocator())
        axes.set_xticks(settings["forest"]["depths" if over == "depth" else "trees"])
        axes.xaxis.set_major_formatter(FuncFormatter(figures.plain))
    panels[0, 0].set_ylabel("mean Jaccard score, %")
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure
