# SPDX-License-Identifier: BSD-3-Clause
"""Compare the speed of two revisions of co2forest, which take turns.

    python benchmarks/side_by_side.py --before PYTHON[:PYTHONPATH] --after PYTHON[:PYTHONPATH]

PYTHON is an interpreter that has a revision installed; PYTHONPATH, if given, is a folder that it
looks in first, such as the ``src`` of a checkout with its compiled core. Both may be the same: the
ratios then show the noise of the machine. Both should be installed in the same way: the
command line took 8 % longer to start from ``src`` than the same revision from site-packages.

Two processes, one for each revision, take turns at the same steps of the same cases. What is
compared is CPU time on one thread, and of that the least: other work on the machine changes it less
than wall time, and never makes it smaller. Where memory lies changes the speed of a process by a
few percent as long as it lives, so both are started many times. Each start gives one ratio.

The table shows medians of CPU seconds, the median ratio after/before, and an interval that holds
the true median with 98 % confidence, whatever the noise looks like. A step has changed if the
interval does not hold 1. In one run out of four this happens to one of the 21 steps by chance. Both
revisions must predict the same; if they do not, the program says so. All rows go to
``results/side_by_side.csv``, and the machine to ``results/runs.csv``. Ctrl-C ends the measurements
early, and what there is by then is shown.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import store

WORKER = Path(__file__).with_name("side_by_side_worker.py")
RESULTS = "side_by_side.csv"
FIELDS = ["run", "case", "step", "starts", "before_cpu_seconds", "after_cpu_seconds",
          "ratio", "low", "high", "changed"]  # fmt: skip
STEPS = {
    "letter": ("fit", "predict"),
    "images": ("fit", "predict"),
    "sparse": ("fit", "predict"),
    "binary": ("fit", "predict"),
    "numbers_8": ("fit", "predict"),
    "numbers_100": ("fit", "predict"),
    "boosted_numbers": ("fit", "predict"),
    "boosted_classes": ("fit", "predict"),
    "segments": ("fit", "predict"),
    "one_row": ("predict",),
    "start": ("import", "help"),
}
COMMANDS = {
    "import": ["-c", "import co2forest; co2forest.CO2ForestClassifier"],
    "help": ["-m", "co2forest", "--help"],
}
SECONDS = 0.2  # for which a step is repeated in a turn
CONFIDENCE = 0.98


class Revision(NamedTuple):
    """An interpreter, and what it looks in first."""

    python: str
    path: str

    @classmethod
    def parse(cls, text):
        python, _, path = text.partition(os.pathsep)
        return cls(python, str(Path(path).resolve()) if path else "")

    def start(self, arguments, **options):
        """A process without the folder of this file, whose modules have names of their own."""
        inherited = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        environment = inherited | ({"PYTHONPATH": self.path} if self.path else {})
        command = [self.python, "-P", *arguments]
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, **options)


class Worker:
    """A process that runs cases."""

    def __init__(self, revision):
        self.revision = revision
        # In a session of its own it does not get the Ctrl-C that ends the measurements.
        self.process = revision.start(
            [WORKER], stdin=subprocess.PIPE, text=True, start_new_session=True
        )
        self.folder = self._answer()["folder"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()

    def seconds(self, case, step):
        """CPU seconds of a step, and a digest of what the case predicts."""
        if step in COMMANDS:
            return self._command_seconds(COMMANDS[step]), ""
        question = {"name": case, "step": step, "seconds": SECONDS}
        print(json.dumps(question), file=self.process.stdin, flush=True)
        answer = self._answer()
        return answer["cpu"], answer["digest"]

    def _command_seconds(self, arguments):
        """CPU seconds of a process from start to end."""
        process = self.revision.start(arguments)
        process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"{process.args} failed")
        return usage.ru_utime + usage.ru_stime

    def _answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"the process of {self.revision.python} has ended")
        return json.loads(line)


def take_turns(before, after, steps, turns):
    """The least seconds of each step, before and after; and cases with different predictions."""
    least = {step: [math.inf, math.inf] for step in steps}
    different = set()
    for turn in range(turns):
        for case, step in steps:
            digests = set()
            for side in (0, 1) if turn % 2 else (1, 0):
                seconds, digest = (before, after)[side].seconds(case, step)
                least[case, step][side] = min(least[case, step][side], seconds)
                digests.add(digest)
            if len(digests) > 1:
                different.add(case)
    return least, different


def interval(ratios):
    """Two of the ratios that have the true median between them, by the sign test.

    As many of the smallest and of the largest are left out as the confidence allows. Fewer than
    seven ratios do not give it.
    """
    n = len(ratios)

    def outside(left_out):
        return 2 * sum(math.comb(n, i) for i in range(left_out + 1)) / 2**n

    allowed = [k for k in range((n + 1) // 2) if outside(k) <= 1 - CONFIDENCE]
    if not allowed:
        return 0.0, math.inf
    ordered = sorted(ratios)
    return ordered[allowed[-1]], ordered[-1 - allowed[-1]]


def summary(run, case, step, pairs):
    before, after = zip(*pairs, strict=True)
    ratios = [late / early for early, late in pairs]
    low, high = interval(ratios)
    return {
        "run": run,
        "case": case,
        "step": step,
        "starts": len(pairs),
        "before_cpu_seconds": f"{statistics.median(before):.5g}",
        "after_cpu_seconds": f"{statistics.median(after):.5g}",
        "ratio": f"{statistics.median(ratios):.4f}",
        "low": f"{low:.4f}",
        "high": f"{high:.4f}",
        "changed": "slower" if low > 1 else "faster" if high < 1 else "",
    }


def show(rows):
    table = [FIELDS[1:], *([row[name] for name in FIELDS[1:]] for row in rows)]
    widths = [max(len(str(cell)) for cell in column) for column in zip(*table, strict=True)]
    for line in table:
        cells = (f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True))
        print("  ".join(cells).rstrip())


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n")[0], epilog="See the head of the program for more."
    )
    parser.add_argument("--before", type=Revision.parse, required=True, metavar="PYTHON[:PATH]")
    parser.add_argument("--after", type=Revision.parse, required=True, metavar="PYTHON[:PATH]")
    parser.add_argument("--cases", nargs="+", choices=STEPS, default=list(STEPS), metavar="CASE",
                        help=f"of {', '.join(STEPS)}")  # fmt: skip
    parser.add_argument("--starts", type=int, default=11, help="how often processes are started")
    parser.add_argument("--turns", type=int, default=2, help="of each start")
    parser.add_argument("--results", type=Path, default=store.FOLDER)
    return parser.parse_args()


def measure(options, steps):
    """Pairs of seconds for each step, one for each start; and cases with different predictions."""
    pairs, different = {step: [] for step in steps}, set()
    for start in range(options.starts):
        with Worker(options.before) as before, Worker(options.after) as after:
            if not start:
                print(f"before: {before.folder}\nafter:  {after.folder}", file=sys.stderr)
            try:
                least, others = take_turns(before, after, steps, options.turns)
            except KeyboardInterrupt:
                break
        different |= others
        for step in steps:
            pairs[step].append(least[step])
        print(f"{start + 1} of {options.starts} starts", file=sys.stderr)
    return pairs, different


def main():
    options = arguments()
    steps = [(case, step) for case in options.cases for step in STEPS[case]]
    pairs, different = measure(options, steps)
    if not pairs[steps[0]]:
        raise SystemExit("ended before the first start was complete")
    run = store.start_run(options.results, Path(__file__).name)
    rows = [summary(run, case, step, pairs[case, step]) for case, step in steps]
    store.append(options.results / RESULTS, FIELDS, rows)
    show(rows)
    for case in sorted(different):
        print(f"{case}: the revisions predict different things")
    changed = [f"{row['case']} {row['step']}: {row['changed']}" for row in rows if row["changed"]]
    print("changed by more than noise: " + ("; ".join(changed) or "nothing"))


if __name__ == "__main__":
    main()
