"""Definitions of acronyms, worked out by hand after Schwartz and Hearst (2003)."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.collection.segments.acronyms import LIST_MARK, LISTED, definitions_in, definitions_in_table


@pytest.mark.parametrize(
    ("text", "short", "long"),
    [
        ("We use retrieval-augmented generation (RAG) here.", "RAG", "retrieval-augmented generation"),
        ("We use RAG (retrieval-augmented generation) here.", "RAG", "retrieval-augmented generation"),
        ("RAG (short for retrieval-augmented generation)", "RAG", "retrieval-augmented generation"),
        ("the heat shock transcription factor (HSF) binds", "HSF", "heat shock transcription factor"),
        ("the Gcn5-related N-acetyltransferase (GNAT) family", "GNAT", "Gcn5-related N-acetyltransferase"),
        ("an intermediate-conductance channel (ICC)", "ICC", "intermediate-conductance channel"),
        ("large language models (LLMs) and more", "LLMs", "large language models"),
        ("Abstract—Large language models (LLMs) write", "LLMs", "Large language models"),
        ("the World Health Organization (WHO, Geneva)", "WHO", "World Health Organization"),
        ("the World Health Organization (WHO; see page 3)", "WHO", "World Health Organization"),
        ("WHO (World Health Organization; see page 3)", "WHO", "World Health Organization"),
        ("IBM (International Business Machines)", "IBM", "International Business Machines"),
        ("so-called “NLP” (natural language processing)", "NLP", "natural language processing"),
        ("carbon dioxide equivalents (CO 2e) and 2 e", "CO 2e", ""),
        ("interleukin 2 (IL-2)", "IL-2", "interleukin 2"),
        ("third-generation (3G)", "3G", ""),
        ("3rd Generation (3G) networks", "3G", "3rd Generation"),
        ("the Größter Anzunehmender Unfall (GAU)", "GAU", "Größter Anzunehmender Unfall"),
        ("Организация Объединённых Наций (ООН)", "ООН", "Организация Объединённых Наций"),
        ("retrieval-augmented\ngeneration (RAG)", "RAG", "retrieval-augmented generation"),
        ("Rags are old. Augmented generation (RAG)", "RAG", ""),
        ("Ships | retrieval | Augmented generation (RAG)", "RAG", ""),
        ("an octopus (see Figure 2)", "", ""),
        ("octopuses (eight arms)", "", ""),
        ("retrieval and generation (rag)", "", ""),
        ("in the year 2019 (a year later) 12 (3)", "", ""),
        ("RAG (RAG)", "", ""),
        ("the RAG group (RAG)", "", ""),
        ("a b c d e f (AF) and so on", "", ""),  # six words for two letters
        ("a bbbb c d ff (AF) and so on", "", ""),
        ("an average of flights (AF)", "AF", "average of flights"),
        ("Alpha Beta Gamma Delta Epsilon (ABGDEpsilon)", "", ""),  # eleven characters
        ("one (O) two", "", ""),
        ("alpha beta gamma (A B G)", "", ""),
        ("the (-RAG)", "", ""),
        ("() (((", "", ""),
    ],
)
def test_worked_examples(text: str, short: str, long: str) -> None:
    assert definitions_in(text) == ([(short, long)] if long else [])


@pytest.mark.parametrize(
    ("text", "short", "long"),
    [
        ("LOS: length of stay.", "LOS", "length of stay"),
        ("It is long. LOS: length of stay", "LOS", "length of stay"),
        ("• OPD – outpatient department", "OPD", "outpatient department"),
        ("BMI = body mass index (kg/m2)", "BMI", "body mass index"),
        ("DNA - deoxyribonucleic acid; found in cells", "DNA", "deoxyribonucleic acid"),
        ("Terms\nED\t—\temergency department\n", "ED", "emergency department"),
        ("ED\n=\u00a0emergency department", "ED", "emergency department"),
        ("The LOS: length of stay", "", ""),
        ("NOTE: never open the lid.", "", ""),  # "lid" begins with none of its letters
        ("Los: length of stay", "", ""),
        ("LOS: length of stay in days", "", ""),
        ("LOS: stay", "", ""),
    ],
)
def test_lists_of_abbreviations(text: str, short: str, long: str) -> None:
    assert definitions_in(text) == ([(short, long)] if long else [])


@given(st.text(st.sampled_from("LOSLOSlos:=–—-. \t\n\u00a0(")))
def test_what_is_not_searched_for_lists_has_none(text: str) -> None:
    assert LIST_MARK.search(text) or not LISTED.search(text)


def test_tables_of_abbreviations() -> None:
    table = (
        "Abbreviation | Meaning\nED | emergency department\nlength of stay | LOS | 3\nMRI | magnetic coils\n|\nno cells"
    )
    assert definitions_in_table(table) == [("ED", "emergency department"), ("LOS", "length of stay")]


def test_each_definition_comes_in_the_order_of_the_text() -> None:
    text = "Optical character recognition (OCR) and TOC (table of contents); Optical character recognition (OCR)."
    ocr = ("OCR", "Optical character recognition")
    assert definitions_in(text) == [ocr, ("TOC", "table of contents"), ocr]


def test_words_within_parentheses_are_a_long_form_where_they_are_no_short_one() -> None:
    assert definitions_in("BB (Big Blue) sells") == [("BB", "Big Blue")]


def test_a_definition_behind_another_is_not_joined_with_it() -> None:
    assert definitions_in("visual (VQ) question answering (VQA)") == []


@given(st.text(st.sampled_from("RAGrag 2-.()|\n;İßǅ") | st.characters()))
def test_any_text_is_read(text: str) -> None:
    for short, long in definitions_in(text):
        assert 2 <= len(short) <= 10
        assert short[0].isalnum()
        assert len(long.split()) <= min(len(short) + 5, 2 * len(short))


@pytest.mark.parametrize(
    "unit", ["(", ")", "()", "(A", "A(AB)", "(AB)", "a (A1) ", "a" * 400 + " (AB)", " ", "\n", ". ", "A (a", "[;. (X1)"]
)
def test_long_texts_take_time_in_proportion(unit: str) -> None:
    began = time.process_time()
    definitions_in(unit * (200_000 // len(unit)))
    assert time.process_time() - began < 1.2
