"""treeple's oblique random forest.

As many candidates per node as there are features, each a combination of three: on Letter, Pendigits
and SatImage more accurate than the default, the square root of their number, for 4 to 8 times its
time.
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
