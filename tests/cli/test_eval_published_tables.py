"""Retrieval over what MMDocIR publishes parsed: pages by either text (its Table 5), quotes (MMDocRAG's Table 6)."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import Quoteweave

from quoteweave.testing import ModelServer

QUESTIONS = {"a.pdf": [("the harbour in may", 0), ("the wood of the north", 1)], "b.pdf": [("ships", 2)]}
# The words of each page; a text encoder finds the page that has the words of the question.
OCR = {"a.pdf": ["the harbour in may", "no", "the wood of the north"], "b.pdf": ["ships", "rain", "snow"]}
VLM = {"a.pdf": ["the harbour in may", "the wood of the north", "no"], "b.pdf": ["rain", "snow", "ships"]}


def write(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    pq.write_table(pa.Table.from_pylist(list(rows)), path)
    return path


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    rows = [
        {
            "doc_name": name,
            "domain": name[0],
            "passage_id": str(page),
            "image_path": "",
            "image_binary": b"",
            "ocr_text": OCR[name][page],
            "vlm_text": VLM[name][page],
        }
        for name in OCR
        for page in range(3)
    ]
    return write(tmp_path / "pages.parquet", rows)


@pytest.fixture
def annotations(tmp_path: Path) -> Path:
    lines = [
        {
            "doc_name": name,
            "domain": name[0],
            "questions": [
                {
                    "Q": text,
                    "A": "",
                    "type": "['Chart']",
                    "page_id": [page],
                    "layout_mapping": [{"page": page, "bbox": [0, 0, 9, 9]}],
                }
                for text, page in asked
            ],
        }
        for name, asked in QUESTIONS.items()
    ]
    folder = tmp_path / "mmdocir"
    folder.mkdir()
    (folder / "MMDocIR_annotations.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return folder


@pytest.fixture
def collection(quoteweave: Quoteweave, pages: Path, tmp_path: Path) -> Path:
    got = quoteweave("import", "mmdocir-pages", pages, "-c", tmp_path / "c")
    assert (got.code, got.out.strip()) == (0, f"{tmp_path / 'c'}: 2 imported")
    return tmp_path / "c"


def test_pages_are_retrieved_by_either_text_and_scored(
    quoteweave: Quoteweave, annotations: Path, collection: Path
) -> None:
    where = ("--dataset", "mmdocir", "--references", annotations, "-c", collection, "--json")
    with ModelServer() as server:
        model = f"openai:m@{server.base_url}"
        by_ocr = quoteweave("eval", "retrieval", *where, "-r", f"{model}@ocr_text").json()["in_document"]
        by_vlm = quoteweave("eval", "retrieval", *where, "-r", f"{model}@vlm_text").json()["in_document"]
    assert by_ocr["page_recall@1"] == pytest.approx(1 / 3), "OCR has two of the three on another page"
    assert by_ocr["page_recall@1.mean_over_domains"] == pytest.approx((1 / 2 + 0) / 2)
    assert by_vlm["page_recall@1"] == 1
    assert by_ocr["page_recall@3"] == by_vlm["page_recall@3"] == 1
    assert by_vlm["box_recall@5"] is None, "a whole page covers any box without finding it"


def test_pages_found_are_told_by_domain(quoteweave: Quoteweave, annotations: Path, collection: Path) -> None:
    where = ("--dataset", "mmdocir", "--references", annotations, "-c", collection)
    got = quoteweave("eval", "retrieval", *where, "--json").json()
    domains = {name: (one["n"], one["in_document"]["page_recall@5"]) for name, one in got["by_domain"].items()}
    assert len(domains) == 2
    assert {n for n, _ in domains.values()} == {1, 2}
    assert got["in_document"]["page_recall@5.mean_over_domains"] == sum(value for _, value in domains.values()) / 2
    printed = quoteweave("eval", "retrieval", *where).out
    assert re.search(r"domain: a +2 ", printed)
    assert re.search(r"domain: b +1 ", printed)


def test_boxes_are_not_printed_where_all_that_is_found_are_pages(
    quoteweave: Quoteweave, annotations: Path, collection: Path
) -> None:
    got = quoteweave("eval", "retrieval", "--dataset", "mmdocir", "--references", annotations, "-c", collection)
    assert "Page recall within the document" in got.out
    assert "Box recall" not in got.out
    assert "whole pages, so that boxes are not scored" in got.err


def test_gold_on_pages_that_the_documents_lack_is_counted(
    quoteweave: Quoteweave, annotations: Path, collection: Path
) -> None:
    file = annotations / "MMDocIR_annotations.jsonl"
    file.write_text(file.read_text().replace('"page_id": [2]', '"page_id": [9]'))
    got = quoteweave("eval", "retrieval", "--dataset", "mmdocir", "--references", annotations, "-c", collection)
    assert "1 question with gold on pages that their documents lack, such as page 10 of b.pdf" in got.err


def test_boxes_outside_their_page_are_counted(quoteweave: Quoteweave, annotations: Path, collection: Path) -> None:
    file = annotations / "MMDocIR_annotations.jsonl"
    box = '"layout_mapping": [{"page": 0, "page_size": [600, 800], "bbox": [10, 10, 5000, 20]}]'
    file.write_text(re.sub(r'"layout_mapping": \[.*?\}\]', box, file.read_text(), count=1))
    got = quoteweave("eval", "retrieval", "--dataset", "mmdocir", "--references", annotations, "-c", collection)
    assert "1 gold box reversed, without area or outside the page, such as of question" in got.err


def test_a_part_of_the_pages_is_told(quoteweave: Quoteweave, annotations: Path, pages: Path, tmp_path: Path) -> None:
    table = pq.read_table(pages)
    pq.write_table(table.slice(0, 3), pages)
    quoteweave("import", "mmdocir-pages", pages, "-c", tmp_path / "c")
    got = quoteweave("eval", "retrieval", "--dataset", "mmdocir", "--references", annotations, "-c", tmp_path / "c")
    assert got.code == 1
    assert "not read: b.pdf: not in the collection; nothing is found there for 1 question" in got.err


def layout(number: int, kind: str, text: str, **more: Any) -> dict[str, Any]:
    shown = {"text": text, "vlm_text": ""} if kind == "text" else {"text": "", "vlm_text": text}
    return {
        "doc_name": "a.pdf",
        "domain": "a",
        "type": kind,
        "layout_id": number,
        "page_id": number // 10,
        "image_path": "",
        "image_binary": b"",
        "ocr_text": "",
        "bbox": [10.0, 10.0, 200.0, 40.0],
        "page_size": [600.0, 800.0],
        **shown,
        **more,
    }


def test_layout_recall_above_one_and_few_documents_are_explained(
    quoteweave: Quoteweave, annotations: Path, tmp_path: Path
) -> None:
    box = '"layout_mapping": [{"page": 0, "page_size": [600, 800], "bbox": [10, 10, 200, 40]}]'
    file = annotations / "MMDocIR_annotations.jsonl"
    file.write_text(re.sub(r'"layout_mapping": \[\{.*?\}\]', box, file.read_text()))
    words = "the harbour in may, the wood of the north, ships"
    rows = [layout(n, "text", words, doc_name=name, page_id=0) for name in ("a.pdf", "b.pdf") for n in (0, 1)]
    quoteweave("import", "mmdocir-layout", write(tmp_path / "layouts.parquet", rows), "-c", tmp_path / "twice")
    where = ("--dataset", "mmdocir", "--references", annotations, "-c", tmp_path / "twice")
    assert quoteweave("eval", "retrieval", *where, "--json").json()["in_document"]["layout_recall@5"] > 1
    printed = " ".join(quoteweave("eval", "retrieval", *where).out.split())
    assert "note: layout recall above 100 %: the published formula counts an area for each quote" in printed
    assert "note: only 2 documents: intervals are wide, and their level of 95 % is approximate" in printed


def test_quotes_without_layout_ids_are_told(quoteweave: Quoteweave, tmp_path: Path) -> None:
    texts = [{"quote_id": f"text{n}", "page_id": 0, "layout_id": n, "text": ""} for n in range(1, 11)]
    images = [{"quote_id": f"image{n}", "page_id": 0, "layout_id": 39 + n, "img_description": ""} for n in range(1, 6)]
    question = {"q_id": 1, "doc_name": "a.md", "question": "the wood", "text_quotes": texts, "img_quotes": images}
    file = tmp_path / "evaluation_15.jsonl"
    file.write_text(json.dumps({**question, "gold_quotes": ["text3"]}))
    (tmp_path / "a.md").write_text("The wood of the north.\n")
    quoteweave("add", tmp_path / "a.md", "-c", tmp_path / "c")
    found = quoteweave("eval", "retrieval", "--dataset", "mmdocrag-15", "--references", file, "-c", tmp_path / "c")
    assert found.code == 0, found.err
    assert "nothing that was found has a layout id of MMDocIR" in " ".join(found.err.split())


def test_quotes_of_mmdocrag_are_scored_by_kind(quoteweave: Quoteweave, tmp_path: Path) -> None:
    rows = [layout(number, "text", f"paragraph {number}") for number in range(30)]
    rows += [layout(40, "table", "the wood of the north"), layout(41, "image", "snow on ships")]
    quoteweave("import", "mmdocir-layout", write(tmp_path / "layouts.parquet", rows), "-c", tmp_path / "c")
    texts = [{"quote_id": f"text{n}", "page_id": 0, "layout_id": n, "text": ""} for n in range(1, 11)]
    images = [{"quote_id": f"image{n}", "page_id": 4, "layout_id": 39 + n, "img_description": ""} for n in range(1, 6)]
    question = {
        "q_id": 1,
        "doc_name": "a.pdf",
        "domain": "a",
        "question": "the wood of the north",
        "text_quotes": texts,
        "img_quotes": images,
        "gold_quotes": ["text3", "image1"],
    }
    file = tmp_path / "evaluation_15.jsonl"
    file.write_text(json.dumps(question))
    with ModelServer() as server:
        retriever = f"openai:m@{server.base_url}@vlm_text"
        where = ("--dataset", "mmdocrag-15", "--references", file, "-c", tmp_path / "c", "-r", retriever)
        figures = quoteweave("eval", "retrieval", *where, "--json").json()["in_document"]
        printed = quoteweave("eval", "retrieval", *where).out
    assert figures["image.recall@10"] == 1, "its description is the question's words"
    assert figures["recall@15"] == (figures["text.recall@15"] + 1) / 2
    assert "Quote recall within the document" in printed
    assert "image.recall" in printed
    assert re.search(r"^ evidence +n +@10 +@15 +@20 +@10 +@15 +@20 *$", printed, re.M), "a table at 80 columns"
