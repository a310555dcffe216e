"""How British and American texts spell the same word: "licence" and "license", "organise" and "organize"."""

import re
import tomllib
from collections.abc import Iterable
from functools import cache
from importlib import resources

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.tokens import words

# Three letters before it, or "raise" were "raize". What no text has is never found, so there are no exceptions.
_ISE = lazy_regex(r"(\w{3,}[iy])([sz])((?:e[srd]?|ers|ing|able|ations?|ational)$)")
_WORD = lazy_regex(r"[^\W\d_]+")


def spelling_variants(word: str) -> tuple[str, ...]:
    """Other spellings of a word in lower case, in some form of it: stems tell whether a text has them.

    >>> spelling_variants("licences"), spelling_variants("organised"), spelling_variants("table")
    (('license',), ('organized',), ())
    """
    stem = next(iter(words(word)), "")
    if stem in _by_stem():
        return (_by_stem()[stem],)
    changed = _ISE.fullmatch(word)
    return () if changed is None else (f"{changed[1]}{'z' if changed[2] == 's' else 's'}{changed[3]}",)


def in_spelling_of(question: str, texts: Iterable[str]) -> str:
    """Spell words of a question as texts do that do not have them as they are asked.

    >>> in_spelling_of("What colour is the licence?", ["The color is grey.", "Licences are free."])
    'What color is the licence?'
    """
    variants = {word: spelling_variants(word.casefold()) for word in _WORD.findall(question)}
    if not any(variants.values()):
        return question
    said = {word for text in texts for word in words(text)}

    def spelled(found: re.Match[str]) -> str:
        word = found[0]
        if said.issuperset(words(word)):
            return word
        other = next((each for each in variants[word] if said.issuperset(words(each))), word)
        return other.capitalize() if word[0].isupper() and other is not word else other

    return _WORD.sub(spelled, question)


@cache
def _by_stem() -> dict[str, str]:
    """The other spelling of each word of the list, by its stem."""
    text = resources.files(__package__).joinpath("spelling_variants.toml").read_text("utf-8")
    pairs: list[list[str]] = tomllib.loads(text)["pairs"]
    return {stem: other for pair in pairs for one, other in (pair, pair[::-1]) for stem in words(one)}
