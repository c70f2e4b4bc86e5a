"""Commands on tables: train, predict, evaluate, tune, compare, report."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from co2forest.cli._columns import complete_column
from co2forest.cli._messages import reports_errors
from co2forest.cli._options import Debug, Jobs, Json, Model, Overwrite, Quiet, Seed, fraction
from co2forest.cli._source import TableSource


class Task(StrEnum):
    """What is predicted."""

    AUTO = "auto"
    CLASSIFICATION = "classification"
    REGRESSION = "regression"


class Part(StrEnum):
    """Arrays of an NPZ file."""

    TRAIN = "train"
    TEST = "test"


class Method(StrEnum):
    """How candidates are judged."""

    HALVING = "halving"
    HOLDOUT = "holdout"
    OOB = "oob"


_Data = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="A table: CSV, TSV, Parquet, NPZ, LIBSVM or ARFF, also compressed; - is standard "
        "input.",
        allow_dash=True,
    ),
]
_Target = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="The column to predict; LIBSVM, ARFF and NPZ files say it themselves.",
        autocompletion=complete_column,
        show_default=False,
    ),
]
_Answers = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="The column with the right answers; by default that of training.",
        autocompletion=complete_column,
        show_default=False,
    ),
]
_Part = Annotated[
    Part | None,
    typer.Option(help="Which arrays of an NPZ file: X_train or X_test.", show_default=False),
]
_Task = Annotated[
    Task, typer.Option(help="Whether the target holds classes or numbers; auto looks at it.")
]
_Trees = Annotated[int, typer.Option(metavar="N", min=1, help="Number of trees.")]
_Silent = Annotated[bool, typer.Option("--quiet", help="Say nothing about the table.")]
_Header = Annotated[
    bool,
    typer.Option("--no-header", help="The first line has no names; columns are then x0, x1, ..."),
]


def _column_list(help_text: str) -> typer.models.OptionInfo:
    """An option that names columns, separated by commas or given several times."""
    option: typer.models.OptionInfo = typer.Option(
        metavar="COLUMNS", help=help_text, autocompletion=complete_column, show_default=False
    )
    return option


_Drop = Annotated[list[str] | None, _column_list("Columns to leave out, separated by commas.")]
_KeepColumns = Annotated[
    list[str] | None, _column_list("Columns to use although they look like identifiers.")
]
_Categorical = Annotated[
    list[str] | None, _column_list("Columns of numbers that stand for categories.")
]
_Weights = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="A column with the weights of rows; it is no feature.",
        autocompletion=complete_column,
        show_default=False,
    ),
]


def _held_out(value: float) -> float:
    if value != 0:
        fraction(value)
    return value


def _ending(allowed: tuple[str, ...]):  # type: ignore[no-untyped-def]
    def check(path: Path | None) -> Path | None:
        if path is not None and path.suffix.lower() not in allowed:
            raise typer.BadParameter(f"must end with {', '.join(allowed)}, but is {path.name}")
        return path

    return check


@reports_errors
def train(
    data: _Data,
    out: Annotated[Path, typer.Option(help="The file for the model.", show_default=False)],
    target: _Target = None,
    task: _Task = Task.AUTO,
    trees: _Trees = 100,
    boost: Annotated[
        bool, typer.Option("--boost", help="Boosted trees in place of a forest.")
    ] = False,
    tune: Annotated[
        bool, typer.Option("--tune", help="Choose parameters of the forest by trials.")
    ] = False,
    held_out: Annotated[
        float,
        typer.Option(
            callback=_held_out,
            help="Part of the rows for an estimate of the error; then all are trained on. 0: none.",
        ),
    ] = 0.2,
    drop: _Drop = None,
    keep: _KeepColumns = None,
    categorical: _Categorical = None,
    weights: _Weights = None,
    no_header: _Header = False,
    overwrite: Overwrite = False,
    jobs: Jobs = -1,
    seed: Seed = 0,
    quiet: Quiet = False,
    json: Json = False,
    debug: Debug = False,  # noqa: ARG001 (for reports_errors)
) -> None:
    """Train a model on a table and write it into a file.

    Text and categories, dates and missing values need no preparation. What becomes of each column
    is said, and stored in the model.
    """
    if boost and tune:
        raise typer.BadParameter("has no meaning with --boost", param_hint="--tune")

    from co2forest.cli import _train

    _train.run(
        TableSource.of(data, target, task, no_header, weights, drop, keep, categorical),
        out,
        trees=trees,
        boost=boost,
        tune=tune,
        held_out=held_out,
        overwrite=overwrite,
        jobs=jobs,
        seed=seed,
        quiet=quiet,
        as_json=json,
    )


@reports_errors
def predict(
    model: Model,
    data: _Data,
    proba: Annotated[
        bool, typer.Option("--proba", help="Add the probability of each class.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            callback=_ending((".csv", ".tsv", ".parquet", ".npz")),
            help="A file for the answers (.csv, .tsv, .parquet, .npz); by default standard "
            "output, as CSV.",
            show_default=False,
        ),
    ] = None,
    keep: Annotated[
        list[str] | None, _column_list("Columns to repeat beside the answers, such as a name.")
    ] = None,
    no_header: _Header = False,
    part: _Part = None,
    overwrite: Overwrite = False,
    jobs: Jobs = -1,
    quiet: _Silent = False,
    json: Annotated[
        bool,
        typer.Option("--json", help="Print an object for each row and line, in place of CSV."),
    ] = False,
    debug: Debug = False,  # noqa: ARG001 (for reports_errors)
) -> None:
    """Predict the rows of a table that is like the one of training.

    Large CSV files are read in parts.
    """
    from co2forest.cli import _predict

    _predict.run(
        model,
        data,
        out,
        proba=proba,
        keep=keep or [],
        header=not no_header,
        part=part,
        overwrite=overwrite,
        jobs=jobs,
        quiet=quiet,
        as_json=json,
    )


@reports_errors
def evaluate(
    model: Model,
    data: _Data,
    target: _Answers = None,
    weights: _Weights = None,
    no_header: _Header = False,
    part: _Part = None,
    jobs: Jobs = -1,
    quiet: _Silent = False,
    json: Json = False,
    debug: Debug = False,  # noqa: ARG001 (for reports_errors)
) -> None:
    """Tell how good a model is on rows that it has not seen.

    Metrics with 95 % confidence intervals; of classes the confusion matrix and whether
    probabilities are right, of numbers how large errors are.
    """
    from co2forest.cli import _evaluate

    _evaluate.run(
        model,
        data,
        target=target,
        weights=weights,
        header=not no_header,
        part=part,
        jobs=jobs,
        quiet=quiet,
        as_json=json,
    )


@reports_errors
def tune(
    data: _Data,
    target: _Target = None,
    out: Annotated[
        Path | None,
        typer.Option(help="A file for a model with the best parameters.", show_default=False),
    ] = None,
    task: _Task = Task.AUTO,
    method: Annotated[
        Method,
        typer.Option(
            help="holdout: all candidates grow all trees and are judged by a fifth of the rows; "
            "halving: the best third grows more trees, and so on; oob: no rows are held out."
        ),
    ] = Method.HALVING,
    trees: _Trees = 100,
    drop: _Drop = None,
    keep: _KeepColumns = None,
    categorical: _Categorical = None,
    weights: _Weights = None,
    no_header: _Header = False,
    overwrite: Overwrite = False,
    jobs: Jobs = -1,
    seed: Seed = 0,
    quiet: Quiet = False,
    json: Json = False,
    debug: Debug = False,  # noqa: ARG001 (for reports_errors)
) -> None:
    """Try parameters of a forest on a table, and show all scores."""
    from co2forest.cli import _tune

    _tune.run(
        TableSource.of(data, target, task, no_header, weights, drop, keep, categorical),
        out,
        method=method.value,
        trees=trees,
        overwrite=overwrite,
        jobs=jobs,
        seed=seed,
        quiet=quiet,
        as_json=json,
    )


@reports_errors
def compare(
    data: _Data,
    target: _Target = None,
    task: _Task = Task.AUTO,
    folds: Annotated[
        int, typer.Option(metavar="N", min=2, help="Parts of a cross-validation.")
    ] = 5,
    held_out: Annotated[
        float | None,
        typer.Option(
            callback=fraction,
            help="Test once, on this part of the rows, in place of a cross-validation.",
            show_default=False,
        ),
    ] = None,
    trees: _Trees = 100,
    boost: Annotated[bool, typer.Option("--boost", help="Add boosted CO2 trees.")] = False,
    plot: Annotated[
        Path | None,
        typer.Option(
            callback=_ending((".png", ".svg", ".pdf")),
            help="A file for a picture (.png, .svg, .pdf).",
            show_default=False,
        ),
    ] = None,
    drop: _Drop = None,
    keep: _KeepColumns = None,
    categorical: _Categorical = None,
    weights: _Weights = None,
    no_header: _Header = False,
    overwrite: Overwrite = False,
    jobs: Jobs = -1,
    seed: Seed = 0,
    quiet: Quiet = False,
    json: Json = False,
    debug: Debug = False,  # noqa: ARG001 (for reports_errors)
) -> None:
    """Compare a CO2 forest with scikit-learn's forests and boosting.

    A random forest, extra trees and histogram gradient boosting see the same rows and columns, all
    with their defaults.
    """
    from co2forest.cli import _compare

    _compare.run(
        TableSource.of(data, target, task, no_header, weights, drop, keep, categorical),
        plot,
        folds=folds,
        held_out=held_out,
        trees=trees,
        boost=boost,
        overwrite=overwrite,
        jobs=jobs,
        seed=seed,
        quiet=quiet,
        as_json=json,
    )


@reports_errors
def report(
    model: Model,
    data: Annotated[
        Path,
        typer.Option(
            metavar="DATA",
            help="A table with the right answers, best with rows that training has not seen.",
            allow_dash=True,
            show_default=False,
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            callback=_ending((".html", ".htm")), help="The HTML file.", show_default=False
        ),
    ],
    target: _Answers = None,
    title: Annotated[
        str | None, typer.Option(help="The title of the page.", show_default=False)
    ] = None,
    weights: _Weights = None,
    no_header: _Header = False,
    part: _Part = None,
    overwrite: Overwrite = False,
    quiet: _Silent = False,
    json: Json = False,
    debug: Debug = False,  # noqa: ARG001 (for reports_errors)
) -> None:
    """Write an HTML page about a model: its errors, its trees."""
    from co2forest.cli import _report

    _report.run(
        model,
        data,
        out,
        target=target,
        title=title,
        weights=weights,
        header=not no_header,
        part=part,
        overwrite=overwrite,
        quiet=quiet,
        as_json=json,
    )
