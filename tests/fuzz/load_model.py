# SPDX-License-Identifier: BSD-3-Clause
"""Fuzz load_model: whatever the bytes, it refuses a file or returns a model that predicts.

python tests/fuzz/load_model.py CORPUS [OPTION OF LIBFUZZER ...]
"""

import sys
import tempfile
from pathlib import Path

import atheris
import numpy as np
from sklearn.base import is_regressor

with atheris.instrument_imports(include=["co2forest"]):
    from co2forest import ModelFormatError, load_model, save_model
    from co2forest.segmentation import ForestSegmenter

sys.path.insert(0, str(Path(__file__).parents[1] / "helpers"))
import damage  # the kinds of damage that the tests know


def write_seeds(folder):
    for number, (_, model, _) in enumerate(damage.models()):
        save_model(model, folder / f"seed-{number}")


def mutate(data, max_size, seed):
    """Mostly a known kind of damage, because bytes at random seldom come beyond the checksum."""
    generator = np.random.default_rng(seed)
    kind = damage.pick((None, *damage.EDITS, *damage.EDITS, damage.other_size), generator)
    try:
        data = atheris.Mutate(data, max_size) if kind is None else kind(data, generator)
    except Exception:  # noqa: BLE001 (the file is too broken to be taken apart)
        data = atheris.Mutate(data, max_size)
    return data[:max_size]


def check(path, data):
    path.write_bytes(data)
    try:
        model = load_model(path)
    except ModelFormatError:
        return
    if isinstance(model, ForestSegmenter):
        shape = (model.window_, model.window_, model.n_channels_)
        damage.pixels(model, np.zeros(shape, dtype=model.image_dtype_))
        return
    rows = np.zeros((2, model.n_features_in_))
    if damage.has_categories(model):
        rows = np.full(rows.shape, None)  # gaps, because nothing else is in columns of any kind
    with np.errstate(over="ignore"):  # numbers in units of 1e308
        assert len(model.predict(rows)) == 2
    if is_regressor(model):
        return
    proba, classes = model.predict_proba(rows), model.classes_
    if isinstance(classes, list):  # a table for each of several labels
        assert len(proba) == len(classes)
        proba, classes = proba[-1], classes[-1]
    assert proba.shape == (2, len(classes))
    assert np.all((proba >= 0) & (proba <= 1))
    assert np.allclose(proba.sum(axis=1), 1, atol=1e-3)


def main():
    corpus = Path(sys.argv[1])
    corpus.mkdir(parents=True, exist_ok=True)
    write_seeds(corpus)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        atheris.Setup(sys.argv, lambda data: check(path, data), custom_mutator=mutate)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
