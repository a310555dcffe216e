"""Documents with different dates or names for the same act are reported; values that may well differ are not."""

import asyncio
from collections.abc import Sequence

import pytest
from harbour_quotes import ask as ask_of
from harbour_quotes import context, image, quote

from quoteweave.core.answers import Answer
from quoteweave.core.records import Query
from quoteweave.generation.extractive.generator import OWN_DISAGREEMENT, ExtractiveGenerator

BUILT = "When was Skarn Quay built?"
WROTE = "Who designed Skarn Quay?"


def answer_of(question: str, *texts: str) -> Answer:
    quotes = [quote(text, document=f"{at}.pdf") for at, text in enumerate(texts)]
    return asyncio.run(ExtractiveGenerator().answer(Query(text=question), context(quotes)))


def ask(question: str, *texts: str) -> Answer:
    answer = answer_of(question, *texts)
    assert answer.status == "answered"
    return answer


def warnings(question: str, one: str, other: str) -> tuple[str, ...]:
    return ask(question, one, other).warnings


@pytest.mark.parametrize(
    ("question", "one", "other", "what"),
    [
        (BUILT, "Skarn Quay was built in 1901.", "Skarn Quay was built in 1911.", "dates"),
        (BUILT, "Skarn Quay was built on 3 May 1901.", "Skarn Quay was built in June 1901.", "dates"),
        (WROTE, "Skarn Quay was designed by Anna Holm.", "Skarn Quay was designed by Bert West in May.", "names"),
        ("What is the rent?", "The rent is 900 euros a month.", "The rent is 1,150 euros a month.", "numbers"),
    ],
)
def test_documents_that_disagree_are_cited_side_by_side(question: str, one: str, other: str, what: str) -> None:
    assert warnings(question, one, other) == (f"The documents give different {what} here: compare what they say.",)


@pytest.mark.parametrize(
    ("question", "one", "other"),
    [
        (BUILT, "Skarn Quay was built in 1901.", "Skarn Quay was built on 3 May 1901."),
        (BUILT, "Skarn Quay was built in 1901.", "Skarn Quay was built in 1901 and widened in 1950."),
        (BUILT, "Skarn Quay was built in 1901.", "Skarn Mole was built in 1950."),
        (BUILT, "Skarn Quay was built in May 1901.", "Skarn Quay was built in 1901."),
        ("What is the rent?", "The rent is 900 euros a month.", "The rent is 900 euros, due on the 3rd of a month."),
        ("When was the meeting held?", "The meeting was held in May 2021.", "The meeting was held in June 2022."),
        ("When does Skarn Quay open?", "Skarn Quay opens on 3 May.", "Skarn Quay opens on 4 June."),
        (WROTE, "Skarn Quay was designed by Anna Holm.", "Skarn Quay was designed by Mrs. Holm."),
        (WROTE, "Skarn Quay was designed by Anna Holm.", "Skarn Quay was designed by Anna Holm and Bert West."),
    ],
)
def test_what_may_well_differ_is_no_disagreement(question: str, one: str, other: str) -> None:
    assert warnings(question, one, other) == ()


@pytest.mark.parametrize(
    ("question", "one", "other", "documents"),
    [
        ("When does the lease begin?", "The lease begins on 1 April 2024.", "The lease begins on 15 May 2025.", 2),
        ("Who is the tenant?", "The tenant is Ms Alder.", "The tenant is Mr Birch.", 2),
        ("Where are the keys kept?", "Keys are kept in the office.", "Keys are kept in the cellar.", 2),
        ("Are pets allowed?", "Pets are allowed in the flat.", "Pets are not allowed in the flat.", 2),
        ("May pets be kept here?", "Pets may be kept here.", "Pets must not be kept here.", 2),
        ("May pets be kept?", "Pets are allowed.", "Pets must not be kept.", 2),
        ("Are pets allowed?", "Pets are allowed.", "Pets must not be kept.", 2),
        ("Are pets allowed?", "Pets are allowed.", "Tenants must not keep pets.", 2),
        ("Are pets allowed?", "Pets are allowed.", "Goats must not be kept.", 1),
        ("Are keys kept in the bar?", "Keys are kept in the bar.", "Keys are not allowed in the bar.", 1),
        ("Are pets allowed?", "Pets are allowed.", "Tenants must not keep their shoes where pets sleep.", 1),
        ("Is smoking permitted on the deck?", "Smoking is permitted on the deck.", "Nobody may smoke on the deck.", 2),
        ("Is smoking allowed?", "Smoking is allowed in the hall.", "Smoking is forbidden in the hall.", 2),
        ("Is the office open on Sundays?", "The office is open on Sundays.", "The office is closed on Sundays.", 2),
        ("Is the office open on Sundays?", "The office is open on Sundays.", "The shop is closed on Sundays.", 1),
        ("Ist das Grillen im Hof erlaubt?", "Das Grillen im Hof ist erlaubt.", "Das Grillen im Hof ist untersagt.", 2),
        ("¿Se permite comer en el patio?", "Se permite comer en el patio.", "Se prohíbe comer en el patio.", 2),
        ("Est-il permis de fumer ici ?", "Il est permis de fumer ici.", "Il est interdit de fumer ici.", 2),
        ("¿Cuánto cuesta la entrada?", "La entrada cuesta 5 euros.", "La entrada cuesta 7 euros.", 2),
        ("Les chiens sont-ils admis ?", "Les chiens sont admis ici.", "Les chiens ne sont pas admis ici.", 2),
        ("Where are the keys kept?", "Keys are kept in the office.", "Keys are kept in the office, by the door.", 1),
        ("Where are the keys kept?", "Keys are kept in the office.", "The keys are kept in the office.", 1),
    ],
)
def test_what_documents_say_in_the_same_words_of_different_things_stands_together(
    question: str, one: str, other: str, documents: int
) -> None:
    assert len({cited.document for cited in ask(question, one, other).citations}) == documents


def test_what_a_heading_is_about_may_be_forbidden_in_other_words() -> None:
    denials = ("The tenant shall not keep any animals in the flat.", "No animals can be kept in the flat.")
    texts = ("Pets may be kept in the flat.", *denials)
    under = [quote(text, section="Pets", document=f"{at}.md", has_pages=False) for at, text in enumerate(texts)]
    answer = ask_of("Are pets allowed in the flat?", context(under))
    assert (len({cited.document for cited in answer.citations}), answer.warnings) == (2, ())


@pytest.mark.parametrize(
    ("question", "one", "other", "differ"),
    [
        (
            "How many flats will the house have?",
            "The house will have 12 flats.",
            "The house will have 14 flats, and a lift.",
            True,
        ),
        ("What is the rent?", "The rent is 900 euros a month.", "The rent is 950 euros a month.", True),
        (
            "How many flats will the house have?",
            "The house will have twelve flats.",
            "The house will have 12 flats, and a lift.",
            False,
        ),
        ("What is the rent?", "The rent is 900 euros a month.", "The rent is 3 percent of the sales.", False),
    ],
)
def test_a_document_that_disagrees_with_itself_is_told(question: str, one: str, other: str, differ: bool) -> None:
    answer = ask_of(question, context([quote(text, document="a.pdf", section="Flats") for text in (one, other)]))
    told = answer.status == "answered" and all(text.rstrip(".") in answer.text for text in (one, other))
    assert (answer.warnings == (OWN_DISAGREEMENT,) and told) == differ
    assert (OWN_DISAGREEMENT in answer.warnings) == differ


def test_what_a_document_asks_is_not_the_contrary_of_what_another_says() -> None:
    answer = ask(
        "Are gas cookers allowed?", "Open fires are forbidden; gas cookers are allowed.", "Are gas cookers allowed?"
    )
    assert [citation.document for citation in answer.citations] == ["0.pdf"]


def test_what_one_document_repeats_takes_no_room_from_another() -> None:
    places = ("office", "cellar", "office", "attic")
    answer = ask("Where are the keys kept?", *(f"Keys are kept in the {place}." for place in places))
    assert [cited.document for cited in answer.citations] == ["0.pdf", "1.pdf", "3.pdf"]


def test_tables_of_two_documents_with_one_row_stand_together() -> None:
    rows = ("Goods | Price\nApples | 2.40", "Goods | Price\nApples | 2.95")
    lists = [image("Prices", text, layout="table", document=f"{at}.csv") for at, text in enumerate(rows)]
    answer = ask_of("What do apples cost?", context(images=lists))
    assert [cited.document for cited in answer.citations] == ["0.csv", "1.csv"]


RENTS = [f"The rent is {rent} euros a month." for rent in (700, 710, 720, 730, 740, 740)]


@pytest.mark.parametrize(
    ("question", "status", "texts", "note"),
    [
        ("What is the rent?", "answered", RENTS[:3], ()),
        ("What is the rent?", "answered", [*RENTS[:3], RENTS[0]], ()),
        ("What is the rent?", "answered", RENTS[:4], ("Another document says something else on this: 3.pdf.",)),
        (
            "What is the rent?",
            "answered",
            RENTS,
            (
                "At least 3 other documents say something else on this, such as 3.pdf, 4.pdf and 5.pdf. "
                "Name one in the question, or ask within it alone.",
            ),
        ),
        (
            "What amount of rent is paid by the tenant?",
            "located",
            [f"Rent of {rent} is due from the tenant, paid by bank." for rent in (50, 60, 70, 80, 90)],
            (
                "At least 2 other documents say something else on this, such as 3.pdf and 4.pdf. "
                "Name one in the question, or ask within it alone.",
            ),
        ),
        (
            "When is breakfast served?",
            "answered",
            [f"Breakfast is served from 7:30 to 9:30 and costs {cost}." for cost in (5.50, 6.50, 7.50, 8.50)],
            (),
        ),
        (
            "How many hours is the service of the car?",
            "located",
            [
                f"{text} car."
                for text in ("The service at 20:02 of the", "Dial 7123 for service of a", "Service 6,", "7,")
            ],
            (),
        ),
        (
            "Who is the chair?",
            "answered",
            [f"The chair is {name}, from {at} on." for name in ("Ms Alder", "Mr Birch") for at in ("May", "June")],
            (),
        ),
        ("Who is the chair?", "answered", ["The chair is Ms Alder."] * 2 + ["The chair is Ms Alder from May."], ()),
    ],
)
def test_documents_for_which_there_is_no_room_are_counted(
    question: str, status: str, texts: Sequence[str], note: tuple[str, ...]
) -> None:
    answer = answer_of(question, *texts)
    assert (answer.status, tuple(one for one in answer.warnings if "something else" in one)) == (status, note)


@pytest.mark.parametrize(
    ("heading", "answer", "other", "is_told"),
    [
        ("When was the mill opened?", "In 1974.", "The mill was opened in 1976.", True),
        ("When was the mill opened?", "In 1974.", "The mill was opened in 1974.", False),
        ("When was the mill opened?", "In 1974.", "The mill was opened in June 1974.", False),
        ("When was the mill opened?", "In 1974.", "The mill was painted in 1976.", False),
        ("How much is a tour?", "A tour is 5 euros.", "A tour is 4 euros.", True),
        ("How much is a tour?", "A tour is 5 euros.", "A tour is 5 euros for all.", False),
        ("How much is a tour?", "A tour is 5 euros.", "A map is 4 euros.", False),
    ],
)
def test_sentences_that_differ_from_what_is_under_the_heading_asked_for_are_told(
    heading: str, answer: str, other: str, is_told: bool
) -> None:
    under = quote(answer, document="faq.md", section=heading)
    quotes = [quote(other, document="guide.md"), under]
    found = asyncio.run(ExtractiveGenerator().answer(Query(text=heading), context(quotes)))
    assert {citation.document for citation in found.citations} == {"faq.md"}
    assert found.warnings == (("Another document says something else on this: guide.md.",) if is_told else ())
