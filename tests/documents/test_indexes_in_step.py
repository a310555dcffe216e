"""Indexes of vectors after files were added, changed, renamed and removed, and after imports."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from made_files import InlineWorkers, write
from made_vectors import ColourPictures, PlainIndex, plain_index

from quoteweave.collection.collection import Collection
from quoteweave.core.errors import EndpointUnreachable
from quoteweave.core.records import Query
from quoteweave.documents import ingest
from quoteweave.documents.importers.import_file import import_file
from quoteweave.documents.ingest import AddOptions, AddReport, add
from quoteweave.documents.parser import ParserSettings
from quoteweave.index import kinds
from quoteweave.index.sync import indexes_behind
from quoteweave.retrievers.vector import VectorRetriever
from quoteweave.testing import FakeEncoder


@pytest.fixture(autouse=True)
def _in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingest, "WorkerPool", InlineWorkers)
    monkeypatch.setattr(kinds, "open_index", plain_index)


@pytest.fixture
def collection(tmp_path: Path) -> Iterator[Collection]:
    with Collection.create(tmp_path / "c") as made:
        yield made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "docs", {"a.txt": "red", "b.txt": "lime", "c.txt": "blue"})


def update(collection: Collection, folder: Path, pictures: ColourPictures | None = None) -> AddReport:
    return add(collection, [folder], AddOptions(settings=ParserSettings(ocr=False), pictures=pictures))


def texts(retriever: VectorRetriever, question: str = "red") -> list[str]:
    return sorted(hit.quote.text for hit in retriever.search([Query(text=question)], 10)[0])


def test_files_that_change_change_the_index_and_only_what_is_new_awaits_its_encoder(
    collection: Collection, folder: Path
) -> None:
    update(collection, folder)
    encoder = FakeEncoder()
    retriever = VectorRetriever(collection, encoder)
    retriever.refresh()

    (folder / "a.txt").unlink()
    (folder / "b.txt").rename(folder / "renamed.txt")
    report = update(collection, folder)
    assert (report.removed, report.added, report.index_notes) == (("a.txt", "b.txt"), ("renamed.txt",), ())
    assert indexes_behind(collection) == []
    assert texts(retriever) == ["blue", "lime"]

    (folder / "c.txt").write_text("white")
    assert update(collection, folder).updated == ("c.txt",)
    assert [manifest.spec for manifest in indexes_behind(collection)] == ["fake"]
    assert texts(retriever) == ["lime"]
    retriever.refresh()
    assert texts(retriever) == ["lime", "white"]
    assert encoder.views == [["red", "lime", "blue"], ["white"]]


def test_a_renamed_file_keeps_the_vectors_of_its_pictures(collection: Collection, folder: Path) -> None:
    pictures, encoder = ColourPictures(), FakeEncoder(reads="image")
    update(collection, folder)
    VectorRetriever(collection, encoder, pictures=pictures).refresh()
    (folder / "b.txt").rename(folder / "renamed.txt")
    update(collection, folder, pictures)
    assert indexes_behind(collection) == []
    VectorRetriever(collection, encoder, pictures=pictures).refresh()
    assert len(encoder.views) == 1


def test_a_server_that_is_away_stops_neither_adding_nor_importing(
    collection: Collection, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    update(collection, folder)
    VectorRetriever(collection, FakeEncoder()).refresh()

    def away(kind: str, dimension: int, *, database_folder: Path, folder: Path | None = None) -> PlainIndex:
        raise EndpointUnreachable("no Milvus answers")

    monkeypatch.setattr(kinds, "open_index", away)
    (folder / "a.txt").unlink()
    report = update(collection, folder)
    assert report.removed == ("a.txt",)
    assert [note.startswith("the index fake was not brought up to date: no Milvus") for note in report.index_notes] == [
        True
    ]
    path = folder / "report_content_list.json"
    path.write_text(json.dumps([{"type": "text", "text": "Dues.", "page_idx": 0, "bbox": [0, 0, 9, 9]}]))
    notes: list[str] = []
    import_file(collection, path, "mineru", on_note=notes.append)
    assert notes == [*report.index_notes, *report.remaining_traces]
    assert len(collection.documents()) == 3
