# SPDX-License-Identifier: BSD-3-Clause
"""Small images and tables, models of them, and a place for results."""

import pytest
from PIL import Image

from co2forest import save_model
from co2forest.segmentation import ForestSegmenter
from segment_command import draw
from table_command import FAST, TRAIN_FAST, customers, done


@pytest.fixture
def folders(tmp_path):
    """Five images and their label maps."""
    images, labels = tmp_path / "images", tmp_path / "labels"
    images.mkdir()
    labels.mkdir()
    for number in range(5):
        image, label_map = draw(number)
        Image.fromarray(image).save(images / f"{number}.png")
        Image.fromarray(label_map).save(labels / f"{number}.png")
    return images, labels


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """A model of such images."""
    path = tmp_path_factory.mktemp("model") / "discs.safetensors"
    images, label_maps = zip(*(draw(number) for number in range(10, 14)), strict=True)
    segmenter = ForestSegmenter(5, 2, samples_per_tree=500, random_state=0)
    save_model(segmenter.fit(list(images), list(label_maps)), path)
    return path


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


@pytest.fixture(scope="session")
def tables(tmp_path_factory):
    """Tables of customers, forests that predict a class and a number of them, and an ensemble."""
    folder = tmp_path_factory.mktemp("tables")
    customers().to_csv(folder / "train.csv", index=False)
    customers(120, seed=1).to_csv(folder / "test.csv", index=False)
    for target, other in (("churn", "value"), ("value", "churn")):
        done(
            *("train", folder / "train.csv", "--target", target, "--drop", other, *FAST),
            *("--model", "forest", "--out", folder / f"{target}.model"),
        )
    done(
        *("train", folder / "train.csv", "--target", "churn", "--drop", "value", *TRAIN_FAST),
        *("--out", folder / "ensemble.model"),
    )
    return folder
