# SPDX-License-Identifier: BSD-3-Clause
"""Work in a forked child with little memory and time. Its death is a result."""

import faulthandler
import json
import os
import resource
import signal

MEMORY = 4 << 30
SECONDS = 5


def attempt(action, seconds=SECONDS, memory=MEMORY):
    """Call `action`, which returns an outcome, in a child. Returns (outcome, detail)."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _limit(seconds, memory)
        os.write(writing, json.dumps(_outcome_of(action)).encode())
        os._exit(0)  # runs none of the parent's cleanup
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        answer = pipe.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return describe_death(os.WTERMSIG(status))
    if not answer:
        return "killed", f"exit status {os.WEXITSTATUS(status)}"
    return tuple(json.loads(answer))


def describe_death(number):
    """The outcome and detail of a signal. SIGALRM is the time limit."""
    name = signal.Signals(number).name
    return ("hang", name) if number == signal.SIGALRM else ("killed", name)


def _limit(seconds, memory):
    faulthandler.disable()  # the parent reports a death
    signal.signal(signal.SIGALRM, signal.SIG_DFL)  # also ends the process in native code
    signal.alarm(seconds)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if memory is not None:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (1, 2):  # what libraries print is not a result
        os.dup2(nowhere, stream)


def _outcome_of(action):
    try:
        return action(), ""
    except BaseException as error:  # noqa: BLE001 (whatever a library raises is a result)
        return "exception", type(error).__name__
