"""Tells whether a text goes on with what the text before it began."""

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.tokens import RAISED

SENTENCE_END = lazy_regex(rf"""[.!?:;…。！？।؟]["'”’»)\]{RAISED}]*\s*$""")
"""The end of a text that ends with a whole sentence, or introduces something."""
_INTRODUCES = (":", "：")
# A word of prose within a sentence; a bracket or a quotation mark may end one, a number a line of an index.
_BROKEN_OFF = lazy_regex(r"[(“\"'‘]*[^\W\d_]+(?:['’-][^\W\d_]+)*[,-]?")
# A word of prose: names in code have marks within them.
_WORD = lazy_regex(r"[^\W\d_]+(?=[,;:.]?(?:\s|$))")


def continues(text: str, before: str) -> bool:
    """Whether a text that is no list finishes the last sentence of the text before it.

    >>> continues("and left at noon.", "The ferry came")
    True
    >>> continues("The ferry left at noon.", "The ferry came at ten.")
    False
    """
    last = (before.rsplit(maxsplit=1) or [""])[-1]
    return may_continue(text) and not before.isupper() and _BROKEN_OFF.fullmatch(last) is not None


def introduces(text: str) -> bool:
    """Whether a text ends by introducing what follows it: "To install it, run:"."""
    return text.rstrip().endswith(_INTRODUCES)


def may_continue(text: str) -> bool:
    """Whether a text that is no list begins as the rest of a sentence does: with a word in small letters, in prose.

    "iOS" and "eBay" begin sentences, too.
    """
    word = _WORD.match(text)
    return word is not None and word[0].islower()
