# SPDX-License-Identifier: BSD-3-Clause
"""``co2forest segment predict``."""

import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import typer

from co2forest import load_model
from co2forest.cli.command import FAILED
from co2forest.cli.images import (
    channels_of,
    check_sizes,
    class_rows,
    class_table,
    count_labels,
    jaccard_json,
    jaccard_text,
)
from co2forest.cli.messages import (
    complain,
    counted,
    describe,
    progress_bar,
    say,
    say_coloured,
    say_json,
)
from co2forest.cli.outputs import check_apart, check_outputs, prepare_folder, write_npz
from co2forest.files.atomic import write_atomically
from co2forest.files.messages import one_line
from co2forest.segmentation import ForestSegmenter, JaccardTable
from co2forest.segmentation.colours import label_colours
from co2forest.segmentation.files import (
    as_channels,
    find_images,
    pair_by_stem,
    pillow,
    read_image,
    read_label_map,
    write_label_map,
    write_overlay,
)
from co2forest.segmentation.images import checked_map
from co2forest.segmentation.metrics import count_pixels


@dataclass(frozen=True)
class _Job:
    """An image and what is to be written for it."""

    image: Path
    truth: Path | None
    label_map: Path
    overlay: Path | None
    probabilities: Path | None

    @property
    def outputs(self) -> list[Path]:
        places = (self.label_map, self.overlay, self.probabilities)
        return [place for place in places if place is not None]


@dataclass
class _Done:
    """The results so far; for pixels only their counts, however many images there are."""

    jobs: list[_Job] = field(default_factory=list)
    pixels: Counter[int] = field(default_factory=Counter)  # by label, as in the files
    scored: int = 0  # images whose truth could be used
    # By label: true positives, false positives and false negatives.
    agreement: dict[int, npt.NDArray[np.int64]] = field(default_factory=dict)
    failures: list[tuple[Path, str]] = field(default_factory=list)


def run(
    *,
    model: Path,
    images: Path,
    out: Path,
    overlay: bool,
    proba: bool,
    labels: Path | None,
    border: str | None,
    overwrite: bool,
    jobs: int,
    quiet: bool,
    as_json: bool,
) -> None:
    """Write the maps of all images; failures are reported at the end."""
    pillow()  # says what is missing before the work, not after it
    found = find_images(images)
    check_apart(out, found.files)
    plan = _plan(found.files, labels, out, overlay=overlay, proba=proba)
    inputs = [model, *found.files, *(job.truth for job in plan if job.truth is not None)]
    check_outputs((path for job in plan for path in job.outputs), inputs, overwrite=overwrite)
    segmenter = _load(model).set_params(n_jobs=jobs, verbose=0)
    if border is not None:
        segmenter.set_params(border=border)
    writer = _Writer(segmenter)
    if found.others:
        names = ", ".join(path.name for path in found.others[:3])
        more = ", ..." if len(found.others) > 3 else ""
        others = counted(len(found.others), "file")
        complain(f"note: left out {others} of {images} with other endings: {names}{more}")
    prepare_folder(out)

    started = time.monotonic()
    done = _Done()
    with progress_bar(len(plan), unit="images", quiet=quiet) as progress:
        for number, job in enumerate(plan):
            progress(number)
            try:
                writer.do(job, done)
            except (OSError, ValueError, MemoryError) as error:
                done.failures.append((job.image, _naming(job.image, error)))
    for _, message in done.failures:
        complain(message)
    _report(done, writer, out, time.monotonic() - started, as_json=as_json)
    if done.failures:
        raise typer.Exit(FAILED)


def _load(path: Path) -> ForestSegmenter:
    model = load_model(path)
    if not isinstance(model, ForestSegmenter):
        raise ValueError(  # noqa: TRY004 (of the file, not of an argument)
            f"{path}: holds a {type(model).__name__}, not a segmenter"
        )
    return model


def _plan(
    images: list[Path], labels: Path | None, out: Path, *, overlay: bool, proba: bool
) -> list[_Job]:
    truths: dict[Path, Path] = {}
    if labels is not None:
        truths = dict(pair_by_stem(images, find_images(labels).files, spare_maps=True))
    return [
        _Job(
            image=image,
            truth=truths.get(image),
            label_map=out / f"{image.stem}.png",
            overlay=out / f"{image.stem}_overlay.png" if overlay else None,
            probabilities=out / f"{image.stem}.npz" if proba else None,
        )
        for image in images
    ]


class _Writer:
    """Predicts images and writes what comes out."""

    def __init__(self, segmenter: ForestSegmenter) -> None:
        classes = [int(label) for label in segmenter.classes_]
        if outside := [label for label in classes if not 0 <= label <= 255]:
            raise ValueError(
                f"the model has the label {outside[0]}, but an indexed PNG holds labels from "
                "0 to 255; use ForestSegmenter.predict in Python"
            )
        self._segmenter = segmenter
        # A void label that does not fit into a PNG gives way to the largest that is free.
        void = int(segmenter.void_label_)
        free = max(set(range(256)) - set(classes))
        self.void = void if 0 <= void <= 255 else free
        self.colours = label_colours(classes, self.void)

    def do(self, job: _Job, done: _Done) -> None:
        """Process one image, from its file to all files made from it."""
        segmenter = self._segmenter
        image = read_image(job.image)
        fitting = as_channels(image, segmenter.n_channels_)
        if (channels := channels_of(fitting)) != segmenter.n_channels_:
            raise ValueError(
                f"{job.image}: has {counted(channels, 'channel')}, but the images that the model "
                f"was trained on have {segmenter.n_channels_}"
            )
        labels = np.asarray(segmenter.predict(fitting))
        kept = np.where(labels == segmenter.void_label_, self.void, labels).astype(np.uint8)
        if job.probabilities is not None:
            probabilities = segmenter.predict_proba(fitting)
            arrays = {"probabilities": probabilities, "classes": segmenter.classes_}
            write_atomically(job.probabilities, lambda file: write_npz(file, arrays))
        if job.overlay is not None:
            write_overlay(job.overlay, image, kept, self.colours, self.void)
        write_label_map(job.label_map, kept, self.colours, self.void)
        done.jobs.append(job)
        done.pixels.update(count_labels([kept]))
        if job.truth is not None:  # last: if it cannot be used, the image is labelled nevertheless
            truth = checked_map(read_label_map(job.truth), str(job.truth))
            check_sizes(image, truth, job.image, job.truth)
            self._compare(truth, labels, done)

    def _compare(self, truth: npt.NDArray[Any], labels: npt.NDArray[Any], done: _Done) -> None:
        """Add what ``ForestSegmenter.jaccard_table`` would count in an image."""
        answered = labels != self._segmenter.void_label_
        truth, labels = truth[np.newaxis, answered], labels[np.newaxis, answered]
        ignored = self._segmenter.ignore_label
        left_out = np.array([] if ignored is None else [ignored], dtype=np.int64)
        known = self._segmenter.classes_.astype(np.int64)
        # Labels that the model does not know are mistakes of this image, and of no other.
        classes = np.setdiff1d(np.union1d(known, np.unique(truth)), left_out)
        counts = count_pixels(truth, labels, classes, left_out)
        for label, numbers in zip(classes.tolist(), counts.T, strict=True):
            done.agreement[label] = done.agreement.get(label, 0) + numbers
        done.scored += 1

    def counts(self, done: _Done) -> dict[int, int]:
        """Pixels of each class, and of none, with the labels of the files."""
        counts = {int(label): done.pixels[int(label)] for label in self._segmenter.classes_}
        return counts | ({self.void: done.pixels[self.void]} if self.void in done.pixels else {})


def _naming(image: Path, error: Exception) -> str:
    """A message that names the image, once."""
    message = describe(error)
    return message if str(image) in message else f"{image}: {message}"


def _report(done: _Done, writer: _Writer, out: Path, seconds: float, *, as_json: bool) -> None:
    counts = writer.counts(done)
    table = None
    if done.scored:
        labels = sorted(done.agreement)
        agreement = np.stack([done.agreement[label] for label in labels], axis=1)
        table = JaccardTable(np.array(labels), *agreement)
    if as_json:
        result: dict[str, Any] = {
            "out": str(out),
            "seconds": round(seconds, 3),
            "void_label": writer.void,
            "images": [
                {
                    "image": str(job.image),
                    "label_map": str(job.label_map),
                    "overlay": None if job.overlay is None else str(job.overlay),
                    "probabilities": None if job.probabilities is None else str(job.probabilities),
                }
                for job in done.jobs
            ],
            "failed": [{"image": str(path), "error": why} for path, why in done.failures],
            "classes": class_rows(counts),
        }
        if table is not None:
            result["jaccard"] = jaccard_json(table)
        say_json(result)
        return
    if done.jobs:
        say_coloured(class_table(counts, writer.colours, writer.void) + "\n")
    if table is not None:
        say(f"Jaccard on {counted(done.scored, 'image')}")
        say(jaccard_text(table) + "\n")
    failed = {path for path, _ in done.failures} - {job.image for job in done.jobs}
    total = len(done.jobs) + len(failed)
    place = one_line(out)
    say(f"{place}: {len(done.jobs)} of {counted(total, 'image')} labelled in {seconds:.1f} s")
