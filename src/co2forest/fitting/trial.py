# SPDX-License-Identifier: BSD-3-Clause
"""A trial: which of several plans makes the smallest error on rows that it was not grown on."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from co2forest import _native
from co2forest.data.training_set import TrainingSet
from co2forest.fitting.grow import grow_here
from co2forest.fitting.plan import Plan
from co2forest.fitting.trees import TreeRange


def split_sample(
    data: TrainingSet, seed: int, n_rows: int, fraction: float
) -> tuple[TrainingSet, TrainingSet]:
    """Draw rows to train on, which are a fraction of the sample, and rows to test on.

    Integer weights and repeated rows lead to the same sample, whatever the order of rows.
    """
    chosen, weights = _native.sample_by_key(
        data.rows, data.targets, data.n_outputs, data.weights, seed, n_rows
    )
    n_train = round(fraction * len(chosen)) if fraction != 0.5 else len(chosen) // 2
    return (
        data.subset(chosen[:n_train], weights[:n_train]),
        data.subset(chosen[n_train:], weights[n_train:]),
    )


def best_plan(
    candidates: Mapping[str, Plan], train: TrainingSet, test: TrainingSet, n_trees: int
) -> str:
    """The name of the plan with the smallest error; the first of equal ones."""
    errors = {}
    for name, plan in candidates.items():
        trial = plan.for_trial(train, n_trees)
        forest = grow_here(trial, train, TreeRange(0, n_trees)).forest
        errors[name] = float(_errors(test, forest.predict(test.rows, 1)) @ test.weights)
    return min(errors, key=errors.__getitem__)


def _errors(data: TrainingSet, outputs: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """How wrong a forest's outputs are for each row: 0 or 1 for classes, else the loss."""
    if data.targets.ndim == 1:
        return np.asarray(outputs.argmax(axis=1) != data.targets, dtype=np.float64)
    return data.loss.of_rows(data.targets, outputs)
