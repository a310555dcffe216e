"""What `--explain` says: how a question was read, and what speaks for the page of a quote."""

from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING

from quoteweave.core.messages import join_names
from quoteweave.core.place_names import PlaceName
from quoteweave.core.protocols import Reason
from quoteweave.core.records import Quote
from quoteweave.core.text.tokens import words
from quoteweave.index.lexical import LexicalIndex, any_within
from quoteweave.retrievers.pages.evidence import EvidenceScorer, PageEvidence
from quoteweave.retrievers.pages.literal_matches import by_word

if TYPE_CHECKING:
    from quoteweave.index.term_weights import Mask

# Most words of the question to show for each part.
WORDS_SHOWN = 8
# Parts whose points are nearer to 0 than this are left out.
MIN_SHOWN = 0.01


def synonyms_in(evidence: PageEvidence) -> dict[str, tuple[str, ...]]:
    """The question's words that no page searched has, each with the synonyms that were searched for instead."""
    return by_word(evidence.sources.get("synonym", ()))


def describe_interpretation(
    evidence: PageEvidence, scorer: EvidenceScorer, within: "Mask | None" = None
) -> tuple[str, ...]:
    """Describe how the question was read beyond its words, one line each.

    Pages and pictures that it refers to and that the pages `within`, or all pages, do not have are said to be missing.
    So are headings of parts that no text mentions either.
    """
    lines = [f"term: {expansion}" for expansion in evidence.expansions]
    lines += [f"acronym: {meaning}" for meaning in evidence.sources["acronyms"]]
    lines += [f"also spelled: {spelling}" for spelling in evidence.sources["spelling"]]
    replaced = synonyms_in(evidence).items()
    lines += [f"on no page: {word}; searched for {', '.join(synonyms)}" for word, synonyms in replaced]
    for analysis in evidence.analyses:
        names = [*analysis.labels, *analysis.places]
        missing_names = [name for name in names if not _is_found(name, evidence, scorer.index, within)]
        found_phrases = [name.phrase for name in names if name not in missing_names]
        lines += [f"refers to: {', '.join(found_phrases)}"] if found_phrases else []
        lines += [line for name in missing_names for line in _describe_missing(name, evidence, scorer, within)]
        types = ", ".join(f"{kind}s" for kind in analysis.picture_types)
        lines += [f"asks about: {types}"] if types else []
        lines += ["asks for what stands on a first page"] if analysis.asks_front else []
        lines += [f"compares: {', '.join(_differing_words(analysis.sides))}"] if analysis.sides else []
        lines += [f"only says how to answer: {instruction}" for instruction in analysis.instructions]
    return tuple(dict.fromkeys(lines))


def _differing_words(questions: Sequence[str]) -> list[str]:
    """The words of each question between those that all begin with and those that all end with.

    >>> _differing_words(["What did Varna sell in May?", "What did Oslo sell in May?"])
    ['Varna', 'Oslo']
    """
    question_words = [question.rstrip("?").split() for question in questions]
    begin, end = _shared_beginning(question_words), _shared_beginning([part[::-1] for part in question_words])
    between = [" ".join(part[begin : len(part) - end]) for part in question_words]
    return between if all(between) else list(questions)


def _shared_beginning(texts: Sequence[Sequence[str]]) -> int:
    """How many words all begin with."""
    return sum(1 for _ in takewhile(lambda alike: len(set(alike)) == 1, zip(*texts, strict=False)))


def _describe_missing(
    name: PlaceName, evidence: PageEvidence, scorer: EvidenceScorer, within: "Mask | None"
) -> Iterator[str]:
    is_label = any(name in analysis.labels for analysis in evidence.analyses)
    if is_label or name.is_page or (name.page and _is_found(name.without_page, evidence, scorer.index, within)):
        yield f"refers to {name.phrase}, which was not found in the documents"
    elif name.page is None and not scorer.literal.is_mentioned(name, evidence.quote_scores, within):
        yield f"refers to {name.phrase}, but no heading of that name was found"


def _is_found(name: PlaceName, evidence: PageEvidence, index: LexicalIndex, within: "Mask | None") -> bool:
    # If a question has very many names, not all of them were looked for, so the index is asked too.
    pages = index.pages_meant_by(name)
    return name in evidence.found_places or any_within(pages, within)


def reasons_for(evidence: PageEvidence, scorer: EvidenceScorer, quote: Quote) -> tuple[Reason, ...]:
    """The parts of the evidence for a quote's page, the largest first; empty for a page that is not in the index.

    The last one may be below 0, where words are worth less within the document than in the collection.
    """
    page = scorer.index.page(quote.document, quote.page)
    if page is None:
        return ()
    reasons = [
        Reason(part=part, points=round(float(points[page]), 3), detail=_detail(part, evidence, scorer, page))
        for part, points in evidence.parts.items()
        if abs(points[page]) >= MIN_SHOWN
    ]
    return tuple(sorted(reasons, key=lambda reason: -reason.points))


def _detail(part: str, evidence: PageEvidence, scorer: EvidenceScorer, page: int) -> str:
    """What a part of the evidence for this page is based on; "" where its name says it all."""
    index, question = scorer.index, evidence.text
    if part in ("words", "outline"):
        return _matching_words(index, "pages" if part == "words" else part, page, question)
    if part == "best quote":
        return _matching_words(
            index, "quotes", max(index.quotes_on([page]).tolist(), key=evidence.quote_scores.__getitem__), question
        )
    if part == "among its pages":
        return f"its words tell it {'more' if evidence.parts[part][page] > 0 else 'less'} from others of its document"
    if part == "page feedback":
        return "; ".join(scorer.page_feedback.reasons(evidence.seeds, page, evidence.sides, evidence.within))
    if part == "beside a term":
        return "; ".join(expansion.name for expansion in evidence.expansions)
    sources = [source for source, pages in evidence.sources[part].items() if page in pages]
    return (", " if part == "reference" else "; ").join(sources)


def _matching_words(index: LexicalIndex, field: str, at: int, question: str) -> str:
    """The words of a question that a page or quote contains, those with the highest scores first."""
    surfaces = {surface: words(surface) for surface in words(question, stem=False)}
    gained = {surface: float(index.scores(field, stems)[at]) for surface, stems in surfaces.items()}
    matching = sorted((word for word, points in gained.items() if points > 0), key=lambda word: (-gained[word], word))
    return join_names(matching, WORDS_SHOWN)
