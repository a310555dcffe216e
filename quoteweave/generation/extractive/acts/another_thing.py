"""Check by rule whether a statement is about another thing than a question, or does not say which it is about."""

import re
from collections import Counter
from collections.abc import Sequence, Set
from itertools import pairwise

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.question_analysis import (
    MAX_ANALYSED_CHARACTERS,
    AnswerType,
    QuestionAnalysis,
    with_words_alike,
)
from quoteweave.core.text.question_words import thing_kinds, verbs_of
from quoteweave.core.text.references.reference_words import reference_words
from quoteweave.core.text.tokens import STOP_WORDS, WORD, words
from quoteweave.core.text.units import dimensions_in
from quoteweave.generation.extractive.acts.clauses import IRREGULAR, PREPOSITIONS
from quoteweave.generation.extractive.statements import Statement, picture_text, refers_back
from quoteweave.generation.gate.dates import MONTHS, WEEKDAY, is_of_date
from quoteweave.generation.relevance import NUMBER_KINDS, PERIODS, with_all_alike

MAX_BETWEEN = 3
"""The most words between a name and its number, as in "Debian, the version 8"."""

# "Which keys "
_ASKS_WHICH = lazy_regex(r"\s*(?:which|what)\s+(\w+?)s?\s", re.IGNORECASE)
# Operators and the like, which are no words: "&&", "$#".
_SIGNS = lazy_regex(r"(?<!\S)[\"'“‘`(]?([^\w\s\"'“”‘’`(),.;:?!…–—-]{2,})(?=[\"'”’`),.;:?!]*(?:\s|$))")
# Options, specifiers and variables, which are names together with their signs: "-r", "--no-fonts", "%j", "MAX_SIZE".
_OPTION = lazy_regex(r"(?<![\w/%$-])(?:-{0,2}[-%$][^\W\d_][\w-]*|[^\W_]+(?:_[^\W_]+)+(?!\w))")
# Hyphens as documents print them; in a question, a dash before a word sets that apart ("the depth –in metres–").
_AS_TYPED = str.maketrans("‐‑–−", "----")
# "the yearly fee"
_ASKED_PERIOD = lazy_regex(rf"\b(?P<period>{'|'.join(PERIODS)})\s+(?P<thing>[\w'’-]+(?:\s+[\w'’-]+)?)", re.IGNORECASE)
_UNNAMED = r"(?:Many|Most|Some|Several|Various|Certain|Numerous|Not all|A few|A number of)"
# "must", "are usually returned"
_MUST_OR_DONE = (
    r"(?:can|may|must|should|shall|will|cannot|ha(?:s|ve)\s+to"
    rf"|(?:is|are|was|were)\s+(?:\w+ly\s+|not\s+)?(?:\w+(?:ed|en)|{IRREGULAR}))\b"
)
_SAYS_WHICH = lazy_regex(
    r"[:(]|\b(?:if|when|where|unless|who|that|(?<!\bin\s)which|whose|only|except|such\s+as|like|namely|includ\w+|with|without|by|as)\b",
    re.IGNORECASE,
)
_NAMES_SOME = lazy_regex(r"[:(]|\b(?:such as|includ\w+|like|namely|especially|e\.g\.)")
_ASKED_NOUN = lazy_regex(  # "What is the total revenue in"
    r"\W*what (?:is|was|are|were) (?:the |its |their )?(?:\w+ )?([^\W\d_]{3,})(?: in\b| for\b|\?|$)", re.I
)
# The group about which a question asks what they do or get, or what there is for them: "What do members get?".
_ASKED_GROUP = lazy_regex(
    r"\b(?:do\s+(?!(?:I|you|we|they|these|those)\b)(?:(?:the|our|all)\s+)?|for\s+(?:(?:the|our|all)\s+)?(?=\w+\W*$))"
    r"([^\W\d_]{3,}?s)\b",
    re.IGNORECASE,
)
# Words whose "of" leads to no other thing: "the amount of revenue" is the revenue, "half of the members" are members.
_NAMES_NO_OTHER = STOP_WORDS.union(
    ["amount", "total", "sum", "level", "value", "number", "kind", "type", "name", "half", "majority", "percent"]
)
_NO_RATE_KINDS = frozenset({"reason", "money", "statement"})
# Words that tell how high, thick, wide, deep or long a thing is: "30 cm thick", "a thickness of 30 cm".
_EXTENTS = (
    ("high", "tall", "height", "hoch", "höhe"),
    ("thick", "thickness", "dick", "dicke"),
    ("wide", "broad", "width", "breadth", "breit", "breite"),
    ("deep", "depth", "tief", "tiefe"),
    ("long", "length", "lang", "länge"),
)
_EXTENT_OF_WORD = {word: extent[0] for extent in _EXTENTS for word in extent}
_ANY_EXTENT = rf"({'|'.join(_EXTENT_OF_WORD)})"
_MEASURED = lazy_regex(  # "30 cm thick", "a height of 3"
    rf"\d[\s-]?[^\W\d_]{{1,12}}[\s-]+{_ANY_EXTENT}\b|\b{_ANY_EXTENT}\s*(?::|of|is|was|von|ist|war|beträgt)\s*\d",
    re.IGNORECASE,
)
# "how thick", "what is the width"
_HOW_LONG = lazy_regex(rf"\b(?:how|wie)\s+{_ANY_EXTENT}\b|\b(?:what|which|was)\b.*?\b{_ANY_EXTENT}\b", re.IGNORECASE)
# "Dogs are allowed on the path above the beach" does not tell whether they are on the beach, nor does "The concert
# after the meeting is on 3 May" tell when the meeting is.
_ASKED_PLACE = lazy_regex(
    r"\b(?:on|in|at|inside|onto|into)\s+(?:the|our|your)\s+(?P<thing>[^\W\d_]{3,})", re.IGNORECASE
)
_ASKED_OF_THING = lazy_regex(  # "When is the meeting"
    r"\W*(?:(?:when|where|how\s+(?!far\b)\w+|what\s+time)\s+)?(?:is|are|was|were|do|does|did|will)\s+"
    rf"(?P<thing>.*?)(?=\s(?:{PREPOSITIONS})\s|\W*$)",
    re.IGNORECASE,
)
_BESIDE = r"above|below|behind|beside|near|next\s+to|close\s+to|opposite|outside|around|along|beyond|in\s+front\s+of"
_IN_TIME = r"after|before|during|until|following"
_WAYS = r"past|to|from|over"
_HELPING = r"(?:is|are|was|were|has|have|had|do|does|did|will|can|may|must)\b"
_DATE_BEGINS = rf"\d|{WEEKDAY}|{'|'.join(MONTHS)}"
# "profit margin"
_RATE_OF = lazy_regex(r"\b(\w+)\s+(?:rates?|ratios?|margins?|percentages?|index)\b", re.IGNORECASE)
_RATE_WORD = lazy_regex(r"\b(?:rates?|ratios?|margins?|percentages?|index|percent|share)\b|%", re.IGNORECASE)
_NAMED_PART = lazy_regex(  # "International Segment"
    r"\b(?!Operating|Reportable|Each|All|Total)[A-Z]\w+ (?:Segment|Division|Region|Subsidiary)\b(?! [A-Z])"
)
# The numbers in between, such as "1, 2 and " in "Lines 1, 2 and 6".
_OTHER_NUMBERS = r"(?:\d++(?:\.\d++)*+\W++(?:(?:and|or|to|und|oder|bis|et|ou|y|o|e)\W++)?+)*"
_NUMBERED = lazy_regex(  # "Debian 8"; no date, "May 8", and no year
    r"(?<=\s)(?!(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec))([A-ZÀ-Þ]\w+)\s+(?!(?:19|20)\d\d\b)(\d+(?:\.\d+)*)(?!\w)"
)
# A property and its owner, such as "the length of the bridge", without the words that follow: "over the quay".
_OF_THING = lazy_regex(
    r"\b([^\W\d_]{3,})\s+of\s+((?:[^\W\d_][\w'’-]*\s+){0,4}?[^\W\d_][\w'’-]*)"  # "length of the old bridge"
    r"(?=\s*[,;:.?!()]|\s*$|\s+(?:about|above|across|and|are|around|as|at|behind|below|beside|between|by|can|did|do"
    r"|does|during|for|from|had|has|have|in|into|is|may|must|near|of|on|onto|or|over|per|than|that|through|to|under"
    r"|was|were|which|who|will|with|within|without)\b)",
    re.IGNORECASE,
)
# The noun for the kind of thing that a code names: "error E21", "the E21 key".
_CODE_OF_KIND = lazy_regex(
    r"(?:\b(?P<before>[^\W\d_]{3,})\s+)?\b(?P<code>[A-Z]{1,4}-?\d[\w.-]*)\b(?:\s+(?P<after>[^\W\d_]{3,})\b)?"
)
_SHOWN_KINDS = frozenset(words("error fault code message warning alarm sign symbol signal"))
# "to the harbour"
_DIRECTION = lazy_regex(r"\b(to|from)\s+(?:the\s+)?([^\W\d_]{3,})", re.IGNORECASE)
_POSSESSIVES = frozenset({"this", "these", "our", "its", "their", "your", "my", "his", "her"})
_BESIDE_OFFICE = lazy_regex(  # "vice president"
    r"\b(vice|deputy|assistant|associate|acting|interim|honorary|former|junior)[\s-]+([^\W\d_]{4,})\b", re.IGNORECASE
)


def is_about_another_thing(statement: Statement, question: QuestionAnalysis, terms: Sequence[str]) -> bool:
    """Whether a statement is about another thing than the question, or does not say which thing it is about.

    "Which file has the licence?" is not answered by "This file has it", and "Debian 8" is not "Debian Day, from 8 to 14
    July". "The cost of revenue" is not the revenue.
    """
    question_text, text, asks = question.text, statement.text, question.asks
    around = f"{statement.quote.section}\n{statement.above}\n{statement.before}\n{text}"
    return (
        _tells_of_its_property(question_text, text, asks)
        or _is_under_part(statement, terms)
        or any(sign not in text for sign in _SIGNS.findall(question_text))
        or lacks_option(question_text, around, statement.document)
        or (asks in _NO_RATE_KINDS and _tells_of_its_rate(question_text, text, terms))
        or (asks in {"date", "place"} and _is_of_other_direction(question_text, text))
        or _is_measured_otherwise(question_text, text)
        or _is_code_of_another_kind(question_text, _named_in_first_column(statement) + text)
        or _refers_to_another_subject(statement, question, terms)
        or (not statement.is_of_cells and _is_text_about_another_thing(text, question))
    )


def lacks_option(question: str, text: str, document: str) -> bool:
    """Whether a text and its document's name lack an option or the like that a question names: "-R" is not "-r"."""
    asked_options = _options_in(question)
    around = f"{document.replace('/', ' ')}\n{text.translate(_AS_TYPED)}"
    return bool(asked_options) and not asked_options <= _options_in(around)


def _options_in(text: str) -> set[str]:
    return {name if name[0] in "-%$" else name.casefold() for name in _OPTION.findall(text)}


def _tells_of_its_property(question: str, text: str, asks: AnswerType) -> bool:
    """Whether a text tells only about what belongs to the thing asked about: the cost of revenue, not the revenue.

    Likewise, the parents of students are not the students.
    """
    # "The hours of shops" tells when shops open.
    groups = _ASKED_GROUP.finditer(question) if asks in NUMBER_KINDS | {"statement"} else ()
    nouns = [match[1] for match in (_ASKED_NOUN.match(question), *groups) if match is not None]
    of_property = r"\b([^\W\d_]+)\s+of\s+(?:the\s+|our\s+)?(?:\w+\s+)?"
    allowed_properties = {*question.casefold().split(), *_NAMES_NO_OTHER, ""}
    for noun in nouns:
        with_of = re.sub(rf"\b({noun})['’]\s+(\w+)", r"\2 of \1", text, flags=re.IGNORECASE)
        properties = re.findall(rf"(?:{of_property})?\b{noun}\b", with_of, re.IGNORECASE)
        if properties and not any(word.casefold() in allowed_properties for word in properties):
            return True
    return False


def _is_under_part(statement: Statement, terms: Sequence[str]) -> bool:
    """Whether a statement is under the name of a part ("International Segment") that the question does not name."""
    quote = statement.quote
    named = _NAMED_PART.search(f"{quote.caption or ''}\n{quote.section or ''}")
    return named is not None and set(words(named[0])).isdisjoint(terms)


def _tells_of_its_rate(question: str, text: str, terms: Sequence[str]) -> bool:
    """Whether a text tells only the rate of what a question asks for: the gross profit rate, not the profit.

    Interest is an exception, because it is given by its rate.
    """
    if _RATE_WORD.search(question):
        return False
    rated = Counter(word for match in _RATE_OF.finditer(text) for word in words(match[1]))
    counts = Counter(words(text))
    return any(word in terms and word != "interest" and counts[word] == times for word, times in rated.items())


def _is_of_other_direction(question: str, text: str) -> bool:
    """Whether a text tells of what goes from the one place to which it goes in the question, or the other way round."""
    asked_ways, text_ways = map(_ways_in, (question, text))
    return (
        len(asked_ways) == 1
        and asked_ways.isdisjoint(text_ways)
        and {place for _, place in asked_ways} <= {place for _, place in text_ways}
    )


def _ways_in(text: str) -> set[tuple[str, str]]:
    """The places of a text with the word before each, "to" or "from"."""
    return {(way.casefold(), place.casefold()) for way, place in _DIRECTION.findall(text)}


def _is_measured_otherwise(question: str, text: str) -> bool:
    """Whether a text tells how thick a thing is, say, while the question asks how high it is.

    "How long" may ask for a time, which a text may give beside a depth.
    """
    extents_asked = {
        _EXTENT_OF_WORD[word.casefold()] for groups in _HOW_LONG.findall(question) for word in groups if word
    }
    extents_asked -= {"long"} if "time" in dimensions_in(text) else set()
    extents_told = {_EXTENT_OF_WORD[word.casefold()] for groups in _MEASURED.findall(text) for word in groups if word}
    return bool(extents_asked and extents_told) and extents_asked.isdisjoint(extents_told)


def _is_code_of_another_kind(question: str, text: str) -> bool:
    """Whether a text has a code only for another kind of thing: "error E21", for "What does key E21 do?".

    An error may be called a fault or a message, too, and a key a button: what is shown is told from what is pressed.
    """
    kinds_in_text = _kinds_of_codes(text)
    for code, kinds in _kinds_of_codes(question).items():
        other_kinds = kinds_in_text.get(code, set())
        alike = other_kinds & _SHOWN_KINDS if kinds & _SHOWN_KINDS else other_kinds - _SHOWN_KINDS
        if kinds and other_kinds and not alike:
            return True
    return False


def _named_in_first_column(statement: Statement) -> str:
    """The names of a statement's rows, each with the name of their column: "Error E21"."""
    head = picture_text(statement.quote).partition(" | ")[0] if statement.rows else ""
    return "".join(f"{head} {row.name}. " for row in statement.rows)


def _kinds_of_codes(text: str) -> dict[str, set[str]]:
    kinds_of_codes = dict[str, set[str]]()
    for match in _CODE_OF_KIND.finditer(text):
        kinds = thing_kinds().intersection(words(f"{match['before'] or ''} {match['after'] or ''}"))
        kinds_of_codes.setdefault(match["code"], set()).update(kinds)
    return kinds_of_codes


def _refers_to_another_subject(statement: Statement, question: QuestionAnalysis, terms: Sequence[str]) -> bool:
    """Whether "It" is another thing than the one asked about, as the sentence before has no noun of the question.

    "It cost 480,000 euros and replaces the vehicle of 2001" does not tell what the vehicle of 2001 cost.
    """
    if question.asks not in NUMBER_KINDS or not refers_back(statement.text):
        return False
    named = set(terms) - verbs_of(question.text)
    nouns = {word for word in named if not is_of_date(word)}
    if len(named) < 2 or not nouns:
        return False
    return nouns.isdisjoint(with_words_alike(frozenset(words(statement.before)), nouns))


def _is_text_about_another_thing(text: str, question: QuestionAnalysis) -> bool:
    """Like `is_about_another_thing`, by rules that hold for sentences but not for cells of tables."""
    asks_which = _ASKS_WHICH.match(question.text)
    return (
        _is_of_another_period(question.text, text)
        or _is_of_another_owner(question.text, text, question.asks)
        or _is_of_another_office(question.text, text, question.asks)
        or _is_beside_the_thing(question, text)
        or (asks_which is not None and _leaves_open_which(re.escape(asks_which[1]), text, question.text))
        or any(_is_number_of_another(name, number, text) for name, number in _NUMBERED.findall(question.text))
    )


def _is_of_another_period(question: str, text: str) -> bool:
    """Whether a text names the period of a thing only for something else: "the yearly report", for a yearly fee."""
    asked_period = _ASKED_PERIOD.search(question)
    if asked_period is None:
        return False
    unit, thing_words = PERIODS[asked_period["period"].casefold()], set(words(asked_period["thing"]))
    adjectives = "|".join(adjective for adjective, period in PERIODS.items() if period == unit)
    if re.search(rf"\b(?:{adjectives}|annually|{unit}s?)\b", text, re.IGNORECASE) is None:
        return False
    per_unit = rf"(?:\b(?:an?|per|each|every|the)\s+(?:(?!first|last)\w+\s+)?|/\s?){unit}\b"
    adverb = rf"\b(?:{adjectives}|annually)(?=\s*(?:[,;.)]|$|\s(?:of|for|from|in|to|until|by|at|on|and|or)\b))"
    if re.search(f"{per_unit}|{adverb}", text, re.IGNORECASE):
        return False
    named = re.finditer(rf"\b(?:{adjectives})\s+([\w'’-]+)(?:\s+([\w'’-]+))?", text, re.IGNORECASE)
    alike = with_all_alike(thing_words).union(words(question))
    return not any(alike & {*words(match[1])} or thing_words & {*words(match[2] or "")} for match in named)


def _is_of_another_owner(question: str, text: str, asks: AnswerType) -> bool:
    """Whether a text gives a property of another thing: the length of the bridge over the quay, not of the quay.

    The manager of the shop is not that of the museum, though the museum need not be named in a document about it.
    """
    for name, owner in _OF_THING.findall(question):
        noun, owner_words = words(name), with_all_alike(words(owner))
        owned = _OF_THING.findall(text) if noun else []
        owners_in_text = [text_owner for text_noun, text_owner in owned if words(text_noun) == noun]
        other_owners = list(filter(_may_be_owner, owners_in_text))
        if other_owners and owner_words.isdisjoint(words(" ".join(owners_in_text))):
            if asks == "person" and owner_words.isdisjoint(words(text)):
                return _may_be_owner(owner)
            if _stands_behind(owner_words, other_owners[0], text):
                return not any(first in owner_words and [then] == noun for first, then in pairwise(words(text)))
    return False


def _may_be_owner(text: str) -> bool:
    """Whether the words after "of" name an owner, unlike "our tickets", "nine" or "helping"."""
    first, *_ = text.split(maxsplit=1)
    return first.casefold() not in _POSSESSIVES | reference_words().numbers.keys() and not first.endswith("ing")


def _stands_behind(thing_words: Set[str], name_before: str, text: str) -> bool:
    """Whether a text names a thing after another in the same clause: "of the bridge over the quay"."""
    behind = re.split(r"[,;:.]\s|\s(?:and|but|while)\s", text.partition(name_before)[2])[0]
    return not thing_words.isdisjoint(words(behind))


def _is_of_another_office(question: str, text: str, asks: AnswerType) -> bool:
    """Whether a text is about an office beside the one asked for: the vice president instead of the president.

    It may name the holders of both. Nor is the president the vice president.
    """
    text_words = text.casefold().replace("-", " ").split()
    asked_offices = _BESIDE_OFFICE.findall(question)
    if any(
        office.casefold() in text.casefold() and beside.casefold() not in text_words for beside, office in asked_offices
    ):
        return True
    asked_words, other_text = question.casefold().split(), _BESIDE_OFFICE.sub(" ", text) if asks == "person" else ""
    offices = (office for beside, office in _BESIDE_OFFICE.findall(text) if beside.casefold() not in asked_words)
    named = (rf"\b{office}\b" for office in offices)
    return any(re.search(pattern, question, re.I) and not re.search(pattern, other_text, re.I) for pattern in named)


def _is_beside_the_thing(question: QuestionAnalysis, text: str) -> bool:
    """Whether a text has the thing or place asked about only as what another is near to or after: "above the beach".

    A date behind the thing is its own, "before the meeting on 3 May", and so is the verb of the question.
    """
    question_text, is_place = question.text[:MAX_ANALYSED_CHARACTERS], question.asks == "yes_or_no"
    # "The mill is opposite the inn" says so of the inn, too.
    asks_beside = is_place and re.search(rf"\b(?:{_BESIDE})\b", question_text, re.IGNORECASE) is not None
    matches = [*(_ASKED_PLACE.finditer(question_text) if is_place else ())]
    matches += [] if asks_beside else [_ASKED_OF_THING.match(question_text)]
    names = {word.casefold() for match in matches if match for word in WORD.findall(match["thing"]) if words(word)}
    verbs = frozenset(words(question_text)).difference(words(" ".join(names))) | verbs_of(question_text)
    before = (
        rf"\b(?:{_BESIDE}|{_WAYS if is_place else _IN_TIME})\s+(?:the|our|your)\s+(?:(?!{_HELPING})[\w'’-]+\s+){{0,2}}?"
    )
    for name in names:
        beside = rf"{before}{name}\b(?!\W+(?:(?:on|at|of|in)\s+)?(?:{_DATE_BEGINS}))(?=\W+(?P<next>[^\W\d_]+)|)"
        of_another, other_text = re.search(beside, text, re.IGNORECASE), re.sub(beside, " ", text, flags=re.IGNORECASE)
        if of_another is None or re.search(rf"\b{name}\b", other_text, re.IGNORECASE):
            continue
        if verbs.isdisjoint(words(of_another["next"] or "")):
            return True
    return False


def _leaves_open_which(noun: str, text: str, question: str) -> bool:
    """Whether a text says only "this key", "which key" or "a key" without more, while the question is which it is.

    "Keys must be returned" says it neither, for "Which keys must be returned?": it tells of all what must be done.
    """
    of_all = re.match(
        rf"\W*(?:The\s+|All\s+)?{noun}s?(?P<of>(?:\s+[\w'’/-]+)*?)\s+{_MUST_OR_DONE}", text, re.IGNORECASE
    )
    if of_all and set(words(of_all["of"])) <= set(words(question)) and not _SAYS_WHICH.search(text):
        return True
    if re.match(rf"\W*(?:This|These|Such|Which|What) {noun}s?\b(?!\s*[,(:–—])", text):
        return True
    if re.match(rf"\W*{_UNNAMED}\s+(?:of\s+the\s+)?{noun}s?\b", text) and not _NAMES_SOME.search(text):
        return True
    any_one = rf"\b(?:an?|any|some|another|each|every)\s+{noun}\b(?=\s+or\b|\W*$)"
    first = re.search(rf"\b{noun}s?\b", text, re.IGNORECASE)
    unnamed = re.search(any_one, text, re.IGNORECASE)
    return first is not None and unnamed is not None and unnamed.end() == first.end()


def _is_number_of_another(name: str, number: str, text: str) -> bool:
    """Whether a text has the name with another number, or both apart: "from 8 to 14 July, with a Debian Day"."""
    if numbers := re.findall(rf"\b{name}s?\s+(\d+(?:\.\d+)*)(?!\w)", text):
        return number not in numbers and re.search(rf"(?<![\w.]){re.escape(number)}(?!\w|\.\d)", text) is None
    digits = rf"(?<![\w.]){re.escape(number)}(?![\w]|\.\d)"
    if re.search(rf"\b{name}\b", text) is None or re.search(digits, text) is None:
        return False
    after = rf"\b{name}s?\W+(?:{_OTHER_NUMBERS}|(?:\w+\W+){{0,{MAX_BETWEEN}}}?){digits}"
    before = rf"{digits}\W+(?:of|von|de|du|del)\W+(?:\w+\W+)?{name}\b"
    called = rf"\b(?:version|release|edition|number|no\.?|issue|v\.?)\s*{digits}"
    return re.search(rf"{after}|{before}|(?i:{called})", text) is None
