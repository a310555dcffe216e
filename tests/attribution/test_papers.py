"""Dates of papers: exactness, and what may have been published after what."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.attribution.literature.papers import PublicationDate


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


@given(st.integers(1000, 9999), st.integers(1, 12) | st.none(), st.integers(1, 31) | st.none())
def test_a_date_reads_back_as_it_is_written(year: int, month: int | None, day: int | None) -> None:
    date = PublicationDate(year=year, month=month, day=day if month else None)

    assert PublicationDate.parse(str(date)) == date


@pytest.mark.parametrize("text", ["", "May 2023", "2023-13", "2023-05-09-01", "23", "2023-"])
def test_what_is_no_date_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=f"^'{text}' is no date"):
        PublicationDate.parse(text)
