# SPDX-License-Identifier: BSD-3-Clause
"""What is measured, and the large forest that is estimated from it."""

from dataclasses import dataclass

# Fits on a cluster; all have the same rows and trees.
ROWS, FEATURES = 76_800, 20
TREES, DRAWS, TREES_PER_TASK = 16, 10_000, 2
WORKERS = (1, 2)  # with one thread each
PARTITIONS = (6, 24, 96)
READ_TASKS = 7  # tasks that make X and y of a partition: three functions, four names

# Steps of a large fit, without a cluster.
WIDE = 100  # features
PARTITION_ROWS = 625_000  # 250 MB
BATCHES = (20, 3, 625)  # batches, trees of each, draws of each tree from the partition
TREE_DRAWS = (10_000, 20_000, 40_000, 80_000)


@dataclass(frozen=True)
class Assumed:
    """The large forest and its cluster; nothing here is measured."""

    n_rows: int = 1_000_000_000
    n_features: int = WIDE
    partition_rows: int = PARTITION_ROWS
    n_trees: int = 1000
    max_samples: int = 1_000_000
    n_workers: int = 100
    threads: int = 4  # per worker
    memory: float = 32e9  # bytes per worker
    network: float = 1.25e9  # bytes per second, for each machine
    storage: float = 2e8  # bytes per second, for each worker
    read_tasks: int = READ_TASKS
