# SPDX-License-Identifier: BSD-3-Clause
"""Forests that tell where their trees grow: worker processes must be able to import them."""

import os
import signal
import time

import numpy as np

from co2forest import CO2ForestClassifier


class TellsProcess(CO2ForestClassifier):
    """``n_iter_`` has the number of the process in which each tree has grown."""

    def _train_native(self, data, sampling, *rest):
        forest, steps = super()._train_native(data, sampling, *rest)
        return forest, np.full(len(steps), os.getpid())


class TellsMapped(CO2ForestClassifier):
    """``n_iter_`` says of each tree whether its rows were those of a mapped file, read-only."""

    def _train_native(self, data, sampling, *rest):
        forest, steps = super()._train_native(data, sampling, *rest)
        mapped = isinstance(data.X, np.memmap) and not data.X.flags.writeable
        return forest, np.full(len(steps), float(mapped))


class TellsArrival(CO2ForestClassifier):
    """``n_iter_`` has the time at which the rows of each tree came to its process."""

    def _train_native(self, data, sampling, *rest):
        forest, steps = super()._train_native(data, sampling, *rest)
        if not hasattr(data, "arrived"):
            object.__setattr__(data, "arrived", time.time())
        return forest, np.full(len(steps), data.arrived)


class TellsThreads(CO2ForestClassifier):
    """``n_iter_`` has the number of threads that grow each tree."""

    def _train_native(self, data, sampling, *rest):
        forest, steps = super()._train_native(data, sampling, *rest)
        return forest, np.full(len(steps), self._n_threads())


class Fails(CO2ForestClassifier):
    """Its last tree cannot grow."""

    def _train_native(self, data, sampling, scaling, seed, n_trees, first_tree=0, *rest):
        if first_tree + n_trees == self.n_estimators:
            raise ValueError(f"tree {self.n_estimators - 1} cannot grow")
        return super()._train_native(data, sampling, scaling, seed, n_trees, first_tree, *rest)


class Interrupts(CO2ForestClassifier):
    """Sends Ctrl-C to the process that waits for its first batch, and never gives an answer."""

    def _train_native(self, data, sampling, scaling, seed, n_trees, first_tree=0, *rest):
        if first_tree == 0:
            os.kill(os.getppid(), signal.SIGINT)
        time.sleep(60)
