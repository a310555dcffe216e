"""Follows the citations of passages that say what a claim says: what they cite may be its source too.

Papers that cite one source for one fact say it in much the same words, often nearer to each other's than to the
source's. So a sentence that is like the claim, and has a citation mark, is no evidence that its own paper is the
source; what stands under the mark's number in that paper's list of references is. The idea is that of recommending
citations by the contexts in which they are cited (He et al., "Context-aware citation recommendation", WWW 2010).
"""

import re
from collections.abc import Mapping, Sequence
from itertools import zip_longest

from quoteweave.core.records import Hit, Quote
from quoteweave.core.text.marks import parse_marks
from quoteweave.core.text.tokens import words
from quoteweave.generation.relevance import coverage, question_terms, weigh_terms
from quoteweave.generation.sentences import split_sentences

SENTENCES = 8
"""Sentences whose marks are followed, the most like the claim."""
LEAST_COVERAGE = 0.3
"""Least share of the claim's words, weighed by rarity, in a sentence whose marks are followed."""
_HEADING = re.compile(
    r"(?:\d+\.?\s*|[A-Z]\.\s*)?(?:references|bibliography|literature cited|works cited)\b", re.IGNORECASE
)
_ENTRY = re.compile(r"^\s*(?:\[(\d{1,4})\]|(\d{1,4})\.)\s+", re.MULTILINE)


def cited_for(claim: str, hits: Sequence[Hit], references: Mapping[str, Mapping[int, str]]) -> list[str]:
    """Return the entries of lists of references that sentences like the claim cite, the most alike first, each once.

    `references` are the entries of each document by their numbers (`numbered_references`). Marks of authors and years
    are not followed.
    """
    sentences = [
        (hit.quote.document, hit.quote.text[one.start : one.end])
        for hit in hits
        if hit.quote.kind == "text" and hit.quote.document in references
        for one in split_sentences(hit.quote.text)
    ]
    held = [frozenset(words(text)) for _, text in sentences]
    weights = weigh_terms(question_terms(claim), held)
    covered = [coverage(weights, each) for each in held]
    best = sorted(range(len(sentences)), key=lambda at: (-covered[at], at))[:SENTENCES]
    found = dict[str, None]()
    for at in best:
        document, text = sentences[at]
        if covered[at] >= LEAST_COVERAGE:
            numbers = [number for mark in parse_marks(text) for number in mark.numbers]
            entries = (references[document].get(number) for number in numbers)
            found.update((entry, None) for entry in entries if entry is not None)
    return list(found)


def numbered_references(quotes: Sequence[Quote]) -> dict[int, str]:
    """Return the entries of a document's list of references by their numbers; empty where it has none that is numbered.

    >>> numbered_references(collection.document_quotes("port.md"))
    {}
    """
    listed = "\n".join(quote.text for quote in quotes if _HEADING.match(quote.section or ""))
    starts = list(_ENTRY.finditer(listed))
    return {
        int(start[1] or start[2]): " ".join(listed[start.end() : following.start() if following else None].split())
        for start, following in zip_longest(starts, starts[1:])
    }


def is_secondhand(claim: str, text: str) -> bool:
    """Whether the sentence of a text that is most like the claim cites something for what it says."""
    sentences = [text[one.start : one.end] for one in split_sentences(text)]
    held = [frozenset(words(each)) for each in sentences]
    weights = weigh_terms(question_terms(claim), held)
    best = max(range(len(held)), key=lambda at: coverage(weights, held[at]), default=None)
    return best is not None and coverage(weights, held[best]) > 0 and bool(parse_marks(sentences[best]))
