"""Sentences are cut where a reader would cut them, and nothing is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.generation.sentences import split_sentences


def cut(text: str) -> list[str]:
    return [sentence.text for sentence in split_sentences(text)]


@pytest.mark.parametrize(
    "sentences",
    [
        ["The port grew.", "Grain fell!", "Did timber?", "It did…", "So it goes."],
        ["Fares rose by 2.5 per cent to EUR 3.42.", "Costs did not."],
        ["As Fig. 3 and Eq. 2 show, cf. Tab. 1, it holds.", "See p. 4."],
        ["Boats, e.g. ferries, i.e. ships, call at 5 p.m. on Sundays.", "They wait."],
        ["Tveit et al. (2019) disagree.", "So do Olavsen et al.", "The rest agree."],
        ["It left the U.S. Navy in 1998.", "It came to the U.S.", "The crew stayed."],
        ["It ran from Oct. 21-Nov. 15 in 2015.", "Then it ended."],
        ["J. K. Rowan and Mr. Smith of Rowan Inc. signed.", "Dr. Holm did not."],
        ['He said: "Stop."', "(She did.)", "Then they left."],
        ["The west was dry.¹", "Rain fell in 1835.²³", "It did not last."],
        ["The index fell [12].", "[13] disagrees."],
        ["So it was held.FN⁶", "The Code has it in § 5 m².", "It says so."],
        ["It closes at 4 p.m.", "Bob said so.", "It opens at 9 a.m. Monday, or 5 p.m. EST or on 3 May."],
        ["See v1.", "v2 is new.", "It has approx. k2 parts."],
        ["Call read_all.", "read_all returns rows, cf. read_one.", "mRNA is short.", "useState is not, e.g. here."],
        ["Is it? yes! it is.", "Good."],
        ["In 2019.", "In 2020."],
        ["The rod met wood at station D.", "Appendix B. Tides of Holm and vitamin C.", "Figure A. Ships, by J. Smith."],
        ["1.2 Section C. Payment of dues.", "In 1.2 we say so."],
        ["Peat was at 9 C.", "Six stations stood 20 m apart.", "The air had 12 C.", "Snow fell."],
    ],
)
def test_english(sentences: list[str]) -> None:
    assert cut(" ".join(sentences)) == sentences


@pytest.mark.parametrize(
    "sentence",
    [
        "In 1907 J. Smith founded the harbour.",
        "On 5 May 1907 H. G. Wells visited.",
        "After 1990 U. S. Steel grew.",
        "Im Jahr 1907 J. Müller kam.",
        "The harbour was deepened in 1907 C. Smith says.",
        "On May 12 C. Smith visited.",
        "In 12 C. Smith saw none.",
        "The crew read on page 12 C. Holm's words.",
        "Of the papers from 12 K. Holm wrote two.",
        "The crew had 12 C. S. Lewis novels.",
    ],
)
def test_an_initial_after_a_number_is_no_unit(sentence: str) -> None:
    assert cut(sentence) == [sentence]


@pytest.mark.parametrize("measured", ["They stood 1500 m.", "It weighs 3 g.", "It lasts 2 h.", "It was at −9 C."])
def test_a_unit_of_one_letter_after_a_number_ends_a_sentence(measured: str) -> None:
    assert cut(f"{measured} Snow fell.") == [measured, "Snow fell."]


def test_german() -> None:
    sentences = ["Am 17. Februar kostete es 5,2 Mio. Euro.", "Es waren 12.", "Davon sank bzw. Stieg eines."]
    assert cut(" ".join(sentences)) == sentences


@pytest.mark.parametrize("quoted", ["„Es regnete.“", "»Es regnete!«", "„Es regnete‚ immer.‘“", "Nur ›ein Wort.‹"])
def test_a_german_quotation_ends_its_sentence(quoted: str) -> None:
    assert cut(f"{quoted} Dann nicht.") == [quoted, "Dann nicht."]
    assert cut(f"Es hieß {quoted} “Then it rained.” „Gut.“") == [
        f"Es hieß {quoted}",
        "“Then it rained.”",
        "„Gut.“",
    ]


def test_line_breaks_are_spaces_unless_a_line_is_empty_or_opens_an_item() -> None:
    text = "Take off bags\nand pumps\n1. Buy the ticket. Tie it.\n2. Wait\n• one\n- two\n(a) three\n\nThe end"
    assert cut(text) == [
        "Take off bags\nand pumps",
        "1. Buy the ticket.",
        "Tie it.",
        "2. Wait",
        "• one",
        "- two",
        "(a) three",
        "The end",
    ]


def test_lines_that_each_say_one_thing_are_sentences() -> None:
    lines = [
        "Serves: 10",
        "Oven: 170 C, or 150 C\nwith a fan",
        "Best eaten by: Sunday",
        "225 g butter, soft",
        "4 eggs\na pinch of salt",
    ]
    assert cut("\n".join(lines)) == lines
    assert cut("Solicitors of the port: Holm & Rowe, ref. 5\nThe town has none.") == [
        "Solicitors of the port: Holm & Rowe, ref. 5",
        "The town has none.",
    ]


@pytest.mark.parametrize(
    "wrapped",
    [
        "They met the mayor of\nBergen: he was in a hurry",
        "Note: it was read by the mayor of\nBergen and by nobody else",
        "In all the port has\n14 piers and\n3 cranes",
        "The fees that the harbour office has had since the year of the storm rose from\n20 per cent to\n30",
        "Oven: 170 C, or 150 C\nwith a fan",
    ],
)
def test_other_line_breaks_are_spaces(wrapped: str) -> None:
    assert cut(wrapped) == [wrapped]


def test_a_bullet_may_be_a_glyph_of_a_symbol_font_or_an_arrow() -> None:
    assert cut("Beware:\n\x99 Open it\n\uf0a8 Close it\n> Never wash it") == [
        "Beware:",
        "\x99 Open it",
        "\uf0a8 Close it",
        "> Never wash it",
    ]
    assert cut("Settings\n> print it\n> x <- 5") == ["Settings\n> print it\n> x <- 5"]


def test_scripts_that_need_no_space() -> None:
    assert cut("東京は首都です。人口は多い！「本当？」はい。") == [
        "東京は首都です。",
        "人口は多い！",
        "「本当？」",
        "はい。",
    ]
    assert cut("यह एक है। वह दो है।") == ["यह एक है।", "वह दो है।"]


def test_nothing_of_nothing() -> None:
    assert cut("") == cut(" \n\t ") == []


def test_a_small_letter_goes_on() -> None:
    assert cut("It ran (see no. 5) at p.m. and so on. then it fell.") == [
        "It ran (see no. 5) at p.m. and so on. then it fell."
    ]


def test_long_text_without_an_end_takes_time_in_proportion() -> None:
    assert len(cut("a. " * 100_000)) == 1
    assert len(cut("\n" * 100_000 + " " * 100_000 + "x" * 100_000)) == 1


@given(st.text(st.one_of(st.sampled_from(" \n.!?。)1aA•-([\"'"), st.characters())))
def test_places_are_exact_ordered_and_cover_all_but_white_space(text: str) -> None:
    position = 0
    for sentence in split_sentences(text):
        assert sentence.text == text[sentence.start : sentence.end] == sentence.text.strip() != ""
        assert text[position : sentence.start].strip() == ""
        position = sentence.end
    assert text[position:].strip() == ""


def test_dashes_of_prose_are_no_list_of_terms() -> None:
    prose = "We went there - it was\ncold - and the ferry\nleft late."
    assert [sentence.text for sentence in split_sentences(prose)] == [prose]
    terms = ["PORT_HOME - folder of the data", "PORT_LOG - file of the log", "PORT_KEY - key of the owner"]
    assert [sentence.text for sentence in split_sentences("\n".join(terms))] == terms
