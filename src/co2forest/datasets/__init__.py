"""The data sets of the paper by name, and readers of the formats in which they are published."""

from co2forest.datasets._dataset import Dataset
from co2forest.datasets._load import list_datasets, load_dataset
from co2forest.datasets._registry import DATASETS
from co2forest.datasets.readers import read_idx, read_libsvm, read_uci
from co2forest.exceptions import DatasetNotFoundError

__all__ = [
    "DATASETS",
    "Dataset",
    "DatasetNotFoundError",
    "list_datasets",
    "load_dataset",
    "read_idx",
    "read_libsvm",
    "read_uci",
]
