"""Exact match and token F1 against a short gold answer (SQuAD)."""

import string
from collections import Counter

from quoteweave.core.examples import Example, Prediction
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.evaluation.statistics.aggregates import Aggregate, Row, mean_of
from quoteweave.evaluation.text.responses import MarkGrammar, scored_text, without_marks

_ARTICLE = lazy_regex(r"\b(?:a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


class ShortAnswer:
    """`exact_match` and `token_f1`, means over questions (Rajpurkar et al., SQuAD, 2016, section 6.1).

    Both texts are normalised: lower case, without ASCII punctuation, without the articles a, an and the, and with
    single spaces. `exact_match` is 1 if they are then equal. With the words of both as multisets,

        token_f1 = 2 |answer ∩ gold| / (|answer| + |gold|)

    and if either has no words, 1 if neither has, else 0 (as in SQuAD 2.0). The gold is `reference.short_answer`, else
    `reference.answer`; marks are removed from both. A long answer that contains a short gold matches it in part, never
    exactly. Undefined without a response or a gold answer.
    """

    name = "short_answer"
    compares_words = True
    aggregates: tuple[Aggregate, ...] = (mean_of("exact_match"), mean_of("token_f1"))

    def __init__(self, marks: MarkGrammar) -> None:
        self._marks = marks

    def row(self, prediction: Prediction, example: Example) -> Row:
        """`exact_match`, 0 or 1, and `token_f1`, 0 to 1."""
        text, reference = scored_text(prediction, self._marks), example.reference
        gold = reference.answer if reference.short_answer is None else reference.short_answer
        if text is None or gold is None:
            return {}
        ours, theirs = normalised(text).split(), normalised(without_marks(gold)).split()
        return {"exact_match": float(ours == theirs), "token_f1": _f1(ours, theirs)}


def normalised(text: str) -> str:
    """`text` normalised as in SQuAD."""
    return " ".join(_ARTICLE.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split())


def _f1(ours: list[str], theirs: list[str]) -> float:
    if not ours or not theirs:
        return float(ours == theirs)
    return 2 * (Counter(ours) & Counter(theirs)).total() / (len(ours) + len(theirs))
