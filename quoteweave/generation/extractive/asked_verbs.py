"""Check by rule whether a statement tells of the act that a question asks about, as the question asks for it.

The words of a question may all stand in a sentence that tells of another act: what is done with another thing, by
somebody else, in a case, or in another time. English alone, as the forms of verbs and their order show it.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from quoteweave.core.text.question_analysis import MAX_ANALYSED_CHARACTERS
from quoteweave.core.text.tokens import words
from quoteweave.generation.extractive.statements import Statement, refers_back
from quoteweave.generation.relevance import QuestionTerms, subject_terms
from quoteweave.generation.sentence_kinds import INSTRUCTION, begins_with

OBJECT_WORDS = 4
"""Words behind a verb among which its object must be."""
AUXILIARY_WORDS = 3
"""Words before a participle among which an auxiliary makes it a verb: "was not yet paid"."""
OBLIGED_WORDS = 5
"""Words behind "must" among which what must be done is named."""

_BE = r"(?:is|are|was|were|be|been|being|am|gets?|got)"
_MUST = r"(?:must|shall|ha(?:s|ve|d)\s+to|needs?\s+to)"
_MODAL = r"(?:can|may|could|must|should|shall|will)\b"
_ASKS_WHAT_IT_DOES = re.compile(
    rf"\s*what\s+(?:(?:does|do|did)|(?P<may>{_MODAL}))\s+(?!(?:I|we|you|one)\b)(?P<subject>.{{1,80}}?)\s+do\b",
    re.IGNORECASE,
)
_ASKS_MUST = re.compile(rf"\s*(?:what|which|who|when|where|how\s+\w+)\b[^?]*?\b{_MUST}\b", re.IGNORECASE)
_OBLIGES = re.compile(
    rf"\b(?:{_MUST}|should|needs?|needed|require[sd]?|requirements?|mandatory|compulsory|obligatory|obliged|necessary"
    r"|essential|expected\s+to|(?:is|are)\s+to|at\s+(?:least|most)|no\s+(?:later|more|less|fewer)\s+than)\b",
    re.IGNORECASE,
)
_OBLIGED_TO = re.compile(rf"\b(?:{_MUST}|should|required\s+to|expected\s+to|(?:is|are)\s+to)\b", re.IGNORECASE)
_MUST_BE_DONE = re.compile(rf"\s*when\s+{_MUST}\s[^?]*?(?P<noun>[\w-]+)\s+be\s+(?P<verb>\w+)", re.IGNORECASE)
_DEADLINE = re.compile(r"\b(?:by|before|until|deadline|due|no\s+later\s+than|within)\b", re.IGNORECASE)

_YES_OR_NO = re.compile(
    rf"\s*(?:{_BE}|do|does|did|can|could|may|must|should|will|has|have)\s+"
    r"(?:(?:the|an?|all|any|our|its|their|these|this|those|every|each)\s+)?(?P<rest>.+)",
    re.IGNORECASE,
)
_PRONOUN = re.compile(r"(?:I|we|you|one|it|they|he|she|there|someone|anyone|people)\b", re.IGNORECASE)
_OBJECT_PRONOUN = re.compile(r"\s+(?:it|them|this|these|one|ones|those)\b", re.IGNORECASE)
_DONE = re.compile(rf"(?:\bbe\s+(?:\w+ly\s+)?|^\s*{_BE}\b.*\b(?=\w+(?:ed|en)\b))(?P<verb>\w+)", re.IGNORECASE)
_COMPARES = re.compile(
    r"\s*(?:is|are|was|were)\s+(?P<one>[^?]+?)\s+(?:(?:more|less)\s+)?(?P<how>\w+)\s+than\s+(?P<other>[^?]+)",
    re.IGNORECASE,
)
_DOES = re.compile(r"\s*(?:do|does|did)\s", re.IGNORECASE)
_NOUN_OF_ACT = re.compile(r"(?:ions?|ments?|ances?|als?)$", re.IGNORECASE)
_CLAUSE = re.compile(r"[;:]\s")
_CASES = re.compile(r"^\W*(?:if|when|whenever|unless)\b[^,]*,|[,\s]\s*(?:if|unless)\b[^,.;]*", re.IGNORECASE)

_WHETHER = re.compile(
    r"\b(?:ask|wonder|question|inquir|enquir|doubt|unclear|unknown|uncertain)\w*\b[^,;.]*?\bwhether\b[^,;.“]*",
    re.IGNORECASE,
)

_ASKED_IN_THE_PAST = re.compile(
    r"\s*(?:(?:what|which|who|when|where|why|how)\b[^?]*?\s)?(?:was|were|did)\s", re.IGNORECASE
)
_NOT_YET = re.compile(r"\b(?:will|may|must|shall|should|can|subject\s+to)\b", re.IGNORECASE)
_PAST = re.compile(
    r"\b(?:was|were|had|did|has|have|been|\w{2,}ed|made|paid|took|gave|began|came|went|became|led|held|built|found|said"
    r"|wrote|sold|sent|saw|grew|rose|fell|met|won|lost|left|kept|put|set|cut)\b",
    re.IGNORECASE,
)

_HOW_IS_DONE = re.compile(r"\s*how\s+(?:is|are|was|were)\s+[^?]*?\b(?P<verb>\w{2,}ed)\b", re.IGNORECASE)
_NOUN_ENDING = re.compile(r"(?:ions?|ments?|ances?|ences?|als?|ers?|ors?|ings?|ages?)$", re.IGNORECASE)
_BEHIND_DONE = re.compile(r"\s*(?:by|using|with|through|via|on|in|as|into|from|according)\b", re.IGNORECASE)

_WHEN_WAS = re.compile(
    r"\s*(?:when|in\s+(?:what|which)\s+(?:year|month))\s+(?:was|were)\s+(?P<the>the\s+)?(?:[\w'’-]+\s+)*?"
    r"(?P<noun>[\w'’-]+)\s+(?P<verb>\w{2,}(?:ed|en)|paid|held|built|made|found|sold|sent|set|lost|won)\b\W*$",
    re.IGNORECASE,
)
_BEGINS_WITH_DATE = re.compile(r"\W*(?:in|on|during|since|by|as\s+of)\s[^,]*\b(?:19|20)\d\d\b[^,]{0,3},", re.IGNORECASE)

_WHICH = re.compile(r"\s*which\s+(?P<noun>\w{3,}?)s?\s+(?!of\b)\w+", re.IGNORECASE)
_WORD = re.compile(r"\w[\w'’-]*")


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
    if asks == "yes_or_no":
        return not _answers_for_another(statement, question)
    if asks == "date" and _is_of_another_time(statement.text, text):
        return False
    return not (
        _lacks_obligation(statement.text, text)
        or _is_still_to_come(statement.text, text)
        or _only_names_act(statement.text, text)
        or _names_any(statement.text, text)
        or (_WHETHER.search(text) is None and _only_wonders(statement.text, subject_terms(question)))
    )


def _lacks_obligation(told: str, asked: str) -> bool:
    """Whether a text does not say that anything must be so, where "What must be in the file?" is asked."""
    if not _ASKS_MUST.match(asked):
        return False
    if (done := _MUST_BE_DONE.match(asked)) is not None:
        if not (refers_back(told) or _has(words(done["noun"]), told)):
            return True
        acts = [match.end() for match in _OBLIGED_TO.finditer(told)]
        near = any(_has(words(done["verb"]), _next_words(told[at:], OBLIGED_WORDS)) for at in acts)
        due = (
            _DEADLINE.search(_next_words(told[one.end() :], AUXILIARY_WORDS))
            for one in _said(words(done["verb"]), told)
        )
        return not near and not any(due)
    return not (_OBLIGES.search(told) or INSTRUCTION.match(told))


def _only_wonders(told: str, asked: Iterable[str]) -> bool:
    """Whether a text has a word of the question only in what it says that somebody wondered: "We asked whether …"."""
    rest = _WHETHER.sub(" ", told)
    return rest != told and any(_has([word], told) and not _has([word], rest) for word in asked)


def _is_still_to_come(told: str, asked: str) -> bool:
    """Whether a text says what may be or will be, where it is asked what was."""
    return (
        _ASKED_IN_THE_PAST.match(asked) is not None and _NOT_YET.search(told) is not None and _PAST.search(told) is None
    )


def _only_names_act(told: str, asked: str) -> bool:
    """Whether a text has the verb of "How are clusters summarized?" as a noun or an adjective alone."""
    done = _HOW_IS_DONE.match(asked)
    found = list(_said(words(done["verb"]), told)) if done else []
    return bool(found) and not any(_is_verb(match, told) for match in found)


def _is_verb(match: "re.Match[str]", told: str) -> bool:
    """Whether a word of a text tells of an act: "is summarized", "summarized by", "we summarize", "by summarizing"."""
    before, word = told[: match.start()].split()[-AUXILIARY_WORDS:], match[0]
    if word.casefold().endswith("ed"):
        auxiliary = any(re.fullmatch(_BE, each.strip("(,"), re.IGNORECASE) for each in before)
        if before[-2:] == ["not", "be"]:
            return False
        return auxiliary or _BEHIND_DONE.match(told[match.end() :]) is not None
    if word.casefold().endswith("ing"):
        return before[-1:] == ["by"]
    return _NOUN_ENDING.search(word) is None and [each.casefold() for each in before[-2:]] != ["how", "to"]


def _is_of_another_time(told: str, asked: str) -> bool:
    """Whether the date of a text is that of another act, or of several things where it is asked of one.

    "During 2021, there was a benefit from the dividend paid to the plan" does not say when the dividend was paid.
    """
    when = _WHEN_WAS.match(asked)
    if when is None:
        return False
    noun = re.escape(when["noun"])
    if (
        when["the"]
        and not re.search(rf"\b{noun}\b", told, re.IGNORECASE)
        and re.search(rf"\b{noun}s\b", told, re.IGNORECASE)
    ):
        return True
    begins = _BEGINS_WITH_DATE.match(told)
    found = list(_said(words(when["verb"]), told)) if begins else []
    behind = begins.end() if begins else 0
    return bool(found) and all(
        re.search(rf"\b{_BE}\b", told[behind : match.start()], re.IGNORECASE) and not _is_verb_of_clause(match, told)
        for match in found
    )


def _is_verb_of_clause(match: "re.Match[str]", told: str) -> bool:
    before = told[: match.start()].split()[-AUXILIARY_WORDS:]
    return any(re.fullmatch(rf"{_BE}|had|has|have", each.strip("(,"), re.IGNORECASE) for each in before)


def _names_any(told: str, asked: str) -> bool:
    """Whether a text speaks of "a key" alone, where it is asked which key it is."""
    which = _WHICH.match(asked)
    if which is None:
        return False
    noun = re.escape(which["noun"])
    goes_on = r"(?!\s+(?:of|for|in|with|that|which|named|called|known)\b|\s*[:(“\"'‘<])"
    any_one = rf"\b(?:an?|any|some|another|each|every)\s+{noun}\b{goes_on}"
    first = re.search(rf"\b{noun}s?\b", told, re.IGNORECASE)
    found = re.search(any_one, told, re.IGNORECASE)
    return first is not None and found is not None and found.end() == first.end()


@dataclass(frozen=True, slots=True)
class _Act:
    """What is asked by yes or no, as stems: who or what does it, the verb, and with what."""

    subject: list[str]
    verb: list[str]
    thing: list[str]
    is_passive: bool


def _asked_act(asked: str, content: list[str], told: str) -> _Act | None:
    """The act of "Can I use the crane?", whose verb is the first word of it that a text has; None for no such verb."""
    question = _YES_OR_NO.match(asked)
    if question is None or not content:
        return None
    by_pronoun = _PRONOUN.match(question["rest"]) is not None
    subject, acts = ([], content) if by_pronoun else (content[:1], content[1:])
    if (done := _DONE.search(asked)) is not None:
        verb, thing = words(done["verb"]), subject
    else:
        at = next((at for at, act in enumerate(acts) if _has([act], told)), len(acts))
        verb, thing = acts[at : at + 1], acts[at + 1 : at + 2] if by_pronoun else []
    return _Act(subject, verb, thing, is_passive=done is not None) if _has(verb, told) else None


def _answers_for_another(statement: Statement, question: QuestionTerms) -> bool:
    """Whether a statement says of another thing, or of a case alone, what a question asks of one by yes or no."""
    text, told, content = question.analysis.text[:MAX_ANALYSED_CHARACTERS], statement.text, subject_terms(question)
    act = _asked_act(text, content, told)
    if act is None:
        return False
    if not _CASES.search(text) and not _has(act.verb, _CASES.sub(" ", told)):
        return True
    if refers_back(told):
        return False
    named = _DOES.match(text) is not None and all(_NOUN_OF_ACT.search(match[0]) for match in _said(act.verb, told))
    if _compares_otherwise(text, told) or (act.subject and (named or _has_another_subject(act.verb, told, content))):
        return True
    # Another clause may tell of it in another way.
    otherwise = [one for one in _CLAUSE.split(told) if _has(act.subject, one) and not _has(act.verb, one)]
    return not otherwise and _is_of_another_thing(act, told)


def _compares_otherwise(asked: str, told: str) -> bool:
    """Whether a text says of the other thing what is asked of one: "Is the ferry faster than the train?"."""
    compared = _COMPARES.match(asked)
    said = next(_said(words(compared["how"]), told), None) if compared else None
    if compared is None or said is None:
        return False
    before = told[: said.start()]
    return _has(words(compared["other"]), before) and not _has(words(compared["one"]), before)


def _has_another_subject(verb: list[str], told: str, content: Iterable[str]) -> bool:
    """Whether a text begins with what the question does not name, and goes on with its verb."""
    before = told[: next(_said(verb, told)).start()]
    return bool(words(before)) and not _PRONOUN.match(before.lstrip()) and set(words(before)).isdisjoint(content)


def _is_of_another_thing(act: _Act, told: str) -> bool:
    """Whether a text has the verb only of another thing: "the use of a placebo", "using the supplied cable"."""
    if not act.thing:
        return False
    for match in _said(act.verb, told):
        behind, word = told[match.end() :], match[0].casefold()
        is_done = word.endswith(("ed", "en", "t", "able", "ible")) or act.is_passive
        if _has(act.thing, _next_words(behind, OBJECT_WORDS)) or (is_done and _has(act.thing, told[: match.start()])):
            return False
        takes_object = word.endswith("ing") or re.match(r"\s+of\s", behind)
        if _OBJECT_PRONOUN.match(behind) or (act.is_passive and not takes_object):
            return False
    return True


def _said(stems: list[str], text: str) -> Iterator["re.Match[str]"]:
    """The words of a text with one of these stems."""
    return (match for match in _WORD.finditer(text) if not set(stems).isdisjoint(words(match[0])))


def _has(stems: list[str], text: str) -> bool:
    return next(_said(stems, text), None) is not None


def _next_words(text: str, most: int) -> str:
    return " ".join(text.split()[:most])
