# SPDX-License-Identifier: BSD-3-Clause
"""Image and label files: what is read, what is refused, and what is written."""

import os
import pickle
import struct
import tracemalloc
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from co2forest.segmentation import files
from co2forest.segmentation.colours import hexadecimal, label_colours

COLOURS = np.arange(24, dtype=np.uint8).reshape(2, 4, 3) * 10
# A picture of one pixel, in a format that is not read.
GIF = bytes.fromhex("47494638376101000100800000000000ffffff2c00000000010001000002024401003b")
GREY = np.arange(8, dtype=np.uint8).reshape(2, 4) * 30


def save(path, array, **options):
    Image.fromarray(array).save(path, **options)
    return path


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def grey_png(bits, rows, width, height=None):
    """A PNG with grey levels of few bits, which Pillow reads but does not write."""

    def chunk(kind, content):
        check = zlib.crc32(kind + content)
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", check)

    header = struct.pack(">IIBBBBB", width, height or len(rows), bits, 0, 0, 0, 0)
    packed = zlib.compress(b"".join(b"\0" + row for row in rows))
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize("ending", ["png", "tif", "bmp", "ppm", "webp"])
def test_colours_are_read_from_every_format(tmp_path, ending):
    options = {"lossless": True} if ending == "webp" else {}
    path = save(tmp_path / f"a.{ending}", COLOURS, **options)
    image = files.read_image(path)
    assert image.dtype == np.uint8
    np.testing.assert_array_equal(image, COLOURS)


@pytest.mark.parametrize("ending", ["png", "tif", "bmp", "pgm"])
def test_grey_is_read_from_every_format(tmp_path, ending):
    image = files.read_image(save(tmp_path / f"a.{ending}", GREY))
    assert image.dtype == np.uint8
    np.testing.assert_array_equal(image, GREY)


def test_photographs(tmp_path):
    smooth = np.full((16, 16, 3), (200, 100, 50), dtype=np.uint8)
    image = files.read_image(save(tmp_path / "a.jpg", smooth, quality=95))
    assert image.shape == (16, 16, 3)
    assert np.abs(image.astype(int) - smooth).max() < 5


def test_photographs_with_a_preview(tmp_path):
    picture = Image.fromarray(np.full((16, 16, 3), 99, dtype=np.uint8))
    picture.save(tmp_path / "a.jpg", "MPO", save_all=True, append_images=[picture.resize((8, 8))])
    assert files.read_image(tmp_path / "a.jpg").shape == (16, 16, 3)
    with pytest.raises(ValueError, match=r"a\.jpg: JPEG files blur labels"):
        files.read_label_map(tmp_path / "a.jpg")


def test_transparency_and_palettes_become_plain_colours(tmp_path):
    clear = np.dstack([COLOURS, np.zeros((2, 4), dtype=np.uint8)])
    np.testing.assert_array_equal(files.read_image(save(tmp_path / "a.png", clear)), COLOURS)
    indexed = Image.fromarray(GREY // 30)
    indexed.putpalette(COLOURS.tobytes())
    indexed.save(tmp_path / "b.png", transparency=2)
    np.testing.assert_array_equal(files.read_image(tmp_path / "b.png"), COLOURS)
    Image.fromarray(GREY).convert("LA").save(tmp_path / "c.png")
    np.testing.assert_array_equal(files.read_image(tmp_path / "c.png"), GREY)


@pytest.mark.parametrize("dtype", [np.uint16, np.int32, np.float32])
def test_many_bits_become_float32(tmp_path, dtype):
    values = (GREY * 250).astype(dtype) + 1
    image = files.read_image(save(tmp_path / "a.tif", values))
    assert image.dtype == np.float32
    np.testing.assert_array_equal(image, values)


def test_grey_levels_of_16_bits_in_png(tmp_path):
    values = GREY.astype(np.uint16) * 300
    image = files.read_image(save(tmp_path / "a.png", values))
    assert image.dtype == np.float32
    np.testing.assert_array_equal(image, values)
    np.testing.assert_array_equal(files.read_label_map(tmp_path / "a.png"), values)


@pytest.mark.parametrize(
    ("array", "dtype"),
    [
        (COLOURS, np.uint8),
        (GREY.astype(">u2"), np.float32),
        (np.asfortranarray(GREY.astype(np.float64)), np.float32),
        (np.zeros((3, 4, 7), dtype=np.float16), np.float32),
    ],
)
def test_arrays(tmp_path, array, dtype):
    np.save(tmp_path / "a.npy", array)
    image = files.read_image(tmp_path / "a.npy")
    assert image.dtype == dtype
    assert image.flags.c_contiguous
    np.testing.assert_array_equal(image, array)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros((2, 3), dtype=np.int64), "dtype int64; save an image as"),
        (np.zeros((2, 3), dtype=bool), "dtype bool"),
        (np.zeros(5), r"shape .* but this has \(5,\)"),
        (np.zeros((0, 5)), r"but this has \(0, 5\)"),
    ],
)
def test_arrays_that_are_no_images(tmp_path, array, message):
    np.save(tmp_path / "a.npy", array)
    with pytest.raises(ValueError, match=rf"a\.npy: .*{message}"):
        files.read_image(tmp_path / "a.npy")


def test_pickles_are_never_loaded(tmp_path):
    class Mine:
        def __reduce__(self):
            return Path.touch, (tmp_path / "executed",)

    np.save(tmp_path / "a.npy", np.array([Mine()], dtype=object), allow_pickle=True)
    (tmp_path / "b.npy").write_bytes(pickle.dumps(Mine()))
    for read in (files.read_image, files.read_label_map):
        for name in ("a.npy", "b.npy"):
            with pytest.raises(ValueError, match=rf"{name}: "):
                read(tmp_path / name)
    assert not (tmp_path / "executed").exists()


def test_an_array_that_is_shorter_than_its_header_says(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros((1, 1), dtype=np.uint8))
    content = (tmp_path / "a.npy").read_bytes()
    claimed = b"(99999999, 99999999), }"
    begin = content.index(b"(1, 1), }")
    forged = content[:begin] + claimed + content[begin + len(claimed) :]
    (tmp_path / "a.npy").write_bytes(forged)
    with pytest.raises(ValueError, match=r"a\.npy: damaged or cut off"):
        files.read_image(tmp_path / "a.npy")


def test_orientation_of_photographs_is_of_no_account(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6
    path = save(tmp_path / "a.png", COLOURS, exif=exif)
    with pytest.warns(UserWarning, match=r"a\.png: is stored rotated .*orientation 6"):
        image = files.read_image(path)
    np.testing.assert_array_equal(image, COLOURS)


@pytest.mark.parametrize("exif", [b"Exif\0\0garbage", b"Exif\0\0II*\0\xff\xff\xff\xff", b"E"])
def test_damaged_tags_are_of_no_account(tmp_path, exif):
    smooth = np.full((16, 16, 3), 77, dtype=np.uint8)
    image = files.read_image(save(tmp_path / "a.jpg", smooth, exif=exif))
    assert image.shape == smooth.shape


def test_label_maps_with_a_palette_give_indices(tmp_path):
    labels = np.array([[0, 7, 255], [3, 3, 1]], dtype=np.uint8)
    indexed = Image.fromarray(labels)
    indexed.putpalette(np.random.default_rng(0).integers(0, 256, 768, dtype=np.uint8).tobytes())
    for ending in ("png", "tif", "bmp"):
        indexed.save(tmp_path / f"a.{ending}")
        np.testing.assert_array_equal(files.read_label_map(tmp_path / f"a.{ending}"), labels)


def test_label_maps_in_grey_give_values(tmp_path):
    for ending in ("png", "tif", "bmp", "pgm"):
        path = save(tmp_path / f"a.{ending}", GREY)
        np.testing.assert_array_equal(files.read_label_map(path), GREY)
    as_colours = save(tmp_path / "b.png", np.dstack([GREY, GREY, GREY]))
    np.testing.assert_array_equal(files.read_label_map(as_colours), GREY)
    for mode in ("LA", "RGBA"):
        Image.fromarray(GREY).convert(mode).save(tmp_path / "b.png")
        np.testing.assert_array_equal(files.read_label_map(tmp_path / "b.png"), GREY)
    np.save(tmp_path / "c.npy", GREY.astype(np.int64) - 5)
    np.testing.assert_array_equal(files.read_label_map(tmp_path / "c.npy"), GREY.astype(int) - 5)


@pytest.mark.parametrize(
    ("bits", "row", "labels"),
    [(1, 0b1010_0000, [1, 0, 1, 0]), (2, 0b00_01_10_11, [0, 1, 2, 3])],
)
def test_few_bits_are_labels_too(tmp_path, bits, row, labels):
    (tmp_path / "a.png").write_bytes(grey_png(bits, [bytes([row])] * 2, 4))
    np.testing.assert_array_equal(files.read_label_map(tmp_path / "a.png"), [labels] * 2)


def test_four_bits(tmp_path):
    (tmp_path / "a.png").write_bytes(grey_png(4, [b"\x01\x9f"], 4))
    np.testing.assert_array_equal(files.read_label_map(tmp_path / "a.png"), [[0, 1, 9, 15]])


def test_colour_images_are_no_label_maps(tmp_path):
    opaque = np.full((2, 4), 255, dtype=np.uint8)
    half = np.where(GREY > 50, 255, 128).astype(np.uint8)
    blue = COLOURS[:, :, [0, 0, 1]]
    for array, mode in (
        (COLOURS, "RGB"),
        (blue, "RGB"),
        (np.dstack([COLOURS, opaque]), "RGBA"),
        (np.dstack([blue, opaque]), "RGBA"),
        (np.dstack([GREY, GREY, GREY, half]), "RGBA"),
    ):
        path = save(tmp_path / "a.png", array)
        message = rf"a\.png: a colour image \({mode}\), not a label map; convert"
        with pytest.raises(ValueError, match=message):
            files.read_label_map(path)


def test_formats_that_blur_labels(tmp_path):
    for ending in ("jpg", "webp"):
        path = save(tmp_path / f"a.{ending}", np.zeros((8, 8, 3), dtype=np.uint8))
        with pytest.raises(ValueError, match=rf"a\.{ending}: .* files blur labels"):
            files.read_label_map(path)


@pytest.mark.parametrize("array", [np.zeros((2, 2)), np.zeros((2, 2, 1), dtype=int)])
def test_arrays_that_are_no_label_maps(tmp_path, array):
    np.save(tmp_path / "a.npy", array)
    with pytest.raises(ValueError, match=r"a\.npy: a label map must be a 2-D array"):
        files.read_label_map(tmp_path / "a.npy")


@pytest.mark.parametrize("read", [files.read_image, files.read_label_map])
class TestBadFiles:
    def test_missing(self, tmp_path, read):
        with pytest.raises(FileNotFoundError, match=r"a\.png: no such file"):
            read(tmp_path / "a.png")

    def test_empty(self, tmp_path, read):
        (tmp_path / "a.png").touch()
        with pytest.raises(ValueError, match=r"a\.png: the file is empty"):
            read(tmp_path / "a.png")

    @pytest.mark.parametrize("content", [b"no image", b"%!PS-Adobe-3.0 EPSF-3.0\n", GIF])
    def test_something_else(self, tmp_path, read, content):
        (tmp_path / "a.png").write_bytes(content)
        with pytest.raises(ValueError, match=r"a\.png: not a PNG"):
            read(tmp_path / "a.png")

    @pytest.mark.parametrize("ending", ["png", "bmp", "ppm", "tif"])
    def test_cut_off(self, tmp_path, read, ending):
        noise = np.random.default_rng(0).integers(0, 256, (40, 40), dtype=np.uint8)
        path = save(tmp_path / f"a.{ending}", noise)
        path.write_bytes(path.read_bytes()[:700])
        with pytest.raises(
            ValueError, match=rf"a\.{ending}: (damaged or cut off|not a PNG)"
        ) as info:
            read(path)
        assert "\n" not in str(info.value)

    def test_too_large(self, tmp_path, read):
        (tmp_path / "a.png").write_bytes(grey_png(1, [bytes(2500)], 20_000, 20_000))
        with pytest.raises(ValueError, match=r"a\.png: has more than \d+ pixels"):
            read(tmp_path / "a.png")

    def test_several_pages(self, tmp_path, read):
        page = Image.fromarray(GREY)
        page.save(tmp_path / "a.tif", save_all=True, append_images=[page, page])
        with pytest.raises(ValueError, match=r"a\.tif: has 3 pages"):
            read(tmp_path / "a.tif")

    def test_a_folder_or_a_pipe(self, tmp_path, read):
        (tmp_path / "a.png").mkdir()
        with pytest.raises(FileNotFoundError, match=r"a\.png: is not a regular file"):
            read(tmp_path / "a.png")
        if hasattr(os, "mkfifo"):
            os.mkfifo(tmp_path / "b.png")
            with pytest.raises(FileNotFoundError, match=r"b\.png: is not a regular file"):
                read(tmp_path / "b.png")


def test_cut_off_photograph(tmp_path):
    noise = np.random.default_rng(0).integers(0, 256, (40, 40, 3), dtype=np.uint8)
    path = save(tmp_path / "a.jpg", noise)
    path.write_bytes(path.read_bytes()[:-500])
    with pytest.raises(ValueError, match=r"a\.jpg: damaged or cut off"):
        files.read_image(path)


def test_damaged_bytes_never_crash(tmp_path):
    """Whatever byte is wrong: an image, or a ValueError that names the file."""
    rng = np.random.default_rng(1)
    noise = rng.integers(0, 256, (12, 12, 3), dtype=np.uint8)
    for ending in ("png", "jpg", "tif", "bmp", "ppm", "webp"):
        path = save(tmp_path / f"a.{ending}", noise)
        whole = path.read_bytes()
        for _ in range(40):
            content = bytearray(whole)
            for place in rng.integers(0, min(len(whole), 300), 3):
                content[place] = rng.integers(256)
            path.write_bytes(content)
            for read in (files.read_image, files.read_label_map):
                try:
                    read(path)
                except ValueError as error:
                    assert f"a.{ending}: " in str(error)  # noqa: PT017 (most are read)


def test_images_of_a_folder(tmp_path):
    for name in ("b.PNG", "a.jpeg", "c.npy", "notes.txt", ".hidden.png"):
        (tmp_path / name).touch()
    (tmp_path / "folder.png").mkdir()
    found = files.find_images(tmp_path)
    assert [path.name for path in found.files] == ["a.jpeg", "b.PNG", "c.npy"]
    assert [path.name for path in found.others] == ["notes.txt"]
    assert files.find_images(tmp_path / "notes.txt").files == [tmp_path / "notes.txt"]


def test_folders_without_images(tmp_path):
    with pytest.raises(ValueError, match="no images in this folder"):
        files.find_images(tmp_path)
    with pytest.raises(FileNotFoundError, match="absent: no such file or folder"):
        files.find_images(tmp_path / "absent")


def paths(*names):
    return [Path(name) for name in names]


def test_pairs_have_the_same_name():
    pairs = files.pair_by_stem(paths("i/b.jpg", "i/a.png"), paths("l/a.png", "l/b.tif"))
    assert pairs == [tuple(paths("i/b.jpg", "l/b.tif")), tuple(paths("i/a.png", "l/a.png"))]
    assert files.pair_by_stem(paths("photo.jpg"), paths("map.png"))
    some = files.pair_by_stem(paths("a.jpg"), paths("l/a.png", "l/b.png"), spare_maps=True)
    assert some == [tuple(paths("a.jpg", "l/a.png"))]


@pytest.mark.parametrize(
    ("images", "label_maps", "message"),
    [
        (["i/a.png", "i/b.png"], ["l/a.png"], r"i.b\.png: no label map b\.\* in l"),
        (["i/a.png"], ["l/a.png", "l/c.png"], r"l.c\.png: a label map without an image c\.\* in i"),
        (["i/a.png", "i/a.jpg"], ["l/a.png"], r"i.a\.jpg: has the same name as i.a\.png"),
        (["i/a.png"], ["l/a.png", "l/a.tif"], r"l.a\.tif: has the same name as l.a\.png"),
    ],
)
def test_missing_and_ambiguous_partners(images, label_maps, message):
    with pytest.raises(ValueError, match=message):
        files.pair_by_stem(paths(*images), paths(*label_maps))


def test_label_maps_are_written_with_their_palette(tmp_path):
    labels = np.arange(256).reshape(16, 16)
    colours = label_colours(range(255), 255)
    files.write_label_map(tmp_path / "a.png", labels, colours, 255)
    np.testing.assert_array_equal(files.read_label_map(tmp_path / "a.png"), labels)
    np.testing.assert_array_equal(files.read_image(tmp_path / "a.png").reshape(256, 3), colours)
    with Image.open(tmp_path / "a.png") as picture:
        assert picture.mode == "P"
        alpha = np.asarray(picture.convert("RGBA"))[:, :, 3].ravel()
    np.testing.assert_array_equal(alpha == 0, np.arange(256) == 255)
    assert names_in(tmp_path) == ["a.png"]


@pytest.mark.parametrize("wrong", [-1, 256])
def test_labels_that_no_png_holds(tmp_path, wrong):
    with pytest.raises(ValueError, match=f"labels from 0 to 255, but this map has .*{wrong}"):
        files.write_label_map(tmp_path / "a.png", np.array([[5, wrong]]), label_colours([5]))
    assert not names_in(tmp_path)


def test_overlays_leave_the_void_as_it_is(tmp_path):
    labels = np.array([[0, 1, 255, 255], [1, 0, 255, 0]])
    colours = label_colours([0, 1], 255)
    for image in (COLOURS, GREY):
        files.write_overlay(tmp_path / "a.png", image, labels, colours, 255)
        shown = files.read_image(tmp_path / "a.png")
        expected = image if image.ndim == 3 else np.dstack([image] * 3)
        void = labels == 255
        np.testing.assert_array_equal(shown[void], expected[void])
        middle = (expected.astype(int) + colours[labels]) / 2
        assert np.abs(shown[~void] - middle[~void]).max() <= 0.5


@pytest.mark.parametrize("channels", [None, 1, 2, 5])
def test_overlays_of_other_images(tmp_path, channels):
    image = np.array([[-5.0, np.nan], [5.0, 0.0]], dtype=np.float32)
    if channels:
        image = np.dstack([image] * channels)
    labels = np.zeros((2, 2), dtype=np.uint8)
    files.write_overlay(tmp_path / "a.png", image, labels, label_colours([]), 0)
    expected = np.repeat(np.array([[0, 0], [255, 128]])[:, :, np.newaxis], 3, axis=2)
    np.testing.assert_array_equal(files.read_image(tmp_path / "a.png"), expected)


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_overlays_of_many_blocks_of_rows(tmp_path, monkeypatch, dtype):
    """The same as all at once, also where numbers are spread."""
    rng = np.random.default_rng(0)
    image = rng.integers(0, 256, (15, 7, 3)).astype(dtype)
    labels = rng.integers(0, 3, (15, 7))
    shown = []
    for pixels in (2**20, 14):
        monkeypatch.setattr(files, "_BLOCK", pixels)
        files.write_overlay(tmp_path / "a.png", image, labels, label_colours([0, 1]), 2)
        shown.append(files.read_image(tmp_path / "a.png"))
    np.testing.assert_array_equal(*shown)


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_overlays_take_little_memory(tmp_path, dtype):
    image = np.zeros((2000, 3000, 3), dtype=dtype)
    labels = np.ones(image.shape[:2], dtype=np.uint8)
    tracemalloc.start()
    try:
        files.write_overlay(tmp_path / "a.png", image, labels, label_colours([1]), 0)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 10 * labels.size  # bytes; all at once, it was 48 of float64 and more


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "a.png"
    path.write_bytes(b"old")

    def full(self, target):
        raise OSError(28, "No space left on device", str(self))

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="No space") as info:
        files.write_label_map(path, GREY, label_colours([1]))
    assert info.value.filename == str(path)
    assert path.read_bytes() == b"old"
    assert names_in(tmp_path) == ["a.png"]


def test_links_stay_links(tmp_path):
    (tmp_path / "target").touch()
    (tmp_path / "link").symlink_to(tmp_path / "target")
    files.write_label_map(tmp_path / "link", GREY, label_colours([1]))
    assert (tmp_path / "link").is_symlink()
    np.testing.assert_array_equal(files.read_label_map(tmp_path / "target"), GREY)
    with pytest.raises(OSError, match="is not a regular file"):
        files.write_label_map(tmp_path, GREY, label_colours([1]))


def test_colours_are_distinct():
    colours = label_colours(range(256))
    assert len(np.unique(colours, axis=0)) == 256
    assert colours.max(axis=1).min() > 10  # black is the void
    few = label_colours([3, 40, 200, 7], void=7)
    assert few[7].tolist() == [0, 0, 0]
    np.testing.assert_array_equal(few[[3, 40, 200]], colours[:3])
    assert hexadecimal(few[3]) == "#e69f00"


# Roughly what a person without red, green or blue cones sees of linear red, green and blue.
BLINDNESS = {
    "none": np.eye(3),
    "red": [[0.112, 0.888, 0.0], [0.112, 0.888, 0.0], [0.004, -0.004, 1.0]],
    "green": [[0.293, 0.707, 0.0], [0.293, 0.707, 0.0], [-0.022, 0.022, 1.0]],
    "blue": [[1.0, 0.127, -0.127], [0.0, 0.874, 0.126], [0.0, 0.874, 0.126]],
}


@pytest.mark.parametrize("kind", BLINDNESS)
def test_the_first_eight_colours_differ_for_everybody(kind):
    linear = (label_colours(range(8))[:8] / 255.0) ** 2.2
    seen = np.clip(linear @ np.array(BLINDNESS[kind]).T, 0, 1) ** (1 / 2.2) * 255
    distances = np.linalg.norm(seen[:, np.newaxis] - seen, axis=2) + 1e3 * np.eye(8)
    assert distances.min() > 30
