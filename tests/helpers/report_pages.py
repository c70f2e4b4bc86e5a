# SPDX-License-Identifier: BSD-3-Clause
"""Reports that several tests look at, and their numbers."""

import json
import re

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_digits

from co2forest import CO2ForestClassifier, CO2ForestRegressor
from co2forest.report import write_report

EVIL = "</script><img src=x onerror=\"document.title='broken'\"><!--"


def document_of(path):
    """The JSON document in a page."""
    text = path.read_text("utf-8")
    found = re.search(
        r'<script type="application/json" id="report-data">(.*?)</script>', text, re.DOTALL
    )
    return json.loads(found.group(1))


def digits_report(folder):
    X, y = load_digits(return_X_y=True)
    X = X.astype(np.uint8)
    forest = CO2ForestClassifier(4, random_state=0, mixture=None).fit(X[:400], y[:400])
    path = write_report(
        forest,
        X[400:900],
        y[400:900],
        folder / "digits.html",
        image_shape=(8, 8),
        trees=2,
        max_rows=120,
    )
    return forest, X[400:900], y[400:900], path


def cancer_report(folder):
    """Two classes with evil names, columns with names, an index."""
    frame, target = load_breast_cancer(return_X_y=True, as_frame=True)
    frame = frame.rename(
        columns={"mean radius": EVIL, "mean area": "an area " + "very " * 20 + "long"}
    )
    frame.index = [f"patient {i}" for i in range(len(frame))]
    labels = np.array(["benign", EVIL])[target]
    forest = CO2ForestClassifier(5, random_state=0, mixture=None).fit(frame[::2], labels[::2])
    path = write_report(forest, frame[1::2], labels[1::2], folder / "cancer.html", title=EVIL)
    return forest, frame[1::2], labels[1::2], path


def numbers_report(folder):
    """Two outputs, missing values."""
    random = np.random.default_rng(0)
    X = random.normal(size=(500, 5)).astype(np.float32)
    y = np.c_[100 * X[:, 0] + X[:, 1], X[:, 2] ** 2]
    X[random.random(X.shape) < 0.05] = np.nan
    forest = CO2ForestRegressor(4, random_state=0, mixture=None).fit(X[:250], y[:250])
    path = write_report(forest, X[250:], y[250:], folder / "numbers.html", trees=1, max_rows=60)
    return forest, X[250:], y[250:], path


def labels_report(folder):
    """Three labels per row."""
    X = np.random.default_rng(0).normal(size=(300, 4)).astype(np.float32)
    y = np.c_[X[:, 0] > 0, X[:, 1] > 0.5, X[:, 2] + X[:, 3] > 0].astype(int)
    forest = CO2ForestClassifier(3, random_state=0, mixture=None).fit(X[:150], y[:150])
    path = write_report(forest, X[150:], y[150:], folder / "labels.html", trees=1)
    return forest, X[150:], y[150:], path


def table():
    """Raw columns with text and missing values; the target is one of them."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"size": random.normal(size=240), "colour": random.choice(["red", "green", "blue"], 240)}
    )
    frame["kind"] = np.where(frame["size"] + (frame["colour"] == "red") > 0.3, "big", "small")
    frame.loc[130, "size"] = np.nan
    frame.loc[140, "colour"] = None
    frame.loc[150, "kind"] = None
    return frame
