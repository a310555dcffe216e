"""Collects the content of an HTML page in blocks: its tables, figures and lists, and its paragraphs."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from quoteweave.core.errors import DocumentError
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.references.numerals import letters_of_number, roman_numeral
from quoteweave.documents.reflow.html_page.cells import Cell, cell_texts
from quoteweave.documents.reflow.paginate import MAX_QUOTES, FlowBlock, LinkTarget

_WORD = lazy_regex(r"\w+")
_MAX_FRAMES = 50
_MAX_INDENT = 8
# A paragraph of at most so many characters and words may be the title of its item.
_MAX_HEADING = 120
_MAX_HEADING_WORDS = 16
_ENDS = (".", "!", "?", ":", ";", "…", "\n")
# A term with its definition becomes a quote of its own if it has at least so many characters.
_LONG_ENTRY = 300
# A table of at most so many rows that links to the pages beside its own has nothing else in it.
_MAX_BAR_ROWS = 3


class OpenContainer:
    """An open table, figure, or the page itself: collects blocks, and converts them when it is closed."""

    def __init__(self, tag: str, blocks: list[FlowBlock]) -> None:
        self.tag = tag
        self.blocks = blocks
        self.captions: list[str] = []
        self.rows: list[list[Cell]] = []
        self.group_starts: set[int] = set()  # the rows that begin a head, body or foot
        self.arranges_page = False  # for a table: it arranges the page, and has no data
        self.table: OpenContainer | None = self if tag == "table" else None  # the innermost around it or itself
        self.before_cells = 0  # how many blocks are before its first cell
        self.leads_to = set[bool]()  # for a table: whether its links lead to the pages before and after the page

    def result(self) -> list[FlowBlock]:
        """The resulting blocks: a data table becomes one block and its pictures; otherwise, the collected blocks."""
        if self.tag == "table" and not self._arranges_page() and any(len(row) > 1 for row in self.rows):
            table, cell_blocks = self._table(), self.blocks[self.before_cells :]
            if table.text:  # if all cells are empty, there may be words beside them
                figures = [block for block in cell_blocks if block.layout == "figure"]
                return [*self.blocks[: self.before_cells], table, *figures]
        if _stands_beside_picture(self.rows):
            self.blocks[self.before_cells :] = _labelled(self.blocks[self.before_cells :], self.rows)
        return self._captioned(" ".join(self.captions))

    def _arranges_page(self) -> bool:
        """Whether it sets blocks side by side: beside a picture, or numbered code, a row alone of several lines."""
        if self.arranges_page or _stands_beside_picture(self.rows):
            return True
        if len(self.rows) != 1 or any(cell.is_header for cell in self.rows[0]):
            return False
        return any("\n" in text for cell in self.rows[0] for text in cell.paragraphs)

    def _table(self) -> FlowBlock:
        text = "\n".join(" | ".join(row) for row in cell_texts(self.rows, self.group_starts) if any(row))
        is_bar = self.leads_to == {True} and len(self.rows) <= _MAX_BAR_ROWS
        links: LinkTarget | None = "elsewhere" if is_bar else None
        return FlowBlock(layout="table", text=text, caption=" ".join(self.captions) or None, links=links)

    def _captioned(self, caption: str) -> list[FlowBlock]:
        """Give the caption to the pictures and tables; a picture's earlier caption becomes its text."""
        if not caption:
            return self.blocks
        if not any(block.layout in ("figure", "table") for block in self.blocks):
            return [*self.blocks, FlowBlock(layout="caption", text=caption)]
        return [with_caption(block, caption) for block in self.blocks]


@dataclass(slots=True, eq=False)
class _Item:
    """An item of a list, or a term with its definition; `outer` is the item that contains the list."""

    outer: "_Item | None"
    is_term: bool = False
    paragraphs: int = 0
    characters: int = 0
    first: str = ""
    has_title: bool = False  # whether it contains a title for what follows

    def add(self, text: str) -> None:
        """Count a paragraph, or another block of its own."""
        self.first = self.first if self.paragraphs else text
        self.paragraphs += 1
        self.characters += len(text)

    @property
    def is_section(self) -> bool:
        """Whether it becomes a quote of its own: it has several paragraphs, or a term with a long definition."""
        has_several = self.paragraphs > (2 if self.is_term else 1)
        return not self.has_title and (has_several or (self.is_term and self.characters >= _LONG_ENTRY))

    @property
    def heading(self) -> str | None:
        """Its first paragraph, if that reads like a title."""
        is_short = len(self.first.split()) <= _MAX_HEADING_WORDS and len(self.first) <= _MAX_HEADING
        return self.first.rstrip(" :") or None if is_short and not self.first.endswith((".", ",", ";")) else None

    def section(self) -> "_Item | None":
        """The innermost enclosing item, itself included, that becomes a quote of its own."""
        item: _Item | None = self
        for _ in range(_MAX_FRAMES):
            if item is None or item.is_section:
                return item
            item = item.outer
        return None


NumberStyle = Literal["1", "a", "A", "i", "I"]
"""The style of a number, as in HTML's `type`: 1, a, A, i or I."""

_MAX_ROMAN = 3999


def written_number(number: int, style: NumberStyle) -> str:
    """Write an item's number as a browser does, in digits if letters or Roman numerals cannot express it."""
    lower = style.lower()
    if number < 1 or lower == "1" or (lower == "i" and number > _MAX_ROMAN):
        return str(number)
    text = letters_of_number(number) if lower == "a" else roman_numeral(number)
    return text if style == lower else text.upper()


@dataclass(frozen=True, slots=True)
class Numbering:
    """How an `ol` numbers its items; without a first number, reversed ones end at 1 and others begin there."""

    first: int | None = None
    is_reversed: bool = False
    style: NumberStyle = "1"


@dataclass(slots=True, eq=False)
class _List:
    """An open list: how its items are numbered, if they are, its next number, and its last item."""

    place: int  # its position among the page's lists, in the order in which they begin
    numbering: Numbering | None
    number: int
    item: _Item | None

    def marker(self, own_number: int | None, style: NumberStyle | None) -> str:
        """The marker of the next item, which may have its own number and style."""
        if self.numbering is None:
            return "- "
        number = self.number if own_number is None else own_number
        self.number = number + (-1 if self.numbering.is_reversed else 1)
        return f"{written_number(number, style or self.numbering.style)}. "


class BlockCollector:
    """The blocks of a page so far, with the tables, figures and lists that are still open.

    A reversed list counts down from the number of its items, which is only known once the page has been read: the page
    is then read again with the `list_lengths` of the first reading.
    """

    def __init__(self, name: str, list_lengths: Sequence[int] = ()) -> None:
        self.blocks: list[FlowBlock] = []
        self.list_lengths: list[int] = []
        """How many items each list has so far, in the order in which the lists begin."""
        self._known_lengths = list_lengths
        self._name = name
        self._frames = [OpenContainer("page", self.blocks)]
        self._outer_lists: list[list[_List]] = []  # the lists around each open frame
        self._lists: list[_List] = []
        self._marker = ""
        self._lines: list[
            tuple[_Item | None, str, LinkTarget | None]
        ] = []  # lines of the open lists since the last other block
        self._figures: list[FlowBlock] = []  # pictures, which follow the text in which they are
        self._count = 0

    @property
    def is_in_list(self) -> bool:
        """Whether a list is open, to which paragraphs belong."""
        return bool(self._lists)

    @property
    def is_running_text(self) -> bool:
        """Whether a paragraph belongs to no list, table or figure."""
        return not self._lists and self.innermost == "page"

    @property
    def innermost(self) -> str:
        """Tag of the innermost open frame: table, figure, or page."""
        return self._frames[-1].tag

    def open_frame(self, tag: str, *, arranges_page: bool = False) -> None:
        """Begin a table or figure. If it is nested more than 50 deep, it collects nothing of its own."""
        self._end_lines()
        frame = OpenContainer(tag, self._frames[-1].blocks if len(self._frames) > _MAX_FRAMES else [])
        frame.arranges_page, frame.table = arranges_page, frame.table or self._frames[-1].table
        self._frames.append(frame)
        self._outer_lists.append(self._lists)
        self._lists = []

    def close_frame(self) -> None:
        """End the innermost table or figure."""
        self._end_lines()
        frame = self._frames.pop()
        self._lists = self._outer_lists.pop()
        outer = self._frames[-1].blocks
        if frame.blocks is not outer:
            outer.extend(frame.result())
        elif frame.captions:
            self._emit(FlowBlock(layout="caption", text=" ".join(frame.captions)))

    def close(self) -> None:
        """End the page, and with it everything that is still open."""
        while len(self._frames) > 1:
            self.close_frame()
        self._end_lines()

    def mark_arranging(self) -> None:
        """Mark the innermost table as arranging the page, because it contains headings or tables."""
        if (table := self._frames[-1].table) is not None:
            table.arranges_page = True

    def add_link(self, *, is_neighbour: bool) -> None:
        """Note where a link leads: to a page before or after this one, or elsewhere."""
        if (table := self._frames[-1].table) is not None:
            table.leads_to.add(is_neighbour)

    def open_row_group(self) -> None:
        """Begin a head, body or foot of the innermost table; no cell above extends into it."""
        self._frames[-1].group_starts.add(len(self._frames[-1].rows))

    def open_row(self) -> None:
        """Begin a row of the innermost frame."""
        self._frames[-1].rows.append([])

    def open_cell(self, columns: int, rows: int, *, is_header: bool) -> None:
        """Begin a cell of the last row, which spans so many columns and rows."""
        if not self._frames[-1].rows:
            self.open_row()
        self._frames[-1].rows[-1].append(Cell(columns, rows, is_header))

    def close_cell(self) -> None:
        """End a cell; what follows belongs to no list in it."""
        self._end_lines()

    def open_list(self, numbering: Numbering | None) -> None:
        """Begin a list, whose items are numbered according to `numbering`, or not at all."""
        place, first = len(self.list_lengths), numbering.first if numbering is not None else None
        if first is None and numbering is not None and numbering.is_reversed and place < len(self._known_lengths):
            first = self._known_lengths[place]
        self.list_lengths.append(0)
        outer_item = self._lists[-1].item if self._lists else None
        self._lists.append(_List(place, numbering, 1 if first is None else first, outer_item))

    def close_list(self) -> None:
        """End the innermost list; the outermost one becomes a block, with all the lists inside it."""
        if self._lists:
            self._lists.pop()
        if not self._lists:
            self._end_lines()

    def open_item(
        self, tag: Literal["li", "dt", "dd"], own_number: int | None = None, style: NumberStyle | None = None
    ) -> None:
        """Begin an item of the innermost list; a definition (`dd`) belongs to the term (`dt`) before it.

        In a numbered list, an item may have its own number, from which the items after it continue.
        """
        if not self._lists:
            self._marker = "- " if tag == "li" else ""
            return
        inner = self._lists[-1]
        self._marker = "- " if tag == "dt" else ""
        if tag == "li":
            self.list_lengths[inner.place] += 1
            self._marker = inner.marker(own_number, style)
        if tag != "dd" or inner.item is None or not inner.item.is_term:
            outer_item = self._lists[-2].item if len(self._lists) > 1 else None
            inner.item = _Item(outer_item, is_term=tag == "dt")

    def add_caption(self, text: str) -> None:
        """Set the caption of the innermost table or figure."""
        if self.innermost == "page":
            self.add(FlowBlock(layout="caption", text=text))
        else:
            self._frames[-1].captions.append(text)

    def add_picture(self, figure: FlowBlock | None) -> None:
        """Add a picture, which follows the paragraph or list in which it is; None for one that is left out."""
        self._figures += filter(None, (figure,))
        if self._frames[-1].rows and self._frames[-1].rows[-1]:
            self._frames[-1].rows[-1][-1].has_picture = True

    def add_paragraph(self, text: str, *, links: LinkTarget | None = None) -> None:
        """Add a paragraph, which may consist of links; within a list, it is part of its item."""
        if self._lists:
            item, line = self._lists[-1].item, text.replace("\n", " ")
            written = "  " * min(len(self._lists) - 1, _MAX_INDENT) + self._marker + line
            if item is not None:
                if item.is_term and item.paragraphs == 1 and self._lines and self._lines[-1][0] is item:
                    term = self._lines.pop()[1]  # as in "- cache: Pages in memory."
                    written = f"{term}{'' if term.endswith((':', '?', '!', '.')) else ':'} {line}"
                    self._marker = "- "  # the next paragraph is indented as far
                item.add(line)
            if self._lines and not self._marker.strip() and not self._lines[-1][1].endswith(_ENDS):
                owner, before, target = self._lines[-1]
                self._lines[-1] = owner, f"{before}\n", target  # the paragraph before ends without a full stop
            self._lines.append((item, written, links))
            self._marker = " " * len(self._marker)
        else:
            self.add(FlowBlock(layout="paragraph", text=text, links=links if self.innermost == "page" else None))

    def add(self, block: FlowBlock) -> None:
        """Add a block that stays separate even within a list; its heading is that of its item."""
        item = self._lists[-1].item if self._lists else None
        if item is not None and block.layout == "title":
            item.has_title = True
        elif item is not None:
            item.add(block.text)
        self._emit_list()
        section = item.section() if item is not None else None
        self._emit(block if section is None else block.model_copy(update={"heading": section.heading}))

    def end_paragraph(self) -> None:
        """End a paragraph: its pictures follow it, those of a list follow the list."""
        if not self._lists:
            self._emit_figures()

    def _end_lines(self) -> None:
        self._emit_list()
        self._emit_figures()

    def _emit_list(self) -> None:
        """Add the list: items with several paragraphs become blocks with their headings, the others are lists."""
        lines, self._lines = self._lines, []
        for section, group in groupby(lines, key=lambda line: line[0].section() if line[0] is not None else None):
            texts, links = [], set[LinkTarget | None]()
            for _, line, target in group:
                texts.append(line)
                links.add(target)
            heading = section.heading if section is not None else None
            if heading is not None and section is not None and len(texts) > 1 and texts[0].endswith(section.first):
                texts[0] += "\n"  # a title ends here, with or without a full stop
            leads_to = links.pop() if len(links) == 1 and len(texts) > 1 else None
            self._emit(FlowBlock(layout="list", text="\n".join(texts), heading=heading, links=leads_to))

    def _emit_figures(self) -> None:
        while self._figures:
            self._emit(self._figures.pop(0))

    def _emit(self, block: FlowBlock) -> None:
        self._count += 1
        if self._count > MAX_QUOTES:
            raise DocumentError(
                f"{self._name!r} holds more than {MAX_QUOTES:,} paragraphs; split it into several files"
            )
        frame = self._frames[-1]
        frame.blocks.append(block)
        if not any(frame.rows):
            frame.before_cells = len(frame.blocks)
        elif frame.rows[-1] and block.layout != "figure":
            frame.rows[-1][-1].paragraphs.append(block.text)


def _stands_beside_picture(rows: Sequence[Sequence[Cell]]) -> bool:
    """Whether there is but one cell in each row beside one with a picture that spans all rows: a note with its sign.

    Beside the picture are no words of its cell, or only those of the label: "[Note]".
    """
    if len(rows) < 2 or len(rows[0]) != 2 or not rows[0][0].has_picture or rows[0][0].rows < len(rows):
        return False
    sign, head = ({word for text in cell.paragraphs for word in _WORD.findall(text.casefold())} for cell in rows[0])
    return sign <= head and all(len(row) == 1 for row in rows[1:])


def _labelled(blocks: Sequence[FlowBlock], rows: Sequence[Sequence[Cell]]) -> list[FlowBlock]:
    """The blocks of a note, without the words for its sign, after its label: "Note: Ports freeze."."""
    sign, head = rows[0]
    figures = [block for block in blocks if block.layout == "figure"]
    texts = [block for block in blocks if block.layout != "figure"][len(sign.paragraphs) :]
    if head.is_header and len(head.paragraphs) == 1 and len(texts) > 1 and texts[1].layout == "paragraph":
        texts[:2] = [texts[1].model_copy(update={"text": f"{texts[0].text}: {texts[1].text}"})]
    return figures + texts


def with_caption(block: FlowBlock, caption: str) -> FlowBlock:
    """A picture or table with a caption; the picture's earlier one becomes its text."""
    if block.layout == "figure":
        text = block.caption if block.caption and block.caption != caption else ""
        return block.model_copy(update={"caption": caption, "text": text})
    return block.model_copy(update={"caption": block.caption or caption}) if block.layout == "table" else block
