# SPDX-License-Identifier: BSD-3-Clause
"""Where predictions go wrong: confusions of classes, labels, and errors of numbers."""

from typing import Any

import numpy as np

from co2forest.data.outputs.base import Floats
from co2forest.models.evaluation import Evaluation

_MOST_CLASSES = 30  # of a confusion matrix; more than that nobody can read
_MOST_LABELS = 60
_MOST_OUTPUTS = 6  # with figures
_POINTS = 1500  # of a scatter plot
_BINS = 31


def confusion(evaluation: Evaluation) -> dict[str, Any]:
    """Rows by true and predicted class; with many classes, those with the most mistakes."""
    n = len(evaluation.names)
    truth, prediction, wrong = evaluation.truth, evaluation.prediction, evaluation.wrong
    mistakes = np.bincount(truth[wrong], minlength=n) + np.bincount(prediction[wrong], minlength=n)
    shown = np.arange(n)
    if n > _MOST_CLASSES:
        shown = np.sort(np.argsort(-mistakes, kind="stable")[: _MOST_CLASSES - 1])
    place = np.full(n, len(shown))  # of a class in the matrix
    place[shown] = np.arange(len(shown))
    size = len(shown) + (n > len(shown))
    cells = np.bincount(place[truth] * size + place[prediction], minlength=size * size)
    others = [f"{n - len(shown)} other classes"] if n > len(shown) else []
    return {
        "names": [evaluation.names[k] for k in shown] + others,
        "place": place.tolist(),
        "counts": cells.reshape(size, size).tolist(),
        # Two of the other classes may be confused in the cell that stands for all of them.
        "others_wrong": int(np.count_nonzero(wrong & (place[truth] == place[prediction]))),
    }


def label_table(evaluation: Evaluation) -> list[dict[str, Any]]:
    """For each label how often it is found, missed and wrongly given."""
    truth, prediction = evaluation.truth == 1, evaluation.prediction == 1
    found, missed = (truth & prediction).sum(axis=0), (truth & ~prediction).sum(axis=0)
    invented = (~truth & prediction).sum(axis=0)
    shown = np.argsort(-(missed + invented), kind="stable")[:_MOST_LABELS]
    return [
        {
            "label": k,
            "name": evaluation.names[k],
            "found": int(found[k]),
            "missed": int(missed[k]),
            "invented": int(invented[k]),
            "precision": _ratio(found[k], found[k] + invented[k]),
            "recall": _ratio(found[k], found[k] + missed[k]),
        }
        for k in np.sort(shown).tolist()
    ]


def _ratio(count: Any, whole: Any) -> float | None:
    return float(count / whole) if whole else None


def number_errors(evaluation: Evaluation) -> list[dict[str, Any]]:
    """For each output predictions against truth, and the distribution of their differences."""
    return [_output(evaluation, k) for k in range(min(len(evaluation.names), _MOST_OUTPUTS))]


def _output(evaluation: Evaluation, k: int) -> dict[str, Any]:
    truth, prediction = evaluation.truth[:, k], evaluation.prediction[:, k]
    points = np.arange(evaluation.n_rows)
    if len(points) > _POINTS:  # from the whole range of y, not the same number from each range
        points = np.sort(np.random.default_rng(0).choice(points, _POINTS, replace=False))
    return {
        "name": evaluation.names[k],
        "truth": truth[points].tolist(),
        "prediction": prediction[points].tolist(),
        "residuals": _histogram(prediction - truth),
    }


def _histogram(error: Floats) -> dict[str, Any]:
    """Bins around zero; those at the ends hold the one percent of largest errors, too."""
    limit = float(np.quantile(np.abs(error), 0.99)) or float(np.abs(error).max()) or 1.0
    edges = np.linspace(-limit, limit, _BINS + 1)
    counts = np.histogram(np.clip(error, -limit, limit), edges)[0]
    return {"edges": edges.tolist(), "counts": counts.tolist()}
