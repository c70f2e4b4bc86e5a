# SPDX-License-Identifier: BSD-3-Clause
"""Check what is in a source archive and a wheel: all that belongs there, and nothing else.

Usage: check_wheel.py FOLDER, which holds one of each.
"""

import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[1]
LARGEST = 8e6  # bytes of the wheel; 0.1.0 has 1.5 MB
GENERATED = re.compile(r"_native(\..*\.so|\.abi3\.so|/.*\.pyi|\.pyi)|py\.typed")


def tracked(folder: str) -> set[str]:
    """The files under version control, relative to the folder."""
    command = ["git", "-C", str(SOURCES / folder), "ls-files", "-z"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return set(listed.split("\0")) - {""}


def check_names(what: str, names: set[str], expected: set[str]) -> None:
    """End with a message unless both are the same."""
    lacking, unknown = sorted(expected - names), sorted(names - expected)
    if lacking:
        raise SystemExit(f"{what} lacks {', '.join(lacking)}")
    if unknown:
        raise SystemExit(f"{what} has what is not under version control: {', '.join(unknown)}")


def check_source_archive(path: Path) -> None:
    """All files under version control, and the metadata."""
    with tarfile.open(path) as archive:
        files = [m.name.split("/", 1)[1] for m in archive.getmembers() if m.isfile()]
    check_names(path.name, set(files) - {"PKG-INFO"}, tracked("."))


def check_wheel(path: Path) -> None:
    """The package, its compiled module with types, and the metadata; no tests."""
    with zipfile.ZipFile(path) as archive:
        names = [n for n in archive.namelist() if not n.endswith("/")]
        package = {n.removeprefix("co2forest/") for n in names if n.startswith("co2forest/")}
        others = {n for n in names if not re.match(r"co2forest(-[^/]*\.dist-info)?/", n)}
        if others:
            raise SystemExit(f"{path.name} has {', '.join(sorted(others))}")
        generated = {n for n in package if GENERATED.fullmatch(n)}
        check_names(path.name, package - generated, tracked("src/co2forest"))
        for needed in ("py.typed", "_native/__init__.pyi"):
            if needed not in generated:
                raise SystemExit(f"{path.name} lacks {needed}")
        if not any(n.endswith(".dist-info/sboms/co2forest.cdx.json") for n in names):
            raise SystemExit(f"{path.name} does not say what is compiled into it")
        modules = [n for n in names if n.endswith(".so")]
        if len(modules) != 1:
            raise SystemExit(f"{path.name} has {len(modules)} compiled modules, not one")
        with tempfile.TemporaryDirectory() as folder:
            check_module(Path(archive.extract(modules[0], folder)))
    if path.stat().st_size > LARGEST:
        raise SystemExit(f"{path.name} has {path.stat().st_size} bytes, more than {LARGEST:.0f}")
    if "-abi3-" in path.name:
        subprocess.run([program("abi3audit"), "--strict", path], check=True)


def check_module(path: Path) -> None:
    """It finds its libraries wherever the system has them."""
    command = [program("patchelf"), "--print-rpath", path]
    found = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    if found:
        raise SystemExit(f"{path.name} looks for libraries in {found}")


def program(name: str) -> Path:
    """Of this Python's environment."""
    return Path(sys.executable).with_name(name)


def only(folder: Path, pattern: str) -> Path:
    """The one file that is called so."""
    found = list(folder.glob(pattern))
    if len(found) != 1:
        raise SystemExit(f"{folder} has {len(found)} files {pattern}, not one")
    return found[0]


if __name__ == "__main__":
    check_source_archive(only(Path(sys.argv[1]), "*.tar.gz"))
    check_wheel(only(Path(sys.argv[1]), "*.whl"))
