# SPDX-License-Identifier: BSD-3-Clause
"""Forests as C source: compiled programs must predict the same bits."""

import copy
import functools

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError

import export_models
from baseline_models import CLASSIFIERS, fresh, name_of
from c_programs import STRICT, program_of, run
from co2forest import CO2ForestClassifier, CO2TreeClassifier, _native, to_c, to_codes
from core_arithmetic import dot
from forest_arrays import weights_of

# Writes the probabilities and the class of each row that it reads.
PREDICT = r"""
#define CO2FOREST_DECLARATIONS_ONLY
#include "model.c"
#include <stdio.h>
int main(void) {
    static float x[CO2FOREST_N_FEATURES];
    double probabilities[CO2FOREST_N_CLASSES];
    while (fread(x, sizeof x, 1, stdin) == 1) {
        const int32_t best = co2forest_predict(x);
        co2forest_predict_proba(x, probabilities);
        fwrite(probabilities, sizeof probabilities, 1, stdout);
        fwrite(&best, sizeof best, 1, stdout);
    }
    return 0;
}
"""

# The same with several labels per row, and with numbers.
PREDICT_LABELS = r"""
#define CO2FOREST_DECLARATIONS_ONLY
#include "model.c"
#include <stdio.h>
int main(void) {
    static float x[CO2FOREST_N_FEATURES];
    double probabilities[CO2FOREST_N_LABELS];
    uint8_t labels[CO2FOREST_N_LABELS];
    while (fread(x, sizeof x, 1, stdin) == 1) {
        co2forest_predict_proba(x, probabilities);
        co2forest_predict(x, labels);
        fwrite(probabilities, sizeof probabilities, 1, stdout);
        fwrite(labels, sizeof labels, 1, stdout);
    }
    return 0;
}
"""
PREDICT_NUMBERS = r"""
#define CO2FOREST_DECLARATIONS_ONLY
#include "model.c"
#include <stdio.h>
int main(void) {
    static float x[CO2FOREST_N_FEATURES];
    double prediction[CO2FOREST_N_OUTPUTS];
    while (fread(x, sizeof x, 1, stdin) == 1) {
        co2forest_predict(x, prediction);
        fwrite(prediction, sizeof prediction, 1, stdout);
    }
    return 0;
}
"""

# Writes the labels, each with a NUL behind it.
LABELS = r"""
#define CO2FOREST_DECLARATIONS_ONLY
#include "model.c"
#include <stdio.h>
int main(void) {
    int i;
    for (i = 0; i < CO2FOREST_N_CLASSES; ++i) {
        printf(LABEL);
        putchar(0);
    }
    return 0;
}
"""


def main_of(fitted):
    """The program for what an estimator predicts."""
    if not hasattr(fitted, "classes_"):
        return PREDICT_NUMBERS
    return PREDICT_LABELS if isinstance(fitted.classes_, list) else PREDICT


def assert_same_predictions(program, fitted, X):
    rows = to_codes(fitted, X)
    expected = export_models.numbers_of(fitted, X)
    n_outputs = expected.shape[1]
    decided = {
        PREDICT: [("decided", np.int32)],
        PREDICT_LABELS: [("decided", np.uint8, (n_outputs,))],
        PREDICT_NUMBERS: [],
    }[main_of(fitted)]
    result = np.dtype([("numbers", np.float64, (n_outputs,)), *decided])
    out = np.frombuffer(run(program, rows.tobytes()), dtype=result)
    numbers = out["numbers"].reshape(expected.shape)
    if export_models.is_exact(fitted):
        np.testing.assert_array_equal(
            np.ascontiguousarray(numbers).view(np.uint64),
            np.ascontiguousarray(expected).view(np.uint64),
        )
    else:
        np.testing.assert_allclose(numbers, expected, rtol=1e-12, atol=1e-300)
    if main_of(fitted) is PREDICT:
        np.testing.assert_array_equal(fitted.classes_[out["decided"]], fitted.predict(X))
    elif main_of(fitted) is PREDICT_LABELS:
        np.testing.assert_array_equal(out["decided"], fitted.predict(X))


def normal(n, p, seed=0):
    return np.random.default_rng(seed).normal(size=(n, p)).astype(np.float32)


def with_missing(X):
    return np.where(np.random.default_rng(1).random(X.shape) < 0.1, np.float32(np.nan), X)


def rare(n, p):
    """Most are zero, so that nodes list the few features that have a weight."""
    return np.where(np.random.default_rng(1).random((n, p)) < 0.02, normal(n, p), np.float32(0))


def mixture(n, p, n_classes, noise=0.7):
    y = np.arange(n) % n_classes
    return normal(n_classes, p, seed=1)[y] + np.float32(noise) * normal(n, p), y


def signs_of_sums(X):
    return X, (X[:, ::2].sum(axis=1) > 0).astype(int) + (X[:, 1::2].sum(axis=1) > 0)


def bytes_and_labels():
    X, y = mixture(400, 70, 10, noise=2.0)  # enough features for the native path of bytes
    return np.clip(X * 30 + 128, 0, 255).astype(np.uint8), y


def forest_and_rows(X, y, n_trees=5, **parameters):
    """A forest fitted on the first half of the rows, and all rows."""
    half = len(y) // 2
    forest = CO2ForestClassifier(n_trees, random_state=0, **parameters, mixture=None).fit(
        X[:half], y[:half]
    )
    return forest, X


def tree_and_rows(X, y):
    return CO2TreeClassifier(random_state=0).fit(X[:300], y[:300]), X


def baseline_and_rows(estimator):
    X, y = mixture(*SMALL)
    return fresh(estimator, n_estimators=3).fit(X[:300], y[:300]), X


def deep_tree_and_rows():
    """Weights so different that each split takes away one row."""
    x = np.arange(60.0)[:, None]
    tree = CO2TreeClassifier(max_depth=40, random_state=0)
    return tree.fit(x, np.arange(60) % 2, 3.0 ** -np.arange(60)), normal(200, 1) * 60


SMALL = (600, 8, 3)
MODELS = {
    "few features": lambda: forest_and_rows(*mixture(*SMALL), 10),
    "tree": lambda: tree_and_rows(*mixture(*SMALL)),
    "missing": lambda: forest_and_rows(with_missing(mixture(*SMALL)[0]), mixture(*SMALL)[1]),
    "missing only in prediction": lambda: (model("few features")[0], with_missing(normal(300, 8))),
    "all missing": lambda: (model("few features")[0], np.full((2, 8), np.nan, dtype=np.float32)),
    "one class": lambda: forest_and_rows(normal(100, 8), np.zeros(100, dtype=int)),
    "roots that are leaves": lambda: forest_and_rows(*mixture(*SMALL), min_samples_split=301),
    "impure leaves": lambda: forest_and_rows(*mixture(*SMALL), max_depth=3),
    "ties": lambda: forest_and_rows(*mixture(*SMALL), 2, max_samples=20),
    "one feature": lambda: forest_and_rows(*mixture(200, 1, 2)),
    "two classes": lambda: forest_and_rows(*mixture(300, 5, 2)),
    "26 classes": lambda: forest_and_rows(*mixture(2000, 20, 26)),
    "300 classes": lambda: forest_and_rows(*mixture(2400, 5, 300, 0.1), 1),
    "16 features": lambda: forest_and_rows(*mixture(300, 16, 3)),
    "17 features": lambda: forest_and_rows(*mixture(300, 17, 3)),
    "17 features, missing": lambda: (
        model("17 features")[0],
        with_missing(model("17 features")[1]),
    ),
    "250 features": lambda: forest_and_rows(*mixture(300, 250, 4, 2.0)),
    "bytes": lambda: forest_and_rows(*bytes_and_labels()),
    "listed features": lambda: forest_and_rows(*signs_of_sums(rare(800, 203))),
    "listed, missing": lambda: (
        model("listed features")[0],
        with_missing(model("listed features")[1]),
    ),
    "sparse": lambda: (model("listed features")[0], sp.csr_matrix(model("listed features")[1])),
    "deep": deep_tree_and_rows,
} | {
    name_of(estimator): functools.partial(baseline_and_rows, estimator) for estimator in CLASSIFIERS
}
EXPORTED = export_models.MODELS | export_models.ENSEMBLES
MODELS |= {name: functools.partial(export_models.model, name) for name in EXPORTED}


@functools.cache
def model(name):
    """A fitted estimator, and rows to predict."""
    return MODELS[name]()


@pytest.mark.parametrize("name", MODELS)
def test_predictions_have_the_same_bits(tmp_path, name):
    fitted, X = model(name)
    program = program_of(tmp_path, {"model.c": to_c(fitted), "main.c": main_of(fitted)})
    assert_same_predictions(program, fitted, X)


def test_models_are_what_they_are_for():
    arrays = model("listed features")[0]._forest.arrays()
    listed = np.diff(arrays["feature_begin"])[arrays["left"] >= 0]
    for kind in (listed == 0, listed == 1, listed > 1):
        assert kind.mean() > 0.1
    assert model("deep")[0].get_depth() == 40
    forest, X = model("ties")
    best = np.sort(forest.predict_proba(X))[:, -2:]
    assert np.mean(best[:, 0] == best[:, 1]) > 0.1


def on_thresholds(fitted, X):
    """The estimator with thresholds that rows of X meet exactly.

    Half of the sums that add the same products in another order are smaller by a rounding error,
    and their rows would go to the other side.
    """
    arrays = {name: array.copy() for name, array in fitted._forest.arrays().items()}
    rng = np.random.default_rng(0)
    for node in np.flatnonzero(arrays["left"] >= 0):
        row = X[rng.integers(len(X))][None]
        weights = weights_of(arrays, node).astype(np.float32)
        arrays["threshold"][node] = dot(row, weights, raw=True)[0]
    moved = copy.copy(fitted)
    moved._forest = _native.Forest(arrays, fitted.n_classes_)
    return moved


@pytest.fixture(scope="module")
def delicate():
    """A model with every kind of node whose thresholds are met, and rows, some with NaN."""
    X = np.where(np.arange(203) % 3 == 0, normal(400, 203, seed=2), rare(400, 203))
    forest, _ = forest_and_rows(*signs_of_sums(X), 20)
    return on_thresholds(forest, X), np.concatenate([X, with_missing(X)])


@pytest.mark.parametrize("p", [3, 15, 16, 37, 64])
def test_rows_on_the_threshold(tmp_path, p):
    forest, X = forest_and_rows(*mixture(600, p, 5, 2.0), 20)
    forest = on_thresholds(forest, X)
    program = program_of(tmp_path, {"model.c": to_c(forest), "main.c": PREDICT})
    assert_same_predictions(program, forest, X)


@pytest.mark.parametrize(
    ("compiler", "options"),
    [
        ("gcc", STRICT),
        ("clang", STRICT),
        ("gcc", ["-O3", "-march=native", "-Wall", "-Wextra", "-Werror"]),  # may fuse products
        ("clang", ["-O3", "-march=native", "-Wall", "-Wextra", "-Werror"]),
        ("g++", ["-std=c++17", "-O2", "-march=native", "-Wall", "-Wextra", "-Werror", "-xc++"]),
        ("clang++", ["-std=c++17", "-O2", "-Wall", "-Wextra", "-Werror", "-xc++"]),
    ],
)
def test_compilers_agree(tmp_path, delicate, compiler, options):
    forest, X = delicate
    program = program_of(tmp_path, {"model.c": to_c(forest), "main.c": PREDICT}, compiler, options)
    assert_same_predictions(program, forest, X)


@pytest.mark.parametrize(
    "name",
    [
        "listed, missing",
        "one class",
        "17 features",
        "numbers: boosted poisson",
        "labels: sparse",
        "classes: costs",
        "classes: boosted",
    ],
)
def test_sanitizers_find_nothing(tmp_path, name):
    options = ["-fsanitize=undefined,address", "-fno-sanitize-recover=all"]
    try:
        program_of(tmp_path, {"probe.c": "int main(void) { return 0; }\n"}, options=options)
    except AssertionError:
        pytest.skip("the compiler has no sanitizers")
    forest, X = model(name)
    sources = {"model.c": to_c(forest), "main.c": main_of(forest)}
    (tmp_path / "probe.c").unlink()
    assert_same_predictions(program_of(tmp_path, sources, options=STRICT + options), forest, X)


def test_fast_math_is_refused(tmp_path):
    source = to_c(model("one feature")[0])
    with pytest.raises(AssertionError, match="compile this file without it"):
        program_of(tmp_path, {"model.c": source, "main.c": PREDICT}, options=["-ffast-math"])


def test_two_models_in_one_program(tmp_path):
    """Even in one file, because all names have the prefix."""
    (a, X), (b, _) = model("few features"), model("one feature")
    sources = {"a.h": to_c(a, prefix="co2forest"), "b.h": to_c(b, prefix="x_co2forest_CO2FOREST_2")}
    sources["main.c"] = '#include "a.h"\n#include "b.h"\n' + PREDICT.replace("model.c", "a.h")
    assert_same_predictions(program_of(tmp_path, sources), a, X)


LABEL_KINDS = {
    "strings": ["cat", "dog", "owl"],
    "nasty strings": [
        "",
        '"',
        "\\",
        "\\n",
        "\n\r\t\x01\x7f",
        "??/",
        "??'",
        "%s",
        "*/",
        "//",
        "a\\",
    ],
    "unicode": ["ä1", "é\u0301f", "猫", "\U0001f600", "\ufeff", "\u2028", "\x85", "\udc80"],
    "template": ["co2forest_predict", "CO2FOREST_", "$tables", "${labels}", "$$", "{0}"],
    "objects": np.array(["cat", "dog"], dtype=object),
    "integers": [-5, 0, 7],
    "extreme integers": [-(2**63), -(2**31), 2**31, 2**63 - 1],
    "unsigned": np.array([0, 2**63, 2**64 - 1], dtype=np.uint64),
    "bytes": np.array([0, 255], dtype=np.uint8),
    "floats": [-3.0, 0.0, 1.0, 1e9, 2.0**60],
    "float32": np.array([-1, 16777216], dtype=np.float32),
    "booleans": [False, True],
}

# By the kind of the labels: how C prints one, and how Python reads that.
TEXT = ('"%s", co2forest_labels[i]', lambda text: text.decode("utf-8", "surrogatepass"))
PRINTED = {
    "U": TEXT,
    "O": TEXT,
    "i": ('"%lld", (long long)co2forest_labels[i]', int),
    "u": ('"%llu", (unsigned long long)co2forest_labels[i]', int),
    "b": ('"%d", co2forest_labels[i]', int),
    "f": ('"%a", co2forest_labels[i]', lambda text: float.fromhex(text.decode())),
}


@pytest.mark.parametrize("kind", LABEL_KINDS)
def test_labels(tmp_path, kind):
    labels = np.sort(np.asarray(LABEL_KINDS[kind]))
    X = np.arange(len(labels) * 2, dtype=np.float32)[:, None]
    tree = CO2TreeClassifier(random_state=0).fit(X, np.repeat(labels, 2))
    np.testing.assert_array_equal(tree.classes_, labels)
    print_label, read = PRINTED[labels.dtype.kind]
    main = LABELS.replace("LABEL", print_label)
    out = run(program_of(tmp_path, {"model.c": to_c(tree), "main.c": main}))
    assert [read(text) for text in out.split(b"\0")[:-1]] == labels.tolist()


def test_labels_that_c_cannot_hold():
    X = [[0.0], [1.0]]
    with_nul = CO2TreeClassifier().fit(X, ["a\0b", "c"])
    with pytest.raises(ValueError, match=r"the label 'a\\x00b', which a string of C cannot hold"):
        to_c(with_nul)
    for unit in ("D", "ns"):
        dates = np.array(["2015-06-19", "2015-11-16"], dtype=f"M8[{unit}]")
        with pytest.raises(TypeError, match="type datetime64, which C has no constants for"):
            to_c(CO2TreeClassifier().fit(X, dates))


@pytest.mark.parametrize("prefix", ["", "2x", "a-b", "a b", "ä", "a\n", None, 5])
def test_bad_prefixes(prefix):
    with pytest.raises(ValueError, match="prefix must be an identifier in C") as error:
        to_c(model("tree")[0], prefix=prefix)
    assert repr(prefix) in str(error.value)


@pytest.mark.parametrize("prefix", ["_Model", "__model", "_model", "my__model", "model_", "_"])
def test_reserved_prefixes(prefix):
    with pytest.raises(ValueError, match="prefix must not begin or end with an und") as error:
        to_c(model("tree")[0], prefix=prefix)
    assert repr(prefix) in str(error.value)


@pytest.mark.parametrize("prefix", ["int", "double", "class", "co_await", "main", "memcpy", "std"])
def test_prefixes_that_mean_something(prefix):
    with pytest.raises(ValueError, match=f"such as '{prefix}_model', not '{prefix}',"):
        to_c(model("tree")[0], prefix=prefix)
    assert f"{prefix}_model_predict(" in to_c(model("tree")[0], prefix=f"{prefix}_model")


def test_bad_estimators():
    with pytest.raises(TypeError, match="got RandomForestClassifier"):
        to_c(RandomForestClassifier())
    with pytest.raises(NotFittedError):
        to_c(CO2ForestClassifier(mixture=None))


def test_the_same_source_every_time():
    forest, _ = model("26 classes")
    assert to_c(forest) == to_c(copy.deepcopy(forest))


def test_tables_have_the_smallest_types():
    small, wide = to_c(model("deep")[0]), to_c(model("300 classes")[0])
    assert "static const uint8_t co2forest_child[" in small
    assert "static const uint16_t co2forest_child[" in wide
    assert "static const uint16_t co2forest_leaf_class[" in wide
    assert "static const uint8_t co2forest_listed_feature[" in to_c(model("listed features")[0])


def test_leaves_that_are_alike_are_stored_once():
    forest, _ = model("26 classes")
    assert np.count_nonzero(forest._forest.arrays()["left"] < 0) > 300
    assert "co2forest_leaf_class[26] =" in to_c(forest)
