"""Find the clause of a sentence that is about what a question asks: its thing, act and time together.

"The front door is green and the back door, fitted in 2010, is oak" does not tell when the front door was fitted, though
it has all words of that question. Only clauses with subjects of their own are taken apart, in English.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.question_analysis import with_words_alike
from quoteweave.core.text.tokens import words
from quoteweave.generation.extractive.acts.asked_acts import text_of_asked_act
from quoteweave.generation.extractive.acts.clauses import ARTICLES, IRREGULAR, NUMBERS, PREPOSITIONS
from quoteweave.generation.extractive.statements import Statement
from quoteweave.generation.gate.dates import MONTH_NAMES, RECENT_YEAR, WEEKDAY
from quoteweave.generation.relevance import QuestionTerms

MAX_SUBJECT, MAX_TEXT = 8, 600
"""The most words before the verb of a clause, and the most characters of a text that is taken apart."""

_KINDS = frozenset({"count", "amount", "money", "percent", "date", "place", "person", "look", "statement"})
_KINDS_OF_ACTS = frozenset({"date", "place"})
_JOINT = lazy_regex(r";\s+|,?\s+(?:and|but|whereas|while)\s+")
_SUBORDINATE = lazy_regex(
    r"\W*(?:if|when|whenever|unless|because|although|though|while|whereas|as|after|before|once|that|whether|both|either)\b",
    re.IGNORECASE,
)
# "The chapel, consecrated in 1402, was", "the mill that was sold in 1990"
_ASIDE = lazy_regex(r",[^,;]*,|\b(?:that|which|who|whose|where|when)\b[^,;]*", re.IGNORECASE)
_NUMBER = rf"(?:\d[\d.,]*\d|\d|one|{NUMBERS})"
_FIRM_VERB = (
    r"(?:is|are|was|were|has|have|had|do|does|did|will|can|(?-i:may)|must|should|would|could|cost|became|began|grew|rose"
    r"|fell|went|came|took|gave|wrote|drew|knew|saw|stood|lay"
    rf"|(?-i:[a-z]{{2,}}[^\Wsu]s)(?=\s+(?:{_NUMBER}\b|{ARTICLES}|{PREPOSITIONS}|up|down)\s))"
)
_VERB = lazy_regex(
    rf"\s(?:(?P<firm>{_FIRM_VERB})|(?P<weak>\w{{2,}}ed|{IRREGULAR}))(?=\W|$)(?:\s+(?:not|been|be|\w+ly)\b)*"
    rf"(?:\s+(?P<more>\w{{2,}}(?:ed|en)|made|{IRREGULAR})\b)?",
    re.IGNORECASE,
)
_NO_SUBJECT = lazy_regex(
    r"\W*(?:later|then|now|also|again|soon|first|finally|still|not|never|so|thus|which|who|that\s(?!of)|\w+ly)\b|\W*\d",
    re.IGNORECASE,
)
_LEAD = lazy_regex(
    rf"\W*(?:in|on|at|from|since|until|during|after|before|by|every|each|last|next|once|twice)\s(?:[^,;]{{1,60}},\s+|(?:[\w.]+\s+){{1,4}}?(?=(?:{ARTICLES}|it"
    r"|they|he|she|we)\s))",
    re.IGNORECASE,
)
# "the printed guide", "4 euros for others"
_BEFORE_NOUN = lazy_regex(rf"(?:\b(?:{ARTICLES}|{PREPOSITIONS}|this|these|those|{_NUMBER})|\d)$", re.IGNORECASE)
_PRONOUN = lazy_regex(
    r"\b(?:it|they|them|he|she|him|its|their|his|her|there|that\s+of|those\s+of|ones?)\b", re.IGNORECASE
)
_POSSESSED = lazy_regex(r"\W*(?:its|their|his|her)\s", re.IGNORECASE)
# A number with what it counts, if that follows it: "14 rooms", "has 22".
_COUNTED = lazy_regex(
    rf"(?<![\w.,])(?P<number>{_NUMBER})(?![\w%])(?:\s+(?!(?:{PREPOSITIONS}|and|or|is|are)\b)(?P<noun>[^\W\d_]+))?",
    re.IGNORECASE,
)
_ENDS_IN_NUMBER = lazy_regex(rf"\s{_NUMBER}\W*$", re.IGNORECASE)
_ENDS_IN_COUNTED = lazy_regex(rf"\s{_NUMBER}(?:\s+[^\W\d_]+){{1,2}}\W*$", re.IGNORECASE)
_BEGINS_WITH_PREPOSITION = lazy_regex(rf"\W*(?:{PREPOSITIONS})\s", re.IGNORECASE)
_PROPERTY_OF = lazy_regex(r"\bthe\s+([^\W\d_]+)\s+of\b", re.IGNORECASE)
_DIGITS = lazy_regex(r"\d[\d.,]*")
_WEEKDAY_OR_MONTH = lazy_regex(rf"\b(?:(?P<day>{WEEKDAY})s?|(?P<month>{MONTH_NAMES}))\b")


@dataclass(frozen=True, slots=True)
class _Clause:
    lead: str
    """A time or place before the subject: "In 2021"."""
    subject: str
    verb: str
    """Empty if it is that of the clause before: "and dinner 32 euros"."""
    rest: str
    is_firm: bool
    """Whether the verb cannot be a participle behind a noun: "and a mill built in 1402"."""

    @property
    def text(self) -> str:
        return f"{self.lead}{self.subject}{self.verb}{self.rest}"


class _Completed(NamedTuple):
    text: str
    """A clause with the noun of its last number, and with the time before the first clause."""
    words: frozenset[str]
    """Also those that it leaves out, as the clause before it says them."""


def on_what_is_asked(statement: Statement, question: QuestionTerms) -> Statement:
    """A statement with the clauses and verbs alone that are about what is asked; its text may then be empty."""
    of_clauses = _text_of_own_clauses(statement, question)
    text = statement.text if of_clauses is None else of_clauses
    of_act = (
        text_of_asked_act(text, question.text)
        if question.asks in _KINDS_OF_ACTS and not statement.is_of_cells
        else None
    )
    text = text if of_act is None else of_act
    return statement if text == statement.text else statement.model_copy(update={"text": text})


def _text_of_own_clauses(statement: Statement, question: QuestionTerms) -> str | None:
    """The clauses of a statement that have all words of a question that it has; None if it is not taken apart.

    It is empty if one clause has some of these words and another one the rest: "In 2021 the house used 61,000 kWh,
    whereas in 2022 it produced 14,000 kWh" does not tell what it used in 2022.
    """
    text = statement.text
    if statement.is_of_cells or question.asks not in _KINDS or len(text) > MAX_TEXT:
        return None
    clauses = _clauses(text)
    if len(clauses) < 2:
        return None
    headings = frozenset(words(f"{statement.heading} {statement.above} {statement.document}"))
    known = frozenset(word for word in headings if not RECENT_YEAR.fullmatch(word))
    stated = with_words_alike(frozenset(words(text)), question.subject)
    of_thing = frozenset(words(" ".join(_PROPERTY_OF.findall(question.text)))) & stated
    needed = (question.subject & stated) - known - of_thing
    completed = (_completed(clauses, at) for at, clause in enumerate(clauses) if not _is_about_part(clause, question))
    own_clauses = [clause for clause in completed if needed <= with_words_alike(clause.words, needed)]
    has_year = any(map(RECENT_YEAR.fullmatch, needed))
    if own_clauses and not has_year and not any(of_thing <= clause.words for clause in own_clauses):
        return None  # "The city has 90,000 people; the population of the shire is 2 million"
    return ". ".join(clause.text for clause in own_clauses) if needed else None


def _is_about_part(clause: _Clause, question: QuestionTerms) -> bool:
    """Whether a clause is about a part or possession that is not asked about: "and its lamp is red"."""
    possessed = _POSSESSED.match(clause.subject)
    return possessed is not None and question.subject.isdisjoint(words(clause.subject[possessed.end() :]))


def _clauses(text: str) -> list[_Clause]:
    """The clauses of a sentence, each with a subject; a part without one belongs to the clause before it."""
    parts, joints = _JOINT.split(text), _JOINT.findall(text)
    first = _read(parts[0])
    if first is None or _SUBORDINATE.match(text):
        return []
    clauses = [first]
    for joint, part in zip(joints, parts[1:], strict=True):
        clause = _read(part) or _read_without_verb(part, clauses[-1])
        if clause is not None:
            clauses.append(clause)
        else:
            last = clauses[-1]
            clauses[-1] = _Clause(last.lead, last.subject, last.verb, f"{last.rest}{joint}{part}", last.is_firm)
    return clauses


def _read(part: str) -> _Clause | None:
    """A part of a sentence as a clause, if a verb follows a subject, behind a time or place or from the beginning."""
    lead = _LEAD.match(part)  # what ends in a comma may have the verb: "Last year the Reds won with 12 points, ahead"
    return (_read_behind(lead[0], part) if lead else None) or _read_behind("", part)


def _read_behind(lead_text: str, part: str) -> _Clause | None:
    body = part[len(lead_text) :]
    if _NO_SUBJECT.match(body) or _VERB.match(f" {body}"):
        return None
    without_asides = _ASIDE.sub(lambda match: "\0" * len(match[0]), body)
    verbs = (match for match in _VERB.finditer(without_asides) if not _BEFORE_NOUN.search(body[: match.start()]))
    verb = next(verbs, None)
    if verb is None or not words(body[: verb.start()], keep_stop_words=True):
        return None
    if len(without_asides[: verb.start()].replace("\0", "").split()) > MAX_SUBJECT:
        return None
    return _Clause(lead_text, body[: verb.start()], verb[0], body[verb.end() :], is_firm=bool(verb["firm"]))


def _read_without_verb(part: str, before: _Clause) -> _Clause | None:
    """A part of a sentence as a clause with the verb of the one before, if both end in a like number or day."""
    ends_alike = not set(_values(part)).isdisjoint(_values(before.rest))
    ends_alike = ends_alike or bool(_ENDS_IN_NUMBER.search(part) and _ENDS_IN_COUNTED.search(before.rest))
    starts_alike = not (_NO_SUBJECT.match(part) or _VERB.match(f" {part}")) and len(part.split()) > 1
    return _Clause("", part, "", "", is_firm=True) if ends_alike and starts_alike else None


def _values(text: str) -> Iterator[str]:
    """What kinds of values a text has: the nouns that are counted, years, days of the week and months."""
    for match in _COUNTED.finditer(text):
        yield from words(match["noun"]) if match["noun"] else ["year" if RECENT_YEAR.fullmatch(match["number"]) else ""]
    for match in _WEEKDAY_OR_MONTH.finditer(text):
        yield match.lastgroup or ""


def _completed(clauses: Sequence[_Clause], at: int) -> _Completed:
    """A clause with what it leaves out."""
    clause = clauses[at]
    other_clauses = [other for other in clauses if other is not clause]
    nouns = [match["noun"] for other in other_clauses for match in _COUNTED.finditer(other.text) if match["noun"]]
    text, before = clause.text, clauses[max(0, at - 1)]
    if not clause.verb and (first := _COUNTED.search(text)) and first["noun"]:  # "and dinner 32 euros"
        text = f"{text[: first.start()]}{before.verb.strip()} {text[first.start() :]}"
    counted = list(_COUNTED.finditer(text))
    if nouns and counted and not counted[-1]["noun"] and not RECENT_YEAR.fullmatch(counted[-1]["number"]):
        end = counted[-1].end()
        text = f"{text[:end]} {nouns[0]}{text[end:]}"
    stands_for = ""
    if at > 0:
        if not clause.lead:
            text = f"{clauses[0].lead}{text}"
        stands_for = _said_before(clause, before)
    return _Completed(text, frozenset(words(f"{text} {stands_for}")))


def _said_before(clause: _Clause, before: _Clause) -> str:
    """What a clause leaves out because the one before it says so."""
    subject = set(words(clause.subject))
    if subject and subject <= set(words(f"{before.subject} {before.rest}")):  # "and the boathouse was"
        return f"{before.subject} {before.rest}"
    if not clause.verb:
        counted = _COUNTED.search(before.rest)
        has_object = counted is not None and bool(words(before.rest[: counted.start()]))
        has_object = has_object or _BEGINS_WITH_PREPOSITION.match(clause.text) is not None
        extent = before.rest[counted.end() :] if counted else ""
        return f"{before.verb} {extent} {before.subject if has_object else ''}"
    if _PRONOUN.search(clause.text):
        return f"{before.subject} {_DIGITS.sub(' ', before.rest)}"
    return before.subject if not clause.is_firm else ""
