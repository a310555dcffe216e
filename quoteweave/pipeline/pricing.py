"""What an answer cost."""

from quoteweave.core.answers import Answer
from quoteweave.core.chat.prices import FREE
from quoteweave.endpoints.prices import chat_price
from quoteweave.generation.extractive import MODEL


def priced(answer: Answer) -> Answer:
    """The answer with the price of the tokens that its model counted, by the table of prices; extracted ones are free.

    A call that is answered from a folder of kept calls has the price that it had. Raises UsageError where the user's
    own table of prices cannot be read.
    """
    return answer.model_copy(update={"price_usd": _price(answer)})


def _price(answer: Answer) -> float | None:
    price = FREE if answer.model == MODEL else chat_price(answer.model)
    if price == FREE:
        return 0.0
    sent, said = answer.usage.input_tokens, answer.usage.output_tokens
    return None if price is None or sent is None or said is None else price.of(sent, said)
