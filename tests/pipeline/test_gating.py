"""What a model wrote is checked before it is shown; runs keep what it wrote all the same."""

import asyncio
from collections.abc import Sequence

import pytest
from builders import make_context, make_quote
from test_arranging import quote

from quoteweave.core.answers import Answer, AnswerEvent, Context, TextEvent
from quoteweave.core.examples import Example, Reference
from quoteweave.core.protocols import Generator
from quoteweave.core.records import Hit, Query
from quoteweave.generation.chat_generator import CitedGenerator
from quoteweave.generation.extractive.generator import NOTHING_FOUND, ExtractiveGenerator
from quoteweave.generation.gate.policies import REFUSAL, Policy
from quoteweave.pipeline.gate import Gate
from quoteweave.pipeline.rag import Rag
from quoteweave.pipeline.runs.answerer import Answerer
from quoteweave.testing import FakeChat, FakeRetriever

SAID = "The harbour shipped 1,204 tons of grain [1]. It shipped 999 tons of coal [1]."
CONTEXT = Context(
    texts=(Hit(rank=1, score=1, quote=quote("text", "t", text="The harbour shipped 1204 tons of grain in May.")),)
)


def predicted(policy: Policy | None, generator: Generator | None = None) -> tuple[str | None, list[str | None], str]:
    made = generator or CitedGenerator(FakeChat([SAID]))
    asked = Example(id="q", query=Query(text="How much grain?"), context=CONTEXT, reference=Reference())
    prediction = asyncio.run(Answerer(made, gate=Gate(policy)).predict(asked))
    assert prediction.answer is not None
    return (
        prediction.response,
        [citation.verdict for citation in prediction.answer.citations],
        prediction.answer.text,
    )


@pytest.mark.parametrize(
    ("policy", "verdicts", "shown"),
    [
        ("report", ["supported", "unsupported"], SAID),
        ("drop", ["supported"], "The harbour shipped 1,204 tons of grain [1]."),
        ("refuse", [], REFUSAL),
        (None, [None, None], SAID),
    ],
)
def test_each_policy_shows_its_part_and_the_response_stays_whole(
    policy: Policy | None, verdicts: list[str | None], shown: str
) -> None:
    response, found, text = predicted(policy)
    assert (response, found, text.strip()) == (SAID, verdicts, shown)


def test_an_answer_that_repeats_its_quotes_is_not_checked() -> None:
    _, verdicts, text = predicted("refuse", ExtractiveGenerator())
    assert "1204 tons" in text
    assert set(verdicts) == {None}


class Doubting:
    """Finds supported all but what names this."""

    name = "doubting"

    def __init__(self, word: str) -> None:
        self.word = word

    async def check(self, pairs: Sequence[tuple[str, str]]) -> list[bool | None]:
        return [self.word not in claim for _, claim in pairs]


def found(policy: Policy | None, word: str, generator: Generator | None = None) -> Answer:
    made = generator or CitedGenerator(FakeChat([SAID]))
    asked = Example(id="q", query=Query(text="How much grain?"), context=CONTEXT, reference=Reference())
    prediction = asyncio.run(Answerer(made, gate=Gate(policy, Doubting(word))).predict(asked))
    assert prediction.answer is not None
    assert prediction.response == SAID or generator is not None
    return prediction.answer


@pytest.mark.parametrize(
    ("policy", "word", "verdicts", "shown"),
    [
        ("report", "grain", [("supported", False), ("unsupported", True)], SAID),
        ("drop", "wool", [("supported", True)], "The harbour shipped 1,204 tons of grain [1]."),
        ("drop", "grain", [], REFUSAL),
        ("refuse", "grain", [], REFUSAL),
        (None, "coal", [(None, True), (None, False)], SAID),
    ],
)
def test_a_checker_stands_beside_the_gate_and_the_policy_heeds_both(
    policy: Policy | None, word: str, verdicts: list[tuple[str | None, bool | None]], shown: str
) -> None:
    answer = found(policy, word)
    assert [(citation.verdict, citation.checker_verdict) for citation in answer.citations] == verdicts
    assert answer.text.strip() == shown


def test_what_the_checker_alone_doubts_is_taken_out_and_why_is_told() -> None:
    said = SAID.replace("999 tons", "1,204 tons")
    answer = found("drop", "coal", CitedGenerator(FakeChat([said])))
    assert answer.text.strip() == "The harbour shipped 1,204 tons of grain [1]."
    assert "The checker does not find it supported by what it cites." in answer.warnings[-1]


def test_whoever_asks_for_a_checker_has_repeated_quotes_checked_too() -> None:
    answer = found("report", "harbour", ExtractiveGenerator())
    assert {(citation.verdict, citation.checker_verdict) for citation in answer.citations} == {(None, False)}


@pytest.mark.parametrize("policy", ["report", "drop", "refuse"])
@pytest.mark.parametrize("word", ["grain", "coal", "wool"])
def test_what_is_streamed_is_the_answer_that_the_checker_leaves(policy: Policy, word: str) -> None:
    async def streamed() -> tuple[str, Answer]:
        quotes = [hit.quote for hit in CONTEXT.texts]
        generator = CitedGenerator(FakeChat([SAID]))
        rag = Rag(FakeRetriever(quotes), generator, gate=Gate(policy, Doubting(word)))
        events = [event async for event in rag.stream("How much grain?")]
        assert isinstance(events[-1], AnswerEvent)
        return "".join(event.text for event in events if isinstance(event, TextEvent)), events[-1].answer

    text, answer = asyncio.run(streamed())
    assert text == answer.text
    assert "unsupported" not in [one.verdict for one in answer.citations] or policy == "report"
    assert False not in [one.checker_verdict for one in answer.citations] or policy == "report"


def test_a_model_is_asked_where_a_sentence_answers_though_a_word_is_rare() -> None:
    texts = ("dip: The group's name stands for dial-up.", "The ferry left at noon.", "Grain went by rail.")
    quotes = [make_quote(text, document=f"{text[:3]}.md") for text in texts]
    context = make_context(*quotes).model_copy(update={"rarity": {"dip": 0.99}, "variety": 1.0})
    gate = Gate(check_topic=True)
    assert gate.check_context("What does dip stand for?", context) is None
    nothing = gate.check_context("What is the price of dip?", context)
    assert nothing is not None
    assert nothing.text == NOTHING_FOUND


@pytest.mark.parametrize(
    ("check_topic", "rarity", "asked"),
    [
        (True, {"dolphin": 1.0, "live": 1.0}, 0),
        (True, {"grain": 0.9}, 1),
        (True, {}, 1),
        (False, {"dolphin": 1.0, "live": 1.0}, 1),
    ],
)
def test_a_model_is_asked_only_about_what_was_found(check_topic: bool, rarity: dict[str, float], asked: int) -> None:
    chat = FakeChat([SAID])
    context = CONTEXT.model_copy(update={"rarity": rarity})
    question = "How much grain?" if "grain" in rarity else "Where do dolphins live?"
    example = Example(id="q", query=Query(text=question), context=context, reference=Reference())
    prediction = asyncio.run(Answerer(CitedGenerator(chat), gate=Gate(check_topic=check_topic)).predict(example))
    assert prediction.answer is not None
    assert len(chat.requests) == asked
    assert (prediction.answer.text == NOTHING_FOUND) is (not asked)
