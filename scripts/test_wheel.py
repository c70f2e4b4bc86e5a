# SPDX-License-Identifier: BSD-3-Clause
"""Test the installed co2forest, away from its sources: a smoke test, then some of the tests.

Run by the Python that has the wheel, its command line and pytest; make wheel and cibuildwheel do.
"""

import os
import pickle
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

SOURCES = Path(__file__).resolve().parents[1]

# Every binding and file format, in a minute; they need nothing beyond pytest and hypothesis.
TESTS = [
    "estimators/test_classifier.py",
    "files/test_model_formats.py",
    "native/test_kernels.py",
    "native/test_losses.py",
    "native/test_value_nodes.py",
    "segmentation/test_metrics.py",
    "segmentation/test_windows.py",
]


def smoke_test(folder: Path) -> None:
    """The first things that a user does."""
    import co2forest

    location = Path(co2forest.__file__).resolve()
    if location.is_relative_to(SOURCES / "src"):
        raise SystemExit(f"{location} belongs to the sources, not to an installed wheel")

    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5)).astype(np.float32)
    y = np.where(X[:, 0] + X[:, 1] > 0, "right", "left")
    model = co2forest.CO2ForestClassifier(n_estimators=10, random_state=0).fit(X, y)
    expected = model.predict_proba(X)
    co2forest.save_model(model, folder / "model.safetensors")
    for other in (
        co2forest.load_model(folder / "model.safetensors"),
        pickle.loads(pickle.dumps(model)),
    ):
        np.testing.assert_array_equal(other.predict_proba(X), expected)
    command = [sys.executable, "-m", "co2forest", "--help"]
    subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL)
    shown = Path(sys.executable).with_name("co2forest" + (".exe" if os.name == "nt" else ""))
    subprocess.run([shown, "--help"], check=True, cwd=folder, stdout=subprocess.DEVNULL)


def run_tests(folder: Path) -> None:
    """A copy of them, so that only the installed package is found."""
    unwanted = shutil.ignore_patterns("__pycache__")
    shutil.copytree(SOURCES / "tests", folder / "tests", ignore=unwanted)
    shutil.copy(SOURCES / "pyproject.toml", folder)
    tests = [f"tests/{name}" for name in TESTS]
    command = [sys.executable, "-m", "pytest", "--quiet", "-m", "not slow", *tests]
    subprocess.run(command, check=True, cwd=folder)


def main() -> None:
    """Both, in a folder that is gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        smoke_test(Path(folder))
        run_tests(Path(folder))


if __name__ == "__main__":
    main()
