"""Identifiers of papers in one form, whatever their source, so that two records of one paper are recognised."""

import re
from collections.abc import Iterator, Mapping
from urllib.parse import unquote

from quoteweave.core.lazy_regex import lazy_regex

_ARXIV = r"(?:[a-z-]+(?:\.[a-z]{2})?/\d{7}|\d{4}\.\d{4,5})"
_ADDRESSES = tuple(
    (kind, lazy_regex(rf"https?://(?:[\w-]+\.)*{pattern}", re.IGNORECASE))
    for kind, pattern in (
        ("doi", r"(?:doi\.org|[\w-]+\.[a-z]+/doi(?:/(?:abs|full|pdf|epdf|book))?)/(10\.\d+/[^\s?#]+)"),
        ("arxiv", rf"(?:arxiv\.org|huggingface\.co)/(?:abs|pdf|html|papers)/({_ARXIV})"),
        ("semantic_scholar", r"semanticscholar\.org/(?:paper|reader)/(?:[^\s/?#]*/)?([0-9a-f]{40})"),
        ("corpus_id", r"semanticscholar\.org/(?:paper/)?corpusid:(\d+)"),
        ("openalex", r"openalex\.org/(?:works/)?(w\d+)"),
        (
            "acl",
            r"(?:aclanthology\.org|aclweb\.org/anthology)/(?:[a-z]/[a-z]\d{2}/)?([a-z]\d{2}-\d{4}|\d{4}\.[\w-]+\.\d+)",
        ),
        ("openreview", r"openreview\.net/(?:forum|pdf)\?id=([\w-]+)"),
    )
)
_HOSTS = lazy_regex(r"doi|arxiv|huggingface|semanticscholar|openalex|acl|openreview", re.IGNORECASE)
"""A quick check: it matches in every address that one of the patterns matches, and in few others."""
_GIVEN_DOIS = (
    ("arxiv", lazy_regex(rf"10\.48550/arxiv\.({_ARXIV})")),
    ("acl", lazy_regex(r"10\.18653/v1/(\S+)")),
)
_VERSION = lazy_regex(r"v\d+$")


def identifiers_of_address(address: str) -> dict[str, str]:
    """Return the identifiers in the address of a paper: `arxiv`, `doi`, `semantic_scholar` and others.

    >>> identifiers_of_address("https://arxiv.org/pdf/1502.03167v3.pdf")
    {'arxiv': '1502.03167'}
    """
    return normalized_identifiers(dict(_in_address(address)))


def normalized_identifiers(identifiers: Mapping[str, str]) -> dict[str, str]:
    """Return identifiers, kind to value, in canonical form.

    DOIs are in lower case, arXiv's numbers without a version; a DOI given by arXiv or the ACL also yields their number.

    >>> normalized_identifiers({"arxiv": "arXiv:1502.03167v2", "doi": "https://doi.org/10.18653/v1/P19-1001"})
    {'arxiv': '1502.03167', 'doi': '10.18653/v1/p19-1001', 'acl': 'p19-1001'}
    """
    canonical = {kind.lower(): _normalized(kind.lower(), value) for kind, value in identifiers.items()}
    for kind, pattern in _GIVEN_DOIS:
        if match := pattern.fullmatch(canonical.get("doi", "")):
            canonical.setdefault(kind, match[1])
    return {kind: value for kind, value in canonical.items() if value}


def same_paper(first: Mapping[str, str], second: Mapping[str, str]) -> bool | None:
    """Return whether two papers share an identifier; None where they have no kind of identifier in common.

    >>> same_paper({"arxiv": "1502.03167"}, {"arxiv": "1502.03167v1", "doi": "10.1/x"})
    True
    >>> same_paper({"arxiv": "1502.03167"}, {"doi": "10.1/x"}) is None
    True
    """
    first_ids, second_ids = normalized_identifiers(first), normalized_identifiers(second)
    shared = first_ids.keys() & second_ids.keys()
    return any(first_ids[kind] == second_ids[kind] for kind in shared) if shared else None


def _in_address(address: str) -> Iterator[tuple[str, str]]:
    if _HOSTS.search(address) is None:
        return
    address = unquote(address.strip())
    for kind, pattern in _ADDRESSES:
        match = pattern.match(address)
        if match is not None:
            yield kind, match[1]


def _normalized(kind: str, value: str) -> str:
    value = value.strip()
    value = (
        next((identifier for of, identifier in _in_address(value) if of == kind), value) if "://" in value else value
    )
    # The ids of documents and of OpenReview are case-sensitive; no other identifiers are.
    value = value if kind in ("document", "openreview") else unquote(value).lower().removeprefix(f"{kind}:").strip()
    return _VERSION.sub("", value) if kind == "arxiv" else value
