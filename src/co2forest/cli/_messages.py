"""What the commands say, where, and with which exit code."""

import contextlib
import difflib
import functools
import json
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ParamSpec, TypeVar

import typer

from co2forest._progress import ProgressBar

FAILED = 1  # data or model; 2 is for the command line itself, by typer
INTERRUPTED = 130  # as shells count SIGINT
NOT_READ = 141  # as they count SIGPIPE, which ends other programs in front of ``| head -1``
_MOST_NAMED = 12
_LEAST_SIMILAR = 0.75  # one of four letters differs, or two of six have changed places

_P = ParamSpec("_P")
_R = TypeVar("_R")


def say(text: str) -> None:
    """A result, on standard output."""
    typer.echo(text)


def say_json(result: dict[str, Any]) -> None:
    """All results at once, for programs."""
    typer.echo(json.dumps(result, indent=2, allow_nan=False))


def complain(text: str) -> None:
    """One line on standard error."""
    typer.echo(f"co2forest: {one_line(text)}", err=True)


def one_line(text: str) -> str:
    """A text without line breaks and control characters, which names of files may have."""
    words = " ".join(text.split())
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in words)


def counted(count: int, noun: str) -> str:
    """A number of things."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def nearest(name: str, known: Iterable[str]) -> str:
    """What somebody may have meant, and what there is, as the end of a message."""
    known = list(known)
    lower = [other.lower() for other in known]
    close = difflib.get_close_matches(name.lower(), lower, n=1, cutoff=_LEAST_SIMILAR)
    meant = [other for other in known if close and other.lower() == close[0]]
    shown = ", ".join(one_line(other) for other in known[:_MOST_NAMED])
    more = f" and {len(known) - _MOST_NAMED} more" if len(known) > _MOST_NAMED else ""
    there = f"there are {shown}{more}"
    return f"; did you mean {one_line(meant[0])}? ({there})" if meant else f"; {there}"


def describe(error: BaseException) -> str:
    """What is wrong, in one line."""
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, OSError) and error.strerror:  # such as a full disk behind standard output
        return error.strerror
    if isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0] == "rich":
        return "the command line needs rich: pip install 'co2forest[cli]'"
    if isinstance(error, (OSError, ValueError, ImportError)):
        return one_line(str(error))
    if isinstance(error, MemoryError):
        return one_line(str(error)) or "not enough memory"
    return one_line(f"unexpected {type(error).__name__}: {error} (--debug shows where)")


@contextlib.contextmanager
def progress_bar(total: int, *, unit: str, quiet: bool) -> Iterator[Callable[[int], None]]:
    """To be called with the number of units that are done."""
    if quiet:
        yield lambda _: None
        return
    with ProgressBar(total, unit=unit) as progress:
        yield progress


def reports_errors(command: Callable[_P, _R]) -> Callable[_P, _R]:
    """End a command with one line and an exit code; with ``debug=True``, with a traceback, too."""

    @functools.wraps(command)
    def reported(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                warnings.simplefilter("always", UserWarning)
                warnings.showwarning = _show_warning
                result = command(*args, **kwargs)
                sys.stdout.flush()  # while a closed pipe can still be told from a failure
                return result
        except (typer.Exit, typer.Abort, typer.BadParameter):
            raise  # typer knows what to do
        except BrokenPipeError:
            _discard_output()
            raise typer.Exit(NOT_READ) from None
        except KeyboardInterrupt:
            complain("interrupted")
            raise typer.Exit(INTERRUPTED) from None
        except Exception as error:  # noqa: BLE001 (whatever it is, a user gets one line)
            if kwargs.get("debug"):
                sys.stderr.write(traceback.format_exc())
            complain(describe(error))
            raise typer.Exit(FAILED) from None

    return reported


def _discard_output() -> None:
    """What is left in the buffer goes nowhere; Python would complain of it as it ends."""
    with contextlib.suppress(OSError):  # no file, as in tests
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    complain(f"note: {message}")
