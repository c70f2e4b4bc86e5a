# SPDX-License-Identifier: BSD-3-Clause
"""Each set in the format in which it is published, a few lines of it."""

import bz2
import gzip
import string
import struct

import numpy as np
import pytest

from datasets.content import content_digest
from datasets.registry import REGISTRY


def published(name, contents, tmp_path, origin=0):
    paths = []
    for number, content in enumerate(contents):
        paths.append(tmp_path / f"{name}{number}")
        paths[-1].write_bytes(content if isinstance(content, bytes) else content.encode())
    return REGISTRY[name].origins[origin].read(paths, REGISTRY[name].sizes)


@pytest.mark.parametrize(
    ("name", "line", "label"),
    [
        ("satimage", " ".join(map(str, range(36))) + " 7", 5),
        ("pendigits", ",".join(f"{v:3d}" for v in range(16)) + ", 8", 8),
    ],
)
def test_pairs_of_tables(name, line, label, tmp_path):
    parts = published(name, [line + "\n", line + "\n" + line], tmp_path)
    assert parts.X_train.dtype == np.uint8
    np.testing.assert_array_equal(parts.X_train[0], np.arange(parts.X_train.shape[1]))
    assert parts.y_train.tolist() == [label]
    assert parts.y_test.tolist() == [label, label]


def test_values_that_are_no_bytes(tmp_path):
    for value in ("256", "-1", "0.5"):
        line = ",".join([value] * 16) + ",8"
        with pytest.raises(ValueError, match="not whole numbers from 0 to 255"):
            published("pendigits", [line, line], tmp_path)


def test_usps(tmp_path):
    row = " ".join(f"{j}:{-0.631 if j == 8 else -1}" for j in range(1, 257))
    parts = published("usps", [f"7 {row}", f"10 {row}\n1 {row}"], tmp_path)
    assert (parts.y_train.tolist(), parts.y_test.tolist()) == ([6], [9, 0])
    other = " ".join("-0.6310" if j == 8 else "-1.0000" for j in range(1, 257))
    same = published("usps", [f"6.0000 {other} \n", f"9 {other}\n0 {other}"], tmp_path, 1)
    for name in ("X_train", "y_train", "X_test", "y_test"):
        np.testing.assert_array_equal(getattr(same, name), getattr(parts, name))
    assert content_digest(same, 1000) == content_digest(parts, 1000) is not None


@pytest.mark.parametrize(("name", "features", "first"), [("protein", 357, 0), ("sensit", 100, 1)])
def test_pairs_of_libsvm_files(name, features, first, tmp_path):
    content = f"{first} 1:0.5\n{first + 2} {features}:1\n"
    parts = published(name, [bz2.compress(content.encode()), content], tmp_path)
    assert parts.X_train.shape == (2, features)
    assert parts.X_train.dtype == np.float32
    assert parts.y_train.tolist() == [0, 2]
    for wrong in (f"{first + 3} 1:1\n", f"{first} {features + 1}:1\n"):
        with pytest.raises(ValueError, match=f"{name}1"):
            published(name, [content, wrong], tmp_path)


def test_connect4(tmp_path):
    lines = [",".join(["b"] * 41 + [cell, label]) for cell, label in
             (("x", "win"), ("o", "loss"), ("b", "draw"))]  # fmt: skip
    parts = published("connect4", ["\n".join(lines)], tmp_path)
    order = np.random.RandomState(0).permutation(3)
    np.testing.assert_array_equal(parts.y_train, np.array([2, 1, 0])[order])
    last = np.array([[0, 0, 1], [0, 1, 0], [1, 0, 0]])
    np.testing.assert_array_equal(parts.X_train[:, -3:], last[order])
    np.testing.assert_array_equal(parts.X_train[:, :3], [[1, 0, 0]] * 3)


def test_covertype_and_letter(tmp_path):
    lines = [",".join([str(1000 * i)] * 54 + [str(i)]) for i in range(1, 8)]
    parts = published("covertype", [gzip.compress("\n".join(lines).encode())], tmp_path)
    order = np.random.RandomState(0).permutation(7)
    np.testing.assert_array_equal(parts.y_train, order)
    np.testing.assert_array_equal(parts.X_train[:, 53], 1000 * (order + 1))
    lines = [",".join([letter] + ["15"] * 16) for letter in string.ascii_uppercase]
    parts = published("letter", ["\n".join(lines)], tmp_path)
    np.testing.assert_array_equal(parts.y_train, np.arange(26))
    assert parts.X_train.dtype == np.uint8


def test_mnist(tmp_path):
    images = struct.pack(">4I", 0x803, 2, 28, 28) + bytes(range(256)) * 6 + bytes(32)
    labels = struct.pack(">2I", 0x801, 2) + b"\5\0"
    parts = published("mnist", [images, labels, gzip.compress(images), labels], tmp_path)
    assert parts.X_train.shape == parts.X_test.shape == (2, 784)
    assert parts.X_train[0, 255] == 255
    assert parts.y_test.tolist() == [5, 0]
    with pytest.raises(ValueError, match="is none of images"):
        published("mnist", [labels, labels, images, labels], tmp_path)


def test_reading_stops_after_the_rows_that_a_set_has(tmp_path):
    for name, line, rows in (
        ("letter", ",".join(["A"] + ["15"] * 16), 20_000),
        ("pendigits", ",".join(["1"] * 16 + ["8"]), 7494),
    ):
        bomb = gzip.compress(f"{line}\n".encode() * (rows + 5) + b"nothing of this is read")
        with pytest.raises(ValueError, match=f"line {rows + 1}: more than {rows} rows"):
            published(name, [bomb, bomb], tmp_path)
    with pytest.raises(ValueError, match=r"protein0: 17767 rows, expected 17766"):
        published("protein", [b"1 1:1\n" * 17767, b"1 1:1\n"], tmp_path)
