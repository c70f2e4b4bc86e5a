"""From files of raw columns to models that take such files: reading, encoding, fitting."""

from co2forest.tables.encoder import TableEncoder
from co2forest.tables.model import TableModel, fit_table, unwrap
from co2forest.tables.reading import read_table

__all__ = ["TableEncoder", "TableModel", "fit_table", "read_table", "unwrap"]
