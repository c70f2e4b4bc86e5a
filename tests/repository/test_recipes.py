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
LOSS, SPLIT, DATASET = "Add a loss of numbers", "Add a way to split", "Add a data set"
COMPILER = next(filter(shutil.which, (os.environ.get("CXX", ""), "c++", "g++", "clang++")), None)
# What the finder is compiled for: all that it calls is checked, nothing is generated.
FINDER = """
#include "loss/log_loss.hpp"
#include "loss/values_loss.hpp"
#include "rows/rows.hpp"
#include "split/combination.hpp"
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
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    return done.stdout


def run_tests(tree, packages, *tests):
    """The tests of a changed tree, with a package that is not the installed one."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
    return run(command, tree, PYTHONPATH=str(packages))


def check_syntax(tree, source):
    flags = ["-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Wconversion", "-Werror"]
    run([COMPILER, *flags, f"-I{tree / 'native'}", source], tree)


@pytest.mark.skipif(COMPILER is None, reason="needs a C++ compiler")
def test_a_loss_can_be_added(tmp_path):
    tree = changed_tree(tmp_path, LOSS)
    check_syntax(tree, "native/loss/value_loss.cpp")


@pytest.mark.skipif(COMPILER is None, reason="needs a C++ compiler")
def test_a_split_can_be_added(tmp_path):
    tree = changed_tree(tmp_path, SPLIT)
    (tree / "native" / "finder.cpp").write_text(FINDER)
    check_syntax(tree, "native/finder.cpp")


def test_a_data_set_can_be_added(tmp_path):
    tree = changed_tree(tmp_path, DATASET)
    # The core may be installed elsewhere.
    for module in Path(co2forest.__file__).parent.glob("_native*.*"):
        shutil.copy(module, tree / "src" / "co2forest")
    assert " passed" in run_tests(tree, tree / "src", "tests/test_banknote.py")


def test_an_edit_that_fits_nowhere_is_noticed(tmp_path):
    tree = changed_tree(tmp_path, DATASET)
    with pytest.raises(AssertionError, match="has 0 times"):
        recipe(LOSS)[1]._replace(path="native/loss/huber.hpp").apply(tree)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_loss_and_split_are_built_and_used(tmp_path):
    """Both recipes in one build, because that takes minutes, without optimisation."""
    faulthandler.cancel_dump_traceback_later()  # which would end pytest before the compiler is done
    tree = changed_tree(tmp_path, LOSS, SPLIT)
    site = tmp_path / "site"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
    command += ["--no-build-isolation", "--target", site]
    command += ["--config-settings=cmake.build-type=Debug"]
    command += ["--config-settings=cmake.define.CO2FOREST_WERROR=ON", "."]
    run(command, tree)
    new = ["tests/test_losses.py", "tests/test_log_cosh.py", "tests/test_combination.py"]
    assert " passed" in run_tests(tree, site, *new)
