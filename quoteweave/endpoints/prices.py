"""Prices of models behind endpoints, from the user's own table or else the shipped one; and what an answer cost."""

import os
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError

from quoteweave.core.answers import EXTRACTIVE, Answer, Usage
from quoteweave.core.chat.usage import FREE, LOCAL_PREFIX, Price
from quoteweave.core.errors import UsageError
from quoteweave.core.examples import Spending
from quoteweave.core.files.jsonl import describe_validation_error
from quoteweave.core.files.toml import parse_toml
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.records import Record

PRICES_VARIABLE = "QUOTEWEAVE_PRICES"
"""The environment variable that names the user's own table."""
_FORM = 'under [chat], "model" = { input = 2.5, output = 10 }; under [embeddings], "model" = 0.02'
# The date in a model's name: asked for gpt-4o, OpenAI answers as gpt-4o-2024-08-06.
_DATE = lazy_regex(r"-\d{4}-\d{2}-\d{2}$")


class PriceTable(Record):
    """US dollars for a million tokens, by the model's name."""

    chat: Mapping[str, Price] = Field(default_factory=dict)
    embeddings: Mapping[str, Annotated[float, Field(ge=0, allow_inf_nan=False)]] = Field(default_factory=dict)


def chat_price(model: str | None) -> Price | None:
    """The price of a chat model's tokens; None for a model that is not in the tables, or has no name.

    A version with a date in its name costs the same as the model, unless a table has it; a model on this machine costs
    nothing. Raises UsageError if the user's own table cannot be read.
    """
    chat = price_table().chat
    if model is None:
        return None
    return chat.get(model) or chat.get(_DATE.sub("", model)) or (FREE if model.startswith(LOCAL_PREFIX) else None)


def embedding_price(model: str) -> float | None:
    """US dollars for a million tokens; None for a model that is not in the tables. Raises what `chat_price` does."""
    return price_table().embeddings.get(model)


def price_table() -> PriceTable:
    """All prices: those of the package, overridden by those of the file that QUOTEWEAVE_PRICES names.

    Files are read once. Raises UsageError, naming file and field, if the user's file cannot be read.
    """
    user_file = os.environ.get(PRICES_VARIABLE)
    return _merged_with(Path(user_file)) if user_file else _shipped()


def read_prices(text: str, source: str) -> PriceTable:
    """Parse a TOML table of prices. Raises UsageError, which names `source` and the field at fault."""
    try:
        return PriceTable.model_validate(parse_toml(text))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{source} is no TOML: {error}; prices are written so: {_FORM}") from error
    except ValidationError as error:
        raise UsageError(f"{source}: {describe_validation_error(error)}; prices are written so: {_FORM}") from error


@cache
def _shipped() -> PriceTable:
    name = "prices.toml"
    return read_prices(resources.files("quoteweave.endpoints").joinpath(name).read_text("utf-8"), name)


@cache
def _merged_with(path: Path) -> PriceTable:
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise UsageError(
            f"{path} cannot be read: {why}", remedy=f"set {PRICES_VARIABLE} to a file of prices, or unset it"
        ) from error
    user_prices, shipped_prices = read_prices(text, str(path)), _shipped()
    return PriceTable(
        chat={**shipped_prices.chat, **user_prices.chat},
        embeddings={**shipped_prices.embeddings, **user_prices.embeddings},
    )


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
