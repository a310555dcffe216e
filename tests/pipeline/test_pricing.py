import pytest

from quoteweave.core.answers import Answer, Usage
from quoteweave.pipeline.gate import with_price


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
