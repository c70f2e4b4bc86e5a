# SPDX-License-Identifier: BSD-3-Clause
"""scikit-learn's random forest with its defaults, and with the splits of the paper."""

from adapters.base import ScikitLearnAdapter


class RandomForest(ScikitLearnAdapter):
    label = "scikit-learn random forest"
    module = "sklearn.ensemble"
    requirement = "scikit-learn"
    sizes = (1, 3, 10, 30, 100, 300, 1000)

    def estimator(self, trees, threads, seed, **settings):
        return self.library.RandomForestClassifier(
            n_estimators=trees, n_jobs=threads, random_state=seed, **settings
        )


class EntropyForest(RandomForest):
    label = "scikit-learn random forest, entropy"
    sizes = (100,)

    def estimator(self, trees, threads, seed, **settings):
        return super().estimator(trees, threads, seed, criterion="entropy", **settings)
