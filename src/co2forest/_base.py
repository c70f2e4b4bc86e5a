"""What the forest and the tree share: training, traversal, importances."""

import contextlib
from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from joblib import effective_n_jobs, parallel_config
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from co2forest import _native
from co2forest._batches import grow_in_batches, grows_elsewhere, shares_memory
from co2forest._parameters import Constraints, growth_params, refine_params
from co2forest._progress import ProgressBar
from co2forest._reported import Reported
from co2forest._rows import ROW_DTYPES, TrainingData, TrainingSet, native_rows, plain_rows
from co2forest._scaling import SCALES, TRIAL_TREES, native_scaling
from co2forest._storable import Storable
from co2forest._stored import Fields, shown
from co2forest.exceptions import ModelFormatError

SplitParams = (
    _native.Co2Params
    | _native.AxisParams
    | _native.TwoProbeParams
    | _native.CoordinateParams
    | _native.DiscriminantParams
)
SEEDS = 2**63  # the number of different forests
_MOST_THREADS = 1024
NO_MEAN = np.empty(0, dtype=np.float32)


class BaseCO2(Reported, Storable):
    """An estimator around a native forest; subclasses know what its outputs mean."""

    _parameter_constraints: ClassVar[Constraints] = {}
    n_features_in_: int
    min_samples_leaf: float | str
    scale: str | None
    scale_: str | None
    n_iter_: npt.NDArray[np.float64]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    def _validate_rows(self, X: Any, *, reset: bool) -> Any:
        """Rows as `native_rows` takes them; ``reset`` sets the number and names of features."""
        rows = plain_rows(X)
        if rows is not None and reset:
            self.n_features_in_ = rows.shape[1]
            if hasattr(self, "feature_names_in_"):  # of an earlier fit
                del self.feature_names_in_
            return rows
        if (
            rows is not None
            and rows.shape[1] == self.n_features_in_
            and not hasattr(self, "feature_names_in_")
        ):
            return rows
        return validate_data(
            self,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype=list(ROW_DTYPES),
            order="C",
            ensure_all_finite="allow-nan",
        )

    def _check_same_names(self, names: npt.NDArray[Any] | None) -> None:
        """Trees that a warm start keeps must go on to see the same features."""
        new = getattr(self, "feature_names_in_", None)
        if names is not None and new is not None and not np.array_equal(names, new):
            raise ValueError(
                "warm_start=True, but the features have other names or another order than in the "
                f"first fit: {list(new)}, not {list(names)}"
            )

    def _rows_to_predict(self, X: Any) -> _native.Rows:
        if not hasattr(self, "_forest"):  # the check itself takes 6 microseconds
            check_is_fitted(self)
        return native_rows(self._validate_rows(X, reset=False))

    def _n_threads(self, rows: _native.Rows | None = None) -> int:
        """How many threads to use; one for a single row, without asking joblib."""
        if rows is not None and rows.count == 1:
            return 1
        return n_threads(getattr(self, "n_jobs", None))

    @abstractmethod
    def _validate_training(self, X: Any, y: Any, sample_weight: Any) -> tuple[TrainingSet, Any]:
        """Checked data, and what the outputs will mean."""

    @abstractmethod
    def _set_meaning(self, meaning: Any) -> None:
        """Keep what the outputs mean."""

    def _draw_counts(self, tree: int) -> npt.NDArray[np.int32] | int:
        """How often a tree drew each row; one on its own has them all."""
        del tree
        return 1

    def _rows_of_a_leaf(self) -> Any:
        """The fewest rows of a leaf, or the least part of all rows."""
        return self.min_samples_leaf

    @property
    @abstractmethod
    def _distributions(self) -> bool:
        """Whether the outputs are probabilities that sum to one."""

    @abstractmethod
    def _split_params(self, n_features: int) -> SplitParams:
        """How the native core finds a split."""

    def _resolve_scale(self, data: TrainingData, seed: int) -> str | None:
        if self.scale != "auto":
            return self.scale

        def fit_some(part: TrainingSet, scaling: _native.Scaling) -> _native.Forest:
            return self._train_native(part, everything(part), scaling, seed, TRIAL_TREES)[0]

        return data.choose_scale(seed, fit_some)

    def _decide_by_trial(self, data: TrainingData, seed: int) -> None:
        """Set what parameters leave to a trial on the data: the scale, and what subclasses add."""
        self.scale_ = self._resolve_scale(data, seed)

    def _train(
        self,
        data: TrainingData,
        sampling: _native.SamplingParams,
        seed: int,
        n_trees: int,
        earlier: _native.Forest | None = None,
    ) -> None:
        """Train trees behind earlier ones, and set what every fitted estimator has."""
        if earlier is None:
            self._decide_by_trial(data, seed)
        bar = ProgressBar(n_trees) if getattr(self, "verbose", 0) else contextlib.nullcontext()
        with bar as progress:
            first = 0 if earlier is None else earlier.n_trees
            mean = NO_MEAN if earlier is None else np.array(earlier.arrays()["mean"])
            rest = (seed, n_trees, first, mean, progress)
            # Windows of images stay here, where no tree needs a copy of them.
            if isinstance(data, TrainingSet) and n_trees > 1 and grows_elsewhere(self):
                forest, steps = grow_in_batches(self, data, sampling, self.scale_, *rest)
            else:
                scaling = native_scaling(self.scale_)
                forest, steps = self._train_native(data, sampling, scaling, *rest)
        if earlier is not None:
            forest = _native.Forest.concatenate([earlier, forest])
            steps = np.concatenate([self.n_iter_, steps])
        self._forest, self.n_iter_ = forest, steps

    def _train_native(
        self,
        data: TrainingData,
        sampling: _native.SamplingParams,
        scaling: _native.Scaling,
        seed: int,
        n_trees: int,
        first_tree: int = 0,
        mean: npt.NDArray[np.float32] = NO_MEAN,
        progress: Callable[[int], None] | None = None,
    ) -> tuple[_native.Forest, npt.NDArray[np.float64]]:
        """New trees, and for each the mean number of steps per node.

        A tree depends on its number in the forest, ``first_tree`` or above, not on the others.
        Those of one forest agree on the ``mean`` of the features: that of all rows, if not given.
        """
        params = _native.TrainParams()
        params.grow = growth_params(self, data)
        params.refine = refine_params(self)
        params.scaling = scaling
        params.loss = data.loss
        params.sampling = sampling
        params.seed = seed
        params.first_tree = first_tree
        params.n_trees = n_trees
        params.n_threads = self._n_threads()
        forest, statistics = data.train(mean, params, progress)
        return forest, np.array([steps / max(nodes, 1) for steps, nodes in statistics])

    def _leaves(self, X: Any) -> npt.NDArray[np.int64]:
        rows = self._rows_to_predict(X)
        return self._forest.apply(rows, self._n_threads(rows))

    def _decision_path(self, X: Any) -> tuple[sp.csr_array, npt.NDArray[np.int64]]:
        """Nodes that each row passes, all trees side by side, and where each tree begins."""
        leaves = self._leaves(X)
        arrays = self._forest.arrays()
        tree_begin = arrays["tree_begin"]
        parent = _parents(arrays["left"], tree_begin)
        node = leaves + tree_begin[:-1]  # (rows, trees), absolute
        rows = np.broadcast_to(np.arange(len(leaves))[:, None], node.shape)
        row_parts, node_parts = [], []
        row, node = rows.ravel(), node.ravel()
        while len(node):
            row_parts.append(row)
            node_parts.append(node)
            going_on = parent[node] >= 0
            row, node = row[going_on], parent[node[going_on]]
        row, node = np.concatenate(row_parts), np.concatenate(node_parts)
        shape = (len(leaves), int(tree_begin[-1]))
        indicator = sp.csr_array((np.ones(len(row), dtype=np.int64), (row, node)), shape=shape)
        return indicator, np.array(tree_begin)

    def _stored(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        fields: dict[str, Any] = {"scale": self.scale_}
        if hasattr(self, "feature_names_in_"):
            fields["feature_names"] = self.feature_names_in_.tolist()
        return fields, {"n_iter": self.n_iter_}

    def _restore(
        self, fields: Fields, forest: dict[str, npt.NDArray[Any]], *, borrow_weights: bool
    ) -> None:
        n_outputs = self._restore_outputs(fields)
        self._forest = _native.Forest(
            forest, n_outputs, borrow_weights, distributions=self._distributions
        )
        self.n_features_in_ = self._forest.n_features
        if "feature_names" in fields:
            self.feature_names_in_ = fields.strings("feature_names", self.n_features_in_)
        self.scale_ = fields.value("scale")
        self.n_iter_ = fields.array("n_iter", (self._forest.n_trees,))

    @abstractmethod
    def _restore_outputs(self, fields: Fields) -> int:
        """Set what the outputs mean, and tell their number."""

    def _check_consistency(self) -> None:
        forest = self._forest
        if not isinstance(forest, _native.Forest):
            raise ModelFormatError(f"_forest must be a Forest, got {type(forest).__name__}")
        if forest.distributions != self._distributions:
            kinds = {True: "probabilities", False: "numbers"}
            raise ModelFormatError(
                f"the forest's leaves hold {kinds[forest.distributions]}, "
                f"not {kinds[self._distributions]}"
            )
        if self.n_features_in_ != forest.n_features:
            raise ModelFormatError(
                f"n_features_in_={self.n_features_in_!r}, but the forest has {forest.n_features}"
            )
        if self.scale_ not in SCALES:
            raise ModelFormatError(f"scale_ must be one of {SCALES}, got {shown(self.scale_)}")
        if np.shape(self.n_iter_) != (forest.n_trees,):
            raise ModelFormatError(
                f"n_iter_ has shape {np.shape(self.n_iter_)}, "
                f"but the forest has {forest.n_trees} trees"
            )

    @property
    def feature_importances_(self) -> npt.NDArray[np.float64]:
        """Part of the decrease of impurity that each feature accounts for; the sum is one.

        The decrease that a hyperplane brings is shared among its features in proportion to
        ``abs(weight) * standard deviation``, which does not depend on their units. It is averaged
        over trees. All zeros if no tree has a split.
        """
        check_is_fitted(self)
        return self._forest.importances()


def n_threads(n_jobs: int | None) -> int:
    """How many threads of this process ``n_jobs`` stands for.

    The jobs of a backend of other processes are not meant: they may be all cores of a cluster.
    """
    if shares_memory():
        return min(int(effective_n_jobs(n_jobs)), _MOST_THREADS)
    with parallel_config("threading", n_jobs=1):
        return min(int(effective_n_jobs(n_jobs)), _MOST_THREADS)


def draw_seed(random_state: Any) -> int:
    """Draw the seed of a forest."""
    return int(check_random_state(random_state).randint(SEEDS, dtype=np.uint64))


def everything(data: TrainingSet) -> _native.SamplingParams:
    """Every tree gets every row."""
    sampling = _native.SamplingParams()
    sampling.n_draws = data.rows.count
    return sampling


@contextlib.contextmanager
def unchanged_on_failure(estimator: BaseEstimator) -> Iterator[None]:
    """Gives an estimator its old attributes back if fitting it fails or is interrupted."""
    before = vars(estimator).copy()
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def _parents(
    left: npt.NDArray[np.int32], tree_begin: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """The absolute number of each node's parent; -1 for roots."""
    root = np.repeat(tree_begin[:-1], np.diff(tree_begin))
    parent = np.full(len(left), -1, dtype=np.int64)
    inner = np.flatnonzero(left >= 0)
    child = root[inner] + left[inner]
    parent[child] = inner
    parent[child + 1] = inner
    return parent
