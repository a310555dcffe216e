"""The words of an English question with their roles, and its noun phrases and times.

No grammar is parsed: a noun phrase is a run of words between words that cannot be in one, and counts only if its ends
are certain.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.tokens import STOP_WORDS, words


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


Role = Literal["question", "auxiliary", "determiner", "preposition", "joint", "pronoun", "other", "end", "word"]

QUESTION_WORDS = _set("what which who whom whose how when where why")
_DO = _set("do does did can could will would should might must shall")
_BE = _set("is are was were be been being has have had")
AUXILIARIES = _DO | _BE
PREPOSITIONS = _set(
    """in for by from at to on of with without under within per via through during before after since until between
    against among across near about into over"""
)
_DETERMINERS = _set("the a an each every all some any its their his her our your my")
# Words that begin another clause, in which a pronoun may refer to the clause before.
JOINTS = _set("""and or but that which who when if because while whereas than as so although though where""")
PRONOUNS = _set("it they them he she him this that these those")
POSSESSIVES = _set("its their his her")
COMMANDS = _set("""list show give tell explain describe compare summarise summarize name find state calculate please""")
_ASKED = _set("number percentage percent share amount value total average name rate sum figure list")
_QUANTITIES = _set("much many long often far large big tall high deep wide fast heavy late early old")
# Verbs that follow the subject in questions with `did` or `will`: "did the north quay open".
_VERBS = _set(
    """add agree apply ask become begin bring build buy call carry cause change charge close collect come consist
    contain cost cover decline decrease depend employ end expect export fall finish gain get give go grow handle
    happen hold import improve include increase invest lead leave lose make mean measure move need occur offer
    open operate own pay plan produce protect provide publish reach receive recommend reduce remain report
    require rise run say sell send serve ship show spend start state stay stop support take use vary want win
    work write"""
)
_PARTICIPLES = _set(
    """built bought brought come done drawn fallen found given gone grown held kept known led lost made met open
    paid put read risen run seen sent set shown shut sold spent taken told won written"""
)
_ENGLISH = _set(
    "the of what how which who when where why is are was were did does and it they show list regarding tell about"
)
_FOREIGN = _set(
    """der das und wie viele viel ist im dem eine nicht wer wo wann warum welche les est quel quelle quels combien
    dans pour avec et qui que el los las qué cuánto cuántos cuántas cuál dónde una il gli che quanto quanti
    quali è della hoeveel het een wat welke hoe os são qual quantos quantas onde como hur många är och hvor
    mange"""
)

_TOKEN = lazy_regex(r"\w+(?:[.'’&/-]\w+)*(?:['’](?=\s|$))?|[^\w\s]")
_MONTHS = (
    "January|February|April|June|July|August|September|October|November|December|Jan|Feb|Apr|Jun|Jul|Aug|Sept|Sep|Oct"
    "|Nov|Dec"
)
# "may" and "march" are months if they have a capital, or follow a word such as "in" that only a month can follow.
_MONTH = rf"(?:{_MONTHS}|(?-i:May|March|Mar)|(?:(?<=\bin )|(?<=\bof )|(?<=\bsince )|(?<=\bduring ))(?:may|march))\b"
_UNIT = (
    rf"(?:(?:\d{{1,2}}\s+)?{_MONTH}(?:\s+\d{{1,2}}(?!\d))?|[QH][1-4]\b"
    r"|the\s+(?:first|second|third|fourth|last)\s+(?:quarter|half)\b)"
)
_YEAR = r"(?:(?:FY|the\s+year)\s?)?\b(?:19|20)\d\d(?:s\b|(?:\s*[-/–]\s*(?:\d{4}|\d\d))?)(?![\w.,]?\d)"
_RELATIVE = (
    r"(?:last|this|next|the previous|the next|the following)\s+(?:year|month|quarter|week)\b|yesterday\b|today\b"
)
_TIME = lazy_regex(
    rf"(?:\b(?P<preposition>in|of|for|during|before|after|since|until|by|from|on|as of)\s+)?"
    rf"(?:(?P<unit>{_UNIT})(?:,?\s+(?:of\s+|in\s+)?(?P<year>{_YEAR}))?|(?P<lone>{_YEAR})|(?P<relative>{_RELATIVE}))",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Word:
    """A word or punctuation mark of a question, with its role there."""

    text: str
    start: int
    end: int
    role: Role

    @property
    def low(self) -> str:
        """The word without capitals."""
        return self.text.casefold()


@dataclass(frozen=True, slots=True)
class NounPhrase:
    """A run of words that names something."""

    text: str
    start: int
    end: int
    is_name: bool
    """Whether each of its words has a capital."""

    @property
    def head(self) -> str:
        """Its last word, in its indexed form."""
        return " ".join(words(self.text)[-1:])

    @property
    def is_plural(self) -> bool:
        """Whether its last word looks like a plural."""
        last = self.text.casefold()
        return last.endswith("s") and not last.endswith(("ss", "us", "is")) and not self.is_name


@dataclass(frozen=True, slots=True)
class Time:
    """A time that a question mentions: a month, a quarter or a year, or one relative to today."""

    start: int
    end: int
    preposition: str
    unit: str
    year: str
    relative: str

    @property
    def text(self) -> str:
        """The time without its preposition."""
        joint = " of " if self.unit.lower().startswith("the ") else " "
        return self.relative or joint.join(part for part in (self.unit, self.year) if part)


def is_english(text: str) -> bool:
    """Whether a question has more words that are English than words of other languages."""
    text_words = [match.casefold() for match in re.findall(r"[^\W\d_]+", text)]
    return sum(word in _ENGLISH for word in text_words) > sum(word in _FOREIGN for word in text_words)


def is_foreign(text: str) -> bool:
    """Whether a text has words of other languages; a short one need have no English ones."""
    return any(match.casefold() in _FOREIGN for match in re.findall(r"[^\W\d_]+", text))


def read_words(text: str) -> list[Word]:
    """Split a question into words and punctuation marks."""
    return [Word(match[0], match.start(), match.end(), _role(match[0])) for match in _TOKEN.finditer(text)]


def _role(text: str) -> Role:
    low = text.casefold()
    if low in PRONOUNS and low != "that":
        return "pronoun"
    roles: tuple[tuple[Role, frozenset[str]], ...] = (
        ("question", QUESTION_WORDS), ("auxiliary", AUXILIARIES), ("determiner", _DETERMINERS),
        ("preposition", PREPOSITIONS), ("joint", JOINTS),
    )  # fmt: skip
    for role, role_words in roles:
        if low in role_words:
            return role
    if not text[0].isalnum():
        return "end"
    is_common = (low in STOP_WORDS or low in _QUANTITIES) and not text[0].isupper()
    return "other" if is_common or low in COMMANDS else "word"


def times_in(text: str) -> list[Time]:
    """The times that a text mentions, in order."""
    return [
        Time(
            match.start(),
            match.end(),
            (match["preposition"] or "").lower(),
            match["unit"] or "",
            match["year"] or match["lone"] or "",
            match["relative"] or "",
        )
        for match in _TIME.finditer(text)
    ]


def noun_phrases(text: str) -> list[NounPhrase]:
    """The noun phrases whose ends are certain, in order: with a determiner, capitalized, or after "how many".

    In "the depth of the quay", only the quay is one; times are not.
    """
    tokens, time_spans = read_words(text), [(time.start, time.end) for time in times_in(text)]
    phrases: list[NounPhrase] = []
    for start, end in _runs(tokens):
        for phrase in _phrases(text, tokens, start, end):
            if not any(phrase.start < until and since < phrase.end for since, until in time_spans):
                phrases.append(phrase)
    return phrases


def _runs(tokens: Sequence[Word]) -> Iterator[tuple[int, int]]:
    """First and one past the last of each run of plain words, a determiner before them included."""
    at = 0
    while at < len(tokens):
        if tokens[at].role not in ("word", "determiner"):
            at += 1
            continue
        start = at
        at += 1
        while at < len(tokens) and tokens[at].role == "word":
            at += 1
        if any(word.role == "word" for word in tokens[start:at]):
            yield start, at


def _phrases(text: str, tokens: Sequence[Word], start: int, end: int) -> Iterator[NounPhrase]:
    before = tokens[start - 1].low if start else ""
    behind = tokens[end].low if end < len(tokens) else ""
    with_determiner = tokens[start].role == "determiner"
    cut = _without_verb(tokens, start, end)
    end_of_name = start
    while end_of_name < cut and tokens[end_of_name].role == "word" and _is_capital(tokens, end_of_name):
        end_of_name += 1
    if not with_determiner and end_of_name > start:
        cut = end_of_name
    is_name = end_of_name == cut or (with_determiner and all(_is_capital(tokens, at) for at in range(start + 1, cut)))
    quantified = start >= 2 and before in ("many", "much") and behind in AUXILIARIES
    asked_for = quantified or (before in ("what", "which") and behind in AUXILIARIES)
    of_something = before in ("of", "about") and (end == len(tokens) or tokens[end].role != "word")
    is_attribute = behind == "of" or (cut > start and tokens[cut - 1].low in _ASKED)
    if cut > start and not is_attribute and (with_determiner or is_name or asked_for or of_something):
        last = tokens[cut - 1]
        yield NounPhrase(text[tokens[start].start : last.end], tokens[start].start, last.end, is_name)


def _without_verb(tokens: Sequence[Word], start: int, end: int) -> int:
    """Where a phrase that is followed by its verb, as in questions, ends; `start` if that is not known."""
    first = start + (tokens[start].role == "determiner")
    before = tokens[start - 1].low if start else ""
    if before in _DO:
        verbs = [at for at in range(first + 1, end) if tokens[at].low in _VERBS]
        lone = end - 1 if end - first == 2 else start
        return verbs[0] if verbs else lone if end - first > 1 else end
    if before in _BE:
        for at in range(first + 1, end):
            if tokens[at].low in _PARTICIPLES or tokens[at].low.endswith("ed"):
                return at
        asks_whether = start == 1
        return start if asks_whether and end - first > 1 else end
    return end


def _is_capital(tokens: Sequence[Word], at: int) -> bool:
    return at > 0 and tokens[at].text[:1].isupper()


def topic_of(text: str) -> str:
    """What a question is about: the question without the words that only ask; empty where nothing is left."""
    tokens = read_words(text)
    while tokens and tokens[-1].role == "end":
        tokens.pop()
    first = 0
    asks_who = len(tokens) > 1 and tokens[0].low == "who" and tokens[1].role == "word"
    while not asks_who and first < len(tokens) and _only_asks(tokens, first):
        first += 1
    if not words(text[tokens[first].start :] if first < len(tokens) else ""):
        return ""
    cuts = [(word.start, word.end) for word in tokens[first:] if word.role == "auxiliary"]
    starts, ends = [tokens[first].start, *(end for _, end in cuts)], [*(start for start, _ in cuts), tokens[-1].end]
    return " ".join("".join(text[start:end] for start, end in zip(starts, ends, strict=True)).split())


def _only_asks(tokens: Sequence[Word], at: int) -> bool:
    word = tokens[at]
    opens = word.role == "preposition" and at + 1 < len(tokens) and tokens[at + 1].role == "question"
    asks = word.role in ("question", "auxiliary", "end") or word.low in COMMANDS or word.low in _QUANTITIES
    return opens or asks or word.low in ("i", "me", "you", "there")
