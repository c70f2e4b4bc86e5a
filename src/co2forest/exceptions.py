# SPDX-License-Identifier: BSD-3-Clause
"""Exceptions of this library."""


class ModelFormatError(ValueError):
    """A stored model cannot be used: damaged, inconsistent, or in a format from the future."""
