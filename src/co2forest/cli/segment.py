"""``co2forest segment``: label every pixel of images in a folder."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from co2forest.cli._messages import FAILED, reports_errors
from co2forest.cli._options import (
    Debug,
    Jobs,
    Json,
    Overwrite,
    Quiet,
    Seed,
    fraction,
    positive,
)

app = typer.Typer(help="Label every pixel of images.", no_args_is_help=True, rich_markup_mode=None)


class Split(StrEnum):
    """How a node parts windows."""

    CO2 = "co2"
    TWO_PROBE = "two-probe"
    AXIS = "axis"


class Border(StrEnum):
    """What becomes of pixels nearer to the border than half a window."""

    IGNORE = "ignore"
    REFLECT = "reflect"


def _odd(window: int) -> int:
    if window % 2 == 0:
        raise typer.BadParameter(f"must be odd, so that a window has a centre, but is {window}")
    return window


@app.command()
@reports_errors
def train(
    images: Annotated[
        Path, typer.Argument(metavar="IMAGES", help="A folder of images, or one image.")
    ],
    labels: Annotated[
        Path,
        typer.Argument(metavar="LABELS", help="Their label maps of the same names, or one map."),
    ],
    out: Annotated[Path, typer.Option(help="The file for the model.", show_default=False)],
    window: Annotated[
        int, typer.Option(min=1, callback=_odd, help="Side of the square around a pixel.")
    ] = 31,
    trees: Annotated[int, typer.Option(min=1, help="Number of trees.")] = 16,
    split: Annotated[Split, typer.Option(help="How a node parts windows.")] = Split.CO2,
    samples_per_tree: Annotated[
        int, typer.Option(min=1, help="Windows that each tree draws, equally many of each class.")
    ] = 256_000,
    border: Annotated[
        Border,
        typer.Option(
            help="Leave pixels near the border without a label, or mirror images at their edges."
        ),
    ] = Border.IGNORE,
    ignore_label: Annotated[
        int | None, typer.Option(help="A label of pixels that do not count.")
    ] = None,
    max_depth: Annotated[int | None, typer.Option(min=1, help="Depth of the trees.")] = None,
    nu: Annotated[
        float | None,
        typer.Option(callback=positive, help="Bound on the norm of hyperplanes (co2 only)."),
    ] = None,
    learning_rate: Annotated[
        float | None, typer.Option(callback=positive, help="Step size (co2 only).")
    ] = None,
    center: Annotated[
        bool,
        typer.Option("--center", help="Do not see how bright a window is as a whole (co2 only)."),
    ] = False,
    tune: Annotated[
        bool,
        typer.Option("--tune", help="Choose nu, rate and center by trials (co2 only)."),
    ] = False,
    held_out: Annotated[
        float | None,
        typer.Option(
            callback=fraction, help="Part of the images to keep from training, for a score."
        ),
    ] = None,
    overwrite: Overwrite = False,
    jobs: Jobs = -1,
    seed: Seed = 0,
    quiet: Quiet = False,
    json: Json = False,
    debug: Debug = False,  # noqa: ARG001 (for reports_errors)
) -> None:
    """Train a segmenter and write it into a file."""
    given = {
        "--nu": nu is not None,
        "--learning-rate": learning_rate is not None,
        "--center": center,
        "--tune": tune,
    }
    for option, used in given.items():
        if used and split is not Split.CO2:
            raise typer.BadParameter(f"has no meaning with --split {split}", param_hint=option)
    optional = {
        "max_depth": max_depth,
        "ignore_label": ignore_label,
        "nu": nu,
        "learning_rate": learning_rate,
    }
    from co2forest.cli import _train_segmenter

    _train_segmenter.run(
        images,
        labels,
        out,
        parameters={
            "window": window,
            "n_estimators": trees,
            "split": split.value.replace("-", "_"),
            "samples_per_tree": samples_per_tree,
            "center": center,
            "border": border.value,
            "n_jobs": jobs,
            "random_state": seed,
            "verbose": 0 if quiet else 1,
        }
        | {name: value for name, value in optional.items() if value is not None},
        tune=tune,
        held_out=held_out,
        overwrite=overwrite,
        as_json=json,
    )


@app.command()
@reports_errors
def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A file that train wrote.")],
    images: Annotated[
        Path, typer.Argument(metavar="IMAGES", help="A folder of images, or one image.")
    ],
    out: Annotated[Path, typer.Option(help="The folder for the results.", show_default=False)],
    overlay: Annotated[
        bool, typer.Option(help="Write images blended with the colours of their labels, too.")
    ] = True,
    proba: Annotated[
        bool, typer.Option("--proba", help="Write class probabilities, too (NAME.npz).")
    ] = False,
    labels: Annotated[
        Path | None, typer.Option(help="True label maps, for a score.", show_default=False)
    ] = None,
    border: Annotated[
        Border | None,
        typer.Option(help="As for train; by default as the model was trained.", show_default=False),
    ] = None,
    overwrite: Overwrite = False,
    jobs: Jobs = -1,
    quiet: Quiet = False,
    json: Json = False,
    debug: Debug = False,  # noqa: ARG001 (for reports_errors)
) -> None:
    """Write a label map for each image: OUT/NAME.png, and OUT/NAME_overlay.png."""
    from co2forest.cli import _predict_maps

    complete = _predict_maps.run(
        model,
        images,
        out,
        overlay=overlay,
        proba=proba,
        labels=labels,
        border=None if border is None else border.value,
        overwrite=overwrite,
        jobs=jobs,
        quiet=quiet,
        as_json=json,
    )
    if not complete:
        raise typer.Exit(FAILED)
