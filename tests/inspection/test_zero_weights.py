# SPDX-License-Identifier: BSD-3-Clause
"""Hyperplanes without a weight, which no training gives, but a file may have."""

import json
import re

import numpy as np
import pytest

from c_programs import program_of, run
from co2forest import (
    CO2ForestClassifier,
    CO2ForestRegressor,
    _native,
    load_model,
    to_c,
    to_json,
    to_onnx,
)
from co2forest.baselines import AxisForestClassifier
from co2forest.inspection import (
    explain,
    export_dot,
    export_text,
    plot_importances,
    plot_path,
    plot_tree,
    plot_weights,
)
from json_reader import plain, reader_of_the_documentation

X = np.random.default_rng(0).normal(size=(200, 6)).astype(np.float32)
SHAPE = (2, 3)
MODELS = {
    "a weight for each feature": CO2ForestClassifier(2, random_state=0, mixture=None),
    "a list of features": AxisForestClassifier(2, random_state=0),
    "numbers": CO2ForestRegressor(2, random_state=0, mixture=None),
}


@pytest.fixture(scope="module", params=MODELS)
def forged(request, tmp_path_factory):
    """A model whose weights are all zero, as it comes from a file."""
    model = MODELS[request.param].fit(X, X[:, 0] + X[:, 1] > 0)
    trained = model._forest
    arrays = trained.arrays()
    assert len(arrays["weight"])
    arrays["weight"] = np.zeros_like(arrays["weight"])
    model._forest = _native.Forest(arrays, trained.n_outputs, distributions=trained.distributions)
    path = tmp_path_factory.mktemp("forged") / "zero.model"
    model.save(path)
    return load_model(path)


def test_texts_say_that_nothing_is_looked_at(forged):
    threshold = forged._forest.arrays()["threshold"][0]
    for n_weights in (1, None):
        first = export_text(forged, n_weights=n_weights).splitlines()[0]
        number = re.fullmatch(r"\|--- 0 < (\S+)", first)[1]
        assert float(number) == pytest.approx(threshold, rel=0.01)
        assert f'label="0 >= {number}\\n' in export_dot(forged, n_weights=n_weights)


@pytest.mark.parametrize("image_shape", [None, SHAPE])
def test_pictures_are_drawn(forged, image_shape):
    plt = pytest.importorskip("matplotlib.pyplot")
    plot_tree(forged, image_shape=image_shape)
    plot_path(forged, X[0], image_shape=image_shape)
    axes = plot_path(forged, X[0], tree=0, image_shape=image_shape)
    if image_shape is None:
        assert "by no feature" in axes.get_yticklabels()[1].get_text()
    plot_weights(forged, SHAPE)
    plot_importances(forged)
    plt.gcf().canvas.draw()
    plt.close("all")


def test_nothing_contributes(forged):
    assert not explain(forged, X).contributions.any()
    assert not forged.feature_importances_.any()


def test_json_says_the_same(forged):
    document = json.loads(to_json(forged))
    assert document["trees"][0][0]["features"] == []
    predict = reader_of_the_documentation()["predict"]
    said = [predict(document, row) for row in plain(X[:5])]
    assert np.array_equal(np.ravel(said), forged.predict(X[:5]))


def test_c_says_the_same(forged, tmp_path):
    classes = hasattr(forged, "classes_")
    main = f"""#define CO2FOREST_DECLARATIONS_ONLY
#include "model.c"
#include <stdio.h>
int main(void) {{
    const float x[CO2FOREST_N_FEATURES] = {{0}};
    double said[2];
    co2forest_{"predict_proba" if classes else "predict"}(x, said);
    printf("%.17g", said[0]);
    return 0;
}}
"""
    said = float(run(program_of(tmp_path, {"model.c": to_c(forged), "main.c": main})))
    zeros = np.zeros((1, X.shape[1]), dtype=np.float32)
    assert said == (forged.predict_proba(zeros)[0, 0] if classes else forged.predict(zeros)[0])


def test_onnx_says_the_same(forged):
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(to_onnx(forged).SerializeToString())
    assert np.array_equal(session.run(None, {"X": X})[0], forged.predict(X))


@pytest.mark.parametrize("image_shape", [None, SHAPE])
def test_a_report_is_written(forged, tmp_path, image_shape):
    y = forged.predict(X)
    forged.report(X, y, tmp_path / "page.html", image_shape=image_shape)
    assert (tmp_path / "page.html").stat().st_size > 10_000
