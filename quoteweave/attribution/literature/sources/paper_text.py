"""The text of a paper: joins and splits its pages, and finds passages in it by their words."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from math import log

from pydantic import Field

from quoteweave.core.records import Quote, Record
from quoteweave.core.text.tokens import words as tokens

PASSAGES = 5
"""Passages that a search in a text returns, unless another number is asked for."""
PASSAGE_WORDS = 120
"""Words of a passage, at most; a longer paragraph is cut into several, each beginning in the middle of the last."""


class TextPassage(Record):
    """A passage of a paper with words that were looked for."""

    page: int = Field(ge=0, description="from 0")
    text: str
    exact: bool = Field(description="whether it has all the words in their order, next to each other")


class TextPassages(Record):
    """The passages of a paper that have words which were looked for, best first."""

    passages: tuple[TextPassage, ...]
    exact: int = Field(ge=0, description="how many passages of the whole text have the words in their order")
    some: int = Field(ge=0, description="how many others have some of the words, not counting words such as 'the'")


def join_pages(pages: Iterable[str]) -> str:
    """Join the texts of pages by blank lines; blank lines within a page are removed, so that `split_pages` can split.

    >>> split_pages(join_pages(["Grain.\\n\\nTimber.", "", "Zinc."]))
    ['Grain.\\nTimber.', '', 'Zinc.']
    """
    return "\n\n".join("\n".join(line for line in page.splitlines() if line.strip()) for page in pages)


def split_pages(text: str) -> list[str]:
    """Return the texts of the pages that `join_pages` joined."""
    return text.split("\n\n")


def text_of_quotes(quotes: Sequence[Quote]) -> str:
    """Return the text of a document's quotes, page by page, without headers and footers."""
    pages: dict[int, list[str]] = {number: [] for number in range(1 + max((quote.page for quote in quotes), default=0))}
    for quote in quotes:
        if quote.retrievable:
            pages[quote.page].append(quote.all_text())
    return join_pages("\n".join(texts) for texts in pages.values())


def find_in_text(text: str, words: str, k: int = PASSAGES) -> TextPassages:
    """Return at most `k` passages of a text of pages that have all of these words in order, or else some of them.

    Case, accents, punctuation and line breaks do not matter, and words are stemmed. Passages that have all words in
    their order come first, then the others by how rare the words are that they have; equal ones in text order.
    """
    word_stems = tokens(words, keep_stop_words=True)
    rare = dict.fromkeys(tokens(words)) or dict.fromkeys(word_stems)
    windows = [(page, window, tokens(window, keep_stop_words=True)) for page, window in _windows(text)]
    counts = Counter(token for _, _, window_tokens in windows for token in set(window_tokens) & rare.keys())
    weights = {token: log(1 + len(windows) / counts[token]) for token in rare if counts[token]}
    exact, some = list[tuple[float, int]](), list[tuple[float, int]]()
    for number, (_, _, window_tokens) in enumerate(windows):
        score = sum(weights[token] for token in weights.keys() & set(window_tokens))
        if word_stems and _contains(window_tokens, word_stems):
            exact.append((-score, number))
        elif score:
            some.append((-score, number))
    best = [(number, True) for _, number in sorted(exact)] + [(number, False) for _, number in sorted(some)]
    shown = _apart(best, windows)
    return TextPassages(
        passages=tuple(
            TextPassage(page=windows[number][0], text=windows[number][1], exact=is_exact)
            for number, is_exact in shown[:k]
        ),
        exact=sum(is_exact for _, is_exact in shown),
        some=sum(not is_exact for _, is_exact in shown),
    )


def _windows(text: str) -> Iterator[tuple[int, str]]:
    """Each passage with its page: a paragraph, or a part of one."""
    for page, content in enumerate(split_pages(text)):
        for paragraph in content.splitlines():
            paragraph_words = re.findall(r"\S+", paragraph)
            for start in range(0, max(1, len(paragraph_words) - PASSAGE_WORDS // 2), PASSAGE_WORDS // 2):
                yield page, " ".join(paragraph_words[start : start + PASSAGE_WORDS])


def _contains(text_tokens: Sequence[str], wanted: Sequence[str]) -> bool:
    starts = (at for at, token in enumerate(text_tokens) if token == wanted[0])
    return any(list(text_tokens[at : at + len(wanted)]) == list(wanted) for at in starts)


def _apart(
    best: Sequence[tuple[int, bool]], windows: Sequence[tuple[int, str, Sequence[str]]]
) -> list[tuple[int, bool]]:
    """The passages, best first, without those that share half of their words with a better neighbour."""
    chosen: set[int] = set()
    apart = []
    for number, is_exact in best:
        neighbours = chosen & {number - 1, number + 1}
        if not any(_overlap(windows, number, neighbour) for neighbour in neighbours):
            chosen.add(number)
            apart.append((number, is_exact))
    return apart


def _overlap(windows: Sequence[tuple[int, str, Sequence[str]]], a: int, b: int) -> bool:
    first, second = (windows[number][1].split(" ") for number in sorted((a, b)))
    half = first[PASSAGE_WORDS // 2 :]
    return bool(half) and windows[a][0] == windows[b][0] and second[: len(half)] == half
