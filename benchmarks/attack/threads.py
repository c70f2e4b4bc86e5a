# SPDX-License-Identifier: BSD-3-Clause
"""One object that some threads use while another fits it again."""

import contextlib
import sys
import threading
import time

import numpy as np

from attack.outcomes import FINE, expect
from attack.subjects import same

SECONDS = 0.1
ASKING = 3


class Threads:
    """Every answer is that of one of the fits."""

    def __init__(self, subject, folder):
        self.subject, self.folder = subject, folder
        rng = np.random.default_rng(0)
        # With other numbers of classes and trees, and as many features.
        self.problems = []
        for classes in (2, 3):
            X = rng.normal(size=(60, 4)).astype(np.float32)
            y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5) * (classes > 2)
            self.problems.append((X, y))
        self.rows = rng.normal(size=(50, 4)).astype(np.float32)

    def prepare(self, rng):
        order = rng.integers(2, size=1000)
        return lambda: self.fit_again(order)

    def fit_again(self, order):
        model = self.subject.plain()
        expected = [self.subject.answers(model.fit(*p), self.rows) for p in self.problems]
        done, failures = threading.Event(), []

        def ask():
            while not done.is_set():
                try:
                    answers = self.subject.answers(model, self.rows)
                    if not any(same(answers, each) for each in expected):
                        failures.append("an answer of no fit")
                except Exception as error:  # noqa: BLE001 (nothing may fail)
                    failures.append(f"{type(error).__name__}: {error}")

        threads = [threading.Thread(target=ask, daemon=True) for _ in range(ASKING)]
        with _hasty():
            for thread in threads:
                thread.start()
            end = time.monotonic() + SECONDS
            for problem in order:
                model.fit(*self.problems[problem])
                if time.monotonic() > end:
                    break
            done.set()
            for thread in threads:
                thread.join()
        expect(not failures, f"{len(failures)} of the answers, such as {failures[:1]}")
        return FINE


@contextlib.contextmanager
def _hasty():
    """Threads change as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(before)
