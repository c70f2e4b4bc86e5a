# SPDX-License-Identifier: BSD-3-Clause
"""Readers of data files: what they read, and one line about what they refuse."""

import bz2
import gzip
import lzma
import re
import struct
import tracemalloc

import numpy as np
import pytest

from datasets.readers import read_idx, read_libsvm, read_uci
from lzw import compress

PACKERS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress,
           ".Z": compress}  # fmt: skip


def idx(array, code):
    header = struct.pack(f">BBBB{array.ndim}I", 0, 0, code, array.ndim, *array.shape)
    return header + array.astype(array.dtype.newbyteorder(">")).tobytes()


@pytest.fixture
def write(tmp_path):
    def write(content, name="data"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def refused(read, path, reason, **options):
    """One line that names the file and says what is wrong."""
    with pytest.raises(ValueError, match=re.escape(reason)) as caught:
        read(path, **options)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert "\n" not in message


@pytest.mark.parametrize("suffix", PACKERS)
def test_all_readers_unpack(suffix, write):
    pack = PACKERS[suffix]
    X, labels = read_uci(write(pack(b"1,2,a\n3,4,b\n"), "table" + suffix))
    np.testing.assert_array_equal(X, [[1, 2], [3, 4]])
    assert labels.tolist() == ["a", "b"]
    X, labels = read_libsvm(write(pack(b"1 1:.5 3:2\n-1 2:1\n"), "svm" + suffix))
    np.testing.assert_array_equal(X.toarray(), [[0.5, 0, 2], [0, 1, 0]])
    assert labels.tolist() == [1, -1]
    array = np.arange(6, dtype=np.uint8).reshape(2, 3)
    np.testing.assert_array_equal(read_idx(write(pack(idx(array, 8)), "idx" + suffix)), array)


def test_the_first_bytes_say_how_a_file_is_packed(write):
    assert read_uci(write(b"1,a\n", "unpacked.gz"))[1].tolist() == ["a"]


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz"])
def test_truncated_compressed_files(suffix, write):
    packed = PACKERS[suffix](np.random.default_rng(0).bytes(3000).hex().encode())
    for size in (7, len(packed) // 2, len(packed) - 1):
        for read in (read_uci, read_libsvm, read_idx):
            with pytest.raises(ValueError, match="data"):
                read(write(packed[:size], "data" + suffix))
    refused(read_uci, write(packed[:-9], "data" + suffix), "damaged compressed file")


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz"])
def test_altered_compressed_files(suffix, write):
    packed = bytearray(PACKERS[suffix](b"1,2,a\n" * 500))
    packed[len(packed) // 2] ^= 0xFF
    refused(read_uci, write(bytes(packed), "data" + suffix), "damaged compressed file")


@pytest.mark.parametrize("bits", [10, 12, 16])
@pytest.mark.parametrize("clear", [False, True])
def test_compress_files(bits, clear, write):
    numbers = np.random.default_rng(0).integers(0, 3000, (9000, 2))
    text = "\n".join(f"{a},{b},x" for a, b in numbers)
    X, _ = read_uci(write(compress(text.encode(), bits, clear=clear)))
    np.testing.assert_array_equal(X, numbers)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\x1f\x9d", "not a .Z file"),
        (b"\x1f\x9d\x99abc", "codes of 25 bits"),
        (b"\x1f\x9d\x90\xff\xff\xff", "code 511 before it is defined"),
    ],
)
def test_damaged_compress_files(content, reason, write):
    refused(read_uci, write(content), reason)


def test_a_small_compress_file_cannot_fill_the_memory(write, monkeypatch):
    monkeypatch.setattr("datasets.lzw._MAX_SIZE", 10_000)
    refused(read_uci, write(compress(bytes(20_000))), "more than 10000 bytes unpacked")


def test_uci_layouts(write):
    X, labels = read_uci(write("A , 1.5,-2\n\nB,3 ,4e1"), label="first")
    assert X.dtype == np.float32
    np.testing.assert_array_equal(X, [[1.5, -2], [3, 40]])
    assert labels.tolist() == ["A", "B"]
    X, labels = read_uci(write(" 1  2\t7\r\n 3 4 5 \r\n"), separator=None, n_features=2)
    np.testing.assert_array_equal(X, [[1, 2], [3, 4]])
    assert labels.tolist() == ["7", "5"]
    X, labels = read_uci(write("b,x,win\no,b,loss\n"), categories="box")
    assert X.dtype == np.uint8
    np.testing.assert_array_equal(X, [[1, 0, 0, 0, 0, 1], [0, 1, 0, 1, 0, 0]])
    with pytest.raises(ValueError, match="label must be 'first' or 'last', got 'middle'"):
        read_uci(write("1,a"), label="middle")


def test_uci_tables_of_many_lines(write):
    numbers = np.random.default_rng(0).integers(0, 100, (25_000, 3))
    lines = [",".join(map(str, row)) for row in numbers]
    X, labels = read_uci(write("\n".join(lines)))
    np.testing.assert_array_equal(X, numbers[:, :2])
    np.testing.assert_array_equal(labels.astype(int), numbers[:, 2])
    lines[20_000] = "1,2,3,4"
    refused(read_uci, write("\n".join(lines)), "line 20001: 3 features and a label, expected 2")


@pytest.mark.parametrize(
    ("content", "options", "reason"),
    [
        ("", {}, "the file is empty"),
        ("\n \n", {}, "the file is empty"),
        ("word\n", {}, "line 1: only one column"),
        ("1,2,a\n3,b\n", {}, "line 2: 1 features and a label, expected 2"),
        ("1,2,a\n", {"n_features": 3}, "line 1: 2 features and a label, expected 3"),
        ("1,2,a\n3,x y,b\n", {}, "line 2: 'x y' is not a finite number"),
        ("1,,a\n", {}, "line 1: '' is not a finite number"),
        ("1,nan,a\n", {}, "line 1: 'nan' is not a finite number"),
        ("1,1e39,a\n", {}, "line 1: '1e39' is not a finite number"),
        ("1,1_0,a\n", {}, "not a table of numbers"),
        (b"1,2,a\n\xff\xfe\0,1,b\n", {}, "line 2: not plain text"),
        ("1," * 600_000, {}, "line 1: longer than"),
        ("b,q,win\n", {"categories": "box"}, "line 1: 'q' is none of b, o, x"),
        ("1,2,a\n3,4," + "b" * 101, {}, "line 2: a label of 101 characters, expected at most 100"),
        ("b,win\n", {"categories": "box", "n_features": 10**12}, "line 1: 1 features"),
        ("b,x,win\nb,win\n", {"categories": "box"}, "line 2: 1 features"),
    ],
)
def test_malformed_uci_files(content, options, reason, write):
    refused(read_uci, write(content), reason, **options)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"separator": "||"}, "separator must be None, for white space, or one .* got '||'"),
        ({"separator": ""}, "separator must be .* got ''"),
        ({"separator": "\n"}, "separator must be .* does not end a line, got "),
        ({"separator": 3}, "separator must be .* got 3"),
        ({"categories": "boxo"}, "categories must be different names, got 'o' twice in 'boxo'"),
        ({"categories": []}, r"categories must be None or a list of names, got \[\]"),
        ({"categories": 3}, "categories must be None or a list of names, got 3"),
        ({"n_features": 0}, "n_features must be None or a whole number of at least 1, got 0"),
        ({"n_features": "x"}, "n_features must be .* got 'x'"),
        ({"label": ["first"]}, "label must be 'first' or 'last', got "),
    ],
)
def test_arguments_of_tables(options, reason, write):
    with pytest.raises(ValueError, match=reason.replace("|", r"\|")):
        read_uci(write("b,o,x"), **options)


@pytest.mark.parametrize("n_features", [0, -5, "x", 2.5, True, 10**30])
def test_numbers_of_features_of_libsvm_files(n_features, write):
    with pytest.raises(ValueError, match=r"^n_features must be None or a whole number .* got "):
        read_libsvm(write("1 1:1\n"), n_features)


def test_one_long_label_does_not_widen_all(write):
    packed = gzip.compress(b"1,a\n" * 3000 + b"1," + b"b" * 500_000)
    tracemalloc.start()
    try:
        refused(read_uci, write(packed), "line 3001: a label of 500000 characters")
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz"])
def test_a_small_file_cannot_fill_the_memory(suffix, write, monkeypatch):
    monkeypatch.setattr("co2forest.tables.packed._ALWAYS_UNPACKED", 10_000)
    contents = {read_uci: b"1,a\n" * 50_000, read_libsvm: b"1 1:1\n" * 50_000,
                read_idx: idx(np.zeros(200_000, np.uint8), 8)}  # fmt: skip
    for read, content in contents.items():
        refused(read, write(PACKERS[suffix](content), "bomb" + suffix), "bytes unpacked; if it is")
        read(write(content, "plain"))
    monkeypatch.setattr("co2forest.tables.packed._LARGEST_RATIO", 10**6)
    for read, content in contents.items():
        read(write(PACKERS[suffix](content), "allowed" + suffix))


def test_libsvm(write):
    X, _ = read_libsvm(write("1 1:1 # comment\n2\n"), n_features=4)
    assert X.dtype == np.float32
    np.testing.assert_array_equal(X.toarray(), [[1, 0, 0, 0], [0, 0, 0, 0]])
    X, _ = read_libsvm(write("1 2000000000:1\n"))  # costs nothing: the matrix is sparse
    assert X.shape == (1, 2_000_000_000)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "the file is empty"),
        ("some text\n", "not in LIBSVM's format"),
        (b"\xff\xfe\0\x01 \x80:\x81", "not in LIBSVM's format"),
        ("1 1:a\n", "not in LIBSVM's format"),
        ("1 0:1\n", "not in LIBSVM's format"),
        ("1 2:1 1:1\n", "not in LIBSVM's format"),
        ("1 1:1 6:1\n", "not in LIBSVM's format"),
        ("1 99999999999999999999999:1\n", "not in LIBSVM's format"),
        ("1 1:inf\n", "not a finite number"),
        ("nan 1:1\n", "not a finite number"),
        ("1,2 1:1\n", "not in LIBSVM's format"),
    ],
)
def test_malformed_libsvm_files(content, reason, write):
    refused(read_libsvm, write(content), reason, n_features=5)


@pytest.mark.parametrize(
    ("code", "dtype"), [(8, "u1"), (9, "i1"), (11, "i2"), (12, "i4"), (13, "f4"), (14, "f8")]
)
@pytest.mark.parametrize("shape", [(5,), (2, 3), (0, 4), (2, 1, 2, 3)])
def test_idx(code, dtype, shape, write):
    array = np.random.default_rng(0).normal(size=shape).astype(dtype)
    read = read_idx(write(idx(array, code)))
    assert read.dtype == np.dtype(dtype)
    assert read.flags.writeable
    np.testing.assert_array_equal(read, array)


GOOD = idx(np.arange(6, dtype=np.uint8).reshape(2, 3), 8)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "the file is empty"),
        (GOOD[:3], "not an IDX file"),
        (b"text of some kind", "not an IDX file, it begins with 0x74657874"),
        (b"\0\0\x07\x01\0\0\0\x01\0", "not an IDX file"),
        (b"\0\0\x08\0", "0 dimensions"),
        (b"\0\0\x08\xff" + bytes(1020), "255 dimensions"),
        (GOOD[:9], "ends within the header"),
        (GOOD[:-1], "5 bytes of data, but the shape (2, 3) in its header needs 6"),
        (GOOD + b"\0", "more than 6 bytes of data"),
        (b"\0\0\x08\x20" + bytes(4) + b"\xff" * 124, "in its header is too large for an array"),
        (b"\0\0\x0e\x03" + b"\xff" * 12 + bytes(50), "50 bytes of data, but the shape"),
    ],
)
def test_malformed_idx_files(content, reason, write):
    refused(read_idx, write(content), reason)
    refused(read_idx, write(gzip.compress(content), "data.gz"), reason)


def test_an_absurd_header_takes_no_memory(write):
    path = write(gzip.compress(b"\0\0\x08\x01\x7f\xff\xff\xff" + bytes(100)))
    tracemalloc.start()
    try:
        refused(read_idx, path, "needs 2147483647")
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


def test_no_such_file(tmp_path):
    for read in (read_uci, read_libsvm, read_idx):
        with pytest.raises(FileNotFoundError, match="nowhere"):
            read(tmp_path / "nowhere")
