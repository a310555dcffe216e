"""The API of OpenAlex over the library.

It is written from the documentation (https://developers.openalex.org), including quirks that matter to clients: the
words of a search are joined by and; a search with `?` or `*` is refused; a work of which only the year is known has the
first of January as its date; and the id of a work that was merged into another redirects to that one.
"""

import base64
import re
from collections.abc import Callable, Collection, Mapping
from typing import Any
from urllib.parse import unquote, urlencode

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.tokens import words
from quoteweave.testing.literature.records import MadePaper
from quoteweave.testing.literature_server.answers import Answer, ReceivedRequest, Refusal
from quoteweave.testing.literature_server.catalogue import OPENALEX, Catalogue, assumed_day, days_of, parse_query

Passes = Callable[[MadePaper], bool]
_BOUNDS = lazy_regex(r"(?P<sign>[<>])?(?P<first>\d+)?(?P<to>-)?(?P<last>\d+)?")


class WorkFilters:
    """Reads filters."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        library = catalogue.library
        self._makers: dict[str, Callable[[str], Passes]] = {
            "publication_year": _number_within(_year),
            "cited_by_count": _number_within(lambda paper: paper.citations),
            "publication_date": lambda value: _from_to(value, value),
            "from_publication_date": lambda value: _from_to(value, None),
            "to_publication_date": lambda value: _from_to(None, value),
            "is_oa": _truth(lambda paper: paper.open_access),
            "open_access.is_oa": _truth(lambda paper: paper.open_access),
            "primary_topic.field.id": lambda value: lambda paper: work_field(value) in FIELD_IDS.get(paper.field, ()),
            "has_abstract": _truth(lambda paper: paper.abstract_known),
            "has_doi": _truth(lambda paper: paper.doi is not None),
            "type": lambda value: lambda paper: type_of(paper) == value,
            "doi": lambda value: lambda paper: paper.doi == bare_doi(value),
            "openalex": self._is_work,
            "openalex_id": self._is_work,
            "ids.openalex": self._is_work,
            "cites": lambda value: (
                lambda paper: work_id(value) in [library.paper(id).openalex for id in paper.references]
            ),
            "cited_by": lambda value: lambda paper: paper.id in (getattr(self._named(value), "references", ())),
            "title.search": _search(lambda paper: paper.title),
            "display_name.search": _search(lambda paper: paper.title),
            "abstract.search": _search(lambda paper: paper.known_abstract or ""),
            "title_and_abstract.search": _search(lambda paper: f"{paper.title} {paper.known_abstract or ''}"),
            "default.search": self.search,
        }

    def of(self, written: str) -> Passes:
        """Whether a work passes all filters. Raises Refusal."""
        tests = [self._one(part) for part in re.split(r",(?=[\w.-]+:)", written) if part]
        return lambda paper: all(passes(paper) for passes in tests)

    def search(self, query: str) -> Passes:
        """Whether a work has all words of a query, or matches its operators. Raises Refusal."""
        if re.search(r"[*?]", query):
            raise bad_parameter("Wildcards (* or ?) require exact (no-stem) search.")
        matches, texts, places = _matches(query), self._catalogue.texts.words, self._catalogue.places
        return lambda paper: matches(texts[places[paper.id]])

    def _one(self, part: str) -> Passes:
        name, found, value = part.partition(":")
        name = name.strip().replace("-", "_")
        if not found:
            raise bad_parameter(f"Invalid query parameter in {part}.")
        if name not in self._makers:
            raise bad_parameter(
                f"{name} is not a valid field. Valid fields are underscore or hyphenated versions of: "
                f"{', '.join(sorted(self._makers))}"
            )
        negated = value.startswith("!")
        try:
            tests = [self._makers[name](each) for each in value.removeprefix("!").split("|")]
        except ValueError as error:
            raise bad_parameter(f"Value for param {name} is invalid: {value}") from error
        return lambda paper: any(passes(paper) for passes in tests) != negated

    def _is_work(self, value: str) -> Passes:
        return lambda paper: paper.openalex == work_id(value)

    def _named(self, value: str) -> MadePaper | None:
        return self._catalogue.find(work_id(value))


def bad_parameter(message: str) -> Refusal:
    """The service's refusal of a parameter."""
    return Refusal(400, {"error": "Invalid query parameters error.", "message": message})


def bare_doi(written: str) -> str:
    """A DOI without the address before it."""
    return re.sub(r"^(?:https?://(?:dx\.)?doi\.org/|doi:)", "", written.strip().lower())


def work_id(written: str) -> str:
    """A work's id without the address before it: W and digits."""
    return re.sub(r"^(?:https?://(?:api\.)?openalex\.org/(?:works/)?|openalex:)", "", written.strip().lower()).upper()


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


def work_field(written: str) -> str:
    """A field's id without the address before it."""
    return written.strip().rpartition("/")[2]


def type_of(paper: MadePaper) -> str:
    """The service's type of the work."""
    return {"survey": "review", "resource": "dataset"}.get(paper.role, "article")


def _year(paper: MadePaper) -> int | None:
    return None if paper.published is None else paper.published.year


def _matches(query: str) -> Callable[[Any], bool]:
    try:
        return parse_query(query, OPENALEX)
    except ValueError as error:
        raise bad_parameter(f"The search query cannot be read: {error}.") from error


def _search(text: Callable[[MadePaper], str]) -> Callable[[str], Passes]:
    def make(query: str) -> Passes:
        matches = _matches(query)
        return lambda paper: matches(words(text(paper)))

    return make


def _truth(of: Callable[[MadePaper], bool]) -> Callable[[str], Passes]:
    def make(value: str) -> Passes:
        if value not in ("true", "false"):
            raise ValueError(value)
        return lambda paper: of(paper) == (value == "true")

    return make


def _number_within(of: Callable[[MadePaper], int | None]) -> Callable[[str], Passes]:
    """Passes works whose number is within `2019`, `>2019`, `<2019`, `2016-2020`, `2016-` or `-2020`."""

    def make(value: str) -> Passes:
        found = _BOUNDS.fullmatch(value)
        if found is None or not (found["first"] or found["last"]):
            raise ValueError(value)
        first, last = (None if each is None else int(each) for each in (found["first"], found["last"]))
        if found["sign"] == ">":
            least, most = (first or 0) + 1, None
        elif found["sign"] == "<":
            least, most = None, (first or 0) - 1
        else:
            least, most = first, last if found["to"] else first

        def passes(paper: MadePaper) -> bool:
            number = of(paper)
            return number is not None and (least is None or number >= least) and (most is None or number <= most)

        return passes

    return make


def _from_to(first: str | None, last: str | None) -> Passes:
    begin, end = (None if first is None else days_of(first)[0]), (None if last is None else days_of(last)[1])

    def passes(paper: MadePaper) -> bool:
        day = assumed_day(paper)
        return day is not None and (begin is None or day >= begin) and (end is None or day <= end)

    return passes


ROOT = "/openalex"
_PARAMETERS = frozenset(
    {"search", "filter", "sort", "per_page", "per-page", "page", "cursor", "select", "api_key", "mailto"}
)
_MERGED_OF = 25
"""Every so many works, one has another merged into it."""


class OpenAlexApi:
    """Answers requests below `ROOT`. Without `keys` any key is accepted; requests without a key always are."""

    def __init__(self, catalogue: Catalogue, keys: Collection[str], base_url: Callable[[], str]) -> None:
        self._catalogue, self._keys, self._base_url = catalogue, frozenset(keys), base_url
        self._filters = WorkFilters(catalogue)
        merged = catalogue.papers[::_MERGED_OF]
        self.merged = {f"W1{paper.openalex[2:]}": paper.openalex for paper in merged}
        """The ids of merged works, with the id of the work that each redirects to."""

    def answer(self, request: ReceivedRequest) -> Answer:
        """The answer to a request. Raises Refusal."""
        self._check_key(request)
        path = unquote(request.path.removeprefix(ROOT)).strip("/")
        if request.method != "GET":
            raise Refusal(405, {"error": "Method not allowed", "message": f"{request.method} is not supported"})
        if path == "works":
            return Answer.json(self._works(request.params))
        if path.startswith("works/"):
            return self._work(path.removeprefix("works/"), request.params)
        raise Refusal(404, {"error": "Not Found", "message": "The requested URL was not found on the server."})

    def _check_key(self, request: ReceivedRequest) -> None:
        given = request.params.get("api_key") or request.headers.get("api_key")
        given = given or request.headers.get("authorization", "").removeprefix("Bearer ")
        if self._keys and given and given not in self._keys:
            raise Refusal(401, {"error": "Unauthorized", "message": "The API key is not valid."})

    def _work(self, name: str, params: Mapping[str, str]) -> Answer:
        id = work_id(name)
        if id in self.merged:
            query = f"?{urlencode(params)}" if params else ""
            return Answer.json({}, 301, {"Location": f"{self._base_url()}{ROOT}/works/{self.merged[id]}{query}"})
        paper = self._catalogue.find(id) if id.startswith("W") else self._catalogue.find(f"doi:{bare_doi(name)}")
        if paper is None:
            raise Refusal(404, {"error": "Not Found", "message": f"Work {name} not found"})
        return Answer.json(self._selected(paper, params))

    def _works(self, params: Mapping[str, str]) -> object:
        unknown = sorted(set(params) - _PARAMETERS)
        if unknown:
            raise bad_parameter(f"{unknown[0]} is not a valid parameter.")
        size = _size(params)
        begin, page, more = _place(params, size)
        ranked = self._ranked(params)
        meta: dict[str, object] = {"count": len(ranked), "db_response_time_ms": 1, "page": page, "per_page": size}
        if more:
            end = begin + size
            meta["next_cursor"] = _cursor(end) if begin < len(ranked) else None
        shown = [
            self._selected(paper, params, {"relevance_score": score} if "search" in params else {})
            for paper, score in ranked[begin : begin + size]
        ]
        return {"meta": {**meta, "groups_count": None}, "results": shown, "group_by": []}

    def _ranked(self, params: Mapping[str, str]) -> list[tuple[MadePaper, float]]:
        query, passes = params.get("search", "").strip(), self._filters.of(params.get("filter", ""))
        searched: Passes = self._filters.search(query) if query else lambda _: True
        found = [paper for paper in self._catalogue.papers if passes(paper) and searched(paper)]
        scores = self._catalogue.abstracts.scores(query)
        places = self._catalogue.places
        scored = [(paper, round(scores.get(places[paper.id], 0.0), 5)) for paper in found]
        return _sorted(scored, params.get("sort", "relevance_score:desc" if query else "cited_by_count:desc"), query)

    def _selected(
        self, paper: MadePaper, params: Mapping[str, str], more: Mapping[str, object] | None = None
    ) -> dict[str, Any]:
        work = self._described(paper) | dict(more or {})
        if "select" not in params:
            return work
        fields = [field.strip() for field in params["select"].split(",")]
        bad = [field for field in fields if field not in work and field != "relevance_score"]
        if bad:
            raise bad_parameter(
                f"{bad[0]} is not a valid select field. Valid fields for select are: {', '.join(work)}."
            )
        return {field: work[field] for field in fields if field in work}

    def _described(self, paper: MadePaper) -> dict[str, Any]:
        library, day = self._catalogue.library, assumed_day(paper)
        doi = f"https://doi.org/{paper.doi}" if paper.doi else None
        pdf = self._catalogue.pdf_url(paper)
        location = self._location(paper, doi, pdf)
        return {
            "id": f"https://openalex.org/{paper.openalex}",
            "doi": doi,
            "title": paper.title,
            "display_name": paper.title,
            "publication_year": None if day is None else day.year,
            "publication_date": None if day is None else day.isoformat(),
            "ids": {"openalex": f"https://openalex.org/{paper.openalex}", **({"doi": doi} if doi else {})},
            "language": "en",
            "primary_location": location,
            "type": type_of(paper),
            "open_access": {"is_oa": pdf is not None, "oa_status": "green" if pdf else "closed", "oa_url": pdf},
            "authorships": [_authorship(paper, at) for at in range(len(paper.authors))],
            "cited_by_count": paper.citations,
            "is_retracted": False,
            "has_fulltext": paper.open_access,
            "locations": [location],
            "best_oa_location": location if pdf else None,
            "referenced_works_count": len(paper.references),
            "referenced_works": [f"https://openalex.org/{library.paper(id).openalex}" for id in paper.references],
            "abstract_inverted_index": None if paper.known_abstract is None else _inverted(paper.known_abstract),
        }

    @staticmethod
    def _location(paper: MadePaper, doi: str | None, pdf: str | None) -> dict[str, Any]:
        page = f"https://arxiv.org/abs/{paper.arxiv}" if paper.arxiv else doi
        source = {"id": None, "display_name": paper.venue, "type": "journal"}
        return {"is_oa": pdf is not None, "landing_page_url": page, "pdf_url": pdf, "source": source, "license": None}


def _authorship(paper: MadePaper, at: int) -> dict[str, Any]:
    position = "first" if at == 0 else "last" if at == len(paper.authors) - 1 else "middle"
    name = paper.authors[at]
    author = {"id": None, "display_name": name, "orcid": None}
    return {"author_position": position, "author": author, "institutions": [], "raw_author_name": name}


def _inverted(text: str) -> dict[str, list[int]]:
    places = dict[str, list[int]]()
    for at, word in enumerate(text.split()):
        places.setdefault(word, []).append(at)
    return places


def _sorted(found: list[tuple[MadePaper, float]], sort: str, query: str) -> list[tuple[MadePaper, float]]:
    """Sort works by one or more fields; ids break ties, and works that lack the field come last."""
    orders: dict[str, Callable[[tuple[MadePaper, float]], Any]] = {
        "relevance_score": lambda each: each[1],
        "cited_by_count": lambda each: each[0].citations,
        "publication_date": lambda each: assumed_day(each[0]),
        "publication_year": lambda each: each[0].published and each[0].published.year,
        "display_name": lambda each: each[0].title,
    }
    ranked = sorted(found, key=lambda each: each[0].openalex)
    for part in reversed(sort.split(",")):
        field, _, order = part.partition(":")
        if field not in orders or order not in ("", "asc", "desc"):
            raise bad_parameter(f"{part} is not a valid sort.")
        if field == "relevance_score" and not query:
            raise bad_parameter("Must include a search query in order to sort by relevance_score.")
        of = orders[field]
        known = sorted((each for each in ranked if of(each) is not None), key=of, reverse=order == "desc")
        ranked = known + [each for each in ranked if of(each) is None]
    return ranked


def _size(params: Mapping[str, str]) -> int:
    size = params.get("per_page", params.get("per-page", "25"))
    if not size.isdecimal() or not 1 <= int(size) <= 100:
        raise _bad_page("per_page parameter must be between 1 and 100")
    return int(size)


def _place(params: Mapping[str, str], size: int) -> tuple[int, int | None, bool]:
    """The position of the first work shown, the page number, and whether a cursor is used."""
    if "cursor" in params:
        return _of_cursor(params["cursor"]), None, True
    page = params.get("page", "1")
    if not page.isdecimal() or int(page) < 1:
        raise _bad_page("page parameter must be 1 or more")
    if int(page) * size > 10_000:
        raise _bad_page("Maximum results size of 10,000 records is exceeded. Cursor pagination is required.")
    return (int(page) - 1) * size, int(page), False


def _bad_page(message: str) -> Refusal:
    return Refusal(400, {"error": "Pagination error.", "message": message})


def _cursor(offset: int) -> str:
    return base64.urlsafe_b64encode(f"made library {offset}".encode()).decode()


def _of_cursor(cursor: str) -> int:
    if cursor == "*":
        return 0
    try:
        return int(base64.urlsafe_b64decode(cursor).decode().removeprefix("made library "))
    except ValueError as error:
        raise _bad_page("Invalid cursor value") from error
