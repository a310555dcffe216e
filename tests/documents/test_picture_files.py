"""Picture files as pages: how they are shown, how large they are, and what is refused."""

from pathlib import Path

import numpy as np
import pytest
from made_files import picture, png_that_claims, tiff_that_claims
from PIL import Image

from quoteweave.collection.stores.content import ImageStore
from quoteweave.core.errors import DamagedDocument
from quoteweave.documents.layout.page import PageReader
from quoteweave.documents.sources import image_files as picture_files
from quoteweave.documents.sources.image_files import open_image_file
from quoteweave.documents.sources.raw_page import Raster


def drawn(path: Path, number: int = 0) -> Raster:
    with open_image_file(path) as frames:
        return frames.draw(number)


def refusal(path: Path) -> str:
    with pytest.raises(DamagedDocument) as caught:
        drawn(path)
    return str(caught.value)


def test_a_picture_has_as_many_points_as_its_resolution_says(tmp_path: Path) -> None:
    said = drawn(picture(tmp_path / "a.png", (300, 600), dpi=(300, 300)))
    assert said.pixels.shape == (600, 300, 3)
    assert said.scale == pytest.approx(300 / 72, rel=1e-3)
    assert drawn(picture(tmp_path / "b.png", (300, 600))).scale == picture_files.USUAL_DPI / 72
    assert drawn(picture(tmp_path / "c.png", (300, 600), dpi=(1, 1))).scale == picture_files.USUAL_DPI / 72


def test_a_large_picture_is_drawn_smaller_with_the_same_points(tmp_path: Path) -> None:
    large = drawn(picture(tmp_path / "a.jpg", (6000, 3000), dpi=(600, 600)))
    assert large.pixels.shape == (1500, 3000, 3)
    assert large.pixels.shape[1] / large.scale == pytest.approx(720)


def test_a_photograph_is_turned_upright(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # turn by 90 degrees
    assert drawn(picture(tmp_path / "a.jpg", (40, 20), exif=exif)).pixels.shape == (40, 20, 3)


def test_a_refusal_does_not_tell_where_the_file_lies(tmp_path: Path) -> None:
    (tmp_path / "a.tif").write_bytes(b"II*\0\x08\0\0\0\0\0\0\0\0\0")
    assert refusal(tmp_path / "a.tif") == "'a.tif' cannot be opened as a picture (it is not a picture, or damaged)"


@pytest.mark.parametrize("suffix", [".webp", ".png", ".jpg"])
def test_a_picture_whose_exif_data_is_damaged_is_read_as_it_lies(tmp_path: Path, suffix: str) -> None:
    path = picture(tmp_path / f"a{suffix}", (40, 20), exif=b"Exif\0\0" + bytes(40))
    with open_image_file(path) as frames:
        page = frames.read(0)
    assert page.picture.pixels.shape == (20, 40, 3)
    assert page.warnings == ("what its EXIF data says is damaged; it may lie on its side",)


def test_what_is_white_on_nothing_is_seen(tmp_path: Path) -> None:
    image = Image.new("RGBA", (20, 10), (0, 0, 0, 0))
    image.paste((255, 255, 255, 255), (5, 2, 15, 8))
    image.save(tmp_path / "a.png")
    pixels = drawn(tmp_path / "a.png").pixels
    assert (pixels[5, 10].tolist(), pixels[0, 0].tolist()) == ([255] * 3, [0] * 3)


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P"])
def test_what_is_transparent_is_white(tmp_path: Path, mode: str) -> None:
    Image.new("RGBA", (20, 10), (0, 0, 0, 0)).convert(mode).save(
        tmp_path / "a.png", transparency=0 if mode == "P" else None
    )
    assert drawn(tmp_path / "a.png").pixels.min() == 255


@pytest.mark.parametrize("mode", ["1", "L", "CMYK", "YCbCr", "RGB"])
def test_every_colour_space_becomes_rgb(tmp_path: Path, mode: str) -> None:
    Image.new("RGB", (20, 10), (255, 0, 0)).convert(mode).save(tmp_path / "a.tif")
    pixels = drawn(tmp_path / "a.tif").pixels
    assert pixels.dtype == np.uint8
    assert pixels.shape == (10, 20, 3)
    red, others = pixels[..., 0].min(), pixels[..., 1:].max()
    assert mode in ("1", "L") or (red > 200 and others < 60)


@pytest.mark.parametrize("name", ["a.png", "a.tif"])
def test_sixteen_bits_are_not_cut_off(tmp_path: Path, name: str) -> None:
    levels = np.linspace(0, 65535, 256, dtype=np.uint16).reshape(16, 16)
    Image.fromarray(levels).save(tmp_path / name)
    assert (drawn(tmp_path / name).pixels[..., 0].ravel() == np.arange(256)).all()


def test_a_tiff_has_a_page_for_each_frame_and_an_animation_only_one(tmp_path: Path) -> None:
    for name, grows in {"a.tif": 1, "a.webp": 0, "a.png": 0}.items():
        frames = [Image.new("RGB", (20, 10 + grows * i), (i, 0, 0)) for i in range(3)]
        frames[0].save(tmp_path / name, save_all=True, append_images=frames[1:])
    with open_image_file(tmp_path / "a.tif") as opened:
        assert opened.count == 3
        # In any order, as ranges of pages are read by several processes.
        assert [opened.draw(i).pixels.shape[0] for i in (2, 0, 1)] == [12, 10, 11]
    for name in ("a.webp", "a.png"):
        with open_image_file(tmp_path / name) as opened:
            assert opened.count == 1


def test_a_picture_of_one_pixel_is_a_picture(tmp_path: Path) -> None:
    assert drawn(picture(tmp_path / "a.png", (1, 1))).pixels.shape == (1, 1, 3)
    assert drawn(picture(tmp_path / "b.png", (1, 20_000))).pixels.shape == (16_000, 1, 3)


@pytest.mark.parametrize("size", [(60_000, 60_000), (10_000, 9_001)])
@pytest.mark.parametrize("name", ["a.png", "a.tif"])
def test_what_unpacks_to_too_much_is_told_by_its_header(tmp_path: Path, name: str, size: tuple[int, int]) -> None:
    (tmp_path / name).write_bytes(png_that_claims(*size) if name == "a.png" else tiff_that_claims(size))
    assert refusal(tmp_path / name) == f"'{name}' unpacks to more than 90 megapixels; save it smaller"


def test_a_later_frame_may_be_too_large_as_well(tmp_path: Path) -> None:
    (tmp_path / "a.tif").write_bytes(tiff_that_claims((3, 3), (60_000, 60_000)))
    with open_image_file(tmp_path / "a.tif") as frames:
        assert frames.count == 2
        assert frames.draw(0).pixels.shape == (3, 3, 3)
        with pytest.raises(DamagedDocument, match="more than 90 megapixels"):
            frames.draw(1)


def test_a_damaged_frame_does_not_hide_the_others(tmp_path: Path) -> None:
    data = tiff_that_claims((3, 3), (3, 3))
    (tmp_path / "a.tif").write_bytes(data[:-60])
    with open_image_file(tmp_path / "a.tif") as frames:
        assert frames.draw(0).pixels.shape == (3, 3, 3)
        assert frames.count == 2
        with pytest.raises(Exception, match=r"."):
            frames.draw(1)


def test_too_many_frames_are_told_without_counting_them(tmp_path: Path) -> None:
    (tmp_path / "a.tif").write_bytes(tiff_that_claims(*[(3, 3)] * (picture_files.MAX_FRAMES + 1)))
    assert refusal(tmp_path / "a.tif") == "'a.tif' holds more than 2000 pictures; split it"


def test_damaged_pictures_are_refused(tmp_path: Path) -> None:
    for name, data in {
        "a.png": b"\x89PNG\r\n\x1a\n",
        "b.jpg": b"\xff\xd8\xff",
        "c.tif": b"II*\x00\xff\xff\xff\xff",
    }.items():
        (tmp_path / name).write_bytes(data)
        assert refusal(tmp_path / name).startswith(f"'{name}' cannot be opened as a picture")


@pytest.mark.parametrize("mode", ["RGB", "L", "P", "RGBA", "1", "I;16", "F"])
def test_a_large_picture_read_in_strips_looks_as_it_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    monkeypatch.setattr(picture_files, "MAX_SIDE_PIXELS", 300)
    monkeypatch.setattr(picture_files, "STRIP", 16)
    across = np.linspace(0, 255, 700, dtype=np.float32)
    values = across[None, :] * np.linspace(0, 1, 650, dtype=np.float32)[:, None]
    kinds: dict[str, type[np.generic]] = {"I;16": np.uint16, "F": np.float32}
    image = Image.fromarray((values * (200 if mode in kinds else 1)).astype(kinds.get(mode, np.uint8)))
    path = tmp_path / ("a.tif" if mode in kinds else "a.png")
    (image if mode in kinds else image.convert(mode)).save(path)
    pixels = drawn(path).pixels
    assert pixels.shape == (279, 300, 3)
    expected = np.asarray(Image.fromarray(values).resize((30, 28), Image.Resampling.BOX))
    found = np.asarray(Image.fromarray(pixels).convert("L").resize((30, 28), Image.Resampling.BOX), dtype=float)
    assert np.abs(found - expected).max() < 12


def test_what_is_animated_says_so(tmp_path: Path) -> None:
    frames = [Image.new("RGB", (60, 60), (shade, 0, 0)) for shade in (0, 90, 200)]
    for name in ("a.webp", "a.png"):
        frames[0].save(tmp_path / name, save_all=True, append_images=frames[1:])
        with open_image_file(tmp_path / name) as opened:
            content = PageReader(ImageStore(tmp_path / "images"), None).read(opened.read(0))
        assert content.warnings == ("it is animated: 2 more pictures were left out",)
