# SPDX-License-Identifier: BSD-3-Clause
"""Downloads of data sets from a server of the test's own, and what stays in the cache."""

import bz2
import gzip
import http.server
import re
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from datasets import cache
from datasets.by_name import DatasetNotFoundError, load_dataset
from tiny_datasets import (
    SVM,
    TABLE,
    X,
    assert_is_tiny,
    files,
    one_line,
    register,
    sha256,
    use_tiny_sets,
)


@pytest.fixture(autouse=True)
def _nothing_of_this_machine(monkeypatch, tmp_path):
    use_tiny_sets(monkeypatch, tmp_path)


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
        register(monkeypatch, f"http://127.0.0.1:{running.server_port}/")
        yield path, requests
        running.shutdown()
        thread.join()


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
    assert cache.default_cache() == tmp_path / "cache"
    monkeypatch.delenv("CO2FOREST_CACHE")
    assert cache.default_cache().name == "co2forest"


def test_files_that_are_not_to_blame_stay(server, folder, tmp_path):
    """The faulty one is by hand; the other was downloaded before, and nobody has recorded it."""
    cache = tmp_path / "cache" / "sensit"
    cache.mkdir(parents=True)
    good = bz2.compress(SVM[1])
    (cache / "svm.t.bz2").write_bytes(good)
    for content in (b"no data", SVM[0][:-20], b"\n".join(SVM[0].split(b"\n")[:-5])):
        (folder / "svm").write_bytes(content)
        with pytest.raises(ValueError, match=r"by hand/svm"):
            load_dataset("sensit", folder=folder)
        assert (cache / "svm.t.bz2").read_bytes() == good
        assert (folder / "svm").read_bytes() == content


def test_a_faulty_file_of_an_earlier_download_is_removed(server, tmp_path):
    cache = tmp_path / "cache" / "sensit"
    cache.mkdir(parents=True)
    (cache / "svm.bz2").write_bytes(bz2.compress(SVM[0]))
    (cache / "svm.t.bz2").write_bytes(b"<html>moved</html>")
    with pytest.raises(ValueError, match=r"svm.t.bz2: not in LIBSVM"):
        load_dataset("sensit", download=False)
    assert files(cache) == ["svm.bz2"]
    assert_is_tiny(load_dataset("sensit"))
    letter = tmp_path / "cache" / "letter" / "tiny.data"
    load_dataset("letter")
    letter.write_bytes(TABLE.replace(b"5", b"6"))
    with pytest.raises(ValueError, match="right sizes, but not the values"):
        load_dataset("letter")
    assert not letter.exists()


def test_several_files_of_which_none_is_faulty_alone_stay(server, tmp_path):
    cache = tmp_path / "cache" / "sensit"
    cache.mkdir(parents=True)
    (cache / "svm.bz2").write_bytes(bz2.compress(SVM[0].split(b"\n")[0] + b"\n"))
    (cache / "svm.t.bz2").write_bytes(bz2.compress(SVM[1]))
    with pytest.raises(
        ValueError, match=r"X_train has shape .*; delete the wrong one in"
    ) as caught:
        load_dataset("sensit")
    assert str(cache) in one_line(caught)
    assert files(cache) == ["svm.bz2", "svm.t.bz2"]
