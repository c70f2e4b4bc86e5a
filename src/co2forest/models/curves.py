# SPDX-License-Identifier: BSD-3-Clause
"""The error of a forest after one, two, three, ... trees, from one walk through all of them."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier
from sklearn.utils.validation import check_array, check_consistent_length

from co2forest.data.outputs.base import Floats
from co2forest.data.outputs.classes import class_codes
from co2forest.data.outputs.numbers import NumberOutputs, number_columns
from co2forest.data.sparse import check_sparse
from co2forest.models.view import ModelView

_BLOCK = 2**20  # outputs, or leaves, of the rows that are worked on at a time

Curve = tuple[npt.NDArray[np.int64], Floats]  # numbers of trees, and the error with each number


def error_by_trees(model: Any, X: Any, y: Any, *, out_of_bag: bool = False) -> Curve:
    """The error on rows after each tree of a forest; the trees of boosting are its rounds.

    Random forests of scikit-learn are taken, too. With ``out_of_bag``, X and y are the training
    data in their order, and only the trees that did not draw a row judge it. The first errors
    then use fewer rows, and are NaN as long as every row was drawn by all trees. The error is the
    fraction of rows with a wrong class, or with any wrong label; for numbers, the root of the mean
    squared error, averaged over outputs.
    """
    staged: _Staged
    if is_random_forest(model):
        staged = _OfScikitLearn(model, X, y)
    else:
        view = ModelView.of(model)
        rows = view.checked(X)
        check_consistent_length(rows, y)
        staged = _OfView(view, rows, view.outputs.read_truth(y).values)
    left_out = staged.left_out() if out_of_bag else None
    if left_out is not None and not left_out.any():
        raise ValueError(
            "out_of_bag=True, but every tree drew all rows of X; a forest with bootstrap=True or "
            "max_samples leaves some out"
        )
    return _curve(staged, left_out)


def error_curve(view: ModelView, checked: Any, truth: npt.NDArray[Any]) -> Curve:
    """The same for rows that are checked already, with their `Truth`."""
    return _curve(_OfView(view, checked, truth), None)


def _curve(staged: "_Staged", left_out: npt.NDArray[np.uint8] | None) -> Curve:
    sums = np.zeros((staged.n_trees, 1 if staged.unit is None else staged.n_outputs))
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
    roots = means if staged.unit is None else np.sqrt(means) * staged.unit
    errors: Floats = roots.mean(axis=1)
    return np.arange(1, staged.n_trees + 1), errors


def is_random_forest(model: Any) -> bool:
    """Whether a model is a random forest of scikit-learn, which takes the mean of its trees."""
    from sklearn import ensemble

    random = ensemble.RandomForestClassifier | ensemble.RandomForestRegressor
    return isinstance(model, random | ensemble.ExtraTreesClassifier | ensemble.ExtraTreesRegressor)


class _Staged(ABC):
    """What errors after each tree are calculated from; subclasses know the kind of model."""

    n_rows: int
    n_trees: int
    n_outputs: int
    start: Floats  # outputs before the first tree
    is_mean: bool  # whether trees' votes are averaged, not added
    unit: Floats | None  # of numbers, whose errors are squares; None for classes and labels
    truth: npt.NDArray[Any]

    @abstractmethod
    def votes(self, rows: slice) -> Iterator[Floats]:
        """(rows, outputs) for one tree after the other."""

    @abstractmethod
    def left_out(self) -> npt.NDArray[np.uint8]:
        """(trees, rows / 8) bits: which rows a tree did not draw."""

    @abstractmethod
    def decide(self, outputs: Floats) -> npt.NDArray[Any]:
        """Outputs in the form of the truth."""

    def errors(self, outputs: Floats, rows: slice, known: npt.NDArray[np.bool_]) -> Floats:
        """(known rows, outputs) squares, or (known rows, 1) with a one where a row is wrong."""
        truth, decided = self.truth[rows][known], self.decide(outputs)
        if self.unit is not None:
            return np.asarray((decided - truth) ** 2)
        wrong = (decided != truth).reshape(len(truth), -1)
        return np.asarray(wrong.any(axis=1), dtype=np.float64)[:, None]


class _OfView(_Staged):
    """A model of this library."""

    def __init__(self, view: ModelView, checked: Any, truth: npt.NDArray[Any]) -> None:
        self.view, self.rows, self.truth = view, checked, truth
        self.n_rows, self.n_trees, self.n_outputs = len(truth), view.n_trees, view.n_outputs
        self.is_mean = view.start is None
        self.start = np.zeros(view.n_outputs) if view.start is None else view.start
        self.unit = None
        if isinstance(view.outputs, NumberOutputs):
            # Squares in these units are finite, even those of numbers near 1e300.
            self.unit = view.outputs.unit
            self.truth = (truth - view.outputs.offset) / self.unit

    def votes(self, rows: slice) -> Iterator[Floats]:
        numbers, tree_begin = self.view.leaf_numbers, self.view.arrays["tree_begin"]
        leaves = self.view.leaves(self.rows[rows]) + tree_begin[:-1]
        for nodes in leaves.T:
            yield numbers[nodes].toarray()

    def decide(self, outputs: Floats) -> npt.NDArray[Any]:
        meaning: Any = self.view.outputs
        if isinstance(meaning, NumberOutputs):
            return np.exp(outputs) if meaning.logarithmic else outputs
        return np.asarray(meaning.codes(outputs))

    def left_out(self) -> npt.NDArray[np.uint8]:
        return self.view.left_out(self.n_rows)


class _OfScikitLearn(_Staged):
    """A random forest of scikit-learn, for one class or any numbers per row."""

    is_mean = True

    def __init__(self, model: Any, X: Any, y: Any) -> None:
        if is_classifier(model) and model.n_outputs_ != 1:
            raise ValueError(
                f"a reference must predict one class per row, but this {type(model).__name__} "
                f"predicts {model.n_outputs_}"
            )
        self.model = model
        check_sparse(X)
        # The trees of a forest take float32, and know no names of features.
        self.X = check_array(
            X, dtype=np.float32, accept_sparse="csr", ensure_all_finite="allow-nan"
        )
        check_consistent_length(self.X, y)
        self.n_rows, self.n_trees = self.X.shape[0], len(model.estimators_)
        if is_classifier(model):
            self.n_outputs, self.unit = len(model.classes_), None
            self.truth = class_codes(y, model.classes_).values
        else:
            self.n_outputs, self.unit = model.n_outputs_, np.ones(model.n_outputs_)
            self.truth = number_columns(y, self.n_outputs)
        self.start = np.zeros(self.n_outputs)

    def votes(self, rows: slice) -> Iterator[Floats]:
        for tree in self.model.estimators_:
            predict = tree.predict_proba if self.unit is None else tree.predict
            yield np.asarray(predict(self.X[rows]), dtype=np.float64).reshape(-1, self.n_outputs)

    def decide(self, outputs: Floats) -> npt.NDArray[Any]:
        return np.asarray(outputs.argmax(axis=1)) if self.unit is None else outputs

    def left_out(self) -> npt.NDArray[np.uint8]:
        untouched = np.ones((self.n_trees, self.n_rows), dtype=bool)
        for some, drawn in zip(untouched, self.model.estimators_samples_, strict=True):
            some[drawn] = False
        return np.packbits(untouched, axis=1)


def _bits(packed: npt.NDArray[np.uint8], rows: slice) -> npt.NDArray[np.bool_]:
    """Those of some rows, the first of which begins a byte."""
    some = np.unpackbits(packed[rows.start // 8 :], count=rows.stop - rows.start)
    return some.astype(bool)
