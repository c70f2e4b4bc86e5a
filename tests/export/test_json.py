# SPDX-License-Identifier: BSD-3-Clause
"""Models as JSON: the reader of the documentation predicts what the library predicts."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from co2forest import CO2ForestClassifier, to_codes, to_json
from export_models import ENSEMBLES, MODELS, model
from json_reader import plain, reader_of_the_documentation


@pytest.fixture(scope="module")
def reader():
    return reader_of_the_documentation()


@pytest.mark.parametrize("name", MODELS | ENSEMBLES)
def test_the_reader_of_the_documentation(reader, name):
    estimator, X = model(name)
    X = X[:: 4 if "bytes" in name or "sparse" in name else 1]
    document = json.loads(to_json(estimator))
    predicted = np.array(
        [reader["predict"](document, row) for row in plain(to_codes(estimator, X))]
    )
    expected = estimator.predict(X)
    if name.startswith("numbers"):
        expected = expected.reshape(len(predicted), -1)
        alike = np.isclose(predicted, expected, rtol=1e-9, atol=0).all(axis=1)
    else:
        # Ties of costs are a matter of rounding.
        alike = (predicted == expected).reshape(len(predicted), -1).all(axis=1)
    assert alike.mean() >= (0.97 if "ties" in name else 0.995)


def test_probabilities(reader):
    estimator, X = model("classes: boosted, temperature")
    document = json.loads(to_json(estimator))
    outputs = np.array([reader["outputs"](document, row) for row in plain(X)])
    scores = np.exp(document["temperature"] * (outputs - outputs.max(axis=1, keepdims=True)))
    expected = scores / scores.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(estimator.predict_proba(X), expected, atol=1e-9)


def test_probabilities_of_a_forest_are_outputs(reader, forest):
    X = np.random.default_rng(0).normal(size=(50, 4)).astype(np.float32)
    document = json.loads(to_json(forest))
    outputs = [reader["outputs"](document, row) for row in plain(X)]
    np.testing.assert_allclose(forest.predict_proba(X), outputs, atol=1e-12)


class TestDocument:
    def test_names_and_classes(self):
        data = load_iris(as_frame=True)
        names = data.target_names[data.target]
        estimator = CO2ForestClassifier(2, random_state=0, mixture=None).fit(data.data, names)
        document = json.loads(to_json(estimator, indent=1))
        assert document["feature_names"] == list(data.data.columns)
        assert document["classes"] == ["setosa", "versicolor", "virginica"]
        assert document["missing"] == pytest.approx(data.data.mean().tolist())
        assert document["table"] is None
        assert len(document["trees"]) == 2

    def test_it_is_plain(self, forest):
        text = to_json(forest)
        assert text.isascii()
        assert text == to_json(forest)
        assert "\n" not in text

    def test_labels_that_json_has_not(self):
        days = pd.to_datetime(["2020-01-01", "2020-01-02"]).to_numpy()
        estimator = CO2ForestClassifier(1, mixture=None).fit([[0.0], [1.0]], days)
        with pytest.raises(TypeError, match="which JSON does not have; train it with strings"):
            to_json(estimator)

    def test_other_things(self):
        with pytest.raises(TypeError, match="must be a fitted classifier or regressor"):
            to_json("forest")
