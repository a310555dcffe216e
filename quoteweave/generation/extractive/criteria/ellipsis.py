"""Fill in what a clause leaves out because the clause before it says it: "Linen is included, towels are not".

English clauses leave out a verb, "a locker costs 1 euro, a sun bed 4 euros", a noun, "the grey bin … and the blue one",
or what was counted, "164 members …; 52 of them". Filled in, each is read as a sentence of its own.
"""

import re
from collections.abc import Iterator

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.generation.extractive.acts.clauses import IRREGULAR, PREPOSITIONS
from quoteweave.generation.sentence_kinds import FEW, ROUGHLY

MAX_READ = 400
"""The most characters of a sentence that is read."""

_BE = r"(?:is|are|was|were)"
_DONE = rf"(?:[a-z]{{2,}}ed|{IRREGULAR}|free|open|closed|available|due|welcome)"
_HOLDS = r"(?:(?:cost|weigh|hold|seat|open|close|start|begin|end|last|measure)s?|leaves?|takes?|has|have)"
_AND = r"(?:,\s+(?:(?:and|but|while)\s+)?|;\s+(?:(?:and|but)\s+)?|\s+(?:and|but)\s+)"
_NO_NOUN = rf"(?:{PREPOSITIONS}|and|or|but|it|they|he|she|we|you|that|which|who|not|{FEW})"
_NOUN = rf"(?!{_NO_NOUN}\b)[a-zß-ÿ][\w'’-]*"
_THING = rf"(?P<thing>(?:(?:[Tt]he|an?|our|all|each)\s+)?{_NOUN}(?:\s+{_NOUN})?)"
_TIME = r"(?:on|at|from|until|till|by|before|after|in|every|between)\s"
_MEASURE = rf"{ROUGHLY}(?:[$€£]\s?)?(?:\d|{FEW}\b)"
_REST = r"(?:[^,;:.]|[,:.](?=\d))*"
_DENIED = lazy_regex(rf"\W*[^,;:.]+?\s+{_BE}\s+(?P<done>{_DONE}\b{_REST}?){_AND}{_THING}\s+(?P<be>{_BE})\s+not\W*$")
_VERB_LEFT_OUT = lazy_regex(
    rf"\W*(?P<first>(?:(?!(?:{_BE}|not?|never|cannot|\w+n['’]t)\s)[^,;:.\s]+\s+){{1,8}}?)(?P<verb>{_BE}(?:\s+{_DONE})?|{_HOLDS})\s+"
    rf"(?:(?P<measure>{_MEASURE})|(?={_TIME})){_REST}?{_AND}"
    rf"{_THING}\s+(?P<behind>(?(measure){_MEASURE}|{_TIME}){_REST})(?=[,;.]|$)"
)
# "The smallest" is the smallest of what the clause before is about, and "the blue one" is of the same kind.
_LACKS_NOUN = lazy_regex(r"(?:[Tt]he\s+(?:\w{2,}est|first|last|other|second|third)|.*\s(?P<one>ones?))")
_COUNTED = lazy_regex(
    rf"\b(?!(?:19|20)\d\d,?\s)(?:\d+(?:,\d{{3}})*|{FEW})\s+(?P<noun>[a-zß-ÿ-]{{3,}}s|people|children|men|women)\b"
)
_OF_THEM = lazy_regex(
    rf"[,;]\s+(?:and\s+)?(?P<number>\d[\d,]*|one|{FEW})\s+of\s+(?:them|these|which|whom)\s+(?P<behind>[^,;:.]+)"
)
_LEADING_TIME = lazy_regex(r"\W*(?:In|On|During|Since)\s(?:[^,]{2,40},|\d{4})\s")


def filled_in_clauses(text: str) -> list[str]:
    """The clauses of a sentence that leave something out, as sentences with what they leave out.

    >>> filled_in_clauses("Linen is included, towels are not.")
    ['Towels are not included.']
    >>> filled_in_clauses("The grey bin is emptied on Mondays, and the blue one on Fridays.")
    ['The blue bin is emptied on Fridays.']
    >>> filled_in_clauses("In 2023 it had 164 members; 52 of them were pupils.")
    ['In 2023 52 members were pupils.']
    """
    if len(text) > MAX_READ:
        return []
    leading = _LEADING_TIME.match(text)
    clauses = (f"{leading[0]}{clause}." if leading else f"{clause}." for clause in _clauses(text))
    return [clause[:1].upper() + clause[1:] for clause in clauses]


def _clauses(text: str) -> Iterator[str]:
    if (denied := _DENIED.match(text)) is not None:
        yield f"{denied['thing']} {denied['be']} not {denied['done']}"
    if (left_out := _VERB_LEFT_OUT.match(text)) is not None and (named := _whole_thing(left_out)):
        yield f"{named} {left_out['verb']} {left_out['behind'].strip()}"
    if (of_them := _OF_THEM.search(text)) is not None:
        nouns = {match["noun"] for match in _COUNTED.finditer(text, 0, of_them.start())}
        if len(nouns) == 1:
            yield f"{of_them['number']} {nouns.pop()} {of_them['behind']}"


def _whole_thing(left_out: re.Match[str]) -> str:
    """What the clause with a verb left out is about, with the noun of the clause before if it has none of its own."""
    phrase, noun = left_out["thing"], left_out["first"].split()[-1]
    lacks_noun = _LACKS_NOUN.fullmatch(phrase)
    if lacks_noun is None:
        return phrase
    return f"{phrase[: lacks_noun.start('one')]}{noun}" if lacks_noun["one"] else f"{phrase} {noun}"
