"""How long sentences may be that are compared word by word, as the time grows with the product of their lengths.

Each comparison asks here, so that none is left out of which `sentence_check` does not tell.
"""

from collections.abc import Sequence
from functools import lru_cache

from quoteweave.core.lazy_regex import lazy_regex

MAX_STATED, MAX_CITED = 150, 450
"""Most words and signs of a statement, and of a sentence of its evidence. "1,204" counts as three."""

_PIECE = lazy_regex(r"[^\W_]+|[^\w\s]")


def is_too_long(statement: str) -> bool:
    """Whether a statement is too long to be compared."""
    return _length(statement) > MAX_STATED


def is_too_long_to_cite(sentence: str) -> bool:
    """Whether a sentence of the evidence is too long to be compared."""
    return _length(sentence) > MAX_CITED


def has_too_long_sentence(sentences: Sequence[str]) -> bool:
    """Whether one of these sentences of the evidence is too long, except rows of a table, whose cells are compared."""
    return any(" | " not in sentence and is_too_long_to_cite(sentence) for sentence in sentences)


def are_comparable(statement: str, sentence: str) -> bool:
    """Whether a statement and a sentence of its evidence are short enough to be compared."""
    return not (is_too_long(statement) or is_too_long_to_cite(sentence))


@lru_cache(maxsize=1024)  # several comparisons ask for the same sentences
def _length(text: str) -> int:
    return sum(1 for _ in _PIECE.finditer(text))
