# SPDX-License-Identifier: BSD-3-Clause
"""The folders of native/ include each other only as drawn."""

import importlib.util
import shutil

import pytest

from markdown_pages import ROOT

pytestmark = pytest.mark.skipif(not (ROOT / "native").is_dir(), reason="only in a source checkout")


@pytest.fixture(scope="module")
def check():
    path = ROOT / "scripts" / "check_includes.py"
    spec = importlib.util.spec_from_file_location("check_includes", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_sources_follow_the_drawing(check):
    assert check.problems(ROOT / "native") == []
    assert sum(1 for _ in check.includes(ROOT / "native")) > 100


@pytest.mark.parametrize(
    ("path", "included", "message"),
    [
        ("base/hash.hpp", "rows/dense.hpp", "base/ may not include rows/"),
        ("loss/loss.hpp", "split/node.hpp", "loss/ may not include split/"),
        ("train/forest.cpp", "bindings/common.hpp", "train/ may not include bindings/"),
        ("fuzz/forest.cpp", "tests/data.hpp", "fuzz/ may not include tests/"),
        ("split/linear/local_plane.hpp", "split/node.hpp", "split/linear may not include split"),
        ("grow/tree.hpp", "grow/refine/refine.hpp", "grow/ may not include grow/refine"),
        ("grow/grow.hpp", "grow/nothing.hpp", "there is no such file"),
        ("loose.hpp", "base/types.hpp", "no source file may lie directly in native/"),
    ],
)
def test_an_include_against_the_drawing_is_found(check, tmp_path, path, included, message):
    native = tmp_path / "native"
    shutil.copytree(ROOT / "native", native)
    with (native / path).open("a") as source:
        source.write(f'\n#include "{included}"\n')
    found = check.problems(native)
    assert any(message in line for line in found)
    assert all(path in line for line in found)
