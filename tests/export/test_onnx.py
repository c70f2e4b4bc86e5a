# SPDX-License-Identifier: BSD-3-Clause
"""The exported ONNX model computes what the estimator computes."""

import functools
import json
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import co2forest
import export_models
from baseline_models import CLASSIFIERS, fresh, name_of
from co2forest import (
    CO2ForestClassifier,
    CO2TreeClassifier,
    CO2TreeRegressor,
    _native,
    to_codes,
    to_onnx,
)
from co2forest.data.outputs.classes import ClassOutputs
from co2forest.export import _onnx_graph
from co2forest.export import onnx as export
from co2forest.models.view import ModelView
from export_models import numbers_of
from forest_arrays import depths, weights_of

onnx = pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")


def run(model, X, outputs=None):
    onnx.checker.check_model(model, full_check=True)
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return session.run(outputs, {"X": X})


def near_a_hyperplane(estimator, X):
    """Rows that pass a node whose side float32 need not tell: within 1e-5 of what is added."""
    if hasattr(estimator, "forest_"):
        members = estimator.forest_, estimator.boosting_
        return np.any([near_a_hyperplane(member, X) for member in members], axis=0)
    arrays = estimator._forest.arrays()
    paths, _ = estimator._decision_path(X)
    inner = np.flatnonzero(arrays["left"] >= 0)
    if not len(inner):
        return np.zeros(len(X), dtype=bool)
    weights = np.array([weights_of(arrays, node) for node in inner])
    view = ModelView.of(estimator)
    X = view.filled(view.checked(X)).astype(np.float64)
    threshold = arrays["threshold"][inner].astype(np.float64)
    distance = np.abs(X @ weights.T - threshold)
    scale = np.abs(X) @ np.abs(weights).T + np.abs(threshold)
    return ((distance <= 1e-5 * scale) & (paths[:, inner].toarray() > 0)).any(axis=1)


def assert_same_predictions(estimator, X, model):
    *label, numbers = run(model, to_codes(estimator, X))
    expected = estimator.predict(X) if not label else numbers_of(estimator, X)
    assert numbers.dtype == (np.float32 if label else np.float64)
    assert numbers.shape == expected.shape
    near = near_a_hyperplane(estimator, X)
    assert near.mean() < 0.05  # else the comparison says little
    # Probabilities are rounded to float32.
    far = np.abs(numbers - expected) > (1e-6 if label else 1e-12 * np.abs(expected))
    other = far.reshape(len(X), -1).any(axis=1)
    assert not (other & ~near).any()
    assert other.mean() < 1e-3
    if label:
        np.testing.assert_array_equal(label[0][~other], estimator.predict(X)[~other])


# --- models


def classes_of(n_classes, n_features, n_rows=800, seed=0):
    """Overlapping classes: half of the rows to train with, and all to test."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % n_classes
    X = rng.normal(size=(n_classes, n_features))[y] + rng.normal(size=(n_rows, n_features))
    return X.astype(np.float32), y


def fitted_on(estimator, X, y, **fit):
    half = len(y) // 2
    weight = fit.get("sample_weight")
    return estimator.fit(X[:half], y[:half], None if weight is None else weight[:half]), X


def noise(**params):
    """Labels that mean nothing, and so the deepest trees."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(3000, 12)).astype(np.float32), rng.integers(4, size=3000)
    return fitted_on(CO2ForestClassifier(6, random_state=0, **params, mixture=None), X, y)


def wide_sparse():
    """Hyperplanes that list their features."""
    rng = np.random.default_rng(2)
    present = rng.random((400, 900)) < 0.01
    X = sp.csr_array(np.where(present, rng.random((400, 900)), 0).astype(np.float32))
    y = (X[:, :450].sum(axis=1) > X[:, 450:].sum(axis=1)).astype(int)
    forest = CO2ForestClassifier(8, random_state=0, mixture=None).fit(X[:200], y[:200])
    assert len(forest._forest.arrays()["feature"])
    return forest, X.toarray()


def missing():
    X, y = classes_of(3, 6)
    X[np.random.default_rng(3).random(X.shape) < 0.2] = np.nan
    return fitted_on(CO2ForestClassifier(15, random_state=0, mixture=None), X, y)


def constant_features():
    X, y = classes_of(3, 6)
    X[:, [1, 4]] = 7
    return fitted_on(CO2ForestClassifier(15, random_state=0, mixture=None), X, y)


def bytes_as_rows():
    X, y = classes_of(10, 70)
    return fitted_on(
        CO2ForestClassifier(30, random_state=0, mixture=None),
        np.clip(40 * X + 128, 0, 255).astype(np.uint8),
        y,
    )


def weighted():
    X, y = classes_of(4, 9)
    weight = np.random.default_rng(4).exponential(size=len(y)) * (y != 2)
    estimator = CO2ForestClassifier(
        15, class_weight={0: 5, 1: 1, 2: 1, 3: 0.2}, random_state=0, mixture=None
    )
    return fitted_on(estimator, X, y, sample_weight=weight)


def forest_from(arrays, n_classes):
    """A forest that nobody has trained."""
    n = len(arrays["left"])
    arrays = {
        "impurity": np.zeros(n, dtype=np.float32),
        "weighted_count": np.ones(n),
        "sample_count": np.ones(n, dtype=np.int32),
        "feature_begin": np.zeros(n + 1, dtype=np.int64),
        "feature": np.empty(0, dtype=np.int32),
        "spread": np.ones_like(arrays["mean"]),
        **arrays,
    }
    forest = CO2ForestClassifier(len(arrays["tree_begin"]) - 1, mixture=None)
    forest._forest = _native.Forest(arrays, n_classes)
    forest._outputs = ClassOutputs(np.arange(n_classes))
    forest.n_features_in_ = len(arrays["mean"])
    return forest


def chain(depth=40):
    """One tree whose inner nodes hang on each other: x < i + 0.5 ends in leaf i."""
    n = 2 * depth + 1
    is_inner = (np.arange(n) % 2 == 0) & (np.arange(n) < n - 1)
    leaves = np.cumsum(~is_inner) - 1
    arrays = {
        "tree_begin": np.array([0, n]),
        "left": np.where(is_inner, np.arange(n) + 1, -1).astype(np.int32),
        "threshold": np.where(is_inner, np.arange(n) / 2 + 0.5, 0).astype(np.float32),
        "weight_begin": np.concatenate([[0], np.cumsum(2 * is_inner)]),
        "weight": np.tile(np.array([0x3F80, 0], dtype=np.uint16), depth),  # 1 and 0
        "value_begin": np.concatenate([[0], np.cumsum(~is_inner)]),
        "value_output": (leaves[~is_inner] % 7).astype(np.int32),
        "value": np.ones(depth + 1, dtype=np.float32),
        "mean": np.zeros(2, dtype=np.float32),
    }
    forest = forest_from(arrays, 7)
    assert depths(arrays).max() == depth
    x = np.arange(depth + 2, dtype=np.float32) - 0.75
    np.testing.assert_array_equal(forest.predict(np.c_[x, x])[1:-1], np.arange(depth) % 7)
    return forest, np.c_[x, -x]


CASES = {
    "a hundred trees": lambda: fitted_on(
        CO2ForestClassifier(100, random_state=0, mixture=None), *classes_of(10, 64)
    ),
    "one tree": lambda: fitted_on(CO2TreeClassifier(random_state=0), *classes_of(5, 8)),
    "two classes": lambda: fitted_on(
        CO2ForestClassifier(20, random_state=0, mixture=None), *classes_of(2, 10)
    ),
    "26 classes": lambda: fitted_on(
        CO2ForestClassifier(20, random_state=0, mixture=None), *classes_of(26, 16)
    ),
    "300 classes": lambda: fitted_on(
        CO2ForestClassifier(3, random_state=0, mixture=None), *classes_of(300, 16, 1500)
    ),
    "deep": noise,
    "deep, leaves of many kinds": lambda: noise(min_samples_leaf=3),
    "a chain": chain,
    "stumps": lambda: fitted_on(
        CO2ForestClassifier(20, max_depth=1, random_state=0, mixture=None), *classes_of(3, 8)
    ),
    "leaves only": lambda: fitted_on(
        CO2ForestClassifier(5, min_samples_leaf=0.6, bootstrap=True, random_state=0, mixture=None),
        *classes_of(3, 8),
    ),
    "leaves and trees": lambda: fitted_on(
        CO2ForestClassifier(
            30, min_impurity_decrease=0.24, bootstrap=True, random_state=0, mixture=None
        ),
        *classes_of(2, 3),
    ),
    "one class": lambda: fitted_on(
        CO2ForestClassifier(3, mixture=None), np.eye(8, dtype=np.float32), np.ones(8)
    ),
    "one feature": lambda: fitted_on(
        CO2ForestClassifier(9, random_state=0, mixture=None), *classes_of(3, 1)
    ),
    "several groups": lambda: fitted_on(
        CO2ForestClassifier(60, random_state=0, mixture=None), *classes_of(4, 700, 400)
    ),
    "mixed leaves": lambda: fitted_on(
        CO2ForestClassifier(25, min_samples_leaf=5, bootstrap=True, random_state=0, mixture=None),
        *classes_of(5, 8),
    ),
    "cccp": lambda: fitted_on(
        CO2ForestClassifier(10, solver="cccp", random_state=0, mixture=None), *classes_of(3, 8)
    ),
    "wide, sparse": wide_sparse,
    "missing values": missing,
    "constant features": constant_features,
    "bytes": bytes_as_rows,
    "weights": weighted,
} | {
    name_of(estimator): functools.partial(
        fitted_on, fresh(estimator, n_estimators=4), *classes_of(3, 8, 400)
    )
    for estimator in CLASSIFIERS
}


def dense(name):
    estimator, X = export_models.model(name)
    return estimator, X.toarray() if sp.issparse(X) else X


EXPORTED = export_models.MODELS | export_models.ENSEMBLES
CASES |= {name: functools.partial(dense, name) for name in EXPORTED}


@pytest.mark.parametrize("name", CASES)
def test_predictions(name):
    estimator, X = CASES[name]()
    model = to_onnx(estimator)
    assert_same_predictions(estimator, X, model)
    assert {node.domain for node in model.graph.node} == {""}
    far = np.flatnonzero(~near_a_hyperplane(estimator, X))[:1]
    rows = to_codes(estimator, X)
    single = run(model, rows[far])
    for one, many in zip(single, run(model, rows), strict=True):
        np.testing.assert_array_equal(one, many[far])
    none = run(model, np.empty((0, X.shape[1]), dtype=np.float32))
    assert none[0].shape == (0, *estimator.predict(X).shape[1:])
    if len(none) == 2:
        assert none[1].shape == (0, len(estimator.classes_))


def test_a_row_on_a_hyperplane_goes_to_the_right(monkeypatch):
    forest, _ = chain(12)
    x = np.arange(12, dtype=np.float32) + 0.5
    X = np.c_[x, x]
    np.testing.assert_array_equal(forest.predict(X), (np.arange(12) + 1) % 7)
    for nodes in (0, 8):  # gathered, product
        monkeypatch.setattr(_onnx_graph, "PRODUCT_NODES", nodes)
        np.testing.assert_array_equal(run(to_onnx(forest), X)[0], forest.predict(X))


def test_the_cases_take_every_way():
    """All forms of a stage, after one another, and groups of trees."""

    def forms(name):
        groups = list(_onnx_graph._groups(ModelView.of(CASES[name]()[0])))
        return [[stage.form for stage in group.stages] for group in groups]

    assert forms("a hundred trees")[0][0] == "product"
    product, *gathered, last = forms("deep")[0]
    assert product == last == "product"
    assert set(gathered) == {"gathered"}
    assert "listed" in forms("wide, sparse")[0]
    assert len(forms("several groups")) == 3
    assert forms("leaves only") == [[]]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["deep", "wide, sparse", "several groups"])
def test_the_form_of_a_stage_changes_no_result(name, monkeypatch):
    estimator, X = CASES[name]()
    for nodes, listed in ((0, 0), (10**6, 0), (0, 0.49)):
        monkeypatch.setattr(_onnx_graph, "PRODUCT_NODES", nodes)
        monkeypatch.setattr(_onnx_graph, "LISTED_PART", listed if name == "wide, sparse" else 0)
        monkeypatch.setattr(_onnx_graph, "GROUP_NUMBERS", 1 if nodes == 0 else 10**9)
        assert_same_predictions(estimator, X, to_onnx(estimator))


def test_ties_go_the_same_way():
    """Classes that have the same probability but for the rounding of sums, which has an order."""
    rng = np.random.default_rng(0)
    n_trees, other_order = 20, 0
    for _ in range(30):
        parts = rng.integers(1, 6, size=(n_trees // 2, 2)) / 10
        value = np.c_[parts, 1 - parts.sum(axis=1)].astype(np.float32)
        value = np.concatenate([value, rng.permutation(value[:, [1, 0, 2]])])
        forest = forest_from(
            {
                "tree_begin": np.arange(n_trees + 1),
                "left": np.full(n_trees, -1, dtype=np.int32),
                "threshold": np.zeros(n_trees, dtype=np.float32),
                "weight_begin": np.zeros(n_trees + 1, dtype=np.int64),
                "weight": np.empty(0, dtype=np.uint16),
                "value_begin": 3 * np.arange(n_trees + 1),
                "value_output": np.tile(np.arange(3, dtype=np.int32), n_trees),
                "value": value.ravel(),
                "mean": np.zeros(1, dtype=np.float32),
            },
            3,
        )
        X = np.zeros((1, 1), dtype=np.float32)
        expected = forest.predict(X)
        np.testing.assert_array_equal(run(to_onnx(forest), X)[0], expected)
        backwards = (value.astype(float) / value.sum(axis=1, keepdims=True, dtype=float))[::-1]
        other_order += backwards.cumsum(axis=0)[-1].argmax() != expected[0]
    assert other_order > 0


def test_bfloat16_has_half_the_size_and_the_same_results():
    for name in ("a hundred trees", "deep", "wide, sparse"):
        estimator, X = CASES[name]()
        large, small = to_onnx(estimator), to_onnx(estimator, bfloat16=True)
        assert small.ByteSize() < (0.6 if name == "a hundred trees" else 0.75) * large.ByteSize()
        for a, b in zip(run(large, X), run(small, X), strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    "name",
    [
        "missing values",
        "wide, sparse",
        "deep",
        "mixed leaves",
        "numbers: boosted poisson",
        "labels: forest",
        "classes: costs",
        "classes: boosted",
    ],
)
def test_another_runtime(name):
    """The reference implementation of the operators, so that no runtime's liberties are used."""
    from onnx.reference import ReferenceEvaluator
    from onnx.reference.op_run import OpRun

    class GatherElements(OpRun):  # that of the reference takes at most 64 columns
        op_domain = ""

        def _run(self, data, indices, axis):
            return (np.take_along_axis(data, indices, axis),)

    estimator, X = CASES[name]()
    X = X[-20:]
    reference = ReferenceEvaluator(to_onnx(estimator), new_ops=[GatherElements])
    *label, numbers = reference.run(None, {"X": to_codes(estimator, X)})
    for labels in label:
        np.testing.assert_array_equal(labels, estimator.predict(X))
    np.testing.assert_allclose(numbers, numbers_of(estimator, X), atol=1e-6)


# --- labels

LABELS = {
    "int64": (np.array([-3, 0, 2**62]), np.int64),
    "int8": (np.array([-3, 0, 7], dtype=np.int8), np.int64),
    "uint64": (np.array([1, 2, 2**63 - 1], dtype=np.uint64), np.int64),
    "bool": (np.array([False, True, True]), np.bool_),
    "float64": (np.array([-1.0, 0.0, 5.0]), np.float64),
    "float32": (np.array([-1, 0, 5], dtype=np.float32), np.float32),
    "float16": (np.array([-1, 0, 5], dtype=np.float16), np.float32),
    "str": (np.array(["", "b" * 50, "猫"]), np.object_),
    "object": (np.array(["a", "ä", "ccc"], dtype=object), np.object_),
}


@pytest.mark.parametrize("name", LABELS)
def test_labels(blobs, name):
    X, codes = blobs
    labels, dtype = LABELS[name]
    forest = CO2ForestClassifier(5, random_state=0, mixture=None).fit(X, labels[codes])
    model = to_onnx(forest)
    label, _ = run(model, X)
    assert label.dtype == dtype
    np.testing.assert_array_equal(label, forest.predict(X))


def test_labels_that_onnx_cannot_express(blobs):
    X, codes = blobs
    forest = CO2ForestClassifier(2, mixture=None).fit(
        X, np.array([0, 1, 2**63], dtype=np.uint64)[codes]
    )
    with pytest.raises(ValueError, match="9223372036854775808 is too large for ONNX"):
        to_onnx(forest)
    for dtype in ("datetime64[D]", "complex128", "S1", "longdouble"):
        forest._outputs = ClassOutputs(np.zeros(3, dtype=dtype))
        with pytest.raises(ValueError, match=rf"dtype {forest.classes_.dtype}".replace("[", r"\[")):
            to_onnx(forest)
    forest._outputs = ClassOutputs(np.array(["a", 1, None], dtype=object))
    with pytest.raises(ValueError, match="labels of dtype object have no counterpart"):
        to_onnx(forest)


# --- the model around the operators


def test_what_the_model_says_of_itself(blobs):
    X, y = blobs
    model = to_onnx(CO2ForestClassifier(4, random_state=0, mixture=None).fit(X, y))
    assert (model.producer_name, model.producer_version) == ("co2forest", co2forest.__version__)
    assert "CO2ForestClassifier(mixture=None, n_estimators=4, random_state=0)" in model.doc_string
    assert not model.metadata_props
    assert model.ir_version == 7
    assert [(opset.domain, opset.version) for opset in model.opset_import] == [("", 13)]
    (rows,) = model.graph.input
    assert rows.name == "X"
    assert rows.type.tensor_type.elem_type == onnx.TensorProto.FLOAT
    count, features = rows.type.tensor_type.shape.dim
    assert not count.HasField("dim_value")
    assert features.dim_value == 8
    assert [output.name for output in model.graph.output] == ["label", "probabilities"]


def test_names_of_features(blobs):
    pd = pytest.importorskip("pandas")
    X, y = blobs
    names = [f"höhe {i}" for i in range(8)]
    frame = pd.DataFrame(X, columns=names)
    for estimator in (CO2TreeClassifier(), make_pipeline(StandardScaler(), CO2TreeClassifier())):
        if hasattr(estimator, "steps"):
            pytest.importorskip("skl2onnx")
        (entry,) = to_onnx(estimator.fit(frame, y)).metadata_props
        assert entry.key == "feature_names"
        assert json.loads(entry.value) == names


def test_a_model_too_large_for_a_file(blobs, monkeypatch):
    X, y = blobs
    forest = CO2ForestClassifier(50, mixture=None).fit(X, y)
    size = to_onnx(forest).ByteSize()
    monkeypatch.setattr(_onnx_graph, "MOST_BYTES", size // 2)
    with pytest.raises(ValueError, match=r"would be larger than 0\.0 GB, which an ONNX file can"):
        to_onnx(forest)
    monkeypatch.setattr(_onnx_graph, "MOST_BYTES", 2 * size)
    to_onnx(forest)


def test_texts_that_utf8_does_not_have(blobs):
    X, y = blobs
    forest = CO2ForestClassifier(1, mixture=None).fit(
        X, np.array(["a", "b", "\ud800"], dtype=object)[y]
    )
    with pytest.raises(ValueError, match=r"the label '\\ud800' cannot be stored in UTF-8"):
        to_onnx(forest)


def test_only_fitted_estimators_of_this_library(blobs):
    X, y = blobs
    with pytest.raises(NotFittedError):
        to_onnx(CO2ForestClassifier(mixture=None))
    with pytest.raises(NotFittedError):
        to_onnx(make_pipeline(StandardScaler(), CO2TreeClassifier()))
    other = RandomForestClassifier(2).fit(X, y)
    for estimator in (other, make_pipeline(StandardScaler(), other).fit(X, y)):
        with pytest.raises(TypeError, match="got RandomForestClassifier"):
            to_onnx(estimator)


@pytest.mark.parametrize("package", ["onnx", "skl2onnx"])
def test_a_missing_package_is_named(blobs, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    model = make_pipeline(StandardScaler(), CO2TreeClassifier()).fit(*blobs)
    with pytest.raises(ImportError, match=rf'package {package}: pip install "co2forest\[onnx\]"'):
        to_onnx(model if package == "skl2onnx" else model[-1])
    if package == "skl2onnx":
        to_onnx(model[-1])


def test_importing_the_library_does_not_import_onnx():
    code = "import co2forest, sys; print(sorted({'onnx', 'skl2onnx'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# --- skl2onnx


@pytest.fixture(scope="module")
def skl2onnx():
    return pytest.importorskip("skl2onnx")


@pytest.fixture(scope="module")
def scaled():
    """A fitted pipeline, and rows in units that need one."""
    X, y = make_classification(600, 10, n_informative=6, n_classes=3, random_state=0)
    X = (X * 10.0 ** np.arange(-3, 7)).astype(np.float32)
    return (
        make_pipeline(StandardScaler(), CO2ForestClassifier(20, random_state=0, mixture=None)).fit(
            X, y
        ),
        X,
        y,
    )


def assert_about_the_same(pipeline, X, label, probabilities):
    """A scaler rounds differently in float32, which sends a few rows another way."""
    other = np.abs(probabilities - pipeline.predict_proba(X)).max(axis=1) > 1e-6
    assert other.mean() < 0.01
    np.testing.assert_array_equal(label[~other], pipeline.predict(X)[~other])


def test_pipeline(scaled, skl2onnx):
    pipeline, X, _ = scaled
    for bfloat16 in (False, True):
        model = to_onnx(pipeline, bfloat16=bfloat16)
        assert [output.name for output in model.graph.output] == ["label", "probabilities"]
        assert model.producer_name == "co2forest"
        assert_about_the_same(pipeline, X, *run(model, X))
    assert model.ByteSize() < 0.7 * to_onnx(pipeline).ByteSize()


@pytest.mark.parametrize("first", ["passthrough", make_pipeline(StandardScaler())], ids=repr)
@pytest.mark.parametrize("nested", [False, True])
def test_pipelines_of_pipelines(scaled, first, nested, skl2onnx):
    _, X, y = scaled
    last = CO2TreeClassifier(random_state=0)
    pipeline = make_pipeline(
        clone(first) if first != "passthrough" else first,
        make_pipeline(StandardScaler(), last) if nested else last,
    ).fit(X, y)
    assert_about_the_same(pipeline, X, *run(to_onnx(pipeline), X))


@pytest.mark.parametrize("name", LABELS)
@pytest.mark.parametrize("double", [False, True])
def test_options_of_skl2onnx(scaled, name, double, skl2onnx):
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType

    _, X, codes = scaled
    labels, dtype = LABELS[name]
    forest = CO2ForestClassifier(5, random_state=0, mixture=None).fit(X, labels[codes])
    key = (lambda label: label) if dtype is np.object_ else int
    types = [("X", (DoubleTensorType if double else FloatTensorType)([None, 10]))]
    rows = X.astype(np.float64) if double else X
    export.register_skl2onnx()
    export.register_skl2onnx()

    def convert(**options):
        choice = {id(forest): options} if options else None
        model = skl2onnx.convert_sklearn(forest, initial_types=types, options=choice)
        return model, *run(model, rows)

    _, label, probabilities = convert(zipmap=False)
    assert label.dtype == dtype
    np.testing.assert_array_equal(label, forest.predict(X))
    np.testing.assert_allclose(probabilities, forest.predict_proba(X), atol=1e-6)

    for options in ({}, {"zipmap": True}):
        _, keys, maps = convert(**options)
        np.testing.assert_array_equal(keys, [key(value) for value in label])
        assert list(maps[0]) == [key(value) for value in forest.classes_]
        np.testing.assert_array_equal([list(row.values()) for row in maps], probabilities)

    model, keys, *columns = convert(zipmap="columns")
    np.testing.assert_array_equal(keys, [key(value) for value in label])
    assert len(model.graph.output) == 1 + len(forest.classes_)
    np.testing.assert_allclose(np.stack(columns, axis=1), probabilities, atol=1e-7)

    _, numbers, _ = convert(zipmap=False, nocl=True)
    np.testing.assert_array_equal(forest.classes_[numbers], label)


@pytest.mark.parametrize(
    "name",
    [
        "numbers: poisson",
        "numbers: other units",
        "numbers: ensemble, one",
        "labels: tree",
        "classes: boosted, two",
        "classes: ensemble, plain",
    ],
)
def test_pipelines_of_every_kind(name, skl2onnx):
    fitted, X = export_models.model(name)
    pipeline = make_pipeline(StandardScaler(), fitted)  # a scaler that changes nothing
    pipeline[0].fit(np.array([[-1.0] * X.shape[1], [1.0] * X.shape[1]]))
    direct, model = to_onnx(fitted), to_onnx(pipeline)
    assert [o.name for o in model.graph.output] == [o.name for o in direct.graph.output]
    for a, b in zip(run(model, X), run(direct, X), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


def test_several_labels_have_no_dictionary(skl2onnx):
    fitted, X = export_models.model("labels: tree")
    export.register_skl2onnx()
    with pytest.raises(ValueError, match=r"zipmap=True .* must be False"):
        skl2onnx.to_onnx(fitted, X[:1])


def test_numbers_as_skl2onnx_has_them(skl2onnx):
    from sklearn.ensemble import VotingRegressor
    from sklearn.linear_model import LinearRegression

    X = export_models.rows()
    y = export_models.first_count(X)
    members = [("co2", CO2TreeRegressor(max_depth=3, random_state=0)), ("line", LinearRegression())]
    voting = VotingRegressor(members).fit(X, y)
    export.register_skl2onnx()
    for rows in (X[:1], X[:1].astype(np.float64)):
        (variable,) = run(skl2onnx.to_onnx(voting, rows), X.astype(rows.dtype))
        assert variable.dtype == rows.dtype
        assert variable.shape == (len(X), 1)
        np.testing.assert_allclose(variable[:, 0], voting.predict(X), rtol=1e-4, atol=1e-4)


def test_an_operator_set_too_old(scaled, skl2onnx):
    pipeline, X, _ = scaled
    export.register_skl2onnx()
    with pytest.raises(ValueError, match="target_opset must be at least 13"):
        skl2onnx.to_onnx(pipeline, X[:1], target_opset=12)


def test_two_forests_in_one_model(scaled, skl2onnx):
    from sklearn.ensemble import VotingClassifier

    _, X, y = scaled
    members = [
        (name, CO2ForestClassifier(5, random_state=i, mixture=None)) for i, name in enumerate("ab")
    ]
    voting = VotingClassifier(members, voting="soft", flatten_transform=False).fit(X, y)
    export.register_skl2onnx()
    model = skl2onnx.to_onnx(voting, X[:1], options={"zipmap": False})
    label, probabilities = run(model, X)
    np.testing.assert_array_equal(label, voting.predict(X))
    np.testing.assert_allclose(probabilities, voting.predict_proba(X), atol=1e-6)
