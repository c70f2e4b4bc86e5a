# SPDX-License-Identifier: BSD-3-Clause
"""``co2forest segment predict``: what it writes, says and refuses."""

import gc
import json
import weakref

import numpy as np
import pytest
from PIL import Image

from co2forest import CO2TreeClassifier, load_model, save_model
from co2forest.segmentation import ForestSegmenter, jaccard_table
from co2forest.segmentation.colours import hexadecimal, label_colours
from co2forest.segmentation.files import read_image, read_label_map
from segment_command import draw, fails, run


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

        module = "co2forest.cli.actions.segment.predict"
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
            patch.setattr("co2forest.cli.actions.segment.predict.load_model", load)
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
