# SPDX-License-Identifier: BSD-3-Clause
"""Run one attack in this process; robustness/run.py starts a process for each.

    python -m robustness.attack OUTPUT '{"library": "co2forest", "attack": "fit twice"}'

The results go into the file OUTPUT, because libraries print to the standard streams.
"""

import json
import sys
from pathlib import Path

from robustness import concurrency, files, interruption, repetition, shortage
from robustness.targets import TARGETS

ATTACKS = {
    "save files": files.save,
    "load files": files.load,
    "predict twice": repetition.predict_twice,
    "fit twice": repetition.fit_twice,
    "Ctrl-C": interruption.interrupt,
    "eight threads": concurrency.eight_threads,
    "fork": concurrency.fork_after_fit,
    "too little memory": shortage.fit_with,
}


def main():
    job = json.loads(sys.argv[2])
    target = TARGETS[job.pop("library")]()
    found = ATTACKS[job.pop("attack")](target, **job)
    Path(sys.argv[1]).write_text(json.dumps(found))


if __name__ == "__main__":
    main()
