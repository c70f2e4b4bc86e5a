"""Exceptions of this library."""


class ModelFormatError(ValueError):
    """A stored model cannot be used: damaged, inconsistent, or in a format from the future."""
