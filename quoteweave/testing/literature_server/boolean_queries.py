"""Queries with operators: `fish (ladder | "fish pass") -trout` and `(elmo AND "sesame street") NOT cookie`."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from quoteweave.core.text.tokens import words

Matches = Callable[[Sequence[str]], bool]
"""Whether the words of a text match."""


@dataclass(frozen=True)
class Syntax:
    """How operators are written; terms without one between them are joined by and."""

    token: re.Pattern[str]
    both: str
    either: str
    no: str


BULK = Syntax(re.compile(r'"[^"]*"|[()|+]|(?<!\S)-(?=\S)|[^\s()|+"]+'), "+", "|", "-")
"""Semantic Scholar's bulk search; `~N`, by which words are matched that nearly are the same, is left unread."""
OPENALEX = Syntax(re.compile(r'"[^"]*"|[()]|[^\s()"]+'), "AND", "OR", "NOT")


def parse_query(query: str, syntax: Syntax) -> Matches:
    """What a query asks for. Raises ValueError for one that ends early, or has a bracket too many."""
    parser = _Parser(syntax.token.findall(query), syntax)
    return parser.whole()


class _Parser:
    def __init__(self, tokens: list[str], syntax: Syntax) -> None:
        self._tokens, self._syntax = tokens, syntax

    def whole(self) -> Matches:
        found = self._either()
        if self._tokens:
            raise ValueError(f"{self._tokens[0]!r} is not expected")
        return found

    def _next(self) -> str | None:
        return self._tokens[0] if self._tokens else None

    def _either(self) -> Matches:
        parts = [self._both()]
        while self._next() == self._syntax.either:
            self._tokens.pop(0)
            parts.append(self._both())
        return lambda text: any(part(text) for part in parts)

    def _both(self) -> Matches:
        parts = [self._one()]
        while self._next() not in (None, ")", self._syntax.either):
            if self._next() == self._syntax.both:
                self._tokens.pop(0)
            parts.append(self._one())
        return lambda text: all(part(text) for part in parts)

    def _one(self) -> Matches:
        if not self._tokens:
            raise ValueError("the query ends where a word is expected")
        token = self._tokens.pop(0)
        if token == self._syntax.no:
            inner = self._one()
            return lambda text: not inner(text)
        if token == "(":  # noqa: S105 - a bracket of a query
            inside = self._either()
            if not self._tokens or self._tokens.pop(0) != ")":
                raise ValueError("a bracket is not closed")
            return inside
        return _term(token)


def _term(token: str) -> Matches:
    if token.endswith("*") and len(token) > 1:
        start = token[:-1].lower()
        return lambda text: any(word.startswith(start) for word in text)
    wanted = words(re.sub(r"~\d*$", "", token))
    if token.startswith('"'):
        return lambda text: any(list(text[at : at + len(wanted)]) == wanted for at in range(len(text)))
    return lambda text: all(word in text for word in wanted)
