# SPDX-License-Identifier: BSD-3-Clause
"""Selection: parameters chosen by Jaccard scores of held-out training images."""

import itertools
import statistics
import time

import store
from co2forest.segmentation import ForestSegmenter
from faces import cells, images
from measure import cpu_seconds


def make(settings, forest, parameters, **others):
    """Make a segmenter; chosen parameters override all others."""
    fixed = {"window": settings["forest"]["window"]} | settings["forests"][forest]["parameters"]
    return ForestSegmenter(**fixed | others | parameters)


def combinations(stage):
    """All combinations of a stage's values."""
    return [dict(zip(stage, values, strict=True)) for values in itertools.product(*stage.values())]


class Selection:
    """The stored scores of one problem and forest, and the choice from them."""

    def __init__(self, settings, results, problem, forest):
        self.settings, self.results = settings, results
        self.problem, self.forest = problem, forest
        self.scores = {}  # by parameters and split
        for row in cells.read(results, "selection"):
            if (row["problem"], row["forest"]) == (problem, forest):
                self.scores[row["parameters"], int(row["split"])] = float(row["jaccard"])

    def mean(self, candidate):
        """The mean over splits; None while one is missing."""
        splits = range(self.settings["selection"]["splits"])
        found = [self.scores.get((cells.as_text(candidate), split)) for split in splits]
        return None if None in found else statistics.fmean(found)

    def run(self, measure=None):
        """The chosen parameters. Without `measure`, None if scores are missing."""
        chosen = {}
        for stage in self.settings["forests"][self.forest]["stages"]:
            candidates = [chosen, *(chosen | values for values in combinations(stage))]
            if measure is not None:
                self._complete(candidates, measure)
            means = [self.mean(candidate) for candidate in candidates]
            if None in means:
                return None
            chosen = candidates[means.index(max(means))]
        return chosen

    def _complete(self, candidates, measure):
        for split in range(self.settings["selection"]["splits"]):
            for candidate in candidates:
                key = cells.as_text(candidate), split
                if key not in self.scores:
                    row = measure(split, candidate)
                    identity = {"problem": self.problem, "forest": self.forest}
                    identity |= {"split": split, "parameters": key[0]}
                    cells.add(self.results, "selection", [identity | row])
                    # Rounded as stored, so that a later run makes the same choice.
                    self.scores[key] = float(store.rounded(row)["jaccard"])


def choose(settings, cell, data, results, jobs, show):
    """Measure what is missing and return the parameters. Calls `show` with each score."""
    problem, limits = settings["problems"][cell.problem], settings["selection"]

    def measure(split, candidate):
        numbers, out = images.split(problem, len(data.pictures), split)
        segmenter = make(
            *(settings, cell.forest, candidate),
            n_estimators=limits["trees"],
            samples_per_tree=limits["samples_per_tree"],
            random_state=split,
            n_jobs=jobs,
        )
        cpu, wall = cpu_seconds(), time.perf_counter()
        train, held_out = data.part(numbers), data.part(out)
        segmenter.fit(train.pictures, train.maps)
        score = float(segmenter.score(held_out.pictures, held_out.maps))
        row = {
            "jaccard": score,
            "fit_images": len(numbers),
            "held_out_images": len(out),
            "trees": segmenter.n_estimators,
            "samples_per_tree": segmenter.samples_per_tree,
            "cpu_seconds": cpu_seconds() - cpu,
            "wall_seconds": time.perf_counter() - wall,
        }
        show(f"split {split}, {candidate}: {score:.2f} ({row['wall_seconds']:.0f} s)")
        return row

    return Selection(settings, results, cell.problem, cell.forest).run(measure)
