"""Parts of messages: numbers of things in words ("2 documents", "a, b and 3 more"), and names like a mistyped one."""

import difflib
import re
from collections.abc import Iterable, Sequence

# Names in a list for people; the rest is counted.
MOST_NAMED = 10


def counted(number: int, singular: str, plural: str | None = None) -> str:
    """The number and the noun in its right form; `plural` where that is not the singular with an s."""
    return f"{number} {singular if number == 1 else plural or f'{singular}s'}"


def listed(names: Sequence[str], most: int = MOST_NAMED) -> str:
    """The names with commas, `most` of them at most; how many more there are stands behind these."""
    left = len(names) - most
    return ", ".join(names[:most]) + (f" and {left} more" if left > 0 else "")


MOST = 3
# How alike names have to be: one letter too many, too few, wrong or in another place, in a name of four to seven.
ALIKE = 0.75
# Characters of a word that says something by itself.
LONG = 4
_WORDS = re.compile(r"[^\W_]+")


def nearest(text: str, known: Iterable[str]) -> list[str]:
    """Of `known`, at most three that `text` may have been meant for, the likeliest first.

    Capitals make no difference. Of paths the last parts are compared, without what stands behind their last dot: names
    are not alike because they lie in one folder or are of one format.
    """
    names = list(known)
    same = [name for name in names if name.casefold() == text.casefold()]
    if same:
        return same[:MOST]
    same_end = [name for name in names if name.casefold().endswith(f"/{text.casefold()}")]
    asked = _stem(text)
    scored = sorted((-_likeness(_stem(name), asked), name) for name in names)
    return list(dict.fromkeys([*same_end, *(name for score, name in scored if -score >= ALIKE)]))[:MOST]


def _likeness(stem: str, asked: str) -> float:
    """From 0 to 1; at least `ALIKE` for a name that has all the words that were asked for, and more."""
    words = set(_WORDS.findall(asked))
    least = ALIKE if words <= set(_WORDS.findall(stem)) and any(len(word) >= LONG for word in words) else 0.0
    matcher = difflib.SequenceMatcher(None, stem, asked)
    if matcher.real_quick_ratio() < ALIKE or matcher.quick_ratio() < ALIKE:
        return least
    return max(least, matcher.ratio())


def _stem(name: str) -> str:
    last = name.casefold().rpartition("/")[2]
    return last.rpartition(".")[0] or last
