"""The evidence for each page of a collection, given a question: words, references, kinds of pictures, and position.

All scores are in the unit of BM25: `index.unit` is the score of a word that occurs on one page only. The parts add up
to `PageEvidence.total`, and `search --explain` reports each of them by its name.

| part | score of a page |
|---|---|
| words | BM25 of all its words; a word's idf is the mean of those among the pages searched and among all |
| best quote | BM25 of the quote that matches best, times `BEST_QUOTE` |
| outline | BM25 of the headings that stand above it in the outline, times `OUTLINE` |
| reference | `REFERENCE` units for each name that refers to it: "Figure 3", "page 12"; less for a section |
| quotation | `QUOTATION` units where one quote contains all words of a quotation in the question |
| kind | `KIND` units for each kind of picture that the question asks about, and the page shows |
| front page | `FRONT` units for the first page, where the question asks for a title, an author, a publisher… |
| terms | up to `TERMS` × `MOST_OF_TERM` units where a term's components occur; less in documents that match less |
| acronyms | `ACRONYMS` × rarity, where an acronym of the question is written out, or vice versa: `_acronym_scores` |
| document | BM25 of its document, times `DOCUMENT`; where several are searched |
| second look | similarity to the best pages of the same document, and being next to the best: `_second_look` |

The constants were chosen by hand, each by its gain on the questions of MMDocIR and MMLongBench-Doc; the benchmark
`tuning_lexical.py` leaves out one document at a time, and shows what each part gives.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from quoteweave.collection.segments.builder import acronym_prefix, kind_token, meaning_prefix
from quoteweave.core.text.question_analysis import QuestionAnalysis, VisualKind, analyse_lines
from quoteweave.core.text.tokens import words
from quoteweave.index.lexical import LexicalIndex
from quoteweave.retrievers.recent_cache import RecentCache
from quoteweave.retrievers.terms import Phrase, TermExpansion, Terms
from quoteweave.retrievers.terms.term_places import TermPlaces

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Scores = npt.NDArray[np.float32]
    Mask = npt.NDArray[np.bool_]
    Positions = npt.NDArray[np.int64]

PAGE_B = 0.5
"""BM25's b for pages, whose lengths differ for other reasons than those of quotes."""
BEST_QUOTE = 0.5
OUTLINE = 0.4
REFERENCE = 1.0
QUOTATION = 0.5
KIND = 0.2
FRONT = 0.7
TERMS = 3.0
PARTS_OF_TERM = 0.5
MOST_OF_TERM = 1.5
ACRONYMS = 0.4
DOCUMENT = 1.0
SIMILARITY = 0.3
NEXT, PREVIOUS = 0.3, 0.15
SIDE = 0.3
# Questions whose evidence is cached; each takes a few numbers per page.
CACHED_QUESTIONS = 4
# The second look: the best pages that it starts from, words of each that it uses, and words that it considers.
SEEDS, SEED_WORDS, SEED_CANDIDATES = 2, 20, 40
# Most quotes that are searched for a term as an exact phrase, and of a page that are read to find its rare words.
MAX_PHRASE_CHECKS, MOST_QUOTES = 100, 200
# Most words of an acronym's expansion, word sequences of the question to look up, and expansions of each.
MAX_EXPANSION_WORDS, MAX_PHRASES, MAX_EXPANSIONS = 6, 200, 3
# Most definitions of one acronym that are considered, and most references to pages in one question.
MAX_DEFINITIONS, MOST_NAMES = 50, 100
# Most sides of a comparison, and most quotations, that are searched for.
MOST_SIDES, MOST_QUOTED = 4, 8
# Where fewer pages are found, other pages of their documents follow, nearest first.
LEAST_PAGES = 10
# For each kind of picture that a question asks for, the layouts that satisfy it, and how well.
_LAYOUTS_FOR = {
    "chart": (("chart", 1.0), ("figure", 0.5)),
    "table": (("table", 1.0),),
    "figure": (("figure", 1.0), ("chart", 1.0), ("page", 0.5)),
}


QuoteWords = Callable[["Positions"], list[list[str]]]


@dataclass
class PageEvidence:
    """The evidence for each page (m,), by part, and the score of each quote (n,) by itself."""

    parts: "dict[str, Scores]"
    quotes: "Scores"
    """BM25 of each quote."""
    best_quote: "Scores"
    """(m,) BM25 of the best quote of each page."""
    readings: "Counter[QuestionAnalysis]"
    """How each line of the question was read, and how often it counts."""
    expansions: list[TermExpansion] = field(default_factory=list)
    """Terms of the question whose components or places were found."""
    acronyms: list[str] = field(default_factory=list)
    """Acronyms that documents define and that matched further pages, as 'roa = return on assets'."""

    @property
    def total(self) -> "Scores":
        """(m,) all parts together."""
        return sum(self.parts.values())  # type: ignore[return-value]


class EvidenceReader:
    """Computes the evidence for the pages of one index.

    `quote_words` returns the words of the quotes at some positions; `terms` are domain terms that questions may
    contain.
    """

    def __init__(self, index: LexicalIndex, quote_words: "QuoteWords", terms: Sequence[Terms] = ()) -> None:
        self.index = index
        self._quote_words = quote_words
        self._terms = terms
        self._places = TermPlaces(index)
        # Different questions often have the same best pages.
        self._rare = lru_cache(maxsize=1024)(self._rare_words)
        self._alike = lru_cache(maxsize=1024)(self._similar_pages)
        # A context is built by searching for text and for image quotes with the same question.
        self.kept: RecentCache[PageEvidence] = RecentCache(CACHED_QUESTIONS)
        """Evidence computed before, by a key of everything that distinguishes searches."""

    def read(self, question: str, within: "Mask | None") -> PageEvidence:
        """Compute the evidence for the pages `within`, or for all; it is 0 where nothing of the question is found."""
        import numpy as np

        index = self.index
        readings = analyse_lines(question)
        tokens = [token for reading, times in readings.items() for token in words(reading.text) * times]
        quotes = index.scores("quotes", tokens, within=None if within is None else within[index.page_of])
        best = index.best_on_pages(quotes)
        evidence = PageEvidence({}, quotes, best, readings)

        def put(part: str, scores: "Scores") -> None:
            # Scores of pages that are not searched are meaningless, and must not influence those that are.
            evidence.parts[part] = scores if within is None else np.where(within, scores, np.float32(0))

        put("words", index.scores("pages", tokens, b=PAGE_B, within=within))
        put("best quote", np.float32(BEST_QUOTE) * best)
        put("outline", np.float32(OUTLINE) * index.scores("outline", tokens, within=within))
        put("reference", self._reference_scores(readings))
        put("quotation", self._quotation_scores(readings))
        documents = self._document_scores(tokens, within)
        # Among several documents, a kind of picture alone is no evidence.
        found = np.float32(1) if documents is None else self._in_documents_of(evidence.total > 0)
        put("kind", self._kinds(readings) * found)
        put("front page", self._front_page_scores(readings) * found)
        put("terms", self._term_scores(tokens, evidence, within))
        put("acronyms", self._acronym_scores(tokens, evidence, within))
        if documents is not None:
            put("document", np.where(evidence.total > 0, np.float32(DOCUMENT) * documents, np.float32(0)))
        put("second look", self._second_look(evidence.total, readings, within))
        return evidence

    def _document_scores(self, tokens: Sequence[str], within: "Mask | None") -> "Scores | None":
        """(m,) BM25 of the document of each page searched; None where these are of one document."""
        of = self.index.document_of if within is None else self.index.document_of[within]
        if not len(of) or int(of[0]) == int(of[-1]):
            return None
        scores = self.index.document_scores(tokens)[self.index.document_of]
        return scores if within is None else scores * within

    def _in_documents_of(self, pages: "Positions | Mask") -> "Scores":
        """(m,) 1 for each page of a document that has one of these pages."""
        import numpy as np

        found = np.zeros(self.index.document_count, dtype=np.float32)
        found[self.index.document_of[pages]] = 1
        return found[self.index.document_of]

    def _reference_scores(self, readings: "Counter[QuestionAnalysis]") -> "Scores":
        """A page, figure or table that is named counts in full; each of a section's n pages counts 1 / sqrt(n)."""
        import numpy as np

        index, gained = self.index, np.zeros(self.index.page_count, dtype=np.float32)
        whole, named = Counter[str](), Counter[str]()
        for reading, times in readings.items():
            whole.update(dict.fromkeys(reading.labels, times))
            named.update(dict.fromkeys(reading.places, times))
        for name, times in (whole + named).most_common(MOST_NAMES):
            pages = index.pages_called(name)
            gain = np.full(len(pages), REFERENCE * index.unit * times, dtype=np.float32)
            if name not in whole and not name.startswith("page "):
                documents = index.document_of[pages]
                gain /= np.sqrt(np.bincount(documents)[documents]).astype(np.float32)
            gained[pages] += gain
        return gained

    def _quotation_scores(self, readings: "Counter[QuestionAnalysis]") -> "Scores":
        """A page gains where one of its quotes contains all words (two or more) of a quotation."""
        import numpy as np

        gained = np.zeros(self.index.page_count, dtype=np.float32)
        quoted = [words(text) for reading in readings for text in reading.quoted]
        for phrase in quoted[:MOST_QUOTED]:
            if len(phrase) > 1:
                gained += np.float32(QUOTATION * self.index.unit) * self._places.having(tuple(phrase), tables=False)
        return gained

    def _kinds(self, readings: "Counter[QuestionAnalysis]") -> "Scores":
        import numpy as np

        index, gained = self.index, np.zeros(self.index.page_count, dtype=np.float32)
        asked = Counter[VisualKind]()
        for reading, times in readings.items():
            asked.update(dict.fromkeys(reading.shows, times))
        for kind, times in asked.items():
            shown = np.zeros_like(gained)
            for layout, share in _LAYOUTS_FOR[kind]:
                pages = index.pages_named(kind_token(layout))
                shown[pages] = np.maximum(shown[pages], np.float32(share))
            gained += np.float32(KIND * index.unit * times) * shown
        return gained

    def _front_page_scores(self, readings: "Counter[QuestionAnalysis]") -> "Scores":
        import numpy as np

        gained = np.zeros(self.index.page_count, dtype=np.float32)
        times = sum(times for reading, times in readings.items() if reading.asks_front)
        gained[self.index.pages_named("page #1")] = FRONT * self.index.unit * times
        return gained

    def _term_scores(self, tokens: Sequence[str], evidence: PageEvidence, within: "Mask | None") -> "Scores":
        """A term's components and their places never count more than the term itself, as an exact phrase.

        All documents of a field have them: they count by how well each document matches the rest of the question.
        """
        import numpy as np

        gained = np.zeros(self.index.page_count, dtype=np.float32)
        for terms in self._terms:
            if not (expansions := terms.expansions(tokens)) or not (applies := self._places.documents(terms)).any():
                continue
            places = dict.fromkeys(place for expansion in expansions for place in expansion.places)
            parts = dict.fromkeys(part for expansion in expansions for part in expansion.parts)
            found = np.zeros_like(gained)
            for place in places:
                found += self._places.pages(terms, place)
            for part in parts:
                found += np.float32(PARTS_OF_TERM / len(parts)) * self._places.having(tuple(words(part)), tables=True)
            if (found * applies).any():
                exact = np.maximum.reduce([self._exact_phrase_pages(each, evidence.quotes) for each in expansions])
                gained += np.where(exact > 0, MOST_OF_TERM, np.minimum(found, MOST_OF_TERM)) * applies
                evidence.expansions += expansions
        if not evidence.expansions:
            return gained
        asked = {word for expansion in evidence.expansions for word in expansion.asked}
        documents = self._document_scores([token for token in tokens if token not in asked], within)
        share = documents / documents.max() if documents is not None and documents.any() else np.float32(1)
        return np.float32(TERMS * self.index.unit) * gained * share

    def _acronym_scores(self, tokens: Sequence[str], evidence: PageEvidence, within: "Mask | None") -> "Scores":
        """A page gains where one of its quotes contains the expansion of an acronym but not the acronym, or vice versa.

        The gain is a share of the rarity of the acronym, or of the rarest word of the expansion, whichever the question
        has. It is smaller than that of any page which contains the question's own wording, and is given only in
        documents that define the acronym.
        """
        import numpy as np

        index, gained = self.index, np.zeros(self.index.page_count, dtype=np.float32)
        for phrase, prefix in _acronym_candidates(tokens):
            for name in self._defined_names(prefix, within):
                other = words(name.removeprefix(prefix))
                defined = self._in_documents_of(index.pages_named(name))
                there, here = (self._places.having(tuple(side), tables=False) for side in (other, phrase))
                exact = evidence.parts["words"][(here > 0) & (defined > 0)]
                worth = min([ACRONYMS * max(map(index.rarity, phrase)), *(0.9 * exact[exact > 0])])
                found = np.where(here > 0, 0, there * defined * np.float32(worth)).astype(np.float32)
                if found.any():
                    gained = np.maximum(gained, found)
                    evidence.acronyms.append(f"{' '.join(phrase)} = {name.removeprefix(prefix)}")
        return gained

    def _defined_names(self, prefix: str, within: "Mask | None") -> list[str]:
        """The names with this prefix on the pages searched, those on most pages first."""
        import numpy as np

        times = {}
        for name in self.index.names_beginning(prefix, MAX_DEFINITIONS):
            pages = self.index.pages_named(name)
            times[name] = len(pages) if within is None else int(np.count_nonzero(within[pages]))
        found = [name for name in times if times[name]]
        return sorted(found, key=lambda name: (-times[name], name))[:MAX_EXPANSIONS]

    def _exact_phrase_pages(self, expansion: TermExpansion, scores: "Scores") -> "Scores":
        """(m,) 1 for pages that contain a term as an exact phrase; a listed term, in a table or picture.

        Only the best of the quotes that contain its words are read.
        """
        import numpy as np

        phrase = expansion.asked
        pages = np.zeros(self.index.page_count, dtype=np.float32)
        found = self.index.quotes_with(phrase) if len(phrase) > 1 else np.empty(0, dtype=np.int64)
        found = found[self.index.is_image[found]] if expansion.is_listed else found
        found = found[np.lexsort((self.index.order[found], -scores[found]))][:MAX_PHRASE_CHECKS]
        for position, held in zip(found.tolist(), self._quote_words(found), strict=True):
            if any(tuple(held[at : at + len(phrase)]) == phrase for at in range(len(held) - len(phrase) + 1)):
                pages[self.index.page_of[position]] = 1
        return pages

    def _second_look(self, scores: "Scores", readings: "Counter[QuestionAnalysis]", within: "Mask | None") -> "Scores":
        """Score the pages that belong with the best ones; the best page stays the best.

        - Pages of the same document, in proportion to what they share of the rarest words of one of the `SEEDS` best.
          - The pages after and before the best one, where its content goes on or begins.
        - Of a comparison, the best page of each side.
        - Where few pages are found at all, others of their documents, nearest first.
        """
        import numpy as np

        index, gained = self.index, np.zeros(len(scores), dtype=np.float32)
        seeds = _best(scores, SEEDS, index.page_order)
        if not len(seeds):
            return gained
        first = int(seeds[0])
        for seed in seeds.tolist():
            own = index.pages_of(int(index.document_of[seed]))
            alike = self._alike(seed) if within is None else self._similar_pages(seed, within)
            share = alike / max(float(alike[seed - own.start]), 1e-9) * (scores[seed] / scores[first])
            share[seed - own.start] = 0
            gained[own] = np.maximum(gained[own], np.minimum(share, 1).astype(np.float32) * np.float32(SIMILARITY))
        for page, worth in ((first + 1, NEXT), (first - 1, PREVIOUS)):
            if 0 <= page < len(scores) and index.document_of[page] == index.document_of[first]:
                gained[page] += worth
        for side in list(dict.fromkeys(side for reading in readings for side in reading.sides))[:MOST_SIDES]:
            of_side = index.scores("pages", words(side), b=PAGE_B, within=within)
            of_side[first] = 0
            if within is not None:
                of_side[~within] = 0
            gained[_best(of_side, 1, index.page_order)] += SIDE
        gained *= np.float32(index.unit)
        if within is not None:
            gained[~within] = 0
        self._add_nearby_pages(scores + gained, gained, within)
        gained[first] = 0
        gained[first] = max(0.0, float((scores + gained).max() * 1.0001 - scores[first]))
        return gained

    def _similar_pages(self, page: int, within: "Mask | None" = None) -> "Scores":
        """BM25 of the pages of a page's document for the rarest words of that page."""
        scores = self.index.scores("pages", self._rare(page), b=PAGE_B, within=within)
        return scores[self.index.pages_of(int(self.index.document_of[page]))].copy()

    def _rare_words(self, page: int) -> list[str]:
        """The most distinctive words of a page, by (1 + ln tf) × idf, that occur on other pages of its document too."""
        counts = Counter(word for held in self._quote_words(self.index.quotes_of(page)[:MOST_QUOTES]) for word in held)
        weights = {}
        for word, count in counts.items():
            if not (word[0].isdigit() and len(word) < 3):
                weights[word] = (1 + math.log(count)) * self.index.rarity(word)
        ranked = sorted(weights, key=lambda word: (-weights[word], word))[:SEED_CANDIDATES]
        shared = (word for word in ranked if self.index.on_several_pages(word, page))
        return list(islice(shared, SEED_WORDS))

    def _add_nearby_pages(self, scores: "Scores", gained: "Scores", within: "Mask | None") -> None:
        """Where few pages are found, give the other pages of their documents a score just above 0."""
        import numpy as np

        found = np.flatnonzero(scores > 0)
        if len(found) >= LEAST_PAGES:
            return
        for document in np.unique(self.index.document_of[found]).tolist():
            pages = self.index.pages_of(document)
            near = 1e-3 / (1 + np.abs(np.arange(pages.stop - pages.start) - int(scores[pages].argmax())))
            gained[pages] += np.where(scores[pages] <= 0, near, 0).astype(np.float32)
        if within is not None:
            gained[~within] = 0


def _acronym_candidates(tokens: Sequence[str]) -> Iterator[tuple[Phrase, str]]:
    """Words and word sequences that may be acronyms or expansions, each with the prefix of its names in the index."""
    asked: dict[Phrase, str] = {(token,): acronym_prefix(token) for token in tokens[:MAX_PHRASES]}
    for size in range(2, MAX_EXPANSION_WORDS + 1):
        for at in range(min(len(tokens) - size + 1, MAX_PHRASES)):
            asked[tuple(tokens[at : at + size])] = meaning_prefix(tokens[at : at + size])
    yield from islice(asked.items(), MAX_PHRASES)


def _best(scores: "Scores", k: int, order: "Positions") -> "Positions":
    """Positions of the `k` best scores above 0; of equal scores, the first in `order`."""
    import numpy as np

    found = np.flatnonzero(scores > 0)
    if len(found) > k:
        found = found[scores[found] >= np.partition(scores[found], -k)[-k]]
    return found[np.lexsort((order[found], -scores[found]))][:k]
