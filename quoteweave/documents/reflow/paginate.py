"""Paginates documents that have no pages of their own (Markdown, HTML, CSV, plain text).

This gives their quotes a page and a box like all others. A page is A4 (595 by 842 points) with one column of text lines
14 points high; a block takes a band of lines as tall as its text would be, and is on one page as a whole. The same
blocks always give the same pages.
"""

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from pydantic import Field

from quoteweave.core.boxes import Box
from quoteweave.core.errors import DocumentError
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.records import IMAGE_LAYOUTS, Layout, Page, ParsedDocument, Quote, Record
from quoteweave.core.text.units import join_cell_lines
from quoteweave.documents.layout.tables.stated_units import with_units

LINE_CHARS = 90
"""Characters on a line of a virtual page; wide characters (Chinese, Japanese, Korean) count two."""

# Written so that every pattern takes linear time for any text.
_LINE_END = lazy_regex(r"\n")
_SENTENCE_END = lazy_regex(
    r"""(?<=[.!?…])["'”’)\]»]{0,3}\s++(?![a-z])"""  # text after "etc." or the like goes on in lower case: no end
    r"""|(?<=[。！？｡])["”’」』）】]{0,3}\s*+(?![。！？｡])"""
)
_WORD_END = lazy_regex(r"\s+")
_WIDE = lazy_regex(
    "[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6"
    "\U0001f300-\U0001faff\U00020000-\U0003fffd]+"
)

PROSE_BREAKS = (_SENTENCE_END, _LINE_END, _WORD_END)
"""Breaks for prose: at the end of a sentence, else of a line, else between words, else anywhere."""

LINE_BREAKS = (_LINE_END, _SENTENCE_END, _WORD_END)
"""Breaks for lists and tables: at the end of a line, else as for prose."""


class TextLimit(NamedTuple):
    """The most that one piece may contain: characters, and lines of a virtual page (at least 2 of each)."""

    chars: int
    lines: int


def split_text(text: str, places: Sequence[re.Pattern[str]], limit: TextLimit) -> list[str]:
    """Split the text into pieces within the limit, in order, stripped; none are empty.

    Only white space is lost. There are as few pieces as filling each in turn gives; a finer kind of place is only used
    for a stretch without the coarser kind. The time is linear in the length of the text.
    """
    pieces = (piece.strip("\n").rstrip() for piece in _packed(_fragments(text, places, limit), limit))
    return [piece for piece in pieces if piece.strip()]


def cell_text(text: str) -> str:
    """The text of a cell in one line, with another bar for the one that separates cells: "a || b" is not "a // b"."""
    return join_cell_lines(text.replace("|", "¦").splitlines())


def line_count(text: str) -> int:
    """The number of lines that the text takes on a virtual page, at least 1."""
    return sum(max(1, -(-width(line) // LINE_CHARS)) for line in text.split("\n"))


def width(text: str) -> int:
    """Columns that a line of text takes: 1 per character, 2 for a wide one."""
    if text.isascii():
        return len(text)
    return len(text) + sum(map(len, _WIDE.findall(text)))


def _fragments(text: str, places: Sequence[re.Pattern[str]], limit: TextLimit) -> Iterator[tuple[str, int]]:
    """The text, cut at the coarsest places that make every fragment fit; each with its width in columns."""
    columns = _width_in_columns(text)
    if _fits(len(text), columns, limit):
        yield text, columns
    elif places:
        start, is_plain = 0, columns == len(text)  # a column for each character
        for end in itertools.chain((match.end() for match in places[0].finditer(text)), [len(text)]):
            if is_plain and start < end and _fits(end - start, end - start, limit):
                yield text[start:end], end - start
            elif end > start:
                yield from _fragments(text[start:end], places[1:], limit)
            start = end
    else:
        # Half the limit, so that even wide characters fit.
        step = min(limit.chars, (limit.lines - 1) * LINE_CHARS) // 2
        parts = (text[start : start + step] for start in range(0, len(text), step))
        yield from ((part, _width_in_columns(part)) for part in parts)


def _packed(fragments: Iterator[tuple[str, int]], limit: TextLimit) -> Iterator[str]:
    packed: list[str] = []
    chars = columns = 0
    for fragment, more_columns in fragments:
        if packed and not _fits(chars + len(fragment), columns + more_columns, limit):
            yield "".join(packed)
            packed, chars, columns = [], 0, 0
        packed.append(fragment)
        chars, columns = chars + len(fragment), columns + more_columns
    if packed:
        yield "".join(packed)


def _width_in_columns(text: str) -> int:
    """An upper bound of a text's width in columns that is additive when texts are joined."""
    return width(text) + LINE_CHARS * text.count("\n")


def _fits(chars: int, columns: int, limit: TextLimit) -> bool:
    return chars <= limit.chars and columns <= LINE_CHARS * (limit.lines - 1)


PAGE_WIDTH, PAGE_HEIGHT, MARGIN = 595.0, 842.0, 57.0
LINE_HEIGHT, GAP = 14.0, 7.0
PAGE_LINES = int((PAGE_HEIGHT - 2 * MARGIN) // LINE_HEIGHT)
COLUMN_WIDTH = PAGE_WIDTH - 2 * MARGIN

MAX_CHARS = 1200
MAX_CAPTION = 400
MAX_TITLE = 200
MAX_QUOTES = 200_000
FIGURE_HEIGHT = 320.0
POINTS_PER_PIXEL = 0.75

# A caption is above or below its table or figure, on the same page.
CAPTION_LINES = line_count("字" * MAX_CAPTION)
TEXT_LIMIT = TextLimit(MAX_CHARS, PAGE_LINES)
TABLE_LIMIT = TextLimit(LINE_CHARS * PAGE_LINES, PAGE_LINES - CAPTION_LINES)


LinkTarget = Literal["page", "elsewhere"]
"""Where links lead: to places of their own page, or to others."""


class FlowBlock(Record):
    """A block of a document without pages: a paragraph, a list, a table, a picture…"""

    layout: Layout
    text: str = Field(default="", description="the words; of a table a line a row; of a picture what it shows")
    level: int = Field(default=1, description="of a title; 1 is the highest")
    caption: str | None = Field(default=None, description="of a table or picture")
    heading: str | None = Field(default=None, description="the title that it stands under, if that is no block itself")
    links: LinkTarget | None = Field(default=None, description="where the links lead of which it consists")
    image: str | None = Field(default=None, description="the stored picture")
    size: tuple[int, int] | None = Field(default=None, description="width and height of the picture, pixels")


# Letters that are tags, but for those of a flag; variants of nothing; and what shows letters in another order.
_HIDING = lazy_regex(
    "(?<![\U0001f3f4\U000e0001-\U000e007f])[\U000e0001-\U000e007f]+|[\U000e0001-\U000e007f]{8,}"
    "|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,}|[\u202d\u202e]"
)
_MAY_HIDE = lazy_regex("[\u202d\u202e\ufe00-\ufe0f\U000e0000-\U000e01ef]")  # found in a fraction of the time
HIDDEN = "Characters were read that a reader does not see, and that hide words or turn their order"
"""The warning for these; how often there are such characters follows."""


def paginate_blocks(
    blocks: Iterable[FlowBlock],
    *,
    name: str,
    warnings: Sequence[str] = (),
    linked_files: Mapping[str, str | None] | None = None,
) -> ParsedDocument:
    """Place the blocks as quotes on virtual pages, in order and without overlaps. There is always at least one page.

    Long blocks become several quotes: prose is cut at sentence ends and lists at items, to at most 1,200 characters,
    tables between rows, to at most a page, each part with the table's first row above it.
    Raises DocumentError, naming the file, when there are more than 200,000 quotes.
    """
    quotes: list[Quote] = []
    page, top, ordinal = 0, MARGIN, 0
    for block, section in with_sections(part for source_block in blocks for part in _block_parts(source_block)):
        wide, high = _extent(block)
        if ordinal and top + high > PAGE_HEIGHT - MARGIN:
            page, top, ordinal = page + 1, MARGIN, 0
        box = (MARGIN, top, MARGIN + wide, top + high)
        quotes.append(_quote_of(block, section, (page, ordinal), box))
        top, ordinal = top + high + GAP, ordinal + 1
        if len(quotes) > MAX_QUOTES:
            raise DocumentError(f"{name!r} holds more than {MAX_QUOTES:,} paragraphs; split it into several files")
    pages = tuple(
        Page(number=number, label=str(number + 1), width=PAGE_WIDTH, height=PAGE_HEIGHT, text_source="file")
        for number in range(page + 1)
    )
    no_text = () if quotes else ("There is no text in it.",)
    suspects = (quote.text for quote in quotes if not quote.text.isascii() and _MAY_HIDE.search(quote.text))
    if hiding := sum(len(_HIDING.findall(text)) for text in suspects):
        no_text = (f"{HIDDEN}: {hiding:,}.",)
    return ParsedDocument(
        pages=pages, quotes=with_units(quotes), warnings=(*warnings, *no_text), linked_files=dict(linked_files or {})
    )


def shorten(text: str, limit: int) -> str:
    """The text on one line, with an ellipsis if it is cut to the limit (in characters)."""
    line = " ".join(text[: 4 * limit].split())
    return line if len(line) <= limit and len(text) <= 4 * limit else line[: limit - 1].rstrip() + "…"


def with_sections(blocks: Iterable[FlowBlock]) -> Iterator[tuple[FlowBlock, str | None]]:
    """Each block with the nearest title above it; for a title, the nearest of a higher level."""
    above: list[tuple[int, str]] = []
    for block in blocks:
        if block.layout == "title":
            while above and above[-1][0] >= block.level:
                above.pop()
        yield block, block.heading or (above[-1][1] if above else None)
        if block.layout == "title":
            above.append((block.level, shorten(block.text, MAX_TITLE)))


def _block_parts(block: FlowBlock) -> Iterator[FlowBlock]:
    caption = shorten(block.caption, MAX_CAPTION) if block.caption else None
    if block.layout == "table":
        texts = _table_parts(block.text)
    elif block.layout == "figure":
        text = shorten(block.text, MAX_CHARS)
        yield block.model_copy(update={"caption": caption, "text": text})
        yield from _repeated_in_full(block, caption, text)
        return
    else:
        texts = split_text(block.text, LINE_BREAKS if block.layout == "list" else PROSE_BREAKS, TEXT_LIMIT)
    for text in texts:
        is_whole = text == block.text and caption == block.caption
        yield block if is_whole else block.model_copy(update={"caption": caption, "text": text})
    yield from _repeated_in_full(block, caption, block.text)


def _repeated_in_full(block: FlowBlock, caption: str | None, text: str) -> Iterator[FlowBlock]:
    """Repeat in full a caption or text that was shortened, as blocks after the picture or table."""
    if block.caption and caption != " ".join(block.caption.split()):
        yield from _block_parts(FlowBlock(layout="caption", text=block.caption))
    if block.layout == "figure" and text != " ".join(block.text.split()):
        yield from _block_parts(FlowBlock(layout="paragraph", text=block.text))


def _table_parts(text: str) -> list[str]:
    """The rows of a table, a page at a time, each part with the first row above it if that row is short."""
    parts = split_text(text, LINE_BREAKS, TABLE_LIMIT)
    head, _, rows = text.partition("\n")
    if len(parts) < 2 or width(head) > 2 * LINE_CHARS:
        return parts
    below = TextLimit(TABLE_LIMIT.chars - len(head) - 1, TABLE_LIMIT.lines - line_count(head))
    return [f"{head}\n{part}" for part in split_text(rows, LINE_BREAKS, below)]


def _extent(block: FlowBlock) -> tuple[float, float]:
    """Width and height of a block on its page, in points; a picture has 96 pixels per inch, or more to fit."""
    lines = line_count(block.caption) if block.caption else 0
    if block.size is None:
        return COLUMN_WIDTH, LINE_HEIGHT * (lines + line_count(block.text))
    wide, high = block.size
    scale = min(POINTS_PER_PIXEL, COLUMN_WIDTH / wide, FIGURE_HEIGHT / high)
    return (COLUMN_WIDTH if lines else wide * scale), high * scale + LINE_HEIGHT * lines


def _quote_of(block: FlowBlock, section: str | None, place: tuple[int, int], box: Box) -> Quote:
    page, ordinal = place
    return Quote(
        id=f"{page}:{ordinal}",
        document="",
        page=page,
        page_label=str(page + 1),
        bbox=box,
        kind="image" if block.layout in IMAGE_LAYOUTS else "text",
        layout=block.layout,
        section=section,
        caption=block.caption,
        text=block.text,
        image=block.image,
        has_pages=False,
    )
