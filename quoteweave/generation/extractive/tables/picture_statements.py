"""Make statements from image quotes: of the cells of a table that a question asks for, or of sentences within."""

from collections.abc import Mapping, Sequence

from quoteweave.core.answers import Context
from quoteweave.core.records import Hit, Quote
from quoteweave.core.text.question_words import asked_quantity
from quoteweave.core.text.tokens import words
from quoteweave.generation.answer_text import clip, escape_marks
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
    said_of,
    say_which,
)
from quoteweave.generation.extractive.tables.heads import are_said_apart, read_rows, split_header
from quoteweave.generation.extractive.tables.pictured_sentences import best_sentences
from quoteweave.generation.gate.dates import extract_dates, is_of_date
from quoteweave.generation.relevance import (
    QuestionTerms,
    asks_fiscal_year,
    subject_terms,
    words_with_headings,
)


def find_rows(context: Context, question: QuestionTerms, weights: Mapping[str, float]) -> list[tuple[FoundRow, ...]]:
    """The rows and cells that a question names in each image quote that is a table, in their order; none in others."""
    return [tuple(_cells(hit.quote, question, weights)) for hit in context.images]


def image_statements(
    context: Context,
    question: QuestionTerms,
    weights: Mapping[str, float],
    rows_of_images: Sequence[tuple[FoundRow, ...]],
    limit: int,
) -> list[Statement]:
    """Make statements of image quotes: a table's cells that the question names, else the best sentences.

    `rows_of_images` is as `find_rows` returns it.
    """
    statements = []
    for number, (hit, named_rows) in enumerate(zip(context.images, rows_of_images, strict=True), start=1):
        computed = _computed(hit.quote, question)
        rows = named_rows if not computed and have_own_names(named_rows) and say_which(named_rows) else ()
        if cells := computed or _listed(hit.quote, rows):
            text = escape_marks(clip(cells, limit))
            flags = {"is_of_cells": True, "is_computed": bool(computed)}
            statement_words = (
                *words(text),
                *words(" ".join(row.heading_dates for row in rows)),
                *_spanned(rows, question),
            )
            statements.append(Statement(text=text, hit=hit, number=number, words=statement_words, rows=rows, **flags))
        else:
            statements += _sentences(hit, number, weights)
    return statements


def _sentences(hit: Hit, number: int, weights: Mapping[str, float]) -> list[Statement]:
    """Make statements of the sentences within a picture that cover most of the question."""
    sentences = best_sentences(picture_text(hit.quote), weights)
    return [
        Statement(
            text=(text := escape_marks(one.text)),
            hit=hit,
            number=number,
            sentence_index=index,
            words=tuple(words(text)),
            picture=image_name(hit.quote),
            above=escape_marks(one.above),
        )
        for index, one in enumerate(sentences)
    ]


def _spanned(rows: Sequence[FoundRow], question: QuestionTerms) -> list[str]:
    """The year of a question, if the name of a row is a span that includes it: 1960, for "1959–1983"."""
    years = years_in(question.terms)
    return [year for year in years if any(spans_year(row.name, years) for row in rows)]


def ambiguous_rows(
    context: Context, question: QuestionTerms, rows_of_images: Sequence[tuple[FoundRow, ...]], limit: int
) -> list[Statement]:
    """Make statements of tables in which several rows have the name asked for, or rows are only parts of that.

    They answer nothing, but show that another table's row of that name may not be what is asked for. `rows_of_images`
    is as `find_rows` returns it.
    """
    statements, subject = list[Statement](), [word for word in subject_terms(question) if not is_of_date(word)]
    for number, (hit, named_rows) in enumerate(zip(context.images, rows_of_images, strict=True), start=1):
        is_unnamed = not named_rows and has_cells(hit.quote)
        rows = tuple(find_parts(picture_text(hit.quote), subject)) if is_unnamed else named_rows
        if rows and (rows[0].is_part or not have_own_names(rows)):
            text = escape_marks(clip(_listed(hit.quote, rows), limit))
            statement_words = tuple(words(text))
            statements.append(
                Statement(text=text, hit=hit, number=number, words=statement_words, rows=rows, is_of_cells=True)
            )
    return statements


def _cells(quote: Quote, question: QuestionTerms, weights: Mapping[str, float]) -> list[FoundRow]:
    if not has_cells(quote):
        return []
    quantity = asked_quantity(question.analysis.asked_by, question.analysis.text)
    title_words = words(quote.caption or "")
    dates, _ = extract_dates(question.analysis.text)
    besides = {OTHER} & set(words(question.analysis.text, keep_stop_words=True))
    if asks_fiscal_year(question):
        besides.add(FISCAL)
    question_words = {*question.terms, *besides}
    parts = asked_parts(picture_text(quote), question_words)
    cells = AskedCells(
        question_words, weights, quantity, title_words, dates, question.analysis.text, question.analysis.asks
    )
    rows_of_parts = [(part, rows) for part in parts if (rows := find_cells(part, cells))]
    if len(rows_of_parts) != 1:
        return []  # nothing tells which of two parts is asked for
    part, rows = rows_of_parts[0]
    header, _ = split_header(read_rows(part))
    headings = {heading for row in rows for heading, _ in row.cells}
    return [] if are_said_apart(headings, header, question_words, question.pairs) else rows


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
