# SPDX-License-Identifier: BSD-3-Clause
"""Atomic writes: whoever is killed, whenever that is, nothing but whole files stays."""

import contextlib
import os
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from co2forest.files import atomic
from co2forest.files.atomic import write_atomically
from small_models import posix

fcntl = pytest.importorskip("fcntl") if os.name == "posix" else None

LONG = "x" * 255


@pytest.fixture
def unnamed(tmp_path):
    """Skip where no file can be without a name."""
    try:
        os.close(os.open(tmp_path, os.O_TMPFILE | os.O_RDWR))
    except (AttributeError, OSError):
        pytest.skip("no files without names here")


@pytest.fixture(params=["unnamed", "named"])
def way(request, monkeypatch):
    """Each way to write, where both are possible."""
    if request.param == "named":
        monkeypatch.setattr(atomic, "_write_unnamed", lambda *_: False)
    else:
        request.getfixturevalue("unnamed")
        monkeypatch.delattr(atomic, "_write_named")
    return request.param


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


@pytest.mark.parametrize("name", ["model", LONG, "\N{OWL}", "a [b]*?"])
def test_both_ways_write_the_same(way, tmp_path, name):
    for content in (b"old", b"newer"):
        write_atomically(tmp_path / name, lambda file, content=content: file.write_bytes(content))
        assert (tmp_path / name).read_bytes() == content
        assert names(tmp_path) == [name]


class StoppedError(Exception):
    pass


@pytest.mark.parametrize("error", [StoppedError, KeyboardInterrupt, OSError])
def test_a_failed_write_leaves_nothing(way, tmp_path, error):
    path = tmp_path / "model"

    def fail(file):
        file.write_bytes(b"half")
        raise error

    for before in ([], ["model"]):
        with pytest.raises(error):
            write_atomically(path, fail)
        assert names(tmp_path) == before
        path.write_bytes(b"old")
    assert path.read_bytes() == b"old"


def test_a_rename_that_fails_leaves_nothing(way, tmp_path):
    path = tmp_path / "model"

    def write(file):
        file.write_bytes(b"whole")
        path.mkdir()

    with pytest.raises(IsADirectoryError, match=r"'.*model'$"):
        write_atomically(path, write)
    assert names(tmp_path) == ["model"]


# Where a writer kills itself, in the order in which a file is written.
KILLS = {
    "while it writes": "write = lambda file: (file.write_bytes(b'half'), kill())",
    "before the file is on disk": "os.fsync = kill",
    "before it has a name": "os.link = kill",
    "before it is renamed": "Path.replace = kill",
    "before its folder is on disk": "atomic._sync = kill",
}


@pytest.mark.parametrize("moment", KILLS)
def test_after_a_kill_the_next_write_leaves_nothing_else(unnamed, tmp_path, moment):
    path = tmp_path / LONG
    code = f"""
        import os, signal, sys
        from pathlib import Path
        from co2forest.files import atomic

        def kill(*_, **__):
            os.kill(os.getpid(), signal.SIGKILL)

        write = lambda file: file.write_bytes(b"whole")
        {KILLS[moment]}
        atomic.write_atomically(Path(sys.argv[1]), write)
    """
    for before in (b"", b"old"):
        command = [sys.executable, "-c", textwrap.dedent(code), path]
        assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
        if moment == "before it is renamed":
            assert len([name for name in names(tmp_path) if name != LONG]) == 1
        else:
            assert set(names(tmp_path)) <= {LONG}
        if moment == "before its folder is on disk":
            assert path.read_bytes() == b"whole"
        elif before:
            assert path.read_bytes() == before
        write_atomically(path, lambda file: file.write_bytes(b"old"))
        assert names(tmp_path) == [LONG]
        assert path.read_bytes() == b"old"


def test_the_file_of_a_living_writer_stays(unnamed, tmp_path):
    """Another takes the next name, and removes only what is not locked."""
    path = tmp_path / "model"
    inside = tmp_path / f"{atomic._beginning(path)}0{atomic._ENDING}"
    inside.write_bytes(b"about to be renamed")
    with inside.open() as living:
        fcntl.flock(living, fcntl.LOCK_EX)
        for _ in range(2):
            write_atomically(path, lambda file: file.write_bytes(b"new"))
            assert names(tmp_path) == [inside.name, "model"]
        assert inside.read_bytes() == b"about to be renamed"
        assert path.read_bytes() == b"new"
    write_atomically(path, lambda file: file.write_bytes(b"new"))
    assert names(tmp_path) == ["model"]


@posix
def test_without_links_to_files_without_names(unnamed, tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(1, "no links here")

    monkeypatch.setattr(os, "link", refuse)
    write_atomically(tmp_path / "model", lambda file: file.write_bytes(b"new"))
    assert names(tmp_path) == ["model"]


def test_old_temporary_files_are_removed(tmp_path, monkeypatch):
    """Where files need names, a day tells that their writers are gone."""
    monkeypatch.setattr(atomic, "_write_unnamed", lambda *_: False)
    path, other = tmp_path / "model", tmp_path / "other"
    old, young, of_another = (
        tmp_path / f"{atomic._beginning(where)}{i}{atomic._ENDING}"
        for i, where in enumerate((path, path, other))
    )
    for file in (old, young, of_another):
        file.write_bytes(b"half")
    two_days_ago = time.time() - 2 * 24 * 3600
    for file in (old, of_another):
        os.utime(file, (two_days_ago, two_days_ago))
    write_atomically(path, lambda file: file.write_bytes(b"new"))
    assert names(tmp_path) == sorted([young.name, of_another.name, "model"])


WRITER = """
    import sys
    from pathlib import Path
    from co2forest.files.atomic import write_atomically

    path, letter, times = Path(sys.argv[1]), sys.argv[2].encode(), int(sys.argv[3])
    print("ready", flush=True)
    for _ in range(times):
        write_atomically(path, lambda file: file.write_bytes(100_000 * letter))
"""


def writers(path, letters, times):
    """Processes that write the same file."""
    code = textwrap.dedent(WRITER)
    return [
        subprocess.Popen(
            [sys.executable, "-c", code, path, letter, str(times)], stdout=subprocess.PIPE
        )
        for letter in letters
    ]


@posix
def test_several_writers_of_the_same_file(tmp_path):
    path = tmp_path / "model"
    found = set()
    with contextlib.ExitStack() as stack:
        processes = [stack.enter_context(process) for process in writers(path, "abc", 100)]
        while any(process.poll() is None for process in processes):
            with contextlib.suppress(FileNotFoundError):
                found.add(path.read_bytes())
    assert [process.returncode for process in processes] == [0, 0, 0]
    assert found | {path.read_bytes()} <= {100_000 * letter for letter in (b"a", b"b", b"c")}
    assert names(tmp_path) == ["model"]


def test_several_threads_write_the_same_file(way, tmp_path):
    path = tmp_path / "model"

    def work(i):
        write_atomically(path, lambda file: file.write_bytes(bytes([i]) * 10_000))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(100)))
    assert len(set(path.read_bytes())) == 1
    assert names(tmp_path) == ["model"]


@pytest.mark.parametrize("kills", [10, pytest.param(200, marks=pytest.mark.slow)])
def test_kills_at_random_moments(unnamed, tmp_path, kills):
    path = tmp_path / "model"
    generator = np.random.default_rng(0)
    for _ in range(kills):
        (process,) = writers(path, "a", 10**9)
        with process:
            assert process.stdout.readline() == b"ready\n"
            time.sleep(generator.uniform(0.0, 0.05))
            process.kill()
        assert len(names(tmp_path)) <= 2
        write_atomically(path, lambda file: file.write_bytes(b"next"))
        assert names(tmp_path) == ["model"]
        assert path.read_bytes() == b"next"
