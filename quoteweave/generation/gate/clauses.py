"""Cut a sentence into clauses, each with the closest part of what is cited."""

import re
from collections.abc import Iterator, Set
from functools import lru_cache

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.tokens import words
from quoteweave.generation.gate.cited_evidence import CitedEvidence

# Parts joined in this way are statements of their own. A comma alone does not cut, as what stands behind it may depend
# on words before it, such as "did not".
_JOINED = lazy_regex(
    r"[;:]\s|,?\s(?:but|while|whereas)\s|,\s(?:and|or|so)\s|\sand\s(?=(?:did|does|do|was|were|is|are|has|have|had|will"
    r"|would|can|could|should|may|might|none|no|not|never|nobody|nothing|neither)\b)"
)
_NUMBER = lazy_regex(r"\d+(?:[.,]\d+)*")
CLAUSES = lazy_regex(r"[,;:]\s|\s(?:and(?!\swithout\b)|but|while|whereas|as)\s")
# An opening such as "According to the mayor, it may rise." has is no clause by itself.
_OPENING = lazy_regex(
    r"^((?:According to|In|On|At|By|For|With|From|Since|During|As of|Under|Among)\s[^,;:]{1,80}),", re.IGNORECASE
)


@lru_cache(maxsize=256)
def content_words_of(statement: str) -> frozenset[str]:
    """The words of a sentence other than numbers."""
    return frozenset(word for word in words(statement) if not word[0].isdigit())


def closest_sentences(statement: str, evidence: CitedEvidence) -> list[str]:
    """The sentences of the quotes with most words of a statement; of several, those with most of its numbers."""
    closest, numbers = evidence.closest_sentences(content_words_of(statement)), set(_NUMBER.findall(statement))
    if len(closest) < 2 or not numbers:
        return closest
    counts = [len(numbers.intersection(_NUMBER.findall(sentence))) for sentence in closest]
    most = max(counts)
    return [sentence for sentence, count in zip(closest, counts, strict=True) if count == most]


def closest_part(sentence: str, content_words: Set[str]) -> str:
    """The part of a sentence that is a statement of its own and has most of these words."""
    return max(_JOINED.split(sentence), key=lambda part: len(content_words & content_words_of(part)))


def compared_clauses(statement: str, evidence: CitedEvidence) -> Iterator[tuple[str, str]]:
    """The clauses of a statement, each with the closest part of the closest sentence of the quotes.

    "Each received 20 milligrams" is compared with that part of "Each received 20 milligrams, and none fell ill", so
    that "none" is not taken for a denial of it.
    """
    for clause in CLAUSES.split(_OPENING.sub(r"\1", statement)):
        content_words = content_words_of(clause)
        if len(content_words) > 1:
            yield clause, closest_part(min(closest_sentences(clause, evidence), key=len, default=""), content_words)
