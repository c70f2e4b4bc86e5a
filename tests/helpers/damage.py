# SPDX-License-Identifier: BSD-3-Clause
"""Damage model files in every way that comes to mind, and see what `load_model` makes of it.

Run in a process of its own, because a fault would end it: ``python damage.py SEED COUNT`` prints a
JSON object with what happened. A file may take less than 4 GiB of memory and 5 s of computing.
"""

import contextlib
import json
import os
import re
import signal
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
from safetensors.numpy import load, save
from sklearn.base import is_regressor

from co2forest import (
    CO2BoostingClassifier,
    CO2BoostingRegressor,
    CO2EnsembleClassifier,
    CO2EnsembleRegressor,
    CO2ForestClassifier,
    CO2TreeClassifier,
    ModelFormatError,
    load_model,
    save_model,
    to_c,
)
from co2forest.baselines import AxisForestRegressor, TwoProbeForestClassifier
from co2forest.files.checksum import checksum
from co2forest.segmentation import ForestSegmenter
from co2forest.tables import TableModel, fit_table
from shapes import make_shapes, small_segmenter, windows_of

# For each file; more where sanitizers slow all down.
SECONDS = 5 * int(os.environ.get("CO2FOREST_TEST_PATIENCE", "1"))

# --- models to damage


def models():
    """Small ones, so that every part of a file is hit: name, fitted estimator, rows to predict."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(60, 4)).astype(np.float32)
    y = (X[:, 0] + X[:, 1] > 0).astype(int) + (X[:, 2] > 1)
    wide = np.zeros((60, 40), dtype=np.float32)
    wide[:, 7:10] = X[:, :3]
    forest = forest_of(3)
    bagged = CO2ForestClassifier(
        2, bootstrap=True, oob_score=lambda _, __: 0.5, random_state=0, mixture=None
    )
    bagged.fit(X, np.array(["cat", "dog", "\N{OWL}"], dtype=object)[y]).set_params(oob_score=True)
    X_test = np.concatenate([X, generator.normal(size=(40, 4)).astype(np.float32)])
    wide_test = np.tile(X_test, 10)
    yield "forest", forest.fit(X, y), X_test
    yield "strings", bagged, X_test
    yield "tree", CO2TreeClassifier(random_state=0, class_weight={0: 2.0}).fit(X, y > 0), X_test
    yield (
        "few features of many",
        CO2ForestClassifier(2, random_state=0, mixture=None).fit(wide, y),
        wide_test,
    )
    numbers = AxisForestRegressor(3, oob_score=True, random_state=0, max_leaf_nodes=8)
    with warnings.catch_warnings(action="ignore", category=UserWarning):  # of rows always drawn
        yield "numbers", numbers.fit(X, np.c_[X[:, 0] * 1e3, y]), X_test
    yield "pairs", TwoProbeForestClassifier(2, random_state=0).fit(X, y), X_test
    labels = np.c_[X[:, 0] > 0, X[:, 1] > 0, X[:, 2] > 1]
    yield "labels", forest_of(3).fit(X, labels), X_test
    costs = [[0, 1, 5], [1, 0, 1], [2, 3, 0]]
    yield "costs", forest_of(3).set_params(cost_matrix=costs).fit(X, y), X_test
    rounds = {"n_estimators": 4, "max_leaf_nodes": 4, "random_state": 0}
    yield "boosted classes", CO2BoostingClassifier(**rounds).fit(X, y), X_test
    counts = CO2BoostingRegressor(loss="poisson", validation_fraction=0.4, **rounds)
    yield "boosted counts", counts.fit(X, y), X_test
    small = {"n_estimators": 4, "n_rounds": 4, "random_state": 0}
    yield "ensemble of classes", CO2EnsembleClassifier(**small).fit(X, y), X_test
    several = np.c_[X[:, 0] * 1e3, y]
    yield "ensemble of numbers", CO2EnsembleRegressor(**small).fit(X, several), X_test
    twice = np.repeat(X, 3, axis=0)  # a mixture needs rows for its trial
    mixture = CO2ForestClassifier(6, random_state=0, max_leaf_nodes=8)
    yield "mixture", mixture.fit(twice, y.repeat(3)), X_test
    images, maps = make_shapes(2, 24, 40, 2)
    segmenter = small_segmenter(window=3, n_estimators=2, samples_per_tree=60)
    yield "segmenter", segmenter.fit(images, maps), images[0][:12, :12]
    frame = raw_table(generator)
    seen = frame[["number", "kind", "day"]].assign(digit=pd.Categorical(np.arange(60) % 3))
    yield "columns", forest_of(3).fit(seen, frame["answer"]), seen
    yield "table", fit_table(frame, "answer", estimator=forest), frame
    ensemble = CO2EnsembleClassifier(**small)
    yield "table of an ensemble", fit_table(frame, "answer", estimator=ensemble), frame


def forest_of(n_trees):
    return CO2ForestClassifier(n_trees, random_state=0, max_leaf_nodes=8, mixture=None)


def raw_table(generator):
    """A column of each kind, and one that is dropped."""
    return pd.DataFrame(
        {
            "number": np.where(generator.random(60) < 0.2, np.nan, generator.normal(size=60)),
            "kind": generator.choice(["a", "b", "\N{OWL}", None], 60),
            "day": [f"20{10 + i % 13}-0{1 + i % 9}-1{i % 7}" for i in range(60)],
            "id": range(60),
            "answer": generator.choice(["no", "yes"], 60),
        }
    )


# --- files taken apart


def split(data):
    """The header of a safetensors file as an object, and the bytes of its arrays."""
    length = int.from_bytes(data[:8], "little")
    return json.loads(data[8 : 8 + length]), data[8 + length :]


def join(header, arrays, length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return (len(text) if length is None else length).to_bytes(8, "little") + text + arrays


def contents(data):
    """The library's own header, and the arrays by name."""
    return json.loads(split(data)[0]["__metadata__"]["co2forest"]), load(data)


def reseal(header, arrays):
    """A file with a right checksum, whatever it holds."""
    header["checksum"] = checksum(header, arrays)
    return save(arrays, {"co2forest": json.dumps(header)})


# --- kinds of damage: each takes the bytes of a file and a generator of random numbers


def pick(options, generator):
    return options[generator.integers(len(options))]


EDGES = [0, 1, 2, 7, 63, 2**31 - 1, 2**31, 2**32, 2**62, 2**63 - 1, -1, -2, -(2**31), -(2**63)]


def truncate(data, generator):
    return data[: generator.integers(len(data))]


def extend(data, generator):
    return data + generator.bytes(generator.integers(1, 64))


def flip_bits(data, generator):
    damaged = np.frombuffer(data, dtype=np.uint8).copy()
    for _ in range(pick([1, 1, 2, 4, 16], generator)):
        damaged[generator.integers(len(damaged))] ^= 1 << generator.integers(8)
    return damaged.tobytes()


def overwrite(data, generator):
    begin = generator.integers(len(data))
    piece = generator.bytes(generator.integers(1, 200))
    return data[:begin] + piece + data[begin + len(piece) :]


def move_block(data, generator):
    a, b, c = np.sort(generator.integers(len(data), size=3))
    return data[:a] + data[b:c] + data[a:b] + data[c:]


def other_header_length(data, generator):
    header, arrays = split(data)
    lengths = [0, 1, 7, 100, 10**6, 10**8, 2**31, 2**40, 2**63, 2**64 - 1]
    return join(header, arrays, pick(lengths, generator))


def other_size(data, generator):
    """A shape or an offset enlarged, or swapped with another."""
    header, arrays = split(data)
    names = [name for name in header if name != "__metadata__"]
    tensor, other = (header[pick(names, generator)] for _ in range(2))
    key = pick(["shape", "data_offsets", "dtype"], generator)
    if key == "dtype":
        tensor[key] = pick(["F64", "F32", "BF16", "U8", "I64", "BOOL", "F8_E4M3"], generator)
    elif generator.random() < 0.5:
        tensor[key], other[key] = other[key], tensor[key]
    else:
        at = generator.integers(len(tensor[key]))
        tensor[key][at] = abs(pick(EDGES, generator))
        if key == "shape" and generator.random() < 0.3:
            tensor[key] += pick([[0], [1] * 100, [2**62]], generator)
    return join(header, arrays)


def other_name(data, generator):
    header, arrays = split(data)
    names = [name for name in header if name != "__metadata__"]
    old, new = (pick(names, generator) for _ in range(2))
    header[new + pick(["", "x"], generator)] = header.pop(old)
    return join(header, arrays)


def other_number(data, generator):
    """A number of an array, with a right checksum: only the checks of the contents can help."""
    header, arrays = contents(data)
    array = arrays[pick([name for name in sorted(arrays) if arrays[name].size], generator)]
    flat = array.reshape(-1)
    at = generator.integers(len(flat))
    if generator.random() < 0.5:
        flat.view(np.uint8)[generator.integers(array.nbytes)] ^= 1 << generator.integers(8)
    elif array.dtype.kind == "f":
        flat[at] = pick([np.nan, np.inf, -np.inf, -1, 0, 2, 1e30, 1e-45, -0.0], generator)
    else:
        limits = np.iinfo(array.dtype)
        flat[at] = min(max(pick(EDGES, generator), limits.min), limits.max)
    return reseal(header, arrays)


def other_length(data, generator):
    """An array that is longer, shorter, or of another dtype or shape, with a right checksum."""
    header, arrays = contents(data)
    name = pick(sorted(arrays), generator)
    array = arrays[name]
    with np.errstate(invalid="ignore"):
        others = [
            array[:-1].copy(),
            array[:0].copy(),
            np.concatenate([array, array[:1]]),
            np.tile(array.reshape(-1), 3),
            array.reshape(1, -1).copy(),
            array.astype(np.float64).astype(np.float16),
            array.astype(np.int64),
            np.array(0, dtype=array.dtype),
        ]
    arrays[name] = pick(others, generator)
    if generator.random() < 0.2:
        del arrays[name]
    return reseal(header, arrays)


def other_value(data, generator):
    """A value of the library's header, at any depth, with a right checksum."""
    header, arrays = contents(data)
    change_somewhere(header, generator)
    return reseal(header, arrays)


def other_column(data, generator):
    """The same in what a file says about columns; of other files, in the header."""
    header, arrays = contents(data)
    if "columns" not in arrays:
        return other_value(data, generator)
    columns = json.loads(arrays["columns"].tobytes())
    change_somewhere(columns, generator)
    arrays["columns"] = np.frombuffer(json.dumps(columns).encode(), dtype=np.uint8)
    return reseal(header, arrays)


def change_somewhere(here, generator):
    """Change a value of nested dicts and lists, or take it away."""
    while True:
        key = pick(sorted(here) if isinstance(here, dict) else range(len(here)), generator)
        deeper = here[key]
        if not isinstance(deeper, dict | list) or not deeper or generator.random() < 0.2:
            break
        here = deeper
    strange = [None, True, -1, 0, 2, 2**31 - 1, 2**63, 10**40, 10**400, 1.5, 1e308, [], {}, [[]]]
    strange += ["", "x" * 300, "\ud800", "\x1b[2J", "auto", {"pairs": [[[], 1]]}, {"pairs": 3}]
    strange += ["<U9999999", "<U0", "|O", "<f2", "<f4", "|i1", "<M8[s]", "<m8[0s]", "<m8", [1, 1]]
    strange += [[0, 1, 10**5], [0, 1, 10**39], ["a", "b", "c" * 10**5], [False, True]]
    if isinstance(here, dict) and generator.random() < 0.2:
        del here[key]
    else:
        here[key] = pick(strange, generator)


def broken_json(data, generator):
    header, arrays = split(data)
    text = header["__metadata__"]["co2forest"]
    at = generator.integers(len(text))
    others = [
        text[:at] + text[at + 1 :],
        text[:at] + "NaN" + text[at:],
        "[" * 100_000,
        '{"format": ' * 5000,
        "9" * 5000,
        '{"format": 1, "x": 1e999}',
        text.replace('"format":1', '"format":2'),
    ]
    header["__metadata__"]["co2forest"] = pick(others, generator)
    return join(header, arrays)


# Damage that leaves the checksum as it was: what is still accepted must predict the same.
ACCIDENTS = (
    truncate,
    extend,
    flip_bits,
    overwrite,
    move_block,
    other_header_length,
    other_size,
    other_name,
    broken_json,
)
# Edits with a right checksum: what is accepted is another model, which must be a sound one.
EDITS = (other_number, other_length, other_value, other_column)


# --- the trial


def probabilities(model, X):
    proba = model.predict_proba(X)
    classes = model.classes_
    if isinstance(classes, list):  # a table for each of several labels
        assert len(proba) == len(classes)
        proba, classes = np.concatenate(proba), classes[0]
    assert proba.shape == (len(X) * model.n_outputs_, len(classes))
    assert proba.min() >= 0.0
    assert proba.max() <= 1.0 + 1e-9
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=0, atol=1e-6)
    if classes.dtype.kind not in "mM":  # dates have no constants in C
        to_c(model)
    return proba


def numbers(model, X):
    with np.errstate(over="ignore"):  # in units of 1e308
        values = model.predict(X)
    assert values.shape in {(len(X), model.n_outputs_), (len(X),)}
    assert not np.isnan(values).any()
    return values


def pixels(model, image):
    proba = model.predict_proba(image)
    labels = model.predict(image)
    assert proba.shape == (*image.shape[:2], len(model.classes_))
    assert labels.shape == image.shape[:2]
    answered = ~np.isnan(proba[:, :, 0])
    assert answered.any()
    assert np.isin(labels[answered], model.classes_).all()
    assert (labels[~answered] == model.void_label_).all()
    np.testing.assert_allclose(proba[answered].sum(axis=1), 1.0, rtol=0, atol=1e-5)
    score = model.score([image], [labels])
    assert score == 100.0 or np.isnan(score)  # if an ignore_label leaves nothing to count
    assert np.isfinite(model.feature_importances_).all()
    rows = windows_of(image, model.window_)
    probabilities(model.classifier_, rows)
    return proba


def answers(model, frame):
    """Probabilities, or None if the file speaks of other columns than the table has."""
    assert len(model.describe()) > len(model.feature_names_in_)
    model.notes(frame)
    try:
        proba = model.predict_proba(frame)
    except ValueError as error:
        if not re.search(r"the table lacks|is not a (number|date)", str(error)):
            raise
        return None
    assert proba.shape == (len(frame), len(model.classes_))
    assert np.isfinite(model.feature_importances_).all()
    return proba


def has_categories(model):
    views = getattr(model, "_column_views", None)
    return views is not None and views.columns.has_categories


def use(path, X, mmap_mode):
    model = load_model(path, mmap_mode=mmap_mode)
    if isinstance(model, TableModel):
        outputs = answers(model, X)
        save_model(model, path.with_name("again"))
        return outputs
    if isinstance(X, pd.DataFrame) and not has_categories(model):  # the file has lost its table
        X = np.zeros((len(X), model.n_features_in_), dtype=np.float32)
    if isinstance(model, ForestSegmenter):
        outputs = pixels(model, X)
        save_model(model, path.with_name("again"))
        return outputs
    try:
        outputs = numbers(model, X) if is_regressor(model) else probabilities(model, X)
    except ValueError as error:
        # A column that no tree sees may have become one of numbers, or of words; or the file has
        # lost its table.
        known = r"must hold numbers, as in training|but its categories|feature names should match"
        if not re.search(known, str(error)):
            raise
        return None
    assert np.isfinite(model.feature_importances_).all()
    with np.errstate(over="ignore"):
        assert len(model.predict(X)) == len(X)
    if isinstance(model, CO2EnsembleClassifier | CO2EnsembleRegressor):
        save_model(model, path.with_name("again"))
        return outputs
    model.apply(X[:5])
    if isinstance(model, CO2BoostingClassifier | CO2BoostingRegressor):
        with np.errstate(over="ignore"):
            assert sum(1 for _ in model.staged_predict(X[:1])) == model.n_estimators_
        save_model(model, path.with_name("again"))
        return outputs
    model.decision_path(X[:5])
    if not isinstance(model, CO2TreeClassifier):
        model.estimators_[0].predict(X[:1])
        if model._draws.n_rows < 10**6:  # else it takes what so many rows take
            model.estimators_samples_[0].sum()
    save_model(model, path.with_name("again"))
    return outputs


def limit_memory():
    """No more than 4 GiB, unless a sanitizer has reserved its terabytes already."""
    with contextlib.suppress(ImportError, FileNotFoundError):  # not on Linux
        import resource

        size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        if size < 4 << 30:
            resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))


def main(seed, count):
    """Damage `count` files; an exception other than ModelFormatError ends the process."""
    generator = np.random.default_rng(seed)
    originals = []
    outcomes = Counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.safetensors")
        for name, model, X in models():
            save_model(model, path)
            originals.append((name, path.read_bytes(), X, use(path, X, None)))
        limit_memory()
        for i in range(count):
            name, data, X, expected = pick(originals, generator)
            damage = pick(ACCIDENTS + EDITS, generator)
            path.write_bytes(damage(data, generator))
            sys.stderr.write(f"{i}: {damage.__name__} of {name}\n")
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            try:
                outputs = use(path, X, pick([None, "r"], generator))
            except ModelFormatError:
                outcomes[damage.__name__, "refused"] += 1
            else:
                outcomes[damage.__name__, "accepted"] += 1
                if damage in ACCIDENTS:
                    np.testing.assert_array_equal(outputs, expected)
            signal.setitimer(signal.ITIMER_PROF, 0)
    return {" ".join(outcome): times for outcome, times in sorted(outcomes.items())}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(int(sys.argv[1]), int(sys.argv[2]))))
