"""An answer's sentences are the same however its text was cut into parts."""

import itertools

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from quoteweave.generation.gate.claims import Claim, ClaimReader, claims_of

PIECES = st.sampled_from(
    [
        "It grew. ",
        "Then",
        " ",
        "\n",
        "\n\n",
        "- ",
        "3. ",
        "fig",
        ".",
        "The",
        "th",
        "He",
        "avy",
        "`",
        "```",
        "“",
        "”",
        "。",
    ]
) | st.sampled_from(["[1]", "[2, 9]", "![s](image1)", "![x", "[3](u)", "!", "…", "U.S.", " (", ")", "1", "12) "])
TEXTS = st.text() | st.lists(PIECES, max_size=30).map("".join)
SIZES = st.lists(st.integers(1, 9), min_size=1, max_size=5)


def read_in_parts(text: str, sizes: list[int]) -> list[Claim]:
    reader, claims, at = ClaimReader(), list[Claim](), 0
    for size in itertools.cycle(sizes):
        if at >= len(text):
            return [*claims, *reader.end()]
        claims += reader.feed(text[at : at + size])
        at += size
    raise AssertionError


@given(TEXTS, SIZES)
@example("See Fig. Heavy rain.", [11])
@example("One. [1]\n\n![s](image1)\nTwo [2].", [1])
@example("It. “the end” Then", [5])
def test_claims_are_the_same_however_the_text_is_cut(text: str, sizes: list[int]) -> None:
    assert read_in_parts(text, sizes) == claims_of(text)


@given(TEXTS)
def test_claims_hold_all_but_white_space_in_order(text: str) -> None:
    claims = claims_of(text)
    assert all(one.end <= other.start for one, other in itertools.pairwise(claims))
    assert "".join(text[claim.start : claim.end] for claim in claims).split() or not text.strip()
    at = 0
    for claim in claims:
        assert text[at : claim.start].strip() == ""
        at = claim.end
    assert text[at:].strip() == ""


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("It grew. [1] Then it fell [2].", ["It grew. [1]", "Then it fell [2]."]),
        ("It grew.\n[1] Then it fell.", ["It grew.", "[1] Then it fell."]),
        ("It grew [1].\n\n![sales](image1)\n\nIt fell.", ["It grew [1].", "![sales](image1)", "It fell."]),
        ("Use `a. B` here [1]. Then", ["Use `a. B` here [1].", "Then"]),
        ("So:\n```\na. B\n\nc. D\n```\nIt is.", ["So:\n```\na. B\n\nc. D\n```\nIt is."]),
    ],
)
def test_where_sentences_end(text: str, sentences: list[str]) -> None:
    assert [text[claim.start : claim.end] for claim in claims_of(text)] == sentences


def test_one_sentence_is_held_back() -> None:
    reader = ClaimReader()
    assert reader.feed("It grew [1]. ") == []
    assert reader.feed("Then") == []
    (claim,) = reader.feed(" it")
    assert (claim.sentence, claim.start, claim.end) == ("It grew.", 0, 12)
    assert [one.sentence for one in reader.end(" fell [2].")] == ["Then it fell."]
