# SPDX-License-Identifier: BSD-3-Clause
"""Stored scores for the report: means over seeds."""

import math
import statistics
from collections import defaultdict
from typing import NamedTuple

import numpy as np

from co2forest.segmentation import JaccardTable
from faces import cells, selection


class Scores:
    """All stored scores, by problem and forest."""

    def __init__(self, settings, results):
        self.settings, self.results = settings, results
        self.counts = defaultdict(lambda: defaultdict(dict))  # key, then seed, then class
        for row in cells.read(results, "counts"):
            numbers = [int(row[name]) for name in cells.COUNTED]
            key = row["problem"], row["forest"], int(row["trees"]), row["depth"]
            self.counts[key][row["seed"]][row["class"]] = numbers
        self.images = defaultdict(lambda: defaultdict(list))  # key, then image: scores of seeds
        for row in cells.read(results, "images"):
            key = row["problem"], row["forest"]
            self.images[key][int(row["image"])].append(float(row["jaccard"]))
        self.fits = defaultdict(list)
        for row in cells.read(results, "fits"):
            self.fits[row["problem"], row["forest"]].append(row)

    def jaccard(self, problem, forest, trees, depth=None):
        """The mean over classes, then over seeds; None if it is not measured."""
        seeds = self.counts.get((problem, forest, trees, "" if depth is None else str(depth)))
        if seeds is None:
            return None
        return statistics.fmean(table_of(classes).mean for classes in seeds.values())

    def by_class(self, problem, forest, trees):
        """The score of each class, mean over seeds; None for a class that does not occur."""
        seeds = self.counts.get((problem, forest, trees, ""), {})
        found = defaultdict(list)
        for classes in seeds.values():
            for name, score in zip(classes, table_of(classes).jaccard, strict=True):
                found[name].append(float(score))
        return {n: None if np.isnan(v).any() else statistics.fmean(v) for n, v in found.items()}

    def by_image(self, problem, forest):
        """The score of each image, mean over seeds."""
        found = self.images.get((problem, forest), {})
        return {image: statistics.fmean(values) for image, values in sorted(found.items())}

    def curve(self, problem, forest, *, over):
        """Scores by number of trees, or by depth."""
        forests = self.settings["forest"]
        if over == "trees":
            found = {n: self.jaccard(problem, forest, n) for n in forests["trees"]}
        else:
            size = forests["trees_of_depths"]
            found = {d: self.jaccard(problem, forest, size, d) for d in forests["depths"]}
        return {x: score for x, score in found.items() if score is not None}

    def seeds(self):
        """The smallest and the largest number of seeds of a problem and forest."""
        numbers = [len(rows) for rows in self.fits.values()] or [0]
        return min(numbers), max(numbers)

    def chosen(self, problem, forest):
        """What the selection chose, with scores; None if it is not done."""
        done = selection.Selection(self.settings, self.results, problem, forest)
        parameters = done.run()
        if parameters is None:
            return None
        candidates = {text for text, _ in done.scores}
        return Chosen(parameters, done.mean(parameters), done.mean({}), len(candidates))


def table_of(classes):
    """Compute scores from stored numbers of pixels."""
    numbers = np.array(list(classes.values())).T
    return JaccardTable(np.arange(len(classes)), *numbers)


class Chosen(NamedTuple):
    parameters: dict
    score: float
    at_first: float  # score of the parameters that the first stage starts from
    candidates: int


class Difference(NamedTuple):
    """Scores of one forest minus those of another, image by image."""

    mean: float
    noise: float  # twice the standard error of the mean
    better: int  # number of images in which the first forest is better
    images: int


def difference(one, other):
    """The difference of two forests; None if images are missing."""
    if not one or one.keys() != other.keys():
        return None
    pairs = [one[image] - other[image] for image in one]
    spread = statistics.stdev(pairs) if len(pairs) > 1 else math.nan
    better = sum(pair > 0 for pair in pairs)
    return Difference(
        statistics.fmean(pairs), 2 * spread / math.sqrt(len(pairs)), better, len(pairs)
    )
