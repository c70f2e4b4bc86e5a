# SPDX-License-Identifier: BSD-3-Clause
"""The command ``co2forest``."""

import sys


def main() -> None:
    """Run the command line; without its libraries, say what to install."""
    try:
        from co2forest.cli.app import app
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "typer":
            raise
        sys.stderr.write("co2forest: the command line needs typer: pip install 'co2forest[cli]'\n")
        raise SystemExit(1) from None
    except KeyboardInterrupt:  # libraries take a while to load
        sys.stderr.write("co2forest: interrupted\n")
        raise SystemExit(130) from None
    app(prog_name="co2forest")
