# SPDX-License-Identifier: BSD-3-Clause
"""Attack several libraries in the same ways, and see how each one fails.

    make bench-robustness ARGS="[--libraries co2forest lightgbm] [--attacks files Ctrl-C]"

Each attack has a process of its own, whose death is a result. Results are added to
benchmarks/results/robustness.csv as they come. At the end their tables are written into
docs/robustness.md. This runs on Linux only, because it reads threads and memory from /proc.
"""

import argparse
import itertools
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from importlib import metadata
from pathlib import Path

import pages
import processes
import store
from adapters import adapter_class
from robustness import files, forks, shortage, table
from robustness.targets import TARGETS

REPOSITORY = Path(__file__).parent.parent.parent
CSV = "robustness.csv"
FIELDS = ["run", "library", "version", "attack", "case", "outcome", "count", "value", "detail"]
PATIENCE = 600  # seconds for an attack that should not hang


# --- one process


def start(library, attack, seconds=PATIENCE, **options):
    """The results of an attack. If its process dies or takes too long, that is the only result."""
    job = json.dumps({"library": library, "attack": attack, **options})
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder, "results.json")
        process = subprocess.Popen(
            [sys.executable, "-m", "robustness.attack", output, job],
            env=variables(),
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,  # so that its own children end with it
        )
        try:
            _, errors = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            return [{"outcome": "hang", "detail": f"more than {seconds:g} s"}]
        finally:
            if process.poll() is None:  # it took too long, or we were interrupted
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
        if process.returncode < 0:
            outcome, detail = forks.describe_death(-process.returncode)
            return [{"outcome": outcome, "detail": detail}]
        if process.returncode > 1:  # not Python's; the C library, for example, ends with 127
            return [{"outcome": "killed", "detail": f"exit status {process.returncode}"}]
        if not output.exists():
            reason = (errors.strip().splitlines() or [f"exit status {process.returncode}"])[-1]
            return [{"outcome": "failed", "detail": reason[:200]}]
        return json.loads(output.read_text())


def variables():
    """The environment variables of the shell, with paths to benchmarks/ and tests/helpers."""
    folders = [os.fspath(REPOSITORY / name) for name in ("benchmarks", "tests/helpers")]
    given = os.environ.get("PYTHONPATH")  # a build with sanitizers
    path = os.pathsep.join([*folders, given] if given else folders)
    # OpenMP threads that spin for long would take CPU time from those that work.
    return os.environ | {"PYTHONPATH": path, "GOMP_SPINCOUNT": "3000"}


# --- attacks: each yields results of one library


def attack_files(library, args):
    with tempfile.TemporaryDirectory() as folder:
        saved = start(library, "save files", folder=folder)
        if saved:  # a failure
            yield from labelled("damaged file", "all", saved)
            return
        files.spoil(folder, args.trials)
        yield from labelled("damaged file", "all", start(library, "load files", folder=folder))


def attack_repetition(library, _):
    for attack in ("predict twice", "fit twice"):
        yield from labelled(attack, "", start(library, attack))


def attack_threads(library, _):
    yield from labelled("eight threads", "", start(library, "eight threads"))


def attack_fork(library, args):
    for _ in range(args.repeats):
        yield from labelled("fork", "", start(library, "fork"))


def attack_interruption(library, args):
    for threads in (1, 2):
        for _ in range(args.repeats):
            found = start(library, "Ctrl-C", threads=threads)
            yield from labelled("Ctrl-C", f"threads {threads}", found)


def attack_memory(library, _):
    with tempfile.TemporaryDirectory() as folder:
        path = os.fspath(Path(folder, "data.npz"))
        shortage.save_data(path)
        for mib in shortage.LIMITS:
            found = start(
                library, "too little memory", seconds=shortage.SECONDS, mib=mib, path=path
            )
            yield from labelled("too little memory", f"{mib} MiB", found)


def labelled(attack, case, results):
    return [{"attack": attack, "case": case} | result for result in results]


ATTACKS = {  # name of the option: function, names in the CSV file
    "files": (attack_files, {"damaged file", "forged child"}),
    "repetition": (attack_repetition, {"predict twice", "fit twice"}),
    "threads": (attack_threads, {"eight threads"}),
    "fork": (attack_fork, {"fork"}),
    "interruption": (attack_interruption, {"Ctrl-C"}),
    "memory": (attack_memory, {"too little memory"}),
}


# --- the run


def run_all(args, run, libraries):
    path = args.results / CSV
    done = {(row["library"], row["attack"]) for row in store.read(path) if row["run"] == run}
    for option, library in itertools.product(args.attacks, libraries):
        attack, names = ATTACKS[option]
        if any((library, name) in done for name in names):
            continue
        started = time.perf_counter()
        version = metadata.version(adapter_class(library).requirement)
        known = {"run": run, "library": library, "version": version, "count": 1}
        rows = [
            dict.fromkeys(FIELDS, "") | known | store.rounded(result)
            for result in attack(library, args)
        ]
        store.append(path, FIELDS, rows)
        seconds = time.perf_counter() - started
        print(f"{option}, {library}: {seconds:.0f} s", file=sys.stderr, flush=True)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--libraries", nargs="+", default=list(TARGETS), choices=list(TARGETS))
    parser.add_argument("--attacks", nargs="+", default=list(ATTACKS), choices=list(ATTACKS))
    parser.add_argument("--trials", type=int, default=200, help="damaged files of each format")
    parser.add_argument("--repeats", type=int, default=3, help="trials of Ctrl-C and fork")
    parser.add_argument("--resume", metavar="RUN", help="go on with this run, or add to it")
    parser.add_argument("--results", type=Path, default=store.FOLDER, help="folder of CSV files")
    return parser.parse_args()


def main():
    args = parse_arguments()
    libraries = processes.available(args.libraries)
    run = args.resume or store.start_run(args.results, "robustness/run.py")
    print(f"run {run}", file=sys.stderr)
    run_all(args, run, libraries)
    print(table.tables(store.rows_of_run(args.results / CSV, run)))
    pages.main()


if __name__ == "__main__":
    main()
