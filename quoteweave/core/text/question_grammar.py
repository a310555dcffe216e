"""Tells what the grammar of a question says: whether it denies what follows."""

import re
from functools import cache

from quoteweave.core.text.question_words import denials, question_languages
from quoteweave.core.text.word_patterns import alternation


def denies_before(text: str) -> bool:
    """Whether a word that denies what follows stands in the beginning of a question.

    >>> denies_before("Which hotels without "), denies_before("Which hotels have ")
    (True, False)
    """
    return denials().search(text) is not None or _lacking().search(text) is not None


@cache
def _lacking() -> re.Pattern[str]:
    found = [word for each in question_languages() for word in each.get("lacking", ())]
    return re.compile(rf"(?<!\w){alternation(found)}(?!\w)", re.IGNORECASE)
