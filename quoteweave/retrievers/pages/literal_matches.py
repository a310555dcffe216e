"""Evidence by how a question's words are written: quotations, codes, amounts, captions, and other spellings.

The index has the words of a page without their order and punctuation, so exact wording is looked for by reading the
best quotes that have its words.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import combinations, islice, pairwise, product
from typing import TYPE_CHECKING

from quoteweave.collection.arrays import np
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.place_names import PlaceName
from quoteweave.core.text.foreign_languages import foreign_language
from quoteweave.core.text.grammar import names_in
from quoteweave.core.text.question_analysis import QuestionAnalysis
from quoteweave.core.text.references.mentions import leading_label, spellings_of
from quoteweave.core.text.spelling_variants import spelling_variant
from quoteweave.core.text.synonyms import synonyms_for
from quoteweave.core.text.tokens import words
from quoteweave.core.text.units import amount_spellings, amounts_in
from quoteweave.core.text.word_patterns import alternation
from quoteweave.index.lexical import LexicalIndex
from quoteweave.index.term_weights import distinct, inverse_frequency
from quoteweave.retrievers.pages.terminology import Sources

if TYPE_CHECKING:
    from quoteweave.index.term_weights import Mask, Positions, Scores

LoadTexts = Callable[["Positions"], list[str]]
"""All words of the quotes at some positions, as `Quote.all_text` gives them."""
FindPages = Callable[[str, "Mask | None"], "Mask"]
"""(m,) which of the pages given have a quote whose text contains a string to the letter."""

# Units for a page on which one quote has all words of a quotation, a code or an amount; for one that has a quotation or
# code to the letter; and the share of a word's rarity for one that has it in another spelling.
TOGETHER = 0.5
VERBATIM = 0.25
SPELLING = 0.8
# The share of its rarity for a word that may mean the same as one of the question that no page searched has.
SYNONYM = 0.1
# Most quotations, codes and amounts of a question, and most quotes that are read for each.
MAX_SOUGHT, MAX_READ = 8, 100
# Most words whose other spellings are looked up, spellings of each, letters of such a word, and pairs of words.
MAX_MISSING, MAX_SPELLINGS, MAX_WORD_LETTERS, MAX_PAIRS = 8, 200, 30, 50
# Fewest letters of a word that OCR may have misread: "es" is a word of German, and not "e5".
MIN_MISREAD_LETTERS = 3
# Fewest letters of each part of a word that was broken at the end of a line, and of a word made of two joined words.
MIN_PART, MIN_JOINED = 3, 5
# Fewest letters and digits of a code that may have other marks and spaces, and most marks and spaces within it; fewest
# and most digits of a number that may be divided into groups, and of each group.
MIN_CODE, MAX_CODE_MARKS = 3, 5
MIN_NUMBER_DIGITS, MAX_NUMBER_DIGITS, MIN_GROUP, MAX_GROUP = 7, 15, 2, 5
# Characters that OCR takes for one another.
CONFUSED = {
    "1": "li",
    "l": "1i",
    "i": "1l",
    "0": "o",
    "o": "0",
    "5": "s",
    "s": "5",
    "8": "b",
    "b": "8",
    "2": "z",
    "z": "2",
}
# In units: what a page gains by the name of its document, if no page has that word; each of several gains less.
NAME = 0.5
_DIGITS_OR_LETTERS = lazy_regex(r"\d+|[^\W\d_]+")
_STOPS = " .,;:?!"
_DASHES = lazy_regex("[‐‑‒–—−]")
_QUOTATION_MARKS = lazy_regex("[‘’‚“”„«»`]")


class LiteralMatches:
    """Looks for a question's quotations, codes, amounts, other spellings and synonyms in the quotes of one index."""

    def __init__(self, index: LexicalIndex, texts: LoadTexts, containing: FindPages) -> None:
        self._index, self._texts, self._containing = index, texts, containing

    def quotations(self, sought: Sequence[str], scores: "Scores", within: "Mask | None") -> "tuple[Scores, Sources]":
        """(m,) what quotations and codes add to each page, and the pages of each.

        `scores` (n,) say which quotes are read first.
        """
        gained, sources = self._index.no_points(), Sources()
        for text in sought[:MAX_SOUGHT]:
            points = self._quotation(text, scores, within)
            gained += points
            sources[text] = np.flatnonzero(points)
        return gained, sources

    def _quotation(self, text: str, scores: "Scores", within: "Mask | None") -> "Scores":
        phrase = tuple(words(text))
        if not phrase:
            is_containing = self._containing(text, within).astype(np.float32)
            return VERBATIM * self._rarity(is_containing, within)
        quotes_with_all = self._index.quotes_with(phrase) if len(phrase) > 1 else self._no_quotes()
        points = TOGETHER * self._unit * self._pages(quotes_with_all)
        if is_literal(text):
            candidates = self._best(self._index.quotes_with(phrase), scores, within)
            is_verbatim = [has_literally(quote_text, text) for quote_text in self._texts(candidates)]
            points += VERBATIM * self._unit * self._pages(candidates[is_verbatim])
        return points

    def amounts(self, sought: Sequence[str]) -> "tuple[Scores, Sources]":
        """(m,) what numbers with units, however written, add to each page, and the quotes that have each."""
        gained, sources = self._index.no_points(), Sources()
        for amount in sought[:MAX_SOUGHT]:
            # A spelling that is a single word, such as "40 %", is found as any other word.
            phrases = {tuple(words(spelling)) for spelling in amount_spellings(amount)} - {tuple(words(amount)[:1])}
            quotes_of_spellings = [self._index.quotes_with(phrase) for phrase in phrases]
            sources[amount] = distinct(np.concatenate([self._no_quotes(), *quotes_of_spellings]))
            gained += TOGETHER * self._unit * self._pages(sources[amount])
        return gained, sources

    def captions(self, label: PlaceName, scores: "Scores", within: "Mask | None") -> "Positions":
        """The pages on which a quote begins with a label, such as 'Abbildung 3', that the index does not know."""
        candidates = self._with_any(spellings_of(label), scores, within)
        begins = [leading_label(quote_text) == label for quote_text in self._texts(candidates)]
        return distinct(self._index.page_of[candidates[begins]])

    def is_mentioned(self, name: PlaceName, scores: "Scores", within: "Mask | None") -> bool:
        """Whether a quote on the pages searched has the name of a part, such as 'step 3'."""
        spellings = spellings_of(name)
        pattern = re.compile(rf"(?<!\w){alternation(spellings)}(?![\w])", re.IGNORECASE)
        texts = self._texts(self._with_any(spellings, scores, within))
        return any(pattern.search(" ".join(text.split())) for text in texts)

    def _with_any(self, spellings: Iterable[str], scores: "Scores", within: "Mask | None") -> "Positions":
        """The quotes to read that have all words of one of these."""
        quotes_of_spellings = [self._index.quotes_with(words(spelling)) for spelling in spellings]
        return self._best(distinct(np.concatenate([self._no_quotes(), *quotes_of_spellings])), scores, within)

    def spellings(self, text: str, within: "Mask | None") -> "tuple[Scores, Sources]":
        """(m,) what the question's words in other spellings add to each page, and the quotes of each.

        Words that no page searched has as the question writes them are looked up in other ways: a word as OCR may have
        read it (l for 1), as two words with a hyphen at a line's end between them, and, in a language other than
        English, in its other forms; two successive words as one; a code or telephone number with marks or spaces in
        other places. The other one of a British and an American spelling is looked up on pages without the word.
        """
        gained, sources = self._index.no_points(), Sources()
        for word, parts in (*_variants(text), *self._other_spellings(text, within)):
            quotes = self._on_pages_without(words(word), self._quotes_with_spelling(parts, within))
            if len(quotes):
                # The rarity is that of both spellings together, as one that is seldom used is no better evidence.
                pages, pages_as_asked = self._pages(quotes), self._pages(self._index.quotes_with(words(word)))
                rarity = self._rarity(np.maximum(pages, pages_as_asked), within)
                np.maximum(gained, SPELLING * pages * rarity, out=gained)
                sources[f"{word} = {('-' if word.isalpha() else ' ').join(parts)}"] = quotes
        return gained, sources

    def synonyms(self, text: str, within: "Mask | None") -> "tuple[Scores, Sources]":
        """(m,) what synonyms of the question's words that no page searched has add, and the quotes with each."""
        gained, sources = self._index.no_points(), Sources()
        for word, synonyms in synonyms_for(text, partial(self._index.has_word, within=within)).items():
            best = self._index.no_points()
            for synonym in synonyms:
                sources[f"{word} = {synonym}"] = quotes = self._index.quotes_with(words(synonym))
                np.maximum(best, SYNONYM * self._rarity(self._pages(quotes), within), out=best)
            gained += best
        return gained, sources

    def names(self, text: str, within: "Mask | None") -> "tuple[Scores, Sources]":
        """(m,) what pages gain by words of a question that only the names of their documents have: "lease.md"."""
        gained, sources = self._index.no_points(), Sources()
        stems_of_words = {word: words(word) for word in words(text, stem=False)}
        missing_words = {
            word: stems for word, stems in stems_of_words.items() if not self._index.has_quote_with(stems, within)
        }
        for word, stems in missing_words.items():
            if documents := self._index.documents_named.get(" ".join(stems)):
                sources[word] = pages = np.flatnonzero(np.isin(self._index.document_of, documents))
                gained[pages] += NAME * self._unit / math.sqrt(len(documents))
        return gained, sources

    def _other_spellings(self, text: str, within: "Mask | None") -> Iterator[tuple[str, Sequence[str]]]:
        """Words that no page searched has as asked, each with the successive words that may stand for it."""
        question_words = words(text, stem=False)
        missing_words = [
            word for word in dict.fromkeys(question_words) if not self._index.has_quote_with(words(word), within)
        ][:MAX_MISSING]
        language = foreign_language(text)
        names = {word for name in names_in(text) if " " in name for word in words(name, stem=False)}
        for word in missing_words:
            forms = () if language is None or word in names else language.other_forms(word, text)
            for spelled in (*forms, *islice(_misread(word), MAX_SPELLINGS)):
                yield word, (spelled,)
            for parts in (*_broken(word), *islice(self._divided(word), MAX_SPELLINGS)):
                yield word, parts
        pairs = (
            pair for pair in pairwise(question_words) if len("".join(pair)) >= MIN_JOINED and "".join(pair).isalpha()
        )
        for word_sequence in (*islice(pairs, MAX_PAIRS), *islice(_code_sequences(text), MAX_PAIRS)):
            joined = "".join(word_sequence)
            # Whether the words stand together somewhere is looked up last, as it takes longest.
            if self._index.has_quote_with(words(joined), within):
                separate_words = words(" ".join(word_sequence))
                if len(separate_words) > 1 and not self._index.has_quote_with(separate_words, within):
                    yield " ".join(word_sequence), (joined,)

    def _divided(self, word: str) -> Iterator[Sequence[str]]:
        """The ways in which a code or a long number may be written in parts, whose words are in the index."""
        if word.isdecimal() and MIN_NUMBER_DIGITS <= len(word) <= MAX_NUMBER_DIGITS:
            yield from self._divided_number(word, ())
        elif _is_code(word):
            pieces = _DIGITS_OR_LETTERS.findall(word)
            for marks in range(1, 1 << min(len(pieces) - 1, MAX_CODE_MARKS)):
                yield _joined_except_at(pieces, marks)

    def _divided_number(self, digits_left: str, parts: Sequence[str]) -> Iterator[Sequence[str]]:
        if len(digits_left) <= MAX_GROUP and parts and self._index.idf(digits_left):
            yield (*parts, digits_left)
        for size in range(MIN_GROUP, min(MAX_GROUP, len(digits_left) - MIN_GROUP) + 1):
            if self._index.idf(digits_left[:size]):
                yield from self._divided_number(digits_left[size:], (*parts, digits_left[:size]))

    def _quotes_with_spelling(self, parts: Sequence[str], within: "Mask | None") -> "Positions":
        """The quotes that have these words one after the other, with a mark or space between."""
        stems = [stem for part in parts for stem in words(part)]
        # A part of a code may be a stop word, as the "A" of "GK 2290 A", but at least two parts must be searchable.
        if len(stems) < min(len(parts), 2) or not self._index.has_quote_with(stems, within):
            return self._no_quotes()
        if any(len(words(part, keep_stop_words=True)) != 1 for part in parts):
            return self._no_quotes()
        quotes = self._index.quotes_with(stems)
        if len(parts) > 1:
            quotes = self._best(quotes, np.zeros(len(self._index.rows), dtype=np.float32), within)
            is_broken = all(map(str.isalpha, parts))
            between = r"(?:-\s*|\s+)" if is_broken else r"[\W_]{1,3}"
            pattern = re.compile(rf"(?<!\w){between.join(map(re.escape, parts))}(?!\w)")
            quotes = quotes[[pattern.search(quote_text.casefold()) is not None for quote_text in self._texts(quotes)]]
        return quotes

    def _on_pages_without(self, stems: Sequence[str], quotes: "Positions") -> "Positions":
        """Those of the quotes on whose pages no quote has all of these words."""
        pages = self._index.page_of
        return quotes[~np.isin(pages[quotes], pages[self._index.quotes_with(stems)])] if len(quotes) else quotes

    def _best(self, quotes: "Positions", scores: "Scores", within: "Mask | None") -> "Positions":
        """The quotes on the pages searched that are read: those with the best scores."""
        quotes = quotes if within is None else quotes[within[self._index.page_of[quotes]]]
        return self._index.best_quotes(quotes, scores, MAX_READ)

    def _rarity(self, pages: "Scores", within: "Mask | None") -> "Scores":
        """(m,) on each of these pages, the idf of a word that only they have, among the pages searched; 0 elsewhere."""
        searched = len(pages) if within is None else int(np.count_nonzero(within))
        page_frequency = int(np.count_nonzero(pages if within is None else pages * within))
        return pages * np.float32(inverse_frequency(searched, page_frequency) if page_frequency else 0)

    def _pages(self, quotes: "Positions") -> "Scores":
        return self._index.pages_with(quotes).astype(np.float32)

    def _no_quotes(self) -> "Positions":
        return np.empty(0, dtype=np.int64)

    @property
    def _unit(self) -> float:
        return self._index.max_idf


def sought_in(analyses: Iterable[QuestionAnalysis]) -> list[str]:
    """The quotations and codes of a question, each once."""
    return list(dict.fromkeys(text for analysis in analyses for text in (*analysis.quoted, *analysis.codes)))


def by_word(sources: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The other words of sources such as "engine = motor", by the question's."""
    others_of_word: dict[str, tuple[str, ...]] = {}
    for question_word, _, alternative in (source.partition(" = ") for source in sources):
        others_of_word[question_word] = (*others_of_word.get(question_word, ()), alternative)
    return others_of_word


def is_literal(sought: str) -> bool:
    """Whether a quotation or code is more than a single word, which is looked for as any other word."""
    return len(words(sought)) > 1 or not sought.rstrip(_STOPS).isalnum()


def has_literally(text: str, sought: str) -> bool:
    """Whether a text has a quotation or code to the letter, except for case, spaces, and kinds of dashes and marks."""
    if not any(character.isalnum() for character in sought):
        return sought in text
    # A full stop or comma before the closing mark may be the question's own.
    return plain(sought).rstrip(_STOPS) in plain(text)


def plain(text: str) -> str:
    """A text in lower case, with one kind of dash, of quotation mark, and of space."""
    return " ".join(_QUOTATION_MARKS.sub("'", _DASHES.sub("-", text.casefold())).split())


def _variants(text: str) -> Iterator[tuple[str, Sequence[str]]]:
    """Words of a question, each with its British or American spelling."""
    for word in dict.fromkeys(words(text, stem=False)):
        variant = spelling_variant(word)
        if variant is not None:
            yield word, (variant,)


def _misread(word: str) -> Iterator[str]:
    """The word with one or two characters as OCR may have misread them; nothing for a short word."""
    if len(word) < MIN_MISREAD_LETTERS or not word.isalnum():
        return
    confusable = [i for i, letter in enumerate(word[:MAX_WORD_LETTERS]) if letter in CONFUSED]
    for size in (1, 2):
        for places in combinations(confusable, size):
            for confused in product(*(CONFUSED[word[i]] for i in places)):
                spelled = list(word)
                for i, misread in zip(places, confused, strict=True):
                    spelled[i] = misread
                yield "".join(spelled)


def _code_sequences(text: str) -> Iterator[Sequence[str]]:
    """Words that follow one another and may be one code or long number: ("gk", "2290", "a")."""
    question_words = words(text, stem=False, keep_stop_words=True) if any(map(str.isdecimal, text)) else []
    for at in range(len(question_words)):
        for size in range(2, MAX_CODE_MARKS + 2):
            sequence = question_words[at : at + size]
            joined = "".join(sequence)
            is_number = joined.isdecimal() and len(joined) >= MIN_NUMBER_DIGITS
            if len(sequence) == size and (is_number or _is_code(joined)):
                yield sequence


def _is_code(word: str) -> bool:
    """Whether a word has letters and digits and is no number with its unit."""
    is_mixed = word.isalnum() and not word.isalpha() and not word.isdecimal()
    return is_mixed and len(word) >= MIN_CODE and not amounts_in(word)


def _joined_except_at(pieces: Sequence[str], marks: int) -> Sequence[str]:
    """Join the pieces of a word except at the gaps whose bit is set in `marks`; the lowest bit is the first gap's."""
    parts = [pieces[0]]
    for i, piece in enumerate(pieces[1:]):
        parts += [piece] if marks >> i & 1 else []
        parts[-1] += "" if marks >> i & 1 else piece
    return tuple(parts)


def _broken(word: str) -> Iterator[tuple[str, str]]:
    if word.isalpha():
        for at in range(MIN_PART, min(len(word), MAX_WORD_LETTERS) - MIN_PART + 1):
            yield word[:at], word[at:]
