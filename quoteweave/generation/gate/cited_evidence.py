"""Look up facts in the quotes that a sentence cites, taken together."""

import re
from collections.abc import Iterable, Set
from decimal import Decimal
from functools import cached_property, lru_cache
from itertools import zip_longest
from pathlib import PurePosixPath

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.records import Quote
from quoteweave.core.text.tokens import words
from quoteweave.core.text.units import Unit, currencies_in, prices_in
from quoteweave.generation.gate.amounts import Amount, ordinal_words, stated_scales
from quoteweave.generation.gate.dates import Date
from quoteweave.generation.gate.facts import code_key, code_letters, normalize_notation, read_evidence, squeezed
from quoteweave.generation.sentences import split_sentences

_NUMBERING = lazy_regex(r"^\s*(?:\d+(?:\.\d+)*|[A-Z])[.)]?\s+")
_NUMBER = lazy_regex(r"\d++(?:[.,:' ]\d++)*+")


class CitedEvidence:
    """The cited quotes taken together, with titles of sections and names of documents, but no page numbers.

    `beside` are the other quotes of the context from the same documents; they are searched for years only.
    """

    def __init__(self, quotes: Iterable[Quote], beside: Iterable[Quote] = ()) -> None:
        self.quotes = tuple(quotes)
        self._beside = tuple(beside)
        self.texts = [text for quote in self.quotes for text in _texts(quote)]
        facts = [read_evidence(text) for text in self.texts]
        self._runs = [list(fact.amounts) for fact in facts if fact.amounts]
        self.amounts: list[Amount] = [amount for run in self._runs for amount in run]
        self.dates: list[Date] = [date for fact in facts for date in fact.dates]
        self.clocks = {minutes for fact in facts for _, minutes in fact.clocks}
        self._codes = {code_key(code) for fact in facts for code in fact.codes}

    @property
    def has_wordless_image(self) -> bool:
        """Whether one of the quotes is an image without any text."""
        return any(
            quote.kind == "image" and not (quote.text or quote.ocr_text or quote.vlm_text) for quote in self.quotes
        )

    @cached_property
    def words(self) -> frozenset[str]:
        """All words of the quotes, stemmed."""
        return frozenset().union(*map(words_in, self.texts))

    def closest_sentences(self, content_words: Set[str]) -> list[str]:
        """The sentences of the quotes that have the most of these words; empty if none has any."""
        shared = [len(content_words & words_in(part)) for part in self.sentences]
        most = max(shared, default=0)
        return [part for part, count in zip(self.sentences, shared, strict=True) if count == most > 0]

    @cached_property
    def sentences(self) -> list[str]:
        """The sentences of the quotes, in their order."""
        return [part.text for text in self.texts for part in split_sentences(text)]

    def has_sentence(self, text: str) -> bool:
        """Whether a text has the words of a whole sentence of the quotes, in their order, whatever the punctuation."""
        return any(_words_in_order(text) == _words_in_order(sentence) for sentence in self.sentences)

    @cached_property
    def scales(self) -> frozenset[Decimal]:
        """The scales that tables state for their numbers: 1000 for `in thousand tonnes`."""
        return frozenset(scale for text in self.texts for scale in stated_scales(normalize_notation(text)))

    @cached_property
    def currencies(self) -> frozenset[Unit]:
        """The currencies that units name which are stated for many numbers."""
        return currencies_in(" ".join(filter(None, (quote.caption_and_unit for quote in self.quotes))))

    @cached_property
    def _scales_of_money(self) -> frozenset[Decimal]:
        """The scales that are stated of all amounts of money of a chapter."""
        stated = filter(None, (quote.chapter_unit for quote in self.quotes))
        return frozenset(scale for text in stated for scale in stated_scales(text))

    @cached_property
    def _prices(self) -> frozenset[str]:
        """The numbers of prices, which are in no unit of a chapter."""
        return frozenset(number for text in self.texts for number in prices_in(text))

    @cached_property
    def runs(self) -> list[list[Amount]]:
        """Sequences of numbers in reading order, and in tables also column by column."""
        columns = [column for text in self.texts if " | " in text for column in _columns(text)]
        return [*self._runs, *(list(read_evidence(column).amounts) for column in columns)]

    def has_amount(self, amount: Amount) -> bool:
        """Whether the number occurs, with an equivalent unit or with none."""
        if amount.year and amount.value in self._years:
            return True
        if amount.ordinal and amount.value in self._ordinals:
            return True
        return any(self.same(amount, other) for other in self.amounts)

    def has_uncited_year(self, amount: Amount) -> bool:
        """Whether the number is a year that other quotes of the same documents have, as in a title."""
        if not amount.year:
            return False
        ending = f"{int(amount.value) % 100:02d}"  # `2017/18` writes 2018 with its last two digits
        return any(evidence.has_amount(amount) for evidence in self._uncited if evidence.mentions(ending))

    @cached_property
    def _uncited(self) -> "list[_UncitedQuote]":
        return [_UncitedQuote(quote) for quote in self._beside]

    def has_value(self, amount: Amount) -> bool:
        """Whether the number occurs in any unit."""
        return any(amount.value == other.value for other in self.amounts)

    def has_digits(self, amount: Amount) -> bool:
        """Whether a number with the same digits occurs, whatever its separators and the scale or month after it."""
        return _digits(amount.text) in self._digits

    def has_other_count(self, amount: Amount) -> bool:
        """Whether the quotes count the same noun with another number; this number itself must not occur in them."""
        return any(noun in other.nouns for noun in amount.nouns[:1] for other in self.amounts)

    def has_date(self, date: Date) -> bool:
        """Whether the date occurs; its year may occur apart from a date without a year."""
        confirming = [other for other in self.dates if date.confirmed_by(other)]
        if date.year is None or any(other.year is not None for other in confirming):
            return bool(confirming)
        return bool(confirming) and date.year in self._years

    def has_code(self, code: str) -> bool:
        """Whether the code occurs, ignoring dashes and case."""
        return code_key(code) in self._codes or (
            re.fullmatch(r"[Qq][1-4]", code) is not None and int(code[1]) in self._ordinals and "quarter" in self.words
        )

    def has_similar_code(self, code: str) -> bool:
        """Whether a code of the same letters occurs with other digits."""
        letters = code_letters(code)
        return bool(letters) and any(code_letters(cited_code) == letters for cited_code in self._codes)

    def has_words(self, quoted: str) -> bool:
        """Whether these words occur in this order, ignoring hyphens at line ends and letters that OCR confuses."""
        wanted = " ".join(words(quoted, stem=False, keep_stop_words=True))
        if any(f" {wanted} " in f" {' '.join(words(text, stem=False, keep_stop_words=True))} " for text in self.texts):
            return True
        # A match of this length is no coincidence, even if it begins or ends within a word.
        tight = squeezed(quoted)
        return len(tight) >= 12 and any(tight in squeezed(text) for text in self.texts)

    @cached_property
    def _digits(self) -> frozenset[str]:
        return frozenset(_digits(number) for text in self.texts for number in _NUMBER.findall(normalize_notation(text)))

    @cached_property
    def _years(self) -> frozenset[int]:
        years = {date.year for date in self.dates if date.year is not None}
        return frozenset(years | {int(amount.value) for amount in self.amounts if amount.year})

    @cached_property
    def _ordinals(self) -> frozenset[int]:
        days = {date.day for date in self.dates if date.day is not None}
        return frozenset(days.union(*(ordinal_words(text) for text in self.texts)))

    def same(self, amount: Amount, other: Amount) -> bool:
        """Whether a number equals one of the quotes, or a part of it, also in a scale that a table states."""
        if amount.same(other) or amount.value in other.parts:
            return True
        scaled = not other.year and (other.unit is None or other.unit.dimension != "percent")
        return scaled and any(amount.same(other, scale) for scale in self.scales_for(amount, other))

    def scales_for(self, amount: Amount, other: Amount) -> frozenset[Decimal]:
        """The scales that are stated for a number of the quotes that may be an amount.

        Those of a chapter hold for money in the currency that is stated with them, if any, and not for prices.
        """
        is_stated = amount.is_money and (not self.currencies or amount.unit in self.currencies)
        is_price = is_stated and not self._prices.isdisjoint(_NUMBER.findall(other.text))
        return self.scales | self._scales_of_money if is_stated and not is_price else self.scales


class _UncitedQuote:
    """One of the other quotes, parsed only when needed."""

    def __init__(self, quote: Quote) -> None:
        self._quote = quote
        self._texts = _texts(quote)

    def mentions(self, digits: str) -> bool:
        """Whether these digits occur in it, so that parsing it is worthwhile."""
        return any(digits in text for text in self._texts)

    def has_amount(self, amount: Amount) -> bool:
        """Like `CitedEvidence.has_amount`, for this quote."""
        return self._read.has_amount(amount)

    @cached_property
    def _read(self) -> CitedEvidence:
        return CitedEvidence([self._quote])


def _texts(quote: Quote) -> list[str]:
    name = re.sub(r"[_-]+", " ", PurePosixPath(quote.document).stem)
    parts = [quote.all_text(), quote.ocr_text if quote.text else None, _NUMBERING.sub("", quote.section or ""), name]
    return [part for part in parts if part]


def _digits(text: str) -> str:
    return "".join(filter(str.isdigit, text))


@lru_cache(maxsize=4096)
def words_in(text: str) -> frozenset[str]:
    """The words of a text, stemmed, without stop words."""
    return frozenset(words(text))


@lru_cache(maxsize=1024)
def _words_in_order(text: str) -> tuple[str, ...]:
    return tuple(words(text, stem=False, keep_stop_words=True))


def _columns(text: str) -> list[str]:
    """The columns of a table whose lines are rows with ` | ` between cells."""
    rows = [line.split(" | ") for line in text.splitlines() if " | " in line]
    return ["\n".join(cells) for cells in zip_longest(*rows, fillvalue="")]
