# SPDX-License-Identifier: BSD-3-Clause
"""Digests of small models: they show whether a change of the code has changed what it learns.

The same data and seed must give the same model file. This program fits one small model for each of
many settings, saves it, and digests what the file holds. ``tests/files/digests.csv`` has the
digests that are expected. It uses the public interface alone, so that it runs on any revision::

    python scripts/model_digests.py --check tests/files/digests.csv
    python scripts/model_digests.py --write tests/files/digests.csv
    python scripts/model_digests.py --show forest/default
    python scripts/model_digests.py --only dask/ --check tests/files/digests.csv

The columns are the name of a setting and the SHA-256 digests, shortened, of

- ``arrays``: names, types, shapes and bytes of all arrays of the file,
- ``header``: its JSON header without the version of the library and the checksum,
- ``predictions``: what the model predicts after it has been read again.
"""

import argparse
import csv
import hashlib
import json
import sys
import tempfile
import traceback
import warnings
from pathlib import Path

import numpy as np
from model_settings import SETTINGS, dask_settings, workers
from safetensors import safe_open

from co2forest import load_model

COLUMNS = ("name", "arrays", "header", "predictions")
DIGITS = 20  # of 64: 80 bits tell any two models apart
N_PREDICTED = 60  # rows


def digest(*parts):
    total = hashlib.sha256()
    for part in parts:
        total.update(part)
    return total.hexdigest()[:DIGITS]


def as_bytes(array):
    """Numbers become float64, everything else text."""
    array = np.asarray(array)
    if array.dtype.kind in "biuf":
        data = array.astype("<f8").tobytes()
    else:
        data = json.dumps(array.astype(str).tolist()).encode()
    return f"{array.dtype.str}:{array.shape}:".encode() + data


def content(path):
    """The header of a file as text, and its arrays as bytes."""
    with safe_open(path, framework="np") as file:
        header = json.loads(file.metadata()["co2forest"])
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    for name in ("library_version", "checksum"):
        del header[name]
    parts = []
    for name, array in sorted(arrays.items()):
        parts += [f"{name}:{array.dtype.str}:{array.shape}\n".encode(), array.tobytes()]
    return json.dumps(header, sort_keys=True, indent=1), parts


def predictions(model, rows):
    answers = [model.predict(rows)]
    if hasattr(model, "predict_proba"):
        proba = model.predict_proba(rows)
        answers += proba if isinstance(proba, list) else [proba]
    if getattr(model, "keep_targets", False):
        answers.append(model.predict_quantiles(rows, (0.05, 0.5, 0.9)))
    return [as_bytes(answer) for answer in answers]


def measure(setting, folder):
    """The row of a setting, and the header of its file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a generator cannot be stored; some scores are undefined
        model = setting.fit()
        path = folder / "model.safetensors"
        model.save(path)
    header, arrays = content(path)
    answers = predictions(load_model(path), setting.rows[:N_PREDICTED])
    local = model.to_local() if hasattr(model, "to_local") else model  # Dask's predict lazily
    if predictions(local, setting.rows[:N_PREDICTED]) != answers:
        raise AssertionError(f"{setting.name} predicts something else after it was read again")
    return (setting.name, digest(*arrays), digest(header.encode()), digest(*answers)), header


def attempt(setting, folder):
    """The same; a setting that fails has a row, too, so that all others are seen."""
    try:
        return measure(setting, folder)
    except Exception:  # noqa: BLE001
        traceback.print_exc()
        return (setting.name, *["failed"] * (len(COLUMNS) - 1)), ""


def measured(wanted):
    """Rows and headers of all settings that are wanted."""
    with tempfile.TemporaryDirectory() as folder:
        for settings in SETTINGS:
            for setting in settings():
                if wanted(setting.name):
                    yield attempt(setting, Path(folder))
        on_dask = [setting for setting in dask_settings() if wanted(setting.name)]
        if on_dask:
            with workers():
                for setting in on_dask:
                    yield attempt(setting, Path(folder))


def check(rows, path, wanted):
    """The differences from a file of digests, as lines."""
    with path.open(newline="") as file:
        reader = csv.reader(file)
        if tuple(next(reader)) != COLUMNS:
            raise SystemExit(f"{path} has other columns than {', '.join(COLUMNS)}")
        expected = {row[0]: row[1:] for row in reader if wanted(row[0])}
    found = {row[0]: list(row[1:]) for row in rows}
    lines = [f"{name}: missing in {path}" for name in found.keys() - expected.keys()]
    lines += [f"{name}: no such setting" for name in expected.keys() - found.keys()]
    for name in found.keys() & expected.keys():
        pairs = zip(COLUMNS[1:], found[name], expected[name], strict=True)
        other = [column for column, now, before in pairs if now != before]
        if other:
            lines.append(f"{name}: other {', '.join(other)}")
    return sorted(lines)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the digests as CSV")
    parser.add_argument("--check", type=Path, metavar="FILE", help="compare with such a file")
    parser.add_argument(
        "--only", default="", metavar="TEXT", help="settings whose names contain it"
    )
    parser.add_argument("--show", metavar="NAME", help="print the header of one setting")
    return parser.parse_args()


def main():
    options = arguments()
    if options.show:
        for row, header in measured(lambda name: name == options.show):
            sys.stdout.write(f"{','.join(row)}\n{header}\n")
        return

    def wanted(name):
        return options.only in name

    rows = [row for row, _ in measured(wanted)]
    names = [row[0] for row in rows]
    if len(set(names)) < len(names):
        raise SystemExit(f"two settings are named {max(names, key=names.count)}")
    if options.check:
        lines = check(rows, options.check, wanted)
        sys.stdout.write("".join(f"{line}\n" for line in lines))
        sys.stdout.write(f"{len(rows)} settings, {len(lines)} differ\n")
        sys.exit(bool(lines))
    lines = "".join(f"{','.join(row)}\n" for row in [COLUMNS, *rows])
    if any("failed" in row for row in rows):
        raise SystemExit("some settings failed")
    if options.write:
        options.write.write_text(lines)
    else:
        sys.stdout.write(lines)


if __name__ == "__main__":
    main()
