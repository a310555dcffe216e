"""Evidence by how a question's words are written: quotations, codes, amounts, captions, and other spellings.

Pages have words without their order and marks, so what is looked for here is read again in the best quotes that have
its words.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations, islice, pairwise, product
from typing import TYPE_CHECKING

from quoteweave.core.text.mentions import leading_label, spellings_of
from quoteweave.core.text.question_analysis import QuestionAnalysis
from quoteweave.core.text.reference_words import alternation
from quoteweave.core.text.tokens import words
from quoteweave.core.text.units import amount_spellings
from quoteweave.index.lexical import LexicalIndex
from quoteweave.index.term_weights import inverse_frequency

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Scores = npt.NDArray[np.float32]
    Mask = npt.NDArray[np.bool_]
    Positions = npt.NDArray[np.int64]

Texts = Callable[["Positions"], list[str]]
"""All words of the quotes at some positions, as `Quote.all_text` gives them."""
Containing = Callable[[str, "Mask | None"], "Mask"]
"""Which of the pages given have a quote whose text contains a string, to the letter (m,)."""

# Units for a page on which one quote has all words of a quotation, a code or an amount; for one that has a quotation or
# code to the letter; and the share of a word's rarity for one that has it in another spelling.
TOGETHER = 0.5
VERBATIM = 0.25
SPELLING = 0.8
# Most quotations, codes and amounts of a question, and most quotes that are read for each.
MAX_SOUGHT, MAX_READ = 8, 100
# Most words whose other spellings are looked up, spellings of each, letters of such a word, and pairs of words.
MAX_MISSING, MAX_SPELLINGS, MAX_WORD_LETTERS, MAX_PAIRS = 8, 200, 30, 50
# Least letters of a word that OCR may have misread: "es" is a word of German, and not "e5".
MIN_MISREAD_LETTERS = 3
# Letters of the parts of a word that was broken at the end of a line, and of a word that two were joined to, at least.
MIN_PART, MIN_JOINED = 3, 5
# What OCR takes for one another.
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
_STOPS = " .,;:?!"
_DASHES = re.compile("[‐‑‒–—−]")
_QUOTATION_MARKS = re.compile("[‘’‚“”„«»`]")


class LiteralMatches:
    """Looks for what a question writes out in the quotes of one index."""

    def __init__(self, index: LexicalIndex, texts: Texts, containing: Containing) -> None:
        self._index, self._texts, self._containing = index, texts, containing

    def quotations(self, sought: Sequence[str], scores: "Scores", within: "Mask | None") -> "Scores":
        """(m,) what quotations and codes add to each page; `scores` (n,) say which quotes are read first."""
        import numpy as np

        gained = self._nothing()
        for text in sought[:MAX_SOUGHT]:
            phrase = tuple(words(text))
            together = self._index.quotes_with(phrase) if len(phrase) > 1 else self._no_quotes()
            gained += TOGETHER * self._unit * self._pages(together)
            if not phrase:
                found = self._containing(text, within).astype(np.float32)
                gained += VERBATIM * self._rarity(found, within)
            elif is_literal(text):
                candidates = self._best(self._index.quotes_with(phrase), scores, within)
                having = [has_literally(each, text) for each in self._texts(candidates)]
                gained += VERBATIM * self._unit * self._pages(candidates[having])
        return gained

    def amounts(self, sought: Sequence[str]) -> "Scores":
        """(m,) what numbers with their units add to each page, in whatever way they are written."""
        import numpy as np

        gained = self._nothing()
        for amount in sought[:MAX_SOUGHT]:
            # "40 %" is one word, and found as such.
            phrases = {tuple(words(spelling)) for spelling in amount_spellings(amount)} - {tuple(words(amount)[:1])}
            pages = [self._pages(self._index.quotes_with(phrase)) for phrase in phrases]
            gained += TOGETHER * self._unit * np.maximum.reduce([self._nothing(), *pages])
        return gained

    def captions(self, label: str, scores: "Scores", within: "Mask | None") -> "Positions":
        """The pages on which a quote begins with a label, such as 'Abbildung 3', that the index does not know."""
        import numpy as np

        candidates = self._with_any(spellings_of(label), scores, within)
        begins = [leading_label(each) == label for each in self._texts(candidates)]
        return np.unique(self._index.page_of[candidates[begins]])

    def mention(self, name: str, scores: "Scores", within: "Mask | None") -> bool:
        """Whether a quote on the pages searched has the name of a part, such as 'step 3'."""
        spellings = spellings_of(name)
        written = re.compile(rf"(?<!\w){alternation(spellings)}(?![\w])", re.IGNORECASE)
        texts = self._texts(self._with_any(spellings, scores, within))
        return any(written.search(" ".join(text.split())) for text in texts)

    def _with_any(self, spellings: Iterable[str], scores: "Scores", within: "Mask | None") -> "Positions":
        """The quotes to read that have all words of one of these."""
        import numpy as np

        found = [self._index.quotes_with(words(spelling)) for spelling in spellings]
        return self._best(np.unique(np.concatenate([self._no_quotes(), *found])), scores, within)

    def spellings(self, text: str, within: "Mask | None") -> "tuple[Scores, list[str]]":
        """(m,) what the question's words in other spellings add to each page, and which were found.

        What no page searched has as it is asked is looked up otherwise: a word as OCR may have read it (l for 1), and
        as two words with a hyphen at a line's end between them; two words that follow one another, as one.
        """
        gained, found = self._nothing(), list[str]()
        asked = words(text, stem=False)
        missing = [word for word in dict.fromkeys(asked) if not self._has(words(word), within)][:MAX_MISSING]
        for word in missing:
            for spelled in islice(self._misread(word), MAX_SPELLINGS):
                self._add(gained, found, word, (spelled,), within)
            for parts in _broken(word):
                self._add(gained, found, word, parts, within)
        for first, second in islice(pairwise(asked), MAX_PAIRS):
            # That two words stand together somewhere is looked up last, as it takes longest.
            if len(first) + len(second) >= MIN_JOINED and self._has(words(first + second), within):
                apart = words(f"{first} {second}")
                if len(apart) > 1 and not self._has(apart, within):
                    self._add(gained, found, f"{first} {second}", (first + second,), within)
        return gained, found

    def _misread(self, word: str) -> Iterator[str]:
        """The word with one or two of its letters and digits as OCR may have taken them; nothing of a short word."""
        if len(word) < MIN_MISREAD_LETTERS:
            return
        at = [i for i, letter in enumerate(word[:MAX_WORD_LETTERS]) if letter in CONFUSED]
        for size in (1, 2):
            for places in combinations(at, size):
                for others in product(*(CONFUSED[word[i]] for i in places)):
                    spelled = list(word)
                    for i, other in zip(places, others, strict=True):
                        spelled[i] = other
                    yield "".join(spelled)

    def _add(
        self, gained: "Scores", spellings: list[str], word: str, parts: Sequence[str], within: "Mask | None"
    ) -> None:
        """Add what pages gain that have `parts`, one after the other, for a word of the question."""
        import numpy as np

        stems = [stem for part in parts for stem in words(part)]
        if len(stems) < len(parts) or not self._has(stems, within):
            return
        found = self._index.quotes_with(stems)
        if len(parts) > 1:
            found = self._best(found, np.zeros(len(self._index.rows), dtype=np.float32), within)
            broken = re.compile(rf"\b{re.escape(parts[0])}(?:-\s*|\s+){re.escape(parts[1])}\b")
            found = found[[broken.search(each.casefold()) is not None for each in self._texts(found)]]
        if len(found):
            rarity = self._rarity(self._pages(found), within)
            np.maximum(gained, SPELLING * rarity, out=gained)
            spellings.append(f"{word} = {'-'.join(parts)}")

    def _has(self, stems: Sequence[str], within: "Mask | None") -> bool:
        """Whether a quote among the pages searched has all of these words."""
        if not all(map(self._index.rarity, stems)):
            return False
        found = self._index.quotes_with(stems)
        return bool(len(found)) and (within is None or bool(within[self._index.page_of[found]].any()))

    def _best(self, found: "Positions", scores: "Scores", within: "Mask | None") -> "Positions":
        """The quotes on the pages searched that are read: those with the best scores."""
        import numpy as np

        found = found if within is None else found[within[self._index.page_of[found]]]
        return found[np.lexsort((self._index.tie_order[found], -scores[found]))][:MAX_READ]

    def _rarity(self, pages: "Scores", within: "Mask | None") -> "Scores":
        """(m,) the idf of what these pages have, among those searched, on each of them."""
        import numpy as np

        searched = len(pages) if within is None else int(np.count_nonzero(within))
        having = int(np.count_nonzero(pages if within is None else pages * within))
        return pages * np.float32(inverse_frequency(searched, having) if having else 0)

    def _pages(self, quotes: "Positions") -> "Scores":
        pages = self._nothing()
        pages[self._index.page_of[quotes]] = 1
        return pages

    def _nothing(self) -> "Scores":
        import numpy as np

        return np.zeros(self._index.page_count, dtype=np.float32)

    def _no_quotes(self) -> "Positions":
        import numpy as np

        return np.empty(0, dtype=np.int64)

    @property
    def _unit(self) -> float:
        return self._index.max_idf


def sought_in(analyses: Iterable[QuestionAnalysis]) -> list[str]:
    """The quotations and codes of a question, each once."""
    return list(dict.fromkeys(text for analysis in analyses for text in (*analysis.quoted, *analysis.codes)))


def is_literal(sought: str) -> bool:
    """Whether a quotation or code is more than a single word, which is looked for as any other word."""
    return len(words(sought)) > 1 or not sought.rstrip(_STOPS).isalnum()


def has_literally(text: str, sought: str) -> bool:
    """Whether a text has a quotation or code to the letter, but for case, spaces, and kinds of dashes and marks."""
    if not any(character.isalnum() for character in sought):
        return sought in text
    # A full stop or comma before the closing mark may be the question's own.
    return plain(sought).rstrip(_STOPS) in plain(text)


def plain(text: str) -> str:
    """A text in lower case, with one kind of dash, of quotation mark, and of space."""
    return " ".join(_QUOTATION_MARKS.sub("'", _DASHES.sub("-", text.casefold())).split())


def _broken(word: str) -> Iterator[tuple[str, str]]:
    if word.isalpha():
        for at in range(MIN_PART, min(len(word), MAX_WORD_LETTERS) - MIN_PART + 1):
            yield word[:at], word[at:]
