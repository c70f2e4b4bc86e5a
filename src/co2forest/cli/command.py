# SPDX-License-Identifier: BSD-3-Clause
"""What makes a command of a function that declares its options."""

import functools
import sys
import traceback
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

import typer

from co2forest.cli.messages import complain, describe, discard_output, say

FAILED = 1  # the data or the model is wrong; 2 is for the command line itself, by typer
INTERRUPTED = 130  # as shells report SIGINT
NOT_READ = 141  # as shells report SIGPIPE, which ends other programs in front of ``| head -1``


def command(declared: Callable[..., None]) -> Callable[..., None]:
    """Run the action of the same name with the options; end with one line if it fails.

    The options of ``commands/NAME.py`` are the arguments of ``run`` in ``actions/NAME.py``. That
    module is imported here, because it needs libraries that take a second to load.
    """
    action = declared.__module__.replace(".commands.", ".actions.")

    @functools.wraps(declared)
    def command(*, debug: bool, **options: Any) -> None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                warnings.simplefilter("always", UserWarning)
                warnings.showwarning = _show_warning
                import_module(action).run(**options)
                sys.stdout.flush()  # while a closed pipe can still be told from a failure
        except (typer.Exit, typer.Abort, typer.BadParameter):
            raise  # typer knows what to do
        except BrokenPipeError:
            discard_output()
            raise typer.Exit(NOT_READ) from None
        except KeyboardInterrupt:
            complain("interrupted")
            raise typer.Exit(INTERRUPTED) from None
        except Exception as error:  # noqa: BLE001 (whatever it is, a user gets one line)
            if debug:
                say(traceback.format_exc().rstrip(), err=True)
            complain(describe(error))
            raise typer.Exit(FAILED) from None

    return command


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    complain(f"note: {message}")
