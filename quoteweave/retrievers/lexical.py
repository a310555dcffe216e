"""The default retriever: pages are ranked by their evidence, and their quotes by how well each matches."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from quoteweave.collection.arrays import np
from quoteweave.collection.collection import Collection
from quoteweave.core.place_names import PlaceName
from quoteweave.core.protocols import Explanation
from quoteweave.core.records import Filter, Hit, Query, Quote
from quoteweave.core.text.question_analysis import CONTACT
from quoteweave.core.text.question_words import asked_thing, describes_thing
from quoteweave.core.text.references.mentions import heading_names
from quoteweave.core.text.tokens import name_words, symbol_runs, words
from quoteweave.index import lexical
from quoteweave.index.lexical import LexicalIndex
from quoteweave.index.term_weights import differs_from_last, distinct
from quoteweave.retrievers.pages.evidence import EvidenceScorer, PageEvidence
from quoteweave.retrievers.pages.literal_matches import has_literally, is_literal, sought_in
from quoteweave.retrievers.pages.reasons import describe_interpretation, reasons_for, synonyms_in
from quoteweave.retrievers.sparse import Bm25Retriever
from quoteweave.retrievers.terms.terms import Terms, finance

if TYPE_CHECKING:
    import numpy.typing as npt

    from quoteweave.index.term_weights import Mask, Positions, Scores


# Stands for a quote that was removed after the index was opened: it has no words.
_REMOVED_QUOTE = Quote(id="", document="", page=0, page_label="", bbox=(0, 0, 0, 0), kind="text", layout="paragraph")

# Share of its page's score that the worst-fitting quote gets.
MIN_PAGE_SHARE = 0.4
# A quote's fit is multiplied by this once for each better-fitting quote of its page, so that the first hits come from
# several pages: the evidence is often on more than one.
FURTHER_QUOTE = 0.8
# Weight of the BM25 of the heading above a quote, relative to the quote's own.
HEADING_WEIGHT = 0.6
# For questions that ask for steps, the quotes under a heading are kept together. For how many headings:
SECTIONS = 2
# How many quotes are kept together, from the first under the heading on, or from the best-fitting one on:
MAX_TOGETHER, FROM_FITTEST = 8, 2
# By how much the quotes under each further heading fit less:
NEXT_HEADING = 0.001
# For questions that ask what a thing does: how many of the first quotes under the heading that names it count as the
# best-fitting ones of their page.
DESCRIBING = 3
# Added to the fit of a quote, relative to the best one of its page, that has the form that the question asks for:
# - a table or picture, where it asks about pictures, names one or contains a term;
# - a text with a contact, where it asks for one;
# - a quote that has a quotation or code of the question to the letter;
# - a quote under the heading of a part that the question names, as pages may have several;
# - a quote that has words of the question in another spelling or by another name.
# Contacts, quotations, codes and parts are only looked for on the best `FORM_PAGES` pages.
FORM_BONUS = 0.5
FORM_PAGES = 10


class LexicalRetriever(Bm25Retriever):
    """Ranks pages by their evidence (`retrievers.pages.evidence`), and a page's quotes by their own BM25.

    The best-fitting quote of a page gets the page's score, and the others at least `MIN_PAGE_SHARE` of it. How well a
    quote fits depends on its own BM25, on that of the heading above it, and on whether it has the form that the
    question asks for (a picture, a contact); it counts less for each quote of the page that fits better. So evidence
    that a quote alone cannot show (a number in a chart, an icon in a manual, the steps that a heading introduces) is
    found through the words around it.

    `terms` are domain terms that questions may contain, in addition to the built-in ones of finance. `synonyms` says
    whether English words that no page has are replaced by synonyms that pages have.

    >>> (hits,) = LexicalRetriever(collection).search([Query(text="How much grain was shipped?")], k=1)
    >>> hits[0].quote.text
    'The harbour shipped 4,210 tonnes of grain in May.'
    """

    def __init__(self, collection: Collection, *, terms: Sequence[Terms] = (), synonyms: bool = True) -> None:
        super().__init__(collection)
        self._synonyms = synonyms
        self._terms = (finance(), *terms)
        self._scorer: EvidenceScorer | None = None
        self._headings: tuple[LexicalIndex, Positions] | None = None

    def evidence(self, index: LexicalIndex, question: str, where: Filter | None = None) -> PageEvidence:
        """The evidence for each page that passes the filter; the kinds of quotes that the filter wants are ignored."""
        scorer, pages = self._scorer_of(index), _page_filter(where)
        # Which pages pass a filter may change while the index does not, as when a document's metadata are edited.
        key = f"{self._collection.revision()} {pages.model_dump_json()} {question}" if pages else question
        evidence = scorer.cache.get(key)
        if evidence is None:
            evidence = scorer.score(question, self._pages_within(index, pages))
            scorer.cache.put(key, evidence)
        return evidence

    def page_scores(
        self, query: Query, pages: Sequence[tuple[str, int]], *, where: Filter | None = None
    ) -> list[float]:
        """The evidence for pages, given as (document name, page from 0); 0 for a page that is not in the index.

        The unit is the largest score of a word that occurs on only one page of the collection. Raises what `search`
        raises.
        """
        index = self._opened = lexical.current_lexical_index(self._collection, self._opened)
        total, unit = self.evidence(index, query.text, where).total, index.max_idf or 1.0
        positions = [index.page(*page) for page in pages]
        return [float(total[at]) / unit if at is not None else 0.0 for at in positions]

    def explain(self, query: Query, hits: Sequence[Hit], *, where: Filter | None = None) -> Explanation:
        """Explain each hit by the evidence for its page, and say how the question was read.

        Raises what `search` raises.
        """
        index = self._opened = lexical.current_lexical_index(self._collection, self._opened)
        evidence = self.evidence(index, query.text, where)
        scorer = self._scorer_of(index)
        reasons = {hit.quote.id: reasons_for(evidence, scorer, hit.quote) for hit in hits}
        rarities = {word: index.rarity(word) for word in words(query.text, keep_stop_words=True)}
        # A term or acronym that was expanded occurs in the documents, though under another name; so does a code.
        known_words = [word for expansion in evidence.expansions for word in expansion.words_asked]
        known_words += [word for respelled in evidence.spellings for word in words(respelled)]
        rarities.update(dict.fromkeys((word for word in known_words if rarities.get(word) == 1.0), 0.5))
        variant_words = [
            word for spellings in evidence.spellings.values() for spelling in spellings for word in words(spelling)
        ]
        rarities.update({word: index.rarity(word) for word in variant_words if word not in rarities})
        within = self._pages_within(index, _page_filter(where))
        document = int(index.document_of[evidence.total.argmax()]) if evidence.total.any() else None
        return Explanation(
            interpretation=describe_interpretation(evidence, scorer, within),
            reasons=reasons,
            points_per_unit=index.max_idf or 1.0,
            rarity=rarities,
            variety=index.variety(within, document),
            places=tuple(sorted(map(str, evidence.found_places))),
            spellings=evidence.spellings,
            synonyms=synonyms_in(evidence),
        )

    def _scores(self, index: LexicalIndex, question: str, where: Filter | None, k: int) -> "Scores":
        evidence, scores = self.evidence(index, question, where), np.zeros(len(index.rows), dtype=np.float32)
        candidates = self._worth_ranking(index, evidence.total, where, k)
        pages = index.page_of[candidates]
        fit = self._fits_of_quotes(index, evidence, candidates, pages)
        scores[candidates] = evidence.total[pages] * (MIN_PAGE_SHARE + (1 - MIN_PAGE_SHARE) * fit)
        return scores

    def _worth_ranking(self, index: LexicalIndex, total: "Scores", where: Filter | None, k: int) -> "Positions":
        """Positions of all quotes of the pages that can have one of the best `k` hits.

        A page gives its best quote its own score, and every quote at least `MIN_PAGE_SHARE` of it.
        """
        allowed = self._allowed(index, where)
        worth = total if allowed is None else total * index.pages_with(allowed)
        best = lexical.best_positions(worth, k, index.page_order)
        least = float(worth[best[-1]]) * (1.0 if allowed is None else MIN_PAGE_SHARE) if len(best) == k else 0.0
        # A little less, as scores are rounded.
        return index.quotes_on(np.flatnonzero((total > 0) & (total >= 0.999 * least)))

    def _fits_of_quotes(
        self, index: LexicalIndex, evidence: PageEvidence, candidates: "Positions", pages: "Positions"
    ) -> "Scores":
        """How well quotes at these positions fit, relative to the best of their page, 0 to 1."""
        best = np.where(evidence.best_quote > 0, evidence.best_quote, np.float32(1))
        headings = self._headings_of(index)
        heading_scores = np.where(headings[candidates] >= 0, evidence.quote_scores[headings[candidates]], np.float32(0))
        fit = (evidence.quote_scores[candidates] + np.float32(HEADING_WEIGHT) * heading_scores) / best[pages]
        self._add_form_bonus(fit, index, evidence, candidates)
        fittest = np.zeros(index.page_count, dtype=fit.dtype)
        np.maximum.at(fittest, pages, fit)
        # On a page that is found by a reference or a kind of picture alone, all quotes fit equally.
        fits_equally = fittest == 0
        relative: Scores = ((fit + fits_equally[pages]) / (fittest + fits_equally)[pages]).astype(
            np.float32, copy=False
        )
        if any(analysis.asks == "steps" for analysis in evidence.analyses):
            # Those under the best heading come before those under the next, which may stand above them on the page.
            for position, under in enumerate(self._under_best_headings(evidence, headings, index.page_of)):
                relative[np.isin(candidates, under)] = 1 - position * NEXT_HEADING
        else:
            relative *= np.float32(FURTHER_QUOTE) ** _better_on_page(relative, pages)
            relative[np.isin(candidates, self._describing_quotes(index, evidence, headings))] = 1
        return relative

    def _add_form_bonus(
        self, fit: "npt.NDArray[Any]", index: LexicalIndex, evidence: PageEvidence, candidates: "Positions"
    ) -> None:
        """Add `FORM_BONUS` to the fit of quotes at these positions for each form that the question asks for."""
        if (
            any(analysis.picture_types or analysis.labels for analysis in evidence.analyses)
            or evidence.parts["terms"].any()
        ):
            fit += np.float32(FORM_BONUS) * index.is_image[candidates]
        if any(analysis.asks == "contact" for analysis in evidence.analyses):
            contacts = self._accepted_quotes(
                index, evidence.total, lambda quote: CONTACT.search(quote.text) is not None
            )
            fit += np.float32(FORM_BONUS) * (np.isin(candidates, contacts) & ~index.is_image[candidates])
        if evidence.respelled_quotes:
            fit += np.float32(FORM_BONUS) * np.isin(candidates, np.concatenate(evidence.respelled_quotes))
        literals = [text for text in sought_in(evidence.analyses) if is_literal(text)]
        if literals:
            matches = self._accepted_quotes(index, evidence.parts["quotation"], partial(_has_any, literals))
            fit += np.float32(FORM_BONUS) * np.isin(candidates, matches)
        parts = [place for analysis in evidence.analyses for place in analysis.places if not place.is_page]
        if parts:
            fit += np.float32(FORM_BONUS) * np.isin(
                candidates, self._in_parts(index, evidence.parts["reference"], parts)
            )

    def _accepted_quotes(self, index: LexicalIndex, pages: "Scores", accepts: Callable[[Quote], bool]) -> "Positions":
        """Positions of the quotes that are accepted, on the pages with the best scores above 0."""
        positions, quotes = self._on_best_pages(index, pages)
        return positions[np.array([accepts(quote) for quote in quotes], dtype=np.bool_)]

    def _in_parts(self, index: LexicalIndex, pages: "Scores", parts: Sequence[PlaceName]) -> "Positions":
        """Positions of the quotes that are the heading of one of these parts, or stand below it, on the best pages."""
        positions, quotes = self._on_best_pages(index, pages)
        sought = {part.without_page for part in parts}
        lasts = [index.last_parts(part.kind) for part in sought if part.is_last]
        documents = index.document_of[index.page_of[positions]].tolist()
        within = [
            not sought.isdisjoint(names_above) or any(last.get(document) in names_above for last in lasts)
            for document, names_above in zip(documents, _names_above(quotes), strict=True)
        ]
        return positions[np.array(within, dtype=np.bool_)]

    def _on_best_pages(self, index: LexicalIndex, pages: "Scores") -> "tuple[Positions, list[Quote]]":
        """Quotes on the pages with the best scores above 0, with their positions."""
        positions = index.quotes_on(np.sort(lexical.best_positions(pages, FORM_PAGES, index.page_order)))
        return positions, self._quotes_at(index, positions)

    def _describing_quotes(self, index: LexicalIndex, evidence: PageEvidence, headings: "Positions") -> "Positions":
        """Positions of the first quotes under headings, on the best pages, that name the thing whose use is asked."""
        uses_asked = [asked for analysis in evidence.analyses if (asked := asked_thing(analysis.text))]
        positions, quotes = self._on_best_pages(index, evidence.total) if uses_asked else (index.rows[:0], [])
        under = [
            np.flatnonzero(headings == at)[:DESCRIBING]
            for at, quote in zip(positions, quotes, strict=True)
            if quote.layout == "title"
            and any(describes_thing(quote.text, asked, frozenset(name_words(quote.document))) for asked in uses_asked)
        ]
        return np.concatenate(under) if under else positions[:0]

    @staticmethod
    def _under_best_headings(evidence: PageEvidence, headings: "Positions", of_page: "Positions") -> "list[Positions]":
        """Positions of the quotes under each of the best headings, kept together as one step alone explains nothing."""
        scored_headings = distinct(headings[(headings >= 0) & (evidence.quote_scores[headings] > 0)])
        worth = evidence.quote_scores[scored_headings] * evidence.total[of_page[scored_headings]]
        best = scored_headings[np.argsort(-worth, kind="stable")[:SECTIONS]]
        under = [np.flatnonzero(headings == at) for at in best]
        fittest = [section[np.argmax(evidence.quote_scores[section]) :][:FROM_FITTEST] for section in under]
        return [
            distinct(np.concatenate([section[:MAX_TOGETHER], fittest_quotes]))
            for section, fittest_quotes in zip(under, fittest, strict=True)
        ]

    def _pages_within(self, index: LexicalIndex, where: Filter | None) -> "Mask | None":
        """(m,) the pages that pass the filter; None where all do."""
        allowed = self._allowed(index, where)
        return None if allowed is None else index.pages_with(allowed)

    def _scorer_of(self, index: LexicalIndex) -> EvidenceScorer:
        # Concurrent threads may build two equal scorers, of which one is kept.
        scorer = self._scorer
        if scorer is None or scorer.index is not index:
            load_quotes, find_pages = partial(self._quotes_at, index), partial(self._pages_containing, index)
            scorer = self._scorer = EvidenceScorer(index, load_quotes, find_pages, self._terms, synonyms=self._synonyms)
        return scorer

    def _headings_of(self, index: LexicalIndex) -> "Positions":
        """(n,) the position of the last heading before each quote, on its page or the one before; -1 for none.

        A heading itself has none.
        """
        cached = self._headings  # another thread may replace it meanwhile
        if cached is None or cached[0] is not index:
            size = len(index.rows)
            is_heading = np.isin(index.rows, self._collection.select(Filter(layouts=("title",))), assume_unique=True)
            last = np.maximum.accumulate(np.where(is_heading, np.arange(size), -1)) if size else index.rows
            document = index.document_of[index.page_of]
            is_near = (last >= 0) & ~is_heading & (document[last] == document)
            is_near &= index.page_of - index.page_of[last] <= 1
            self._headings = cached = index, np.where(is_near, last, -1)
        return cached[1]

    def _quotes_at(self, index: LexicalIndex, positions: "Positions") -> list[Quote]:
        """The quotes at these positions; a quote without words stands for one that was removed since."""
        quotes = self._collection.quotes_at(index.rows[positions].tolist())
        return [quote if quote is not None else _REMOVED_QUOTE for quote in quotes]

    def _pages_containing(self, index: LexicalIndex, text: str, within: "Mask | None") -> "Mask":
        """(m,) which of the pages `within` have a quote that contains a string to the letter."""
        pages_to_search = np.ones(index.page_count, dtype=np.bool_) if within is None else within
        pages_with_text = np.zeros_like(pages_to_search)
        # The index can look up a string of symbols alone, such as "&&". For other strings, and on pages whose symbols
        # it does not know, the quotes are read.
        if symbol_runs(text) == {text}:
            pages_with_text = index.pages_with_symbols(text) & pages_to_search
            pages_to_search = pages_to_search & ~index.knows_symbols
        rows = index.rows[pages_to_search[index.page_of]]
        if len(rows):
            # A document's quotes lie in rows that follow one another.
            containing = self._collection.rows_containing(text, first=int(rows.min()), last=int(rows.max()))
            pages_with_text |= index.pages_with(np.isin(index.rows, containing, assume_unique=True)) & pages_to_search
        return pages_with_text


def _better_on_page(fit: "Scores", page_of: "Positions") -> "Positions":
    """(n,) how many quotes of its page fit better than each quote."""
    order = np.lexsort((-fit, page_of))
    pages, fits, at = page_of[order], fit[order], np.arange(len(order))
    new_page = differs_from_last(pages)
    new_fit = new_page | differs_from_last(fits)
    first_of_page, first_of_fit = (np.maximum.accumulate(np.where(is_first, at, 0)) for is_first in (new_page, new_fit))
    better = np.empty_like(at)
    better[order] = first_of_fit - first_of_page
    return better


def _has_any(literals: Sequence[str], quote: Quote) -> bool:
    text = quote.all_text()
    return any(has_literally(text, literal) for literal in literals)


def _names_above(quotes: Sequence[Quote]) -> list[list[PlaceName]]:
    """The names of the part in which each quote stands, by the last heading above it that has any."""
    names: list[list[PlaceName]] = []
    place: tuple[str, int] | None = None
    current: list[PlaceName] = []
    for quote in quotes:
        if place is None or place[0] != quote.document or quote.page > place[1] + 1:
            current = []
        place = quote.document, quote.page
        heading = quote.text if quote.layout == "title" else quote.section
        current = (heading_names(heading) if heading else []) or current
        names.append(current)
    return names


def _page_filter(where: Filter | None) -> Filter | None:
    """The part of a filter that restricts pages: the evidence for them does not depend on the kind of quote wanted."""
    restricted = where and where.of_pages()
    return None if restricted == Filter() else restricted
