"""Analyses a question once: what it is about, where it says that the answer is, and how to answer it.

Retrievers and the extractive generator share the analysis. The words are data by language (`question_words.toml`, and
for places `reference_words.toml`).
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from operator import itemgetter
from typing import Literal, get_args

from pydantic import Field

from quoteweave.core.errors import QuestionEmpty, QuestionTooLong
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.place_names import PlaceName
from quoteweave.core.records import Record
from quoteweave.core.text.foreign_languages import foreign_asking, permission_words
from quoteweave.core.text.grammar import asks_german_was, denies_before, names_in
from quoteweave.core.text.question_words import (
    asks_what_is_denied,
    comparison_sides,
    denying_words,
    listed_words,
    question_entries,
    question_languages,
)
from quoteweave.core.text.references.file_names import FILE_NAME
from quoteweave.core.text.references.mentions import labels_asked_for, places_in, titles_in, without_places
from quoteweave.core.text.tokens import words
from quoteweave.core.text.units import amounts_in, unit_words
from quoteweave.core.text.word_patterns import alternation

MAX_QUESTION_CHARACTERS = 100_000
"""Maximum length of a question; some thirty pages."""


def check_question(question: str) -> None:
    """Raise QuestionEmpty if there is nothing but white space, QuestionTooLong above `MAX_QUESTION_CHARACTERS`."""
    if not question.strip():
        raise QuestionEmpty("the question is empty: ask one, or give words to search for")
    check_question_length(question)


def check_question_length(question: str) -> None:
    """Raise QuestionTooLong above `MAX_QUESTION_CHARACTERS`: searching for such a question would take minutes."""
    if len(question) > MAX_QUESTION_CHARACTERS:
        raise QuestionTooLong(
            f"the question has {len(question):,} characters, and at most {MAX_QUESTION_CHARACTERS:,} are allowed: "
            "ask a shorter one; a text to be searched is added as a document"
        )


PictureType = Literal["chart", "table", "figure"]
AnswerType = Literal[
    "look", "calculation", "parts", "contact", "percent", "count", "money", "date", "amount", "person", "place",
    "reason", "steps", "definition", "yes_or_no", "statement",
]  # fmt: skip
"""What a question asks for: to look at, calculate or count something on pages, a number, a name…, or a statement."""

# "the effect of a small number of errors" asks for no number, "What is a safe number of guests?" does.
_INDEFINITE_NUMBER = lazy_regex(r"(?i)(?<!\bis )(?<!\bwas )\ba\s+(?:(?:small|large|finite|certain)\s+)?number of\b")
_TERM_WORD = r"(?!(?:of|in|for|by|on|the|this|that|your|my)(?![\w'’-]))(?:[\w'’&+/-]|:(?=//))++(?:\.[\w/]++)*+"
_WHAT_IS = lazy_regex(
    rf"\s*(what(?:'s|\s+is|\s+are)\s+(?:an?\s+|the\s+(?=(?-i:(?:[A-ZÀ-Þ][\w.+#-]*\s*)+)\?*\s*\Z))?){_TERM_WORD}(?:\s+{_TERM_WORD}){{0,3}}"
    r"(?P<field>\s+in\s+(?-i:[A-ZÀ-Þ])[\w.+#-]*(?:\s+(?-i:[A-ZÀ-Þ])[\w.+#-]*)?)?\s*\?*\s*",
    re.IGNORECASE,
)
_WHAT_MEANS = lazy_regex(
    rf"\s*what\s+does\s+(?:an?\s+)?[\"“'‘]?{_TERM_WORD}(?:\s+{_TERM_WORD}){{0,3}}[\"”'’]?\s+mean\s*\?*\s*",
    re.IGNORECASE,
)
WHAT_MEANS = "what does … mean"
"""`QuestionAnalysis.asked_by` of a question such as "What does E2 mean?"."""
Extreme = Literal["highest", "lowest"]
Calculation = Literal["difference", "sum", "ratio", "average"]
_NUMBER = (
    r"(?!(?:19|20)\d\d(?![\d.,]*\d))[$€£]?\s?\d[\d.,]*(?:\s?(?:%|percent|per cent|thousand|million|billion|prozent))?"
)
_AT_LAST_COMMA = lazy_regex(r"(?s)\A(.*)(?:(?<!\d),|,(?!\d))(.*)")  # not that of "46,298 million"
_SENTENCE_END = lazy_regex(r"(?<=[?.!])\s+|(?<=\?)(?=[A-Z])")
_AT_PREPOSITION = lazy_regex(
    r"\s(?=(?:in|on|at|from|of|by|with|using|according|per|auf|aus|von|dans|sur|en)\s)", re.IGNORECASE
)
# A longer text is not analysed as a question of a few sentences, but searched for as it is.
MAX_ANALYSED_CHARACTERS = 2000
_WORD = lazy_regex(r"\w+")
_EXAMPLE = lazy_regex(r"\[[^\]]*(?:\]|$)|\"[^\"]*\"|'[^']*'")
_QUOTED = lazy_regex(
    r"\"([^\"]{1,200})\"|“([^”]{1,200})”|«([^»]{1,200})»|„([^“”]{1,200})[“”]|`([^`]{1,200})`"
    r"|(?<!\w)['‘]([^'’]{2,200})['’](?!\w)"
)
# "21-cv-1234", "XR-200", "A.3/7", "2019-2020": a digit, and a mark between two letters or digits. "12.4" is a number.
_CODE = lazy_regex(r"(?<![\w&])(?=[^\s\d]*\d)\w+(?:[-–/._:+#&]\w+)+")
_QUANTITY = lazy_regex(
    r"\bhow (?:many|much|long|old|far|large|big|tall|high|deep|wide|often|fast|heavy|late|early)\b|\bwhen\b|\bpercent"
    r"|\b(?:what|which) (?:year|date|day|time|percentage|share|proportion|number|amount|value|price|cost|rate)\b"
    r"|\b(?:number|percentage|share|amount) of\b|\bper cent\b|%",
    re.IGNORECASE,
)

CONTACT = lazy_regex(r"\+?\d[\d ()/-]{6,}\d|\S+@\S+\.\w|\bwww\.\S|https?://\S")
"""A telephone number, an e-mail address or a web address, for questions that ask for a contact."""


class Threshold(Record):
    """A threshold in the question: it asks for something above or below a number."""

    number: str = Field(description="as written, with its unit")
    is_lower_bound: bool = Field(description="whether what lies above it is asked for")
    is_included: bool = Field(default=False, description="whether what equals it is asked for too: at least 5")


class QuestionAnalysis(Record):
    """The result of analysing a question."""

    text: str = Field(description="the question without its instructions: what is searched for")
    instructions: tuple[str, ...] = Field(default=(), description="what only says in which form to answer, as written")
    places: tuple[PlaceName, ...] = Field(default=(), description="names of pages and sections")
    labels: tuple[PlaceName, ...] = Field(default=(), description="names of figures and tables")
    picture_types: tuple[PictureType, ...] = Field(default=(), description="what pictures it asks about without a name")
    asks_front: bool = Field(default=False, description="whether it asks what a document's first page says")
    asks_overview: bool = Field(default=False, description="whether it asks what a whole document is about")
    names: tuple[str, ...] = Field(default=(), description="words in a row with capitals, such as 'Ada Byron'")
    quoted: tuple[str, ...] = Field(default=(), description="what stands in quotation marks")
    titles: tuple[str, ...] = Field(default=(), description="titles by which it calls parts of a document, unquoted")
    codes: tuple[str, ...] = Field(default=(), description="case numbers, models and the like, such as 'XR-200'")
    amounts: tuple[str, ...] = Field(default=(), description="numbers with a unit or a scale, such as '5 km'")
    sides: tuple[str, ...] = Field(default=(), description="the question of each side of a comparison, or nothing")
    asks_denied: bool = Field(default=False, description="whether it asks what is not so, or must not be done")
    wants_number: bool = Field(default=False, description="whether it asks how many, how much or when")
    asks: AnswerType = Field(default="statement", description="what kind of answer it asks for")
    asked_by: str = Field(default="", description="the words that say so, as written")
    extreme: Extreme | None = Field(default=None, description="whether it asks for the highest or lowest of several")
    calculation: Calculation | None = Field(default=None, description="what to compute from several numbers")
    threshold: Threshold | None = Field(default=None, description="above or below which number it asks for something")


@lru_cache(maxsize=64)  # called by the search and by the answer
def analyse_question(question: str) -> QuestionAnalysis:
    """Analyse a question, in any mix of the supported languages."""
    rules, short = _rules(), len(question) <= MAX_ANALYSED_CHARACTERS
    text, instructions = _without_instructions(question, rules) if short else (question, ())
    labels, places = tuple(labels_asked_for(text)), tuple(places_in(text))
    asks, asked_by = rules.asks_for(question)
    asks_denied = short and asks_what_is_denied(text)
    if asks_denied and frozenset(words(text)) <= interrogative_words() | denying_words():
        asks, asked_by = "statement", ""  # "What is forbidden?" asks for no definition
    overview = short and asks not in {"count", "date", "money", "person", "place"} and rules.asks_overview(text)
    # "The table of contents" asks for no table.
    text_without_places = without_places(text) if places else text
    if asks == "steps":  # "How do I delete the photos in the album?" asks for no picture, but may ask about an album's
        text_without_places = "".join(_AT_PREPOSITION.split(text_without_places, maxsplit=1)[1:])
    picture_types = (kind for kind, pattern in rules.picture_types.items() if pattern.search(text_without_places))
    return QuestionAnalysis(
        text=text,
        instructions=instructions,
        places=places,
        labels=labels,
        picture_types=() if labels else tuple(picture_types),
        asks_front=overview or (not labels and not places and rules.front.search(text) is not None),
        asks_overview=overview,
        names=names_in(text) if short else (),
        quoted=tuple(next(filter(None, groups)) for groups in _QUOTED.findall(text)) if short else (),
        titles=tuple(titles_in(text)) if short else (),
        codes=_codes(text, labels) if short else (),
        amounts=tuple(dict.fromkeys(amounts_in(text))) if short else (),
        sides=comparison_sides(text) if short and words(text) else (),
        asks_denied=asks_denied and asks == "statement",
        wants_number=_QUANTITY.search(text) is not None,
        asks=asks,
        asked_by=asked_by,
        extreme=rules.extreme(text),
        calculation=next((kind for kind, pattern in rules.calculations.items() if pattern.search(text)), None),
        threshold=rules.threshold(text),
    )


def field_of_term(question: str) -> str:
    """The field in which a question asks for the meaning of a term: "Rust" in "What is ownership in Rust?"."""
    match = _WHAT_IS.fullmatch(question)
    return match["field"].split(maxsplit=1)[1] if match and match["field"] else ""


@cache
def interrogative_words() -> frozenset[str]:
    """Question words that carry no topic, tokenised by `core.text.tokens.words`."""
    return frozenset(stem for word in listed_words("asking") for stem in words(word, keep_stop_words=True))


@cache
def picture_words() -> frozenset[str]:
    """Words for kinds of pictures and their parts, tokenised by `core.text.tokens.words`."""
    types = (words_of for language in question_languages() for words_of in language.get("picture_types", {}).values())
    return frozenset(words(" ".join(word for words_of in types for word in words_of)))


def request_words() -> frozenset[str]:
    """Words of a request that do not occur in its answer, such as "explain" and "document", in lower case."""
    return listed_words("requesting")


def imperative_verbs() -> frozenset[str]:
    """The verbs with which instructions begin, as written, such as "press" and "make sure"."""
    return listed_words("instructing")


@lru_cache(maxsize=1024)  # called for each statement found
def words_alike(stem: str) -> frozenset[str]:
    """The words that mean the same in statements as a question's word, stemmed as by `core.text.tokens.words`.

    Of a phrase ("take place"), this is the last word.
    """
    return frozenset(phrase[-1] for phrase in _phrases_alike(stem))


@lru_cache(maxsize=1024)
def _phrases_alike(stem: str) -> tuple[tuple[str, ...], ...]:
    return tuple(dict.fromkeys(phrase for stems, phrases in _alike_table() if stem in stems for phrase in phrases))


@cache
def _alike_table() -> list[tuple[frozenset[str], list[tuple[str, ...]]]]:
    """Words of questions, and the words or phrases with the same meaning in statements, stemmed."""
    pairs = question_entries("alike") + [[forms, forms] for forms in question_entries("inflections")]
    # Whether something is forbidden is answered by what allows it, too.
    pairs += [[f"{may} {may_not}".split()] * 2 for may, may_not in permission_words()]
    pairs += [[unit_name.split(), spellings.split()] for unit_name, spellings in unit_words()]
    return [
        (frozenset(words(" ".join(question_words))), [(*words(phrase),) for phrase in phrases if words(phrase)])
        for question_words, phrases in pairs
    ]


def with_words_alike(statement_words: frozenset[str], question_words: Iterable[str]) -> frozenset[str]:
    """Return a statement's words, and the question's words that it expresses otherwise ("used", by "employed")."""
    near = (word for word in question_words if not words_alike(word).isdisjoint(statement_words))
    return statement_words.union(word for word in near if any(map(statement_words.issuperset, _phrases_alike(word))))


@cache
def opposite_words() -> list[tuple[frozenset[str], frozenset[str]]]:
    """Pairs of sets of words with opposite meanings, as `core.text.tokens.words` stems them."""

    def stems(phrases: Iterable[str]) -> frozenset[str]:
        return frozenset(words(" ".join(phrases), keep_stop_words=True))

    return [(stems(first), stems(second)) for first, second in question_entries("opposites")]


def analyse_lines(question: str) -> Counter[QuestionAnalysis]:
    """Analyse each line of a question whose lines are repeated to weight their words, with the number of repetitions.

    Lines are repeated by `retrievers.expanders.rm3`; a question without repeated lines is analysed as a whole, once.
    """
    lines = [line for line in question.splitlines() if line.strip()]
    repeated = len(set(lines)) < len(lines)
    counted = Counter(lines if repeated else [question])
    return Counter({analyse_question(line): times for line, times in counted.items()})


def _codes(text: str, labels: Iterable[PlaceName]) -> tuple[str, ...]:
    """The codes in a text, without numbers of labels such as "1-4" in "Figures 1-4"."""
    numbers = {label.number for label in labels}
    return tuple(dict.fromkeys(code for code in _CODE.findall(text) if len(words(code)) > 1 and code not in numbers))


def _without_instructions(question: str, rules: "_Rules") -> tuple[str, tuple[str, ...]]:
    """Split off instructions about how to answer; the question stays whole if nothing else would be left."""
    question_parts, instructions = list[str](), list[str]()
    for i, sentence in enumerate(_SENTENCE_END.split(question)):
        # The question is in the first sentence; what follows its last comma may be an instruction.
        before, last = ("", sentence) if i else (*_AT_LAST_COMMA.findall(sentence), ("", ""))[0]
        if last and rules.says_how(last):
            instructions.append(last.strip())
            question_parts.append(before)
        else:
            question_parts.append(sentence)
    text = " ".join(" ".join(question_parts).split())
    return (text, tuple(instructions)) if words(text) else (" ".join(question.split()), ())


@dataclass(frozen=True)
class _Rules:
    picture_types: dict[PictureType, re.Pattern[str]]
    asks: dict[AnswerType, re.Pattern[str]]
    extremes: dict[Extreme, re.Pattern[str]]
    calculations: dict[Calculation, re.Pattern[str]]
    limits: re.Pattern[str]
    front: re.Pattern[str]
    overview: frozenset[str]
    forms: frozenset[str]
    around_forms: frozenset[str]

    def asks_for(self, question: str) -> tuple[AnswerType, str]:
        """The answer type, and the words of the question that determine it."""
        if _WHAT_MEANS.fullmatch(question):
            return "definition", WHAT_MEANS
        asking, german = _INDEFINITE_NUMBER.sub(" ", question), asks_german_was(question)
        foreign = ((kind, _asking_pattern(entries)) for kind, entries in foreign_asking(question, self.asks))
        known = ((kind, pattern) for kind, pattern in self.asks.items() if not (german and kind == "yes_or_no"))
        patterns = (*foreign, *known)
        matches = [(match.start(), kind, match[0]) for kind, pattern in patterns if (match := pattern.search(asking))]
        if matches:  # the earliest match decides; of two at one place, the first in the order of kinds
            _, kind, detail = min(matches, key=itemgetter(0))
            return kind, detail
        # "What is a quay?" asks what the word means, "What is the depth of the quay?" does not.
        match = _WHAT_IS.fullmatch(question)
        return ("definition", match[1].strip()) if match else ("statement", "")

    def threshold(self, text: str) -> Threshold | None:
        """The number above or below which something is asked for; None if there is none, several, or a denied one."""
        matches = list(self.limits.finditer(text))
        if len(matches) != 1 or denies_before(text[: matches[0].start()]):
            return None
        value, over, least, most = matches[0].group("number", "over", "least", "most")
        return Threshold(number=value.strip(" .,"), is_lower_bound=bool(over or least), is_included=bool(least or most))

    def extreme(self, text: str) -> Extreme | None:
        """Whether the highest or the lowest is asked for; "at least 5" does not ask for the lowest."""
        text_without_limits = self.limits.sub(" ", text)
        return next((kind for kind, pattern in self.extremes.items() if pattern.search(text_without_limits)), None)

    def asks_overview(self, text: str) -> bool:
        """Whether all words ask for a summary or name the document or its file, and one asks for a summary."""
        text = FILE_NAME.sub("it", text)
        # A text of nothing but stop words is "What is it about?" or the like: what follows its first three counts.
        text_words = set(words(text, stem=False) or words(text, stem=False, keep_stop_words=True)[3:])
        return bool(text_words & self.overview) and text_words <= self.overview | request_words()

    def says_how(self, text: str) -> bool:
        """Whether a text only specifies the form of the answer; examples in brackets may contain anything."""
        text_words = set(_WORD.findall(_EXAMPLE.sub(" ", text).casefold()))
        text_words = {word for word in text_words if not word.isdecimal()}
        return bool(text_words & self.forms) and text_words <= self.forms | self.around_forms


@cache
def _rules() -> _Rules:
    answer_types: tuple[AnswerType, ...] = get_args(AnswerType)[:-1]
    limits = ("over", "under", "least", "most")
    return _Rules(
        extremes={kind: _words_pattern(question_entries("extremes", kind)) for kind in get_args(Extreme)},
        calculations={kind: _words_pattern(question_entries("calculations", kind)) for kind in get_args(Calculation)},
        limits=_limits_pattern({kind: question_entries("limits", kind) for kind in limits}),
        asks={kind: _asking_pattern(question_entries("asks", kind)) for kind in answer_types},
        picture_types={kind: _words_pattern(question_entries("picture_types", kind)) for kind in get_args(PictureType)},
        front=_words_pattern(question_entries("front")),
        overview=frozenset(
            word
            for phrase in (*question_entries("overview"), *question_entries("structure", "document"))
            for word in words(phrase, stem=False, keep_stop_words=True)
        ),
        forms=listed_words("forms"),
        around_forms=listed_words("around_forms"),
    )


def _limits_pattern(entries_by_kind: dict[str, list[str]]) -> re.Pattern[str]:
    """A pattern of words before a number, in groups with these names; of several matches, the first to begin counts."""
    sides = "|".join(rf"(?P<{kind}>{alternation(entries)})" for kind, entries in entries_by_kind.items())
    return re.compile(rf"(?<!\w)(?:{sides})\s+(?P<number>{_NUMBER})", re.IGNORECASE)


def _words_pattern(entries: list[str]) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){alternation(entries)}(?!\w)", re.IGNORECASE)


def _asking_pattern(entries: list[str]) -> re.Pattern[str]:
    """Like `_words_pattern`, but words with a leading ^ match only at the beginning, or after a phrase and a comma."""
    opening = [word[1:] for word in entries if word.startswith("^")]
    anywhere = [word for word in entries if not word.startswith("^")]
    patterns = [rf"\A\s*(?:[^,?]{{0,80}},\s*)?{alternation(opening)}"] if opening else []
    patterns += [rf"(?<!\w){alternation(anywhere)}"] if anywhere else []
    return re.compile(rf"(?:{'|'.join(patterns)})(?!\w)", re.IGNORECASE)
