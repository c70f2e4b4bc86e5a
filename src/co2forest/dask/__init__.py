# SPDX-License-Identifier: BSD-3-Clause
"""Forests on a Dask cluster, for data that no machine holds; needs ``co2forest[dask]``."""

try:
    from co2forest.dask._cluster import ClusterError
    from co2forest.dask.forest import DaskCO2ForestClassifier, DaskCO2ForestRegressor, DaskForest
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"co2forest.dask needs {error.name}: pip install 'co2forest[dask]'", name=error.name
    ) from error

__all__ = ["ClusterError", "DaskCO2ForestClassifier", "DaskCO2ForestRegressor", "DaskForest"]
