"""All groups of commands in one."""

from typing import Annotated

import typer

from co2forest.cli import models, segment, shows, tables

app = typer.Typer(
    help="CO2 forests from the command line.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,  # --debug shows what Python shows
    rich_markup_mode=None,
)
for command in (
    tables.train,
    tables.predict,
    tables.evaluate,
    tables.report,
    tables.tune,
    tables.compare,
    models.info,
    models.export,
    shows.reproduce,
    shows.demo,
):
    app.command()(command)
app.add_typer(segment.app, name="segment")


def _show_version(asked: bool) -> None:
    if asked:
        from co2forest import __version__

        typer.echo(f"co2forest {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Options before the name of a group."""
