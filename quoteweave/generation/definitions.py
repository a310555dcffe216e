"""Tell by rule whether a sentence says what something is."""

import re
from collections.abc import Sequence

from quoteweave.core.text.tokens import words

LISTED_WORDS = 3
"""Words after ", a" among which the term itself shows a list ("an intron, a whole intron") and no definition."""

_ARTICLE = re.compile(r"(?:(?:an?|the)\s+)?[“\"'(]*", re.IGNORECASE)
NO_NOUN = (
    r"(?:\w+(?:ed|ly|ing)|not|no|never|seldom|often|now|also|always|still|then|thus|available|able|about|above|at|in|on|under"
    r"|open|free|made|built|shown|given|held|kept|full|empty|found|set|left|more|less|very|too|so)\b"
)
"""What follows "is" in a sentence that gives a property, an act or a place, and no noun."""
# "String literals are convenient, but" says nothing of what they are: a noun has an article, or goes on with what
# tells it from others.
_NOUN_PHRASE = (
    r"(?=(?:an?|the|one|any|some|another|our|its|his|her|their|simply|essentially|basically|what|how|when|where|who|like"
    r"|[\w-]+['’]s)\b"
    r"|(?:[\w’'-]+\s+){1,6}?(?:of|that|which|who|whose|where|when|with|without|to|in|on|at|by|from|between|beside|for"
    r"|used|made|called|consisting|containing|and)\b)"
)
_SAYS_WHAT, _SAYS_WHAT_KIND = (
    re.compile(
        rf"[”\"')]*\s*(?:\([^)]*\)\s*)?"
        rf"(?:(?:is|are)\s+(?!{NO_NOUN}){phrase}|means?\b|refers? to|stands? for|denotes?|defines?\b|represents?\b)",
        re.IGNORECASE,
    )
    for phrase in ("", _NOUN_PHRASE)
)
# "In Rust, a library or executable program is called a crate."
_NAMED = re.compile(
    r"\b(?:is|are)\s+(?:also\s+|often\s+)?(?:called|known as|named|termed)\s+(?:an?\s+|the\s+)?[“\"'(]*$", re.IGNORECASE
)
_APPOSITION = re.compile(r"[”\"')]*\s*(?:\([^)]*\)\s*)?,\s+(?:an?|which is)\s")
_WORD = re.compile(r"\w[\w'’-]*")


def says_what(text: str, subject: Sequence[str], *, by_kind: bool = False) -> bool:
    """Whether a sentence begins with the subject and says what it is, or says so in an apposition.

    `by_kind`: only by a noun with what tells it from others, as definitions do, not by a property or a number; or by
    what is called so.
    """
    says = _SAYS_WHAT_KIND if by_kind else _SAYS_WHAT
    asked = set(subject)
    places = [match.span() for match in _WORD.finditer(text) if asked.intersection(words(match[0]))]
    for start, end in zip((start for start, _ in places), (end for _, end in places[len(asked) - 1 :]), strict=False):
        begins = _ARTICLE.fullmatch(text[:start]) and says.match(text[end:])
        beside = _APPOSITION.match(text[end:])
        listed = beside is not None and asked & set(words(text[end + beside.end() :])[:LISTED_WORDS])
        named = by_kind and _NAMED.search(text[:start])
        if asked <= set(words(text[start:end])) and (begins or named or (beside and not listed)):
            return True
    return False
