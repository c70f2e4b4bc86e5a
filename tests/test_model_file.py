"""Model files: everything comes back, nothing is half written, and errors say what is wrong."""

import json
import os
import pickle
import re
import signal
import stat
import subprocess
import sys
import textwrap
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from co2forest import (
    CO2ForestClassifier,
    CO2TreeClassifier,
    ModelFormatError,
    load_model,
    save_model,
)
from damage import contents, join, reseal, split

X = np.random.default_rng(0).normal(size=(60, 4)).astype(np.float32)
CODES = np.arange(60) % 3
resource = pytest.importorskip("resource") if os.name == "posix" else None
posix = pytest.mark.skipif(os.name != "posix", reason="not on this system")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


@pytest.fixture(scope="module")
def forest():
    return CO2ForestClassifier(3, random_state=0).fit(X, CODES)


def round_trip(model, path, **options):
    save_model(model, path)
    return load_model(path, **options)


def assert_same(model, twin):
    assert type(twin) is type(model)
    assert vars(twin).keys() == vars(model).keys()
    for name, value in vars(model).items():
        if name == "_forest":
            left, right = value.arrays(), twin._forest.arrays()
            assert all(np.array_equal(left[key], right[key]) for key in left)
        elif name not in ("n_jobs", "verbose"):
            np.testing.assert_array_equal(getattr(twin, name), value, err_msg=name)
            assert type(getattr(twin, name)) is type(value), name
    np.testing.assert_array_equal(twin.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(twin.predict(X), model.predict(X))


# --- everything comes back


@pytest.mark.parametrize("mmap_mode", [None, "r"])
@pytest.mark.parametrize(
    "estimator",
    [
        CO2ForestClassifier(3),
        CO2TreeClassifier(),
        CO2ForestClassifier(20, bootstrap=True, oob_score=True, max_leaf_nodes=4),
        CO2ForestClassifier(2, max_samples=0.5, class_weight="balanced_subsample"),
        CO2ForestClassifier(2, solver="cccp", nu=3.0, max_features=None, max_depth=2),
        CO2ForestClassifier(2, class_weight={0: 1.5, 1: 2}, min_samples_leaf=0.1, scale=None),
        CO2TreeClassifier(class_weight={2: 0}),
        CO2ForestClassifier(2, random_state=7, warm_start=True, max_depth=10**30),
    ],
    ids=repr,
)
def test_everything_comes_back(estimator, path, mmap_mode):
    model = clone(estimator).fit(X, CODES)
    twin = round_trip(model, path, mmap_mode=mmap_mode)
    assert_same(model, twin)
    assert twin.get_params() == model.get_params()
    np.testing.assert_array_equal(twin.feature_importances_, model.feature_importances_)


LABELS = {
    "bool": np.array([False, True]),
    "object": np.array(["cat", "dog\0", 'a "b" \\ \n \N{OWL} \ud800'], dtype=object),
    "U1": np.array(["a", "b", "c"]),
    "U40": np.array(["", "b" * 39, "\N{OWL}"], dtype="U40"),
    ">U3": np.array(["abc", "b", "\N{OWL}"], dtype=">U3"),
    "int64": np.array([-(2**63), 0, 2**63 - 1]),
    "uint64": np.array([0, 2**63, 2**64 - 1], dtype=np.uint64),
    "np.str_": np.array([np.str_("a"), np.str_("b"), np.str_("c")], dtype=object),
    "float64": np.array([-1e15, 0.0, 2.0**60]),
    "longdouble": np.array([1, 2, 2**62 + 1], dtype=object).astype(np.longdouble),
    "datetime": np.array(["1815-12-10", "2000-01-01", "2262-04-11"], dtype="M8[D]"),
    "datetime in ns": np.array([0, 1, 2**62], dtype="M8[ns]"),
    ">M8[s]": np.array([0, 1, 2**40], dtype=">M8[s]"),
    "timedelta": np.array([-5, 0, 5], dtype="m8[10us]"),
    "timedelta without unit": np.array([-5, 0, 5], dtype="m8"),
} | {
    kind: np.array([0, 1, 100]).astype(kind)
    for kind in [
        "int8",
        "int16",
        "int32",
        "uint8",
        "uint16",
        "uint32",
        "float16",
        "float32",
        ">i4",
        ">u8",
        ">f8",
    ]
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_every_dtype(kind, path):
    labels = LABELS[kind]
    model = CO2ForestClassifier(2, random_state=0).fit(X, labels[CODES % len(labels)])
    twin = round_trip(model, path)
    assert twin.classes_.dtype == model.classes_.dtype == labels.dtype
    assert twin.predict(X).dtype == labels.dtype
    assert_same(model, twin)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    labels=st.one_of(
        st.lists(st.text(max_size=8), min_size=2, max_size=4, unique=True).map(
            lambda texts: np.array(texts, dtype=object)
        ),
        st.lists(st.integers(-(2**63), 2**63 - 1), min_size=2, max_size=4, unique=True).map(
            lambda numbers: np.array(numbers, dtype=np.int64)
        ),
        st.lists(st.integers(-(2**53), 2**53), min_size=2, max_size=4, unique=True).map(
            lambda numbers: np.array(numbers, dtype=np.float64)
        ),
    ),
    names=st.none() | st.lists(st.text(max_size=5), min_size=2, max_size=2),
    weight=st.floats(0, 1e30),
    nu=st.floats(1e-30, 1e30),
)
def test_any_labels_names_and_parameters(tmp_path_factory, labels, names, weight, nu):
    rows = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]])[: len(labels)]
    if names is not None and len(set(names)) == 2:
        rows = pd.DataFrame(rows, columns=names)
    params = {"nu": nu, "class_weight": {labels.tolist()[0]: weight}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # as many classes as rows
        model = CO2TreeClassifier(**params).fit(rows, labels)
    path = tmp_path_factory.getbasetemp() / "any.safetensors"
    twin = round_trip(model, path)
    assert twin.get_params() == model.get_params()
    assert vars(twin).keys() == vars(model).keys()
    assert twin.classes_.tolist() == model.classes_.tolist()
    assert twin.predict(rows).tolist() == model.predict(rows).tolist()


def test_hundreds_of_classes(path):
    y = np.arange(400).repeat(2)
    rows = np.random.default_rng(0).normal(size=(800, 3))
    model = CO2ForestClassifier(1, random_state=0).fit(rows, y)
    np.testing.assert_array_equal(round_trip(model, path).predict(rows), model.predict(rows))


def test_names_of_features(path):
    frame = pd.DataFrame(X, columns=["a", "b c", "\N{OWL}", ""])
    model = CO2ForestClassifier(2, random_state=0).fit(frame, CODES)
    twin = round_trip(model, path)
    np.testing.assert_array_equal(twin.feature_names_in_, model.feature_names_in_)
    np.testing.assert_array_equal(twin.predict(frame), model.predict(frame))
    with pytest.raises(ValueError, match="feature names should match"):
        twin.predict(frame[["b c", "a", "\N{OWL}", ""]])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        twin.predict(X)


def test_parameters_of_numpy_types(path):
    model = CO2ForestClassifier(
        np.int64(2),
        nu=np.float32(2.5),
        bootstrap=np.True_,
        class_weight={np.int8(1): np.float64(2)},
    )
    params = round_trip(model.fit(X, CODES), path).get_params()
    assert (params["n_estimators"], params["nu"], params["bootstrap"]) == (2, 2.5, True)
    assert params["class_weight"] == {1: 2.0}


def test_the_machine_is_not_stored(path, capfd):
    model = CO2ForestClassifier(2, n_jobs=2, verbose=1, random_state=0).fit(X, CODES)
    twin = round_trip(model, path)
    assert twin.n_jobs is None
    assert twin.verbose == 0
    capfd.readouterr()


def score_by_hand(truth, predicted):
    return float(np.mean(truth == predicted))


def test_functions_and_generators_are_replaced_by_the_default_with_a_warning(path):
    model = CO2ForestClassifier(
        20, bootstrap=True, oob_score=score_by_hand, random_state=np.random.RandomState(3)
    ).fit(X, CODES)
    with pytest.warns(UserWarning, match="cannot be stored in a model file") as caught:
        model.save(path)
    assert [w.filename == __file__ for w in caught] == [True, True]
    messages = sorted(str(w.message) for w in caught)
    assert re.match(r"oob_score=<function score_by_hand.* will have oob_score=False", messages[0])
    assert re.match(r"random_state=RandomState.* will have random_state=None", messages[1])
    twin = load_model(path)
    assert twin.oob_score_ == model.oob_score_
    np.testing.assert_array_equal(twin.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("score", [np.inf, "good", (1, 2), None, np.float32(0.5), 1])
def test_scores_of_every_kind(path, score):
    model = CO2ForestClassifier(20, bootstrap=True, oob_score=lambda _, __: score, random_state=0)
    model.fit(X, CODES).set_params(oob_score=True)
    if score in (0.5, 1):
        assert round_trip(model, path).oob_score_ == score
    else:
        with pytest.warns(UserWarning, match="is no finite number and is stored as NaN"):
            assert np.isnan(round_trip(model, path).oob_score_)


def test_very_wide_labels_lose_only_width(path):
    """A prediction takes the width of the dtype for each row, which a file must not decide."""
    model = CO2ForestClassifier(1).fit(X, np.array(["a", "bb", "c"], dtype="U5000")[CODES])
    twin = round_trip(model, path)
    assert twin.classes_.dtype == "<U1002"
    np.testing.assert_array_equal(twin.predict(X), model.predict(X))


def test_long_names_of_files(forest, tmp_path):
    path = tmp_path / ("x" * 255)
    forest.save(path)
    assert load_model(path).n_estimators == 3


def test_rows_that_were_always_drawn(path):
    model = CO2ForestClassifier(1, bootstrap=True, oob_score=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X[:1], CODES[:1])
    assert np.isnan(model.oob_score_)
    assert np.isnan(round_trip(model, path).oob_score_)


def test_a_warm_start_goes_on(path, assert_same_trees):
    model = CO2ForestClassifier(3, warm_start=True, bootstrap=True, random_state=1).fit(X, CODES)
    for mmap_mode in (None, "r"):
        twin = round_trip(model, path, mmap_mode=mmap_mode)
        twin.set_params(n_estimators=6).fit(X, CODES)
        whole = CO2ForestClassifier(6, bootstrap=True, random_state=1).fit(X, CODES)
        assert_same_trees(twin, whole)


def test_a_loaded_model_is_like_any_other(forest, path):
    twin = round_trip(forest, path, mmap_mode="r")
    again = pickle.loads(pickle.dumps(twin))
    np.testing.assert_array_equal(again.predict_proba(X), forest.predict_proba(X))
    tree = twin.estimators_[1]
    np.testing.assert_array_equal(tree.apply(X), forest.apply(X)[:, 1])
    np.testing.assert_array_equal(twin.estimators_samples_, forest.estimators_samples_)
    save_model(twin, path)  # the file that it is mapped from
    np.testing.assert_array_equal(twin.predict_proba(X), forest.predict_proba(X))
    np.testing.assert_array_equal(load_model(path).predict_proba(X), forest.predict_proba(X))


def test_mapped_weights_are_not_copied(path):
    """Two copies of a large model take the memory of none."""
    rows = np.random.default_rng(0).normal(size=(900, 500)).astype(np.float32)
    model = CO2ForestClassifier(40, random_state=0).fit(rows, np.arange(900) % 9)
    save_model(model, path)
    size = path.stat().st_size
    assert size > 2_000_000
    code = """
        import pathlib, re, sys
        from co2forest import load_model

        def private_memory():
            rollup = pathlib.Path("/proc/self/smaps_rollup").read_text()
            return 1024 * int(re.search(r"Private_Dirty: +([0-9]+)", rollup)[1])

        load_model(sys.argv[1])  # what is needed once
        sizes = []
        for mode in (None, "r"):
            before = private_memory()
            models = [load_model(sys.argv[1], mmap_mode=mode) for _ in range(3)]
            sizes.append(private_memory() - before)
        print(*sizes)
    """
    if not Path("/proc/self/smaps_rollup").exists():
        pytest.skip("memory cannot be told apart here")
    copied, mapped = map(int, run(code, path).split())
    assert copied > 3 * 0.9 * size
    assert mapped < 0.3 * copied


def test_a_file_whose_arrays_begin_anywhere(forest, path):
    """As other writers may do: the header is not filled up to a multiple of eight bytes."""
    forest.save(path)
    header, arrays = split(path.read_bytes())
    for spaces in range(8):
        path.write_bytes(join(json.dumps(header).encode() + b" " * spaces, arrays))
        for mmap_mode in (None, "r"):
            twin = load_model(path, mmap_mode=mmap_mode)
            np.testing.assert_array_equal(twin.predict_proba(X), forest.predict_proba(X))


def run(code, *arguments):
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *map(os.fspath, arguments)],
        capture_output=True,
        text=True,
        check=True,
    )
    return result.stdout


# --- the same model, the same bytes


def test_the_same_model_has_the_same_bytes(path):
    contents = set()
    for n_jobs in (1, 2):
        CO2ForestClassifier(5, random_state=3, n_jobs=n_jobs).fit(X, CODES).save(path)
        contents.add(path.read_bytes())
    for mmap_mode in (None, "r"):
        load_model(path, mmap_mode=mmap_mode).save(path)
        contents.add(path.read_bytes())
    assert len(contents) == 1


def test_other_models_have_other_bytes(path):
    contents = set()
    for params in ({}, {"random_state": 4}, {"nu": 2.0}, {"max_depth": 1000}):
        CO2ForestClassifier(**{"n_estimators": 2, "random_state": 3} | params).fit(X, CODES).save(
            path
        )
        contents.add(path.read_bytes())
    assert len(contents) == 4


# --- nothing is half written


def test_paths(forest, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path in ("plain", Path("path"), tmp_path / "name with \N{OWL}.co2", "./x/../dotted"):
        Path("x").mkdir(exist_ok=True)
        forest.save(path)
        assert load_model(path).n_estimators == 3
    assert {p.name for p in tmp_path.iterdir()} == {
        "plain", "path", "name with \N{OWL}.co2", "dotted", "x",
    }  # fmt: skip


def test_a_failed_save_leaves_the_old_file_and_no_other(forest, path, tmp_path, monkeypatch):
    forest.save(path)
    before = path.read_bytes()
    larger = CO2ForestClassifier(9, random_state=0).fit(X, CODES)

    def fail(*_):
        raise OSError("no space left on device")

    for name in ("co2forest.model_file.os.fsync", "pathlib.Path.replace"):
        with monkeypatch.context() as patch:
            patch.setattr(name, fail)
            with pytest.raises(OSError, match="no space left"):
                larger.save(path)
        assert path.read_bytes() == before
        assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(FileNotFoundError, match=r"no such folder.model'"):
        larger.save(tmp_path / "no such folder" / "model")
    for other in (tmp_path, os.devnull):
        with pytest.raises(OSError, match="is not a regular file"):
            larger.save(other)


@posix
def test_a_disk_that_is_full(path):
    code = """
        import resource, signal, sys
        import numpy as np
        from co2forest import CO2ForestClassifier
        X = np.random.default_rng(0).normal(size=(500, 20))
        small = CO2ForestClassifier(1, random_state=0).fit(X, X[:, 0] > 0)
        large = CO2ForestClassifier(30, random_state=0).fit(X, X[:, 0] > X[:, 1])
        small.save(sys.argv[1])
        before = open(sys.argv[1], "rb").read()
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 100, len(before) + 100))
        try:
            large.save(sys.argv[1])
        except OSError as error:
            print(error)
        assert open(sys.argv[1], "rb").read() == before
    """
    assert re.search(r"File too large: '.*model\.safetensors'", run(code, path))
    assert list(path.parent.iterdir()) == [path]


@posix
def test_a_kill_at_any_moment_leaves_a_whole_file(path):
    """A process writes two models in turn until it is killed; one of the two is there."""
    code = """
        import sys
        import numpy as np
        from co2forest import CO2ForestClassifier
        X = np.random.default_rng(0).normal(size=(300, 30))
        models = [CO2ForestClassifier(t, random_state=0).fit(X, X[:, 0] > 0) for t in (5, 60)]
        models[0].save(sys.argv[1])
        print("ready", flush=True)
        while True:
            for model in models:
                model.save(sys.argv[1])
    """
    generator = np.random.default_rng(0)
    seen = set()
    for _ in range(6):
        with subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(code), path], stdout=subprocess.PIPE
        ) as child:
            assert child.stdout.readline() == b"ready\n"
            try:
                for i in range(40):  # while it is being replaced
                    model = load_model(path, mmap_mode="r" if i % 2 else None)
                    seen.add(model.n_estimators)
            finally:
                with pytest.raises(subprocess.TimeoutExpired):
                    child.wait(generator.uniform(0.0, 0.1))
                child.send_signal(signal.SIGKILL)
        assert load_model(path).n_estimators in (5, 60)
    assert seen == {5, 60}


@posix
def test_permissions_and_links(forest, path, tmp_path):
    old = os.umask(0o027)
    try:
        forest.save(path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        path.chmod(0o600)
        forest.save(path)  # a file that others must not read stays so
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        path.chmod(0o444)
        forest.save(path)  # its folder decides who may replace a file
        assert stat.S_IMODE(path.stat().st_mode) == 0o444
    finally:
        os.umask(old)
    link = tmp_path / "latest"
    link.symlink_to(path.name)
    CO2TreeClassifier().fit(X, CODES).save(link)
    assert link.is_symlink()
    assert isinstance(load_model(path), CO2TreeClassifier)


def test_threads_save_and_load_the_same_file(forest, path):
    forest.save(path)

    def work(i):
        if i % 2:
            forest.save(path)
        return load_model(path).predict_proba(X)

    with ThreadPoolExecutor(4) as pool:
        for proba in pool.map(work, range(80)):
            np.testing.assert_array_equal(proba, forest.predict_proba(X))


# --- errors


def test_estimators_that_cannot_be_saved(forest, path):
    class Mine(CO2ForestClassifier):
        pass

    with pytest.raises(NotFittedError):
        save_model(CO2ForestClassifier(), path)
    pipeline = make_pipeline(StandardScaler(), CO2ForestClassifier(2)).fit(X, CODES)
    for other in (pipeline, Mine(2).fit(X, CODES), "forest", None, StandardScaler()):
        with pytest.raises(
            TypeError, match="estimator must be one of CO2ForestClassifier, CO2Tree"
        ):
            save_model(other, path)
    pairs = np.zeros(60, dtype="i4,i4")
    pairs["f0"] = CODES
    with pytest.raises(TypeError, match=r"labels of dtype .* cannot be stored"):
        CO2ForestClassifier(1).fit(X, pairs).save(path)
    assert not path.exists()


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
@pytest.mark.timeout(10)
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
    "the array 'oob_decision_function' is missing": edit(fitted__oob_score=0.5),
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


def test_the_header_is_json_that_others_can_read(forest, path):
    """As the documentation says: any reader of safetensors gets at everything."""
    safetensors = pytest.importorskip("safetensors")
    forest.save(path)
    with safetensors.safe_open(path, framework="np") as file:
        header = json.loads(file.metadata()["co2forest"])
        left = file.get_tensor("forest.left")
    assert header["format"] == 1
    assert header["estimator"] == "CO2ForestClassifier"
    assert header["fitted"]["classes"] == {"dtype": "<i8", "values": [0, 1, 2]}
    np.testing.assert_array_equal(left, forest._forest.arrays()["left"])
