# SPDX-License-Identifier: BSD-3-Clause
"""Parameters of a forest chosen from the data, as the paper does."""

from co2forest.tuning.result import TuningResult
from co2forest.tuning.search import PAPER_EXPONENTS, PAPER_GRID, tune_forest
from co2forest.tuning.segments import SEGMENTATION_GRID, tune_segmenter

__all__ = [
    "PAPER_EXPONENTS",
    "PAPER_GRID",
    "SEGMENTATION_GRID",
    "TuningResult",
    "tune_forest",
    "tune_segmenter",
]
