# SPDX-License-Identifier: BSD-3-Clause
"""The kinds of trees in a forest, in words."""

SPLITS = {
    "co2": "hyperplanes",
    "axis": "thresholds of single features",
    "pair": "differences of two features",
    "narrow": "hyperplanes over a few features",
    "random": "random thresholds of single features",
}
