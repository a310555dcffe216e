"""Names that a mistyped one may have been meant for."""

import difflib
from collections.abc import Iterable

MOST = 3
# How alike names have to be: one letter too many, too few, wrong or in another place, in a name of four to seven.
ALIKE = 0.75


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
    asked, scored = _stem(text), []
    for name in names:
        matcher = difflib.SequenceMatcher(None, _stem(name), asked)
        if matcher.real_quick_ratio() >= ALIKE and matcher.quick_ratio() >= ALIKE and matcher.ratio() >= ALIKE:
            scored.append((-matcher.ratio(), name))
    return list(dict.fromkeys([*same_end, *(name for _, name in sorted(scored))]))[:MOST]


def _stem(name: str) -> str:
    last = name.casefold().rpartition("/")[2]
    return last.rpartition(".")[0] or last
