# SPDX-License-Identifier: BSD-3-Clause
"""What Python still holds of the core when it ends."""

import subprocess
import sys
import textwrap

# Frees nothing itself: Python must be able to.
USE = """
import pickle
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import is_classifier

from co2forest import _native, load_model
from co2forest.files.registry import ESTIMATORS, estimator_class
from co2forest.inspection import explain

_native.testing.report_leaks()
rng = np.random.default_rng(0)
X = pd.DataFrame({"number": rng.normal(size=80), "word": rng.choice(["a", "b", None], 80)})
y = (X["number"] > 0).astype(int)
images, maps = [rng.integers(0, 255, (12, 12), dtype=np.uint8)], [np.eye(12, dtype=np.uint8)]
kept, path = [], Path(tempfile.mkdtemp()) / "model"
for name in ESTIMATORS:
    model = estimator_class(name)()
    if "n_estimators" in model.get_params():
        model.set_params(n_estimators=3)
    model.itself = model  # a cycle, as a notebook or a traceback makes it
    if name == "ForestSegmenter":
        model.set_params(window=3).fit(images, maps).predict(images[0])
    else:
        model.fit(X, y).predict(X)
        explain(model, X[:5])
    kept.append(model)
    kept.append(pickle.loads(pickle.dumps(model)))
    del model.itself
    model.save(path)
    kept.append(load_model(path))
    model.itself = model
    try:
        model.predict("nothing")
    except (TypeError, ValueError) as error:
        kept.append(error)  # with frames in which the model is
assert len(kept) == 4 * len(ESTIMATORS)
"""

ONE = """
import ctypes
import threading
import time

from co2forest import CO2TreeClassifier, _native

def fitted():
    return CO2TreeClassifier().fit([[0.0], [1.0]], [0, 1])
"""

REFERENCE_TOO_MANY = "ctypes.pythonapi.Py_IncRef(ctypes.py_object(fitted()._forest))"

THREAD_WITHOUT_END = """
started = threading.Event()

def serve():
    model = fitted()
    started.set()
    time.sleep(1000)

threading.Thread(target=serve, daemon=True).start()
assert started.wait(60)
"""


def said_at_the_end(*code):
    """What a process with this code writes to standard error."""
    program = "".join(map(textwrap.dedent, code))
    command = [sys.executable, "-W", "ignore", "-c", program]
    return subprocess.run(command, stderr=subprocess.PIPE, text=True, check=True).stderr


def test_everything_is_freed():
    assert said_at_the_end(USE) == ""


def test_what_is_not_freed_would_be_reported():
    """So the test above can fail."""
    report = "_native.testing.report_leaks()\n"
    assert "leaked 1 instances" in said_at_the_end(ONE, report, REFERENCE_TOO_MANY)
    assert "leaked 1 instances" in said_at_the_end(ONE, report, THREAD_WITHOUT_END)


def test_threads_that_python_does_not_end_are_no_fault():
    assert said_at_the_end(ONE, THREAD_WITHOUT_END) == ""
