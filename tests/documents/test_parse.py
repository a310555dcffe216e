"""One file becomes a document, by ranges of pages or whole; parts that cannot be read are reported and left out."""

import pickle
from dataclasses import replace
from pathlib import Path

import pytest
from made_files import (
    HELVETICA,
    PROSE,
    half_broken_pdf,
    jpeg_bytes,
    one_page_pdf,
    page_pdf,
    pdf,
    picture,
    raw_pdf,
)
from PIL import Image

from quoteweave.collection.stores.content import ImageStore
from quoteweave.core.errors import DamagedDocument, DocumentError, StorageError, UnsupportedFormat
from quoteweave.documents.formats import Format
from quoteweave.documents.layout.page import PageReader
from quoteweave.documents.parser import (
    MAX_PAGES,
    DocumentParser,
    Inspection,
    ParserSettings,
    SourceFile,
    assemble_document,
    empty_page,
    inspect_file,
    read_pages,
    render_document_page,
)
from quoteweave.documents.sources.raw_page import RawPage

PLAIN = ParserSettings(ocr=False)


@pytest.fixture
def parser(images: ImageStore) -> DocumentParser:
    return DocumentParser(images, PLAIN)


def source_of(path: Path, images: ImageStore) -> SourceFile:
    return SourceFile(path.name, path, PLAIN, images)


def test_each_format_is_read_its_own_way(tmp_path: Path, parser: DocumentParser) -> None:
    pdf(tmp_path / "a.pdf", [4 * PROSE])
    (tmp_path / "a.txt").write_text("One.\n\nTwo.")
    (tmp_path / "a.md").write_text("# Title\n\nOne.")
    (tmp_path / "a.html").write_text("<h1>Title</h1><p>One.")
    picture(tmp_path / "a.png")
    layouts = {
        path.suffix: [quote.layout for quote in parser.parse(path).quotes]
        for path in tmp_path.iterdir()
        if path.is_file()
    }
    assert layouts == {
        ".pdf": ["paragraph"],
        ".txt": ["paragraph", "paragraph"],
        ".md": ["title", "paragraph"],
        ".html": ["title", "paragraph"],
        ".png": ["page"],
    }


def test_a_file_is_looked_at_without_being_read(tmp_path: Path, images: ImageStore) -> None:
    paths = [pdf(tmp_path / "a.pdf", ["x"] * 7), picture(tmp_path / "a.jpg"), tmp_path / "a.txt"]
    paths[2].write_text("x")
    kinds = [(Format.PDF, 7), (Format.JPEG, 1), (Format.TEXT, 1)]
    for path, (kind, pages) in zip(paths, kinds, strict=True):
        assert inspect_file(source_of(path, images)) == Inspection(kind, pages, path.stat().st_size)
    (tmp_path / "a.docx").write_bytes(b"PK\x03\x04")
    with pytest.raises(UnsupportedFormat, match="LibreOffice"):
        inspect_file(source_of(tmp_path / "a.docx", images))


def test_ranges_together_are_the_whole(tmp_path: Path, images: ImageStore, parser: DocumentParser) -> None:
    path = pdf(tmp_path / "a.pdf", [f"Page {number}. {PROSE}" for number in range(5)])
    source = source_of(path, images)
    pages = [page for numbers in (range(2), range(2, 5)) for page in read_pages(source, Format.PDF, numbers)]
    assert assemble_document(source, pages) == parser.parse(path)
    assert len(parser.parse(path).pages) == 5


def test_labels_are_of_all_pages_or_none_and_one_warning_says_so(tmp_path: Path, images: ImageStore) -> None:
    path = pdf(tmp_path / "a.pdf", [f"Page {number}. {PROSE}" for number in range(3)])
    source = source_of(path, images)
    first, *others = read_pages(source, Format.PDF, range(3))
    bare = read_pages(replace(source, skip_names=True), Format.PDF, [1, 2])
    mixed = assemble_document(source, [replace(first, label="2"), *bare])
    assert [page.label for page in mixed.pages] == ["1", "2", "3"]
    assert len(mixed.warnings) == 1
    labelled = assemble_document(source, [replace(first, label="2"), *others])
    assert (labelled.pages[0].label, labelled.warnings) == ("2", ())


def test_the_same_file_gives_the_same_quotes(samples: Path, parser: DocumentParser) -> None:
    path = samples / "pdf" / "harbour-report.pdf"
    first, second = parser.parse(path), parser.parse(path)
    assert first == second
    assert len({quote.id for quote in first.quotes}) == len(first.quotes) > 10


def test_a_page_that_cannot_be_read_is_left_out_and_told(tmp_path: Path, parser: DocumentParser) -> None:
    document = parser.parse(half_broken_pdf(tmp_path / "a.pdf"))
    assert document.warnings == ("page 1 could not be read: Failed to load page.",)
    assert [page.text_source for page in document.pages] == ["none", "text_layer"]
    assert [(quote.page, quote.text) for quote in document.quotes] == [(1, "The second page can be read.")]


def test_whatever_a_page_makes_a_library_raise_costs_that_page_only(
    tmp_path: Path, parser: DocumentParser, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = PageReader.read

    def fails_once(self: PageReader, raw: RawPage) -> object:
        if raw.number == 1:
            raise ZeroDivisionError
        return read(self, raw)

    monkeypatch.setattr(PageReader, "read", fails_once)
    pages = ["The first page is short.", "The second page fails.", "The third page is short."]
    document = parser.parse(pdf(tmp_path / "a.pdf", pages))
    assert document.warnings == ("page 2 could not be read: ZeroDivisionError",)
    assert [quote.text for quote in document.quotes] == [pages[0], pages[2]]


def test_a_page_for_which_a_library_gets_no_memory_is_not_lost_before_it_has_been_tried_again(
    tmp_path: Path, parser: DocumentParser, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> object:
        raise RuntimeError("[ONNXRuntimeError] : 6 : RUNTIME_EXCEPTION : std::bad_alloc")

    monkeypatch.setattr(PageReader, "read", fails)
    with pytest.raises(MemoryError):
        parser.parse(pdf(tmp_path / "a.pdf", [PROSE]))


def test_a_disk_that_refuses_is_not_the_fault_of_a_page(
    tmp_path: Path, parser: DocumentParser, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> object:
        raise StorageError("full")

    monkeypatch.setattr(PageReader, "read", refuse)
    with pytest.raises(StorageError):
        parser.parse(pdf(tmp_path / "a.pdf", [PROSE]))


def test_a_file_without_any_page_that_can_be_read_is_damaged(tmp_path: Path, parser: DocumentParser) -> None:
    path = raw_pdf(tmp_path / "a.pdf", ["<</Type /Catalog /Pages 2 0 R>>", "<</Type /Pages /Kids [2 0 R] /Count 3>>"])
    with pytest.raises(DamagedDocument, match=r"'a.pdf' has no page that can be read \(page 1 could not be read: "):
        parser.parse(path)


def test_a_file_may_claim_any_number_of_pages(tmp_path: Path, parser: DocumentParser) -> None:
    with pytest.raises(DamagedDocument, match=r"'a.pdf' says that it has 1000000 pages; split it"):
        parser.parse(page_pdf(tmp_path / "a.pdf", "", HELVETICA, count=1_000_000))
    content = "BT /F1 9 Tf 9 9 Td (one) Tj ET"
    document = parser.parse(page_pdf(tmp_path / "b.pdf", content, HELVETICA, count=MAX_PAGES // 100))
    assert len(document.pages) == MAX_PAGES // 100
    assert len(document.warnings) == 21
    assert document.warnings[-1] == (
        f"there are {MAX_PAGES // 100 - 21} more warnings, the last of which is: "
        f"page {MAX_PAGES // 100} could not be read: Failed to load page."
    )


def test_pages_without_text_are_told_where_ocr_is_off(tmp_path: Path, images: ImageStore) -> None:
    path = picture(tmp_path / "a.png")
    document = DocumentParser(images, PLAIN).parse(path)
    assert document.warnings == ("OCR is off, and pages without a text layer were not read: 1",)
    assert [(quote.layout, quote.kind) for quote in document.quotes] == [("page", "image")]


def test_what_a_range_gives_holds_text_and_keys_and_no_pictures(tmp_path: Path, images: ImageStore) -> None:
    (tmp_path / "a.jpg").write_bytes(jpeg_bytes((1000, 1400)))
    source = source_of(tmp_path / "a.jpg", images)
    contents = list(read_pages(source, Format.JPEG, range(1)))
    (element,) = contents[0].elements
    assert images.path(str(element.image)).stat().st_size > 200_000
    assert len(pickle.dumps(contents)) < 2_000


def test_thousands_of_tiny_objects_are_read(tmp_path: Path, parser: DocumentParser) -> None:
    boxes = " ".join(f"{x} {y} 1 1 re f" for x in range(0, 600, 6) for y in range(0, 700, 7))
    words = " ".join(f"BT /F1 1 Tf {x} {y} Td (abc) Tj ET" for x in range(0, 600, 12) for y in range(0, 700, 7))
    for name, content in {"boxes.pdf": boxes, "words.pdf": words}.items():
        document = parser.parse(one_page_pdf(tmp_path / name, content))
        assert len(document.pages) == 1
        assert document.quotes


def test_pages_keep_by_how_much_their_file_turns_them(tmp_path: Path, images: ImageStore) -> None:
    content = "BT /F1 12 Tf 100 600 Td (The harbour was dredged.) Tj ET"
    (tmp_path / "a.md").write_text("# One")
    exif = Image.Exif()
    exif[0x0112] = 6  # turn by 90 degrees
    files = {
        one_page_pdf(tmp_path / "a.pdf", content, page="/MediaBox [0 0 612 792] /Rotate 270"): 270,
        picture(tmp_path / "a.jpg", (40, 20), exif=exif): 0,
        tmp_path / "a.md": None,
    }
    parser = DocumentParser(images, PLAIN)
    assert {path: parser.parse(path).pages[0].rotation for path in files} == files
    assert empty_page(3, "could not be read").rotation is None


def test_settings_that_change_quotes_change_the_fingerprint(images: ImageStore) -> None:
    others = [ParserSettings(), PLAIN, ParserSettings(ocr_language="latin")]
    assert len({settings.fingerprint for settings in others}) == 3
    assert DocumentParser(images).fingerprint == ParserSettings().fingerprint
    assert all(len(settings.fingerprint) == 12 for settings in others)


def test_a_page_is_drawn_for_people_as_it_is_read(tmp_path: Path, images: ImageStore) -> None:
    path = one_page_pdf(tmp_path / "a.pdf", "", page="/MediaBox [0 0 300 200] /Rotate 90")
    drawn = render_document_page(path, Format.PDF, 0)
    assert drawn is not None
    assert drawn.pixels.shape == (600, 400, 3)
    frame = render_document_page(picture(tmp_path / "a.png", (30, 20)), Format.PNG, 0)
    assert frame is not None
    assert frame.pixels.shape == (20, 30, 3)
    assert render_document_page(tmp_path / "a.md", Format.MARKDOWN, 0) is None


def test_a_page_that_cannot_be_drawn_says_which(tmp_path: Path) -> None:
    for path, page in ((half_broken_pdf(tmp_path / "a.pdf"), 0), (tmp_path / "a.pdf", 5)):
        with pytest.raises(DocumentError, match=rf"'a.pdf': page {page + 1} cannot be drawn"):
            render_document_page(path, Format.PDF, page)


def test_a_password_opens_what_it_locks(tmp_path: Path, images: ImageStore, parser: DocumentParser) -> None:
    path = pdf(tmp_path / "a.pdf", ["The tide tables are a secret."], password="open")
    assert [quote.text for quote in parser.parse(path, "open").quotes] == ["The tide tables are a secret."]
    source = replace(source_of(path, images), password="open")
    assert inspect_file(source).pages == 1
    assert render_document_page(path, Format.PDF, 0, "open") is not None
    with pytest.raises(DocumentError, match="give its password"):
        render_document_page(path, Format.PDF, 0)
