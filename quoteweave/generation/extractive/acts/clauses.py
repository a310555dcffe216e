"""Read what English clauses say by a verb: who does it to what, whether it is so, and of what time.

By the order and the forms of words alone, so that what is not certain is left open: an empty text stands for a doer or
a thing that the clause does not say.
"""

import itertools
import re
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from typing import Literal

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.question_analysis import with_words_alike
from quoteweave.core.text.tokens import STOP_WORDS, words

MAX_BETWEEN = 6
"""Most words between a verb and "by", as in "elected every three years by the members"."""
LEADING_WORDS = 3
"""Words among which the subject of a sentence is that does several things: "§ 6 The board has … and is elected"."""

MAX_ACTS, MAX_AROUND = 16, 500
"""Acts of a text that are read, and characters before and behind a verb, so that no text takes long."""

Time = Literal["past", "perfect", "present", "future", "possible"]

_WORD = lazy_regex(r"\w[\w'’-]*")
_CLAUSE = lazy_regex(r"[;:]\s|,\s+(?=(?:and|but|so|or|yet)\s)|,?\s+(?=(?:whereas|while|where|because)\s)")
_NUMBER_OF_SECTION = lazy_regex(r"^\W*(?:§\s*)?\d+(?:\.\d+)*[.)]?\s+(?=[A-ZÀ-Þ])")
_LEADING = lazy_regex(
    r"^\W*(?:(?:and|but|so|or|yet|whereas|while|where|because)\s+)?(?:(?:In|On|At|By|From|Since|Until|During|After|Before"
    r"|Under|With|As|For|Last|Next|This|Every|Each|If|Unless|When)\s[^,]{1,120},\s*"
    r"|(?:In|On|Since|During|By)\s+(?:[A-Z][a-z]+\s+)?\d{4}\s+)?",
    re.IGNORECASE,
)
_BE = frozenset({"is", "are", "was", "were", "be", "been", "being", "am", "gets", "get", "got"})
_PAST = frozenset({"was", "were", "had", "did", "been", "got"})
_POSSIBLE = frozenset({"would", "should", "can", "could", "may", "might"})
# What follows one of these is a noun: "the design", "of cost".
_BEFORE_NOUN = lazy_regex(
    r"\b(?:the|an?|its|our|their|his|her|your|my|no|any|each|every|of|for|from|with|in|by|under|at|on|into|about)\s+$",
    re.IGNORECASE,
)
_HELPING_WORDS = (
    r"(?:is|are|was|were|be|been|being|am|gets?|got|has|have|had|do|does|did|will|would|shall|should|can|could|may|might"
    r"|must|not|never|cannot|\w+n[’']t|to|also|always|usually|often|once|first|later|then|now|still|again|soon|almost"
    r"|\w{2,}ly)"
)
_HELPING = lazy_regex(rf"(?:(?<![\w'’-]){_HELPING_WORDS}\s+)+$", re.IGNORECASE)
_DENYING = lazy_regex(
    r"\b(?:not|never|cannot|\w+n[’']t|nearly|almost|hardly|barely|wrongly|falsely|allegedly|supposedly)\b",
    re.IGNORECASE,
)
_NOBODY = lazy_regex(r"\W*(?:No|Nobody|None|Neither|Nothing)\b", re.IGNORECASE)
_IN_A_CASE = lazy_regex(r"\W*(?:If|Unless|Whether|Should|When|Whenever)\b[^,]*$", re.IGNORECASE)
_REGULAR = lazy_regex(r"[^e]ed$")
_AFTER_COMMA, _PARTICIPLE = lazy_regex(r",\s*$"), lazy_regex(r"(?:[ewo]n|[dt])$")
_DUTY = lazy_regex(r"\b(?:has|have|needs?|had)\s+to\s+", re.IGNORECASE)
_ENDS_NOUNS = lazy_regex(
    r"[,(;:–—]|\s(?:of|in|on|at|for|from|with|without|to|by|near|under|over|between|behind|beside|next|into|onto|through"
    r"|that|which|who|whose|where|when|while|until|before|after|because|if|as|and|or|but|since|during|against|about|every"
    r"|each|once|twice|is|are|was|were|has|have|had|will)\b",
    re.IGNORECASE,
)
_PRONOUN = lazy_regex(r"(?:^|.*\W)(?:it|they|he|she|this|these|those|we|I|you|there|one)\b\W*$", re.IGNORECASE)
_SHORT_NAME = lazy_regex(r"\W*(?:[Tt]he\s+)?[A-Z]{2,}\W*")  # may stand for any
_SHARE = lazy_regex(
    r"^\W*(?:most|all|many|some|half|both|each|two|three)\s+of\s+", re.IGNORECASE
)  # "most of the members"
_AND = lazy_regex(r",\s+|\s(?:and|or)\s")
_GOES_ON = lazy_regex(r"\b(?:and|or|but)\s*$", re.IGNORECASE)
_WHOM = lazy_regex(r"^(?P<thing>.+?),?\s+(?:that|which|whom)\s+(?P<doer>\S.*)$", re.IGNORECASE)
_WHO = lazy_regex(r",?\s*\b(?:who|which|that)\s*$", re.IGNORECASE)
_BY = lazy_regex(
    rf"^(?!\s+(?:the|an?|its|their|his|her|our|my)\b)((?:\s+[\w'’.-]+){{0,{MAX_BETWEEN}}}?)\s+by\s+(?=[^\W_])"
)
_ANOTHER_VERB = lazy_regex(r"\s(?:\w{2,}(?:ed|en|ing)|to|of|for|from|with|and|or|that|which|who)\b", re.IGNORECASE)
# Not "by hand", "by 12 per cent", "by the end of May", "by March" nor "by the river".
_SOMEBODY = lazy_regex(
    r"\W*(?!(?:(?i:the|an?)\s+)?(?i:half|third|quarter|tenth|end|beginning|start|middle|time|date|deadline|day|night|week"
    r"|month|year|hour|way|means|river|lake|sea|shore|coast|road|street|door|window|wall|gate|entrance)\b)"
    r"(?:(?i:the|an?|our|its|their|your|each|every|all|both|some|most)\s+[^\W\d]|(?!(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b"
    r"|(?:Jan|Febr)uary\b|March\b|April\b|May\b|Ju(?:ne|ly)\b|August\b|(?:Sept|Nov|Dec)ember\b|October\b)[A-ZÀ-Þ]\w"
    r"|(?!(?i:one|two|three|four|five|six|seven|eight|nine|ten|some|many)\s)(?:[a-zß-ÿ]+\s+){0,2}[a-zß-ÿ]{3,}s\b)"
)


@dataclass(frozen=True, slots=True)
class Act:
    """What a clause says by one verb, as its own words."""

    verb: str
    subject: str
    """What stands before the verb: who does it, or, of a passive, to whom or what it is done."""
    behind: str
    """What follows the verb in its clause."""
    agent: str
    """Of a passive, by whom or what it is done."""
    is_passive: bool
    is_denied: bool
    is_so: bool
    """Whether it is told as so, denied or not: not of what is wished, or so in a case alone."""
    time: Time

    @property
    def doer(self) -> str:
        """Who or what does it; empty where the clause does not say, or only by a pronoun."""
        of_whom = _WHOM.match(self.subject)  # "the school that Ada Byron ran"
        active = of_whom["doer"] if of_whom else _WHO.sub("", self.subject)
        doer = self.agent if self.is_passive else _LEADING.sub("", active)
        return doer if words(doer) and _SOMEBODY.match(doer) and not _PRONOUN.match(doer) else ""

    def is_done_to(self, thing: Set[str]) -> bool:
        """Whether it may be done to a thing, given by the stems of its noun; a pronoun may stand for any."""
        nouns, of_whom = _ENDS_NOUNS.split(self.behind)[0], _WHOM.match(self.subject)
        if self.is_passive or (of_whom and not words(nouns)):
            return is_headed(of_whom["thing"] if of_whom else self.subject, thing)
        is_of_it = bool(_PRONOUN.match(nouns)) or bool(thing & _alike(heads(nouns), thing))
        return is_of_it and not thing & _alike(heads(self.doer), thing)

    def has_object(self) -> bool:
        """Whether nouns of a thing follow it: "opened its new wing"."""
        return not self.is_passive and re.match(r"\s+(?:the|an?|its|their|his|her|our)\s", self.behind) is not None


def acts_in(text: str, verb: Set[str], *, base: str = "", participle: str = "") -> Iterator[Act]:
    """What the clauses of a text say by words of these stems, of which the infinitive or the participle is known.

    The first `MAX_ACTS` of them.
    """
    clauses = _CLAUSE.split(_NUMBER_OF_SECTION.sub("", text))
    said = ((clause, match) for clause in clauses for match in words_of(verb, clause))
    for clause, match in itertools.islice(said, MAX_ACTS):
        before = clause[max(0, match.start() - MAX_AROUND) : match.start()]
        if not _BEFORE_NOUN.search(before):
            behind = clause[match.end() : match.end() + MAX_AROUND]
            yield _act(before, match[0], behind, base.casefold(), participle.casefold())


def _act(before: str, word: str, behind: str, base: str, participle: str) -> Act:
    verb = word.casefold()
    helping = _HELPING.search(before)
    subject = before[: helping.start()] if helping else before
    helps = helping[0].casefold() if helping else ""
    helpers = frozenset(helps.split())
    if _GOES_ON.search(subject) and not helpers:  # "is prepared by the treasurer and approved by the members"
        helpers = _BE.intersection(subject.casefold().split())
    by = _BY.match(behind)
    agent = behind[by.end() :] if by and not _ANOTHER_VERB.search(by[1]) and _SOMEBODY.match(behind, by.end()) else ""
    # "A permit, submitted in May," and "signed by the members" say not when.
    is_reduced = (
        not helpers
        and not verb.endswith(("s", "ing"))
        and (bool(agent) or bool(_AFTER_COMMA.search(subject) and _PARTICIPLE.search(verb)))
    )
    is_passive = is_reduced or (bool(helpers & _BE) and not verb.endswith("ing"))
    duty = _DUTY.search(helps) is not None
    planned = "to" in helpers and bool(helpers & {"is", "are"})  # "is to be built"
    is_denied = bool(_DENYING.search(helps) or _NOBODY.match(subject))
    is_so = not (_IN_A_CASE.match(subject) or ("to" in helpers and not (duty or planned)))
    is_now = verb.endswith("s") or bool(participle and verb != participle and not _REGULAR.search(verb))
    is_unsure = is_reduced or (not helpers and verb == base)  # "It cost 9 euros"
    time = "perfect" if is_unsure else _time(helpers, is_now=is_now, is_duty=duty, is_planned=planned)
    if is_reduced:  # "They are based on interviews conducted by the council"
        subject = _ENDS_NOUNS.split(subject.rstrip(" ,"))[-1] if agent else subject
    return Act(word, subject.rstrip(), behind, agent, is_passive, is_denied, is_so, time)


def _time(helpers: Set[str], *, is_now: bool, is_duty: bool, is_planned: bool) -> Time:
    if helpers & _POSSIBLE:
        return "possible"
    if is_planned or helpers & {"will", "shall"}:
        return "future"
    if helpers & {"has", "have"} and not is_duty:
        return "perfect"
    if helpers & _PAST:
        return "past"
    return "present" if is_now or is_duty or helpers & {"is", "are", "do", "does", "must"} else "past"


def is_headed(nouns: str, thing: Set[str]) -> bool:
    """Whether nouns name a thing by their head: "the new tower of the church" a tower; a pronoun may stand for it."""
    if _GOES_ON.search(nouns):
        return bool(thing & _alike(words(_LEADING.sub("", nouns))[:LEADING_WORDS], thing))
    named = _SHARE.sub("", _LEADING.sub("", _WHO.sub("", nouns)))
    if not words(named) or _PRONOUN.match(named) or _SHORT_NAME.fullmatch(named):
        return True
    return any(thing & _alike(heads(one), thing) for one in _AND.split(named))


def heads(nouns: str) -> list[str]:
    """The stems of the head of nouns; of a name or number also the noun before it: "the ferry Halcyon"."""
    own = _WORD.findall(_ENDS_NOUNS.split(nouns)[0])
    named = [word for word in own if word.casefold() not in STOP_WORDS]
    if len(named) > 1 and named[-1].endswith(("ed", "ing")):  # "the statements included"
        named.pop()
    at = len(named) - 1
    while at > 0 and (named[at][0].isupper() or named[at][0].isdigit()):
        at -= 1
    return words(" ".join(named[at:])) if named else []


def _alike(held: Iterable[str], thing: Set[str]) -> frozenset[str]:
    return with_words_alike(frozenset(held), thing)


def words_of(stems: Iterable[str], text: str) -> Iterator[re.Match[str]]:
    """The words of a text with one of these stems."""
    wanted = frozenset(stems)
    return (match for match in _WORD.finditer(text) if not wanted.isdisjoint(words(match[0])))
