"""Check by rule whether a statement tells of the act that a question asks when, where, how or whether it is done."""

import re
from collections.abc import Set
from dataclasses import dataclass
from functools import lru_cache

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.question_analysis import MAX_ANALYSED_CHARACTERS, words_alike
from quoteweave.core.text.tokens import STOP_WORDS, words
from quoteweave.generation.extractive.acts.clauses import Act, acts_in, heads, is_headed

_ASKED = lazy_regex(
    r"\W*(?:(?:when|where|how(?:\s+(?:often|long|late|early|much|soon|quickly))?"
    r"|(?:(?:in|on|at|from|since|until|by)\s+)?(?P<which>what|which)\s+\w+)\s+)?"
    r"(?P<helping>is|are|was|were|has|have|had|do|does|did|will|can|may|must|should)\s+(?P<rest>.+)",
    re.IGNORECASE,
)
_NAMELESS = lazy_regex(r"\W*(?:I|we|you|one|it|they|he|she|there|this|that|these|those)\b", re.IGNORECASE)
_ALLOWS = lazy_regex(r"(?:can|may|should|must|do|does)$", re.IGNORECASE)
_BEHIND_PRONOUN = lazy_regex(r"(?:I|we|you|one|they|he|she)\s+(?:(?:also|ever|still)\s+)?(?P<verb>\w+)", re.IGNORECASE)
# Few words, among which no second thing begins but behind a preposition: "the shop of the museum".
_SUBJECT = lazy_regex(
    r"(?:(?:the|an?|our|its|their|your|all|each|every|most)\s+)?(?:(?!(?:the|an?|to)\s)[\w'’.&-]+\s+"
    r"(?:(?<=\bof\s|\bin\s)the\s+)?){1,9}",
    re.IGNORECASE,
)
# Behind these the noun of an object begins, and no verb: "need a".
_BEFORE_OBJECT = lazy_regex(
    r"\b(?:the|an?|its|our|their|your|my|any|every|each|of|in|on|at|for|from|with|by|to|and)\s+$", re.IGNORECASE
)
# A verb at the end of what is asked, or before what it is done to or with: "approve of the plan", "need a ticket".
_DOES_IT = lazy_regex(
    r"(?<=\s)[a-zß-ÿ]+(?=\W*$|\s+(?:of|to|from|about|into|in|on|at|for|with|by|before|after|until|during|the|an?|its|their|our"
    r"|his|her|my|your|any|every|each)\b)"
)
_BE, _HAVE = frozenset({"is", "are", "was", "were"}), frozenset({"has", "have", "had"})
_DOES = frozenset({"do", "does", "did", "will"})
# Participles at the end of what is asked, or before a preposition; those without a regular ending are a closed class.
_IRREGULAR = (
    "paid|laid|said|held|sold|told|built|sent|spent|lent|made|found|bound|ground|set|put|cut|shut|hit|read|led|fed|lost|won|kept"
    "|left|met|felt|dealt|meant|bought|brought|taught|caught|fought|sought|thought|heard|understood|shot|hung|dug|struck|begun"
    "|run|sung|worn|torn|born|done|gone|shown|known|grown|flown|thrown|drawn|withdrawn|bred|swept|slept"
    "|broken|spoken|taken|eaten|written|beaten|fallen|given|driven|chosen|frozen|hidden|stolen|woven|forgotten|bitten|shaken"
    "|proven|seen|been|forbidden|sworn|mistaken|undertaken|rewritten|rebuilt"
)
_DONE = lazy_regex(
    rf"(?<=\s)(?:[^\W\d_]{{2,}}ed|{_IRREGULAR})\b"
    r"(?=\W*$|,|\s+(?:in|on|at|by|for|from|to|with|of|under|before|after|during|until|since|as|into|onto|per|without|and|or"
    r"|again|every|each|there|here|today|yet|now)\b)",
    re.IGNORECASE,
)
_BEING = lazy_regex(r"\b(?:be|been|being)\s+$", re.IGNORECASE)
_PREPOSITION = lazy_regex(
    r"\W*$|\s*(?:in|on|at|for|from|with|to|by|of|near|during|after|before|until|since)\b", re.IGNORECASE
)
_TIMES = {
    **dict.fromkeys(("was", "were", "did", "had"), frozenset({"past", "perfect"})),
    **dict.fromkeys(("has", "have"), frozenset({"past", "perfect", "present"})),
    **dict.fromkeys(
        ("is", "are", "do", "does", "can", "may", "must", "should"),
        frozenset({"present", "perfect", "possible", "future"}),
    ),
    "will": frozenset({"present", "future", "possible"}),
}
"""Times of which a statement may be, by the helping verb of a question."""


@dataclass(frozen=True, slots=True)
class AskedAct:
    """The act that a question asks about: "When was the church of Osk built?"."""

    helping: str
    """The helping verb, in lower case."""
    subject: str
    """The nouns between it and the verb."""
    verb: str
    is_passive: bool
    may_have_object: bool
    """Whether it may be done to a thing: not in "When did the museum open?"."""


@lru_cache(maxsize=64)  # asked for by each statement that may answer
def asked_act(question: str) -> AskedAct | None:
    """The act that a question of a helping verb asks about; None where its verb is not known by its place."""
    found = _ASKED.match(question[:MAX_ANALYSED_CHARACTERS])
    if found is None:
        return None
    rest, helping = found["rest"], found["helping"].casefold()
    place = _verb_place(rest, helping)
    if place is None:
        return None
    start, end = place
    is_passive = helping in _BE or _BEING.search(rest[:start]) is not None
    may_have_object = bool(found["which"]) or helping not in _DOES or _PREPOSITION.match(rest, end) is None
    return AskedAct(helping, _BEING.sub("", rest[:start]).strip(), rest[start:end], is_passive, may_have_object)


def _verb_place(rest: str, helping: str) -> tuple[int, int] | None:
    """Where in what follows a helping verb its verb stands: a participle, or what follows the subject."""
    if helping in _BE | _HAVE:
        participle = _DONE.search(rest)
        return participle.span() if participle else None
    if (behind := _BEHIND_PRONOUN.match(rest)) is not None:
        return behind.span("verb")
    places = (match for match in _DOES_IT.finditer(rest) if match[0] not in STOP_WORDS)
    verbs = [match.span() for match in places if _is_subject(rest[: match.start()])]
    # What stands before "of" is rather a noun of the subject, where another verb follows: "the shop of the museum".
    return min(verbs, key=lambda place: rest.startswith(" of ", place[1]), default=None)


def _is_subject(before: str) -> bool:
    return bool(words(before)) and _SUBJECT.fullmatch(before) is not None and _BEFORE_OBJECT.search(before) is None


def tells_asked_act(told: str, question: str) -> bool:
    """Whether a text says by the verb of a question that the act is done: "A deposit of 9 euros was paid" that one was.

    However far its words stand from each other.
    """
    asked = asked_act(question)
    return asked is not None and any(_is_asked(act, asked, may_deny=False) for act in _acts(told, asked))


def tells_of_another_act(told: str, question: str, *, by_yes_or_no: bool) -> bool:
    """Whether a text says by the verb of a question alone what another does, or what is not so, or of another time.

    "The choir was founded in 1974" does not tell when the school was, nor "The bridge will be closed" when it was.
    """
    asked = asked_act(question)
    acts = _acts(told, asked) if asked is not None else []
    if asked is None or not acts:
        return False
    if _NAMELESS.match(asked.subject):
        return by_yes_or_no and _ALLOWS.match(asked.helping) is not None and all(map(_is_of_somebody, acts))
    return not any(_is_asked(act, asked, may_deny=by_yes_or_no) for act in acts)


def _acts(told: str, asked: AskedAct) -> list[Act]:
    """What a text says by the verb that is asked for, and by others that may say the same where it has that one."""
    stems = set(words(asked.verb))
    base = "" if asked.is_passive or asked.helping in _HAVE else asked.verb
    participle = "" if base else asked.verb
    acts = list(acts_in(told, stems, base=base, participle=participle))
    if acts:  # else a word that may say the same may be a noun: "consent" allows
        alike = frozenset().union(*map(words_alike, stems)) - stems
        acts += acts_in(told, alike, base=base, participle=participle)
    return acts


def _is_of_somebody(act: Act) -> bool:
    """Whether an act is what somebody does or did, which does not tell whether one may: "Ida Byron fishes there"."""
    is_told = act.is_so and not act.is_denied and act.time not in {"future", "possible"}
    return is_told and bool(act.doer) and not act.is_passive


def _is_asked(act: Act, asked: AskedAct, *, may_deny: bool) -> bool:
    thing: Set[str] = frozenset(heads(asked.subject))
    of_thing = is_headed(act.subject, thing) or (act.is_passive and act.agent and is_headed(act.agent, thing))
    of_thing = of_thing or (asked.is_passive and not act.is_passive and act.is_done_to(thing))
    if thing and not of_thing:
        return False
    if not act.is_so or (act.is_denied and not may_deny) or act.time not in _TIMES[asked.helping]:
        return False
    return asked.may_have_object or not act.has_object()
