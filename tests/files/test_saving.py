# SPDX-License-Identifier: BSD-3-Clause
"""Saving a model: the file is there completely or not at all."""

import itertools
import os
import re
import signal
import stat
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from co2forest import (
    CO2ForestClassifier,
    CO2TreeClassifier,
    load_model,
    save_model,
)
from small_models import CODES, X, posix, run


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
    larger = CO2ForestClassifier(9, random_state=0, mixture=None).fit(X, CODES)

    def fail(*_):
        raise OSError("no space left on device")

    for name in ("co2forest.files.model_file.os.fsync", "pathlib.Path.replace"):
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
@pytest.mark.parametrize("kills", [3, pytest.param(30, marks=pytest.mark.slow)])
def test_a_kill_at_any_moment_leaves_a_whole_file(path, kills):
    """A process writes two models in turn until it is killed; one of the two is there."""
    code = """
        import os, sys
        import numpy as np
        from co2forest import CO2ForestClassifier
        X = np.random.default_rng(0).normal(size=(300, 30))
        models = [CO2ForestClassifier(t, random_state=0).fit(X, X[:, 0] > 0) for t in (5, 60)]
        models[0].save(sys.argv[1])
        for _ in sys.stdin:
            writer = os.fork()
            while writer == 0:
                for model in models:
                    model.save(sys.argv[1])
            print(writer, flush=True)
            print(os.waitstatus_to_exitcode(os.waitpid(writer, 0)[1]), flush=True)
    """
    generator = np.random.default_rng(0)
    seen = set()
    command = [sys.executable, "-c", textwrap.dedent(code), path]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        try:
            for _ in range(kills):
                process.stdin.write("another\n")
                process.stdin.flush()
                writer = int(process.stdout.readline())
                try:
                    for i in itertools.count():  # while it is being replaced
                        model = load_model(path, mmap_mode="r" if i % 2 else None)
                        seen.add(model.n_estimators)
                        if i >= 40 and seen == {5, 60}:
                            break
                    time.sleep(generator.uniform(0.0, 0.1))
                finally:
                    os.kill(writer, signal.SIGKILL)
                assert process.stdout.readline() == f"{-signal.SIGKILL}\n"
                assert load_model(path).n_estimators in (5, 60)
        finally:
            process.kill()


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


def test_long_names_of_files(forest, tmp_path):
    path = tmp_path / ("x" * 255)
    forest.save(path)
    assert load_model(path).n_estimators == 3


def test_estimators_that_cannot_be_saved(forest, path):
    class Mine(CO2ForestClassifier):
        pass

    with pytest.raises(NotFittedError):
        save_model(CO2ForestClassifier(mixture=None), path)
    pipeline = make_pipeline(StandardScaler(), CO2ForestClassifier(2, mixture=None)).fit(X, CODES)
    for other in (pipeline, Mine(2).fit(X, CODES), "forest", None, StandardScaler()):
        with pytest.raises(
            TypeError, match="estimator must be one of CO2ForestClassifier, CO2Tree"
        ):
            save_model(other, path)
    pairs = np.zeros(60, dtype="i4,i4")
    pairs["f0"] = CODES
    with pytest.raises(TypeError, match=r"labels of dtype .* cannot be stored"):
        CO2ForestClassifier(1, mixture=None).fit(X, pairs).save(path)
    assert not path.exists()
