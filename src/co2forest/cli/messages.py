# SPDX-License-Identifier: BSD-3-Clause
"""What the commands say, and where."""

import contextlib
import difflib
import json
import os
import sys
from collections.abc import Callable, Iterable
from typing import Any

import typer

from co2forest.files.messages import escaped_lines, finite, one_line, shown
from co2forest.fitting.progress import ProgressBar

_MOST_NAMED = 12
_LEAST_SIMILAR = 0.75  # one of four letters differs, or two of six have changed places


def say(text: str, *, err: bool = False) -> None:
    """Print a result on standard output.

    All that a command prints may have words of a model, a table, or a name of a file. None of
    them may move the cursor, or hide what stands beside it, so only ends of lines are obeyed.
    """
    typer.echo(escaped_lines(text), err=err)


def say_coloured(text: str) -> None:
    """Print a text with colours of this library, and with no words of others."""
    typer.echo(text)


def say_json(result: dict[str, Any]) -> None:
    """Print all results at once, for programs."""
    typer.echo(json.dumps(finite(result), indent=2, allow_nan=False, default=shown))


def complain(text: str) -> None:
    """Print one line on standard error."""
    say(f"co2forest: {one_line(text)}", err=True)


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """Say how many things there are."""
    return f"{count} {noun if count == 1 else plural or noun + 's'}"


def nearest(name: str, known: Iterable[str]) -> str:
    """End a message with the name that may have been meant, and the names there are."""
    known = list(known)
    lower = [other.lower() for other in known]
    close = difflib.get_close_matches(name.lower(), lower, n=1, cutoff=_LEAST_SIMILAR)
    meant = [other for other in known if close and other.lower() == close[0]]
    names = ", ".join(one_line(other) for other in known[:_MOST_NAMED])
    more = f" and {len(known) - _MOST_NAMED} more" if len(known) > _MOST_NAMED else ""
    there = f"there are {names}{more}"
    return f"; did you mean {one_line(meant[0])}? ({there})" if meant else f"; {there}"


def describe(error: BaseException) -> str:
    """Say in one line what is wrong."""
    if isinstance(error, OSError) and error.strerror:
        # There is no name if, for example, standard output goes to a full disk.
        named = error.filename is not None
        return f"{error.filename}: {error.strerror}" if named else error.strerror
    if isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0] == "rich":
        return "the command line needs rich: pip install 'co2forest[cli]'"
    if isinstance(error, (OSError, ValueError, ImportError)):
        return one_line(error)
    if isinstance(error, MemoryError):
        return one_line(str(error)) or "not enough memory"
    return one_line(f"unexpected {type(error).__name__}: {error} (--debug shows where)")


def progress_bar(
    total: int, *, unit: str, quiet: bool
) -> contextlib.AbstractContextManager[Callable[[int], None]]:
    """Show progress; call what it yields with the number of units that are done."""
    return contextlib.nullcontext(lambda _: None) if quiet else ProgressBar(total, unit=unit)


def discard_output() -> None:
    """Drop what is left in the buffer; Python would complain about it at its end."""
    with contextlib.suppress(OSError):  # no file, as in tests
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
