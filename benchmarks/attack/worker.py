# SPDX-License-Identifier: BSD-3-Clause
"""Make tries in this process, whose death is a result. attack/run.py reads what it writes.

    python -m attack.worker co2forest fits --seed 3 --first 120 --count 1

repeats a try. A line of the output is the number of a try that begins, or what it came to.
"""

import argparse
import contextlib
import os
import signal
import sys
import tempfile
import time
import traceback
import warnings
from functools import partial
from pathlib import Path

import numpy as np

import damage
from attack import files, fits, saves, threads
from attack.outcomes import MEMORY, REFUSED, UNCLEAR, WRONG, Wrong
from attack.subjects import subject

ATTACKS = {
    "fits": fits.Fits,
    "sparse": fits.Sparse,
    "images": fits.Images,
    "files": files.Files,
    "pickles": files.Pickles,
    "formats": files.PeerFiles,
    "threads": threads.Threads,
    "saves": saves.Saves,
}
# The processor time that a try may take; more under sanitizers, which slow everything down.
SECONDS = 5 * int(os.environ.get("CO2FOREST_TEST_PATIENCE", "1"))


def tries(attack, library, seed, first, count, seconds):
    """Numbers, outcomes and details, as they come."""
    kind = ATTACKS[attack]
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(action="ignore"):
        attacked = subject(library)
        made = kind(attacked, Path(folder))
        damage.limit_memory()
        end = time.monotonic() + seconds
        for number in range(first, first + count):
            yield f"{number}"
            # Only what the number says: any try can be repeated.
            rng = np.random.default_rng([seed, number])
            np.random.seed(number)  # noqa: NPY002 (random_state=None)
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            outcome, detail = _outcome(partial(made.prepare, rng), attacked.refusals)
            signal.setitimer(signal.ITIMER_PROF, 0)
            yield f"{outcome}\t{detail}"
            if time.monotonic() > end:
                break


def _outcome(prepare, refusals):
    try:
        return prepare()(), ""
    except Wrong as error:
        return WRONG, _line(error)
    except MemoryError as error:
        return MEMORY, _line(error)
    except refusals:
        return REFUSED, ""
    except Exception as error:  # noqa: BLE001 (that is what we look for)
        return UNCLEAR, _line(error)


def _line(error):
    frame = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{Path(frame.filename).name}:{frame.lineno}"
    return f"{type(error).__name__} at {place}: {error}".replace("\n", " ").replace("\t", " ")[:300]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("library")
    parser.add_argument("attack", choices=ATTACKS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first try")
    parser.add_argument("--count", type=int, default=2**31, help="of tries")
    parser.add_argument("--seconds", type=float, default=1e9, help="no further try after these")
    return parser.parse_args()


def main():
    args = parse_arguments()
    # What libraries print goes elsewhere.
    output = os.fdopen(os.dup(1), "w", buffering=1, errors="replace")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    with contextlib.suppress(BrokenPipeError):
        for line in tries(
            args.attack, args.library, args.seed, args.first, args.count, args.seconds
        ):
            output.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
