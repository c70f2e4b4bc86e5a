# SPDX-License-Identifier: BSD-3-Clause
"""A model around a native forest: how every fit runs, and what every fitted model can do."""

from abc import abstractmethod
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from co2forest import _native
from co2forest._one_fit import at_once, of_one_fit
from co2forest._sklearn_compat import fit_context
from co2forest.data.columns.views import ColumnViews
from co2forest.data.outputs.base import Floats, Outputs
from co2forest.data.training_set import TrainingSet
from co2forest.estimators.row_reader import RowReader
from co2forest.exceptions import ModelFormatError
from co2forest.files.fields import Fields
from co2forest.files.messages import shown
from co2forest.files.storable import ForestArrays, StorableForest
from co2forest.fitting.parameters import Constraints
from co2forest.fitting.plan import SCALES
from co2forest.fitting.solvers import SOLVERS


class Model(RowReader, StorableForest):
    """An estimator around a native forest."""

    _parameter_constraints: ClassVar[Constraints] = {}
    _chooses_solver: ClassVar[bool] = False  # whether `solver_` is a name in SOLVERS
    _kinds_of_outputs: ClassVar[tuple[type[Outputs], ...]]  # what `_outputs` may be
    scale_: str | None
    n_iter_: npt.NDArray[np.float64]
    _outputs: Outputs

    @fit_context
    @at_once
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the trees.

        An interrupted or failed fit leaves a fitted estimator as it was. Other threads may predict
        meanwhile: they see the last fit until this one is complete.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            C-contiguous float32 and uint8 arrays and CSR matrices are read without a copy. NaN
            stands for the feature's mean.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Classifiers take labels: strings, whole numbers, booleans or dates. CO2 forests and
            trees also take several labels per row: a matrix with 1 where a row has the label of a
            column, and 0 elsewhere. Regressors take finite numbers, which must not be negative with
            ``loss="poisson"``.
        sample_weight : array-like of shape (n_samples,), default=None
            Where every tree gets every row and ``min_samples_leaf`` is 1, a whole number has the
            effect of repeating the row.

        Returns
        -------
        object
            The fitted estimator itself.
        """
        self._learn(*self._read(X, y, sample_weight))
        return self

    def _learn(self, outputs: Outputs, data: TrainingSet) -> Any:
        """Fit to data that have been read; return the trees that were grown."""
        plan = self._decide(outputs, data)
        grown = self._grow(plan, data)
        self._keep(outputs, data, plan, grown)
        return grown

    @abstractmethod
    def _read(self, X: Any, y: Any, sample_weight: Any) -> tuple[Outputs, TrainingSet]:
        """Check the data; find out what the outputs mean."""

    @abstractmethod
    def _decide(self, outputs: Outputs, data: TrainingSet) -> Any:
        """Make a plan from parameters, data and, in a warm start, the trees there are."""

    @abstractmethod
    def _grow(self, plan: Any, data: TrainingSet) -> Any:
        """Grow the trees of the plan; None if there are none to grow."""

    @abstractmethod
    def _keep(self, outputs: Outputs, data: TrainingSet, plan: Any, grown: Any) -> Self:
        """Set the fitted attributes."""

    @abstractmethod
    def _restore_outputs(self, fields: Fields) -> Outputs:
        """Read what a file says about the outputs."""

    def _raw(self, X: Any) -> Floats:
        """Raw outputs, for `_outputs` to make predictions of."""
        rows = self._rows_to_predict(X)
        return self._raw_of(rows, self._n_threads(rows))

    def _raw_of(self, rows: _native.Rows, n_threads: int) -> Floats:
        """The same of rows that have been read."""
        return self._outputs.raw(self._forest.predict(rows, n_threads), self._forest.n_trees)

    @of_one_fit
    def _leaves(self, X: Any) -> npt.NDArray[np.int64]:
        rows = self._rows_to_predict(X)
        return self._forest.apply(rows, self._n_threads(rows))

    @of_one_fit
    def _decision_path(self, X: Any) -> tuple[sp.csr_array, npt.NDArray[np.int64]]:
        """Nodes that each row passes, all trees side by side, and where each tree begins."""
        leaves = self._leaves(X)
        arrays = self._forest.arrays()
        tree_begin = arrays["tree_begin"]
        parent = _parents(arrays["left"], tree_begin)
        node = leaves + tree_begin[:-1]  # (rows, trees), absolute
        rows = np.broadcast_to(np.arange(len(leaves))[:, None], node.shape)
        passing_rows, passed_nodes = [], []
        row, node = rows.ravel(), node.ravel()
        while len(node):
            passing_rows.append(row)
            passed_nodes.append(node)
            going_on = parent[node] >= 0
            row, node = row[going_on], parent[node[going_on]]
        row, node = np.concatenate(passing_rows), np.concatenate(passed_nodes)
        shape = (len(leaves), int(tree_begin[-1]))
        indicator = sp.csr_array((np.ones(len(row), dtype=np.int64), (row, node)), shape=shape)
        return indicator, np.array(tree_begin)

    @property
    def _earlier_views(self) -> ColumnViews | None:  # type: ignore[override]
        """The features that a warm start must go on to see."""
        goes_on = getattr(self, "warm_start", False) and hasattr(self, "_forest")
        return self._column_views if goes_on else None

    @property
    def _solver(self) -> str | None:
        """What `solver_` says, of estimators that choose one."""
        return getattr(self, "solver_", None)

    def _take_tree(self, forest: "Model", i: int) -> Self:
        """Become tree ``i`` of a fitted forest."""
        fitted = ("n_features_in_", "feature_names_in_", "scale_", "solver_", "_outputs")
        for name in (*fitted, "_column_views"):
            if hasattr(forest, name):
                setattr(self, name, getattr(forest, name))
        if getattr(self._outputs, "calibration", None) is not None:  # which is that of all trees
            self._outputs = replace(self._outputs, calibration=None)  # type: ignore[type-var]
        self._forest = forest._forest.tree(i)  # noqa: SLF001
        self.n_iter_ = forest.n_iter_[i : i + 1]
        return self

    def _stored(self) -> tuple[dict[str, Any], ForestArrays]:
        fields, arrays = self._outputs.stored()
        fields["scale"] = self.scale_
        if self._chooses_solver:
            fields["solver"] = self._solver
        if hasattr(self, "feature_names_in_"):
            fields["feature_names"] = self.feature_names_in_.tolist()
        if self._column_views is not None:
            arrays |= self._column_views.stored()
        return fields, arrays | {"n_iter": self.n_iter_}

    def _restore(self, fields: Fields, forest: ForestArrays, *, borrow_weights: bool) -> None:
        outputs = self._restore_outputs(fields)
        self._outputs = outputs
        self._forest = _native.Forest(
            forest, outputs.n_outputs, borrow_weights, distributions=outputs.distributions
        )
        self._column_views = ColumnViews.restore(fields)
        views = self._column_views
        self.n_features_in_ = self._forest.n_features if views is None else len(views.columns)
        if "feature_names" in fields:
            self.feature_names_in_ = fields.strings("feature_names", self.n_features_in_)
        self.scale_ = fields.value("scale")
        if self._chooses_solver:
            self.solver_ = fields.value("solver")
        self.n_iter_ = fields.array("n_iter", (self._forest.n_trees,))

    def _check_consistency(self) -> None:
        forest, outputs = self._forest, self._outputs
        if not isinstance(forest, _native.Forest):
            raise ModelFormatError(f"_forest must be a Forest, got {type(forest).__name__}")
        if type(outputs) not in self._kinds_of_outputs:
            kinds = " or ".join(kind.__name__ for kind in self._kinds_of_outputs)
            raise ModelFormatError(f"_outputs must be {kinds}, got {type(outputs).__name__}")
        outputs.check()
        outputs.check_forest(forest)
        self._check_features()
        if self.scale_ not in SCALES:
            raise ModelFormatError(f"scale_ must be one of {SCALES}, got {shown(self.scale_)}")
        if self._chooses_solver and self._solver not in list(SOLVERS):  # it may be anything
            raise ModelFormatError(
                f"solver_ must be one of {', '.join(SOLVERS)}, got {shown(self._solver)}"
            )
        if np.shape(self.n_iter_) != (forest.n_trees,):
            raise ModelFormatError(
                f"n_iter_ has shape {np.shape(self.n_iter_)}, "
                f"but the forest has {forest.n_trees} trees"
            )

    def _check_features(self) -> None:
        """Raise unless the features of the forest are the columns of X, or views of them."""
        views: Any = self._column_views  # from a pickle it may be anything
        n_columns = n_features = self._forest.n_features
        of_columns = ""
        if views is not None:
            if not isinstance(views, ColumnViews):
                raise ModelFormatError(f"_column_views must be ColumnViews, got {shown(views)}")
            views.check()
            if hasattr(self, "feature_names_in_"):
                views.check_names(self.feature_names_in_)
            n_columns, n_features = len(views.columns), views.n_features
            of_columns = f" with {n_features} views of {n_columns} columns"
        if (self.n_features_in_, n_features) != (n_columns, self._forest.n_features):
            raise ModelFormatError(
                f"n_features_in_={self.n_features_in_!r}{of_columns}, "
                f"but the forest has {self._forest.n_features} features"
            )

    @property
    @of_one_fit
    def feature_importances_(self) -> npt.NDArray[np.float64]:
        """Fraction of the decrease of impurity that each feature accounts for; the sum is one.

        The decrease that a hyperplane brings is shared among its features in proportion to
        ``abs(weight) * standard deviation``, which does not depend on their units. It is averaged
        over trees. All zeros if no tree has a split.
        """
        check_is_fitted(self)
        of_features = self._forest.importances()
        views = self._column_views
        return of_features if views is None else views.by_column(of_features)


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
