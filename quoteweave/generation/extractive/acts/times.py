"""Check by rule which time a text is about: what is so, what was once so, or what will be."""

import re

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.question_analysis import AnswerType, with_words_alike
from quoteweave.core.text.tokens import words
from quoteweave.generation.extractive.acts.clauses import head_nouns
from quoteweave.generation.extractive.named.answer_names import ASKS_WHO_DID
from quoteweave.generation.gate.dates import MONTHS, NAMES_WEEKDAY, WEEKDAY, is_of_date, months_within
from quoteweave.generation.gate.facts import read_evidence
from quoteweave.generation.relevance import NUMBER_KINDS, QuestionTerms
from quoteweave.generation.sentence_kinds import INSTRUCTION, denies

BOTH_BOUNDS = 2
"""The number of dates in a span: its beginning and its end."""
_YEAR_SINCE_1500 = r"(?:1[5-9]|20)\d\d"
SAYS_PAST = lazy_regex(r"\b(?:was|were|had|did|used|would)\b", re.IGNORECASE)
SAYS_PRESENT = lazy_regex(r"\b(?:is|are|has|have|does|do|will|(?-i:may)|can|must|now|today)\b", re.IGNORECASE)
_SAYS_FUTURE = lazy_regex(r"\b(?:will|shall)\b", re.IGNORECASE)
# A past action, unlike a past state, still holds: "In 2010 the fee was raised to 35 euros".
_SAYS_PAST_STATE = lazy_regex(
    r"\b(?:was|were|had)\b(?!\s+(?:been\s+|\w+ly\s+)?(?:\w+(?:ed|en)|set|put|made|built)\b)", re.IGNORECASE
)
_YEAR = lazy_regex(rf"(?<![\w.,]){_YEAR_SINCE_1500}(?![\w]|[.,]\d)")
# "Before 2010 a deposit was usual" does not tell what it is.
_SINCE_CHANGED = lazy_regex(
    rf"\b(?:before|until|till|up\s+to)\s+(?:\w+\s+)?{_YEAR_SINCE_1500}\b|\b(?:formerly|previously|used\s+to|in\s+the\s+past"
    r"|originally|at\s+first|(?:years?|months?)\s+ago|(?:last|previous)\s+(?:year|month|week|season)"
    r"|old\s+(?:tariff|price|rate|fee|rule|contract|law)s?)\b|\bwhen\b[^,;.]*\b(?:was|were|had|began|\w+ed)\b",
    re.IGNORECASE,
)
# Where a text goes on to another thing, unless the words behind still tell of the same: "from June to August 9 euros".
_BEGINS_OTHER = lazy_regex(r"[,;:]\s+|\s(?=(?:and|but|while)\s+(?:the|an?|our|its)\s)", re.IGNORECASE)
_GOES_ON = lazy_regex(
    r"\W*(?:(?:and|but|or|only)\s+)*(?:from|in|on|at|between|during|until|till|it|they|is|are|has|have|costs?|daily"
    rf"|{'|'.join(MONTHS)}|\d)",
    re.IGNORECASE,
)
_FOR_WHOM = lazy_regex(r"\bfor\s+(?:(?:the|an?)\s+)?(\w+)", re.IGNORECASE)
_LEFT_OUT = lazy_regex(
    r"\b(?:except|excluding|apart\s+from|other\s+than|unless|outside|not\s+(?:from|between|in))\s", re.IGNORECASE
)
_ASKS_WHAT_IF = lazy_regex(r"\W*what\s+(?:happens\s+)?(?:if|when)\b", re.IGNORECASE)
# "The stolen bicycle was found" does not tell what one does or gets if one is stolen.
_IN_GENERAL = lazy_regex(
    r"\b(?:will|shall|can|cannot|may|must|should|would|(?:is|are)\s+(?:not\s+)?\w+ed|gets?|pays?|costs?|covers?|receives?)\b",
    re.IGNORECASE,
)
_CASE_WITHIN = lazy_regex(r"\b(?:if|when|whenever|unless|where|once)\b", re.IGNORECASE)
_WHEN_IT_IS = lazy_regex(r"\s*when\s+(?:is|are|do|does)\b", re.IGNORECASE)
_WHEN_WAS = lazy_regex(
    r"\s*(?:when|in\s+(?:what|which)\s+(?:year|month))\s+was\s+the\s+(?:[\w'’-]+\s+)*?(?P<noun>[\w'’-]+)\s+"
    r"(?P<verb>\w{2,}(?:ed|en)|paid|held|built|made|found|sold|sent|set|lost|won)\b\W*$",
    re.IGNORECASE,
)
_NUMBER = r"(?:\d+|two|three|four|five|six|seven|eight|nine|ten|twelve)"
# Times that are no dates: days of the week, the 25th, "after 30 days", "from the eighth day", "9 to 13", "the last day
# of each month", "within 14 days of the request". Not "within six months", which tells how long something may take.
_TIME_OF_ITS_OWN = lazy_regex(
    rf"\b(?:{WEEKDAY}s?|weekdays|weekends|the\s+\d{{1,2}}(?:st|nd|rd|th)(?!\s+century)(?!\s+(?!of\b|day\b)[^\W\d_])"
    rf"|(?:after|from)\s+(?:the\s+\w+th\s+day|{_NUMBER}\s+(?:minute|hour|day|week|month|year)s)"
    r"|(?:from|at|until)\s+(?:about\s+)?(?:half\s+past\s+|(?:a\s+)?quarter\s+(?:past|to)\s+)?"  # "at half past eight"
    r"(?:one(?=\s+o[’']clock)|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)(?:\s+o[’']clock\b"
    r"|(?=\s*(?:[.;,]|$)|\s+(?:in\s+the\s+(?:morning|afternoon|evening)|at\s+night|on|every|each)\b))"
    r"|the\s+(?:first|last)\s+(?:working\s+)?day\b|(?:from|at|until)\s+(?:noon|midday|midnight|dusk|dawn|sunset|sunrise)\b"
    r"|the\s+\w+(?:\s+working)?\s+day\s+of\s+(?:the|each|every)\s+(?:month|quarter|term|year|week)"
    r"|\d{1,2}(?:[.:]\d\d)?\s*(?:to|until|–|-)\s*\d{1,2}(?:[.:]\d\d)?(?=\s*(?:[,;.)]|$)|\s+(?:and|or|on|daily|every)\b))",
    re.IGNORECASE,
)
WITHIN_A_TIME = rf"\bwithin\s+{_NUMBER}\s+(?:hour|day|week|month)s"
"""A pattern of the time within which something is to be done."""
_WITHIN_TIME_OF = lazy_regex(rf"{WITHIN_A_TIME}\s+(?:of|after)\s(?P<event>[^,;:.]+)", re.IGNORECASE)
_WITHIN_TIME = lazy_regex(WITHIN_A_TIME, re.IGNORECASE)
_ASKS_DEADLINE = lazy_regex(r"\b(?:due|must|ha(?:s|ve)\s+to|by\s+when|deadline)\b", re.IGNORECASE)
_NAME_OF_TIME = rf"(?:{WEEKDAY}s?|{'|'.join(MONTHS)}|spring|summer|autumn|winter)\b"
# A year is that of a dated entry or report, not of what is done in any year.
_TIME_ALONE = lazy_regex(
    rf"(?=.*\b{_NAME_OF_TIME})\W*(?:(?:{_NAME_OF_TIME}|(?:early|mid|late|and|to|of|\d{{1,2}})\b)\W*)+", re.IGNORECASE
)
_CENTURY = lazy_regex(r"\bin\s+the\s+(?:early\s+|late\s+)?\d{1,2}(?:st|nd|rd|th)\s+century\b", re.IGNORECASE)
_SPAN = lazy_regex(
    r"\W*(?P<what>[^,;:.]+?)\s+(?:runs?|lasts?|goes|extends?|takes?\s+place|(?:is|are)\s+(?:valid|open))\s+"
    r"from\s+(?P<dates>[^;:.]+)",
    re.IGNORECASE,
)
_DAYS_OF_MONTH = lazy_regex(
    rf"\b(\d{{1,2}})\.?\s*(?:to|until|till|and|bis|-|–)\s*(\d{{1,2}})\.?\s+({'|'.join(MONTHS)})\b", re.IGNORECASE
)
_DETERMINER = r"(?:the|an?|its|his|her|their|our|your|all|each|every|any)"
# "After its founder", "until further notice" and "once again" are no occasions, unlike "after the guests have left".
# What "if" and the like introduce without saying when: "if necessary".
_SAYS_NO_CASE = r"necessary|possible|so\b|in\s+doubt|you\s+ask"
_VERB = r"(?:is|are|was|were|has|have|had|do|does|can|will|\w{2,}ed|\w{2,}[^\Wsu]s)"
# A clause with its verb, "the river rises" or "guests leave", unlike what else is behind "after": "its founder".
_CLAUSE = (
    rf"(?:{_DETERMINER}\s+)?(?!{_DETERMINER}\b)(?:\w+s\s+(?!from|with|near)[a-z]{{4,}}"
    rf"|[\w'’-]+\s+(?:(?!that|which|who|and\b)[\w'’-]+\s+){{0,6}}?{_VERB})\b"
)
_OCCASION = lazy_regex(
    rf"(?P<done>[^,;:]+?)\s(?:(?:when(?:ever)?|as\s+soon\s+as|if)\s+(?!{_SAYS_NO_CASE})"
    rf"|(?:once|after|before|until)\s+{_CLAUSE})",
    re.IGNORECASE,
)
_NO_OCCASION = lazy_regex(
    r"\b(?:rarely|seldom|hardly|that|which|who|whose|whether)\b|\b(?:even|as|no\s+matter|regardless(?:\s+of)?)$",
    re.IGNORECASE,
)
_BETWEEN_CLAUSES = lazy_regex(r"\s(?:and|but|or|while)\s", re.IGNORECASE)
_BOUNDS = frozenset(words("end expire finish begin start"))
_ASKS_OF_PAST = lazy_regex(r"\b(?:was|were|did|had)\b", re.IGNORECASE)
_COMPARES = lazy_regex(
    r"\b(?:by\s+how|than|more|less|fewer|compared|chang|increas|decreas|gr[eo]w|f[ae]ll|rose|rise|differ)",
    re.IGNORECASE,
)
_THAN_IN = lazy_regex(r"\b(?:than\s+(?:in|on|at|during)|compared\s+(?:with|to))\s+[^,;.]+", re.IGNORECASE)
_TIME_LEFT_OUT = lazy_regex(rf"{_LEFT_OUT.pattern}[^,;.]+", re.IGNORECASE)


def is_headed_by_time(heading: str, question: str) -> bool:
    """Whether a heading is the time of what is below it, "October and November", for a question not about the past."""
    return _TIME_ALONE.fullmatch(heading) is not None and _ASKS_OF_PAST.search(question) is None


def tells_time_of_its_own(text: str, question: str) -> bool:
    """Whether a text tells a time that is no date: "The sauna is closed on Mondays", "Pay day is the 25th".

    Such a time does not answer a question about the past, and if a question names the day, the text must tell the
    hours. "Within 30 days of the end of the lease" does not tell when the lease ends.
    """
    if _ASKS_OF_PAST.search(question):
        return _CENTURY.search(text) is not None
    if _ASKS_DEADLINE.search(question) and _WITHIN_TIME.search(text):
        return True
    remaining = NAMES_WEEKDAY.sub(" ", text) if NAMES_WEEKDAY.search(question) else text
    return _TIME_OF_ITS_OWN.search(remaining) is not None or any(
        set(words(question)).isdisjoint(words(span["event"])) for span in _WITHIN_TIME_OF.finditer(text)
    )


def tells_occasion(text: str, question: QuestionTerms) -> bool:
    """Whether a text tells on what occasion is done what a question asks about: "is switched off when it freezes"."""
    occasion = _OCCASION.match(text) if _WHEN_IT_IS.match(question.text) else None
    if occasion is None or denies(occasion["done"]) or _NO_OCCASION.search(occasion["done"]):
        return False
    done, last_clause = (
        with_words_alike(frozenset(words(text)), question.subject)
        for text in (occasion["done"], _BETWEEN_CLAUSES.split(occasion["done"])[-1])
    )
    return question.subject <= done and not question.subject.isdisjoint(last_clause)


def stems_of_bounds(text: str, question: QuestionTerms) -> frozenset[str]:
    """The stem with which a question asks when something begins or ends, if a text gives a time with both bounds.

    "The lease runs from 1 June 2024 to 31 May 2026" tells when the lease ends.
    """
    span = _SPAN.match(text) if question.asks == "date" else None
    dates = _DAYS_OF_MONTH.sub(r"\1 \3 to \2 \3", span["dates"]) if span is not None else ""
    if span is None or len(read_evidence(dates).dates) < BOTH_BOUNDS:
        return frozenset()
    subject = question.subject
    is_of_it = subject - _BOUNDS <= set(words(span["what"])) and not subject.isdisjoint(head_nouns(span["what"]))
    return subject & _BOUNDS if is_of_it else frozenset()


def stems_of_months(text: str, question: QuestionTerms) -> frozenset[str]:
    """The question's months that a text's spans of months hold: what costs 9 euros "from June to August" does in July.

    What was counted in three months was not counted in one. A span of another thing does not count, "the rink costs
    4 euros in winter, the skate park 2 euros from March to May", nor one left out, "except from June to August".
    """
    if question.asks in {"count", "percent"} or not question.names or SAYS_PAST.search(question.text):
        return frozenset()
    thing_words, whom = question.subject - question.names, _FOR_WHOM.search(question.text)
    if whom is not None and not set(words(whom[1])) <= set(words(text)):
        return frozenset()
    clauses = _BEGINS_OTHER.split(text)
    if question.asks != "yes_or_no":
        clauses = [_LEFT_OUT.split(clause, maxsplit=1)[0] for clause in clauses]
    its_clauses = [clause for clause in clauses if _GOES_ON.match(clause) or not thing_words.isdisjoint(words(clause))]
    return question.names.intersection(month for clause in its_clauses for month in months_within(clause))


def is_dated_otherwise(text: str, question: str) -> bool:
    """Whether a text's date is that of several things, or only of the past, which the question does not ask for."""
    return any(tells(text, question) for tells in (_is_of_several, _was_once))


def _is_of_several(text: str, question: str) -> bool:
    """Whether a text's date is that of several things, while the question is about one: "Surveys conducted in 2015"."""
    when = _WHEN_WAS.match(question)
    if when is None:
        return False
    noun = re.escape(when["noun"])
    forms = rf"\b{noun}\b", rf"\b{noun}s\b", rf"\b{noun}s\s+(?:were\s+)?{when['verb']}\b"
    singular, plural, passive_plural = (re.search(form, text, re.IGNORECASE) is not None for form in forms)
    return passive_plural or (plural and not singular)


def _was_once(text: str, question: str) -> bool:
    """Whether a text tells only when something was, while the question asks when it is."""
    tells_past_only = SAYS_PAST.search(text) is not None and SAYS_PRESENT.search(text) is None
    return tells_past_only and _WHEN_IT_IS.match(question) is not None


def past_years(text: str, question: str) -> frozenset[str]:
    """The years for which a text tells what was once so, while the question asks what is so now."""
    who = ASKS_WHO_DID.match(question)
    if SAYS_PAST.search(question) or (who and not who["verb"].casefold().endswith("s")) or _YEAR.search(question):
        return frozenset()
    if not _SAYS_PAST_STATE.search(text) or SAYS_PRESENT.search(text):
        return frozenset()
    return frozenset(_YEAR.findall(text))


def is_of_another_time(text: str, question: str, asks: AnswerType) -> bool:
    """Whether a text is about another time than the question, or about one event if it asks what happens in a case.

    "84 mm in May, 12 mm less than in April" does not tell how much it was in April, nor "9 euros, not in May".
    """
    if asks in NUMBER_KINDS and not _COMPARES.search(question):
        dates = set(filter(is_of_date, words(question))).intersection(words(text))
        if not dates <= set(words(_TIME_LEFT_OUT.sub(" ", _THAN_IN.sub(" ", text)))):
            return True
    if SAYS_PAST.search(question):  # "The club will win" does not tell whether it did
        return asks == "yes_or_no" and _SAYS_FUTURE.search(text) is not None and not SAYS_PAST.search(text)
    once = asks in NUMBER_KINDS | {"statement"} and SAYS_PAST.search(text) and _SINCE_CHANGED.search(text)
    general = _IN_GENERAL.search(text) or _CASE_WITHIN.search(text) or INSTRUCTION.match(text)
    return bool(once) or (_ASKS_WHAT_IF.match(question) is not None and not general)
