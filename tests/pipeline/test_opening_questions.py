"""Questions to begin with are answered from where they come from; what is not is not asked for."""

from pathlib import Path

from made_collections import made_quote, make_collection

from quoteweave.core.records import Quote
from quoteweave.pipeline.composition.make_rag import make_rag
from quoteweave.pipeline.opening_questions import opening_questions
from quoteweave.pipeline.settings import AnswerSettings


def questions(tmp_path: Path, documents: dict[str, list[Quote | str]], most: int = 4) -> tuple[str, ...]:
    with make_collection(tmp_path, documents) as collection:
        return opening_questions(collection, make_rag(collection, AnswerSettings()).answer, most)


def test_definitions_tables_and_headings_are_asked_about(tmp_path: Path) -> None:
    documents: dict[str, list[Quote | str]] = {
        "port": [
            made_quote("The Harbour Board is a public body with seven members."),
            made_quote("There is a crane on the quay."),
            made_quote("Dredging is a service of the Board. The dredging takes a week."),
            made_quote("PortCall is a program of the Board; start portcall, and PortCall lists all ships."),
            made_quote("Cargo | 2021 | 2022\nGrain | 486 | 512", layout="table"),
            made_quote("3 Cargo", layout="title"),
        ],
        "guide": [
            made_quote("2.1 How to load a bicycle", layout="title"),
            made_quote("Tie the green tag to the handlebar, then load the bicycle yourself."),
        ],
    }
    found = questions(tmp_path, documents, most=5)
    named = {"What is the Harbour Board?", "What is dredging?", "What is PortCall?"}
    assert {"What is the figure for “Grain” in 2022?", *named} <= set(found)
    assert not [question for question in found if "crane" in question or "Cargo" in question]


def test_a_table_of_one_figure_a_row_is_asked_about_unless_the_row_is_a_name(tmp_path: Path) -> None:
    pump = made_quote("Property | Value\nRated power | 320 W\nWeight | 12.4 kg", layout="table")
    crew = made_quote("Country | Ships\nNew Zealand | 12\nChile | 31", layout="table")
    assert questions(tmp_path, {"pump": [pump], "crew": [crew]}) == ("What is the rated power?",)


def test_no_more_are_made_than_asked_for_and_none_of_what_has_none(tmp_path: Path) -> None:
    texts: list[Quote | str] = [f"The {name} Board is a public body with {n} members." for n, name in enumerate("ABC")]
    assert len(questions(tmp_path / "many", {"port": texts}, most=2)) == 2
    assert questions(tmp_path / "none", {"port": ["grain and timber", "Welcome"]}) == ()


def test_documents_that_suggest_nothing_leave_their_place_to_others(tmp_path: Path) -> None:
    documents: dict[str, list[Quote | str]] = {f"{n:02}": [f"Short note {n}."] for n in range(10)}
    assert questions(tmp_path, {**documents, "port": ["The Harbour Board is a public body."]}) != ()


def test_what_is_answered_from_elsewhere_is_left_out(tmp_path: Path) -> None:
    with make_collection(tmp_path, {"port": ["The Harbour Board is a public body."], "other": ["Ships sail."]}) as made:
        rag = make_rag(made, AnswerSettings())
        assert opening_questions(made, rag.answer, 4) == ("What is the Harbour Board?",)
        elsewhere = rag.answer("What is the Harbour Board?").model_copy(update={"citations": ()})
        assert opening_questions(made, lambda _: elsewhere, 4) == ()
