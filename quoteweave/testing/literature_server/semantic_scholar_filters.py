"""The filters of Semantic Scholar's searches: years, dates, open access, citations, venues, fields and types."""

from collections.abc import Callable, Mapping
from datetime import date

from quoteweave.testing.literature.records import MadePaper
from quoteweave.testing.literature_server.answers import Refusal
from quoteweave.testing.literature_server.catalogue import assumed_day, days_of
from quoteweave.testing.literature_server.semantic_scholar_fields import publication_types

FILTERS = (
    "year",
    "publicationDateOrYear",
    "openAccessPdf",
    "minCitationCount",
    "venue",
    "fieldsOfStudy",
    "publicationTypes",
)
Passes = Callable[[MadePaper], bool]


def filter_of(params: Mapping[str, str]) -> Passes:
    """Whether a paper passes all filters of a request. Raises Refusal for a value that is none."""
    makers: dict[str, Callable[[str], Passes]] = {
        "year": _year,
        "publicationDateOrYear": _date_or_year,
        "openAccessPdf": lambda _: lambda paper: paper.open_access,
        "minCitationCount": _cited_often,
        "venue": _any_of(lambda paper: [paper.venue]),
        "fieldsOfStudy": _any_of(lambda paper: [paper.field]),
        "publicationTypes": _any_of(publication_types),
    }
    tests = list[Passes]()
    for name, value in params.items():
        if name in makers:
            try:
                tests.append(makers[name](value))
            except ValueError as error:
                raise unacceptable(name, value) from error
    return lambda paper: all(passes(paper) for passes in tests)


def number(params: Mapping[str, str], name: str, default: int, most: int) -> int:
    """A parameter that is a number from 0 to `most`. Raises Refusal for another."""
    value = params.get(name, str(default))
    if not value.isdecimal() or int(value) > most:
        raise unacceptable(name, value)
    return int(value)


def unacceptable(name: str, value: str) -> Refusal:
    """How the service refuses a parameter."""
    return Refusal(400, {"error": f"Unacceptable query params: [{name}={value}]"})


def _year(value: str) -> Passes:
    """`2019`, `2016-2020`, `2010-` or `-2015`."""
    return _within(value, "-")


def _date_or_year(value: str) -> Passes:
    """`2019-03`, `2016-03-05:2020-06-06`, `1981-08-25:` or `:2015-01`."""
    return _within(value, ":")


def _within(value: str, between: str) -> Passes:
    first, found, last = value.partition(between)
    last = last if found else first
    if not first and not last:
        raise ValueError("a range without ends")
    begin = days_of(first)[0] if first else date.min
    end = days_of(last)[1] if last else date.max

    def passes(paper: MadePaper) -> bool:
        day = assumed_day(paper)
        return day is not None and begin <= day <= end

    return passes


def _cited_often(value: str) -> Passes:
    least = int(value)
    return lambda paper: paper.citations >= least


def _any_of(names: Callable[[MadePaper], list[str]]) -> Callable[[str], Passes]:
    def make(value: str) -> Passes:
        wanted = {each.strip().lower() for each in value.split(",")}
        return lambda paper: any(name.lower() in wanted for name in names(paper))

    return make
