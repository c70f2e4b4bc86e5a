# SPDX-License-Identifier: BSD-3-Clause
"""Threads: a fit while others use the estimator, and processes that may start none."""

import subprocess
import sys
import textwrap
import threading
from itertools import count

import numpy as np
import pandas as pd
import pytest

from co2forest import (
    CO2BoostingClassifier,
    CO2EnsembleClassifier,
    CO2ForestClassifier,
    CO2ForestRegressor,
    load_model,
)
from co2forest.tables import TableModel

RNG = np.random.default_rng(0)
# Two problems with other numbers of classes, features and trees, and labels that tell which.
SMALL = RNG.normal(size=(60, 4)).astype(np.float32)
WIDE = RNG.normal(size=(60, 7)).astype(np.float32)


def labels(X, first):
    return first + (X[:, 0] > 0) + (X[:, 1] > 0.5)


class Problem:
    """Fits an estimator to one of two problems, and asks which one it has learned."""

    def __init__(self, estimator, frames=False):
        self.estimator = estimator
        self.frames = frames
        self.expected = [self.answer(self.fit(i), i).tobytes() for i in range(2)]

    def rows(self, i):
        X = (SMALL, WIDE)[i]
        names = [f"{'ab'[i]}{j}" for j in range(X.shape[1])]
        return pd.DataFrame(X, columns=names) if self.frames else X

    def fit(self, i):
        return self.estimator.fit(self.rows(i), labels((SMALL, WIDE)[i], 10 * i))

    def answer(self, estimator, i):
        return np.asarray(estimator.predict(self.rows(i)), dtype=np.float64)


@pytest.mark.threads
@pytest.mark.parametrize(
    "problem",
    [
        Problem(CO2ForestClassifier(3, mixture=None, random_state=0)),
        Problem(CO2ForestRegressor(3, mixture=None, random_state=0)),
        Problem(CO2BoostingClassifier(n_estimators=2, random_state=0)),
        Problem(CO2EnsembleClassifier(2, n_rounds=2, random_state=0)),
        Problem(
            TableModel(CO2ForestClassifier(3, mixture=None, random_state=0), target="y"),
            frames=True,
        ),
    ],
    ids=lambda problem: type(problem.estimator).__name__,
)
def test_predictions_are_those_of_one_fit(problem):
    """While a thread fits to one problem after the other, no answer is a mixture of both."""
    done = threading.Event()
    wrong, right = [], []

    def ask():
        for turn in count():
            if done.is_set():
                return
            i = turn % 2
            try:
                answer = problem.answer(problem.estimator, i).tobytes()
            except ValueError:  # the other problem has other features
                continue
            except BaseException as error:  # noqa: BLE001 (anything else is the defect)
                wrong.append(repr(error))
                return
            (right if answer == problem.expected[i] else wrong).append(i)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    threads = [threading.Thread(target=ask) for _ in range(3)]
    try:
        for thread in threads:
            thread.start()
        for turn in count():
            problem.fit(turn % 2)
            if turn >= 150 and (right or wrong):
                break
    finally:
        done.set()
        for thread in threads:
            thread.join()
        sys.setswitchinterval(before)
    assert not wrong, wrong[:3]


def test_a_file_has_one_fit(tmp_path, monkeypatch):
    """The model that is saved while another fit ends is the one before."""
    problem = Problem(CO2ForestClassifier(3, mixture=None, random_state=0))
    forest = problem.fit(0)
    stored = CO2ForestClassifier._stored

    def stored_late(estimator):
        problem.fit(1)
        return stored(estimator)

    monkeypatch.setattr(CO2ForestClassifier, "_stored", stored_late)
    path = tmp_path / "model"
    forest.save(path)
    assert forest.n_features_in_ == WIDE.shape[1]
    assert problem.answer(load_model(path), 0).tobytes() == problem.expected[0]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems limit threads otherwise")
@pytest.mark.parametrize("n_jobs", [1, 4])
def test_where_no_thread_can_be_started(n_jobs):
    """Nothing needs one: the calling thread does all the work, and Ctrl-C still ends it."""
    code = f"""
        import os, resource, signal, sys, threading
        import numpy as np
        from co2forest import CO2BoostingRegressor, CO2ForestClassifier

        X = np.random.default_rng(0).normal(size=(300, 5)).astype(np.float32)
        y = (X[:, 0] > 0).astype(int)

        def results():
            forest = CO2ForestClassifier(8, random_state=0, n_jobs={n_jobs}).fit(X, y)
            boosting = CO2BoostingRegressor(n_estimators=8, random_state=0).fit(X, X[:, 1])
            return forest.predict_proba(X).tobytes() + boosting.predict(X).tobytes()

        expected = results()  # which also imports all that is needed
        many = CO2ForestClassifier(100_000, mixture=None, random_state=0, n_jobs={n_jobs})
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        if os.geteuid() == 0:  # root has no limits
            os.setgid(65534)
            os.setuid(65534)
        resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
        try:
            threading.Thread(target=print).start()
        except RuntimeError:
            pass
        else:
            sys.exit(7)  # this system does not obey the limit
        assert results() == expected
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        try:
            many.fit(X, y)
        except KeyboardInterrupt:
            sys.exit(0)
        sys.exit("the fit was not interrupted")
    """
    found = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    if found.returncode == 7:
        pytest.skip("this system does not obey RLIMIT_NPROC")
    assert found.returncode == 0, found.stderr
