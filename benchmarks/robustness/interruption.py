# SPDX-License-Identifier: BSD-3-Clause
"""Ctrl-C in a long fit."""

import contextlib
import os
import signal
import threading
import time
from pathlib import Path

from robustness import data
from robustness.targets import Target

DELAY = 1.0  # seconds from the start of the fit to the signal
PATIENCE = 20  # seconds to wait for the fit to end; then an alarm ends the process
LENGTH = 30.0  # estimated seconds of the whole fit; must be much more than the delay
WATCH = 1.0  # seconds in which to look for threads that still work
BUSY = 0.1  # CPU seconds in that time from which a thread counts as working


def interrupt(target: Target, threads):
    """Seconds from the signal to the exception, and the threads that go on working."""
    X, y, _ = data.large()
    trees = _trees_of_a_long_fit(target, X, y, threads)
    sent = []

    def send():
        signal.alarm(PATIENCE)
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(DELAY, send)
    timer.start()
    try:
        target.fit(X, y, trees, threads, data.SEED)
        outcome = "returned a model"
    except KeyboardInterrupt:
        outcome = "KeyboardInterrupt"
    except Exception as error:  # noqa: BLE001 (whatever a library raises is a result)
        outcome = f"{type(error).__name__}: {str(error).strip().splitlines()[-1][:100]}"
    ended = time.perf_counter()
    timer.join()
    signal.alarm(0)
    if ended < sent[0]:
        raise RuntimeError(f"{trees} trees were fitted before the signal")
    return [
        {
            "outcome": outcome,
            "value": ended - sent[0],
            "detail": f"{_busy_threads()} threads at work afterwards",
        }
    ]


def _trees_of_a_long_fit(target, X, y, threads):
    """The number of trees, from the second of two short fits; the first is the warm-up."""
    for _ in range(2):
        started = time.perf_counter()
        target.fit(X, y, 2, threads, data.SEED)
        seconds = time.perf_counter() - started
    return max(10, int(2 * LENGTH / seconds))


def _busy_threads():
    """Threads that are taking CPU time, even if they end soon."""
    first, last = {}, {}
    end = time.perf_counter() + WATCH
    while time.perf_counter() < end:
        for task, seconds in _cpu_seconds():
            first.setdefault(task, seconds)
            last[task] = seconds
        time.sleep(WATCH / 50)
    return sum(last[task] - first[task] > BUSY for task in last)


def _cpu_seconds():
    """The CPU time of each thread of this process; Linux only."""
    ticks = os.sysconf("SC_CLK_TCK")
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(OSError):  # it may have ended meanwhile
            fields = (task / "stat").read_text().rpartition(")")[2].split()
            yield task.name, (int(fields[11]) + int(fields[12])) / ticks
