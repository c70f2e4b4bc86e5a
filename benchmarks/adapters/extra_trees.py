# SPDX-License-Identifier: BSD-3-Clause
"""scikit-learn's extremely randomised trees with their defaults."""

from adapters.base import ScikitLearnAdapter


class ExtraTrees(ScikitLearnAdapter):
    label = "scikit-learn extra trees"
    module = "sklearn.ensemble"
    requirement = "scikit-learn"

    def estimator(self, trees, threads, seed, **settings):
        return self.library.ExtraTreesClassifier(
            n_estimators=trees, n_jobs=threads, random_state=seed, **settings
        )
