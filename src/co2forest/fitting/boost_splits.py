# SPDX-License-Identifier: BSD-3-Clause
"""How the trees of boosting are split, and what "auto" stands for.

There are two ways. "narrow" trees are grown on Newton's steps of the loss; a node takes the better
of a threshold of one feature and a hyperplane over a few. That is best on ordinary tables. "co2"
trees have hyperplanes over all features; those of classes are grown on the labels themselves until
leaves are pure, which is best for letters, pixels and the like. A trial decides.

``benchmarks/tables/choices.py`` is the sweep behind the defaults, on validation parts of 29 tables.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.sparse as sp

from co2forest import _native
from co2forest.data.outputs.base import Floats
from co2forest.data.outputs.scores import best_inverse_temperature, log_softmax
from co2forest.data.training_set import TrainingSet
from co2forest.fitting.boost import BoostPlan, boost
from co2forest.fitting.decide import decide
from co2forest.fitting.parameters import growth_of, resolve_max_features
from co2forest.fitting.plan import Draws, NativeParams, Plan, TreeKind

SPLITS = ("narrow", "co2")
_NARROW_CLASSES: Mapping[str, Any] = {
    "learning_rate": 0.05,
    "max_leaf_nodes": 31,
    "min_samples_leaf": 10,
    "l2_regularization": 1.0,
    "max_features": 0.5,
    "scale": "standard",
}
_NARROW_NUMBERS: Mapping[str, Any] = {**_NARROW_CLASSES, "learning_rate": 0.1}
_CO2_NUMBERS: Mapping[str, Any] = {
    "learning_rate": 0.1,
    "max_leaf_nodes": 63,
    "min_samples_leaf": 5,
    "l2_regularization": 3.0,
    "max_features": None,
}
_CO2_CLASSES: Mapping[str, Any] = {
    "learning_rate": 0.05,
    "max_leaf_nodes": None,
    "min_samples_leaf": 1,
    "l2_regularization": 0.3,
    "max_features": "sqrt",
}
_DEFAULTS = {"narrow": (_NARROW_CLASSES, _NARROW_NUMBERS), "co2": (_CO2_CLASSES, _CO2_NUMBERS)}
_BINS = 32  # of a large node's projections, between which thresholds lie

# A trial has a quarter of the rows, within these limits, and few and long steps. Trees that grow
# until leaves are pure gain most from more rows: on 4000 of 80 000 rows of Covertype narrow trees
# are better, but on all of them they make nearly three times the errors.
_TRIAL_ROWS = (8000, 20_000)
_TRIAL_PART = 0.25
_FEWEST_TRIAL_ROWS = 60
_TRIAL_HELD_OUT = 0.3
_TRIAL_ROUNDS = 60
_TRIAL_RATE = 3.0  # times the rate of the way
# So many standard errors another way must be better by, where there are so few rows that chance may
# decide. A trial of some of the rows already puts those ways at a disadvantage.
_DOUBT = 1.5
_ALL_FEATURES = {"max_features": None}


class Resolved(SimpleNamespace):
    """The parameters of an estimator of boosting, with what "auto" stands for in one way."""

    _chooses_solver = False

    @classmethod
    def of(cls, estimator: Any, split: str, preferred: Mapping[str, Any] | None = None) -> Any:
        """Resolve the parameters; what is preferred counts more than the defaults of the way."""
        of_classes, of_numbers = _DEFAULTS[split]
        defaults = of_numbers if hasattr(estimator, "loss") else of_classes
        defaults = {**defaults, **(preferred or {})}
        given = estimator.get_params(deep=False)
        chosen = {name: value for name, value in defaults.items() if given[name] == "auto"}
        return cls(**given | chosen | {"split": split})

    def _split_params(self, n_features: int, solver: str | None) -> NativeParams:  # noqa: ARG002
        most = resolve_max_features(self.max_features, n_features)
        if self.split == "narrow":
            # Few columns each, or as many as the root of all.
            widths = [2.0, 3.0, max(2.0, float(round(n_features**0.5)))]
            fields = {"max_features": max(most, 2), "threshold_bins": _BINS, "widths": widths}
            return NativeParams("NarrowParams", fields)
        if not hasattr(self, "loss"):
            return NativeParams("Co2Params", {"max_features": most})
        # A tree corrects those before it, so its splits need not be exact: with bins and samples
        # kin8nm took 60 % of the time, for the same errors.
        approximate = {"max_rows": 1000, "threshold_bins": _BINS, "axis_rows": 250}
        # What the defaults were chosen with.
        tuned_with = {"ridge": 0.1, "feature_fractions": [1.0, 0.15]}
        return NativeParams("Co2Params", {"max_features": most} | approximate | tuned_with)


def plan_boosting(
    parameters: Any, data: TrainingSet, draws: Draws, scale: str | None = "auto"
) -> BoostPlan:
    """Make a plan of resolved parameters; ``scale`` is that of a warm start."""
    known = None if scale == "auto" else (scale, None)
    trees = decide(parameters, data, draws, parameters.n_estimators, known)
    narrow = parameters.split == "narrow"
    (own,) = trees.kinds
    split = own.split
    if narrow and data.summary:  # categories are one feature each
        split = parameters._split_params(len(data.summary), None)  # noqa: SLF001
    kind = TreeKind(parameters.split, split, growth_of(parameters), by_means=narrow)
    return BoostPlan(
        replace(trees, kinds=(kind,)),
        parameters.split,
        float(parameters.learning_rate),
        float(parameters.subsample),
        float(parameters.l2_regularization) * _unit_of(data.weights),
    )


def choose_split(estimator: Any, data: TrainingSet, draws: Draws) -> Any:
    """The parameters of the way that is best in a trial; in doubt, of the usual one."""
    # Sparse rows have many features, whose thresholds one by one would take too long.
    if sp.issparse(data.X):
        return Resolved.of(estimator, "co2")
    trial = _Trial(data, draws.seed)
    if trial.data.n_rows < _FEWEST_TRIAL_ROWS:
        return Resolved.of(estimator, "narrow")
    usual, *others = _candidates(estimator)
    losses = trial.losses_of(usual)
    best, least = usual, np.inf
    for parameters in others:
        of_other = trial.losses_of(parameters)
        mean = trial.mean(of_other)
        if mean < least and trial.is_better(of_other, losses):
            best, least = parameters, mean
    return best


def _candidates(estimator: Any) -> Iterator[Any]:
    yield Resolved.of(estimator, "narrow")
    if estimator.max_features == "auto":  # where single features matter, half of them lack these
        yield Resolved.of(estimator, "narrow", _ALL_FEATURES)
    yield Resolved.of(estimator, "co2")


class _Trial:
    """Some of the rows, of which the last ones are held out."""

    def __init__(self, data: TrainingSet, seed: int) -> None:
        n_rows = int(np.clip(_TRIAL_PART * data.n_rows, *_TRIAL_ROWS))
        chosen, weights = _native.sample_by_key(
            data.rows, data.targets, data.n_outputs, data.weights, seed, n_rows
        )
        self.data = data.subset(chosen, weights)
        self.doubt = _DOUBT if n_rows >= data.n_rows else 0.0
        self.draws = Draws.every_row(len(chosen), seed)
        self.held_out = np.zeros(len(chosen), dtype=np.uint8)
        self.judged = slice(round((1 - _TRIAL_HELD_OUT) * len(chosen)), None)
        self.held_out[self.judged] = 1
        self.weights = weights[self.judged]

    def losses_of(self, parameters: Any) -> Floats:
        """The losses of the rows held out, of classes with the best temperature."""
        plan = plan_boosting(parameters, self.data, self.draws)
        rate = min(1.0, _TRIAL_RATE * plan.learning_rate)
        n_rounds = min(_TRIAL_ROUNDS, parameters.n_estimators)
        trees: Plan = replace(plan.trees, n_trees=n_rounds, verbose=False)
        plan = replace(plan, trees=trees, learning_rate=rate, held_out=self.held_out)
        scores = boost(plan, self.data).held_out_scores[self.judged]
        targets = self.data.targets[self.judged]
        if targets.ndim == 2:
            logarithmic = self.data.loss.traits.link == "log"
            return self.data.loss.of_rows(targets, np.exp(scores) if logarithmic else scores)
        factor = best_inverse_temperature(scores, targets, self.weights)
        losses: Floats = -log_softmax(factor * scores)[np.arange(len(targets)), targets]
        return losses

    def is_better(self, losses: Floats, than: Floats) -> bool:
        """Whether a mean loss is smaller, by more than chance may do."""
        gains = than - losses
        gain = self.mean(gains)
        error = np.sqrt(self.mean((gains - gain) ** 2) / np.count_nonzero(self.weights))
        return bool(gain > self.doubt * error)

    def mean(self, values: Floats) -> float:
        """The mean of values of the rows held out."""
        return float(np.average(values, weights=self.weights))


def _unit_of(weights: np.ndarray) -> float:
    """The weight of one row, which ``l2_regularization`` counts in.

    Whole numbers are repeats. Other weights say how rows compare, whatever their sum is.
    """
    counted = weights[weights > 0]
    if len(counted) == 0 or (counted == np.floor(counted)).all():
        return 1.0
    return float(counted.mean(dtype=np.float64))
