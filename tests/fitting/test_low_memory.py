# SPDX-License-Identifier: BSD-3-Clause
"""Too little memory: MemoryError, and everything works again when there is more."""

import json
import subprocess
import sys

import pytest

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="memory is limited as on Linux"),
    pytest.mark.plain_build,  # sanitizers reserve most of the address space
]

# Each trial has a process of its own, forked from one where everything has run once. Address space
# is what is limited, so the stacks of threads count, too.
TRIALS = """
import json, os, resource, sys, tempfile
import numpy as np
from co2forest import CO2ForestClassifier, load_model

generator = np.random.default_rng(0)
X = generator.integers(0, 256, (100_000, 2), dtype=np.uint8)
y = (X[:, 0] > X[:, 1]).astype(np.uint8)
many_classes = CO2ForestClassifier(2, random_state=0).fit(X[:2000], np.arange(2000) % 50)
wide = generator.normal(size=(400, 3000)).astype(np.float32)
y_wide = np.arange(400) % 5
path = tempfile.mkstemp()[1]
large = CO2ForestClassifier(20, random_state=0).fit(wide, y_wide)
large.save(path)

def fit(**params):
    return lambda: CO2ForestClassifier(**{"n_estimators": 2, "max_depth": 3} | params).fit(X, y)

TASKS = {
    "fit": fit(),
    "fit on two threads": fit(n_jobs=2),
    "fit on forty threads": fit(n_jobs=40, n_estimators=40, max_depth=1),
    "bootstrap": fit(bootstrap=True, oob_score=True, n_estimators=2, n_jobs=2),
    "wide": lambda: CO2ForestClassifier(2, n_jobs=2).fit(wide, y_wide),
    "predict": lambda: many_classes.predict_proba(X),
    "predict on two threads": lambda: many_classes.set_params(n_jobs=2).predict_proba(X),
    "apply": lambda: large.apply(np.tile(wide[:1], (2000, 1))),
    "trees": lambda: large.estimators_,
    "load": lambda: load_model(path),
}

def size():
    return int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()

def take_what_was_freed():
    '''malloc has kept megabytes of what imports and fits have freed, as much as it likes.'''
    taken, length = [], 2**26
    while length >= 2**14:
        try:
            taken.append(np.empty(length, dtype=np.uint8))
        except MemoryError:
            length //= 2
    return taken

def attempt(task, extra):
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (size(), hard))
    taken = take_what_was_freed()
    resource.setrlimit(resource.RLIMIT_AS, (size() + extra, hard))
    try:
        task()
        failed = False
    except MemoryError:
        failed = True
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
    del taken
    if failed:
        task()
    return failed

outcomes = {}
for name, task in TASKS.items():
    outcomes[name] = []
    for extra in map(float, sys.argv[1:]):
        child = os.fork()
        if child == 0:
            code = 99
            try:
                code = int(attempt(task, int(extra * 2**20)))
            finally:
                os._exit(code)
        outcomes[name].append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
os.unlink(path)
print(json.dumps(outcomes))
"""


def outcomes(megabytes):
    result = subprocess.run(
        [sys.executable, "-c", TRIALS, *map(str, megabytes)],
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout), result.stderr


def assert_memory_errors(megabytes):
    """Exit codes: 0 there was enough memory, 1 a MemoryError; negative ones are signals."""
    codes, errors = outcomes(megabytes)
    assert all(set(codes[task]) <= {0, 1} for task in codes), f"{codes}\n{errors}"
    failed = {task for task in codes if 1 in codes[task]}
    assert failed == codes.keys(), codes  # the least is too little for any


def test_too_little_memory():
    assert_memory_errors([0.05, 3])


@pytest.mark.slow
def test_every_amount_of_memory_that_is_too_little():
    assert_memory_errors([0.02 * 1.25**i for i in range(40)])
