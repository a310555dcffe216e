"""Regular expressions of many words that match fast and are compiled only when needed."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, cached_property
from typing import Any

from quoteweave.core.lazy_regex import lazy_regex

_LETTERS = lazy_regex(r"[^\W\d_]+")
# Letters that case-insensitive patterns match with "i" and "s", but that do not become these in lower case.
_SAME_LETTERS = str.maketrans("İıſ", "Iis")


class MentionPattern:
    """A pattern every match of which contains a word of `having`; compiled for the first text that has such a word.

    Few texts refer to a place or compare, and compiling the patterns of all languages takes a third of a second.
    """

    def __init__(self, text: str, having: Iterable[str] = ("",), *, flags: int = 0) -> None:
        self._text, self._flags = text, flags
        words = {word.lower() for word in having}
        self._words = {word for word in words if word.isalpha() and word < "\u3000"}
        self._lengths = {len(word) for word in self._words}
        self._substrings = words - self._words

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The pattern itself."""
        return re.compile(self._text, self._flags)

    def finditer(self, text: str, *bounds: int) -> Iterator[re.Match[str]]:
        """As in `re.Pattern`."""
        return self.compiled.finditer(text, *bounds) if self._may_match(text) else iter(())

    def findall(self, text: str) -> list[str]:
        """As in `re.Pattern`."""
        return self.compiled.findall(text) if self._may_match(text) else []

    def match(self, text: str, *bounds: int) -> re.Match[str] | None:
        """As in `re.Pattern`."""
        return self.compiled.match(text, *bounds) if self._may_match(text) else None

    def search(self, text: str, *bounds: int) -> re.Match[str] | None:
        """As in `re.Pattern`."""
        return self.compiled.search(text, *bounds) if self._may_match(text) else None

    def sub(self, replacement: str | Callable[[re.Match[str]], str], text: str) -> str:
        """As in `re.Pattern`."""
        return self.compiled.sub(replacement, text) if self._may_match(text) else text

    def _may_match(self, text: str) -> bool:
        if "compiled" in self.__dict__:
            return True
        lowered = text.translate(_SAME_LETTERS).lower()
        # A number or label may follow a word without a space: "TableA1", "pageiv".
        begun = {letters[:length] for letters in _LETTERS.findall(lowered) for length in self._lengths}
        return not self._words.isdisjoint(begun) or any(word in lowered for word in self._substrings)


def without_case(text: str) -> str:
    """The text in lower case; letters that case-insensitive patterns treat as equal become equal."""
    return text.translate(_SAME_LETTERS).casefold()


def alternation(words: Iterable[str]) -> str:
    r"""Return a regular expression that matches any of these words, all in one case, as long as possible.

    Words with a common beginning share it, so that few letters are compared where no word matches.

    >>> print(alternation(["chap.", "chapter", "page", "pages"]))
    (?:(?:chap(?:\.|ter)|page(?:s)?))
    """
    beginnings: dict[str, Any] = {}
    for word in sorted(set(words)):
        reached = beginnings
        for letter in word:
            reached = reached.setdefault(letter, {})
        reached[""] = {}
    return f"(?:{_following_pattern(beginnings)})"


def _following_pattern(beginnings: Mapping[str, Any]) -> str:
    """A pattern of what may follow what has been matched."""
    branches = [_branch(letter, following) for letter, following in beginnings.items() if letter]
    pattern = f"(?:{'|'.join(branches)})" if len(beginnings) > 1 else "".join(branches)
    return f"{pattern}?" if branches and "" in beginnings else pattern


def _branch(letter: str, following: Mapping[str, Any]) -> str:
    """A pattern of a letter and what may follow it; a loop, because a call per letter would be slow with so many."""
    written = [_escaped(letter)]
    while len(following) == 1 and "" not in following:
        ((letter, following),) = following.items()
        written.append(_escaped(letter))
    return "".join(written) + _following_pattern(following)


_escaped = cache(re.escape)
