"""Match the names of a table's rows and columns with the words of a question."""

import re
from collections.abc import Collection, Mapping, Sequence
from functools import cache

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.question_analysis import interrogative_words, request_words, words_alike
from quoteweave.core.text.tokens import words
from quoteweave.generation.extractive.tables.heads import YEAR, Rows
from quoteweave.generation.relevance import coverage

UNIT = lazy_regex(r"\s*\([^()]{1,20}\)\s*$")
OTHER = "other"
"""A stop word which, asked for, is one of the words of a question for cells."""
TOTAL = lazy_regex(r"\W*(?:(?:sub-?|grand )?totals?|sums?|gesamt|summe|insgesamt)\b", re.IGNORECASE)
"""At the beginning of the name of a row or column of totals."""
TOTAL_ALONE = lazy_regex(rf"{TOTAL.pattern}\W*", re.IGNORECASE)
"""The same, of a name that has nothing else."""
_NOTE = lazy_regex(r"(?<=\S)(?:\s*\(\d{1,2}\))+$")
_OTHER = lazy_regex(rf"\b{OTHER}\b", re.IGNORECASE)
_ROMAN = lazy_regex("[ivx]+")


def chosen_rows(
    header: Sequence[str], rows: Rows, asked: Collection[str], weights: Mapping[str, float], titled: Collection[str]
) -> list[Sequence[str]]:
    """The rows that the question names; those that its title names as well only where there is no other."""
    of = {*titled, *words(" ".join(header))}
    names = [name_of_row(row[0]) for row in rows]
    best = best_matching_names([row[0] for row in rows], asked, weights, least=1.0)
    besides = [
        at
        for at, own in enumerate(names)
        if at not in best
        and own
        and own.issubset(asked)
        and not is_of_others(rows[at][0], asked)
        and not any(own <= names[chosen] for chosen in best)
    ]
    if besides and all(names[at].issubset(titled) for at in best):
        best = []
    if any(TOTAL_ALONE.fullmatch(rows[at][0]) for at in best) and not _are_of(asked, of):
        return []  # a total of other things
    return [rows[at] for at in sorted((*best, *besides))]


def years_in(asked: Collection[str]) -> set[str]:
    """Those of the words that are years."""
    return {word for word in asked if YEAR.fullmatch(word)}


def _are_of(asked: Collection[str], said: Collection[str]) -> bool:
    """Whether the words that are said include those asked for, but for years, totals and words that only ask."""
    rest = {word for word in asked if not TOTAL_ALONE.fullmatch(word)} - years_in(asked) - {OTHER}
    return rest - interrogative_words() - _request_stems() <= {*said}


def best_matching_names(
    names: Sequence[str], asked: Collection[str], weights: Mapping[str, float], *, least: float
) -> list[int]:
    """Indices of the names that match the question best, in order."""
    worth, said = dict[int, float](), {*asked, *(other for word in asked for other in words_alike(word))}
    for at, name in enumerate(names):
        own = name_of_row(name)
        common = own.intersection(asked)
        # "Wave I" and "Q3 2022" are not what asks for Wave III or for 2023.
        numbers = any(any(map(str.isdigit, word)) or _ROMAN.fullmatch(word) for word in own - common)
        whole = least < 1 and name_of_row(UNIT.sub("", name)) <= said  # "maximum flow" has all of "Max. flow (l/min)"
        enough = len(common) >= least * len(own) or whole
        if common and not numbers and not is_of_others(name, asked) and enough:
            worth[at] = coverage(weights, common) - 1e-3 * len(own - common)
    best = max(worth.values(), default=0.0)
    return [at for at, value in worth.items() if value >= 0.8 * best]  # of several, such as years, all


def is_of_others(name: str, asked: Collection[str]) -> bool:
    """Whether a name is of other things than those asked for: "Other debt" is not what asks for debt."""
    return _OTHER.search(name) is not None and OTHER not in asked


def name_of_row(name: str) -> frozenset[str]:
    """The words of a name without those that only ask ("number of"), where it has others, and the mark of a note."""
    own = frozenset(words(_NOTE.sub("", name)))
    return own - interrogative_words() - _request_stems() or own


@cache
def _request_stems() -> frozenset[str]:
    return frozenset(words(" ".join(request_words())))
