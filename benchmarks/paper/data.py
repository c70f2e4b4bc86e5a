"""The data sets of the experiments, and whether they are the paper's."""

from typing import Any, NamedTuple

import datasets


class Data(NamedTuple):
    """A data set; only a complete one may be compared with the paper."""

    kind: str  # "complete", "subset" or "stand-in"
    X_train: Any
    y_train: Any
    X_test: Any
    y_test: Any


def load(folder, name, config):
    return Data(config["sets"][name]["kind"], *datasets.load(folder, name))
