"""Papers as documents: describes them in Markdown, checks that a file is the paper meant, and finds their documents.

Identifiers say which document of a library stands for which paper, whichever source described it.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from quoteweave.attribution.literature.sources.paper_metadata import (
    IDENTIFIERS,
    SAME_AS,
    SNIPPETS,
    SOURCE_ID,
    is_only_described,
    metadata_of,
    on_one_line,
    paper_from_metadata,
)
from quoteweave.attribution.literature.sources.papers import Paper, stated_identifiers
from quoteweave.attribution.literature.sources.unseen import is_same_title
from quoteweave.collection.collection import Collection
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.messages import replace_lone_surrogates, shorten
from quoteweave.core.records import Document, Quote
from quoteweave.core.text.tokens import normalize_text
from quoteweave.evaluation.text.titles import letters

MAX_DESCRIBED_CHARACTERS = 20_000
"""Characters of an abstract that are kept, at most."""
_MAX_TITLE_CHARACTERS = 1_000
_FIRST_PAGES = 2  # the title is looked for on these pages of a file, as the first may be a repository's cover
_MAX_LINES = 400
_LONG_TITLE = 25  # no other paper has so many letters of a title in a row by chance
_MIN_TITLE_LETTERS = 4
_REFERENCES = lazy_regex(r"(?:\d+\.?\s*)?(?:references|bibliography|literature cited)\b", re.IGNORECASE)
_NUMBERS = lazy_regex(r"\d+|\b[IVX]+\b")
_WORD = lazy_regex(r"[^\W_]+")
# Characters that could be read as markup: of CommonMark, tables, strikethrough, formulas or HTML.
_SPECIAL = lazy_regex(r"[\\`*_\[\]<>&|~$!#]")
_SPECIAL_AT_START = lazy_regex(r"^([-+=:]|\d+(?=[.)]))")


def as_markdown(paper: Paper, snippets: Sequence[str] = ()) -> str:
    """Return the paper's title as a heading, its abstract, and passages of its text under a heading of their own.

    >>> as_markdown(Paper(id="1", title="Grain *by* rail", abstract="- It went.\\nBy rail."))
    '# Grain \\\\*by\\\\* rail\\n\\n\\\\- It went.\\n\\nBy rail.\\n'
    """
    title = _escaped(shorten(paper.title, _MAX_TITLE_CHARACTERS)) or _escaped(paper.id)
    paragraphs = map(_escaped, shorten(paper.abstract or "", MAX_DESCRIBED_CHARACTERS).splitlines())
    passages = [_escaped(shorten(snippet, MAX_DESCRIBED_CHARACTERS)) for snippet in snippets]
    parts = [f"# {title}", *paragraphs, f"## {SNIPPETS}" if passages else "", *passages]
    return "\n\n".join(filter(None, parts)) + "\n"


class Description(NamedTuple):
    """What a document that only describes a paper says of it."""

    abstract: str
    snippets: tuple[str, ...]

    def lacks(self, paper: Paper, snippets: Sequence[str]) -> bool:
        """Whether the paper's abstract, or one of the snippets, is not there."""
        known_letters = letters(" ".join(self.snippets))
        return (not self.abstract and bool((paper.abstract or "").strip())) or any(
            letters(shorten(snippet, MAX_DESCRIBED_CHARACTERS)) not in known_letters for snippet in snippets
        )


def described_in(quotes: Sequence[Quote]) -> Description:
    """Return what a description's quotes say of the paper."""
    texts = [(quote.section == SNIPPETS, quote.text) for quote in quotes if quote.layout != "title"]
    abstract = "\n".join(text for of_text, text in texts if not of_text)
    return Description(abstract, tuple(text for of_text, text in texts if of_text))


def _escaped(text: str) -> str:
    """A line of Markdown that reads as this text, with single spaces."""
    line = " ".join(replace_lone_surrogates(text).replace("\0", " ").split())
    line = _SPECIAL.sub(lambda special: f"\\{special[0]}", line)
    return _SPECIAL_AT_START.sub(lambda first: f"\\{first[0]}" if not first[0].isdigit() else f"{first[0]}\\", line)


def is_paper_meant(paper: Paper, quotes: Sequence[Quote]) -> bool:
    """Whether a document's first two pages have the paper's title.

    The title may be one or two lines, which may differ from it up to CiteME's ratio but must have the same numbers. It
    may be the beginning of a heading, or have a heading as its beginning. A long title may stand anywhere before the
    references. A paper published under another title is not recognized. For a paper without a title, any document
    passes.
    """
    title = letters(paper.title)
    if not title:
        return True
    pages = list(_before_references(quotes))
    lines = [line for quote in pages for line in quote.all_text().splitlines() if line.strip()][:_MAX_LINES]
    pairs = (f"{line} {following}" for line, following in pairwise(lines))
    return (
        any(_is_title_but_for_slips(paper.title, line) for line in (*lines, *pairs))
        or any(_shares_beginning(paper.title, quote.text) for quote in pages if quote.layout == "title")
        or (len(title) >= _LONG_TITLE and _stands_in(paper.title, lines))
    )


def _before_references(quotes: Sequence[Quote]) -> Iterator[Quote]:
    """The quotes of the first pages before the references; running heads too, as the title may stand only there."""
    for quote in quotes:
        if quote.page < _FIRST_PAGES and not _REFERENCES.match(quote.section or ""):
            yield quote


def _is_title_but_for_slips(title: str, line: str) -> bool:
    """Whether a line is the title except for slips, but with the same numbers, as parts of a series differ by these."""
    return is_same_title(title, line) and _NUMBERS.findall(title.upper()) == _NUMBERS.findall(line.upper())


def _shares_beginning(title: str, heading: str) -> bool:
    """Whether a heading begins with the title, or the title with a long heading; both by whole words."""
    shorter, longer = sorted((_as_words(title), _as_words(heading)), key=len)
    long_enough = _MIN_TITLE_LETTERS if shorter == _as_words(title) else _LONG_TITLE
    return len(shorter) >= long_enough and longer.startswith(shorter)


def _stands_in(title: str, lines: Sequence[str]) -> bool:
    """Whether the title stands in the lines; one with numbers is compared by whole words, as 1 is not 12, nor I II."""
    if _NUMBERS.search(title.upper()):
        return _as_words(title) in _as_words(" ".join(lines))
    return letters(title) in "".join(map(letters, lines))


def _as_words(text: str) -> str:
    """The words of a text without case and accents, a space before and after each."""
    return f" {' '.join(_WORD.findall(normalize_text(text)))} "


_SLUG_CHARACTERS = 60


class LibraryIndex:
    """The documents of one state of a library, by the identities of their papers."""

    def __init__(self, revision: int, documents: Mapping[str, Document]) -> None:
        self.revision = revision
        self._documents = documents
        self._names: dict[str, str] = {}
        self._by_content = {document.content: name for name, document in documents.items()}
        # If two documents are of one paper, the one with its full text is taken.
        for document in sorted(documents.values(), key=is_only_described):
            for identity in _identities_in(frozenset(document.metadata.items())):
                self._names.setdefault(identity, document.name)

    def document_of(self, paper: Paper) -> Document | None:
        """The document of a paper; None if no document has one of its identifiers."""
        names = {self._names[identity] for identity in identities_of(paper) & self._names.keys()}
        documents = (self._documents[name] for name in names)
        return min(documents, key=lambda document: (is_only_described(document), document.name), default=None)

    def with_content(self, content: str) -> Document | None:
        """The document whose file has that SHA-256."""
        name = self._by_content.get(content)
        return self._documents[name] if name is not None else None


class CurrentIndex:
    """The index of a collection as it is now; it is made anew if the collection has changed."""

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
    named = {identity for identity in stated_identifiers(paper) if not identity.startswith("document:")}
    # On one line, as metadata store them.
    return frozenset(on_one_line(identity) for identity in (*named, f"{SOURCE_ID}:{paper.id}"))


@lru_cache(maxsize=1 << 16)
def _identities_in(metadata: frozenset[tuple[str, str]]) -> frozenset[str]:
    """The identities that metadata state; cached, as adding one document makes an index of all documents anew."""
    fields = dict(metadata)
    source_id = fields.get(SOURCE_ID)
    if source_id is None:
        return frozenset()
    of_paper = identities_of(paper_from_metadata(source_id, fields))
    return of_paper.union(fields.get(SAME_AS, "").split())


def document_name(paper: Paper) -> str:
    """Return the name for a new paper's document: its title and year, and a hash of its best identifier.

    >>> document_name(Paper(id="7", title="Grain Ships: a Survey", identifiers={"doi": "10.1/x"}))
    'grain-ships-a-survey-e08c464a'
    """
    identities = identities_of(paper)
    order = [*IDENTIFIERS, SOURCE_ID]
    best = min(identities, key=lambda identity: (_kind_position(order, identity.partition(":")[0]), identity))
    slug = "-".join(re.findall(r"[^\W_]+", normalize_text(paper.title[: 4 * _SLUG_CHARACTERS])))[:_SLUG_CHARACTERS]
    year = str(paper.published.year) if paper.published is not None else ""
    code = hashlib.sha256(best.encode("utf-8", "replace")).hexdigest()[:8]
    return "-".join(part for part in (slug.strip("-"), year, code) if part)


def _kind_position(order: list[str], kind: str) -> int:
    return order.index(kind) if kind in order else len(order)


def merged_metadata(document: Document, paper: Paper) -> dict[str, str]:
    """Return a document's metadata, completed by another description of its paper.

    Known values stay, except that the greater number of citations is kept, and the newer link if no file was read yet.
    Identifiers that differ from the known ones are kept beside them.
    """
    old, new = document.metadata, metadata_of(paper)
    merged = {**new, **old}
    if "citations" in new and new["citations"].isdigit() and old.get("citations", "").isdigit():
        merged["citations"] = str(max(int(new["citations"]), int(old["citations"])))
    if "pdf_url" in new and is_only_described(document):
        merged["pdf_url"] = new["pdf_url"]
    return _with_further_identities(merged, paper)


def first_metadata(paper: Paper) -> dict[str, str]:
    """Return the metadata for a new paper's document."""
    return _with_further_identities(metadata_of(paper), paper)


def _with_further_identities(metadata: dict[str, str], paper: Paper) -> dict[str, str]:
    """The metadata with those identities of the paper that they do not state yet."""
    known = _identities_in(frozenset(metadata.items()))
    further = {identity for identity in identities_of(paper) - known if " " not in identity}
    stated = metadata.get(SAME_AS, "").split()
    return {**metadata, SAME_AS: " ".join(sorted({*stated, *further}))} if further else metadata
