# SPDX-License-Identifier: BSD-3-Clause
"""``python -m co2forest`` is the command ``co2forest``."""

from co2forest.cli import main

main()
