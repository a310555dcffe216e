"""Identifiers of papers: those that an address tells, one way of writing each, and whether two papers are the same."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from urllib.parse import unquote

_ARXIV = r"(\d{4}\.\d{4,5}|[a-z-]+(?:\.[a-z]{2})?/\d{7})(?:v\d+)?"
_ADDRESSES = (
    ("arxiv", re.compile(rf"(?:arxiv\.org|alphaxiv\.org|huggingface\.co)/(?:abs|pdf|html|papers)/{_ARXIV}")),
    ("arxiv", re.compile(rf"\b10\.48550/arxiv\.{_ARXIV}")),
    ("doi", re.compile(r"(?:doi\.org|/doi(?:/(?:abs|full|pdf|epdf|book))?)/(10\.\d{4,9}/[^\s?#]+)")),
    ("semantic_scholar", re.compile(r"semanticscholar\.org/(?:[^\s?#]*/)?([0-9a-f]{40})\b")),
    ("corpus_id", re.compile(r"semanticscholar\.org/(?:[^\s?#]*/)?corpusid:(\d+)")),
    ("openalex", re.compile(r"openalex\.org/(?:works/)?(w\d+)")),
    (
        "acl",
        re.compile(r"(?:aclanthology\.org|aclweb\.org/anthology)/(?:[a-z]/[a-z]\d+/)?([a-z0-9.-]+\d)(?:/|\.pdf|$)"),
    ),
    ("openreview", re.compile(r"(?i:openreview\.net/(?:forum|pdf)\?id=)([\w-]+)")),
)
_BARE: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {"arxiv": re.compile(rf"(?:arxiv:)?{_ARXIV}"), "doi": re.compile(r"(?:doi:)?(10\.\d{4,9}/\S+)")}
)
_OF_ACL = re.compile(r"10\.18653/v1/(\S+)")


def identifiers_of_address(url: str) -> dict[str, str]:
    """The identifiers that a paper's address tells: `arxiv`, `doi`, `semantic_scholar`, `openalex` and others.

    >>> identifiers_of_address("https://arxiv.org/pdf/1502.03167v3.pdf")
    {'arxiv': '1502.03167'}
    """
    found = dict[str, str]()
    for name, pattern in _ADDRESSES:
        # What OpenReview calls a paper tells small and capital letters apart; of the others neither matters.
        text = unquote(url.strip())
        if match := pattern.search(text if name == "openreview" else text.lower()):
            found.setdefault(name, match[1])
    return normalised(found)


def normalised(identifiers: Mapping[str, str]) -> dict[str, str]:
    """The identifiers, each written in one way; arXiv's and the ACL's DOIs also as `arxiv` and `acl`.

    >>> normalised({"arxiv": "arXiv:1502.03167v2", "doi": "https://doi.org/10.18653/v1/P19-1001"})
    {'arxiv': '1502.03167', 'doi': '10.18653/v1/p19-1001', 'acl': 'p19-1001'}
    """
    found = {name: _written(name, value) for name, value in identifiers.items() if value}
    doi = found.get("doi", "")
    if doi.startswith("10.48550/arxiv."):
        found.setdefault("arxiv", _written("arxiv", doi.removeprefix("10.48550/arxiv.")))
    elif match := _OF_ACL.fullmatch(doi):
        found.setdefault("acl", match[1])
    return found


def same_paper(one: Mapping[str, str], other: Mapping[str, str]) -> bool | None:
    """Whether two papers are the same: one identifier agrees; None where they have none of one kind.

    >>> same_paper({"arxiv": "1502.03167"}, {"arxiv": "1502.03167v1", "doi": "10.1/x"})
    True
    >>> same_paper({"arxiv": "1502.03167"}, {"doi": "10.1/x"}) is None
    True
    """
    ours, theirs = normalised(one), normalised(other)
    shared = ours.keys() & theirs.keys()
    return any(ours[name] == theirs[name] for name in shared) if shared else None


def _written(name: str, value: str) -> str:
    text = value.strip()
    if name == "openreview":
        return text
    text = text.lower()
    if "/" in text and (
        address := next((match for of, pattern in _ADDRESSES if of == name and (match := pattern.search(text))), None)
    ):
        return address[1]
    bare = _BARE[name].fullmatch(text) if name in _BARE else None
    return text if bare is None else bare[1]
