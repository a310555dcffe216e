from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_collections import made_quote
from made_vectors import ColourPictures

from quoteweave.collection.views import PageMap, Unit, item_rows, item_views
from quoteweave.core.records import Quote, View

FIGURE = made_quote("", layout="figure", caption="Figure 1: calls").model_copy(
    update={"section": "Traffic", "ocr_text": "2022 2023", "vlm_text": "A bar chart."}
)


def seen(quotes: Sequence[Quote], view: View = "text", unit: Unit = "quote") -> list[str | None]:
    """The text of each item; None where there is nothing to see."""
    views = item_views(quotes, view, unit, ColourPictures() if view == "ocr_text" else None)
    for shown in views:
        assert shown.key is None or shown.load() == shown.key
    return [shown.key for shown in views]


@pytest.mark.parametrize(
    ("view", "text"),
    [
        ("text", "Traffic\nFigure 1: calls\n2022 2023\nA bar chart."),
        ("ocr_text", "2022 2023"),
        ("vlm_text", "A bar chart."),
    ],
)
def test_each_view_shows_its_text_of_a_picture_and_the_words_of_a_text(view: View, text: str) -> None:
    assert seen([FIGURE, made_quote("Grain.")], view) == [text, "Grain."]


def test_what_has_no_words_is_not_seen() -> None:
    bare = made_quote("", layout="figure")
    assert seen([made_quote(" \n"), bare, made_quote("Grain.")]) == [None, None, "Grain."]
    assert seen([bare], "ocr_text") == seen([bare], "vlm_text") == [None]


def test_ocr_reads_what_it_did_not_read_before_and_only_that() -> None:
    pictures = ColourPictures()
    pictures.on_crops = "from the crop"
    quotes = [FIGURE, made_quote("labels", layout="chart"), made_quote("Grain.")]
    assert [view.key for view in item_views(quotes, "ocr_text", "quote", pictures)] == [
        "2022 2023",
        "from the crop",
        "Grain.",
    ]
    with pytest.raises(ValueError, match="the view 'ocr_text' needs pictures"):
        item_views(quotes, "ocr_text", "quote", None)


def test_a_text_quote_does_not_repeat_the_title_above_it() -> None:
    assert seen([made_quote("Grain.").model_copy(update={"section": "Traffic"})]) == ["Grain."]


def test_a_page_is_seen_as_all_its_words_in_order() -> None:
    quotes = [made_quote("One."), FIGURE, made_quote("Two.", page=2), made_quote("Three.")]
    assert seen(quotes, unit="page") == ["One.\nFigure 1: calls\n2022 2023\nA bar chart.\nThree.", "Two."]
    assert seen(quotes, "ocr_text", "page") == ["One.\n2022 2023\nThree.", "Two."]


def test_a_scanned_page_does_not_say_everything_twice() -> None:
    scan = made_quote("One. Two.", layout="page")
    assert seen(
        [scan, made_quote("One."), made_quote("Two."), made_quote("Three.", page=1, layout="page")], unit="page"
    ) == [
        "One.\nTwo.",
        "Three.",
    ]


def test_pictures_of_quotes_texts_included_and_of_pages() -> None:
    pictures = ColourPictures(without=["none.md"])
    quotes = [made_quote("red"), made_quote("blue", layout="chart"), made_quote("lime", page=1)]
    quotes = [quote.model_copy(update={"document": "a.pdf"}) for quote in quotes]
    views = item_views(quotes, "image", "quote", pictures)
    assert [view.key for view in views] == [pictures.crop_key(quote) for quote in quotes]
    assert pictures.drawn == []
    views[1].load()
    assert pictures.drawn == ["blue"]
    pages = item_views(quotes, "image", "page", pictures)
    assert [(view.key, view.quote.text) for view in pages] == [("a.pdf 0", "red"), ("a.pdf 1", "lime")]
    pages[1].load()
    assert pictures.drawn == ["blue", "a.pdf 1"]
    without = [quote.model_copy(update={"document": "none.md"}) for quote in quotes]
    for unit in ("quote", "page"):
        assert {view.key for view in item_views(without, "image", unit, pictures)} == {None}


def test_pictures_need_somewhere_to_come_from() -> None:
    with pytest.raises(ValueError, match="needs pictures"):
        item_views([FIGURE], "image", "quote", None)


pages = st.lists(st.integers(0, 3), max_size=8)


@given(st.lists(pages, max_size=3), st.integers(1, 5))
def test_pages_and_their_rows_belong_together(documents: list[list[int]], start: int) -> None:
    found, row = [], start
    by_page: dict[tuple[int, int], list[int]] = {}
    for number, on_page in enumerate(documents):
        rows = list(range(row, row + 2 * len(on_page), 2))
        row += 2 * len(on_page) + 1
        found.append((str(number), np.array(rows, dtype=np.int64), np.array(on_page, dtype=np.int64)))
        for at, page in zip(rows, on_page, strict=True):
            by_page.setdefault((number, page), []).append(at)
        quotes = [made_quote(str(at), page=page) for at, page in zip(rows, on_page, strict=True)]
        firsts = [int(view.quote.text) for view in item_views(quotes, "text", "page", None)]
        assert item_rows(found[-1][1], found[-1][2], "page").tolist() == firsts == sorted(firsts)
        assert item_rows(found[-1][1], found[-1][2], "quote").tolist() == rows
    known = PageMap(found)
    for rows in by_page.values():
        assert known.rows_of(rows[0]).tolist() == rows
        assert known.firsts_of(np.array([rows[-1], 10**9])).tolist() == [rows[0]]
        assert known.rows_of(rows[0] + 1).tolist() == []
    everything = np.array([at for rows in by_page.values() for at in rows], dtype=np.int64)
    assert known.firsts_of(everything).tolist() == sorted(rows[0] for rows in by_page.values())
