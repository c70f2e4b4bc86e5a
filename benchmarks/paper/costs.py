# SPDX-License-Identifier: BSD-3-Clause
"""Estimate what a cell will take, from finished cells or else from the configuration."""

import statistics

from paper import cells, selection
from paper import config as configuration


class Estimates:
    def __init__(self, config, results):
        self.config = config
        self.learn(results)

    def learn(self, results):
        """Learn from the finished cells."""
        self.per_tree, self.whole = {}, {}
        for row in cells.read(results, "forest"):
            self.per_tree[row["set"], row["method"]] = float(row["cpu_seconds_per_tree"])
        for kind in ("selection", "depth", "nu"):
            for row in cells.read(results, kind):
                self.whole[kind, row["set"], row["method"]] = float(row["cpu_seconds"])

    def cpu_seconds(self, cell):
        whole = self.whole.get((cell.kind, cell.set, cell.method))
        if whole is not None:
            return whole
        if cell.kind in {"depth", "nu"}:
            known = [v for (kind, *_), v in self.whole.items() if kind == cell.kind]
            return statistics.fmean(known) if known else self.config[cell.kind]["cpu_seconds"]
        if cell.kind == "selection":
            settings = self.config["methods"][cell.method]["selection"]
            return selection.trial_trees(settings) * (1 - selection.VALIDATION) * self.tree(cell)
        trees = configuration.trees(self.config, cell.method, cell.set)
        budget = configuration.limit(self.config, cell.method, cell.set, "max_cpu_seconds")
        return min(budget, trees * self.tree(cell))

    def tree(self, cell):
        """CPU seconds of one tree."""
        known = self.per_tree.get((cell.set, cell.method))
        if known is not None:
            return known
        return self.config["methods"][cell.method]["pilot"].get(cell.set, 1.0)


def duration(seconds):
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
