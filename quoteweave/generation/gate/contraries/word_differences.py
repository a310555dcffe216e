"""Find words of a sentence that its evidence lacks, or in whose place it has others.

A sentence may have all numbers and names of its evidence and say something else about them: "lost 1,058 calls" for
"received 1,058 calls", "after meals" for "before meals". Words alone do not show which of such sentences are true, so
these findings only mean that the sentence as it is was not found.
"""

import itertools
import re
from collections.abc import Iterator, Sequence, Set
from difflib import SequenceMatcher

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.tokens import ARTICLES, STOP_WORDS, has_digit, stem_of, words
from quoteweave.core.text.units import MAX_SYMBOL, SCALES, find_unit
from quoteweave.generation.gate.amounts import NUMBER_WORDS, ORDINALS, Amount
from quoteweave.generation.gate.contraries.lengths import are_comparable
from quoteweave.generation.gate.contraries.opposite_words import OPPOSITE_PREPOSITIONS, is_said_alike
from quoteweave.generation.gate.contraries.qualified_numbers import without_bounds
from quoteweave.generation.gate.dates import MONTHS
from quoteweave.generation.gate.facts import Difference, Facts, normalize_notation, read_sentence

MAX_REPLACED = 3
"""Most words that stand in place of others."""

_WORD = lazy_regex(r"[^\W_]+(?:[.,:]\d+)*")
_OF_AMOUNT = lazy_regex(
    r"\b(?:amount(?:s|ed|ing)? to|total(?:s|l?ed|l?ing)?|reach(?:es|ed|ing)|st(?:ands?|ood) at|c(?:omes?|ame) to"
    r"|number(?:s|ed|ing)?)"
    r"(?= (?:(?:about|around|approximately|roughly|nearly|almost|a total of|only|just) )?"
    r"(?:(?:EUR|USD|GBP|CHF|JPY) )?[-$€£¥]?\d)",
    re.I,
)
# Words about the source, or about how exact a number is, which the evidence need not have.
_SOURCE_WORDS = frozenset(
    words(
        "according source sources document documents report reports reported text quote quotes passage page figure"
        " table chart section article paper author authors state states stated say says said mention mentions mentioned"
        " note notes noted show shows shown describe describes described indicate indicates indicated specify specifies"
        " specified explain explains see context information data approximately roughly around total overall altogether"
        " also additionally furthermore moreover however therefore thus specifically namely respectively compared"
        " comparison relative value values amount number count figure currently equal equals"
    )
)
_NUMBERS = lazy_regex(
    rf"(?:{NUMBER_WORDS}|hundred|percent(?:age)?|per|cent|points?|{'|'.join(SCALES)})s?|[ap]m"
    rf"|(?:half|halves|quarters|{'|'.join(f'{word}s' for word in ORDINALS)})",
    re.I,
)
_SUPERLATIVE = lazy_regex(r"\b(?:the|\w+['’]s|its|their) (most|least) (?!of\b)[^\W\d_]", re.I)
_SAYS_SUPERLATIVE = lazy_regex(r"\b(?:most|least|max\w*|min\w*|top|best|worst|\w{3,}est)\b", re.I)
_MONTHS = frozenset(name[:end].casefold() for name in MONTHS for end in (3, 4, None))
_MONTH_STEMS = frozenset(words(" ".join(_MONTHS)))
# Words of denial are compared clause by clause elsewhere.
_NEGATIONS = frozenset(words("cannot nobody nothing nowhere none never neither nor", keep_stop_words=True))
_UNNOTICED = ARTICLES | {"percent"}
# These are opposites in a change: "from 3 to 9" is not "from 9 to 3". They are compared by the word behind them alone.
_OF_CHANGES = ("by", "to", "from")
_OPPOSITES = frozenset(
    frozenset(pair) for group in (*OPPOSITE_PREPOSITIONS, _OF_CHANGES) for pair in itertools.combinations(group, 2)
)
_HYPHENATED = lazy_regex(r"(?<=[^\W\d_])[-\u00ad]\s+(?=[a-zß-ÿ])")


def find_lacked_word(statement: str, cited_words: Set[str], texts: Sequence[str]) -> str | None:
    """Return a word of a statement if neither it nor a synonym is among the `cited_words`.

    Numbers, units and dates are looked up elsewhere; words that only refer to the source, as "states", count as held.
    """
    superlative = _SUPERLATIVE.search(statement)
    if superlative and not any(_SAYS_SUPERLATIVE.search(text) for text in texts):
        return superlative[1]
    more: frozenset[str] | None = None
    for before, word, behind in _with_neighbours(_OF_AMOUNT.sub(" ", without_bounds(normalize_notation(statement)))):
        tells = _tells(word) or (_is_period(word) and not any(map(_is_number, (before, behind))))
        if not tells or all(stem in cited_words or is_said_alike(stem, cited_words) for stem in words(word)):
            continue
        more = _words_rejoined(texts) if more is None else more
        if not more.issuperset(words(word)) and _NEGATIONS.isdisjoint(words(word)):
            return word
    return None


def _with_neighbours(text: str) -> Iterator[tuple[str, str, str]]:
    """The words of a text, each between the word before and the one behind it; "" stands for none."""
    written = _WORD.findall(text)
    return zip(["", *written], written, [*written[1:], ""], strict=False)


def _is_period(word: str) -> bool:
    """Whether a word is a unit of time, which may also stand apart from numbers: "5 % a month"."""
    unit = find_unit(word)
    return unit is not None and unit.dimension in ("time", "months") and len(word) > MAX_SYMBOL


def _is_number(word: str) -> bool:
    return word[:1].isdigit() or _NUMBERS.fullmatch(word) is not None


def _words_rejoined(texts: Sequence[str]) -> frozenset[str]:
    """The words of texts, with stop words, and with words joined that were hyphenated at the end of a line."""
    joined = [_HYPHENATED.sub("", text) for text in texts]
    return frozenset(word for text in joined for word in words(text, keep_stop_words=True))


def find_replaced_word(statement: str, sentences: Sequence[str], shown: Set[str]) -> Difference | None:
    """Return a word of a statement if all of these sentences have another one between the same words.

    Words that are `shown` to be true by numbers are not returned.
    """
    if not sentences or not all(are_comparable(statement, sentence) for sentence in sentences):
        return None
    parsed = _Words(statement)
    replaced = [next(_replaced(parsed, _Words(sentence), shown), None) for sentence in sentences]
    return replaced[0] if all(replaced) else None


class _Words:
    """A sentence as words, each as written and as `words` stems it, without articles."""

    def __init__(self, text: str) -> None:
        text_words = _WORD.findall(normalize_notation(_HYPHENATED.sub("", text)))
        self.written = [word for word in text_words if word.casefold() not in _UNNOTICED]
        self.stems = [stem_of(word) for word in self.written]


def _replaced(statement: _Words, sentence: _Words, shown: Set[str]) -> Iterator[Difference]:
    codes = SequenceMatcher(None, statement.stems, sentence.stems, autojunk=False).get_opcodes()
    for at, (kind, start, end, first, last) in enumerate(codes):
        if kind != "replace" or max(end - start, last - first) > MAX_REPLACED or len(codes) == 1:
            continue
        neighbours = [codes[place] for place in (at - 1, at + 1) if 0 <= place < len(codes)]
        replaced = [
            word
            for word in range(start, end)
            if _tells(statement.written[word]) and statement.stems[word] not in {*sentence.stems, *shown}
        ]
        replacing = [
            word
            for word in range(first, last)
            if _tells(sentence.written[word]) and sentence.stems[word] not in statement.stems
        ]
        alike = any(
            is_said_alike(statement.stems[word], {sentence.stems[position] for position in replacing})
            for word in replaced
        )
        if replaced and replacing and not alike and all(neighbour[0] == "equal" for neighbour in neighbours):
            yield Difference(statement.written[replaced[0]], sentence.written[replacing[0]])


def _tells(word: str) -> bool:
    """Whether a word has a meaning of its own that is not looked up elsewhere, as those of numbers and units are."""
    folded = word.casefold()
    return not (
        folded in STOP_WORDS
        or has_digit(word)
        or find_unit(word) is not None
        or _NUMBERS.fullmatch(folded)
        or folded.removesuffix(".") in _MONTHS
        or not _SOURCE_WORDS.isdisjoint(words(word))
    )


def find_other_preposition(statement: str, sentences: Sequence[str]) -> Difference | None:
    """Return a preposition with its word, "before meals", if the sentences have only its opposite before that word."""
    stated = list(_prepositions(_Words(statement)))
    cited = [pair for text in sentences for pair in _prepositions(_Words(text))] if stated else []
    for preposition, word in stated:
        cited_prepositions = [cited_preposition for cited_preposition, cited_word in cited if cited_word == word]
        opposites = [
            cited_preposition
            for cited_preposition in cited_prepositions
            if frozenset({cited_preposition, preposition}) in _OPPOSITES
        ]
        if opposites and preposition not in cited_prepositions:
            return Difference(f"{preposition} {word}", f"{opposites[0]} {word}")
    return None


def _prepositions(sentence: _Words) -> Iterator[tuple[str, str]]:
    """The prepositions of a sentence that have an opposite, each with the word behind it."""
    known = frozenset().union(*_OPPOSITES)
    for at, word in enumerate(sentence.written):
        if word.casefold() in known:
            behind = next(
                (
                    next_word
                    for next_word in sentence.written[at + 1 : at + 4]
                    if next_word.casefold() not in STOP_WORDS
                ),
                None,
            )
            if behind is not None:
                yield word.casefold(), behind.casefold()


def find_other_fact(content_words: Set[str], facts: Facts, closest: Sequence[str]) -> str | None:
    """Return the number or date that the closest sentences, with all content words, have in place of a statement's own.

    None if one of them has the statement's own. Text that does not end as a sentence is not compared: it may be part of
    a table or chart, whose numbers stand elsewhere.
    """
    if not closest or not all(sentence.endswith(".") for sentence in closest):
        return None
    words_besides_months = content_words - _MONTH_STEMS
    if not all(words_besides_months <= set(words(sentence)) for sentence in closest):
        return None
    facts_of_sentences = [read_sentence(sentence) for sentence in closest]
    if amounts := [amount for amount in facts.amounts if not amount.year]:
        cited_amounts = [[amount for amount in cited.amounts if not amount.year] for cited in facts_of_sentences]
        pairs = itertools.product(amounts, itertools.chain(*cited_amounts))
        if all(cited_amounts) and not any(_may_be_same(amount, other) for amount, other in pairs):
            return cited_amounts[0][0].text
    dates_of_sentences = [cited.dates for cited in facts_of_sentences]
    if not (facts.dates and all(dates_of_sentences)):
        return None
    same = any(date.confirmed_by(other) for dates in dates_of_sentences for other in dates for date in facts.dates)
    return None if same else dates_of_sentences[0][0].text.rstrip(".")


def _may_be_same(amount: Amount, other: Amount) -> bool:
    """Whether two amounts are equal, or have the same digits, as the scale of one may be stated elsewhere."""
    return amount.same(other) or _digits(amount) == _digits(other)


def _digits(amount: Amount) -> str:
    return "".join(filter(str.isdigit, amount.text)) or amount.text
