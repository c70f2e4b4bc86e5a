# SPDX-License-Identifier: BSD-3-Clause
"""aeon's rotation forest with its defaults."""

from adapters.base import ScikitLearnAdapter


class RotationForest(ScikitLearnAdapter):
    label = "aeon rotation forest"
    module = "aeon.classification.sklearn"
    requirement = "aeon"
    environment = "aeon"

    def estimator(self, trees, threads, seed, **settings):
        return self.library.RotationForestClassifier(
            n_estimators=trees, n_jobs=threads, random_state=seed, **settings
        )

    def validator(self, model):
        """None, because it has checks of its own."""
