# SPDX-License-Identifier: BSD-3-Clause
"""What each feature contributed to a prediction, along the paths of its row."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from co2forest.data.outputs.base import Floats
from co2forest.inspection._blended import blended_contributions
from co2forest.inspection._contributions import contributions_of
from co2forest.models.arguments import whole_number
from co2forest.models.ensemble import EnsembleView
from co2forest.models.view import ModelView

_EXPLAINS = {
    "classes": "probability of each class",
    "votes": "votes for each class, before they are calibrated",
    "labels": "probability of each label",
    "numbers": "prediction",
    "scores": "score of each class, which softmax turns into probabilities",
    "logarithms": "logarithm of the prediction",
}


@dataclass(frozen=True)
class Explanation:
    """Predictions as sums of contributions: ``prediction == base + contributions.sum(axis=1)``.

    Attributes
    ----------
    explains : str
        What is explained.
    base : float or ndarray of shape (n_outputs,)
        The base rate: the mean of what the trees say about their training rows.
    contributions : ndarray of shape (n_rows, n_features) or (n_rows, n_features, n_outputs)
        What each feature added to the base rate. For a regressor with one output this is a matrix.
    prediction : ndarray of shape (n_rows,) or (n_rows, n_outputs)
        What the model says.
    feature_names : list of str
        Names of the features; x0, x1, ... if they have none.
    output_names : list of str
        Classes, or names of the numbers or labels.
    column_names : list of str
        Names of the columns that features are made of.
    column_of_feature : ndarray of shape (n_features,)
        Which of these it is, for each feature.
    """

    explains: str
    base: Any
    contributions: Floats
    prediction: Floats
    feature_names: list[str]
    output_names: list[str]
    column_names: list[str]
    column_of_feature: npt.NDArray[np.intp]

    def by_column(self) -> "Explanation":
        """Sum contributions over the features that are made of the same column.

        A column of categories becomes several features, and so do a date of a table and a column
        with gaps.

        Returns
        -------
        Explanation
            Its features are the columns of X, or of the table.
        """
        n_rows, _, *outputs = self.contributions.shape
        summed = np.zeros((n_rows, len(self.column_names), *outputs))
        for feature, column in enumerate(self.column_of_feature):
            summed[:, column] += self.contributions[:, feature]
        places = np.arange(len(self.column_names))
        return replace(
            self,
            contributions=summed,
            feature_names=self.column_names,
            column_of_feature=places,
        )

    def to_frame(self, row: int = 0) -> Any:
        """Contributions to the prediction of one row as a pandas data frame, strongest first.

        Parameters
        ----------
        row : int, default=0
            Number of the row, from 0 on.

        Returns
        -------
        pandas.DataFrame
            A line for each feature, a column for each output.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("to_frame needs pandas: pip install pandas") from error
        row = whole_number(row, "row", 0, len(self.contributions) - 1)
        columns = self.contributions[row].reshape(len(self.feature_names), -1)
        order = np.argsort(-np.abs(columns).max(axis=1), kind="stable")
        names = [self.feature_names[j] for j in order]
        return pd.DataFrame(columns[order], index=names, columns=self.output_names)


def explain(model: Any, X: Any) -> Explanation:
    """Contributions of features, which add up to the predictions.

    From the root of a tree to a leaf a row passes nodes. Each node has a value: the mean of its
    training rows. Every hyperplane that the row crosses changes the value, and the change is
    shared among the hyperplane's features by how much each pushed the row to the side it took
    (docs/inspection.md). Contributions are the sums of these shares, over the nodes of a path and
    over trees. A missing value counts as the mean and does not push.

    Parameters
    ----------
    model : fitted estimator or TableModel
        What is explained: probabilities of classes or labels (also with ``cost_matrix``), or
        predicted numbers; for a mixture, whose probabilities are calibrated, the votes of its
        trees; for boosting, the scores of classes or, with ``loss="poisson"``, the
        logarithm of the prediction. For an ensemble it is always what it predicts: votes and
        scores are carried on to probabilities.
    X : {array-like, sparse matrix, data frame} of shape (n_rows, n_features)
        The result takes 8 bytes for each row, feature and output.

    Returns
    -------
    Explanation

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from co2forest import CO2ForestClassifier
    >>> from co2forest.inspection import explain
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = CO2ForestClassifier(10, random_state=0).fit(X, y)
    >>> why = explain(forest, X[:5])
    >>> why.contributions.shape
    (5, 4, 3)
    >>> why.explains
    'probability of each class'
    >>> np.allclose(why.base + why.contributions.sum(axis=1), why.prediction)
    True
    """
    ensemble = EnsembleView.of(model)
    if ensemble is not None:
        view = ensemble.forest
        contributions, base = blended_contributions(ensemble, view.checked(X))
        prediction = base + contributions.sum(axis=1)
        return _explanation(view, view.kind, contributions, base, prediction)
    view = ModelView.of(model)
    checked = view.checked(X)
    contributions, base = contributions_of(view, checked)
    calibrated = getattr(view.outputs, "calibration", None) is not None
    explains = "votes" if calibrated else view.kind
    return _explanation(view, explains, contributions, base, view.values(checked))


def _explanation(
    view: ModelView, explains: str, contributions: Floats, base: Floats, prediction: Floats
) -> Explanation:
    vector = view.is_vector
    return Explanation(
        _EXPLAINS[explains],
        float(base[0]) if vector else base,
        contributions[:, :, 0] if vector else contributions,
        prediction[:, 0] if vector else prediction,
        view.feature_names,
        view.output_names,
        view.column_names,
        view.column_of_feature,
    )
