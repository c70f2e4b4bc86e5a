# SPDX-License-Identifier: BSD-3-Clause
"""A fit with less memory than it needs."""

import resource

import numpy as np

from memory import MIB, release_unused, status_bytes
from robustness import data
from robustness.targets import Target

TREES = 20
SECONDS = 60  # for the whole process; several times what it takes with enough memory
LIMITS = (1, 2, 4, 8, 16, 32)  # MiB of address space beyond what the process has


def save_data(path):
    """Save data for other processes. Generating them there would leave free memory to use."""
    X, y, _ = data.large()
    np.savez(path, X=X, y=y)


def fit_with(target: Target, mib, path):
    """Fit with this much memory, and then a small fit without a limit."""
    _fit_small(target)  # so that what a library keeps, such as threads, exists before
    with np.load(path) as arrays:
        X, y = arrays["X"], arrays["y"]
    release_unused()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (status_bytes("VmSize") + mib * MIB, hard))
    try:
        target.fit(X, y, TREES, 2, data.SEED)
        outcome, detail = "fitted", ""
    except Exception as error:  # noqa: BLE001 (whatever a library raises is a result)
        outcome, detail = "exception", type(error).__name__
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
    try:
        _fit_small(target)
    except Exception as error:  # noqa: BLE001
        outcome, detail = "unusable", f"afterwards {type(error).__name__}"
    return [{"outcome": outcome, "detail": detail}]


def _fit_small(target):
    X, y, _ = data.small()
    target.fit(X, y, TREES, 2, data.SEED)
