# SPDX-License-Identifier: BSD-3-Clause
"""The container of model files: the bytes of safetensors, and no trust in any of them."""

import json
import os
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
import safetensors.numpy

from co2forest import CO2ForestClassifier, CO2TreeClassifier, ModelFormatError, load_model
from co2forest.files import untrusted_json
from co2forest.files.safetensors_file import SafetensorsFile, write_safetensors
from small_models import CODES, X, posix, run

NUMBERS = np.arange(-3, 3)
KINDS = ["u8", "i8", "f8", "f4", "u4", "i4", "f2", "u2", "i2", "i1", "u1", "b1"]


@pytest.fixture
def arrays():
    """One of each dtype, in no order, of several shapes and in several layouts."""
    of_kinds = {f"{i * 7 % 12} \N{OWL}": NUMBERS.astype(kind) for i, kind in enumerate(KINDS)}
    shapes = {"empty": np.empty((3, 0), np.float32), "scalar": np.array(2.0)}
    table = np.arange(12.0).reshape(3, 4)
    return of_kinds | shapes | {"rows": table, "columns": table.T, "steps": table[::2, ::3]}


def test_the_bytes_are_those_of_the_library(arrays, path):
    texts = {"said": 'a "b" \\ \n \x01 \x7f /'}
    for length in range(8):  # of the padding
        some = {name + "x" * length: array for name, array in arrays.items()}
        write_safetensors(path, some, texts)
        contiguous = {name: array.copy() for name, array in some.items()}
        assert path.read_bytes() == safetensors.numpy.save(contiguous, texts)


def test_what_is_written_is_read_by_both(arrays, path):
    write_safetensors(path, arrays, {"said": "\N{OWL}"})
    with SafetensorsFile(path) as file:
        assert file.texts == {"said": "\N{OWL}"}
        assert file.n_bytes == sum(array.nbytes for array in arrays.values())
        found = file.arrays()
        mapped = file.arrays(mapped="rows")
    for others in (found, mapped, safetensors.numpy.load_file(path)):
        assert others.keys() == arrays.keys()
        for name, array in arrays.items():
            assert others[name].dtype == array.dtype
            np.testing.assert_array_equal(others[name], array)
    assert found["rows"].flags.owndata  # no small array keeps a large buffer
    assert isinstance(mapped["rows"].base, np.memmap)


# --- headers that lie


def place(begin, end, shape=(1,), dtype="F64"):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end]}


HEADERS = {
    "overlap or leave gaps": {"a": place(0, 8), "b": place(16, 24)},
    "overlap or leave": {"a": place(0, 8), "b": place(4, 12)},
    "arrays overlap": {"a": place(8, 16)},
    "its size is not what its header says": {"a": place(0, 8)},
    "size is not what": {"a": place(0, 2**62)},
    "has another size than its shape": {"a": place(0, 24, [2])},
    "another size": {"a": place(0, 24, [2**63, 2**63])},
    "unknown dtype 'BF16'": {"a": place(0, 24, [12], "BF16")},
    "unknown dtype ''": {"a": place(0, 24, [3], "")},
    r"'a' has no dtype, shape or place": {"a": place(0, 24, [3], None)},
    r"no dtype, shape": {"a": place(0, 24, [-3])},
    r"no dtype,": {"a": place(0, 24, [True, 3])},
    r"no dtype": {"a": place(0, 24, [3.0])},
    r"shape or place": {"a": place(-24, 0, [3])},
    r"or place": {"a": place(0, 24, [1] * 33)},
    r"is not a beginning and an end": {"a": place(24, 0, [3])},
    r"not a beginning": {"a": place(0, 24) | {"data_offsets": [0]}},
    r"of 'a' is not about an array": {"a": place(0, 24) | {"more": 1}},
    r"is not about an array": {"a": [1, 2]},
    r"must be an object of strings": {"__metadata__": {"a": 1}},
    r"an object of strings": {"__metadata__": None},
    r"the header is not text": b'{"\xff": 0}',
    r"the header is not JSON": b'{"a": 0',
    r"header is not JSON": b'{"a": ' + b"[" * 200_000,
    r"a name occurs twice": b'{"a": {"x": 1, "x": 1}}',
    r"occurs twice": b'{"a": 1, "a": 1}',
    r"cannot be read": {"a": place(0, 24, [3]), "b": place(24, 24, [2**62, 0, 2**62])},
}


@pytest.mark.parametrize("message", HEADERS)
def test_headers_that_lie(path, message):
    header = HEADERS[message]
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + bytes(24))
    with pytest.raises(ModelFormatError, match=message), SafetensorsFile(path) as file:
        file.arrays()


@posix
@pytest.mark.parametrize(
    "text",
    [
        r"""'{"a":[' + 33_000_000 * '[],' + '[]]}'""",
        r"""'{"__metadata__":{"co2forest":"[' + 33_000_000 * '{},' + '{}]"}}'""",
        r"""'{"__metadata__":{"co2forest":"[' + 5_500_000 * '\\u005b\\u005d\\u002c' + '0]"}}'""",
    ],
)
def test_a_header_that_would_take_gigabytes(path, text):
    """It takes seconds of computing, and up to 3 GB, to parse one of 99 MB."""
    code = f"""
        import resource, sys, time
        from co2forest import ModelFormatError, load_model

        text = ({text}).encode()
        with open(sys.argv[1], "wb") as file:
            file.write(len(text).to_bytes(8, "little") + text)
        del text
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        if sys.platform == "linux":
            from pathlib import Path
            size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (size + (400 << 20),) * 2)
        begin = time.process_time()
        try:
            load_model(sys.argv[1])
        except ModelFormatError as error:
            print(time.process_time() - begin, error)
    """
    seconds, message = run(code, path).split(maxsplit=1)
    assert float(seconds) < 2.0  # 0.2 where nobody else computes
    assert "the header lists more than" in message


def test_what_is_written_can_be_read(path, monkeypatch):
    """Else a model would be lost: too many names are an error when it is saved."""
    y = np.array(["a" * 3000, "[b]", "{c}"], dtype=object)[CODES]
    model = CO2ForestClassifier(1, random_state=0, mixture=None).fit(X, y)
    monkeypatch.setattr("co2forest.files.safetensors_file._MOST_HEADER", 5000)
    with pytest.raises(ValueError, match=r"take \d+ bytes; a model file has room for 5000"):
        model.save(path)
    monkeypatch.undo()
    model.save(path)
    np.testing.assert_array_equal(load_model(path).predict(X), model.predict(X))
    write_safetensors(path, {}, {"said": "[" * 10})
    monkeypatch.setattr(untrusted_json, "_FREE_VALUES", 10)
    with pytest.raises(ModelFormatError, match="more than the 10 values that a model needs"):
        write_safetensors(path, {}, {"said": "[" * 10})


# --- files that change while they are read


@posix
@pytest.mark.parametrize("seconds", [2, pytest.param(60, marks=pytest.mark.slow)])
def test_a_file_that_is_overwritten_in_place_while_it_is_read(path, seconds):
    """A map of the file, even one of its header alone, ends the process in the first second."""
    models = [
        CO2ForestClassifier(50, random_state=0, mixture=None).fit(X, CODES),
        CO2TreeClassifier(random_state=0).fit(X, CODES),
    ]
    contents = []
    for model in models:
        model.save(path)
        contents.append(path.read_bytes())
    code = """
        import sys, threading
        from co2forest import ModelFormatError, load_model

        ended = threading.Event()
        threading.Thread(target=lambda: (sys.stdin.read(), ended.set())).start()
        print("ready", flush=True)
        while not ended.is_set():
            try:
                assert load_model(sys.argv[1])._forest.n_trees in (50, 1)
            except ModelFormatError:
                pass
    """
    command = [sys.executable, "-c", textwrap.dedent(code), path]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        try:
            assert process.stdout.readline() == "ready\n"
            descriptor = os.open(path, os.O_WRONLY)
            end = time.monotonic() + seconds
            while process.poll() is None and time.monotonic() < end:
                for content in contents:
                    os.truncate(path, 0)
                    os.pwrite(descriptor, content, 0)
            os.close(descriptor)
            process.communicate()
        finally:
            process.kill()
    assert process.returncode == 0
