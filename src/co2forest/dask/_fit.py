# SPDX-License-Identifier: BSD-3-Clause
"""The steps of a fit on a cluster: decide how to grow, and grow what is missing."""

# ruff: noqa: SLF001 (the forest that is fitted is no stranger)

import contextlib
import copy
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from co2forest.dask._checkpoint import Checkpoint
from co2forest.dask._memory import Demand, Schedule, cluster_of, make_schedule
from co2forest.dask._survey import Data
from co2forest.dask._waves import ClusterGrower, decide_on_cluster, single_trees
from co2forest.data.outputs.base import Outputs
from co2forest.files.problem_digest import digest
from co2forest.fitting.decide import decide, draw_seed, draws_of
from co2forest.fitting.parameters import growth_of
from co2forest.fitting.plan import Draws, Plan
from co2forest.fitting.progress import ProgressBar
from co2forest.fitting.trees import Grown, TreeRange

# A forest does not depend on these, so a fit may go on from a checkpoint with other values.
_FREE = frozenset({"n_estimators", "oob_score", "warm_start", "n_jobs", "random_state", "verbose"})


def check_parameters(estimator: Any) -> None:
    """Raise if a forest cannot be grown on Dask, before any data are read."""
    estimator._validate_params()
    if callable(estimator.oob_score):
        raise ValueError(  # noqa: TRY004
            "on Dask the 'oob_score' parameter must be a boolean or 'auto', because a function "
            f"would need all rows in one process, got {estimator.oob_score!r}"
        )
    if getattr(estimator, "keep_targets", False):
        raise ValueError(
            "keep_targets=True is for forests of one machine, because it keeps every training "
            "row's target and leaves; on Dask it must be False"
        )
    if hasattr(estimator, "class_weight"):
        estimator._check_class_weight(several=False)


@dataclass(frozen=True)
class Job:
    """A fit of ``forest``, which has trees already if it is a warm start."""

    forest: Any
    client: Any
    data: Data
    draws: Draws
    schedule: Schedule
    checkpoint: Checkpoint | None

    @classmethod
    def prepare(
        cls,
        forest: Any,
        client: Any,
        data: Data,
        trees_per_task: int | str,
        folder: str | PathLike[str] | None,
    ) -> Self:
        """Plan what workers do, before anything is sent to them."""
        goes_on = hasattr(forest, "_forest")
        draws = replace(draws_of(forest, data.n_rows, seed=0), partitioned=True)
        demand = Demand(
            forest.n_estimators,
            len(data.partitions),
            data.n_rows,
            data.row_bytes,
            data.n_bytes,
            forest.max_samples,
            draws.n_draws,
            draws.bootstrap,
        )
        schedule = make_schedule(demand, cluster_of(client), trees_per_task)
        seed = forest._draws.seed if goes_on else draw_seed(forest.random_state)
        checkpoint = None
        if folder is not None:
            parameters = forest.get_params(deep=False)
            fixed = goes_on or forest.random_state is not None
            kept = {name: value for name, value in parameters.items() if name not in _FREE}
            problem = {"X, y or sample_weight": data.digest(), "parameters": digest(kept)}
            checkpoint = Checkpoint(folder, problem, seed, fixed=fixed)
            seed = checkpoint.seed
        if schedule.persist:
            data = replace(data, partitions=data.partitions.persisted(client))
        return cls(forest, client, data, replace(draws, seed=seed), schedule, checkpoint)

    def decide(self) -> tuple[Outputs, Plan]:
        """Decide on a sample, or as the first fit of a warm start did."""
        forest = self.forest
        # A task has one thread, and fractions of all rows are of the rows that a tree draws.
        rows = growth_of(forest).whole_rows(self.draws.n_draws)
        settled = clone(forest).set_params(
            n_jobs=1,
            min_samples_split=rows.min_samples_split,
            min_samples_leaf=rows.min_samples_leaf,
        )
        if not hasattr(forest, "_forest"):
            return decide_on_cluster(self.client, self.data, self.draws, settled, self.schedule)
        known = (forest.scale_, forest._solver)
        settled._mixture = forest._mixture
        data: Any = self.data  # of which nothing but the number of features is asked
        return forest._outputs, decide(settled, data, self.draws, forest.n_estimators, known)

    def grow(self, outputs: Outputs, plan: Plan) -> Grown:
        """Grow the trees that neither the forest nor the checkpoint has."""
        have: dict[int, Grown] = {}
        for first, some in self.checkpoint.kept().items() if self.checkpoint else ():
            have |= single_trees(first, Grown(some._forest, some.n_iter_))
        mean = self.data.mean()
        if hasattr(self.forest, "_forest"):
            have |= single_trees(0, Grown(self.forest._forest, self.forest.n_iter_))
            mean = np.array(self.forest._forest.arrays()["mean"])

        def keep(first: int, grown: Grown) -> None:
            if self.checkpoint is not None:
                some = copy.copy(self.forest)._keep(outputs, self.data, plan, grown)
                self.checkpoint.keep(first, some)

        grower = ClusterGrower(self.client, self.schedule, outputs, have, keep)
        n_missing = sum(tree not in have for tree in range(plan.n_trees))
        show = plan.verbose and n_missing > 0
        with ProgressBar(n_missing) if show else contextlib.nullcontext() as progress:
            return grower(plan, self.data, TreeRange(0, plan.n_trees, mean), progress)
