# SPDX-License-Identifier: BSD-3-Clause
"""co2forest with its defaults, and its axis-aligned forest."""

from typing import ClassVar

from adapters.base import ScikitLearnAdapter


class CO2Forest(ScikitLearnAdapter):
    label = "co2forest"
    module = "co2forest"
    requirement = "co2forest"
    # Finer than the others, to show how many trees reach another library's error.
    sizes = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30, 50, 100)

    def estimator(self, trees, threads, seed, **settings):
        return self.library.CO2ForestClassifier(
            n_estimators=trees, n_jobs=threads, random_state=seed, **settings
        )


class CO2ForestAVX2(CO2Forest):
    label = "co2forest, AVX2"
    variables: ClassVar = {"CO2FOREST_ISA": "avx2"}


class CO2ForestBaseline(CO2Forest):
    label = "co2forest, baseline"
    variables: ClassVar = {"CO2FOREST_ISA": "baseline"}


class AxisForest(ScikitLearnAdapter):
    label = "co2forest, axis-aligned"
    module = "co2forest.baselines"
    requirement = "co2forest"
    sizes = (100,)

    def estimator(self, trees, threads, seed, **settings):
        return self.library.AxisForestClassifier(
            n_estimators=trees, n_jobs=threads, random_state=seed, **settings
        )
