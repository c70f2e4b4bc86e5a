# SPDX-License-Identifier: BSD-3-Clause
"""What a fit takes beside its input, and the pieces that keep it small."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from co2forest import CO2ForestClassifier, _native

PEAK = """
import numpy as np
from memory import PeakMemory
from co2forest import CO2ForestClassifier

def peak(rows):
    X = (np.arange(rows, dtype=np.uint32) * np.uint32(2654435761)).view(np.uint8)  # all differ
    X = X.reshape(rows, 4)
    y = X[:, 0] // 64
    with PeakMemory() as peak:
        CO2ForestClassifier(2, max_leaf_nodes=4, mixture=None, n_jobs=2, random_state=0).fit(X, y)
    return peak.mib

peak(20_000)  # what is loaded once
small, large = peak(20_000), peak(820_000)
print((large - small) * 2**20 / 800_000)
"""


def run(code, *options):
    """What a script prints that uses the benchmarks' modules."""
    folder = Path(__file__).parents[2] / "benchmarks"
    command = [sys.executable, "-c", code, *map(str, options)]
    return subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, check=True, text=True).stdout


@pytest.mark.plain_build  # a sanitizer's allocator keeps what is freed, to see who uses it
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="measured on Linux only")
def test_a_fit_takes_few_bytes_per_row():
    # A byte for the label, and for each of two threads the row's number.
    assert float(run(PEAK)) < 14


WINDOWS = """
import numpy as np
from memory import PeakMemory
from co2forest.segmentation import ForestSegmenter

generator = np.random.default_rng(0)
images = [generator.integers(0, 256, size=(250, 250, 3)).astype(np.uint8) for _ in range(3)]
maps = [(image[:, :, 0] > 100).astype(np.uint8) for image in images]
model = ForestSegmenter(
    n_estimators=2, samples_per_tree=50_000, max_leaf_nodes=3, n_jobs=2, random_state=0
)
model.fit([image[:60, :60] for image in images], [part[:60, :60] for part in maps])
with PeakMemory() as fitting:
    model.fit(images, maps)
with PeakMemory() as predicting:
    model.predict(images[0])
print(fitting.mib, predicting.mib)
"""


@pytest.mark.slow
@pytest.mark.plain_build  # the same
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="measured on Linux only")
def test_windows_are_never_copied():
    """Those of the two trees would take 270 MiB as bytes, those of one image 133."""
    fitting, predicting = map(float, run(WINDOWS).split())
    assert fitting < 60
    assert predicting < 20


LEAK = """
import sys
import tempfile
import numpy as np
from memory import status_bytes
from co2forest import CO2ForestClassifier, load_model

generator = np.random.default_rng(0)
X, y = generator.normal(size=(400, 10)).astype(np.float32), np.arange(400) % 4

def use(seed):
    forest = CO2ForestClassifier(3, random_state=seed % 7, n_jobs=1 + seed % 2).fit(X, y)
    with tempfile.NamedTemporaryFile() as file:
        forest.save(file.name)
        load_model(file.name).predict(X)

for seed in range(20):  # heaps of threads, caches: what is taken once
    use(seed)
before = status_bytes("VmRSS")
for seed in range(int(sys.argv[1])):
    use(seed)
print((status_bytes("VmRSS") - before) / 1e6)
"""


@pytest.mark.plain_build  # the same
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="measured on Linux only")
@pytest.mark.parametrize(
    ("n_fits", "megabytes"), [(50, 2), pytest.param(200, 5, marks=pytest.mark.slow)]
)
def test_fits_leave_nothing_behind(n_fits, megabytes):
    assert float(run(LEAK, n_fits)) < megabytes


def test_more_than_two_to_the_31_elements(digits):
    """Offsets have 64 bits. Pages that nobody has written to take no memory, however many."""
    X, _, y, _ = digits
    n, p = 34_000, 64_000
    assert n * p > 2**31
    huge = np.zeros((n, p), dtype=np.uint8)
    huge[-100:, -64:] = X[:100]
    huge[-200:-100, :64] = X[100:200]
    forest = CO2ForestClassifier(1, max_depth=3, random_state=0, mixture=None).fit(
        huge[-200:], y[:200]
    )
    leaves, proba = forest.apply(huge[-200:]), forest.predict_proba(huge[-200:])
    assert len(np.unique(leaves)) > 4
    np.testing.assert_array_equal(forest.apply(huge)[-200:], leaves)
    np.testing.assert_array_equal(forest.predict_proba(huge)[-200:], proba)


@pytest.mark.parametrize("n", [0, 1, 7, 2**15, 2**15 + 1, 300_001])
def test_partition_is_stable(n):
    generator = np.random.default_rng(n)
    ids = generator.permutation(n).astype(np.int32)
    for part in (0.0, 0.3, 1.0):
        right = generator.random(n) < part
        parted, middle = _native.testing.partition(ids, right)
        assert middle == n - right.sum()
        np.testing.assert_array_equal(parted, np.concatenate([ids[~right], ids[right]]))


def sample(X, y, weight, most):
    rows, weights = _native.sample_by_key(
        _native.dense_rows(X), y.astype(np.int32), 4, weight.astype(np.float32), 5, most
    )
    return X[rows], weights


@pytest.mark.parametrize("most", [1, 30, 1000])
def test_a_sample_by_key_ignores_order_and_repeats(most):
    generator = np.random.default_rng(0)
    X, y = generator.normal(size=(200, 3)).astype(np.float32), generator.integers(0, 4, 200)
    weight = generator.integers(0, 4, 200)
    chosen, weights = sample(X, y, weight, most)
    assert len(chosen) == min(most, np.count_nonzero(weight))
    assert len(np.unique(chosen, axis=0)) == len(chosen)
    repeated = generator.permutation(np.repeat(np.arange(200), weight))
    same, same_weights = sample(X[repeated], y[repeated], np.ones(len(repeated)), most)
    np.testing.assert_array_equal(chosen, same)
    np.testing.assert_array_equal(weights, same_weights)


@pytest.mark.parametrize("distinct", [1, 50, 4000])
def test_rows_that_are_alike_are_one(distinct, assert_same_trees):
    generator = np.random.default_rng(distinct)
    X = generator.integers(0, 256, (distinct, 6), dtype=np.uint8)
    X, y = np.unique(X, axis=0), generator.integers(0, 3, distinct)
    weight = np.bincount(generator.integers(0, distinct, 6000), minlength=distinct)
    rows = generator.permutation(np.repeat(np.arange(distinct), weight))
    rows = np.concatenate([np.flatnonzero(weight), rows])  # the first of each in increasing order
    forest = CO2ForestClassifier(2, scale="global", random_state=0, mixture=None)
    weighted = forest.fit(X, y, weight + (weight > 0))
    repeated = CO2ForestClassifier(2, scale="global", random_state=0, mixture=None).fit(
        X[rows], y[rows]
    )
    assert_same_trees(weighted, repeated, ignore=("sample_count",))
