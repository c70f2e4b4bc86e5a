# SPDX-License-Identifier: BSD-3-Clause
"""XGBoost with its defaults, saved as binary JSON."""

import shutil

from adapters.base import BOOSTING_SIZES, Adapter


class XGBoost(Adapter):
    label = "XGBoost"
    module = "xgboost"
    requirement = "xgboost"
    family = "boosting"
    sizes = BOOSTING_SIZES

    def fit(self, X, y, trees, threads, seed, **settings):
        model = self.library.XGBClassifier(
            n_estimators=trees, n_jobs=threads, random_state=seed, **settings
        )
        return model.fit(X, y)

    def predictor(self, model, threads):
        model.get_booster().set_param({"nthread": threads})
        return model.predict

    def save(self, model, path):
        # The file extension chooses the format.
        model.save_model(f"{path}.ubj")
        shutil.move(f"{path}.ubj", path)
