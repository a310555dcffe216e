"""The API of OpenAlex over the library, as far as `sources.openalex` asks it.

It is written from the documentation (https://developers.openalex.org), including quirks that matter to clients: the
words of a search are joined by and; a search with `?` or `*` is refused; and a work of which only the year is known has
the first of January as its date.
"""

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any
from urllib.parse import unquote

from quoteweave.core.text.tokens import words
from quoteweave.testing.literature.records import MadePaper
from quoteweave.testing.literature_server.answers import Answer, ReceivedRequest, Refusal
from quoteweave.testing.literature_server.catalogue import Catalogue, assumed_day, last_day, offset_of, token_of

ROOT = "/openalex"
Passes = Callable[[MadePaper], bool]
_PARAMETERS = frozenset({"search", "filter", "sort", "per_page", "cursor", "select", "api_key"})
FIELD_IDS = {
    "Agricultural and Food Sciences": ("11",),
    "Biology": ("13", "24"),
    "Chemistry": ("16",),
    "Computer Science": ("17",),
    "Environmental Science": ("23",),
    "Geology": ("19",),
    "Materials Science": ("25",),
    "Medicine": ("27",),
    "Physics": ("31",),
    "Psychology": ("32",),
}
"""The fields of the made papers, by the service's ids; it has none of its own for education."""


class OpenAlexApi:
    """Answers requests below `ROOT`. Without `keys` any key is accepted; requests without a key always are."""

    def __init__(self, catalogue: Catalogue, keys: Collection[str]) -> None:
        self._catalogue, self._keys = catalogue, frozenset(keys)

    def answer(self, request: ReceivedRequest) -> Answer:
        """The answer to a request. Raises Refusal."""
        key = request.params.get("api_key")
        if self._keys and key and key not in self._keys:
            raise Refusal(401, {"error": "Unauthorized", "message": "The API key is not valid."})
        path = unquote(request.path.removeprefix(ROOT)).strip("/")
        if path == "works":
            return Answer.json(self._works(request.params))
        name = path.removeprefix("works/")
        paper = self._catalogue.find(re.sub(r"^https?://(?:openalex\.org/|(?=doi))", "", name))
        if paper is None:
            raise Refusal(404, {"error": "Not Found", "message": f"Work {name} not found"})
        return Answer.json(self._selected(paper, request.params))

    def _works(self, params: Mapping[str, str]) -> object:
        if unknown := sorted(set(params) - _PARAMETERS):
            raise _bad_parameter(f"{unknown[0]} is not a valid parameter.")
        size, cursor = params.get("per_page", "25"), params.get("cursor", "*")
        if not size.isdecimal() or not 1 <= int(size) <= 100:
            raise Refusal(400, {"error": "Pagination error.", "message": "per_page must be between 1 and 100"})
        begin = offset_of(None if cursor == "*" else cursor)
        end = begin + int(size)
        ranked = self._ranked(params)
        meta = {"count": len(ranked), "next_cursor": token_of(end) if begin < len(ranked) else None}
        return {"meta": meta, "results": [self._selected(paper, params) for paper in ranked[begin:end]]}

    def _ranked(self, params: Mapping[str, str]) -> list[MadePaper]:
        """The works that are found; ids break ties."""
        query, catalogue = params.get("search", "").strip(), self._catalogue
        if re.search(r"[*?]", query):
            raise _bad_parameter("Wildcards (* or ?) require exact (no-stem) search.")
        sort = params.get("sort", "relevance_score:desc" if query else "cited_by_count:desc")
        if sort not in ("relevance_score:desc", "cited_by_count:desc"):
            raise _bad_parameter(f"{sort} is not a valid sort.")
        tests = [_filter(part) for part in params.get("filter", "").split(",") if part]
        wanted = [set(words(part)) for part in query.split(" OR ")]
        positions = [
            at
            for at, (paper, text) in enumerate(zip(catalogue.papers, catalogue.texts.words, strict=True))
            if all(passes(paper) for passes in tests) and any(alternative.issubset(text) for alternative in wanted)
        ]
        scores = catalogue.abstracts.scores(query)

        def order(at: int) -> tuple[float, str]:
            paper = catalogue.papers[at]
            best = round(scores.get(at, 0.0), 5) if sort == "relevance_score:desc" else paper.citations
            return -best, paper.openalex

        return [catalogue.papers[at] for at in sorted(positions, key=order)]

    def _selected(self, paper: MadePaper, params: Mapping[str, str]) -> dict[str, Any]:
        work = self._described(paper)
        fields = params.get("select", ",".join(work)).split(",")
        if bad := [field for field in fields if field not in work]:
            raise _bad_parameter(f"{bad[0]} is not a valid select field. Valid fields are: {', '.join(work)}.")
        return {field: work[field] for field in fields}

    def _described(self, paper: MadePaper) -> dict[str, Any]:
        day, pdf = assumed_day(paper), self._catalogue.pdf_url(paper)
        id, doi = f"https://openalex.org/{paper.openalex}", f"https://doi.org/{paper.doi}" if paper.doi else None
        page = f"https://arxiv.org/abs/{paper.arxiv}" if paper.arxiv else doi
        source = {"display_name": paper.venue}
        location = {"is_oa": pdf is not None, "landing_page_url": page, "pdf_url": pdf, "source": source}
        return {
            "id": id,
            "doi": doi,
            "title": paper.title,
            "publication_year": None if day is None else day.year,
            "publication_date": None if day is None else day.isoformat(),
            "ids": {"openalex": id, **({"doi": doi} if doi else {})},
            "primary_location": location,
            "authorships": [{"author": {"display_name": name}} for name in paper.authors],
            "cited_by_count": paper.citations,
            "best_oa_location": location if pdf else None,
            "abstract_inverted_index": None if paper.known_abstract is None else _inverted(paper.known_abstract),
        }


def _filter(written: str) -> Passes:
    """Whether a work passes a filter such as `is_oa:true`. Raises Refusal."""
    name, _, value = written.partition(":")
    if name == "is_oa" and value == "true":
        return lambda paper: paper.open_access
    if name == "primary_topic.field.id":
        return lambda paper: not set(value.split("|")).isdisjoint(FIELD_IDS.get(paper.field, ()))
    if name != "to_publication_date":
        raise _bad_parameter(f"{written} is not a valid filter.")
    try:
        last = last_day(value)
    except ValueError as error:
        raise _bad_parameter(f"Value for param {name} is invalid: {value}") from error
    return lambda paper: (day := assumed_day(paper)) is not None and day <= last


def _bad_parameter(message: str) -> Refusal:
    return Refusal(400, {"error": "Invalid query parameters error.", "message": message})


def _inverted(text: str) -> dict[str, list[int]]:
    places = dict[str, list[int]]()
    for at, word in enumerate(text.split()):
        places.setdefault(word, []).append(at)
    return places
