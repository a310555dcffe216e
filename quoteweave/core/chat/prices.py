"""Prices of a chat model's tokens."""

from collections.abc import Callable

from pydantic import Field

from quoteweave.core.records import Record


class Price(Record):
    """US dollars for a million tokens of a model."""

    input: float = Field(ge=0, allow_inf_nan=False)
    output: float = Field(ge=0, allow_inf_nan=False)

    def of(self, input_tokens: int, output_tokens: int) -> float:
        """US dollars."""
        return (input_tokens * self.input + output_tokens * self.output) / 1_000_000


LOCAL_PREFIX = "local="
"""Prefix in the name of a model on this machine; its checkpoint follows."""
FREE = Price(input=0, output=0)

PriceLookup = Callable[[str | None], Price | None]
"""Looks up the price of a model by its name (None if a run does not record it); None if the price is unknown."""
