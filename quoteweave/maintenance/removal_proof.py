"""Proves that nothing is left of a removed document: searches every byte of every file in the collection's folder."""

import json
import mmap
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote as percent_encoded

from pydantic import Field

from quoteweave.collection.catalog.stored_words import heads_of_words, unknown_words
from quoteweave.collection.collection import Collection
from quoteweave.collection.folder import CollectionFolder, require_readable
from quoteweave.collection.records import IndexPlan
from quoteweave.collection.segments.segment import SUFFIX, read_segment
from quoteweave.collection.stores.generations import read_plan
from quoteweave.collection.unreferenced import MILVUS_FOLDER, referenced_keys, unreferenced_files
from quoteweave.core.errors import CollectionError, MissingExtra, UsageError
from quoteweave.core.fingerprints import file_sha256
from quoteweave.core.records import Record
from quoteweave.core.text.tokens import words

_MIN_NAME_CHARACTERS = 4  # shorter names are searched for in quotation marks
_MIN_WORD_BYTES = 6  # shorter words occur by chance
_WORD = re.compile(rb"[0-9A-Za-z\x80-\xff]{%d,}" % _MIN_WORD_BYTES)
# Words that the file formats themselves contain: SQLite, numpy, Parquet, Milvus, and our own JSON and indexes.
_FORMAT_WORDS = frozenset(
    """
    active arrow1 autoincrement autoindex binary candidates capacity cascade catalog changes chapter checked checkpoint
    checksum checksums collection collections committed content create current default delete descriptions dimension
    dimensions document documents dynamic element embedded enable entries exists failures fields figure fingerprint
    float16 float32 foreign format fortran generation header images indexes integer inverted lengths lexical longest
    manifest master metric milvus nullable output packages params parquet parser partition partitions passage prefix
    primary properties quotes quoteweave references refused removals reserve revision rotation scalar schema search
    section segment segments select sequence settings shards skipped source sources sqlite string symbols tables tokens
    unclean unique varchar vector vectors verified version vision warnings without writer written
    """.split()  # noqa: SIM905 - a list with quotation marks would be three times as long
)


class RemovalCheck(Record):
    """The result of a search for traces of a removed document."""

    name: str
    traces: tuple[str, ...] = Field(description="what is left, a sentence each; none where all is gone")
    mentions: tuple[str, ...] = Field(description="documents of the collection that name it in words of their own")
    same_content: tuple[str, ...] = Field(description="documents of the collection whose files have the same content")
    files: int = Field(description="files that were searched")
    size: int = Field(description="bytes that were searched")


@dataclass(frozen=True, slots=True)
class _SearchTerms:
    """What is searched for, and legitimate occurrences to ignore."""

    forms: tuple[bytes, ...]
    """The name in every encoding, and the hash of the file that was removed."""
    rare: frozenset[bytes]
    """Words of the removed file that occur neither in documents of the collection nor in what is stored about them."""
    longer: tuple[bytes, ...]
    """Names of documents, folders and files of the collection, and keys of stored data, that contain the name."""
    mentioned: bool
    """Whether a document of the collection mentions the name."""
    words: frozenset[bytes]
    """The first bytes of the compressed words of each page in the collection."""

    def find_in(self, content: bytes | mmap.mmap) -> str | None:
        """Say which of it occurs in the bytes; None if nothing does."""
        searched: bytes | mmap.mmap = content
        if any(content.find(longer) >= 0 for longer in self.longer):
            searched = bytes(content)
            for longer in self.longer:
                searched = searched.replace(longer, b"")
        if len(searched) and any(searched.find(form) >= 0 for form in self.forms):
            return "its name, or the hash of its content"
        if self.rare and (found_words := {match.lower() for match in _WORD.findall(searched)} & self.rare):
            return f"words of it ({', '.join(sorted(word.decode() for word in found_words)[:3])})"
        return None


def check_removed(root: Path, name: str, texts: Sequence[str] = (), content: str | None = None) -> RemovalCheck:
    """Search the folder of a collection for traces of a document that was removed.

    If the user still has the file, `texts` are its texts and `content` is its SHA-256 in hexadecimal; its words are
    then searched for, too. A name of fewer than four characters is searched for in quotation marks, as JSON files have
    it. Connections of this process to the collection must be closed. Raises UsageError while the document is in the
    collection, and CollectionError if the collection, or any folder or file of it, cannot be read.
    """
    require_readable(root)
    folder = CollectionFolder(root)
    with Collection.open(root) as collection:
        if any(document.name == name for document in collection.documents()):
            raise UsageError(f"{name!r} is in the collection; remove it first")
        mentions = _mentions(collection, name)
        same_content = [document.name for document in collection.documents() if document.content == content]
        search_terms = _search_terms(
            folder, collection, name, texts, None if same_content else content, mentioned=bool(mentions)
        )
        traces = [*_traces_in_catalogue(collection, name), *_traces_in_milvus(folder, search_terms)]
    # Files that belong to pages of a document that is still being added are no traces; they are searched like others.
    traces += [f"{path} is referred to by nothing" for path in unreferenced_files(folder)]
    traces += list(_traces_in_segments(folder, search_terms))
    verified = _verified(folder)
    folder.catalog.close()
    paths, size = sorted(path for path in root.rglob("*") if path.is_file()), 0
    for path in paths:
        size += path.stat().st_size
        may_mention = path in verified or (search_terms.mentioned and path.name.startswith(folder.catalog.path.name))
        traces += list(_traces_in_file(path, root, search_terms, may_mention=may_mention))
    traces += list(_traces_in_free_pages(folder.catalog.path))
    return RemovalCheck(
        name=name,
        traces=tuple(traces),
        mentions=tuple(mentions),
        same_content=tuple(same_content),
        files=len(paths),
        size=size,
    )


def _search_terms(
    folder: CollectionFolder,
    collection: Collection,
    name: str,
    texts: Sequence[str],
    content: str | None,
    *,
    mentioned: bool,
) -> _SearchTerms:
    forms = [*_forms(name), *([content.encode()] if content else [])]
    rare = _rare_words(folder, collection, texts) if texts else frozenset()
    with folder.catalog.read() as db:
        heads = heads_of_words(db)
    containing = sorted({text for text in _remaining_names(folder, collection) if name in text}, key=len, reverse=True)
    return _SearchTerms(
        forms=tuple(forms),
        rare=rare,
        longer=tuple(form for text in containing for form in _forms(text)),
        mentioned=mentioned,
        words=frozenset(heads),
    )


def _remaining_names(folder: CollectionFolder, collection: Collection) -> Iterator[str]:
    """Names and keys that are left in the collection, which may contain the removed document's name."""
    for document in collection.documents():
        yield from (document.name, document.content)
    yield from (str(origin.root) for origin in collection.origins().values())
    referenced = referenced_keys(folder)
    for keys in (referenced.sources, referenced.images, referenced.segments, *referenced.shards.values()):
        yield from keys
    for failure in collection.failures():
        yield from (failure.name, str(failure.root))


def _rare_words(folder: CollectionFolder, collection: Collection, texts: Sequence[str]) -> frozenset[bytes]:
    """The words of removed texts that nothing left in the collection has."""
    removed_words = {word for text in texts for word in _words(text)}
    removed_words -= _FORMAT_WORDS | _remaining_words(folder, collection)
    for _, _, quotes in collection.iter_documents_quotes():
        for quote in quotes:
            removed_words -= _words(quote.model_dump_json())
    # Digits occur by chance, for example as sizes of files.
    encoded = (word.encode() for word in removed_words if not word.isdigit())
    return frozenset(word for word in encoded if len(word) >= _MIN_WORD_BYTES)


def _remaining_words(folder: CollectionFolder, collection: Collection) -> set[str]:
    """Words of the catalogue's tables, and of what is stored of the existing documents, failures and indexes."""
    with folder.catalog.read() as db:
        texts = [sql for (sql,) in db.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")]
    for document in collection.documents():
        texts += [document.model_dump_json(), *(page.model_dump_json() for page in collection.pages(document.name))]
    texts += [f"{origin.root} {origin.path}" for origin in collection.origins().values()]
    texts += [failure.model_dump_json() for failure in collection.failures()]
    for state in collection.indexes():
        plan = read_plan(state)
        texts += [state.name, "" if plan is None else plan.model_dump_json(include=set(IndexPlan.model_fields))]
    return {word for text in texts for word in _words(text)}


def _forms(name: str) -> list[bytes]:
    """The byte strings as which a name may occur in a file."""
    if len(name) < _MIN_NAME_CHARACTERS:
        return [json.dumps(name).encode(), json.dumps(name, ensure_ascii=False).encode()]
    texts = {form for kind in ("NFC", "NFD") for form in (unicodedata.normalize(kind, name), percent_encoded(name))}
    texts |= {json.dumps(text, ensure_ascii=ascii)[1:-1] for text in set(texts) for ascii in (True, False)}
    return sorted({text.encode(encoding) for text in texts for encoding in ("utf-8", "utf-16-le", "utf-16-be")})


def _words(text: str) -> set[str]:
    """Words as they are written and as the lexical index stores them; only long ones, which do not occur by chance."""
    written_words = {match.decode("utf-8", "replace").lower() for match in _WORD.findall(text.encode())}
    return written_words | {word for word in words(text) if len(word) >= _MIN_WORD_BYTES and word.isalnum()}


def _mentions(collection: Collection, name: str) -> list[str]:
    mentioning = []
    for document, _, quotes in collection.iter_documents_quotes():
        if any(name in quote.model_dump_json(exclude={"document"}) for quote in quotes):
            mentioning.append(document.name)
    return mentioning


def _traces_in_catalogue(collection: Collection, name: str) -> Iterator[str]:
    if collection.may_have_traces():
        yield "a removal was not finished; any command that writes does it"
    for failure in collection.failures():
        if failure.name == name or str(failure.root / name) == failure.name:
            yield f"it is among the files that could not be read: {failure.name}"


def _verified(folder: CollectionFolder) -> set[Path]:
    """Copies of files, and crops, that belong to documents of the collection and whose content fits their names."""
    referenced = referenced_keys(folder)
    paths = [folder.sources.path(key) for key in referenced.sources] + [
        folder.images.path(key) for key in referenced.images
    ]
    return {path for path in paths if path.is_file() and file_sha256(path) == path.name.partition(".")[0]}


def _traces_in_file(path: Path, root: Path, search_terms: _SearchTerms, *, may_mention: bool) -> Iterator[str]:
    """Yield what is left in a file; its content is not searched where it `may_mention` the name.

    That is the file of an existing document, whose words may contain it.
    """
    if (trace := search_terms.find_in(str(path.relative_to(root)).encode("utf-8", "surrogateescape"))) is not None:
        yield f"the path {path} holds {trace}"
    if path.name.endswith("-wal") and path.stat().st_size:
        yield f"{path} was not emptied; it holds what was written last"
    if not path.stat().st_size:
        return
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        yield from (
            f"{path} holds words of a removed page, at byte {at:,}" for at in unknown_words(content, search_terms.words)
        )
        if not may_mention and (trace := search_terms.find_in(content)) is not None:
            yield f"{path} holds {trace}"


def _traces_in_segments(folder: CollectionFolder, search_terms: _SearchTerms) -> Iterator[str]:
    """Yield what is left in the lexical index, decoded, as its files store words without spaces between them."""
    for path in sorted(folder.segments.root.glob(f"*{SUFFIX}")):
        try:
            vocabulary = read_segment(path).vocabulary()
        except (CollectionError, OSError) as error:
            yield f"{path} cannot be searched: {error}"
            continue
        if (trace := search_terms.find_in(b" ".join(vocabulary))) is not None:
            yield f"{path} holds {trace}"


def _traces_in_milvus(folder: CollectionFolder, search_terms: _SearchTerms) -> Iterator[str]:
    """Yield what is left in the embedded Milvus, decoded, as its files are compressed."""
    paths = sorted((folder.root / MILVUS_FOLDER).rglob("*.parquet"))
    if not paths:
        return
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        raise MissingExtra("pyarrow", "parquet") from None
    with folder.catalog.read() as db:
        rows = {row for (row,) in db.execute("SELECT row FROM quotes")}
    for path in paths:
        try:
            table = parquet.read_table(path, columns=["row", "document", "quote"])
        except (ArrowException, OSError) as error:
            yield f"{path} cannot be searched: {error}"
            continue
        if not rows.issuperset(table.column("row").to_pylist()):
            yield f"{path} holds vectors of quotes that are gone"
        text = json.dumps([table.column(name).unique().to_pylist() for name in ("document", "quote")])
        if (trace := search_terms.find_in(text.encode())) is not None:
            yield f"{path} holds {trace}"


def _traces_in_free_pages(path: Path) -> Iterator[str]:
    """Yield a sentence for each free page of the database that holds anything but zeros.

    This process must have no connection to the database, as closing the file here would drop its locks.
    """
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        size = int.from_bytes(content[16:18], "big")
        size = 65536 if size == 1 else size
        trunk, seen_trunks = int.from_bytes(content[32:36], "big"), set[int]()
        while trunk and trunk not in seen_trunks:
            seen_trunks.add(trunk)
            page = content[(trunk - 1) * size : trunk * size]
            count = int.from_bytes(page[4:8], "big")
            if any(page[8 + 4 * count :]):
                yield f"{path}, page {trunk}, is free and not empty"
            for at in range(8, 8 + 4 * count, 4):
                leaf = int.from_bytes(page[at : at + 4], "big")
                if any(content[(leaf - 1) * size : leaf * size]):
                    yield f"{path}, page {leaf}, is free and not empty"
            trunk = int.from_bytes(page[:4], "big")
