"""The sample documents, read: what was drawn in them is what is found."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from quoteweave.collection.collection import Collection
from quoteweave.core.boxes import iou
from quoteweave.core.records import ParsedDocument, Quote

SAMPLES = Path(__file__).parents[2] / "quoteweave" / "samples"
DIGITAL = ["harbour-report.pdf", "two-column-paper.pdf", "visitor-guide.pdf"]
LAYOUTS = {"Table": {"table"}, "Chart": {"chart"}, "Figure": {"figure", "chart"}}


@pytest.fixture(scope="module")
def collection(sample_collection: Path) -> Iterator[Collection]:
    with Collection.open(sample_collection) as opened:
        yield opened


def parsed(name: str, collection: Collection) -> ParsedDocument:
    return ParsedDocument(pages=tuple(collection.pages(name)), quotes=tuple(collection.document_quotes(name)))


def drawn() -> list[tuple[str, str, int, tuple[float, float, float, float]]]:
    """Document, evidence type, page and box of each figure, chart and table that a question is about."""
    documents = map(json.loads, (SAMPLES / "annotations.jsonl").read_text("utf-8").splitlines())
    return [
        (document["doc_name"], kind, place["page"], tuple(place["bbox"]))
        for document in documents
        for question in document["questions"]
        for kind in LAYOUTS
        if question["type"] == f"['{kind}']"
        for place in question["layout_mapping"]
    ]


@pytest.mark.parametrize(("name", "kind", "page", "box"), drawn())
def test_figures_charts_and_tables_are_found_where_they_were_drawn(
    collection: Collection, name: str, kind: str, page: int, box: tuple[float, float, float, float]
) -> None:
    quotes = [quote for quote in parsed(name, collection).quotes if quote.page == page and quote.kind == "image"]
    best = max(quotes, key=lambda quote: iou(quote.bbox, box))
    assert iou(best.bbox, box) > 0.85
    assert best.layout in LAYOUTS[kind]
    assert collection.images.path(best.image or "").is_file()


def texts(document: ParsedDocument, page: int, *layouts: str) -> list[str]:
    return [quote.text for quote in document.quotes if quote.page == page and quote.layout in layouts]


def of(document: ParsedDocument, layout: str) -> list[Quote]:
    return [quote for quote in document.quotes if quote.layout == layout]


def test_nothing_else_is_taken_for_a_figure_chart_or_table(collection: Collection) -> None:
    assert [
        [len(of(parsed(name, collection), layout)) for layout in ("figure", "chart", "table")] for name in DIGITAL
    ] == [
        [1, 1, 2],
        [1, 1, 1],
        [1, 0, 2],
    ]


def test_headers_and_footers_are_told_from_the_text(collection: Collection) -> None:
    report = parsed("harbour-report.pdf", collection)
    for page in range(5):
        assert texts(report, page, "header") == ["Merrow Haven Harbour Authority", "Annual Report 2023"]
        assert texts(report, page, "footer") == [f"Page {page + 1} of 5"]
    assert len(of(parsed("two-column-paper.pdf", collection), "footer")) == 3


def test_pages_are_called_what_the_document_calls_them(collection: Collection) -> None:
    labels = [[page.label for page in parsed(name, collection).pages] for name in DIGITAL]
    assert labels == [["1", "2", "3", "4", "5"], ["1", "2", "3"], ["i", "ii", "1", "2"]]


def test_captions_go_to_their_pictures(collection: Collection) -> None:
    captions = [
        (quote.caption or "")[:9]
        for name in DIGITAL
        for quote in parsed(name, collection).quotes
        if quote.kind == "image"
    ]
    assert captions == [
        "Table 1: ",
        "Figure 1:",
        "Figure 2:",
        "Table 2: ",
        "Figure 1:",
        "Figure 2:",
        "Table 1: ",
        "Table 1: ",
        "Table 2: ",
        "Figure 1:",
    ]


def test_sections_follow_the_titles(collection: Collection) -> None:
    report = parsed("harbour-report.pdf", collection)
    (table, _) = of(report, "table")
    assert table.section == "3 Cargo"
    assert {quote.section for quote in report.quotes if quote.page == 2 and quote.layout == "chart"} == {
        "4 Vessel traffic"
    }


def test_two_columns_are_read_one_after_the_other(collection: Collection) -> None:
    paper = parsed("two-column-paper.pdf", collection)
    titles = [quote.text for quote in paper.quotes if quote.layout == "title"]
    assert titles[1:] == [
        "1 Introduction",
        "2 Related work",
        "3 Sites and data",
        "4 Method",
        "4.1 Parameters",
        "4.2 From the index to a day",
        "5 Results",
        "5.1 Where the error comes from",
        "6 Discussion",
        "7 Conclusion",
        "Acknowledgements",
        "References",
    ]
    assert [quote.text[:6] for quote in of(paper, "equation")] == ["B(t) ="]
    references = [quote.text for quote in paper.quotes if quote.section == "References" and quote.layout == "paragraph"]
    assert [text[:3] for text in references] == [f"[{i}]" for i in range(1, len(references) + 1)]


def test_tables_have_their_cells(collection: Collection) -> None:
    (table, _) = of(parsed("visitor-guide.pdf", collection), "table")
    rows = [row.split(" | ") for row in table.text.splitlines()]
    assert rows[0] == ["Station", *(f"Train {i}" for i in range(1, 7))]
    assert {len(row) for row in rows} == {7}


def test_the_scan_is_read_by_ocr_and_kept_whole(collection: Collection) -> None:
    scan = parsed("field-notes-scan.pdf", collection)
    assert [page.text_source for page in scan.pages] == ["ocr"]
    (wood,) = (
        quote for quote in scan.quotes if quote.layout == "paragraph" and "layer of wood at 290 cm" in quote.text
    )
    assert iou(wood.bbox, (71.04, 295.01, 503.78, 387.08)) > 0.8
    (whole,) = of(scan, "page")
    assert whole.bbox == (0, 0, scan.pages[0].width, scan.pages[0].height)
    assert "HALLOW MOSS" in (whole.ocr_text or "")
    (figure,) = of(scan, "figure")
    assert "pool" in (figure.ocr_text or "")
