"""What "how far" or "how heavy" measures may be called by its name: a range, or a weight, in units of that kind."""

import asyncio
from pathlib import Path

import pytest
from harbour_quotes import context, image, quote

from quoteweave.collection.collection import Collection
from quoteweave.core.answers import Answer
from quoteweave.core.records import Query
from quoteweave.core.text.units import dimensions_in
from quoteweave.documents.ingest import add
from quoteweave.generation.extractive.generator import ExtractiveGenerator
from quoteweave.pipeline.rag import Rag
from quoteweave.pipeline.search import Search
from quoteweave.retrievers.lexical import LexicalRetriever

FAR = "How far can I ride on one charge?"


def status(question: str, text: str) -> str:
    own = quote(text, document="bike.md", section="City bike")
    return asyncio.run(ExtractiveGenerator().answer(Query(text=question), context([own]))).status


@pytest.mark.parametrize(
    ("question", "text", "answers"),
    [
        (FAR, "Range: 60 km per charge.", True),
        (FAR, "On a single charge, the bike has a range of 60 to 90 kilometres.", True),
        (FAR, "Range of chargers: 60 products, and the charge is 20 euros.", False),
        (FAR, "A charge takes five hours, and the range is great.", False),
        ("How long does the battery last?", "Battery life: 10 hours.", True),
        ("How long does the battery last?", "In a long life, charge the battery once in 6 months.", False),
        ("How heavy is the bike?", "Weight of the bike: 21 kg.", True),
        ("How heavy is the bike?", "Length of the bike: 180 cm.", False),
        ("How fast is the bike?", "The bike carries 2 persons and 18 bags.", False),
        ("How fast is the bike?", "The bike reaches 25 km/h.", True),
        ("How fast does the bike go?", "On a slope the bike has a speed of 25 km an hour.", True),
        ("How large is each bike?", "A bike costs 900 euros to build.", False),
        ("How large is each bike?", "Each bike measures 2 by 1 metres.", True),
        ("How high is the wall of the shed?", "The wall of the shed is 30 cm thick.", False),
        ("How high is the wall of the shed?", "The wall of the shed has a thickness of 30 cm.", False),
        ("What is the height of the wall of the shed?", "The wall of the shed is 30 cm thick.", False),
        ("How high is the wall of the shed?", "The wall of the shed is 30 cm thick and 2 m high.", True),
        ("How tall is the wall of the shed?", "The wall of the shed has a height of 2 m.", True),
        ("How long does the tunnel ride take?", "The tunnel ride takes 9 minutes and is 20 m deep.", True),
        ("Wie tief ist das Becken?", "Das Becken ist 25 Meter lang.", False),
        ("How heavy is it?", "Weight: 21 kg", True),
        ("How long is the warranty?", "Warranty: three years", True),
        ("How old is Agnes Rowe?", "Agnes Rowe has been a potter for twenty years.", False),
        ("How old is Agnes Rowe?", "Agnes Rowe moved to Osk 12 years ago.", False),
        ("How old is Agnes Rowe?", "Agnes Rowe is 46 and has been a potter for 20 years.", True),
        ("How old is Agnes Rowe?", "Agnes Rowe is 46 years old.", True),
        ("How old must a rider be?", "A rider must be 18 or older.", True),
        ("How old must a rider be?", "A rider must have had a licence for 2 years.", False),
        ("How far did the range of the bike fall in May?", "The range of the bike was 60 km in May.", False),
    ],
)
def test_a_quantity_is_told_by_its_name_and_a_number_of_its_units(question: str, text: str, answers: bool) -> None:
    assert (status(question, text) == "answered") == answers


@pytest.mark.parametrize(
    ("question", "text", "found"),
    [
        (FAR, "Range: 60 km per charge.", "60 km"),
        ("How much does it weigh?", "Power: 250 W\n\nWeight: 21 kg", "21 kg"),
        ("How wide is the bike?", "The bike is for roads of up to 12 % grade.\n\nWidth: 62 cm", "62 cm"),
        ("How many bags go on the bike?", "Keep bags dry with a cover.\n\n## Parts\n\n- 2 bags", "2 bags"),
    ],
)
def test_a_small_document_that_names_the_quantity_is_about_the_question(
    tmp_path: Path, question: str, text: str, found: str
) -> None:
    answer = answer_over(tmp_path, question, text)
    assert answer.status != "abstained"
    assert found in answer.text


def answer_over(tmp_path: Path, question: str, text: str) -> Answer:
    path = tmp_path / "bike.md"
    path.write_text(f"# City bike\n\n## Battery\n\n{text}\n\n## Service\n\nThe chain is oiled in May.\n", "utf-8")
    with Collection.create(tmp_path / "made") as made:
        add(made, [path])
        return Rag(Search(LexicalRetriever(made), collection=made), ExtractiveGenerator()).answer(question)


@pytest.mark.parametrize(
    ("question", "section", "text", "answers"),
    [
        ("How much does it weigh?", "Specifications", "Weight: 3 kg", True),
        ("How much does it weigh?", "Charger", "Weight: 3 kg", False),
        ("How much does the charger weigh?", "Charger", "Weight: 3 kg", True),
        ("What does it cost?", "Specifications", "Price: € 890", True),
        ("How long is the chain?", "Specifications", "Chain length: 1.2 m", True),
    ],
)
def test_a_label_gives_the_quantity_of_what_its_heading_names(
    question: str, section: str, text: str, answers: bool
) -> None:
    given = context([quote(text, document="bike.md", section=section)])
    assert (asyncio.run(ExtractiveGenerator().answer(Query(text=question), given)).status == "answered") == answers


@pytest.mark.parametrize(
    ("question", "heads", "answers"),
    [
        ("How old is Ada Byron?", "Goals | Games", False),
        ("How old is Ada Byron?", "Age | Games", True),
        ("How fast is Ada Byron?", "Goals | Games", False),
        ("How fast is Ada Byron?", "Speed (km/h) | Games", True),
    ],
)
def test_cells_tell_a_quantity_that_they_name(question: str, heads: str, answers: bool) -> None:
    table = image("Players", f"Player | {heads}\nAda Byron | 17 | 22\nGrace Hale | 15 | 21", layout="table")
    given = context([quote("Ada Byron is a player.")], [table])
    answer = asyncio.run(ExtractiveGenerator().answer(Query(text=question), given))
    assert (answer.status == "answered" and "17" in answer.text) == answers


def test_a_long_run_of_digits_measures_nothing() -> None:
    assert "speed" not in dimensions_in(f"At {'1' * 100_000}, 3 trips per hour, 5 kN and 50 Mbit/s.")
    assert "speed" in dimensions_in("At 30 km per hour.") & dimensions_in("At 12 kn.") & dimensions_in(
        "5 miles an hour."
    )
