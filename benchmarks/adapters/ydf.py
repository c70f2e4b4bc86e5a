# SPDX-License-Identifier: BSD-3-Clause
"""YDF's random forests: axis-aligned and sparse oblique.

Both grow full trees, as all other forests here do. By default YDF stops at depth 16 and five rows
per leaf, which is faster but costs it 1.6 points of error on Letter (30 trees).

The oblique forest tries as many projections per node as there are features, with continuous
weights. The default is the square of that number. It takes 7 to 30 times as long; its error is
lower on Letter and higher on SatImage.
"""

from typing import ClassVar

import numpy as np

from adapters.base import Adapter


class YDFRandomForest(Adapter):
    label = "YDF random forest"
    module = "ydf"
    requirement = "ydf"
    changed: ClassVar = {"max_depth": -1, "min_examples": 1}

    def fit(self, X, y, trees, threads, seed, **settings):
        self.library.verbose(0)
        learner = self.library.RandomForestLearner(
            label="y",
            num_trees=trees,
            num_threads=threads,
            random_seed=seed,
            **(self.changed | settings),
        )
        return learner.train(columns(X) | {"y": y.astype(np.int64)})

    def predictor(self, model, threads):
        labels = np.array([int(name) for name in model.label_classes()])

        def predict(X):
            scores = model.predict(columns(X), num_threads=threads)
            # With two classes, only the second has a column.
            best = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0.5).astype(int)
            return labels[best]

        return predict

    def save(self, model, path):
        model.save(str(path))


class YDFObliqueForest(YDFRandomForest):
    label = "YDF sparse oblique"
    changed: ClassVar = YDFRandomForest.changed | {
        "split_axis": "SPARSE_OBLIQUE",
        "sparse_oblique_num_projections_exponent": 1.0,
        "sparse_oblique_weights": "CONTINUOUS",
    }


def columns(X):
    """One feature with many values; a matrix of bytes would be taken for text."""
    return {"x": X.astype(np.float32, copy=False)}
