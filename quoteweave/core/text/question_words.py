"""The words with which questions say what they look for (`question_words.toml`), and those that ask what is denied."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from quoteweave.core.files.toml import shipped_toml
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.foreign_languages import foreign_function_words, foreign_language
from quoteweave.core.text.tokens import words
from quoteweave.core.text.word_patterns import MentionPattern, alternation

# "What" up to a word that begins a condition: "What do I do if it does not start?" asks for nothing that is denied.
_WHAT_CLAUSE = lazy_regex(
    r"\W*(?:what|which|was|welche[rsmn]?)\b"
    r"(?:(?!\b(?:if|when|where|who|that|because|unless|wenn|falls|die|der|das)\b)[^,;:.?])*",
    re.IGNORECASE,
)
_WORD = lazy_regex(r"\w+")
# A word after "I", "you" or "to", a participle, or the last word after "do" or "can", which a determiner makes a noun.
_NO_DETERMINER = r"(?<!\ba\s)(?<!\b(?:an|my)\s)(?<!\b(?:the|our|his|her|its)\s)(?<!\byour\s)(?<!\btheir\s)"
_VERB = lazy_regex(
    r"\b(?:I|you|we|they|he|she|to)\s+(?:have\s+to\s+|need\s+to\s+|not\s+|also\s+)*(?P<act>[a-z]{2,})"
    r"|\b(?:was|were|is|are|been)\b[^,;?]*?\s(?P<done>[a-z]+ed)\b"
    r"|\b(?:do|does|did|can|could|will|would|should|must)\b(?!\s+(?:I|you|we|they|he|she)\b)[^,;?]*?\s"
    rf"{_NO_DETERMINER}(?P<last>[a-z]+)(?=\s*\?|\s+(?:in|on|at|for|with|by|before|after|during|until|without)\s)",
)
_HOW_MANY_HOURS = lazy_regex(
    r"\W*how\s+many\s+(?:minutes|hours|days|weeks|months|years)\b(?=.*\b(?:take|takes|took|last|lasts|lasted)\b)",
    re.IGNORECASE,
)
MAX_AROUND_NAME = 2
"""The most words of a heading besides the name of a thing: "The readme field"."""
# For comparisons: a name or year, words after the second thing that both share, and years and names beside "vs".
_NAME = lazy_regex(r"[A-ZÀ-Þ][\w.&-]*|(?:19|20)\d\d")
_CLAUSE_END = lazy_regex(r"[,;:.?!]")
_SHARED = lazy_regex(r"[a-zß-ÿ]+(?: [a-zß-ÿ]+)?")
_YEAR = r"(?:(?:fiscal(?:\s+year)?|(?-i:[A-Z][a-z]+|Q[1-4]|FY|H[12]))\s?)?(?:19|20)\d\d"
_BEFORE_DIGITS = lazy_regex(r"(.*\S\s+)(?:19|20)\d\d$")
_BEFORE_YEAR = lazy_regex(rf"(.*?\S\s+){_YEAR}$", re.IGNORECASE)
# Words that make a longer name together with one after or before them: "Bank of" Merrow, Board "of Education".
_NAME_BEFORE = lazy_regex(r"[A-ZÀ-Þ][\w.&-]*\s+(?:of|for|and|&)\s+(?:the\s+)?$")
_NAME_BEHIND = lazy_regex(r"\s+(?:of|for|and|&)\s+(?:the\s+)?[A-ZÀ-Þ]")
_NAMES = r"(?-i:[A-ZÀ-Þ][\w.&-]*)(?:\s+(?-i:[A-ZÀ-Þ])[\w.&-]*){0,3}"


@dataclass(frozen=True, slots=True)
class Quantity:
    """What a question with "how far" and the like measures."""

    asked_by: frozenset[str]
    """The question words that ask for it, such as "how far"."""
    dimensions: frozenset[str]
    """The dimensions of its units, as `units.Unit` names them; empty for any."""
    named: frozenset[str]
    """Stems of its names in texts, such as "range"."""
    in_rows: frozenset[str]
    """Those, and others that name it in rows of tables: "Blade length", "Noise level"."""
    acts: frozenset[str]
    """Stems of words that such a question contains besides, such as "ride"."""
    unless: frozenset[str]
    """Words that occur in questions which measure something else."""
    only_with: frozenset[str]
    """Words of which the question must contain one; empty if it needs none."""

    def may_be_asked_with(self, question_words: Collection[str]) -> bool:
        """Whether a question with these words may ask for it."""
        return not self.only_with or not self.only_with.isdisjoint(question_words)


@lru_cache(maxsize=64)  # because a question is read again with each sentence that may answer it
def asked_quantity(asked_by: str, question: str) -> Quantity | None:
    """The quantity that a question asks for with the words `asked_by`; None if its units are not known.

    >>> asked_quantity("How far", "How far can I ride?").dimensions == {"length", "mile", "foot"}
    True
    """
    phrase, question_words = asked_by.casefold(), _WORD.findall(question.casefold())
    phrase = "how long" if phrase == "how many" and _HOW_MANY_HOURS.match(question) else phrase
    candidates = (quantity for quantity in _quantities() if phrase in quantity.asked_by)
    quantity = next((quantity for quantity in candidates if quantity.may_be_asked_with(question_words)), None)
    return None if quantity is None or not quantity.unless.isdisjoint(question_words) else quantity


@cache
def _quantities() -> list[Quantity]:
    return [
        Quantity(
            asked_by=frozenset(table["asked"]),
            dimensions=frozenset(table["of"]),
            named=frozenset(words(" ".join(table["named"]))),
            in_rows=frozenset(words(" ".join([*table["named"], *table.get("rows", ())]))),
            acts=frozenset(words(" ".join(table["acts"]))),
            unless=frozenset(table.get("unless", ())),
            only_with=frozenset(table.get("only_with", ())),
        )
        for table in question_entries("quantities")
    ]


@cache
def question_languages() -> list[dict[str, Any]]:
    """The tables of all languages, one for each."""
    return list(shipped_toml(__package__, "question_words.toml").values())


def question_entries(key: str, subkey: str | None = None) -> list[Any]:
    """The entries under a key, or under a key of the table with that key, of all languages in order."""
    tables = question_languages() if subkey is None else [language.get(key, {}) for language in question_languages()]
    return [entry for table in tables for entry in table.get(subkey or key, ())]


@lru_cache(maxsize=64)  # called for each step of an answer
def verbs_of(question: str) -> frozenset[str]:
    """Words of a question that are verbs according to the words before them, as `core.text.tokens.words` stems them.

    >>> sorted(verbs_of("What happens if I miss an appointment that I have to keep?"))
    ['keep', 'miss']
    >>> sorted(verbs_of("How often should I water a fern?")), sorted(verbs_of("What does a fern cost?"))
    (['water'], ['cost'])
    """
    verbs = [match["act"] or match["done"] or match["last"] for match in _VERB.finditer(question)]
    return frozenset(words(" ".join(verbs)))


def with_phrases_as_words(question: str, texts: Iterable[str]) -> str:
    """Replace phrases of a question by a word with the same meaning, except phrases that the texts contain themselves.

    Another phrase takes their place only if the texts contain it.

    >>> with_phrases_as_words("How can I sign up?", ["Register here."])
    'How can I register?'
    >>> with_phrases_as_words("When do I hand in receipts?", ["Receipts are handed in on Fridays."])
    'When do I hand in receipts?'
    """
    pattern, word_of = _phrase_pattern()
    if not pattern.search(question):
        return question
    known = {_stems(phrase) for text in texts for phrase in pattern.findall(text)}

    def replacement(match: re.Match[str]) -> str:
        same = word_of[match[0].casefold()]
        return match[0] if _stems(match[0]) in known or (" " in same and _stems(same) not in known) else same

    return pattern.sub(replacement, question)


def _stems(phrase: str) -> tuple[str, ...]:
    return tuple(words(phrase, keep_stop_words=True))


@cache
def _phrase_pattern() -> tuple[re.Pattern[str], dict[str, str]]:
    word_of = dict(question_entries("phrases"))
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, word_of))})\b", re.IGNORECASE), word_of


@cache
def _use_question() -> re.Pattern[str]:
    """A question about what a thing does or is for, with the thing, which is after or between the asking words."""
    # In another order, the thing might be "X used".
    longest_first = sorted(question_entries("uses"), key=lambda way: -len(" ".join(way)))
    ways = [rf"{way[0]}\s+(\S.{{0,80}}?)" + "".join(rf"\s+{end}" for end in way[1:]) for way in longest_first]
    return re.compile(rf"[\s¿]*(?:{'|'.join(ways)})\s*[?.!\s]*", re.IGNORECASE)


def asked_thing(question: str) -> frozenset[str]:
    """The words of the thing if a question asks what it does or is for, stemmed; empty for other questions.

    >>> sorted(asked_thing("What does the --locked flag do?"))
    ['lock']
    """
    return without_thing_kind(asked_thing_text(question)) - foreign_function_words(question, least=1)


def asked_thing_text(question: str) -> str:
    """That thing as it is written, "the --locked flag"; empty for other questions."""
    match = _use_question().fullmatch(question)
    return next(filter(None, match.groups())) if match else ""


def without_thing_kind(text: str) -> frozenset[str]:
    """The words of a name without words for such things ("the Reset button"), and without single letters, if it can."""
    named = frozenset(words(text)) - thing_kinds() or frozenset(words(text))
    return frozenset(word for word in named if len(word) > 1 or word.isdecimal()) or named


def thing_kinds() -> frozenset[str]:
    """Nouns that only say what kind of thing a name is of, such as "button", as `core.text.tokens.words` stems them."""
    return _stems_of("thing_kinds")


def describes_thing(heading: str, thing_words: frozenset[str], title: frozenset[str]) -> bool:
    """Whether a heading is a thing's name, or a heading such as "Description" in a document whose title has that name.

    `thing_words` are as `asked_thing` returns them, `title` the words of the document's title or name.
    """
    if not thing_words:
        return False
    if thing_words <= title and frozenset(words(heading)) <= _stems_of("describing") and words(heading):
        return True
    # Headings such as "To panic! or not to panic!" are no names, because they have too many words.
    return thing_words == without_thing_kind(heading) and len(heading.split()) <= len(thing_words) + MAX_AROUND_NAME


def light_words(question: str) -> frozenset[str]:
    """Words that add little to what a question is about, such as "get", as `core.text.tokens.words` stems them."""
    language = foreign_language(question)
    return _stems_of("light") if language is None else _stems_of("light") | language.light


@cache
def listed_words(key: str) -> frozenset[str]:
    """The words of a list such as `colours`, of all languages, in lower case."""
    return frozenset(question_entries(key))


@cache
def headings_asked_for(by: str) -> list[tuple[frozenset[str], list[frozenset[str]]]]:
    """Verbs of questions by "what" or "where", and the headings that these ask for without naming them, as stems."""
    return [
        (frozenset(words(" ".join(table["asked"]))), [frozenset(words(name)) for name in table["under"]])
        for table in question_entries("headings")
        if table["by"] == by
    ]


@cache
def denials() -> re.Pattern[str]:
    """A pattern of the words of texts that negate, deny or doubt, of all languages: "denied", "nicht", "wasn't"."""
    return re.compile(rf"{any_word_of('denials')}|n['’]t\b", re.IGNORECASE)


def any_word_of(key: str) -> str:
    """A regular expression, as text, of the words under `key` in all languages, each as a whole word."""
    return rf"(?<!\w){alternation(listed_words(key))}(?!\w)"


@cache
def denying_words() -> frozenset[str]:
    """Words that ask for what is denied and say nothing else, as `core.text.tokens.words` stems them."""
    denying = listed_words("denials") | listed_words("prohibiting") | listed_words("beside_prohibiting")
    return frozenset(words(" ".join(denying), keep_stop_words=True))


def asks_what_is_denied(question: str) -> bool:
    """Whether a question asks what is not the case or must not be done.

    >>> asks_what_is_denied("What must never be done?"), asks_what_is_denied("What do I do if it does not start?")
    (True, False)
    """
    match = _WHAT_CLAUSE.match(question)
    opening = match[0] if match else ""
    opening_words = _WORD.findall(opening.casefold())
    return bool(denials().search(opening)) or not listed_words("prohibiting").isdisjoint(opening_words)


def comparison_sides(question: str) -> tuple[str, ...]:
    """The question once for each side of a comparison such as 'between X and Y'; empty if there is no comparison.

    >>> comparison_sides("How did sales change from 2019 to 2021?")
    ('How did sales change 2019?', 'How did sales change 2021?')
    """
    match = _innermost(_comparison_pattern(with_spans=_changes(question)), question)
    if match is None:
        return ()
    first_side, second_side = (side for side in match.groups() if side)
    before, behind = question[: match.start()], question[match.end() :]
    if match[0].startswith(first_side):
        first_word, _, following = first_side.partition(" ")
        if following and not before and not words(first_word):  # as in "Does Python compared to Java"
            before, first_side = f"{before}{first_word} ", following
        if not _may_be_split(before, (first_side, second_side), behind, match[0]):
            return ()
    words_before = _WORD.findall(before.casefold())
    joined = not listed_words("joined_between").isdisjoint(words_before[-1:])
    compares = not listed_words("comparing").isdisjoint(words_before)
    if joined and not compares and not re.fullmatch(_YEAR, first_side, re.IGNORECASE):
        return ()
    first_word, _, shared = second_side.partition(" ")
    # "English with Spanish use" compares English use with Spanish use.
    if _NAME.fullmatch(first_side) and _NAME.fullmatch(first_word) and _SHARED.fullmatch(shared):
        first_side = f"{first_side} {shared}"
    second_side = _completed(first_side, second_side)
    return () if first_side == second_side else tuple(f"{before}{side}{behind}" for side in (first_side, second_side))


def _innermost(compared: MentionPattern, question: str) -> "re.Match[str] | None":
    """The comparison in a question; for "compare prices between Varna and Oslo", the inner one, with "between"."""
    match = compared.search(question)
    inner = compared.search(question, match.start() + 1) if match and _has_opening(match) else None
    return inner if match and inner and inner.end() == match.end() and _has_opening(inner) else match


def _has_opening(compared: "re.Match[str]") -> bool:
    """Whether a word such as "between" precedes the first of two compared things."""
    return compared.start() < min(
        start for group in range(1, len(compared.groups()) + 1) if (start := compared.start(group)) >= 0
    )


def _completed(first_side: str, second_side: str) -> str:
    """The second of two things with the words that it shares with the first: "costs in 2021" after "costs in 2020"."""
    if re.fullmatch(r"\d{4}", second_side):
        shared = _BEFORE_DIGITS.match(first_side)
    elif re.fullmatch(_YEAR, second_side, re.IGNORECASE):
        shared = None if re.fullmatch(_YEAR, first_side, re.IGNORECASE) else _BEFORE_YEAR.match(first_side)
    else:
        shared = _before_name().match(first_side) if re.fullmatch(_NAMES, second_side) else None
    return f"{shared[1]}{second_side}" if shared else second_side


@cache
def _before_name() -> re.Pattern[str]:
    """ "Prices in" in "prices in Varna", but not "University of" in "University of Varna"."""
    return re.compile(rf"((?:.*\s)?[a-zß-ÿ]\S*\s+{alternation(listed_words('comparison_fillers'))}\s+){_NAMES}$")


def _changes(question: str) -> bool:
    """Whether a question asks how something changes, also in words such as "what happened to sales".

    Words that are joined after the years do not count: "king from 1907 to 1911 and lost the war".
    """
    question_words = frozenset(words(_joined_behind_span().sub(lambda span: span[1], question)))
    if not question_words.isdisjoint(_stems_of("happening")):
        return not question_words.isdisjoint(_stems_of("measured") | _stems_of("changing"))
    return not question_words.isdisjoint(_stems_of("changing"))


@cache
def _joined_behind_span() -> MentionPattern:
    ways, joining = question_entries("spans"), alternation(way[1] for way in question_entries("compared"))
    spans = "|".join(rf"{start}\s+{_YEAR}\s+{to}\s+{_YEAR}" for start, to in ways)
    return MentionPattern(
        rf"(?<!\w)({spans}),?\s+{joining}\s.*", [way[0] for way in ways], flags=re.IGNORECASE | re.DOTALL
    )


def _may_be_split(before: str, sides: tuple[str, str], behind: str, compared: str) -> bool:
    """Whether two things beside "vs" and the like are complete, and the question can be asked about each.

    They must be at the beginning, or after a comma, a word that compares or measures or, except for names, a function
    word: "does oak perform vs. elm" needs its verb. "In Smith vs. Jones, what was higher?" is about a court case: names
    are only compared with a word such as "differ" or "speed" before them, or at the end of the clause.
    """
    if all(re.fullmatch(_YEAR, side, re.IGNORECASE) for side in sides):
        return True
    if _NAME_BEFORE.search(before) or _NAME_BEHIND.match(behind):
        return False
    if listed_words("versus").isdisjoint(compared.casefold().split()):
        return True
    preceding, comparing = _WORD.findall(before.casefold()), listed_words("comparing")
    begins = not preceding or before.rstrip()[-1:] in ",:;" or preceding[-1] in comparing | listed_words("measured")
    if all(side[0].isupper() for side in sides):
        last = set(_WORD.findall(_CLAUSE_END.split(behind.casefold(), maxsplit=1)[0])[-1:])
        compares = not comparing.isdisjoint(preceding) or not listed_words("measured").isdisjoint(last)
        return not comparing.isdisjoint(last) or (begins and compares)
    return begins or not words(preceding[-1])


@cache
def _stems_of(key: str) -> frozenset[str]:
    return frozenset(words(" ".join(listed_words(key))))


@cache
def _comparison_pattern(*, with_spans: bool) -> MentionPattern:
    """A pattern of two things that are compared; `around` words may precede each thing, and end the second.

    Each way gives the words before the first thing, then the words that may precede the second. The earliest of these
    ends the first thing: "compare 2019 with 2020 and 2021". One that is followed by a word of `after_comparison` does
    not, because it begins another request: "compare oak with elm and explain why".
    """
    ways, around = question_entries("compared"), alternation(listed_words("comparison_fillers"))
    joining = alternation(word for way in ways for word in way[1:])
    small, request = rf"(?:{around}\s+)?", rf"\s+{joining}\s+{alternation(listed_words('after_comparison'))}(?!\w)"
    asking = rf"\s+{alternation(listed_words('asking_after'))}\s"
    side, end = r"((?:(?![.;?!]\s).){2,60}?)", rf"(?=[,;.?!]|\s+{around}\s|{request}|{asking}|$)"
    patterns = [
        rf"(?<!\w){re.escape(before)}\s+{small}{side}(?!{request})\s+{alternation(between)}\s+{small}{side}{end}"
        for before, *between in ways
    ]
    # Only spans of years, and only if something changes: trains go, and events last, from one thing to another, too.
    spans = question_entries("spans") if with_spans else []
    patterns += [rf"(?<!\w){start}\s+({_YEAR})\s+{to}\s+({_YEAR})" for start, to in spans]
    between = alternation(listed_words("compared_with"))
    patterns += [rf"(?<!\w)({form})\s+{between}\s+{small}({form})(?!\w)" for form in (_YEAR, _NAMES)]
    patterns.append(rf"(?<!\w)(\w[\w&-]+)\s+{alternation(listed_words('versus'))}\s+{small}(\w[\w&-]+)(?!\w)")
    openings = {way[0] for way in [*ways, *spans]}
    joined_by = listed_words("compared_with") | listed_words("versus")
    return MentionPattern("|".join(patterns), openings | joined_by, flags=re.IGNORECASE)
