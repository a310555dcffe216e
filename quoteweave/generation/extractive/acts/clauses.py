"""Read what English clauses say with a verb: who does it to what, whether it is so, and at what time.

Only the order and the forms of words are used, so what is not certain is left open: a doer or a thing that the clause
does not name is an empty string.
"""

import itertools
import re
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from typing import Literal

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.question_analysis import with_words_alike
from quoteweave.core.text.tokens import STOP_WORDS, WORD, words
from quoteweave.generation.gate.dates import WEEKDAY
from quoteweave.generation.relevance import with_all_alike

MAX_BETWEEN = 6
"""The most words between a verb and "by", as in "elected every three years by the members"."""
LEADING_WORDS = 3
"""The subject of a sentence with several verbs is among so many words: "§ 6 The board has … and is elected"."""

MAX_ACTS, MAX_AROUND = 16, 500
"""The most acts that are read from a text, and the most characters around a verb, so that no text takes long."""

Tense = Literal["past", "perfect", "present", "future", "possible"]

_BETWEEN_CLAUSES = lazy_regex(
    r"(?:;|(?<!\bby):)\s|,\s+(?=(?:and|but|so|or|yet)\s)|,?\s+(?=(?:whereas|while|where|because)\s)"
)
_NUMBER_OF_SECTION = lazy_regex(r"^\W*(?:§\s*)?\d+(?:\.\d+)*[.)]?\s+(?=[A-ZÀ-Þ])")
# "Ida Holm was the first person to climb it" tells that she did.
_FIRST_TO = lazy_regex(
    r"\b(?:is|are|was|were|became)\s+the\s+(?:very\s+)?(?:first|last|only)\s+(?:[\w-]+\s+){0,2}?to\s+(?!be\b)(?=\w)",
    re.IGNORECASE,
)
_LEADING_PHRASE = lazy_regex(
    r"^\W*(?:(?:and|but|so|or|yet|whereas|while|where|because)\s+)?(?:(?:In|On|At|By|From|Since|Until|During|After|Before"
    r"|Under|With|As|For|Last|Next|This|Every|Each|If|Unless|When)\s[^,]{1,120},\s*"
    r"|(?:In|On|Since|During|By)\s+(?:[A-Z][a-z]+\s+)?\d{4}\s+)?",
    re.IGNORECASE,
)
_FORMS_OF_BE = frozenset({"is", "are", "was", "were", "be", "been", "being", "am", "gets", "get", "got"})
_PAST_HELPING = frozenset({"was", "were", "had", "did", "been", "got"})
_POSSIBLE_HELPING = frozenset({"would", "should", "can", "could", "may", "might"})
# What follows are parts of patterns.
PREPOSITIONS = (
    "of|in|on|at|for|from|with|without|by|near|under|over|between|behind|beside|next|into|onto|through|across|among|within"
    "|along|around|per|against|about|since|during|until|before|after|to"
)
ARTICLES = "the|an?|its|our|their|his|her|your|my|no|any|each|every"
IRREGULAR = (
    "paid|laid|said|held|sold|told|built|sent|spent|lent|made|found|bound|ground|set|put|cut|shut|hit|read|led|fed|lost|won|kept"
    "|left|met|felt|dealt|meant|bought|brought|taught|caught|fought|sought|thought|heard|understood|shot|hung|dug|struck|begun"
    "|run|sung|worn|torn|born|done|gone|shown|known|grown|flown|thrown|drawn|withdrawn|bred|swept|slept"
    "|broken|spoken|taken|eaten|written|beaten|fallen|given|driven|chosen|frozen|hidden|stolen|woven|forgotten|bitten|shaken"
    "|proven|seen|cast|blown|sewn|spun|sunk|lit|ridden|stuck|swung|burnt|mown|been|forbidden|sworn|mistaken|undertaken|rewritten|rebuilt"
)
"""A pattern for irregular participles, which are a closed class."""
BEFORE_NOUN = lazy_regex(rf"\b(?:{ARTICLES}|of|for|from|with|in|by|under|at|on|into|about)\s+$", re.IGNORECASE)
"""The end of a text after which a noun follows: "the design", "of cost"."""
# After such a word, a participle before a noun is an attribute: "these summarised texts".
_BEFORE_ATTRIBUTE = lazy_regex(r"\b(?:this|these|those|such|some|all|most|many|other|to|as)\s+$", re.IGNORECASE)
NUMBERS = "two|three|four|five|six|seven|eight|nine|ten|several"
_ENDS_IN_NUMBER = lazy_regex(rf"\b(?:{NUMBERS}|\d+)\s+$", re.IGNORECASE)
_NEXT_WORD = lazy_regex(r"\s+(\w+)")
_NOUN_OF_ACT = lazy_regex(r"\w+(?:[ts]ion|ment|[ae]nce|al|ure)s?", re.IGNORECASE)
_NOUN_OF_DOER = lazy_regex(r"\w{2,}[eo]rs?", re.IGNORECASE)
_IS_GIVEN = lazy_regex(
    r"(?P<subject>\w[^,;:]*?)\s+(?:(?:should|must|shall|will|can|may|to)\s+)?"
    r"(?:receives?|received|gets?|got|undergo(?:es)?|underwent|(?:is|are|was|were|be)\s+given)\s+(?:[\w-]+\s+){0,2}$",
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
_IN_A_CASE = lazy_regex(r"(?:^\W*(?:should|when|whenever)|\b(?:if|unless|whether))\b[^,]*$", re.IGNORECASE)
_AFTER_COMMA, _PARTICIPLE = lazy_regex(r",\s*$"), lazy_regex(r"(?:[ewo]n|[dt])$")
_DUTY = lazy_regex(r"\b(?:has|have|needs?|had)\s+to\s+", re.IGNORECASE)
_ENDS_NOUNS = lazy_regex(
    rf",(?!\d)|[(;:–—]|\s(?:{PREPOSITIONS}|that|which|who|whose|where|when|while|because|if|as|or|but|every|each|once"
    r"|twice|is|are|was|were|has|have|had|will|and(?!\s+(?-i:[A-ZÀ-Þ])))\b",  # "Rowing and Canoe Club" is one name
    re.IGNORECASE,
)
# Things in a list, such as "The roof, the walls and the boiler": each has a few words and at most one article.
_ITEM = rf"(?:(?:{ARTICLES})\s+)?(?!(?:{ARTICLES})\s)[\w'’-]+(?:\s+(?!(?:{ARTICLES}|and|or)\s)[\w'’-]+)?"
_LISTED = lazy_regex(
    rf"\s+{_ITEM}(?:,\s+(?:(?:and|or)\s+)?{_ITEM}|\s+(?:and|or)\s+{_ITEM})+\s*(?=[.;:]|$)", re.IGNORECASE
)
_ENDS_IN_PRONOUN = lazy_regex(r"(?:^|.*\W)(?:it|they|he|she|this|these|those|we|I|you|there|one)\b\W*$", re.IGNORECASE)
# Another verb follows: "founded was sold", "passed by parliament changed the act", "by Ada Byron, who moved to Osk".
_ANOTHER_FINITE_VERB = lazy_regex(
    r"\s(?:is|are|was|were|has|have|had|will|can|(?-i:may)|must|did|does)\s|,\s+(?:who|which|where|when|whose)\s"
    r"|\s\w{2,}ed\s+(?=(?:the|an?|its|his|her|their)\s)",
    re.IGNORECASE,
)
# Something is between the verb and "and": "designed by Hals and blown up in 1944", unlike "designed and built in 1944".
_BEHIND_VERB = rf"(?:{PREPOSITIONS}|by|because|{ARTICLES}|it|them|him|her|up|down|off|out|away|back|again|\w+ly)\b"
_AND_ANOTHER_VERB = lazy_regex(
    rf"(?<=\w),?\s+(?:and|but|or)\s+(?:(?:then|later|now|also|again|soon|finally|\w+ly)\s+)?"
    rf"(?:(?:\w{{2,}}ed|{IRREGULAR})(?=\s+(?:{_BEHIND_VERB}|\d)|\W*$)|(?<!s\sand\s)[a-z]{{2,}}[^\Wsu]s(?=\s+{_BEHIND_VERB}))"
)
# What a verb before "and" says: "stolen in 1981 and", of which the next verb has only the subject.
_OF_VERB_BEFORE = lazy_regex(rf"^.*\b(?:\w{{2,}}ed|{IRREGULAR})\b(\s[^;]*?\S)\s+(?:and|but|or)\W*$", re.IGNORECASE)
_NOT_SHORT = lazy_regex(r"\b(?:(?P<can>can)(?=not\b)|(?P<will>wo)n[’']t\b|(?P<verb>\w+)n[’']t\b)", re.IGNORECASE)
_SHORT_NAME = lazy_regex(r"\W*(?:[Tt]he\s+)?[A-Z]{2,}\W*")  # an abbreviation may stand for anything
_SHARE_OF = lazy_regex(
    r"^\W*(?:most|all|many|some|half|both|each|two|three)\s+of\s+", re.IGNORECASE
)  # "most of the members"
_IS_OR_WAS = lazy_regex(r"\s(?:is|are|was|were)\s", re.IGNORECASE)
_AND_OR_COMMA = lazy_regex(r",\s+|\s(?:and|or)\s")
_ENDS_IN_AND = lazy_regex(r"\b(?:and|or|but)\s*$", re.IGNORECASE)
_WHOM = lazy_regex(r"^(?P<thing>.+?),?\s+(?:that|which|whom)\s+(?P<doer>\S.*)$", re.IGNORECASE)
_WHOSE = lazy_regex(r",?\s+whose\s+", re.IGNORECASE)
_WHO = lazy_regex(r",?\s*\b(?:who|which|that)\s*$", re.IGNORECASE)
_BY = lazy_regex(
    rf"^(?!\s+(?:the|an?|its|their|his|her|our|my)\b)((?:\s+[\w'’.-]+){{0,{MAX_BETWEEN}}}?)\s+by:?\s+(?=[^\W_])"
)
_OF_THING = lazy_regex(r"\s+(?:\w+\s+)?of\s+")  # "opening hours of the shop"
_AND_DONE = lazy_regex(r"\s+(?:and\s+\w+|for|to|with|after)", re.IGNORECASE)  # "found and fixed by", "paid for by"
_ANOTHER_VERB = lazy_regex(r"\s(?:\w{2,}(?:ed|en|ing)|to|of|for|from|with|and|or|that|which|who)\b", re.IGNORECASE)
# Somebody after "by", and not "by hand", "by 12 per cent", "by the end of May", "by March" or "by the river".
_SOMEBODY = lazy_regex(
    r"\W*(?!(?:(?i:the|an?)\s+)?(?i:half|third|quarter|tenth|end|beginning|start|middle|time|date|deadline|day|night|week"
    r"|month|year|hour|way|means|river|lake|sea|shore|coast|road|street|door|window|wall|gate|entrance)\b)"
    rf"(?:(?i:the|an?|our|its|their|your|each|every|all|both|some|most)\s+[^\W\d]|(?i:every|any)(?:one|body)\b|(?!{WEEKDAY}\b"
    r"|(?:Jan|Febr)uary\b|March\b|April\b|May\b|Ju(?:ne|ly)\b|August\b|(?:Sept|Nov|Dec)ember\b|October\b)[A-ZÀ-Þ]\w"
    r"|(?!(?i:one|two|three|four|five|six|seven|eight|nine|ten|some|many)\s)(?:[a-zß-ÿ]+\s+){0,2}[a-zß-ÿ]{3,}s\b)"
)


@dataclass(frozen=True, slots=True)
class Act:
    """What a clause says with one verb, in the clause's own words."""

    verb: str
    subject: str
    """The words before the verb: who does it or, in the passive, to whom or what it is done."""
    after: str
    """What follows the verb in its clause."""
    agent: str
    """By whom or what it is done, if it is passive."""
    is_passive: bool
    is_denied: bool
    is_wished: bool
    """Whether somebody only wished, refused or the like to do it, or may do it: "refused to repair it"."""
    is_conditional: bool
    """Whether it is only said for a certain case: "If they repair it"."""
    tense: Tense
    is_noun: bool = False
    """Whether it is said with a noun: "approval of the budget", whose subject is "the budget"."""
    is_reduced: bool = False
    """Whether it is said with a participle alone: "The bridge, opened by the king, was closed"."""

    @property
    def is_asserted(self) -> bool:
        """Whether it is stated as a fact, denied or not."""
        return not (self.is_wished or self.is_conditional)

    @property
    def said_by_others(self) -> tuple[str, ...]:
        """What other verbs of its clause say: "was sold", for "founded" in "The firm that Ada founded was sold"."""
        if self.is_reduced:
            return ("".join(self.after.partition(",")[1:]),)
        until_next_verb = _ANOTHER_FINITE_VERB.split(self.after, maxsplit=1)[0]
        until_next_verb = until_next_verb[: _start_of_another_verb(until_next_verb)]
        before = self.subject
        if is_relative := _WHO.search(before):  # what is before its antecedent is of the main verb
            at = max((match.end() for match in _ENDS_NOUNS.finditer(before, 0, is_relative.start())), default=0)
            before = before[at:]
        of_verb_before = _OF_VERB_BEFORE.search(self.subject)
        return (
            self.after[len(until_next_verb) :],
            self.subject.removesuffix(before),
            of_verb_before[1] if of_verb_before and words(of_verb_before[1]) else "",
        )

    @property
    def doer(self) -> str:
        """Who or what does it; empty where the clause does not say, or only by a pronoun."""
        of_whom = _WHOM.match(self.subject)  # "the school that Ada Byron ran"
        active = of_whom["doer"] if of_whom else _WHO.sub("", self.subject)
        doer = self.agent if self.is_passive else _LEADING_PHRASE.sub("", active)
        return doer if words(doer) and _SOMEBODY.match(doer) and not _ENDS_IN_PRONOUN.match(doer) else ""

    def is_done_to(self, thing_stems: Set[str]) -> bool:
        """Whether it may be done to a thing, given by the stems of its noun; a pronoun may stand for any."""
        listed, of_whom = _LISTED.match(self.after), _WHOM.match(self.subject)
        items = _AND_OR_COMMA.split(listed[0]) if listed and not self.is_passive else []
        if any(thing_stems & _alike(head_nouns(item), thing_stems) for item in items):
            return not thing_stems & _alike(head_nouns(self.doer), thing_stems)
        nouns = _ENDS_NOUNS.split(self.after)[0]
        if self.is_passive or (of_whom and not words(nouns)):
            return names_as_head(of_whom["thing"] if of_whom else self.subject, thing_stems)
        is_of_it = bool(_ENDS_IN_PRONOUN.match(nouns)) or bool(thing_stems & _alike(head_nouns(nouns), thing_stems))
        return is_of_it and not thing_stems & _alike(head_nouns(self.doer), thing_stems)

    def has_object(self) -> bool:
        """Whether an object follows the verb: "opened its new wing"."""
        return not self.is_passive and re.match(r"\s+(?:the|an?|its|their|his|her|our)\s", self.after) is not None


def acts_in(text: str, verb: str, *, is_participle: bool = False) -> Iterator[Act]:
    """Yield what the clauses of a text say with a verb, given as in the question, or with a word of the same meaning.

    At most `MAX_ACTS` are read. A noun says an act only about what follows it: "the use of the crane".
    """
    words_of_verb = frozenset(words(verb))
    stems = with_all_alike(words_of_verb)
    clauses = _BETWEEN_CLAUSES.split(_FIRST_TO.sub("did ", _NUMBER_OF_SECTION.sub("", text)))
    places_of_verb = ((clause, match) for clause in clauses for match in words_of(stems, clause))
    for clause, match in itertools.islice(places_of_verb, MAX_ACTS):
        before = clause[max(0, match.start() - MAX_AROUND) : match.start()]
        after = clause[match.end() : match.end() + MAX_AROUND]
        if _is_attribute(match[0], before, after):
            yield _act_of_noun(match[0], before, after)
            continue
        is_counted = match[0].endswith("s") and _ENDS_IN_NUMBER.search(before)
        is_noun = is_counted or BEFORE_NOUN.search(before) or _is_noun_of_act(match[0], verb)
        if (is_noun or match[0].endswith("ing")) and (of := _OF_THING.match(after)):
            yield _act_of_noun(match[0], before, after[of.end() :])
        if is_noun and (subject_given := _IS_GIVEN.search(before)):  # "Staff receive supervision"
            yield _act_of_noun(match[0], before, subject_given["subject"])
        if is_noun:
            continue
        act = _act(before, match[0], after, verb.casefold(), is_participle=is_participle)
        if act.is_passive or words_of_verb & with_all_alike(words(match[0])):
            yield act


def _is_attribute(word: str, before: str, after: str) -> bool:
    """Whether a participle stands before the noun that it describes: "these summarised texts", "a well-built ship"."""
    beside = _NEXT_WORD.match(after)
    is_before_noun = beside is not None and beside[1].casefold() not in STOP_WORDS
    is_led = "-" in word or BEFORE_NOUN.search(before) or _BEFORE_ATTRIBUTE.search(before)
    return is_before_noun and word.endswith("ed") and bool(is_led)


def _is_noun_of_act(word: str, verb: str) -> bool:
    """Whether a word of a verb's stem is a noun by its ending: "approval" is longer than "approve"."""
    is_longer = not verb.casefold().startswith(word.casefold().removesuffix("s").removesuffix("e"))
    return is_longer and any(
        noun.fullmatch(word) and not noun.fullmatch(verb) for noun in (_NOUN_OF_ACT, _NOUN_OF_DOER)
    )


def _act_of_noun(word: str, before: str, after: str) -> Act:
    """What a noun or participle says of what follows it: "the use of the crane by members"."""
    subject, _, agent = after.partition(" by ")
    return Act(
        word,
        subject,
        after,
        agent,
        is_passive=True,
        is_denied=False,
        is_wished=False,
        is_conditional=_IN_A_CASE.search(before) is not None,
        tense="perfect",
        is_noun=True,
    )


def _act(before: str, word: str, after: str, asked_verb: str, *, is_participle: bool) -> Act:
    """What a clause says with a verb; `is_participle`: whether the question has the verb as a participle."""
    verb = word.casefold()
    helping = _HELPING.search(before)
    subject = before[: helping.start()] if helping else before
    helps = _with_whole_nots(helping[0].casefold()) if helping else ""
    helpers = frozenset(helps.split())
    if _ENDS_IN_AND.search(subject) and not helpers:  # "is prepared by the treasurer and approved by the members"
        helpers = _FORMS_OF_BE.intersection(subject.casefold().split())
    agent = _agent(after)
    # A participle alone has no tense: "A permit, submitted in May,", "signed by the members".
    is_reduced = (
        not helpers - {"not", "never"}
        and not verb.endswith(("s", "ing"))
        and (bool(agent) or bool(_AFTER_COMMA.search(subject) and _PARTICIPLE.search(verb)))
    )
    is_duty = _DUTY.search(helps) is not None
    is_planned = "to" in helpers and bool(helpers & {"is", "are"})  # "is to be built"
    is_now = verb.endswith("s") or (is_participle and verb != asked_verb and not verb.endswith("ed"))
    # The form alone does not show the tense: "It cost 9 euros".
    is_unsure = is_reduced or (not helpers and not is_participle and verb == asked_verb.removesuffix("s"))
    tense = "perfect" if is_unsure else _tense(helpers, is_now=is_now, is_duty=is_duty, is_planned=is_planned)
    # "They are based on interviews conducted by the council"
    own_subject = (_ENDS_NOUNS if agent else _IS_OR_WAS).split(subject.rstrip(" ,"))[-1] if is_reduced else subject
    return Act(
        word,
        own_subject.rstrip(),
        after,
        agent,
        is_passive=is_reduced or (bool(helpers & _FORMS_OF_BE) and not verb.endswith("ing")),
        is_denied=bool(_DENYING.search(helps) or _NOBODY.match(subject)),
        is_wished="to" in helpers and not (is_duty or is_planned),
        is_conditional=_IN_A_CASE.search(subject) is not None,
        tense=tense,
        is_noun=verb.endswith("ing") and not helpers & _FORMS_OF_BE,
        is_reduced=is_reduced,
    )


def _start_of_another_verb(after: str) -> int:
    """Where, behind a verb and its words, "and" leads to another verb of the same subject; the end if it does not."""
    matches = (match.start() for match in _AND_ANOTHER_VERB.finditer(after) if words(after[: match.start()]))
    return next(matches, len(after))


def _agent(after: str) -> str:
    """By whom or what something is done, in the words behind a participle; "" if they do not say it."""
    by = _BY.match(after)
    if by is None or not (_AND_DONE.fullmatch(by[1]) or not _ANOTHER_VERB.search(by[1])):
        return ""
    return after[by.end() :] if _SOMEBODY.match(after, by.end()) else ""


def _with_whole_nots(helping: str) -> str:
    """Helping verbs with "not" as a separate word: "cannot" becomes "can not", and "aren't" "are not"."""
    return _NOT_SHORT.sub(
        lambda match: "can " if match["can"] else "will not" if match["will"] else f"{match['verb']} not", helping
    )


def _tense(helpers: Set[str], *, is_now: bool, is_duty: bool, is_planned: bool) -> Tense:
    if helpers & _POSSIBLE_HELPING:
        return "possible"
    if is_planned or helpers & {"will", "shall"}:
        return "future"
    if helpers & {"has", "have"} and not is_duty:
        return "perfect"
    if helpers & _PAST_HELPING:
        return "past"
    return "present" if is_now or is_duty or helpers & {"is", "are", "do", "does", "must"} else "past"


def names_as_head(nouns: str, thing_stems: Set[str]) -> bool:
    """Whether the head of nouns is a thing, as "tower" in "the new tower of the church"; pronouns may stand for any."""
    if _ENDS_IN_AND.search(nouns):
        leading_nouns = _ENDS_NOUNS.split(_LEADING_PHRASE.sub("", nouns))[0]
        return bool(thing_stems & _alike(words(leading_nouns)[:LEADING_WORDS], thing_stems))
    behind_whose = _WHOSE.split(nouns)[-1]  # "Ida Holm, whose husband" is the husband
    named = _SHARE_OF.sub("", _LEADING_PHRASE.sub("", _WHO.sub("", behind_whose)))
    if not words(named) or _ENDS_IN_PRONOUN.match(named) or _SHORT_NAME.fullmatch(named):
        return True
    return any(thing_stems & _alike(head_nouns(phrase), thing_stems) for phrase in _AND_OR_COMMA.split(named))


def head_nouns(nouns: str) -> list[str]:
    """The stems of the head of nouns; a name or number comes with the noun before it: "the ferry Halcyon"."""
    noun_words = WORD.findall(_ENDS_NOUNS.split(nouns)[0])
    telling_words = [word for word in noun_words if word.casefold() not in STOP_WORDS]
    if len(telling_words) > 1 and telling_words[-1].endswith(("ed", "ing")):  # "the statements included"
        telling_words.pop()
    at = len(telling_words) - 1
    while at > 0 and (telling_words[at][0].isupper() or telling_words[at][0].isdigit()):
        at -= 1
    return words(" ".join(telling_words[at:])) if telling_words else []


def _alike(text_words: Iterable[str], thing_stems: Set[str]) -> frozenset[str]:
    return with_words_alike(frozenset(text_words), thing_stems)


def words_of(stems: Iterable[str], text: str) -> Iterator[re.Match[str]]:
    """The words of a text with one of these stems."""
    wanted = frozenset(stems)
    return (match for match in WORD.finditer(text) if not wanted.isdisjoint(words(match[0])))
