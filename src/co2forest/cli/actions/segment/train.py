# SPDX-License-Identifier: BSD-3-Clause
"""``co2forest segment train``."""

import time
from pathlib import Path
from typing import Any

import numpy as np
import typer

from co2forest import save_model
from co2forest.cli.images import (
    Pairs,
    channels_of,
    class_rows,
    class_table,
    count_labels,
    jaccard_json,
    jaccard_text,
    load_pairs,
    size_of,
)
from co2forest.cli.messages import complain, counted, say, say_coloured, say_json
from co2forest.cli.outputs import check_outputs, prepare_folder
from co2forest.files.messages import one_line
from co2forest.segmentation import ForestSegmenter
from co2forest.segmentation.colours import label_colours
from co2forest.segmentation.files import find_images, pair_by_stem
from co2forest.tuning import TuningResult, tune_segmenter


def run(
    *,
    images: Path,
    labels: Path,
    out: Path,
    tune: bool,
    held_out: float | None,
    overwrite: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Read, train, score and write; print what was found before, and what came out after."""
    parameters = _parameters(tune=tune, **options)
    files = pair_by_stem(find_images(images).files, find_images(labels).files)
    check_outputs([out], (file for pair in files for file in pair), overwrite=overwrite)
    pairs = load_pairs(files)
    _check_sizes(pairs, parameters["window"], parameters["border"])
    prepare_folder(out.parent)
    training, rest = _split(pairs, held_out, parameters["random_state"])
    counts = count_labels(pairs.label_maps)
    if not as_json:
        say(_found(pairs))
        void = parameters.get("ignore_label")
        classes = [label for label in count_labels(training.label_maps) if 0 <= label <= 255]
        say_coloured(class_table(counts, label_colours(classes, void), void))
    _check_labels(counts, parameters.get("ignore_label"))

    started = time.monotonic()
    segmenter = ForestSegmenter(**parameters)
    tuning: TuningResult | None = None
    if tune:
        tuning = tune_segmenter(
            training.images,
            training.label_maps,
            estimator=segmenter,
            random_state=segmenter.random_state,
            verbose=segmenter.verbose,
        )
        segmenter = tuning.estimator
    else:
        segmenter._fit(training.images, training.label_maps, training.image_names)  # noqa: SLF001
    seconds = time.monotonic() - started
    save_model(segmenter, out)

    result: dict[str, Any] = {
        "model": str(out),
        "bytes": out.stat().st_size,
        "seconds": round(seconds, 3),
        "images": [str(path) for path in training.image_files],
        "channels": channels_of(pairs.images[0]),
        "classes": class_rows(counts),
    }
    if tuning is not None:
        result["tuning"] = {"best_params": tuning.best_params, "best_score": tuning.best_score}
        if not as_json:
            say(f"\n{tuning!r}")
    if rest is not None:
        table = segmenter._jaccard_table(rest.images, rest.label_maps, rest.image_names)  # noqa: SLF001
        result["held_out"] = [str(path) for path in rest.image_files]
        result["jaccard"] = jaccard_json(table)
        if not as_json:
            names = ", ".join(one_line(file.name) for file in rest.image_files)
            say(f"\nJaccard on {counted(len(rest), 'held-out image')}: {names}")
            say(jaccard_text(table))
    if as_json:
        say_json(result)
    else:
        trees, size = counted(segmenter.n_estimators, "tree"), result["bytes"] / 1e6
        trained = f"trained on {counted(len(training), 'image')} in {seconds:.1f} s"
        say(f"\n{one_line(out)}: {trees}, {size:.2f} MB, {trained}")


def _parameters(
    *,
    trees: int,
    split: str,
    jobs: int,
    seed: int,
    quiet: bool,
    tune: bool,
    **parameters: Any,  # of the segmenter under their own names; None is the default
) -> dict[str, Any]:
    only_co2 = {name: parameters[name] for name in ("nu", "learning_rate", "center")}
    for name, value in {**only_co2, "tune": tune}.items():
        if value not in (None, False) and split != "co2":
            option = f"--{name.replace('_', '-')}"
            raise typer.BadParameter(f"has no meaning with --split {split}", param_hint=option)
    given = {name: value for name, value in parameters.items() if value is not None}
    return given | {
        "n_estimators": trees,
        "split": split.replace("-", "_"),
        "n_jobs": jobs,
        "random_state": seed,
        "verbose": 0 if quiet else 1,
    }


def _split(pairs: Pairs, held_out: float | None, seed: int) -> tuple[Pairs, Pairs | None]:
    """Images to train with, and images that are held out."""
    if held_out is None:
        return pairs, None
    if len(pairs) < 2:
        raise ValueError("--held-out needs at least two images, but there is one")
    count = min(max(round(held_out * len(pairs)), 1), len(pairs) - 1)
    order = np.random.default_rng(seed).permutation(len(pairs))
    return pairs.subset(np.sort(order[count:])), pairs.subset(np.sort(order[:count]))


def _check_sizes(pairs: Pairs, window: int, border: str) -> None:
    """Those held out, too, before the training begins."""
    least = window if border == "ignore" else window // 2 + 1
    for image, file in zip(pairs.images, pairs.image_files, strict=True):
        if min(image.shape[:2]) < least:
            raise ValueError(
                f"{file}: has {size_of(image)} pixels, but --window {window} needs at least "
                f"{least} x {least}" + (", or --border reflect" if least == window > 1 else "")
            )


def _found(pairs: Pairs) -> str:
    """Number, sizes and kind of the images."""
    sizes = sorted({image.shape[:2] for image in pairs.images}, key=np.prod)
    of_size = {image.shape[:2]: size_of(image) for image in pairs.images}
    size = of_size[sizes[0]]
    if len(sizes) > 1:
        size = f"{len(sizes)} sizes from {size} to {of_size[sizes[-1]]}"
    channels = counted(channels_of(pairs.images[0]), "channel")
    return f"{counted(len(pairs), 'image')} of {size} pixels, {channels}\n"


def _check_labels(counts: dict[int, int], ignored: int | None) -> None:
    if ignored is not None and ignored not in counts:
        complain(f"note: no pixel has the label {ignored} of --ignore-label")
    if outside := [label for label in counts if label != ignored and not 0 <= label <= 255]:
        complain(
            f"note: the label {outside[0]} does not fit into an indexed PNG (0 to 255), so that "
            "segment predict will refuse this model; Python can use it"
        )
