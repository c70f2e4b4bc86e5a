# SPDX-License-Identifier: BSD-3-Clause
"""Ctrl-C during long work: soon, without threads left behind, and with the old model as it was.

Each scenario runs in a process of its own, which sends itself SIGINT from a timer.
"""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

pytestmark = [
    pytest.mark.threads,
    pytest.mark.skipif(sys.platform == "win32", reason="SIGINT cannot be sent there"),
]

# What takes a second may take this many where sanitizers slow all down.
PATIENCE = float(os.environ.get("CO2FOREST_TEST_PATIENCE", "1"))

# Seconds between the signal and the exception. What is limited strictly is the time that a thread
# computes, because other programs may take the processor meanwhile.
COMPUTING = 0.25 * PATIENCE
WAITING = 20.0 * PATIENCE

PRELUDE = """
    import json
    import os
    import pathlib
    import signal
    import sys
    import threading
    import time

    import numpy as np
    import scipy.sparse as sp
    from sklearn.datasets import load_digits

    from co2forest import (
        CO2ForestClassifier, CO2ForestRegressor, CO2TreeClassifier, baselines
    )

    def count_threads():
        time.sleep(0.02)  # a thread that was joined is listed a moment longer
        tasks = pathlib.Path("/proc/self/task")
        return len(list(tasks.iterdir())) if tasks.exists() else threading.active_count()

    def interrupt(work, delay):
        '''Seconds from the signal to KeyboardInterrupt, those of them in which a thread computed,
        and how many threads are left over.'''
        sent, go = [], threading.Event()

        def send():
            go.wait()
            time.sleep(delay)
            sent.append((time.perf_counter(), time.process_time()))
            os.kill(os.getpid(), signal.SIGINT)

        before = count_threads()
        sender = threading.Thread(target=send)
        sender.start()
        try:
            go.set()
            while sender.is_alive():  # on a busy machine the signal may come late
                work()
            sys.exit("the signal did not end the work")
        except KeyboardInterrupt:
            now = time.perf_counter(), time.process_time()
            waiting, computing = (end - begin for begin, end in zip(sent[0], now))
        sender.join()
        for _ in range(100):  # the kernel takes a moment to forget a thread that has been joined
            if count_threads() <= before:
                break
            time.sleep(0.01)
        return waiting, computing / n_jobs, count_threads() - before

    def outputs(model):
        numbers = isinstance(model, CO2ForestRegressor)
        return np.array((model.predict if numbers else model.predict_proba)(X_small)).tolist()

    def state(model):
        return {
            "names": sorted(vars(model)),
            "outputs": outputs(model),
            "labels": model.predict(X_small).tolist(),
            "classes": np.array(getattr(model, "classes_", [])).tolist(),
            "n_features_in_": model.n_features_in_,
            "n_classes_": getattr(model, "n_classes_", None),
            "solver_": getattr(model, "solver_", None),
            "n_iter_": model.n_iter_.tolist(),
            "importances": model.feature_importances_.tolist(),
            "trees": model._forest.n_trees,
        }

    rng = np.random.default_rng(0)
    X_small = rng.normal(size=(90, 4)).astype(np.float32)
    y_small = np.array(["a", "b", "c"])[np.arange(90) % 3]
    X, y = load_digits(return_X_y=True)
    X = np.tile(X, (8, 1)).astype(np.float32) + rng.normal(size=(8 * len(X), 64))
    X = (X * (X > 2)).astype(np.float32)
    y = np.tile(y, 8)
    n_jobs, moments, kinds = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
"""

FIT = """
    def make(kind):
        if kind == "tree":
            return CO2TreeClassifier(random_state=0)
        if hasattr(baselines, kind):
            return getattr(baselines, kind)(3, random_state=0, n_jobs=n_jobs)
        params = {
            "cccp": {"solver": "cccp"},
            "warm start": {"warm_start": True},
            "bootstrap": {"bootstrap": True, "oob_score": True},
            "refined": {"refine": 50},
        }.get(kind, {})
        if kind in ("numbers", "select"):
            solver = "select" if kind == "select" else "auto"
            return CO2ForestRegressor(
                40, loss="huber", solver=solver, keep_targets=True, random_state=0, n_jobs=n_jobs
            )
        return CO2ForestClassifier(40, random_state=0, n_jobs=n_jobs, **params)

    def targets(kind, y):
        if kind in ("numbers", "select"):
            return np.unique(y, return_inverse=True)[1] * 1.5
        return np.stack([y == y[0], y != y[1]], axis=1) if kind == "labels" else y

    def lengthen(model, kind):
        '''Makes its next fit take minutes; returns the data for it.'''
        if kind == "tree":
            model.set_params(max_iter=1_000_000)
        else:
            model.set_params(n_estimators=100_000)
        if kind == "LDAForestClassifier":  # one discriminant takes seconds
            model.set_params(max_features=None)
            return rng.normal(size=(40, 2000)).astype(np.float32), np.arange(40) % 2
        if kind == "warm start":
            return X_small, y_small
        return (sp.csr_array(X) if kind == "sparse" else X), targets(kind, y)

    make("").fit(X[:200], y[:200]).predict(X)  # starts whatever threads are started only once
    results = []
    for kind in kinds:
        y_kind = targets(kind, y_small)
        model = make(kind).fit(X_small, y_kind)
        before = state(model)
        data = lengthen(model, kind)
        for delay in (0.0, 0.003, 0.05, *rng.uniform(0.1, 0.4, moments - 3)):
            times = interrupt(lambda: model.fit(*data), delay)
            now = state(model)
            changed = [name for name in before if before[name] != now[name]]
            results.append((kind, delay, *times, changed))
        # The next fit works, and is the same as if nothing had happened.
        fresh = make(kind).fit(X_small, y_kind)
        if kind == "warm start":
            fresh.set_params(n_estimators=60).fit(X_small, y_kind)
        model.set_params(**fresh.get_params()).fit(X_small, y_kind)
        if outputs(model) != outputs(fresh):
            sys.exit("the next fit gives another model")
    print(json.dumps(results))
"""

PREDICT = """
    forest = CO2ForestClassifier(300, random_state=0, n_jobs=n_jobs).fit(X[:500], y[:500])
    results = []
    for kind in kinds:
        model, many = forest, np.tile(X, (12, 1))
        if kind == "sparse":
            many = sp.csr_array(many)
        if kind == "wide":  # few rows and trees, but each step takes long
            many = np.tile(rng.normal(size=(200, 20_000)).astype(np.float32), (12, 1))
            model = CO2ForestClassifier(8, scale="global", random_state=0, n_jobs=n_jobs)
            model.fit(many[:200], np.arange(200) % 20)
        work = model.apply if kind == "apply" else model.predict_proba
        expected = work(many[:100])
        for delay in (0.0, *rng.uniform(0.0, 0.2, moments - 1)):
            results.append((kind, delay, *interrupt(lambda: work(many), delay), []))
        if not np.array_equal(work(many[:100]), expected):
            sys.exit("the next prediction is another one")
    print(json.dumps(results))
"""

SEGMENT = """
    from co2forest.segmentation import ForestSegmenter

    images = [rng.integers(0, 256, size=(200, 200, 3)).astype(np.uint8) for _ in range(3)]
    maps = [(image[:, :, 0] > 100).astype(np.uint8) for image in images]
    model = ForestSegmenter(11, 4, samples_per_tree=500, random_state=0, n_jobs=n_jobs)
    model.fit(images, maps)
    expected = model.predict_proba(images[0]).tobytes()
    large = np.tile(images[0], (10, 10, 1))
    results = []
    for kind in kinds:
        model.set_params(n_estimators=4, samples_per_tree=500, split="co2", border="ignore")
        model.fit(images, maps)
        before = dict(vars(model))
        if kind == "predict":
            work = lambda: model.predict(large)
        else:
            model.set_params(n_estimators=10_000, samples_per_tree=10**5, split=kind)
            before |= model.get_params()
            work = lambda: model.fit(images, maps)
        for delay in (0.0, 0.003, *rng.uniform(0.02, 0.3, moments - 2)):
            times = interrupt(work, delay)
            now = vars(model)
            changed = [name for name in before | now if before.get(name) is not now.get(name)]
            results.append((kind, delay, *times, changed))
        if model.set_params(border="ignore").predict_proba(images[0]).tobytes() != expected:
            sys.exit("the next prediction is another one")
    print(json.dumps(results))
"""


def run(script, *arguments):
    code = textwrap.dedent(PRELUDE) + textwrap.dedent(script)
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=280 * PATIENCE,
    )
    assert result.returncode == 0, result.stderr
    results = json.loads(result.stdout)
    assert len(results) >= 20
    for kind, delay, waiting, computing, threads, changed in results:
        moment = f"{kind}, after {delay:.3f} s"
        print(f"{moment}: {waiting:.3f} s until the exception, {computing:.3f} s computing")  # noqa: T201
        assert threads == 0, f"{moment}: {threads} threads are left"
        assert changed == [], f"{moment}: the fitted model has changed"
        assert computing < COMPUTING, moment
        assert waiting < WAITING, moment


def test_interrupted_fit_on_one_thread():
    run(FIT, 1, 7, "dense", "tree", "warm start", "refined")


def test_interrupted_fit_on_two_threads():
    run(FIT, 2, 6, "dense", "sparse", "cccp", "bootstrap")


def test_interrupted_fit_to_numbers_and_labels():
    run(FIT, 2, 7, "numbers", "select", "labels")


def test_interrupted_fit_of_baselines():
    run(FIT, 1, 7, "OC1ForestClassifier", "CARTLCForestClassifier", "LDAForestClassifier")


@pytest.mark.slow
def test_interrupted_fit_of_baselines_on_two_threads():
    run(FIT, 2, 7, "OC1ForestClassifier", "AxisForestClassifier", "TwoProbeForestClassifier")


@pytest.mark.slow
def test_interrupted_prediction_on_one_thread():
    run(PREDICT, 1, 11, "dense", "wide")


def test_interrupted_prediction_on_two_threads():
    run(PREDICT, 2, 7, "dense", "sparse", "apply")


def test_interrupted_segmenter():
    run(SEGMENT, 2, 5, "co2", "two_probe", "axis", "predict")


def test_a_script_ends_like_any_other():
    """Ctrl-C in a shell: the usual traceback and exit status, no crash at exit."""
    code = """
        import numpy as np
        from co2forest import CO2ForestClassifier

        X = np.random.default_rng(0).normal(size=(5000, 20))
        CO2ForestClassifier(1_000_000, n_jobs=2, verbose=1).fit(X, X[:, 0] + X[:, 1] > 0)
    """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stderr.readline().startswith("co2forest [")  # its progress
            time.sleep(0.5)  # so that trees are growing
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=240 * PATIENCE)
        finally:
            process.kill()
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert process.returncode == -signal.SIGINT
