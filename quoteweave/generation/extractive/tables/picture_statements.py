"""Make the statements of a context: of its texts, of cells of tables that a question asks for, of texts in pictures."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from quoteweave.core.answers import Context
from quoteweave.core.concurrency.recent_cache import cached_for_recent_texts
from quoteweave.core.records import Hit, Quote
from quoteweave.core.text.grammar import introduces
from quoteweave.core.text.tokens import STOP_WORDS, has_digit, name_words, words
from quoteweave.generation.answer_text import clip, escape_marks, tidy
from quoteweave.generation.extractive.statements import (
    Statement,
    caption_title,
    has_cells,
    image_name,
    picture_text,
    text_statements,
    unit_of,
)
from quoteweave.generation.extractive.tables.arithmetic import compute_from_table
from quoteweave.generation.extractive.tables.asked_names import (
    FISCAL,
    OTHER,
    AskedCells,
    asks_fiscal_year,
    spans_year,
    years_in,
)
from quoteweave.generation.extractive.tables.cells import (
    FoundRow,
    asked_parts,
    find_cells,
    find_parts,
    have_certain_cells,
    have_own_names,
    rows_in_words,
)
from quoteweave.generation.extractive.tables.heads import are_said_apart, read_rows, split_header
from quoteweave.generation.gate.dates import extract_dates, is_of_date
from quoteweave.generation.relevance import QuestionTerms, WeighedQuestion, coverage, subject_terms, words_with_headings
from quoteweave.generation.sentences import split_sentences

MAX_SENTENCES = 3
"""The most sentences of a picture that may answer."""
MAX_PICTURE_SENTENCE = 300
"""The most characters of a sentence quoted from a picture."""
MIN_WORDS, MIN_COMMON, MAX_NUMBERS = 6, 0.2, 0.25
"""The least words and share of stop words, and the highest share of numbers, in a sentence, unlike rows of labels."""
MAX_INTRODUCED = 4
"""The most lines that are shown with a sentence that introduces them."""
MAX_LABEL_WORDS = 7
"""The most words of a line that names what is below it, or of a cell that names its row."""
_ENDS = (".", "!", "?", "…", "。", ":", ";")


RowsOfImages = Sequence[tuple[FoundRow, ...]]
"""For each image quote of a context, the rows and cells of a table that a question names."""


def find_rows(weighed: WeighedQuestion, context: Context) -> RowsOfImages:
    """The rows and cells that a question names in each image quote that is a table, in their order; none in others."""
    return [tuple(_cells(hit.quote, weighed)) for hit in context.images]


def make_statements(
    weighed: WeighedQuestion, context: Context, rows_of_images: RowsOfImages, limit: int
) -> list[Statement]:
    """Make statements, of at most `limit` characters, of the texts and of the image quotes.

    Those of a table are the cells that the question names; of another picture, the best sentences.
    """
    question, statements = weighed.terms, text_statements(context, limit)
    for number, (hit, named_rows) in enumerate(zip(context.images, rows_of_images, strict=True), start=1):
        computed = _computed(hit.quote, question)
        rows = named_rows if not computed and have_own_names(named_rows) and have_certain_cells(named_rows) else ()
        if cells := computed or _listed(hit.quote, rows):
            text = escape_marks(clip(cells, limit))
            flags = {"is_of_cells": True, "is_computed": bool(computed)}
            dates = words(" ".join(row.heading_dates for row in rows))
            statement_words = (*words(text), *dates, *_spanned(rows, question))
            statements.append(Statement(text=text, hit=hit, number=number, words=statement_words, rows=rows, **flags))
        else:
            statements += _sentence_statements(hit, number, weighed.weights)
    return statements


def _sentence_statements(hit: Hit, number: int, weights: Mapping[str, float]) -> list[Statement]:
    """Make statements of the sentences within a picture that cover most of the question."""
    sentences = best_sentences(picture_text(hit.quote), weights)
    return [
        Statement(
            text=(text := escape_marks(sentence.text)),
            hit=hit,
            number=number,
            sentence_index=index,
            words=tuple(words(text)),
            picture=image_name(hit.quote),
            above=escape_marks(sentence.above),
        )
        for index, sentence in enumerate(sentences)
    ]


def _spanned(rows: Sequence[FoundRow], question: QuestionTerms) -> list[str]:
    """The year of a question, if the name of a row is a span that includes it: 1960, for "1959–1983"."""
    years = years_in(question.terms)
    return [year for year in years if any(spans_year(row.name, years) for row in rows)]


def ambiguous_rows(
    question: QuestionTerms, context: Context, rows_of_images: RowsOfImages, limit: int
) -> list[Statement]:
    """Make statements of tables in which several rows have the name asked for, or rows are only parts of that.

    They answer nothing, but show that another table's row of that name may not be what is asked for.
    """
    statements, subject = list[Statement](), [word for word in subject_terms(question) if not is_of_date(word)]
    for number, (hit, named_rows) in enumerate(zip(context.images, rows_of_images, strict=True), start=1):
        is_unnamed = not named_rows and has_cells(hit.quote)
        rows = tuple(find_parts(picture_text(hit.quote), subject)) if is_unnamed else named_rows
        if rows and (rows[0].is_part or not have_own_names(rows)):
            text = escape_marks(clip(_listed(hit.quote, rows), limit))
            named = {"words": tuple(words(text)), "rows": rows, "is_of_cells": True}
            statements.append(Statement(text=text, hit=hit, number=number, **named))
    return statements


def _cells(quote: Quote, weighed: WeighedQuestion) -> list[FoundRow]:
    if not has_cells(quote):
        return []
    question = weighed.terms
    title_words = words(quote.caption or "")
    dates, _ = extract_dates(question.text)
    besides = {OTHER} & set(words(question.text, keep_stop_words=True))
    if asks_fiscal_year(question):
        besides.add(FISCAL)
    question_words = {*question.terms, *besides}
    parts = asked_parts(picture_text(quote), question_words)
    above = {*words(quote.section or ""), *name_words(quote.document)}
    cells = AskedCells(
        words=question_words,
        weights=weighed.weights,
        quantity=question.quantity,
        title_words=title_words,
        dates=dates,
        text=question.text,
        asks=question.asks,
        words_above=above,
    )
    rows_of_parts = [(part, rows) for part in parts if (rows := find_cells(part, cells))]
    if len(rows_of_parts) != 1:
        return []  # nothing tells which of two parts is asked for
    part, rows = rows_of_parts[0]
    header, _ = split_header(read_rows(part))
    headings = {heading for row in rows for heading, _ in row.cells}
    return [] if are_said_apart(headings, header, question_words, question.pairs) else rows


def _listed(quote: Quote, rows: Sequence[FoundRow]) -> str:
    sentences = rows_in_words(rows)
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
    called = "; ".join(filter(None, [caption_title(quote), unit_of(quote)]))
    return f"{image_name(quote)} ({called})" if called else image_name(quote)


@dataclass(frozen=True, slots=True)
class PicturedSentence:
    """A sentence within a picture."""

    text: str
    above: str
    """The line above it, or the first cell of its row, which names it; "" for nothing."""


@dataclass(slots=True)
class _Run:
    """Lines that continue each other, or a cell."""

    text: str
    above: str = ""

    @property
    def is_label(self) -> bool:
        short = len(self.text.split()) <= MAX_LABEL_WORDS and not self.text.endswith(_ENDS)
        return short and any(map(str.isalpha, self.text))

    def goes_on(self, line: str) -> bool:
        """Whether a line continues this text: the text has not ended, and is no label that names what begins there."""
        return not self.text.endswith(_ENDS) and (line[:1].islower() or not self.is_label)


def best_sentences(text: str, weights: Mapping[str, float]) -> list[PicturedSentence]:
    """The `MAX_SENTENCES` sentences of a picture's text that cover most of a question, in order.

    One over several lines or labels follows them, if it alone has more of the question than any of them.
    """
    sentences = _sentences(text)
    worth = {at: coverage(weights, words(f"{sentence.above} {sentence.text}")) for at, sentence in enumerate(sentences)}
    best = sorted((at for at in worth if worth[at] > 0), key=lambda at: -worth[at])[:MAX_SENTENCES]
    # A name and a number below it may make a sentence only if lines are joined.
    over_lines = max(_over_lines(text), key=lambda sentence: coverage(weights, words(sentence)), default="")
    more = over_lines and coverage(weights, words(over_lines)) > max(worth.values(), default=0.0)
    return [*(sentences[at] for at in sorted(best)), *([PicturedSentence(over_lines, "")] if more else [])]


@cached_for_recent_texts(512, longest=8_000)
def _over_lines(text: str) -> list[str]:
    sentences = (part.text for part in split_sentences(text))
    return [tidy(part, MAX_PICTURE_SENTENCE) for part in sentences if "|" not in part and _is_prose(part)]


@cached_for_recent_texts(512, longest=8_000)
def _sentences(text: str) -> list[PicturedSentence]:
    return list(_each_sentence(_runs(text.splitlines())))


def _each_sentence(runs: Sequence["_Run"]) -> Iterator[PicturedSentence]:
    for at, run in enumerate(runs):
        for part in split_sentences(run.text):
            if _is_prose(part.text):
                below = (later_run.text for later_run in runs[at + 1 : at + 1 + MAX_INTRODUCED])
                text = " ".join([part.text, run.text[part.end :], *below]) if introduces(part.text) else part.text
                yield PicturedSentence(tidy(text, MAX_PICTURE_SENTENCE), run.above)


def _runs(lines: Sequence[str]) -> list[_Run]:
    runs: list[_Run] = []
    for line in (" ".join(line.split()) for line in lines):
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) > 1:
            name = cells[0] if _Run(cells[0]).is_label else ""
            runs += [_Run(cell, name if at else "") for at, cell in enumerate(cells) if cell]
        elif runs and line and runs[-1].goes_on(line):
            runs[-1].text += f" {line}"
        elif line:
            above = runs[-1].text if runs and runs[-1].is_label else ""
            runs.append(_Run(line, above))
    return runs


def _is_prose(text: str) -> bool:
    tokens = text.casefold().split()
    common = sum(word.strip(".,;:()") in STOP_WORDS for word in tokens)
    numbers = sum(has_digit(word) for word in tokens)
    prose = common >= MIN_COMMON * len(tokens) and numbers <= MAX_NUMBERS * len(tokens)
    return len(tokens) >= MIN_WORDS and prose
