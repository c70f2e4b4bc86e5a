# SPDX-License-Identifier: BSD-3-Clause
"""``co2forest demo``: forests on data that comes with scikit-learn."""

from co2forest import demo
from co2forest.cli.messages import say_json


def run(*, as_json: bool) -> None:
    """Measure and print."""
    if as_json:
        say_json({"measurements": [vars(row) for row in demo.measurements(demo.digits())]})
    else:
        demo.main()
