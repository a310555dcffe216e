"""Identifiers of papers in one form, whichever source wrote them, so that two records of one paper can be told."""

import re
from collections.abc import Iterator
from urllib.parse import unquote

from quoteweave.attribution.literature.papers import Paper

_ARXIV = r"(?:[a-z-]+(?:\.[a-z]{2})?/\d{7}|\d{4}\.\d{4,5})"
_IN_URLS = tuple(
    (kind, re.compile(rf"^https?://(?:[\w-]+\.)*{pattern}", re.IGNORECASE))
    for kind, pattern in (
        ("doi", r"doi\.org/(10\.\d+/[^\s?#]+)"),
        ("arxiv", rf"arxiv\.org/(?:abs|pdf|html)/({_ARXIV})"),
        ("semantic_scholar", r"semanticscholar\.org/(?:paper|reader)/(?:[^\s/?#]*/)?([0-9a-f]{40})"),
        ("openalex", r"openalex\.org/(?:works/)?(w\d+)"),
        ("acl", r"aclanthology\.org/((?:[a-z]\d{2}-\d{4})|(?:\d{4}\.[\w-]+\.\d+))"),
        ("openreview", r"openreview\.net/(?:forum|pdf)\?id=([\w-]+)"),
    )
)
_ARXIV_DOI = re.compile(rf"10\.48550/arxiv\.({_ARXIV})")
_VERSION = re.compile(r"v\d+$")


def identifiers_of(paper: Paper) -> frozenset[str]:
    """Return what identifies the paper, as `doi:10.1/x` or `arxiv:2407.12861`, of its identifiers and its URLs.

    DOIs are in lower case, arXiv's numbers without a version, and a DOI that arXiv gave is its number too. A paper's
    id at its source is not among them.

    >>> paper = Paper(id="1", title="", identifiers={"doi": "https://doi.org/10.48550/arXiv.2407.12861"})
    >>> sorted(identifiers_of(paper))
    ['arxiv:2407.12861', 'doi:10.48550/arxiv.2407.12861']
    """
    stated = ((kind.lower(), value) for kind, value in paper.identifiers.items())
    found = {(kind, _normalized(kind, value)) for kind, value in stated}
    for url in (paper.url, paper.pdf_url):
        found.update(_in_url(url or ""))
    arxiv_dois = (_ARXIV_DOI.fullmatch(value) for kind, value in found if kind == "doi")
    found.update([("arxiv", match[1]) for match in arxiv_dois if match is not None])
    return frozenset(f"{kind}:{value}" for kind, value in found if value)


def _in_url(url: str) -> Iterator[tuple[str, str]]:
    for kind, pattern in _IN_URLS:
        match = pattern.match(url.strip())
        if match is not None:
            yield kind, _normalized(kind, match[1])


def _normalized(kind: str, value: str) -> str:
    value = value.strip()
    in_url = next((found for of, found in _in_url(value) if of == kind), None) if "://" in value else None
    if in_url is not None:
        return in_url
    # A document's name and OpenReview's ids differ by case; no other identifier does.
    value = value if kind in ("document", "openreview") else unquote(value).lower().removeprefix(f"{kind}:").strip()
    return _VERSION.sub("", value) if kind == "arxiv" else value
