# SPDX-License-Identifier: BSD-3-Clause
"""Jaccard scores of label maps, against loops over pixels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from sklearn.metrics import jaccard_score

from co2forest.segmentation import jaccard_table
from co2forest.segmentation.images import row_blocks


def by_hand(truth, predicted, ignore=()):
    """Counts of each class, pixel by pixel."""
    counts = {}
    for one, other in zip(truth, predicted, strict=True):
        for t, p in zip(one.ravel().tolist(), other.ravel().tolist(), strict=True):
            if t in ignore or p in ignore:
                continue
            for label in {t, p}:
                tp, fp, fn = counts.get(label, (0, 0, 0))
                counts[label] = (tp + (t == p), fp + (t != p == label), fn + (p != t == label))
    return counts


LABELS = st.sampled_from([0, 1, 2, 7, 255])


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    data=st.data(),
    shapes=st.lists(array_shapes(min_dims=2, max_dims=2, max_side=9), min_size=1, max_size=3),
    ignore=st.sets(LABELS, max_size=2),
)
def test_counts_are_those_of_a_loop(data, shapes, ignore):
    maps = st.tuples(*(arrays(np.uint8, shape, elements=LABELS) for shape in shapes))
    truth, predicted = data.draw(maps), data.draw(maps)
    expected = by_hand(truth, predicted, ignore)
    table = jaccard_table(truth, predicted, ignore=ignore)
    present = table.true_positives + table.false_positives + table.false_negatives > 0
    assert table.classes[present].tolist() == sorted(expected)
    columns = (table.true_positives, table.false_positives, table.false_negatives)
    for label, *counts, jaccard in zip(table.classes, *columns, table.jaccard, strict=True):
        tp, fp, fn = expected.get(int(label), (0, 0, 0))
        assert counts == [tp, fp, fn]
        if tp + fp + fn:
            assert jaccard == pytest.approx(100 * tp / (tp + fp + fn))
        else:
            assert np.isnan(jaccard)
    scores = [100 * tp / (tp + fp + fn) for tp, fp, fn in expected.values()]
    assert table.mean == pytest.approx(np.mean(scores) if scores else np.nan, nan_ok=True)


def test_maps_of_several_blocks():
    truth, predicted = np.random.default_rng(0).integers(0, 4, size=(2, 1, 1300, 1000))
    assert len(list(row_blocks(1300, 1000))) == 2
    expected = 100 * jaccard_score(truth.ravel(), predicted.ravel(), average=None)
    np.testing.assert_allclose(jaccard_table(truth, predicted).jaccard, expected)


def test_pixels_are_pooled():
    """The mean of the images' scores would be 75."""
    table = jaccard_table([np.ones((1, 2)), np.ones((1, 1))], [np.array([[1, 0]]), np.ones((1, 1))])
    assert table.jaccard.tolist() == [0.0, pytest.approx(200 / 3)]


def test_classes_in_neither_do_not_enter_the_mean():
    table = jaccard_table([[[0, 0]]], [[[0, 0]]], classes=[0, 3])
    assert table.classes.tolist() == [0, 3]
    assert np.isnan(table.jaccard[1])
    assert table.mean == 100.0


def test_labels_that_are_no_classes_count_as_mistakes():
    table = jaccard_table([[[0, 5, 5, 1]]], [[[0, 0, 6, 7]]], classes=[0, 1])
    assert table.true_positives.tolist() == [1, 0]
    assert table.false_positives.tolist() == [1, 0]
    assert table.false_negatives.tolist() == [0, 1]


def test_nothing_counts():
    table = jaccard_table([[[9, 9]]], [[[1, 2]]], ignore=[9])
    assert np.isnan(table.mean)
    assert "-" in str(table)


def test_labels_to_ignore():
    truth, predicted = [[[0, 1, 9]]], [[[0, 9, 1]]]
    assert jaccard_table(truth, predicted, ignore=9).mean == 100.0
    assert jaccard_table(truth, predicted, ignore=np.array([9, 5])).mean == 100.0
    with pytest.raises(ValueError, match="ignore is float64 and has labels that are not whole"):
        jaccard_table(truth, predicted, ignore=[0.5])


def test_labels_of_different_dtypes():
    table = jaccard_table([np.array([[0, 255]], dtype=np.uint8)], [np.array([[0, -1]])])
    assert table.classes.tolist() == [-1, 0, 255]
    assert jaccard_table([[[True, False]]], [[[1.0, 0.0]]]).mean == 100.0


def test_the_table_in_words():
    lines = str(jaccard_table([[[0, 0, 1, 1]]], [[[0, 1, 1, 1]]])).splitlines()
    assert " ".join(lines[0].split()) == (
        "class true positives false positives false negatives Jaccard"
    )
    assert lines[1].split() == ["0", "1", "0", "1", "50.00"]
    assert lines[-1].split() == ["mean", "58.33"]
    assert len({len(line) for line in lines}) == 1


@pytest.mark.parametrize(
    ("truth", "predicted", "message"),
    [
        ([], [], r"truth_maps is empty"),
        ([[[1]]], [[[1]], [[1]]], r"truth_maps has 1 and predicted_maps 2 entries"),
        ([[[1]], [[1, 2]]], [[[1]], [[1], [2]]], r"truth_maps\[1\] has shape \(1, 2\), but pred"),
        ([[[0.5]]], [[[0]]], r"truth_maps\[0\] is float64 and has labels that are not whole"),
        ([[[0]]], [[["a"]]], r"predicted_maps\[0\] must be an array of numbers"),
        ([[0, 1]], [[0, 1]], r"truth_maps\[0\] has shape \(2,\); a label map must have"),
        ("ab", [[[0]]], r"truth_maps must be a list of arrays, got 'ab'"),
    ],
)
def test_maps_that_cannot_be(truth, predicted, message):
    with pytest.raises(ValueError, match=message):
        jaccard_table(truth, predicted)
