"""Which words of a quote support a claim, and when that is not sure."""

import itertools
import time

import pytest
from harbour_quotes import CALLS, DUES, FERRY, STORM, image, quote
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.core.records import Quote
from quoteweave.generation.highlights import find_highlights
from quoteweave.generation.sentences import text_of

DUES_TABLE = image("Table 1: Harbour dues.", DUES, layout="table")


def said(claim: str, cited: Quote | str) -> list[str]:
    found = quote(cited) if isinstance(cited, str) else cited
    return [text_of(found)[start:end] for start, end in find_highlights(claim, found)]


def test_what_is_repeated_is_the_evidence() -> None:
    claim = "The ferry to the Outer Isles carried 214,000 passengers and 38,500 cars."
    assert said(claim, FERRY) == ["The ferry to the Outer Isles carried 214,000 passengers and 38,500 cars"]


def test_line_breaks_and_case_do_not_part_what_is_repeated() -> None:
    assert said(
        "the mean gross tonnage rose from 4,870 to 5,130", CALLS.replace("tonnage rose", "TONNAGE\n  rose")
    ) == ["The mean gross TONNAGE\n  rose from 4,870 to 5,130"]


def test_what_is_repeated_is_taken_from_the_sentence_that_has_the_claims_amount() -> None:
    text = (
        "Little is known about the error rate on named entities; we read films in Wolof. On the Tatra Bitext the error"
        " rate on named entities fell by 43.2 percent with a lexicon. Of the error rate on named entities no more was"
        " said."
    )
    claim = "Others saw the error rate on named entities go down by about two fifths as words were forced."
    (found,) = find_highlights(claim, quote(text))
    assert text.index("On the Tatra") < found[0] < found[1] < text.index("Of the error")


def test_of_what_is_quoted_only_that() -> None:
    claim = "According to the chair the year was “not easy”, and the port “closed … for three days”."
    assert said(claim, STORM) == ["not easy", "for three days"]


def test_a_claim_in_other_words_is_supported_by_the_sentence_that_holds_its_numbers() -> None:
    assert said("In total 38,500 cars and 214,000 people went by ferry.", FERRY) == [
        "The ferry to the Outer Isles carried 214,000 passengers and 38,500 cars."
    ]


def test_of_a_sentence_only_the_clauses_that_the_claim_needs() -> None:
    text = (
        "The chair, who had been ill, noted that dues rose by 4.2 per cent to 1,422 francs, as planned; fees did not, "
        "and the pilots asked for a second boat."
    )
    assert said("By 4.2 per cent the dues grew, to 1,422 francs.", text) == [
        "noted that dues rose by 4.2 per cent to 1,422 francs"
    ]
    assert said("A second boat was what the pilots wanted.", text) == ["the pilots asked for a second boat."]
    assert said("收入增长了4.2", "冬天很冷，收入增长了4.2，没有船。") == ["收入增长了4.2"]


def test_a_word_that_an_earlier_clause_happens_to_have_does_not_widen_the_clauses() -> None:
    text = (
        "In October the Board signed the agreement with the users of the landing, for twenty years; the Authority "
        "keeps the wall, and the association takes over the ice plant."
    )
    assert said("The association of users takes over the ice plant.", text) == [
        "the association takes over the ice plant."
    ]
    numbered = "In 2021 the port, which is small, has nine pilots and took 40 ships."
    assert said("In 2021 the port took 40 ships.", numbered) == [numbered]


@pytest.mark.parametrize(
    ("claim", "text", "marked"),
    [
        # What is said behind "and" has its subject before it, unless it has one of its own.
        (
            "Each reading is taken to the nearest metre.",
            "The reading was noted with a rod and taken to the nearest metre by two men from the town.",
            "The reading was noted with a rod and taken to the nearest metre",
        ),
        (
            "Of the fence 40 metres fell.",
            "The door of the old boathouse was torn from its hinges by the gale and 40 metres of fence fell.",
            "40 metres of fence fell.",
        ),
        (
            "The tower was built in 1911.",
            "The tower was built between 1907 and 1911 by an engineer from the town, as the plaque says.",
            "The tower was built between 1907 and 1911",
        ),
        # A clause is highlighted for the single word of it that the claim has.
        (
            "The first three seasons are left out of the results.",
            "The first three seasons were cold, so that the results leave them out, as was said above.",
            "The first three seasons were cold, so that the results leave them out",
        ),
    ],
)
def test_whole_phrases_are_marked(claim: str, text: str, marked: str) -> None:
    assert said(claim, text) == [marked]


@pytest.mark.parametrize(
    ("claim", "text", "marked"),
    [
        (
            "Eleven louvres are broken.",
            "Rain enters through eleven broken louvres on the west side.",
            "through eleven broken louvres",
        ),
        # A word that comes again further on does not hold the beginning.
        (
            "The travel desk answers within one day.",
            "Employees who travel for the trust book through the travel desk, which answers within one day.",
            "through the travel desk, which answers within one day.",
        ),
        (
            "For nine days the mains are off.",
            "The chair explained that the mains are off for nine days.",
            "the mains are off for nine days.",
        ),
        # "Went down" and "pressure" are said by the words before, in another way.
        (
            "Pressure went down to 987 millibars.",
            "The barometer fell to 987 millibars.",
            "The barometer fell to 987 millibars.",
        ),
    ],
)
def test_a_beginning_without_words_of_the_claim_is_left_out(claim: str, text: str, marked: str) -> None:
    assert said(claim, text) == [marked]


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        (
            "The harbour had shipped 4,210 tonnes of grain.",
            "The chair denied that the harbour had ever shipped 4,210 tonnes of grain.",
        ),
        (
            "The harbour had shipped 4,210 tonnes of grain.",
            "The chair denied, in her letter, that the harbour had ever shipped 4,210 tonnes of grain.",
        ),
        ("The mains were replaced in 2019.", "It is not true that the mains of the harbour were replaced in 2019."),
        ("The mains were replaced in 2019.", "Nobody showed that the mains, which leaked, were replaced in 2019."),
        ("Der Hafen wurde 1990 ausgebaut.", "Der Leiter bestritt, dass der Hafen 1990 ausgebaut wurde."),
        ("El puerto fue ampliado en 1990.", "El alcalde negó que el puerto fuera ampliado en 1990."),
        ("Le port a été agrandi en 1990.", "Le maire nie que le port a été agrandi en 1990."),
    ],
)
def test_what_is_denied_is_not_marked_without_its_denial(claim: str, text: str) -> None:
    assert [found for found in said(claim, text) if found.split()[:3] != text.split()[:3]] == []
    assert said(claim, text)


def test_a_denial_in_another_clause_leaves_the_clause_to_be_marked() -> None:
    text = "Fees did not rise, but dues rose by 4.2 per cent to 1,422 francs."
    assert said("Dues rose by 4.2 per cent.", text) == ["dues rose by 4.2 per cent"]


def test_two_words_of_the_subject_are_no_evidence() -> None:
    text = "Boats are hired by the half day or the day."
    assert said("Boats can be hired for a week.", text) == []
    assert said("Boats can be hired.", text) == ["Boats are hired"]


def test_what_has_no_end_is_not_narrowed_and_takes_little_time() -> None:
    text = "nine ships, " * 20_000 + "and a harbour of 12 pilots"
    assert said("A harbour has 12 pilots.", text) == [text]


def test_a_long_run_of_spaces_takes_little_time() -> None:
    text = f"A harbour has{' ' * 20_000}12 pilots{' ' * 20_000}, who work at night."
    began = time.process_time()
    assert said("The harbour has 12 pilots, they say.", text)
    assert time.process_time() - began < 5


def test_where_a_text_has_none_of_the_claims_numbers_nothing_is_sure() -> None:
    assert said("Shore power was used by many ships for 40 euros.", "Shore power was used by many ships.") == []


def test_a_table_that_lacks_a_number_of_the_claim_is_no_evidence_by_its_cells() -> None:
    assert said("Grain paid 512 in 2022.", DUES_TABLE) == ["2022", "Grain", "512"]
    assert said("Grain paid 512 in 2022, for 77 ships.", DUES_TABLE) == []


def test_a_run_that_lacks_what_its_sentence_has_gives_way_to_the_sentence() -> None:
    text = "Fog came. On 3 May the pilots of the northern station met the masters for nine hours, in town."
    assert said("On 3 May masters met with the pilots of the northern station.", text) == [
        "On 3 May the pilots of the northern station met the masters"
    ]


def test_a_run_after_which_the_number_differs_is_no_evidence() -> None:
    assert said("The ferry to the Outer Isles carried 250,000 passengers.", FERRY) == []


def test_a_number_in_a_sentence_about_something_else_is_no_evidence() -> None:
    text = "The winter of 2023 was mild. Cargo grew by 9 per cent and calls by 3 per cent."
    assert said("In 2023 cargo rose by 9 per cent and calls by 3.", text) == [
        "Cargo grew by 9 per cent and calls by 3 per cent."
    ]


def test_where_none_of_the_claims_numbers_is_there_it_is_not_sure() -> None:
    assert said("The new ferry of the Outer Isles carried passengers on 88 days.", FERRY) == []


def test_two_sentences_where_one_lacks_a_number() -> None:
    text = "Dues were raised to 48 francs. Nobody minded. Fees were raised to 29 francs."
    assert said("Dues of 48 and fees of 29 francs.", text) == [
        "Dues were raised to 48 francs.",
        "Fees were raised to 29 francs.",
    ]


@pytest.mark.parametrize(
    "claim",
    [
        "Hedgehogs sleep in winter.",
        "The harbour authority of a distant kingdom bought whales, ships and 9 canoes.",
        "",
        "!?",
    ],
)
def test_where_it_is_not_sure_there_are_no_spans(claim: str) -> None:
    assert said(claim, FERRY) == []


def test_cells_of_a_table_with_the_names_of_row_and_column() -> None:
    assert said("Table 1 (Harbour dues) lists Grain (2022: 512).", DUES_TABLE) == ["2022", "Grain", "512"]
    in_millions = DUES_TABLE.model_copy(update={"unit": "in 1,000,000 euros"})
    assert said("Table 1 (in 1,000,000 euros) lists Grain (2022: 512).", in_millions) == ["2022", "Grain", "512"]
    claim = "Dues for grain were 486 in 2021 and 512 in 2022."
    assert said(claim, DUES_TABLE) == ["2021", "2022", "Grain", "486", "512"]
    assert said("Containers paid 1,310.", DUES_TABLE) == ["Container", "1,310"]
    assert said("Containers paid 1,311.", DUES_TABLE) == []


def test_a_number_in_the_name_of_a_row_is_none_of_its_cells() -> None:
    table = image("Table 1: Samples", "Sample | Heat | Yield\nOP-900 | 900 | 67\nOP-1000 | 1000 | 79", layout="table")
    assert said("Table 1 (Samples) lists OP-900 (Yield: 67).", table) == ["Yield", "OP-900", "67"]


def test_numbers_of_the_caption_and_of_what_was_computed_are_in_no_cell() -> None:
    table = image(
        "Table 1: Yards in 2024", "Yard | Staff | Ships\nOslo | 415 | 4\nRana | 612 | 6\nMo | 257 | 1", layout="table"
    )
    assert said("Table 1 (Yards in 2024) lists Mo (Staff: 257).", table) == ["Staff", "Mo", "257"]
    highest = "By Table 1 (Yards in 2024), in Staff, Rana is the highest of 4 rows: 612, before Oslo with 415."
    assert said(highest, table) == ["Staff", "Oslo", "415", "Rana", "612"]
    summed = "By Table 1 (Yards in 2024), in Ships, the sum of Oslo (4), Rana (6) and Mo (1) is 11. Yards in 2024"
    assert said(summed, table) == ["Ships", "Oslo", "4", "Rana", "6", "Mo", "1"]
    assert said("Table 1 (Yards in 2024) lists Mo (Staff: 999).", table) == []


def test_of_names_over_several_columns_those_over_the_cell() -> None:
    rows = "Revenue mix | Sales change\n2023 | 2022 | 2023 | 2022\nNorth | 15 % | 14 % | (5.7)% | 24.1 %"
    table = image("Table 2", rows, layout="table")
    assert said("Table 2 lists North (Revenue mix 2023: 15 %).", table) == ["Revenue mix", "2023", "North", "15 %"]
    assert said("Table 2 lists North (Sales change 2022: 24.1 %).", table) == [
        "Sales change",
        "2022",
        "North",
        "24.1 %",
    ]


def test_of_cells_that_say_the_same_the_one_whose_column_the_claim_names() -> None:
    table = image("Table 2", "Room | Seats | Price a day | Windows\nLoft | 60 | 60 | 60", layout="table")
    assert said("The loft costs 60 francs a day.", table) == ["Price a day", "Loft", "60"]
    assert said("The loft has 60.", table) == ["Loft", "60", "60", "60"]


def test_of_several_rows_each_has_its_own_cells() -> None:
    table = (
        "Sales | 2021 | 2020\nNorth | 16 % | 8 %\nSouth | 22 % | 9 %\nGrowth | |\nNorth | 15 % | 9 %\nSouth | 8 % | 9 %"
    )
    claim = "The table on page 2: “North, 2021: 16 %, 2020: 8 %; South, 2021: 22 %, 2020: 9 %”"
    marked = said(claim, image("Sales.", table, layout="table"))
    assert marked == ["2021", "2020", "North", "16 %", "8 %", "South", "22 %", "9 %"]


def test_semicolons_within_a_row_part_no_rows() -> None:
    table = "Sales | 2021 | 2020\nNorth | 16 % | 8 %\nSouth | 22 % | 9 %"
    claim = "The table on page 2 lists North (2021: 16 %; 2020: 8 %)."
    assert said(claim, image("Sales.", table, layout="table")) == ["2021", "2020", "North", "16 %", "8 %"]


def test_a_heading_row_without_a_name_for_the_rows_stands_over_the_last_cells() -> None:
    """The heading of 2023 was marked with the number of 2024."""
    table = image("Table 1", "2024 | 2023 | Change\nSurplus | 295 | 166 | 77.7%", layout="table")
    assert said("The surplus was 295 in 2024.", table) == ["2024", "Surplus", "295"]
    assert said("The surplus was 295 in 2024, and 166 in 2023.", table) == [
        "2024",
        "2023",
        "Surplus",
        "295",
        "166",
    ]
    assert said("The surplus was 295 in 2023.", table) == ["Surplus", "295"]


def test_all_labels_of_a_chart_are_no_closer_than_the_chart() -> None:
    chart = image("Figure 2: Calls.", "2022 2023\n0 100 200 300\nJanuary March", layout="chart")
    assert said("“2022 2023 0 100 200 300 January March”", chart) == []
    slide = image(
        None, "Opening hours\nThe counter opens at nine in the morning\nGroups ring the bell and wait for the porter"
    )
    assert said("“The counter opens at nine in the morning”", slide) == ["The counter opens at nine in the morning"]


@given(st.text(max_size=80), st.text(max_size=200))
def test_spans_lie_in_the_text_in_order_and_apart(claim: str, text: str) -> None:
    for cited in (quote(text), image(None, text, layout="table"), image(None, text)):
        spans = find_highlights(claim, cited)
        assert all(0 <= start < end <= len(text_of(cited)) for start, end in spans)
        assert all(one[1] <= other[0] for one, other in itertools.pairwise(spans))


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("It is “the end of the long road”.", "At the end of the year it rained."),
        ("a " * 1000, "a b " * 1000),
    ],
)
def test_nothing_is_marked_that_says_something_else(claim: str, text: str) -> None:
    assert said(claim, text) == []


@pytest.mark.parametrize(
    ("claim", "text", "marked"),
    [
        ("בנמל עובדים תשעה נתבים.", "הנמל קטן. בנמל עובדים תשעה נתבים, ומעגן אחד.", "בנמל עובדים תשעה נתבים"),
        (
            "שולמו 1,204 שקלים על תבואה.",
            "העגינה יקרה. על תבואה שולמו 1,204 שקלים. הים רגוע.",
            "על תבואה שולמו 1,204 שקלים.",
        ),
        (
            "يعمل في الميناء تسعة مرشدين",
            "الميناء صغير. يعمل في الميناء تسعة مرشدين كل يوم.",
            "يعمل في الميناء تسعة مرشدين",
        ),
    ],
)
def test_text_from_right_to_left_is_marked_as_any_other(claim: str, text: str, marked: str) -> None:
    assert said(claim, text) == [marked]
