# SPDX-License-Identifier: BSD-3-Clause
"""A label for every pixel of an image, from the window around it."""

from co2forest.segmentation.metrics import JaccardTable, jaccard_table
from co2forest.segmentation.segmenter import ForestSegmenter

__all__ = ["ForestSegmenter", "JaccardTable", "jaccard_table"]
