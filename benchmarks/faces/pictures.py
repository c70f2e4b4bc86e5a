# SPDX-License-Identifier: BSD-3-Clause
"""Draw pictures like the paper's: input, truth and the labels of each forest."""

import io
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.patches import Patch
from PIL import Image

import figures
from faces import cells, images
from faces.forests import VOID

GREY = "#d4d4d4"  # colour of pixels without an answer
SCALE = 1.25  # width of a column in inches, at DPI
DPI = 100


class Row(NamedTuple):
    why: str
    image: int


def rows(scores, problem):
    """The images to show; none while scores are missing."""
    ours, axis = (scores.by_image(problem, forest) for forest in ("co2", "axis"))
    if not ours or ours.keys() != axis.keys():
        return []
    ordered = sorted(ours, key=ours.get)
    median, best = ordered[len(ordered) // 2], ordered[-1]
    others = [image for image in ours if image not in {median, best}]
    differing = sorted(others, key=lambda image: abs(ours[image] - axis[image]))[-1:]
    found = [Row("median", median), Row("best", best)]
    return [*found, *(Row("most different", image) for image in differing)]


def write(settings, scores, folder, data, maps):
    """Draw the problems whose images and label maps exist."""
    for problem, about in settings["problems"].items():
        chosen = rows(scores, problem)
        found = {}
        for forest in settings["forests"]:
            seeds = [row["seed"] for row in scores.fits.get((problem, forest), ())]
            found[forest] = cells.read_maps(maps, problem, forest, seeds[0]) if seeds else None
        missing = any(labelled is None for labelled in found.values())
        if not chosen or missing or not (data / f"{about['file']}.npz").exists():
            print(f"no picture of {problem}: it needs the images and label maps of all forests")
            continue
        test = images.load(data, about, "test")
        with plt.rc_context(figures.STYLE | {"axes.grid": False}):
            save(draw(settings, about, test, found, chosen), folder / f"{problem}.png")


def coloured(labels, about):
    """A label map as RGB values."""
    palette = np.full((256, 3), to_rgb(GREY))
    palette[: len(about["colours"])] = [to_rgb(colour) for colour in about["colours"]]
    return palette[labels]


def without_border(labels, void):
    """The true labels, grey at the border, where there is no answer."""
    return np.where(void, VOID, labels)


def draw(settings, about, test, found, chosen):
    heads = ["input", "truth", *(forest["label"] for forest in settings["forests"].values())]
    height, width = test.maps[0].shape
    size = SCALE * width / height
    figure, grid = plt.subplots(
        len(chosen),
        len(heads),
        figsize=(2 * size * len(heads), 2 * SCALE * len(chosen) + 0.7),
        layout="constrained",
        squeeze=False,
    )
    figure.get_layout_engine().set(w_pad=0.02, h_pad=0.02, wspace=0, hspace=0)
    for line, row in zip(grid, chosen, strict=True):
        answers = [labelled[row.image] for labelled in found.values()]
        truth = without_border(test.maps[row.image], answers[0] == VOID)
        shown = [test.pictures[row.image], *(coloured(m, about) for m in (truth, *answers))]
        for axes, picture in zip(line, shown, strict=True):
            axes.imshow(picture, interpolation="nearest")
            axes.set(xticks=[], yticks=[])
            axes.spines[:].set_visible(False)
        line[0].set_ylabel(row.why)
    for axes, head in zip(grid[0], heads, strict=True):
        axes.set_title(head, loc="center", fontsize=9.5, fontweight="normal")
    pairs = zip(test.names, about["colours"], strict=True)
    handles = [Patch(color=colour, label=name) for name, colour in pairs]
    handles.append(Patch(color=GREY, label="no answer"))
    figure.legend(handles=handles, loc="outside lower center", ncols=5, handlelength=1)
    return figure


def save(figure, path):
    """Save as a PNG of 256 colours, which takes a third of the size."""
    buffer = io.BytesIO()
    figure.savefig(buffer, dpi=DPI)
    plt.close(figure)
    temporary = path.with_name(path.name + ".tmp")
    with Image.open(buffer) as image:
        image.convert("RGB").quantize(256).save(temporary, format="png", optimize=True)
    temporary.replace(path)


def passages(settings, scores, folder):
    """The text of the page: each picture, if it is drawn, and the scores of its rows."""
    lines = []
    for problem, about in settings["problems"].items():
        chosen = rows(scores, problem)
        if not chosen or not (folder / f"{problem}.png").exists():
            lines += [f"{about['title'].capitalize()}: not drawn yet.", ""]
            continue
        lines += [f"![{about['title']}]({folder.name}/{problem}.png)", ""]
        texts = []
        for row in chosen:
            numbers = [
                f"{forest['label']} {scores.by_image(problem, name)[row.image]:.1f}"
                for name, forest in settings["forests"].items()
                if row.image in scores.by_image(problem, name)
            ]
            texts.append(f"{row.why} (test image {row.image}): {', '.join(numbers)}")
        lines += [f"{about['title'].capitalize()}. Scores: {'; '.join(texts)}.", ""]
    return "\n".join(lines).strip()
