"""What the whole document tells: layouts, sections, lists, ids."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_elements import SENTENCE, body, image, page, text

from quoteweave.core.records import Layout, Quote
from quoteweave.documents.assembly import MAX_LIST_CHARACTERS, assemble
from quoteweave.documents.layout.page import PageElement


def layout(element: PageElement) -> Layout:
    """Of a element on a page of running text."""
    return assemble([page(0, element, body(300), body(400))]).quotes[0].layout


@pytest.mark.parametrize("size", [8, 12, 24])
def test_a_letter_of_whatever_type_is_text_below_its_title(size: float) -> None:
    lines = text("Your parcel was left with the porter.", 150, size=size, lines=1)
    sentence = text(SENTENCE, 180, size=size, lines=2)
    for below in ([lines], [lines, sentence]):
        quotes = assemble([page(0, text("Delivery", size=1.5 * size), *below)]).quotes
        assert [quote.layout for quote in quotes] == ["title", *("paragraph" for _ in below)]


@pytest.mark.parametrize(
    ("element", "expected"),
    [
        (text("Dredging", size=14), "title"),
        (text("Dredging", bold=True), "title"),
        (text("2.1 Dredging the channel"), "title"),
        (text("DREDGING THE CHANNEL"), "title"),
        (text("Dredging the channel."), "paragraph"),
        (text("> z <- zoo(1:8)", bold=True), "paragraph"),
        (text("$ make test", bold=True), "paragraph"),
        (text("value <- resolve(1)", bold=True), "paragraph"),
        (text("Revenue ($M) > 5", bold=True), "title"),
        (text("json.dumps(obj, indent=None)", bold=True), "title"),
        (text("4.1 The == operator"), "title"),
        (text("Adults aged >=65 years", bold=True), "title"),
        (text("Storage at <-20 °C", bold=True), "title"),
        (text("> 65 years", bold=True), "title"),
        (text("% of revenue by region", bold=True), "title"),
        (text("> z <- zoo(1:8)", size=20), "title"),
        (text("14.2", size=30), "paragraph"),
        (text(SENTENCE, bold=True, lines=2), "paragraph"),
        (text("Figure 3: The quay"), "caption"),
        (text("TABLE IV. Tonnes by month", bold=True), "caption"),
        (text("Fig. 2a. The mole"), "caption"),
        (text("Figures 3 and 4 show the quay"), "paragraph"),
        (text("Abb. 3: Der Kai"), "caption"),
        (text("Abbildung 3 zeigt den Kai"), "paragraph"),
        (text("Tableau II – Tonnes par mois"), "caption"),
        (text("表2：各月吨数"), "caption"),
        (text("• the ferry leaves"), "list"),
        (text("(b) the ferry leaves"), "list"),
        (text("1. Dredging", bold=True), "title"),
        (text("E = mc² + p / 2"), "equation"),
        (text("the sum a = b + c is given for each month of the year"), "paragraph"),
        (body(), "paragraph"),
        (image("chart", (50, 100, 250, 200)), "chart"),
        (image("page", (0, 0, 600, 800)), "page"),
    ],
    ids=lambda value: value.text[:24] if isinstance(value, PageElement) else value,
)
def test_elements_are_called_what_they_are(element: PageElement, expected: Layout) -> None:
    assert layout(element) == expected


def test_titles_are_told_from_the_text_size_of_their_page() -> None:
    """A slide's text is larger than a report's; only what is larger than that is a title."""
    big = text(SENTENCE * 3, 300, size=20, lines=5)
    document = assemble([page(0, text("Dredging", size=14), body(300)), page(1, text("more of it", size=20), big)])
    assert [quote.layout for quote in document.quotes] == ["title", "paragraph", "paragraph", "paragraph"]


STEP = "2 Touch the picture that you want to keep, and hold it until it moves."


def layouts(*elements: PageElement) -> list[Layout]:
    return [quote.layout for quote in assemble([page(0, body(600), *elements)]).quotes[1:]]


def test_numbered_steps_are_no_titles() -> None:
    steps = [text("1 Open the gallery", 100), text(STEP, 130, lines=2), text("3 Touch", 160)]
    assert layouts(*steps) == ["paragraph"] * 3
    assert layouts(text("1 Open the gallery, touch", 100), text("and draw a line", 100, x=280)) == ["paragraph"] * 2
    assert layouts(text("1 Open the gallery", 100, bold=True), *steps[1:]) == ["paragraph"] * 3


@pytest.mark.parametrize(
    "elements",
    [
        [text("1 Harbours", 100), text("2 Tides of the sound", 130)],
        [
            text("1 Harbours", 100, bold=True),
            text("2 Tides of the sound, and what they do to it", 130, bold=True, lines=2),
        ],
        [text("1 Harbours", 100), text("Pages", 100, x=280, bold=True)],
        [text("1 Harbours", 100, size=12), text("2 The ferry leaves at noon.", 130), text("3 Tides", 160, size=12)],
    ],
)
def test_numbered_titles_are_no_steps(elements: list[PageElement]) -> None:
    assert layouts(*elements)[0] == "title"


def test_the_end_of_a_sentence_in_large_type_is_no_title() -> None:
    assert layouts(text("and hot water runs out of the spout.", 100, size=14)) == ["paragraph"]
    assert layouts(text("how the harbour grew", 100, size=14)) == ["title"]


def test_every_quote_stands_under_the_title_above_it_also_on_the_next_page() -> None:
    document = assemble(
        [
            page(0, body(50), text("Dredging", size=14), body(200)),
            page(1, body(), text("Ferries", 300, size=14), body(400)),
        ]
    )
    assert [quote.section for quote in document.quotes] == [
        None,
        "Dredging",
        "Dredging",
        "Dredging",
        "Ferries",
        "Ferries",
    ]


def test_what_is_set_on_a_picture_titles_that_picture_alone() -> None:
    title = text("Ferries", 100, size=14)
    picture = image("figure", (40, 280, 300, 420))
    on_it, below = text("Quays of the north", 300, size=14), body(340)
    document = assemble([page(0, body(40), title, picture, on_it, below, body(500)), page(1, body())])
    assert [quote.layout for quote in document.quotes[3:4]] == ["title"]
    assert [quote.section for quote in document.quotes] == [
        *(None, "Ferries", "Ferries", "Quays of the north", "Quays of the north", "Ferries", "Ferries")
    ]


def test_a_whole_page_stands_under_the_title_that_it_begins_with() -> None:
    scan = image("page", (0, 0, 600, 800))
    first = page(0, text("Dredging", 50, size=14), body(100), text("Ferries", 300, size=14), body(400), scan)
    second = page(1, body(), text("Cranes", 300, size=14), body(400), scan)
    document = assemble([first, second, page(2, scan)])
    assert [quote.section for quote in document.quotes if quote.layout == "page"] == ["Dredging", "Ferries", "Cranes"]


def test_quotes_carry_what_their_pieces_know() -> None:
    chart = image("chart", (50.123, 100, 250, 200), "May 1,204")
    document = assemble([page(0, text("Figure 1: Tonnes", 205), chart, body(300), label="iv")], ["one warning"])
    assert document.quotes[1] == Quote(
        id="0:1",
        document="",
        page=0,
        page_label="iv",
        bbox=(50.12, 100, 250, 200),
        kind="image",
        layout="chart",
        caption="Figure 1: Tonnes",
        text="May 1,204",
        image="ab/ab.png",
    )
    assert (document.pages[0].label, document.pages[0].text_source) == ("iv", "text_layer")
    assert document.warnings == ("one warning",)


def test_items_that_follow_each_other_become_one_list() -> None:
    items = [text("• the ferry leaves", 100), text("• the crane stays", 113), text("• the mole ends", 126)]
    first, second, _ = assemble([page(0, *items, text("• far below", 200), body(300))]).quotes
    assert first.text == "• the ferry leaves\n• the crane stays\n• the mole ends"
    assert first.bbox == (50, 100, 250, 138)
    assert second.text == "• far below"


def test_a_long_list_is_several_quotes() -> None:
    items = [text(f"• item {i} " + "word " * 40, 100 + 12 * i) for i in range(20)]
    quotes = assemble([page(0, *items)]).quotes
    assert len(quotes) > 1
    assert all(len(quote.text) <= MAX_LIST_CHARACTERS + 1 for quote in quotes)
    assert "\n".join(quote.text for quote in quotes) == "\n".join(item.text for item in items)


def test_lists_in_two_columns_stay_apart() -> None:
    items = [text("• the ferry leaves", 100), text("• the crane stays", 113, x=320)]
    assert len(assemble([page(0, *items)]).quotes) == 2


def test_a_document_without_pages_or_pieces_is_empty() -> None:
    assert assemble([]).quotes == ()
    assert len(assemble([page(0)]).pages) == 1


elements = st.one_of(
    st.builds(
        text,
        st.sampled_from(["Dredging", "• an item", "Figure 1: The quay", "7", SENTENCE * 2, "a = b"]),
        st.floats(0, 790),
        size=st.sampled_from([8.0, 10.0, 16.0]),
        bold=st.booleans(),
        lines=st.integers(1, 6),
    ),
    st.builds(image, st.sampled_from(["figure", "chart", "table", "page"]), st.just((50.0, 300.0, 250.0, 400.0))),
)


@given(st.lists(st.lists(elements, max_size=12), max_size=6))
def test_ids_are_unique_pages_complete_and_no_words_lost(made: list[list[PageElement]]) -> None:
    document = assemble([page(i, *found) for i, found in enumerate(made)])
    ids = [quote.id for quote in document.quotes]
    assert len(set(ids)) == len(ids)
    assert [each.number for each in document.pages] == list(range(len(made)))
    words = [word for found in made for element in found for word in element.text.split()]
    assert [word for quote in document.quotes for word in quote.text.split()] == words
    assert all(quote.id.startswith(f"{quote.page}:") for quote in document.quotes)


def test_a_word_that_is_parted_by_a_page_is_whole_where_it_begins() -> None:
    first = text("The cranes were moved to the north-", 700, lines=2)
    second = text("ern quay in spring. All went well.", 60, lines=2)
    quotes = assemble([page(0, body(100), first), page(1, second, body(300))]).quotes
    assert [quote.text for quote in quotes[1:3]] == [
        "The cranes were moved to the northern",
        "quay in spring. All went well.",
    ]


@pytest.mark.parametrize(
    ("elsewhere", "whole"),
    [
        ("An Object-oriented program; object-oriented too.", "object-oriented"),
        ("It is object-oriented, once.", "objectoriented"),
        ("It is object-oriented, object-oriented, or objectoriented.", "objectoriented"),
    ],
)
def test_a_compound_broken_at_its_hyphen_keeps_it_if_the_document_has_it_so_elsewhere(
    elsewhere: str, whole: str
) -> None:
    # As a block of lines is read: put together, with the parts of the word beside it.
    first = replace(text("This is objectoriented.", 700, lines=2), broken_words=(("object", "oriented"),))
    quotes = assemble([page(0, body(100), first), page(1, text(elsewhere, 60, lines=2), body(300))]).quotes
    assert [quote.text for quote in quotes[1:3]] == [f"This is {whole}.", elsewhere]


def test_compounds_in_items_of_a_list_keep_their_hyphen() -> None:
    items = [text("• objectoriented code", 200), text("• objectoriented tests", 213)]
    broken = [replace(item, broken_words=(("object", "oriented"),)) for item in items]
    elsewhere = text("Object-oriented code is object-oriented.", 400, lines=2)
    (found,) = [quote for quote in assemble([page(0, *broken, elsewhere, body(500))]).quotes if quote.layout == "list"]
    assert found.text == "• object-oriented code\n• object-oriented tests"


def test_a_compound_broken_by_a_page_keeps_its_hyphen_too() -> None:
    first = text("The cranes stand on the north-", 700, lines=2)
    second = text("eastern quay. All went well.", 60, lines=2)
    third = text("The north-eastern quay is new, as north-eastern quays are.", 400, lines=2)
    quotes = assemble([page(0, body(100), first), page(1, second, body(300), third)]).quotes
    assert quotes[1].text == "The cranes stand on the north-eastern"


def test_a_hyphen_before_a_capital_stays() -> None:
    first = text("It was paid by the Anglo-", 700, lines=2)
    quotes = assemble([page(0, body(100), first), page(1, text("Saxon kings of old.", 60, lines=2), body(300))]).quotes
    assert [quote.text for quote in quotes[1:3]] == ["It was paid by the Anglo-", "Saxon kings of old."]
