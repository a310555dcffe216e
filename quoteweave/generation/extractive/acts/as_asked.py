"""Check by rule whether a statement tells a present fact about the very thing and act that a question asks about.

A sentence may have all words of a question and yet be about another act, what somebody only wanted, what was once so, a
part of the thing, or another number of things. The rules are for English only, and use the forms and order of words.
"""

import re
from collections.abc import Iterable
from decimal import Decimal
from typing import Literal, NamedTuple

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.question_analysis import MAX_ANALYSED_CHARACTERS, AnswerType, with_words_alike
from quoteweave.core.text.references.reference_words import reference_words
from quoteweave.core.text.tokens import words
from quoteweave.generation.extractive.acts.asked_acts import tells_of_another_act
from quoteweave.generation.extractive.acts.doers import names_doer_of_another_thing
from quoteweave.generation.extractive.acts.instructions import denies_unasked
from quoteweave.generation.extractive.acts.opposites import counted_noun
from quoteweave.generation.extractive.acts.stated_amounts import own_amounts
from quoteweave.generation.extractive.acts.times import is_dated_otherwise, is_of_another_time
from quoteweave.generation.extractive.statements import Statement
from quoteweave.generation.gate.dates import MONTH_NAMES, WEEKDAY
from quoteweave.generation.relevance import NUMBER_KINDS, QuestionTerms, subject_terms
from quoteweave.generation.sentence_kinds import FEW, INSTRUCTION, ROUGHLY, begins_with, is_beyond_limit

MIN_ONLY_CAUSES = 2
"""If a text has so many words of the subject only in the cause that it names, it tells what the subject caused."""
_VALUE_KINDS = NUMBER_KINDS | {"statement", "date", "person"}
_WHETHER = lazy_regex(
    r"\b(?:ask|wonder|question|inquir|enquir|doubt|unclear|unknown|uncertain)\w*\b[^,;.]*?\bwhether\b[^,;.“]*",
    re.IGNORECASE,
)
# "See Section 4.1 to get an image" says where to look, and not what stands there, which answers only some questions.
_POINTS_ELSEWHERE = lazy_regex(r"\W*(?:Please\s+|For\s[^,]{1,80},\s+)?(?:see|refer\s+to|consult)\s", re.IGNORECASE)
_MAY_POINT_ELSEWHERE = frozenset({"place", "steps", "statement"})
# "Turned off" is another act than "turned down", and "check in" than "check".
_PARTICLE = r"(?:off|out|on|up|down|away|back|over)"
_ASKS_WITH_PARTICLE = lazy_regex(rf"\b(?P<verb>\w+)\s+(?P<particle>{_PARTICLE})\W*$", re.IGNORECASE)
_ASKS_IN = lazy_regex(r"\b(?P<verb>check|log|sign|hand|move|plug|cash)(?:ed|s)?\s+in\W*$", re.IGNORECASE)
_WITH_PARTICLE = lazy_regex(rf"(?P<verb>\w+)\s+(?P<particle>{_PARTICLE})\b", re.IGNORECASE)
# What somebody says or thinks about, which does not make it so: what is wanted, proposed, considered or refused, and
# what was once offered. Whoever offers or recommends it in the present has it.
_WANTS = (
    r"(?:want|wish|hop(?:e|ing)|expect|plan|intend|aim|propos|request|demand|seek|sought|appl(?:y|i)|ask(?!\w*\s+[\d$€£])|consider|discuss"
    r"|debat|negotiat|refus|declin|reject|imagin|suppos|assum|fear|doubt|claim|alleg|argu)(?:e?s|e?d|n?ed|ing|ning|e)?"
    r"|offered|suggested|recommended"
)
_ONLY_WANTED = lazy_regex(
    rf"(?<!\bare )(?<!\bis )(?<!\bbe )\b(?:{_WANTS})\s+"
    r"(?:(?:for|to|that|on|about|an?|the|some|its|their|of)\b|[$€£]?\d)[^;.“]*"
    rf"|\b(?:an?|the)\s[^,;.]{{1,80}}?\b(?:was|were|has\s+been|is\s+being)\s+(?:{_WANTS})\b",
    re.IGNORECASE,
)
_SUPPOSED = lazy_regex(
    r"^\W*(?:if|unless|suppose|assuming|provided)\b[^,]*(?:,|$)|[,\s]\s*(?:if|unless)\b[^,.;]*", re.IGNORECASE
)
_SUPPOSES = lazy_regex(rf"(?<!^)\b(?:if|unless|suppose|when|{_WANTS})\b", re.IGNORECASE)
# "Contains 5 litres" tells how much there is in all, and "covers heating of 80 euros" the amount of a part.
_SAYS_PART = lazy_regex(r"\b(?:includ(?:es?|ed|ing)|(?:contains?|comprises?|covers?)\s+(?=[a-z]))", re.IGNORECASE)
_CONTAINS_NUMBER = lazy_regex(
    rf"(?:contains?|comprises?)\s+{ROUGHLY}(?:\d[\d,.]*|{FEW})\s+(?P<noun>[^\W\d_]+)", re.IGNORECASE
)
_DIGIT = lazy_regex(r"\d")
_ASKED_OF = lazy_regex(
    r"\b(?:is|are|was|were|does|do|did)\s+(?:(?:the|our|your|its|their|my|an?)\s+)?"
    r"(.+?)(?=\s+(?:of|for|in|on|at|to|by|per|with|without|from)\b|\W*$)",
    re.IGNORECASE,
)
# A bound before a number includes other numbers: "for up to four persons" is for three, too.
_NUMBER_OF_THINGS = lazy_regex(
    r"(\b(?:(?:(?P<more>more|longer|older|larger|higher|heavier)|(?P<less>fewer|less|shorter|younger|smaller|lower|lighter))"
    r"\s+than|to|than|most|least|from|(?P<over>over)|(?P<under>under)|or|and)\s+)?"
    r"(?<![\w.,])(?P<number>\d[\d.,]*|[^\W\d_]+)(?=\s+(?P<noun>[^\W\d_]+))",
    re.IGNORECASE,
)
# "the bar in Marlow", whose place is a name
_THING_IN_PLACE = lazy_regex(
    r"\b(?i:the|an?|our)\s+(?:[a-zß-ÿ-]+\s+)?(?P<thing>[^\W\d_]{3,})\s+(?:in|at|near)\s+"
    rf"(?!{MONTH_NAMES}\b|{WEEKDAY})(?P<place>[A-ZÀ-Þ][^\W\d_]+)"
)
_ASKS_IN_UNIT = lazy_regex(
    r"\bwhat\s+(?:is|was|are|were)\b.*\sin\s+(?:minutes|hours|days|euros|kg|metres|cm|km)\W*$", re.IGNORECASE
)
_PLAIN_NUMBER = lazy_regex(r"\d+(?:\.\d+)?")
# Words for an exception, or for what is left out: "until 21:00 except on Sundays", "frozen without the sausages".
_EXCEPTION = lazy_regex(
    r"\b(?P<excepted>except(?:ing)?(?:\s+for)?|excluding|other\s+than|apart\s+from|without)\s+(?:on\s+|in\s+|at\s+)?"
    r"(?:the\s+|any\s+)?(?P<what>[^\W\d_]+)",
    re.IGNORECASE,
)
_MUST = r"(?:must|shall|ha(?:s|ve|d)\s+to|needs?\s+to)"
_MODAL = r"(?:can|may|could|must|should|shall|will)\b"
_ASKS_WHAT_IT_DOES = lazy_regex(
    rf"\s*what\s+(?:(?:does|do|did)|(?P<may>{_MODAL}))\s+(?!(?:I|we|you|one)\b)(?P<subject>.{{1,80}}?)\s+do\b",
    re.IGNORECASE,
)
# What the reader is to do with something; any sentence that directs may answer what to do, or to avoid.
_ASKS_WHAT_ONE_DOES = lazy_regex(
    rf"\W*what\s+(?:else\s+)?(?:{_MODAL}|do)\s+(?:I|we|you|one)\s+(?P<verb>(?!(?:do|be|have|need|know|tell|avoid)\b)\w+)",
    re.IGNORECASE,
)
# Whether something is so, and not whether it may or has to be done.
_ASKS_STATE = lazy_regex(
    r"(?:is|are|was|were)\b(?!\s+there\b)(?!.*\b(?:allowed|permitted|needed|necessary|required|possible|okay|ok|safe)\b)",
    re.IGNORECASE,
)
_CONDITION = lazy_regex(r"\W*(?:if|when|unless)\b[^,]*,", re.IGNORECASE)
_ASKS_IF = lazy_regex(r"\b(?:if|when|unless)\b", re.IGNORECASE)
_ASKS_CAUSE = lazy_regex(r"\W*what\s+(?:drove|caused|led\s+to)\b", re.IGNORECASE)
_CAUSED = lazy_regex(
    r"\b(?:driven|caused)\s+(?:\w+ly\s+)?by\b|\b(?:due|owing|attributable)\s+to\b|\bbecause of\b|\bas a result of\b",
    re.IGNORECASE,
)
# Words which say that one of several is the highest or the like: "most", "peaked", "the majority", "more than any".
_EXTREME = lazy_regex(
    r"\b(?:most|least|best|worst|max|maximum|minimum|peak\w*|record|top|majority|mainly|mostly|up to|more than any"
    r"|\w{3,}est)\b",
    re.IGNORECASE,
)
_OF_EXTREMES = frozenset({"date", "person", "place", "percent", "money"})
# "Max Holm" and "Max says" name a person, but "max. 6 m" is a limit.
_ASKS_LIMIT = lazy_regex(r"\b(?:maximum|minimum|max|min)\b", re.IGNORECASE)
_LIMIT = lazy_regex(
    r"\b(?:max\b|min\b|Max\.|Min\.|(?i:maximum|minimum|maximal|minimal|most|least|up\s+to|limit\w*|peak\w*|top|exceed\w*"
    r"|(?:no|not)\s+(?:more|less|fewer|longer|higher|lower|heavier|larger|over|above|under|below)"
    r"|(?:highest|lowest|largest|smallest|longest|shortest|greatest))\b)"
)


def asks_what_it_does(question: str) -> bool:
    """Whether a question asks what a thing does, or must do."""
    return _ASKS_WHAT_IT_DOES.match(question) is not None


def tells_what_it_does(text: str, question: str) -> bool:
    """Whether a text or one of its clauses begins with the thing asked about, and says what it does or must do."""
    doing = _ASKS_WHAT_IT_DOES.match(question)
    modal = r"\w+" if doing is None or not doing["may"] else _MUST if re.match(_MUST, doing["may"]) else _MODAL
    # The subject may follow a comma: "During the strike, the harbour hired crane drivers".
    begins = (text[at:] for at in (0, *(match.end() for match in re.finditer(", ", text))))
    says_so = re.search(rf"\b{modal}\s+\w", text, re.IGNORECASE) is not None
    return doing is not None and says_so and any(begins_with(part, doing["subject"]) for part in begins)


def tells_as_asked(statement: Statement, question: QuestionTerms) -> bool:
    """Whether nothing shows that a statement is about something else than the act or fact asked about."""
    text, asks = question.text[:MAX_ANALYSED_CHARACTERS], question.asks
    if statement.is_of_cells:
        return True
    denied = asks == "look" and denies_unasked(statement, question)
    points = asks not in _MAY_POINT_ELSEWHERE and _POINTS_ELSEWHERE.match(statement.text) is not None
    of_another = names_doer_of_another_thing(statement, question) or _has_another_particle(statement.text, text)
    if denied or points or of_another:
        return False
    of_extreme = question.analysis.extreme and asks in _OF_EXTREMES and not _EXTREME.search(statement.text)
    of_limit = _ASKS_LIMIT.search(text) and not _LIMIT.search(statement.text)
    of_limit = of_limit or is_beyond_limit(statement.text, question.analysis.threshold)
    of_another_act = tells_of_another_act(statement.text, text, asks)
    of_another_act = of_another_act or _lacks_what_one_does(statement, text) or _only_supposes(statement.text, question)
    if of_extreme or of_limit or of_another_act or not _tells_value(statement.text, question):
        return False
    if asks == "date" and is_dated_otherwise(statement.text, text):
        return False
    return not _tells_what_it_caused(statement.text, text, subject_terms(question))


def _has_another_particle(text: str, question: str) -> bool:
    """Whether a text has the verb that ends a question only with another particle, or without its "in"."""
    if (asked_in := _ASKS_IN.search(question)) is not None:
        return asked_in["verb"].casefold() in words(text) and re.search(r"\bin\b", text, re.IGNORECASE) is None
    asked_match = _ASKS_WITH_PARTICLE.search(question)
    if asked_match is None or not (verb := words(asked_match["verb"])):
        return False
    pairs = [match for match in _WITH_PARTICLE.finditer(text) if words(match["verb"]) == verb]
    return bool(pairs) and asked_match["particle"].casefold() not in {match["particle"].casefold() for match in pairs}


def _lacks_what_one_does(statement: Statement, question: str) -> bool:
    """Whether a statement, with what is before it, lacks the verb of "What should I include in the report?"."""
    does = _ASKS_WHAT_ONE_DOES.match(question)
    asked_verb = frozenset(words(does["verb"])) if does else frozenset[str]()
    statement_words = frozenset(statement.words).union(words(statement.before))
    return not asked_verb <= with_words_alike(statement_words, asked_verb)


def _only_supposes(text: str, question: QuestionTerms) -> bool:
    """Whether a text does not say if something is so, but what to do, or has the last word asked about in a condition.

    "If the pump is dry, the lamp is on" does not say whether the pump is dry.
    """
    if _ASKS_STATE.match(question.text) is None:
        return False
    condition, last_word = _CONDITION.match(text), set(subject_terms(question)[-1:])
    if condition is None or _ASKS_IF.search(question.text[:MAX_ANALYSED_CHARACTERS]):
        return INSTRUCTION.match(text) is not None
    return last_word.isdisjoint(words(text[condition.end() :]))


def _tells_what_it_caused(text: str, question: str, subject: Iterable[str]) -> bool:
    """Whether a text tells what the thing asked about caused, not its cause: "Earnings fell, driven by lower sales"."""
    cause = _CAUSED.search(text) if _ASKS_CAUSE.match(question) else None
    if cause is None or not text[: cause.start()].strip():
        return False
    before, after = text[: cause.start()], text[cause.end() :]
    return len(set(words(after)).intersection(subject).difference(words(before))) >= MIN_ONLY_CAUSES


def _tells_value(text: str, question: QuestionTerms) -> bool:
    """Whether nothing shows that a text is about another fact than the question."""
    question_text, asks = question.text[:MAX_ANALYSED_CHARACTERS], question.asks
    subject = subject_terms(question)
    if is_of_another_time(text, question_text, asks) or _is_of_another_number(text, question_text):
        return False
    if _is_elsewhere(text, question_text) or _tells_difference_alone(text, question_text):
        return False
    if _is_of_excepted(text, question_text, subject, by_yes_or_no=asks == "yes_or_no"):
        return False
    if asks in NUMBER_KINDS | {"statement"} and _gives_part_alone(text, question_text, subject):
        return False
    return not _is_only_supposed(text, question_text, asks, subject)


def _is_only_supposed(text: str, question: str, asks: AnswerType, subject: Iterable[str]) -> bool:
    """Whether a text has a word of the question only in a part that somebody wondered about, wanted or supposed."""
    asserted = text if _WHETHER.search(question) else _WHETHER.sub(" ", text)
    if asks in _VALUE_KINDS and not _SUPPOSES.search(question):
        asserted = _SUPPOSED.sub(" ", _ONLY_WANTED.sub(" ", asserted))
    return asserted != text and not set(words(text)).intersection(subject) <= set(words(asserted))


def _gives_part_alone(text: str, question: str, subject: Iterable[str]) -> bool:
    """Whether all numbers of a text belong to a part: "The rent includes heating costs of 80 euros"."""
    part, owner = _SAYS_PART.search(text), _ASKED_OF.search(question)
    if part is None or owner is None or _SAYS_PART.search(question) or _DIGIT.search(text[: part.start()]):
        return False
    behind, owner_words = text[part.end() :], set(words(owner[1])).intersection(subject)
    contains = _CONTAINS_NUMBER.match(text, part.start())
    if contains is not None and words(contains["noun"]) == words(counted_noun(question)):
        return False  # a course that "comprises twelve lessons" has these
    return _DIGIT.search(behind) is not None and not owner_words <= set(words(behind))


def _is_of_excepted(text: str, question: str, subject: Iterable[str], *, by_yes_or_no: bool) -> bool:
    """Whether a text has a word of the question only in an exception, which may answer yes or no."""
    if _EXCEPTION.search(question):
        return False
    exceptions = [
        exception for exception in _EXCEPTION.finditer(text) if exception["excepted"] == "without" or not by_yes_or_no
    ]
    excepted_words = {word for exception in exceptions for word in words(exception["what"])}.intersection(subject)
    return not excepted_words <= set(words(_EXCEPTION.sub(" ", text)))


def _is_of_another_number(text: str, question: str) -> bool:
    """Whether a text is about another number of things than the question: one household instead of two."""
    in_text, asked = _numbers_of_nouns(text), _numbers_of_nouns(question)
    return any(
        in_text.get(noun) and not any(_may_be(stated, number) for stated in in_text[noun] for number in numbers)
        for noun, numbers in asked.items()
    )


_Bound = Literal["", "above", "below", "some"]


class _NumberOfThings(NamedTuple):
    number: Decimal
    bound: _Bound
    """Whether it is itself left out, as in "more than two" and "fewer than two"; "some" other bound includes it."""


def _may_be(stated: _NumberOfThings, asked: _NumberOfThings) -> bool:
    if asked.bound or stated.bound in {"", "some"}:
        return stated.bound != "" or stated.number == asked.number
    return asked.number > stated.number if stated.bound == "above" else asked.number < stated.number


def _numbers_of_nouns(text: str) -> dict[str, set[_NumberOfThings]]:
    """The numbers before each noun, with what a word before says of them, as "up to" in "up to four"."""
    numbers_of_nouns, numbers = dict[str, set[_NumberOfThings]](), reference_words().numbers
    for match in _NUMBER_OF_THINGS.finditer(text):
        written, noun = match["number"].casefold(), words(match["noun"])
        number = str(numbers.get(written, written)).replace(",", "").strip(".")
        if noun and _PLAIN_NUMBER.fullmatch(number):
            is_above, is_below = match["more"] or match["over"], match["less"] or match["under"]
            bound: _Bound = "above" if is_above else "below" if is_below else "some" if match[1] else ""
            numbers_of_nouns.setdefault(noun[0], set()).add(_NumberOfThings(Decimal(number), bound))
    return numbers_of_nouns


def _is_elsewhere(text: str, question: str) -> bool:
    """Whether a text is about a thing in another place than the question: "The bar in Henley", for that in Marlow."""
    for asked in _THING_IN_PLACE.finditer(question):
        thing_words, place_words = set(words(asked["thing"])), set(words(asked["place"]))
        placed = (set(words(match["thing"])) for match in _THING_IN_PLACE.finditer(text))
        if thing_words and any(map(thing_words.issubset, placed)) and place_words.isdisjoint(words(text)):
            return True
    return False


def _tells_difference_alone(text: str, question: str) -> bool:
    """Whether a question asks for a number of units, while a text has only the differences between numbers."""
    return _ASKS_IN_UNIT.search(question) is not None and not _DIGIT.search(own_amounts(text, question))
