# SPDX-License-Identifier: BSD-3-Clause
"""The examples of the documentation strings run, and print what they say."""

import doctest

import pytest

import co2forest
from co2forest import baselines, inspection, report, segmentation, tables, tuning

OBJECTS = [
    getattr(module, name)
    for module in (co2forest, baselines, inspection, report, segmentation, tables, tuning)
    for name in module.__all__
    if ">>>" in (getattr(getattr(module, name), "__doc__", None) or "")
]


def test_every_estimator_has_an_example():
    names = {item.__name__ for item in OBJECTS}
    own = {name for name in co2forest.__all__ if name.endswith(("Classifier", "Regressor"))}
    functions = {"tune_forest", "tune_segmenter", "read_table", "fit_table", "write_report"}
    functions |= {"jaccard_table", "explain"}
    assert names >= own | {"ForestSegmenter"} | functions
    for name in baselines.__all__:
        # A class that only fixes the split is used as the one that lets choose it.
        bases = {base.__name__ for base in getattr(baselines, name).__mro__}
        assert names & bases & set(baselines.__all__), name


@pytest.mark.parametrize("item", OBJECTS, ids=lambda item: item.__name__)
def test_examples(item, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # an example may write a file
    finder, runner = doctest.DocTestFinder(recurse=False), doctest.DocTestRunner()
    for example in finder.find(item, item.__name__, globs={}):
        runner.run(example)
    assert runner.summarize().attempted > 0
    assert runner.summarize().failed == 0
