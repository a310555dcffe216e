"""The protocol of a metric, and the two conventions by which figures are computed.

A metric that needs no model is a row of `registry`; `scoring.saved_runs` adds metrics over a judge's stored verdicts.
"""

from typing import Literal, Protocol

from quoteweave.core.examples import Example, Prediction
from quoteweave.evaluation.statistics.aggregates import Aggregate, Row

Convention = Literal["strict", "published"]
"""The rules by which figures are computed.

`published`: as the code of each benchmark's authors computes them, including quirks. `strict`: by our own rules;
undefined and failed items are left out of a figure, and counted.
"""


class Metric(Protocol):
    """A metric: the columns of each question's row, and the aggregates over rows.

    Two attributes are optional. `compares_words = True` says that it compares the words of an answer with those of
    gold; it is then not computed if the answer is a letter or a paper's title, nor by `strict` if the answer abstains.
    `counts_failures = True` says that it measures how predictions failed; it is then computed for failed predictions by
    both conventions.

    >>> class Words:
    ...     name = "words"
    ...     aggregates = (mean_of("words"),)
    ...
    ...     def row(self, prediction: Prediction, example: Example) -> Row:
    ...         return {"words": float(len((prediction.response or "").split()))}
    >>> example = Example(id="q", query=Query(text="?"), reference=Reference())
    >>> Words().row(Prediction(example="q", response="one two"), example)
    {'words': 2.0}
    """

    name: str
    aggregates: tuple[Aggregate, ...]

    def row(self, prediction: Prediction, example: Example) -> Row:
        """The columns of one question, including counts; None for undefined, never NaN. Raises nothing."""
        ...
