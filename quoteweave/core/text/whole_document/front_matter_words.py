"""The words with which people ask for front matter, and words in front matter (`front_matter.toml`), by language."""

import tomllib
from functools import cache
from importlib import resources
from typing import Any

from quoteweave.core.text.word_patterns import alternation


@cache
def front_matter_languages() -> list[dict[str, Any]]:
    """The tables of all languages."""
    text = resources.files(__package__).joinpath("front_matter.toml").read_text("utf-8")
    return list(tomllib.loads(text).values())


@cache
def front_matter_words(key: str) -> frozenset[str]:
    """The words under a key in all languages, in lower case."""
    return frozenset(word for language in front_matter_languages() for word in language.get(key, ()))


@cache
def front_matter_pattern(key: str) -> str:
    """A regular expression that matches any of these words, the longest first."""
    return alternation(front_matter_words(key))
