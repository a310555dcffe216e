"""What a model wrote is checked before it is shown; runs keep what it wrote all the same."""

import asyncio

import pytest
from test_arranging import quote

from quoteweave.core.answers import Context
from quoteweave.core.examples import Example, Reference
from quoteweave.core.protocols import Generator
from quoteweave.core.records import Hit, Query
from quoteweave.generation.cited import CitedGenerator
from quoteweave.generation.extractive import ExtractiveGenerator
from quoteweave.generation.gate import REFUSAL, Policy
from quoteweave.pipeline.answering import Answerer
from quoteweave.testing import FakeChat

SAID = "The harbour shipped 1,204 tons of grain [1]. It shipped 999 tons of coal [1]."
CONTEXT = Context(
    texts=(Hit(rank=1, score=1, quote=quote("text", "t", text="The harbour shipped 1204 tons of grain in May.")),)
)


def predicted(policy: Policy | None, generator: Generator | None = None) -> tuple[str | None, list[str | None], str]:
    made = generator or CitedGenerator(FakeChat([SAID]))
    asked = Example(id="q", query=Query(text="How much grain?"), context=CONTEXT, reference=Reference())
    prediction = asyncio.run(Answerer(made, gate=policy).predict(asked))
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
