# SPDX-License-Identifier: BSD-3-Clause
"""Ctrl-C at many moments of a work: how long it computes on, and what it leaves.

Run in a process of its own, whose signals and threads it counts:
``python interruptions.py THREADS MOMENTS WORK ...`` prints a JSON object for each work.
"""

import json
import os
import signal
import sys
import threading
import time
import warnings
from pathlib import Path

import numpy as np

import long_work

LONGEST = 1.0  # seconds until the signal
FEW = 4  # moments
TASKS = Path("/proc/self/task")


def interrupt(work, delay):
    """What ended the work, seconds until then, those that it computed, and threads left over."""
    sent = []

    def send():
        time.sleep(delay)
        sent.append((time.perf_counter(), time.process_time()))
        os.kill(os.getpid(), signal.SIGINT)

    before = _threads()
    sender = threading.Thread(target=send)
    outcome = "no exception"
    try:
        sender.start()
        while sender.is_alive():  # again, if the work is over before
            work()
        time.sleep(0.1)
    except BaseException as error:  # noqa: BLE001 (whatever it is)
        outcome = type(error).__name__
    now = time.perf_counter(), time.process_time()
    sender.join()
    waiting, computing = (end - begin for begin, end in zip(sent[0], now, strict=True))
    for _ in range(100):  # the kernel takes a moment to forget a thread that has been joined
        left = max(0, _threads() - before)
        if left == 0:
            break
        time.sleep(0.01)
    return {
        "delay": delay,
        "outcome": outcome,
        "waiting": waiting,
        "computing": computing,
        "threads_left": left,
    }


def _threads():
    return len(list(TASKS.iterdir())) if TASKS.exists() else threading.active_count()


def moments(count, rng):
    """At random, and of many one at once and one soon. Few are for a test, which shall be short."""
    if count <= FEW:
        return list(rng.uniform(0.01, LONGEST / 2, count))
    return [0.0, 0.003, *rng.uniform(0.01, LONGEST, count - 2)]


def main(threads, count, names):
    signal.signal(signal.SIGINT, signal.default_int_handler)  # it may be ignored
    rng = np.random.default_rng(threads)
    for name in names:
        work = long_work.WORK[name](threads)
        found = [interrupt(work, delay) for delay in moments(count, rng)]
        sys.stdout.write(json.dumps({"work": name, "moments": found}) + "\n")


if __name__ == "__main__":
    with warnings.catch_warnings(action="ignore"):
        main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
