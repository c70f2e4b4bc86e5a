# SPDX-License-Identifier: BSD-3-Clause
"""treeple's oblique random forest.

It tries as many candidates per node as there are features, each a combination of three. The
default is the square root of their number. On Letter, Pendigits and SatImage this setting is more
accurate and takes 4 to 8 times as long.
"""

from adapters.base import ScikitLearnAdapter


class ObliqueRandomForest(ScikitLearnAdapter):
    label = "treeple oblique forest"
    module = "treeple"
    requirement = "treeple"
    environment = "treeple"

    def estimator(self, trees, threads, seed, **settings):
        candidates = {"max_features": None, "feature_combinations": 3}
        return self.library.ObliqueRandomForestClassifier(
            n_estimators=trees, n_jobs=threads, random_state=seed, **(candidates | settings)
        )
