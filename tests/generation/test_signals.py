"""The signals for an answer's confidence: the best score, the words of the question, and the gate's verdicts."""

import pytest
from harbour_quotes import EVERYTHING, context, image, quote
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.core.answers import Citation, Context, Verdict
from quoteweave.generation.citations import build_answer
from quoteweave.generation.confidence_signals import best_quote_coverage, signals_of, supported_share


def cited(*verdicts: Verdict | None) -> list[Citation]:
    place = {"document": "a.pdf", "page": 0, "page_label": "1", "bbox": (0, 0, 9, 9), "quote_id": "a", "kind": "text"}
    return [
        Citation.model_validate({"mark": "[1]", "start": 0, "end": 3, "number": 1, "verdict": verdict, **place})
        for verdict in verdicts
    ]


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ((), 0),
        (("supported", "supported"), 1),
        (("supported", "unsupported"), 1 / 2),
        (("unchecked", None), 1 / 2),
        (("supported", "unchecked", "unsupported", "unsupported"), 3 / 8),
    ],
)
def test_support_by_hand(verdicts: tuple[Verdict | None, ...], expected: float) -> None:
    assert supported_share(cited(*verdicts)) == pytest.approx(expected)


def test_a_question_bears_on_the_quote_that_holds_most_of_its_words() -> None:
    given = context(["Grain arrived by ship.", "Timber arrived by rail.", "Coal was dear."])
    assert best_quote_coverage("Did grain arrive by ship?", given) == 1
    # Each of its words is somewhere, but no quote holds both.
    apart = best_quote_coverage("Was grain dear?", given)
    assert apart == pytest.approx(1 / 2)
    # A name that no quote holds weighs most.
    assert best_quote_coverage("Did grain arrive at Lindholm by ship?", given) < 0.6
    assert best_quote_coverage("What is the melting point of copper?", given) == 0


def test_captions_sections_and_names_of_documents_count() -> None:
    given = context(
        [quote("It fell.", section="Exports of grain", document="lindholm.pdf")], [image("Dues for timber")]
    )
    assert best_quote_coverage("What of grain exports at lindholm?", given) == 1
    assert best_quote_coverage("What are the dues for timber?", given) == 1


def test_the_score_is_the_best_of_both_kinds_and_unknown_where_nothing_was_found() -> None:
    given = context(["Grain came by ship."], [image("Dues for timber")])
    assert signals_of("grain?", given).score == 1
    low = given.texts[0].model_copy(update={"score": -3.0})
    assert signals_of("grain?", Context(texts=(low,))).score == -3
    nothing = signals_of("grain?", Context())
    assert (nothing.score, nothing.bearing, nothing.support) == (None, 0, 0)


def test_support_is_of_the_answer() -> None:
    given = context(["Grain came by ship."])
    answer = build_answer("Did grain come?", "It came [1].", given, model="m")
    assert signals_of("Did grain come?", given, answer).support == 1 / 2
    assert signals_of("Did grain come?", given).support == 0


@given(st.text(max_size=80))
def test_any_question_has_a_bearing(question: str) -> None:
    assert 0 <= best_quote_coverage(question, EVERYTHING) <= 1
