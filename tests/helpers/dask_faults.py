# SPDX-License-Identifier: BSD-3-Clause
"""What makes a cluster misbehave, and what writes down how it copes; workers import it, too."""

import asyncio
import contextlib
import logging
import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import distributed

import dask_data

_KILL = getattr(signal, "SIGKILL", signal.SIGTERM)


class Diary(distributed.WorkerPlugin):
    """Workers write down which trees they begin and finish, one line each."""

    name = "diary"

    def __init__(self, path):
        self._path = os.fspath(path)

    def transition(self, key, start, finish, **kwargs):
        if str(key).startswith("co2forest-grow-") and start != finish:
            if finish == "executing":
                self._write("began", key)
            elif start == "executing" and finish == "memory":
                self._write("finished", key)

    def _write(self, event, key):
        fit, tree = key.rsplit("-", 2)[1:]
        with Path(self._path).open("a", encoding="utf-8") as file:
            file.write(f"{event} {fit} {tree} {os.getpid()}\n")

    def read(self, event):
        """Each line of a kind as an `Entry`; a task here has one tree."""
        path = Path(self._path)
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        words = [line.split() for line in lines]
        return [Entry(fit, int(tree), int(pid)) for kind, fit, tree, pid in words if kind == event]

    def n_finished(self):
        """How many trees have been finished."""
        return len({entry.tree for entry in self.read("finished")})


class Entry(NamedTuple):
    """A line of a diary."""

    fit: str  # the part of a key that all tasks of a fit share
    tree: int
    process: int


class Death(distributed.WorkerPlugin):
    """The worker that finishes the n-th tree is gone before anybody hears of the tree."""

    name = "death"

    def __init__(self, diary, n_trees):
        self._diary, self._n_trees = diary, n_trees

    def transition(self, key, start, finish, **kwargs):
        if finish == "memory" and self.victim() == os.getpid():
            kill(os.getpid())

    def victim(self):
        """The process, if that has happened."""
        finished = self._diary.read("finished")
        return finished[self._n_trees - 1].process if len(finished) >= self._n_trees else None


class Trap(distributed.WorkerPlugin):
    """A worker that begins a task whose key matches is gone."""

    name = "trap"

    def __init__(self, pattern):
        self._pattern = pattern

    def transition(self, key, start, finish, **kwargs):
        if finish == "executing" and re.search(self._pattern, str(key)):
            kill(os.getpid())


@contextlib.contextmanager
def plugged(client, plugin):
    """All workers have a plugin, those that come later, too."""
    client.register_plugin(plugin)
    try:
        yield plugin
    finally:
        if client.status == "running":
            wait_until(lambda: _has_everywhere(client, plugin.name))
            client.unregister_worker_plugin(plugin.name)


def _has_everywhere(client, name):
    """Whether lost workers have been replaced, and all have a plugin.

    A worker that is just starting would fail to remove it, or add it later.
    """
    have = client.run(_has_plugin, name, on_error="return")
    return len(have) >= len(client.cluster.workers) and all(has is True for has in have.values())


def _has_plugin(name, dask_worker):
    return name in dask_worker.plugins


def deadly_block(seed, n_rows, n_features):
    """The sixth block ends whoever makes it."""
    if seed == 5:
        kill(os.getpid())
    return dask_data.block(seed, n_rows, n_features)


def unreachable_block(seed, n_rows, n_features):
    raise TimeoutError("the disk does not answer")


def kill(process):
    os.kill(process, _KILL)


def peak_memory():
    """The most bytes that this process has had in memory."""
    import resource  # which Windows does not have

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def wait_until(condition, timeout=240.0):
    end = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < end, "what a test waits for has not happened"
        time.sleep(0.005)


@contextlib.contextmanager
def meanwhile(action, *args):
    """An action in a thread; if it fails, so does the test."""
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(action, *args)
        yield future
        future.result(timeout=240)


@contextlib.contextmanager
def python(code, *args):
    """A process that can import what is beside the tests; it is killed in the end."""
    paths = [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
    command = [sys.executable, "-c", code, *map(str, args)]
    with subprocess.Popen(command, env=environment) as process:
        try:
            yield process
        finally:
            process.kill()


@contextlib.contextmanager
def bare_workers(cluster, n_workers):
    """Processes without a nanny: nobody replaces one that is lost."""
    context = distributed.utils.get_mp_context()
    processes = [
        context.Process(target=_work, args=(cluster.scheduler_address,), daemon=True)
        for _ in range(n_workers)
    ]
    for process in processes:
        process.start()
    try:
        cluster.wait_for_workers(n_workers, timeout=240)
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.join(timeout=60)


def _work(address):
    async def work():
        async with distributed.Worker(address, nthreads=1, memory_limit="1GB") as worker:
            await worker.finished()

    logging.disable()
    asyncio.run(work())
