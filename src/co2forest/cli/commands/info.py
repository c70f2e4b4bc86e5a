# SPDX-License-Identifier: BSD-3-Clause
"""``co2forest info``: its options."""

from co2forest.cli import options
from co2forest.cli.command import command


@command
def info(model: options.Model, as_json: options.Json = False, debug: options.Debug = False) -> None:
    """Show what a model file holds."""
