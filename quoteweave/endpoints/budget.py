"""A budget of money and tokens, for one chat model or several together."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from threading import Lock

from quoteweave.core.answers import Usage
from quoteweave.core.chat.completions import ChatMessage
from quoteweave.core.chat.usage import Price, UsageMeter, estimate_message_tokens
from quoteweave.core.errors import BudgetSpent, EndpointBadResponse, UsageError
from quoteweave.core.examples import Spending
from quoteweave.core.protocols import ChatModel
from quoteweave.endpoints.chat_wrappers import MeteredChat
from quoteweave.endpoints.prices import PRICES_VARIABLE, chat_price


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of calls."""

    tokens: int = 0
    usd: float = 0.0

    def plus(self, other: "Cost") -> "Cost":
        """The sum of both."""
        return Cost(self.tokens + other.tokens, self.usd + other.usd)

    def minus(self, other: "Cost") -> "Cost":
        """The difference of both."""
        return Cost(self.tokens - other.tokens, self.usd - other.usd)


class Budget:
    """A budget of money and of tokens, input and output together; None is no limit.

    Calls in progress count with their expected cost, so that concurrent calls do not spend more than one after
    another would. Safe to use from several threads.
    """

    def __init__(self, *, max_usd: float | None = None, max_tokens: int | None = None) -> None:
        self.max_usd = max_usd
        self.max_tokens = max_tokens
        self._spent, self._under_way = Cost(), Cost()
        self._lock = Lock()

    @property
    def spent(self) -> Cost:
        """The cost of all calls that have ended."""
        return self._spent

    def reserve(self, expected: Cost) -> None:
        """Reserve the expected cost of a call. Raises BudgetSpent, and reserves nothing, if it exceeds the budget."""
        with self._lock:
            total = self._spent.plus(self._under_way).plus(expected)
            if self.max_usd is not None and total.usd > self.max_usd:
                raise self._exceeded(f"${self._spent.usd:.4f}", f"${expected.usd:.4f}", f"${self.max_usd:.4f}")
            if self.max_tokens is not None and total.tokens > self.max_tokens:
                raise self._exceeded(
                    f"{self._spent.tokens:,} tokens", f"{expected.tokens:,}", f"{self.max_tokens:,} tokens"
                )
            self._under_way = self._under_way.plus(expected)

    def settle(self, expected: Cost, took: Cost) -> None:
        """Replace the reservation of a call that has ended by its actual cost."""
        with self._lock:
            self._under_way = self._under_way.minus(expected)
            self._spent = self._spent.plus(took)

    def _exceeded(self, spent: str, expected: str, allowed: str) -> BudgetSpent:
        under_way = ", and calls are under way" if self._under_way.tokens else ""
        return BudgetSpent(
            f"{spent} are spent of the {allowed} allowed{under_way}: the next call, of about {expected}, would go "
            "beyond; it was not made. Allow more to go on"
        )


class SpendingRecorder:
    """Records the spending of calls made while it is active, in this task and the tasks it starts."""

    def __init__(self) -> None:
        self.spending = Spending()
        self._lock = Lock()

    def add(self, spending: Spending) -> None:
        """Add the spending of one call. Thread-safe."""
        with self._lock:
            self.spending = self.spending.plus(spending)


_recorder: ContextVar[SpendingRecorder | None] = ContextVar("recorder", default=None)


@contextmanager
def record_spending() -> Iterator[SpendingRecorder]:
    """Record the spending of every `BudgetedChat` that is called within the block; blocks around it record it too."""
    recorder, around = SpendingRecorder(), _recorder.get()
    token = _recorder.set(recorder)
    try:
        yield recorder
    finally:
        _recorder.reset(token)
        if around is not None:
            around.add(recorder.spending)


def record_earlier_spending(spending: Spending) -> None:
    """Record earlier spending as if it were spent now, in the surrounding `record_spending` block, if there is one.

    This is for calls whose replies are used now but whose spending was not recorded, such as those of a killed run.
    """
    if (recorder := _recorder.get()) is not None:
        recorder.add(spending)


_task_budget: ContextVar[Budget | None] = ContextVar("task_budget", default=None)


def limit_task_spending(budget: Budget) -> None:
    """Apply this budget, too, to every `BudgetedChat` that this task and the tasks that it starts call from now on.

    This is for the budget of a single question, when many questions share the models.
    """
    _task_budget.set(budget)


class BudgetedChat(MeteredChat):
    """Wraps a chat model and calls it only while its budget lasts; other models may share the budget.

    Implements `core.protocols.StreamingChatModel`.

    The expected cost of a call is that of its question, estimated, and of an answer as long as the average of those
    before; the answers to the first calls may therefore exceed the budget. The actual cost is what the endpoint
    counted, or else an estimate. A failed call costs nothing, unless there was an answer that could not be used. A
    stream that broke off or was closed early costs its question and the text that had come, estimated. A cancelled call
    costs what was expected, since it may be charged. `price` defaults to that of the price tables. Raises UsageError if
    the budget limits money and the model's price is not known.
    """

    def __init__(self, model: ChatModel, budget: Budget, *, price: Price | None = None) -> None:
        super().__init__(model)
        self._budget = budget
        self._price = price or chat_price(model.name)
        self._check_price_known(budget)
        self._answer_count = self._answer_tokens = 0

    @asynccontextmanager
    async def _call(self, messages: Sequence[ChatMessage]) -> AsyncIterator[UsageMeter]:
        """Reserve the expected cost of a call, and at its end settle the measured cost.

        Raises BudgetSpent before a call that would exceed the budget.
        """
        meter = UsageMeter(estimate_message_tokens(messages))
        mean_length = self._answer_tokens // max(self._answer_count, 1)
        estimate = Usage(input_tokens=meter.input_tokens, output_tokens=mean_length)
        expected = self._cost(estimate)
        budgets = self._reserve(expected)
        without_usage, cancelled = Cost(), False
        try:
            yield meter
        except EndpointBadResponse:
            without_usage = expected
            raise
        except asyncio.CancelledError:
            without_usage, cancelled = expected, True
            raise
        finally:
            usage = meter.usage
            for budget in budgets:
                budget.settle(expected, without_usage if usage is None else self._cost(usage))
            spent = estimate if cancelled and usage is None else usage
            if (recorder := _recorder.get()) is not None and spent is not None:
                recorder.add(self._spending(spent, counted=meter.counted))
            if usage is not None:
                self._answer_count += 1
                self._answer_tokens += usage.output_tokens or 0

    def _reserve(self, expected: Cost) -> list[Budget]:
        """Reserve the expected cost in its budget and the task's, and return both. Raises BudgetSpent."""
        model_budget, task_budget = self._budget, _task_budget.get()
        model_budget.reserve(expected)
        if task_budget is None:
            return [model_budget]
        try:
            self._check_price_known(task_budget)
            task_budget.reserve(expected)
        except UsageError:  # BudgetSpent is one
            model_budget.settle(expected, Cost())
            raise
        return [model_budget, task_budget]

    def _check_price_known(self, budget: Budget) -> None:
        if self._price is None and budget.max_usd is not None:
            raise UsageError(
                f"the price of the model {self.name} is not known, so that no budget in US dollars can be kept",
                remedy=f"write it into a file of prices that {PRICES_VARIABLE} names, or set a budget in tokens",
            )

    def _spending(self, usage: Usage, *, counted: bool) -> Spending:
        sent, written = usage.input_tokens or 0, usage.output_tokens or 0
        return Spending(
            calls=1,
            input_tokens=sent,
            output_tokens=written,
            estimated=0 if counted else 1,
            price_usd=None if self._price is None else self._price.of(sent, written),
        )

    def _cost(self, usage: Usage) -> Cost:
        sent, written = usage.input_tokens or 0, usage.output_tokens or 0
        return Cost(sent + written, 0.0 if self._price is None else self._price.of(sent, written))
