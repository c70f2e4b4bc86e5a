# SPDX-License-Identifier: BSD-3-Clause
"""Flip single bits of pickles, and see what unpickling makes of them.

Run in a process of its own, because a pickle may do anything: ``python flips.py SEED COUNT`` prints
a JSON object with what happened to ``COUNT`` pickles of each kind of model.
"""

import json
import os
import pickle
import signal
import sys
import warnings
from collections import Counter

import numpy as np
from sklearn.base import is_classifier

import damage
from co2forest import CO2ForestClassifier, CO2ForestRegressor, CO2TreeRegressor
from co2forest.dask import DaskForest

NUMBERS = np.random.default_rng(1).normal(size=(60, 2))


def models():
    """Those of model files, and what only pickles hold: name, fitted estimator, rows to predict."""
    yield from damage.models()
    for name, model, X in damage.models():
        if name == "forest":
            dask = DaskForest(model)
            dask.estimator_ = model
            yield "grown on Dask", dask, X
            y = NUMBERS[:, 0] + X[:60, 0]
            kept = CO2ForestRegressor(2, keep_targets=True, random_state=0, mixture=None)
            yield "kept targets", kept.fit(X[:60], y), X
            yield "tree of numbers", CO2TreeRegressor(random_state=0).fit(X[:60], NUMBERS), X
            calibrated = CO2ForestClassifier(4, random_state=0, max_leaf_nodes=4)
            yield "calibrated", calibrated.fit(X[:60], y > 0), X


def answers(model, X):
    """All that a model predicts."""
    model = getattr(model, "estimator_", model) if isinstance(model, DaskForest) else model
    found = [model.predict(X)]
    if is_classifier(model) or hasattr(model, "predict_proba"):
        found.append(np.asarray(model.predict_proba(X)))
    if getattr(model, "keep_targets", False):
        found.append(model.predict_quantiles(X, [0.1, 0.9]))
    return [answer if answer.dtype.kind != "O" else answer.astype(str) for answer in found]


def flipped(data, generator):
    """A copy with one bit changed."""
    damaged = bytearray(data)
    damaged[generator.integers(len(data))] ^= 1 << generator.integers(8)
    return bytes(damaged)


def outcome(damaged, X, expected):
    """What becomes of a pickle."""
    try:
        found = answers(pickle.loads(damaged), X)
    except Exception:  # noqa: BLE001 (a pickle may raise any)
        return "refused"
    same = all(
        one.dtype == other.dtype and one.tobytes() == other.tobytes()
        for one, other in zip(found, expected, strict=True)
    )
    return "accepted" if same else "wrong"


def outcomes_of(pickles, X, expected):
    """All outcomes; a child tries the pickles, and another goes on where it crashes.

    NumPy itself crashes if an array of objects gets another length, or "i8" becomes "m8".
    """
    outcomes = Counter()
    while outcomes.total() < len(pickles):
        begin = outcomes.total()
        receiver, sender = os.pipe()
        child = os.fork()
        if child == 0:
            for damaged in pickles[begin:]:
                signal.alarm(damage.SECONDS)  # ends the child
                os.write(sender, outcome(damaged, X, expected)[:1].encode())
            os._exit(0)
        os.close(sender)
        with os.fdopen(receiver, "rb") as answers_of_child:
            letters = Counter(answers_of_child.read().decode())
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        outcomes.update({name: letters[name[0]] for name in ("refused", "accepted", "wrong")})
        outcomes["crashed"] += status != 0
    return outcomes


def main(seed, count):
    """Flip a bit in many copies of each pickle."""
    generator = np.random.default_rng(seed)
    damage.limit_memory()
    found = {}
    for name, model, X in models():
        data = pickle.dumps(model, protocol=5)
        expected = answers(pickle.loads(data), X)
        pickles = [flipped(data, generator) for _ in range(count)]
        found[name] = outcomes_of(pickles, X, expected)
    return found


if __name__ == "__main__":
    with warnings.catch_warnings(action="ignore"):
        sys.stdout.write(json.dumps(main(int(sys.argv[1]), int(sys.argv[2]))))
