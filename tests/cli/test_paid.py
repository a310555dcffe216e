"""The output of commands that ask a judge: what the judge cost, and what failed."""

import pytest

from quoteweave.cli.console import print_failures
from quoteweave.cli.eval.paid import count_spent
from quoteweave.core.answers import Usage
from quoteweave.core.chat.usage import Price

PRICE = Price(input=1.0, output=2.0)


def test_tokens_are_added_up_and_what_was_not_counted_has_no_price() -> None:
    counted = count_spent([Usage(input_tokens=500_000, output_tokens=250_000), Usage()], PRICE)
    assert counted.tokens == {"input": 500_000, "output": 250_000}
    assert counted.price_usd == pytest.approx(1.0)
    assert count_spent([Usage()], PRICE).price_usd is None
    assert count_spent([Usage(input_tokens=1, output_tokens=1)], None).price_usd is None
    assert count_spent([], PRICE).price_usd == 0


def test_failures_that_are_not_shown_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    print_failures({f"q{n}": "down" for n in range(7)})
    lines = capsys.readouterr().err.splitlines()
    assert lines[:5] == [f"question 'q{n}' failed: down" for n in range(5)]
    assert lines[5:] == ["and 2 others; the same command asks again"]
