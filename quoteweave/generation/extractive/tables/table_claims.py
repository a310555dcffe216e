"""Leave out of a claim on a table what no cell holds: the table's own name, and what was computed."""

import re
from collections.abc import Set

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.tokens import words

_LABEL = lazy_regex(r"\b(?:tab(?:le|elle|leau)|fig(?:ure)?|chart|page|seite)s?\.?\s*\d+(?:\.\d+)*", re.IGNORECASE)
# "Of 4 rows", "2 of 4 rows are above 300", and "is 830" behind the numbers of a sum (`tables.arithmetic`).
_COMPUTED = lazy_regex(
    r"\b(?:\d+ of )?\d+ rows(?: (?:is|are) (?:above|below|at least|at most) [^:]*)?"
    r"|(?<=\)) is -?\d(?:[\d.,]*\d)?(?: %| percentage points)?(?=\.(?:\s|$))"
)
_IN_BRACKETS = lazy_regex(r"\([^\W\d_][^()]*\s[^()]*\)")


def claim_on_cells(claim: str, above: Set[str]) -> str:
    """Return a claim without what no cell holds; `above` are the words of the table's caption and of its section.

    >>> claim_on_cells("Table 1 (The yards in 2024) lists Molde (Employees: 257).", {"yard", "2024"}).split()
    ['lists', 'Molde', '(Employees:', '257).']
    """
    rest = _COMPUTED.sub(" ", _LABEL.sub(" ", claim))
    return _IN_BRACKETS.sub(lambda part: " " if above >= set(words(part[0])) else part[0], rest)
