# SPDX-License-Identifier: BSD-3-Clause
"""LightGBM with its defaults, saved as text."""

from adapters.base import BOOSTING_SIZES, Adapter


class LightGBM(Adapter):
    label = "LightGBM"
    module = "lightgbm"
    requirement = "lightgbm"
    family = "boosting"
    sizes = BOOSTING_SIZES

    def fit(self, X, y, trees, threads, seed, **settings):
        model = self.library.LGBMClassifier(
            n_estimators=trees, n_jobs=threads, random_state=seed, verbosity=-1, **settings
        )
        return model.fit(X, y)

    def predictor(self, model, threads):
        return model.set_params(n_jobs=threads).predict

    def save(self, model, path):
        model.booster_.save_model(path)
