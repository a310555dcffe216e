import io
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from quoteweave.collection.stores.content import ImageStore
from quoteweave.core.errors import DatasetError, MissingExtra
from quoteweave.documents.importers.mmdocir import ImportedDocument, iter_mmdocir_layout


def jpeg() -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", (30, 20)).save(stream, "JPEG")
    return stream.getvalue()


def row(document: str = "a.pdf", **fields: Any) -> dict[str, Any]:
    return {
        "doc_name": document,
        "domain": "Guidebook",
        "type": "text",
        "layout_id": 0,
        "page_id": 0,
        "image_path": "layout_images/a_0.jpg",
        "image_binary": None,
        "text": "Rain fell.",
        "ocr_text": "",
        "vlm_text": "",
        "bbox": [10.0, 20.0, 110.0, 60.0],
        "page_size": [612.0, 792.0],
        **fields,
    }


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "MMDocIR_layouts.parquet"


def imported(path: Path, images: ImageStore, rows: Sequence[dict[str, Any]]) -> list[ImportedDocument]:
    pq.write_table(pa.Table.from_pylist(list(rows)), path, row_group_size=2)
    return list(iter_mmdocir_layout(path, images))


def test_rows_become_quotes_with_their_layout_id_in_the_id(path: Path, images: ImageStore) -> None:
    rows = [
        row(layout_id=7, type="title", text="Rain"),
        row(layout_id=9, page_id=2, page_size=[792.0, 612.0]),
        row(layout_id=8, type="table", text=None, ocr_text="Oslo 7", vlm_text="A table of rain", image_binary=jpeg()),
        row(layout_id=12, type="image", text=None, ocr_text="", vlm_text=None),
        row("b.pdf", layout_id=7, type="equation", text="a + b", domain="Law"),
    ]
    first, second = imported(path, images, rows)
    assert [(document.name, document.domain) for document in (first, second)] == [
        ("a.pdf", "Guidebook"),
        ("b.pdf", "Law"),
    ]
    quotes = first.parsed.quotes
    assert [quote.layout_id for quote in quotes] == [7, 9, 8, 12]
    assert [(quote.id, quote.page, quote.kind, quote.layout, quote.section) for quote in quotes] == [
        ("0:7", 0, "text", "title", None),
        ("2:9", 2, "text", "paragraph", "Rain"),
        ("0:8", 0, "image", "table", "Rain"),
        ("0:12", 0, "image", "figure", "Rain"),
    ]
    assert [(quote.text, quote.ocr_text, quote.vlm_text) for quote in quotes[1:]] == [
        ("Rain fell.", None, None),
        ("", "Oslo 7", "A table of rain"),
        ("", None, None),
    ]
    assert quotes[2].image is not None
    assert images.path(quotes[2].image).read_bytes() == jpeg()
    assert [(page.width, page.height) for page in first.parsed.pages] == [(612, 792), (612, 792), (792, 612)]
    assert [quote.id for quote in second.parsed.quotes] == ["0:7"]
    assert first.parsed.warnings == second.parsed.warnings == ()


def test_boxes_and_sizes_may_be_strings_and_are_kept_on_the_page(path: Path, images: ImageStore) -> None:
    (document,) = imported(path, images, [row(bbox="[-3, 20.5, 700, 60]", page_size="[612, 792]")])
    assert document.parsed.quotes[0].bbox == (0, 20.5, 612, 60)


def test_layout_ids_that_repeat_give_way_to_the_place_in_the_document(path: Path, images: ImageStore) -> None:
    (document,) = imported(path, images, [row(layout_id=4), row(layout_id=4), row(layout_id=5, page_id=1)])
    assert [quote.id for quote in document.parsed.quotes] == ["0:0", "0:1", "1:2"]
    assert document.parsed.warnings == ("Its layout ids are not unique; quotes are numbered in the table's order.",)


def test_a_damaged_picture_and_an_unknown_type_are_warnings(path: Path, images: ImageStore) -> None:
    (document,) = imported(path, images, [row(type="seal", image_binary=b"no picture")])
    assert (document.parsed.quotes[0].layout, document.parsed.quotes[0].image) == ("paragraph", None)
    assert "picture of layout 0 was left out" in document.parsed.warnings[0]
    assert "unknown type 'seal'" in document.parsed.warnings[1]


def test_a_document_that_comes_back_is_refused(path: Path, images: ImageStore) -> None:
    pq.write_table(pa.Table.from_pylist([row("a.pdf"), row("b.pdf"), row("a.pdf")]), path)
    documents = iter_mmdocir_layout(path, images)
    assert [next(documents).name, next(documents).name] == ["a.pdf", "b.pdf"]
    with pytest.raises(DatasetError, match=r"rows of 'a.pdf' do not follow each other"):
        next(documents)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"doc_name": ""}, "doc_name is ''"),
        ({"doc_name": None}, "doc_name is 'None'"),
        ({"type": None}, "type is 'None'"),
        ({"layout_id": -1}, "layout_id is '-1'"),
        ({"layout_id": None}, "layout_id is 'None'"),
        ({"page_id": 100_000}, "page_id is '100000'"),
        ({"bbox": [1.0, 2.0, 3.0]}, "bbox is .*, not 4 numbers"),
        ({"bbox": None}, "bbox is 'None', not 4 numbers"),
        ({"bbox": [9.0, 2.0, 3.0, 4.0]}, "bbox .* ends before it starts"),
        ({"bbox": [float("nan"), 2.0, 3.0, 4.0]}, "bbox is .*, not 4 numbers"),
        ({"page_size": [0.0, 792.0]}, "page_size is 0 by 792"),
    ],
)
def test_bad_rows_are_named_with_file_row_and_field(
    path: Path, images: ImageStore, fields: dict[str, Any], says: str
) -> None:
    with pytest.raises(DatasetError, match=rf"'MMDocIR_layouts.parquet', row 2: {says}"):
        imported(path, images, [row(layout_id=1), row(layout_id=2), {**row(layout_id=3), **fields}])


@pytest.mark.parametrize("bbox", ["[1, 2", "words", "[[1], 2, 3, 4]", "5", "[" * 5000])
def test_bad_boxes_in_strings_are_named(path: Path, images: ImageStore, bbox: str) -> None:
    with pytest.raises(DatasetError, match="row 0: bbox is"):
        imported(path, images, [row(bbox=bbox)])


def test_a_missing_column_is_named(path: Path, images: ImageStore) -> None:
    lacking = row()
    del lacking["bbox"]
    with pytest.raises(DatasetError, match="has no column bbox"):
        imported(path, images, [lacking])


def test_optional_columns_may_be_missing(path: Path, images: ImageStore) -> None:
    kept = {field: row()[field] for field in ("doc_name", "type", "layout_id", "page_id", "text", "bbox", "page_size")}
    (document,) = imported(path, images, [kept])
    assert (document.domain, document.parsed.quotes[0].text) == ("", "Rain fell.")


def test_what_is_no_parquet_is_refused(path: Path, images: ImageStore) -> None:
    for data in (b"", b"PAR1 and nothing more", b"hello"):
        path.write_bytes(data)
        with pytest.raises(DatasetError, match="cannot be read as Parquet"):
            list(iter_mmdocir_layout(path, images))


def test_a_truncated_file_yields_an_error_and_no_wrong_document(path: Path, images: ImageStore) -> None:
    pq.write_table(pa.Table.from_pylist([row(layout_id=number) for number in range(500)]), path)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(DatasetError, match="cannot be read as Parquet"):
        list(iter_mmdocir_layout(path, images))


def test_rows_are_read_as_they_are_asked_for(path: Path, images: ImageStore) -> None:
    rows = [row(f"{number}.pdf") for number in range(300)]
    pq.write_table(pa.Table.from_pylist([*rows, row("last.pdf", layout_id=-1)]), path, row_group_size=1000)
    documents = iter_mmdocir_layout(path, images)
    assert next(documents).name == "0.pdf"


def test_without_pyarrow_the_extra_is_named(path: Path, images: ImageStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"quoteweave\[parquet\]"):
        list(iter_mmdocir_layout(path, images))
