# SPDX-License-Identifier: BSD-3-Clause
"""Which format a table is in: by the name of its file, or by its content."""

import re
from pathlib import PurePath

FORMATS = ("csv", "tsv", "parquet", "npz", "libsvm")

_PACKED = {".gz", ".bz2", ".xz"}
_SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".npz": "npz",
    ".libsvm": "libsvm",
    ".svmlight": "libsvm",
    ".svm": "libsvm",
}
_LIBSVM = re.compile(rb"[+-]?[0-9.][^\s:]*([ \t]+\d+:[^\s:]+)+[ \t]*(#.*)?")
_BEGINNING = 1 << 16  # bytes that decide


def format_of(name: str, data: bytes) -> str:
    """The format of a file by its name, or by its content if the name says nothing or is wrong."""
    binary = _binary_format(name, data)
    suffixes = [suffix.lower() for suffix in PurePath(name).suffixes]
    if suffixes and suffixes[-1] in _PACKED:
        suffixes.pop()
    said = _SUFFIXES.get(suffixes[-1]) if suffixes else None
    if binary is not None:
        return binary
    if said in {"parquet", "npz"}:
        raise ValueError(f"{name}: not a {said} file, or damaged")
    return said or _text_format(name, data)


def _binary_format(name: str, data: bytes) -> str | None:
    if data[:4] == b"PAR1":
        return "parquet"
    if data[:4] in {b"PK\3\4", b"PK\5\6"}:  # with members, or without
        return "npz"
    if data[8:10] == b'{"' and b'"co2forest"' in data[:_BEGINNING]:  # a safetensors file
        raise ValueError(f"{name}: a model of co2forest, not a table")
    if data[:6] == b"\x93NUMPY":
        raise ValueError(
            f"{name}: a single array of NumPy; numpy.savez puts X and y into an .npz file"
        )
    if data[:1] == b"\x80":
        raise ValueError(
            f"{name}: a pickle, which could run any code and is never loaded; save the table as "
            "CSV or Parquet"
        )
    return None


def _text_format(name: str, data: bytes) -> str:
    lines = map(bytes.strip, data[:_BEGINNING].splitlines())
    first = next((line for line in lines if line and line[:1] != b"%"), b"")
    if first.lower().startswith(b"@relation"):
        raise ValueError(
            f"{name}: an ARFF file, which is not read; save it as CSV or Parquet "
            "(sklearn.datasets.fetch_openml loads one as a data frame)"
        )
    return "libsvm" if _LIBSVM.fullmatch(first) else "csv"
