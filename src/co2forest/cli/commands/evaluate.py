# SPDX-License-Identifier: BSD-3-Clause
"""``co2forest evaluate``: its options."""

from co2forest.cli import options
from co2forest.cli.command import command


@command
def evaluate(
    model: options.Model,
    data: options.Data,
    target: options.Answers = None,
    weights: options.Weights = None,
    no_header: options.NoHeader = False,
    part: options.Part = None,
    jobs: options.Jobs = -1,
    quiet: options.Silent = False,
    as_json: options.Json = False,
    debug: options.Debug = False,
) -> None:
    """Measure how good a model is on rows that it has not seen.

    Prints metrics with 95 % confidence intervals. For classes, adds the confusion matrix and the
    calibration of the probabilities; for numbers, quantiles of the errors.
    """
