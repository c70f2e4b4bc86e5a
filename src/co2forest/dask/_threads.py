# SPDX-License-Identifier: BSD-3-Clause
"""The threads of a worker, shared by the tasks that run there at the same time."""

import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

import distributed


class ThreadBudget:
    """Hands out threads, never more than there are in all, and never none."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._taken = 0

    @contextmanager
    def share(self, total: int, wanted: int) -> Iterator[int]:
        """Some of ``total`` threads, at most as many as wanted; waits until one is free.

        A waiting task holds one of the worker's own threads, but the tasks it waits for keep the
        processors busy.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._taken < total)
            mine = max(1, min(wanted, total - self._taken))
            self._taken += mine
        try:
            yield mine
        finally:
            with self._changed:
                self._taken -= mine
                self._changed.notify_all()


_budgets: defaultdict[str, ThreadBudget] = defaultdict(ThreadBudget)  # of workers in this process
_lock = threading.Lock()


@contextmanager
def threads_of_worker(wanted: int) -> Iterator[int]:
    """Native threads for a task; one outside a worker.

    Dask runs as many tasks as a worker has threads, and says nothing to native code about it: a
    pool sized by the processors of the machine would take them from the other workers.
    """
    try:
        worker = distributed.get_worker()
    except ValueError:
        yield 1
        return
    with _lock:
        budget = _budgets[worker.id]
    with budget.share(worker.state.nthreads, wanted) as mine:
        yield mine
