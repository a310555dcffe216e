"""Tells what the grammar of a question says: whether it denies what follows, and whether its "was" is German."""

import re
from functools import cache

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.question_words import denials, question_languages
from quoteweave.core.text.reference_words import reference_words
from quoteweave.core.text.tokens import STOP_WORDS
from quoteweave.core.text.word_patterns import alternation

_WAS = lazy_regex(r"\W*was\s+(\w+)(.*)", re.IGNORECASE | re.DOTALL)
_WORD = lazy_regex(r"\w+")
# No words of English; behind others, such as "war" and "hat", some function word of German must stand.
_GERMAN_VERBS = frozenset(
    {
        "ist", "sind", "wird", "wurde", "wurden", "waren", "hatte", "hatten", "kosten", "kostet", "kostete", "kosteten",
        "macht", "steht", "bedeutet", "passiert", "gibt", "kann", "muss", "wiegt", "enthält",
    }
)  # fmt: skip


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


def asks_german_was(question: str) -> bool:
    """Whether a question begins with the German "was", which asks for more than yes or no.

    >>> asks_german_was("Was kosten die Karten?"), asks_german_was("Was war declared in 1939?")
    (True, False)
    """
    found = _WAS.match(question)
    if found is None:
        return False
    german = next(known for known in reference_words().function_words if "der" in known)
    verb, rest = found[1].casefold(), _WORD.findall(found[2].casefold())
    in_german = sum(word in german - STOP_WORDS for word in rest)
    in_english = sum(word in STOP_WORDS - german for word in (verb, *rest))
    return verb in _GERMAN_VERBS or (verb not in STOP_WORDS and in_german > in_english)
