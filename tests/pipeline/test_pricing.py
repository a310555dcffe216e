from pathlib import Path

import pytest
from made_collections import made_quote

from quoteweave.collection.collection import Collection
from quoteweave.core.answers import Answer, Usage
from quoteweave.endpoints.chat import OpenAIChat
from quoteweave.endpoints.prices import with_price
from quoteweave.generation.chat_generator import CitedGenerator
from quoteweave.generation.extractive.generator import ExtractiveGenerator
from quoteweave.pipeline.composition.make_checker import make_checker
from quoteweave.pipeline.composition.make_rag import make_rag
from quoteweave.pipeline.follow_ups.rewriting import StandaloneQuestion
from quoteweave.pipeline.gate import Gate
from quoteweave.pipeline.rag import Rag
from quoteweave.pipeline.settings import AnswerSettings
from quoteweave.testing import FakeRetriever, ModelServer, Reply

QUESTION = "How many vessel calls did the port receive?"


@pytest.mark.parametrize(
    ("model", "usage", "usd"),
    [
        ("gpt-4o", Usage(input_tokens=1000, output_tokens=100), 0.0035),
        ("gpt-4o-2024-08-06", Usage(input_tokens=1000, output_tokens=100), 0.0035),
        ("gpt-4o", Usage(input_tokens=0, output_tokens=0), 0.0),
        ("gpt-4o", Usage(input_tokens=1000), None),
        ("gpt-4o", Usage(), None),
        ("nobody's", Usage(input_tokens=1000, output_tokens=100), None),
        ("local=/models/m", Usage(input_tokens=1000, output_tokens=100), 0.0),
        ("extractive", Usage(), 0.0),
    ],
)
def test_an_answer_costs_what_its_tokens_do(
    model: str, usage: Usage, usd: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("QUOTEWEAVE_PRICES", raising=False)
    answer = Answer(question="q", status="answered", text="a", blocks=(), model=model, usage=usage, seconds=1)
    got = with_price(answer)
    assert got.price_usd == (None if usd is None else pytest.approx(usd))
    assert got.model_copy(update={"price_usd": None}) == answer


def test_expansion_checks_and_rewriting_add_up_where_no_model_writes(sample_collection: Path) -> None:
    with ModelServer(lambda _: Reply(text="vessel calls of the port")) as model:
        by = f"chat:m@{model.base_url}"
        with Collection(sample_collection) as collection:
            answer = make_rag(collection, AnswerSettings(expand=by, check=by)).answer(QUESTION)
        calls = len(model.requests)
    assert calls >= 2
    assert answer.usage == Usage(input_tokens=calls, output_tokens=calls)
    rewritten = StandaloneQuestion(question=QUESTION, usage=Usage(input_tokens=30, output_tokens=4), price_usd=None)
    assert rewritten.add_usage(answer).usage == Usage(input_tokens=calls + 30, output_tokens=calls + 4)


def test_extracting_takes_no_tokens() -> None:
    quotes = [made_quote("Timber went by rail.")]
    answered, abstained = (
        Rag(FakeRetriever(found), ExtractiveGenerator()).answer("What went by rail?") for found in (quotes, [])
    )
    assert (answered.status, abstained.status) == ("answered", "abstained")
    assert answered.usage == abstained.usage == Usage(input_tokens=0, output_tokens=0)


def test_what_a_checker_that_is_made_by_name_takes_is_counted_without_settings() -> None:
    retriever = FakeRetriever([made_quote("Timber went by rail.")])
    with ModelServer(lambda _: Reply(text="Timber went by rail [1].")) as model:
        gate = Gate(checker=make_checker(f"chat:m@{model.base_url}"))
        writer = CitedGenerator(OpenAIChat("m", base_url=model.base_url))
        answer = Rag(retriever, writer, gate=gate).answer("What went by rail?")
        calls = len(model.requests)
    assert calls >= 2
    assert answer.usage == Usage(input_tokens=calls, output_tokens=calls)
