# SPDX-License-Identifier: BSD-3-Clause
"""Check that the folders of native/ include each other only as the drawing allows.

Usage: python scripts/check_includes.py [folder]    (default: native, beside this script's folder)
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

# Each folder may include itself and those above it.
DRAWING = ["base", "rows", "loss", "forest", "split", "grow", "train", "bindings", "tests", "fuzz"]
# But what these hold nobody else may include.
ENDS = {"bindings", "tests", "fuzz"}
# The same inside some folders; "" are the files that lie directly in them.
INSIDE = {
    "split": ["linear", ""],
    "grow": ["", "refine"],
}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def includes(native: Path) -> Iterator[tuple[Path, Path]]:
    """All pairs of a file and one that it includes, relative to the folder."""
    for path in sorted([*native.rglob("*.hpp"), *native.rglob("*.cpp")]):
        for name in INCLUDE.findall(path.read_text()):
            yield path.relative_to(native), Path(name)


def room(path: Path, depth: int) -> str:
    """The folder that a path lies in, so many folders deep; "" for a file."""
    return path.parts[depth] if len(path.parts) > depth + 1 else ""


def problem(source: Path, target: Path, native: Path) -> str | None:
    """What is wrong with an include, if anything is."""
    if not (native / target).is_file():
        return "there is no such file"
    here, there = room(source, 0), room(target, 0)
    for name in (here, there):
        if name not in DRAWING:
            return f"{name or 'a loose file'} is not in the drawing"
    if here != there:
        allowed = there not in ENDS and DRAWING.index(there) < DRAWING.index(here)
        return None if allowed else f"{here}/ may not include {there}/"
    order = INSIDE.get(here, [])
    inner, other = room(source, 1), room(target, 1)
    if inner in order and other in order and order.index(other) > order.index(inner):
        return f"{here}/{inner} may not include {here}/{other}".rstrip("/")
    return None


def problems(native: Path) -> list[str]:
    """A line for each include against the drawing, and for each loose file."""
    found = [
        f"{path.name}: no source file may lie directly in {native.name}/"
        for path in sorted([*native.glob("*.hpp"), *native.glob("*.cpp")])
    ]
    for source, target in includes(native):
        if wrong := problem(source, target, native):
            found.append(f"{source.as_posix()} includes {target.as_posix()}: {wrong}")
    return found


def main() -> int:
    """Print what is wrong; the exit code says whether anything is."""
    default = Path(__file__).resolve().parent.parent / "native"
    found = problems(Path(sys.argv[1]) if len(sys.argv) > 1 else default)
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
