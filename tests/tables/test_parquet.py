# SPDX-License-Identifier: BSD-3-Clause
"""Parquet files: what is read, and those that stand for more than the memory holds."""

import datetime as dt
import gzip
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from pandas.testing import assert_frame_equal

from co2forest.tables import read_table


def test_parquet(tmp_path):
    frame = pd.DataFrame(
        {
            "n": [1, 2, None],
            "t": ["a", None, "c"],
            "when": pd.to_datetime(["2020-01-01", "2020-06-01", None]),
            "kind": pd.Categorical(["x", "y", "x"]),
            "yes": [True, False, True],
        }
    )
    frame.to_parquet(tmp_path / "a.parquet")
    read = read_table(tmp_path / "a.parquet")
    assert read.columns.tolist() == frame.columns.tolist()
    assert read["kind"].dtype == "category"
    assert read["yes"].dtype == bool
    assert read["when"].tolist()[:2] == frame["when"].tolist()[:2]


def test_bad_parquet(tmp_path):
    pd.DataFrame({"a": range(50)}).to_parquet(tmp_path / "a.parquet")
    data = (tmp_path / "a.parquet").read_bytes()
    for content in (data[:-20], b"PAR1" + b"\0" * 50, data[:100] + data[120:], b"hello"):
        (tmp_path / "b.parquet").write_bytes(content)
        with pytest.raises(ValueError, match=r"b\.parquet: not a [Pp]arquet file, or damaged"):
            read_table(tmp_path / "b.parquet")
    # Two columns of one name, and no rows.
    twice = pa.table([pa.array([1]), pa.array([2])], names=["a", "a"])
    pa.parquet.write_table(twice, tmp_path / "c.parquet")
    with pytest.raises(ValueError, match="columns have the same name: a"):
        read_table(tmp_path / "c.parquet")
    pd.DataFrame({"a": []}).to_parquet(tmp_path / "d.parquet")
    with pytest.raises(ValueError, match="0 rows of 1 columns"):
        read_table(tmp_path / "d.parquet")


def test_no_damaged_byte_does_harm(tmp_path):
    """What a file says of itself is at its end; pyarrow ends the process for some of it."""
    path = tmp_path / "a.parquet"
    table = pa.table({"n": [1, None, 3], "t": ["x", "y", None], "day": [dt.date(2020, 1, 1)] * 3})
    pa.parquet.write_table(table, path, row_group_size=2, store_schema=False)
    data, refusals = path.read_bytes(), []
    length = int.from_bytes(data[-8:-4], "little")
    for place in range(len(data) - 8 - length, len(data)):
        for bits in (0x01, 0x04, 0x80):
            damaged = bytearray(data)
            damaged[place] ^= bits
            path.write_bytes(damaged)
            try:
                read_table(path, format="parquet")
            except ValueError as error:
                refusals.append(str(error))
    assert len(refusals) > length
    assert all("a.parquet: " in refusal for refusal in refusals)


def test_a_date_that_pandas_does_not_have(tmp_path):
    days = pa.array([2**24], pa.int32()).cast(pa.date32())
    pa.parquet.write_table(pa.table({"day": days}), tmp_path / "a.parquet")
    with pytest.raises(ValueError, match=r"a\.parquet: .*damaged \(year \d+ is out of range\)"):
        read_table(tmp_path / "a.parquet")


def test_parquet_is_read_as_pyarrow_reads_it(tmp_path, monkeypatch):
    """However texts are stored, in several groups of rows, and in pieces of these."""
    pieces = {
        "text": pa.array(["a", None, "ccc", "a", ""]),
        "large": pa.array(["x", "y", None, "x", "x"], pa.large_string()),
        "bytes": pa.array([b"1", b"22", None, b"1", b"1"]),
        "category": pa.array(["u", "v", None, "u", "u"]).dictionary_encode(),
        "number": pa.array([1, None, 3, 4, 5]),
        "price": pa.array([Decimal("1.50"), None, Decimal("2.25"), None, None]),
        "day": pa.array([dt.date(2020, 1, 1), None, dt.date(2021, 1, 1), None, None]),
        "yes": pa.array([True, False, True, True, False]),
        "nothing": pa.nulls(5),
    }
    path = tmp_path / "a.parquet"
    pa.parquet.write_table(pa.table(pieces), path, row_group_size=3)
    monkeypatch.setattr("co2forest.tables._parquet._ROWS_AT_ONCE", 2)
    expected = pa.parquet.read_table(path).to_pandas(ignore_metadata=True)
    assert_frame_equal(read_table(path), expected)


def refused_within(path, most_bytes):
    """The message; what pyarrow allocates meanwhile has a limit."""
    pool = pa.default_memory_pool()
    before, peak = pool.bytes_allocated(), pool.max_memory()
    with pytest.raises(ValueError, match=r"bytes unpacked or more, but at most \d+ are") as error:
        read_table(path)
    assert pool.max_memory() <= max(peak, before + most_bytes)
    return str(error.value)


def write_repeatedly(path, times, **columns):
    table = pa.table(columns)
    with pa.parquet.ParquetWriter(path, table.schema, compression="zstd") as writer:
        for _ in range(times):
            writer.write_table(table)


def test_parquet_with_a_hundred_million_equal_rows(tmp_path):
    path = tmp_path / "a.parquet"
    write_repeatedly(path, 100, number=np.full(10**6, 7))
    assert path.stat().st_size < 10**6
    message = refused_within(path, 10**7)
    assert "800000000 bytes unpacked or more, but at most 268435456 are allowed" in message
    assert "a.parquet: " in message
    assert "compression='none' and use_dictionary=False" in message


def test_parquet_with_a_long_text_in_every_row(tmp_path):
    words = pa.DictionaryArray.from_arrays(np.zeros(10**5, dtype=np.int32), ["x" * 10**6])
    pa.parquet.write_table(pa.table({"a": words}), tmp_path / "a.parquet", store_schema=False)
    assert ": 10000" in refused_within(tmp_path / "a.parquet", 10**8)


def test_lists_and_structures_are_left_out(tmp_path):
    """Also those that would fill the memory, whatever they are called."""
    write_repeatedly(
        tmp_path / "a.parquet",
        40,
        numbers=pa.array([np.zeros(10**6)] * 2),
        texts=pa.array([["x" * 10**6] * 10] * 2),
        a=pa.array([{"b": "x" * 10**6}] * 2),
        maps=pa.array([[("k", "v")]] * 2, pa.map_(pa.string(), pa.string())),
        n=[1, 2],
    )
    with pytest.warns(UserWarning, match="left out what has lists or .*: numbers, texts, a, maps"):
        assert read_table(tmp_path / "a.parquet").columns.tolist() == ["n"]


@pytest.mark.parametrize("column", [np.zeros(10**6), ["x" * 10**5] * 80])
def test_parquet_that_denies_its_size(tmp_path, monkeypatch, column):
    monkeypatch.setattr("co2forest.tables._parquet._said_size", lambda *_: 0)
    write_repeatedly(tmp_path / "a.parquet", 40, a=column)
    refused_within(tmp_path / "a.parquet", 4 * 10**8)


def test_parquet_that_is_packed_again(tmp_path, monkeypatch):
    """The size of the file counts, not that of what it unpacks to first."""
    monkeypatch.setattr("co2forest.tables.packed._ALWAYS_UNPACKED", 10**5)
    write_repeatedly(tmp_path / "a.parquet", 50, a=np.zeros(10**4))
    packed = tmp_path / "a.parquet.gz"
    packed.write_bytes(gzip.compress((tmp_path / "a.parquet").read_bytes()))
    assert 100 * packed.stat().st_size < 4 * 10**6
    refused_within(packed, 10**7)


def test_parquet_that_is_not_packed_may_be_large(tmp_path, monkeypatch):
    monkeypatch.setattr("co2forest.tables.packed._ALWAYS_UNPACKED", 1000)
    table = pa.table({"a": np.zeros(10**5), "t": ["word"] * 10**5})
    pa.parquet.write_table(table, tmp_path / "a.parquet")
    refused_within(tmp_path / "a.parquet", 10**7)
    pa.parquet.write_table(table, tmp_path / "a.parquet", compression="none", use_dictionary=False)
    assert len(read_table(tmp_path / "a.parquet")) == 10**5
