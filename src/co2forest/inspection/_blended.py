# SPDX-License-Identifier: BSD-3-Clause
"""Contributions to what an ensemble predicts."""

from typing import Any

from co2forest.data.outputs.base import Floats
from co2forest.inspection._contributions import contributions_of
from co2forest.inspection._probabilities import to_probabilities
from co2forest.models.ensemble import EnsembleView


def blended_contributions(ensemble: EnsembleView, checked: Any) -> tuple[Floats, Floats]:
    """(rows, features, outputs) and the base rates: weighted sums of those of both members."""
    parts = []
    for view in ensemble.views:
        contributions, base = contributions_of(view, checked)
        calibration = getattr(view.outputs, "calibration", None)
        if view.kind == "scores" or calibration is not None:
            contributions, base = to_probabilities(contributions, base, calibration)
        parts.append((contributions, base))
    contributions, base = (ensemble.blend(*part) for part in zip(*parts, strict=True))
    return contributions, base
