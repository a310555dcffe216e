"""Questions to begin with: made from what documents say, and kept if the answer cites the place they were made from."""

from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain, islice, zip_longest

from quoteweave.collection.collection import Collection
from quoteweave.core.answers import Answer
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.records import Quote
from quoteweave.core.text.tokens import STOP_WORDS

MAX_READ, MAX_DOCUMENTS, MAX_TRIED, MAX_OF_A_KIND = 24, 6, 24, 3
"""At most: documents that are read; documents from which candidates are made; candidates that are asked; and
candidates of one kind from one document."""
_DEFINITION = lazy_regex(r"(The |An? )?([A-Z][\w’'-]*(?: [\w’'-]+){0,4}) (is|are) (?:an?|the|one) ")
_HOW_TO = lazy_regex(r"(?:\d+(?:\.\d+)*\.?\s+)?How to (\w[\w ,’'-]{3,60})")
_QUESTION = lazy_regex(r"(?:\d+(?:\.\d+)*\.?\s+)?((?:How|What|When|Where|Who|Why|Which) [\w ,’'-]{3,60}\?)")
_WITHIN = lazy_regex(r"(?<=[^\W\d_] )[\w’'-]+|(?<=, )[\w’'-]+")
"""A word that does not begin a sentence."""
_YEAR = lazy_regex(r"(?:19|20)\d\d")
_FIGURE = lazy_regex(r"\d")
_ROW = lazy_regex(r"[^\W\d_][^\W\d_]+(?: [^\W\d_]+){0,5}")


def opening_questions(collection: Collection, ask: Callable[[str], Answer], most: int) -> tuple[str, ...]:
    """Return at most `most` questions in English, each of which `ask` answers.

    They are taken in turn from the first documents that suggest any. They are made from sentences that say what
    something is, from headings that ask or say how to do something, and from tables with a column for a year, or with
    one figure in a row. A question is kept if its answer cites the quote that it was made from, or the page of the
    heading. There are none if the documents have nothing of the kind. Raises what `ask` raises.
    """
    documents = collection.documents()[:MAX_READ]
    candidates_of_documents = (list(_candidates(collection.document_quotes(document.name))) for document in documents)
    in_turn = zip_longest(*islice(filter(None, candidates_of_documents), MAX_DOCUMENTS))
    candidates = [candidate for candidate in chain.from_iterable(in_turn) if candidate is not None]
    answered = (question for question, quote in candidates[:MAX_TRIED] if _cites_source(ask(question), quote))
    return tuple(islice(answered, most))


def _cites_source(answer: Answer, quote: Quote) -> bool:
    """Whether an answer cites the quote or, for a heading, anything on its page."""
    place = (quote.document, quote.page) if quote.layout == "title" else None
    is_cited = any(place == (cited.document, cited.page) or cited.quote_id == quote.id for cited in answer.citations)
    return answer.status == "answered" and is_cited


def _candidates(quotes: Sequence[Quote]) -> Iterator[tuple[str, Quote]]:
    """Yield questions, each with the quote that answers it, of each kind in turn."""
    within = {word for quote in quotes if quote.layout == "paragraph" for word in _WITHIN.findall(quote.text)}
    defined = (candidate for quote in quotes if (candidate := _definition_question(quote, within)))
    titled = (candidate for quote in quotes if (candidate := _heading_question(quote)))
    counted = (candidate for quote in quotes if (candidate := _table_question(quote)))
    kinds = (islice(kind, MAX_OF_A_KIND) for kind in (counted, defined, titled))
    yield from dict.fromkeys(
        candidate for candidate in chain.from_iterable(zip_longest(*kinds)) if candidate is not None
    )


def _definition_question(quote: Quote, within: AbstractSet[str]) -> tuple[str, Quote] | None:
    match = _DEFINITION.match(quote.text) if quote.layout == "paragraph" else None
    # "There is a" and "This is a" do not name what they define.
    if match is None or set(match[2].casefold().split()) & STOP_WORDS:
        return None
    first, space, other_words = match[2].partition(" ")
    # The first word becomes lower case if it is so within sentences, and only so: "Python" is a name beside `python`.
    is_name = first.lower() not in within or first in within
    term = f"{first if is_name else first.lower()}{space}{other_words}"
    return f"What {match[3]} {(match[1] or '').lower()}{term}?", quote


def _heading_question(quote: Quote) -> tuple[str, Quote] | None:
    if quote.layout != "title":
        return None
    if match := _HOW_TO.fullmatch(quote.text):
        return f"How do I {match[1]}?", quote
    match = _QUESTION.fullmatch(quote.text)
    return None if match is None else (match[1], quote)


def _table_question(quote: Quote) -> tuple[str, Quote] | None:
    """Ask for the figure in a table's first row: in the last column that is a year, or in the only one.

    Where no column is a year, a row of several words that are no name is asked for: "Rated power", not "New Zealand".
    """
    rows = [line.split(" | ") for line in quote.text.splitlines()[:2]] if quote.layout == "table" else []
    if len(rows) < 2 or len(rows[0]) != len(rows[1]) or not _ROW.fullmatch(rows[1][0]):
        return None
    name, *figures = rows[1]
    years = [head for head, cell in zip(*rows, strict=True) if _YEAR.fullmatch(head) and cell.strip()]
    if years:
        return f"What is the figure for “{name}” in {years[-1]}?", quote
    has_one_figure = len(figures) == 1 and _FIGURE.search(figures[0]) is not None
    return (f"What is the {name.lower()}?", quote) if has_one_figure and " " in name and name[1:].islower() else None
