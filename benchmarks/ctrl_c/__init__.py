# SPDX-License-Identifier: BSD-3-Clause
"""How long work goes on after Ctrl-C. ctrl_c/run.py measures it."""
