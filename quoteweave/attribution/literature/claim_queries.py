"""What the literature is searched for, to find the source of a claim: a few queries, made of its words by rule.

A whole sentence is a good query where a source ranks papers by some of its words, and finds nothing where it wants all
of them; a few rare words find something there. How rare a word is among papers is not known before they are searched,
so that it is told by its form.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import resources

from quoteweave.attribution.excerpts import Excerpt
from quoteweave.core.text.tokens import STOP_WORDS, words

RARE_WORDS = 4
"""Words of the query of rare words; of the one with the context, half are of the claim and half of the context."""

_WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")
_NUMBER = re.compile(r"[\d.,]+%?")


def claim_queries(excerpt: Excerpt) -> tuple[str, ...]:
    """Return at most three queries, each of other words: the claim, its rare words, and some of these with its context.

    The claim is asked as it is written, since its numbers and its wording may be the source's. Rare words are those
    that are written as names or with digits, and else the longest that are not common in papers of any field. In the
    context, which is what stands around the claim, rare words are chosen by the same rule, the nearest of equal ones.

    >>> claim_queries(Excerpt(mark=None, start=0, claim="Blur fools the ResNet.", text="Blur fools the ResNet."))
    ('Blur fools the ResNet.', 'ResNet fools Blur')
    """
    claim = _content_words(excerpt.claim)
    rare, known = _rarest(claim, RARE_WORDS), set(map(str.lower, claim))
    context = _rarest([word for word in _near(excerpt) if word.lower() not in known], RARE_WORDS // 2)
    both = [*rare[: RARE_WORDS // 2], *context] if context else []
    queries = (excerpt.claim, " ".join(rare), " ".join(both))
    return tuple(dict.fromkeys(query for query in queries if words(query)))


def _content_words(text: str) -> list[str]:
    """The words of a text that are neither stop words nor numbers, each once."""
    found = dict[str, str]()
    for match in _WORD.finditer(text):
        word = match[0]
        if word.lower() not in STOP_WORDS and not _NUMBER.fullmatch(word) and len(word) > 1:
            found.setdefault(word.lower(), word)
    return list(found.values())


def _near(excerpt: Excerpt) -> list[str]:
    """The content words around the claim, the nearest first."""
    at = excerpt.text.find(excerpt.claim)
    if at < 0:
        return _content_words(excerpt.text)
    before = _content_words(excerpt.text[:at])[::-1]
    after = _content_words(excerpt.text[at + len(excerpt.claim) :])
    return [word for pair in _alternating(before, after) for word in pair]


def _alternating(before: Sequence[str], after: Sequence[str]) -> Iterable[tuple[str, ...]]:
    for at in range(max(len(before), len(after))):
        yield tuple(words_of[at] for words_of in (before, after) if at < len(words_of))


def _rarest(found: Sequence[str], most: int) -> list[str]:
    ranked = sorted(range(len(found)), key=lambda at: (-_rarity(found[at], at), at))
    return [found[at] for at in ranked[:most] if _rarity(found[at], at) > 0]


@cache
def _common() -> frozenset[str]:
    """The stems of words that papers of any field have."""
    lines = resources.files(__package__).joinpath("common_words.txt").read_text("utf-8").splitlines()
    return frozenset(words(" ".join(line for line in lines if not line.startswith("#"))))


def _rarity(word: str, at: int) -> float:
    """How rare a word is likely to be among papers: 0 for one that they all have."""
    stems = words(word)
    if not stems or all(stem in _common() for stem in stems):
        return 0.0
    named = any(map(str.isdigit, word)) or word[1:] != word[1:].lower() or (at > 0 and word[0].isupper())
    return len(word) + (20 if named else 0)
