# SPDX-License-Identifier: BSD-3-Clause
"""A line on standard error that shows how much work is done and the time left."""

import sys
import time
from types import TracebackType
from typing import Self


class ProgressBar:
    """Redraws one line on a terminal; elsewhere writes ``lines`` of them in all."""

    def __init__(
        self, total: int, *, unit: str = "trees", width: int = 30, lines: int = 10
    ) -> None:
        self.total = total
        self._unit = unit
        self._width = width
        self._lines = lines
        self._started = time.monotonic()
        self._terminal = sys.stderr.isatty()
        self._drawn = -1
        self._said = ""

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
            self(self.total, self._said)
        if self._terminal:
            sys.stderr.write("\n")

    def __call__(self, done: int, said: str = "") -> None:
        """Show that ``done`` units are finished, in these words or as a number of them."""
        self._said = said
        step = done if self._terminal else done * self._lines // self.total
        if step == self._drawn:
            return
        self._drawn = step
        elapsed = time.monotonic() - self._started
        filled = self._width * done // self.total
        bar = "#" * filled + "." * (self._width - filled)
        left = (
            f", {elapsed / done * (self.total - done):.0f} s left" if 0 < done < self.total else ""
        )
        words = said or f"{done}/{self.total} {self._unit}"
        line = f"co2forest [{bar}] {words}, {elapsed:.0f} s{left}"
        sys.stderr.write(f"\r{line:<79}" if self._terminal else line + "\n")
        sys.stderr.flush()
