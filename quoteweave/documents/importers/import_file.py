"""Stores documents that other tools have parsed in a collection."""

import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from quoteweave.collection.collection import Collection
from quoteweave.collection.records import IMPORTED, Origin
from quoteweave.collection.writer import Writer
from quoteweave.core.errors import UsageError
from quoteweave.core.fingerprints import file_sha256
from quoteweave.core.records import Document
from quoteweave.documents.importers.mineru import parse_content_list
from quoteweave.documents.importers.mmdocir_layout import iter_mmdocir_layout
from quoteweave.index.sync import refresh_indexes

# Part of each imported document's fingerprint; changes when the same file would give other quotes.
IMPORTER_VERSION = "1"
FORMATS = ("mineru", "mmdocir-layout")


def import_file(
    collection: Collection,
    path: Path,
    format: str,
    *,
    metadata: Mapping[str, str] | None = None,
    on_document: Callable[[Document], None] = lambda _: None,
    on_note: Callable[[str], None] = lambda _: None,
) -> list[Document]:
    """Import MinerU's `content_list.json`, or MMDocIR's layout parquet, which holds many documents.

    Tells `on_document` of each as it is stored, then brings the indexes up to date and tells `on_note` of those that it
    could not. A document of the same name is replaced; adding the file's folder later leaves what was imported alone.
    Raises UsageError for another format, DocumentError or DatasetError for a file that is not what it should be.
    """
    if format not in FORMATS:
        raise UsageError(f"there is no importer {format!r}; choose one of: {', '.join(FORMATS)}")
    if not path.is_file():
        raise UsageError(f"{path} is no file")
    documents: list[Document] = []
    read = _mineru if format == "mineru" else _layouts
    with collection.writer() as writer:
        for document in read(collection, writer, path, metadata or {}):
            documents.append(document)
            on_document(document)
        for note in (*refresh_indexes(collection, writer), *writer.finish_removals()):
            on_note(note)
    return documents


def _mineru(collection: Collection, writer: Writer, path: Path, metadata: Mapping[str, str]) -> Iterator[Document]:
    """Import a content list; the PDF beside it, if any, is stored as the source, so that pages can be shown."""
    parsed = parse_content_list(path, collection.images)
    stem = path.name.removesuffix(".json").removesuffix("_content_list")
    beside = (path.with_name(f"{stem}{end}") for end in ("_origin.pdf", ".pdf"))
    pdf = next((file for file in beside if file.is_file()), None)
    source, name, kind = (pdf, f"{stem}.pdf", "pdf") if pdf else (path, path.name, "mineru")
    origin = _origin(path.parent, source, f"{IMPORTED}mineru-{IMPORTER_VERSION}", metadata)
    yield writer.put(source, name=name, format=kind, origin=origin, parsed=parsed)


def _layouts(collection: Collection, writer: Writer, path: Path, metadata: Mapping[str, str]) -> Iterator[Document]:
    """Import a layout table; each document's own rows are stored as JSON, as the whole table has gigabytes."""
    with tempfile.TemporaryDirectory() as folder:
        for name, domain, parsed in iter_mmdocir_layout(path, collection.images):
            source = Path(folder, "layout.json")
            # Without words, of which these layouts have none: the ids of documents hang on what is written here.
            source.write_text(parsed.model_dump_json(exclude={"page_words"}), "utf-8")
            said = {**({"domain": domain} if domain else {}), **metadata}
            origin = _origin(path.parent, source, f"{IMPORTED}mmdocir-layout-{IMPORTER_VERSION}", said)
            yield writer.put(source, name=name, format="mmdocir-layout", origin=origin, parsed=parsed)


def _origin(root: Path, source: Path, parser: str, metadata: Mapping[str, str]) -> Origin:
    return Origin(root=root.resolve(), content=file_sha256(source), parser=parser, metadata=metadata)
