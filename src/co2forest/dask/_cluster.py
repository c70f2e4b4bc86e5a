# SPDX-License-Identifier: BSD-3-Clause
"""Tasks on a Dask cluster: sent, waited for, and explained when they fail."""

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from typing import Any

import dask
import distributed
from distributed.comm import CommClosedError
from distributed.scheduler import KilledWorker, NoValidWorkerError, NoWorkerError

_POLL = 0.5  # seconds
_FETCH = 2.0  # seconds to wait for a result before looking whether there are workers
_NO_WORKERS = 300.0  # seconds without workers until a fit gives up, unless Dask's settings differ
_DISCONNECTED = "the connection to the Dask scheduler is lost"


class ClusterError(RuntimeError):
    """A Dask cluster could not finish a task, or lost data that nobody can compute again."""


def find_client(client: Any) -> Any:
    """The client to use: the one given, or the one that is current."""
    if client is None:
        try:
            client = distributed.get_client()
        except ValueError as error:
            raise ValueError(
                "there is no Dask cluster to work on: start one, for example by "
                "client = distributed.Client(), or pass client="
            ) from error
    if not isinstance(client, distributed.Client):
        raise TypeError(f"client must be a distributed.Client or None, got {client!r}")
    if client.asynchronous:
        raise ValueError(f"client must not be asynchronous, got {client!r}")
    if client.status != "running":
        raise ClusterError(f"the client is not connected to a Dask scheduler: {client!r}")
    return client


@contextmanager
def thread_given_back() -> Iterator[None]:
    """Let other tasks run meanwhile, if this is a task itself, as in a search on the same cluster.

    A task that waits for others would keep them from running on the thread of the worker.
    """
    try:
        distributed.get_worker()
    except ValueError:
        yield
        return
    distributed.secede()
    try:
        yield
    finally:
        distributed.rejoin()


class Running:
    """Tasks that have been sent and whose results are not here yet, each with a name for people."""

    def __init__(self, client: Any, on_wait: Callable[[], None] = lambda: None) -> None:
        self._client = client
        self._names: dict[Any, str] = {}  # of futures
        self._on_wait = on_wait
        self.n_workers = 0  # when it was last looked
        self._ended: SimpleQueue[Any] = SimpleQueue()  # futures
        self._looked = 0.0  # when the workers were counted
        self._alone_since: float | None = None

    def __len__(self) -> int:
        return len(self._names)

    def send(self, tasks: Sequence[Any], names: Sequence[str], priority: int = 0) -> list[Any]:
        """Send delayed tasks; return their futures."""
        # Scheduling a task takes longer than sending it, so a large graph needs no warning.
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
            futures = self._client.compute(list(tasks), optimize_graph=False, priority=priority)
        self._names.update(zip(futures, names, strict=True))
        for future in futures:
            future.add_done_callback(self._ended.put)
        return list(futures)

    def results(self) -> Generator[tuple[Any, Any]]:
        """Yield futures and their results as they come; more may be sent meanwhile.

        If one fails, or nobody takes the rest, the tasks are cancelled, also the one that failed:
        the scheduler would remember its failure for as long as an exception refers to it, and what
        the next fit has in common with it would fail too.
        """
        try:
            while self._names:
                for future in self._finished():
                    result = self._result(future, self._names[future])
                    del self._names[future]
                    yield future, result
                    future.release()
        finally:
            if self._names and self._client.status == "running":
                self._client.cancel(list(self._names))

    def _finished(self) -> list[Any]:
        """Futures that have ended since the last call, successfully or not."""
        # A queue, because distributed.wait looks at all futures whenever one ends.
        finished = []
        with suppress(Empty):
            finished.append(self._ended.get(timeout=_POLL))
            while True:
                finished.append(self._ended.get_nowait())
        if time.monotonic() - self._looked >= _POLL:
            self._check_workers()
        self._on_wait()
        return finished

    def _result(self, future: Any, name: str) -> Any:
        try:
            return self._fetch(future)
        except KilledWorker as error:
            times = error.allowed_failures + 1
            raise ClusterError(
                f"{name}: the task {error.task} ended its worker {times} "
                f"time{'' if times == 1 else 's'}, the last one was "
                f"{getattr(error.last_worker, 'address', error.last_worker)}. Most often memory is "
                "short: try a smaller max_samples, smaller partitions or larger workers; the "
                "workers' logs tell more"
            ) from error
        except (NoWorkerError, NoValidWorkerError) as error:
            raise ClusterError(
                f"{name}: the scheduler has had no worker for the task {error.task} for "
                f"{error.timeout:.0f} s"
            ) from error
        except CommClosedError as error:
            raise ClusterError(f"{name}: {_DISCONNECTED}") from error
        except ClusterError:
            raise  # it is explained already
        except (RuntimeError, CancelledError) as error:
            if self._client.status != "running":
                raise ClusterError(f"{name}: {_DISCONNECTED}") from error
            if isinstance(error, RuntimeError):
                raise  # the task raised it
            raise ClusterError(
                f"{name}: a worker was lost, and with it data that cannot be computed again. What "
                "client.scatter sends has no recipe; read the data with dask.array or "
                "dask.dataframe, or scatter it with broadcast=True"
            ) from error

    def _fetch(self, future: Any) -> Any:
        """The result of a finished task; Dask runs it again if its worker has been lost."""
        patience = _FETCH
        while True:
            try:
                return future.result(timeout=patience)
            except TimeoutError:
                if future.status == "error":  # the task itself raised it
                    raise
            self._check_workers()
            if self.n_workers:
                patience *= 2  # a large result needs longer, and begins anew

    def _check_workers(self) -> None:
        """Count the workers; raise if there has been none for long."""
        self._looked = time.monotonic()
        if self._client.status != "running":
            raise ClusterError(_DISCONNECTED)
        try:
            self.n_workers = len(self._client.nthreads())
        except (OSError, RuntimeError) as error:  # depending on how far the scheduler is closed
            raise ClusterError(_DISCONNECTED) from error
        if self.n_workers:
            self._alone_since = None
            return
        now = time.monotonic()
        self._alone_since = now if self._alone_since is None else self._alone_since
        timeout = dask.config.get("distributed.scheduler.no-workers-timeout", None)
        patience = _NO_WORKERS if timeout is None else dask.utils.parse_timedelta(timeout)
        if now - self._alone_since >= patience:
            raise ClusterError(f"the cluster has had no worker for {patience:.0f} s")


def run_all(client: Any, tasks: Sequence[Any], names: Sequence[str]) -> list[Any]:
    """Results of delayed tasks, in their order."""
    running = Running(client)
    number = {future: i for i, future in enumerate(running.send(tasks, names))}
    results: list[Any] = [None] * len(tasks)
    for future, result in running.results():
        results[number[future]] = result
    return results
