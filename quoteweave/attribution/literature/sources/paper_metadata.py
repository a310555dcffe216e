"""Papers as metadata of documents, and documents with such metadata as papers.

The keys are those that a person would give with `--meta`: `title`, `authors` (separated by semicolons), `published` or
`year`, `venue`, `citations`, `url`, and identifiers such as `doi` and `arxiv`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from quoteweave.attribution.literature.sources.papers import Paper, PublicationDate
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.messages import replace_lone_surrogates, shorten
from quoteweave.core.records import Document, Quote

IDENTIFIERS = (
    *("doi", "arxiv", "acl", "openreview", "pubmed", "pmc", "dblp"),
    *("semantic_scholar", "corpus_id", "openalex", "mag"),
)
"""Keys of metadata that are identifiers of papers."""
SOURCE_ID = "source_id"
"""The key of a paper's id at the source that found it; documents without it were added by the user."""
SAME_AS = "same_as"
"""The key of further identifiers of the same paper, such as `doi:10.1/x`, separated by spaces."""
SNIPPETS = "From Semantic Scholar's snippets"
"""The heading above passages that a source sent of a paper whose full text was not read."""
ABSTRACT_PAGES = 2
MAX_ABSTRACT_CHARACTERS = 3_000
_ABSTRACT = lazy_regex(r"\s*(?:abstract|summary)\s*(?:[-.:—–]\s*|$)", re.IGNORECASE)
_WHOLE = ".0"  # data frames write whole numbers with this ending
_DATES = ("published", "date", "year")


def metadata_of(paper: Paper) -> dict[str, str]:
    """Return the metadata of a paper's document; what is not known is left out."""
    stated = {
        "title": paper.title,
        "authors": "; ".join(author.replace(";", ",") for author in paper.authors),
        "published": paper.published,
        "year": paper.published and paper.published.year,
        "venue": paper.venue,
        "citations": paper.citations,
        "url": paper.url,
        "pdf_url": paper.pdf_url,
        SOURCE_ID: paper.id,
    }
    identifiers = {kind.lower(): value for kind, value in paper.identifiers.items() if kind.lower() in IDENTIFIERS}
    texts = {key: on_one_line(str(value)) for key, value in {**identifiers, **stated}.items() if value is not None}
    return {key: text for key, text in texts.items() if text}


def paper_of(document: Document, abstract: str | None = None) -> Paper:
    """Return the paper that a document is, by its metadata; its id is the document's name.

    A date or number of citations that cannot be read counts as missing.
    """
    return paper_from_metadata(document.name, document.metadata, abstract)


def paper_from_metadata(name: str, metadata: Mapping[str, str], abstract: str | None = None) -> Paper:
    """Return the paper that a document of this name and metadata is."""
    citations = metadata.get("citations", "").replace(",", "").strip().removesuffix(_WHOLE)
    return Paper(
        id=name,
        title=metadata.get("title") or name,
        abstract=abstract or metadata.get("abstract"),
        authors=tuple(name.strip() for name in metadata.get("authors", "").split(";") if name.strip()),
        published=date_in(metadata),
        venue=metadata.get("venue"),
        citations=int(citations) if citations.isascii() and citations.isdigit() else None,
        identifiers={"document": name, **_identifiers(metadata)},
        url=metadata.get("url"),
        pdf_url=metadata.get("pdf_url"),
    )


def _identifiers(metadata: Mapping[str, str]) -> dict[str, str]:
    further = dict(identifier.split(":", 1) for identifier in metadata.get(SAME_AS, "").split() if ":" in identifier)
    return {kind: value for kind in IDENTIFIERS if (value := metadata.get(kind) or further.get(kind))}


def date_in(metadata: Mapping[str, str]) -> PublicationDate | None:
    """Return the first of `published`, `date` and `year` that is a date."""
    for key in _DATES:
        with suppress(ValueError):
            return PublicationDate.parse(metadata.get(key, "").strip().removesuffix(_WHOLE))
    return None


def is_only_described(document: Document) -> bool:
    """Whether a document is a paper that a source found and has only its title, abstract and snippets."""
    return SOURCE_ID in document.metadata and document.format == "markdown"


def abstract_in(document: Document, quotes: Sequence[Quote]) -> str | None:
    """Return the abstract of a document: the text under that heading, or after that word, on its first two pages."""
    if is_only_described(document):
        texts = [quote.text for quote in quotes if quote.layout != "title" and quote.section != SNIPPETS]
    else:
        texts = list(_abstract([quote for quote in quotes if quote.page < ABSTRACT_PAGES]))
    text = "\n".join(texts)
    return shorten(text.strip(), MAX_ABSTRACT_CHARACTERS) or None


def _abstract(quotes: Sequence[Quote]) -> Iterator[str]:
    under = [quote.text for quote in quotes if _is_abstract(quote.section or "") and quote.layout == "paragraph"]
    if under:
        yield from under
        return
    for quote in quotes:
        begins = _ABSTRACT.match(quote.text)
        if quote.layout == "paragraph" and begins is not None and begins.end() < len(quote.text):
            yield quote.text[begins.end() :]
            return


def _is_abstract(heading: str) -> bool:
    begins = _ABSTRACT.match(heading)
    return begins is not None and begins.end() == len(heading)


def on_one_line(text: str) -> str:
    """Return a text as metadata store it: with single spaces and valid Unicode."""
    return " ".join(replace_lone_surrogates(text).split())
