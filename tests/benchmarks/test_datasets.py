# SPDX-License-Identifier: BSD-3-Clause
"""Data sets by name: where they are looked for, what is checked, what an error says."""

import dataclasses
import gzip
import re
import struct
import sys
import zipfile

import numpy as np
import pytest

from datasets.by_name import DatasetNotFoundError, list_datasets, load_dataset
from datasets.content import Parts, content_digest
from datasets.dataset import Dataset
from datasets.registry import DATASETS, REGISTRY
from tiny_datasets import ARRAYS, CODES, TABLE, X, assert_is_tiny, files, one_line, use_tiny_sets

PAPER = ["satimage", "usps", "pendigits", "letter", "protein", "connect4", "mnist", "sensit",
         "covertype"]  # fmt: skip


@pytest.fixture(autouse=True)
def _nothing_of_this_machine(monkeypatch, tmp_path):
    use_tiny_sets(monkeypatch, tmp_path)


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "by hand"
    path.mkdir()
    return path


# What there is


def test_names():
    assert sorted(list_datasets(downloadable=True)) == sorted(PAPER)
    assert list_datasets() == list(DATASETS)
    with pytest.raises(ValueError, match=r"name must be one of satimage, .*, got 'iris'"):
        load_dataset("iris")
    for name in (["letter"], None, np.array(["letter", "iris"])):
        with pytest.raises(ValueError, match=r"name must be one of satimage, .*, got "):
            load_dataset(name)


def test_dataset(folder):
    np.savez(folder / "letter.npz", **ARRAYS)
    data = load_dataset("letter", folder=folder)
    assert repr(data) == ("<Dataset letter (complete): 20 + 6 rows, 4 features (uint8), 3 classes>")
    assert data.n_classes == 3
    assert "CC BY 4.0" in data.origin
    with pytest.raises(dataclasses.FrozenInstanceError):
        data.name = "other"
    assert isinstance(data, Dataset)


def test_every_checksum_is_one():
    for entry in REGISTRY.values():
        for origin in entry.origins:
            for file in origin.files:
                known = file.checksum
                assert known is None or re.fullmatch(r"sha256:[0-9a-f]{64}|md5:[0-9a-f]{32}", known)
                assert all(address.startswith("http") for address in file.addresses)


# Folders


@pytest.mark.parametrize("place", ["letter.npz", "paper/letter.npz"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_npz_files(place, order, folder, monkeypatch):
    (folder / "paper").mkdir()
    arrays = {name: np.array(array, order=order) for name, array in ARRAYS.items()}
    np.savez_compressed(folder / place, **arrays)
    assert_is_tiny(load_dataset("letter", folder=folder))
    monkeypatch.setenv("CO2FOREST_DATA", str(folder))
    assert_is_tiny(load_dataset("letter"))


@pytest.mark.parametrize("place", ["tiny.data", "letter/tiny.data", "tiny.data.gz"])
def test_published_files_by_hand(place, folder):
    (folder / "letter").mkdir()
    packed = gzip.compress(TABLE) if place.endswith(".gz") else TABLE
    (folder / place).write_bytes(packed)
    assert_is_tiny(load_dataset("letter", folder=folder, download=False))


def test_dtypes(folder):
    np.savez(folder / "sensit.npz", **{**ARRAYS, "X_train": X[:20].astype(np.int16)})
    data = load_dataset("sensit", folder=folder)
    assert data.X_train.dtype == np.float32
    assert data.X_test.dtype == np.uint8


def test_scaled(folder):
    arrays = {**ARRAYS, "X_train": X[:20].copy(), "X_test": X[20:].copy()}
    arrays["X_train"][:, 1] = 7
    arrays["X_test"][0] = 255
    np.savez(folder / "sensit.npz", **arrays)
    data = load_dataset("sensit", folder=folder, scaled=True)
    assert data.X_train.dtype == data.X_test.dtype == np.float32
    low, high = arrays["X_train"].min(0), arrays["X_train"].max(0)
    for part in ("X_train", "X_test"):
        scaled = getattr(data, part)
        assert (scaled[:, 1] == 0).all()
        for j in (0, 2, 3):
            expected = 2 * (arrays[part][:, j] - float(low[j])) / (float(high[j]) - low[j]) - 1
            np.testing.assert_allclose(scaled[:, j], expected, rtol=1e-5, atol=1e-6)
    assert data.X_train[:, 0].min() == -1
    assert data.X_train[:, 0].max() == 1
    assert data.X_test.max() > 1


def test_scaled_values_at_the_ends_of_float32(folder):
    wide = X[:20].astype(np.float32)
    wide[0, 0], wide[1, 0] = -3e38, 3e38
    np.savez(folder / "sensit.npz", **changed(X_train=wide))
    data = load_dataset("sensit", folder=folder, scaled=True)
    assert data.X_train[:2, 0].tolist() == [-1, 1]
    assert np.isfinite(data.X_train).all()
    wide[:, 0] = 0
    wide[1, 0] = 1e-40
    np.savez(folder / "sensit.npz", **changed(X_train=wide))
    with pytest.raises(ValueError, match="scaled=True: X_test has a value of feature 0 ") as caught:
        load_dataset("sensit", folder=folder, scaled=True)
    one_line(caught)


def test_the_subfolder_comes_first(folder):
    (folder / "paper").mkdir()
    np.savez(folder / "sensit.npz", **ARRAYS)
    np.savez(folder / "paper" / "sensit.npz", **changed(X_train=X[:20] + 1))
    assert (load_dataset("sensit", folder=folder).X_train == X[:20] + 1).all()


def changed(**changes):
    return {**ARRAYS, **changes}


@pytest.mark.parametrize(
    ("arrays", "reason"),
    [
        (changed(X_train=X[:19]), "X_train has shape (19, 4), not (20, 4)"),
        (changed(y_test=CODES[20:, None]), "y_test has shape (6, 1), not (6,)"),
        (changed(y_train=CODES[:20] + 1), "y_train has labels other than 0 to 2"),
        (changed(y_train=CODES[:20] / 2), "y_train has labels other than 0 to 2"),
        (changed(y_train=np.zeros(20, int)), "y_train lacks some of the 3 classes"),
        (changed(X_test=np.full((6, 4), np.nan)), "X_test contains NaN or infinity"),
        (changed(X_test=np.full((6, 4), 1e300)), "X_test contains a value that is too large"),
        (changed(X_test=np.full((6, 4), "a")), "X_test has dtype <U1, expected numbers"),
        (changed(X_test=np.full((6, 4), None)), "X_test has dtype object, expected numbers"),
        (changed(X_test=X[:6]), "right sizes, but not the values of this data set"),
        (changed(X_test=X[20:] + 0.4), "right sizes, but not the values of this data set"),
        ({"X_train": X[:20]}, "has no array y_train"),
    ],
)
def test_wrong_npz_files(arrays, reason, folder):
    path = folder / "letter.npz"
    np.savez(path, **arrays)
    with pytest.raises(ValueError, match=re.escape(reason)) as caught:
        load_dataset("letter", folder=folder)
    assert one_line(caught).startswith(str(path))


@pytest.mark.skipif(np.dtype(np.longdouble).itemsize == 8, reason="no longer numbers here")
def test_numbers_of_more_than_64_bits(folder):
    np.savez(folder / "letter.npz", **changed(X_test=X[20:].astype(np.longdouble)))
    with pytest.raises(ValueError, match=r"X_test has dtype float\d+, expected .* at most 64 bits"):
        load_dataset("letter", folder=folder)


def test_an_absurd_size_in_an_npz_file(folder):
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000, 4)}\n"
    with zipfile.ZipFile(folder / "letter.npz", "w") as archive:
        archive.writestr("X_train.npy", b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header)
    with pytest.raises(ValueError, match=r"X_train has shape \(1000000000000, 4\)"):
        load_dataset("letter", folder=folder)


def test_damaged_npz_files(folder):
    path = folder / "letter.npz"
    np.savez_compressed(path, **ARRAYS)
    good = path.read_bytes()
    rng = np.random.default_rng(0)
    refused = 0
    for damage in range(300):
        content = bytearray(good)
        if damage % 3 == 0:
            del content[int(rng.integers(len(content))) :]
        else:
            content[int(rng.integers(len(content)))] ^= 1 << int(rng.integers(8))
        path.write_bytes(content)
        message = None
        try:
            assert_is_tiny(load_dataset("letter", folder=folder))
        except ValueError as error:
            message = str(error)
        if message is not None:
            refused += 1
            assert message.startswith(str(path))
            assert "\n" not in message
    assert refused > 200


def test_a_wrong_table_by_hand(folder):
    (folder / "tiny.data").write_bytes(TABLE.replace(b"A,", b"Z,"))
    with pytest.raises(ValueError, match=r"tiny.data: label 'Z' is none of A, B, C"):
        load_dataset("letter", folder=folder)
    (folder / "tiny.data").write_bytes(TABLE.replace(b"A,", b"A,3"))
    with pytest.raises(ValueError, match=r"tiny.data: (right sizes, but|contains values)"):
        load_dataset("letter", folder=folder)
    assert files(folder) == ["tiny.data"]  # what the user put there is not ours to delete


def test_a_wrong_checksum_by_hand(folder):
    (folder / "c.data.gz").write_bytes(gzip.compress(TABLE[:-1]))
    with pytest.raises(ValueError, match=r"c.data.gz: the file's checksum is not sha256:"):
        load_dataset("covertype", folder=folder)


def test_folders_that_do_not_exist(tmp_path, monkeypatch):
    missing = tmp_path / "nowhere"
    with pytest.raises(DatasetNotFoundError, match="folder must name a folder that exists"):
        load_dataset("letter", folder=missing)
    monkeypatch.setenv("CO2FOREST_DATA", str(missing))
    with pytest.raises(DatasetNotFoundError, match="CO2FOREST_DATA must name a folder"):
        load_dataset("letter")


# Nothing there


def test_what_is_missing_is_said_in_one_line(folder):
    address = "http://127.0.0.1:9/tiny.data"
    for options, reason in (({"download": False}, "download=False"), ({}, "download failed")):
        with pytest.raises(DatasetNotFoundError, match=reason) as caught:
            load_dataset("letter", **options)
        message = one_line(caught)
        assert f"letter needs tiny.data: get it from {address}" in message
        assert "put it into a folder and name it by folder= or CO2FOREST_DATA" in message
    with pytest.raises(FileNotFoundError, match=re.escape(f"put it into {folder} (")):
        load_dataset("letter", folder=folder, download=False)


def test_sets_that_are_not_published(folder):
    with pytest.raises(DatasetNotFoundError, match=r"put covertype_subset.npz into the folder"):
        load_dataset("covertype_subset")
    with pytest.raises(DatasetNotFoundError, match=re.escape(str(folder))):
        load_dataset("covertype_subset", folder=folder)


@pytest.mark.parametrize("module", ["pooch", "tqdm"])
def test_without_optional_packages(module, monkeypatch, folder):
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delenv("CO2FOREST_CACHE")
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    with pytest.raises(ImportError, match="pip install pooch tqdm") as caught:
        load_dataset("letter")
    one_line(caught)
    with pytest.raises(DatasetNotFoundError):
        load_dataset("letter", download=False)
    np.savez(folder / "letter.npz", **ARRAYS)
    assert_is_tiny(load_dataset("letter", folder=folder))


def test_the_digest_is_of_values_alone():
    parts = Parts(**ARRAYS)
    other = Parts(**{name: np.asfortranarray(a.astype(np.float32)) for name, a in ARRAYS.items()})
    assert content_digest(parts, 1) == content_digest(other, 1)
    for name, array in ARRAYS.items():
        moved = array.copy()
        moved.flat[-1] ^= 1
        assert content_digest(dataclasses.replace(parts, **{name: moved}), 1) != content_digest(
            parts, 1
        )
