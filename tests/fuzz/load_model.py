"""Fuzz load_model: whatever the bytes, it refuses a file or returns a model that predicts.

python tests/fuzz/load_model.py CORPUS [OPTION OF LIBFUZZER ...]
"""

import sys
import tempfile
from pathlib import Path

import atheris
import numpy as np

with atheris.instrument_imports(include=["co2forest"]):
    import co2forest
    from co2forest import CO2ForestClassifier, CO2TreeClassifier, ModelFormatError

# Gives a file that was changed the checksum of its new content.
RESEAL = getattr(getattr(co2forest, "model_file", None), "reseal", None)


def write_seeds(folder):
    """Models that differ in what a file stores: kinds of labels, weights and estimators."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(40, 3))
    wide = np.zeros((40, 50))
    wide[:, 7] = X[:, 0]  # nodes list their features
    words = np.array(["no", "yes"])[(X[:, 0] > 0).astype(int)]
    models = [
        CO2ForestClassifier(2, max_depth=2, random_state=0).fit(X, np.arange(40) % 3),
        CO2ForestClassifier(1, max_depth=1, random_state=0).fit(wide, words),
        CO2TreeClassifier(max_depth=2, random_state=0).fit(X, words),
    ]
    for number, model in enumerate(models):
        co2forest.save_model(model, folder / f"seed-{number}")


def mutate(data, max_size, seed):
    """Repair the checksum of most mutants: else none comes beyond its test."""
    data = atheris.Mutate(data, max_size)
    if RESEAL is not None and seed % 4 > 0:
        try:
            data = RESEAL(data)
        except ValueError:  # too broken to have one
            return data
    return data[:max_size]


def check(path, data):
    path.write_bytes(data)
    try:
        model = co2forest.load_model(path)
    except ModelFormatError:
        return
    proba = model.predict_proba(np.zeros((2, model.n_features_in_)))
    assert proba.shape == (2, len(model.classes_))
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
