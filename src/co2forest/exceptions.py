"""Exceptions of this library."""


class ModelFormatError(ValueError):
    """A stored model cannot be used: damaged, inconsistent, or in a format from the future."""


class DatasetNotFoundError(FileNotFoundError):
    """A data set is neither in a folder nor in the cache, and was not downloaded."""
