"""Which format a table is in: by the name of its file, or by its content."""

import re
from pathlib import PurePath

FORMATS = ("csv", "tsv", "parquet", "npz", "libsvm", "arff")

_PACKED = {".gz", ".bz2", ".xz", ".z"}
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
    ".arff": "arff",
}
_LIBSVM = re.compile(rb"[+-]?[0-9.][^\s:]*([ \t]+\d+:[^\s:]+)+[ \t]*(#.*)?")
_BEGINNING = 1 << 16  # bytes that are looked at


def format_of(name: str, data: bytes) -> str:
    """The format of a file; its content counts where its name says nothing or something false."""
    binary = _binary_format(name, data)
    suffixes = [suffix.lower() for suffix in PurePath(name).suffixes]
    if suffixes and suffixes[-1] in _PACKED:
        suffixes.pop()
    said = _SUFFIXES.get(suffixes[-1]) if suffixes else None
    if binary is not None:
        return binary
    if said in {"parquet", "npz"}:
        raise ValueError(f"{name}: not a {said} file, or damaged")
    return said or _text_format(data)


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


def _text_format(data: bytes) -> str:
    for line in map(bytes.strip, data[:_BEGINNING].splitlines()):
        if line[:1] == b"%" or not line:
            continue
        if line.lower().startswith(b"@relation"):
            return "arff"
        return "libsvm" if _LIBSVM.fullmatch(line) else "csv"
    return "csv"
