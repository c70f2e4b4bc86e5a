# SPDX-License-Identifier: BSD-3-Clause
"""Columns of a table as they are: numbers, categories and gaps, and the features made of them."""
