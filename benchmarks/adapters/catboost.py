# SPDX-License-Identifier: BSD-3-Clause
"""CatBoost with its defaults, saved in its binary format."""

from adapters.base import BOOSTING_SIZES, Adapter


class CatBoost(Adapter):
    label = "CatBoost"
    module = "catboost"
    requirement = "catboost"
    family = "boosting"
    sizes = BOOSTING_SIZES

    def fit(self, X, y, trees, threads, seed, **settings):
        model = self.library.CatBoostClassifier(
            iterations=trees,
            thread_count=threads,
            random_seed=seed,
            verbose=False,
            allow_writing_files=False,
            **settings,
        )
        return model.fit(X, y)

    def predictor(self, model, threads):
        return lambda X: model.predict(X, thread_count=threads).ravel()

    def save(self, model, path):
        model.save_model(str(path))
