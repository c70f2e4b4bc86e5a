"""A slow stand-in for what segmentation needs, until it is there: windows are extracted."""

import types

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from co2forest import CO2ForestClassifier, _native
from co2forest._rows import native_rows
from co2forest.baselines import AxisForestClassifier, TwoProbeForestClassifier

KINDS = {
    "co2": CO2ForestClassifier,
    "axis": AxisForestClassifier,
    "two_probe": TwoProbeForestClassifier,
}


def windows(picture, window):
    view = sliding_window_view(picture, (window, window), axis=(0, 1))
    return np.ascontiguousarray(view.transpose(0, 1, 3, 4, 2)).reshape(-1, window**2 * 3)


class Forest(_native.Forest):
    def predict_windows(self, images, image, first_row, last_row, n_threads):
        picture = images.arrays[image][first_row : last_row + images.window - 1]
        rows = windows(picture, images.window)
        return self.predict(native_rows(rows), n_threads)


def window_images(arrays, window):
    return types.SimpleNamespace(arrays=arrays, window=window)


class ForestSegmenter:
    def __init__(self, window, n_estimators, split, samples_per_tree, **parameters):
        parameters.pop("verbose", None)
        self.window, self.samples_per_tree = window, samples_per_tree
        parameters |= {"n_estimators": n_estimators}
        self.classifier_ = KINDS[split](**parameters)

    def inside(self, labels):
        half = self.window // 2
        return labels[half : labels.shape[0] - half, half : labels.shape[1] - half]

    def fit(self, pictures, maps):
        X = np.concatenate([windows(picture, self.window) for picture in pictures])
        y = np.concatenate([self.inside(labels).ravel() for labels in maps])
        self.classes_, counts = np.unique(y, return_counts=True)
        rng = np.random.default_rng(0)
        each = self.samples_per_tree // len(self.classes_)
        rows = np.concatenate([rng.choice(np.flatnonzero(y == c), each) for c in self.classes_])
        self.classifier_.fit(X[rows], y[rows])
        self.class_prior_ = counts / counts.sum()
        self.sampled_prior_ = np.full(len(counts), 1 / len(counts))
        return self

    def predict_proba(self, picture):
        weighted = self.classifier_.predict_proba(windows(picture, self.window))
        weighted = weighted * self.class_prior_ / self.sampled_prior_
        proba = weighted / weighted.sum(axis=1, keepdims=True)
        half = self.window // 2
        shape = [length - self.window + 1 for length in picture.shape[:2]]
        around = [(half, half), (half, half), (0, 0)]
        return np.pad(proba.reshape(*shape, -1), around, constant_values=np.nan)

    def score(self, pictures, maps):
        from faces import scores

        total = 0
        for picture, labels in zip(pictures, maps, strict=True):
            proba = self.predict_proba(picture)
            codes = np.nan_to_num(proba).argmax(axis=2)
            total = total + scores.confusion(
                self.inside(labels), self.inside(self.classes_[codes]), 4
            )
        return scores.mean_jaccard(*scores.counts(total))
