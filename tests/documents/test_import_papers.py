"""A table of papers: each is a document of its title and abstract, with what else is said of it as metadata."""

import gzip
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from builders import write_json_lines

from quoteweave import Collection, attribute
from quoteweave.core.errors import DatasetError
from quoteweave.core.records import Document
from quoteweave.documents.importers.import_file import import_file

TIDES: Mapping[str, Any] = {
    "id": "10.1/tides",
    "title": "Tides of\nnarrow harbours",
    "abstract": "A tide of 4.2 metres was measured at the quay.",
    "year": 2019,
    "authors": [{"name": "Ann Reed"}, "Bo Lee"],
    "venue": None,
}
CRANES: Mapping[str, Any] = {"id": "W2", "title": "Cranes", "abstract": None}


def table(path: Path, *rows: Mapping[str, Any]) -> Path:
    write_json_lines(path, rows)
    return path


def imported(path: Path) -> list[Document]:
    with Collection.open_or_create(path.parent / "collection") as collection:
        return import_file(collection, path, "papers", metadata={"from": "test"})


def test_a_paper_is_a_document_of_its_title_and_abstract(tmp_path: Path) -> None:
    tides, cranes = imported(table(tmp_path / "papers.jsonl", TIDES, CRANES))
    assert (tides.name, tides.format, tides.quotes, cranes.quotes) == ("10.1/tides", "markdown", 2, 1)
    said = {
        "title": "Tides of narrow harbours",
        "source_id": "10.1/tides",
        "year": "2019",
        "authors": "Ann Reed; Bo Lee",
        "from": "test",
    }
    assert tides.metadata == said, "an empty column says nothing"
    with Collection.open(tmp_path / "collection") as collection:
        (found,) = attribute(collection, "The tide at the quay is 4.2 metres [CITATION].")
        assert (found.outcome, found.candidates[0].title) == ("supported", "Tides of narrow harbours")
        assert (found.candidates[0].identifiers["document"], found.candidates[0].citation.page) == ("10.1/tides", 0)


def test_two_ids_that_differ_by_spaces_alone_name_one_document_and_are_refused(tmp_path: Path) -> None:
    rows = [{"id": "a  b", "title": "Tides"}, {"id": "a b", "title": "Cranes"}]
    with pytest.raises(DatasetError, match=r"papers\.jsonl, line 2, id: 'a b' is that of line 1 too"):
        imported(table(tmp_path / "papers.jsonl", *rows))


def test_csv_and_compressed_lines_are_read_alike(tmp_path: Path) -> None:
    lines, compressed = table(tmp_path / "a.jsonl", {**CRANES, "year": "2020"}), tmp_path / "b.jsonl.gz"
    compressed.write_bytes(gzip.compress(lines.read_bytes()))
    spread = tmp_path / "c.csv"
    spread.write_text('\ufefftitle,id,abstract,year\n"Cranes",W2,,2020\n', "utf-8")
    found = [imported(path)[0] for path in (lines, compressed, spread)]
    assert len({(one.name, one.content, tuple(sorted(one.metadata.items()))) for one in found}) == 1


def test_a_paper_that_is_imported_again_takes_the_place_of_the_one_before(tmp_path: Path) -> None:
    imported(table(tmp_path / "papers.jsonl", TIDES, CRANES))
    imported(table(tmp_path / "papers.jsonl", {**CRANES, "title": "Cranes of 2020"}))
    with Collection.open(tmp_path / "collection") as collection:
        assert sorted(one.metadata["title"] for one in collection.documents()) == [
            "Cranes of 2020",
            "Tides of narrow harbours",
        ]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.jsonl", '{"id": "1", "title": "A"}\n{"id": "1", "title": "B"}\n', "line 2, id: '1' is that of line 1 too"),
        ("a.jsonl", '{"id": "1", "title": " "}\n', "line 1, title: it is empty"),
        ("a.jsonl", '{"title": "A"}\n', "line 1, id: Field required"),
        ("a.jsonl", '{"id": "1", "title": "A"\n', "line 1"),
        ("a.csv", "title\nA\n", "no column id"),
        ("a.csv", "id,title\n1\n", "line 2: it has more or fewer columns"),
        ("a.csv", "id,title,title\n1,A,B\n", "line 1: it names the column 'title' twice"),
        ("a.csv", 'id,title\n1,"A\n', "cannot be read as CSV"),
        ("a.jsonl", "", "holds no document"),
    ],
)
def test_a_table_that_cannot_be_read_is_refused_by_line_and_column(
    tmp_path: Path, name: str, content: str, said: str
) -> None:
    (tmp_path / name).write_text(content, "utf-8")
    with pytest.raises(DatasetError, match="a\\.") as refused:
        imported(tmp_path / name)
    assert said in str(refused.value)


def test_text_that_is_no_utf8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"id,title\n1,\xff\n")
    with pytest.raises(DatasetError, match="no text in UTF-8"):
        imported(tmp_path / "a.csv")
