"""Which document of a library stands for which paper, by identifiers, whichever source described it."""

import hashlib
import re
from collections.abc import Mapping
from functools import lru_cache

from quoteweave.attribution.literature.sources.paper_metadata import (
    IDENTIFIERS,
    SAME_AS,
    SOURCE_ID,
    is_only_described,
    metadata_of,
    on_one_line,
    paper_from_metadata,
)
from quoteweave.attribution.literature.sources.papers import Paper, stated_identifiers
from quoteweave.collection.collection import Collection
from quoteweave.core.records import Document
from quoteweave.core.text.tokens import normalize_text

_SLUG_CHARACTERS = 60


class LibraryIndex:
    """The documents of one state of a library, by the identities of their papers."""

    def __init__(self, revision: int, documents: Mapping[str, Document]) -> None:
        self.revision = revision
        self._documents = documents
        self._names: dict[str, str] = {}
        self._by_content = {document.content: name for name, document in documents.items()}
        # Of two documents of one paper the one with its full text is taken.
        for document in sorted(documents.values(), key=is_only_described):
            for identity in _identities_of_document(document):
                self._names.setdefault(identity, document.name)

    def document_of(self, paper: Paper) -> Document | None:
        """The document of a paper; None where none has an identifier of it."""
        names = {self._names[identity] for identity in identities_of(paper) & self._names.keys()}
        found = sorted((self._documents[name] for name in names), key=lambda one: (is_only_described(one), one.name))
        return found[0] if found else None

    def with_content(self, content: str) -> Document | None:
        """The document whose file has that SHA-256."""
        name = self._by_content.get(content)
        return self._documents[name] if name is not None else None


class CurrentIndex:
    """The index of a collection as it is now; made anew where that has changed."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        self._index = LibraryIndex(-1, {})

    def get(self) -> LibraryIndex:
        """The index of the current state, or of one that another process has just written."""
        revision = self._collection.revision()
        index = self._index
        if index.revision != revision:
            index = LibraryIndex(revision, {document.name: document for document in self._collection.documents()})
            self._index = index
        return index


def identities_of(paper: Paper) -> frozenset[str]:
    """Return the paper's identifiers, as `stated_identifiers`, and its id at its source."""
    named = {one for one in stated_identifiers(paper) if not one.startswith("document:")}
    # In the form in which metadata have them.
    return frozenset(on_one_line(one) for one in (*named, f"{SOURCE_ID}:{paper.id}"))


def _identities_of_document(document: Document) -> frozenset[str]:
    return _identities_in(frozenset(document.metadata.items()))


@lru_cache(maxsize=1 << 16)
def _identities_in(metadata: frozenset[tuple[str, str]]) -> frozenset[str]:
    """The identities that metadata state; kept, as an index is made anew for all documents when one is added."""
    said = dict(metadata)
    source_id = said.get(SOURCE_ID)
    if source_id is None:
        return frozenset()
    of_paper = identities_of(paper_from_metadata(source_id, said))
    return of_paper.union(said.get(SAME_AS, "").split())


def document_name(paper: Paper) -> str:
    """Return the name of the document of a paper that is new: its title and year, and a hash of its best identifier.

    >>> document_name(Paper(id="7", title="Grain Ships: a Survey", identifiers={"doi": "10.1/x"}))
    'grain-ships-a-survey-e08c464a'
    """
    found = identities_of(paper)
    order = [*IDENTIFIERS, SOURCE_ID]
    best = min(found, key=lambda one: (_place(order, one.partition(":")[0]), one))
    slug = "-".join(re.findall(r"[^\W_]+", normalize_text(paper.title[: 4 * _SLUG_CHARACTERS])))[:_SLUG_CHARACTERS]
    year = str(paper.published.year) if paper.published is not None else ""
    code = hashlib.sha256(best.encode("utf-8", "replace")).hexdigest()[:8]
    return "-".join(part for part in (slug.strip("-"), year, code) if part)


def _place(order: list[str], kind: str) -> int:
    return order.index(kind) if kind in order else len(order)


def merged_metadata(document: Document, paper: Paper) -> dict[str, str]:
    """Return a document's metadata with what is learnt of its paper from another description.

    What is known stays; of two numbers of citations the greater is kept, and the link of a file that was not read
    yet is the newer. Identifiers that differ from those known are kept beside them.
    """
    old, new = document.metadata, metadata_of(paper)
    merged = {**new, **old}
    if "citations" in new and new["citations"].isdigit() and old.get("citations", "").isdigit():
        merged["citations"] = str(max(int(new["citations"]), int(old["citations"])))
    if "pdf_url" in new and is_only_described(document):
        merged["pdf_url"] = new["pdf_url"]
    return _with_further_identities(merged, paper)


def first_metadata(paper: Paper) -> dict[str, str]:
    """Return the metadata of a document of a paper that is new."""
    return _with_further_identities(metadata_of(paper), paper)


def _with_further_identities(metadata: dict[str, str], paper: Paper) -> dict[str, str]:
    """The metadata with those identities of the paper that they do not state yet."""
    known = _identities_in(frozenset(metadata.items()))
    further = {identity for identity in identities_of(paper) - known if " " not in identity}
    stated = metadata.get(SAME_AS, "").split()
    return {**metadata, SAME_AS: " ".join(sorted({*stated, *further}))} if further else metadata
