"""The evidence for each page of a collection, given a question: words, references, kinds of pictures, and position.

If no page searched has a word of the question, other words that say the same count (`retrievers.pages.search_words`).

All scores are on the scale of BM25. A *unit* of the table is `index.max_idf`, the score of a word that occurs on one
page only. The parts add up to `PageEvidence.total`, and `search --explain` reports each of them by its name.

| part | score of a page |
|---|---|
| words | BM25 of all its words; a word's idf is the mean of those among the pages searched and among all |
| best quote | BM25 of the quote that matches best, times `BEST_QUOTE` |
| outline | BM25 of the headings that stand above it in the outline, times `OUTLINE` |
| reference | `REFERENCE` units for each name that refers to it: "Figure 3", "page 12"; less for a section |
| quotation | where one quote has all words of a quotation or code of the question; more where it has it to the letter |
| amount | where one quote contains a number with its unit, however these are written |
| spelling | a share of a word's rarity, where OCR or the end of a line changed how it is written |
| synonym | a share of the rarity of a word that may mean the same as one that no page searched has |
| picture type | `PICTURE_TYPE` units for each type of picture that the question asks about, and the page shows |
| front page | `FRONT` units for the first page, where the question asks for a title, an author, a publisher… |
| terms | up to `TERMS` × `MAX_OF_TERM` units where a term or its components occur; less in documents that match less |
| beside a term | up to `STATED` of that, where one quote has most of what the question asks beside its terms |
| other names | BM25 of another name of a term, where that stands as an exact phrase; less than for the one asked |
| acronyms | `ACRONYMS` × rarity, where an acronym of the question is written out, or vice versa |
| document | BM25 of its document, where several are searched |
| document's name | up to `NAME` units for a word of the question that no page has, but the document's name |
| among its pages | what its words are worth in its document (`retrievers.pages.document_rescoring`); may be below 0 |
| page feedback | what belongs with the best pages (`retrievers.pages.page_feedback`) |

Quotations, amounts, spellings and synonyms are looked for by `retrievers.pages.literal_matches`, terms and acronyms by
`retrievers.pages.terminology`.

The constants were chosen by hand, each by its gain on the questions of MMDocIR and MMLongBench-Doc; the benchmark
`tuning_lexical.py` leaves out one document at a time, and shows what each part gives.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from quoteweave.collection.arrays import np
from quoteweave.collection.segments.builder import layout_token
from quoteweave.core.concurrency.recent_cache import RecentCache
from quoteweave.core.place_names import PlaceName
from quoteweave.core.text.question_analysis import (
    PictureType,
    QuestionAnalysis,
    analyse_lines,
    interrogative_words,
    picture_words,
    request_words,
)
from quoteweave.core.text.references.mentions import without_places
from quoteweave.core.text.tokens import words
from quoteweave.core.text.units import amount_spellings
from quoteweave.core.text.whole_document.structure_questions import document_nouns
from quoteweave.index.lexical import LexicalIndex, any_within
from quoteweave.retrievers.pages.document_rescoring import BEST_QUOTE, OUTLINE, rescore_within_documents
from quoteweave.retrievers.pages.literal_matches import FindPages, LiteralMatches, by_word, sought_in
from quoteweave.retrievers.pages.page_feedback import NEARBY, PAGE_B, LoadQuotes, PageFeedback
from quoteweave.retrievers.pages.search_words import search_words
from quoteweave.retrievers.pages.terminology import Sources, Terminology, TermMatches
from quoteweave.retrievers.terms.terms import TermExpansion, Terms

if TYPE_CHECKING:
    from quoteweave.index.term_weights import Mask, Positions, Scores

REFERENCE = 1.0
PICTURE_TYPE = 0.2
FRONT = 0.7
TERMS = 3.0
STATED = 0.6
# Questions whose evidence is cached; each takes a few numbers per page.
CACHED_QUESTIONS = 4
# Most references to pages in one question.
MAX_NAMES = 100
# For each type of picture that a question asks for, the layouts that satisfy it, and how well.
_LAYOUTS_FOR = {
    "chart": (("chart", 1.0), ("figure", 0.5)),
    "table": (("table", 1.0),),
    "figure": (("figure", 1.0), ("chart", 1.0), ("page", 0.5)),
}


@dataclass
class PageEvidence:
    """The evidence for each page (m,), by part, and the score of each quote (n,) by itself."""

    analyses: "Counter[QuestionAnalysis]"
    """How each line of the question was read, and how often it counts."""
    text: str
    """The text that is searched for, of all lines of the question."""
    quote_scores: "Scores"
    """BM25 of each quote."""
    best_quote: "Scores"
    """(m,) BM25 of the best quote of each page."""
    page_of: "Positions"
    """(n,) the page of each quote."""
    within: "Mask | None"
    """(m,) the pages that are searched; None for all."""
    expansions: list[TermExpansion] = field(default_factory=list)
    """Terms of the question of which another name, a component or a place was found."""
    found_places: set[PlaceName] = field(default_factory=set)
    """The names that the question refers to and that the pages searched have."""
    seeds: list[int] = field(default_factory=list)
    """The pages from which page feedback started, best first."""

    parts: "dict[str, Scores]" = field(default_factory=dict, init=False)
    sources: dict[str, Sources] = field(default_factory=dict, init=False)
    """For each part that has them: what it comes from, such as 'roa = return on assets', with the pages of each."""
    respelled_quotes: "list[Positions]" = field(default_factory=list, init=False)
    """Positions of quotes that have something of the question in another spelling or by another name."""

    def __post_init__(self) -> None:
        self.total = np.zeros_like(self.best_quote)
        """(m,) all parts together."""

    @property
    def sides(self) -> list[str]:
        """The question of each side of a comparison, each once."""
        return list(dict.fromkeys(side for analysis in self.analyses for side in analysis.sides))

    @property
    def spellings(self) -> dict[str, tuple[str, ...]]:
        """The question's amounts, codes and words that pages write in another way, with the spellings there."""
        amounts = [amount for amount, pages in self.sources["amount"].items() if len(pages)]
        respellings = (f"{amount} = {spelling}" for amount in amounts for spelling in amount_spellings(amount))
        return by_word((*respellings, *self.sources["spelling"]))

    def add(self, part: str, scores: "Scores", sources: Sources | None = None) -> None:
        """Add a part (m,) of the evidence, and the pages on which each of its sources was found."""
        # Scores of pages that are not searched are meaningless, and must not influence those that are.
        self.parts[part] = scores if self.within is None else np.where(self.within, scores, np.float32(0))
        self.sources[part] = sources or {}
        self.total += self.parts[part]

    def add_respelled(self, part: str, scores: "Scores", quotes: Sources) -> None:
        """Add a part, and the quotes in which each of its sources was found."""
        self.respelled_quotes += quotes.values()
        self.add(part, scores, {source: self.page_of[positions] for source, positions in quotes.items()})


class EvidenceScorer:
    """Computes the evidence for the pages of one index.

    `load_quotes` returns the quotes at some positions, `containing` the pages that have a string to the letter; `terms`
    are domain terms that questions may contain; `synonyms` says whether words that no page has are replaced.
    """

    def __init__(
        self,
        index: LexicalIndex,
        load_quotes: LoadQuotes,
        containing: FindPages,
        terms: Sequence[Terms] = (),
        *,
        synonyms: bool = True,
    ) -> None:
        self.index = index
        self.page_feedback = PageFeedback(index, load_quotes)
        self.literal = LiteralMatches(index, lambda at: [quote.all_text() for quote in load_quotes(at)], containing)
        self._synonyms = synonyms
        self._terminology = Terminology(index, load_quotes, terms)
        # A context is built by searching for text and for image quotes with the same question.
        self.cache: RecentCache[str, PageEvidence] = RecentCache(CACHED_QUESTIONS)
        """Evidence computed before, by a key of everything that distinguishes searches."""

    def score(self, question: str, within: "Mask | None") -> PageEvidence:
        """Compute the evidence for the pages `within`, or for all; it is 0 where nothing of the question is found."""
        index, analyses = self.index, analyse_lines(question)
        topics = {analysis: self._topic(analysis, within) for analysis in analyses}
        tokens = [
            token
            for analysis, times in analyses.items()
            for token in search_words(analysis, topics[analysis], partial(index.has_word, within=within)) * times
        ]
        quote_scores = index.scores("quotes", tokens, within=None if within is None else within[index.page_of])
        best, text = index.best_on_pages(quote_scores), "\n".join(topics.values())
        evidence = PageEvidence(analyses, text, quote_scores, best, index.page_of, within)
        evidence.add("words", index.scores("pages", tokens, b=PAGE_B, within=within))
        evidence.add("best quote", np.float32(BEST_QUOTE) * best)
        evidence.add("outline", np.float32(OUTLINE) * index.scores("outline", tokens, within=within))
        evidence.add("reference", *self._references(evidence))
        evidence.add("quotation", *self.literal.quotations(sought_in(analyses), quote_scores, within))
        amounts = [amount for analysis in analyses for amount in analysis.amounts]
        evidence.add_respelled("amount", *self.literal.amounts(amounts))
        evidence.add_respelled("spelling", *self.literal.spellings(text, within))
        if self._synonyms and not any(analysis.asks_overview for analysis in analyses):
            evidence.add_respelled("synonym", *self.literal.synonyms(text, within))
        documents = self._document_scores(tokens, within)
        self._add_places(evidence, is_among_several=documents is not None)
        self._add_terminology(evidence, tokens)
        if documents is not None:
            (by_name, name_sources), matches = self.literal.names(text, within), evidence.total > 0
            evidence.add("document", documents * matches)
            evidence.add("document's name", by_name * matches, name_sources)
            self._add_document_rescoring(evidence, tokens)
        evidence.seeds = self.page_feedback.seeds(evidence.total)
        evidence.add("page feedback", self._page_feedback(evidence))
        return evidence

    def _topic(self, analysis: QuestionAnalysis, within: "Mask | None") -> str:
        """The text of a question that is searched for.

        Within one document, "the title page" is not searched for as words if the document has that page, nor is "the
        first part" in a question on which page that part ends. Of a question that asks for a kind of picture alone, as
        in "the charts of the report", only the words for pictures are searched for.
        """
        places = analysis.places
        parts_with_pages = {place.without_page for place in places if place.page is not None}
        are_pages = all(place.is_page or place.without_page in parts_with_pages for place in places)
        if places and not analysis.labels and are_pages and self._is_single_document(within):
            place_pages = (self.index.pages_meant_by(place) for place in places)
            is_found = all(any_within(pages, within) for pages in place_pages)
            return without_places(analysis.text) if is_found else analysis.text
        if self._asks_kind_alone(analysis, within):
            terms = (word for word in words(analysis.text, stem=False) if picture_words().issuperset(words(word)))
            return " ".join(terms)
        return analysis.text

    def _asks_kind_alone(self, analysis: QuestionAnalysis, within: "Mask | None") -> bool:
        """Whether a question asks for a kind of picture that pages searched show, and has no other word of theirs."""
        layouts = {layout for kind in analysis.picture_types for layout, _ in _LAYOUTS_FOR[kind]}
        pages_showing = (self.index.pages_with_reference(layout_token(layout)) for layout in sorted(layouts))
        if not any(any_within(pages, within) for pages in pages_showing):
            return False
        ignored = request_words() | document_nouns()
        candidates = {word for word in words(analysis.text, stem=False) if word not in ignored}
        topical = set(words(" ".join(candidates))) - interrogative_words() - picture_words()
        return not any(self.index.has_word(word, within) for word in topical)

    def _page_feedback(self, evidence: PageEvidence) -> "Scores":
        """(m,) what pages gain; if a kind of picture alone is asked for, pages without one gain at most `NEARBY`."""
        gained = self.page_feedback.scores(evidence.total, evidence.seeds, evidence.sides, evidence.within)
        is_shown = evidence.parts["picture type"] > 0
        if is_shown.any() and all(self._asks_kind_alone(analysis, evidence.within) for analysis in evidence.analyses):
            gained = np.where(is_shown, gained, np.minimum(gained, np.float32(NEARBY)))
        return gained

    def _is_single_document(self, within: "Mask | None") -> bool:
        """Whether the pages searched are of one document."""
        document_of = self.index.document_of if within is None else self.index.document_of[within]
        return not len(document_of) or int(document_of[0]) == int(document_of[-1])

    def _document_scores(self, tokens: Sequence[str], within: "Mask | None") -> "Scores | None":
        """(m,) BM25 of the document of each page searched; None where these are of one document."""
        if self._is_single_document(within):
            return None
        scores = self.index.document_scores(tokens)[self.index.document_of]
        return scores if within is None else scores * within

    def _add_document_rescoring(self, evidence: PageEvidence, tokens: Sequence[str]) -> None:
        """Add what pages are worth among the pages of their own document, and rescore the best documents' quotes."""
        parts = evidence.parts
        by_words = parts["words"] + parts["best quote"] + parts["outline"]
        among_all = evidence.quote_scores, evidence.best_quote
        evidence.add(
            "among its pages", rescore_within_documents(self.index, tokens, evidence.total, by_words, among_all)
        )

    def _references(self, evidence: PageEvidence) -> "tuple[Scores, Sources]":
        """A page, figure or table that is named counts in full; each of a section's n pages counts 1 / sqrt(n).

        A section may be called by its title, in quotation marks or as in "the Recorded Demonstration section".
        """
        index, within, gained, sources = self.index, evidence.within, self.index.no_points(), Sources()
        label_counts, place_counts = Counter[PlaceName](), Counter[PlaceName]()
        for analysis, times in evidence.analyses.items():
            label_counts.update(dict.fromkeys(analysis.labels, times))
            place_counts.update(dict.fromkeys(analysis.places, times))
        for name, times in (label_counts + place_counts).most_common(MAX_NAMES):
            pages = index.pages_meant_by(name)
            if name in label_counts and not any_within(pages, within):
                pages = self.literal.captions(name, evidence.quote_scores, within)
            evidence.found_places.update([name] if any_within(pages, within) else [])
            is_whole = name in label_counts or name.is_page
            share = np.float32(1) if is_whole else self._share_of_section(pages)
            gained[pages] += np.float32(REFERENCE * index.max_idf * times) * share
            sources[name.phrase] = pages
        for title, times in _titles(evidence.analyses).items():
            pages = index.pages_under(words(title))
            gained[pages] += np.float32(REFERENCE * index.max_idf * times) * self._share_of_section(pages)
            sources[title] = pages
        return gained, sources

    def _share_of_section(self, pages: "Positions") -> "Scores":
        """1 / sqrt(n) for each of these pages, where n of them are of its document."""
        documents = self.index.document_of[pages]
        share: Scores = (1 / np.sqrt(np.bincount(documents)[documents])).astype(np.float32)
        return share

    def _add_places(self, evidence: PageEvidence, *, is_among_several: bool) -> None:
        """Add points for kinds of pictures and first pages; of several documents, only in those with other evidence."""
        analyses = evidence.analyses
        limits = is_among_several and any(analysis.picture_types or analysis.asks_front for analysis in analyses)
        in_found = self.index.in_documents_of(evidence.total > 0) if limits else np.float32(1)
        pictured, sources = self._picture_types(analyses)
        evidence.add("picture type", pictured * in_found, sources)
        evidence.add("front page", self._front_page_scores(analyses) * in_found)

    def _add_terminology(self, evidence: PageEvidence, tokens: Sequence[str]) -> None:
        by_words = evidence.parts["words"]
        matches = self._terminology.terms(tokens, evidence.quote_scores, by_words)
        evidence.expansions = matches.expansions
        by_terms, beside_terms = self._term_scores(matches, tokens, evidence.within)
        evidence.add("terms", by_terms, matches.sources)
        evidence.add("beside a term", beside_terms)
        evidence.add_respelled("other names", matches.renamed, matches.other_names)
        acronyms = self._terminology.acronyms(evidence.text, tokens, by_words, evidence.within)
        evidence.add_respelled("acronyms", *acronyms)

    def _picture_types(self, analyses: "Counter[QuestionAnalysis]") -> "tuple[Scores, Sources]":
        index, gained, sources = self.index, self.index.no_points(), Sources()
        type_counts = Counter[PictureType]()
        for analysis, times in analyses.items():
            type_counts.update(dict.fromkeys(analysis.picture_types, times))
        for picture_type, times in type_counts.items():
            shares = np.zeros_like(gained)
            for layout, share in _LAYOUTS_FOR[picture_type]:
                pages = index.pages_with_reference(layout_token(layout))
                shares[pages] = np.maximum(shares[pages], np.float32(share))
            gained += np.float32(PICTURE_TYPE * index.max_idf * times) * shares
            sources[picture_type] = np.flatnonzero(shares)
        return gained, sources

    def _front_page_scores(self, analyses: "Counter[QuestionAnalysis]") -> "Scores":
        gained = self.index.no_points()
        times = sum(times for analysis, times in analyses.items() if analysis.asks_front)
        if times:
            gained[self.index.pages_with_reference("page #1")] = FRONT * self.index.max_idf * times
        return gained

    def _term_scores(
        self, matches: TermMatches, tokens: Sequence[str], within: "Mask | None"
    ) -> "tuple[Scores, Scores]":
        """The gains (m,) by the terms of the question, and by its other words.

        All documents of a field have a term's places, so these count by how well each document matches the rest of the
        question. A question may be about something else in which a term occurs ("revenue from gift cards"): a page
        with a quote that has its other words too gains almost as much as the term's place.
        """
        if not matches.gained.any():
            return matches.gained, matches.gained
        term_words = {word for expansion in matches.expansions for word in expansion.words_asked}
        documents = self._document_scores([token for token in tokens if token not in term_words], within)
        share = documents / documents.max() if documents is not None and documents.any() else np.float32(1)
        by_terms = matches.gained * np.float32(TERMS * self.index.max_idf) * share
        by_terms = by_terms if within is None else np.where(within, by_terms, np.float32(0))
        stated = np.float32(STATED) * by_terms.max() * share * self._stated_shares(tokens, term_words, within)
        return by_terms, np.maximum(stated - by_terms, np.float32(0))

    def _stated_shares(self, tokens: Sequence[str], term_words: "set[str]", within: "Mask | None") -> "Scores":
        """(m,) how much of the question the best quote of each page states, from 0 for half to 1 for all.

        A word counts by its rarity; words that ask, numbers, and words that are on no page searched do not count. 0
        where the question has no words beside the term's, `term_words`.
        """
        index = self.index
        topical = {token for token in tokens if token not in interrogative_words() and not token[0].isdigit()}
        stated_weight, total = np.zeros(len(index.rows), dtype=np.float32), 0.0
        for token in sorted(topical) if topical - term_words else ():
            quotes = index.quotes_with((token,))
            quotes = quotes if within is None else quotes[within[index.page_of[quotes]]]
            if len(quotes):
                stated_weight[quotes] += index.idf(token)
                total += index.idf(token)
        shares: Scores = np.maximum(2 * index.best_on_pages(stated_weight) / np.float32(total or 1) - 1, np.float32(0))
        return shares


def _titles(analyses: "Counter[QuestionAnalysis]") -> Counter[str]:
    """Texts that may be titles of sections, such as quotations of several words, and how often each counts."""
    titles = Counter[str]()
    for analysis, times in analyses.items():
        quoted = (text for text in analysis.quoted if len(words(text)) > 1)
        titles.update(dict.fromkeys((*quoted, *analysis.titles), times))
    return titles
