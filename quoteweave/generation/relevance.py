"""Measure how much of a question a text covers.

Each word of the question is weighted by its rarity among the sentences at hand: ln((n + 1) / (df + ½)) where df of n
sentences contain it, divided by its largest possible value (the inverse document frequency of Robertson and Spärck
Jones, without relevance information). A name or number that occurs in none of them weighs more still: an answer about
another harbour, or another year, is no answer. A text's *coverage* is the weight of the question's words that it
contains over the weight of all of them.
"""

import itertools
import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.records import Hit, Quote, Record
from quoteweave.core.text.foreign_languages import foreign_function_words
from quoteweave.core.text.grammar import split_into_questions, thing_named_before
from quoteweave.core.text.question_analysis import (
    WHAT_MEANS,
    AnswerType,
    QuestionAnalysis,
    analyse_question,
    field_of_term,
    interrogative_words,
    request_words,
    with_words_alike,
    words_alike,
)
from quoteweave.core.text.question_words import (
    Quantity,
    asked_quantity,
    denying_words,
    light_words,
    thing_kinds,
    verbs_of,
)
from quoteweave.core.text.tokens import has_digit, name_words, words
from quoteweave.core.text.units import dimensions_in
from quoteweave.core.text.whole_document.structure_questions import read_structure_request
from quoteweave.generation.sentence_kinds import says_what, words_of_limit
from quoteweave.generation.sentences import sentence_texts

MIN_WORD_WEIGHT = 0.6
"""Weight of a word that every sentence contains; one that none contains weighs 1."""

LIGHT_WEIGHT = 0.2
"""Weight of a word that says little beside the others."""
MIN_TERMS = 2
MISSING_NAME = 3.0
"""Weight of a name or number that no sentence contains."""

_ASKED_OF = lazy_regex(
    r"\b(?:according to|based on|from|in|of|by)\s+(?:the|this|these|those|your|my|our)\s+(?:\w+\s+)?"
    r"(?:documents?|reports?|papers?|texts?|articles?|slides?|presentations?|pdfs?|files?|guidebooks?)\b",
    re.IGNORECASE,
)
# "On one charge" is "on a charge".
_ONE = lazy_regex(r"\b(on|in|with|per|for|at|by|of)\s+(?:(?:a|one)\s+single|one)\s+(?=[a-z])")
# Financial statements for 2015 seldom contain "FY2015", and many of their tables no "fiscal".
YEAR_PATTERN = r"(?:19|20)\d\d"
_YEARS = rf"{YEAR_PATTERN}(?:(?:,\s*(?:and\s+)?|\s+(?:and|or|to|through)\s+|\s*[-–]\s*){YEAR_PATTERN})*+"
FISCAL_YEAR = lazy_regex(rf"\b(?:FY[ ']?|(?i:fiscal|financial) (?:years? )?)({_YEARS})\b")
CALENDAR_YEAR = lazy_regex(rf"\bcalendar (?:years? )?({_YEARS})\b", re.IGNORECASE)
# Chinese and Japanese have their question words at the end; answers do not repeat them.
_ASKED_AT_THE_END = lazy_regex(
    r"[はがを]?(?:何|いくつ|いくら|どこ|誰|いつ|なぜ)[^。]*$|(?:是什么|是什麼|多少|几|幾|哪|谁|誰|为什么|為什麼)[^。]*$"
)
# "How much may it cost?" and "May I park here?" ask about no month; "May exports of grain?" does.
_MAY_AS_VERB = lazy_regex(
    r"^May(?=\s+(?:I|we|you|he|she|it|they|the|an?|one|my|our|your|his|her|its|their|any|every|each"
    r"|all|some|no|dogs|cats|pets|children|visitors|guests|people|passengers|members|students)(?:\s+[^\W\d_]\S*))"
    r"|^(?P<how>How(?:\s+\w+){1,3}?)\s+may(?=\s+[^\W\d])|(?<!in )(?<!of )(?<!since )\bmay\b(?!\s+\d)"
)
_VALID = lazy_regex(r"(?P<what>.*?)\s+(?:is|are|was|were|remains?|stays?)\s+valid\b", re.IGNORECASE)
_BEHIND_HEAD = lazy_regex(r"\s(?:of|for|in|to|with|from|on|at)\s", re.IGNORECASE)
_CLAUSE_END = lazy_regex(r"[,;.](?=\s)")
COMPOUND = lazy_regex(
    r"(?<![^\W\d_])[^\W\d_]++(?:-[^\W\d_]++)++"
)  # from each beginning once: linear in a word's length

NUMBER_KINDS = frozenset({"percent", "count", "amount", "money"})
"""Kinds of questions that are answered by a number."""
_COST = frozenset(words("cost price"))
_CODE = lazy_regex(r"[a-z]+\d")
_PRICED = lazy_regex(
    r"(?P<label>[^:()]{2,80}?)\s*(?:\([^()]*\)\s*)?[:–]\s*"
    r"(?:[$€£]\s?\d[\d.,]*|\d[\d.,]*\s(?:euros?|dollars?|pounds?)\b)(?=\W*$|,\s|\s+(?:per|each|an?)\b)"
)
PERIODS = {
    **{"hourly": "hour", "daily": "day", "weekly": "week", "monthly": "month", "quarterly": "quarter"},
    **{"yearly": "year", "annual": "year"},
}
"""Words of a question that answers say elsewhere, and of what: "the hourly pay" is "15 euros an hour"."""
_NUMBER_AS_NAME = lazy_regex(r"\b(?!(?:the|which|what|total|average|maximum|large)\b)[a-z]{3,} number\b(?! of\b)")
_AFTER_HOW = lazy_regex(r"\bhow\s+(many|much|long)\b", re.IGNORECASE)
Pairs = frozenset[tuple[str, str]]
"""Pairs of words that are adjacent in a text."""


class QuestionTerms(Record):
    """A question analysed for matching: the words to look for, and how it was read."""

    terms: tuple[str, ...]
    """The content words of the question, each once, as `core.text.tokens` splits them."""
    pairs: Pairs
    """Pairs of words that are adjacent in it."""
    names: frozenset[str]
    """Terms written with a capital within the question, or with a digit."""
    analysis: QuestionAnalysis
    """What the question asks for beyond its words."""

    @property
    def text(self) -> str:
        """The question as analysed."""
        return self.analysis.text

    @property
    def is_question(self) -> bool:
        """Whether it asks something; a request such as "Answer in millions." says how to answer, or asks for a text."""
        return self.asks != "statement" or "?" in self.text

    @property
    def asks(self) -> AnswerType:
        """The type of answer that it asks for."""
        return self.analysis.asks

    @property
    def asked_by(self) -> str:
        """The words that ask, such as "how many"."""
        return self.analysis.asked_by

    @cached_property
    def subject(self) -> frozenset[str]:
        """Its `subject_terms`, as a set."""
        return frozenset(subject_terms(self))

    @property
    def quantity(self) -> Quantity | None:
        """The quantity that it asks for, such as a length."""
        return asked_quantity(self.asked_by, self.text)


@dataclass(frozen=True, slots=True)
class WeighedQuestion:
    """A question, or one of the parts of a compound question, with the weights of its words, which add up to 1."""

    terms: QuestionTerms
    weights: Mapping[str, float]


@lru_cache(maxsize=64)  # asked for by each step of an answer
def question_terms(question: str) -> QuestionTerms:
    """Analyse a question, leaving out words that only ask (`tell`, `according to the report`) or say how to answer."""
    analysis = analyse_question(question)
    text = _ONE.sub(r"\1 a ", analysis.text)
    text = FISCAL_YEAR.sub(r"\1", _ASKED_AT_THE_END.sub("", _ASKED_OF.sub(" ", text)))
    text = CALENDAR_YEAR.sub(r"calendar \1", text)
    asked_text = _MAY_AS_VERB.sub(lambda match: match["how"] or "", text)
    in_names = _words_of_long_names(analysis.names)
    telling_words = [word for word in words(asked_text, stem=False) if word not in request_words() or word in in_names]
    small, every = foreign_function_words(text), words(" ".join(telling_words), keep_stop_words=True)
    stems = [stem for stem in every if stem not in small] or every
    terms = tuple(dict.fromkeys(stems))
    capitals = {stem for name in analysis.names for stem in words(name)}
    return QuestionTerms(
        terms=terms,
        pairs=frozenset(itertools.pairwise(stems)),
        names=frozenset(term for term in terms if term in capitals or has_digit(term)),
        analysis=analysis,
    )


def _words_of_long_names(names: Sequence[str]) -> set[str]:
    """The words of names of several words, "Document Cloud"; none if small words have capitals, too, as in titles."""
    if any(not words(word) for name in names for word in name.split() if word != "I"):
        return set()
    return {word for name in names if " " in name for word in words(name, stem=False)}


def parts_of(question: str) -> list[QuestionTerms]:
    """Analyse each part of a question; one that names its thing by a pronoun has the first part's words for it, too."""
    first, *other_parts = map(question_terms, split_into_questions(question))
    return [first, *(_about_thing_of(first, part) for part in other_parts)]


def _about_thing_of(first: QuestionTerms, part: QuestionTerms) -> QuestionTerms:
    named = first.subject.intersection(words(thing_named_before(part.text, first.text))) - verbs_of(f"{first.text}?")
    terms = tuple(dict.fromkeys([*filter(named.__contains__, first.terms), *part.terms]))
    return QuestionTerms(terms=terms, pairs=part.pairs, names=part.names, analysis=part.analysis) if named else part


def subject_terms(question: QuestionTerms) -> list[str]:
    """The words that say what the question is about, without those that only ask, such as "how long" and "number".

    Words that say little ("get") are left out where at least `MIN_TERMS` others remain.
    In a question on what a document consists of ("How many charts are available?"), only words that name it count.
    """
    request = read_structure_request(question.text)
    if request is not None:
        return [term for term in question.terms if term in {*request.naming_words, *request.heading_words}]
    if question.analysis.asks_denied:
        little = interrogative_words() | denying_words()
        terms = [term for term in question.terms if term not in little]
        return [term for term in terms if term not in light_words(question.text)] or terms
    own_number = words("number") if question.asks != "contact" and _NUMBER_AS_NAME.search(question.text) else ()
    is_phrase = " " in question.asked_by and question.asks != "calculation"
    phrase = words(question.asked_by, keep_stop_words=True) if is_phrase else ()
    # "How do I delete photos?" is about photos, which are no kind of quotes to look for.
    only_ask = _AFTER_HOW.findall(question.text) if question.asks == "steps" else interrogative_words()
    asking = frozenset(only_ask).difference(own_number).union(phrase)
    terms = [term for term in question.terms if term not in asking]
    if question.analysis.asked_by == WHAT_MEANS and any(map(_CODE.match, terms)):  # "error E24" is E24
        terms = [term for term in terms if term not in thing_kinds()]
    # "Part" is a light word, but not in "part-time staff".
    never_light = question.names.union(words(" ".join(COMPOUND.findall(question.text))))
    light = light_words(question.text)
    heavy = [term for term in terms if term not in light or term in never_light]
    return heavy if len(heavy) >= MIN_TERMS else terms


def with_all_alike(stems: Iterable[str]) -> frozenset[str]:
    """Stems of words, and those of all words that mean the same ("used" with "employed")."""
    own_stems = frozenset(stems)
    return own_stems.union(*map(words_alike, own_stems))


def says_all(text_words: Iterable[str], asked_words: Collection[str]) -> bool:
    """Whether the words of a text are all those asked, or others that mean the same ("employed" for "used")."""
    return with_words_alike(frozenset(text_words), asked_words).issuperset(asked_words)


def with_quantity(text_words: frozenset[str], question: QuestionTerms, text: str) -> frozenset[str]:
    """Return words of a text, and the question's words for a quantity that a clause of the text measures.

    "A range of 60 km" says how far one can ride, and "Weight: 3 kg" what something weighs.
    """
    text_words = text_words.union(words_of_limit(text, question.text), _COST if _says_price(text, question) else ())
    quantity = question.quantity
    if quantity is None or quantity.named.isdisjoint(text_words) or not quantity.dimensions:
        return text_words
    clauses = (clause for clause in _CLAUSE_END.split(text) if not quantity.named.isdisjoint(words(clause)))
    clauses = (clause for clause in clauses if _is_valid_itself(clause, question))
    measured = any(quantity.dimensions & dimensions_in(clause) for clause in clauses)
    return text_words.union(quantity.acts, words(question.asked_by)) if measured else text_words


def with_other_words(text_words: frozenset[str], question: QuestionTerms, text: str) -> frozenset[str]:
    """Return words of a text, and those of the question that it says otherwise: by its quantity, or by words alike."""
    return with_words_alike(with_quantity(text_words, question, text), question.terms)


def _is_valid_itself(clause: str, question: QuestionTerms) -> bool:
    """Whether what a clause says is valid is what is asked about: the ticket itself, and not the ticket machine."""
    valid = _VALID.match(clause)
    return valid is None or not set(question.terms).isdisjoint(words(_BEHIND_HEAD.split(valid["what"])[0])[-1:])


def _says_price(text: str, question: QuestionTerms) -> bool:
    """Whether a text is a line of what a question asks the price of: "Family ticket (two adults): £14.50"."""
    line = _PRICED.match(text) if question.asks == "money" else None
    return line is not None and set(words(line["label"])) <= set(question.terms)


@lru_cache(maxsize=256)
def quote_words(quote: Quote) -> tuple[str, ...]:
    """The words of a quote, in order."""
    return tuple(words(quote.all_text()))


@lru_cache(maxsize=256)  # called for each sentence of the same quotes
def words_with_headings(quote: Quote) -> frozenset[str]:
    """All words of a quote, of its section's title and of its document's name."""
    return frozenset(quote_words(quote)).union(words(quote.section or ""), name_words(quote.document))


def weigh_terms(
    question: QuestionTerms, sentences: Iterable[Collection[str]], rarity: Mapping[str, float] | None = None
) -> dict[str, float]:
    """Weight each of the question's words by its rarity among `sentences`, given as their words. Weights add up to 1.

    `rarity` is the rarity of words in the whole collection, 0 to 1, where it is known; it replaces their rarity among
    the sentences.
    """
    word_sets = [frozenset(sentence) for sentence in sentences]
    weights, subject, light_terms = {}, question.subject, light_words(question.text)
    for term in question.terms:
        frequency = sum(term in sentence for sentence in word_sets)
        missing = frequency == 0 and term in question.names
        light = term in light_terms and term not in subject
        rare = max(MIN_WORD_WEIGHT, (rarity or {}).get(term, _rarity_among(len(word_sets), frequency)))
        weights[term] = MISSING_NAME if missing else LIGHT_WEIGHT if light else rare
    total = math.fsum(weights.values())
    return {term: weight / total for term, weight in weights.items()}


def weights_by_document(hits: Iterable[Hit], weights: Mapping[str, float]) -> dict[str, dict[str, float]]:
    """Return the weights of a question's words for the quotes of each document, by its name.

    Words for what a document is about distinguish it from others, but do not show which of its places answers: within a
    document a word's weight is multiplied by the mean of 1 and its rarity among the quotes found. The sum of the
    weights of all words that these have stays the same.
    """
    words_by_document: dict[str, list[frozenset[str]]] = {}
    for hit in hits:
        words_by_document.setdefault(hit.quote.document, []).append(frozenset(quote_words(hit.quote)))
    return {document: _weights_among(quotes, weights) for document, quotes in words_by_document.items()}


def _weights_among(quotes: Collection[frozenset[str]], weights: Mapping[str, float]) -> dict[str, float]:
    counts = {word: sum(word in words_of_quote for words_of_quote in quotes) for word in weights}
    rarer = {
        word: weights[word] * (1 + _rarity_among(len(quotes), count)) / 2 for word, count in counts.items() if count
    }
    scale = math.fsum(map(weights.__getitem__, rarer)) / (math.fsum(rarer.values()) or 1.0)
    return {word: rarer[word] * scale if word in rarer else weight for word, weight in weights.items()}


def _rarity_among(count: int, frequency: int) -> float:
    """The rarity of a word that `frequency` of `count` texts have: 1 if none has it."""
    return math.log((count + 1) / (frequency + 0.5)) / math.log((count + 1) / 0.5)


def coverage(weights: Mapping[str, float], text_words: Iterable[str]) -> float:
    """The share of the question's weight that falls on words of a text, 0 to 1; 0 for a question without words."""
    word_set = text_words if isinstance(text_words, Set) else set(text_words)
    # fsum, so that the sum is the same in whatever order the words come.
    return math.fsum(weight for word, weight in weights.items() if word in word_set)


def adjacency(question: QuestionTerms, sentence: Sequence[str]) -> float:
    """The share of the question's adjacent pairs of words that are adjacent in the sentence too, 0 to 1."""
    return len(question.pairs.intersection(itertools.pairwise(sentence))) / max(1, len(question.pairs))


def without_compounds(text: str, question: str) -> str:
    """A text without compounds that a question lacks; "realizou-se" is none, but a verb with its pronoun."""
    folded_question, small = question.casefold(), foreign_function_words(question)

    def keep_if_asked(match: re.Match[str]) -> str:
        return match[0] if match[0].casefold() in folded_question or not small.isdisjoint(words(match[0])) else " "

    return COMPOUND.sub(keep_if_asked, text)


def overlap(first_words: Iterable[str], second_words: Iterable[str]) -> float:
    """The Jaccard similarity of two sets of words, 0 to 1."""
    first, second = set(first_words), set(second_words)
    return len(first & second) / (len(first | second) or 1)


def definitions_first(question: str, hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits with those first that say what the thing is that the question asks for.

    In a manual, each section has the name of its subject, so that a search by words cannot find the one that defines
    it. These hits get the score of the first hit.
    """
    terms = question_terms(question)
    field = frozenset(words(field_of_term(question)))
    subject = [word for word in subject_terms(terms) if word not in field]
    says = partial(says_what, subject=subject, by_kind=True, is_name=terms.names.issuperset(subject))
    saying = [hit for hit in hits if subject and any(map(says, sentence_texts(hit.quote.text)))]
    best, saying_ids = max((hit.score for hit in hits), default=0.0), {id(hit) for hit in saying}
    first = [hit.model_copy(update={"score": best}) for hit in saying]
    ordered = [*first, *(hit for hit in hits if id(hit) not in saying_ids)]
    return [hit.model_copy(update={"rank": rank}) for rank, hit in enumerate(ordered, start=1)]
