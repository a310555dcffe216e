"""Stores in a collection documents that other tools have parsed."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from types import MappingProxyType

from quoteweave.collection.collection import Collection
from quoteweave.collection.prepared import PreparedDocument
from quoteweave.collection.records import IMPORTED, Origin
from quoteweave.collection.stores.content import ImageStore
from quoteweave.collection.writer import Writer
from quoteweave.core.errors import DatasetError, DocumentError, UsageError
from quoteweave.core.files.temporary import TemporaryFolder
from quoteweave.core.fingerprints import file_sha256
from quoteweave.core.protocols import Parser
from quoteweave.core.records import Document
from quoteweave.documents.file_reading import FileIssue
from quoteweave.documents.importers.mineru import read_within_limits
from quoteweave.documents.importers.mmdocir import ImportedDocument, iter_mmdocir_layout, iter_mmdocir_pages
from quoteweave.documents.importers.papers import ImportedPaper, iter_papers
from quoteweave.documents.ingest import AddReport
from quoteweave.index.sync import sync_indexes

# Part of each imported document's fingerprint; changed whenever the same file would give other quotes.
IMPORTER_VERSION = "1"
# The tables of MMDocIR, each with the function that reads its documents.
TABLES: Mapping[str, Callable[[Path, ImageStore], Iterator[ImportedDocument]]] = MappingProxyType(
    {"mmdocir-layout": iter_mmdocir_layout, "mmdocir-pages": iter_mmdocir_pages}
)
FORMATS = ("mineru", *TABLES, "papers")
# How many papers are stored at once: storing them one by one would take four times as long.
_PAPERS_AT_ONCE = 2_000


def import_file(
    collection: Collection,
    path: Path,
    format: str,
    *,
    metadata: Mapping[str, str] | None = None,
    on_document: Callable[[Document], None] = lambda _: None,
    on_note: Callable[[str], None] = lambda _: None,
) -> list[Document]:
    """Import MinerU's `content_list.json`, or MMDocIR's layout or page parquet or a table of papers, of many documents.

    Calls `on_document` with each document as it is stored, then brings the indexes up to date and calls `on_note` for
    each that it could not. A document of the same name is replaced; adding the file's folder later leaves imported
    documents unchanged. Raises UsageError for an unknown format, DocumentError or DatasetError for a file that is not
    what it should be.
    """
    if format not in FORMATS:
        raise UsageError(f"there is no importer {format!r}; choose one of: {', '.join(FORMATS)}")
    if not path.is_file():
        raise UsageError(f"{path} is no file")
    documents: list[Document] = []
    importer: Callable[[Writer, Path, Mapping[str, str]], Iterator[Document]] = _import_papers
    if format in TABLES:
        importer = partial(_import_table, TABLES[format], format, collection.images)
    elif format == "mineru":
        importer = partial(_import_mineru, collection.images)
    with collection.writer() as writer:
        for document in importer(writer, path, metadata or {}):
            documents.append(document)
            on_document(document)
        if not documents:
            raise DatasetError(f"{path.name!r} holds no document: its table has no rows")
        for note in (*sync_indexes(collection, writer), *writer.finish_removals()):
            on_note(note)
    return documents


def import_parsed(
    collection: Collection, paths: Sequence[Path], parser: Parser, *, metadata: Mapping[str, str] | None = None
) -> AddReport:
    """Parse files with a parser of the caller's and store them, then bring the indexes up to date.

    A document is named like its file, and replaces one of that name; adding the file's folder later leaves it
    unchanged. A file that the parser refuses with a DocumentError is in the report with its reason, and the other files
    are still read. Raises UsageError for a path that is no file and for two files with the same name.
    """
    for path in paths:
        if not path.is_file():
            raise UsageError(f"{path} is no file")
    for name, count in Counter(path.name for path in paths).items():
        if count > 1:
            raise UsageError(f"{count} files are called {name!r}; import them into collections of their own")
    origins = collection.origins()
    outcome: dict[str, list[str]] = {"added": [], "updated": []}
    failed, warnings = list[FileIssue](), list[FileIssue]()
    with collection.writer() as writer:
        for path in paths:
            try:
                origin = _origin(path.parent, path, f"{IMPORTED}{parser.fingerprint}", metadata or {})
                format = path.suffix.removeprefix(".").lower() or "file"
                document = writer.put(path, name=path.name, format=format, origin=origin, parsed=parser.parse(path))
            except DocumentError as error:
                failed.append(FileIssue(name=path.name, reason=str(error)))
                continue
            outcome["updated" if path.name in origins else "added"].append(path.name)
            warnings += [FileIssue(name=path.name, reason=warning) for warning in document.warnings]
        notes = sync_indexes(collection, writer)
        stored_names = {key: tuple(sorted(names)) for key, names in outcome.items()}
        remaining_traces = writer.finish_removals()
    return AddReport(
        **stored_names,
        failed=tuple(failed),
        warnings=tuple(warnings),
        index_notes=notes,
        remaining_traces=remaining_traces,
    )


def _import_mineru(images: ImageStore, writer: Writer, path: Path, metadata: Mapping[str, str]) -> Iterator[Document]:
    """Import a content list; the PDF beside it, if any, is stored as the source, so that pages can be shown."""
    parsed = read_within_limits(path, images)
    stem = path.name.removesuffix(".json").removesuffix("_content_list")
    beside = (path.with_name(f"{stem}{end}") for end in ("_origin.pdf", ".pdf"))
    pdf = next((file for file in beside if file.is_file()), None)
    source, name, kind = (pdf, f"{stem}.pdf", "pdf") if pdf else (path, path.name, "mineru")
    origin = _origin(path.parent, source, f"{IMPORTED}mineru-{IMPORTER_VERSION}", metadata)
    yield writer.put(source, name=name, format=kind, origin=origin, parsed=parsed)


def _import_table(
    iter_documents: Callable[[Path, ImageStore], Iterator[ImportedDocument]],
    format: str,
    images: ImageStore,
    writer: Writer,
    path: Path,
    metadata: Mapping[str, str],
) -> Iterator[Document]:
    """Import a table of MMDocIR. Each document's own rows are stored as JSON, because the whole table has gigabytes."""
    with TemporaryFolder() as folder:
        for name, domain, parsed in iter_documents(path, images):
            source = folder / "layout.json"
            # Without page words, which these tables lack: the ids of documents depend on what is written here.
            source.write_text(parsed.model_dump_json(exclude={"page_words"}), "utf-8")
            all_metadata = {**({"domain": domain} if domain else {}), **metadata}
            origin = _origin(path.parent, source, f"{IMPORTED}{format}-{IMPORTER_VERSION}", all_metadata)
            yield writer.put(source, name=name, format=format, origin=origin, parsed=parsed)


def _import_papers(writer: Writer, path: Path, metadata: Mapping[str, str]) -> Iterator[Document]:
    """Import a table of papers, each of which is stored as a Markdown file of its own."""
    with TemporaryFolder() as folder:
        papers = iter_papers(path)
        while batch := list(islice(papers, _PAPERS_AT_ONCE)):
            prepared = [_prepared_paper(writer, path, folder, paper, metadata) for paper in batch]
            writer.store(prepared)
            yield from (document.document for document in prepared)


def _prepared_paper(
    writer: Writer, path: Path, folder: Path, paper: ImportedPaper, metadata: Mapping[str, str]
) -> PreparedDocument:
    source = folder / "paper.md"
    source.write_text(paper.markdown, "utf-8")
    origin = _origin(path.parent, source, f"{IMPORTED}papers-{IMPORTER_VERSION}", {**paper.metadata, **metadata})
    return writer.prepare(source, name=paper.name, format="markdown", origin=origin, parsed=paper.parsed)


def _origin(root: Path, source: Path, parser: str, metadata: Mapping[str, str]) -> Origin:
    return Origin(root=root.resolve(), content=file_sha256(source), parser=parser, metadata=metadata)
