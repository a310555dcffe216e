"""Pictures before chat models: within a budget, each encoded once, and what cannot be shown is said."""

import asyncio
import base64
import threading
import zlib
from collections import Counter
from io import BytesIO
from typing import Any

import pytest
from hostile_files import png
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from quoteweave.core.answers import Context
from quoteweave.core.errors import UsageError
from quoteweave.core.files.pictures import UnfitPicture
from quoteweave.core.records import Hit, Quote
from quoteweave.generation.prompt_pictures import (
    InlinePictures,
    LinkedPictures,
    PictureLimits,
    PreparedPictures,
    PromptPictures,
    encode,
)

PLACE = {"document": "a.pdf", "page": 0, "page_label": "1", "bbox": (0.0, 0.0, 9.0, 9.0), "kind": "image"}


def context(*keys: str | None) -> Context:
    quotes = [
        Quote.model_validate({**PLACE, "id": f"d:0:{n}", "layout": "chart", "image": k}) for n, k in enumerate(keys)
    ]
    return Context(images=tuple(Hit(rank=n, score=1, quote=quote) for n, quote in enumerate(quotes, 1)))


def file(width: int, height: int, form: str = "PNG", mode: str = "RGB", **options: Any) -> bytes:
    written = BytesIO()
    Image.linear_gradient("L").resize((width, height)).convert(mode).save(written, form, **options)
    return written.getvalue()


def header_alone(width: int, height: int) -> bytes:
    """A PNG that says it is so large, and has nothing of it."""
    return png(width, height, zlib.compress(b""))


def opened(url: str) -> Image.Image:
    head, data = url.split(",")
    image = Image.open(BytesIO(base64.b64decode(data)))
    assert head == f"data:{Image.MIME[str(image.format)]};base64"
    return image


class Folder:
    """Counts how often each file is read."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self.files = files
        self.reads: Counter[str] = Counter()

    def __call__(self, key: str, /) -> bytes:
        self.reads[key] += 1
        if key not in self.files:
            raise FileNotFoundError(2, "No such file or directory")
        return self.files[key]


def show(pictures: PromptPictures, made: Context) -> PreparedPictures:
    return asyncio.run(pictures.shown(made))


@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP", "GIF"])
def test_a_picture_within_the_limits_is_sent_byte_for_byte(form: str) -> None:
    stored = file(30, 20, form)
    # The name says something else, but the content of the file decides what it is.
    shown = show(InlinePictures(Folder({"a.bin": stored}), PictureLimits(max_pixels=600)), context(None, "a.bin"))
    assert list(shown.urls) == ["image2"]
    assert base64.b64decode(shown.urls["image2"].split(",")[1]) == stored
    assert opened(shown.urls["image2"]).format == form
    assert shown.warnings == ()


@pytest.mark.parametrize(
    ("form", "mode", "sent", "sent_mode"),
    [
        ("PNG", "RGB", "PNG", "RGB"),
        ("PNG", "1", "PNG", "RGB"),
        ("PNG", "P", "PNG", "RGB"),
        ("PNG", "I;16", "PNG", "I;16"),
        ("PNG", "RGBA", "PNG", "RGBA"),
        ("JPEG", "RGB", "JPEG", "RGB"),
        ("JPEG", "CMYK", "JPEG", "RGB"),
        ("JPEG", "L", "JPEG", "L"),
        ("WEBP", "RGB", "PNG", "RGB"),
        ("GIF", "P", "PNG", "RGB"),
    ],
)
def test_a_larger_one_is_shrunk_and_keeps_its_form(form: str, mode: str, sent: str, sent_mode: str) -> None:
    image = opened(encode(file(300, 200, form, mode), 15_000).url)
    assert (image.size, image.format, image.mode) == ((150, 100), sent, sent_mode)
    image.load()
    assert Image.open(BytesIO(file(300, 200, form, mode))).size == (300, 200)


def test_a_shrunk_photograph_stands_upright() -> None:
    turned = Image.Exif()
    turned[0x0112] = 6
    image = opened(encode(file(300, 200, "JPEG", exif=turned), 15_000).url)
    assert image.size == (100, 150)
    assert image.getexif().get(0x0112) is None


@given(st.integers(1, 400), st.integers(1, 400), st.integers(1, 2000))
def test_no_picture_has_more_pixels_than_it_may(width: int, height: int, most: int) -> None:
    written = BytesIO()
    Image.new("L", (width, height)).save(written, "PNG")
    made = encode(written.getvalue(), most)
    small = opened(made.url)
    assert small.width * small.height == made.pixels <= most
    assert (made.pixels == width * height) is (width * height <= most)
    if min(small.size) > 10:
        assert small.width / small.height == pytest.approx(width / height, rel=0.1)


@pytest.mark.parametrize(
    ("stored", "reason"),
    [
        (b"", "is an empty file"),
        (b"<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>", "is no PNG, JPEG, WebP or GIF"),
        (file(9, 9, "TIFF"), "is no PNG, JPEG, WebP or GIF"),
        (header_alone(0, 0), "has no pixels"),
        (header_alone(0, 9), "has no pixels"),
        (header_alone(9, 9), "is damaged"),
        (file(60, 60)[:100], "is damaged"),
        (file(60, 60, "JPEG")[:400], "is damaged"),
        (header_alone(9_500, 9_500), "unpacks to more than 90 megapixels"),
        (header_alone(100_000, 100_000), "unpacks to more than 90 megapixels"),
    ],
)
def test_a_file_that_cannot_be_shown_is_named_and_costs_the_others_nothing(stored: bytes, reason: str) -> None:
    with pytest.raises(UnfitPicture, match=reason):
        encode(stored, 10**12)
    shown = show(InlinePictures(Folder({"bad": stored, "good": file(9, 9)})), context("bad", "good", "gone"))
    assert list(shown.urls) == ["image2"]
    bad, gone = shown.warnings
    assert bad.startswith("The crop of image1 ")
    assert reason in bad
    assert gone == "The crop of image3 could not be read (No such file or directory); the model was given its words."


def test_pictures_beyond_the_number_are_words_and_are_not_read() -> None:
    folder = Folder({"a": file(9, 9), "b": b"", "c": file(8, 8), "d": file(7, 7), "e": file(6, 6)})
    limits = PictureLimits(max_pictures=2)
    shown = show(InlinePictures(folder, limits), context("a", "b", "c", "d", None, "e"))
    assert list(shown.urls) == ["image1", "image3"]
    assert len(shown.warnings) == 2
    assert shown.warnings[1] == (
        "A prompt shows 2 pictures at most (max_pictures); the model was given the words of image4, image6."
    )
    assert set(folder.reads) == {"a", "b", "c"}


def test_all_pictures_keep_to_the_total_by_one_greatest_size() -> None:
    folder = Folder({"small": file(10, 10), "wide": file(200, 100), "tall": file(100, 400)})
    limits = PictureLimits(max_pixels=30_000, max_total_pixels=25_000)
    shown = show(InlinePictures(folder, limits), context("small", "wide", "tall"))
    small, wide, tall = (opened(url) for url in shown.urls.values())
    # Steps of 30,000: 22,500, 16,875, 12,656, 9,492; the share of the two larger ones is 12,450.
    assert limits.greatest([100, 20_000, 29_929]) == 9_492
    assert small.size == (10, 10)
    assert (wide.size, tall.size) == ((137, 68), (48, 194))


@given(st.lists(st.integers(1, 10**6), max_size=30), st.integers(1, 10**7), st.integers(1, 10**7))
def test_the_greatest_size_keeps_to_the_total(pixels: list[int], most: int, total: int) -> None:
    limits = PictureLimits(max_pixels=most, max_total_pixels=total)
    greatest = limits.greatest([min(one, most) for one in pixels])
    assert 1 <= greatest <= most
    assert sum(min(one, greatest) for one in pixels) <= max(total, len(pixels))


def test_each_picture_is_read_and_encoded_once_whoever_asks() -> None:
    folder = Folder({str(n): file(40 + n, 40) for n in range(6)})
    pictures = InlinePictures(folder, PictureLimits(max_pixels=1_000))

    async def ask() -> list[PreparedPictures]:
        return await asyncio.gather(*(pictures.shown(context(*folder.files)) for _ in range(50)))

    answers: list[PreparedPictures] = []
    threads = [threading.Thread(target=lambda: answers.extend(asyncio.run(ask()))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 200
    assert all(shown == answers[0] for shown in answers)
    assert len(answers[0].urls) == 6
    assert set(folder.reads.values()) == {1}


def test_those_used_last_are_kept_within_the_bytes_that_are_allowed() -> None:
    folder = Folder({name: file(20, 20) for name in "abc"})
    one = len(encode(folder.files["a"], 400).url)
    pictures = InlinePictures(folder, kept_bytes=2 * one + 1_000)
    for name in "abacab":  # c takes b's place, and b then c's
        assert len(show(pictures, context(name)).urls) == 1
    assert folder.reads == {"a": 1, "b": 2, "c": 1}
    none_kept = InlinePictures(folder, kept_bytes=0)
    assert [show(none_kept, context("a")) == show(pictures, context("a")) for _ in range(2)] == [True, True]
    assert folder.reads["a"] == 3


def test_a_file_that_was_mended_is_shown() -> None:
    folder = Folder({"a": b""})
    pictures = InlinePictures(folder)
    assert show(pictures, context("a")).urls == {}
    folder.files["a"] = file(9, 9)
    assert list(show(pictures, context("a")).urls) == ["image1"]


def test_a_question_given_up_does_not_cost_another_its_picture() -> None:
    reading, go_on = threading.Event(), threading.Event()

    def slow(key: str, /) -> bytes:
        reading.set()
        go_on.wait(10)
        return file(9, 9)

    async def ask() -> PreparedPictures:
        pictures = InlinePictures(slow)
        first, second = (asyncio.create_task(pictures.shown(context("a"))) for _ in range(2))
        await asyncio.to_thread(reading.wait, 10)
        first.cancel()
        go_on.set()
        return await second

    assert list(asyncio.run(ask()).urls) == ["image1"]


def test_pictures_on_a_server_are_named_and_not_read() -> None:
    pictures = LinkedPictures("https://host/crops", PictureLimits(max_pictures=2))
    keys = ("ab/c d#1?.png", None, "../secret", "/etc/passwd", "a\\..\\b.png", "x.png")
    shown = show(pictures, context(*keys))
    assert shown.urls == {
        "image1": "https://host/crops/ab/c%20d%231%3F.png",
        "image5": "https://host/crops/a%5C..%5Cb.png",
    }
    assert shown.warnings == (
        "The crop of image3 has a key that is no path ('../secret'); the model was given its words.",
        "The crop of image4 has a key that is no path ('/etc/passwd'); the model was given its words.",
        "A prompt shows 2 pictures at most (max_pictures); the model was given the words of image6.",
    )


@pytest.mark.parametrize("address", ["crops", "file:///crops", "https://", "https://host/crops?key=1", "https://h/#a"])
def test_an_address_that_is_no_folder_is_refused(address: str) -> None:
    with pytest.raises(UsageError, match="is no address of a folder of pictures"):
        LinkedPictures(address)


def test_pictures_take_as_many_tokens_as_models_count_at_most() -> None:
    limits = PictureLimits(max_pictures=3, max_pixels=75_000, max_total_pixels=200_000)
    assert [limits.tokens(count) for count in (0, 1, 2, 3, 9)] == [0, 100, 200, 267, 267]
