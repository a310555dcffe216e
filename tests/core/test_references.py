import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.core.references import labels_in, pages_in


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("What does Figure 3 show?", ["figure 3"]),
        ("Fig. 3: Sales", ["figure 3"]),
        ("fig.3", ["figure 3"]),
        ("FIGS. 3a", ["figure 3"]),
        ("Figure\u00a012.1.", ["figure 12.1"]),
        ("Table II", ["table 2"]),
        ("table xiv", ["table 14"]),
        ("Chart 4, then Graph 4", ["figure 4"]),
        ("Table 4 and Figure 4", ["table 4", "figure 4"]),
        ("Figures 3 and 4; Tables 2, 3 & 5", ["figure 3", "figure 4", "table 2", "table 3", "table 5"]),
        ("Tab. 1", ["table 1"]),
        ("Boxes 2 and 3", ["box 2", "box 3"]),
        ("Table S1, Figure A.2, Figure B-3", ["table s1", "figure a.2", "figure b-3"]),
        ("Exhibit C shows", ["figure c"]),
        ("Algorithm 1", ["algorithm 1"]),
    ],
)
def test_labels(text: str, labels: list[str]) -> None:
    assert labels_in(text) == labels


@pytest.mark.parametrize(
    "text",
    [
        "",
        "figure",
        "the figures of 2019",
        "configure 3",
        "tablet 3",
        "a table a page long",
        "exhibit a strong growth",
        "figure ill drawn",
        "Table IIX",
        "table ı",  # Turkish: `I` without regard to case, and no Roman numeral
        "table İ",
    ],
)
def test_what_is_no_label(text: str) -> None:
    assert labels_in(text) == []


@pytest.mark.parametrize(
    ("numeral", "number"),
    [("I", 1), ("III", 3), ("IV", 4), ("VI", 6), ("IX", 9), ("XIX", 19), ("XL", 40), ("XLIX", 49), ("LXXXVIII", 88)],
)
def test_roman_numerals(numeral: str, number: int) -> None:
    assert labels_in(f"Plate {numeral}") == labels_in(f"Figure {numeral.lower()}") == [f"figure {number}"]


@pytest.mark.parametrize(
    ("text", "pages"),
    [
        ("on page 12", ["12"]),
        ("pages 3-5", ["3", "5"]),
        ("pp. 3–5", ["3", "5"]),
        ("p. 7 and slide 7", ["7"]),
        ("Page number 4", ["4"]),
        ("pages 3 and 9", ["3", "9"]),
        ("page twelve", []),
        ("12 pages", []),
        ("homepage 3", []),
    ],
)
def test_pages(text: str, pages: list[str]) -> None:
    assert pages_in(text) == pages


pieces = st.sampled_from(
    ["Figure", "table", "Fig.", "pp.", "page", " ", "3", ".", "-", "and", ",", "I", "x", "İ", "ı", "٣"]
)


@given(st.text() | st.lists(pieces, max_size=12).map("".join))
def test_any_text_can_be_read(text: str) -> None:
    for label in labels_in(text):
        kind, _, name = label.partition(" ")
        assert kind in {"figure", "table", "box", "algorithm"}
        assert name
    assert all(number.isdecimal() for number in pages_in(text))
