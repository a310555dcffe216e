"""Questions with gold pages that are not among the first five within the document, by causes that rules can find."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from pydantic import BaseModel
from question_rows import QuestionSet

from quoteweave.collection.collection import Collection
from quoteweave.core.examples import Example, Prediction
from quoteweave.core.text.tokens import words

FIRST = 5
# A question counts under the first that applies.
UNREAD = "its document is not in the collection"
WRONG = "a gold page beyond the document's pages: the annotation is wrong"
NO_WORD = "no word of the question on a gold page that is missed"
MANY = "four gold pages or more"
OTHER = "other"
CAUSES = (UNREAD, WRONG, NO_WORD, MANY, OTHER)


class Miss(BaseModel):
    """A question with gold pages beyond the first five. Pages count from 1."""

    cause: str
    set: str
    example: str
    question: str
    evidence_types: tuple[str, ...]
    gold_pages: tuple[int, ...]
    first_pages: tuple[int, ...]


def misses(sets: Sequence[QuestionSet], predictions: Iterable[Prediction], collection: Collection) -> list[Miss]:
    """The questions with missed pages, in the order of their causes."""
    first = {
        prediction.example: [hit.page for hit in prediction.pages[:FIRST]]
        for prediction in predictions
        if prediction.scope == "document"
    }
    document_names = {example.document for questions in sets for example in questions.examples}
    available = [document.name for document in collection.documents() if document.name in document_names]
    pages = {name: _words_of_pages(collection, name) for name in available}
    misses_found = []
    for questions in sets:
        for example in questions.examples:
            ranked, gold = first.get(example.id, []), example.reference.pages
            missed = [page for page in gold if page not in ranked]
            if not missed:
                continue
            miss = Miss(
                cause=_cause(example, missed, pages.get(example.document or "")),
                set=questions.name,
                example=example.id,
                question=example.query.text,
                evidence_types=example.evidence_types,
                gold_pages=tuple(page + 1 for page in gold),
                first_pages=tuple(page + 1 for page in ranked),
            )
            misses_found.append(miss)
    return sorted(misses_found, key=lambda miss: CAUSES.index(miss.cause))


def _cause(example: Example, missed: Sequence[int], pages: Sequence[set[str]] | None) -> str:
    if pages is None:
        return UNREAD
    if any(page >= len(pages) for page in missed):
        return WRONG
    question_words = set(words(example.query.text))
    if any(question_words.isdisjoint(pages[page]) for page in missed):
        return NO_WORD
    return MANY if len(example.reference.pages) >= 4 else OTHER


def _words_of_pages(collection: Collection, document: str) -> list[set[str]]:
    """For each page, the words by which retrievers may find it."""
    of_page: dict[int, set[str]] = defaultdict(set)
    for quote in collection.document_quotes(document):
        if quote.retrievable:
            of_page[quote.page].update(words(quote.all_text()))
    return [of_page[number] for number in range(len(collection.pages(document)))]
