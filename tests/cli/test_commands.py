# SPDX-License-Identifier: BSD-3-Clause
"""Each command has one file of options and one action, and they agree."""

import inspect
import pkgutil
from importlib import import_module

import pytest

from co2forest.cli import actions, commands

TABLE = {"target", "task", "no_header", "weights", "drop", "keep", "categorical"}


def names(package):
    found = pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    return {module.name.removeprefix(f"{package.__name__}.") for module in found}


def test_a_command_is_two_files_of_the_same_name():
    assert names(commands) == names(actions)


@pytest.mark.parametrize("name", sorted(names(commands) - {"segment"}))
def test_options_are_the_arguments_of_the_action(name):
    declared = getattr(import_module(f"{commands.__name__}.{name}"), name.rpartition(".")[2])
    options = set(inspect.signature(declared).parameters) - {"debug"}
    run = inspect.signature(import_module(f"{actions.__name__}.{name}").run).parameters
    named = {n for n, p in run.items() if p.kind is inspect.Parameter.KEYWORD_ONLY}
    assert named <= options
    takes_others = len(named) < len(run)
    assert takes_others or named == options
    if takes_others and name != "segment.train":
        assert options - named == TABLE
