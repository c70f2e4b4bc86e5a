# SPDX-License-Identifier: BSD-3-Clause
"""Models of tables: read files of raw columns, encode the columns, fit a forest."""

from co2forest.tables.encoder import TableEncoder
from co2forest.tables.model import TableModel, fit_table, unwrap
from co2forest.tables.reading import read_table

__all__ = ["TableEncoder", "TableModel", "fit_table", "read_table", "unwrap"]
