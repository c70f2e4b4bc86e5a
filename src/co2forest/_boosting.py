"""What boosted trees for classes and for numbers share: rounds, early stopping, raw scores."""

import contextlib
import warnings
from abc import abstractmethod
from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from co2forest import _native
from co2forest._base import SEEDS, BaseCO2, draw_seed, unchanged_on_failure
from co2forest._parameters import GROWTH_CONSTRAINTS, SCALE_CONSTRAINTS, Constraints, growth_params
from co2forest._progress import ProgressBar
from co2forest._rows import TrainingSet
from co2forest._scaling import native_scaling
from co2forest._sklearn_compat import Interval, StrOptions
from co2forest._stored import Fields, check_integer
from co2forest.exceptions import ModelFormatError

_ROWS_TO_STOP_EARLY = 1000  # early_stopping="auto" holds rows out if there are at least so many
_NO_ROWS = np.empty(0, dtype=np.uint8)
_GROWTH = ("max_features", "max_depth", "min_samples_leaf", "max_leaf_nodes", "random_state")

BOOSTING_CONSTRAINTS: Constraints = (
    {name: GROWTH_CONSTRAINTS[name] for name in _GROWTH}
    | SCALE_CONSTRAINTS
    | {
        "learning_rate": [Interval(Real, 0, 1, closed="right")],
        "n_estimators": [Interval(Integral, 1, 2**31 - 1, closed="both")],
        "subsample": [Interval(Real, 0, 1, closed="right")],
        "l2_regularization": [Interval(Real, 0, 1e30, closed="both")],
        "early_stopping": ["boolean", StrOptions({"auto"})],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "n_iter_no_change": [Interval(Integral, 1, 2**31 - 1, closed="both")],
        "tol": [Interval(Real, 0, 1e300, closed="both")],
        "warm_start": ["boolean"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }
)


class BaseBoosting(BaseCO2):
    """Trees whose leaves hold steps of raw scores; a forest's mean times its trees is their sum."""

    _distributions = False
    learning_rate: float
    n_estimators: int
    subsample: float
    l2_regularization: float
    early_stopping: bool | str
    validation_fraction: float
    n_iter_no_change: int
    tol: float
    warm_start: bool
    random_state: Any
    verbose: int
    train_score_: npt.NDArray[np.float64]
    validation_score_: npt.NDArray[np.float64]
    _seed: int
    _start: npt.NDArray[np.float64]  # raw scores before the first tree

    def _fit_boosting(self, X: Any, y: Any, sample_weight: Any) -> Self:
        with unchanged_on_failure(self):
            names = getattr(self, "feature_names_in_", None) if self.warm_start else None
            data, meaning = self._validate_training(X, y, sample_weight)
            self._check_same_names(names)
            earlier = self._earlier_trees(data, meaning) if self.warm_start else None
            n_new = self.n_estimators - (0 if earlier is None else earlier.n_trees)
            if n_new == 0:
                warnings.warn(
                    "warm_start=True and n_estimators has not grown, so fit added no trees",
                    stacklevel=3,
                )
                return self
            if earlier is None:
                self._seed = draw_seed(self.random_state)
                self.scale_ = self._resolve_scale(data, self._seed)
            self._set_meaning(meaning)
            self._boost(data, n_new, earlier)
        return self

    def _boost(self, data: TrainingSet, n_new: int, earlier: _native.Forest | None) -> None:
        held_out = self._held_out(data)
        start = np.empty(0) if earlier is None else self._start
        bar = ProgressBar(n_new) if self.verbose else contextlib.nullcontext()
        with bar as progress:
            result = _native.boost(
                data.rows,
                data.targets,
                data.weights,
                held_out,
                data.n_outputs,
                self._boost_params(data, n_new, stops_early=len(held_out) > 0),
                earlier,
                start,
                progress,
            )
        # A first fit keeps a tree; a warm start may find that none is worth it.
        parts = [part for part in (earlier, result.take_forest()) if part is not None]
        steps = np.array([steps / max(nodes, 1) for steps, nodes in result.statistics])
        training = self._scores(result.training)
        validation = self._scores(result.validation)
        if earlier is not None:
            steps = np.concatenate([self.n_iter_, steps])
            training = np.concatenate([self.train_score_, training])
            validation = np.concatenate([self.validation_score_, validation])
        self._forest = parts[0] if len(parts) == 1 else _native.Forest.concatenate(parts)
        self.n_iter_, self._start = steps, np.array(result.start)
        self.train_score_, self.validation_score_ = training, validation
        self._calibrate(data, held_out.astype(bool))

    def _boost_params(
        self, data: TrainingSet, n_rounds: int, *, stops_early: bool
    ) -> _native.BoostParams:
        params = _native.BoostParams()
        params.grow = growth_params(self, data)
        params.scaling = native_scaling(self.scale_)
        params.seed = self._seed
        params.n_rounds = n_rounds
        params.shrinkage = float(self.learning_rate)
        params.l2 = float(self.l2_regularization) * _unit_of(data.weights)
        params.subsample = float(self.subsample)
        params.patience = int(self.n_iter_no_change) if stops_early else 0
        params.tolerance = float(self.tol)
        return params

    def _held_out(self, data: TrainingSet) -> npt.NDArray[np.uint8]:
        """Ones for the rows that early stopping is judged on; empty if there is none."""
        n_rows = data.rows.count
        wanted = self.early_stopping
        if wanted == "auto":
            wanted = n_rows >= _ROWS_TO_STOP_EARLY
        if not wanted:
            return _NO_ROWS
        order = self._validation_order(data, np.random.default_rng([self._seed, 1]))
        place = np.arange(n_rows + 1) * float(self.validation_fraction)
        held_out = np.zeros(n_rows, dtype=np.uint8)
        held_out[order[np.diff(np.floor(place + 0.5)) > 0]] = 1
        weights = data.weights if len(data.weights) else np.ones(n_rows, dtype=np.float32)
        for part, name in ((held_out == 1, "validate"), (held_out == 0, "train")):
            if not weights[part].any():
                raise ValueError(
                    f"validation_fraction={self.validation_fraction} with n_samples = {n_rows} "
                    f"leaves no row with a positive weight to {name} on; use more rows or "
                    "early_stopping=False"
                )
        return held_out

    def _earlier_trees(self, data: TrainingSet, meaning: npt.NDArray[Any]) -> _native.Forest | None:
        """The trees that a warm start keeps."""
        if not hasattr(self, "_forest"):
            return None
        if self._forest.n_trees > self.n_estimators:
            raise ValueError(
                f"n_estimators={self.n_estimators} must be at least the {self._forest.n_trees} "
                "trees there are, because warm_start=True"
            )
        if self._forest.n_features != data.rows.features:
            raise ValueError(
                "warm_start=True, but X has another number of features than in the first fit: "
                f"{data.rows.features} features, not {self._forest.n_features}"
            )
        self._check_same_meaning(meaning)
        return self._forest

    @abstractmethod
    def _validate_training(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[TrainingSet, npt.NDArray[Any]]:
        """Checked data, and what the outputs will mean."""

    @abstractmethod
    def _set_meaning(self, meaning: npt.NDArray[Any]) -> None:
        """Keep what the outputs mean."""

    @abstractmethod
    def _check_same_meaning(self, meaning: npt.NDArray[Any]) -> None:
        """Raise if trees that a warm start keeps have outputs of another meaning."""

    @abstractmethod
    def _validation_order(
        self, data: TrainingSet, random: np.random.Generator
    ) -> npt.NDArray[np.intp]:
        """An order of the rows of which evenly spaced ones are held out."""

    @abstractmethod
    def _scores(self, losses: list[tuple[float, float]]) -> npt.NDArray[np.float64]:
        """What is shown of the losses after each round."""

    def _calibrate(self, data: TrainingSet, held_out: npt.NDArray[np.bool_]) -> None:
        """Learn from the rows held out, if there are any, once the trees are grown."""

    @property
    def n_estimators_(self) -> int:
        """Number of rounds kept, one tree each."""
        check_is_fitted(self, "_forest")
        return self._forest.n_trees

    def apply(self, X: Any) -> npt.NDArray[np.int64]:
        """Number of the leaf that each row reaches in each tree.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, ``n_estimators_``)
        """
        return self._leaves(X)

    def _raw(self, X: Any) -> npt.NDArray[np.float64]:
        return self._raw_of(self._rows_to_predict(X))

    def _raw_of(self, rows: _native.Rows) -> npt.NDArray[np.float64]:
        return self._start + self._forest.n_trees * self._forest.predict(
            rows, self._n_threads(rows)
        )

    def _staged_raw(self, X: Any) -> Iterator[npt.NDArray[np.float64]]:
        """Raw scores after each round; the last are those of `_raw`, but for rounding."""
        leaves = self._leaves(X)
        arrays = self._forest.arrays()
        outputs = np.arange(self._forest.n_outputs)
        scores = np.tile(self._start, (len(leaves), 1))
        for tree, leaf in enumerate(leaves.T):
            first = arrays["value_begin"][arrays["tree_begin"][tree] + leaf]
            scores = scores + arrays["value"][first[:, None] + outputs]
            yield scores

    def _stored(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        fields, arrays = super()._stored()
        fields |= {"seed": self._seed, "n_validated": len(self.validation_score_)}
        return fields, arrays | {
            "start": self._start,
            "train_score": self.train_score_,
            "validation_score": self.validation_score_,
        }

    def _restore(
        self, fields: Fields, forest: dict[str, npt.NDArray[Any]], *, borrow_weights: bool
    ) -> None:
        super()._restore(fields, forest, borrow_weights=borrow_weights)
        self._seed = fields.value("seed")
        n_validated = fields.value("n_validated")
        check_integer("n_validated", n_validated, 0, self._forest.n_trees)
        self._start = fields.array("start", (self._forest.n_outputs,))
        self.train_score_ = fields.array("train_score", (self._forest.n_trees,))
        self.validation_score_ = fields.array("validation_score", (n_validated,))

    def _check_consistency(self) -> None:
        super()._check_consistency()
        check_integer("seed", self._seed, 0, SEEDS - 1)
        if np.shape(self._start) != (self._forest.n_outputs,) or not np.isfinite(self._start).all():
            raise ModelFormatError(
                f"start must be {self._forest.n_outputs} finite numbers, got {self._start!r}"
            )


def _unit_of(weights: npt.NDArray[np.float32]) -> float:
    """The weight of one row, of which ``l2_regularization`` is a number.

    Whole numbers are repeats. Other weights say how rows compare, whatever their sum is.
    """
    counted = weights[weights > 0]
    if len(counted) == 0 or (counted == np.floor(counted)).all():
        return 1.0
    return float(counted.mean(dtype=np.float64))
