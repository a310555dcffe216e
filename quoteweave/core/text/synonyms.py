"""English words that mean the same as a question's, and which words are frequent, from WordNet 3.0.

`tools/make_synonyms.py` writes the list; WordNet's licence is in `synonyms.licence.txt`.
"""

import gzip
from collections.abc import Callable
from functools import cache
from importlib import resources

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.foreign_languages import foreign_language
from quoteweave.core.text.question_analysis import MAX_ANALYSED_CHARACTERS, words_alike
from quoteweave.core.text.tokens import words

MAX_SYNONYMS = 3
"""The most synonyms that replace a word: the likeliest of those that the texts have."""
FREQUENT_MARK = "*"
_LETTERS = lazy_regex(r"[^\W\d_]+(?:-[^\W\d_]+)*")


def synonyms_for(question: str, is_known: Callable[[str], bool]) -> dict[str, tuple[str, ...]]:
    """Return the words of a question that texts do not have, each with synonyms that they have, likeliest first.

    `is_known` says whether texts have a word, stemmed. Names, and questions in other languages, have no synonyms; nor
    have words for which others are searched anyway (`words_alike`).

    >>> synonyms_for("May grown-ups touch the engine?", {"adult", "motor"}.__contains__)
    {'grown-ups': ('adult',), 'engine': ('motor',)}
    """
    synonyms: dict[str, tuple[str, ...]] = {}
    if len(question) > MAX_ANALYSED_CHARACTERS or foreign_language(question) is not None:
        return synonyms
    for match in _LETTERS.finditer(question):
        if match[0][0].isupper() and question[: match.start()].strip():
            continue
        compound = match[0].casefold()
        is_listed = "-" in compound and _synonyms_of(compound.replace("-", "")) != ""
        for word in [compound] if is_listed else compound.split("-"):
            stems = words(word)
            if stems and not any(is_known(stem) or any(map(is_known, words_alike(stem))) for stem in stems):
                candidates = _synonyms_of(word.replace("-", "")).split()
                if known := [candidate for candidate in candidates if all(map(is_known, words(candidate)))]:
                    synonyms[word] = tuple(known[:MAX_SYNONYMS])
    return synonyms


def is_frequent(stem: str) -> bool:
    """Whether a word, stemmed, is frequent in English ("money"), so that texts often say it by another word."""
    return stem in _list()[1]


def _synonyms_of(word: str) -> str:
    """The synonyms of a word, likeliest first, with spaces between them; "" for none."""
    return _list()[0].get("".join(words(word)), "")


@cache
def _list() -> tuple[dict[str, str], frozenset[str]]:
    """The synonyms of each word, by its stem, and the stems of frequent words."""
    packed = resources.files(__package__).joinpath("synonyms.txt.gz").read_bytes()
    lines = [line.partition(" ") for line in gzip.decompress(packed).decode().splitlines()]
    synonyms = {stem.removesuffix(FREQUENT_MARK): listed for stem, _, listed in lines}
    return synonyms, frozenset(stem[:-1] for stem, _, _ in lines if stem.endswith(FREQUENT_MARK))
