"""Tables that have a row of one name: which one is meant, and what is shown where that is not sure."""

import asyncio
from typing import Any

import pytest
from cells_said import cells_in_words
from harbour_quotes import context, image, quote

from quoteweave.core.answers import Answer
from quoteweave.core.records import Query, Quote
from quoteweave.generation.extractive.generator import TABLES_DIFFER, ExtractiveGenerator

BALANCE = "- | May 31, 2022 | May 31, 2021\nCash | 936 | 874\nPrepaid dues | 1,103 | 1,116\nTotal | 4,560 | 4,320"
TAXES = "- | May 31, 2022 | May 31, 2021\nPrepaid dues | 76 | 67\nOther | 45 | 43"
FLOWS = "- | Year Ended May 31, 2022 | Year Ended May 31, 2021\nNet result | 30 | 20\nPrepaid dues | (13) | 60"
PREPAID = "What were prepaid dues on May 31, 2022?"


def table(caption: str | None, rows: str, page: int, **fields: Any) -> Quote:
    return image(caption, rows, layout="table", page=page, **fields)


def ask(question: str, *tables: Quote, texts: tuple[Quote, ...] = ()) -> Answer:
    return asyncio.run(ExtractiveGenerator().answer(Query(text=question), context(texts, tables)))


def test_where_values_differ_both_tables_are_shown_and_neither_is_the_answer() -> None:
    answer = ask(PREPAID, table("Taxes", TAXES, 60), table("Balance", BALANCE, 38))
    assert answer.status == "located"
    assert {citation.page for citation in answer.citations} == {38, 60}
    assert answer.warnings == (TABLES_DIFFER,)
    assert "1,103" in answer.text
    assert "76" in answer.text


def test_both_are_shown_where_they_stand_on_one_page() -> None:
    answer = ask(PREPAID, table("Taxes", TAXES, 38), table("Balance", BALANCE, 38))
    assert answer.status == "located"
    assert {citation.number for citation in answer.citations} == {1, 2}


def test_a_table_of_which_but_the_words_of_the_date_are_missing_may_be_meant_too() -> None:
    in_years = TAXES.replace("May 31, ", "")
    assert ask(PREPAID, table("Taxes", in_years, 60), table("Balance", BALANCE, 38)).status == "located"


def test_of_tables_that_differ_the_one_is_taken_whose_title_has_more_of_the_question() -> None:
    tables = [table("Balance", BALANCE, 38), table("Taxes of the harbour", TAXES, 60)]
    answer = ask("What were prepaid dues in the taxes on May 31, 2022?", *tables)
    assert answer.status == "answered"
    assert "Prepaid dues (May 31, 2022: 76)" in answer.text
    assert "1,103" not in answer.text


def test_of_tables_that_differ_the_one_is_taken_that_has_the_name_of_the_row_as_title() -> None:
    tables = [table("Prepaid dues", BALANCE, 38), table("Taxes", TAXES, 60)]
    assert "1,103" in ask(PREPAID, *tables).text.partition("This is from")[0]


def test_what_is_asked_for_a_day_is_not_what_changed_in_the_year_that_ended_then() -> None:
    tables = [table("Flows", FLOWS, 40), table("Balance", BALANCE, 38)]
    answer = ask(PREPAID, *tables)
    assert answer.status == "answered"
    assert "Prepaid dues (May 31, 2022: 1,103)" in answer.text
    assert ask(PREPAID.replace("on May 31,", "in"), *tables).status == "located"


@pytest.mark.parametrize(("cell", "status"), [("1.1", "located"), ("1,102.6", "answered"), ("1,102,734", "answered")])
def test_a_rounded_number_or_one_in_thousands_is_the_same(cell: str, status: str) -> None:
    other = BALANCE.replace("1,103", cell).replace("Cash", "Gold")
    assert ask(PREPAID, table("Balance", BALANCE, 38), table("Balance", other, 39)).status == status


def test_a_row_of_which_one_table_has_two_is_not_taken_from_another() -> None:
    twice = f"{BALANCE}\nPrepaid dues | 51 | 17"
    answer = ask(PREPAID, table("Balance", twice, 38), table("Taxes", TAXES, 60))
    assert answer.status == "located"
    assert answer.citations[0].page in (38, 60)


def test_a_sentence_that_says_itself_what_it_is_of_still_answers() -> None:
    said = quote("Prepaid dues were 1.1 million on May 31, 2022, and fell.", page=30)
    beside = quote("On May 31, 2022, it was 45 for lorries.", page=31, section="Prepaid dues")
    tables = [table("Taxes", TAXES, 60), table("Balance", BALANCE, 38)]
    assert ask(PREPAID, *tables, texts=(said,)).status == "answered"
    assert ask(PREPAID, *tables, texts=(beside,)).status == "located"


def test_a_table_headed_by_another_year_is_not_of_the_year_in_the_name_of_the_report() -> None:
    parts = "- | Northern Port | Southern Port | Total\nNet result | 12 | 8 | 20"
    tables = [table("2020", parts, 63, document="report_2021.pdf")]
    assert ask("What was the net result of the southern port in 2021?", *tables).status == "located"
    assert "Southern Port: 8" in ask("What was the net result of the southern port in 2020?", *tables).text


def test_a_word_that_names_the_row_names_no_column() -> None:
    parts = "- | Port Operations | Rail Operations | All Other Operations | Total\nOperating result | 12 | 8 | 1 | 21"
    weights = dict.fromkeys(["oper", "result", "rail"], 1 / 3)
    assert cells_in_words(parts, ["oper", "result"], weights) == "Operating result (Total: 21)"
    assert cells_in_words(parts, ["oper", "result", "rail"], weights) == "Operating result (Rail Operations: 8)"


def test_the_mark_of_a_note_is_no_part_of_the_name_of_a_row() -> None:
    noted = "- | 2021 | 2020\nRepair costs (4) | 254 | 147\nTier 2 (2) | 5 | 6"
    assert cells_in_words(noted, ["repair", "cost", "2021"], {"repair": 1.0}) == "Repair costs (4) (2021: 254)"
    assert cells_in_words(noted, ["tier", "2021"], {"tier": 1.0}) == ""


def test_what_a_row_of_numbers_has_is_said_by_no_sentence_without_a_number() -> None:
    rows = "- | 2021 | 2020\nSG&A | 254 | 147\nOther | 54 | 47"
    rising = quote("The SG&A of the north segment was much less in 2021, because of the storm.", page=7)
    question = "What was the SG&A of the north segment in 2021?"
    assert ask(question, table("Costs", rows, 8), texts=(rising,)).status == "located"
    assert ask(question, table("Costs", rows.replace("SG&A", "Mole"), 8), texts=(rising,)).status == "answered"


def test_a_day_that_the_table_writes_in_numbers_is_found_by_the_name_of_the_month() -> None:
    dated = BALANCE.replace("May 31, 2022", "31.3.2022").replace("May 31, 2021", "31.3.2021")
    answer = ask("What was the cash on 31 March 2021?", table("Balance of cash", dated, 38))
    assert answer.status == "answered"
    assert "Cash (31.3.2021: 874)" in answer.text


def test_the_parts_of_what_is_asked_for_in_another_table_are_shown_beside_a_row_of_that_name() -> None:
    parts = BALANCE.replace("Prepaid dues", "Current portion of prepaid dues").replace(
        "Total |", "Long-term prepaid dues |"
    )
    answer = ask(PREPAID, table("Taxes", TAXES, 60), table("Balance", parts, 38))
    assert answer.status == "located"
    assert {citation.page for citation in answer.citations} == {38, 60}
    whole = f"{parts}\nPrepaid dues | 76 | 67"
    assert ask(PREPAID, table("Taxes", TAXES, 60), table("Balance", whole, 38)).status == "answered"


def test_several_numbers_without_names_do_not_say_which_one_answers() -> None:
    named = "- | Land | Buildings | Total\nSkarn | 89 | 16 | 105\nTolland | 45 | 10 | 55"
    question = "How many stores are in Skarn?"
    assert "Skarn (Total: 105)" in ask(question, table("Stores", named, 4)).text
    nameless = named.partition("\n")[2]
    assert ask(question, table("Stores", nameless, 4)).status == "located"


def test_a_value_is_no_sentence_without_a_number() -> None:
    said = quote("Our plan assets consist of harbour bonds and loans.", section="Fair value of plan assets in 2015")
    assert ask("What was the fair value of harbour bonds in 2015?", texts=(said,)).status == "located"


def test_what_is_headed_by_the_name_of_a_part_is_not_of_the_whole() -> None:
    whole, part = BALANCE, TAXES.replace("Other", "Gold")
    part_first = [table("Northern Segment", part, 30), table("Results of operations", whole, 31)]
    assert "Prepaid dues (May 31, 2022: 1,103)" in ask(PREPAID, *part_first).text
    assert ask(PREPAID, part_first[0]).status == "located"
    named = ask("What were prepaid dues of the Northern segment on May 31, 2022?", *part_first)
    assert "Prepaid dues (May 31, 2022: 76)" in named.text


def test_a_sentence_below_a_heading_of_its_words_does_not_answer_beside_rows_that_differ() -> None:
    twice = "- | 2022 | 2021\nRepair charges (4) | 147 | 254\nCash | 1 | 2\nRepair charges (4) | 0.2 % | (1.0)%"
    beside = quote("Includes 6 million and 23 million of markdowns in 2022 and 2021.", section="Repair charges")
    answer = ask("What were repair charges in 2021?", table("Measures", twice, 27), texts=(beside,))
    assert answer.status == "located"
    assert answer.warnings == (TABLES_DIFFER,)


@pytest.mark.parametrize(
    ("question", "status"),
    [
        ("What does a double room cost in winter?", "answered"),
        ("What does a double room cost in spring?", "located"),
        ("What does a double room cost at Easter?", "located"),
        ("What does a double room cost?", "answered"),
    ],
)
def test_a_whole_row_answers_only_what_lacks_nothing_of_the_question(question: str, status: str) -> None:
    rates = image(
        "What rooms cost", "Room | Summer | Winter\nDouble room | 48 € | 56 €\nDormitory | 29 € | 34 €", layout="table"
    )
    told = quote("What a room costs depends on the season.")
    known = dict.fromkeys(["doubl", "room", "cost", "winter", "spring", "easter"], 0.7)  # other documents have them
    given = context([told], [rates]).model_copy(update={"rarity": known})
    answer = asyncio.run(ExtractiveGenerator().answer(Query(text=question), given))
    assert answer.status == status


def test_a_cell_that_lost_its_end_in_a_part_of_a_table_is_no_other_value() -> None:
    infused = "Pre-infusion | Coffee is briefly infused in order to"
    texts = (f"Term | Meaning\n{infused}\nrelease more aroma.", f"Term | Meaning\n{infused} release more aroma.")
    tables = [image(None, text, layout="table", document="brewer.pdf") for text in texts]
    answer = ask("What does pre-infusion mean?", *tables)
    assert answer.status == "answered"
    assert answer.text.count("briefly") == answer.text.count("release more aroma") == 1
