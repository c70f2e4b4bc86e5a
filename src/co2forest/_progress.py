"""A line on standard error that shows how many trees are done and the time left."""

import sys
import time
from types import TracebackType
from typing import Self

_WIDTH = 30


class ProgressBar:
    """Redraws one line on a terminal; elsewhere writes a line for every tenth of the work."""

    def __init__(self, total: int) -> None:
        self.total = total
        self._started = time.monotonic()
        self._terminal = sys.stderr.isatty()
        self._drawn = -1

    def __enter__(self) -> Self:
        self(0)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self(self.total)
        if self._terminal:
            sys.stderr.write("\n")

    def __call__(self, done: int) -> None:
        """Show that ``done`` trees are finished."""
        step = done if self._terminal else done * 10 // self.total
        if step == self._drawn:
            return
        self._drawn = step
        elapsed = time.monotonic() - self._started
        filled = _WIDTH * done // self.total
        bar = "#" * filled + "." * (_WIDTH - filled)
        left = (
            f", {elapsed / done * (self.total - done):.0f} s left" if 0 < done < self.total else ""
        )
        line = f"co2forest [{bar}] {done}/{self.total} trees, {elapsed:.0f} s{left}"
        sys.stderr.write(f"\r{line:<79}" if self._terminal else line + "\n")
        sys.stderr.flush()
