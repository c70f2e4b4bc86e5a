# SPDX-License-Identifier: BSD-3-Clause
"""Data of the benchmarks.

The names below need NumPy alone, because measure.py counts the memory of a process. The data sets
of the paper by name are in `datasets.by_name`, readers of their formats in `datasets.readers`.
"""

from datasets.arrays import SETS, TITLES, check_folder, default_folder, generate, load

__all__ = ["SETS", "TITLES", "check_folder", "default_folder", "generate", "load"]
