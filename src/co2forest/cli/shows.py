"""Commands that need no data of the user: ``co2forest reproduce`` and ``co2forest demo``."""

from pathlib import Path
from typing import Annotated

import typer

from co2forest.cli._messages import reports_errors, say_json
from co2forest.cli._options import Debug, Jobs, Json, Quiet, Seed


@reports_errors
def reproduce(
    sets: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help="Data sets of the paper, separated by commas; those not on this machine are "
            "downloaded. By default all that are there.",
            show_default=False,
        ),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="One small set, 30 trees, few trials: less than a minute."),
    ] = False,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Where files of the sets are; by default what CO2FOREST_DATA names.",
            show_default=False,
        ),
    ] = None,
    jobs: Jobs = -1,
    seed: Seed = 0,
    quiet: Quiet = False,
    json: Json = False,
    debug: Debug = False,  # noqa: ARG001 (for reports_errors)
) -> None:
    """Measure the errors of the paper's Table 1.

    Tuned CO2 forests beside the published errors, on the sets that are there. Small sets take a
    minute, MNIST and Covertype many.
    """
    from co2forest.cli import _reproduce

    names = [name.strip() for part in sets or [] for name in part.split(",") if name.strip()]
    _reproduce.run(names, data, quick=quick, jobs=jobs, seed=seed, quiet=quiet, as_json=json)


@reports_errors
def demo(
    json: Json = False,
    debug: Debug = False,  # noqa: ARG001 (for reports_errors)
) -> None:
    """Compare forests on handwritten digits, in seconds."""
    from co2forest import demo as demonstration

    if json:
        rows = [vars(row) for row in demonstration.measurements(demonstration.digits())]
        say_json({"measurements": rows})
    else:
        demonstration.main()
