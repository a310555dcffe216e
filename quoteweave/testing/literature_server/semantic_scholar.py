"""Semantic Scholar's Graph API, version 1, over the library.

It is written from the documentation (https://api.semanticscholar.org/api-docs/graph), including quirks that matter to
clients: the relevance search finds nothing for words with hyphens; papers that are not open access have an
`openAccessPdf` with an empty address; the snippet search does not tell a paper's date; and filters treat a paper of
which only the year is known as one of the first of January.
"""

import base64
import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal
from urllib.parse import unquote

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.tokens import words
from quoteweave.testing.literature.records import MadeLibrary, MadePaper
from quoteweave.testing.literature_server.answers import Answer, ReceivedRequest, Refusal
from quoteweave.testing.literature_server.catalogue import BULK, Catalogue, WordIndex, assumed_day, parse_query
from quoteweave.testing.literature_server.semantic_scholar_papers import (
    FILTERS,
    PaperFields,
    Passes,
    filter_of,
    number,
    unacceptable,
)

_ALL = ("text", "snippetKind", "section", "snippetOffset", "annotations.refMentions", "annotations.sentences")
_KNOWN = {*(f"snippet.{name}" for name in _ALL), "snippet.annotations"}
_MARK = lazy_regex(r"\[(\d+)\]")
_SENTENCE = lazy_regex(r"\S.*?(?:[.?!](?=\s|$)|$)", re.DOTALL)


@dataclass(frozen=True)
class _Snippet:
    at: int
    """The position of the snippet's paper."""
    kind: Literal["title", "abstract", "body"]
    section: str | None
    start: int
    """Its first character in the full text; 0 for a title or an abstract."""
    text: str


class Snippets:
    """All passages: titles and abstracts, and sections of open-access papers."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._all, self._index = _indexed(catalogue.library)

    def search(self, query: str, passes: Passes, limit: int, fields: list[str]) -> list[dict[str, Any]]:
        """The best passages of the papers that pass, as the service describes them. Raises Refusal for bad fields."""
        bad = [field for field in fields if field not in _KNOWN]
        if bad:
            raise Refusal(400, {"error": f"Unrecognized or unsupported fields: [{', '.join(bad)}]"})
        papers = self._catalogue.papers
        within = [position for position, one in enumerate(self._all) if passes(papers[one.at])]
        ranked = self._index.ranked(query, within)[:limit]
        best = max((score for _, score in ranked), default=1.0)
        return [
            {
                "snippet": self._fields(self._all[position], fields or [f"snippet.{name}" for name in _ALL]),
                "score": round(score / (best + 1), 6),
                "paper": self._paper(papers[self._all[position].at]),
            }
            for position, score in ranked
        ]

    def _fields(self, one: _Snippet, fields: list[str]) -> dict[str, Any]:
        made: dict[str, Any] = {
            "text": one.text,
            "snippetKind": one.kind,
            "section": one.section,
            "snippetOffset": {"start": one.start, "end": one.start + len(one.text)},
            "annotations": {"refMentions": self._mentions(one), "sentences": _sentences(one.text)},
        }
        wanted: dict[str, Any] = {}
        for field in fields:
            name, _, inner = field.removeprefix("snippet.").partition(".")
            if inner:
                wanted.setdefault(name, {})[inner] = made[name][inner]
            else:
                wanted[name] = made[name]
        return wanted

    def _mentions(self, one: _Snippet) -> list[dict[str, Any]] | None:
        if one.kind != "body":
            return None
        library, references = self._catalogue.library, self._catalogue.papers[one.at].references
        found = []
        for mark in _MARK.finditer(one.text):
            number = int(mark[1]) - 1
            known = library.paper(references[number]) if number < len(references) else None
            corpus_id = None if known is None else str(known.corpus_id)
            found.append({"start": mark.start(), "end": mark.end(), "matchedPaperCorpusId": corpus_id})
        return found

    @staticmethod
    def _paper(paper: MadePaper) -> dict[str, Any]:
        status = "GREEN" if paper.open_access else "CLOSED"
        return {
            "corpusId": str(paper.corpus_id),
            "title": paper.title,
            "authors": list(paper.authors),
            "openAccessInfo": {"license": "CCBY" if paper.open_access else None, "status": status, "disclaimer": ""},
        }


@lru_cache(maxsize=4)
def _indexed(library: MadeLibrary) -> tuple[list[_Snippet], WordIndex]:
    """The snippets and their index, made once for all servers of a library."""
    snippets = [one for at, paper in enumerate(library.papers) for one in _of(at, paper)]
    return snippets, WordIndex([one.text for one in snippets])


def _of(at: int, paper: MadePaper) -> list[_Snippet]:
    found = [_Snippet(at, "title", None, 0, paper.title)]
    if paper.known_abstract is not None:
        found.append(_Snippet(at, "abstract", None, 0, paper.known_abstract))
    start = 0
    for section in paper.sections if paper.open_access else ():
        start += len(section.heading) + 2
        found.append(_Snippet(at, "body", section.heading, start, section.text))
        start += len(section.text) + 2
    return found


def _sentences(text: str) -> list[dict[str, int]]:
    return [{"start": one.start(), "end": one.end()} for one in _SENTENCE.finditer(text)]


ROOT = "/graph/v1"
_URL = lazy_regex(r"url:https?://(?:www\.)?(?:semanticscholar\.org/paper/(?:[^/]+/)?|arxiv\.org/(?:abs|pdf)/)([^?#]+)")
_Order = Callable[[MadePaper], Any]


class SemanticScholarApi:
    """Answers requests below `ROOT`. Without `keys` any key is accepted; requests without a key always are."""

    def __init__(self, catalogue: Catalogue, keys: Collection[str], bulk_size: int) -> None:
        self._catalogue, self._keys, self._bulk_size = catalogue, frozenset(keys), bulk_size
        self._fields, self._snippets = PaperFields(catalogue), Snippets(catalogue)

    def answer(self, request: ReceivedRequest) -> Answer:
        """The answer to a request. Raises Refusal."""
        key = request.headers.get("x-api-key")
        if self._keys and key is not None and key not in self._keys:
            raise Refusal(403, {"message": "Forbidden"})
        path = unquote(request.path.removeprefix(ROOT)).strip("/")
        searches: dict[str, Callable[[Mapping[str, str]], object]] = {
            "paper/search": self._search,
            "paper/search/bulk": self._bulk,
            "paper/search/match": self._match,
            "snippet/search": self._search_snippets,
        }
        if path == "paper/batch" and request.method == "POST":
            return Answer.json(self._batch(request))
        if request.method != "GET":
            raise Refusal(405, {"message": "Method Not Allowed"})
        if path in searches:
            return Answer.json(searches[path](request.params))
        if path.startswith("paper/"):
            return Answer.json(self._of_paper(path.removeprefix("paper/"), request.params))
        raise Refusal(404, {"message": "Not Found"})

    def _search(self, params: Mapping[str, str]) -> object:
        """The relevance search: at most 100 results of the first 1,000."""
        _only(params, "query", "fields", "offset", "limit", *FILTERS)
        fields = self._asked_fields(params)
        offset, limit = number(params, "offset", 0, 10**9), number(params, "limit", 100, 100)
        if offset + limit > 1_000:
            raise Refusal(400, {"error": "Requested data for this limit and/or offset is not available"})
        found = self._ranked(params)
        shown = [self._fields.of(paper, fields) for paper, _ in found[offset : offset + limit]]
        more = {"next": offset + limit} if offset + limit < len(found) else {}
        return {"total": len(found), "offset": offset, **more, "data": shown}

    def _ranked(self, params: Mapping[str, str]) -> list[tuple[MadePaper, float]]:
        query, papers = _query(params), self._catalogue.papers
        passes = filter_of(params)
        if re.search(r"\w-\w", query):
            return []
        within = [at for at, paper in enumerate(papers) if passes(paper)]
        return [(papers[at], score) for at, score in self._catalogue.abstracts.ranked(query, within)]

    def _match(self, params: Mapping[str, str]) -> object:
        """The paper with the most similar title, which must share half of the query's words."""
        _only(params, "query", "fields", *FILTERS)
        fields, asked = self._asked_fields(params), set(words(_query(params)))
        for paper, score in self._ranked(dict(params) | {"query": " ".join(asked)}):
            if 2 * len(asked & set(words(paper.title))) >= len(asked):
                return {"data": [self._fields.of(paper, fields) | {"matchScore": score}]}
        raise Refusal(404, {"error": "Title match not found"})

    def _bulk(self, params: Mapping[str, str]) -> object:
        """The bulk search: all papers that match, in batches with a token for the next."""
        _only(params, "query", "token", "fields", "sort", *FILTERS)
        fields, passes = self._asked_fields(params, bulk=True), filter_of(params)
        try:
            matches = parse_query(_query(params), BULK)
        except ValueError as error:
            raise unacceptable("query", params["query"]) from error
        texts = self._catalogue.abstracts.words
        found = [paper for at, paper in enumerate(self._catalogue.papers) if matches(texts[at]) and passes(paper)]
        begin = _offset(params.get("token"))
        end = begin + self._bulk_size
        shown = [self._fields.of(paper, fields) for paper in _sorted(found, params.get("sort", "paperId"))[begin:end]]
        return {"total": len(found), "token": _token(end) if end < len(found) else None, "data": shown}

    def _search_snippets(self, params: Mapping[str, str]) -> object:
        _only(params, "query", "fields", "limit", "paperIds", "authors", "insertedBefore", *FILTERS)
        limit, passes = number(params, "limit", 10, 1_000), filter_of(params)
        asked = [name for name in params.get("paperIds", "").split(",") if name]
        of_papers = {self._known(name).id for name in asked}
        names = [name.strip().lower() for name in params.get("authors", "").split(",") if name.strip()]

        def all_pass(paper: MadePaper) -> bool:
            people = " ".join(paper.authors).lower()
            return passes(paper) and (not asked or paper.id in of_papers) and all(name in people for name in names)

        fields = [field for field in params.get("fields", "").split(",") if field]
        found = self._snippets.search(_query(params), all_pass, limit, fields)
        return {"data": found, "retrievalVersion": "made-library"}

    def _batch(self, request: ReceivedRequest) -> object:
        _only(request.params, "fields")
        fields = self._asked_fields(request.params)
        try:
            ids = [str(id) for id in json.loads(request.body)["ids"]]
        except (ValueError, KeyError, TypeError) as error:
            raise Refusal(400, {"error": "Bad request body: it has to be a JSON object with a list of ids"}) from error
        if not 0 < len(ids) <= 500:
            raise Refusal(400, {"error": f"{len(ids)} ids: from 1 to 500 can be asked for"})
        found = [self._find(id) for id in ids]
        return [None if paper is None else self._fields.of(paper, fields) for paper in found]

    def _of_paper(self, path: str, params: Mapping[str, str]) -> object:
        """A paper or, for a path below it, what it cites or what cites it."""
        name, _, last = path.rpartition("/")
        if last not in ("citations", "references") or not name:
            _only(params, "fields")
            return self._fields.of(self._known(path), self._asked_fields(params))
        _only(params, "fields", "offset", "limit")
        paper, fields = self._known(name), self._asked_fields(params)
        offset, limit = number(params, "offset", 0, 10**9), number(params, "limit", 100, 1_000)
        library = self._catalogue.library
        cited = [library.paper(id) for id in paper.references]
        others, field = (
            (self._catalogue.citing[paper.id], "citingPaper") if last == "citations" else (cited, "citedPaper")
        )
        more = {"next": offset + limit} if offset + limit < len(others) else {}
        shown = [
            {"contexts": [], "intents": [], "isInfluential": False, field: self._fields.of(other, fields)}
            for other in others[offset : offset + limit]
        ]
        return {"offset": offset, **more, "data": shown}

    def _known(self, name: str) -> MadePaper:
        paper = self._find(name)
        if paper is None:
            raise Refusal(404, {"error": f"Paper with id {name} not found"})
        return paper

    def _find(self, name: str) -> MadePaper | None:
        """The paper of an id: its own, `CorpusId:…`, `DOI:…`, `ARXIV:…`, or `URL:…` of its page or its arXiv page."""
        lower = name.lower()
        if lower.startswith("w"):
            return None  # an id of OpenAlex
        if url := _URL.match(lower):
            last = re.sub(r"v\d+$|\.pdf$", "", url[1])
            return self._catalogue.find(f"arxiv:{last}" if "arxiv.org" in lower else last)
        return self._catalogue.find(re.sub(r"^(arxiv:.+?)v\d+$", r"\1", lower))

    def _asked_fields(self, params: Mapping[str, str], *, bulk: bool = False) -> list[str]:
        fields = [field.strip() for field in params.get("fields", "title").split(",") if field.strip()]
        self._fields.check(fields, bulk=bulk)
        return fields


def _query(params: Mapping[str, str]) -> str:
    query = params.get("query", "").strip()
    if not query:
        raise Refusal(400, {"error": "Missing required parameter: 'query'"})
    return query


def _only(params: Mapping[str, str], *known: str) -> None:
    bad = [f"{name}={value}" for name, value in params.items() if name not in known]
    if bad:
        raise Refusal(400, {"error": f"Unacceptable query params: [{', '.join(bad)}]"})


def _sorted(papers: Sequence[MadePaper], sort: str) -> list[MadePaper]:
    """Sort papers by a field and order; papers that lack the field come last, ids break ties."""
    field, _, order = sort.partition(":")
    orders: dict[str, _Order] = {
        "paperId": lambda paper: paper.id,
        "publicationDate": assumed_day,
        "citationCount": lambda paper: paper.citations,
    }
    if field not in orders or order not in ("", "asc", "desc"):
        raise unacceptable("sort", sort)
    of, by_id = orders[field], sorted(papers, key=lambda paper: paper.id)
    known = sorted((paper for paper in by_id if of(paper) is not None), key=of, reverse=order == "desc")
    return known + [paper for paper in by_id if of(paper) is None]


def _token(offset: int) -> str:
    return base64.urlsafe_b64encode(f"made library {offset}".encode()).decode()


def _offset(token: str | None) -> int:
    if token is None:
        return 0
    try:
        return int(base64.urlsafe_b64decode(token).decode().removeprefix("made library "))
    except ValueError as error:
        raise Refusal(400, {"error": "Invalid token"}) from error
