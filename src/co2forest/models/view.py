# SPDX-License-Identifier: BSD-3-Clause
"""A fitted model as others read it: its arrays, names, units of y, and trees."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from co2forest._one_fit import as_it_is
from co2forest.data.columns.views import ColumnViews
from co2forest.data.outputs.base import Floats, Impurity, Outputs
from co2forest.data.outputs.classes import ClassOutputs
from co2forest.data.outputs.numbers import NumberOutputs
from co2forest.data.rows import native_rows, validated_rows
from co2forest.estimators.members import Ensemble
from co2forest.estimators.model import Model
from co2forest.models.trees import TreeView, ancestry, mean_of_leaves


def is_table_model(model: Any) -> bool:
    """Whether it is a TableModel, fitted or not; tables build on this module."""
    return hasattr(model, "encoder") and hasattr(model, "target")


@dataclass(frozen=True)
class Units:
    """How the numbers in leaves become outputs that people read, and what these are.

    An output is ``start + share * sum over trees of (scale * number + offset)``.
    """

    kind: str  # "classes", "labels", "numbers", "scores" or "logarithms"
    start: Floats  # of each output
    share: float  # of a tree: 1 if trees are added, else 1 / number of trees
    offset: Floats
    scale: Floats

    @classmethod
    def of(cls, outputs: Outputs, n_trees: int, n_outputs: int, start: Floats | None) -> Self:
        """The units of a model whose trees are averaged, or added to a start."""
        zero, one = np.zeros(n_outputs), np.ones(n_outputs)
        offset, unit = zero, one
        if isinstance(outputs, NumberOutputs):
            offset, unit = outputs.offset, outputs.unit
        if start is None:
            return cls(outputs.task, zero, 1 / n_trees, offset, unit)
        if isinstance(outputs, ClassOutputs):
            factor = outputs.inverse_temperature or 1.0
            return cls("scores", start * factor, 1.0, zero, one * factor)
        if isinstance(outputs, NumberOutputs) and outputs.logarithmic:  # counts have no offset
            return cls("logarithms", start + np.log(unit), 1.0, zero, one)
        return cls("numbers", start * unit + offset, 1.0, zero, unit)


@dataclass(frozen=True)
class ModelView:
    """A fitted model; ``arrays`` are described in ``native/forest/forest.hpp``.

    The raw outputs are the mean of the leaves, or ``start + n_trees * mean`` if there is a start.
    """

    model: Any  # as given: an estimator, or a TableModel around one
    estimator: Any
    arrays: dict[str, npt.NDArray[Any]]
    n_features: int
    n_outputs: int
    distributions: bool  # whether the values of a leaf have to be divided by their sum
    start: Floats | None
    outputs: Outputs
    units: Units
    feature_names: list[str]
    output_names: list[str]  # of classes, or of what else is predicted
    column_names: list[str]  # of X, or of the table
    column_of_feature: npt.NDArray[np.intp]  # the one that each feature is made of

    @classmethod
    def of(cls, model: Any) -> Self:
        """Read a fitted estimator or TableModel of this library; a TypeError if it is neither."""
        if not is_table_model(model):
            return cls.of_estimator(model)
        check_is_fitted(model)
        model = as_it_is(model)
        encoder = model.encoder_
        names = encoder.get_feature_names_out()
        view = cls._read(model, model.estimator_, names, model.target_)
        return replace(
            view,
            column_names=list(encoder.feature_names_in_),
            column_of_feature=encoder.column_of_feature_[view.column_of_feature],
        )

    @classmethod
    def of_estimator(cls, estimator: Any) -> Self:
        """The same for callers that cannot take a TableModel."""
        if isinstance(estimator, Model):
            estimator = as_it_is(estimator)
        return cls._read(estimator, estimator, getattr(estimator, "feature_names_in_", None), "y")

    @classmethod
    def _read(cls, model: Any, estimator: Any, names: Any, target: str) -> Self:
        if isinstance(estimator, Ensemble):
            raise TypeError(
                f"{type(estimator).__name__} is a forest and boosting, of which only one can be "
                "shown at a time: pass its forest_ or boosting_"
                + ("" if model is estimator else ", which are attributes of estimator_")
            )
        if not isinstance(estimator, Model):
            given = type(estimator).__name__
            of_table = ", for a TableModel estimator_, whose features encoder_ names"
            raise TypeError(
                "estimator must be a fitted classifier or regressor of this library (for a "
                "pipeline pass its last step, for a search best_estimator_, for a segmenter "
                "classifier_"
                f"{of_table if given == 'TableModel' else ''}), got {given}"
            )
        check_is_fitted(estimator)
        forest = estimator._forest  # noqa: SLF001
        n_features = forest.n_features
        views = estimator._column_views  # noqa: SLF001
        n_columns = n_features if views is None else len(views.columns)
        columns = [f"x{j}" for j in range(n_columns)] if names is None else list(map(str, names))
        features, places = columns, np.arange(n_features)
        if views is not None:
            features, places = list(views.feature_names), views.column_of_feature.astype(np.intp)
        outputs = estimator._outputs  # noqa: SLF001
        start = getattr(outputs, "start", None)
        return cls(
            model,
            estimator,
            forest.arrays(),
            n_features,
            forest.n_outputs,
            forest.distributions,
            start,
            outputs,
            Units.of(outputs, forest.n_trees, forest.n_outputs, start),
            features,
            outputs.names(target),
            columns,
            places,
        )

    @property
    def name(self) -> str:
        """The name of the estimator's class."""
        return type(self.estimator).__name__

    @property
    def n_trees(self) -> int:
        """Trees; in boosting, rounds."""
        return len(self.arrays["tree_begin"]) - 1

    @property
    def encoder(self) -> Any:
        """What turns the columns of a table into features; None if the model takes features."""
        return None if self.model is self.estimator else self.model.encoder_

    @property
    def columns(self) -> ColumnViews | None:
        """What the features are, if not the columns of X."""
        views: ColumnViews | None = self.estimator._column_views  # noqa: SLF001
        return views

    @property
    def n_columns(self) -> int:
        """Numbers in a row that the estimator takes."""
        return self.n_features if self.columns is None else len(self.columns.columns)

    @property
    def kind(self) -> str:
        """What trees say: "classes" and "labels" have probabilities, "numbers" are in units of y.

        Boosting also has "scores", whose softmax are the probabilities of classes, and
        "logarithms" of predictions.
        """
        return self.units.kind

    @property
    def mean(self) -> Floats:
        """The mean of each feature in training: what a missing value stands for."""
        return np.asarray(self.arrays["mean"], dtype=np.float64)

    @property
    def spread(self) -> Floats:
        """Standard deviation of each feature in training."""
        return np.asarray(self.arrays["spread"], dtype=np.float64)

    @property
    def is_vector(self) -> bool:
        """Whether the prediction of a row is one number, not a vector of them."""
        return isinstance(self.outputs, NumberOutputs) and self.outputs.one_dimensional

    @property
    def impurity(self) -> Impurity:
        """What nodes have as their impurity; in boosting it is that of gradients."""
        return self.outputs.impurity if self.start is None else Impurity("impurity", 1.0)

    @cached_property
    def leaf_numbers(self) -> sp.csr_array:
        """(nodes of all trees, outputs): what a leaf adds to a prediction, before any unit."""
        begin, numbers = self.arrays["value_begin"], self.arrays["value"].astype(np.float64)
        if self.distributions:
            # Divided by their sum as the core does, because float32 sums to one within 1e-7 only.
            node = np.repeat(np.arange(len(begin) - 1), np.diff(begin))
            numbers = numbers / np.bincount(node, numbers, len(begin) - 1)[node]
        shape = (len(begin) - 1, self.n_outputs)
        return sp.csr_array((numbers, self.arrays["value_output"], begin), shape=shape)

    def tree(self, i: int) -> TreeView:
        """One of the trees."""
        arrays = self.arrays
        begin, end = (int(node) for node in arrays["tree_begin"][i : i + 2])
        nodes = slice(begin, end)
        left = arrays["left"][nodes]
        parent, depth = ancestry(left)
        counts = arrays["weighted_count"][nodes]
        numbers = mean_of_leaves(left, depth, counts, self.leaf_numbers[nodes].toarray())
        return TreeView(
            left,
            parent,
            depth,
            arrays["threshold"][nodes],
            arrays["impurity"][nodes].astype(np.float64) * self.impurity.unit,
            counts,
            arrays["sample_count"][nodes],
            numbers * self.units.scale,
            self.units.offset,
            self.n_features,
            arrays,
            begin,
        )

    @property
    def importances(self) -> Floats:
        """The importance of each column: the sum over its features."""
        of_features = self.estimator._forest.importances()  # noqa: SLF001
        summed = np.bincount(self.column_of_feature, of_features, len(self.column_names))
        return summed.astype(np.float64)

    def cells(self, X: Any) -> Any:
        """Columns that the estimator takes: float32 or uint8, dense or CSR; NaN for gaps."""
        if self.encoder is not None:
            X = self.encoder.transform(X)
        return validated_rows(self.estimator, X, reset=False)

    def features(self, cells: Any) -> Any:
        """What the trees see of such columns."""
        return cells if self.columns is None else self.columns.expand(cells)

    def checked(self, X: Any) -> Any:
        """Features of rows: float32 or uint8, dense or CSR; NaN where one is missing."""
        return self.features(self.cells(X))

    def filled(self, checked: Any) -> Any:
        """Checked rows as float32, with the training mean in place of NaN."""
        rows = checked.astype(np.float32, copy=False)
        numbers = rows.data if sp.issparse(rows) else rows
        missing = np.isnan(numbers)
        if not missing.any():
            return rows
        rows = rows.copy()
        mean = self.arrays["mean"]
        if sp.issparse(rows):
            rows.data[missing] = mean[rows.indices[missing]]
        else:
            rows[missing] = np.broadcast_to(mean, rows.shape)[missing]
        return rows

    def deviations(self, checked: Any) -> Floats:
        """Checked rows, made dense, less the training mean; zero where a value is missing."""
        dense = checked.toarray() if sp.issparse(checked) else checked
        deviations: Floats = dense.astype(np.float64) - self.mean
        deviations[np.isnan(deviations)] = 0.0
        return deviations

    def leaves(self, checked: Any, tree: int | None = None) -> npt.NDArray[np.int64]:
        """(rows, trees): the leaf that each checked row reaches, numbered within its tree.

        Only for one tree if its number is given.
        """
        rows, forest = native_rows(checked), self.estimator._forest  # noqa: SLF001
        threads = self.estimator._n_threads(rows)  # noqa: SLF001
        some = forest if tree is None else forest.tree(tree)
        leaves: npt.NDArray[np.int64] = some.apply(rows, threads)
        return leaves

    def values(self, checked: Any) -> Floats:
        """(rows, outputs): what the model says about checked rows, in its units."""
        rows, units = native_rows(checked), self.units
        threads = self.estimator._n_threads(rows)  # noqa: SLF001
        mean: Floats = self.estimator._forest.predict(rows, threads)  # noqa: SLF001
        n_added = 1 if self.start is None else self.n_trees
        return units.start + n_added * (mean * units.scale + units.offset)

    def left_out(self, n_rows: int) -> npt.NDArray[np.uint8]:
        """(trees, rows / 8) bits: which training rows a tree did not draw."""
        draws = getattr(self.estimator, "_draws", None)
        if draws is None:
            raise ValueError(
                f"out_of_bag=True needs a forest whose trees draw rows, got {self.name}"
            )
        if draws.partitioned:
            raise ValueError(
                "out_of_bag=True needs to know which rows a tree drew, but this forest was grown "
                "on Dask, where each partition draws its own"
            )
        if draws.n_rows != n_rows:
            raise ValueError(
                f"out_of_bag=True needs the training data: X has {n_rows} rows, but the "
                f"trees were drawn from {draws.n_rows}"
            )
        counts = map(draws.counts, range(self.n_trees))
        return np.stack([np.packbits(count == 0) for count in counts])
