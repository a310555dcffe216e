"""The evidence for each page of a collection, given a question: words, references, kinds of pictures, and position.

All scores are on the scale of BM25: `index.max_idf` is the score of a word that occurs on one page only. The parts add
up to `PageEvidence.total`, and `search --explain` reports each of them by its name.

| part | score of a page |
|---|---|
| words | BM25 of all its words; a word's idf is the mean of those among the pages searched and among all |
| best quote | BM25 of the quote that matches best, times `BEST_QUOTE` |
| outline | BM25 of the headings that stand above it in the outline, times `OUTLINE` |
| reference | `REFERENCE` units for each name that refers to it: "Figure 3", "page 12"; less for a section |
| quotation | where one quote contains a quotation or code of the question: all its words, or it to the letter |
| amount | where one quote contains a number with its unit, however these are written |
| spelling | a share of a word's rarity, where OCR or the end of a line changed how it is written |
| picture type | `PICTURE_TYPE` units for each type of picture that the question asks about, and the page shows |
| front page | `FRONT` units for the first page, where the question asks for a title, an author, a publisher… |
| terms | up to `TERMS` × `MAX_OF_TERM` units where a term's components occur; less in documents that match less |
| beside a term | up to `STATED` of that, where one quote has most of what the question asks beside its terms |
| acronyms | `ACRONYMS` × rarity, where an acronym of the question is written out, or vice versa: `_acronym_scores` |
| document | BM25 of its document, times `DOCUMENT`; where several are searched |
| page feedback | what belongs with the best pages (`retrievers.pages.page_feedback`) |

Quotations, amounts and spellings are looked for by `retrievers.pages.literal_matches`.

The constants were chosen by hand, each by its gain on the questions of MMDocIR and MMLongBench-Doc; the benchmark
`tuning_lexical.py` leaves out one document at a time, and shows what each part gives.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from quoteweave.collection.segments.builder import acronym_prefix, layout_token, meaning_prefix
from quoteweave.core.text.question_analysis import PictureType, QuestionAnalysis, analyse_lines, interrogative_words
from quoteweave.core.text.question_words import foreign_grammar_words
from quoteweave.core.text.tokens import words, written_forms
from quoteweave.index.lexical import LexicalIndex
from quoteweave.retrievers.pages.literal_matches import Containing, LiteralMatches, sought_in
from quoteweave.retrievers.pages.page_feedback import PAGE_B, PageFeedback, Quotes
from quoteweave.retrievers.recent_cache import RecentCache
from quoteweave.retrievers.terms import Phrase, TermExpansion, TermPlaces, Terms

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Scores = npt.NDArray[np.float32]
    Mask = npt.NDArray[np.bool_]
    Positions = npt.NDArray[np.int64]

BEST_QUOTE = 0.5
OUTLINE = 0.4
REFERENCE = 1.0
PICTURE_TYPE = 0.2
FRONT = 0.7
TERMS = 3.0
PARTS_OF_TERM = 0.5
MAX_OF_TERM = 1.5
STATED = 0.6
ACRONYMS = 0.4
DOCUMENT = 1.0
# Questions whose evidence is cached; each takes a few numbers per page.
CACHED_QUESTIONS = 4
# Most quotes that are searched for a term as an exact phrase.
MAX_PHRASE_CHECKS = 100
# Most words of an acronym's expansion, word sequences of the question to look up, and expansions of each.
MAX_EXPANSION_WORDS, MAX_PHRASES, MAX_EXPANSIONS = 6, 200, 3
# Most definitions of one acronym that are considered, and most references to pages in one question.
MAX_DEFINITIONS, MAX_NAMES = 50, 100
# For each type of picture that a question asks for, the layouts that satisfy it, and how well.
_LAYOUTS_FOR = {
    "chart": (("chart", 1.0), ("figure", 0.5)),
    "table": (("table", 1.0),),
    "figure": (("figure", 1.0), ("chart", 1.0), ("page", 0.5)),
}


@dataclass
class PageEvidence:
    """The evidence for each page (m,), by part, and the score of each quote (n,) by itself."""

    quote_scores: "Scores"
    """BM25 of each quote."""
    best_quote: "Scores"
    """(m,) BM25 of the best quote of each page."""
    analyses: "Counter[QuestionAnalysis]"
    """How each line of the question was read, and how often it counts."""
    expansions: list[TermExpansion] = field(default_factory=list)
    """Terms of the question whose components or places were found."""
    acronyms: list[str] = field(default_factory=list)
    """Acronyms that documents define and that matched further pages, as 'roa = return on assets'."""
    spellings: list[str] = field(default_factory=list)
    """Words of the question in other spellings that were found, as 'illinois = lllinois'."""
    referred: set[str] = field(default_factory=set)
    """The names that the question refers to and pages searched have."""
    seeds: list[int] = field(default_factory=list)
    """The pages from which page feedback started, best first."""

    parts: "dict[str, Scores]" = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        import numpy as np

        self.total = np.zeros_like(self.best_quote)
        """(m,) all parts together."""

    def add(self, part: str, scores: "Scores") -> None:
        """Add a part (m,) of the evidence."""
        self.parts[part] = scores
        self.total += scores


class EvidenceScorer:
    """Computes the evidence for the pages of one index.

    `load_quotes` returns the quotes at some positions, `containing` the pages that have a string to the letter; `terms`
    are domain terms that questions may contain.
    """

    def __init__(
        self, index: LexicalIndex, load_quotes: Quotes, containing: Containing, terms: Sequence[Terms] = ()
    ) -> None:
        self.index = index
        self.page_feedback = PageFeedback(index, load_quotes)
        self._load_quotes, self._terms = load_quotes, terms
        self.literal = LiteralMatches(index, lambda at: [quote.all_text() for quote in load_quotes(at)], containing)
        self._places = TermPlaces(index)
        # A context is built by searching for text and for image quotes with the same question.
        self.cache: RecentCache[PageEvidence] = RecentCache(CACHED_QUESTIONS)
        """Evidence computed before, by a key of everything that distinguishes searches."""

    def score(self, question: str, within: "Mask | None") -> PageEvidence:
        """Compute the evidence for the pages `within`, or for all; it is 0 where nothing of the question is found."""
        import numpy as np

        index = self.index
        analyses = analyse_lines(question)
        tokens = [token for analysis, times in analyses.items() for token in _tokens(analysis) * times]
        quote_scores = index.scores("quotes", tokens, within=None if within is None else within[index.page_of])
        best = index.best_on_pages(quote_scores)
        evidence = PageEvidence(quote_scores, best, analyses)

        def put(part: str, scores: "Scores") -> None:
            # Scores of pages that are not searched are meaningless, and must not influence those that are.
            evidence.add(part, scores if within is None else np.where(within, scores, np.float32(0)))

        put("words", index.scores("pages", tokens, b=PAGE_B, within=within))
        put("best quote", np.float32(BEST_QUOTE) * best)
        put("outline", np.float32(OUTLINE) * index.scores("outline", tokens, within=within))
        put("reference", self._reference_scores(evidence, within))
        put("quotation", self.literal.quotations(sought_in(analyses), quote_scores, within))
        put("amount", self.literal.amounts([amount for analysis in analyses for amount in analysis.amounts]))
        spelled, evidence.spellings = self.literal.spellings(" ".join(analysis.text for analysis in analyses), within)
        put("spelling", spelled)
        documents = self._document_scores(tokens, within)
        # Among several documents, a kind of picture alone is no evidence.
        asks_place = any(analysis.picture_types or analysis.asks_front for analysis in analyses)
        among_several = asks_place and documents is not None
        found = self._in_documents_of(evidence.total > 0) if among_several else np.float32(1)
        put("picture type", self._picture_types(analyses) * found)
        put("front page", self._front_page_scores(analyses) * found)
        by_terms, beside_terms = self._term_scores(tokens, evidence, within)
        put("terms", by_terms)
        put("beside a term", beside_terms)
        put("acronyms", self._acronym_scores(tokens, evidence, within))
        if documents is not None:
            put("document", np.where(evidence.total > 0, np.float32(DOCUMENT) * documents, np.float32(0)))
        sides = list(dict.fromkeys(side for analysis in analyses for side in analysis.sides))
        evidence.seeds = self.page_feedback.seeds(evidence.total)
        put("page feedback", self.page_feedback.scores(evidence.total, evidence.seeds, sides, within))
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

    def _reference_scores(self, evidence: PageEvidence, within: "Mask | None") -> "Scores":
        """A page, figure or table that is named counts in full; each of a section's n pages counts 1 / sqrt(n).

        A section may be called by its title, in quotation marks or as in "the Recorded Demonstration section".
        """
        import numpy as np

        index, gained = self.index, np.zeros(self.index.page_count, dtype=np.float32)
        whole, named = Counter[str](), Counter[str]()
        for analysis, times in evidence.analyses.items():
            whole.update(dict.fromkeys(analysis.labels, times))
            named.update(dict.fromkeys(analysis.places, times))
        for name, times in (whole + named).most_common(MAX_NAMES):
            pages = index.pages_meant_by(name)
            if name in whole and not _any_within(pages, within):
                pages = self.literal.captions(name, evidence.quote_scores, within)
            evidence.referred.update([name] if _any_within(pages, within) else [])
            is_whole = name in whole or name.startswith("page ")
            share = np.float32(1) if is_whole else self._share_of_section(pages)
            gained[pages] += np.float32(REFERENCE * index.max_idf * times) * share
        for title, times in _titles(evidence.analyses).items():
            pages = index.pages_under(words(title))
            gained[pages] += np.float32(REFERENCE * index.max_idf * times) * self._share_of_section(pages)
        return gained

    def _share_of_section(self, pages: "Positions") -> "Scores":
        """1 / sqrt(n) for each of these pages, of which its document has n."""
        import numpy as np

        documents = self.index.document_of[pages]
        share: Scores = (1 / np.sqrt(np.bincount(documents)[documents])).astype(np.float32)
        return share

    def _picture_types(self, analyses: "Counter[QuestionAnalysis]") -> "Scores":
        import numpy as np

        index, gained = self.index, np.zeros(self.index.page_count, dtype=np.float32)
        asked = Counter[PictureType]()
        for analysis, times in analyses.items():
            asked.update(dict.fromkeys(analysis.picture_types, times))
        for picture_type, times in asked.items():
            shown = np.zeros_like(gained)
            for layout, share in _LAYOUTS_FOR[picture_type]:
                pages = index.pages_with_reference(layout_token(layout))
                shown[pages] = np.maximum(shown[pages], np.float32(share))
            gained += np.float32(PICTURE_TYPE * index.max_idf * times) * shown
        return gained

    def _front_page_scores(self, analyses: "Counter[QuestionAnalysis]") -> "Scores":
        import numpy as np

        gained = np.zeros(self.index.page_count, dtype=np.float32)
        times = sum(times for analysis, times in analyses.items() if analysis.asks_front)
        if times:
            gained[self.index.pages_with_reference("page #1")] = FRONT * self.index.max_idf * times
        return gained

    def _term_scores(
        self, tokens: Sequence[str], evidence: PageEvidence, within: "Mask | None"
    ) -> "tuple[Scores, Scores]":
        """The gains (m,) by the terms of the question, and by what it asks beside them.

        All documents of a field have a term's places: they count by how well each document matches the rest of the
        question. A question may be about something else in which a term occurs ("revenue from gift cards"): a page
        with a quote that has its other words too gains almost as much as the term's place.
        """
        import numpy as np

        by_terms = self._pages_of_terms(tokens, evidence)
        if not evidence.expansions:
            return by_terms, by_terms
        asked = {word for expansion in evidence.expansions for word in expansion.asked}
        documents = self._document_scores([token for token in tokens if token not in asked], within)
        share = documents / documents.max() if documents is not None and documents.any() else np.float32(1)
        by_terms *= np.float32(TERMS * self.index.max_idf) * share
        by_terms = by_terms if within is None else np.where(within, by_terms, np.float32(0))
        stated = np.float32(STATED) * by_terms.max() * share * self._stated_shares(tokens, asked, within)
        return by_terms, np.maximum(stated - by_terms, np.float32(0))

    def _pages_of_terms(self, tokens: Sequence[str], evidence: PageEvidence) -> "Scores":
        """(m,) how well pages match the question's terms, which are added to `evidence.expansions`.

        A term's components and their places never count more than the term itself, as an exact phrase.
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
                exact = np.maximum.reduce(
                    [self._exact_phrase_pages(each, evidence.quote_scores) for each in expansions]
                )
                gained += np.where(exact > 0, MAX_OF_TERM, np.minimum(found, MAX_OF_TERM)) * applies
                evidence.expansions += expansions
        return gained

    def _stated_shares(self, tokens: Sequence[str], asked: "set[str]", within: "Mask | None") -> "Scores":
        """(m,) how much of the question the best quote of each page states, from 0 for half to 1 for all.

        A word counts by its rarity; words that ask, numbers, and words that are on no page searched do not count. 0
        where the question has no words beside the term's, `asked`.
        """
        import numpy as np

        index = self.index
        topical = {token for token in tokens if token not in interrogative_words() and not token[0].isdigit()}
        stated, whole = np.zeros(len(index.rows), dtype=np.float32), 0.0
        for token in sorted(topical) if topical - asked else ():
            found = index.quotes_with((token,))
            found = found if within is None else found[within[index.page_of[found]]]
            if len(found):
                stated[found] += index.rarity(token)
                whole += index.rarity(token)
        shares: Scores = np.maximum(2 * index.best_on_pages(stated) / np.float32(whole or 1) - 1, np.float32(0))
        return shares

    def _acronym_scores(self, tokens: Sequence[str], evidence: PageEvidence, within: "Mask | None") -> "Scores":
        """A page gains where one of its quotes contains the expansion of an acronym but not the acronym, or vice versa.

        The gain is a share of the rarity of the acronym, or of the rarest word of the expansion, whichever the question
        has. It is smaller than that of any page which contains the question's own wording, and is given only in
        documents that define the acronym.
        """
        import numpy as np

        index, gained = self.index, np.zeros(self.index.page_count, dtype=np.float32)
        forms = written_forms("\n".join(analysis.text for analysis in evidence.analyses))
        for phrase, prefix in _acronym_candidates(tokens):
            for name in self._defined_names(prefix, within):
                other = words(name.removeprefix(prefix))
                defined = self._in_documents_of(index.pages_with_reference(name))
                there, here = (self._places.having(tuple(side), tables=False) for side in (other, phrase))
                exact = evidence.parts["words"][(here > 0) & (defined > 0)]
                worth = min([ACRONYMS * max(map(index.rarity, phrase)), *(0.9 * exact[exact > 0])])
                found = np.where(here > 0, 0, there * defined * np.float32(worth)).astype(np.float32)
                if found.any():
                    gained = np.maximum(gained, found)
                    evidence.acronyms.append(
                        f"{' '.join(forms.get(word, word) for word in phrase)} = {name.removeprefix(prefix)}"
                    )
        return gained

    def _defined_names(self, prefix: str, within: "Mask | None") -> list[str]:
        """The names with this prefix on the pages searched, those on most pages first."""
        import numpy as np

        times = {}
        for name in self.index.definitions_beginning(prefix, MAX_DEFINITIONS):
            pages = self.index.pages_with_reference(name)
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
        found = found[np.lexsort((self.index.tie_order[found], -scores[found]))][:MAX_PHRASE_CHECKS]
        for position, held in zip(
            found.tolist(), [words(quote.all_text()) for quote in self._load_quotes(found)], strict=True
        ):
            if any(tuple(held[at : at + len(phrase)]) == phrase for at in range(len(held) - len(phrase) + 1)):
                pages[self.index.page_of[position]] = 1
        return pages


def _tokens(analysis: QuestionAnalysis) -> list[str]:
    """The words to look for; beside a reference, no "que" and "der", which are rare in documents in English."""
    refers = analysis.places or analysis.labels
    grammar = foreign_grammar_words(analysis.text) if refers else frozenset[str]()
    return [word for word in words(analysis.text) if word not in grammar]


def _titles(analyses: "Counter[QuestionAnalysis]") -> Counter[str]:
    """What may be the title of a section: a quotation of several words, and how often each counts."""
    found = Counter[str]()
    for analysis, times in analyses.items():
        quoted = (text for text in analysis.quoted if len(words(text)) > 1)
        found.update(dict.fromkeys((*quoted, *analysis.titles), times))
    return found


def _acronym_candidates(tokens: Sequence[str]) -> Iterator[tuple[Phrase, str]]:
    """Words and word sequences that may be acronyms or expansions, each with the prefix of its names in the index."""
    asked: dict[Phrase, str] = {(token,): acronym_prefix(token) for token in tokens[:MAX_PHRASES]}
    for size in range(2, MAX_EXPANSION_WORDS + 1):
        for at in range(min(len(tokens) - size + 1, MAX_PHRASES)):
            asked[tuple(tokens[at : at + size])] = meaning_prefix(tokens[at : at + size])
    yield from islice(asked.items(), MAX_PHRASES)


def _any_within(pages: "Positions", within: "Mask | None") -> bool:
    return bool(len(pages)) and (within is None or bool(within[pages].any()))
