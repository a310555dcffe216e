"""Cost of answers: words, input and output tokens, their price, and latency."""

from quoteweave.core.chat.usage import PriceLookup
from quoteweave.core.examples import Example, Prediction
from quoteweave.evaluation.statistics.aggregates import (
    AMOUNT,
    Aggregate,
    Row,
    deviation_of,
    mean_of,
    total_of,
    with_squares,
)
from quoteweave.evaluation.text.responses import MarkGrammar, count_words, scored_text


class Expense:
    """`words`, `tokens.input`, `tokens.output` and `usd`, means over questions, `words.std`, and `usd.total`, the sum.

    Words are pieces between white space that contain a letter or a digit, in the answer without its thinking and its
    marks. Tokens are as the endpoint counted them, thinking included, and cannot be compared with those of other
    tokenizers. None of these figures says whether an answer is good. Words are undefined without a response, tokens if
    they were not reported, and the price if that of the model, or either number of tokens, is not known.
    """

    name = "expense"
    aggregates: tuple[Aggregate, ...] = (
        *(mean_of(column, limits=AMOUNT) for column in ("words", "tokens.input", "tokens.output", "usd")),
        deviation_of("words"),
        total_of("usd.total", "usd"),
    )

    def __init__(self, marks: MarkGrammar, prices: PriceLookup = lambda _: None) -> None:
        self._marks = marks
        self._prices = prices

    def row(self, prediction: Prediction, example: Example) -> Row:  # noqa: ARG002  # a metric is given both
        """Counts of words and tokens; US dollars."""
        text = scored_text(prediction, self._marks)
        input_tokens, output_tokens = prediction.usage.input_tokens, prediction.usage.output_tokens
        price = self._prices(prediction.model)
        row = {
            "words": None if text is None else float(count_words(text)),
            "tokens.input": None if input_tokens is None else float(input_tokens),
            "tokens.output": None if output_tokens is None else float(output_tokens),
            "usd": None
            if price is None or input_tokens is None or output_tokens is None
            else price.of(input_tokens, output_tokens),
        }
        return with_squares(row, "words")


WITHIN = (1, 5, 10, 30, 60)
"""Limits in seconds."""


class Latency:
    """`seconds`, a mean over questions, `seconds.total`, their sum, and `within_1s` to `within_60s`, shares of them.

    Seconds are from question to answer, as the run recorded them: retrieval, the model's calls and its thinking, failed
    attempts, and waiting for other questions that were asked at the same time. They depend on the machine, the endpoint
    and the `concurrency` of the run, so only settings that shared these can be compared. Undefined if no time was
    recorded, as in files of responses.
    """

    name = "latency"
    aggregates: tuple[Aggregate, ...] = (
        mean_of("seconds", limits=AMOUNT),
        total_of("seconds.total", "seconds"),
        *(mean_of(f"within_{limit}s") for limit in WITHIN),
    )

    def row(self, prediction: Prediction, example: Example) -> Row:  # noqa: ARG002  # a metric is given both
        """`seconds`, and 1 or 0 for each limit."""
        seconds = prediction.seconds
        if seconds is None:
            return {}
        return {"seconds": seconds, **{f"within_{limit}s": float(seconds <= limit) for limit in WITHIN}}
