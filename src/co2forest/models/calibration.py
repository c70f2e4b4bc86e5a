# SPDX-License-Identifier: BSD-3-Clause
"""Whether probabilities mean what they say."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from co2forest.data.outputs.base import Floats
from co2forest.models.evaluation import Evaluation

_BINS = 10


@dataclass(frozen=True)
class Reliability:
    """Probabilities in ten bins of equal width, and how often what they predict came true."""

    what: str
    said: sp.csr_array  # (rows, bins): sums of a row's probabilities in a bin
    happened: sp.csr_array  # (rows, bins): how many of them came true
    number: sp.csr_array  # (rows, bins): how many there are

    @classmethod
    def of(cls, evaluation: Evaluation) -> Self:
        """Two classes: the second one's probability. More: the predicted one's. Labels: all."""
        truth = evaluation.truth
        if evaluation.task == "labels":
            what, said, happened = "label", evaluation.probability, truth == 1
        elif evaluation.probability.shape[1] == 2:
            what, said = f"class {evaluation.names[1]}", evaluation.probability[:, [1]]
            happened = truth[:, None] == 1
        else:
            what, said = "predicted class", evaluation.confidence[:, None]
            happened = ~evaluation.wrong[:, None]
        bins = np.clip((said * _BINS).astype(np.int64), 0, _BINS - 1).ravel()
        rows = np.repeat(np.arange(len(said)), said.shape[1])
        shape = (len(said), _BINS)

        def summed(values: Any) -> sp.csr_array:
            numbers = np.asarray(values, dtype=float).ravel()
            return sp.csr_array((numbers, (rows, bins)), shape=shape)

        return cls(what, summed(said), summed(happened), summed(np.ones(said.shape)))

    def expected_error(self, weights: Floats) -> Floats:
        """Mean over bins, by their weight, of the distance between said and happened."""
        distance = np.abs(weights @ self.said - weights @ self.happened)
        error: Floats = distance.sum(axis=1) / (weights @ self.number).sum(axis=1)
        return error

    def bins(self, weights: Floats) -> list[dict[str, float]]:
        """The bins that are not empty: bounds, weight, mean probability, share that came true."""
        weight = weights @ self.number
        return [
            {
                "low": b / _BINS,
                "high": (b + 1) / _BINS,
                "count": float(weight[b]),
                "said": float((weights @ self.said)[b] / weight[b]),
                "happened": float((weights @ self.happened)[b] / weight[b]),
            }
            for b in np.flatnonzero(weight > 0).tolist()
        ]


def calibration(evaluation: Evaluation) -> dict[str, Any]:
    """The reliability diagram as JSON values."""
    reliability = Reliability.of(evaluation)
    weights = evaluation.weights
    return {
        "what": reliability.what,
        "bins": reliability.bins(weights),
        "expected_error": float(reliability.expected_error(weights[None])[0]),
    }
