"""Make statements from image quotes: of the cells of a table that a question asks for, or of sentences within."""

from collections.abc import Mapping, Sequence

from quoteweave.core.answers import Context
from quoteweave.core.records import Quote
from quoteweave.core.text.question_words import asked_quantity
from quoteweave.core.text.tokens import STOP_WORDS, words
from quoteweave.generation.answer_text import clip, escape_marks, tidy
from quoteweave.generation.extractive.statements import (
    Statement,
    caption_title,
    has_cells,
    image_name,
    picture_text,
)
from quoteweave.generation.extractive.tables.arithmetic import compute_from_table
from quoteweave.generation.extractive.tables.asked_names import FISCAL, OTHER, AskedCells, spans_year, years_in
from quoteweave.generation.extractive.tables.cells import (
    FoundRow,
    asked_parts,
    find_cells,
    find_parts,
    have_own_names,
    read_rows,
    said_of,
    say_which,
)
from quoteweave.generation.extractive.tables.heads import are_said_apart, split_header
from quoteweave.generation.gate.dates import extract_dates, is_of_date
from quoteweave.generation.relevance import (
    QuestionTerms,
    asks_fiscal_year,
    coverage,
    subject_terms,
    words_with_headings,
)
from quoteweave.generation.sentences import split_sentences

MAX_PICTURE_SENTENCE = 300
"""Most characters of a sentence quoted from a picture."""
MIN_WORDS, MIN_COMMON, MAX_NUMBERS = 6, 0.2, 0.25
"""Least words, least share of stop words and most of numbers in a sentence of a picture, unlike rows of labels."""


def image_statements(
    context: Context, question: QuestionTerms, weights: Mapping[str, float], limit: int
) -> list[Statement]:
    """Make statements of image quotes: a table's cells that the question names, else the best sentence."""
    statements = []
    for number, hit in enumerate(context.images, start=1):
        computed = _computed(hit.quote, question)
        rows = () if computed else tuple(_cells(hit.quote, question, weights))
        rows = rows if have_own_names(rows) and say_which(rows) else ()
        cells = computed or _listed(hit.quote, rows)
        if text := cells or _best_sentence(hit.quote, weights):
            text = escape_marks(clip(text, limit))
            flags = {"is_row": bool(cells), "is_computed": bool(computed)}
            held = (*words(text), *words(" ".join(row.days for row in rows)), *_spanned(rows, question))
            statements.append(Statement(text=text, hit=hit, number=number, words=held, cells=rows, **flags))
    return statements


def _spanned(rows: Sequence[FoundRow], question: QuestionTerms) -> list[str]:
    """The year of a question that the names of rows span: 1960, of "1959–1983"."""
    years = years_in(question.terms)
    return [year for year in years if any(spans_year(row.name, years) for row in rows)]


def ambiguous_rows(
    context: Context, question: QuestionTerms, weights: Mapping[str, float], limit: int
) -> list[Statement]:
    """Make statements of those tables in which several rows have the name asked for, or rows are but parts of that.

    They answer nothing, but show that another table's row of that name may not be what is asked for.
    """
    statements, subject = list[Statement](), [word for word in subject_terms(question) if not is_of_date(word)]
    for number, hit in enumerate(context.images, start=1):
        rows = tuple(_cells(hit.quote, question, weights))
        if not rows and has_cells(hit.quote):
            rows = tuple(find_parts(picture_text(hit.quote), subject))
        if rows and (rows[0].is_part or not have_own_names(rows)):
            text = escape_marks(clip(_listed(hit.quote, rows), limit))
            held = tuple(words(text))
            statements.append(Statement(text=text, hit=hit, number=number, words=held, cells=rows, is_row=True))
    return statements


def _cells(quote: Quote, question: QuestionTerms, weights: Mapping[str, float]) -> list[FoundRow]:
    if not has_cells(quote):
        return []
    wanted = asked_quantity(question.analysis.asked_by, question.analysis.text)
    titled = words(quote.caption or "")
    dates, _ = extract_dates(question.analysis.text)
    besides = {OTHER} & set(words(question.analysis.text, keep_stop_words=True))
    if asks_fiscal_year(question):
        besides.add(FISCAL)
    asked = {*question.terms, *besides}
    parts = asked_parts(picture_text(quote), asked)
    counts = question.analysis.asks == "count"
    cells = AskedCells(asked, weights, wanted, titled, dates, question.analysis.text, counts)
    found = [(part, rows) for part in parts if (rows := find_cells(part, cells))]
    if len(found) != 1:
        return []  # nothing tells which of two parts is asked for
    part, rows = found[0]
    header, _ = split_header(read_rows(part))
    headings = {heading for row in rows for heading, _ in row.cells}
    return [] if are_said_apart(headings, header, asked, question.pairs) else rows


def _listed(quote: Quote, rows: Sequence[FoundRow]) -> str:
    sentences = said_of(rows)
    return f"{_titled(quote)} lists {sentences}." if sentences else ""


def _computed(quote: Quote, question: QuestionTerms) -> str:
    if not has_cells(quote):
        return ""
    sentence = compute_from_table(picture_text(quote), question, words_with_headings(quote))
    titled = _titled(quote)
    return (
        f"By {titled[:1].lower() if titled.startswith('The ') else titled[:1]}{titled[1:]}, {sentence}."
        if sentence
        else ""
    )


def _titled(quote: Quote) -> str:
    return f"{image_name(quote)} ({caption_title(quote)})" if caption_title(quote) else image_name(quote)


def _best_sentence(quote: Quote, weights: Mapping[str, float]) -> str:
    """Quote the sentence of an image's text that covers most of the question; "" where it has no sentences."""
    parts = [part.text for part in split_sentences(picture_text(quote))]
    sentences = [tidy(part, MAX_PICTURE_SENTENCE) for part in parts if _is_prose(part)]
    best = max(sentences, key=lambda text: coverage(weights, words(text)), default="")
    return f"{image_name(quote)} reads “{best.rstrip('.')}”." if best else ""


def _is_prose(text: str) -> bool:
    found = text.casefold().split()
    common = sum(word.strip(".,;:()") in STOP_WORDS for word in found)
    numbers = sum(any(map(str.isdigit, word)) for word in found)
    prose = common >= MIN_COMMON * len(found) and numbers <= MAX_NUMBERS * len(found)
    return "|" not in text and len(found) >= MIN_WORDS and prose
