# SPDX-License-Identifier: BSD-3-Clause
"""Start the processes that measure."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from adapters import adapter_class

FOLDER = Path(__file__).parent
TOO_LONG = "failed: more than"  # how the status begins after a time limit


def python_of(library):
    """The Python interpreter that has the library."""
    name = adapter_class(library).environment
    return FOLDER.parent / f".venv-{name}" / "bin" / "python" if name else Path(sys.executable)


def variables(threads):
    """Environment variables of a measuring process."""
    limits = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
    ours = {name: str(threads) for name in limits}
    # How long an OpenMP thread spins before it sleeps. By default it spins so long that on a busy
    # machine it takes 150 times the CPU time of the work. Without spinning, waking it takes 5 times
    # that on an idle one (LightGBM and HistGradientBoosting on Letter, two virtual cores).
    ours["GOMP_SPINCOUNT"] = "3000"
    inherited = {k: v for k, v in os.environ.items() if k not in {"PYTHONPATH", "PYTHONHOME"}}
    return inherited | ours


def variables_of(library, threads):
    return variables(threads) | adapter_class(library).variables


def run_measurement(job, time_limit):
    """The result of benchmarks/measure.py, with a status and the seconds that the process took."""
    started = time.perf_counter()
    result = _measure(job, time_limit)
    return result | {"process_seconds": time.perf_counter() - started}


def _measure(job, time_limit):
    python = python_of(job["library"])
    if not python.exists():
        return {"status": f"failed: there is no {python.parent.parent.name}"}
    command = [python, FOLDER / "measure.py", json.dumps(job)]
    return run_command(command, variables_of(job["library"], job["threads"]), time_limit)


def run_command(command, environment, time_limit):
    """The JSON object in the last line that a process prints, with a status."""
    process = subprocess.Popen(
        command,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # so that its own children end with it
    )
    try:
        output, errors = process.communicate(timeout=time_limit)
    except subprocess.TimeoutExpired:
        return {"status": f"{TOO_LONG} {time_limit:g} s"}
    finally:
        if process.poll() is None:  # it took too long, or we were interrupted
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    if process.returncode != 0:
        reason = (errors.strip().splitlines() or [f"exit code {process.returncode}"])[-1]
        return {"status": f"failed: {reason}"}
    return {"status": "ok"} | json.loads(output.strip().splitlines()[-1])


def available(libraries):
    """The libraries that are installed; prints how to install the others."""
    found = []
    for library in libraries:
        if is_installed(library):
            found.append(library)
            continue
        adapter = adapter_class(library)
        how = (
            f"make bench-env-{adapter.environment}"
            if adapter.environment
            else f"{sys.executable} -m pip install {adapter.requirement}"
        )
        print(f"{adapter.label} is not installed and skipped; to install: {how}", file=sys.stderr)
    return found


def is_installed(library):
    """Whether its Python has the library. Importing it would take seconds."""
    module = adapter_class(library).module.split(".", maxsplit=1)[0]
    question = f"import importlib.util; print(importlib.util.find_spec({module!r}) is not None)"
    python = python_of(library)
    if not python.exists():
        return False
    answer = subprocess.run([python, "-I", "-c", question], stdout=subprocess.PIPE, check=True)
    return answer.stdout.split() == [b"True"]
