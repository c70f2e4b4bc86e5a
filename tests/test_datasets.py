"""Data sets by name: where they are looked for, what is checked, what an error says."""

import bz2
import dataclasses
import gzip
import hashlib
import http.server
import re
import struct
import sys
import threading
import zipfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from co2forest.datasets import (
    DATASETS,
    Dataset,
    DatasetNotFoundError,
    _cache,
    list_datasets,
    load_dataset,
)
from co2forest.datasets._content import Parts, Sizes, content_digest
from co2forest.datasets._origins import Origin, OriginFile, libsvm_parts, uci_whole
from co2forest.datasets._registry import REGISTRY

PAPER = ["satimage", "usps", "pendigits", "letter", "protein", "connect4", "mnist", "sensit",
         "covertype"]  # fmt: skip

# A tiny set in the place of a real one: 20 rows for training, 6 for the test.
CODES = np.arange(26) % 3
X = np.random.default_rng(0).integers(0, 16, (26, 4)).astype(np.uint8)
ARRAYS = {"X_train": X[:20], "y_train": CODES[:20], "X_test": X[20:], "y_test": CODES[20:]}
SIZES = Sizes(20, 6, 4, 3)
TABLE = "".join(
    ",".join(["ABC"[y], *map(str, x)]) + "\n" for x, y in zip(X.tolist(), CODES, strict=True)
).encode()
SVM = ["".join(f"{y + 1} " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(x)) + "\n"
               for x, y in zip(ARRAYS[f"X_{part}"].tolist(), ARRAYS[f"y_{part}"], strict=True)
               ).encode() for part in ("train", "test")]  # fmt: skip


def sha256(content):
    return "sha256:" + hashlib.sha256(content).hexdigest()


@pytest.fixture(autouse=True)
def _nothing_of_this_machine(monkeypatch, tmp_path):
    monkeypatch.delenv("CO2FOREST_DATA", raising=False)
    monkeypatch.setenv("CO2FOREST_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    _register(monkeypatch, "http://127.0.0.1:9/")  # where nobody answers


def _register(monkeypatch, server, **changes):
    """`letter` with a digest, `sensit` without, `covertype` with a checksum: all tiny."""
    whole = uci_whole("ABC", 4, 20, label="first")
    entries = {
        "letter": (Origin((OriginFile("tiny.data", (server + "tiny.data",)),), whole, True),),
        "sensit": (
            Origin(
                tuple(OriginFile(name, (server + name,)) for name in ("svm.bz2", "svm.t.bz2")),
                libsvm_parts(range(1, 4), 4),
            ),
        ),
        "covertype": (
            Origin(
                (
                    OriginFile(
                        "c.data.gz",
                        (server + "missing", server + "c.data.gz"),
                        sha256(gzip.compress(TABLE, mtime=0)),
                    ),
                ),
                whole,
            ),
        ),
    }
    for name, origins in entries.items():
        digest = content_digest(Parts(**ARRAYS), 1) if name == "letter" else None
        entry = dataclasses.replace(REGISTRY[name], sizes=SIZES, origins=origins, digest=digest)
        monkeypatch.setitem(REGISTRY, name, entry)


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "by hand"
    path.mkdir()
    return path


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A folder, and the requests that were made for its files."""
    path = tmp_path / "server"
    path.mkdir()
    requests = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args):
            super().__init__(*args, directory=path)

        def do_GET(self):
            requests.append(self.path)
            super().do_GET()

        def log_message(self, *_):
            pass

    (path / "tiny.data").write_bytes(TABLE)
    (path / "c.data.gz").write_bytes(gzip.compress(TABLE, mtime=0))
    for name, content in zip(("svm.bz2", "svm.t.bz2"), SVM, strict=True):
        (path / name).write_bytes(bz2.compress(content))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        _register(monkeypatch, f"http://127.0.0.1:{running.server_port}/")
        yield path, requests
        running.shutdown()
        thread.join()


def assert_is_tiny(data):
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(getattr(data, name), array)
        assert getattr(data, name).flags.writeable
    assert data.y_train.dtype == data.y_test.dtype == np.int64


def one_line(caught):
    message = str(caught.value)
    assert "\n" not in message
    return message


def files(path):
    return sorted(str(p.relative_to(path)) for p in path.rglob("*") if p.is_file())


# What there is


def test_names():
    assert sorted(list_datasets(downloadable=True)) == sorted(PAPER)
    assert list_datasets() == list(DATASETS)
    with pytest.raises(ValueError, match=r"name must be one of satimage, .*, got 'iris'"):
        load_dataset("iris")


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
    with pytest.raises(ImportError, match=r"pip install 'co2forest\[data\]'") as caught:
        load_dataset("letter")
    one_line(caught)
    with pytest.raises(DatasetNotFoundError):
        load_dataset("letter", download=False)
    np.savez(folder / "letter.npz", **ARRAYS)
    assert_is_tiny(load_dataset("letter", folder=folder))


# Downloads


def test_download_once(server, tmp_path, capfd):
    _, requests = server
    assert_is_tiny(load_dataset("letter"))
    assert requests == ["/tiny.data"]
    assert "100%" in capfd.readouterr().err  # the progress bar
    assert_is_tiny(load_dataset("letter"))
    assert_is_tiny(load_dataset("letter", download=False))
    assert requests == ["/tiny.data"]
    assert files(tmp_path / "cache") == ["letter/tiny.data"]
    assert_is_tiny(load_dataset("letter", cache=tmp_path / "other"))
    assert files(tmp_path / "other") == ["letter/tiny.data"]


def test_the_other_address(server, tmp_path):
    _, requests = server
    data = load_dataset("covertype")
    np.testing.assert_array_equal(data.X_train, X[:20])
    assert requests == ["/missing", "/c.data.gz"]


def test_one_file_by_hand_and_one_downloaded(server, folder):
    _, requests = server
    (folder / "svm").write_bytes(SVM[0])
    assert_is_tiny(load_dataset("sensit", folder=folder))
    assert requests == ["/svm.t.bz2"]


def test_a_wrong_checksum(server, tmp_path):
    path, _ = server
    (path / "c.data.gz").write_bytes(gzip.compress(TABLE[:-1]))
    with pytest.raises(ValueError, match=r"c.data.gz: the file's checksum is not sha256") as caught:
        load_dataset("covertype")
    one_line(caught)
    assert files(tmp_path / "cache") == []


def test_a_damaged_file_in_the_cache_is_fetched_again(server, tmp_path):
    load_dataset("covertype")
    kept = tmp_path / "cache" / "covertype" / "c.data.gz"
    kept.write_bytes(b"damaged")
    with pytest.raises(DatasetNotFoundError):
        load_dataset("covertype", download=False)
    np.testing.assert_array_equal(load_dataset("covertype").X_train, X[:20])
    assert kept.read_bytes() == gzip.compress(TABLE, mtime=0)


def test_a_page_in_place_of_the_data_is_not_kept(server, tmp_path):
    path, _ = server
    for content in (b"<html>moved</html>", TABLE.replace(b"5", b"6"), b"", TABLE[:-30]):
        (path / "tiny.data").write_bytes(content)
        with pytest.raises(ValueError, match=r"tiny.data"):
            load_dataset("letter")
        assert files(tmp_path / "cache") == []
    (path / "tiny.data").write_bytes(TABLE)
    assert_is_tiny(load_dataset("letter"))


def test_the_first_download_is_recorded(server, tmp_path):
    path, _ = server
    load_dataset("sensit")
    cache = tmp_path / "cache" / "sensit"
    assert files(cache) == ["svm.bz2", "svm.bz2.sha256", "svm.t.bz2", "svm.t.bz2.sha256"]
    first = (path / "svm.bz2").read_bytes()
    other = bz2.compress(SVM[0].replace(b":5", b":6"))
    (cache / "svm.bz2").write_bytes(other)
    with pytest.raises(ValueError, match=r"svm.bz2: has changed since it was first used"):
        load_dataset("sensit")
    (cache / "svm.bz2").unlink()
    (path / "svm.bz2").write_bytes(other)
    with pytest.raises(ValueError, match=re.escape(f"checksum is not {sha256(first)}")):
        load_dataset("sensit")
    assert not (cache / "svm.bz2").exists()
    (cache / "svm.bz2.sha256").unlink()
    load_dataset("sensit")
    assert (cache / "svm.bz2.sha256").read_text() == sha256(other) + "\n"
    (cache / "svm.bz2.sha256").write_text("garbage")
    with pytest.raises(ValueError, match=r"svm.bz2.sha256: not a checksum"):
        load_dataset("sensit")


def test_a_broken_connection_leaves_nothing(server, tmp_path, monkeypatch):
    def shorter(self, source, output):
        output.write(source.read(10))

    monkeypatch.setattr(http.server.SimpleHTTPRequestHandler, "copyfile", shorter)
    with pytest.raises(DatasetNotFoundError, match="the download failed") as caught:
        load_dataset("letter")
    one_line(caught)
    assert files(tmp_path / "cache") == []


def test_ctrl_c_leaves_nothing(server, tmp_path, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("pooch.core.hash_matches", interrupt)
    with pytest.raises(KeyboardInterrupt):
        load_dataset("letter")
    assert files(tmp_path / "cache") == []


def test_many_at_once(server, tmp_path):
    with ThreadPoolExecutor(8) as pool:
        for data in pool.map(lambda _: load_dataset("sensit"), range(8)):
            assert_is_tiny(data)
    assert len(files(tmp_path / "cache")) == 4


def test_the_default_cache(monkeypatch, tmp_path):
    assert _cache.default_cache() == tmp_path / "cache"
    monkeypatch.delenv("CO2FOREST_CACHE")
    assert _cache.default_cache().name == "co2forest"


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
