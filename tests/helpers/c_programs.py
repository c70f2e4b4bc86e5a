# SPDX-License-Identifier: BSD-3-Clause
"""Compile and run C sources, for the tests of exports."""

import shutil
import subprocess

import pytest

STRICT = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-pedantic"]


def program_of(folder, sources, compiler="cc", options=STRICT):
    """Compile C files, given by name and text; those ending in .h are only for the others."""
    command = shutil.which(compiler)
    if command is None:
        pytest.skip(f"there is no {compiler}")
    for name, text in sources.items():
        (folder / name).write_text(text, encoding="ascii")
    files = [name for name in sources if not name.endswith(".h")]
    command = [command, *options, *files, "-lm", "-o", "program"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return folder / "program"


def run(program, data=b""):
    done = subprocess.run([program], input=data, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
