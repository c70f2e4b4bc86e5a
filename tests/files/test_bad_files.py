# SPDX-License-Identifier: BSD-3-Clause
"""Files that are not sound models: refused, and a message says why."""

import os
import pickle
import warnings

import numpy as np
import pytest

from co2forest import (
    CO2TreeClassifier,
    ModelFormatError,
    load_model,
)
from damage import contents, join, models, reseal, split
from small_models import CODES, X, posix

resource = pytest.importorskip("resource") if os.name == "posix" else None


def test_wrong_arguments(forest, path):
    forest.save(path)
    with pytest.raises(ValueError, match=r"mmap_mode must be None or 'r', got 'w'"):
        load_model(path, mmap_mode="w")
    with pytest.raises(FileNotFoundError):
        load_model(path.with_name("other"))
    with pytest.raises(TypeError):
        load_model(None)
    with pytest.raises(ModelFormatError, match="a directory"):
        load_model(path.parent)


@posix
@pytest.mark.timeout(60)
def test_a_pipe_is_not_waited_for(path):
    os.mkfifo(path)
    with pytest.raises(ModelFormatError, match="not a regular file"):
        load_model(path)


def edit(**changes):
    """Change the library's header; dots lead to deeper values."""

    def apply(header, _):
        for name, value in changes.items():
            *parents, last = name.split("__")
            here = header
            for parent in parents:
                here = here[parent]
            here[last] = value

    return apply


def edit_array(name, change):
    def apply(_, arrays):
        arrays[name] = change(arrays[name])

    return apply


BAD = {
    "written in format 2 by co2forest 9.9.*please upgrade": edit(format=2, library_version="9.9"),
    "format 0 does not exist": edit(format=0),
    "no format number": edit(format="1"),
    "unknown estimator 'Forest', written by co2forest": edit(estimator="Forest"),
    "unknown estimator None": edit(estimator=None),
    "'parameters' must be an object": edit(parameters=[]),
    r"unknown parameters: \['depth'\]": edit(parameters__depth=3),
    r"unknown parameters: \['n_jobs'\]": edit(parameters__n_jobs=2),
    "The 'nu' parameter": edit(parameters__nu=-1.0),
    "The 'max_depth' parameter": edit(parameters__max_depth="deep"),
    r"'max_depth' must be a plain value, got \[\]": edit(parameters__max_depth=[]),
    "'class_weight' must be pairs": edit(parameters__class_weight={"pairs": [[1]]}),
    "'fitted' must be an object": edit(fitted=None),
    "'classes' must be an object": edit(fitted__classes=["a", "b", "c"]),
    "'classes.dtype' must be the dtype of labels": edit(fitted__classes__dtype="object"),
    "'classes.values' must be a list of int": edit(fitted__classes__values=["a", "b", "c"]),
    "'classes.values' must be different": edit(fitted__classes__values=[1, 1, 2]),
    "'classes.values' must be labels": edit(fitted__classes__values=[0, 1, 2**70]),
    "'classes.dtype' must be not longer than U1001": edit(
        fitted__classes={"dtype": "<U1002", "values": ["a", "b", "c"]}
    ),
    "'classes.dtype' must be the dtype of labels, got '<U0'": edit(fitted__classes__dtype="<U0"),
    "'classes.dtype' must be the dtype of labels, got '<m8": edit(fitted__classes__dtype="<m8[0s]"),
    "'classes.values' must be labels of dtype float16": edit(
        fitted__classes={"dtype": "<f2", "values": [0, 1, 10**5]}
    ),
    "'classes.values' must be labels of dtype float32": edit(
        fitted__classes={"dtype": "<f4", "values": [0, 1, 10**39]}
    ),
    "'classes.values' must be labels of dtype <U1": edit(
        fitted__classes={"dtype": "<U1", "values": ["aa", "b", "c"]}
    ),
    "forest array 'value_output' names an output that does not exist": edit(
        fitted__classes__values=[0, 1]
    ),
    "scale_ must be one of": edit(fitted__scale="auto"),
    "unknown entries: \\['author'\\]": edit(author="me"),
    "The 'tol' parameter": edit(parameters__tol=10**400),
    "The 'n_estimators' parameter": edit(parameters__n_estimators=10**18),
    "'feature_names' must be a list of 4 strings": edit(fitted__feature_names=["a"]),
    "'seed' must be a whole number": edit(fitted__seed=-1),
    "'n_rows' must be a whole number": edit(fitted__n_rows=2**31),
    "'n_draws' must be a whole number from 1 to 60, got 61": edit(fitted__n_draws=61),
    "bootstrap must be true or false": edit(fitted__bootstrap=1),
    "'oob_score' must be a number": edit(fitted__oob_score="good"),
    "'oob_score' must be a number or null, got 1000": edit(fitted__oob_score=10**400),
    "unknown entries: \\['notes'\\]": edit(fitted__notes="hello"),
    "'seed' is missing": lambda header, _: header["fitted"].pop("seed"),
    "unknown entries: \\['more'\\]": lambda _, arrays: arrays.update(more=np.zeros(3)),
    "the array 'n_iter' is missing": lambda _, arrays: arrays.pop("n_iter"),
    r"'n_iter' must hold finite float64 numbers of shape \(3,\)": edit_array(
        "n_iter", lambda a: a[:2]
    ),
    "and not finite": edit_array("n_iter", lambda a: a * np.nan),
    "forest array 'left' is missing": lambda _, arrays: arrays.pop("forest.left"),
    "forest array 'left' has the wrong dtype": edit_array("forest.left", lambda a: a.astype("i8")),
    "forest array 'left' must": edit_array("forest.left", lambda a: a + 10**9),
}


@pytest.mark.parametrize("mmap_mode", [None, "r"])
@pytest.mark.parametrize("message", BAD)
def test_files_with_a_right_checksum_and_wrong_contents(forest, path, message, mmap_mode):
    forest.save(path)
    header, arrays = contents(path.read_bytes())
    BAD[message](header, arrays)
    path.write_bytes(reseal(header, arrays))
    with pytest.raises(ModelFormatError, match=message) as caught:
        load_model(path, mmap_mode=mmap_mode)
    assert str(caught.value).startswith(f"{path}: ")
    assert len(str(caught.value).removeprefix(str(path))) < 400


def with_leaf(value):
    def apply(_, arrays):
        arrays["forest.value"][-1] = value

    return apply


BAD_OUTPUTS = {
    r"probabilities of labels must be in \[0, 1\]": ("labels", with_leaf(1e30)),
    r"of labels must be in \[0, 1\]": ("labels", with_leaf(-1e-6)),
    r"'value' must be in \[0, 1\]": ("costs", with_leaf(1e30)),
    r"'value' must sum to 1 in a leaf": ("costs", with_leaf(0.9)),
    r"'value' must be in": ("mixture", with_leaf(-0.5)),
    r"'value' must be finite": ("boosted counts", with_leaf(np.inf)),
    r"'exponent' must be a number from 1e-6 to 10, got 1000.0": (
        "mixture",
        edit(fitted__calibration=[1000.0, 0.1]),
    ),
    r"temperature must be in \(0, 1e6\)": ("boosted classes", edit(fitted__temperature=0.0)),
    r"target_map must have units above zero": (
        "boosted counts",
        edit_array("target_map", lambda a: a * [[1.0], [0.0]]),
    ),
}


@pytest.fixture(scope="module")
def kinds_of_models():
    with warnings.catch_warnings(action="ignore", category=UserWarning):  # of rows always drawn
        return {name: model for name, model, _ in models()}


@pytest.mark.parametrize("message", BAD_OUTPUTS)
def test_values_that_no_fit_gives(kinds_of_models, path, message):
    """Predictions would be no probabilities, or no numbers."""
    name, change = BAD_OUTPUTS[message]
    kinds_of_models[name].save(path)
    header, arrays = contents(path.read_bytes())
    change(header, arrays)
    path.write_bytes(reseal(header, arrays))
    with pytest.raises(ModelFormatError, match=message):
        load_model(path)


def test_a_tree_of_two_trees(forest, path):
    tree = CO2TreeClassifier(random_state=0).fit(X, CODES)
    tree.save(path)
    header, _ = contents(path.read_bytes())
    forest.save(path)
    _, arrays = contents(path.read_bytes())
    path.write_bytes(reseal(header, arrays))
    with pytest.raises(ModelFormatError, match="one tree is needed, got 3"):
        load_model(path)


@posix
@pytest.mark.parametrize("mmap_mode", [None, "r"])
def test_a_file_that_cannot_be_opened_is_not_called_missing(forest, path, mmap_mode):
    """As safetensors does; here because the process has no descriptor left."""
    forest.save(path)
    load_model(path, mmap_mode=mmap_mode)
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    with path.open() as file:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (file.fileno(), limits[1]))
            with pytest.raises(OSError, match="Too many open files"):
                load_model(path, mmap_mode=mmap_mode)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def test_a_file_that_is_cut_off(forest, path):
    forest.save(path)
    data = path.read_bytes()
    for size in (len(data) // 2, len(data) - 1, len(data) + 1):
        path.write_bytes((data + b"\0")[:size])
        with pytest.raises(ModelFormatError, match="the file is cut off or damaged"):
            load_model(path)


def test_a_wrong_checksum(forest, path):
    forest.save(path)
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    with pytest.raises(ModelFormatError, match="the checksum is wrong: the file is damaged"):
        load_model(path)


@pytest.mark.parametrize("mmap_mode", [None, "r"])
@pytest.mark.parametrize("shape", [[1] * 100, [0, 2**62], [2**63, 0], []])
def test_arrays_of_strange_shapes(forest, path, shape, mmap_mode):
    forest.save(path)
    header, arrays = split(path.read_bytes())
    size = 8 if 0 not in shape else 0
    header["more"] = {
        "dtype": "F64",
        "shape": shape,
        "data_offsets": [len(arrays), len(arrays) + size],
    }
    path.write_bytes(join(header, arrays + b"\0" * size))
    with pytest.raises(ModelFormatError):
        load_model(path, mmap_mode=mmap_mode)


def test_messages_can_be_printed(forest, path):
    forest.save(path)
    header, arrays = contents(path.read_bytes())
    for name in ("library_version", "estimator"):
        header["format"] = 2 if name == "library_version" else 1
        header[name] = "\x1b[2J\ud800" + "x" * 10_000
        path.write_bytes(reseal(header, arrays))
        with pytest.raises(ModelFormatError) as caught:
            load_model(path)
        message = str(caught.value).removeprefix(str(path))
        assert message.isascii()
        assert message.isprintable()
        assert len(message) < 400


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the file is empty"),
        (b"\x80\x04\x95", "a pickle, not a model file"),
        (b"\xff" * 100, "not a safetensors file"),
        ((2).to_bytes(8, "little") + b"{}", "not a model of co2forest"),
    ],
)
def test_other_files(path, data, message):
    path.write_bytes(data)
    with pytest.raises(ModelFormatError, match=message):
        load_model(path)


def test_nothing_in_a_file_is_run(path):
    """A pickle is refused before anybody unpickles it."""

    class Harmful:
        def __reduce__(self):
            return os.mkdir, (os.fspath(path.with_name("harm")),)

    path.write_bytes(pickle.dumps(Harmful()))
    with pytest.raises(ModelFormatError):
        load_model(path)
    assert not path.with_name("harm").exists()
