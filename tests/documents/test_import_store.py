"""What other tools have parsed is found and shown like what this package parses."""

import json
from pathlib import Path

import pytest
from hostile_pdfs import PDFS

from quoteweave.collection.collection import Collection
from quoteweave.core.errors import DamagedDocument, UsageError
from quoteweave.core.records import Query
from quoteweave.documents.importers.import_file import import_file
from quoteweave.documents.ingest import add
from quoteweave.pipeline.pictures_for_people import page_picture
from quoteweave.retrievers.lexical import LexicalRetriever

BLOCKS = [
    {"type": "text", "text": "Harbour dues", "text_level": 1, "page_idx": 0, "bbox": [100, 100, 500, 140]},
    {"type": "text", "text": "Dues rose by four per cent.", "page_idx": 0, "bbox": [100, 160, 900, 200]},
]


def content_list(folder: Path) -> Path:
    path = folder / "report_content_list.json"
    path.write_text(json.dumps(BLOCKS), "utf-8")
    return path


def test_a_content_list_is_found_by_its_words(tmp_path: Path) -> None:
    with Collection.create(tmp_path / "collection") as collection:
        (document,) = import_file(collection, content_list(tmp_path), "mineru", metadata={"year": "2023"})
        hits = LexicalRetriever(collection).search([Query(text="By how many per cent did dues go up?")], 3)[0]
        assert (document.name, document.metadata) == ("report_content_list.json", {"year": "2023"})
        assert hits[0].quote.text == "Dues rose by four per cent."
        assert page_picture(collection, document.name, 0) is None


def test_a_content_list_beside_its_pdf_shows_the_pages(tmp_path: Path, samples: Path) -> None:
    (tmp_path / "report.pdf").write_bytes((samples / "pdf" / "harbour-report.pdf").read_bytes())
    with Collection.create(tmp_path / "collection") as collection:
        (document,) = import_file(collection, content_list(tmp_path), "mineru")
        assert (document.name, document.format) == ("report.pdf", "pdf")
        assert page_picture(collection, document.name, 0) is not None


def test_labels_of_the_pdf_that_crash_the_program_that_reads_them_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "report_origin.pdf").write_bytes(PDFS["labels-in-themselves"]())
    with Collection.create(tmp_path / "collection") as collection:
        (document,) = import_file(collection, content_list(tmp_path), "mineru")
        assert [page.label for page in collection.pages("report.pdf")] == ["1", "2", "3"]
        assert [page.width for page in collection.pages("report.pdf")] == [612.0] * 3
        assert len(collection.document_quotes("report.pdf")) == 2
    assert document.warnings == (
        "the labels of its pages and its bookmarks were left out: reading it with them crashed twice",
    )


def test_pages_that_another_tool_has_read_are_drawn_within_limits(tmp_path: Path) -> None:
    (tmp_path / "report.pdf").write_bytes(PDFS["nested-forms"]())
    with Collection.create(tmp_path / "collection") as collection:
        import_file(collection, content_list(tmp_path), "mineru")
        assert page_picture(collection, "report.pdf", 0) is not None
        with pytest.raises(DamagedDocument, match=r"page 2 cannot be drawn: it ran out of .* that it may take$"):
            page_picture(collection, "report.pdf", 1)


def test_a_list_whose_pdf_takes_too_much_is_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quoteweave.documents.importers.mineru.default_memory", lambda _: 300_000_000)
    (tmp_path / "report.pdf").write_bytes(PDFS["cross-reference-flood"]())
    refused = pytest.raises(DamagedDocument, match=r"^'report_content_list.json' cannot be imported: it ran out of ")
    with Collection.create(tmp_path / "collection") as collection, refused:
        import_file(collection, content_list(tmp_path), "mineru")


def test_layouts_of_many_documents_come_from_one_parquet(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    rows = [
        {
            "doc_name": name,
            "domain": "Report",
            "type": "text",
            "layout_id": 7,
            "page_id": 0,
            "image_path": "",
            "image_binary": b"",
            "text": f"{name} speaks of tides",
            "ocr_text": "",
            "vlm_text": "",
            "bbox": [10.0, 10.0, 200.0, 40.0],
            "page_size": [600.0, 800.0],
        }
        for name in ("one.pdf", "two.pdf")
    ]
    parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "layout.parquet")
    with Collection.create(tmp_path / "collection") as collection:
        documents = list(import_file(collection, tmp_path / "layout.parquet", "mmdocir-layout"))
        assert [document.name for document in documents] == ["one.pdf", "two.pdf"]
        assert documents[0].metadata == {"domain": "Report"}
        # Gold is matched by layout id, so it must survive in the quote's id.
        assert collection.document_quotes("one.pdf")[0].id.endswith(":0:7")


def test_adding_the_folder_leaves_what_was_imported_alone(tmp_path: Path) -> None:
    folder = tmp_path / "reports"
    folder.mkdir()
    (folder / "notes.txt").write_text("Tides are high on Monday.")
    with Collection.create(tmp_path / "collection") as collection:
        import_file(collection, content_list(folder), "mineru")
        report = add(collection, [folder])
        assert (report.added, report.removed, report.failed) == (("notes.txt",), (), ())
        assert [document.name for document in collection.documents()] == ["notes.txt", "report_content_list.json"]


def test_a_file_that_was_imported_is_not_parsed_over(tmp_path: Path, samples: Path) -> None:
    pdf = tmp_path / "report.pdf"
    pdf.write_bytes((samples / "pdf" / "two-column-paper.pdf").read_bytes())
    with Collection.create(tmp_path / "collection") as collection:
        import_file(collection, content_list(tmp_path), "mineru")
        imported = collection.document_quotes("report.pdf")
        assert add(collection, [pdf]).unchanged == ("report.pdf",)
        pdf.write_bytes((samples / "pdf" / "harbour-report.pdf").read_bytes())
        (refused,) = add(collection, [pdf]).failed
        assert "was imported, and has changed since" in refused.reason
        assert collection.document_quotes("report.pdf") == imported


def test_an_unknown_importer_is_named_with_those_there_are(tmp_path: Path) -> None:
    with Collection.create(tmp_path / "collection") as collection, pytest.raises(UsageError, match="mineru"):
        list(import_file(collection, content_list(tmp_path), "docling"))
