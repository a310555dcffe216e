"""Whether what was found is about the question at all."""

import pytest
from harbour_quotes import context, image, quote

from quoteweave.core.answers import Context
from quoteweave.generation.extractive.topic import THRESHOLD, is_on_topic, topic_margin
from quoteweave.generation.relevance import question_terms


def about(question: str, given: Context, **rarity: float) -> bool:
    return is_on_topic(question_terms(question), given.model_copy(update={"rarity": rarity}))


def test_the_margin_by_hand() -> None:
    given = context([quote("Tolland ships timber.")]).model_copy(
        update={"rarity": {"timber": 0.8, "tolland": 0.5, "elsinor": 1.0, "price": 0.4}}
    )
    # "timber" and "Tolland" are held; "Elsinore" stands nowhere in the collection and counts half as much again.
    found = topic_margin(question_terms("Does Tolland ship timber to Elsinore?"), given)
    ship = 0.6  # a word whose rarity is not known, and which is held
    assert found == pytest.approx(0.8 + 0.5 + ship - 0.5 * 1.5 * 1.0 - THRESHOLD)


def test_a_word_that_stands_everywhere_is_no_sign() -> None:
    given = context(["The harbour has a mole."])
    assert about("What harbour mole is there?", given, harbour=0.4, mole=0.9)
    assert not about("What harbour volcano is there?", given, harbour=0.1, volcano=1.0)


def test_hits_from_many_documents_are_a_weaker_sign() -> None:
    one = context([quote("A lynx was seen."), *(quote(f"Dues {n}", page=n) for n in range(7))])
    many = context([quote("A lynx was seen."), *(quote(f"Dues {n}", document=f"{n}.pdf") for n in range(7))])
    assert about("Where do lynx hunt?", one, lynx=0.8, hunt=0.6)
    assert not about("Where do lynx hunt?", many, lynx=0.8, hunt=0.6)


@pytest.mark.parametrize(
    ("question", "there"),
    [
        ("What does Figure 3 compare?", True),
        ("What does Figure 4 compare?", False),
        ("What is said on page 2?", True),
        ("What sings on page 7?", False),
    ],
)
def test_a_place_that_is_named_and_there_is_what_is_asked_about(question: str, there: bool) -> None:
    given = context([quote("Nothing.", page=1)], [image("Figure 3. Moles.", page=1)])
    assert about(question, given, compar=1.0, figur=1.0, said=1.0, sing=1.0) is there


@pytest.mark.parametrize("question", ["How many tables are there?", "What is the title?"])
def test_a_question_that_only_asks_is_about_the_document(question: str) -> None:
    assert about(question, context(["Dues."]))
    assert not about(question, Context())
