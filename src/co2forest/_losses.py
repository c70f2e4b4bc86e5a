"""How wrong a forest's outputs are, row by row, as its loss sees it."""

from typing import Any

import numpy as np
import numpy.typing as npt

from co2forest import _native

_LEAST_MEAN = 1e-9  # of counts, whose mean is one; as in native/loss/poisson.hpp


def row_losses(
    loss: _native.ValueLossParams, targets: npt.NDArray[Any], outputs: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """The loss of each row, but for what does not depend on the outputs.

    Targets and outputs are those of the core: a column per output. Labels count squared errors of
    their probabilities, costs are those of the best decision.
    """
    kinds = _native.ValueLossKind
    if loss.kind == kinds.cost:
        cost = np.reshape(loss.cost, (outputs.shape[1], -1))
        decided = (outputs @ cost).argmin(axis=1)
        paid: npt.NDArray[np.float64] = (targets @ cost)[np.arange(len(decided)), decided]
        return paid
    error = outputs - targets
    if loss.kind == kinds.poisson:
        mean = np.maximum(outputs, _LEAST_MEAN)
        each = mean - targets * np.log(mean)
    elif loss.kind == kinds.huber:
        far, distance = np.abs(error), loss.level
        each = np.where(far <= distance, error**2, 2 * distance * far - distance**2)
    elif loss.kind == kinds.quantile:
        each = np.maximum(-loss.level * error, (1 - loss.level) * error)
    else:
        each = error**2
    return np.asarray(each.sum(axis=1))
