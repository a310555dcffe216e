"""What places are called, in people's words."""

from typing import Any, Unpack

import pytest
from builders import QuoteFields, make_quote

from quoteweave.core.records import Quote


def quote(text: str = "x", **fields: Unpack[QuoteFields]) -> Quote:
    given: QuoteFields = {"document": "a.html", "page": 2, **fields}
    return make_quote(text, **given)


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"section": "Fees"}, "page 3"),
        ({"page": 22, "page_label": "21"}, "page 21 (23 in the file)"),
        ({"page_label": "?"}, "page ?"),
        ({"section": "Fees", "has_pages": False}, "Fees"),
        ({"section": "Fees\n of 2024", "has_pages": False}, "Fees of 2024"),
        ({"has_pages": False}, "part 3"),
        ({"section": "Guide", "layout": "title", "text": "Fees", "has_pages": False}, "Fees"),
        ({"section": "long " * 60, "has_pages": False}, ("long " * 60)[:119].rstrip() + "…"),
    ],
)
def test_a_place_is_a_page_or_where_there_are_none_a_heading(changes: dict[str, Any], place: str) -> None:
    assert quote(**changes).place == place
