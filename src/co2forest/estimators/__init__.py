# SPDX-License-Identifier: BSD-3-Clause
"""The estimators that users name: their parameters, docstrings and what a fit does."""
