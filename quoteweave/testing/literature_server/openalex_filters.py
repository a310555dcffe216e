"""The filters of OpenAlex: `publication_year:>2019,open_access.is_oa:true,cites:W41|W42`."""

import re
from collections.abc import Callable
from typing import Any

from quoteweave.core.text.tokens import words
from quoteweave.testing.literature.records import MadePaper
from quoteweave.testing.literature_server.answers import Refusal
from quoteweave.testing.literature_server.boolean_queries import OPENALEX, parse_query
from quoteweave.testing.literature_server.catalogue import Catalogue, assumed_day, days_of

Passes = Callable[[MadePaper], bool]
_BOUNDS = re.compile(r"(?P<sign>[<>])?(?P<first>\d+)?(?P<to>-)?(?P<last>\d+)?")


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
    """How the service refuses a parameter."""
    return Refusal(400, {"error": "Invalid query parameters error.", "message": message})


def bare_doi(written: str) -> str:
    """A DOI without the address before it."""
    return re.sub(r"^(?:https?://(?:dx\.)?doi\.org/|doi:)", "", written.strip().lower())


def work_id(written: str) -> str:
    """A work's id without the address before it: W and digits."""
    return re.sub(r"^(?:https?://(?:api\.)?openalex\.org/(?:works/)?|openalex:)", "", written.strip().lower()).upper()


def type_of(paper: MadePaper) -> str:
    """What kind of work it is."""
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
    """`2019`, `>2019`, `<2019`, `2016-2020`, `2016-` or `-2020`."""

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
