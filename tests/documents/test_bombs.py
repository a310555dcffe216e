"""Small files that would eat the machine: each is refused by name and reason, or read but for the page that does it.

A few of each kind; `benchmarks/faults/hostile.py` tries them all.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hostile_files import PICTURES, TEXTS
from hostile_pdfs import AFTER, BEFORE, PDFS, pages, stream

from quoteweave.collection.collection import Collection
from quoteweave.core.errors import DamagedDocument
from quoteweave.documents.ingest import AddOptions, AddReport, add
from quoteweave.documents.parser import ParserSettings
from quoteweave.documents.worker_pool import MEGABYTE, ProcessLimits
from quoteweave.pipeline.pictures_for_people import page_picture

MEMORY = "page 2 ran out of memory: reading takes more than the 300 MB that it may take; allow more, or split it"
TIME = "page 2 ran out of time: reading takes more than the 0.5 seconds that it may take; allow more, or split it"
FULL = {"nested-forms.pdf": MEMORY, "deflated-twice.pdf": MEMORY}
ENDLESS = {"shading-patches.pdf": TIME, "tiny-tiles.pdf": TIME}
CUT_SHORT = FULL | ENDLESS
REFUSED = {
    "cross-reference-flood.pdf": "it ran out of ",
    "comment.png": "'comment.png' cannot be opened as a picture (Decompressed data too large",
    "too-many-frames.tiff": "'too-many-frames.tiff' holds more than 2000 pictures; split it",
}
OF_BOMBS = "page-tree-of-bombs.pdf"
LIMITS = ProcessLimits(300 * MEGABYTE, 2.0)
# A page without an end takes all of its time: little, to make the tests fast.
SHORT = ProcessLimits(300 * MEGABYTE, 0.5)


@pytest.fixture(scope="module")
def added(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Collection, AddReport]]:
    folder, endless = tmp_path_factory.mktemp("bombs"), tmp_path_factory.mktemp("endless")
    for name in (*CUT_SHORT, *REFUSED):
        made = PICTURES[name] if name in PICTURES else PDFS[name.removesuffix(".pdf")]
        ((endless if name in ENDLESS else folder) / name).write_bytes(made())
    for name in ("elements.html", "entities.xhtml"):
        (folder / name).write_text(TEXTS[name](), "utf-8")
    options = AddOptions(settings=ParserSettings(ocr=False), limits=LIMITS, processes=2)
    with Collection.create(folder.parent / "collection of bombs") as collection:
        report = add(collection, [folder], options)
        cut_short = add(collection, [endless], replace(options, limits=SHORT))
        yield collection, report.model_copy(update={"warnings": report.warnings + cut_short.warnings})


def words(collection: Collection, name: str) -> str:
    return " ".join(quote.text for quote in collection.document_quotes(name))


@pytest.mark.parametrize("name", CUT_SHORT)
def test_the_rest_of_the_document_is_kept(added: tuple[Collection, AddReport], name: str) -> None:
    collection, report = added
    assert CUT_SHORT[name] in [warning.reason for warning in report.warnings if warning.name == name]
    assert CUT_SHORT[name] in collection.document(name).warnings
    assert BEFORE in words(collection, name)
    assert AFTER in words(collection, name)
    assert len(collection.pages(name)) == 3


def test_what_could_not_be_read_is_not_drawn_in_this_process(added: tuple[Collection, AddReport]) -> None:
    collection, _ = added
    with pytest.raises(DamagedDocument, match=r"page 2 cannot be drawn: it ran out of memory: [^;]*$"):
        page_picture(collection, "nested-forms.pdf", 1)
    assert page_picture(collection, "nested-forms.pdf", 0) is not None


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_readable_page_is_refused(added: tuple[Collection, AddReport], name: str) -> None:
    (reason,) = (refused.reason for refused in added[1].failed if refused.name == name)
    assert reason.startswith(REFUSED[name])
    # The pages that were not tried depend on how fast the other processes end.
    assert "cannot be opened" in reason or "split it" in reason or " ran out of " in reason


def test_a_document_of_bombs_alone_is_refused(tmp_path: Path) -> None:
    (tmp_path / OF_BOMBS).write_bytes(PDFS["page-tree-of-bombs"]())
    # Nothing in these files has to be read, so each page gets little time, to make the test fast.
    options = AddOptions(settings=ParserSettings(ocr=False), limits=ProcessLimits(300 * MEGABYTE, 0.2), processes=2)
    with Collection.create(tmp_path / "c") as collection:
        (refused,) = add(collection, [tmp_path / OF_BOMBS], options).failed
    assert refused.reason.startswith(f"'{OF_BOMBS}' has no page that can be read (page 1 ")
    assert " ran out of " in refused.reason


@pytest.mark.parametrize("name", ["elements.html", "entities.xhtml"])
def test_what_is_harmless_is_read(added: tuple[Collection, AddReport], name: str) -> None:
    assert BEFORE in words(added[0], name)
    assert AFTER in words(added[0], name)


def test_pages_beyond_the_limits_are_read_when_these_change(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(PDFS["nested-forms-of-nothing"]())
    with Collection.create(tmp_path / "c") as collection:

        def report(limits: ProcessLimits) -> AddReport:
            options = AddOptions(settings=ParserSettings(ocr=False), limits=limits, processes=1)
            return add(collection, [tmp_path / "a.pdf"], options)

        assert report(SHORT).added == ("a.pdf",)
        assert report(SHORT).unchanged == ("a.pdf",)
        assert report(ProcessLimits(250 * MEGABYTE, 0.3)).updated == ("a.pdf",)


def test_labels_that_crash_the_program_that_reads_them_cost_no_page(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(PDFS["labels-in-themselves"]())
    options = AddOptions(settings=ParserSettings(ocr=False), limits=LIMITS, processes=1)
    with Collection.create(tmp_path / "c") as collection:
        warnings = [warning.reason for warning in add(collection, [tmp_path / "a.pdf"], options).warnings]
        assert BEFORE in words(collection, "a.pdf")
        assert AFTER in words(collection, "a.pdf")
        assert [page.label for page in collection.pages("a.pdf")] == ["1", "2", "3"]
    assert warnings == ["the labels of its pages and its bookmarks were left out: reading it with them crashed twice"]


def test_the_pages_of_a_document_are_bounded_together(tmp_path: Path) -> None:
    """However many pages there are, each within its own limit: what was read by then is kept, and the rest is named."""
    plain = "<</Type /Page /Parent 2 0 R /MediaBox [0 600 306 792] /Contents 3 0 R /Resources <</Font <</F1 4 0 R>>>>>>"
    font = b"<</Type /Font /Subtype /Type1 /BaseFont /Helvetica>>"
    words_of_page = stream(b"BT /F1 12 Tf 72 700 Td (%b) Tj ET" % BEFORE.encode())
    numbers = " ".join(f"{number} 0 R" for number in range(5, 45))
    (tmp_path / "a.pdf").write_bytes(pages(numbers, 40, words_of_page, font, *[plain.encode()] * 40))
    with Collection.create(tmp_path / "c") as collection:

        def report(document_seconds: float) -> AddReport:
            limits = ProcessLimits(document_seconds=document_seconds)
            options = AddOptions(settings=ParserSettings(ocr=False), limits=limits, processes=1)
            return add(collection, [tmp_path / "a.pdf"], options)

        warnings = [warning.reason for warning in report(0.01).warnings]
        why = "ran out of the 0.01 seconds that reading it may take; allow more, or split it"
        assert f"page 40 was not tried: its document {why}" in warnings[-1]
        read = words(collection, "a.pdf").count(BEFORE)
        assert 6 <= read < 40
        assert len(collection.pages("a.pdf")) == 40
        assert report(60.0).updated == ("a.pdf",)
        assert words(collection, "a.pdf").count(BEFORE) == 40
