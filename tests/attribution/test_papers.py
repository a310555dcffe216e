"""Dates of papers: exactness, and what may have been published after what."""

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoteweave import LexicalRetriever, OwnCollection, PaperLibrary, PublicationDate, Search, UsageError, make_source


@pytest.mark.parametrize(
    ("date", "limit", "after"),
    [
        ("2024", "2023", True),
        ("2023", "2023", False),
        ("2023-12-31", "2023", False),  # the limit is known to the year
        ("2023", "2023-05", True),  # it may have been published in June
        ("2023-05", "2023-05-09", True),
        ("2023-04", "2023-05-09", False),
        ("2023-05-09", "2023-05-09", False),
        ("2023-05-10", "2023-05-09", True),
    ],
)
def test_a_paper_that_may_have_been_published_after_the_limit_follows_it(date: str, limit: str, after: bool) -> None:
    assert PublicationDate.parse(date).may_follow(PublicationDate.parse(limit)) is after


@given(st.integers(1000, 9999), st.integers(1, 12) | st.none(), st.integers(1, 28) | st.none())
def test_a_date_reads_back_as_it_is_written(year: int, month: int | None, day: int | None) -> None:
    date = PublicationDate(year=year, month=month, day=day if month else None)

    assert PublicationDate.parse(str(date)) == date


@pytest.mark.parametrize("text", ["", "May 2023", "2023-13", "2023-02-29", "2023-05-09-01", "23", "2023-"])
def test_what_is_no_date_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=f"^'{text}' is no date"):
        PublicationDate.parse(text)


def test_a_day_is_of_a_month_that_has_it() -> None:
    with pytest.raises(ValueError, match="there is a day, and no month"):
        PublicationDate(year=2023, day=9)
    with pytest.raises(ValueError, match=r"^'2023-02-29' is no date: the month has 28 days"):
        PublicationDate.parse("2023-02-29")
    assert str(PublicationDate.parse("2024-02-29")) == "2024-02-29"


def test_an_order_that_is_none_is_refused(tmp_path: Path) -> None:
    with PaperLibrary(tmp_path) as library:
        own = OwnCollection(library.collection, Search(LexicalRetriever(library.collection)))
        for source in (make_source("semantic-scholar", library), make_source("openalex", library), own):
            with pytest.raises(UsageError, match="by is 'fame': papers are searched for by relevance or citations"):
                asyncio.run(source.search("grain", by="fame"))  # type: ignore[arg-type]
