# SPDX-License-Identifier: BSD-3-Clause
"""Exports of models that see columns with categories and gaps."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from c_programs import STRICT, program_of, run
from co2forest import (
    CO2BoostingClassifier,
    CO2BoostingRegressor,
    CO2ForestClassifier,
    CO2ForestRegressor,
    CO2TreeClassifier,
    _native,
    to_c,
    to_codes,
    to_json,
    to_onnx,
)
from co2forest.data.columns.columns import Column, Columns
from co2forest.data.columns.views import ColumnViews, ViewKind
from export_models import frame, numbers_of
from json_reader import plain, reader_of_the_documentation

# --- every kind of view, on every kind of number


def random_views(rng, n_columns=5, n_features=40):
    """Views that no fit would choose: all kinds, codes twice, huge codes."""
    kinds = [ViewKind.NUMBER, ViewKind.MISSING, ViewKind.EQUALS, ViewKind.TABLE]
    kind = rng.permutation(np.resize(kinds, n_features)).astype(np.uint8)
    argument, size = (np.zeros(n_features, dtype=np.int64) for _ in range(2))
    values = []
    for j in range(n_features):
        if kind[j] == ViewKind.EQUALS:
            argument[j] = rng.choice([0, 1, 2, 3, 300, 2**24 - 1])
        elif kind[j] == ViewKind.TABLE:
            argument[j], size[j] = len(values), rng.integers(2, 6)
            values += (3 * rng.normal(size=size[j] + 2)).tolist()
    arrays = {
        "column": rng.integers(n_columns, size=n_features).astype(np.int32),
        "kind": kind,
        "argument": argument,
        "size": size,
        "values": np.array(values, dtype=np.float32),
    }
    return _native.Views(arrays, n_columns)


def model_of(views, rng):
    """An estimator that sees these views of its columns."""
    X = rng.normal(size=(60, views.n_features)).astype(np.float32)
    tree = CO2TreeClassifier(random_state=0).fit(X, X.sum(axis=1) > 0)
    columns = Columns(tuple(Column(f"c{j}", ("a", "b")) for j in range(views.n_columns)))
    names = tuple(f"view {j}" for j in range(views.n_features))
    tree._column_views = ColumnViews(columns, views, names, ())
    tree.n_features_in_ = views.n_columns
    return tree


def strange_rows(rng, n_columns=5, n=500):
    strange = [-0.0, 0.5, 1e-45, 300, 2**24 - 1, 2**24, 2**31, 2**32, 1e30, -1, -1e30, np.nan]
    return np.where(
        rng.random((n, n_columns)) < 0.5,
        rng.integers(8, size=(n, n_columns)),
        np.where(
            rng.random((n, n_columns)) < 0.5,
            rng.choice(strange, (n, n_columns)),
            3 * rng.normal(size=(n, n_columns)),
        ),
    ).astype(np.float32)


EXPAND = r"""
#include "model.h"
#include <stdio.h>
int main(void) {
    static float x[CO2FOREST_N_FEATURES], seen[CO2FOREST_N_SEEN];
    while (fread(x, sizeof x, 1, stdin) == 1) {
        co2forest_expand(x, seen);
        fwrite(seen, sizeof seen, 1, stdout);
    }
    return 0;
}
"""


@pytest.mark.parametrize("seed", range(3))
def test_c_expands_rows_to_the_same_bits(tmp_path, seed):
    rng = np.random.default_rng(seed)
    views = random_views(rng)
    tree, X = model_of(views, rng), strange_rows(rng)
    X = np.concatenate([X, np.float32([[np.inf] * 5, [-np.inf] * 5])])
    options = ["-fsanitize=undefined,float-cast-overflow", "-fno-sanitize-recover=all"]
    sources = {"model.h": to_c(tree), "main.c": EXPAND}
    out = run(program_of(tmp_path, sources, options=STRICT + options), X.tobytes())
    expected = tree._column_views.expand(X)
    found = np.frombuffer(out, dtype=np.uint32).reshape(expected.shape)
    nan = np.isnan(expected)  # any of them
    np.testing.assert_array_equal(found[~nan], expected.view(np.uint32)[~nan])
    assert np.isnan(found.view(np.float32)[nan]).all()


@pytest.mark.parametrize("seed", range(3))
def test_onnx_expands_rows_to_the_same_numbers(seed):
    onnx, ort = pytest.importorskip("onnx"), pytest.importorskip("onnxruntime")
    from co2forest.export import onnx as export
    from co2forest.export._onnx_graph import Graph
    from co2forest.export._onnx_views import add_views

    rng = np.random.default_rng(seed)
    tree, X = model_of(random_views(rng), rng), strange_rows(rng)
    expected = tree._column_views.expand(X)
    graph = Graph()
    name = add_views(graph, tree._column_views, "X")
    about = onnx.helper.make_tensor_value_info
    given, wanted = about("X", 1, X.shape), about(name, 1, expected.shape)
    nodes = [
        onnx.helper.make_node(op.type, op.inputs, [op.output], **op.attributes)
        for op in graph.operators
    ]
    body = onnx.helper.make_graph(nodes, "g", [given], [wanted], export._tensors(onnx, graph))
    opset = [onnx.helper.make_opsetid("", 13)]
    model = onnx.helper.make_model(body, opset_imports=opset, ir_version=7)
    onnx.checker.check_model(model, full_check=True)
    session = ort.InferenceSession(model.SerializeToString())
    np.testing.assert_array_equal(session.run(None, {"X": X})[0], expected)


@pytest.mark.parametrize("seed", range(3))
def test_the_reader_expands_rows_to_the_same_numbers(seed):
    rng = np.random.default_rng(seed)
    tree, X = model_of(random_views(rng), rng), strange_rows(rng)
    views = json.loads(to_json(tree))["views"]
    feature = reader_of_the_documentation()["feature"]
    found = [[feature(view, row) for view in views] for row in plain(X)]
    expected = tree._column_views.expand(X)
    np.testing.assert_array_equal(np.array(found, dtype=np.float32), expected)


# --- random frames


def random_frame(rng, n):
    """A few columns of any kind; rows to predict have other categories and gaps, too."""
    data = {}
    for j in range(rng.integers(1, 5)):
        kind = rng.choice(["numbers", "gaps", "words", "digits", "booleans"])
        if kind in ("numbers", "gaps"):
            numbers = rng.normal(size=n)
            data[f"n{j}"] = np.where(rng.random(n) < 0.3 * (kind == "gaps"), np.nan, numbers)
        elif kind == "booleans":
            data[f"b{j}"] = pd.Categorical(rng.random(n) < 0.5)
        else:
            codes = np.minimum(rng.geometric(rng.choice([0.1, 0.5]), n), 60)
            words = [f"w{code}" for code in codes] if kind == "words" else codes
            gaps = rng.random(n) < rng.choice([0, 0.1])
            data[f"w{j}"] = pd.Series(words, dtype=object).mask(gaps).astype("category")
    data["w"] = pd.Categorical(rng.choice(["x", "y", "z"], n))
    return pd.DataFrame(data)


ESTIMATORS = [
    CO2ForestClassifier(3, random_state=0),
    CO2ForestRegressor(3, random_state=0),
    CO2BoostingRegressor(n_estimators=5, random_state=0),
    CO2BoostingClassifier(n_estimators=5, random_state=0),
]

PREDICT = r"""
#include "model.h"
#include <stdio.h>
int main(void) {
    static float x[CO2FOREST_N_FEATURES];
    static double outputs[COUNT];
    while (fread(x, sizeof x, 1, stdin) == 1) {
        co2forest_FUNCTION(x, outputs);
        fwrite(outputs, sizeof outputs, 1, stdout);
    }
    return 0;
}
"""


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("seed", range(4))
def test_random_frames(tmp_path, estimator, seed):
    ort = pytest.importorskip("onnxruntime")
    rng = np.random.default_rng([seed, 7])
    table = random_frame(rng, 300)
    y = (rng.normal(size=300) + table["w"].cat.codes + table.isna().sum(axis=1)).round()
    if hasattr(estimator, "predict_proba"):
        y = y.clip(0, 2).astype(int)
    fitted = estimator.fit(table[:150], y[:150])
    rows, expected = to_codes(fitted, table), numbers_of(fitted, table)
    function = "predict_proba" if hasattr(fitted, "predict_proba") else "predict"
    main = PREDICT.replace("COUNT", str(expected.shape[1])).replace("FUNCTION", function)
    program = program_of(tmp_path, {"model.h": to_c(fitted), "main.c": main})
    found = np.frombuffer(run(program, rows.tobytes())).reshape(expected.shape)
    if isinstance(estimator, CO2BoostingClassifier):  # exponentials
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    else:
        np.testing.assert_array_equal(found, expected)
    session = ort.InferenceSession(to_onnx(fitted).SerializeToString())
    *_, numbers = session.run(None, {"X": rows})
    far = ~np.isclose(numbers.reshape(expected.shape), expected, rtol=1e-6, atol=1e-6).all(axis=1)
    assert far.mean() < 0.01  # on a hyperplane


# --- categories

NASTY = [
    "",
    '"',
    "\\",
    "\\n",
    "\n\r\t\x01\x7f",
    "??/",
    "??'",
    "%s",
    "*/",
    "/*",
    "//",
    "a\\",
    "co2forest_code",
    "$tables",
    "${columns}",
    "$$",
    "ä",
    "猫",
    "\u2028",
    "\udc80",
    "x" * 300,
    "*" * 57 + "/" * 40,
]

CODES = r"""
#define CO2FOREST_DECLARATIONS_ONLY
#include "model.c"
#include <stdio.h>
int main(void) {
    static char text[1000];
    size_t n = 0;
    int c;
    while ((c = getchar()) != EOF) {
        text[n++] = (char)c;
        if (c != 0) continue;
        printf("%g %g %g %g\n", (double)co2forest_code(0, text), (double)co2forest_code(1, text),
               (double)co2forest_code(-1, text), (double)co2forest_code(2, text));
        n = 0;
    }
    return 0;
}
"""


def nasty_model(words=NASTY):
    names = ["*/ ??/ \\\n#error", "number"]
    values = pd.Series(np.repeat(np.array(words, dtype=object), 2), dtype=object)
    table = pd.DataFrame({names[0]: values, names[1]: np.arange(len(values)) % 3})
    return CO2TreeClassifier(random_state=0).fit(table, np.arange(len(values)) // 2 % 2)


@pytest.mark.parametrize(
    ("compiler", "options"),
    [
        ("gcc", STRICT),
        ("clang", STRICT),
        ("g++", ["-std=c++17", "-O2", "-Wall", "-Wextra", "-Werror", "-xc++"]),
    ],
)
def test_categories_in_c(tmp_path, compiler, options):
    tree = nasty_model([*NASTY, "a\0b"])
    categories = tree._column_views.columns.columns[0].categories
    words = [*(c for c in categories if "\0" not in c), "a", "unknown"]
    text = b"".join(word.encode("utf-8", "surrogatepass") + b"\0" for word in words)
    sources = {"model.c": to_c(tree), "main.c": CODES}
    out = run(program_of(tmp_path, sources, compiler, options), text).decode().split("\n")
    known = {word: code for code, word in enumerate(categories)}
    expected = [f"{known.get(word, len(categories))} 0 0 0" for word in words]
    assert out[:-1] == expected


def test_the_source_lists_columns_and_categories():
    source = to_c(
        CO2ForestClassifier(2, random_state=0).fit(frame(np.random.default_rng(0)), COLOURS)
    )
    comment = source.partition("*/")[0]
    assert ' *     0 "number": numbers\n' in comment
    assert ' *     1 "kind": 0 "a", 1 "b", 2 "c", 3 "new"\n' in comment
    assert " more\n" in comment  # cities
    assert '"city 40",\n' in source


COLOURS = np.resize(["blue", "red"], 400)


def test_no_lookup_where_there_are_no_categories():
    X = np.random.default_rng(0).normal(size=(100, 3)).astype(np.float32)
    X[::4, 1] = np.nan
    source = to_c(CO2TreeClassifier(random_state=0).fit(X, X[:, 0] > 0))
    assert "co2forest_expand" in source
    assert "co2forest_code" not in source
    assert "_category" not in source


def test_categories_in_onnx_and_json():
    pytest.importorskip("onnx")
    tree = nasty_model()
    categories = list(tree._column_views.columns.columns[0].categories)
    model = to_onnx(tree)
    metadata = {entry.key: entry.value for entry in model.metadata_props}
    assert json.loads(metadata["categories"]) == [categories, None]
    assert len(json.loads(metadata["feature_names"])) == 2
    document = json.loads(to_json(tree))
    assert [column["categories"] for column in document["columns"]] == [categories, None]
    assert [column["name"] for column in document["columns"]] == list(tree.feature_names_in_)
    assert len(document["views"]) == document["n_features"] == len(document["missing"])


def test_pipelines():
    pytest.importorskip("skl2onnx")
    ort = pytest.importorskip("onnxruntime")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3)).astype(np.float32)
    X[::4, 1] = np.nan
    gaps = make_pipeline(StandardScaler(), CO2ForestClassifier(3, random_state=0))
    gaps.fit(X, X[:, 0] > 0)
    assert gaps[-1]._column_views is not None
    session = ort.InferenceSession(to_onnx(gaps).SerializeToString())
    assert np.mean(session.run(None, {"X": X})[0] == gaps.predict(X)) > 0.99
    words = make_pipeline(FunctionTransformer(), CO2ForestClassifier(3, random_state=0))
    words.fit(frame(rng), COLOURS)
    with pytest.raises(ValueError, match=r"was fitted with categories.*convert it alone"):
        to_onnx(words)
    codes = make_pipeline(
        StandardScaler(), CO2ForestClassifier(3, categorical_features=[0], random_state=0)
    )
    codes.fit(np.c_[np.arange(200) % 4, X[:, 0]], X[:, 0] > 0)
    with pytest.raises(ValueError, match="was fitted with categories"):
        to_onnx(codes)


def test_codes():
    table = frame(np.random.default_rng(0))
    forest = CO2ForestClassifier(2, random_state=0).fit(table[:200], COLOURS[:200])
    codes = to_codes(forest, table)
    assert codes.dtype == np.float32
    assert codes.flags.c_contiguous
    assert codes.shape == table.shape
    np.testing.assert_array_equal(codes[:, 0], table["number"].astype(np.float32))
    columns = forest._column_views.columns.columns
    kinds = dict(enumerate(columns[1].categories)) | {3: "new"}
    words = [kinds.get(code) for code in codes[:, 1].tolist()]  # None for NaN
    assert words == [None if pd.isna(word) else word for word in table["kind"]]
    with pytest.raises(ValueError, match="feature names"):
        to_codes(forest, table.rename(columns={"kind": "sort"}))
    with pytest.raises(TypeError, match="estimator must be"):
        to_codes(StandardScaler(), table)
    # A matrix of numbers has none.
    X = np.arange(12, dtype=np.uint8).reshape(6, 2)
    tree = CO2TreeClassifier().fit(X, np.arange(6) % 2)
    np.testing.assert_array_equal(to_codes(tree, X), X.astype(np.float32))
