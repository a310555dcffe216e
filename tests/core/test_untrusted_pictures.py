"""Pictures that are not trusted, read within limits; and data URLs there and back."""

import base64
import warnings
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from quoteweave.core.files.pictures import (
    TooManyPixels,
    UnfitPicture,
    encode_picture,
    from_data_url,
    load_pixels,
    media_type_of,
    open_picture,
    to_data_url,
)


def file(file_format: str = "PNG", size: tuple[int, int] = (40, 30)) -> bytes:
    held = BytesIO()
    Image.effect_noise(size, 50).convert("RGB").save(held, file_format)
    return held.getvalue()


def read(source: bytes | Path, formats: tuple[str, ...] | None = None, megapixels: float = 1) -> tuple[int, int]:
    with open_picture(source, formats=formats, megapixels=megapixels) as image:
        load_pixels(image)
        return image.size


def test_bytes_and_files(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(file())
    assert read(path) == read(file()) == (40, 30)


def test_a_size_is_refused_before_anything_is_unpacked() -> None:
    header = file(size=(2000, 1000))[:100]
    with pytest.raises(TooManyPixels, match=r"^unpacks to more than 1 megapixels$"):
        read(header)


def test_a_bomb_is_refused_and_pillow_warns_of_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 1000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read(file()) == (40, 30)
        with pytest.raises(TooManyPixels):
            read(file(size=(200, 200)))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"no picture", "is no PNG or WebP, or has no pixels"),
        (file("JPEG"), "is no PNG or WebP, or has no pixels"),
        (file()[:500], "is damaged"),
    ],
)
def test_what_is_no_picture(data: bytes, reason: str) -> None:
    with pytest.raises(UnfitPicture, match=f"^{reason}"):
        read(data, ("PNG", "WEBP"))


def test_errors_of_the_block_pass() -> None:
    with pytest.raises(ZeroDivisionError), open_picture(file()):
        _ = 1 / 0


@pytest.mark.parametrize(("file_format", "media_type"), [("PNG", "image/png"), ("JPEG", "image/jpeg")])
def test_encoded_pictures_are_read_again(file_format: str, media_type: str) -> None:
    data = encode_picture(Image.new("RGB", (3, 2)), "PNG" if file_format == "PNG" else "JPEG")
    assert (read(data, (file_format,)), media_type_of(data)) == ((3, 2), media_type)


def test_media_types() -> None:
    assert media_type_of(file("WEBP")) == "image/webp"
    assert [media_type_of(data) for data in (file("GIF"), b"", b"<svg/>", b"RIFF....WAVE")] == [None] * 4


def test_data_urls() -> None:
    data = bytes(range(256))
    assert from_data_url(to_data_url(data, "image/png")) == data
    assert from_data_url("data:;base64," + base64.b64encode(data).decode().replace("+", "%2B")) == data
    assert from_data_url("data:,a%20b") == b"a b"


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("data:image/png;base64", "has no data in its data: address"),
        ("data:image/png;base64,A", "has a data: address that is damaged"),
        ("data:," + "a" * 2000, r"is larger than 0\.001 MB"),
    ],
)
def test_data_urls_that_are_refused(url: str, reason: str) -> None:
    with pytest.raises(UnfitPicture, match=f"^{reason}$"):
        from_data_url(url, megabytes=0.001)
