# SPDX-License-Identifier: BSD-3-Clause
"""Repeat the paper's experiment on faces; `make faces` runs it."""
