# SPDX-License-Identifier: BSD-3-Clause
"""The configuration of wheels agrees with itself; make wheel builds and tests one."""

import importlib.metadata
import json
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
WHEELS = PROJECT["tool"]["cibuildwheel"]


def test_one_wheel_for_each_abi():
    oldest = PROJECT["project"]["requires-python"].removeprefix(">=").replace(".", "")
    stable = PROJECT["tool"]["scikit-build"]["wheel"]["py-api"]
    assert WHEELS["build"] == [f"cp{oldest}-*", f"{stable}-*"]


def test_tests_of_wheels_exist():
    script = ROOT / "scripts" / "test_wheel.py"
    assert WHEELS["test-command"].endswith("/scripts/test_wheel.py")
    names = runpy.run_path(str(script))["TESTS"]
    assert names == sorted(set(names))
    assert all((ROOT / "tests" / name).is_file() for name in names)


def test_the_package_says_what_is_compiled_into_it():
    files = importlib.metadata.files("co2forest")
    (path,) = [f for f in files if f.match("*.dist-info/sboms/co2forest.cdx.json")]
    bill = json.loads(path.read_text())
    assert bill["metadata"]["component"]["version"] == PROJECT["project"]["version"]
    assert [c["name"] for c in bill["components"]] == ["nanobind", "robin-map"]
    assert "@" not in bill["components"][0]["version"]


@pytest.mark.parametrize(
    ("platform", "arch", "expected"),
    [
        ("linux", "x86_64", ["manylinux_x86_64", "musllinux_x86_64"]),
        ("macos", "arm64", ["macosx_arm64"]),
        ("windows", "AMD64", ["win_amd64"]),
    ],
)
def test_cibuildwheel_takes_the_configuration(platform, arch, expected):
    pytest.importorskip("cibuildwheel")
    command = [sys.executable, "-m", "cibuildwheel", "--print-build-identifiers"]
    command += ["--platform", platform, "--archs", arch, str(ROOT)]
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    pythons = [name.removesuffix("-*") for name in WHEELS["build"]]
    assert sorted(shown) == sorted(f"{p}-{e}" for p in pythons for e in expected)
