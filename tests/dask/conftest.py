# SPDX-License-Identifier: BSD-3-Clause
"""Clusters of processes on this machine, which the tests of a session share."""

import logging
import os

import dask
import pytest
from distributed import Client, LocalCluster
from distributed.utils import get_mp_context

N_WORKERS = 2


@pytest.fixture(scope="session", autouse=True)
def _quick_start():
    """The process from which workers are forked has imported all they need, and nothing else."""
    if os.name == "posix":
        context = get_mp_context()  # which asks for much that may be installed
        context.set_forkserver_preload(["distributed", "co2forest.dask"])


@pytest.fixture(scope="session", autouse=True)
def _short_waits():
    """A worker that asks one that was killed for data tries for 5 seconds, not for 30."""
    with dask.config.set({"distributed.comm.timeouts.connect": "5s"}):
        yield


@pytest.fixture(scope="session")
def cluster():
    """Two workers of one thread, each with a nanny, which replaces a worker that was killed."""
    with LocalCluster(
        n_workers=N_WORKERS,
        threads_per_worker=1,
        processes=True,
        memory_limit="1GB",
        dashboard_address=":0",
        silence_logs=logging.CRITICAL,
    ) as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    """A client of its own for each test: what it has sent is gone with it."""
    with Client(cluster) as client:
        client.wait_for_workers(N_WORKERS, timeout=240)
        yield client


@pytest.fixture(scope="session")
def threads():
    """A client of two workers that are threads of this process: quick to start, and all to see."""
    with (
        LocalCluster(
            n_workers=N_WORKERS,
            threads_per_worker=1,
            processes=False,
            memory_limit="2GB",
            dashboard_address=":0",
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client
