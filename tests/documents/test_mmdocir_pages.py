"""MMDocIR's page table: each page becomes one quote, with the views that the table has of it."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from quoteweave.collection.stores.content import ImageStore
from quoteweave.core.errors import DatasetError
from quoteweave.documents.importers.mmdocir import ImportedDocument, iter_mmdocir_pages

FILE = "MMDocIR_pages.parquet"


def jpeg(width: int = 60, height: int = 80) -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", (width, height)).save(stream, "JPEG")
    return stream.getvalue()


def row(page: object, document: str = "a.pdf", **fields: Any) -> dict[str, Any]:
    """A row in the published schema."""
    return {
        "doc_name": document,
        "domain": "Guidebook",
        "passage_id": str(page),
        "image_path": f"page_images/a_{page}.jpg",
        "image_binary": jpeg(),
        "ocr_text": f"ocr {page}",
        "vlm_text": f"vlm {page}",
        **fields,
    }


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / FILE


def imported(path: Path, images: ImageStore, rows: Sequence[dict[str, Any]]) -> list[ImportedDocument]:
    pq.write_table(pa.Table.from_pylist(list(rows)), path, row_group_size=2)
    return list(iter_mmdocir_pages(path, images))


def test_each_page_is_one_quote_with_all_its_views(path: Path, images: ImageStore) -> None:
    first, second = imported(path, images, [row(0), row(1), row(0, "b.pdf", domain="Law")])
    assert [(one.name, one.domain, len(one.parsed.pages)) for one in (first, second)] == [
        ("a.pdf", "Guidebook", 2),
        ("b.pdf", "Law", 1),
    ]
    quote = first.parsed.quotes[1]
    assert (quote.page, quote.page_label, quote.kind, quote.layout) == (1, "2", "image", "page")
    assert (quote.text, quote.ocr_text, quote.vlm_text) == ("", "ocr 1", "vlm 1")
    assert quote.bbox == (0, 0, 60, 80), "the table tells no sizes, so that it is the screenshot's"
    assert quote.image is not None
    assert images.path(quote.image).read_bytes() == jpeg()
    assert first.parsed.warnings == ()


@pytest.mark.parametrize("names", [("7", "8"), ("a_0", "a_1"), ("page_images/a_3.jpg", "page_images/a_4.jpg")])
def test_pages_are_numbered_by_their_rows_whatever_ids_count_from(
    path: Path, images: ImageStore, names: Sequence[str]
) -> None:
    (document,) = imported(path, images, [row(0, passage_id=name) for name in names])
    assert [quote.page for quote in document.parsed.quotes] == [0, 1]


@pytest.mark.parametrize("names", [("0", "2"), ("0", "0"), ("1", "0"), ("0", "last")])
def test_pages_that_do_not_follow_each_other_are_refused(path: Path, images: ImageStore, names: Sequence[str]) -> None:
    with pytest.raises(DatasetError, match=rf"'{FILE}', row 1: passage_id is '{names[1]}'.* part of the table missing"):
        imported(path, images, [row(0, passage_id=name) for name in names])


def test_a_document_that_comes_back_is_refused(path: Path, images: ImageStore) -> None:
    with pytest.raises(DatasetError, match=r"rows of 'a.pdf' do not follow each other"):
        imported(path, images, [row(0), row(0, "b.pdf"), row(1)])


@pytest.mark.parametrize("column", ["doc_name", "passage_id", "ocr_text", "vlm_text"])
def test_a_column_that_is_missing_is_named(path: Path, images: ImageStore, column: str) -> None:
    lacking = row(0)
    del lacking[column]
    with pytest.raises(DatasetError, match=f"has no column {column}; is it MMDocIR's page table"):
        imported(path, images, [lacking])


def test_a_column_of_another_type_is_named_with_its_row(path: Path, images: ImageStore) -> None:
    with pytest.raises(DatasetError, match="row 0: vlm_text is '7', not text"):
        imported(path, images, [row(0, vlm_text=7)])


def test_what_is_lacking_or_damaged_is_counted(path: Path, images: ImageStore) -> None:
    rows = [row(0, image_binary=b"no picture"), row(1, ocr_text=None, vlm_text=" ", image_binary=None)]
    (document,) = imported(path, images, rows)
    assert document.parsed.quotes[0].ocr_text == "ocr 0"
    assert (document.parsed.quotes[1].ocr_text, document.parsed.quotes[1].vlm_text) == (None, None)
    damaged, mute, unread, undescribed = document.parsed.warnings
    assert damaged.startswith("The picture of page 1 was left out")
    assert mute == "1 page without text and picture, which nothing can find."
    assert unread == "1 page without text by OCR (ocr_text), which searches of it cannot find."
    assert undescribed == "1 page without text by a vision model (vlm_text), which searches of it cannot find."


def test_the_layout_table_is_no_page_table(path: Path, images: ImageStore) -> None:
    other = {**row(0), "layout_id": 3, "page_id": 0}
    del other["passage_id"]
    with pytest.raises(DatasetError, match="no column passage_id"):
        imported(path, images, [other])
