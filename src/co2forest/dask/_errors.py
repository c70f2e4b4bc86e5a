"""What can go wrong with a cluster."""


class ClusterError(RuntimeError):
    """A Dask cluster could not finish a task, or lost data that nobody can compute again."""
