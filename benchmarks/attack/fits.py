# SPDX-License-Identifier: BSD-3-Clause
"""Fits and predictions with random data and parameters, and of matrices made by hand."""

import numpy as np

from attack import estimators, values
from attack.outcomes import FINE, expect
from attack.values import pick


class Fits:
    """Any estimator, any data. What is accepted must be sound."""

    def __init__(self, subject, folder):
        self.subject, self.folder = subject, folder

    def prepare(self, rng):
        model = self.subject.estimator(rng)
        problem = values.draw(rng, **self.subject.wants(model))
        return lambda: self.fit(model, problem)

    def fit(self, model, problem):
        if problem.weight is None:
            model.fit(problem.X, problem.y)
        else:
            model.fit(problem.X, problem.y, sample_weight=problem.weight)
        if getattr(model, "warm_start", False) is True and hasattr(model, "n_estimators"):
            model.set_params(n_estimators=model.n_estimators + 2).fit(problem.X, problem.y)
        self.subject.check(model, problem.later, self.folder / "model")
        return FINE


class Sparse:
    """CSR and other matrices whose arrays do not fit together."""

    def __init__(self, subject, folder):
        self.subject, self.folder = subject, folder
        rng = np.random.default_rng(0)
        self.models = {}
        for p in range(1, 12):
            X = rng.normal(size=(60, p)).astype(np.float32)
            self.models[p] = subject.plain().fit(X, (X[:, 0] > 0).astype(int))

    def prepare(self, rng):
        matrix = values.broken_sparse(rng)
        n, p = matrix.shape
        if rng.random() < 0.5 and p in self.models:
            return lambda: self.predict(self.models[p], matrix)
        model = self.subject.estimator(rng)
        return lambda: self.fit(model, matrix, np.arange(min(n, 1000)) % 2)

    def predict(self, model, matrix):
        answers = self.subject.answers(model, matrix)
        expect(len(answers) == matrix.shape[0], "not an answer for each row")
        return FINE

    def fit(self, model, matrix, y):
        model.fit(matrix, y)
        return FINE


class Images:
    """Segmenters of random images, maps and parameters."""

    def __init__(self, subject, folder):
        self.subject, self.folder = subject, folder

    def prepare(self, rng):
        from co2forest.segmentation import ForestSegmenter

        model = estimators.with_random_parameters(ForestSegmenter, rng, window=3)
        odd = rng.random() < 0.2
        shape = [pick([0, 1, 3, 9] if odd else [12, 20], rng), pick([1, 4] if odd else [17], rng)]
        shape += [] if rng.random() < 0.3 else [pick([0, 2] if odd else [1, 3], rng)]
        dtype = pick(["f8", "?", "i4", "u2"] if odd else ["u1", "u1", "f4"], rng)
        n = int(rng.integers(0 if odd else 1, 3))
        images = [_image(shape, dtype, rng) for _ in range(n)]
        maps = [_map(shape[:2], rng) for _ in range(n)]
        later = _image(shape if rng.random() < 0.9 else [*shape, 1], dtype, rng)
        return lambda: self.fit(model, images, maps, later)

    def fit(self, model, images, maps, later):
        model.fit(images, maps)
        labels = model.predict(later)
        expect(labels.shape == later.shape[:2], "not a label for each pixel")
        model.save(self.folder / "model")
        loaded = self.subject.load(self.folder / "model")
        expect(np.array_equal(labels, loaded.predict(later)), "the file predicts something else")
        return FINE


def _image(shape, dtype, rng):
    image = rng.random(shape) * 255
    if rng.random() < 0.2:
        image = rng.choice([0.0, 1.0, 200.0, 1e-39, 3e38], shape)
    if dtype[0] == "f" and rng.random() < 0.05 and image.size:
        image.flat[0] = pick([np.nan, np.inf], rng)
    with np.errstate(all="ignore"):
        image = image.astype(dtype)
    return image[::-1] if rng.random() < 0.2 else image


def _map(shape, rng):
    if rng.random() < 0.05:
        shape = shape[::-1]
    return rng.integers(0, 3, shape).astype(pick(["u1", "u1", "i8", "f4", "i1", "?"], rng))
