# SPDX-License-Identifier: BSD-3-Clause
"""Segmentation: memory and time of training; dense prediction against extracted windows.

    make bench-segmentation ARGS="--data FOLDER [--trees 16] [--samples 256000]"

FOLDER has fasseg_frontal.npz. A segmenter with default parameters is fitted to its 20 training
images. One test image of 256 x 192 RGB pixels is then predicted in two ways: with
`ForestSegmenter.predict`, and by cutting out its windows with NumPy and calling the plain
classifier. The two take turns, use the same number of threads, and must give the same label map.
The script prints the medians.
"""

import argparse
import functools
import json
import statistics
import sys
import time
from pathlib import Path

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

import datasets
from co2forest.segmentation import ForestSegmenter
from measure import cpu_seconds
from memory import MIB, PeakMemory

TURNS = 5


def extract(image, window, dtype):
    """All windows as rows, as fast as NumPy can: runs of pixels are copied whole."""
    views = sliding_window_view(image, (window, window, image.shape[2]))[:, :, 0]
    return views.reshape(-1, window * window * image.shape[2]).astype(dtype, copy=False)


def train(data, args):
    segmenter = ForestSegmenter(
        n_estimators=args.trees,
        samples_per_tree=args.samples,
        n_jobs=args.jobs,
        random_state=0,
        verbose=sys.stderr.isatty(),
    )
    images, maps = data["X_train"], data["y8_train"]
    cpu, wall = cpu_seconds(), time.perf_counter()
    with PeakMemory() as peak:
        segmenter.fit(list(images), list(maps))
    arrays = segmenter.classifier_._forest.arrays()  # noqa: SLF001 (its size)
    model = sum(array.nbytes for array in arrays.values()) / MIB
    return segmenter, {
        "trees": args.trees,
        "windows per tree": args.samples,
        "threads": args.jobs,
        "CPU seconds": cpu_seconds() - cpu,
        "wall seconds": time.perf_counter() - wall,
        "MiB of the images": images.nbytes / MIB,
        "MiB of the model": model,
        "MiB beside images and model": None if peak.mib is None else peak.mib - model,
    }


def compare(segmenter, image, threads):
    """Seconds for a label map, by method."""
    segmenter.n_jobs = segmenter.classifier_.n_jobs = threads
    half = segmenter.window // 2

    def by_segmenter():
        return segmenter.predict(image)[half:-half, half:-half].ravel()

    def by_windows(dtype):
        return segmenter.classifier_.predict(extract(image, segmenter.window, dtype))

    methods = {"segmenter": by_segmenter}
    for dtype in (np.uint8, np.float32):
        methods[f"windows, {np.dtype(dtype).name}"] = functools.partial(by_windows, dtype)
    seconds = {method: [] for method in methods}
    for _ in range(TURNS):
        maps = []
        for method, predict in methods.items():
            started = time.perf_counter()
            maps.append(predict())
            seconds[method].append(time.perf_counter() - started)
        if not all(np.array_equal(maps[0], labels) for labels in maps[1:]):
            raise SystemExit("the label maps differ")
    medians = {method: statistics.median(spent) for method, spent in seconds.items()}
    return {"threads": threads} | {
        method: {"seconds": spent, "times": spent / medians["segmenter"]}
        for method, spent in medians.items()
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--data", type=Path, help="folder of fasseg_frontal.npz")
    parser.add_argument("--trees", type=int, default=16)
    parser.add_argument("--samples", type=int, default=256_000, help="windows of each tree")
    parser.add_argument("--jobs", type=int, default=2, help="threads")
    args = parser.parse_args()
    folder = args.data or datasets.default_folder("segmentation")
    datasets.check_folder(parser, folder, ["fasseg_frontal"])
    with np.load(folder / "fasseg_frontal.npz") as file:
        data = {name: file[name] for name in ("X_train", "y8_train", "X_test")}
    segmenter, training = train(data, args)
    print(json.dumps({"training": training}, indent=2), flush=True)
    for threads in sorted({1, args.jobs}):
        print(json.dumps({"prediction": compare(segmenter, data["X_test"][0], threads)}, indent=2))


if __name__ == "__main__":
    main()
