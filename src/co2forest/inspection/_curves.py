"""The error of a forest after one, two, three, ... trees, from one walk through all of them."""

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier
from sklearn.utils.validation import check_array, check_consistent_length, column_or_1d

from co2forest._costs import least_cost
from co2forest._forest import BaseForest
from co2forest.export._fitted import Classes, Labels, Numbers
from co2forest.inspection._trees import Floats, ForestView

_BLOCK = 2**20  # outputs, or leaves, of the rows that are worked on at a time


def error_by_trees(
    model: Any, X: Any, y: Any, *, out_of_bag: bool = False
) -> tuple[npt.NDArray[np.int64], Floats]:
    """The error on rows after each tree of a forest.

    Parameters
    ----------
    model : fitted estimator or TableModel
        Boosting counts rounds. scikit-learn's random forests are taken, too.
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        What is true of these rows.
    out_of_bag : bool, default=False
        Whether X and y are the training data, in their order, and a row is judged by those trees
        alone that did not draw it. The first errors then are of fewer rows.

    Returns
    -------
    numbers : ndarray of shape (n_trees,)
        1, 2, ..., the number of trees.
    errors : ndarray of shape (n_trees,)
        For classes the part of the rows that get a wrong one; of several labels, any of them
        wrong. For numbers the root of the mean squared error, its mean over outputs. NaN where
        every row was drawn by all trees so far.
    """
    staged = _OfScikitLearn(model, X, y) if is_random_forest(model) else _OfView(model, X, y)
    left_out = _left_out(model, staged) if out_of_bag else None
    sums = np.zeros((staged.n_trees, staged.n_errors))
    counted = np.zeros((staged.n_trees, 1))
    step = max(8, _BLOCK // max(staged.n_trees, staged.n_outputs) // 8 * 8)
    for begin in range(0, staged.n_rows, step):
        rows = slice(begin, min(begin + step, staged.n_rows))
        outputs = np.tile(staged.start, (rows.stop - begin, 1))
        votes_of_row = np.zeros((rows.stop - begin, 1))
        for tree, votes in enumerate(staged.votes(rows)):
            voting = slice(None) if left_out is None else _bits(left_out[tree], rows)
            outputs[voting] += votes[voting]
            votes_of_row[voting] += 1
            known = votes_of_row[:, 0] > 0
            said = outputs[known] / votes_of_row[known] if staged.is_mean else outputs[known]
            sums[tree] += staged.errors(said, rows, known).sum(axis=0)
            counted[tree] += np.count_nonzero(known)
    with np.errstate(invalid="ignore"):  # no row at all
        means = sums / counted
    errors = (np.sqrt(means) * staged.unit).mean(axis=1) if staged.is_squared else means[:, 0]
    return np.arange(1, staged.n_trees + 1), errors


def is_random_forest(model: Any) -> bool:
    """Whether a model is a random forest of scikit-learn, which takes the mean of its trees."""
    from sklearn.ensemble import (
        ExtraTreesClassifier,
        ExtraTreesRegressor,
        RandomForestClassifier,
        RandomForestRegressor,
    )

    kinds = (
        RandomForestClassifier,
        RandomForestRegressor,
        ExtraTreesClassifier,
        ExtraTreesRegressor,
    )
    return isinstance(model, kinds)


class _Staged(Protocol):
    """What errors after each tree are calculated from."""

    n_rows: int
    n_trees: int
    n_outputs: int
    n_errors: int  # numbers of a row that errors are taken of
    start: Floats
    is_mean: bool  # of the trees' votes, not their sum
    is_squared: bool  # whether errors are squares, in these units:
    unit: Floats

    def votes(self, rows: slice) -> Iterator[Floats]:
        """(rows, outputs) for one tree after the other."""

    def errors(self, outputs: Floats, rows: slice, known: npt.NDArray[np.bool_]) -> Floats:
        """(known rows, n_errors): how wrong outputs are."""


class _OfView:
    """A model of this library."""

    def __init__(self, model: Any, X: Any, y: Any) -> None:
        self.view = ForestView.of(model)
        self.X = self.view.checked(X)
        check_consistent_length(self.X, y)
        self.n_rows = self.X.shape[0]
        self.n_trees, self.n_outputs = self.view.n_trees, self.view.n_outputs
        fitted = self.view.fitted
        self.is_mean = fitted.start is None
        self.start = np.zeros(self.n_outputs) if fitted.start is None else fitted.start
        self.is_squared = not isinstance(fitted.meaning, Classes | Labels)
        self.n_errors = self.n_outputs if self.is_squared else 1
        self.unit = np.ones(self.n_outputs)
        if isinstance(fitted.meaning, Classes):
            self.codes = _codes(y, fitted.meaning.labels)
        else:
            self.columns = _columns(y, self.n_outputs)
        if isinstance(fitted.meaning, Numbers):
            # Squares in these units are finite, even of numbers near 1e300.
            self.unit = fitted.meaning.unit
            self.columns = (self.columns - fitted.meaning.offset) / self.unit

    def votes(self, rows: slice) -> Iterator[Floats]:
        numbers, tree_begin = self.view.leaf_numbers, self.view.fitted.arrays["tree_begin"]
        leaves = self.view.leaves_of(self.X[rows]) + tree_begin[:-1]
        for nodes in leaves.T:
            yield numbers[nodes].toarray()

    def errors(self, outputs: Floats, rows: slice, known: npt.NDArray[np.bool_]) -> Floats:
        meaning = self.view.fitted.meaning
        if isinstance(meaning, Classes):
            costs = meaning.costs
            decided = outputs.argmax(axis=1) if costs is None else least_cost(outputs, costs)
            return _as_errors(decided != self.codes[rows][known])
        truth = self.columns[rows][known]
        if isinstance(meaning, Labels):
            return _as_errors(((outputs > 0.5) != (truth > 0.5)).any(axis=1))
        squares: Floats = ((np.exp(outputs) if meaning.exponential else outputs) - truth) ** 2
        return squares


class _OfScikitLearn:
    """A random forest of scikit-learn, for one class or any numbers per row."""

    is_mean = True

    def __init__(self, model: Any, X: Any, y: Any) -> None:
        if is_classifier(model) and model.n_outputs_ != 1:
            raise ValueError(
                f"a reference must predict one class per row, but this {type(model).__name__} "
                f"predicts {model.n_outputs_}"
            )
        self.model = model
        # The trees of a forest take float32, and know no names of features.
        self.X = check_array(
            X, dtype=np.float32, accept_sparse="csr", ensure_all_finite="allow-nan"
        )
        check_consistent_length(self.X, y)
        self.n_rows, self.n_trees = self.X.shape[0], len(model.estimators_)
        self.is_squared = not is_classifier(model)
        self.n_outputs = model.n_outputs_ if self.is_squared else len(model.classes_)
        self.n_errors = self.n_outputs if self.is_squared else 1
        self.start, self.unit = np.zeros(self.n_outputs), np.ones(self.n_outputs)
        self.truth: npt.NDArray[Any] = (
            _columns(y, self.n_outputs) if self.is_squared else _codes(y, model.classes_)
        )

    def votes(self, rows: slice) -> Iterator[Floats]:
        for tree in self.model.estimators_:
            predict = tree.predict if self.is_squared else tree.predict_proba
            yield np.asarray(predict(self.X[rows]), dtype=np.float64).reshape(-1, self.n_outputs)

    def errors(self, outputs: Floats, rows: slice, known: npt.NDArray[np.bool_]) -> Floats:
        truth = self.truth[rows][known]
        if self.is_squared:
            squares: Floats = (outputs - truth) ** 2
            return squares
        return _as_errors(outputs.argmax(axis=1) != truth)


def _as_errors(wrong: npt.NDArray[np.bool_]) -> Floats:
    errors: Floats = wrong[:, None].astype(np.float64)
    return errors


def _codes(y: Any, labels: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """The number of each row's class; -1 for one that the model does not know."""
    code_of = {label: code for code, label in enumerate(labels.tolist())}
    given = column_or_1d(y).tolist()
    codes = np.array([code_of.get(label, -1) for label in given], dtype=np.int64)
    if (codes < 0).all():
        raise ValueError(
            f"y has none of the model's classes {list(code_of)[:10]}; its first label is "
            f"{given[0]!r}"
        )
    return codes


def _columns(y: Any, n_outputs: int) -> Floats:
    """Numbers with a column for each output."""
    values = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
    columns: Floats = values.reshape(len(values), -1)
    if columns.shape[1] != n_outputs:
        raise ValueError(
            f"y has {columns.shape[1]} columns, but the model predicts {n_outputs} outputs"
        )
    return columns


def _left_out(model: Any, staged: _Staged) -> npt.NDArray[np.uint8]:
    """(trees, rows / 8) bits: which rows a tree did not draw, derived again from its seed."""
    if isinstance(staged, _OfView):
        model = staged.view.estimator
        if not isinstance(model, BaseForest):
            raise ValueError(  # noqa: TRY004
                f"out_of_bag=True needs a forest whose trees draw rows, got {type(model).__name__}"
            )
        if model._partitioned:  # noqa: SLF001
            raise ValueError(
                "out_of_bag=True needs to know which rows a tree drew, but this forest was grown "
                "on Dask, where each partition draws its own"
            )
        drawn_from = model._drawn_from  # noqa: SLF001
        if drawn_from != staged.n_rows:
            raise ValueError(
                f"out_of_bag=True needs the training data: X has {staged.n_rows} rows, but the "
                f"trees were drawn from {drawn_from}"
            )
    bits = np.zeros((staged.n_trees, -(-staged.n_rows // 8)), dtype=np.uint8)
    for tree in range(staged.n_trees):
        bits[tree] = np.packbits(_not_drawn(model, tree, staged.n_rows))
    if not bits.any():
        raise ValueError(
            "out_of_bag=True, but every tree drew all rows of X; a forest with bootstrap=True or "
            "max_samples leaves some out"
        )
    return bits


def _not_drawn(model: Any, tree: int, n_rows: int) -> npt.NDArray[np.bool_]:
    if isinstance(model, BaseForest):
        untouched: npt.NDArray[np.bool_] = model._draw_counts(tree) == 0  # noqa: SLF001
        return untouched
    untouched = np.ones(n_rows, dtype=bool)
    untouched[model.estimators_samples_[tree]] = False
    return untouched


def _bits(packed: npt.NDArray[np.uint8], rows: slice) -> npt.NDArray[np.bool_]:
    """Those of some rows, the first of which begins a byte."""
    some = np.unpackbits(packed[rows.start // 8 :], count=rows.stop - rows.start)
    return some.astype(bool)
