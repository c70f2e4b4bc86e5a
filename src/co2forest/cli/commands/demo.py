# SPDX-License-Identifier: BSD-3-Clause
"""``co2forest demo``: its options."""

from co2forest.cli import options
from co2forest.cli.command import command


@command
def demo(as_json: options.Json = False, debug: options.Debug = False) -> None:
    """Compare forests on handwritten digits, in seconds."""
