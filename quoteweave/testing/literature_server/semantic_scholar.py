"""Semantic Scholar's Graph API, version 1, over the library, as far as `sources.semantic_scholar` asks it.

It is written from the documentation (https://api.semanticscholar.org/api-docs/graph), including quirks that matter to
clients: the relevance search finds nothing for words with hyphens; papers that are not open access have an
`openAccessPdf` with an empty address; the snippet search does not tell a paper's date; and filters treat a paper of
which only the year is known as one of the first of January.
"""

import json
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal
from urllib.parse import unquote

from quoteweave.core.text.tokens import words
from quoteweave.testing.literature.library import page_of
from quoteweave.testing.literature.records import MadeLibrary, MadePaper
from quoteweave.testing.literature_server.answers import Answer, ReceivedRequest, Refusal
from quoteweave.testing.literature_server.catalogue import (
    Catalogue,
    WordIndex,
    assumed_day,
    last_day,
    offset_of,
    token_of,
)

ROOT = "/graph/v1"
Passes = Callable[[MadePaper], bool]
_FILTERS = ("year", "publicationDateOrYear", "openAccessPdf", "fieldsOfStudy")
_SNIPPET_FIELDS = ("snippet.text", "snippet.snippetKind", "snippet.section")


@dataclass(frozen=True)
class _Snippet:
    paper: MadePaper
    kind: Literal["title", "abstract", "body"]
    section: str | None
    text: str


class SemanticScholarApi:
    """Answers requests below `ROOT`. Without `keys` any key is accepted; requests without a key always are."""

    def __init__(self, catalogue: Catalogue, keys: Collection[str], bulk_size: int) -> None:
        self._catalogue, self._keys, self._bulk_size = catalogue, frozenset(keys), bulk_size

    def answer(self, request: ReceivedRequest) -> Answer:
        """The answer to a request. Raises Refusal."""
        key = request.headers.get("x-api-key")
        if self._keys and key is not None and key not in self._keys:
            raise Refusal(403, {"message": "Forbidden"})
        path = unquote(request.path.removeprefix(ROOT)).strip("/")
        searches: dict[str, Callable[[Mapping[str, str]], object]] = {
            "paper/search": self._search,
            "paper/search/bulk": self._bulk,
            "snippet/search": self._search_snippets,
        }
        if path == "paper/batch":
            return Answer.json(self._batch(request))
        if path in searches:
            return Answer.json(searches[path](request.params))
        name = path.removeprefix("paper/")
        paper = None if name.startswith("W") else self._catalogue.find(name)  # those are ids of OpenAlex
        if paper is None:
            raise Refusal(404, {"error": f"Paper with id {name} not found"})
        return Answer.json(self._described(paper, request.params))

    def _search(self, params: Mapping[str, str]) -> object:
        """The relevance search: at most 100 results of the first 1,000."""
        _check_parameters(params, "query", "fields", "offset", "limit", *_FILTERS)
        offset, limit = _number(params, "offset", 0, 10**9), _number(params, "limit", 100, 100)
        if offset + limit > 1_000:
            raise Refusal(400, {"error": "Requested data for this limit and/or offset is not available"})
        query, papers, passes = params["query"], self._catalogue.papers, _filter_of(params)
        within = [] if re.search(r"\w-\w", query) else [at for at, paper in enumerate(papers) if passes(paper)]
        ranked = self._catalogue.abstracts.ranked(query, within)
        shown = [self._described(papers[at], params) for at, _ in ranked[offset : offset + limit]]
        more = {"next": offset + limit} if offset + limit < len(ranked) else {}
        return {"total": len(ranked), "offset": offset, **more, "data": shown}

    def _bulk(self, params: Mapping[str, str]) -> object:
        """The bulk search: all papers that have all words, most cited first, in batches with a token for the next."""
        _check_parameters(params, "query", "token", "fields", "sort", *_FILTERS)
        if params.get("sort") != "citationCount:desc":
            raise _unacceptable("sort", params.get("sort", ""))
        passes, wanted = _filter_of(params), set(words(params["query"]))
        texts = zip(self._catalogue.papers, self._catalogue.abstracts.words, strict=True)
        papers = [paper for paper, text in texts if wanted.issubset(text) and passes(paper)]
        papers.sort(key=lambda paper: (-paper.citations, paper.id))
        begin = offset_of(params.get("token"))
        end = begin + self._bulk_size
        shown = [self._described(paper, params) for paper in papers[begin:end]]
        return {"total": len(papers), "token": token_of(end) if end < len(papers) else None, "data": shown}

    def _search_snippets(self, params: Mapping[str, str]) -> object:
        _check_parameters(params, "query", "fields", "limit", *_FILTERS)
        limit, passes = _number(params, "limit", 10, 1_000), _filter_of(params)
        fields = _known_fields(params.get("fields", ",".join(_SNIPPET_FIELDS)), _SNIPPET_FIELDS)
        snippets, index = _snippet_index(self._catalogue.library)
        within = [at for at, snippet in enumerate(snippets) if passes(snippet.paper)]
        best_snippets = [snippets[at] for at, _ in index.ranked(params["query"], within)[:limit]]
        return {"data": [_described_snippet(snippet, fields) for snippet in best_snippets]}

    def _batch(self, request: ReceivedRequest) -> object:
        try:
            ids = list(map(str, json.loads(request.body)["ids"]))
        except (ValueError, KeyError, TypeError) as error:
            raise Refusal(400, {"error": "Bad request body: it has to be a JSON object with a list of ids"}) from error
        if not 0 < len(ids) <= 500:
            raise Refusal(400, {"error": f"{len(ids)} ids: from 1 to 500 can be asked for"})
        papers = [self._catalogue.find(id) for id in ids]
        return [None if paper is None else self._described(paper, request.params) for paper in papers]

    def _described(self, paper: MadePaper, params: Mapping[str, str]) -> dict[str, Any]:
        """The requested fields of a paper, and its id. Raises Refusal."""
        published, pdf = paper.published, self._catalogue.pdf_url(paper)
        identifiers = {"ArXiv": paper.arxiv, "DOI": paper.doi, "CorpusId": paper.corpus_id}
        known = {
            "externalIds": {name: value for name, value in identifiers.items() if value},
            "url": page_of(paper),
            "title": paper.title,
            "abstract": paper.known_abstract,
            "venue": paper.venue,
            "year": published and published.year,
            "citationCount": paper.citations,
            "openAccessPdf": {"url": pdf or ""},
            "publicationDate": str(published) if published is not None and published.day is not None else None,
            "authors": [{"name": name} for name in paper.authors],
        }
        return {
            "paperId": paper.id,
            **{field: known[field] for field in _known_fields(params.get("fields", "title"), known)},
        }


@lru_cache(maxsize=4)
def _snippet_index(library: MadeLibrary) -> tuple[list[_Snippet], WordIndex]:
    """Titles, abstracts, and sections of open-access papers, indexed once for all servers of a library."""
    snippets = [snippet for paper in library.papers for snippet in _snippets_of(paper)]
    return snippets, WordIndex([snippet.text for snippet in snippets])


def _snippets_of(paper: MadePaper) -> list[_Snippet]:
    snippets = [_Snippet(paper, "title", None, paper.title)]
    if paper.known_abstract is not None:
        snippets.append(_Snippet(paper, "abstract", None, paper.known_abstract))
    sections = paper.sections if paper.open_access else ()
    return [*snippets, *(_Snippet(paper, "body", section.heading, section.text) for section in sections)]


def _described_snippet(snippet: _Snippet, fields: Collection[str]) -> dict[str, object]:
    known = {"text": snippet.text, "snippetKind": snippet.kind, "section": snippet.section}
    asked_for = {name: value for name, value in known.items() if f"snippet.{name}" in fields}
    return {"snippet": asked_for, "paper": {"corpusId": str(snippet.paper.corpus_id), "title": snippet.paper.title}}


def _known_fields(names: str, known: Collection[str]) -> list[str]:
    fields = names.split(",")
    if bad := [field for field in fields if field not in known]:
        raise Refusal(400, {"error": f"Unrecognized or unsupported fields: [{', '.join(bad)}]"})
    return fields


def _check_parameters(params: Mapping[str, str], *known: str) -> None:
    if bad := [f"{name}={value}" for name, value in params.items() if name not in known]:
        raise Refusal(400, {"error": f"Unacceptable query params: [{', '.join(bad)}]"})
    if not params.get("query"):
        raise Refusal(400, {"error": "Missing required parameter: 'query'"})


def _filter_of(params: Mapping[str, str]) -> Passes:
    """Whether a paper passes all filters of a request. Raises Refusal for an invalid value."""
    tests = list[Passes]()
    if "openAccessPdf" in params:
        tests.append(lambda paper: paper.open_access)
    if "fieldsOfStudy" in params:
        tests.append(lambda paper: paper.field in params["fieldsOfStudy"].split(","))
    for name, sign in (("year", "-"), ("publicationDateOrYear", ":")):
        if name in params:
            tests.append(_until(name, params[name], sign))
    return lambda paper: all(passes(paper) for passes in tests)


def _until(name: str, value: str, sign: str) -> Passes:
    """Passes papers until a year or day: `-2015`, `:2015-01`."""
    try:
        if not value.startswith(sign):
            raise ValueError("a first day is not imitated")
        last = last_day(value.removeprefix(sign))
    except ValueError as error:
        raise _unacceptable(name, value) from error
    return lambda paper: (day := assumed_day(paper)) is not None and day <= last


def _number(params: Mapping[str, str], name: str, default: int, most: int) -> int:
    """A parameter that is a number from 0 to `most`. Raises Refusal for any other value."""
    value = params.get(name, str(default))
    if not value.isdecimal() or int(value) > most:
        raise _unacceptable(name, value)
    return int(value)


def _unacceptable(name: str, value: str) -> Refusal:
    return Refusal(400, {"error": f"Unacceptable query params: [{name}={value}]"})
