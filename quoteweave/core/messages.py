"""Parts of messages: numbers of things in words ("2 documents", "a, b and 3 more"), shortened texts, similar names."""

import difflib
from collections.abc import Iterable, Sequence

from quoteweave.core.lazy_regex import lazy_regex

# How many names a message lists; the rest are only counted.
MAX_NAMED = 10


def pluralize(number: int, singular: str, plural: str | None = None) -> str:
    """A number with its noun, singular or plural; pass `plural` where it is not the singular with an s."""
    return f"{number} {singular if number == 1 else plural or f'{singular}s'}"


def join_names(names: Sequence[str], most: int = MAX_NAMED) -> str:
    """Join at most `most` names with commas, followed by how many more there are."""
    remaining = len(names) - most
    return ", ".join(names[:most]) + (f" and {remaining} more" if remaining > 0 else "")


def shorten_to_line(text: str, limit: int) -> str:
    """The text on one line of at most `limit` characters, the last of them "…" where it is cut."""
    return shorten(" ".join(text.split()), limit)


def shorten(text: str, limit: int) -> str:
    """The first `limit` characters of a text, the last of them "…" where it is cut."""
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"


def replace_lone_surrogates(text: str) -> str:
    """Replace lone surrogates by question marks: they cannot be encoded or printed, and tokenizers refuse them."""
    return text.encode("utf-8", "replace").decode()


MAX_SUGGESTIONS = 3
# The least similarity: one letter added, missing, wrong or moved, in a name of four to seven letters.
MIN_SIMILARITY = 0.75
# The least length of a word that is significant by itself, in characters.
MIN_WORD_CHARACTERS = 4
_WORDS = lazy_regex(r"[^\W_]+")


def similar_names(text: str, known: Iterable[str]) -> list[str]:
    """Return at most three of the `known` names that `text` may have been meant for, the likeliest first.

    Case is ignored. Of paths only the last part is compared, without its suffix: names are not similar because they
    are in one folder or have one format.
    """
    names = list(known)
    same = [name for name in names if name.casefold() == text.casefold()]
    if same:
        return same[:MAX_SUGGESTIONS]
    same_end = [name for name in names if name.casefold().endswith(f"/{text.casefold()}")]
    wanted_stem = _stem(text)
    scored = sorted((-_likeness(_stem(name), wanted_stem), name) for name in names)
    return list(dict.fromkeys([*same_end, *(name for score, name in scored if -score >= MIN_SIMILARITY)]))[
        :MAX_SUGGESTIONS
    ]


def _likeness(stem: str, wanted_stem: str) -> float:
    """Similarity from 0 to 1; at least `MIN_SIMILARITY` for a name that contains all words of the one asked for."""
    words = set(_WORDS.findall(wanted_stem))
    least = (
        MIN_SIMILARITY
        if words <= set(_WORDS.findall(stem)) and any(len(word) >= MIN_WORD_CHARACTERS for word in words)
        else 0.0
    )
    matcher = difflib.SequenceMatcher(None, stem, wanted_stem)
    if matcher.real_quick_ratio() < MIN_SIMILARITY or matcher.quick_ratio() < MIN_SIMILARITY:
        return least
    return max(least, matcher.ratio())


def _stem(name: str) -> str:
    last = name.casefold().rpartition("/")[2]
    return last.rpartition(".")[0] or last
