# SPDX-License-Identifier: BSD-3-Clause
"""Files of tables: what is read, and what a message says of those that are none."""

import bz2
import gzip
import io
import os
import pickle
import sys
import zipfile

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

from co2forest import CO2ForestClassifier
from co2forest.tables import read_table
from co2forest.tables._optional import library
from co2forest.tables.formats import format_of


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


PEOPLE = "name,age,city\nAnn,31,Oslo\nBob,,Rome\n"


# --- CSV


def test_files_of_numpy_and_of_models_that_are_no_tables(tmp_path):
    np.save(tmp_path / "a.npy", np.eye(3))
    with pytest.raises(ValueError, match=r"a single array of NumPy; numpy\.savez puts X and"):
        read_table(tmp_path / "a.npy")
    forest = CO2ForestClassifier(1, random_state=0).fit(np.eye(4), [0, 1, 0, 1])
    forest.save(tmp_path / "m.csv")
    with pytest.raises(ValueError, match=r"m\.csv: a model of co2forest, not a table"):
        read_table(tmp_path / "m.csv")


def test_a_plain_file(write):
    frame = read_table(write("a.csv", PEOPLE))
    assert frame.columns.tolist() == ["name", "age", "city"]
    assert frame["age"].tolist()[0] == 31.0
    assert np.isnan(frame["age"][1])
    assert frame["city"].tolist() == ["Oslo", "Rome"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", PEOPLE.replace(",", ";")),
        ("a.csv", PEOPLE.replace(",", "\t")),
        ("a.csv", PEOPLE.replace(",", "|")),
        ("a.tsv", PEOPLE.replace(",", "\t")),
        ("a.csv", "\ufeff" + PEOPLE),
        ("a.csv", PEOPLE.replace("\n", "\r\n")),
        ("a.csv", PEOPLE.replace("\n", "\n\n") + "\n\n"),
        ("a.csv", PEOPLE.replace(",", " ,  ")),
        ("a.csv", '"name","age","city"\n"Ann","31","Oslo"\n"Bob","NA","Rome"\n'),
        ("a.csv", PEOPLE.rstrip("\n")),
        ("a.dat", PEOPLE),
        ("a", PEOPLE),
    ],
)
def test_the_same_table_in_other_clothes(write, name, content):
    expected = read_table(write("plain.csv", PEOPLE))
    assert_frame_equal(read_table(write(name, content)), expected)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
def test_compressed_files(write, pack):
    expected = read_table(write("plain.csv", PEOPLE))
    assert_frame_equal(read_table(write("a.csv.gz", pack(PEOPLE.encode()))), expected)


def test_quotes_hide_separators_and_lines(write):
    frame = read_table(write("a.csv", 'a,b\n"x, y",1\n"two\nlines",2\n"say ""hi""",3\n'))
    assert frame["a"].tolist() == ["x, y", "two\nlines", 'say "hi"']
    assert frame["b"].tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("cells", "dtype"),
    [
        (["1", "2"], "int64"),
        (["1", "-2.5e3"], "float64"),
        (["1", "NA", "?", "None", "-"], "float64"),
        (["1", "2x"], "text"),
        (["1,234", "2"], "text"),  # a separator of thousands, or a decimal comma
        (["007", "12"], "text"),  # the zeros count
        (["0", "0.5"], "float64"),
        (["None", "Mild"], "text"),
        (["True", "False"], "text"),
        (["2020-01-01", "2021-01-01"], "text"),
    ],
)
def test_which_columns_are_numbers(write, cells, dtype):
    lines = [f'"{cell}",x' for cell in cells]
    column = read_table(write("a.csv", "\n".join(["a,b", *lines])))["a"]
    if dtype == "text":
        assert column.tolist() == cells
    else:
        assert column.dtype == dtype
        missing = [cell in {"NA", "?", "None", "-"} for cell in cells]
        np.testing.assert_array_equal(column.isna(), missing)


def test_text_that_stays_text(write):
    path = write("a.csv", "a,b\n1,2\n1.50,3\n")
    frame = read_table(path, text=["a", "zz"])
    assert frame["a"].tolist() == ["1", "1.50"]
    assert frame["b"].dtype == "int64"


def test_a_decimal_comma_between_semicolons(write):
    frame = read_table(write("a.csv", "a;b;c\n1,5;1,234,5;x\n-0,25;3;y\n"))
    assert frame["a"].tolist() == [1.5, -0.25]
    assert frame["b"].tolist() == ["1,234,5", "3"]


def test_no_header(write):
    path = write("a.csv", "1,x\n2,y\n")
    frame = read_table(path, header=False)
    assert frame.columns.tolist() == ["x0", "x1"]
    assert frame["x0"].tolist() == [1, 2]


def test_a_saved_index_has_a_name(write):
    assert read_table(write("a.csv", ",a\n0,5\n1,6\n")).columns.tolist() == ["Unnamed: 0", "a"]


BAD_CSV = {
    r"a\.csv: the file is empty": b" \n\n",
    "has names of columns, but no rows": b"a,b\n",
    r"row 3 \(the first one is 1\): 1 fields, but the first row has 2": b"a,b\n1,2\n3\n",
    "row 2 .*: 3 fields, but the first row has 2; fields are separated": b"a,b\n1,2,3\n1,2,3\n",
    "line 1: columns have the same name: a": b"a,b,a\n1,2,3\n",
    r"line 1: \['1', '2'\] are numbers, not names of columns.*--no-header": b"1,2\n3,4\n",
    "line 2: byte 0xe9 is not UTF-8; save the file as UTF-8": b"a,b\ncaf\xe9,2\n",
    "in UTF-16; save it as UTF-8": "a,b\n1,2\n".encode("utf-16"),
    "line 2: has a zero byte": b"a,b\n1,\x002\n",
    "a quote is not closed": b'a,b\n1,"x\n2,y\n',
    "a pickle, which could run any code": pickle.dumps({"a": [1]}),
}


@pytest.mark.parametrize("message", BAD_CSV)
def test_files_that_are_no_tables(write, message):
    path = write("a.csv", BAD_CSV[message])
    with pytest.raises(ValueError, match=message) as caught:
        read_table(path)
    assert str(path) in str(caught.value)


def test_a_row_that_is_too_long(write, monkeypatch):
    monkeypatch.setattr("co2forest.tables.text._BLOCK", 1000)
    for field in ("x" * 5000, '"' + "x\n" * 2500):
        path = write("a.csv", f"a,b\n1,{field}\n2,y\n")
        with pytest.raises(ValueError, match="a row is longer than 1000 bytes; is a quote not"):
            read_table(path)


def test_too_many_columns(write):
    with pytest.raises(ValueError, match=r"100001 columns, at most 100000 can be read"):
        read_table(write("a.csv", ",".join(f"c{i}" for i in range(100_001)) + "\n"))


@pytest.mark.filterwarnings("error")
@settings(max_examples=150, deadline=None, derandomize=True)
@given(data=st.binary(max_size=200) | st.text('a1,;"\t\n\r {}@%:.', max_size=60).map(str.encode))
def test_no_bytes_do_harm(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "any"
    path.write_bytes(data)
    for kind in (None, "csv", "tsv", "parquet", "npz", "libsvm"):
        try:
            frame = read_table(path, format=kind)
        except ValueError as error:
            message = str(error)
        else:
            message = f"{path}: read"
            assert len(frame) > 0
        assert str(path) in message
        assert len(message) < 1000


def test_wrong_arguments(write, tmp_path):
    path = write("a.csv", PEOPLE)
    with pytest.raises(ValueError, match=r"format must be one of csv, tsv, .* got 'xls'"):
        read_table(path, format="xls")
    with pytest.raises(ValueError, match="part must be one of train, test, got 'all'"):
        read_table(path, part="all")
    with pytest.raises(ValueError, match=r"target='agee' is not a column .*mean 'age'.* name, age"):
        read_table(path, target="agee")
    with pytest.raises(FileNotFoundError, match=r"none\.csv"):
        read_table(tmp_path / "none.csv")
    with pytest.raises(ValueError, match="a folder"):
        read_table(tmp_path)


@pytest.mark.skipif(os.name != "posix", reason="no such pipes")
@pytest.mark.timeout(60)
def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="not a regular file"):
        read_table(tmp_path / "pipe")


# --- standard input


@pytest.mark.parametrize(
    "content",
    [PEOPLE.encode(), gzip.compress(PEOPLE.encode(), mtime=0)],
    ids=["plain", "packed"],
)
def test_standard_input(monkeypatch, content):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert read_table("-")["name"].tolist() == ["Ann", "Bob"]


def test_empty_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with pytest.raises(ValueError, match="standard input: the file is empty"):
        read_table("-")


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"PAR1...", "parquet"),
        (b"PK\3\4...", "npz"),
        (b"+1 1:0.5 7:2\n", "libsvm"),
        (b"3\t1:0.5\n", "libsvm"),
        (b"a,b\n1,2\n", "csv"),
        (b"a\tb\n1\t2\n", "csv"),
    ],
)
def test_formats_by_content(content, kind):
    assert format_of("standard input", content) == kind


# --- NPZ

X = np.arange(12.0).reshape(4, 3)
Y = np.array(["a", "b", "a", "b"])


def test_npz(tmp_path):
    np.savez(tmp_path / "a.npz", X=X, y=Y)
    frame = read_table(tmp_path / "a.npz")
    assert frame.columns.tolist() == ["x0", "x1", "x2", "y"]
    assert frame["y"].tolist() == Y.tolist()
    assert frame.attrs["target"] == "y"
    np.savez_compressed(tmp_path / "b.npz", X_train=X, y_train=Y, X_test=X[:1], y_test=Y[:1])
    assert len(read_table(tmp_path / "b.npz")) == 4
    assert len(read_table(tmp_path / "b.npz", part="test")) == 1
    np.savez(tmp_path / "c.npz", x=X.reshape(4, 3, 1))  # images without labels
    assert read_table(tmp_path / "c.npz").shape == (4, 3)
    np.savez(tmp_path / "d.npz", age=X[:, 0], city=Y)
    assert read_table(tmp_path / "d.npz").columns.tolist() == ["age", "city"]


def test_bad_npz(write, tmp_path):
    def refused(message, **arrays):
        np.savez(tmp_path / "a.npz", **arrays)
        with pytest.raises(ValueError, match=message):
            read_table(tmp_path / "a.npz")

    refused("array of objects, which would be a pickle and is never", X=np.array([[1], ["a"]], "O"))
    refused(r"must have arrays X and y.* but has Z of shape \(4, 3\)", Z=X)
    refused(r"X has 4 rows, but y has shape \(2,\)", X=X, y=Y[:2])
    refused("X must have two dimensions or more", X=X[0], y=Y[:3])
    refused("nothing in it", X=X[:0], y=Y[:0])
    refused("dtype complex128", X=X.astype(complex))
    refused("must have arrays .* but has none")
    np.savez(tmp_path / "a.npz", X=X)
    data = (tmp_path / "a.npz").read_bytes()
    for content in (data[:-10], data[:60] + data[80:], b"PK\3\4", b"hello"):
        with pytest.raises(ValueError, match=r"b\.npz: not an? (NPZ|npz) file, or damaged"):
            read_table(write("b.npz", content))
    with pytest.raises(ValueError, match="must have arrays X_test and y_test"):
        read_table(tmp_path / "a.npz", part="test")


def test_npz_that_would_fill_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("co2forest.tables.packed._ALWAYS_UNPACKED", 1000)
    np.savez_compressed(tmp_path / "a.npz", X=np.zeros((10_000, 50)))
    with pytest.raises(ValueError, match="bytes unpacked, but at most"):
        read_table(tmp_path / "a.npz")


def test_nothing_in_an_npz_is_run(tmp_path):
    class Harmful:
        def __reduce__(self):
            return os.mkdir, (os.fspath(tmp_path / "harm"),)

    array = np.empty((1, 1), dtype=object)
    array[0, 0] = Harmful()
    np.savez(tmp_path / "a.npz", X=array)
    with zipfile.ZipFile(tmp_path / "b.npz", "w") as archive:
        archive.writestr("X.npy", pickle.dumps(Harmful()))
    for name in ("a.npz", "b.npz"):
        with pytest.raises(ValueError, match=r"never loaded|has none"):
            read_table(tmp_path / name)
    assert not (tmp_path / "harm").exists()


# --- LIBSVM


def test_libsvm(write):
    path = write("a.libsvm", "+1 1:0.5 3:2\n-1 2:1 # note\n")
    frame = read_table(path)
    assert frame.columns.tolist() == ["x1", "x2", "x3", "y"]
    assert frame["x3"].tolist() == [2.0, 0.0]
    assert frame["y"].tolist() == [1, -1]
    assert frame["y"].dtype == "int64"
    wider = read_table(path, columns=["x1", "x5", "other"])
    assert wider.columns.tolist() == ["x1", "x2", "x3", "x4", "x5", "y"]
    assert wider["x5"].tolist() == [0.0, 0.0]


def test_much_libsvm_stays_sparse(write, monkeypatch):
    path = write("a.libsvm", "1.5 1:0.5 3:2\n2 2:1\n")
    dense = read_table(path)
    monkeypatch.setattr("co2forest.tables.libsvm._MOST_DENSE", 3)
    sparse = read_table(path)
    assert isinstance(sparse["x1"].dtype, pd.SparseDtype)
    assert_frame_equal(sparse.astype(dense.dtypes), dense)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("1 0:1\n", "not in LIBSVM's format"),
        ("1 1:x\n", "not in LIBSVM's format"),
        ("1 1:nan\n", "not a finite number"),
        ("1 999999999:1\n", "999999999 columns, at most 100000 can be read"),
        ("a,b\n1,2\n", "not in LIBSVM's format"),
    ],
)
def test_bad_libsvm(write, content, message):
    with pytest.raises(ValueError, match=message):
        read_table(write("a.libsvm", content))


# --- formats that are not read


@pytest.mark.parametrize("name", ["a.arff", "a.txt"])
def test_arff_files_are_named_and_refused(write, name):
    with pytest.raises(ValueError, match=f"{name}: an ARFF file, which is not read; save it as"):
        read_table(write(name, "% a comment\n\n@RELATION people\n@attribute a numeric\n@data\n1\n"))


def test_files_of_compress_are_named_and_refused(write):
    with pytest.raises(ValueError, match=r"a\.csv\.Z: packed by compress; unpack it first"):
        read_table(write("a.csv.Z", b"\x1f\x9d\x90abc"))


# --- without the libraries


def test_a_missing_library_is_named(write, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    library.cache_clear()
    with pytest.raises(ImportError, match=r"need pyarrow: pip install 'co2forest\[tables\]'"):
        read_table(write("a.csv", PEOPLE))
