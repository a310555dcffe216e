"""Check by rule whether a statement tells of the act that a question asks about, as the question asks for it.

The words of a question may all stand in a sentence that tells of another act: what is done with another thing, by
somebody else, or in a case alone. English alone, as the forms of verbs and their order show it.
"""

import itertools
import re
from collections.abc import Iterable, Sequence, Set

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.question_analysis import (
    MAX_ANALYSED_CHARACTERS,
    with_words_alike,
)
from quoteweave.core.text.tokens import words
from quoteweave.generation.extractive.acts.asked_acts import tells_of_another_act
from quoteweave.generation.extractive.acts.asked_values import CASE_WITHIN, WAS, tells_value
from quoteweave.generation.extractive.acts.doers import did_otherwise
from quoteweave.generation.extractive.statements import Statement
from quoteweave.generation.languages import guess_language
from quoteweave.generation.relevance import QuestionTerms, is_spread, subject_terms
from quoteweave.generation.sentence_kinds import INSTRUCTION, begins_with, is_beyond_limit, tells_to

MIN_ONLY_CAUSES = 2
"""Words of what is asked about, said only as the cause, from which on a text tells what that caused."""
_MUST = r"(?:must|shall|ha(?:s|ve|d)\s+to|needs?\s+to)"
_MODAL = r"(?:can|may|could|must|should|shall|will)\b"
_ASKS_WHAT_IT_DOES = lazy_regex(
    rf"\s*what\s+(?:(?:does|do|did)|(?P<may>{_MODAL}))\s+(?!(?:I|we|you|one)\b)(?P<subject>.{{1,80}}?)\s+do\b",
    re.IGNORECASE,
)
ASKED_ACT = lazy_regex(r"\W*how\s+(?:(?:do|can|should|could|would|must)\s+(?:I|you|we|one)|to)\s+(\w+)", re.IGNORECASE)
_WAY = lazy_regex(
    r"\b(?:you|one|we)\s+(?:can|may|could|should|must|need\s+to|have\s+to|(?:should\s+)?(?:be|are|is)\s+able\s+to)\s+"
    r"(?:also\s+|simply\s+|easily\s+)?(\w+)\b[^.;:]*?\b(?:by\s+\w+ing|using|with)\b",
    re.IGNORECASE,
)
_ANOTHER_WAY = lazy_regex(r"\b(?:also|alternatively|instead)\b", re.IGNORECASE)
_AIM = lazy_regex(r"\W*To\s(?P<leading>[^,]*),|.*?\bto\s+(?!the\b|an?\b|your\b)(?P<trailing>[a-z]\S*(?:\s+\S+){0,7})")
_LATER_STEP = lazy_regex(r"\W*(?:[2-9]|\d\d)[.)]?\s+(?=[A-Z])")
# "Whether it is so or not" denies nothing.
_NEGATES = lazy_regex(r"\b(?:(?<!\bor )not|not(?=\s+\w)|never|no|cannot|\w+n[’']t|fail\w*\s+to)\b", re.IGNORECASE)
_CLAUSES = lazy_regex(
    r"[,;:.]\s+|^(?!(?:dai|week|month|year|quarter)ly\b)\w+ly\s+", re.IGNORECASE
)  # "Gently tap the filter"
# What is done with the thing, as protocols say it, no matter by whom.
_DONE_SO = lazy_regex(r"\b(?:is|are)\s+(?:\w+ly\s+|then\s+)?\w{2,}ed\b(?!\s+by\b)", re.IGNORECASE)
_ASKS_CAUSE = lazy_regex(r"\W*what\s+(?:drove|caused|led\s+to)\b", re.IGNORECASE)
_CAUSED = lazy_regex(
    r"\b(?:driven|caused)\s+(?:\w+ly\s+)?by\b|\b(?:due|owing|attributable)\s+to\b|\bbecause of\b|\bas a result of\b",
    re.IGNORECASE,
)
_WHEN_IT_WAS = lazy_regex(r"\s*when\s+(?:did|was|were)\b", re.IGNORECASE)
_WHEN_IT_IS = lazy_regex(r"\s*when\s+(?:is|are|do|does)\b", re.IGNORECASE)
_IS = lazy_regex(r"\b(?:is|are|has|have|will|(?-i:may)|can|must|next|\w+[^s]s\s+(?:at|on|in|from))\b", re.IGNORECASE)
_HOURS = lazy_regex(r"\b(?:is|are)\b.*\b\d{1,2}(?:[:.]\d\d|\s?[ap]\.?m\b)", re.IGNORECASE)
_YEAR = lazy_regex(r"\b(?:1[5-9]|20)\d\d\b")
_WHEN_WAS = lazy_regex(
    r"\s*(?:when|in\s+(?:what|which)\s+(?:year|month))\s+was\s+the\s+(?:[\w'’-]+\s+)*?(?P<noun>[\w'’-]+)\s+"
    r"(?P<verb>\w{2,}(?:ed|en)|paid|held|built|made|found|sold|sent|set|lost|won)\b\W*$",
    re.IGNORECASE,
)
# What says that one of several is the highest or the like: "most", "peaked", "the majority", "no more than".
_EXTREME = lazy_regex(
    r"\b(?:most|least|best|worst|max|maximum|minimum|peak\w*|record|top|majority|mainly|mostly|up to|more than any"
    r"|\w{3,}est)\b",
    re.IGNORECASE,
)
_OF_EXTREMES = frozenset({"date", "person", "place", "percent", "money"})
# "Max Holm" and "Max says" name somebody, and "max. 6 m" the most.
_ASKS_LIMIT = lazy_regex(r"\b(?:maximum|minimum|max|min)\b", re.IGNORECASE)
_LIMIT = lazy_regex(
    r"\b(?:max\b|min\b|Max\.|Min\.|(?i:maximum|minimum|maximal|minimal|most|least|up\s+to|limit\w*|peak\w*|top|exceed\w*"
    r"|(?:no|not)\s+(?:more|less|fewer|longer|higher|lower|heavier|larger|over|above|under|below)"
    r"|(?:highest|lowest|largest|smallest|longest|shortest|greatest))\b)"
)
_WHICH = lazy_regex(r"\s*which\s+(?P<noun>\w{3,}?)s?\s+(?!of\b)\w+", re.IGNORECASE)
_CASE = lazy_regex(r"\W*(?:if|unless)\b", re.IGNORECASE)
_WORD = lazy_regex(r"\w[\w'’-]*")


def asks_what_it_does(question: str) -> bool:
    """Whether a question asks what a thing does, or must do."""
    return _ASKS_WHAT_IT_DOES.match(question) is not None


def tells_what_it_does(told: str, question: str) -> bool:
    """Whether a text begins with what the question asks of, or one of its clauses, and says that it does so or must."""
    doing = _ASKS_WHAT_IT_DOES.match(question)
    own = told.partition(" reads “")[2] or told  # that of a picture
    modal = r"\w+" if doing is None or not doing["may"] else _MUST if re.match(_MUST, doing["may"]) else _MODAL
    # "During the strike, the harbour hired crane drivers" begins with it, too.
    begins = (own[at:] for at in (0, *(match.end() for match in re.finditer(", ", own))))
    says_so = re.search(rf"\b{modal}\s+\w", own, re.IGNORECASE) is not None
    return doing is not None and says_so and any(begins_with(part, doing["subject"]) for part in begins)


def tells_as_asked(statement: Statement, question: QuestionTerms) -> bool:
    """Whether nothing shows that a statement tells of another act than the one that the question asks about."""
    text, asks = question.analysis.text[:MAX_ANALYSED_CHARACTERS], question.analysis.asks
    if statement.is_row or statement.quote.kind == "image":
        return True
    denied = asks == "look" and denies_unasked(statement, question)
    if denied or did_otherwise(statement, question) or _tells_by_case(statement.text, text):
        return False
    of_extreme = question.analysis.extreme and asks in _OF_EXTREMES and not _EXTREME.search(statement.text)
    of_limit = _ASKS_LIMIT.search(text) and not _LIMIT.search(statement.text)
    of_limit = of_limit or is_beyond_limit(statement.text, question.analysis.threshold)
    of_another_act = tells_of_another_act(statement.text, text, asks)
    if of_extreme or of_limit or of_another_act or not tells_value(statement.text, question):
        return False
    if asks == "date" and any(tells(statement.text, text) for tells in (_is_of_several, _tells_hours, _was_once)):
        return False
    return not (
        _names_any(statement.text, text) or _tells_what_it_caused(statement.text, text, subject_terms(question))
    )


def _tells_by_case(told: str, asked: str) -> bool:
    """Whether a text tells for a case alone ("If it is hard, …") which of several it is, where none is asked for."""
    return _WHICH.match(asked) is not None and _CASE.match(told) is not None and CASE_WITHIN.search(asked) is None


def _tells_what_it_caused(told: str, asked: str, subject: Iterable[str]) -> bool:
    """Whether a text tells what the thing caused whose cause is asked for: "Earnings fell, driven by lower sales"."""
    found = _CAUSED.search(told) if _ASKS_CAUSE.match(asked) else None
    if found is None or not told[: found.start()].strip():
        return False
    before, after = told[: found.start()], told[found.end() :]
    return len(set(words(after)).intersection(subject).difference(words(before))) >= MIN_ONLY_CAUSES


def _is_of_several(told: str, asked: str) -> bool:
    """Whether a date of a text is that of several things, where it is asked of one: "Surveys conducted in 2015"."""
    when = _WHEN_WAS.match(asked)
    if when is None:
        return False
    noun = re.escape(when["noun"])
    forms = rf"\b{noun}\b", rf"\b{noun}s\b", rf"\b{noun}s\s+(?:were\s+)?{when['verb']}\b"
    one, several, done = (re.search(form, told, re.IGNORECASE) is not None for form in forms)
    return done or (several and not one)


def _tells_hours(told: str, asked: str) -> bool:
    """Whether a text says from when to when something is so, where it is asked when that was: "open from 8:00"."""
    return bool(_WHEN_IT_WAS.match(asked) and _HOURS.search(told) and not _YEAR.search(told))


def _was_once(told: str, asked: str) -> bool:
    """Whether a text tells only when something was, where it is asked when it is."""
    return _WHEN_IT_IS.match(asked) is not None and WAS.search(told) is not None and not _IS.search(told)


def _names_any(told: str, asked: str) -> bool:
    """Whether a text speaks of "a key" alone, where it is asked which key it is."""
    which = _WHICH.match(asked)
    if which is None:
        return False
    noun = re.escape(which["noun"])
    any_one = rf"\b(?:an?|any|some|another|each|every)\s+{noun}\b(?=\s+or\b|\W*$)"
    first = re.search(rf"\b{noun}s?\b", told, re.IGNORECASE)
    found = re.search(any_one, told, re.IGNORECASE)
    return first is not None and found is not None and found.end() == first.end()


def stands_alone(thing: Set[str], told: str) -> bool:
    """Whether the words of a thing stand in a text beside small words alone: not in "hot water" or "water damage"."""
    said = [(set(words(match[0])), match.span()) for match in _WORD.finditer(told)]
    for (stems, (_, end)), (others, (start, _)) in itertools.pairwise(said):
        part = stems and others and thing.isdisjoint(stems) != thing.isdisjoint(others)
        if part and not told[end:start].strip():
            return False
    return True


def instructs(statement: Statement, question: QuestionTerms) -> bool:
    """Whether a statement begins like an instruction, or introduces code, and has no other aim ("To protect the hook").

    Or says by what one does it. A step after the first of several is none by itself. What is done first must be asked
    for: "To see how the battery is charged, look" does not say how to charge it.
    """
    text = statement.text
    if _tells_way(statement, question):
        return True
    shows_code = any(part.form == "code" for part in statement.introduced)
    if not (INSTRUCTION.match(text) or shows_code) or _LATER_STEP.match(text) or denies_unasked(statement, question):
        return False
    if is_spread(text, subject_terms(question)) or _ANOTHER_WAY.search(text):
        return False
    aim = _AIM.match(text)
    aimed = words(aim["leading"] or aim["trailing"]) if aim else []
    if aim is None or not aimed:
        return aim is None
    told, above = with_words_alike(frozenset(aimed), question.terms), set(words(statement.quote.section or ""))
    return set(subject_terms(question)) <= told | above and not told.isdisjoint(
        with_words_alike(frozenset(aimed[:1]), question.terms).intersection(question.terms)
    )


def are_instructions(lines: Sequence[str]) -> bool:
    """Whether the first of numbered lines, or half of them, say what to do or what is done, as far as they are English.

    Numbered lines may as well be what is needed, or what is said of the thing: "1. The filter is of steel".
    """
    if guess_language(" ".join(lines)) not in (None, "English"):
        return True
    clauses = ((clause[:1].upper() + clause[1:] for clause in _CLAUSES.split(line)) for line in lines)
    told = [
        any(map(tells_to, each)) or _DONE_SO.search(line) is not None for line, each in zip(lines, clauses, strict=True)
    ]
    return told[0] or 2 * sum(told) >= len(told)


def _tells_way(statement: Statement, question: QuestionTerms) -> bool:
    """Whether a statement says by what one can do what is asked: "You can recover it by running the command again"."""
    told, asked = _WAY.search(statement.text), ASKED_ACT.match(question.analysis.text)
    same = told is not None and asked is not None and not set(words(asked[1])).isdisjoint(words(told[1]))
    return same and not denies_unasked(statement, question)


def denies_unasked(statement: Statement, question: QuestionTerms) -> bool:
    """Whether a statement denies something, and the question does not."""
    return _NEGATES.search(statement.text) is not None and _NEGATES.search(question.analysis.text) is None
