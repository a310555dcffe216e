"""Make statements from the text quotes of a context, and name its image quotes.

A sentence that ends with a colon introduces what follows it: further items of its own quote, or the quotes that the
context names (`Context.introduced`). An answer shows these with it (`introduced_parts`).
"""

import itertools
import re
from collections.abc import Callable
from typing import Literal, NamedTuple

from quoteweave.core.answers import Context
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.records import Hit, Kind, Quote, Record, page_number
from quoteweave.core.text.grammar import introduces
from quoteweave.core.text.question_analysis import field_of_term, interrogative_words
from quoteweave.core.text.references.mentions import leading_label, split_label
from quoteweave.core.text.tokens import name_words, words
from quoteweave.core.text.units import has_unscaled_money, stated_unit
from quoteweave.generation.answer_text import clip, escape_marks, is_code, tidy
from quoteweave.generation.extractive.tables.cells import FoundRow
from quoteweave.generation.gate.dates import RECENT_YEAR
from quoteweave.generation.relevance import QuestionTerms
from quoteweave.generation.sentence_kinds import denied_from, denies, denying_hit, heading_denies
from quoteweave.generation.sentences import heading_line, opens_item, run_in_heading, sentence_texts, split_sentences

MAX_TITLE = 160
"""The most characters of a caption in an answer."""
MAX_BEFORE = 250
"""The most characters of the sentence before one that refers to it; a longer one is not shown with it."""
MAX_INTRODUCED = 300
"""The most characters of an item or paragraph that a sentence introduces."""

_VALUE = lazy_regex(r"[^\w\s]{0,2}\s?\d|-$")
"""A cell of values in a chart: it begins with a number, or is empty."""
# "It is known that" refers to nothing, and "This valve" says what it is about.
_REFERS_BACK = lazy_regex(
    r"(?!It\s+(?:is|was)\s+[\w-]+\s+(?:to|that)\b)(?:It|They|He|She|(?:This|That|These|Those)\s+(?:also\s+)?(?:is|are|was|were"
    r"|will|would|can|could|may|might|should|must|has|have|had|does|do|did|means?|makes?|causes?|allows?|happens?|gives?"
    r"|leads?|ensures?|includes?)|The\s+(?:[\w-]+\s+){1,3}(?:of|for)\s+this\s+\w+\s+(?:is|was)|(?:Er|Sie|Es)\s+(?:ist|war|wurde|hat|hatte|liegt|lag|kostete?|dauerte?|wiegt|wog)"
    r"|(?:In|For|On|At|With|Without)\s(?:[^,;:.\s]+\s){0,4}[^,;:.\s]+,?\s(?:it|they)\s+(?:is|are|was|were|lasts?)(?!\s+[\w-]+\s+(?:to|that)\b)"
    r"|(?:Il|Elle)\s+(?:a|est(?!\s+\w+\s+(?:de|que)\b)|était|fut|dure|durait|coûte|coûtait|pèse))\b"
)
_NOUN_ALONE = lazy_regex(
    r"(?:This|These|The)\s+([^\W\d_]+)\s+(?:is|are|was|were|can|may|must|will|should|has|have|had|does|do|did)\b"
)
_EFFECT = lazy_regex(r"\b(?:causes?|leads? to|led to|therefore|thus|as a result)\b", re.IGNORECASE)
_AFTER_LABEL = " .:–—-|：．"
_ALTERNATIVES = lazy_regex(r"[,;/&]|\b(?:and|or|und|oder|et|ou|y|o)\b", re.IGNORECASE)
_DATE_BEHIND = lazy_regex(r",(?=\s+(?:\d{1,2}\.?\s+)?[A-ZÀ-Þ][^\W\d]+\s+\d{4}\W*$)")
_PART = lazy_regex(r"\s*\(?\b[Pp]art \d+ of \d+\)?")
"""The suffix that the parser adds to the caption of a picture that it split."""


class NumberedHit(NamedTuple):
    """A hit of the context, with its number among those of its kind, from 1."""

    number: int
    hit: Hit

    @property
    def quote(self) -> Quote:
        """The quote that was found."""
        return self.hit.quote


class Statement(Record):
    """One sentence that an answer may contain, and its source."""

    text: str
    """Fit for an answer: has nothing that looks like a mark."""
    hit: Hit
    number: int
    """Number of its quote in the context, among those of its kind, from 1."""
    sentence_index: int = 0
    """Its index in its quote, from 0."""
    words: tuple[str, ...]
    is_of_cells: bool = False
    """Whether it consists of cells of a table, named by their rows and columns."""
    rows: tuple[FoundRow, ...] = ()
    """The rows and cells that it consists of, where they are a table's and not computed."""
    is_computed: bool = False
    """Whether it was computed from the cells of a table, which do not state it themselves."""
    picture: str = ""
    """The name of the picture whose sentence it is; "" for any other statement."""
    above: str = ""
    """In a picture, the line above it or the first cell of its row; for a text, the heading with which it begins."""
    before: str = ""
    """The sentence before it, fit for an answer, if it begins with a word that refers to something in that sentence."""
    introduced: "tuple[IntroducedPart, ...]" = ()
    """What it introduces, if it ends with a colon, in order."""
    is_denied: bool = False
    """Whether the sentence that introduces it, or the heading, denies it ("Never do any of the following:")."""

    @property
    def shown(self) -> str:
        """How an answer says it: a sentence of a picture in quotation marks, one of a text with its chapter's unit."""
        if self.quote.kind == "text":
            sentence, unit = self.text.removesuffix("."), unit_of(self.quote, self.text)
            return f"{sentence} ({escape_marks(unit)}){self.text[len(sentence) :]}" if unit else self.text
        if not self.picture:
            return self.text
        beside = f", under “{self.above}”," if self.above else ""
        return f"{self.picture} reads{beside} “{self.text.rstrip('.')}”."

    @property
    def heading(self) -> str:
        """The heading above it: that with which its text begins, in a picture the line above it, else its section's."""
        return self.above or self.quote.section or ""

    @property
    def cells(self) -> list[tuple[str, str]]:
        """The names of the columns and the texts of all its cells."""
        return [cell for row in self.rows for cell in row.cells]

    @property
    def column_names(self) -> list[str]:
        """The names of the columns of all its cells; "" where one has none."""
        return [name for name, _ in self.cells]

    @property
    def has_asked_kind(self) -> bool:
        """Whether it consists of cells that surely have the kind of answer that the question asks for."""
        return bool(self.rows) and all(row.has_asked_kind for row in self.rows)

    @property
    def quote(self) -> Quote:
        """The quote that it comes from."""
        return self.hit.quote

    @property
    def document(self) -> str:
        """The name of the document that it comes from."""
        return self.hit.quote.document


def refers_back(text: str) -> bool:
    """Whether a sentence begins with a word that stands for something in the sentence before it."""
    return _REFERS_BACK.match(text) is not None


def tells_effect(text: str) -> bool:
    """Whether it tells what the sentence before it leads to ("This will cause"), and gives no reason for that."""
    return refers_back(text) and _EFFECT.search(text) is not None


def words_of_heading_meant(statement: Statement) -> frozenset[str]:
    """The words of the heading above a sentence that begins with the heading's noun: "This soup is", "The soup can".

    Under "Lentil soup", such a sentence is about lentil soup.
    """
    noun, heading = _NOUN_ALONE.match(statement.text), words(statement.quote.section or "")
    meant = noun is not None and heading and words(noun[1]) == heading[-1:]
    return frozenset(heading) if meant else frozenset()


class IntroducedPart(Record):
    """A part of what a sentence introduces."""

    kind: Kind
    number: int
    """Number of its quote in the context, among those of its kind, from 1."""
    text: str = ""
    """Its words, with the line breaks of code; "" for an image."""
    form: Literal["text", "item", "code", "image"] = "text"


def introduced_parts(quote: Quote, number: int, context: Context, after: int | None = None) -> list[IntroducedPart]:
    """What a sentence of a text quote introduces: the rest of the quote, else what `Context.introduced` names.

    `number` is the quote's in the context, `after` the sentence's index; None for the last.
    """
    text_after = quote.text[split_sentences(quote.text)[after].end :].strip("\n") if after is not None else ""
    if text_after.strip():
        is_list = opens_item(text_after)
        texts = split_items(text_after) if is_list else [text_after.partition("\n\n")[0]]
        return [_introduced_text(text, number, is_item=is_list) for text in texts]
    parts: list[IntroducedPart] = []
    for id in context.introduced.get(quote.id, ()):
        parts += _parts_of(id, context)
    return parts


def unread_introduced(statement: Statement, context: Context) -> int:
    """The number of quotes that a statement introduces and that the context does not hold."""
    ids_in_context = {hit.quote.id for hit in context.hits}
    return sum(id not in ids_in_context for id in context.introduced.get(statement.quote.id, ()))


def _parts_of(id: str, context: Context) -> list[IntroducedPart]:
    for number, hit in enumerate(context.images, start=1):
        if hit.quote.id == id:
            return [IntroducedPart(kind="image", number=number, form="image")]
    for number, hit in enumerate(context.texts, start=1):
        if hit.quote.id == id and hit.quote.layout == "list":
            return [_introduced_text(text, number, is_item=True) for text in split_items(hit.quote.text)]
        if hit.quote.id == id:
            return [_introduced_text(hit.quote.text, number, is_item=False)]
    return []


def split_items(text: str, opens: Callable[[str], object] = opens_item) -> list[str]:
    """Split the text of a list at the lines that open an item; other lines continue the item before them."""
    items: list[str] = []
    for line in text.splitlines():
        if items and not opens(line):
            items[-1] = f"{items[-1]}\n{line}"
        else:
            items.append(line)
    return items


def _introduced_text(text: str, number: int, *, is_item: bool) -> IntroducedPart:
    if not is_item and is_code(text):
        return IntroducedPart(kind="text", number=number, text=text, form="code")
    form: Literal["item", "text"] = "item" if is_item else "text"
    return IntroducedPart(kind="text", number=number, text=tidy(text, MAX_INTRODUCED), form=form)


def text_statements(context: Context, limit: int) -> list[Statement]:
    """Make statements of the sentences of text quotes, each of at most `limit` characters."""
    statements = []
    for number, hit in enumerate(context.texts, start=1):
        last, denied = "", denied_from(hit.quote.text)
        all_denied = denying_hit(hit.quote, context) is not None
        headed = heading_denies(hit.quote.section or "")
        sentences = split_sentences(hit.quote.text)
        finished = sentence_texts(hit.quote.text, context.sentence_ends.get(hit.quote.id, ""))
        heading, run_in = heading_line(hit.quote.text), run_in_heading(hit.quote.text)
        for index, (sentence, full_text) in enumerate(zip(sentences, finished, strict=True)):
            text = tidy(full_text.removeprefix(heading).lstrip(": \n") if heading and not index else full_text, limit)
            before, last = last if refers_back(text) and len(last) <= MAX_BEFORE else "", text
            parts = introduced_parts(hit.quote, number, context, index) if introduces(sentence.text) else ()
            statements.append(
                Statement(
                    text=text,
                    hit=hit,
                    number=number,
                    sentence_index=index,
                    words=tuple(words(text)),
                    above=tidy(heading or (run_in if index else ""), MAX_TITLE),
                    before=before,
                    introduced=tuple(parts),
                    is_denied=all_denied
                    or (denied is not None and index > denied)
                    or (headed and not denies(sentence.text)),
                )
            )
    return statements


def caption_statements(question: QuestionTerms, context: Context) -> list[Statement]:
    """The caption of the picture that a question names, if it asks for nothing else: "What does Table 3 list?".

    Empty where several documents have one of that name.
    """
    labels, asks = set(question.analysis.labels), question.asks
    other_words = question.subject.difference(words(" ".join(["caption", *map(str, labels)])))
    if len(labels) != 1 or other_words or asks not in ("statement", "definition"):
        return []
    statements = []
    for number, hit in enumerate(context.images, start=1):
        title = caption_title(hit.quote)
        if title and leading_label(hit.quote.caption or "") in labels:
            text = escape_marks(f"The caption of {image_name(hit.quote)} is “{title}”.")
            statements.append(Statement(text=text, hit=hit, number=number, words=tuple(words(text))))
    return statements[:1] if len({statement.document for statement in statements}) == 1 else []


def title_words(context: Context, document: str) -> frozenset[str]:
    """The words of a document's title that count for all of it; none if the title names several things.

    In "Handbook for juniors and adults", not every sentence is about juniors. A single year counts for all of it.
    """
    title = _DATE_BEHIND.sub("", context.titles.get(document, ""))
    years = frozenset(RECENT_YEAR.findall(title))
    return (years if len(years) == 1 else frozenset()) if _ALTERNATIVES.search(title) else frozenset(words(title))


def names_whole_title(question: str, title: str) -> bool:
    """Whether a question has the words of a title on both sides of each "and": "the Rowing and Canoe Club"."""
    parts = [words(part) for part in _ALTERNATIVES.split(title)]
    beside = {stem for left, right in itertools.pairwise(parts) for stem in (*left[-1:], *right[:1])}
    return bool(beside) and beside.issubset(words(question))


def is_headed_by(quote: Quote, question: QuestionTerms) -> bool:
    """Whether the title above a quote is the question, or what it asks about: "What Is Ownership?", "Ownership rules".

    Only words of the document's name may be missing, and the field in which a term has its meaning ("in Rust").
    """
    heading = set(words(quote.section or "")) - interrogative_words()
    subject = question.subject
    known = {*name_words(quote.document), *words(field_of_term(question.text))}
    return bool(heading) and heading <= subject and subject <= heading | known


def caption_title(quote: Quote) -> str:
    """The caption of an image quote without its label and final stop; "" where it has none."""
    caption = " ".join((quote.caption or "").split())
    label, title = split_label(caption)
    title = _PART.sub("", title.lstrip(_AFTER_LABEL) if label else title)
    return clip(title.rstrip(" .,;:"), MAX_TITLE)


def unit_of(quote: Quote, shown_text: str = "") -> str:
    """What the document says of all numbers of a table, "$ in millions", unless its name or title does; or "".

    Of a text, that is what it says of all amounts of the chapter, if `shown_text`, a part of it, has such amounts.
    """
    if quote.layout != "table":
        return (quote.chapter_unit or "") if has_unscaled_money(shown_text, quote.chapter_unit or "") else ""
    (corner, *_), *rows = [line.split(" | ") for line in quote.text.splitlines()] or [[""]]
    # Above numbers it is the unit of its own column: "Time in seconds".
    of_column = any(name[:1].isdigit() and not RECENT_YEAR.match(name) for name, *_ in rows)
    unit = quote.unit or stated_unit(quote.caption or "") or ("" if of_column else stated_unit(corner))
    unit = unit or quote.chapter_unit or ""
    return "" if unit in f"{image_name(quote)}\n{caption_title(quote)}" else unit


def image_name(quote: Quote) -> str:
    """What an answer calls an image quote: `Table 2`, or `The table on page 3`."""
    label, _ = split_label(" ".join((quote.caption or "").split()))
    if label:
        return label
    if quote.layout == "page":
        return f"Page {page_number(quote.page_label, quote.page)}"
    return f"The {quote.layout} {'on' if quote.has_pages else 'in'} {place_phrase(quote)}"


def image_mark(quote: Quote, number: int) -> str:
    """The mark that shows an image quote of that number in the context, with its title."""
    summary = escape_marks(caption_title(quote) or image_name(quote)).replace("[", "(").replace("]", ")")
    return f"![{summary}](image{number})"


def position_in_document(quote: Quote) -> tuple[int, int]:
    """A quote's position in its document: its page, and its ordinal on the page."""
    ordinal = quote.id.rpartition(":")[2]
    return quote.page, int(ordinal) if ordinal.isdecimal() else 0


def place_phrase(quote: Quote) -> str:
    """The quote's place within a sentence; a heading in quotation marks."""
    return quote.place if quote.has_pages or not quote.heading else f"“{quote.place}”"


def has_cells(quote: Quote) -> bool:
    """Whether it is a table, or a chart whose text begins with two rows or more of a label and values."""
    if quote.layout != "chart":
        return quote.layout == "table"
    rows = [
        line.split(" | ") for line in itertools.takewhile(lambda line: " | " in line, picture_text(quote).splitlines())
    ]
    values = [cell for row in rows[1:] for cell in row[1:]]
    return len(rows) > 1 and len(set(map(len, rows))) == 1 and all(map(_VALUE.match, values))


def picture_text(quote: Quote) -> str:
    """The text in a picture, from the file or OCR; not a vision model's description."""
    return quote.text or quote.ocr_text or ""


def head_line(quote: Quote) -> str:
    """The first line of the text in a picture, which is the head of a table."""
    return picture_text(quote).partition("\n")[0]


def quotes_of(context: Context, document: str) -> list[Quote]:
    """The quotes that were found of a document."""
    return [hit.quote for hit in context.hits if hit.quote.document == document]
