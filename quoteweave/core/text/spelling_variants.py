"""British and American spellings: finds the other spelling of a word, by rule or in `spelling_variants.toml`."""

import re
from collections.abc import Iterable
from functools import cache

from quoteweave.core.files.toml import shipped_toml
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.tokens import words

# An ending with "s" in British and "z" in American spelling, after at least three letters, or "raise" would become
# "raize". Forms that are not words do no harm, because no text contains them, so there are no exceptions.
_ISE = lazy_regex(r"(\w{3,}[iy])([sz])((?:e[srd]?|ers|ing|able|ations?|ational)$)")
_LETTERS = lazy_regex(r"[^\W\d_]+")


def spelling_variant(word: str) -> str | None:
    """The British or American spelling of a lower-case word in some form of it; compare stems to find it in a text.

    >>> spelling_variant("licences"), spelling_variant("organised"), spelling_variant("table")
    ('license', 'organized', None)
    """
    stem = next(iter(words(word)), "")
    if stem in _spellings():
        return _spellings()[stem]
    changed = _ISE.fullmatch(word)
    return None if changed is None else f"{changed[1]}{'z' if changed[2] == 's' else 's'}{changed[3]}"


def in_spelling_of(question: str, texts: Iterable[str]) -> str:
    """Rewrite words of a question, except names, in the spelling of the texts, if the texts lack the given spelling.

    >>> in_spelling_of("What colour is the licence?", ["The color is grey.", "Licences are free."])
    'What color is the licence?'
    """
    variants = _variants(question)
    if not variants:
        return question
    known_words = {word for text in texts for word in words(text)}

    def spelled(match: re.Match[str]) -> str:
        word, variant = match[0], variants.get(match.start())
        if variant is None or known_words.issuperset(words(word)) or not known_words.issuperset(words(variant)):
            return word
        return variant.capitalize() if word[0].isupper() else variant

    return _LETTERS.sub(spelled, question)


def other_spellings(question: str) -> dict[str, frozenset[str]]:
    """The words of a question that can be spelled otherwise, except names, each with the words of the other spelling.

    >>> other_spellings("What colour is Grey Hall?")
    {'colour': frozenset({'color'})}
    """
    variants = _variants(question).items()
    return {word: frozenset(words(variant)) for start, variant in variants for word in words(question[start:])[:1]}


def _variants(question: str) -> dict[int, str]:
    """The other spelling of each word of a question that has one and is no name, by the word's position."""
    matches = (match for match in _LETTERS.finditer(question) if not _is_name(match, question))
    variants = ((match.start(), spelling_variant(match[0].casefold())) for match in matches)
    return {start: variant for start, variant in variants if variant is not None}


def _is_name(word: re.Match[str], question: str) -> bool:
    """Whether a word of a question has a capital and is not its first word."""
    return not word[0][0].islower() and bool(question[: word.start()].strip())


@cache
def _spellings() -> dict[str, str]:
    """The other spelling of each word of the list, by its stem."""
    pairs: list[list[str]] = shipped_toml(__package__, "spelling_variants.toml")["pairs"]
    return {stem: variant for pair in pairs for spelling, variant in (pair, pair[::-1]) for stem in words(spelling)}
