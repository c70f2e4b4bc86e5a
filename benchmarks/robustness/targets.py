# SPDX-License-Identifier: BSD-3-Clause
"""The libraries under attack: how each predicts probabilities, and its model files.

Fits come from adapters/, with defaults except for the number of trees, threads and seed.
"""

import json
import re
import tempfile
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from adapters import adapter_class


class Format(NamedTuple):
    """A file format for models that the library's documentation names."""

    name: str
    suffix: str
    save: Callable[[Any, Path], None]
    load: Callable[[Path], Any]
    # Makes a file in which the number of a child is changed. If it is None, `unforged` says why.
    forge: Callable[[Path, Path, int], None] | None
    unforged: str = ""


class Target(ABC):
    """A library; `name` is the name of its adapter."""

    name: str

    def __init__(self):
        self.adapter = adapter_class(self.name)()
        self.fit = self.adapter.fit

    @abstractmethod
    def formats(self):
        """The kinds of file that the library documents."""

    def predictor(self, model, threads):
        """A function from rows to probabilities that several threads may call."""
        return model.set_params(n_jobs=threads).predict_proba

    def stored_bytes(self, model):
        """The bytes of the model in its first format, without the number of threads."""
        form = self.formats()[0]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "model" + form.suffix)
            form.save(model, path)
            return path.read_bytes()


class CO2Forest(Target):
    name = "co2forest"

    def formats(self):
        library = self.adapter.library
        return [
            Format("save_model", ".safetensors", library.save_model, library.load_model, _reseal),
            _joblib(_patch_joblib),
            _skops(library.TRUSTED_TYPES, _patch_skops),
        ]


class RandomForest(Target):
    name = "random_forest"

    def formats(self):
        return [_joblib(_forge_joblib), _skops([_TREE], _forge_skops)]

    def stored_bytes(self, model):
        return super().stored_bytes(model.set_params(n_jobs=1))


class LightGBM(Target):
    name = "lightgbm"

    def formats(self):
        def load(path):
            return self.adapter.library.Booster(model_file=path)

        return [Format("text", ".txt", self.adapter.save, load, _forge_text)]

    def predictor(self, model, threads):
        booster = getattr(model, "booster_", model)
        return lambda X: booster.predict(X, num_threads=threads)

    def stored_bytes(self, model):
        return re.sub(rb"(?m)^\[num_threads: \d+\]$", b"", super().stored_bytes(model))


class XGBoost(Target):
    name = "xgboost"

    def formats(self):
        def save(model, path):
            model.save_model(path)

        def load(path):
            model = self.adapter.library.XGBClassifier()
            model.load_model(path)
            return model

        return [
            Format("UBJSON", ".ubj", save, load, _patch_binary_json),
            Format("JSON", ".json", save, load, _forge_json),
        ]

    def predictor(self, model, threads):
        model.get_booster().set_param({"nthread": threads})
        return model.predict_proba


class YDF(Target):
    name = "ydf"

    def formats(self):
        self.adapter.library.verbose(0)

        def load(path):
            return self.adapter.library.load_model(str(path))

        no_index = "nodes are stored in the order of a walk, without numbers of children"
        return [Format("directory", "", self.adapter.save, load, None, no_index)]

    def predictor(self, model, threads):
        from adapters.ydf import columns

        return lambda X: model.predict(columns(X), num_threads=threads)

    def stored_bytes(self, model):
        """The bytes of the nodes only: other files contain the time and a random name."""
        with tempfile.TemporaryDirectory() as folder:
            self.adapter.save(model, Path(folder, "model"))
            return b"".join(path.read_bytes() for path in sorted(Path(folder).rglob("nodes*")))


TARGETS = {target.name: target for target in (CO2Forest, RandomForest, LightGBM, XGBoost, YDF)}


# --- formats of scikit-learn's estimators

_TREE = "sklearn.tree._tree.Tree"  # the only type of a random forest that skops asks about


def _joblib(forge, unforged=""):
    import joblib

    return Format("joblib", ".joblib", joblib.dump, joblib.load, forge, unforged)


def _skops(trusted, forge, unforged=""):
    from skops import io

    def load(path):
        return io.load(path, trusted=trusted)

    return Format("skops", ".skops", io.dump, load, forge, unforged)


# --- forged files: each reads a sound file and changes the left child of the first root


def _reseal(source, destination, child):
    """Correct the checksum, so that only the checks of the contents can help."""
    import damage

    header, arrays = damage.contents(source.read_bytes())
    arrays["forest.left"][0] = child
    destination.write_bytes(damage.reseal(header, arrays))


def _patched(data, left, child):
    """Change the first number of the array of left children."""
    forged = left.copy()
    forged[0] = child
    return data.replace(left.tobytes(), forged.tobytes())


def _patch_joblib(source, destination, child):
    """Edit the file itself, because the forest checks its numbers when they are set."""
    import joblib

    left = joblib.load(source)._forest.arrays()["left"]  # noqa: SLF001
    destination.write_bytes(_patched(source.read_bytes(), left, child))


def _patch_binary_json(source, destination, child):
    import xgboost

    model = json.loads(xgboost.Booster(model_file=source).save_raw("json"))
    left = np.array(_first_tree(model)["left_children"], dtype=">i4")
    destination.write_bytes(_patched(source.read_bytes(), left, child))


def _patch_skops(source, destination, child):
    from skops import io

    import co2forest

    forest = io.load(source, trusted=co2forest.TRUSTED_TYPES)._forest  # noqa: SLF001
    left = forest.arrays()["left"]
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(destination, "w") as new:
        for name in old.namelist():
            new.writestr(name, _patched(old.read(name), left, child))


def _forge_estimator(model, child):
    """Do what unpickling an edited file does."""
    tree = model.estimators_[0].tree_
    state = tree.__getstate__()
    state["nodes"]["left_child"][0] = child
    tree.__setstate__(state)


def _forge_joblib(source, destination, child):
    import joblib

    model = joblib.load(source)
    _forge_estimator(model, child)
    joblib.dump(model, destination)


def _forge_skops(source, destination, child):
    from skops import io

    model = io.load(source, trusted=[_TREE])
    _forge_estimator(model, child)
    io.dump(model, destination)


def _forge_text(source, destination, child):
    """Change LightGBM's line "left_child=1 2 -1 ..."; each tree has one.

    The file also has the lengths of its trees, which are corrected.
    """
    text = source.read_text()
    begin = text.index("Tree=0")
    end = text.index("Tree=1")
    tree = re.sub(r"(?m)^left_child=-?\d+", f"left_child={child}", text[begin:end], count=1)
    sizes = re.search(r"(?m)^tree_sizes=(\d+)", text)
    length = int(sizes[1]) + len(tree) - (end - begin)
    head = text[: sizes.start()] + f"tree_sizes={length}" + text[sizes.end() : begin]
    destination.write_text(head + tree + text[end:])


def _forge_json(source, destination, child):
    model = json.loads(source.read_text())
    _first_tree(model)["left_children"][0] = child
    destination.write_text(json.dumps(model))


def _first_tree(model):
    """The first tree in XGBoost's JSON."""
    return model["learner"]["gradient_booster"]["model"]["trees"][0]
