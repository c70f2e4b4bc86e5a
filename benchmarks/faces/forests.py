# SPDX-License-Identifier: BSD-3-Clause
"""Forest cells: one fit, and the counts of test pixels of all forests within it."""

import time

import numpy as np

from co2forest.segmentation import jaccard_table
from faces import cells, config, cut, images, selection
from measure import cpu_seconds

VOID = 255  # in stored label maps: too near to the border


class Parts:
    """Forests of the first trees, also cut at depths, and the label maps they give."""

    def __init__(self, settings, segmenter, jobs):
        self.window, self.jobs = segmenter.window, jobs
        forest = segmenter.classifier_._forest  # noqa: SLF001 (no public way to cut trees)
        self.numbered = cut.numbered(forest)
        ratio = segmenter.class_prior_ / segmenter.sampled_prior_
        self.trees = cut.Trees(forest.arrays(), ratio)
        self.classes = np.asarray(segmenter.classes_)
        forests = settings["forest"]
        wanted = {None: forests["trees"]}
        wanted |= {depth: [forests["trees_of_depths"]] for depth in forests["depths"]}
        self.wanted = [(depth, sizes, self.trees.cut(depth)) for depth, sizes in wanted.items()]

    def predict(self, picture):
        """Label maps without the border, by number of trees and depth."""
        nodes = cut.reached(self.numbered, picture, self.window, self.jobs)
        shape = [length - self.window + 1 for length in picture.shape[:2]]
        maps = {}
        for depth, sizes, standing in self.wanted:
            total = np.zeros((len(nodes), len(self.classes)))
            for tree in range(max(sizes)):
                total += self.trees.distribution[standing[nodes[:, tree]]]
                if tree + 1 in sizes:
                    codes = total.argmax(axis=1)
                    maps[tree + 1, depth] = self.classes[codes].reshape(shape)
        return maps


def measure(settings, cell, parameters, folder, jobs, progress=lambda _: None):
    """Rows of "counts" and "images", the row of "fits", and the label maps of the test images."""
    problem, forests = settings["problems"][cell.problem], settings["forest"]
    identity = {"problem": cell.problem, "forest": cell.forest, "seed": cell.seed}
    train = images.load(folder, problem, "train")
    n_trees = max(forests["trees"])
    segmenter = selection.make(
        *(settings, cell.forest, parameters),
        n_estimators=n_trees,
        samples_per_tree=config.samples_per_tree(settings, cell.problem),
        random_state=cell.seed,
        n_jobs=jobs,
        verbose=1,
    )
    cpu, wall = cpu_seconds(), time.perf_counter()
    segmenter.fit(train.pictures, train.maps)
    cpu, wall = cpu_seconds() - cpu, time.perf_counter() - wall
    parts = Parts(settings, segmenter, jobs)
    arrays = segmenter.classifier_._forest.arrays()  # noqa: SLF001 (its size)
    fit = identity | {
        "parameters": cells.as_text(parameters),
        "trees": n_trees,
        "samples_per_tree": segmenter.samples_per_tree,
        "cpu_seconds_per_tree": cpu / n_trees,
        "wall_seconds_per_tree": wall / n_trees,
        "leaves_per_tree": parts.trees.leaves / n_trees,
        "depth": len(parts.trees.levels),
        "model_megabytes": sum(array.nbytes for array in arrays.values()) / 1e6,
    }
    started = time.perf_counter()
    test = images.load(folder, problem, "test")
    totals, rows, maps = {}, [], []
    kept = forests["trees_of_depths"], None
    half = segmenter.window // 2
    for i, (picture, truth) in enumerate(zip(test.pictures, test.maps, strict=True)):
        inside = truth[half : truth.shape[0] - half, half : truth.shape[1] - half]
        for key, predicted in parts.predict(picture).items():
            table = jaccard_table([inside], [predicted], classes=range(len(test.names)))
            totals[key] = totals.get(key, 0) + counts(table)
            if key == kept:
                rows.append(identity | {"trees": kept[0], "image": i, "jaccard": table.mean})
                maps.append(np.pad(predicted.astype(np.uint8), half, constant_values=VOID))
        progress((i + 1) / len(test.pictures))
    fit |= {"test_images": len(maps), "test_wall_seconds": time.perf_counter() - started}
    return list(count_rows(identity, totals, test.names)), rows, fit, maps


def counts(table):
    """Numbers of pixels in the order of the fields of "counts", a row for each class."""
    return np.transpose([getattr(table, name) for name in cells.COUNTED])


def count_rows(identity, totals, names):
    for (trees, depth), total in totals.items():
        setting = {"trees": trees, "depth": "" if depth is None else depth}
        for name, numbers in zip(names, total, strict=True):
            counted = dict(zip(cells.COUNTED, numbers, strict=True))
            yield identity | setting | {"class": name} | counted
