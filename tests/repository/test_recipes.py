# SPDX-License-Identifier: BSD-3-Clause
"""The recipes of CONTRIBUTING.md work as they stand there."""

import faulthandler
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import co2forest
from markdown_pages import ROOT
from recipes import copy_of_sources, recipe

pytestmark = [
    pytest.mark.skipif(not (ROOT / "CONTRIBUTING.md").exists(), reason="only in a source checkout"),
    pytest.mark.plain_build,  # what it builds and imports is another build
]
LOSS, SPLIT, ROWS = "Add a loss of numbers", "Add a kind of split", "Add a kind of rows"
DATASET, COMMAND = "Add a data set", "Add a command"
COMPILER = next(filter(shutil.which, (os.environ.get("CXX", ""), "c++", "g++", "clang++")), None)
# What the new code is compiled for: all that it calls is checked, nothing is generated.
FINDER = """
#include "loss/instantiations.hpp"
#include "split/splits.hpp"
template class co2::CombinationFinder<co2::DenseRows<float>, co2::LogLoss>;
template class co2::CombinationFinder<co2::DenseRows<std::uint8_t>, co2::ValuesLoss>;
"""


def changed_tree(folder, *titles):
    tree = copy_of_sources(folder)
    for title in titles:
        for step in recipe(title):
            step.apply(tree)
    return tree


def run(command, tree, **environment):
    done = subprocess.run(
        command,
        cwd=tree,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    output = done.stdout + done.stderr  # of a compiler the beginning matters, of pytest the end
    assert done.returncode == 0, f"{output[:4000]}\n...\n{output[-4000:]}"
    return done.stdout


def run_tests(tree, packages, *tests):
    """The tests of a changed tree, with a package that is not the installed one."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
    return run(command, tree, PYTHONPATH=str(packages))


def check_syntax(tree, source):
    flags = ["-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Wconversion", "-Werror"]
    run([COMPILER, *flags, f"-I{tree / 'native'}", source], tree)


@pytest.mark.parametrize("title", [LOSS, SPLIT, ROWS])
def test_it_takes_a_new_file_a_line_in_a_list_and_a_test(title):
    """A loss also has its formula among those of all losses."""
    steps = [step for step in recipe(title) if step.path != "tests/native/test_losses.py"]
    assert [step.new for step in steps] == [True, False, False, True]
    assert len({step.path for step in steps}) == 3
    assert steps[-1].path.startswith("tests/")


@pytest.mark.skipif(COMPILER is None, reason="needs a C++ compiler")
def test_a_loss_can_be_added(tmp_path):
    tree = changed_tree(tmp_path, LOSS)
    check_syntax(tree, "native/loss/registry.cpp")


@pytest.mark.skipif(COMPILER is None, reason="needs a C++ compiler")
def test_a_split_can_be_added(tmp_path):
    tree = changed_tree(tmp_path, SPLIT)
    (tree / "native" / "finder.cpp").write_text(FINDER)
    check_syntax(tree, "native/finder.cpp")


@pytest.mark.skipif(COMPILER is None, reason="needs a C++ compiler")
def test_a_kind_of_rows_can_be_added(tmp_path):
    tree = changed_tree(tmp_path, ROWS)
    check_syntax(tree, "native/forest/predict.cpp")


@pytest.mark.skipif(COMPILER is None, reason="needs a C++ compiler")
def test_a_kind_of_rows_that_lacks_a_member_is_named(tmp_path):
    tree = changed_tree(tmp_path, ROWS)
    path = tree / "native/rows/shorts.hpp"
    path.write_text(path.read_text().replace("float value(", "float element_of("))
    with pytest.raises(AssertionError, match=r"rows\.value\(i, j\)"):
        check_syntax(tree, "native/rows/moments.cpp")


@pytest.mark.parametrize(
    ("title", "tests"),
    [
        (DATASET, ["tests/benchmarks/test_banknote.py"]),
        (COMMAND, ["tests/cli/test_classes.py", "tests/cli/test_commands.py"]),
    ],
)
def test_what_needs_no_compiler_can_be_added(tmp_path, title, tests):
    tree = changed_tree(tmp_path, title)
    # The core may be installed elsewhere.
    for module in Path(co2forest.__file__).parent.glob("_native*.*"):
        shutil.copy(module, tree / "src" / "co2forest")
    assert " passed" in run_tests(tree, tree / "src", *tests)


def test_an_edit_that_fits_nowhere_is_noticed(tmp_path):
    tree = changed_tree(tmp_path, DATASET)
    with pytest.raises(AssertionError, match="has 0 times"):
        recipe(LOSS)[1]._replace(path="native/loss/huber.hpp").apply(tree)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_they_are_built_and_used(tmp_path):
    """All recipes in one build, because that takes minutes, without optimisation."""
    faulthandler.cancel_dump_traceback_later()  # which would end pytest before the compiler is done
    tree = changed_tree(tmp_path, LOSS, SPLIT, ROWS)
    site = tmp_path / "site"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
    command += ["--no-build-isolation", "--target", site]
    command += ["--config-settings=cmake.build-type=Debug"]
    command += ["--config-settings=cmake.define.CO2FOREST_WERROR=ON", "."]
    run(command, tree)
    new = [step.path for title in (LOSS, SPLIT, ROWS) for step in recipe(title)[-1:]]
    assert " passed" in run_tests(tree, site, "tests/native/test_losses.py", *new)
