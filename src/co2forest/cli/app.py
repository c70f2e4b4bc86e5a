# SPDX-License-Identifier: BSD-3-Clause
"""All commands in one: each file of ``commands`` is a command, each folder a group of commands.

What a command does is in the file of the same name in ``actions``.
"""

import pkgutil
from importlib import import_module
from types import ModuleType
from typing import Annotated

import typer

from co2forest.cli import commands


def _add_commands(app: typer.Typer, folder: ModuleType) -> typer.Typer:
    for found in pkgutil.iter_modules(folder.__path__):
        module = import_module(f"{folder.__name__}.{found.name}")
        if found.ispkg:
            group = typer.Typer(help=module.__doc__, no_args_is_help=True, rich_markup_mode=None)
            app.add_typer(_add_commands(group, module), name=found.name)
        else:
            app.command(found.name)(getattr(module, found.name))
    return app


app = _add_commands(
    typer.Typer(
        help="CO2 forests from the command line.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,  # --debug shows what Python shows
        rich_markup_mode=None,
    ),
    commands,
)


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
    """Options before the name of a command."""
