import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from reportlab.pdfgen.canvas import Canvas

from quoteweave.collection.stores.content import ImageStore
from quoteweave.core.errors import DamagedDocument
from quoteweave.core.records import ParsedDocument
from quoteweave.documents.importers.mineru import parse_content_list

LETTER = (612.0, 792.0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "paper" / "images").mkdir(parents=True)
    Image.new("RGB", (60, 40)).save(tmp_path / "paper" / "images" / "a.jpg")
    return tmp_path / "paper"


def write_pdf(path: Path, pages: int) -> None:
    canvas = Canvas(str(path), pagesize=LETTER)
    for _ in range(pages):
        canvas.showPage()
    canvas.save()


def imported(folder: Path, images: ImageStore, items: Any) -> ParsedDocument:
    path = folder / "paper_content_list.json"
    path.write_text(json.dumps(items), encoding="utf-8")
    return parse_content_list(path, images)


def block(kind: str, page: int = 0, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "page_idx": page, "bbox": [100, 200, 500, 300], **fields}


def test_boxes_are_in_points_of_the_pdf_beside_the_list(folder: Path, images: ImageStore) -> None:
    write_pdf(folder / "paper_origin.pdf", 3)
    parsed = imported(folder, images, [block("text", 1, text="Rain fell.")])
    assert parsed.quotes[0].bbox == pytest.approx((61.2, 158.4, 306.0, 237.6))
    assert [(page.number, page.label, page.width, page.height) for page in parsed.pages] == [
        (0, "1", *LETTER),
        (1, "2", *LETTER),
        (2, "3", *LETTER),
    ]
    assert parsed.warnings == ()


def test_without_the_pdf_boxes_are_thousandths_with_a_warning(folder: Path, images: ImageStore) -> None:
    parsed = imported(folder, images, [block("text", 1, text="Rain fell.")])
    assert parsed.quotes[0].bbox == pytest.approx((100, 200, 500, 300))
    assert [(page.width, page.height) for page in parsed.pages] == [(1000, 1000), (1000, 1000)]
    assert "there is no paper_origin.pdf" in parsed.warnings[0]


def test_a_damaged_pdf_is_no_obstacle(folder: Path, images: ImageStore) -> None:
    (folder / "paper.pdf").write_bytes(b"%PDF-1.7 truncated")
    parsed = imported(folder, images, [block("text", text="Rain fell.")])
    assert parsed.pages[0].width == 1000
    assert "'paper.pdf' cannot be read" in parsed.warnings[0]


def test_every_type_becomes_its_layout(folder: Path, images: ImageStore) -> None:
    items = [
        block("header", text="Journal of Rain"),
        block("text", text="Rain\nin Oslo", text_level=1),
        block("text", text="It rained."),
        block("list", sub_type="text", list_items=["one", "two"]),
        block("equation", text="$$\na + b\n$$", text_format="latex", img_path="images/a.jpg"),
        block("code", sub_type="algorithm", code_caption=["Algorithm 1"], code_body="1: go"),
        block("page_footnote", text="* A note."),
        block("page_number", text="17"),
        block("text", text="  "),
    ]
    parsed = imported(folder, images, items)
    assert [(quote.id, quote.kind, quote.layout, quote.text) for quote in parsed.quotes] == [
        ("0:0", "text", "header", "Journal of Rain"),
        ("0:1", "text", "title", "Rain in Oslo"),
        ("0:2", "text", "paragraph", "It rained."),
        ("0:3", "text", "list", "one\ntwo"),
        ("0:4", "text", "equation", "a + b"),
        ("0:5", "text", "paragraph", "Algorithm 1\n1: go"),
        ("0:6", "text", "paragraph", "* A note."),
        ("0:7", "text", "footer", "17"),
    ]
    assert [quote.section for quote in parsed.quotes[:4]] == [None, None, "Rain in Oslo", "Rain in Oslo"]
    assert parsed.quotes[4].image is not None


def test_images_charts_and_tables_have_caption_text_and_picture(folder: Path, images: ImageStore) -> None:
    body = "<html><body><table><tr><td>City</td><td>mm</td></tr><tr><td>Oslo</td><td>7</td></tr></table></body></html>"
    items = [
        block("image", img_path="images/a.jpg", image_caption=["Fig. 1.", "Rain."], image_footnote=["Source: us"]),
        block("image", img_path="images/a.jpg", img_caption=["Fig. 2."]),
        block("chart", img_path="images/a.jpg", chart_caption=[], content="May: 3"),
        block("table", img_path="", table_caption=["Table 1"], table_body=body, table_footnote=["na: none"]),
    ]
    parsed = imported(folder, images, items)
    assert [(quote.kind, quote.layout, quote.caption, quote.text) for quote in parsed.quotes] == [
        ("image", "figure", "Fig. 1.\nRain.", "Source: us"),
        ("image", "figure", "Fig. 2.", ""),
        ("image", "chart", None, "May: 3"),
        ("image", "table", "Table 1", "City | mm\nOslo | 7\nna: none"),
    ]
    assert [quote.image is None for quote in parsed.quotes] == [False, False, False, True]


@pytest.mark.parametrize("path", ["../../secret.jpg", "/etc/hostname", "images/missing.jpg", "images"])
def test_pictures_outside_the_folder_are_not_read(folder: Path, images: ImageStore, path: str) -> None:
    Image.new("RGB", (60, 40)).save(folder.parent.parent / "secret.jpg")
    parsed = imported(folder, images, [block("image", img_path=path, image_caption=["Fig. 1"])])
    assert parsed.quotes[0].image is None
    assert "was left out" in parsed.warnings[-1]


@pytest.mark.parametrize(
    "bbox",
    [None, [], [1, 2, 3], "1,2,3,4", [0, 0, float("nan"), 9], [500, 0, 100, 9], [0, 0, 1654, 2339], [1, 1, 1, 1]],
)
def test_a_block_without_a_usable_box_gets_its_page_and_one_warning_counts_them(
    folder: Path, images: ImageStore, bbox: Any
) -> None:
    items = [{"type": "text", "text": "a", "page_idx": 0, "bbox": bbox}, {"type": "text", "text": "b", "page_idx": 0}]
    parsed = imported(folder, images, items)
    assert [quote.bbox for quote in parsed.quotes] == [(0, 0, 1000, 1000)] * 2
    assert parsed.warnings[1:] == ("2 blocks without a usable box, which the whole page was taken for.",)


def test_unknown_types_are_read_as_text_with_a_warning(folder: Path, images: ImageStore) -> None:
    parsed = imported(folder, images, [block("seal", text="Approved"), block("seal", text="Paid")])
    assert [(quote.layout, quote.text) for quote in parsed.quotes] == [("paragraph", "Approved"), ("paragraph", "Paid")]
    assert parsed.warnings[1:] == ("2 blocks of the unknown type 'seal', read as text.",)


def test_surrogates_and_nuls_cannot_reach_the_catalogue(folder: Path, images: ImageStore) -> None:
    assert imported(folder, images, [block("text", text="a\ud800\x00b")]).quotes[0].text == "a\ufffdb"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ('[{"type": "text",\n "type": "list"}]', "an object has the key 'type' twice: line 2"),
        ("{}", "holds no list of blocks"),
        ("[3]", "block 0: it is int"),
        ("[[]]", "nested form"),
        ('[{"type": "text", "text": "a", "page_idx": 0}, {"type": "text", "text": "b"}]', "block 1: page_idx is None"),
        ('[{"type": "text", "text": "a", "page_idx": -1}]', "page_idx is -1"),
        ('[{"type": "text", "text": "a", "page_idx": 1e9}]', "page_idx is 1000000000.0"),
        ('[{"type": "text", "text": "a", "page_idx": 999999999}]', "not a page number"),
    ],
)
def test_what_is_no_content_list_is_refused_with_block_and_field(
    folder: Path, images: ImageStore, content: str, says: str
) -> None:
    path = folder / "paper_content_list.json"
    path.write_text(content)
    with pytest.raises(DamagedDocument, match=says) as caught:
        parse_content_list(path, images)
    assert "'paper_content_list.json'" in str(caught.value)


def test_an_empty_list_is_one_empty_page(folder: Path, images: ImageStore) -> None:
    parsed = imported(folder, images, [])
    assert (len(parsed.pages), parsed.quotes) == (1, ())
