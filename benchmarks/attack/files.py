# SPDX-License-Identifier: BSD-3-Clause
"""Damaged and forged files and pickles."""

import pickle
import pickletools
import shutil
from pathlib import Path

import numpy as np

import damage
from attack.outcomes import FINE, REFUSED, expect
from attack.subjects import same
from attack.values import pick
from co2forest import ModelFormatError, save_model


class Files:
    """Files of every estimator of co2forest; half of them with a right checksum."""

    def __init__(self, subject, folder):  # noqa: ARG002 (only ours)
        self.path = folder / "model.safetensors"
        self.originals = []
        for name, model, X in damage.models():
            save_model(model, self.path)
            answers = damage.use(self.path, X, None)
            self.originals.append((name, self.path.read_bytes(), X, answers))

    def prepare(self, rng):
        _, data, X, expected = pick(self.originals, rng)
        kind = pick(damage.ACCIDENTS + damage.EDITS, rng)
        self.path.write_bytes(kind(data, rng))
        mmap_mode = pick([None, "r"], rng)
        return lambda: self.use(X, mmap_mode, kind, expected)

    def use(self, X, mmap_mode, kind, expected):
        try:
            answers = damage.use(self.path, X, mmap_mode)
        except ModelFormatError:
            return REFUSED
        if kind in damage.ACCIDENTS:
            expect(np.array_equal(answers, expected, equal_nan=True), f"after {kind.__name__}")
        return FINE


class Pickles:
    """Pickles of every estimator, with a few bits of their data flipped.

    Not of their instructions, which may make pickle do anything, nor of the whole numbers and short
    texts that NumPy believes to be shapes and types of arrays.
    """

    def __init__(self, subject, folder):  # noqa: ARG002 (only ours)
        self.originals = []
        for _, model, X in damage.models():
            expected = np.asarray(model.predict(X))
            data = pickle.dumps(model, protocol=5)
            expect(np.array_equal(pickle.loads(data).predict(X), expected), "before any damage")
            self.originals.append((data, _places_of_data(data), X, expected))

    def prepare(self, rng):
        data, places, X, expected = pick(self.originals, rng)
        damaged = bytearray(data)
        for place in rng.choice(places, pick([1, 1, 2, 8], rng)):
            damaged[place] ^= 1 << rng.integers(8)
        return lambda: self.use(bytes(damaged), X, expected)

    def use(self, data, X, expected):
        try:
            model = pickle.loads(data)
            answers = np.asarray(model.predict(X))
        except MemoryError:
            raise
        except Exception:  # noqa: BLE001 (a pickle may raise whatever it likes)
            return REFUSED
        expect(np.array_equal(answers, expected), "another prediction, without an error")
        return FINE


_TYPE = 4  # bytes, with the instruction, of a text such as "i8"


def _places_of_data(data):
    """The bytes of a pickle that are floats, texts and arrays."""
    places = []
    ends = [position for _, _, position in pickletools.genops(data)][1:]
    for (instruction, _, begin), end in zip(pickletools.genops(data), ends, strict=False):
        if instruction.name == "BINFLOAT":
            places += range(begin + 1, end)
        elif instruction.name in ("SHORT_BINBYTES", "SHORT_BINUNICODE"):
            places += range(begin + 2, end) if end - begin > _TYPE else ()
        elif instruction.name in ("BINBYTES", "BINUNICODE"):
            places += range(begin + 5, end)
        elif instruction.name in ("BINBYTES8", "BYTEARRAY8"):
            places += range(begin + 9, end)
    return places


class PeerFiles:
    """Files of another library in the formats it documents."""

    def __init__(self, subject, folder):
        self.subject, self.folder = subject, folder
        rng = np.random.default_rng(0)
        X = rng.normal(size=(60, 4)).astype(np.float32)
        y = (X[:, 0] + X[:, 1] > 0).astype(int) + (X[:, 2] > 1)
        self.X = rng.normal(size=(100, 4)).astype(np.float32)
        self.model = subject.plain().fit(X, y)
        self.expected = subject.answers(self.model, self.X)
        self.sound = folder / f"sound{subject.form.suffix}"
        subject.save(self.model, self.sound)

    def prepare(self, rng):
        copy = self.folder / f"copy{self.subject.form.suffix}"
        shutil.rmtree(copy, ignore_errors=True)
        if self.sound.is_dir():
            shutil.copytree(self.sound, copy)
            place = pick(
                sorted(path for path in copy.rglob("*") if path.is_file() and path.stat().st_size),
                rng,
            )
        else:
            place = Path(shutil.copy(self.sound, copy))
        kind = pick([damage.truncate, damage.flip_bits, damage.overwrite], rng)
        place.write_bytes(kind(place.read_bytes(), rng))
        return lambda: self.use(copy)

    def use(self, copy):
        answers = self.subject.answers(self.subject.load(copy), self.X)
        expect(same(answers, self.expected), "another prediction, without an error")
        return FINE
