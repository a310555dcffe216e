import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.core.boxes import area, intersection
from quoteweave.core.errors import DocumentError
from quoteweave.core.records import Layout, ParsedDocument
from quoteweave.documents.reflow import paginate as flow
from quoteweave.documents.reflow.paginate import FlowBlock, paginate_blocks, shorten

FLOWING: list[Layout] = ["title", "paragraph", "list", "caption", "equation", "table", "figure"]


def blocks() -> st.SearchStrategy[FlowBlock]:
    return st.builds(
        FlowBlock,
        layout=st.sampled_from(FLOWING),
        text=st.text(alphabet="word. 字\n|", max_size=200).map(lambda text: text * 30),
        level=st.integers(1, 6),
        caption=st.none() | st.text(max_size=600),
        size=st.none() | st.tuples(st.integers(1, 9000), st.integers(1, 9000)),
    )


def on_pages(*given_blocks: FlowBlock) -> ParsedDocument:
    return paginate_blocks(given_blocks, name="notes.md")


def test_two_lines_of_text_take_a_band_of_two_lines() -> None:
    parsed = on_pages(FlowBlock(layout="title", text="Tides"), FlowBlock(layout="paragraph", text="a" * 100))
    assert [quote.bbox for quote in parsed.quotes] == [(57, 57, 538, 71), (57, 78, 538, 106)]
    assert [quote.id for quote in parsed.quotes] == ["0:0", "0:1"]
    assert (parsed.pages[0].width, parsed.pages[0].height, parsed.pages[0].text_source) == (595, 842, "file")


def test_a_block_that_does_not_fit_goes_to_the_next_page_whole() -> None:
    parsed = on_pages(*[FlowBlock(layout="paragraph", text="a\n" * 10 + "a")] * 6)
    assert [quote.id for quote in parsed.quotes] == ["0:0", "0:1", "0:2", "0:3", "1:0", "1:1"]
    assert parsed.quotes[4].bbox == (57, 57, 538, 211)
    assert [page.label for page in parsed.pages] == ["1", "2"]
    assert parsed.quotes[4].page_label == "2"


def test_the_section_is_the_nearest_title_above_and_a_titles_own_is_the_higher_one() -> None:
    parsed = on_pages(
        FlowBlock(layout="paragraph", text="before"),
        FlowBlock(layout="title", text="One", level=1),
        FlowBlock(layout="title", text="One A", level=2),
        FlowBlock(layout="paragraph", text="within"),
        FlowBlock(layout="title", text="One B", level=2),
        FlowBlock(layout="title", text="Two", level=1),
        FlowBlock(layout="paragraph", text="last"),
    )
    assert [quote.section for quote in parsed.quotes] == [None, None, "One", "One A", "One", None, "Two"]


def test_long_prose_becomes_quotes_of_at_most_1200_characters_that_end_with_a_sentence() -> None:
    parsed = on_pages(FlowBlock(layout="paragraph", text="This sentence has forty-one characters... " * 100))
    assert len(parsed.quotes) == 4
    assert all(len(quote.text) <= 1200 and quote.text.endswith("...") for quote in parsed.quotes)


def test_a_long_table_repeats_its_first_row_on_every_part() -> None:
    rows = [f"row {number} | {number}" for number in range(100)]
    parsed = on_pages(FlowBlock(layout="table", text="\n".join(["name | value", *rows]), caption="Table 1"))
    parts = [quote.text.split("\n") for quote in parsed.quotes]
    assert len(parts) == 3
    assert all(part[0] == "name | value" for part in parts)
    assert [row for part in parts for row in part[1:]] == rows
    assert {(quote.kind, quote.layout, quote.caption, quote.image) for quote in parsed.quotes} == {
        ("image", "table", "Table 1", None)
    }


def test_a_picture_keeps_its_shape_and_fits_the_column() -> None:
    parsed = on_pages(FlowBlock(layout="figure", image="ab/ab.png", size=(4000, 1000)))
    assert parsed.quotes[0].bbox == pytest.approx((57, 57, 538, 57 + 481 / 4))


def test_without_blocks_there_is_one_empty_page_and_a_warning() -> None:
    parsed = on_pages()
    assert (len(parsed.pages), parsed.quotes, parsed.warnings) == (1, (), ("There is no text in it.",))


def test_too_many_blocks_are_refused_with_the_files_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flow, "MAX_QUOTES", 3)
    with pytest.raises(DocumentError, match=r"'notes.md' holds more than 3 paragraphs"):
        on_pages(*[FlowBlock(layout="paragraph", text="a")] * 4)


def test_shortening_says_that_it_cut() -> None:
    assert shorten("a  b\nc", 5) == "a b c"
    assert shorten("abcdef", 5) == "abcd…"


@given(st.lists(blocks(), max_size=12))
def test_quotes_stand_on_their_page_in_reading_order_without_overlap(given_blocks: list[FlowBlock]) -> None:
    parsed = on_pages(*given_blocks)
    for quote in parsed.quotes:
        page = parsed.pages[quote.page]
        assert 0 <= quote.bbox[0] < quote.bbox[2] <= page.width
        assert 0 <= quote.bbox[1] < quote.bbox[3] <= page.height
    for first, second in itertools.pairwise(parsed.quotes):
        assert (first.page, first.bbox[3]) < (second.page, second.bbox[3])
        assert first.page < second.page or area(intersection(first.bbox, second.bbox)) == 0
    assert len({quote.id for quote in parsed.quotes}) == len(parsed.quotes)


def test_nothing_of_a_long_caption_is_lost() -> None:
    words = [f"word{number}" for number in range(400)]
    for layout in ("table", "figure"):
        block = FlowBlock(layout=layout, text="a | b\n1 | 2", caption=" ".join(words), size=(300, 200))
        parsed = on_pages(block)
        assert parsed.quotes[0].caption is not None
        assert len(parsed.quotes[0].caption) <= 400
        captions = [quote.text for quote in parsed.quotes if quote.layout == "caption"]
        assert " ".join(captions).split() == words


def test_nothing_of_what_a_picture_shows_is_lost() -> None:
    words = [f"word{number}" for number in range(400)]
    parsed = on_pages(FlowBlock(layout="figure", text=" ".join(words), image="ab/cd.png", size=(300, 200)))
    assert " ".join(quote.text for quote in parsed.quotes[1:]).split() == words
