"""What visual models look at, compared with what people are shown, over the sample documents and a few made here."""

import io
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from made_collections import made_quote, put
from PIL import Image
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

from quoteweave.collection.collection import Collection
from quoteweave.core.errors import DocumentError, UsageError
from quoteweave.core.protocols import ImageProvider
from quoteweave.core.records import Quote
from quoteweave.documents.ingest import AddOptions, add
from quoteweave.documents.parser import ParserSettings
from quoteweave.pipeline import pictures_for_models as pictures_module
from quoteweave.pipeline.pictures_for_models import CollectionPictures
from quoteweave.pipeline.pictures_for_people import crop, page_picture

OPTIONS = AddOptions(settings=ParserSettings(ocr=False))
PASSWORD = "open sesame"


@pytest.fixture(scope="module")
def samples_opened(sample_collection: Path) -> Iterator[Collection]:
    with Collection.open(sample_collection) as collection:
        yield collection


@pytest.fixture
def samples_copied(sample_collection: Path, tmp_path: Path) -> Iterator[Collection]:
    shutil.copytree(sample_collection, tmp_path / "copy")
    with Collection.open(tmp_path / "copy") as collection:
        yield collection


@pytest.fixture
def pages_drawn(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Grows by the number of each page that is drawn."""
    drawn: list[int] = []

    def counted(collection: Collection, document: str, page: int, *, password: str | None = None) -> object:
        drawn.append(page)
        return page_picture(collection, document, page, password=password)

    monkeypatch.setattr(pictures_module, "page_picture", counted)
    return drawn


def pixels(picture: Image.Image | bytes | None) -> npt.NDArray[np.uint8]:
    assert picture is not None
    if isinstance(picture, bytes):
        picture = Image.open(io.BytesIO(picture)).convert("RGB")
    assert picture.mode == "RGB"
    return np.asarray(picture)


def text_quotes(collection: Collection, document: str = "harbour-report.pdf") -> list[Quote]:
    return [quote for quote in collection.document_quotes(document) if quote.kind == "text"]


def write_pdf(path: Path, lines: list[str], password: str | None = None) -> None:
    canvas = Canvas(str(path), encrypt=StandardEncryption(password) if password else None)
    for line in lines:
        canvas.drawString(72, 700, line)
        canvas.showPage()
    canvas.save()


def test_models_see_what_people_are_shown(samples_opened: Collection) -> None:
    pictures: ImageProvider = CollectionPictures(samples_opened)
    seen = 0
    for document in samples_opened.documents():
        for quote in samples_opened.document_quotes(document.name)[:12]:
            assert np.array_equal(pixels(pictures.crop(quote)), pixels(crop(samples_opened, quote)))
            seen += 1
        page = page_picture(samples_opened, document.name, 0)
        assert page is not None
        assert np.array_equal(pixels(pictures.page_image(document.name, 0)), page.pixels)
    assert seen > 20


def test_a_page_is_drawn_once_for_the_quotes_that_follow_each_other(
    samples_opened: Collection, pages_drawn: list[int]
) -> None:
    pictures = CollectionPictures(samples_opened)
    quotes = text_quotes(samples_opened)
    for quote in quotes:
        pictures.crop(quote)
        pictures.page_image(quote.document, quote.page)
    assert pages_drawn == sorted({quote.page for quote in quotes})
    assert len(quotes) > 2 * len(pages_drawn)


def test_keys_tell_quotes_and_pages_apart_and_draw_nothing(samples_opened: Collection, pages_drawn: list[int]) -> None:
    pictures = CollectionPictures(samples_opened)
    quotes = samples_opened.document_quotes("harbour-report.pdf")
    places = {(quote.page, quote.image or quote.bbox) for quote in quotes}
    assert len({pictures.crop_key(quote) for quote in quotes}) == len(places)
    assert all(pictures.crop_key(quote) == quote.image for quote in quotes if quote.image)
    pages = [pictures.page_key(document.name, number) for document in samples_opened.documents() for number in (0, 1)]
    assert len(set(pages)) == len(pages)
    assert None not in pages
    assert pages_drawn == []
    again = CollectionPictures(samples_opened)
    assert [again.crop_key(quote) for quote in quotes] == [pictures.crop_key(quote) for quote in quotes]


def test_keys_are_those_of_the_content_not_of_the_name(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_pdf(tmp_path / f"{name}.pdf", ["Grain came by ship."])
    shutil.copy(tmp_path / "a.pdf", tmp_path / "b.pdf")
    with Collection.create(tmp_path / "collection") as collection:
        add(collection, [tmp_path / "a.pdf", tmp_path / "b.pdf"], OPTIONS)
        pictures = CollectionPictures(collection)
        ((a,), (b,)) = (text_quotes(collection, name) for name in ("a.pdf", "b.pdf"))
        assert pictures.crop_key(a) == pictures.crop_key(b)
        assert pictures.page_key("a.pdf", 0) == pictures.page_key("b.pdf", 0)


def test_a_changed_document_is_seen_as_it_is_now(tmp_path: Path) -> None:
    path = tmp_path / "report.pdf"
    write_pdf(path, ["Grain came by ship."])
    with Collection.create(tmp_path / "collection") as collection:
        add(collection, [path], OPTIONS)
        pictures = CollectionPictures(collection)
        key, before = pictures.page_key("report.pdf", 0), pixels(pictures.page_image("report.pdf", 0))
        write_pdf(path, ["Timber came by rail, in forty wagons a day."])
        add(collection, [path], OPTIONS)
        assert pictures.page_key("report.pdf", 0) != key
        assert not np.array_equal(pixels(pictures.page_image("report.pdf", 0)), before)
        with collection.writer() as writer:
            writer.remove("report.pdf")
        with pytest.raises(UsageError, match="no document is named"):
            pictures.page_key("report.pdf", 0)


def test_a_document_without_pages_has_pictures_only_where_it_holds_some(tmp_path: Path) -> None:
    Image.new("RGB", (400, 300), (200, 0, 0)).save(tmp_path / "chart.png")
    (tmp_path / "notes.md").write_text("# Notes\n\nGrain came by ship.\n\n![A red chart](chart.png)\n")
    with Collection.create(tmp_path / "collection") as collection:
        add(collection, [tmp_path / "notes.md"], OPTIONS)
        pictures = CollectionPictures(collection)
        text = text_quotes(collection, "notes.md")[0]
        (figure,) = [quote for quote in collection.document_quotes("notes.md") if quote.image]
        assert pictures.crop_key(text) is None
        assert pictures.page_key("notes.md", 0) is None
        with pytest.raises(DocumentError, match=rf"quote {text.id} of 'notes.md' cannot be shown: there is no picture"):
            pictures.crop(text)
        with pytest.raises(DocumentError, match=r"page 1 of 'notes.md' cannot be shown"):
            pictures.page_image("notes.md", 0)
        assert pictures.crop_key(figure) == figure.image
        assert pixels(pictures.crop(figure)).shape == (300, 400, 3)


def test_a_document_imported_without_its_file_has_stored_crops_alone(tmp_path: Path) -> None:
    data = io.BytesIO()
    Image.new("RGB", (40, 30), (0, 200, 0)).save(data, "PNG")
    with Collection.create(tmp_path / "collection") as collection:
        with collection.writer() as writer:
            key = collection.images.put(data.getvalue(), suffix=".png")
            quotes = [made_quote("Grain came by ship."), made_quote("", layout="chart", image=key)]
            put(writer, tmp_path / "files", "imported", quotes)
        pictures = CollectionPictures(collection)
        text, chart = collection.document_quotes("imported")
        assert (pictures.crop_key(text), pictures.crop_key(chart)) == (None, key)
        assert tuple(pixels(pictures.crop(chart))[0, 0]) == (0, 200, 0)


@pytest.mark.parametrize("damage", [b"", b"\x89PNG\r\n\x1a\n", b"not a picture"])
def test_a_damaged_crop_is_told_with_its_quote_and_its_file(samples_copied: Collection, damage: bytes) -> None:
    quote = next(quote for quote in samples_copied.document_quotes("harbour-report.pdf") if quote.image)
    path = samples_copied.images.path(quote.image or "")
    path.write_bytes(damage)
    with pytest.raises(DocumentError) as told:
        CollectionPictures(samples_copied).crop(quote)
    assert quote.id in str(told.value)
    assert "'harbour-report.pdf'" in str(told.value)
    assert str(told.value).count(path.name) == str(told.value).count(str(path)) == 1


def test_a_crop_that_is_cut_short_or_gone_is_told(samples_copied: Collection) -> None:
    quote = next(quote for quote in samples_copied.document_quotes("harbour-report.pdf") if quote.image)
    path = samples_copied.images.path(quote.image or "")
    CollectionPictures(samples_copied).crop(quote)
    path.write_bytes(path.read_bytes()[:2000])
    with pytest.raises(DocumentError, match=f"{path} is damaged"):
        CollectionPictures(samples_copied).crop(quote)
    path.unlink()
    with pytest.raises(DocumentError, match=f"{path} is missing"):
        CollectionPictures(samples_copied).crop(quote)


def test_a_file_that_is_gone_concerns_its_document_alone(samples_copied: Collection) -> None:
    quote = text_quotes(samples_copied)[0]
    samples_copied.source_file("harbour-report.pdf").unlink()
    with pytest.raises(DocumentError, match=rf"quote {quote.id} .* is missing"):
        CollectionPictures(samples_copied).crop(quote)
    with pytest.raises(DocumentError, match=r"page 3 of 'harbour-report.pdf' .* is missing"):
        CollectionPictures(samples_copied).page_image("harbour-report.pdf", 2)


def test_a_message_names_a_document_once_and_as_people_do(samples_copied: Collection) -> None:
    quote, source = text_quotes(samples_copied)[0], samples_copied.source_file("harbour-report.pdf")
    for spoil in (lambda: source.write_bytes(b"no PDF"), source.unlink):
        spoil()
        with pytest.raises(DocumentError) as told:
            CollectionPictures(samples_copied).crop(quote)
        assert str(told.value).count("harbour-report.pdf") == 1
        assert str(told.value).count(source.name) == str(told.value).count(str(source))


def test_a_page_beyond_the_last_cannot_be_drawn(samples_opened: Collection) -> None:
    with pytest.raises(DocumentError, match="page 1000 "):
        CollectionPictures(samples_opened).page_image("harbour-report.pdf", 999)


def test_an_encrypted_document_has_other_keys_once_it_can_be_seen(tmp_path: Path) -> None:
    write_pdf(tmp_path / "locked.pdf", ["Timber came by rail, in forty wagons a day."], PASSWORD)
    write_pdf(tmp_path / "open.pdf", ["Grain came by ship."])
    with Collection.create(tmp_path / "collection") as collection:
        add(collection, [tmp_path / "locked.pdf"], replace(OPTIONS, password=PASSWORD))
        add(collection, [tmp_path / "open.pdf"], OPTIONS)
        locked, wrong, right = (
            CollectionPictures(collection, password=password) for password in (None, "sesame", PASSWORD)
        )
        (quote,) = text_quotes(collection, "locked.pdf")
        for blind in (locked, wrong):
            with pytest.raises(DocumentError, match=f"quote {quote.id} of 'locked.pdf' cannot be shown"):
                blind.crop(quote)
        assert pixels(right.crop(quote)).min() < 128
        assert locked.crop_key(quote) == wrong.crop_key(quote) != right.crop_key(quote)
        assert locked.page_key("open.pdf", 0) == right.page_key("open.pdf", 0)
