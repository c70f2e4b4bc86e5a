"""What is measured, and the large forest that is estimated from it."""

from dataclasses import dataclass

# Fits on a cluster: the same rows and trees for all.
ROWS, FEATURES = 76_800, 20
TREES, DRAWS, TREES_PER_TASK = 16, 10_000, 2
WORKERS = (1, 2)  # of one thread
PARTITIONS = (6, 24, 96)
READ_TASKS = 7  # that make X and y of a partition: three functions, four names

# Parts of a large fit, without a cluster.
WIDE = 100  # features
PARTITION_ROWS = 625_000  # 250 MB
BATCHES = (20, 3, 625)  # batches, trees of each, draws of each tree from the partition
TREE_DRAWS = (10_000, 20_000, 40_000, 80_000)


@dataclass(frozen=True)
class Assumed:
    """The large forest, and the cluster for it: nothing here is measured."""

    n_rows: int = 1_000_000_000
    n_features: int = WIDE
    partition_rows: int = PARTITION_ROWS
    n_trees: int = 1000
    max_samples: int = 1_000_000
    n_workers: int = 100
    threads: int = 4  # of a worker
    memory: float = 32e9  # of a worker
    network: float = 1.25e9  # bytes a second, of each machine
    storage: float = 2e8  # bytes a second, of each worker
    read_tasks: int = READ_TASKS
