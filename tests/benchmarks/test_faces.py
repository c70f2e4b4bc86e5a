# SPDX-License-Identifier: BSD-3-Clause
"""The experiment on faces, on drawings and with small forests."""

import json
import sys
import types
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
pytestmark = pytest.mark.skipif(
    not BENCHMARKS.exists(), reason="only a source checkout has the benchmarks"
)
FORESTS = ("axis", "two_probe", "co2")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Has the drawings."""
    from faces import drawn

    path = tmp_path_factory.mktemp("data")
    drawn.write(path)
    return path


@pytest.fixture(scope="module")
def settings():
    from faces import config

    return config.read(config.QUICK)


@pytest.fixture
def start(folder, tmp_path, monkeypatch):
    """Runs the program with options."""
    from faces import config, run

    fixed = ["--config", config.QUICK, "--data", folder, "--results", tmp_path / "results"]
    fixed += ["--documents", tmp_path / "docs", "--maps", tmp_path / "maps", "--jobs", "1"]

    def call(*options):
        command = [str(part) for part in ("run", *fixed, *options)]
        monkeypatch.setattr(sys, "argv", command)
        run.main()

    return call


def rows_of(tmp_path, kind):
    from faces import cells

    return cells.read(tmp_path / "results", kind)


def fitted(settings, folder, forest, **parameters):
    from faces import images, selection

    data = images.load(folder, settings["problems"]["drawn"], "train")
    chosen = {"samples_per_tree": 600, "random_state": 0, "n_estimators": 4} | parameters
    return selection.make(settings, forest, {}, **chosen).fit(data.pictures, data.maps)


def labels_of(segmenter, picture):
    """What the segmenter itself predicts, without the border."""
    half = segmenter.window // 2
    inside = segmenter.predict_proba(picture)[half:-half, half:-half]
    return np.asarray(segmenter.classes_)[inside.argmax(axis=2)]


@pytest.mark.parametrize(
    ("forest", "balance"), [("axis", True), ("two_probe", True), ("co2", True), ("co2", False)]
)
def test_parts_of_a_forest_are_forests(settings, folder, forest, balance):
    """The first trees, and trees cut at a depth, give what forests grown so give."""
    from faces import forests, images

    test = images.load(folder, settings["problems"]["drawn"], "test")
    parts = forests.Parts(settings, fitted(settings, folder, forest, balance=balance), jobs=1)
    maps = [parts.predict(picture) for picture in test.pictures]
    assert set(maps[0]) == {(1, None), (2, None), (4, None), (2, 2), (2, 4)}
    for trees, depth in maps[0]:
        chosen = {"n_estimators": trees, "max_depth": depth, "balance": balance}
        grown = fitted(settings, folder, forest, **chosen)
        for picture, predicted in zip(test.pictures, maps, strict=True):
            np.testing.assert_array_equal(predicted[trees, depth], labels_of(grown, picture))
    shallow, deep = ([m[2, depth] for m in maps] for depth in (2, None))
    assert (np.array(shallow) != np.array(deep)).any()  # or a cut would prove nothing


def test_cell_has_the_score_of_the_segmenter(settings, folder):
    from faces import config, forests, images, measured

    cell = config.Cell("forest", "drawn", "co2", 0)
    rows, of_images, fit, maps = forests.measure(settings, cell, {}, folder, jobs=1)
    segmenter = fitted(settings, folder, "co2")
    test = images.load(folder, settings["problems"]["drawn"], "test")
    classes = {
        row["class"]: [row[name] for name in measured.cells.COUNTED]
        for row in rows
        if (row["trees"], row["depth"]) == (4, "")
    }
    table = segmenter.jaccard_table(test.pictures, test.maps)
    assert list(classes) == test.names
    np.testing.assert_array_equal(measured.table_of(classes).jaccard, table.jaccard)
    half = fitted(settings, folder, "co2", n_estimators=2)
    for row, labels, picture, truth in zip(of_images, maps, *test[:2], strict=True):
        np.testing.assert_array_equal(labels, half.predict(picture))
        assert row["jaccard"] == pytest.approx(half.score([picture], [truth]))
    assert (fit["trees"], fit["test_images"]) == (4, 4)


@pytest.mark.parametrize("forest", FORESTS)
def test_every_node_has_the_distribution_of_its_windows(settings, folder, forest):
    from faces import cut

    whole, short = (fitted(settings, folder, forest, max_depth=depth) for depth in (None, 3))
    ratio = whole.class_prior_ / whole.sampled_prior_
    trees, grown = (
        cut.Trees(segmenter.classifier_._forest.arrays(), ratio) for segmenter in (whole, short)
    )
    standing = np.unique(trees.cut(3))
    assert len(standing) == len(grown.distribution) < len(trees.distribution)
    found, expected = trees.distribution[standing], grown.distribution
    order = [np.lexsort(np.round(table, 4).T) for table in (found, expected)]
    np.testing.assert_allclose(found[order[0]], expected[order[1]], atol=1e-5)
    assert trees.leaves == (np.array(whole.classifier_._forest.arrays()["left"]) < 0).sum()


def test_splits_keep_people_together():
    from faces import config, images

    for problem, count in (("multipose6", 182), ("frontal8", 20)):
        about = config.read()["problems"][problem]
        held_out = []
        for number in range(3):
            fit, out = images.split(about, count, number)
            assert sorted([*fit, *out]) == list(range(count))
            people = np.arange(count) // about["pictures"] % about["people"]
            assert not set(people[fit]) & set(people[out])
            assert len(set(people[out])) == about["held_out"]
            held_out.extend(out)
        assert len(set(held_out)) == len(held_out)  # no image twice
    with pytest.raises(SystemExit, match="21 training images, which is no multiple of people=20"):
        images.split(about, 21, 0)


def test_interrupted_selection_goes_on_and_chooses_the_best(start, settings, tmp_path, monkeypatch):
    from faces import run, selection

    monkeypatch.setattr(run, "write_report", lambda *_: None)
    tried = []

    class Segmenter:
        def __init__(self, **parameters):
            self.parameters = parameters
            self.n_estimators = parameters["n_estimators"]
            self.samples_per_tree = parameters["samples_per_tree"]

        def fit(self, pictures, maps):
            assert len(pictures) == 4
            return self

        def score(self, pictures, maps):
            nu, leaf = self.parameters.get("nu", 2), self.parameters.get("min_samples_leaf", 1)
            tried.append((self.parameters["random_state"], nu, leaf))
            if len(tried) == 5:
                raise KeyboardInterrupt
            return 10 * nu + leaf

    monkeypatch.setattr(selection, "make", lambda _, forest, known, **p: Segmenter(**known, **p))
    monkeypatch.setattr(run.images, "load", only_training(run.images.load))
    with pytest.raises(SystemExit, match="goes on with what is missing"):
        start("--only", "selection", "--forests", "co2")
    start("--only", "selection", "--forests", "co2")
    nu_stage = [(0, 2, 1), (0, 1, 1), (0, 4, 1), (1, 2, 1), (1, 1, 1), (1, 4, 1)]
    leaf_stage = [(0, 4, 5), (1, 4, 5)]
    assert tried == [*nu_stage[:5], *nu_stage[4:], *leaf_stage]
    assert len(rows_of(tmp_path, "selection")) == 8
    done = selection.Selection(settings, tmp_path / "results", "drawn", "co2")
    assert done.run() == {"nu": 4, "learning_rate": 1e-3, "min_samples_leaf": 5}
    start("--only", "selection", "--forests", "co2")
    assert len(tried) == 9


def only_training(load):
    """Fails if a selection asks for test images."""

    def call(folder, problem, part):
        assert part == "train"
        return load(folder, problem, part)

    return call


def test_run_and_report(start, tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    from faces import config, drawings
    from faces.measured import Scores

    with monkeypatch.context() as patch:
        patch.setattr(drawings, "write", lambda *_: None)  # takes seconds
        start("--only", "forest", "--forests", "axis", "two_probe")
    text = (tmp_path / "docs" / "faces.md").read_text()
    assert "drawn faces: not measured yet" in text
    assert "no picture of drawn" in capsys.readouterr().out
    start("--list")
    listed = capsys.readouterr().out
    assert "done     forest drawn two_probe seed 0" in listed
    assert "missing  forest drawn co2 seed 0" in listed
    start()
    written = read_all(tmp_path / "docs")
    assert set(written) == {"faces.md", "faces/depth.svg", "faces/trees.svg", "faces/drawn.png"}
    for path in (tmp_path / "docs").glob("**/*.*"):
        path.unlink()
    start("--report")
    assert read_all(tmp_path / "docs") == written

    used = {row["forest"]: json.loads(row["parameters"]) for row in rows_of(tmp_path, "fits")}
    assert set(used) == set(FORESTS)
    assert used["two_probe"] in ({}, {"n_pairs": 20})
    assert "| balanced defaults |" in written["faces.md"].decode()
    scores = Scores(config.read(config.QUICK), tmp_path / "results")
    text = written["faces.md"].decode()
    table = next(line for line in text.splitlines() if line.startswith("| CO2 forest | "))
    numbers = [float(cell) for cell in table.strip("| ").split(" | ")[1:]]
    ours = [scores.jaccard("drawn", "co2", trees) for trees in (2, 4)]
    assert numbers == pytest.approx([*ours, 40.33, 42.55], abs=0.005)
    assert all(40 < score <= 100 for score in ours)
    assert "{{" not in text
    assert len(scores.by_image("drawn", "co2")) == 4
    assert set(scores.by_class("drawn", "axis", 2)) == {"background", "skin", "eyes", "mouth"}


def read_all(folder):
    files = [path for path in folder.glob("**/*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def test_later_rows_count_and_seeds_are_averaged(settings, tmp_path):
    from faces import cells
    from faces.measured import Scores

    def row(seed, right, name="skin"):
        known = {"problem": "drawn", "forest": "co2", "seed": seed, "trees": 2, "depth": ""}
        known |= {"class": name}
        return known | dict(zip(cells.COUNTED, (right, 30, 100 - 30 - right), strict=True))

    cells.add(tmp_path, "counts", [row(0, 10), row(0, 20), row(1, 40)])
    cells.add(tmp_path, "counts", [row(0, 60, "eyes"), row(1, 60, "eyes")])
    image = {"problem": "drawn", "forest": "co2", "trees": 2, "image": 7}
    pairs = [(0, 90.0), (0, 20.0), (1, 40.0)]
    cells.add(tmp_path, "images", [image | {"seed": s, "jaccard": score} for s, score in pairs])
    scores = Scores(settings, tmp_path)
    assert scores.by_image("drawn", "co2") == {7: pytest.approx(30)}
    assert scores.jaccard("drawn", "co2", 2) == pytest.approx(45)
    by_class = scores.by_class("drawn", "co2", 2)
    assert by_class == {"skin": pytest.approx(30), "eyes": pytest.approx(60)}
    assert scores.jaccard("drawn", "co2", 4) is None


def test_pictures_are_chosen_by_scores():
    from faces import pictures

    ours = {0: 50.0, 1: 70.0, 2: 60.0, 3: 40.0, 4: 65.0}
    axis = {0: 49.0, 1: 69.0, 2: 59.0, 3: 60.0, 4: 64.0}
    scores = types.SimpleNamespace(by_image=lambda _, forest: {"co2": ours, "axis": axis}[forest])
    rows = pictures.rows(scores, "drawn")
    assert [(row.why, row.image) for row in rows] == [
        ("median", 2),
        ("best", 1),
        ("most different", 3),
    ]


def test_difference_image_by_image():
    from faces import measured

    found = measured.difference({0: 3.0, 1: 5.0, 2: 4.0}, {0: 1.0, 1: 6.0, 2: 2.0})
    assert found.mean == pytest.approx(1)
    assert found.noise == pytest.approx(2)  # a standard deviation of sqrt(3) by sqrt(3)
    assert (found.better, found.images) == (2, 3)
    assert measured.difference({0: 3.0}, {1: 3.0}) is None


def test_unknown_names_and_missing_files_are_refused(start, tmp_path, capsys):
    with pytest.raises(SystemExit):
        start("--problems", "drawm")
    assert "'drawm' is not one of drawn" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        start("--data", tmp_path)
    assert "no drawn_faces.npz" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="nothing to report"):
        start("--report")


def test_configuration_of_the_project():
    from co2forest.segmentation import ForestSegmenter
    from faces import config, selection

    settings = config.read()
    assert set(settings["forests"]) == set(FORESTS)
    for forest in settings["forests"].values():
        assert len(forest["published"]) == len(settings["report"]["trees"])
        for stage in forest["stages"]:
            for candidate in selection.combinations(stage):
                segmenter = ForestSegmenter(**forest["parameters"] | candidate)
                segmenter._validate_params()
    planned = config.cells(settings)
    assert len(planned) == len(set(planned)) == 12
