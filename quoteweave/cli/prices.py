"""What chat models cost, by the table of prices that comes with the package."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quoteweave.evaluation.metrics.expense import Price


def chat_price(model: str | None) -> "Price | None":
    """US dollars for a million tokens in and out; None for a model that is not in the table."""
    return None if model is None else _chat_prices().get(model)


@cache
def _chat_prices() -> "Mapping[str, Price]":
    return read_prices(resources.files("quoteweave.endpoints").joinpath("prices.toml").read_text("utf-8"))


def read_prices(table: str) -> "Mapping[str, Price]":
    """The prices under `[chat]`, each written `model = { input = 2.5, output = 10 }`; none where there are none."""
    from quoteweave.evaluation.metrics.expense import Price

    return {name: Price.model_validate(price) for name, price in tomllib.loads(table).get("chat", {}).items()}


def in_usd(price: "Price", input_tokens: int, output_tokens: int) -> float:
    """What so many tokens cost."""
    return (input_tokens * price.input + output_tokens * price.output) / 1e6
