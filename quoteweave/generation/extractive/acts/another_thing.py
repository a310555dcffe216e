"""Check by rule whether a statement is about another thing than a question names, or does not say which it is about."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.question_analysis import AnswerType, QuestionAnalysis, with_words_alike, words_alike
from quoteweave.core.text.question_words import verbs_of
from quoteweave.core.text.tokens import STOP_WORDS, words
from quoteweave.core.text.units import dimensions_in
from quoteweave.generation.extractive.statements import Statement, refers_back
from quoteweave.generation.gate.dates import is_of_date
from quoteweave.generation.relevance import NUMBER_KINDS

MAX_BETWEEN = 3
"""Most words between a name and its number: "Debian, the version 8"."""

_WHICH = lazy_regex(r"\s*(?:which|what)\s+(\w+?)s?\s", re.IGNORECASE)
_THING = lazy_regex(
    r"\W*what (?:is|was|are|were) (?:the |its |their )?(?:\w+ )?([^\W\d_]{3,})(?: in\b| for\b|\?|$)", re.I
)
# Those of whom a question asks what they do or get, or what there is for them.
_GROUP = lazy_regex(
    r"\b(?:do\s+(?!(?:I|you|we|they|these|those)\b)(?:(?:the|our|all)\s+)?|for\s+(?:(?:the|our|all)\s+)?(?=\w+\W*$))"
    r"([^\W\d_]{3,}?s)\b",
    re.IGNORECASE,
)
# The amount of a thing is the thing, and most of those who are meant are they.
_SAME = STOP_WORDS | {
    "amount",
    "total",
    "sum",
    "level",
    "value",
    "number",
    "kind",
    "type",
    "name",
    "half",
    "majority",
    "percent",
}
_OF_ONE_KINDS = NUMBER_KINDS | {"date", "yes_or_no"}
# What stands between a possessive at the beginning and the verb, or a comma.
_BELONGING = lazy_regex(
    r"\W*(?:Its|Their|His|Her|Seine?|Ihre?|Son|Sa|Ses|Leurs?)\s+([^\W\d][\w'’-]*(?:\s+[^\W\d][\w'’-]*){0,2}?)"
    r"(?:,|\s+(?:is|are|was|were|has|have|had|can|may|must|will|costs?|opens?|ist|sind|war|waren|hat|haben|est|sont|a|ont)\b)"
)
# What is owned is another thing where it has a name ("Its sister house, the Lodge"), or by what it is called. Its doors
# and its season are the thing itself.
_APPOSED_NAME = lazy_regex(r",\s+(?:(?:the|der|die|das|den|le|la|les)\s+)?[A-ZÀ-Þ]")
_OTHER_THING = lazy_regex(
    r"\s[A-ZÀ-Þ]|(?i:\b(?:sister|daughter|mother|parent|twin|partner|neighbou?r(?:ing)?|subsidiary|predecessor|successor|rival"
    r"|restaurant|bar|caf[eé]|shop|pool|spa|museum|branch|annexe?|(?:Schwester|Tochter|Mutter|Partner|Nachbar)\w*|Filiale)\b)"
)
_NO_RATE_KINDS = frozenset({"reason", "money", "statement"})
_THING_IN = lazy_regex(r"([a-zß-ÿ]{3,})\s+in\s+(?:the\s+)?([A-ZÀ-Þ][\w-]+)")
# What tells how high, thick, wide, deep or long a thing is: "30 cm thick", "a thickness of 30 cm".
_EXTENTS = (
    ("high", "tall", "height", "hoch", "höhe"),
    ("thick", "thickness", "dick", "dicke"),
    ("wide", "broad", "width", "breadth", "breit", "breite"),
    ("deep", "depth", "tief", "tiefe"),
    ("long", "length", "lang", "länge"),
)
_EXTENT_OF = {word: extent[0] for extent in _EXTENTS for word in extent}
_EXTENT = rf"({'|'.join(_EXTENT_OF)})"
_MEASURED = lazy_regex(
    rf"\d[\s-]?[^\W\d_]{{1,12}}[\s-]+{_EXTENT}\b|\b{_EXTENT}\s*(?::|of|is|was|von|ist|war|beträgt)\s*\d", re.IGNORECASE
)
_HOW_LONG = lazy_regex(rf"\b(?:how|wie)\s+{_EXTENT}\b|\b(?:what|which|was)\b.*?\b{_EXTENT}\b", re.IGNORECASE)
# "Dogs are allowed on the path above the beach" does not tell whether they are on the beach.
_PLACE = lazy_regex(r"\b(?:on|in|at|inside|onto|into)\s+(?:the|our|your)\s+(?P<place>[^\W\d_]{3,})", re.IGNORECASE)
_BESIDE = (
    r"\b(?:above|below|behind|beside|near|next\s+to|close\s+to|opposite|outside|around|along|beyond|past|to|from|over|in\s+front\s+of)"
    r"\s+(?:the|our|your)\s+"
)
_RATE = lazy_regex(r"\b(\w+)\s+(?:rates?|ratios?|margins?|percentages?|index)\b", re.IGNORECASE)
_RATE_WORD = lazy_regex(r"\b(?:rates?|ratios?|margins?|percentages?|index|percent|share)\b|%", re.IGNORECASE)
_PART = lazy_regex(
    r"\b(?!Operating|Reportable|Each|All|Total)[A-Z]\w+ (?:Segment|Division|Region|Subsidiary)\b(?! [A-Z])"
)
_COST = "cost"
_COSTS_MONEY = lazy_regex(
    r"([\w'’-]+)\s+(?:(?:must|may|can|should|will|would|could)\s+(?:not\s+)?)?costs?\b", re.IGNORECASE
)
_FIRST = lazy_regex(r"\b(first|second|third|last|only|oldest|newest|largest|smallest)\s+(\w+)", re.IGNORECASE)
_IN_NAME = r"\s+(?:\w+\s+)?in\s+(?:the\s+)?([A-ZÀ-Þ]\w+)"
# "Lines 1, 2 and " before 6.
_OTHER_NUMBERS = r"(?:\d++(?:\.\d++)*+\W++(?:(?:and|or|to|und|oder|bis|et|ou|y|o|e)\W++)?+)*"
_NUMBERED = lazy_regex(
    r"(?<=\s)(?!(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec))([A-ZÀ-Þ]\w+)\s+(?!(?:19|20)\d\d\b)(\d+(?:\.\d+)*)(?!\w)"
)


_OF = lazy_regex(r"\b([^\W\d_]{3,})\s+of\s+(?:the|an?|our|its)\s+([a-zß-ÿ]{3,})\b(?!\s+of\b)")
_BESIDE_OFFICE = lazy_regex(
    r"\b(vice|deputy|assistant|associate|acting|interim|honorary|former)[\s-]+([^\W\d_]{4,})\b", re.IGNORECASE
)


def tells_another(statement: Statement, question: QuestionAnalysis, terms: Sequence[str], texts: Iterable[str]) -> bool:
    """Whether a statement is about another of several, or does not say which; `texts` are all that were found.

    "Which file has the licence?" is not answered by "This file has it", and "Debian 8" is not "Debian Day, from 8 to
    14 July". "The first DebConf in Asia was held in Hsinchu" does not tell where the first one was, if a text tells of
    that one, too. "The cost of revenue" is not the revenue.
    """
    asked, text = question.text, statement.text
    if _tells_of_its_property(asked, text, question.asks) or _is_of_a_part(statement, terms):
        return True
    if _is_of_what_is_before(statement, question, terms) or _is_of_its_own(statement, question, terms):
        return True
    of_other = question.asks in _NO_RATE_KINDS and _tells_of_its_rate(asked, text, terms)
    of_other = of_other or (not statement.is_row and _is_of_another_owner(asked, text))
    of_other = of_other or (question.asks == "yes_or_no" and _is_beside_the_place(asked, text))
    if of_other or _is_measured_otherwise(asked, text) or _is_in_another_place(asked, text):
        return True
    which = _WHICH.match(asked)
    if which is not None and re.match(rf"\W*(?:This|These|Such) {which[1]}s?\b(?!\s*[,(:–—])", text):
        return True
    numbered = () if statement.is_row else _NUMBERED.findall(asked)
    if any(_is_number_of_another(name, number, text) for name, number in numbered):
        return True
    is_place = question.asks == "place"
    return any(_is_one_of_a_place(first, text, terms, texts, is_place=is_place) for first in _FIRST.findall(asked))


def _is_of_another_owner(asked: str, text: str) -> bool:
    """Whether a text tells only of what belongs to another: the load of the trolley, where it is asked of the lift's.

    Or of an office beside the one that is asked for: who is vice president is not the president.
    """
    for thing, owner in _OF.findall(asked):
        own, whose = words(thing), words(owner)
        if not own or not whose or not set(whose).isdisjoint(words(text)):
            continue
        if any(words(other) == own for other, _ in _OF.findall(text)):
            return True
    asked_words = asked.casefold().split()
    return any(
        beside.casefold() not in asked_words and re.search(rf"\b{office}\b", asked, re.IGNORECASE) is not None
        for beside, office in _BESIDE_OFFICE.findall(text)
    )


def _is_of_what_is_before(statement: Statement, question: QuestionAnalysis, terms: Sequence[str]) -> bool:
    """Whether "It" stands for another thing than is asked for, as the sentence before it has no noun of the question.

    "It cost 480,000 euros and replaces the vehicle of 2001" does not tell what the vehicle of 2001 cost.
    """
    if question.asks not in NUMBER_KINDS or not refers_back(statement.text):
        return False
    named = set(terms) - verbs_of(question.text)
    nouns = {word for word in named if not is_of_date(word)}
    if len(named) < 2 or not nouns:
        return False
    return nouns.isdisjoint(with_words_alike(frozenset(words(statement.before)), nouns))


def _is_of_its_own(statement: Statement, question: QuestionAnalysis, terms: Sequence[str]) -> bool:
    """Whether it is about another thing, which belongs to what is asked for: "Its sister house is closed in May"."""
    owned = _BELONGING.match(statement.text) if question.asks in _OF_ONE_KINDS else None
    if owned is None or not (_OTHER_THING.search(owned[1]) or _APPOSED_NAME.match(statement.text, owned.end(1))):
        return False
    own = frozenset(words(owned[1]))
    return bool(own) and own.isdisjoint(with_words_alike(frozenset(terms), own))


def _is_measured_otherwise(asked: str, text: str) -> bool:
    """Whether a text tells how thick a thing is, say, and not how high, which a question asks for.

    How long a thing takes may be told beside how deep it is.
    """
    wanted = {_EXTENT_OF[word.casefold()] for found in _HOW_LONG.findall(asked) for word in found if word}
    wanted -= {"long"} if "time" in dimensions_in(text) else set()
    told = {_EXTENT_OF[word.casefold()] for found in _MEASURED.findall(text) for word in found if word}
    return bool(wanted and told) and wanted.isdisjoint(told)


def _is_in_another_place(asked: str, text: str) -> bool:
    """Whether a text tells of a thing in other places than the question names: of "the plant in Skaw" alone."""
    for thing, place in _THING_IN.findall(asked):
        named, about = words(place), words(thing)
        if not named or not about or is_of_date(named[0]) or not set(named).isdisjoint(words(text)):
            continue
        others = [words(other) for told, other in _THING_IN.findall(text) if words(told) == about]
        if any(other and not is_of_date(other[0]) for other in others):
            return True
    return False


def _is_beside_the_place(asked: str, text: str) -> bool:
    """Whether a text has the place in which something is asked about only as what another place is near to."""
    places = {found["place"].casefold() for found in _PLACE.finditer(asked)}
    beside = [place for place in places if re.search(rf"{_BESIDE}{place}\b", text, re.IGNORECASE)]
    rest = re.sub(rf"{_BESIDE}[^\W\d_]+", " ", text, flags=re.IGNORECASE)
    return any(re.search(rf"\b{place}\b", rest, re.IGNORECASE) is None for place in beside)


def _tells_of_its_property(asked: str, text: str, asks: AnswerType) -> bool:
    """Whether a text tells only of what belongs to what a question asks for: of the cost of revenue, not of revenue.

    Or of the parents of students, and not of these.
    """
    groups = _GROUP.finditer(asked) if asks in NUMBER_KINDS | {"statement"} else ()  # shops open in the hours of shops
    things = [found[1] for found in (_THING.match(asked), *groups) if found is not None]
    before, said = r"\b([^\W\d_]+)\s+of\s+(?:the\s+|our\s+)?(?:\w+\s+)?", {*asked.casefold().split(), *_SAME, ""}
    for thing in things:
        told = re.sub(rf"\b({thing})['’]\s+(\w+)", r"\2 of \1", text, flags=re.IGNORECASE)
        properties = re.findall(rf"(?:{before})?\b{thing}\b", told, re.IGNORECASE)
        if properties and not any(each.casefold() in said for each in properties):
            return True
    return False


def _tells_of_its_rate(asked: str, text: str, terms: Sequence[str]) -> bool:
    """Whether a text tells only of the rate of what a question asks for: of the gross profit rate, not of the profit.

    Interest is said by its rate.
    """
    if _RATE_WORD.search(asked):
        return False
    rated = Counter(word for match in _RATE.finditer(text) for word in words(match[1]))
    said = Counter(words(text))
    return any(word in terms and word != "interest" and said[word] == times for word, times in rated.items())


def _is_of_a_part(statement: Statement, terms: Sequence[str]) -> bool:
    """Whether a statement is headed by the name of a part ("International Segment") that a question does not name."""
    quote = statement.quote
    named = _PART.search(f"{quote.caption or ''}\n{quote.section or ''}")
    return named is not None and set(words(named[0])).isdisjoint(terms)


def _is_number_of_another(name: str, number: str, text: str) -> bool:
    """Whether a text has the name with another number, or the two apart: "from 8 to 14 July, with a Debian Day"."""
    if numbers := re.findall(rf"\b{name}s?\s+(\d+(?:\.\d+)*)(?!\w)", text):
        return number not in numbers and re.search(rf"(?<![\w.]){re.escape(number)}(?!\w|\.\d)", text) is None
    digits = rf"(?<![\w.]){re.escape(number)}(?![\w]|\.\d)"
    if re.search(rf"\b{name}\b", text) is None or re.search(digits, text) is None:
        return False
    after = rf"\b{name}s?\W+(?:{_OTHER_NUMBERS}|(?:\w+\W+){{0,{MAX_BETWEEN}}}?){digits}"
    before = rf"{digits}\W+(?:of|von|de|du|del)\W+(?:\w+\W+)?{name}\b"
    called = rf"\b(?:version|release|edition|number|no\.?|issue|v\.?)\s*{digits}"
    return re.search(rf"{after}|{before}|(?i:{called})", text) is None


def _is_one_of_a_place(
    asked: tuple[str, str], text: str, terms: Sequence[str], texts: Iterable[str], *, is_place: bool
) -> bool:
    """Whether a text tells of the first in one place, which the question does not name, and others of the first.

    A sentence that tells of it has all words of the question. Where a place is asked for, "the first DebConf in
    Bordeaux" may be all that says it.
    """
    first = rf"\b(?i:{asked[0]}\s+{re.escape(asked[1])})\b"
    found = re.search(first + _IN_NAME, text)
    if found is None or not set(words(found[1])).isdisjoint(terms) or (is_place and " in " not in text[found.end() :]):
        return False
    told = re.compile(rf"[^.!?]*{first}(?!{_IN_NAME})[^.!?]*")
    return any(set(terms).issubset(words(sentence)) for other in texts for sentence in told.findall(other))


def costs_another(statement: Statement, subject: Collection[str], known: frozenset[str]) -> bool:
    """Whether a statement says what another thing costs than the one that the whole document is about.

    "How much does the kiln cost?" is not answered by "Spare elements cost 84 euros" of the manual of the kiln.
    """
    found = _COSTS_MONEY.search(statement.text)
    if found is None or not set(subject) - words_alike(_COST) - {_COST} <= known:
        return False
    named = words(found[1])
    return bool(named) and set(named).isdisjoint(known.union(subject))
