# SPDX-License-Identifier: BSD-3-Clause
"""Measure what a forest on Dask costs beyond its trees, and estimate a large one."""
