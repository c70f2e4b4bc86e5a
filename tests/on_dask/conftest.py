"""Clusters of processes on this machine, which the tests of a session share."""

import logging

import pytest
from distributed import Client, LocalCluster

N_WORKERS = 2


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
        client.wait_for_workers(N_WORKERS, timeout=60)
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
