"""Short forms that a text defines, such as acronyms, with their long forms: "retrieval-augmented generation (RAG)".

By the algorithm of A. S. Schwartz and M. A. Hearst, "A simple algorithm for identifying abbreviation definitions in
biomedical text", Pacific Symposium on Biocomputing 8 (2003), pages 451-462. There a short form needs a letter; here it
needs a capital or a digit as well, so that an ordinary word in parentheses is not taken for one.
"""

import re
from collections.abc import Iterator

MIN_LENGTH, MAX_LENGTH = 2, 10
# Characters inside parentheses, and before them, that are examined: a long form has 15 words at most.
REACH = 400
PARENTHESES = re.compile(rf"\(([^()]{{1,{REACH}}})\)")
# What ends a short form within parentheses: "(RAG; Lewis et al.)", "(RAG, also …)".
AFTER_SHORT = re.compile(r"[;,:]\s")
# Between sentences, or cells of a table.
SENTENCE_END = re.compile(r"[.!?][\"”’]?\s+(?=\W*[^\W_a-z])|[;:!?]\s|\n\s*\n|[\[\]|]")


def definitions_in(text: str) -> list[tuple[str, str]]:
    """Return a (short form, long form) pair for each definition, as written, with line breaks as spaces.

    Both orders are found: "retrieval-augmented generation (RAG)" and "RAG (retrieval-augmented generation)". The
    time is linear in the text's length.
    """
    return list(_definitions(text))


def _definitions(text: str) -> Iterator[tuple[str, str]]:
    for match in PARENTHESES.finditer(text):
        within, before = match[1].strip(), _before(text, match.start())
        short = AFTER_SHORT.split(within, maxsplit=1)[0].rstrip()
        long = _long_form(short, before)
        if long is None and before:
            short = before.split()[-1].strip("\"'“”‘’,")
            long = _long_form(short, SENTENCE_END.split(within, maxsplit=1)[0])
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
        and any(c.isupper() or c.isdigit() for c in text)
    )


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
    # A hyphenated word is taken whole, whichever of its parts the first letter is in.
    while at > 0 and not text[at - 1].isspace():
        at -= 1
    words = text[at:].split()
    long = " ".join(words)
    fits = len(words) <= min(len(short) + 5, 2 * len(short)) and len(long) > len(short)
    return long if fits and short not in words else None
