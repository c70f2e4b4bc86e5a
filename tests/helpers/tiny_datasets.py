# SPDX-License-Identifier: BSD-3-Clause
"""Tiny sets in the place of real ones, for tests of loading."""

import dataclasses
import gzip
import hashlib

import numpy as np

from datasets.content import Parts, Sizes, content_digest
from datasets.origins import Origin, OriginFile, libsvm_parts, uci_whole
from datasets.registry import REGISTRY

# 20 rows for training, 6 for the test.
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


def use_tiny_sets(monkeypatch, tmp_path):
    """An empty cache, no folder, and addresses where nobody answers."""
    monkeypatch.delenv("CO2FOREST_DATA", raising=False)
    monkeypatch.setenv("CO2FOREST_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    register(monkeypatch, "http://127.0.0.1:9/")


def register(monkeypatch, server):
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
