# SPDX-License-Identifier: BSD-3-Clause
"""Memory of this process, on Linux only; elsewhere nothing is measured."""

import contextlib
import ctypes
import gc
import threading
from pathlib import Path

PROC = Path("/proc/self")
MIB = 2**20


def release_unused():
    """Give the memory of deleted objects back to the system, so that it is not counted."""
    gc.collect()
    with contextlib.suppress(AttributeError, OSError):  # only glibc holds memory back like this
        ctypes.CDLL(None).malloc_trim(0)


class PeakMemory:
    """The peak memory of a with block in MiB, above what was in use at its beginning."""

    def __enter__(self):
        self.mib = None
        release_unused()
        if not (PROC / "status").exists():
            return self
        self._begin = self._highest = status_bytes("VmRSS")
        try:
            (PROC / "clear_refs").write_text("5")  # resets VmHWM to VmRSS
            self._sampler = None
        except OSError:  # not allowed in some containers
            self._stop = threading.Event()
            self._sampler = threading.Thread(target=self._sample)
            self._sampler.start()
        return self

    def __exit__(self, *_):
        if not (PROC / "status").exists():
            return
        if self._sampler is None:
            self._highest = status_bytes("VmHWM")
        else:
            self._stop.set()
            self._sampler.join()
        self.mib = (self._highest - self._begin) / MIB

    def _sample(self):
        while not self._stop.wait(0.002):
            self._highest = max(self._highest, status_bytes("VmRSS"))


def status_bytes(field):
    for line in (PROC / "status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    raise KeyError(field)
