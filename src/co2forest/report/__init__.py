# SPDX-License-Identifier: BSD-3-Clause
"""A report on a fitted model: one HTML file that needs nothing else."""

from co2forest.report._write import write_report

__all__ = ["write_report"]
