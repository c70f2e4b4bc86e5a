# SPDX-License-Identifier: BSD-3-Clause
"""scikit-learn's histogram gradient boosting with its defaults.

By default it stops early on sets of more than 10 000 rows, so it may make fewer rounds than asked.
"""

from adapters.base import BOOSTING_SIZES, ScikitLearnAdapter


class HistGradientBoosting(ScikitLearnAdapter):
    label = "scikit-learn HistGradientBoosting"
    module = "sklearn.ensemble"
    requirement = "scikit-learn"
    family = "boosting"
    sizes = BOOSTING_SIZES

    def estimator(self, trees, threads, seed, **settings):
        limit_openmp(threads)  # it has no parameter for threads
        return self.library.HistGradientBoostingClassifier(
            max_iter=trees, random_state=seed, **settings
        )

    def predictor(self, model, threads):
        limit_openmp(threads)
        return model.predict


def limit_openmp(threads):
    from threadpoolctl import threadpool_limits

    threadpool_limits(threads, user_api="openmp")
