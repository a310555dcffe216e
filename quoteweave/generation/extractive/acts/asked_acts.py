"""Check by rule whether a statement is about the act of a question: when, where, how or whether it is done."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.question_analysis import MAX_ANALYSED_CHARACTERS, AnswerType, with_words_alike, words_alike
from quoteweave.core.text.question_words import asked_thing
from quoteweave.core.text.tokens import STOP_WORDS, words
from quoteweave.generation.extractive.acts.clauses import (
    ARTICLES,
    BEFORE_NOUN,
    IRREGULAR,
    NUMBERS,
    PREPOSITIONS,
    Act,
    acts_in,
    head_nouns,
    names_as_head,
    words_of,
)
from quoteweave.generation.sentence_kinds import has_denying_word

OBJECT_WORDS = 5
"""The first noun of a verb's object must be among so many words after the verb."""

_ACT_KINDS = frozenset({"date", "place", "yes_or_no", "amount", "money"})
"""Kinds of questions for which a statement must be about the thing and the time of the act asked about."""
_WHAT_WAS = rf"what(?=\s+(?:was|were)\s+(?:[a-z]{{2,}}ed|{IRREGULAR})\b)"
_HELPING = r"(?:is|are|was|were|has|have|had|do|does|did|will|can|may|must|should)\b"
_ASKS_BY_HELPING_VERB = lazy_regex(
    r"\W*(?:(?:when|where|how(?:\s+(?:often|long|late|early|much|soon|quickly))?"
    rf"|(?:(?:in|on|at|from|since|until|by)\s+)?(?:what|which|how\s+many)\s+(?P<noun>(?!{_HELPING})[\w'’-]+(?:\s+(?!{_HELPING})[\w'’-]+)?)"
    rf"|(?P<what>what)(?=\s+(?:do|does|did)\b)|{_WHAT_WAS})\s+)?"
    rf"(?P<helping>{_HELPING})\s+(?P<rest>.+)",
    re.IGNORECASE,
)
_ASKS_WHAT_WAS = lazy_regex(rf"\W*{_WHAT_WAS}", re.IGNORECASE)
_ASKS_HOW_OFTEN = lazy_regex(r"\W*how\s+often\b", re.IGNORECASE)
_BEGINS_WITH_PRONOUN = lazy_regex(r"\W*(?:I|we|you|one|it|they|he|she|there|this|that|these|those)\b", re.IGNORECASE)
_RELATIVE = lazy_regex(r"\b(?:who|which|that)\b", re.IGNORECASE)
_OBJECT = lazy_regex(rf"\W*the\s+(?P<thing>.+?)(?=\s(?:{PREPOSITIONS})\s|$)", re.IGNORECASE)
_ASKS_WHETHER_ONE_MAY = lazy_regex(r"(?:can|may|should|must|do|does)$", re.IGNORECASE)
_AFTER_PRONOUN = lazy_regex(r"(?:I|we|you|one|they|he|she)\s+(?:(?:also|ever|still)\s+)?(?P<verb>\w+)", re.IGNORECASE)
# A few words that name one thing; a second thing may only follow a preposition: "the shop of the museum".
_SUBJECT = lazy_regex(
    r"(?:(?:the|an?|our|its|their|your|all|each|every|most)\s+)?(?:(?!(?:the|an?|to)\s)[\w'’.&-]+\s+"
    r"(?:(?<=\bof\s|\bin\s)the\s+)?){1,9}",
    re.IGNORECASE,
)
# A verb at the end of the question, or before its object or a preposition: "approve of the plan", "need a ticket".
_ASKED_INFINITIVE = lazy_regex(rf"(?<=\s)[a-zß-ÿ]+(?=\W*$|\s+(?:{PREPOSITIONS}|{ARTICLES}|\d+|{NUMBERS})\b)")
_FORMS_OF_BE, _FORMS_OF_HAVE = frozenset({"is", "are", "was", "were"}), frozenset({"has", "have", "had"})
_FORMS_OF_DO = frozenset({"do", "does", "did", "will"})
# Participles at the end of the question or before a preposition.
_ASKED_PARTICIPLE = lazy_regex(
    rf"(?<!\S)(?:[^\W\d_]{{2,}}ed|{IRREGULAR})\b"
    rf"(?=\W*$|,|\s+(?:{PREPOSITIONS}|out|up|down|off|away|as|and|or|again|every|each|there|here|today|yet|now)\b)",
    re.IGNORECASE,
)
_ENDS_IN_BE_OR_NOT = lazy_regex(r"\b(?:be|been|being|not)\s+$", re.IGNORECASE)
_ENDS_IN_ADVERB = lazy_regex(r"\s(?:first|last|ever|originally|officially|finally)\s*$", re.IGNORECASE)
_ENDS_IN_TAKE = lazy_regex(r"\s(?:takes?|took|taken|taking)\s*$", re.IGNORECASE)
_HAS_BE = lazy_regex(r"\bbe\s", re.IGNORECASE)
_ENDS_OR_PREPOSITION = lazy_regex(rf"\W*$|\s*(?:{PREPOSITIONS})\b", re.IGNORECASE)
_HAS_PLACE = lazy_regex(r"(?:leave|depart|reach|enter|pass)s?$", re.IGNORECASE)  # "The coach leaves the town at 6"
_TENSES = {
    **dict.fromkeys(("was", "were", "did", "had"), frozenset({"past", "perfect"})),
    **dict.fromkeys(("has", "have"), frozenset({"past", "perfect", "present"})),
    **dict.fromkeys(
        ("is", "are", "do", "does", "can", "may", "must", "should"),
        frozenset({"present", "perfect", "possible", "future"}),
    ),
    "will": frozenset({"present", "future", "possible"}),
}
"""The times that a statement may be about, by the helping verb of the question."""


@dataclass(frozen=True, slots=True)
class AskedAct:
    """The act that a question asks about: "When was the church of Osk built?"."""

    helping: str
    """The helping verb, in lower case."""
    subject: str
    """The nouns between the helping verb and the verb."""
    is_subject_asked: bool
    """Whether the subject is what is asked for: "Which fees were paid?"."""
    is_object_asked: bool
    """Whether the object is: "What does the gauge measure?"."""
    verb: str
    after: str
    """What follows the verb."""
    is_passive: bool
    may_have_object: bool
    """Whether the act may have an object; it has none in "When did the museum open?"."""


@lru_cache(maxsize=64)  # called for each candidate statement
def asked_act(question: str) -> AskedAct | None:
    """The act that a question with a helping verb asks about; None if the place of its main verb is not certain."""
    match = _ASKS_BY_HELPING_VERB.match(question[:MAX_ANALYSED_CHARACTERS])
    if match is None:
        return None
    words_after, helping = match["rest"], match["helping"].casefold()
    if words_after.casefold().startswith("there "):  # "Are there rooms in the house used by guests?" asks about no act
        return None
    place = _verb_place(words_after, helping)
    if place is None:
        return None
    start, end = place
    subject = _ENDS_IN_ADVERB.sub("", _ENDS_IN_BE_OR_NOT.sub("", words_after[:start])).strip()
    subject = _without_take(subject, words_after[start:end])
    return AskedAct(
        helping=helping,
        subject=subject or match["noun"] or "",
        is_subject_asked=not subject,
        is_object_asked=bool(match["what"]),
        verb=words_after[start:end],
        after=words_after[end:],
        is_passive=helping in _FORMS_OF_BE or _ENDS_IN_BE_OR_NOT.search(words_after[:start]) is not None,
        may_have_object=bool(match["noun"] or match["what"])
        or helping not in _FORMS_OF_DO
        or _ENDS_OR_PREPOSITION.match(words_after, end) is None,
    )


def _verb_place(words_after: str, helping: str) -> tuple[int, int] | None:
    """The span of the main verb in the words after a helping verb: a participle, or the word after the subject."""
    if helping in _FORMS_OF_BE | _FORMS_OF_HAVE or _HAS_BE.search(words_after):
        participle = _ASKED_PARTICIPLE.search(words_after)
        return participle.span() if participle else None
    if (after_pronoun := _AFTER_PRONOUN.match(words_after)) is not None:
        return after_pronoun.span("verb")
    places = (match for match in _ASKED_INFINITIVE.finditer(words_after) if match[0] not in STOP_WORDS)
    verbs = [match.span() for match in places if _is_subject(words_after[: match.start()])]
    # A word before "of" is rather a noun of the subject if another verb follows: "the shop of the museum".
    return min(verbs, key=lambda place: words_after.startswith(" of ", place[1]), default=None)


def _is_subject(before: str) -> bool:
    return bool(words(before)) and _SUBJECT.fullmatch(before) is not None and BEFORE_NOUN.search(before) is None


def _without_take(subject: str, verb: str) -> str:
    """A subject without the verb of "take place", of which "place" is read as the verb: "Most visits took"."""
    return _ENDS_IN_TAKE.sub("", subject) if verb == "place" else subject


def tells_asked_act(text: str, question: str, *, may_deny: bool = False) -> bool:
    """Whether a text says with the question's verb that the act is done, as "A deposit of 9 euros was paid" does.

    Its words may be far from each other. "Published May 2001" does not say what was published. `may_deny`: whether it
    may also say that it is not done.
    """
    asked = asked_act(question)
    if asked is None or asked.is_subject_asked:
        return False
    acts = (act for act in _acts(text, asked) if not act.is_noun and words(act.subject, keep_stop_words=True))
    return any(_is_asked(act, asked, may_deny=may_deny) for act in acts)


def text_of_asked_act(text: str, question: str) -> str | None:
    """A text without the words that belong to other verbs than the question's; None if no verb of it says the act."""
    asked = asked_act(question)
    if asked is None or asked.is_subject_asked:
        return None
    acts = [act for act in _acts(text, asked) if not act.is_noun and _is_asked(act, asked, may_deny=False)]
    for part in filter(None, (part for act in acts for part in act.said_by_others)):
        text = text.replace(part, " ")
    return text if acts else None


def tells_of_another_act(text: str, question: str, asks: AnswerType) -> bool:
    """Whether a text has the question's verb only for the act of another, for what is not so, or for another time.

    "The choir was founded in 1974" does not tell when the school was, nor does "The bridge will be closed" tell when it
    was. What is done to a thing must be said with a verb, or with a noun and that thing: "approval of the budget".
    """
    asked = asked_act(question)
    if asked is None:
        return False
    words_of_verb, is_passive = words(asked.verb), asked.is_passive and asks != "yes_or_no"
    does_what = asks == "statement" and asked.is_object_asked and not asked_thing(question)
    if not any(words_of(words_of_verb, text)):  # another word may say it
        verbs_alike = [match[0] for match in words_of(frozenset().union(*map(words_alike, words_of_verb)), text)]
        is_told = does_what or asks in {"date", "place"}
        of_another = is_told and not is_passive and _says_only_of_another(text, asked, verbs_alike, does_what=does_what)
        if asked.is_passive and _ASKS_WHAT_WAS.match(question):  # "Sales" were not sold
            acts = [act for verb in verbs_alike for act in _acts(text, replace(asked, verb=verb))]
            of_another = not any(act.is_passive and not act.is_noun for act in acts)
        # Each act has a frequency of its own: how often a bus runs is not when it replaces another.
        needs_verb = is_passive or does_what or _ASKS_HOW_OFTEN.match(question) is not None
        return of_another or (needs_verb and not verbs_alike)
    acts = _acts(text, asked)
    if not acts and asks == "money" and not is_passive:  # "The cost is 9 euros"
        return False
    if _BEGINS_WITH_PRONOUN.match(asked.subject):
        return asks == "yes_or_no" and not any(_tells_whether_one_may(act, asked) for act in acts)
    acts = [act for act in acts if not act.is_noun or _is_asked(act, asked, may_deny=False)]
    if asks not in _ACT_KINDS and not does_what:
        # "A smaller survey with 60 gardens" does not tell how many were surveyed.
        acts_of_past = [act for act in acts if act.is_noun or act.tense != "present" or act.after.startswith(" of ")]
        return is_passive and not (acts_of_past if asks == "count" and asked.helping == "were" else acts)
    may_deny = asks == "yes_or_no" or has_denying_word(question)
    return not any(
        _is_done_by_thing(act, asked) if does_what else _is_asked(act, asked, may_deny=may_deny) for act in acts
    )


def _says_only_of_another(text: str, asked: AskedAct, verbs: Iterable[str], *, does_what: bool) -> bool:
    """Whether a text has other verbs of the same meaning, only for the act of another: "The offer expires in May"."""
    reworded = (replace(asked, verb=verb) for verb in verbs)
    acts = [(act, variant) for variant in reworded for act in _acts(text, variant) if not act.is_noun]
    return bool(acts) and not any(
        _is_done_by_thing(act, variant) if does_what else _is_asked(act, variant, may_deny=False)
        for act, variant in acts
    )


def _acts(text: str, asked: AskedAct) -> list[Act]:
    return list(acts_in(text, asked.verb, is_participle=asked.is_passive or asked.helping in _FORMS_OF_HAVE))


def _tells_whether_one_may(act: Act, asked: AskedAct) -> bool:
    """Whether an act concerns the thing asked about, and is not only what somebody does: "Ida Byron fishes there"."""
    is_told = act.is_asserted and not act.is_denied and act.tense not in {"future", "possible"}
    if act.is_conditional or (
        _ASKS_WHETHER_ONE_MAY.match(asked.helping) and is_told and act.doer and not act.is_passive
    ):
        return False
    object_words = words(asked.after)[:1]
    near = words(" ".join(act.after.split()[:OBJECT_WORDS]))
    return set(object_words) <= set(near) or (act.is_passive and set(object_words) <= set(words(act.subject)))


def _is_done_by_thing(act: Act, asked: AskedAct) -> bool:
    """Whether an act is what the thing asked about does: "The tool that checks it prints a report", for the tool."""
    subject_nouns = frozenset(head_nouns(asked.subject))
    if act.is_passive:
        return act.is_asserted and bool(act.agent) and names_as_head(act.agent, subject_nouns)
    relative = _RELATIVE.search(act.subject)
    owner = act.subject[: relative.start()] if relative else ""
    return names_as_head(owner, subject_nouns) if words(owner) else _is_asked(act, asked, may_deny=True)


def _is_asked(act: Act, asked: AskedAct, *, may_deny: bool) -> bool:
    subject_nouns = frozenset(head_nouns(asked.subject))
    if act.is_noun:
        subject_nouns = subject_nouns if asked.is_passive else subject_nouns.union(words(asked.after)[:1])
        return names_as_head(act.subject, subject_nouns) or act.is_done_to(subject_nouns)
    of_thing = names_as_head(_without_take(act.subject, asked.verb), subject_nouns) or (
        act.is_passive and not asked.is_passive and act.agent and names_as_head(act.agent, subject_nouns)
    )
    of_thing = of_thing or (asked.is_passive and not act.is_passive and act.is_done_to(subject_nouns))
    if subject_nouns and not of_thing:
        return False
    if not act.is_asserted or (act.is_denied and not may_deny) or act.tense not in _TENSES[asked.helping]:
        return False
    if not act.is_passive and _has_another_object(act.after, asked.after):
        return False
    return asked.may_have_object or not act.has_object() or _HAS_PLACE.match(asked.verb) is not None


def _has_another_object(after_act: str, after_asked: str) -> bool:
    """Whether an act is done to something else than the question's: "leaves the market", for "leave the harbour"."""
    asked_object = _OBJECT.match(after_asked)
    if asked_object is None or _OBJECT.match(after_act) is None:
        return False
    object_words = words(asked_object["thing"])
    return with_words_alike(frozenset(words(after_act)), object_words).isdisjoint(object_words)
