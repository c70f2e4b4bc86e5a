"""What all forests share: which rows a tree gets, warm starts, out-of-bag estimates."""

import warnings
from abc import abstractmethod
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from co2forest import _native
from co2forest._base import SEEDS, BaseCO2, draw_seed, unchanged_on_failure
from co2forest._rows import TrainingData, TrainingSet
from co2forest._stored import Fields, check_integer, shown
from co2forest.exceptions import ModelFormatError

_MOST_ROWS = 2**31 - 1  # of the core
_MOST_ROWS_IN_PARTITIONS = 2**53  # what a float64 can count


class BaseForest(BaseCO2):
    """A forest of many trees; subclasses know what its outputs mean and how splits are found."""

    _oob_name: ClassVar[str]  # the attribute with the outputs for the rows left out
    _seed: int
    _first_tree: int = 0  # the number of the first tree in its random stream; of a tree on its own
    # Whether trees drew their rows from partitions (co2forest.dask), which a seed does not tell.
    _partitioned: bool = False
    n_estimators: int
    bootstrap: bool
    max_samples: float | None
    oob_score: bool | Callable[[Any, Any], float]
    warm_start: bool

    def _fit_forest(self, X: Any, y: Any, sample_weight: Any) -> Self:
        with unchanged_on_failure(self):
            names = getattr(self, "feature_names_in_", None) if self.warm_start else None
            data, meaning = self._validate_training(X, y, sample_weight)
            self._check_same_names(names)
            sampling = self._sampling(data.n_rows)
            if not self._grow(data, meaning, sampling):
                return self
            for name in ("oob_score_", self._oob_name):  # of an earlier fit
                if hasattr(self, name):
                    delattr(self, name)
            if self.oob_score:
                self._estimate_out_of_bag(data, sampling)
        return self

    def _grow(self, data: TrainingData, meaning: Any, sampling: _native.SamplingParams) -> bool:
        """Grow all trees, or those that a warm start adds; whether there were any to grow."""
        earlier = self._earlier_trees(data, meaning) if self.warm_start else None
        n_new = self.n_estimators - (0 if earlier is None else earlier.n_trees)
        if n_new == 0:
            warnings.warn(
                "warm_start=True and n_estimators has not grown, so fit added no trees",
                stacklevel=5,
            )
            return False
        if earlier is None:
            self._seed, self._first_tree = draw_seed(self.random_state), 0
            self._partitioned = False
        self._train(data, sampling, self._seed, n_new, earlier)
        self._drawn_from = data.n_rows
        self._sampling_used = (sampling.bootstrap, sampling.n_draws)
        self._set_meaning(meaning)
        return True

    @abstractmethod
    def _check_same_meaning(self, meaning: Any) -> None:
        """Raise if trees that a warm start keeps have outputs of another meaning."""

    @abstractmethod
    def _oob_truth_and_prediction(
        self, data: TrainingSet, outputs: npt.NDArray[np.float64], rows: npt.NDArray[np.bool_]
    ) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """True and predicted targets of some rows, as a score takes them."""

    @abstractmethod
    def _default_score(self, truth: npt.NDArray[Any], prediction: npt.NDArray[Any]) -> float:
        """What ``oob_score=True`` stands for."""

    def _sampling(self, n_rows: int) -> _native.SamplingParams:
        sampling = _native.SamplingParams()
        sampling.bootstrap = bool(self.bootstrap)
        sampling.balance = getattr(self, "class_weight", None) == "balanced_subsample"
        if self.max_samples is None:
            sampling.n_draws = n_rows
        elif isinstance(self.max_samples, Integral):
            if self.max_samples > n_rows:
                raise ValueError(
                    f"max_samples={self.max_samples} is more than the {n_rows} rows of X; "
                    "it must be at most their number"
                )
            sampling.n_draws = int(self.max_samples)
        else:
            sampling.n_draws = max(1, round(n_rows * self.max_samples))
        if self.oob_score and not self.bootstrap and sampling.n_draws == n_rows:
            raise ValueError(
                "oob_score needs rows that a tree does not draw: set bootstrap=True, or "
                f"max_samples below the number of rows (max_samples={self.max_samples})"
            )
        return sampling

    def _earlier_trees(self, data: TrainingData, meaning: Any) -> _native.Forest | None:
        """The trees that a warm start keeps."""
        if not hasattr(self, "_forest"):
            return None
        if self._partitioned:
            raise ValueError(
                "warm_start=True, but the trees there are were grown on Dask, from partitions; "
                "only the estimator of co2forest.dask can add trees to them"
            )
        self._check_goes_on(data.n_features, meaning)
        if self.oob_score and data.n_rows != self._drawn_from:
            raise ValueError(
                f"oob_score with warm_start=True needs the rows of the first fit: X has "
                f"{data.n_rows}, but the trees there are were drawn from {self._drawn_from}"
            )
        return self._forest

    def _check_goes_on(self, n_features: int, meaning: Any) -> None:
        """Raise unless trees for such data can follow those there are."""
        if self._forest.n_trees > self.n_estimators:
            raise ValueError(
                f"n_estimators={self.n_estimators} must be at least the {self._forest.n_trees} "
                "trees there are, because warm_start=True"
            )
        if self._forest.n_features != n_features:
            raise ValueError(
                "warm_start=True, but X has another number of features than in the first fit: "
                f"{n_features} features, not {self._forest.n_features}"
            )
        self._check_same_meaning(meaning)

    def _estimate_out_of_bag(self, data: TrainingSet, sampling: _native.SamplingParams) -> None:
        outputs, used = _native.out_of_bag(
            self._forest, data.rows, sampling, self._seed, self._n_threads()
        )
        left_out = used > 0
        if not left_out.all():
            warnings.warn(
                f"{np.count_nonzero(~left_out)} of {len(left_out)} rows were drawn by every tree "
                "and have no out-of-bag estimate; more trees would help",
                stacklevel=4,
            )
        score = self.oob_score if callable(self.oob_score) else self._default_score
        setattr(self, self._oob_name, self._oob_outputs(outputs, left_out))
        self.oob_score_ = float("nan")
        if left_out.any():
            self.oob_score_ = score(*self._oob_truth_and_prediction(data, outputs, left_out))

    def _oob_outputs(
        self, outputs: npt.NDArray[np.float64], left_out: npt.NDArray[np.bool_]
    ) -> npt.NDArray[np.float64]:
        """What is kept of the outputs for the rows left out."""
        del left_out
        return outputs

    def _stored(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        fields, arrays = super()._stored()
        bootstrap, n_draws = self._sampling_used
        fields |= {
            "seed": self._seed,
            "n_rows": self._drawn_from,
            "bootstrap": bootstrap,
            "n_draws": n_draws,
        }
        if self._first_tree:
            fields["first_tree"] = self._first_tree
        if self._partitioned:
            fields["partitioned"] = True
        if hasattr(self, "oob_score_"):
            score = self.oob_score_
            finite = isinstance(score, Real) and np.isfinite(score)
            if not finite and not (isinstance(score, Real) and np.isnan(score)):
                warnings.warn(
                    f"oob_score_={score!r} is no finite number and is stored as NaN", stacklevel=4
                )
            fields["oob_score"] = float(score) if finite else None
            arrays[self._oob_name.removesuffix("_")] = getattr(self, self._oob_name)
        return fields, arrays

    def _restore(
        self, fields: Fields, forest: dict[str, npt.NDArray[Any]], *, borrow_weights: bool
    ) -> None:
        super()._restore(fields, forest, borrow_weights=borrow_weights)
        self._seed = fields.value("seed")
        self._drawn_from = fields.value("n_rows")
        self._sampling_used = (fields.value("bootstrap"), fields.value("n_draws"))
        self._first_tree = fields.value("first_tree") if "first_tree" in fields else 0
        self._partitioned = fields.value("partitioned") if "partitioned" in fields else False
        if "oob_score" in fields:
            self.oob_score_ = fields.number("oob_score")
            shape = self._oob_shape(self._drawn_from)
            setattr(self, self._oob_name, fields.array(self._oob_name.removesuffix("_"), shape))

    def _oob_shape(self, n_rows: int) -> tuple[int, ...]:
        return n_rows, self._forest.n_outputs

    def _check_consistency(self) -> None:
        super()._check_consistency()
        bootstrap, n_draws = self._sampling_used
        if type(bootstrap) is not bool:
            raise ModelFormatError(f"bootstrap must be true or false, got {shown(bootstrap)}")
        partitioned: Any = self._partitioned  # of a file it may be anything
        if type(partitioned) is not bool:
            raise ModelFormatError(f"partitioned must be true or false, got {shown(partitioned)}")
        check_integer("seed", self._seed, 0, SEEDS - 1)
        most = _MOST_ROWS_IN_PARTITIONS if partitioned else _MOST_ROWS
        check_integer("n_rows", self._drawn_from, 1, most)
        check_integer("n_draws", n_draws, 1, self._drawn_from)
        check_integer("first_tree", self._first_tree, 0, 2**31 - 1)

    def apply(self, X: Any) -> npt.NDArray[np.int64]:
        """Number of the leaf that each row reaches in each tree.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_estimators)
        """
        return self._leaves(X)

    def decision_path(self, X: Any) -> tuple[sp.csr_array, npt.NDArray[np.int64]]:
        """Nodes that each row passes.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        indicator : csr_array of shape (n_samples, n_nodes)
            1 where the row passes the node; the trees' nodes side by side.
        n_nodes_ptr : ndarray of shape (n_estimators + 1,)
            Columns ``n_nodes_ptr[i]`` to ``n_nodes_ptr[i + 1]`` are those of tree ``i``.
        """
        return self._decision_path(X)

    @property
    def estimators_samples_(self) -> list[npt.NDArray[np.intp]]:
        """Rows that each tree drew, derived again from the seed."""
        check_is_fitted(self, "_forest")
        counts = map(self._draw_counts, range(self._forest.n_trees))
        return [np.repeat(np.arange(len(count)), count) for count in counts]

    def _draw_counts(self, tree: int) -> npt.NDArray[np.int32]:
        """How often a tree drew each row."""
        if self._partitioned:
            raise AttributeError(
                "which rows a tree drew is not known: the forest was grown on Dask, where each "
                "partition draws its own"
            )
        sampling = _native.SamplingParams()
        sampling.bootstrap, sampling.n_draws = self._sampling_used
        return _native.draw_counts(self._drawn_from, sampling, self._seed, self._first_tree + tree)
