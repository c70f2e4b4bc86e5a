"""Data sets."""

from co2forest.datasets.readers import read_idx, read_libsvm, read_uci
