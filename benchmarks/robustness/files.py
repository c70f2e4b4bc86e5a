# SPDX-License-Identifier: BSD-3-Clause
"""Damaged and forged model files.

There are three steps, because a process that loads must not have fitted: threads of a fit do not
survive a fork. `save` runs in a process with the library, `spoil` in the process that starts all
others, and `load` in a process that has only imported the library and forks for each file.
"""

import shutil
from collections import Counter
from pathlib import Path

import numpy as np

from robustness import data, forks
from robustness.targets import Target

TREES = 5
FORGED = (10**9, -(10**9))
DAMAGED_FOLDER, FORGED_FOLDER, SOUND = "damaged", "forged", "sound"


def save(target: Target, folder):
    """Save a sound file and the forged ones, for each format."""
    X, y, _ = data.small()
    model = target.fit(X, y, TREES, 1, data.SEED)
    for form in target.formats():
        sound = Path(folder, form.name, SOUND + form.suffix)
        forged = sound.parent / FORGED_FOLDER
        forged.mkdir(parents=True)
        form.save(model, sound)
        for child in FORGED if form.forge else ():
            path = forged / f"{child}{form.suffix}"
            form.forge(sound, path, child)
            if path.read_bytes() == sound.read_bytes():
                raise RuntimeError(f"no child has been found in the file of {form.name}")
    return []


def spoil(folder, trials):
    """Damage copies of each sound file: thirds are truncated, overwritten, have bits flipped."""
    from damage import flip_bits, overwrite, truncate  # of tests/helpers

    kinds = (truncate, flip_bits, overwrite)
    for sound in Path(folder).glob(f"*/{SOUND}*"):
        copies = sound.parent / DAMAGED_FOLDER
        copies.mkdir()
        for trial in range(trials):
            generator = np.random.default_rng(trial)
            kind = kinds[trial % len(kinds)]
            copy = copies / f"{kind.__name__}-{trial}{sound.suffix}"
            if sound.is_dir():
                shutil.copytree(sound, copy)
            else:
                shutil.copy(sound, copy)
            _spoil_in_place(copy, kind, generator)


def _spoil_in_place(path, kind, generator):
    """Damage one file of a directory, chosen as if all its bytes were one large file."""
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.is_file())
        sizes = np.array([file.stat().st_size for file in files])
        path = generator.choice(files, p=sizes / sizes.sum())
    path.write_bytes(kind(path.read_bytes(), generator))


def load(target: Target, folder):
    """How often each outcome of loading and predicting occurs."""
    _, _, X = data.small()
    results = []
    for form in target.formats():
        place = Path(folder, form.name)
        expected = place / "expected.npy"
        control = forks.attempt(lambda: np.save(expected, _use(target, form, place, X)))  # noqa: B023
        if control != (None, ""):
            raise RuntimeError(f"a sound file of {form.name} cannot be used: {control}")
        outcomes = Counter()
        for path in sorted((place / DAMAGED_FOLDER).iterdir()):
            outcome = _try(target, form, path, X, np.load(expected))
            outcomes[(path.name.partition("-")[0], *outcome)] += 1
        for (kind, outcome, detail), count in sorted(outcomes.items()):
            results.append(_result("damaged file", f"{form.name}, {kind}", outcome, detail, count))
        results += _load_forged(target, form, place, X, np.load(expected))
    return results


def _load_forged(target, form, place, X, expected):
    for child in FORGED:
        if form.forge is None:
            outcome, detail = "not tried", form.unforged
        else:
            path = place / FORGED_FOLDER / f"{child}{form.suffix}"
            outcome, detail = _try(target, form, path, X, expected)
        yield _result("forged child", f"{form.name}, {child}", outcome, detail, 1)


def _try(target, form, path, X, expected):
    def use():
        same = np.array_equal(_predictions(target, form, path, X), expected)
        return "same predictions" if same else "other predictions"

    return forks.attempt(use)


def _use(target, form, place, X):
    return _predictions(target, form, place / (SOUND + form.suffix), X)


def _predictions(target, form, path, X):
    return target.predictor(form.load(path), threads=1)(X)


def _result(attack, case, outcome, detail, count):
    return {"attack": attack, "case": case, "outcome": outcome, "detail": detail, "count": count}
