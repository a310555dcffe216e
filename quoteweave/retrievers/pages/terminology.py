"""Evidence by a question's terms and acronyms: other names, what terms are made of, and where that stands."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import chain, islice
from typing import TYPE_CHECKING

from quoteweave.collection.arrays import np
from quoteweave.collection.segments.builder import acronym_prefix, meaning_prefix
from quoteweave.core.concurrency.recent_cache import RecentCache
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.tokens import words, written_forms
from quoteweave.index.lexical import LexicalIndex
from quoteweave.index.term_weights import distinct
from quoteweave.retrievers.pages.page_feedback import PAGE_B, LoadQuotes
from quoteweave.retrievers.terms.terms import Phrase, TermExpansion, TermPlaces, Terms

if TYPE_CHECKING:
    from quoteweave.index.term_weights import Mask, Positions, Scores

PARTS_OF_TERM = 0.5
MAX_OF_TERM = 1.5
ACRONYMS = 0.4
# What a page with another name of a term gains, relative to one with the name that the question has.
OTHER_NAME = 0.9
# Most quotes that are searched for a term as an exact phrase.
MAX_PHRASE_CHECKS = 100
# Phrases whose quotes are cached, as one question looks for its terms several times and others for the same ones.
CACHED_PHRASES = 64
# A word of the question that is surely an acronym; one without a vowel may be.
_CAPITALS, _VOWELS = lazy_regex(r"\b[A-Z]{2,}s?\b"), frozenset("aeiouy")
# Letters of an acronym whose plural is looked up too, its "s" included: "LLMs".
MIN_ACRONYM, MAX_ACRONYM = 2, 6
# Most words of an acronym's expansion, word sequences of the question to look up, and expansions of each.
MAX_EXPANSION_WORDS, MAX_PHRASES, MAX_EXPANSIONS = 6, 200, 3
# Most definitions of one acronym that are considered.
MAX_DEFINITIONS = 50

FindPhrase = Callable[..., "Positions"]
"""The quotes that contain an exact phrase; with `in_pictures`, only image quotes."""
Sources = dict[str, "Positions"]
"""What a part of the evidence comes from, as an explanation shows it, with the pages or quotes where each was found."""


@dataclass
class TermMatches:
    """How pages (m,) match the terms of a question."""

    gained: "Scores"
    """Gains by the terms, their components and their places, from 0 to `MAX_OF_TERM` for the terms of one domain."""
    renamed: "Scores"
    """Points by other names of the terms."""
    expansions: list[TermExpansion] = field(default_factory=list)
    """The terms of which anything was found."""
    sources: Sources = field(default_factory=dict)
    """The pages with each component and place."""
    other_names: Sources = field(default_factory=dict)
    """The quotes with each other name."""


class Terminology:
    """Looks for the terms and acronyms of a question in one index."""

    def __init__(self, index: LexicalIndex, load_quotes: LoadQuotes, terms: Sequence[Terms]) -> None:
        self._index, self._load_quotes, self._terms = index, load_quotes, terms
        self._places = TermPlaces(index)
        self._contains: RecentCache[Phrase, dict[int, bool]] = RecentCache(CACHED_PHRASES)

    def terms(self, tokens: Sequence[str], quote_scores: "Scores", page_scores: "Scores") -> TermMatches:
        """Match the terms among a question's words; the scores are those of quotes and pages for these words."""
        matches = TermMatches(self._index.no_points(), self._index.no_points())
        with_phrase = cache(partial(self._with_phrase, quote_scores))
        for terms in self._terms:
            if (expansions := terms.expansions(tokens)) and (applies := self._places.documents(terms)).any():
                has_parts = self._add_components(matches, terms, expansions, with_phrase)
                for expansion in expansions:
                    is_renamed = self._add_other_names(matches, expansion, (with_phrase, page_scores), applies)
                    matches.expansions += [expansion] if has_parts or is_renamed else []
        return matches

    def _add_components(
        self, matches: TermMatches, terms: Terms, expansions: Sequence[TermExpansion], with_phrase: FindPhrase
    ) -> bool:
        """Add what pages gain by what terms are made of, where that stands, and the terms as they are asked.

        Components and places never count more than a term itself. Returns whether there are any.
        """
        points, sources, applies = self._index.no_points(), Sources(), self._places.documents(terms)
        for place in dict.fromkeys(place for expansion in expansions for place in expansion.places):
            pages = self._places.pages(terms, place)
            points += pages
            sources[place] = np.flatnonzero(pages)
        parts = dict.fromkeys(part for expansion in expansions for part in expansion.parts)
        for part in parts:
            pages = self._places.pages_with(tuple(words(part)), tables=True)
            points += np.float32(PARTS_OF_TERM / len(parts)) * pages
            sources[part] = np.flatnonzero(pages)
        if not (points * applies).any():
            return False
        pages_by_name = chain.from_iterable(self._pages_named(expansion, with_phrase) for expansion in expansions)
        for name, named_pages in pages_by_name:
            sources[name] = named_pages
            points[named_pages] = MAX_OF_TERM
        gained = np.minimum(points, MAX_OF_TERM) * applies
        for expansion in expansions:
            if expansion.name not in terms.places:
                raised = self._raise_pages_with_term(gained, expansion, with_phrase)
                if len(raised):
                    pages_known = sources.get(expansion.asked_name, raised)
                    sources[expansion.asked_name] = distinct(np.concatenate([pages_known, raised]))
        matches.gained += gained
        matches.sources |= sources
        return True

    def _raise_pages_with_term(
        self, gained: "Scores", expansion: TermExpansion, with_phrase: FindPhrase
    ) -> "Positions":
        """Raise the gain (m,) of pages that have a term as it is asked to that of the best page by its components.

        It is raised no higher, as a single word may mean something else. Many texts mention a line item, so they count
        only in documents whose tables do not have it; and in documents whose best page has it, no page is raised.
        Returns the raised pages.
        """
        index = self._index
        quotes = with_phrase(expansion.words_asked, in_pictures=False)
        exact, most = distinct(index.page_of[quotes]), np.full(index.page_count, gained.max(initial=0))
        if expansion.is_listed:
            in_tables = with_phrase(expansion.words_asked, in_pictures=True)
            tables = distinct(index.page_of[in_tables])
            lacks_term = index.in_documents_of(tables) == 0
            exact = distinct(np.concatenate([tables, exact[lacks_term[exact]]]))
            most = self._most_in_documents(gained)
            reached = np.zeros_like(gained)
            reached[exact] = gained[exact]
            exact = exact[(self._most_in_documents(reached) < most)[exact]]
        exact = exact[gained[exact] < most[exact]]
        gained[exact] = most[exact]
        return exact

    def _most_in_documents(self, gained: "Scores") -> "Scores":
        """(m,) the largest value that any page of each page's document has."""
        most = np.zeros(self._index.document_count, dtype=gained.dtype)
        np.maximum.at(most, self._index.document_of, gained)
        return most[self._index.document_of]

    def _pages_named(self, expansion: TermExpansion, with_phrase: FindPhrase) -> "Iterator[tuple[str, Positions]]":
        """The pages with a term of several words as asked; if a document lacks an acronym, those with its name."""

        def pages_with(phrase: Phrase) -> "Positions":
            quotes = with_phrase(phrase, in_pictures=expansion.is_listed)
            return self._index.page_of[quotes]

        pages_asked = pages_with(expansion.words_asked)
        if len(expansion.words_asked) > 1:
            yield expansion.name, pages_asked
        lacks_term = self._index.in_documents_of(pages_asked) == 0
        for name in expansion.other_names:
            initials = "".join(word[0] for word in name.casefold().split())
            if expansion.words_asked == (initials,):
                pages = pages_with(tuple(words(name)))
                yield name, pages[lacks_term[pages]]

    def _add_other_names(
        self,
        matches: TermMatches,
        expansion: TermExpansion,
        finder_and_scores: "tuple[FindPhrase, Scores]",
        applies: "Mask",
    ) -> bool:
        """Add what pages gain by another name of a term, as an exact phrase. Returns whether there are any.

        A page gains what the further words of that name would give if they were asked, and less than any page gains
        that has the name which is asked.
        """
        index, quotes_by_name, (with_phrase, page_scores) = self._index, Sources(), finder_and_scores
        pages_asked = distinct(index.page_of[with_phrase(expansion.words_asked, in_pictures=False)])
        gained = page_scores[pages_asked]
        most = OTHER_NAME * min(gained[gained > 0], default=np.inf)
        for name in expansion.other_names:
            new_words = [word for word in words(name) if word not in expansion.words_asked]
            quotes = with_phrase(tuple(words(name)), in_pictures=False) if new_words else pages_asked[:0]
            quotes = quotes[applies[index.page_of[quotes]] & ~np.isin(index.page_of[quotes], pages_asked)]
            if len(quotes):
                pages = distinct(index.page_of[quotes])
                points = np.minimum(index.scores("pages", new_words, b=PAGE_B)[pages], most)
                matches.renamed[pages] = np.maximum(matches.renamed[pages], points)
                quotes_by_name[name] = quotes
        matches.other_names |= quotes_by_name
        return bool(quotes_by_name)

    def _with_phrase(self, scores: "Scores", phrase: Phrase, *, in_pictures: bool) -> "Positions":
        """The quotes that contain an exact phrase; only the best of those that contain its words are read."""
        index = self._index
        quotes = index.quotes_with(phrase)
        quotes = quotes[index.is_image[quotes]] if in_pictures else quotes
        if len(phrase) == 1:
            return quotes
        quotes = index.best_quotes(quotes, scores, MAX_PHRASE_CHECKS)
        contains = self._contains.get(phrase) or {}
        self._contains.put(phrase, contains)
        unread = quotes[np.array([at not in contains for at in quotes.tolist()], dtype=np.bool_)]
        for at, quote in zip(unread.tolist(), self._load_quotes(unread), strict=True):
            contains[at] = _contains(words(quote.all_text()), phrase)
        return quotes[np.array([contains[at] for at in quotes.tolist()], dtype=np.bool_)]

    def acronyms(
        self, question: str, tokens: Sequence[str], page_scores: "Scores", within: "Mask | None"
    ) -> "tuple[Scores, Sources]":
        """The points (m,) by acronyms of a question that documents define, and the quotes with each, as 'roa = …'.

        A page gains where one of its quotes contains the expansion of an acronym but not the acronym, or vice versa.
        The gain is a share of the rarity of the acronym, or of the rarest word of the expansion, whichever the question
        has. It is smaller than that of any page which contains the question's own wording, and is given only in
        documents that define the acronym.
        """
        index, gained, sources = self._index, self._index.no_points(), Sources()
        for phrase, prefix, other_inflections in _acronym_candidates(tokens, question):
            for name in self._defined_names(prefix, within):
                others_of_phrase = [*_forms(words(name.removeprefix(prefix))), *other_inflections]
                defined = index.in_documents_of(index.pages_with_reference(name))
                has_phrase = self._places.pages_with(phrase, tables=False)
                has_other = np.maximum.reduce(
                    [self._places.pages_with(other_form, tables=False) for other_form in others_of_phrase]
                )
                exact = page_scores[(has_phrase > 0) & (defined > 0)]
                worth = min([ACRONYMS * max(map(index.rarity, phrase)), *(OTHER_NAME * exact[exact > 0])])
                gains = np.where(has_phrase > 0, 0, has_other * defined * np.float32(worth)).astype(np.float32)
                if gains.any():
                    gained = np.maximum(gained, gains)
                    forms = written_forms(question)
                    phrase_text = " ".join(forms.get(word, word) for word in phrase)
                    quotes = distinct(
                        np.concatenate([index.quotes_with(other_form) for other_form in others_of_phrase])
                    )
                    sources[f"{phrase_text} = {name.removeprefix(prefix)}"] = quotes[gains[index.page_of[quotes]] > 0]
        return gained, sources

    def _defined_names(self, prefix: str, within: "Mask | None") -> list[str]:
        """The names with this prefix on the pages searched, those on most pages first."""
        times = {}
        for name in self._index.definitions_beginning(prefix, MAX_DEFINITIONS):
            pages = self._index.pages_with_reference(name)
            times[name] = len(pages) if within is None else int(np.count_nonzero(within[pages]))
        names = [name for name in times if times[name]]
        return sorted(names, key=lambda name: (-times[name], name))[:MAX_EXPANSIONS]


def _contains(text: Sequence[str], phrase: Phrase) -> bool:
    return any(tuple(text[at : at + len(phrase)]) == phrase for at in range(len(text) - len(phrase) + 1))


def _acronym_candidates(tokens: Sequence[str], question: str) -> Iterator[tuple[Phrase, str, tuple[Phrase, ...]]]:
    """Words and word sequences that may be acronyms or expansions, each with the prefix of its names in the index.

    Last come the other forms of the acronym: a plural, or the singular. In a question "bus" is no plural, "GPUs" is.
    """
    capital = {word.casefold() for word in _CAPITALS.findall(question)}
    candidates: dict[tuple[Phrase, str], tuple[Phrase, ...]] = {}
    for token in tokens[:MAX_PHRASES]:
        forms = _singular_and_plural(token) if token in capital or _VOWELS.isdisjoint(token) else (token,)
        candidates |= {
            ((token,), acronym_prefix(form)): tuple((other_form,) for other_form in forms[1:]) for form in forms
        }
    for size in range(2, MAX_EXPANSION_WORDS + 1):
        for at in range(min(len(tokens) - size + 1, MAX_PHRASES)):
            candidates[tuple(tokens[at : at + size]), meaning_prefix(tokens[at : at + size])] = ()
    for (phrase, prefix), other_forms in islice(candidates.items(), MAX_PHRASES):
        yield phrase, prefix, other_forms


def _singular_and_plural(acronym: str) -> tuple[str, ...]:
    """An acronym, and its plural or singular: stemming leaves the "s" of "LLMs" and "GPUs"."""
    if not acronym.isalpha() or not MIN_ACRONYM <= len(acronym) <= MAX_ACRONYM:
        return (acronym,)
    return acronym, (acronym[:-1] if acronym.endswith("s") and len(acronym) > MIN_ACRONYM else f"{acronym}s")


def _forms(phrase: Sequence[str]) -> list[Phrase]:
    """The phrase of a definition and, if it is an acronym, its plural or singular."""
    return [(form,) for form in _singular_and_plural(phrase[0])] if len(phrase) == 1 else [tuple(phrase)]
