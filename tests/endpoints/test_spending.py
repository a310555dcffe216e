"""A budget ends before it is exceeded, whoever spends of it."""

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from quoteweave.core.answers import Usage
from quoteweave.core.chat.completions import Completion
from quoteweave.core.chat.usage import Price
from quoteweave.core.errors import BudgetSpent, EndpointBadResponse, EndpointUnreachable, UsageError
from quoteweave.core.protocols import ChatModel
from quoteweave.endpoints.budget import Budget, BudgetedChat, Cost, record_spending
from quoteweave.endpoints.call_cache import CachedChat
from quoteweave.testing.fakes import FakeChat

HUNDRED = [{"role": "user", "content": "a" * 400}]
"""Tokens, as they are estimated."""


def said(sent: int | None, answered: int | None, text: str = "Yes.") -> Completion:
    return Completion(text=text, model="m", usage=Usage(input_tokens=sent, output_tokens=answered))


def ask(chat: ChatModel, times: int = 1) -> None:
    for _ in range(times):
        asyncio.run(chat.complete(HUNDRED))


@pytest.fixture(autouse=True)
def _no_own_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("QUOTEWEAVE_PRICES", raising=False)


def test_what_the_endpoint_counts_is_spent() -> None:
    budget = Budget()
    ask(BudgetedChat(FakeChat([said(120, 30)] * 2), budget, price=Price(input=2, output=10)), 2)
    assert budget.spent.tokens == 300
    assert budget.spent.usd == pytest.approx(2 * (240 + 300) / 1e6)


def test_what_it_does_not_count_is_estimated() -> None:
    budget = Budget()
    ask(BudgetedChat(FakeChat([said(None, None, "abcdefgh")]), budget, price=Price(input=1, output=1)))
    assert budget.spent.tokens == 100 + 2


def test_the_call_that_would_exceed_is_not_made() -> None:
    model, budget = FakeChat([said(100, 50)] * 9), Budget(max_tokens=449)
    chat = BudgetedChat(model, budget)
    ask(chat, 2)
    with pytest.raises(BudgetSpent, match=r"300 tokens are spent of the 449 tokens allowed: .* about 150"):
        ask(chat)  # answers were of 50 tokens, so that this one would end at 450
    assert (len(model.requests), budget.spent.tokens) == (2, 300)


def test_what_is_just_enough_is_spent() -> None:
    budget = Budget(max_tokens=450)
    ask(BudgetedChat(FakeChat([said(100, 50)] * 3), budget), 3)
    assert budget.spent.tokens == 450


def test_money_ends_too_by_the_table_of_prices() -> None:
    model, budget = FakeChat([said(100, 100)] * 9, name="gpt-4o"), Budget(max_usd=0.003)
    chat = BudgetedChat(model, budget)
    ask(chat, 2)  # 0.00125 each
    with pytest.raises(BudgetSpent, match=r"\$0.0025 are spent of the \$0.0030"):
        ask(chat)
    assert len(model.requests) == 2


def test_a_budget_of_money_wants_a_price() -> None:
    with pytest.raises(UsageError, match=r"nobody's.*QUOTEWEAVE_PRICES"):
        BudgetedChat(FakeChat([], name="nobody's"), Budget(max_usd=1))
    BudgetedChat(FakeChat([], name="nobody's"), Budget(max_usd=1), price=Price(input=0, output=0))
    BudgetedChat(FakeChat([], name="nobody's"), Budget(max_tokens=1))


def test_models_share_a_budget() -> None:
    budget = Budget(max_tokens=300)
    writer, judge = (BudgetedChat(FakeChat([said(100, 50)] * 2), budget) for _ in range(2))
    ask(writer)
    ask(judge)
    with pytest.raises(BudgetSpent):
        ask(writer)


def test_a_failed_call_took_nothing_unless_it_was_answered() -> None:
    budget = Budget(max_tokens=200)
    chat = BudgetedChat(FakeChat([EndpointUnreachable("down"), EndpointBadResponse("empty"), said(100, 0)]), budget)
    with pytest.raises(EndpointUnreachable):
        ask(chat)
    assert budget.spent.tokens == 0
    with pytest.raises(EndpointBadResponse):
        ask(chat)
    assert budget.spent.tokens == 100
    ask(chat)
    assert budget.spent.tokens == 200


def test_calls_under_way_count_and_are_spent_when_they_are_cancelled() -> None:
    """The endpoint may go on with them, and be paid."""

    class Never:
        name = "never"

        def request_settings(self) -> Mapping[str, object]:
            return {}

        async def complete(self, messages: Sequence[Mapping[str, object]]) -> Completion:
            await asyncio.Event().wait()
            raise AssertionError

    async def run() -> None:
        budget = Budget(max_tokens=300)
        chat = BudgetedChat(Never(), budget)
        with record_spending() as recorder:
            calls = [asyncio.create_task(chat.complete(HUNDRED)) for _ in range(2)]
            await asyncio.sleep(0)
            with pytest.raises(BudgetSpent, match="under way"):
                await chat.complete([*HUNDRED, *HUNDRED])
            for call in calls:
                call.cancel()
            await asyncio.gather(*calls, return_exceptions=True)
        assert budget.spent.tokens == 200
        assert (recorder.spending.calls, recorder.spending.input_tokens, recorder.spending.estimated) == (2, 200, 2)
        await BudgetedChat(FakeChat([said(100, 0)]), budget).complete(HUNDRED)
        assert budget.spent.tokens == 300

    asyncio.run(run())


def test_threads_never_spend_more_than_there_is() -> None:
    budget = Budget(max_tokens=500 * 7 + 3)

    def spend(_: int) -> bool:
        cost = Cost(7)
        try:
            budget.reserve(cost)
        except BudgetSpent:
            return False
        budget.settle(cost, cost)
        return True

    with ThreadPoolExecutor(8) as threads:
        made = sum(threads.map(spend, range(1000)))
    assert (made, budget.spent.tokens) == (500, 3500)


def test_calls_that_are_kept_cost_nothing_again(tmp_path_factory: pytest.TempPathFactory) -> None:
    budget = Budget(max_tokens=150)
    chat = CachedChat(BudgetedChat(FakeChat([said(100, 50)]), budget), tmp_path_factory.mktemp("calls"))
    ask(chat, 3)
    assert budget.spent.tokens == 150
