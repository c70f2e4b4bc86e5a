"""The command ``co2forest``."""

import sys


def main() -> None:
    """Run the command line; without its libraries, say what to install."""
    try:
        from co2forest.cli.app import app
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in {"typer", "rich"}:
            raise
        sys.stderr.write(
            f"co2forest: the command line needs {missing}: pip install 'co2forest[cli,images]'\n"
        )
        raise SystemExit(1) from None
    except KeyboardInterrupt:  # libraries take a while to load
        sys.stderr.write("co2forest: interrupted\n")
        raise SystemExit(130) from None
    app(prog_name="co2forest")
