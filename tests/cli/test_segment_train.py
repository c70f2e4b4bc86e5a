# SPDX-License-Identifier: BSD-3-Clause
"""``co2forest segment train``: what it writes, says and refuses."""

import json
import os

import numpy as np
import pytest
from PIL import Image

from co2forest import load_model, save_model
from co2forest.segmentation import ForestSegmenter
from co2forest.segmentation.files import read_image, read_label_map
from co2forest.tuning import TuningResult
from segment_command import SMALL, draw, fails, run


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

        monkeypatch.setattr("co2forest.cli.actions.segment.train.tune_segmenter", tune)
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
            patch.setattr("co2forest.cli.images.read_image", read)
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
