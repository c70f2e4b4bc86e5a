# SPDX-License-Identifier: BSD-3-Clause
"""Windows go where the same values in one piece go, whatever is decided without reading them."""

import numpy as np
import pytest

from co2forest import _native
from shapes import windows_of

HEIGHT, WIDTH = 44, 41


def smooth(rng):
    rows, columns = np.mgrid[:HEIGHT, :WIDTH]
    phase = rng.uniform(0, 6, 3)
    waves = np.sin(rows[..., None] / 9 + phase) + np.cos(columns[..., None] / 7 - phase)
    return (128 + 60 * waves).clip(0, 255)


IMAGES = {
    "smooth": smooth,
    "noise": lambda rng: rng.integers(0, 256, (HEIGHT, WIDTH, 3)),
    "black and white": lambda rng: 255 * rng.integers(0, 2, (HEIGHT, WIDTH, 3)),
    "edges": lambda rng: 255 * (smooth(rng) > 128),
    "constant": lambda _: np.full((HEIGHT, WIDTH, 3), 255),
    "zero": lambda _: np.zeros((HEIGHT, WIDTH, 3)),
}

PLANES = {
    "random": lambda rng, p: rng.normal(size=p),
    "smooth": lambda rng, p: np.sin(np.arange(p) / 40 + rng.uniform(0, 6)),
    "spike": lambda rng, p: np.sin(np.arange(p) / 40) + 1000.0 * (np.arange(p) == rng.integers(p)),
    "one": lambda rng, p: (np.arange(p) == rng.integers(p)) * 1.0,
    "two": lambda rng, p: np.isin(np.arange(p), rng.integers(p, size=2)) * 1.0,
    "ones": lambda _, p: np.ones(p),
    "zeros": lambda _, p: np.zeros(p),
    "small": lambda rng, p: rng.normal(size=p) * 10.0 ** rng.uniform(-26, -12),
    "tiny": lambda rng, p: rng.normal(size=p) * 1e-36,
    "huge": lambda rng, p: rng.normal(size=p) * 1e30,
    "of all sizes": lambda rng, p: rng.normal(size=p) * 10.0 ** rng.uniform(-20, 20, p),
}


def stumps(planes, thresholds):
    """A forest of trees with one split each, whose leaves know one of two classes."""
    n_trees, p = planes.shape
    is_root = np.tile([True, False, False], n_trees)
    stored = (planes.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    arrays = {
        "tree_begin": np.arange(0, 3 * n_trees + 1, 3, dtype=np.int64),
        "left": np.where(is_root, 1, -1).astype(np.int32),
        "threshold": np.where(is_root, np.repeat(thresholds, 3), 0).astype(np.float32),
        "weight_begin": p * np.concatenate([[0], np.cumsum(is_root)]).astype(np.int64),
        "weight": stored.ravel(),
        "feature_begin": np.zeros(3 * n_trees + 1, dtype=np.int64),
        "feature": np.empty(0, dtype=np.int32),
        "value_begin": np.concatenate([[0], np.cumsum(~is_root)]).astype(np.int64),
        "value_output": np.tile(np.arange(2, dtype=np.int32), n_trees),
        "value": np.ones(2 * n_trees, dtype=np.float32),
        "impurity": np.zeros(3 * n_trees, dtype=np.float32),
        "weighted_count": np.tile([2.0, 1.0, 1.0], n_trees),
        "sample_count": np.tile(np.array([2, 1, 1], dtype=np.int32), n_trees),
        "mean": np.zeros(p, dtype=np.float32),
        "spread": np.ones(p, dtype=np.float32),
    }
    return _native.Forest(arrays, 2)


def near_thresholds(rows, planes, rng):
    """Thresholds on, just above and just below the projections of some rows."""
    floats = (planes.astype(np.float32).view(np.uint32) & 0xFFFF0000).view(np.float32)
    some = rows[rng.integers(len(rows), size=len(planes))].astype(np.float64)
    exact = (some * floats).sum(axis=1).astype(np.float32)
    steps = rng.integers(-3, 4, size=len(planes))
    for step in (-1, 1):
        for moved in range(1, 4):
            where = steps * step >= moved
            exact[where] = np.nextafter(exact[where], np.float32(step * np.inf))
    return np.nan_to_num(exact, posinf=3e38, neginf=-3e38)


@pytest.mark.parametrize("kind", PLANES)
@pytest.mark.parametrize("picture", IMAGES)
@pytest.mark.parametrize("window", [13, 15, 31])  # 507 features, which is too few for blocks; more
def test_windows_go_where_rows_in_one_piece_go(picture, kind, window):
    rng = np.random.default_rng([window, len(picture), len(kind)])
    image = np.ascontiguousarray(IMAGES[picture](rng), dtype=np.uint8)
    rows = windows_of(image, window)
    planes = np.array([PLANES[kind](rng, rows.shape[1]) for _ in range(24)])
    forest = stumps(planes, near_thresholds(rows, planes, rng))
    images = _native.window_images([image], window)
    n = HEIGHT - window + 1
    expected = forest.predict(_native.dense_rows(rows), 1)
    for threads in (1, 2):
        found = _native.predict_windows(forest, images, 0, 0, n, threads)
        np.testing.assert_array_equal(found, expected)
    # A part of the image, whose blocks begin elsewhere.
    part = _native.predict_windows(forest, images, 0, 3, n - 2, 1)
    columns = WIDTH - window + 1
    np.testing.assert_array_equal(part, expected[3 * columns : (n - 2) * columns])


@pytest.mark.parametrize("part", [0.1, 0.4, 0.5])  # of the windows that go left
@pytest.mark.parametrize("n_trees", [1, 2, 7, 24])
def test_labels_need_no_more_trees_than_probabilities(n_trees, part):
    rng = np.random.default_rng(n_trees)
    image = smooth(rng).astype(np.uint8)
    rows = windows_of(image, 15)
    planes = np.array([PLANES["smooth"](rng, rows.shape[1]) for _ in range(n_trees)])
    projections = rows.astype(np.float64) @ planes.T
    forest = stumps(planes, np.quantile(projections, part, axis=0))
    images = _native.window_images([image], 15)
    shape = images, 0, 0, HEIGHT - 14
    proba = _native.predict_windows(forest, *shape, 1)
    assert len(np.unique(proba)) > 2 or n_trees == 1
    for threads in (1, 2):
        labels = _native.label_windows(forest, *shape, threads)
        np.testing.assert_array_equal(labels, proba.argmax(axis=1))


def test_sums_of_a_million_bytes_do_not_overflow():
    p = 1031 * 1031
    forest = stumps(np.ones((1, p)), np.array([0.5 * 255 * p]))
    rows = np.full((30, p), 255, dtype=np.uint8)  # enough to be projected as whole numbers
    np.testing.assert_array_equal(forest.predict(_native.dense_rows(rows), 1), [[0.0, 1.0]] * 30)
    image = np.full((1035, 1036, 1), 255, dtype=np.uint8)
    images = _native.window_images([image], 1031)
    found = _native.predict_windows(forest, images, 0, 0, 5, 1)
    np.testing.assert_array_equal(found, [[0.0, 1.0]] * 30)


# --- what the core refuses

IMAGE = np.zeros((9, 8, 2), dtype=np.uint8)
FOREST = stumps(np.ones((1, 18)), np.zeros(1))  # of 3 x 3 x 2


@pytest.mark.parametrize(
    ("arrays", "window"),
    [
        ([], 3),
        ([IMAGE], 0),
        ([IMAGE], 2),
        ([IMAGE], 9),
        ([IMAGE], 2**31 + 1),
        ([IMAGE[:2]], 3),
        ([IMAGE, IMAGE[:, :, :1].copy()], 3),
        ([IMAGE[:, :, :0].copy()], 3),
        ([np.zeros((0, 0, 2), np.uint8)], 1),
    ],
    ids=str,
)
def test_images_without_windows_are_refused(arrays, window):
    with pytest.raises((ValueError, TypeError)):
        _native.window_images(arrays, window)


@pytest.mark.parametrize(
    "arrays",
    [
        [IMAGE[:, ::2]],
        [IMAGE.astype(np.int16)],
        [IMAGE.astype(np.float64)],
        [IMAGE, IMAGE.astype(np.float32)],
        [IMAGE[..., 0]],
        [None],
        None,
    ],
    ids=str,
)
def test_images_are_never_converted(arrays):
    with pytest.raises(TypeError):
        _native.window_images(arrays, 3)


@pytest.mark.parametrize("rows", [(0, 8), (5, 4), (8, 8), (2**63, 2**63 + 1)])
def test_rows_that_an_image_does_not_have(rows):
    images = _native.window_images([IMAGE], 3)
    with pytest.raises(ValueError, match="no such rows"):
        _native.predict_windows(FOREST, images, 0, *rows, 1)
    with pytest.raises(ValueError, match="no such rows"):
        _native.label_windows(FOREST, images, 0, *rows, 1)


def test_forests_of_other_windows():
    with pytest.raises(ValueError, match="no such rows"):
        _native.predict_windows(FOREST, _native.window_images([IMAGE], 3), 1, 0, 1, 1)
    for window in (1, 5):
        images = _native.window_images([IMAGE], window)
        with pytest.raises(ValueError, match="number of features"):
            _native.predict_windows(FOREST, images, 0, 0, 1, 1)


@pytest.mark.parametrize(
    ("labels", "n_classes", "n_draws"),
    [
        ([], 2, 10),
        ([np.zeros((9, 8), np.uint8)], 2, 10),
        ([np.zeros((7, 6), np.int32)], 2, 10),
        ([np.zeros((7, 12), np.uint8)[:, ::2]], 2, 10),
        ([np.zeros((7, 6), np.uint8)[::-1]], 2, 10),
        ([np.zeros((7, 6), np.uint8)], 0, 10),
        ([np.zeros((7, 6), np.uint8)], 256, 1000),
        ([np.zeros((7, 6), np.uint8)], 2, 1),
        ([np.full((7, 6), 9, np.uint8)], 2, 10),
    ],
)
def test_label_maps_that_cannot_be(labels, n_classes, n_draws):
    images = _native.window_images([IMAGE], 3)
    params = _native.TrainParams()
    sampling = _native.SamplingParams()
    sampling.n_draws = n_draws
    params.sampling = sampling
    with pytest.raises((ValueError, TypeError)):
        _native.train_windows(images, labels, n_classes, np.empty(0, np.float32), params)
