# SPDX-License-Identifier: BSD-3-Clause
"""Saves that are killed, and files that change while they are read."""

import os
import shutil
import signal
import time

import numpy as np

from attack.outcomes import FINE, REFUSED, Wrong, expect
from attack.subjects import same


class Saves:
    """Two models that replace each other in one place."""

    def __init__(self, subject, folder):
        self.subject, self.folder = subject, folder
        rng = np.random.default_rng(0)
        X = rng.normal(size=(300, 8)).astype(np.float32)
        self.rows = X[:50]
        suffix = subject.form.suffix if hasattr(subject, "form") else ".safetensors"
        self.models = [subject.plain().fit(X, X[:, i] > 0) for i in range(2)]
        self.expected = [subject.answers(model, self.rows) for model in self.models]
        self.place = folder / "saves"
        self.place.mkdir()
        self.path = self.place / f"model{suffix}"
        self.copies = [folder / f"copy{i}{suffix}" for i in range(2)]
        for model, copy in zip(self.models, self.copies, strict=True):
            subject.save(model, copy)
        started = time.perf_counter()
        self.renew()
        self.seconds = time.perf_counter() - started  # that a save takes

    def prepare(self, rng):
        part = rng.random()
        if rng.random() < 0.5 or self.path.is_dir():
            return lambda: self.kill(2 * part * self.seconds)
        return lambda: self.overwrite("wb" if part < 0.5 else "r+b")

    def kill(self, seconds):
        """The file is the old or the new one, and the next save tidies up."""
        child = self.start(lambda: self.subject.save(self.models[1], self.path))
        time.sleep(seconds)
        self.end(child)
        try:
            self.expect_one_of_both()
            self.subject.save(self.models[0], self.path)
            left = [path.name for path in self.place.iterdir() if path != self.path]
            expect(not left, f"files are left over: {left}")
        except Wrong:
            raise
        except Exception as error:
            raise Wrong(f"the model is lost: {error}") from error
        finally:
            self.renew()
        return FINE

    def overwrite(self, mode):
        """As `cp` and a full disk do. What is read is refused, or one of both."""
        data, parent = [copy.read_bytes() for copy in self.copies], os.getpid()

        def write():
            while os.getppid() == parent:  # which may die of what it reads
                for content in data:
                    with self.path.open(mode) as file:
                        file.write(content[: len(content) // 2])
                        file.flush()
                        file.write(content[len(content) // 2 :])

        outcome = FINE
        child = self.start(write)
        try:
            for _ in range(5):
                try:
                    self.expect_one_of_both()
                except self.subject.refusals:
                    outcome = REFUSED
        finally:
            self.end(child)
            self.renew()
        return outcome

    def expect_one_of_both(self):
        answers = self.subject.answers(self.subject.load(self.path), self.rows)
        expect(any(same(answers, each) for each in self.expected), "the answers of no model")

    def renew(self):
        shutil.rmtree(self.place)
        self.place.mkdir()
        self.subject.save(self.models[0], self.path)

    def start(self, action):
        child = os.fork()
        if child == 0:
            try:
                action()
            finally:
                os._exit(0)
        return child

    def end(self, child):
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
