# SPDX-License-Identifier: BSD-3-Clause
"""Attack co2forest at random for some minutes, or other libraries in the same ways.

    make attack ARGS="--minutes 30 --seed 1"
    make attack ARGS="--minutes 10 --attacks fits sparse --libraries random_forest lightgbm --store"

Each process makes tries until its time is over or one of them ends it. Nothing may end a process,
take 5 s of computing or 4 GiB, predict something else without an error, or raise an error that does
not say what is wrong. Whatever does is printed with the command that repeats it, and the run fails.
"""

import argparse
import os
import queue
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

import processes
import store
from adapters import adapter_class
from attack.outcomes import DEFECTS, HANG, OUTCOMES, SIGNAL
from attack.worker import ATTACKS
from robustness.run import variables
from robustness.targets import TARGETS

CSV = "attack.csv"
FIELDS = ["run", "library", "version", "attack", "outcome", "count", "minutes", "seed", "detail"]
SLICE = 30.0  # seconds of a process, which then makes room for another
OURS = {"images", "files", "pickles"}  # attacks
# YDF's models are not fitted again, and take no sparse matrices.
NOT_OF = {"co2forest": {"formats"}, "ydf": OURS | {"sparse", "threads"}}
WORKER = [sys.executable, "-m", "attack.worker"]
PATIENCE = 60.0 * int(os.environ.get("CO2FOREST_TEST_PATIENCE", "1"))  # to wait for a sign of life
# How much of the time each attack gets.
SHARES = {"fits": 5, "sparse": 1, "images": 1, "files": 2, "formats": 2, "pickles": 1, "threads": 1}
SHARES["saves"] = 1


class Job(NamedTuple):
    """The tries of one process."""

    library: str
    attack: str
    first: int  # number of its first try
    seconds: float


class Found(NamedTuple):
    """What must not be."""

    job: Job
    number: int
    outcome: str
    detail: str


def jobs_of(libraries, attacks, seconds):
    """Processes for all of the time, so that each attack gets its share early and late."""
    wanted = [
        (library, attack)
        for library in libraries
        for attack in attacks
        if attack not in NOT_OF.get(library, OURS)
    ]
    total = sum(SHARES[attack] for _, attack in wanted)
    jobs = []
    for library, attack in wanted:
        share = seconds * SHARES[attack] / total
        slices = max(1, round(share / SLICE))
        for i in range(slices):
            place = (i + 0.5) / slices
            # A process makes far fewer tries than a million.
            jobs.append((place, Job(library, attack, i * 1_000_000, share / slices)))
    return [job for _, job in sorted(jobs)]


def work(job, seed, counts, found, lock):
    """One job, in as many processes as its tries end."""
    end, first = time.monotonic() + job.seconds, job.first
    while (left := end - time.monotonic()) > 0:
        last, death = _process(job._replace(first=first, seconds=left), seed, counts, found, lock)
        if death is None:
            return
        with lock:
            counts[job.library, job.attack, death[0]] += 1
            found.append(Found(job, last, *death))
        first = last + 1


def _process(job, seed, counts, found, lock):
    """The number of the last try, and how the process died, if it did."""
    command = [*WORKER, job.library, job.attack, "--seed", str(seed)]
    command += ["--first", str(job.first), "--seconds", str(job.seconds)]
    process = subprocess.Popen(
        command, env=variables(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        start_new_session=True,
    )  # fmt: skip
    last, hangs = job.first, False
    try:
        for line in _lines(process.stdout):
            if line is None:
                hangs = True
                break
            if line.isdecimal():
                last = int(line)
                continue
            outcome, _, detail = line.partition("\t")
            with lock:
                counts[job.library, job.attack, outcome] += 1
                if outcome in DEFECTS:
                    found.append(Found(job, last, outcome, detail))
    finally:
        if hangs:
            os.killpg(process.pid, signal.SIGKILL)  # its children, too
        errors = process.communicate()[1].decode(errors="replace").strip()
    if hangs:
        return last, (HANG, f"no sign of life for {PATIENCE:g} s")
    if process.returncode == -signal.SIGPROF:
        return last, (HANG, "over 5 s of computing")
    if process.returncode < 0:
        return last, (SIGNAL, signal.Signals(-process.returncode).name)
    if process.returncode > 0:
        return last, (SIGNAL, f"exit status {process.returncode}: {errors[-300:]}")
    return last, None


def _lines(pipe):
    """Lines as they come; None if there is no sign of life."""
    os.set_blocking(pipe.fileno(), False)
    begun = b""
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while selector.select(PATIENCE):
            data = os.read(pipe.fileno(), 1 << 16)
            if not data:
                return
            *lines, begun = (begun + data).split(b"\n")
            yield from (line.decode(errors="replace") for line in lines)
    yield None


def attack(args, libraries):
    """Counts of outcomes by library and attack, and all that must not be."""
    waiting = queue.SimpleQueue()
    for job in jobs_of(libraries, args.attacks, 60 * args.minutes * args.jobs):
        waiting.put(job)
    counts, found, lock = Counter(), [], threading.Lock()

    def keep_working():
        while True:
            try:
                job = waiting.get_nowait()
            except queue.Empty:
                return
            work(job, args.seed, counts, found, lock)

    threads = [threading.Thread(target=keep_working) for _ in range(args.jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return counts, found


def report(counts, found, seed):
    """Print the counts, and up to ten of each kind of finding."""
    for library, name in sorted({key[:2] for key in counts}):
        parts = [f"{counts[library, name, o]} {o}" for o in OUTCOMES if counts[library, name, o]]
        print(f"{library}, {name}: {', '.join(parts)}")
    printed = Counter()
    for job, number, outcome, detail in found:
        kind = job.library, job.attack, outcome, detail[:60]
        printed[kind] += 1
        if printed[kind] <= 3:
            print(f"{outcome}: {detail}")
            print(
                "  PYTHONPATH=benchmarks:tests/helpers .venv/bin/python -m attack.worker "
                f"{job.library} {job.attack} --seed {seed} --first {number} --count 1"
            )


def rows_of(counts, found, args):
    """What the CSV file keeps: counts, with an example of each finding."""
    run = store.start_run(args.results, "attack/run.py")
    examples = {(f.job.library, f.job.attack, f.outcome): f.detail for f in reversed(found)}
    for (library, name, outcome), count in sorted(counts.items()):
        yield {
            "run": run,
            "library": library,
            "version": metadata.version(adapter_class(library).requirement),
            "attack": name,
            "outcome": outcome,
            "count": count,
            "minutes": args.minutes,
            "seed": args.seed,
            "detail": examples.get((library, name, outcome), ""),
        }


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--minutes", type=float, default=2.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at once")
    parser.add_argument("--attacks", nargs="+", default=list(ATTACKS), choices=list(ATTACKS))
    parser.add_argument(
        "--libraries", nargs="+", default=["co2forest"], choices=list(TARGETS), metavar="LIBRARY"
    )
    parser.add_argument("--store", action="store_true", help="keep the counts, and write the page")
    parser.add_argument("--results", type=Path, default=store.FOLDER, help="folder of CSV files")
    return parser.parse_args()


def main():
    args = parse_arguments()
    counts, found = attack(args, processes.available(args.libraries))
    report(counts, found, args.seed)
    if args.store:
        store.append(args.results / CSV, FIELDS, list(rows_of(counts, found, args)))
        import pages  # which imports all that pages are made of

        pages.main()
    return int(any(job.library == "co2forest" for job, *_ in found))


if __name__ == "__main__":
    sys.exit(main())
