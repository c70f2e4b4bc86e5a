# SPDX-License-Identifier: BSD-3-Clause
"""Every example runs as it is, and leaves what it says."""

import os
import runpy
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from co2forest import load_model

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))  # none in a package without the checkout
SLOW = ("dask_npy",)  # a second cluster
SECONDS = 280  # on an idle machine each takes some seconds

# With sanitizers the processes of a cluster take minutes to start, and tests/dask has them.
pytestmark = pytest.mark.plain_build


def run(example, folder, *options):
    """Its exit code and what it said."""
    paths = [path for path in (os.environ.get("PYTHONPATH"),) if path]
    environment = os.environ | {
        # The folder is not the one from which relative paths were meant.
        "PYTHONPATH": os.pathsep.join(str(Path(part).resolve()) for part in paths),
        "MPLBACKEND": "agg",  # there may be no screen
    }
    result = subprocess.run(
        [sys.executable, example, *map(str, options)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    return result.returncode, result.stdout + result.stderr


@pytest.mark.parametrize(
    "example",
    [
        pytest.param(path, marks=pytest.mark.slow) if path.stem in SLOW else path
        for path in EXAMPLES
    ],
    ids=lambda path: path.stem,
)
def test_it_runs_without_arguments(example, tmp_path, monkeypatch):
    if "distributed" in example.read_text(encoding="utf-8"):  # its workers start from the program
        code, said = run(example, tmp_path)
        assert code == 0, said
        return
    # In this process, which has imported what takes an example most of its seconds.
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(example)])
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")  # there may be no screen
    with pyplot.rc_context(), warnings.catch_warnings():
        runpy.run_path(str(example), run_name="__main__")
    pyplot.close("all")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_it_says_what_it_does(example):
    lines = example.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "# SPDX-License-Identifier: BSD-3-Clause"
    assert lines[1].startswith('"""')
    assert f"python examples/{example.name}" in "\n".join(lines[:12])


@pytest.mark.slow
def test_parquet_of_the_user(tmp_path):
    """Another target, a column of integers; what is stored is what the model says."""
    pd = pytest.importorskip("pandas")
    rows = pd.DataFrame(np.random.default_rng(0).normal(size=(600, 3)), columns=["a", "b", "c"])
    rows["grade"] = np.digitize(rows.a, [-0.5, 0.5])
    (tmp_path / "own").mkdir()
    for i in range(3):
        rows.iloc[200 * i : 200 * (i + 1)].to_parquet(tmp_path / "own" / f"{i}.parquet")
    options = ["--data", "own", "--target", "grade", "--trees", 3, "--max-samples", 300]
    options += ["--out", "result", "--workers", 1]
    example = ROOT / "examples" / "dask_parquet.py"
    code, said = run(example, tmp_path, *options)
    assert code == 0, said
    assert "3 partitions" in said
    stored = pd.read_parquet(tmp_path / "result" / "predictions")
    assert 60 < len(stored) < 180
    new = rows.loc[stored.index]
    assert new.grade.tolist() == stored.grade.tolist()
    model = load_model(tmp_path / "result" / "model.safetensors")
    assert model.predict(new[["a", "b", "c"]]).tolist() == stored.prediction.tolist()
    code, said = run(example, tmp_path, *options)
    assert code == 2
    assert "result exists; name another folder" in said
