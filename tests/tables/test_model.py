# SPDX-License-Identifier: BSD-3-Clause
"""Models of tables: what they learn, what they say, and the file that they are in."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
import skops.io
from pandas.testing import assert_frame_equal
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

import co2forest
from co2forest import (
    CO2BoostingClassifier,
    CO2EnsembleClassifier,
    CO2EnsembleRegressor,
    CO2ForestClassifier,
    CO2ForestRegressor,
    ModelFormatError,
    load_model,
    save_model,
    to_c,
    to_onnx,
)
from co2forest.tables import TableEncoder, TableModel, fit_table, read_table, unwrap
from damage import contents, reseal
from small_models import run

SMALL = CO2ForestClassifier(5, random_state=0)
NUMBERS = CO2ForestRegressor(5, random_state=0)


def people(n=300, seed=0):
    """What a ship's list may look like: numbers, words, dates, names, gaps."""
    generator = np.random.default_rng(seed)
    sex = generator.choice(["male", "female"], n)
    klass = generator.integers(1, 4, n)
    alive = (sex == "female") & (klass < 3) | (generator.random(n) < 0.1)
    return pd.DataFrame(
        {
            "PassengerId": np.arange(1, n + 1),
            "Survived": alive.astype(int),
            "Pclass": klass,
            "Name": [f'Doe, "Mr." No. {i}' for i in range(n)],
            "Sex": sex,
            "Age": np.where(generator.random(n) < 0.2, np.nan, generator.integers(1, 80, n)),
            "Fare": generator.gamma(2, 15, n).round(2),
            "Cabin": [f"C{i}" if generator.random() < 0.3 else None for i in range(n)],
            "Embarked": generator.choice(["S", "C", "Q", None], n, p=[0.7, 0.18, 0.1, 0.02]),
            "Zip": [f"{generator.integers(0, 12):05d}" for _ in range(n)],
            "Booked": pd.date_range("1912-01-01", periods=n, freq="6h").strftime("%Y-%m-%d %H:%M"),
        }
    )


@pytest.fixture(scope="module")
def frame():
    return people()


@pytest.fixture(scope="module")
def model(frame):
    return fit_table(frame, "Survived", estimator=SMALL)


# --- from file to file


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "tsv", "parquet"])
def test_a_model_of_a_file_predicts_files(frame, tmp_path, suffix):
    train, test = tmp_path / f"train.{suffix}", tmp_path / f"test.{suffix}"
    for part, path in ((frame, train), (people(100, 1), test)):
        if suffix == "parquet":
            part.to_parquet(path)
        else:
            part.to_csv(path, index=False, sep="\t" if suffix == "tsv" else ",")
    fitted = fit_table(read_table(train, target="Survived"), "Survived", estimator=SMALL)
    fitted.save(tmp_path / "model.safetensors")
    twin = load_model(tmp_path / "model.safetensors")
    raw = twin.read(test)
    expected = fitted.predict_proba(people(100, 1))
    np.testing.assert_array_equal(twin.predict_proba(raw), expected)
    shuffled = raw[list(raw.columns[::-1])].drop(columns=["Survived", "Name"]).assign(extra="x")
    np.testing.assert_array_equal(twin.predict_proba(shuffled), expected)
    assert twin.score(raw) == fitted.score(people(100, 1)) > 0.8
    assert twin.score(raw.drop(columns="Survived"), raw["Survived"]) == twin.score(raw)


def test_words_that_are_digits_only_in_the_new_file(tmp_path):
    """A column has the words 1, 2 and x; the next file has no x, and its numbers must not count."""
    train = pd.DataFrame({"a": ["1", "1.50", "x"] * 20, "b": range(60), "y": ["u", "v", "u"] * 20})
    fitted = fit_table(train, "y", estimator=SMALL)
    (tmp_path / "a.csv").write_text("a,b\n1,5\n1.50,6\n")
    assert fitted.predict(fitted.read(tmp_path / "a.csv")).tolist() == ["u", "v"]
    # A frame of numbers finds what is written the same way.
    assert fitted.predict(pd.DataFrame({"a": [1.0], "b": [5]})).tolist() == ["u"]


def test_libsvm_files_of_fewer_columns(tmp_path):
    lines = [f"{i % 2} 1:{i % 2 + 0.1 * (i % 7)} 5:{(i * i) % 11}" for i in range(60)]
    (tmp_path / "a.libsvm").write_text("\n".join(lines))
    (tmp_path / "b.libsvm").write_text("0 1:0.3\n1 1:1.2\n")
    fitted = fit_table(read_table(tmp_path / "a.libsvm"), "y", estimator=SMALL)
    assert list(fitted.feature_names_in_) == ["x1", "x5"]
    assert fitted.predict(fitted.read(tmp_path / "b.libsvm")).tolist() == [0, 1]


# --- the task


@pytest.mark.parametrize(
    ("cells", "task", "labels"),
    [
        (["a", "b"] * 30, "classification", ["a", "b"]),
        ([True, False] * 30, "classification", [False, True]),
        ([1, 2, 3] * 20, "classification", [1, 2, 3]),
        ([1.0, 2.0] * 30, "classification", [1, 2]),
        ([1, 2, None] * 20, "classification", [1, 2]),
        (["1", "2"] * 30, "classification", ["1", "2"]),
        (["01", "02"] * 30, "classification", ["01", "02"]),
        (["None", "Mild", "NA"] * 20, "classification", ["Mild", "None"]),
        (pd.Categorical([5, 7] * 30), "classification", [5, 7]),
        (pd.Categorical(["x", "y", None] * 20), "classification", ["x", "y"]),
        (pd.array([0, 1, None] * 20, dtype="Int64"), "classification", [0, 1]),
        ([0.5, 1.5] * 30, "regression", None),
        (range(60), "regression", None),
        ([str(i / 2) for i in range(60)], "regression", None),
        ([i % 7 for i in range(60)], "regression", None),  # fewer than ten rows each
    ],
    ids=str,
)
def test_the_task_is_found(cells, task, labels):
    column = pd.Series(list(cells) if isinstance(cells, range) else cells)
    table = pd.DataFrame({"a": np.linspace(0, 1, 60), "y": column})
    fitted = fit_table(table, "y", random_state=0)
    assert fitted.task_ == task
    assert fitted.task_reason_.startswith("the target 'y' ")
    assert is_classifier(fitted) == (task == "classification")
    assert is_regressor(fitted) == (task == "regression")
    assert fitted.n_dropped_rows_ == (column.isna() | (column == "NA").fillna(False)).sum()
    if labels:
        assert fitted.classes_.tolist() == labels
        assert [type(label) for label in fitted.classes_.tolist()] == [*map(type, labels)]
        assert set(fitted.predict(table).tolist()) <= set(labels)
    else:
        assert not hasattr(fitted, "classes_")
        assert fitted.predict(table).dtype == np.float64


def test_default_estimators():
    table = pd.DataFrame({"a": np.linspace(0, 1, 40), "y": ["u", "v"] * 20, "z": HALF})
    for target, kind in (("y", CO2EnsembleClassifier), ("z", CO2EnsembleRegressor)):
        fitted = fit_table(table, target, random_state=3)
        assert type(fitted.estimator_) is kind
        assert fitted.estimator_.n_estimators == 100
        assert fitted.estimator_.n_jobs == -1
        assert fitted.estimator_.random_state == 3
    assert repr(fitted) == "TableModel(random_state=3, target='z')"


HALF = [x / 2 for x in range(40)]


@pytest.mark.parametrize(
    ("cells", "options", "message"),
    [
        ([None] * 40, {}, "the target 'y' is missing in every row"),
        (["NA"] * 40, {}, "the target 'y' is missing in every row"),
        (["a"] * 40, {}, "the target 'y' is 'a' in every row; there must be two classes"),
        ([1] * 40, {}, "the target 'y' is 1 in every row"),
        (HALF, {"task": "classification"}, "has 0.5, but classes must be text or whole numbers"),
        (
            ["a", "b"] * 20,
            {"task": "regression"},
            "row 1: 'a' is not a number, as task",
        ),
        (["1", "b"] * 20, {"task": "regression"}, "row 2: 'b' is not a number"),
        ([np.inf, 0.5] * 20, {}, "has an infinite number"),
        ([f"n{i}" for i in range(40)], {}, "40 different texts in 40 rows, too many for classes"),
        (pd.date_range("2020", periods=40), {}, "the target 'y' has dates"),
        ([[1]] * 40, {}, "the target 'y' has cells that are not single numbers"),
        (HALF, {"task": "guess"}, "'task' parameter of TableModel"),
        (HALF, {"estimator": SMALL, "task": "regression"}, "estimator must be a regressor, got"),
        (HALF, {"estimator": TableEncoder()}, "'estimator' parameter of TableModel"),
    ],
    ids=str,
)
def test_targets_that_cannot_be_learned(cells, options, message):
    table = pd.DataFrame({"a": HALF, "y": cells})
    with pytest.raises(ValueError, match=message):
        fit_table(table, "y", **options)


def test_wrong_tables():
    table = pd.DataFrame({"age": HALF, "y": [0, 1] * 20})
    with pytest.raises(ValueError, match=r"target='Age' is not a column of the table \(did"):
        fit_table(table, "Age")
    with pytest.raises(ValueError, match="no column except the target 'y'"):
        fit_table(table[["y"]], "y")
    with pytest.raises(ValueError, match="target must be the name of a column, or y the answers"):
        TableModel().fit(table)
    with pytest.raises(ValueError, match="y has 3 answers for 40 rows"):
        TableModel().fit(table, [0, 1, 0])
    with pytest.raises(ValueError, match="sample_weight='w' is not a column"):
        fit_table(table, "y", sample_weight="w")


def test_rows_without_a_target_do_not_count():
    table = pd.DataFrame({"a": HALF, "w": [1.0] * 40, "y": ["u", "v"] * 20})
    holes = pd.concat([table, table.assign(y=None, a=100.0, w=5.0)])
    expected = fit_table(table, "y", estimator=SMALL, sample_weight="w")
    fitted = fit_table(holes, "y", estimator=SMALL, sample_weight=holes["w"].to_numpy())
    assert "w" not in expected.feature_names_in_
    assert fitted.n_dropped_rows_ == 40
    small = table[["a"]].assign(w=1.0)
    np.testing.assert_array_equal(fitted.predict_proba(small), expected.predict_proba(small))
    assert fitted.score(holes) == fitted.score(table)


def test_weights_have_an_effect():
    table = pd.DataFrame({"a": [1.0, 2.0] * 20, "y": [0, 1, 1, 0] * 10, "w": [1, 9, 9, 1] * 10})
    weighted = fit_table(table, "y", estimator=SMALL, sample_weight="w")
    assert weighted.predict(table).tolist() == [1, 1] * 20


def test_answers_in_the_terms_of_training(frame, model):
    answers, known = model.answers(frame.assign(Survived=frame["Survived"].astype(str)))
    np.testing.assert_array_equal(answers, frame["Survived"])
    assert known.all()
    answers, known = model.answers(frame.assign(Survived=[7, None, *[1.0] * 298]))
    assert answers.tolist() == [7] + [1] * 298
    assert known.tolist() == [True, False] + [True] * 298
    with pytest.raises(ValueError, match=r"the target has 'maybe', but the classes .* are 0, 1"):
        model.answers(frame.assign(Survived="maybe"))
    with pytest.raises(ValueError, match="target='Survived' is not a column"):
        model.score(frame.drop(columns="Survived"))


# --- as an estimator


def test_answers_beside_the_table(frame, model):
    features = frame.drop(columns="Survived")
    for y in (frame["Survived"], frame["Survived"].to_numpy(), frame["Survived"].tolist()):
        fitted = TableModel(SMALL).fit(features, y)
        np.testing.assert_array_equal(fitted.predict(frame), model.predict(frame))
    assert fitted.target_ == "target"
    scores = cross_val_score(TableModel(SMALL), features, frame["Survived"], cv=3)
    assert scores.min() > 0.8


def test_other_estimators(frame, tmp_path):
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    coded = make_column_transformer(
        (codes, make_column_selector(dtype_include="category")), remainder="passthrough"
    )
    for other in (
        make_pipeline(coded, RandomForestClassifier(5, random_state=0)),
        HistGradientBoostingClassifier(max_iter=20, random_state=0),
    ):
        fitted = fit_table(frame, "Survived", estimator=other)
        assert fitted.score(frame) > 0.9
        assert fitted.notes(frame) == []
        assert_same(fitted, pickle.loads(pickle.dumps(fitted)), frame)
    with pytest.raises(TypeError, match="estimator must be one of CO2ForestClassifier"):
        fitted.save(tmp_path / "a")
    boosting = CO2BoostingClassifier(n_estimators=3, random_state=0)
    boosted = fit_table(frame, "Survived", estimator=boosting)
    boosted.save(tmp_path / "a")
    np.testing.assert_array_equal(load_model(tmp_path / "a").predict(frame), boosted.predict(frame))


def test_what_a_model_says(frame, model):
    assert model.describe()[0] == "Survived: the target, 2 classes: 0, 1"
    assert "Embarked: 3 categories" in model.describe()
    assert model.notes(frame) == []
    new = frame.assign(Sex=["other", "x", "x", *frame["Sex"][3:]], more=1)
    assert model.notes(new) == [
        "columns that were not in training are ignored: more",
        "Sex: in 3 rows, categories that training had at most once, taken for rare ones: other, x",
    ]
    assert model.feature_importances_.shape == model.feature_names_in_.shape
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert model.target_ == "Survived"
    assert "PassengerId" not in model.feature_names_in_
    estimator, rows = unwrap(model, frame)
    assert estimator is model.estimator_
    np.testing.assert_array_equal(estimator.predict(rows), model.predict(frame))
    assert unwrap(estimator, rows)[1] is rows
    twin = clone(model)
    assert not hasattr(twin, "estimator_")
    regression = fit_table(frame, "Fare", estimator=NUMBERS)
    assert regression.describe()[0] == "Fare: the target, a number"
    assert not hasattr(regression, "predict_proba")


def test_exports_are_of_the_estimator(frame, model):
    for export in (to_c, to_onnx):
        with pytest.raises(TypeError, match="for a TableModel estimator_, whose features encoder_"):
            export(model)
    assert "PREFIX" not in to_c(model.estimator_)


def test_not_fitted(frame):
    for method in ("predict", "predict_proba", "score", "describe", "notes", "save", "read"):
        arguments = [] if method == "describe" else [frame if method != "read" else "a.csv"]
        with pytest.raises(ValueError, match="not fitted yet"):
            getattr(TableModel(), method)(*arguments)


# --- files


def assert_same(model, twin, frame):
    np.testing.assert_array_equal(twin.predict_proba(frame), model.predict_proba(frame))
    assert twin.describe() == model.describe()
    assert (twin.target_, twin.task_) == (model.target_, model.task_)
    assert twin.encoder_.to_json() == model.encoder_.to_json()


@pytest.mark.parametrize("mmap_mode", [None, "r"])
def test_files(frame, model, path, mmap_mode):
    save_model(model, path)
    twin = load_model(path, mmap_mode=mmap_mode)
    assert type(twin) is TableModel
    assert_same(model, twin, frame)
    data = path.read_bytes()
    twin.save(path)
    assert path.read_bytes() == data
    twin.fit(frame)  # its parameters are those that were found
    assert_same(model, twin, frame)


def test_the_header_is_json_that_others_can_read(model, path):
    model.save(path)
    header, _ = contents(path.read_bytes())
    assert header["format"] == 1
    assert header["estimator"] == "CO2ForestClassifier"
    assert header["table"]["target"] == "Survived"
    columns = {column["name"]: column for column in header["table"]["encoder"]["columns"]}
    assert columns["Pclass"] == {"kind": "number", "name": "Pclass"}
    assert columns["Sex"] == {"kind": "category", "name": "Sex", "count": 2}


def test_pickles_and_skops(frame, model, tmp_path):
    assert_same(model, pickle.loads(pickle.dumps(model)), frame)
    skops.io.dump(model, tmp_path / "a.skops")
    twin = skops.io.load(tmp_path / "a.skops", trusted=co2forest.TRUSTED_TYPES)
    assert_same(model, twin, frame)
    forged = pickle.loads(pickle.dumps(model))
    forged.estimator_ = CO2ForestClassifier(1).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ModelFormatError, match="features, but the estimator has 1"):
        pickle.loads(pickle.dumps(forged))
    del forged.estimator_.n_features_in_
    with pytest.raises(ModelFormatError):
        pickle.loads(pickle.dumps(forged))


def table(**changes):
    return lambda header: header["table"].update(changes)


def encoder(change):
    return lambda header: change(header["table"]["encoder"])


BAD = {
    "'table' must be an object with target, task and encoder": lambda h: h.update(table=[]),
    "'table' must be an object with target, task and enc": lambda h: h.update(table=None),
    "'table' must be an object with target, task and e": table(more=1),
    "'target' must be a string": table(target=3),
    "'task' must be a string": table(task=["classification"]),
    "'task' does not agree with CO2ForestClassifier: 'regression'": table(task="regression"),
    "'task' does not agree with CO2ForestClassifier: 'auto'": table(task="auto"),
    "the target is one of the columns": table(target="Sex"),
    "an encoder must be an object": table(encoder="os.system"),
    r"the columns give \d+ features, but the estimator has": encoder(lambda e: e["columns"].pop()),
    "unknown kind of column: 'pickle'": encoder(lambda e: e["columns"][0].update(kind="pickle")),
    "two columns have the same name": encoder(lambda e: e["columns"].append(e["columns"][0])),
    "must be a list of strings": encoder(lambda e: e.update(keep=[{}])),
    r"unknown entries: \['tables'\]": lambda h: h.update(tables={}),
}


@pytest.mark.parametrize("message", BAD)
def test_forged_files(model, path, message):
    model.save(path)
    header, arrays = contents(path.read_bytes())
    BAD[message](header)
    path.write_bytes(reseal(header, arrays))
    with pytest.raises(ModelFormatError, match=message):
        load_model(path)


def test_a_table_needs_an_estimator_of_rows(model, path, tmp_path):
    """A segmenter of images is none."""
    from shapes import make_shapes, small_segmenter

    images, maps = make_shapes(2, 24, 40, 2)
    segmenter = small_segmenter(window=3, n_estimators=2, samples_per_tree=60).fit(images, maps)
    segmenter.save(path)
    header, arrays = contents(path.read_bytes())
    model.save(tmp_path / "table")
    header["table"] = contents((tmp_path / "table").read_bytes())[0]["table"]
    path.write_bytes(reseal(header, arrays))
    with pytest.raises(ModelFormatError, match="does not agree with ForestSegmenter"):
        load_model(path)


def test_the_checksum_is_of_the_table_too(model, path):
    model.save(path)
    data = path.read_bytes()
    assert data.count(b'Embarked\\"') > 0
    path.write_bytes(data.replace(b"Embarked", b"Embarted"))
    with pytest.raises(ModelFormatError, match="the checksum is wrong"):
        load_model(path)


def test_frames_are_left_as_they_were(frame, model):
    before = frame.copy()
    model.predict(frame)
    fit_table(frame, "Survived", estimator=SMALL, sample_weight="Fare")
    assert_frame_equal(frame, before)
    json.dumps(model.encoder_.to_json())


def test_the_library_needs_no_pandas(path):
    CO2ForestClassifier(1).fit([[0.0], [1.0]], [0, 1]).save(path)
    code = """
        import sys
        sys.modules["pandas"] = sys.modules["pyarrow"] = None
        import co2forest
        co2forest.load_model(sys.argv[1])
        try:
            co2forest.tables.TableEncoder().fit(None)
        except ImportError as error:
            print(error)
    """
    assert run(code, path) == "tables need pandas: pip install 'co2forest[tables]'\n"
