"""Forests on a Dask cluster, for data that no machine holds; needs ``co2forest[dask]``."""

from co2forest.dask._errors import ClusterError

try:
    from co2forest.dask.forests import DaskCO2ForestClassifier, DaskCO2ForestRegressor
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"co2forest.dask needs {error.name}: pip install 'co2forest[dask]'", name=error.name
    ) from error

__all__ = ["ClusterError", "DaskCO2ForestClassifier", "DaskCO2ForestRegressor"]
