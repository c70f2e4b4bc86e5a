# SPDX-License-Identifier: BSD-3-Clause
"""The picture of ``co2forest compare``."""

from pathlib import Path
from typing import Any

from co2forest.files.atomic import write_atomically

_OWN, _OTHERS, _FOLDS = "#b3261e", "#7a8ca3", "#222222"


def check_matplotlib() -> None:
    """Before the work begins."""
    try:
        import matplotlib  # noqa: ICN001, F401
    except ImportError as error:
        raise ImportError("--plot needs matplotlib: pip install 'co2forest[plot]'") from error


def draw(
    path: Path, results: list[dict[str, Any]], *, classes: bool, target: str, how: str
) -> None:
    """Errors with those of the folds, and fit times beside them."""
    from matplotlib.figure import Figure  # which needs no display

    key = "error_percent" if classes else "rmse"
    names = [result["method"] for result in results]
    colours = [_OWN if "CO2" in name else _OTHERS for name in names]
    figure = Figure(figsize=(9, 1.4 + 0.45 * len(names)), layout="constrained")
    errors, times = figure.subplots(1, 2, sharey=True)
    errors.barh(names, [result[key] for result in results], color=colours, height=0.62)
    for place, result in enumerate(results):
        if len(result["folds"]) > 1:
            places = [place] * len(result["folds"])
            errors.plot(result["folds"], places, "o", color=_FOLDS, markersize=3, alpha=0.6)
    dots = " (dots: folds)" if len(results[0]["folds"]) > 1 else ""
    errors.set_xlabel(("wrong classes, %" if classes else "root mean squared error") + dots)
    errors.invert_yaxis()
    bars = times.barh(
        names, [result["fit_seconds"] for result in results], color=colours, height=0.62
    )
    times.bar_label(bars, fmt="%.2f", padding=3, fontsize=9)
    times.margins(x=0.12)
    times.set_xlabel("fit time, s")
    for axes in (errors, times):
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(axis="y", length=0)
    figure.suptitle(f"{target}: {how}", fontsize=11)
    form = path.suffix.lower().removeprefix(".")
    write_atomically(path, lambda file: figure.savefig(file, format=form, dpi=150))
