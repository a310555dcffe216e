"""Pictures of quotes and pages, checked by their pixels, over the sample documents and a few made on the spot."""

import io
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

from quoteweave.collection.collection import Collection
from quoteweave.core.answers import Answer, Citation
from quoteweave.core.errors import CollectionError, EncryptedDocument, UsageError
from quoteweave.core.records import Layout, Quote
from quoteweave.documents.ingest import AddOptions, add
from quoteweave.documents.parser import ParserSettings
from quoteweave.pipeline.pictures_for_people import (
    LINE,
    MARK,
    cited_pages,
    crop,
    marked_page,
    page_picture,
    stored_crops,
)

PASSWORD = "open sesame"


@pytest.fixture(scope="module")
def samples_opened(sample_collection: Path) -> Iterator[Collection]:
    with Collection.open(sample_collection) as collection:
        yield collection


@pytest.fixture(scope="module")
def pageless_and_locked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collection]:
    folder = tmp_path_factory.mktemp("views")
    files = folder / "files"
    files.mkdir()
    (files / "notes.md").write_text("# Notes\n\nGrain came by ship.\n")
    canvas = Canvas(str(files / "locked.pdf"), encrypt=StandardEncryption(PASSWORD))
    canvas.drawString(72, 700, "Timber came by rail, in forty wagons a day.")
    canvas.save()
    with Collection.create(folder / "collection") as collection:
        report = add(collection, [files], AddOptions(settings=ParserSettings(ocr=False), password=PASSWORD))
        assert report.added == ("locked.pdf", "notes.md")
        yield collection


def pixels(data: bytes | None) -> npt.NDArray[np.uint8]:
    assert data is not None
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))


def a_quote(collection: Collection, document: str, layout: Layout, page: int | None = None) -> Quote:
    return next(
        quote for quote in collection.document_quotes(document) if quote.layout == layout and page in (None, quote.page)
    )


def answer_citing(*quotes: Quote) -> Answer:
    marks = [f"[{i}]" for i in range(1, len(quotes) + 1)]
    citations = tuple(
        Citation(
            mark=mark,
            start=3 * i,
            end=3 * i + 3,
            kind=quote.kind,
            number=i + 1,
            quote_id=quote.id,
            document=quote.document,
            page=quote.page,
            page_label=quote.page_label,
            bbox=quote.bbox,
        )
        for i, (mark, quote) in enumerate(zip(marks, quotes, strict=True))
    )
    return Answer(
        question="q", status="answered", text="".join(marks), blocks=(), citations=citations, model="m", seconds=0
    )


@pytest.mark.parametrize(
    ("document", "layout"),
    [("harbour-report.pdf", "paragraph"), ("harbour-report.pdf", "chart"), ("field-notes-scan.pdf", "paragraph")],
)
def test_the_box_is_drawn_around_the_quote_and_nothing_else_changes(
    document: str, layout: Layout, samples_opened: Collection
) -> None:
    quote = a_quote(samples_opened, document, layout)
    bare = page_picture(samples_opened, document, quote.page)
    assert bare is not None
    marked = pixels(marked_page(samples_opened, quote))
    x1, y1, x2, y2 = (round(edge * bare.scale) for edge in quote.bbox)
    assert marked.shape == bare.pixels.shape
    for x, y in (
        (x1 - 2, (y1 + y2) // 2),
        (x2 + 2, (y1 + y2) // 2),
        ((x1 + x2) // 2, y1 - 2),
        ((x1 + x2) // 2, y2 + 2),
    ):
        assert tuple(marked[y, x]) == MARK
    rows, columns = np.nonzero((marked != bare.pixels).any(axis=2))
    edge = LINE + 1
    assert rows.min() >= y1 - edge
    assert rows.max() <= y2 + edge
    assert columns.min() >= x1 - edge
    assert columns.max() <= x2 + edge
    within = (slice(y1 + 1, y2 - 1), slice(x1 + 1, x2 - 1))
    assert np.array_equal(marked[within], bare.pixels[within])


def test_a_text_quote_is_cut_from_its_page(samples_opened: Collection) -> None:
    quote = a_quote(samples_opened, "harbour-report.pdf", "paragraph")
    assert quote.image is None
    page = page_picture(samples_opened, quote.document, quote.page)
    assert page is not None
    assert np.array_equal(pixels(crop(samples_opened, quote)), page.cut(quote.bbox, margin=2.0))


def test_an_image_quote_is_its_stored_crop_and_one_that_is_missing_or_damaged_is_told(
    sample_collection: Path, tmp_path: Path
) -> None:
    shutil.copytree(sample_collection, tmp_path / "copy")
    with Collection.open(tmp_path / "copy") as collection:
        quote = a_quote(collection, "harbour-report.pdf", "chart")
        assert quote.image is not None
        stored = collection.images.path(quote.image)
        data = stored.read_bytes()
        assert crop(collection, quote) == data
        assert stored_crops(collection, [quote, quote]) == ({quote.image: data}, [])
        stored.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
        for what in ("damaged", "missing"):
            crops, (note,) = stored_crops(collection, [quote, quote])
            assert crops == {}
            assert re.search(
                rf"quote {quote.id} of 'harbour-report.pdf' .*{stored} is {what}.* check -c .* --repair", note
            )
            with pytest.raises(CollectionError, match=rf"{stored} is {what}"):
                crop(collection, quote)
            stored.unlink(missing_ok=True)


def test_a_document_without_pages_has_no_pictures(pageless_and_locked: Collection) -> None:
    quote = a_quote(pageless_and_locked, "notes.md", "paragraph")
    assert page_picture(pageless_and_locked, "notes.md", 0) is None
    assert crop(pageless_and_locked, quote) is None
    assert marked_page(pageless_and_locked, quote) is None
    ((view,), _) = cited_pages(pageless_and_locked, answer_citing(quote))
    assert view.image is None
    assert quote in view.quotes


def test_an_encrypted_document_is_drawn_with_its_password_only(pageless_and_locked: Collection) -> None:
    quote = pageless_and_locked.document_quotes("locked.pdf")[0]
    with pytest.raises(EncryptedDocument):
        marked_page(pageless_and_locked, quote)
    assert tuple(pixels(marked_page(pageless_and_locked, quote, password=PASSWORD))[0, 0]) == (255, 255, 255)


def test_cited_pages_of_an_encrypted_document_are_shown_as_text(pageless_and_locked: Collection) -> None:
    quote = pageless_and_locked.document_quotes("locked.pdf")[0]
    ((view,), _) = cited_pages(pageless_and_locked, answer_citing(quote))
    assert (view.document, view.page.number, view.image) == ("locked.pdf", 0, None)
    assert [found.text for found in view.quotes] == ["Timber came by rail, in forty wagons a day."]


def test_cited_pages_come_once_each_in_the_order_of_the_citations(samples_opened: Collection) -> None:
    harbour = [quote for quote in samples_opened.document_quotes("harbour-report.pdf") if quote.page in {1, 2}]
    notes = samples_opened.document_quotes("field-notes-scan.pdf")[0]
    second = next(quote for quote in harbour if quote.page == 2)
    first = [quote for quote in harbour if quote.page == 1][:2]
    views, _ = cited_pages(samples_opened, answer_citing(second, notes, *first))
    assert [(view.document, view.page.number) for view in views] == [
        ("harbour-report.pdf", 2),
        ("field-notes-scan.pdf", 0),
        ("harbour-report.pdf", 1),
    ]
    for view in views:
        height, width = pixels(view.image).shape[:2]
        assert width / height == pytest.approx(view.page.width / view.page.height, abs=0.01)
        assert {quote.page for quote in view.quotes} == {view.page.number}


def test_an_answer_without_citations_has_no_pages(samples_opened: Collection) -> None:
    assert cited_pages(samples_opened, answer_citing()) == ([], [])


def test_a_cited_page_whose_file_is_damaged_is_shown_as_text_and_told(sample_collection: Path, tmp_path: Path) -> None:
    shutil.copytree(sample_collection, tmp_path / "copy")
    with Collection.open(tmp_path / "copy") as collection:
        quote = a_quote(collection, "harbour-report.pdf", "chart")
        source = collection.source_file("harbour-report.pdf")
        data = bytearray(source.read_bytes())
        data[len(data) // 2] ^= 1
        source.write_bytes(data)
        (view,), (note,) = cited_pages(collection, answer_citing(quote))
        assert view.image is None
        assert quote in view.quotes
        assert re.search(rf"{source}, the file of 'harbour-report.pdf', is damaged.* check -c .* --repair", note)


def test_what_is_not_there_is_told(samples_opened: Collection, sample_collection: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no document is named"):
        page_picture(samples_opened, "harbour.pdf", 0)
    shutil.copytree(sample_collection, tmp_path / "copy")
    with Collection.open(tmp_path / "copy") as collection:
        collection.source_file("harbour-report.pdf").unlink()
        with pytest.raises(CollectionError, match="is missing"):
            page_picture(collection, "harbour-report.pdf", 0)


def test_a_scan_that_was_not_read_is_drawn_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scan = Image.new("RGB", (200, 100), "white")
    scan.paste("black", (40, 20, 160, 80))
    scan.save(tmp_path / "scan.png")

    def refuse(*_: object) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr("quoteweave.pipeline.pictures_for_people.draw_within_limits", refuse)
    with Collection.create(tmp_path / "c") as collection:
        options = AddOptions(settings=ParserSettings(ocr=False))
        assert add(collection, [tmp_path / "scan.png"], options).added == ("scan.png",)
        assert collection.page("scan.png", 0).text_source == "none"
        assert page_picture(collection, "scan.png", 0) is not None
