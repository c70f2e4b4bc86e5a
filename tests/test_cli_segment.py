"""The command ``co2forest segment``: what it writes, says and refuses."""

import errno
import gc
import json
import os
import signal
import subprocess
import sys
import time
import weakref
from importlib.metadata import entry_points

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from co2forest import CO2TreeClassifier, __version__, load_model, save_model
from co2forest.cli import main
from co2forest.cli.app import app
from co2forest.segmentation import ForestSegmenter, jaccard_table
from co2forest.segmentation.colours import hexadecimal, label_colours
from co2forest.segmentation.files import read_image, read_label_map
from co2forest.tuning import TuningResult

SMALL = ("--window", 5, "--trees", 2, "--samples-per-tree", 500, "--jobs", 1)


def run(*args):
    return CliRunner().invoke(app, ["segment", *map(str, args)])


def fails(*args, code=1):
    """The one line of a command that fails."""
    result = run(*args)
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    lines = [line for line in result.stderr.splitlines() if not line.startswith("co2forest [")]
    assert len(lines) == 1 or code == 2, result.stderr
    assert lines[-1].startswith("co2forest: ") or code == 2
    return lines[-1]


def draw(number, height=20, width=24):
    """A light disc on dark ground with noise, and where it is."""
    rng = np.random.default_rng(number)
    row, column = rng.integers(6, 14, 2)
    rows, columns = np.ogrid[:height, :width]
    disc = (rows - row) ** 2 + (columns - column) ** 2 < 30
    image = np.where(disc[:, :, np.newaxis], (180, 120, 60), (70, 90, 110))
    image = np.clip(image + rng.normal(scale=25, size=image.shape), 0, 255).astype(np.uint8)
    return image, np.where(disc, 7, 2).astype(np.uint8)


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


class TestTrain:
    def test_the_model_is_that_of_the_library(self, folders, out):
        images, labels = folders
        result = run("train", images, labels, "--out", out, *SMALL, "--seed", 3)
        assert result.exit_code == 0, result.output
        assert "5 images of 24 x 20 pixels, 3 channels" in result.stdout
        segmenter = ForestSegmenter(5, 2, samples_per_tree=500, n_jobs=1, random_state=3).fit(
            [read_image(images / f"{n}.png") for n in range(5)],
            [read_label_map(labels / f"{n}.png") for n in range(5)],
        )
        save_model(segmenter, out.with_name("other"))
        assert out.read_bytes() == out.with_name("other").read_bytes()

    def test_every_option_reaches_the_segmenter(self, folders, out):
        options = ("--window", 3, "--trees", 3, "--samples-per-tree", 80, "--border", "reflect")
        options += ("--ignore-label", 99, "--max-depth", 2, "--nu", 4, "--learning-rate", 0.03)
        result = run("train", *folders, "--out", out, *options, "--split", "co2", "--seed", 5)
        assert result.exit_code == 0, result.output
        assert "no pixel has the label 99" in result.stderr
        expected = {
            "window": 3,
            "n_estimators": 3,
            "samples_per_tree": 80,
            "border": "reflect",
            "ignore_label": 99,
            "max_depth": 2,
            "nu": 4.0,
            "learning_rate": 0.03,
            "split": "co2",
            "random_state": 5,
        }
        assert expected.items() <= load_model(out).get_params().items()

    @pytest.mark.parametrize("split", ["two-probe", "axis"])
    def test_other_splits(self, folders, out, split):
        result = run("train", *folders, "--out", out, *SMALL, "--split", split, "--quiet")
        assert result.exit_code == 0, result.output
        assert load_model(out).split == split.replace("-", "_")
        assert not result.stderr

    def test_classes_and_their_shares(self, folders, out):
        images, labels = folders
        (images / "1.png").unlink()
        Image.fromarray(draw(1)[0][:, :, 0]).save(images / "1.bmp")  # grey among colours
        result = run("train", images, labels, "--out", out, *SMALL, "--json", "--quiet")
        found = json.loads(result.stdout)
        maps = np.stack([read_label_map(labels / f"{n}.png") for n in range(5)])
        assert found["classes"] == [
            {"label": label, "pixels": int((maps == label).sum()), "share": (maps == label).mean()}
            for label in (2, 7)
        ]
        assert found["channels"] == 3
        assert found["bytes"] == out.stat().st_size
        assert len(found["images"]) == 5
        assert not result.stderr

    def test_a_score_on_held_out_images(self, folders, out):
        result = run("train", *folders, "--out", out, *SMALL, "--held-out", 0.4, "--json")
        found = json.loads(result.stdout)
        assert len(found["images"]) == 3
        assert len(found["held_out"]) == 2
        assert not set(found["images"]) & set(found["held_out"])
        model = load_model(out)
        truth = [read_label_map(path.replace("images", "labels")) for path in found["held_out"]]
        score = model.score([read_image(path) for path in found["held_out"]], truth)
        assert found["jaccard"]["mean"] == pytest.approx(score)
        assert score > 60
        options = ("--held-out", 0.4, "--overwrite")
        text = run("train", *folders, "--out", out, *SMALL, *options).stdout
        names = ", ".join(path.rpartition(os.sep)[2] for path in found["held_out"])
        assert f"Jaccard on 2 held-out images: {names}\n" in text
        assert f"mean   {score:.2f} %" in text

    def test_tuning_changes_parameters_on_training_images_alone(self, folders, out, monkeypatch):
        seen = []

        def tune(images, label_maps, *, estimator, **options):
            seen.append((len(images), options))
            estimator.set_params(nu=43.0).fit(images, label_maps)
            return TuningResult(estimator, {"nu": 43.0}, 77.0, None, [{"score": 77.0}])

        monkeypatch.setattr("co2forest.cli._train_segmenter.tune_segmenter", tune)
        options = ("--tune", "--held-out", 0.2, "--json")
        result = run("train", *folders, "--out", out, *SMALL, *options)
        assert result.exit_code == 0, result.output
        assert [count for count, _ in seen] == [4]
        assert seen[0][1]["random_state"] == 0
        assert load_model(out).nu == 43
        tuning = json.loads(result.stdout)["tuning"]
        assert tuning == {"best_params": {"nu": 43.0}, "best_score": 77.0}

    def test_tuning_for_real(self, folders, out):
        result = run("train", *folders, "--out", out, *SMALL, "--tune", "--quiet")
        assert result.exit_code == 0, result.output
        assert "learning_rate" in result.stdout  # the table of all trials

    def test_one_image_and_one_map(self, folders, out):
        images, labels = folders
        result = run("train", images / "1.png", labels / "2.png", "--out", out, *SMALL)
        assert result.exit_code == 0, result.output
        assert "1 image of 24 x 20 pixels" in result.stdout
        options = ("--out", out, "--overwrite", "--held-out", 0.5)
        line = fails("train", images / "1.png", labels / "1.png", *options, *SMALL)
        assert "--held-out needs at least two images" in line

    def test_progress_goes_to_standard_error(self, folders, out):
        result = run("train", *folders, "--out", out, *SMALL)
        assert "2/2 trees" in result.stderr
        assert "trees, 0 s" not in result.stdout

    def test_one_tree_is_not_trees(self, folders, out):
        options = ("--window", 5, "--samples-per-tree", 500, "--trees", 1)
        assert f"{out}: 1 tree, " in run("train", *folders, "--out", out, *options).stdout

    def test_a_folder_for_the_model_is_made(self, folders, out):
        result = run("train", *folders, "--out", out / "a" / "b", *SMALL)
        assert result.exit_code == 0, result.output
        assert [path.name for path in (out / "a").iterdir()] == ["b"]


class TestTrainErrors:
    def test_files_without_partner(self, folders, out):
        images, labels = folders
        (labels / "3.png").unlink()
        assert f"{images / '3.png'}: no label map" in fails("train", *folders, "--out", out)

    def test_sizes_that_differ(self, folders, out):
        images, labels = folders
        Image.fromarray(draw(3)[1][1:]).save(labels / "3.png")
        line = fails("train", *folders, "--out", out)
        assert f"{labels / '3.png'}: has 24 x 19 pixels, but {images / '3.png'} has 24 x 20" in line

    def test_images_of_different_kinds(self, folders, out):
        images, _ = folders
        Image.fromarray(draw(3)[0][:, :, 0].astype(np.uint16)).save(images / "3.png")
        line = fails("train", *folders, "--out", out)
        assert f"{images / '3.png'}: 1 channel of float32, but" in line

    def test_an_image_smaller_than_the_window(self, folders, out):
        images, _ = folders
        for folder, array in zip(folders, draw(3), strict=True):
            Image.fromarray(array[:6]).save(folder / "3.png")
        line = fails("train", *folders, "--out", out, "--window", 9, "--held-out", 0.5)
        assert f"{images / '3.png'}: has 24 x 6 pixels, but --window 9 needs at least 9 x 9" in line
        assert not out.exists()

    def test_what_the_segmenter_refuses_is_named(self, folders, out):
        images, labels = folders
        np.save(images / "3.npy", np.full((20, 24), np.inf))
        (images / "3.png").unlink()
        line = fails("train", images / "3.npy", labels / "3.png", "--out", out, *SMALL)
        assert str(images / "3.npy") in line

    @pytest.mark.parametrize("held_out", [(), ("--held-out", 0.5)])
    def test_infinite_values_wherever_they_are(self, folders, out, monkeypatch, held_out):
        images, _ = folders
        for number in range(5):
            array = np.full((20, 24), number, dtype=np.float32)
            (images / f"{number}.png").unlink()
            np.save(images / f"{number}.npy", array)
        chosen = np.random.default_rng(0).permutation(5)[0]  # held out, if any is
        np.save(images / f"{chosen}.npy", np.full((20, 24), np.inf))
        monkeypatch.setattr(ForestSegmenter, "_fit", None)  # is not to be reached
        line = fails("train", *folders, "--out", out, *SMALL, *held_out)
        assert f"({images / f'{chosen}.npy'}) has infinite values" in line
        assert not out.exists()

    def test_label_maps_that_the_segmenter_refuses_are_named(self, folders, out):
        _, labels = folders
        (labels / "3.png").unlink()
        np.save(labels / "3.npy", np.full((20, 24), 2**63, dtype=np.uint64))
        line = fails("train", *folders, "--out", out, *SMALL)
        assert f"({labels / '3.npy'}) has the label {2**63}" in line

    def test_an_existing_file_is_replaced_only_if_asked(self, folders, out, monkeypatch):
        out.write_bytes(b"precious")

        def read(*_):
            raise AssertionError("work before the check")

        with monkeypatch.context() as patch:
            patch.setattr("co2forest.cli._pairs.read_image", read)
            line = fails("train", *folders, "--out", out, *SMALL)
        assert line == f"co2forest: {out}: exists already; --overwrite replaces it"
        assert out.read_bytes() == b"precious"
        result = run("train", *folders, "--out", out, *SMALL, "--overwrite")
        assert result.exit_code == 0, result.output
        assert load_model(out).n_estimators == 2

    def test_a_model_in_place_of_an_input(self, folders):
        images, _ = folders
        before = (images / "1.png").read_bytes()
        line = fails("train", *folders, "--out", images / "1.png", "--overwrite")
        assert f"{images / '1.png'}: would be overwritten, but is an input" in line
        assert (images / "1.png").read_bytes() == before

    def test_places_where_nothing_can_be_written(self, folders, tmp_path):
        assert "is a folder" in fails("train", *folders, "--out", tmp_path)
        (tmp_path / "file").touch()
        line = fails("train", *folders, "--out", tmp_path / "file" / "model", *SMALL)
        assert f"{tmp_path / 'file'}: is a file, not a folder" in line

    def test_labels_that_no_png_holds(self, folders, out):
        _, labels = folders
        for number in range(5):
            np.save(labels / f"{number}.npy", draw(number)[1].astype(int) * 100)
            (labels / f"{number}.png").unlink()
        result = run("train", *folders, "--out", out, *SMALL)
        assert result.exit_code == 0, result.output
        assert "the label 700 does not fit into an indexed PNG" in result.stderr
        line = fails("predict", out, folders[0], "--out", out.with_name("maps"))
        assert "the model has the label 700, but an indexed PNG holds labels from 0 to 255" in line

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (["--window", 4], "must be odd"),
            (["--window", -1], "--window"),
            (["--trees", 0], "--trees"),
            (["--split", "oblique"], "--split"),
            (["--border", "mirror"], "--border"),
            (["--held-out", 1], "between 0 and 1"),
            (["--held-out", "nan"], "between 0 and 1"),
            (["--nu", 0], "must be positive"),
            (["--learning-rate", "inf"], "must be positive"),
            (["--jobs", 0], "number of threads"),
            (["--seed", -1], "--seed"),
            (["--split", "axis", "--nu", 3], "has no meaning with --split axis"),
            (["--split", "two-probe", "--tune"], "has no meaning with --split two-probe"),
            (["--unknown"], "--unknown"),
        ],
    )
    def test_usage(self, folders, out, options, message):
        result = run("train", *folders, "--out", out, *options)
        assert result.exit_code == 2
        assert message in result.stderr
        assert not out.exists()

    def test_usage_without_arguments(self, folders):
        assert run("train", *folders).exit_code == 2
        assert run("train").exit_code == 2

    def test_debug_shows_where(self, tmp_path, out):
        result = run("train", tmp_path / "a", tmp_path / "b", "--out", out, "--debug")
        assert result.exit_code == 1
        assert "Traceback" in result.stderr
        last = result.stderr.splitlines()[-1]
        assert last == f"co2forest: {tmp_path / 'a'}: no such file or folder"

    def test_a_mistake_of_the_program_is_one_line_too(self, folders, out, monkeypatch):
        def fit(*_):
            raise ZeroDivisionError("a\nb")

        monkeypatch.setattr(ForestSegmenter, "_fit", fit)
        line = fails("train", *folders, "--out", out, *SMALL)
        assert line == "co2forest: unexpected ZeroDivisionError: a b (--debug shows where)"

    def test_names_cannot_break_lines(self, folders, out):
        images, _ = folders
        (images / "bad\n\x1b[2J.png").touch()
        line = fails("train", *folders, "--out", out)
        assert "\x1b" not in line


class TestPredict:
    def test_label_maps(self, folders, stored, out):
        images, _ = folders
        result = run("predict", stored, images, "--out", out)
        assert result.exit_code == 0, result.output
        names = {path.name for path in out.iterdir()}
        assert names == {f"{n}{rest}.png" for n in range(5) for rest in ("", "_overlay")}
        model = load_model(stored)
        colours = label_colours([2, 7], 255)
        for number in range(5):
            labels = read_label_map(out / f"{number}.png")
            image = read_image(images / f"{number}.png")
            np.testing.assert_array_equal(labels, model.predict(image))
            assert set(np.unique(labels)) == {2, 7, 255}
            np.testing.assert_array_equal(read_image(out / f"{number}.png"), colours[labels])
            overlay = read_image(out / f"{number}_overlay.png")
            np.testing.assert_array_equal(overlay[labels == 255], image[labels == 255])
            blended = (image.astype(int) + colours[labels])[labels != 255] / 2
            assert np.abs(overlay[labels != 255] - blended).max() <= 0.5
        assert f"{out}: 5 of 5 images labelled" in result.stdout
        assert hexadecimal(colours[7]) in result.stdout
        assert "5/5 images" in result.stderr

    def test_label_maps_alone(self, folders, stored, out):
        result = run("predict", stored, folders[0], "--out", out, "--no-overlay", "--quiet")
        assert not result.stderr
        assert sorted(path.name for path in out.iterdir()) == [f"{n}.png" for n in range(5)]

    def test_probabilities(self, folders, stored, out):
        images, _ = folders
        result = run("predict", stored, images / "2.png", "--out", out, "--proba", "--jobs", 1)
        assert result.exit_code == 0, result.output
        model = load_model(stored)
        with np.load(out / "2.npz") as arrays:
            expected = model.predict_proba(read_image(images / "2.png"))
            np.testing.assert_array_equal(arrays["probabilities"], expected)
            assert arrays["probabilities"].dtype == np.float32
            np.testing.assert_array_equal(arrays["classes"], [2, 7])

    def test_scores(self, folders, stored, out):
        images, labels = folders
        result = run("predict", stored, images, "--out", out, "--labels", labels, "--json")
        assert result.exit_code == 0, result.output
        found = json.loads(result.stdout)
        model = load_model(stored)
        files = [images / f"{n}.png" for n in range(5)]
        truth = [read_label_map(labels / f"{n}.png") for n in range(5)]
        score = model.score([read_image(path) for path in files], truth)
        assert found["jaccard"]["mean"] == pytest.approx(score)
        written = [read_label_map(image["label_map"]) for image in found["images"]]
        table = jaccard_table(truth, written, ignore=(255,))
        for row, tp in zip(found["jaccard"]["classes"], table.true_positives, strict=True):
            assert row["true_positives"] == tp
        assert [image["image"] for image in found["images"]] == list(map(str, files))
        options = ("--labels", labels, "--overwrite")
        text = run("predict", stored, images, "--out", out, *options).stdout
        assert f"mean   {score:.2f} %" in text

    @pytest.mark.parametrize("border", ["ignore", "reflect"])
    def test_scores_with_ignored_and_unknown_labels(self, folders, tmp_path, out, border):
        images, labels = folders
        pairs = [draw(number) for number in range(10, 14)]
        for _, label_map in pairs:
            label_map[5:8] = 0
        segmenter = ForestSegmenter(
            5, 2, samples_per_tree=500, border=border, ignore_label=0, random_state=0
        ).fit(*zip(*pairs, strict=True))
        save_model(segmenter, tmp_path / "model")
        truth = draw(3)[1]
        truth[8:10], truth[10:12] = 0, 255
        Image.fromarray(truth).save(labels / "3.png")
        options = ("--out", out, "--labels", labels / "3.png", "--json", "--quiet")
        result = run("predict", tmp_path / "model", images / "3.png", *options)
        expected = segmenter.jaccard_table([read_image(images / "3.png")], [truth])
        found = json.loads(result.stdout)["jaccard"]["classes"]
        assert [row["label"] for row in found] == expected.classes.tolist() == [2, 7, 255]
        for name in ("true_positives", "false_positives", "false_negatives"):
            assert [row[name] for row in found] == getattr(expected, name).tolist()
        assert json.loads(result.stdout)["void_label"] == 0

    def test_labels_that_only_one_truth_has(self, folders, stored, out):
        images, labels = folders
        for number, strange in ((1, 50), (3, 60)):
            truth = draw(number)[1]
            truth[8:12] = strange
            Image.fromarray(truth).save(labels / f"{number}.png")
        options = ("--out", out, "--labels", labels, "--json", "--quiet")
        found = json.loads(run("predict", stored, images, *options).stdout)["jaccard"]["classes"]
        expected = load_model(stored).jaccard_table(
            [read_image(images / f"{n}.png") for n in range(5)],
            [read_label_map(labels / f"{n}.png") for n in range(5)],
        )
        assert [row["label"] for row in found] == expected.classes.tolist() == [2, 7, 50, 60]
        for name in ("true_positives", "false_positives", "false_negatives"):
            assert [row[name] for row in found] == getattr(expected, name).tolist()

    def test_memory_does_not_grow_with_the_number_of_images(
        self, folders, stored, out, monkeypatch
    ):
        seen, alive = [], []

        def watched(function):
            def call(*args):
                array = function(*args)
                seen.append(weakref.ref(array))
                return array

            return call

        def report(*_, **__):
            gc.collect()
            alive.extend(reference for reference in seen if reference() is not None)

        module = "co2forest.cli._predict_maps"
        monkeypatch.setattr(ForestSegmenter, "predict", watched(ForestSegmenter.predict))
        monkeypatch.setattr(f"{module}.read_image", watched(read_image))
        monkeypatch.setattr(f"{module}.read_label_map", watched(read_label_map))
        monkeypatch.setattr(f"{module}._report", report)
        result = run("predict", stored, folders[0], "--out", out, "--labels", folders[1])
        assert result.exit_code == 0, result.output
        assert len(seen) == 15
        assert not alive

    def test_some_images_of_many_label_maps(self, folders, stored, out):
        images, labels = folders
        result = run("predict", stored, images / "2.png", "--out", out, "--labels", labels)
        assert result.exit_code == 0, result.output
        assert "Jaccard" in result.stdout

    def test_what_fails_is_named_and_the_rest_is_done(self, folders, stored, out):
        images, _ = folders
        (images / "0.png").write_bytes(b"no image")
        Image.fromarray(draw(3)[0][:3]).save(images / "3.png")
        np.save(images / "5.npy", np.zeros((20, 20, 5), dtype=np.uint8))
        (images / "notes.txt").touch()
        result = run("predict", stored, images, "--out", out, "--json", "--quiet")
        assert result.exit_code == 1
        note, *lines = result.stderr.splitlines()
        assert "notes.txt" in note
        assert len(lines) == 3
        for line, name in zip(lines, ("0.png", "3.png", "5.npy"), strict=True):
            assert line.startswith(f"co2forest: {images / name}: ")
        assert "has 5 channels, but the images that the model was trained on have 3" in lines[2]
        found = json.loads(result.stdout)
        assert [entry["image"] for entry in found["failed"]] == [
            str(images / name) for name in ("0.png", "3.png", "5.npy")
        ]
        done = {path.name for path in out.iterdir()}
        assert done == {f"{n}{rest}.png" for n in (1, 2, 4) for rest in ("", "_overlay")}

    def test_nothing_is_left_of_an_image_that_fails(self, folders, stored, out):
        images, _ = folders
        for path in images.iterdir():
            path.write_bytes(b"")
        result = run("predict", stored, images, "--out", out)
        assert result.exit_code == 1
        assert "0 of 5 images labelled" in result.stdout
        result = run("predict", stored, images, "--out", out, "--json")
        assert result.exit_code == 1
        assert len(json.loads(result.stdout)["failed"]) == 5
        assert not list(out.iterdir())

    def test_grey_images_for_a_model_of_colours(self, stored, tmp_path, out):
        Image.fromarray(draw(0)[0][:, :, 0]).save(tmp_path / "a.png")
        assert run("predict", stored, tmp_path / "a.png", "--out", out).exit_code == 0
        grey = read_image(tmp_path / "a.png")
        expected = load_model(stored).predict(np.dstack([grey, grey, grey]))
        np.testing.assert_array_equal(read_label_map(out / "a.png"), expected)

    def test_one_channel_is_not_channels(self, stored, tmp_path, out):
        np.save(tmp_path / "a.npy", np.zeros((20, 24), dtype=np.float32))
        result = run("predict", stored, tmp_path / "a.npy", "--out", out)
        assert result.exit_code == 1
        assert f"{tmp_path / 'a.npy'}: has 1 channel, but" in result.stderr

    def test_a_void_label_that_no_png_holds(self, tmp_path, out):
        image, labels = draw(0)
        labels = np.where(labels == 7, 255, 254)
        path = tmp_path / "model"
        segmenter = ForestSegmenter(5, 2, samples_per_tree=500, random_state=0)
        save_model(segmenter.fit([image], [labels]), path)
        assert segmenter.void_label_ == -1
        Image.fromarray(image).save(tmp_path / "a.png")
        np.save(tmp_path / "truth.npy", labels)
        options = ("--out", out, "--labels", tmp_path / "truth.npy", "--json")
        result = run("predict", path, tmp_path / "a.png", *options)
        assert result.exit_code == 0, result.output
        assert json.loads(result.stdout)["void_label"] == 253
        assert set(np.unique(read_label_map(out / "a.png"))) == {253, 254, 255}
        found = json.loads(result.stdout)["jaccard"]["mean"]
        assert found == pytest.approx(segmenter.score([image], [labels]))


class TestPredictErrors:
    def test_inputs_are_never_overwritten(self, folders, stored):
        images, labels = folders
        before = {path: path.read_bytes() for folder in folders for path in folder.iterdir()}
        for options in (
            ("--out", labels, "--labels", labels),
            ("--out", labels, "--labels", labels, "--no-overlay"),
            ("--out", labels, "--labels", labels, "--overwrite"),
        ):
            line = fails("predict", stored, images, *options)
            assert "would be overwritten, but is an input" in line
        after = {path: path.read_bytes() for folder in folders for path in folder.iterdir()}
        assert before == after

    def test_existing_files_are_never_overwritten_unasked(self, folders, stored, monkeypatch):
        images, labels = folders
        before = {path: path.read_bytes() for path in labels.iterdir()}

        def load(*_):
            raise AssertionError("work before the check")

        with monkeypatch.context() as patch:
            patch.setattr("co2forest.cli._predict_maps.load_model", load)
            line = fails("predict", stored, images, "--out", labels)
        expected = f"{labels / '0.png'}: exists already; --overwrite replaces it"
        assert line == f"co2forest: {expected}"
        assert before == {path: path.read_bytes() for path in labels.iterdir()}
        result = run("predict", stored, images, "--out", labels, "--overwrite")
        assert result.exit_code == 0, result.output
        assert all(path.read_bytes() != content for path, content in before.items())

    @pytest.mark.parametrize("ending", ["overlay.png", "npz"])
    def test_nor_those_beside_label_maps(self, folders, stored, out, ending):
        out.mkdir()
        path = out / ("3_overlay.png" if ending == "overlay.png" else "3.npz")
        path.write_bytes(b"precious")
        line = fails("predict", stored, folders[0], "--out", out, "--proba")
        assert f"{path}: exists already" in line
        assert [other.name for other in out.iterdir()] == [path.name]
        assert path.read_bytes() == b"precious"

    @pytest.mark.parametrize("one", [False, True])
    @pytest.mark.parametrize("overwrite", [False, True])
    def test_results_do_not_go_among_images(self, folders, stored, tmp_path, one, overwrite):
        images, _ = folders
        for path in images.iterdir():
            path.rename(path.with_suffix(".bmp"))  # so that no result has the name of an input
        link = tmp_path / "link"
        link.symlink_to(images)
        given = images / "2.bmp" if one else images
        options = ("--overwrite",) if overwrite else ()
        line = fails("predict", stored, given, "--out", link, *options)
        assert line == f"co2forest: {link}: is the folder of the images; give another --out"
        assert len(list(images.iterdir())) == 5

    def test_not_through_links_either(self, folders, stored, out):
        images, _ = folders
        before = (images / "2.png").read_bytes()
        out.mkdir()
        (out / "2.png").symlink_to(images / "2.png")
        assert f"{out / '2.png'}: would be overwritten" in fails(
            "predict", stored, images, "--out", out
        )
        assert (images / "2.png").read_bytes() == before

    @pytest.mark.parametrize(("other", "clash"), [("2.bmp", "2.png"), ("2_overlay.png",) * 2])
    def test_two_images_for_one_place(self, folders, stored, out, other, clash):
        images, _ = folders
        Image.fromarray(draw(9)[0]).save(images / other)
        line = fails("predict", stored, images, "--out", out)
        assert f"{out / clash}: would be written for two images" in line
        assert not out.exists()

    def test_a_file_for_a_folder(self, folders, stored, out):
        out.touch()
        line = fails("predict", stored, folders[0], "--out", out)
        assert f"{out}: is a file, not a folder" in line

    def test_missing_labels(self, folders, stored, out):
        images, labels = folders
        (labels / "4.png").unlink()
        line = fails("predict", stored, images, "--out", out, "--labels", labels)
        assert f"{images / '4.png'}: no label map" in line

    def test_files_that_are_no_models(self, folders, tmp_path, out):
        images, _ = folders
        line = fails("predict", tmp_path / "absent", images, "--out", out)
        assert f"{tmp_path / 'absent'}: No such file" in line
        line = fails("predict", images / "1.png", images, "--out", out)
        assert f"{images / '1.png'}: not a safetensors file" in line
        save_model(CO2TreeClassifier().fit([[0.0], [1.0]], [0, 1]), tmp_path / "tree")
        line = fails("predict", tmp_path / "tree", images, "--out", out)
        assert "tree: holds a CO2TreeClassifier, not a segmenter" in line

    def test_jobs(self, folders, stored, out):
        assert run("predict", stored, folders[0], "--out", out, "--jobs", 0).exit_code == 2


class TestInterrupt:
    def test_training(self, folders, out, monkeypatch):
        def fit(*_):
            raise KeyboardInterrupt

        monkeypatch.setattr(ForestSegmenter, "_fit", fit)
        line = fails("train", *folders, "--out", out, *SMALL, code=130)
        assert line == "co2forest: interrupted"
        assert not out.exists()

    def test_prediction(self, folders, stored, out, monkeypatch):
        calls = []

        def write(path, *_):
            calls.append(path)
            if len(calls) == 3:
                raise KeyboardInterrupt
            path.touch()

        monkeypatch.setattr("co2forest.cli._predict_maps.write_label_map", write)
        assert fails("predict", stored, folders[0], "--out", out, "--no-overlay", code=130)
        assert sorted(path.name for path in out.iterdir()) == ["0.png", "1.png"]

    @pytest.mark.skipif(sys.platform == "win32", reason="SIGINT cannot be sent there")
    def test_a_signal(self, folders, out):
        command = ("segment", "train", *folders, "--out", out, "--window", 5, "--trees", 100_000)
        process = subprocess.Popen(
            [sys.executable, "-m", "co2forest", *map(str, command), "--jobs", "1"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        while "pixels" not in process.stdout.readline():  # the files have been read
            pass
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 130
        assert errors.splitlines()[-1] == "co2forest: interrupted"
        assert "Traceback" not in errors
        assert not out.exists()
        assert not list(out.parent.glob(".*.tmp"))


class TestMain:
    """The command as a whole."""

    def test_both_names_of_the_command(self, folders, stored, out):
        command = ("segment", "predict", stored, folders[0], "--out", out, "--json", "--jobs", 1)
        done = subprocess.run(
            [sys.executable, "-m", "co2forest", *map(str, command)],
            capture_output=True,
            text=True,
            check=True,
        )
        assert len(json.loads(done.stdout)["images"]) == 5
        (script,) = entry_points(group="console_scripts", name="co2forest")
        assert script.load() is main

    @pytest.mark.parametrize(
        ("missing", "line"),
        [
            ("typer", "co2forest: the command line needs typer: pip install 'co2forest[cli,"),
            ("rich", "co2forest: the command line needs rich: pip install 'co2forest[cli,"),
            ("PIL.Image", "co2forest: image files need Pillow: pip install 'co2forest[images]'"),
        ],
    )
    def test_missing_libraries(self, folders, stored, out, monkeypatch, capsys, missing, line):
        again = ("co2forest.cli.", "rich.")  # to be imported once more
        for module in [name for name in sys.modules if name.startswith(again)]:
            monkeypatch.delitem(sys.modules, module)
            package, _, name = module.rpartition(".")
            if package == "co2forest.cli":
                monkeypatch.delattr(f"{package}.{name}", raising=False)
        monkeypatch.setitem(sys.modules, missing, None)
        command = ("co2forest", "segment", "predict", stored, folders[0], "--out", out)
        monkeypatch.setattr(sys, "argv", list(map(str, command)))
        with pytest.raises(SystemExit) as info:
            main()
        assert info.value.code == 1
        printed = capsys.readouterr()
        assert printed.err.startswith(line)
        assert len(printed.err.splitlines()) == 1
        assert not printed.out
        assert not out.exists()

    def test_version_and_help(self):
        result = CliRunner().invoke(app, ["--version"])
        assert (result.exit_code, result.stdout) == (0, f"co2forest {__version__}\n")
        for command in ([], ["segment"], ["segment", "train"], ["segment", "predict"]):
            result = CliRunner().invoke(app, [*command, "--help"])
            assert result.exit_code == 0
            assert "Usage: " in result.stdout

    def test_an_interrupted_start(self, monkeypatch, capsys):
        def load(*_):
            raise KeyboardInterrupt

        monkeypatch.setattr("builtins.__import__", load)
        with pytest.raises(SystemExit) as info:
            main()
        assert info.value.code == 130
        assert capsys.readouterr().err == "co2forest: interrupted\n"

    def test_names_of_any_bytes(self, folders, stored, tmp_path):
        out = tmp_path / os.fsdecode(b"\xff\xe4")
        result = run("predict", stored, folders[0], "--out", out, "--quiet")
        assert result.exit_code == 0, result.output
        assert "5 of 5 images labelled" in result.stdout
        assert not result.stderr

    def test_a_pipe_that_nobody_reads(self, folders, stored, out, monkeypatch):
        def say(_):
            raise BrokenPipeError(errno.EPIPE, "Broken pipe")

        monkeypatch.setattr("co2forest.cli._predict_maps.say", say)
        result = run("predict", stored, folders[0], "--out", out, "--quiet")
        assert result.exit_code == 1
        assert not result.stderr
        assert len(list(out.iterdir())) == 10
