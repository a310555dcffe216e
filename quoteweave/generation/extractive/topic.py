"""Decide whether the documents are about the question's subject: if not, the answer abstains instead of showing places.

The words that say what the question is about (`relevance.subject_terms`) are weighted by their rarity in the
collection, 0 to 1 each. One quote, with the text around it, must contain enough of that weight, and enough in
comparison with what is missing from it; less suffices where the best quotes are from one document, as they mostly are
for a question that some document is about:

    held - MISSING * missing - SCATTER * (1 - share of the best quote's document in the first hits) >= LEAST

Shared words alone are no sign for a long question, nor is a single shared word for a short one. A word that does not
occur in the collection counts `ABSENT` times among the missing.

A page, figure or section that the question names, and that was found, is always relevant; so is any quote for a
question of words that only ask ("How many tables are there?", "What is the title?"), which is about the document
itself.

The constants were chosen on questions of MMLongBench-Doc and on questions about other things, asked within a document
and of the whole collection: `benchmarks/off_topic.py` has these, and draws the curve.
"""

from quoteweave.core.answers import Context
from quoteweave.core.records import Quote
from quoteweave.core.text.mentions import heading_names, labels_in
from quoteweave.core.text.question_analysis import QuestionAnalysis
from quoteweave.core.text.tokens import words
from quoteweave.generation.extractive.statements import words_with_headings
from quoteweave.generation.relevance import QuestionTerms, subject_terms

MISSING = 0.5
ABSENT = 1.5
SCATTER = 0.5
THRESHOLD = 0.1
FIRST_HITS = 8
DEFAULT_RARITY = 0.6
"""Rarity of a word that some quote contains, where the retriever does not report rarities; other words have 1."""


def is_on_topic(question: QuestionTerms, context: Context) -> bool:
    """Whether the quotes found are about the question; False without quotes, or without words to look for."""
    return topic_margin(question, context) >= 0


def is_unknown_word(word: str, context: Context) -> bool:
    """Whether no page of the collection has a word, as far as the retriever knows."""
    return any(context.rarity.get(stem, 0.0) >= 1.0 for stem in words(word))


def topic_margin(question: QuestionTerms, context: Context) -> float:
    """How far the best quote is above the threshold of `is_on_topic`; infinite for a place that is named."""
    hits = sorted((*context.texts, *context.images), key=lambda hit: -hit.score)
    asked = subject_terms(question)
    if not hits or not question.terms:
        return float("-inf")
    if not asked or any(_is_named(question.reading, hit.quote) for hit in hits):
        return float("inf")
    quotes = [words_with_headings(hit.quote) for hit in hits]
    known = frozenset().union(*quotes)
    rarity = {word: context.rarity.get(word, DEFAULT_RARITY if word in known else 1.0) for word in asked}
    held = max((frozenset(rarity) & quote for quote in quotes), key=lambda own: sum(rarity[word] for word in own))
    absent = {word for word, value in context.rarity.items() if value >= 1.0}
    missing = sum(rarity[word] * (ABSENT if word in absent else 1.0) for word in rarity if word not in held)
    first = [hit.quote.document for hit in hits[:FIRST_HITS]]
    scattered = 1 - first.count(first[0]) / len(first)
    return sum(rarity[word] for word in sorted(held)) - MISSING * missing - SCATTER * scattered - THRESHOLD


def _is_named(reading: QuestionAnalysis, quote: Quote) -> bool:
    """Whether the question refers to the quote, its page or its section by name."""
    if reading.labels and set(reading.labels) & set(labels_in(quote.words())):
        return True
    names = {f"page {quote.page_label}", f"page #{quote.page + 1}", f"page {quote.page + 1}"}
    names.update(heading_names(quote.heading or ""))
    return bool(names & set(reading.places))
