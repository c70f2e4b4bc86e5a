"""YDF's random forests: axis-aligned with its defaults, and sparse oblique.

The oblique one tries as many projections per node as there are features, with continuous weights.
The default, the square of that number, takes 7 to 30 times as long for an error that is lower on
Letter and higher on SatImage.
"""

import numpy as np

from adapters.base import Adapter


class YDFRandomForest(Adapter):
    label = "YDF random forest"
    module = "ydf"
    requirement = "ydf"

    def fit(self, X, y, trees, threads, seed, **settings):
        self.library.verbose(0)
        learner = self.library.RandomForestLearner(
            label="y", num_trees=trees, num_threads=threads, random_seed=seed, **settings
        )
        return learner.train(columns(X) | {"y": y.astype(np.int64)})

    def predictor(self, model, threads):
        labels = np.array([int(name) for name in model.label_classes()])

        def predict(X):
            scores = model.predict(columns(X), num_threads=threads)
            # Of two classes only the second has a column.
            best = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0.5).astype(int)
            return labels[best]

        return predict

    def save(self, model, path):
        model.save(str(path))


class YDFObliqueForest(YDFRandomForest):
    label = "YDF sparse oblique"

    def fit(self, X, y, trees, threads, seed, **settings):
        oblique = {
            "split_axis": "SPARSE_OBLIQUE",
            "sparse_oblique_num_projections_exponent": 1.0,
            "sparse_oblique_weights": "CONTINUOUS",
        }
        return super().fit(X, y, trees, threads, seed, **(oblique | settings))


def columns(X):
    """One feature of many values; a matrix of bytes would be taken for text."""
    return {"x": X.astype(np.float32, copy=False)}
