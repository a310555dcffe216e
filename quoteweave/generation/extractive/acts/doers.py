"""Check by rule whether a statement tells who did what a question asks about, to the thing that it names."""

import re
from collections.abc import Set

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.tokens import words
from quoteweave.generation.extractive.acts.clauses import Act, acts_in, head_nouns
from quoteweave.generation.extractive.named.answer_names import ASKS_WHO_DID, ASKS_WHO_MAY, PERSON_NAME
from quoteweave.generation.extractive.statements import Statement
from quoteweave.generation.relevance import QuestionTerms, with_all_alike

# "The director of the film was Ada Byron", "Ada Byron, director of the film": not "the director of photography of".
_OF_OFFICE = r"(\w+)\s+(?:of|for)\s+(?:(?:the|this|our)\s+)?([^.,:;()]{1,80}?)"
_IN_OFFICE = lazy_regex(
    rf"\b(?i:{_OF_OFFICE})(?:\s+(?:is|are|was|were)\s+|\s*[:,(–—]\s*)(?=[A-ZÀ-Þ])"
    rf"|\b(?:is|are|was|were|as|,)\s+(?:(?:the|an?|its)\s+)?{_OF_OFFICE}\s*(?=[.,;()]|$)"
)
# What was once so does not tell who does it now: "The mill was owned by the town until 1950".
_TELLS_OF_ONCE = lazy_regex(
    r"\b(?:until|till|before|from|once|former\w*|previous\w*|then|ago|last|old|years?|(?:1[5-9]|20)\d\d)\b",
    re.IGNORECASE,
)
_ASKS_WHO_WILL = lazy_regex(r"\W*who\s+(?:will|shall)\s+(?!not\b|be\b)(?P<verb>\w+)", re.IGNORECASE)
_ASKS_FOR_HOLDER = lazy_regex(
    r"\W*who\s+(?:is|are|was|were)\s+(?:the|our|your|its|their)\s+(?:[\w'’-]+\s+){0,3}?(?P<office>[^\W\d_]{3,})"
    r"(?=\s+(?:of|for|in|at|on)\b|\W*$)",
    re.IGNORECASE,
)
# Words between an office and somebody who does not hold it: "The chair thanked Ida Holm", "stood for chair".
_HOLDS_NOT = lazy_regex(
    r"\b(?!(?:re-?)?(?:appointed|elected|named|called|confirmed|based)\b)(?:\w{2,}ed|told|gave|wrote|met|sent|paid|saw|spoke|left|stood|ran)\b"
    r"|\b(?:pupil|friend|son|daughter|brother|sister|wife|husband|widow|assistant|successor|predecessor|candidate|rival)\s+(?:of|to|for)\b",
    re.IGNORECASE,
)
# "Mr Brice, a resident, complained", "The mayor, Helen Prosser, opened it"
_APPOSED = lazy_regex(
    r"(?<=\w),\s(?:an?|the|our|its|his|her|their)\s(?:(?!\b(?:that|who|which)\b)[^,;:.]){2,60},(?=\s(?!and\b|or\b)\w)"
    r"|(?P<office>(?:^|(?<=[.;]\s))(?:The|Our|Its|An?)\s(?:[a-z][\w-]*\s){0,3}[a-z][\w-]*)"
    r",\s(?:(?:Mr|Mrs|Ms|Dr|Prof)\.?\s)?[A-ZÀ-Þ][\w'’-]+(?:\s[A-ZÀ-Þ][\w.'’-]*){0,3},(?=\s(?!and\b|or\b)[a-z])"
)
# "Who is responsible for the culvert?", "Who was allowed to vote?"
_ASKS_WHO_IS = lazy_regex(
    r"\W*who\s+(?P<be>is|are|was|were)\s+(?P<state>in\s+charge|(?!the\b|our\b|your\b|its?\b|this\b|that\b)[^\W\d_]{4,})"
    r"\s+(?P<link>for|of|to|with|from)\s+(?P<thing>.+)",
    re.IGNORECASE,
)
# "Holt Farms Ltd is jointly", "The landowner, Holt Farms Ltd, is"
_SOMEBODY_IS = (
    r"(?:^|(?<=[.;:]\s)|(?<=,\sand\s)|(?<=,\sbut\s))[\"“(]?"
    r"(?!(?:I|we|you|he|she|they|it|this|that|these|those|which|who|there|what|if|when|as)\b)"
    r"(?:[\w.&'’-]+\s){0,5}[\w.&'’-]+(?:,\s[^,;:]{2,40},)?\s(?P<be>is|are|was|were)\s(?:\w+ly\s|alone\s)?"
)
_LIMIT = lazy_regex(r"^[^,;:.]*?\s(?:of|on|about|against)\s+(?:(?:the|an?|our|its|all)\s+)?(\w+)", re.IGNORECASE)
_PAST = frozenset({"was", "were"})
_LETTERS = lazy_regex(r"[^\W\d_]+")


def names_doer_of_thing(text: str, question: QuestionTerms) -> bool:
    """Whether a text tells who did it, if the question names the thing it was done to, unlike "Who wrote it?"."""
    match = ASKS_WHO_DID.match(question.text)
    named = match is not None and not question.subject.issubset(words(match["verb"]))
    return named and tells_doer(text, question)


def tells_doer(text: str, question: QuestionTerms) -> bool:
    """Whether a text tells who does what is asked, by whatever name: "The board accepted the offer".

    It must be about the time of the question: who once repaired the roof need not be the one who repairs it now.
    """
    did, may = ASKS_WHO_DID.match(question.text), ASKS_WHO_MAY.match(question.text)
    match = did or may
    if match is None:
        return False
    object_nouns = frozenset(head_nouns(question.text[match.end() :]))
    times = {"present", "possible"} if may else {"past", "perfect"}
    if did is not None and _is_present_form(match["verb"]):
        times = (
            {"present", "perfect", "future"}
            if _TELLS_OF_ONCE.search(text)
            else {"past", "present", "perfect", "future"}
        )
    text = _APPOSED.sub(lambda match: match["office"] or "", text)
    acts = _acts(text, match["verb"], is_participle=did is not None and not _is_present_form(match["verb"]))
    return any(
        act.is_asserted
        and not act.is_denied
        and act.doer
        and act.tense in times
        and (not object_nouns or act.is_done_to(object_nouns))
        for act in acts
    )


def tells_who_is(text: str, question: QuestionTerms) -> bool:
    """Whether a text tells who is in the state that a question asks about: "The county is responsible for the bridge".

    It must be of the same thing, or to do the same: not for "the boats of members", or "to vote on the menu".
    """
    asked = _ASKS_WHO_IS.match(question.text)
    if asked is None:
        return False
    state = r"\s+".join(map(re.escape, asked["state"].split()))
    stated = re.search(rf"{_SOMEBODY_IS}{state}\s+{asked['link']}\s+(?P<thing>.+)", text, re.IGNORECASE)
    if stated is None or (stated["be"].casefold() in _PAST) != (asked["be"].casefold() in _PAST):
        return False
    limits = frozenset(words(" ".join(_LIMIT.findall(stated["thing"]))))
    if not limits.issubset(question.terms):
        return False
    if asked["link"].casefold() == "to":
        return words(stated["thing"])[:1] == words(asked["thing"])[:1]
    return not set(head_nouns(asked["thing"])).isdisjoint(head_nouns(stated["thing"]))


def _is_present_form(verb: str) -> bool:
    return verb.casefold().endswith("s")


def _acts(text: str, verb: str, *, is_participle: bool) -> list[Act]:
    return [act for act in acts_in(text, verb, is_participle=is_participle) if not act.is_noun]


def names_doer_of_another_thing(statement: Statement, question: QuestionTerms) -> bool:
    """Whether a statement tells who did the act to another thing than asked for, or says the act only with a noun.

    The noun may be an office of the thing itself: "the director of the film".
    """
    if will := _ASKS_WHO_WILL.match(question.text):
        acts = _acts(statement.text, will["verb"], is_participle=False)
        return bool(acts) and all(act.tense in {"past", "perfect"} for act in acts)
    did = ASKS_WHO_DID.match(question.text)
    if did is None:
        return _tells_another_of_office(statement.text, question.text)
    if _acts(statement.text, did["verb"], is_participle=False):
        return not tells_doer(statement.text, question)
    verb = with_all_alike(words(did["verb"]))
    stems_of_words = {word: set(words(word)) for word in _LETTERS.findall(f"{statement.before} {statement.text}")}
    nouns = {word for word, stems in stems_of_words.items() if stems & verb}
    thing_words: Set[str] = question.subject.difference(words(did["verb"]))
    matches = (match for match in _IN_OFFICE.finditer(statement.text) if (match[1] or match[3]) in nouns)
    owners = (set(words(match[2] or match[4])) for match in matches)
    return bool(nouns) and not any(owner and owner <= thing_words for owner in owners)


def _tells_another_of_office(text: str, question: str) -> bool:
    """Whether a text tells only what the holder of an office did, or about somebody else: "The chair thanked Ida"."""
    office_question = _ASKS_FOR_HOLDER.match(question)
    if office_question is None:
        return False
    names = [
        match.span()
        for match in PERSON_NAME.finditer(text)
        if office_question["office"].casefold() not in match[0].casefold()
    ]
    offices = [match.span() for match in re.finditer(rf"\b{office_question['office']}\b", text, re.IGNORECASE)]
    between = [text[min(name[1], office[1]) : max(name[0], office[0])] for name in names for office in offices]
    return bool(between) and all(map(_HOLDS_NOT.search, between))
