# SPDX-License-Identifier: BSD-3-Clause
"""Everything that a fit has decided before it grows trees, and how the native core takes it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from numbers import Integral
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from co2forest import _native
from co2forest.data.training_set import TrainingData, TrainingSet
from co2forest.exceptions import ModelFormatError
from co2forest.files.fields import Fields, check_integer
from co2forest.files.messages import shown

SEEDS = 2**63  # the number of different forests
_MOST_ROWS = 2**31 - 1  # of the native core
_MOST_ROWS_IN_PARTITIONS = 2**53  # what a float64 can count
_NO_LIMIT = 2**60  # more than any data can have; larger numbers would not fit the core's integers

SCALINGS: dict[str | None, _native.Scaling] = {
    "standard": _native.Scaling.standard,
    "soft": _native.Scaling.soft,
    "minmax": _native.Scaling.minmax,
    "global": _native.Scaling.uniform,
    None: _native.Scaling.none,
}
SCALES = tuple(SCALINGS)


def _plain(value: Any) -> Any:
    """A parameter as the core takes it; it follows its own rule where a number is 0 for None."""
    if value is None:
        return 0
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    return min(int(value), _NO_LIMIT) if whole else value


def _rows_of(value: Any, n_rows: int, least: int) -> int:
    """Rows named by a parameter: a number if it is an integer, else a fraction of all rows."""
    whole = isinstance(value, Integral)
    return min(int(value), _NO_LIMIT) if whole else max(least, ceil(float(value) * n_rows))


@dataclass(frozen=True)
class NativeParams:
    """Parameters of a split finder: a type of the native core by its name, and its fields.

    Unlike an object of that type, they can be pickled.
    """

    type: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    depends_on_scale: bool = True  # a threshold of a single feature does not

    def native(self) -> Any:
        """An object of the native core."""
        params = getattr(_native, self.type)()
        for name, value in self.fields.items():
            setattr(params, name, _native.Solver[value] if name == "solver" else _plain(value))
        return params


@dataclass(frozen=True)
class Growth:
    """When a tree stops to grow; limits of rows are numbers, or fractions of all rows."""

    max_depth: int = _NO_LIMIT
    min_samples_split: float = 2
    min_samples_leaf: float = 1
    min_weight_fraction_leaf: float = 0.0
    min_impurity_decrease: float = 0.0
    max_leaf_nodes: int = 0  # no limit

    def whole_rows(self, n_rows: int) -> Self:
        """Turn fractions of all rows into numbers of rows."""
        return replace(
            self,
            min_samples_split=_rows_of(self.min_samples_split, n_rows, 2),
            min_samples_leaf=_rows_of(self.min_samples_leaf, n_rows, 1),
        )

    def native(self, n_rows: int, impurity_unit: float) -> _native.GrowParams:
        """The limits as the native core takes them."""
        rows = self.whole_rows(n_rows)
        grow = _native.GrowParams()
        grow.max_depth = _plain(self.max_depth)
        grow.min_samples_split = int(rows.min_samples_split)
        grow.min_samples_leaf = int(rows.min_samples_leaf)
        grow.min_weight_fraction_leaf = float(self.min_weight_fraction_leaf)
        grow.min_impurity_decrease = float(self.min_impurity_decrease) / impurity_unit
        grow.max_leaf_nodes = _plain(self.max_leaf_nodes)
        return grow


@dataclass(frozen=True)
class Draws:
    """How trees draw their rows; what tree ``i`` drew follows from the seed and ``i``."""

    seed: int
    n_rows: int  # that trees draw from
    n_draws: int  # rows of a tree, with repeats
    bootstrap: bool = False
    balance: bool = False  # whether each tree gives its classes equal weights
    first_tree: int = 0  # a tree taken out of a forest keeps its number there
    partitioned: bool = False  # whether each partition of a cluster drew its own rows

    @classmethod
    def every_row(cls, n_rows: int, seed: int) -> Self:
        """Every tree gets every row once."""
        return cls(seed, n_rows, n_rows)

    @property
    def leaves_rows_out(self) -> bool:
        """Whether it is known which rows a tree did not draw, and there may be some."""
        return (self.bootstrap or self.n_draws < self.n_rows) and not self.partitioned

    def native(self) -> _native.SamplingParams:
        """The draws as the native core takes them."""
        sampling = _native.SamplingParams()
        sampling.bootstrap, sampling.balance = self.bootstrap, self.balance
        sampling.n_draws = self.n_draws
        return sampling

    def counts(self, tree: int) -> npt.NDArray[np.int32]:
        """How often a tree drew each row."""
        if self.partitioned:
            raise AttributeError(
                "which rows a tree drew is not known: the forest was grown on Dask, where each "
                "partition draws its own"
            )
        number = self.first_tree + tree
        return _native.draw_counts(self.n_rows, self.native(), self.seed, number)

    def stored(self) -> dict[str, Any]:
        """What a model file keeps."""
        fields: dict[str, Any] = {
            "seed": self.seed,
            "n_rows": self.n_rows,
            "bootstrap": self.bootstrap,
            "n_draws": self.n_draws,
        }
        if self.first_tree:
            fields["first_tree"] = self.first_tree
        if self.partitioned:
            fields["partitioned"] = True
        return fields

    @classmethod
    def restore(cls, fields: Fields) -> Self:
        """Read the draws of a file."""
        return cls(
            fields.value("seed"),
            fields.value("n_rows"),
            fields.value("n_draws"),
            fields.value("bootstrap"),
            first_tree=fields.value("first_tree") if "first_tree" in fields else 0,
            partitioned=fields.value("partitioned") if "partitioned" in fields else False,
        )

    def check(self) -> None:
        """Raise unless values from a file or a pickle are sound."""
        for name in ("bootstrap", "balance", "partitioned"):
            if type(getattr(self, name)) is not bool:
                value = shown(getattr(self, name))
                raise ModelFormatError(f"{name} must be true or false, got {value}")
        check_integer("seed", self.seed, 0, SEEDS - 1)
        most = _MOST_ROWS_IN_PARTITIONS if self.partitioned else _MOST_ROWS
        check_integer("n_rows", self.n_rows, 1, most)
        check_integer("n_draws", self.n_draws, 1, self.n_rows)
        check_integer("first_tree", self.first_tree, 0, 2**31 - 1)


@dataclass(frozen=True)
class TreeKind:
    """A kind of tree: how its nodes are split, and when it stops to grow."""

    name: str
    split: NativeParams
    growth: Growth
    by_means: bool = False  # whether it sees means of categories in the place of indicators

    def native(self, data: TrainingData) -> _native.GrowParams:
        """Limits of growth and the split finder, as the native core takes them."""
        grow = self.growth.native(data.n_rows, data.impurity_unit)
        grow.split = self.split.native()
        if self.by_means and isinstance(data, TrainingSet):  # windows have no categories
            grow.features = data.summary
        return grow


@dataclass(frozen=True)
class Plan:
    """How trees are grown; plain values, so that any process can follow it."""

    n_trees: int
    draws: Draws
    kinds: tuple[TreeKind, ...]
    scale: str | None
    shares: tuple[float, ...] = (1.0,)  # of the trees, for each kind
    mixture: Any = None  # the trial that kinds and shares come from; see fitting/mixture.py
    calibration: Any = None  # of probabilities, where trees leave no rows out to find one
    solver: str | None = None  # None where the estimator has no choice of solvers
    refine: int = 0  # passes over each grown tree
    n_jobs: int | None = None
    verbose: bool = False

    def native(
        self, data: TrainingData, first_tree: int, n_trees: int, n_threads: int
    ) -> _native.TrainParams:
        """The plan as the native core takes it, for some of the trees."""
        params = _native.TrainParams()
        params.grow, *params.others = [kind.native(data) for kind in self.kinds]
        if len(self.kinds) > 1:
            params.kind_of_tree = kind_of_trees(self.shares, first_tree + n_trees)[first_tree:]
        refine = _native.RefineParams()
        refine.passes = _plain(self.refine)
        params.refine = refine
        params.scaling = SCALINGS[self.scale]
        params.sampling = self.draws.native()
        params.seed = self.draws.seed
        params.first_tree = first_tree
        params.n_trees = n_trees
        params.n_threads = n_threads
        return params

    def for_trial(self, data: TrainingData, n_trees: int) -> Self:
        """Grow a few trees, each on all of a trial's rows."""
        draws = Draws.every_row(data.n_rows, self.draws.seed)
        return replace(self, n_trees=n_trees, draws=draws, verbose=False)


def kind_of_trees(shares: Sequence[float], n_trees: int) -> list[int]:
    """The kind of each of the first trees: the one that is farthest behind its share.

    So any number of first trees has the shares, as nearly as it can, and a warm start goes on.
    """
    counts = np.zeros(len(shares))
    kinds: list[int] = []
    for tree in range(n_trees):
        kinds.append(int(np.argmax(np.array(shares) * (tree + 1) - counts)))
        counts[kinds[-1]] += 1
    return kinds
