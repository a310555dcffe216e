"""The words with which people ask for front matter, and words in front matter (`front_matter.toml`), by language."""

from functools import cache
from typing import Any

from quoteweave.core.files.toml import shipped_toml
from quoteweave.core.text.word_patterns import alternation


@cache
def front_matter_languages() -> list[dict[str, Any]]:
    """The tables of all languages."""
    return list(shipped_toml(__package__, "front_matter.toml").values())


@cache
def front_matter_words(key: str) -> frozenset[str]:
    """The words under a key in all languages, in lower case."""
    return frozenset(word for language in front_matter_languages() for word in language.get(key, ()))


@cache
def front_matter_pattern(key: str) -> str:
    """A regular expression that matches any of these words, the longest first."""
    return alternation(front_matter_words(key))
