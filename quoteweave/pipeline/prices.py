"""The price of an answer: what the tokens of all its model calls cost."""

from quoteweave.core.answers import EXTRACTIVE, Answer, Usage
from quoteweave.core.chat.usage import FREE
from quoteweave.core.examples import Spending
from quoteweave.endpoints.prices import chat_price


def with_price(answer: Answer) -> Answer:
    """Return the answer with the price of its tokens by the table of prices; extracted answers are free.

    If the answer's text comes from a folder of saved calls, its price is that of writing it. Other saved calls are not
    counted (see `add_spending`). Raises UsageError if the user's own table of prices cannot be read.
    """
    return answer.model_copy(update={"price_usd": price_of(answer.model, answer.usage)})


def price_of(model: str, usage: Usage) -> float | None:
    """Return the cost of a model's tokens in US dollars; None if it is not known. Raises what `with_price` raises."""
    price = FREE if model == EXTRACTIVE else chat_price(model)
    if price == FREE:
        return 0.0
    input_tokens, output_tokens = usage.input_tokens, usage.output_tokens
    if price is None or input_tokens is None or output_tokens is None:
        return None
    return price.of(input_tokens, output_tokens)


def add_spending(answer: Answer, spending: Spending) -> Answer:
    """Return the answer with the tokens and cost of further model calls added to its usage and price.

    `spending` is what `record_spending` recorded: the calls of every chat model that is made by its name, except calls
    that a folder of saved calls answered. Tokens are None if an endpoint did not count them.
    """
    if not spending.calls:
        return answer
    usage = Usage() if spending.estimated else Usage(**spending.model_dump(include=set(Usage.model_fields)))
    return add_usage(answer, usage, None if spending.estimated else spending.price_usd)


def add_usage(answer: Answer, usage: Usage, price_usd: float | None) -> Answer:
    """Return the answer with these tokens added to its usage, and their cost in US dollars to its price."""
    price = None if answer.price_usd is None or price_usd is None else answer.price_usd + price_usd
    return answer.model_copy(update={"usage": answer.usage.plus(usage), "price_usd": price})
