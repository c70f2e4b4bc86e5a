# SPDX-License-Identifier: BSD-3-Clause
"""Forests that tell where their trees grow: worker processes must be able to import them."""

import os
import signal
import time
from abc import ABC, abstractmethod
from dataclasses import fields
from typing import ClassVar

import numpy as np

from co2forest import CO2ForestClassifier
from co2forest.data.training_set import TrainingSet


class SpiedSet(TrainingSet, ABC):
    """Rows that tell something of each tree in place of its optimiser steps."""

    def train(self, mean, params, progress):
        forest, statistics = super().train(mean, params, progress)
        return forest, [(self.told(params), 1)] * len(statistics)

    @abstractmethod
    def told(self, params):
        """What a tree with these parameters tells."""


class SpiedForest(CO2ForestClassifier):
    """A forest that grows from such rows."""

    _data: ClassVar[type[TrainingSet]]

    def _read(self, X, y, sample_weight):
        outputs, data = super()._read(X, y, sample_weight)
        given = {each.name: getattr(data, each.name) for each in fields(data) if each.init}
        return outputs, self._data(**given)


class _Process(SpiedSet):
    def told(self, params):
        return os.getpid()


class TellsProcess(SpiedForest):
    """``n_iter_`` has the number of the process in which each tree has grown."""

    _data = _Process


class _Mapped(SpiedSet):
    def told(self, params):
        return isinstance(self.X, np.memmap) and not self.X.flags.writeable


class TellsMapped(SpiedForest):
    """``n_iter_`` says of each tree whether its rows were those of a mapped file, read-only."""

    _data = _Mapped


class _Arrival(SpiedSet):
    def told(self, params):
        return vars(self).setdefault("arrived", time.time())


class TellsArrival(SpiedForest):
    """``n_iter_`` has the time at which the rows of each tree came to its process."""

    _data = _Arrival


class _Threads(SpiedSet):
    def told(self, params):
        return params.n_threads


class TellsThreads(SpiedForest):
    """``n_iter_`` has the number of threads that grow each tree."""

    _data = _Threads


class _Failing(TrainingSet):
    def train(self, mean, params, progress):
        if params.first_tree + params.n_trees > 7:
            raise ValueError("tree 7 cannot grow")
        return super().train(mean, params, progress)


class Fails(SpiedForest):
    """Its tree 7 cannot grow."""

    _data = _Failing


class _Interrupting(TrainingSet):
    def train(self, mean, params, progress):
        if params.first_tree == 0:
            os.kill(os.getppid(), signal.SIGINT)
        time.sleep(60)


class Interrupts(SpiedForest):
    """Sends Ctrl-C to the process that waits for its first batch, and never gives an answer."""

    _data = _Interrupting
