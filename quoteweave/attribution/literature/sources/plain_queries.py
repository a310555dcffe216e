"""What sources are searched for: plain words without operators, no longer than a URL holds; and how many papers."""

import re
from bisect import bisect_right
from itertools import accumulate
from urllib.parse import quote_plus

from quoteweave.attribution.literature.sources.papers import PublicationDate
from quoteweave.core.errors import UsageError

MOST_A_PAGE = 100
"""Most papers that are asked for at once; both Semantic Scholar and OpenAlex take no more."""
_LONGEST_ENCODED = 1500
"""Bytes of a query in a URL; OpenAlex takes some 4 KB for the whole URL."""
# Semantic Scholar finds nothing for words with hyphens; the others are operators of one source or the other.
_OPERATORS = re.compile(r"[\s+|&/\"*()~?!^:\\\[\]{}<>=\u2010-\u2015\u2212-]+|[\x00-\x1f\x7f]+")
_BOOLEAN = re.compile(r"\b(?:AND|OR|NOT)\b")


def plain_query(text: str) -> tuple[str, str | None]:
    """Return a text as a query of plain words, and a note where its end was left out.

    >>> plain_query('multi-hop "question answering" NOT (vision)')
    ('multi hop question answering not vision', None)
    """
    text = text[: 20 * _LONGEST_ENCODED].encode("utf-8", "replace").decode()  # halves of characters cannot be sent
    words = _BOOLEAN.sub(lambda found: found.group().lower(), _OPERATORS.sub(" ", text)).split()
    query = " ".join(words)
    cut = _beginning(words)
    if cut == query:
        return query, None
    return cut, f"The query is longer than a source takes; its first {len(cut)} characters were searched for."


def _beginning(words: list[str]) -> str:
    """As many words as fit into a URL; of a first one that does not, as many of its characters."""
    ends = list(accumulate(len(quote_plus(word)) + 1 for word in words))
    kept = bisect_right(ends, _LONGEST_ENCODED)
    if kept or not words:
        return " ".join(words[:kept])
    return words[0][: bisect_right(list(accumulate(len(quote_plus(each)) for each in words[0])), _LONGEST_ENCODED)]


def searchable(query: str, k: int) -> tuple[str, tuple[str, ...]]:
    """Return a query as `plain_query` does, with notes for who reads the results; empty where it holds no word.

    Raises UsageError for a `k` below 1.
    """
    if k < 1:
        raise UsageError(f"k is {k}; ask for 1 result or more")
    words, note = plain_query(query)
    if not any(map(str.isalnum, words)):
        return "", ("The query holds no word, so that nothing was searched for.",)
    return words, () if note is None else (note,)


def first_page(k: int, before: PublicationDate | None) -> int:
    """How many papers to ask for at first to show `k`: more with a date, by which some are left out here."""
    return min(MOST_A_PAGE, k if before is None else 2 * k)
