"""Check by rule whether a statement tells where something is or is done, by the name of a place or by a thing."""

import re
from collections.abc import Set
from functools import cache

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.question_words import listed_words
from quoteweave.core.text.tokens import words
from quoteweave.core.text.word_patterns import alternation
from quoteweave.generation.extractive.acts.clauses import names_as_head
from quoteweave.generation.extractive.statements import Statement
from quoteweave.generation.gate.dates import WEEKDAY
from quoteweave.generation.relevance import QuestionTerms, says_all, with_all_alike
from quoteweave.generation.sentence_kinds import denies

ASKING_LABEL = lazy_regex(
    r"^[^\w\n]*(?:(?P<date>When)|(?P<place>Where|Venue|Location))[^\w\n]*:\s+\S", re.IGNORECASE | re.MULTILINE
)
"""A line whose label is a question word, or a noun for it; its group is the kind of the question."""
BEGINS_CLAUSE = lazy_regex(r"[,;:]\s|\b(?:and|und|et|y)\s|^\W*(?:Today|Now|Currently|At\s+present)\s")
LEADING_ARTICLE = lazy_regex(
    r"\W*(?:(?<=§)\s*\d+\s+)?(?:(?:the|our|your|its|their|my|his|her|der|die|das|le|la|les|el|los|las|su|sus|son|sa|ses)\s+|l['’])?",
    re.IGNORECASE,
)
WITHIN_WORDS = 4
"""The name of what is located must be among so many words before "located in"."""
# These are no places: the owner in "a copy of Smith's letter", "November", and the doer in "held by Ada Byron".
_NOT_A_MONTH_OR_DAY = (
    r"(?!(?:Jan(?:uary)?|Feb(?:ruary)?|March|April|May|June|July|Aug(?:ust)?|Sept(?:ember)?|Oct(?:ober)?|Nov(?:ember)?"
    rf"|Dec(?:ember)?|{WEEKDAY}s?)\b)"
)
# "The key of the tank is in the office" does not tell where the tank is.
_OF_IT = lazy_regex(r"\s(?:of|for|to(?!\s+be\b)|from|with)\s", re.IGNORECASE)
_SITUATED = lazy_regex(
    r"\b(?:located|situated|based|headquartered)\s+(?:in|at|on|near)\s+(?:the\s+)?(?:\w+\s+of\s+)?[A-ZÀ-Þ]"
)
_PLACE_WHERE = lazy_regex(
    r"\b(?:in|at|near)\s+[A-ZÀ-Þ][^.;]*?\bwhere\s+([^.;,]{1,60}?)\s+(?:is|are|was|were)\s+(?:located|situated|based)"
)
_SITUATED_ALONE = lazy_regex(r"\b(?:located|situated|based|headquartered)\b", re.IGNORECASE)
_PLACE_NAME = lazy_regex(
    r"\b(?:(?:in|at|from|to|near|on|into|of|en|à|bei|aus|nach)\s+(?:the\s+)?|by\s+the\s+)"
    rf"{_NOT_A_MONTH_OR_DAY}([A-ZÀ-Þ][\w'’-]+)(?<!['’]s)(?<!s['’])(?![\w'’-])"
)
# A place of several words may share some of them with the question: for a deposit, "the Deposit Protection Service".
_LONG_PLACE_NAME = lazy_regex(
    rf"\b(?:(?:in|at|near)\s+(?:the\s+)?|by\s+the\s+){_NOT_A_MONTH_OR_DAY}((?:[A-ZÀ-Þ][\w'’-]+\s+){{1,3}}[A-ZÀ-Þ][\w'’-]+)"
)
_WHERE_IS = lazy_regex(r"\W*where(?:['’]s|\s+(?:is|are|can|may|do|does|should|must)\b)", re.IGNORECASE)
_ADDRESS = lazy_regex(r"\b(?:at|from|on|under|see)\s+<?(?:https?:\s?//|www\.)\S", re.IGNORECASE)
_MAIL = lazy_regex(r"\b(?:to|at)\s+<?\S+@\S+\.\w", re.IGNORECASE)
_ASKS_WHERE_TO_TURN = lazy_regex(r"where\s+(?:do|can|should|must|may|could|to)\b", re.IGNORECASE)

_ASKS_WHERE_TO_GET = lazy_regex(
    r"\W*where\s+(?:can|could|do|does|may)\s+(?:I|we|you|one)\s+(?P<verb>buy|purchase|get|obtain|find)\b", re.IGNORECASE
)
_WAYS_OF_BUYING = ("sold", "bought", "purchased", "obtained", "available", "had")
_WAYS_OF_GETTING = (*_WAYS_OF_BUYING, "served", "collected", "found")
_HELPING = lazy_regex(r"\s(?:is|are|(?:can|may)\s+(?:\w+\s+)?be)\s+(?:to\s+be\s+)?(?:only\s+|also\s+)?$", re.IGNORECASE)
_BEGINS_PART = lazy_regex(r"[;:]\s|,\s+(?:and|but)\s|,\s+(?=[^,]*$)")
_NO_PLACE = (
    r"(?!(?:morning|afternoon|evening|night|day|week|weekend|month|year|spring|summer|autumn|winter|end|beginning|start"
    r"|time|moment|latest|case|event|order|way|price|rate|cost|charge|fee|discount|request|process|lead|hand|interest"
    r"|range|form|middle|hurry|danger|stage|phase|future|past|making|course|state|condition|mood|minority|majority|list"
    r"|name|increase|rise|move|work|scope|context|sense|opinion|habit|position|need|age|risk|basis|project|red|domain|news"
    r"|style|language|version|supervision|control|care|possession|phone|internet"
    r"|planning|brink|again|now|today|only|too)s?\b)"
)
_ASIDE = r"beside|behind|beyond|opposite|outside|inside|above|under|below|next\s+to|in\s+front\s+of"
_SIDE = r"(?:on|to|at)\s+the\s+(?:left|right|front|back|top|bottom)(?:\s+side)?\s+of"
_BESIDE = rf"(?:in|on|at|between|near|{_ASIDE}|{_SIDE})"
_ENDS = (
    rf"(?=\s*(?:[^\w\s]|$)|\s+(?:of|in|on|at|by|near|{_ASIDE}|and|or|where|that|which|to|from"
    r"|with|for|during|until|every|each|only|alone)\b)"
)
_ARTICLE = r"(?:the|an?|our|its|your)\s+(?:(?!of\b)[\w'’-]+\s+){0,2}?"
_AT_THING = rf"{_BESIDE}\s+{_ARTICLE}{_NO_PLACE}\w{{3,}}{_ENDS}"
# "On a timer" tells a state, and "in a box of six" how much one gets.
_AT_CERTAIN_THING = rf"{_BESIDE}\s+(?!an?\s){_ARTICLE}{_NO_PLACE}\w{{3,}}{_ENDS}"


# "Go" carries no topic for the search, but what else is done somewhere does not tell where something goes.
_ASKS_WHERE_IT_GOES = lazy_regex(r"\W*where\s+(?:do|does|did|will|should|must|can)\b[^?]*\bgo\b\W*$", re.IGNORECASE)
_GOES = lazy_regex(
    r"\b(?:go(?:es|ing|ne)?|went|to|into|through|onto|visit\w*|travel\w*|leads?|led|belongs?|put|place[ds]?|kept|fits?)\b",
    re.IGNORECASE,
)


_GOES_TO = lazy_regex(
    rf"(?P<what>[^;:.]{{3,80}}?)\s(?:(?:must|should)\s+go|goes|go|belongs?)\s(?:in|into|on|onto|to)\s{_ARTICLE}{_NO_PLACE}\w{{3,}}",
    re.IGNORECASE,
)
_ASKS_WHERE_ALLOWED = lazy_regex(
    r"\W*where\s+(?:(?:can|may|could)\s+(?:I|we|you|one|\w+s)\s+(?P<act>\w+)"
    r"|(?:is|are)\s+(?P<done>[\w\s]{3,40}?)\s+(?:allowed|permitted))\W*$",
    re.IGNORECASE,
)
# "Smoking is allowed on the balcony only", "You may smoke on the balcony"
_ALLOWED_AT = lazy_regex(
    r"(?:(?P<what>[^;:.]{3,60}?)\s(?:is|are)\s(?:only\s)?(?:allowed|permitted)"
    rf"|\b(?:you|we|one|guests|tenants)\s(?:may|can)\s(?:only\s)?(?P<act>\w+))\s(?:only\s)?{_AT_CERTAIN_THING}",
    re.IGNORECASE,
)


def names_place(statement: Statement, question: QuestionTerms) -> bool:
    """Whether a statement names a place or a web address, or an e-mail address if it is asked where to turn."""
    if (label := ASKING_LABEL.match(statement.text)) is not None and label.lastgroup == "place":
        return True
    if _ASKS_WHERE_IT_GOES.match(question.text) and not _GOES.search(statement.text):
        return False
    if _SITUATED_ALONE.search(question.text):
        return says_where(statement, question)
    text = statement.text
    gives_mail = _ASKS_WHERE_TO_TURN.match(question.text) and _MAIL.search(text)
    if gives_mail or (_WHERE_IS.match(question.text) and _tells_at_which_thing(text, question)):
        return True
    question_words = set(question.terms)
    if any(not set(words(match[1])) <= question_words for match in _LONG_PLACE_NAME.finditer(text)):
        return True
    places = (match[1] for match in _PLACE_NAME.finditer(text) if not match[1].isupper())
    return _ADDRESS.search(text) is not None or any(not set(words(name)) & set(question.terms) for name in places)


def _is_at_thing(text: str, subject: Set[str]) -> bool:
    """Whether a clause of a text that begins with the subject, and has all of it, says at or in which thing it is."""
    phrases = [
        (BEGINS_CLAUSE.split(text[: match.start()])[-1], match)
        for match in place_pattern().finditer(text)
        if not match["act"] or set(words(match["act"])) <= subject
    ]
    placed = (set(words(f"{before} {match['placed']}")) for before, match in phrases if match["placed"])
    alike = with_all_alike(subject)
    is_there = any(_is_the_thing(before, subject) for before, match in phrases if match["is"])
    if is_there or _is_done_at_thing(text, subject) or any(place_words <= alike for place_words in placed):
        return True
    return any(
        says_all(words(f"{before} {match[0]}"), subject)
        and not _OF_IT.search(before)
        and not (match["placed"] or match["is"])
        and not alike.isdisjoint(words(LEADING_ARTICLE.sub("", before, count=1).partition(" ")[0]))
        for before, match in phrases
    )


def _tells_at_which_thing(text: str, question: QuestionTerms) -> bool:
    """Whether a text says by a thing without a name where something is, goes, is got or is allowed."""
    return (
        _is_at_thing(text, question.subject) or is_got_at_thing(text, question) or _goes_or_may_be_done(text, question)
    )


def _goes_or_may_be_done(text: str, question: QuestionTerms) -> bool:
    """Whether a text says where something goes, or an act is allowed: "Smoking is allowed on the balcony only"."""
    if denies(text):
        return False
    goes, asked = _ASKS_WHERE_IT_GOES.match(question.text), _ASKS_WHERE_ALLOWED.match(question.text)
    act = set(words(asked["act"] or asked["done"])) if asked else set[str]()
    subjects = [match["what"] for match in _GOES_TO.finditer(text) if goes]
    subjects += [match["what"] or match["act"] for match in _ALLOWED_AT.finditer(text) if asked]
    nouns = (LEADING_ARTICLE.sub("", BEGINS_CLAUSE.split(phrase)[-1], count=1) for phrase in subjects)
    return any(set(words(noun)) == (act or question.subject) for noun in nouns)


def _is_done_at_thing(text: str, act: Set[str]) -> bool:
    """Whether a text says at or in which thing an act is done: "New members register at the boathouse office"."""
    return not denies(text) and any(
        match["act"] and set(words(match["act"])) == act for match in place_pattern().finditer(text)
    )


def _is_the_thing(before: str, subject: Set[str]) -> bool:
    return bool(subject) and set(words(LEADING_ARTICLE.sub("", before, count=1))) == subject


def is_got_at_thing(text: str, question: QuestionTerms) -> bool:
    """Whether a text says at which thing one gets what a question asks for: "Rolls are sold at the kiosk".

    So does "You find spare fuses in the drawer". How the thing is got, by the question's verb, must not be otherwise:
    what can be hired need not be sold. Nor must it be past: "A purse was found at the kiosk".
    """
    asks_where = _ASKS_WHERE_TO_GET.match(question.text)
    if asks_where is None or denies(text):
        return False
    thing_words = question.subject.difference(words(asks_where["verb"]))
    passive, active = _got_patterns()
    ways = _WAYS_OF_BUYING if asks_where["verb"].casefold() in {"buy", "purchase"} else _WAYS_OF_GETTING
    texts_before = (
        _BEGINS_PART.split(text[: match.start()])[-1]
        for match in passive.finditer(text)
        if match["way"].casefold() in ways
    )
    is_got = any(
        thing_words <= set(words(before)) and names_as_head(before[: helping.start()], thing_words)
        for before in texts_before
        if (helping := _HELPING.search(before)) is not None
    )
    matches = (match for match in active.finditer(text) if match["verb"].casefold() in question.text.casefold().split())
    return bool(thing_words) and (is_got or any(set(words(match["what"])) == thing_words for match in matches))


@cache
def _got_patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    by_whom = r"(?!(?<!be\s)(?:bought|purchased)\b)"  # "Corn is bought at the gate" by those who grind it
    passive = rf"\b{by_whom}(?P<way>{'|'.join(_WAYS_OF_GETTING)})\s+(?:\w+ly\s+)?{_AT_CERTAIN_THING}"
    active = rf"\b(?P<verb>find|get|buy|obtain)\s+(?P<what>[^,;:.]{{2,40}}?)\s+{_AT_CERTAIN_THING}"
    return re.compile(passive, re.IGNORECASE), re.compile(active, re.IGNORECASE)


@cache
def place_pattern() -> re.Pattern[str]:
    """Where something is, told by a thing without a name: "hangs beside the chandlery door", "is in the old mill"."""
    verb = (
        r"(?:is|are|hangs?|stands?|lies?|sits?|located|situated|found|kept|stored|placed|parked|fixed|mounted|fitted"
        r"|hidden|left|(?P<act>(?!(?:gather|assemble|meet|wait)\b)\w{3,}))"  # an act that is asked for
    )
    # Words such as "clubhouse" and "boathouse" need not be listed.
    noun = rf"(?:\w{{3,}}(?:house|room|hall|yard|field|ground)|{alternation(listed_words('place_nouns'))})"
    # After these verbs, any noun tells a place, and so it does after "is beside" and the like.
    placed = (
        r"(?P<placed>located|situated|kept|stored|placed|parked|fixed|mounted|fitted|hidden|gather|assemble|meet|wait"
        rf"|(?:is|are)(?=\s+(?:{_ASIDE}|{_SIDE})\b))"
    )
    timed = r"(?:on\s+(?:[\w.:]+\s+){1,6}?)?(?:at\s+[\d:.]+\s+(?:[ap]\.?m\.?\s+)?)?"
    numbered = r"in\s+(?:room|hall|building|cabin|house|hut|flat)\s+(?-i:[A-Z]|\d)"  # "in room B 118"
    return re.compile(
        rf"\b{verb}\s+(?:\w+ly\s+)?{timed}(?:{_BESIDE}\s+{_ARTICLE}{noun}s?{_ENDS}|{numbered})"
        rf"|\b{placed}\s+{timed}{_AT_THING}|\b(?P<is>is|are)\s+{_AT_CERTAIN_THING}(?!\s+of\b)",
        re.IGNORECASE,
    )


def says_where(statement: Statement, question: QuestionTerms) -> bool:
    """Whether a statement says that the question's subject is done or located in a place, close after its name."""
    subject, text = question.subject, statement.text
    if _is_done_at_thing(text, subject):
        return True
    before = [" ".join(text[: match.start()].split()[-WITHIN_WORDS:]) for match in _SITUATED.finditer(text)]
    return any(subject.intersection(words(name)) for name in [*before, *_PLACE_WHERE.findall(text)])
