"""Short forms that a text defines, such as acronyms, with their long forms: "retrieval-augmented generation (RAG)".

The algorithm is by A. S. Schwartz and M. A. Hearst, "A simple algorithm for identifying abbreviation definitions in
biomedical text", Pacific Symposium on Biocomputing 8 (2003), pages 451-462. There a short form needs a letter; here it
needs a capital or a digit as well, so that an ordinary word in parentheses is not taken for one.

Lists and tables of abbreviations define them without parentheses: "LOS: length of stay". There the long form is all
that follows, and each of its words except small ones begins with a letter of the short form.
"""

import re
from collections.abc import Iterator

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.tokens import STOP_WORDS

MIN_LENGTH, MAX_LENGTH = 2, 10
# How many characters inside parentheses, and before them, are examined: a long form has 15 words at most.
REACH = 400
PARENTHESES = lazy_regex(rf"\(([^()]{{1,{REACH}}})\)")
# The end of a short form within parentheses: "(RAG; Lewis et al.)", "(RAG, also …)".
AFTER_SHORT = lazy_regex(r"[;,:]\s")
# Boundaries between sentences, or between cells of a table.
SENTENCE_END = lazy_regex(r"[.!?][\"”’]?\s+(?=\W*[^\W_a-z])|[;:!?]\s|\n\s*\n|[\[\]|]")
# What follows each short form of a list: few texts have it, and searching for it takes less time than for `LISTED`.
LIST_MARK = lazy_regex(r"[:=–—-](?<=[^\W_a-z]:|\s[=–—-])[^\S\n]")
# A short form at the beginning of a line or sentence, and what it stands for, up to the end of either.
LISTED = lazy_regex(
    r"(?:^|(?<=[.;•])\s)[^\S\n]*(?:[•*–-]\s*)?"
    rf"(?P<short>[^\W\d_a-z][^\W_a-z]{{1,{MAX_LENGTH - 1}}})(?::|\s+[=–—-])[^\S\n]+"
    rf"(?P<long>[^\n.;:|(]{{1,{REACH}}}+)(?=[\n.;(]|\Z)",
    re.MULTILINE,
)


def definitions_in(text: str) -> list[tuple[str, str]]:
    """Return a (short form, long form) pair for each definition, as written, with line breaks as spaces.

    Both orders are found: "retrieval-augmented generation (RAG)" and "RAG (retrieval-augmented generation)"; so are
    "RAG: retrieval-augmented generation" and the like at the beginning of a line or sentence. The time is linear in the
    text's length.
    """
    in_parentheses = _definitions(text) if "(" in text else ()
    listed = LISTED.finditer(text) if LIST_MARK.search(text) else ()
    return [*in_parentheses, *(definition for match in listed for definition in _listed(match["short"], match["long"]))]


def definitions_in_table(text: str) -> list[tuple[str, str]]:
    """Return such a pair for each row of a table whose first two cells are a short form and its long form.

    >>> definitions_in_table("Term | Meaning\\nED | emergency department")
    [('ED', 'emergency department')]
    """
    rows = (line.split("|") for line in text.splitlines() if "|" in line)
    return [
        definition
        for first, second, *_ in rows
        for pair in ((first, second), (second, first))
        for definition in _listed(*pair)
    ]


def _listed(short: str, long: str) -> Iterator[tuple[str, str]]:
    """The pair, if the second is exactly what the first stands for."""
    short, long_words = short.strip(), long.split()
    letters = iter(short.casefold())
    initials = (word[0] for word in long_words if word.casefold() not in STOP_WORDS)
    is_upper = short.isalnum() and short.isupper()
    if is_upper and len(long_words) > 1 and all(initial.casefold() in letters for initial in initials):
        long_form = _long_form(short, " ".join(long_words))
        if long_form == " ".join(long_words):
            yield short, long_form


def _definitions(text: str) -> Iterator[tuple[str, str]]:
    for match in PARENTHESES.finditer(text):
        bracketed = match[1].strip()
        short = AFTER_SHORT.split(bracketed, maxsplit=1)[0].rstrip()
        preceding_word = text[max(0, match.start() - REACH) : match.start()].rsplit(maxsplit=1)
        if not (_is_short_form(short) or (preceding_word and _has_capital_or_digit(preceding_word[-1]))):
            continue
        before = _before(text, match.start())
        long = _long_form(short, before)
        if long is None and before:
            short = before.split()[-1].strip("\"'“”‘’,")
            long = _long_form(short, SENTENCE_END.split(bracketed, maxsplit=1)[0])
        if long is not None:
            yield " ".join(short.split()), long


def _before(text: str, end: int) -> str:
    """The text before a parenthesis, back to the start of its sentence or to the previous parenthesis."""
    begin = max(0, end - REACH)
    begin = max(begin, text.rfind("(", begin, end) + 1, text.rfind(")", begin, end) + 1)
    return SENTENCE_END.split(text[begin:end])[-1].strip()


def _is_short_form(text: str) -> bool:
    return (
        MIN_LENGTH <= len(text) <= MAX_LENGTH
        and text[0].isalnum()
        and len(text.split()) <= 2
        and any(c.isalpha() for c in text)
        and _has_capital_or_digit(text)
    )


def _has_capital_or_digit(text: str) -> bool:
    return any(c.isupper() or c.isdigit() for c in text)


def _long_form(short: str, text: str) -> str | None:
    """The words at the end of the text that contain the short form's letters and digits in order, or None.

    The first letter must begin a word. Matching runs from the right, so that the long form is as short as possible;
    it has at most min(n + 5, 2n) words for n characters, is longer than the short form, and does not contain it.
    """
    if not _is_short_form(short):
        return None
    at = len(text)
    for i in range(len(short) - 1, -1, -1):
        character = short[i].lower()
        if not character.isalnum():
            continue
        at -= 1
        while at >= 0 and (text[at].lower() != character or (i == 0 and at > 0 and text[at - 1].isalnum())):
            at -= 1
        if at < 0:
            return None
    # A hyphenated word is taken whole, whichever of its parts the first letter is in; "Abstract—Large" is two words.
    while at > 0 and not text[at - 1].isspace() and text[at - 1] != "—":
        at -= 1
    words = text[at:].split()
    long = " ".join(words)
    fits = len(words) <= min(len(short) + 5, 2 * len(short)) and len(long) > len(short)
    return long if fits and short not in words else None
