# SPDX-License-Identifier: BSD-3-Clause
"""The measurement of what Dask costs, without a cluster: counts, the estimate and the page."""

import sys
from pathlib import Path

import pytest

pytest.importorskip("distributed")
ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(
    not (ROOT / "benchmarks").exists(), reason="only a source checkout has the benchmarks"
)


def fits(workers, repeat):
    """A task takes 2 ms of the client and 3 ms of workers, and trees 0.05 s each."""
    from scale_out.estimate import tasks_of_fit
    from scale_out.settings import PARTITIONS, READ_TASKS, TREES, TREES_PER_TASK

    counts = {
        n: tasks_of_fit(n, workers, TREES // TREES_PER_TASK, 1, READ_TASKS) for n in PARTITIONS
    }
    return [
        {
            "partitions": n,
            "wall_seconds": (10.0 + repeat) / workers,
            "client_cpu_seconds": 0.1 + 0.002 * counts[n],
            "worker_cpu_seconds": 1.0 + 0.003 * counts[n],
            "tree_cpu_seconds": 0.05,
            "tasks": counts[n],
            "load": 1.0,
        }
        for n in PARTITIONS
    ]


def parts():
    """A tree takes a millisecond for 100 rows, and ten bytes for each."""
    from scale_out.settings import TREE_DRAWS

    return [
        {"part": "survey", "worker_cpu_seconds": 0.625, "load": 1.5},
        {"part": "draw", "worker_cpu_seconds": 0.02, "load": 1.5},
        *(
            {"part": "tree", "draws": n, "tree_cpu_seconds": 1e-5 * n, "tree_bytes": 10 * n}
            | {"load": 1.5}
            for n in TREE_DRAWS
        ),
    ]


@pytest.fixture
def start(tmp_path, monkeypatch):
    """Runs the program with options; gives the cells that it measures."""
    from scale_out import run

    measured = []

    def measure(cell, args):
        measured.append(tuple(cell.values()))
        if measured == [("fit", 1, 0)] and args.page.name == "fail.md":
            return {"status": "failed: no memory"}
        experiment, workers, repeat = cell.values()
        rows = fits(workers, repeat) if experiment == "fit" else parts()
        return {"status": "ok", "rows": rows}

    def call(*options, page="page.md"):
        measured.clear()
        command = ["run", "--results", tmp_path, "--page", tmp_path / page, *options]
        monkeypatch.setattr(sys, "argv", [str(part) for part in command])
        run.main()
        return measured

    monkeypatch.setattr(run, "measure", measure)
    return call


def test_repeats_alternate_and_the_page_has_what_was_measured(start, tmp_path):
    assert start("--repeats", "2") == [
        ("fit", 1, 0),
        ("fit", 2, 0),
        ("parts", "", 0),
        ("parts", "", 1),
        ("fit", 2, 1),
        ("fit", 1, 1),
    ]
    page = (tmp_path / "page.md").read_text()
    assert "{{" not in page
    assert "| 6 | 10.5 (10 to 11) | 5.25 (5 to 5.5) | 0.5 (0.5 to 0.5) |" in page
    assert "Each task takes 2 (2 to 2) ms of client and scheduler, and 3 (3 to 3) ms of" in page
    assert "to the power of 1.00, and the size to the power of 1.00" in page
    assert "| grow trees | 30 | 10 s of CPU for a tree, 3 in turn on a thread |" in page
    assert "is to **schedule tasks**" in page
    assert "as busy as this one" not in page
    assert start("--report") == []
    assert (tmp_path / "page.md").read_text() == page


def test_a_run_that_failed_goes_on(start, tmp_path):
    import store

    with pytest.raises(SystemExit, match="1 processes failed; --resume tries them again"):
        start("--repeats", "2", page="fail.md")
    run = store.read(tmp_path / "scale_out.csv")[0]["run"]
    assert start("--repeats", "2", "--resume", run) == [("fit", 1, 0)]


def test_the_estimate_asks_the_code_for_its_plan():
    from scale_out.estimate import Costs, estimate
    from scale_out.settings import Assumed

    costs = Costs(0.002, 0.003, 1e-6, 0.005, (1e-5, 1.0), (10.0, 1.0))
    small = estimate(Assumed(n_rows=10_000_000, max_samples=10_000, n_trees=100), costs)
    large = estimate(Assumed(), costs)
    assert (small.trees_per_task, large.trees_per_task) == (1, 3)
    assert large.n_tasks == 1600 * (2 * 7 + 2 + 1) + 100 * (2 + 1 + 334) + 334 + 5
    assert {step.name for step in large.steps} == {step.name for step in small.steps}
    with pytest.raises(ValueError, match="max_samples=1000000: a tree"):
        estimate(Assumed(memory=4e9), costs)


def test_the_page_is_that_of_the_stored_run():
    import store
    from scale_out import report, run

    rows = store.rows_of_run(store.FOLDER / run.RESULTS)
    cores = run.cores_of(rows[0]["run"], store.FOLDER)
    assert run.PAGE.read_text() == report.page(rows, cores)
