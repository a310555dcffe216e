"""Tells what parts of an HTML page are by their links and what is around them: navigation, titles, captions."""

from collections.abc import Container, Mapping, MutableSequence, Sequence
from itertools import zip_longest

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.records import IMAGE_LAYOUTS
from quoteweave.core.text.references.mentions import caption_label
from quoteweave.core.text.units import find_unit
from quoteweave.documents.reflow.html_page.blocks import with_caption
from quoteweave.documents.reflow.paginate import MAX_CAPTION, MAX_TITLE, FlowBlock, LinkTarget

_WORD = lazy_regex(r"[^\W_]")
# The least share of letters inside links in a line of links: "Next: Ports, Previous: Grain, Up: Index".
_LINKED = 0.6
# Links to a heading itself, shown after it.
_PERMALINKS = frozenset({"¶", "#", "§", "🔗", "\uf0c1"})
# What `link` calls the pages to which a page of a manual leads.
_NEIGHBOURS = frozenset({"prev", "previous", "next", "up", "home", "start", "first", "last", "contents", "toc", "top"})
# The least share of the entries of a table of contents that are headings of its page.
_NAMED = 0.75
_AROUND = lazy_regex(r"\A[\W\d_]+|[\W_]+\Z")
# Links to somebody, which lead to no page: what they show, such as a telephone number, is content.
_CONTACTS = ("mailto:", "tel:")
# A block of at most so many words between bars of links above the title is a motto or the like.
_MAX_MOTTO = 8
# The level of headings that are paragraphs in bold, below those of all elements.
_BOLD_LEVEL = 7
_BOXES = frozenset({"div", "section", "article", "aside"})
_NO_HEADING_ENDS = (".", ",", ";", ":", "!")
# What has a value or the end of a sentence in it states something: "Rent: 900 €", "WARNING! Never open the valve".
_STATES = lazy_regex(r"[€$£¥]\s?\d|\d\s?[€$£¥%]|:\s*\W?\d|[^\W\d_]{2}[.!]\s")
_AMOUNT = lazy_regex(r"\d\s?([^\W\d_]+)")


class PageLinks:
    """The links of the paragraph being read, and where they lead."""

    def __init__(self, page: str) -> None:
        self._page = page
        self._neighbours = set[str]()
        self._targets = list[str]()  # where the links of the paragraph lead
        self._linked = 0  # number of letters and digits of the paragraph inside them
        self._start: int | None = None  # position at which the text of a link within the page begins
        self.is_open = self._leads_to_page = False

    def declare(self, attributes: Mapping[str, str]) -> None:
        """Take in a `link` element, which may name a page before or after this one."""
        if not _NEIGHBOURS.isdisjoint(attributes.get("rel", "").lower().split()):
            self._neighbours.add(attributes.get("href", ""))

    def begin(self, attributes: Mapping[str, str], position: int) -> bool | None:
        """Begin an `a` element at a position of the text; whether it leads to a neighbour, or None if nowhere."""
        target = attributes.get("href")
        self.is_open = target is not None
        if target is None:
            return None
        self._leads_to_page = not target.startswith(_CONTACTS)
        self._targets += [target] if self._leads_to_page else []
        self._start = position if target.startswith("#") else None
        return target in self._neighbours

    def read(self, text: str) -> None:
        """Take in text of the paragraph."""
        self._linked += len(_WORD.findall(text)) if self.is_open and self._leads_to_page else 0

    def end(self, texts: MutableSequence[str]) -> None:
        """End an `a` element, and remove the sign for a link to a heading, "Ports¶", which belongs to no word."""
        if self._start is not None and "".join(texts[self._start :]).strip() in _PERMALINKS:
            del texts[self._start :]
        self.is_open, self._start = False, None

    def are_all_letters_of(self, text: str) -> bool:
        """Whether the links of the paragraph have all letters of this part of it, and there are any."""
        return len(_WORD.findall(text)) == self._linked > 0

    def target_of(self, text: str, *, is_item: bool) -> LinkTarget | None:
        """Where the links lead of which the paragraph consists, if it does; to other pages, a whole item or several."""
        letters = len(_WORD.findall(text))
        if not self._targets or not self._linked >= _LINKED * letters > 0:
            return None
        if all(target.startswith(("#", f"{self._page}#")) for target in self._targets):
            return "page"
        return "elsewhere" if (self._linked == letters if is_item else len(self._targets) > 1) else None

    def end_paragraph(self) -> None:
        """Begin to count anew, with the link that is still open."""
        self._targets, self._linked, self._start = self._targets[-1:] if self.is_open else [], 0, None


def _mark_contents(blocks: Sequence[FlowBlock]) -> list[FlowBlock]:
    """Make headers of tables of contents: links to places of the page, most of which its headings name again.

    What a line introduces ("The result codes are:") stays.
    """
    titles = {_key(block.text) for block in blocks if block.layout == "title"}
    before = [None, *blocks[:-1]]
    return [
        block.model_copy(update={"layout": "header"}) if _is_contents(block, above, titles) else block
        for block, above in zip(blocks, before, strict=False)
    ]


def _is_contents(block: FlowBlock, above: FlowBlock | None, named: Container[str]) -> bool:
    if block.links != "page" or (above is not None and above.text.endswith(":")):
        return False
    entries = [_key(line) for line in block.text.split("\n")]
    return sum(entry in named for entry in entries) >= _NAMED * len(entries)


def _key(text: str) -> str:
    """An entry or heading in small letters, without the marks and numbers around it."""
    return _AROUND.sub("", text.casefold())


def mark_bars(blocks: Sequence[FlowBlock]) -> list[FlowBlock]:
    """Make headers and footers of the lines of links at the beginning or end of a page: "Next: Ports, Up: Index".

    So are menus, lists of nothing but links to other pages above the title of a page, which has one. A page with
    nothing but links keeps them as its content, and so does the last section of a page.
    """
    bars = [block.links is not None or (block.layout == "title" and block.level == 1) for block in blocks]
    if all(bars):
        return list(blocks)
    first, last = _end_of_head(blocks), len(bars)
    while last and bars[last - 1] and blocks[last - 1].layout != "list":
        last -= 1
    if last and blocks[last - 1].layout == "title":  # what is under a heading of its own, such as "Partners"
        last = len(bars)
    return [
        block.model_copy(update={"layout": "header" if place < first else "footer"})
        if block.links is not None and not first <= place < last
        else block
        for place, block in enumerate(blocks)
    ]


def _end_of_head(blocks: Sequence[FlowBlock]) -> int:
    """How many blocks at the beginning are bars and the title; above the title, with menus and what is between."""
    titles = (place for place, block in enumerate(blocks) if block.layout == "title" and block.level == 1)
    first_title, end = next(titles, -1), 0
    for place, block in enumerate(blocks):
        is_above = place < first_title
        if place == first_title or (block.links is not None and (is_above or block.layout != "list")):
            end = place + 1
        elif not is_above or len(block.text.split()) > _MAX_MOTTO:
            break
    return end


class BoldScopes:
    """Where headings in bold end: with the innermost box of the page around one that has other text, too."""

    def __init__(self) -> None:
        self.ends = set[int]()
        """The numbers of the blocks before which one ends."""
        self._depth = 0
        self._heading: tuple[int, int] | None = None  # how deep in boxes the last one is, and the number of its block

    def begin(self, tag: str) -> None:
        """Begin an element, which may be a box."""
        self._depth += tag in _BOXES

    def add_heading(self, count: int) -> None:
        """Note a heading in bold, the last of so many blocks."""
        self._heading = self._depth, count

    def end(self, tag: str, count: int) -> None:
        """End an element after so many blocks."""
        if tag not in _BOXES or self._depth == 0:
            return
        if self._heading is not None and self._heading[0] == self._depth:
            start = self._heading[1]
            self.ends.update({count} if count > start else ())
            self._heading = None if count > start else (self._depth - 1, start)
        self._depth -= 1


def bold_heading(text: str) -> FlowBlock | None:
    """The heading that a paragraph all in bold may be, if it is short, in one line, and states nothing."""
    begins_well = text[:1].isalnum() or text.startswith("(")
    if len(text) > MAX_TITLE or "\n" in text or not begins_well or text.endswith(_NO_HEADING_ENDS):
        return None
    if _STATES.search(text) or any(find_unit(name) for name in _AMOUNT.findall(text)):
        return None
    return FlowBlock(layout="title", text=text, level=_BOLD_LEVEL)


def assign_roles(blocks: Sequence[FlowBlock], other_bold: int, ends: Container[int]) -> list[FlowBlock]:
    """Give tables and pictures the numbered captions beside them, and tell headings in bold and tables of contents.

    Captions are all above or all below, whichever fits more of them. Where as many other paragraphs are all in bold,
    bold marks no headings.
    """
    blocks = _outside_boxes(blocks, ends)
    captions = {place for place, block in enumerate(blocks) if _is_caption(block)}
    above, below = (
        {at: at - step for at, block in enumerate(blocks) if at - step in captions and _lacks_caption(block)}
        for step in (1, -1)
    )
    pairs = below if len(below) > len(above) else above
    used = set(pairs.values())
    captioned = [
        with_caption(block, blocks[pairs[place]].text) if place in pairs else block
        for place, block in enumerate(blocks)
        if place not in used
    ]
    marks_headings = sum(map(_is_bold_heading, captioned)) > other_bold
    around = zip_longest([None, *captioned[:-1]], captioned, captioned[1:])
    headed = (_with_role(block, before, after if marks_headings else None) for before, block, after in around if block)
    return _mark_contents(list(headed))


def _outside_boxes(blocks: Sequence[FlowBlock], ends: Container[int]) -> list[FlowBlock]:
    """What follows the box of a heading in bold is again under the heading above that is not in bold alone."""
    marked = list[FlowBlock]()
    above, is_outside = None, False
    for place, block in enumerate(blocks):
        is_title = block.layout == "title"
        above = block.text if is_title and not _is_bold_heading(block) else above
        is_outside = not is_title and (is_outside or place in ends)
        heading = block.heading or above
        marked.append(block.model_copy(update={"heading": heading}) if is_outside and heading else block)
    return marked


def _is_caption(block: FlowBlock) -> bool:
    may_be_one = block.layout == "paragraph" or _is_bold_heading(block)
    return may_be_one and len(block.text) <= MAX_CAPTION and caption_label(block.text) is not None


def _is_bold_heading(block: FlowBlock) -> bool:
    return block.layout == "title" and block.level == _BOLD_LEVEL


def _lacks_caption(block: FlowBlock) -> bool:
    has_another = block.layout == "table" and block.caption is not None
    return block.layout in IMAGE_LAYOUTS and not has_another and caption_label(block.caption or "") is None


def _with_role(block: FlowBlock, before: FlowBlock | None, after: FlowBlock | None) -> FlowBlock:
    """A heading in bold with nothing below it is a paragraph, and so is the answer to a question above it."""
    if not _is_bold_heading(block):
        return block
    is_answer = before is not None and before.layout in ("title", "paragraph") and before.text.endswith("?")
    has_text = after is not None and after.layout not in ("title", "header")
    is_heading = has_text and not is_answer and caption_label(block.text) is None
    return block if is_heading else block.model_copy(update={"layout": "paragraph", "level": 1})


def titled(blocks: list[FlowBlock], title: str) -> list[FlowBlock]:
    """The blocks below the title, unless one heading stands above all others; one with its words is the title."""
    places = [place for place, block in enumerate(blocks) if block.layout == "title"]
    tops = [place for place in places if blocks[place].level == 1]
    if not title or len(tops) == 1 or (tops and any(blocks[top].text == title for top in tops)):
        return blocks
    if tops or not places or blocks[places[0]].text != title:
        return [FlowBlock(layout="title", text=title), *blocks]
    first = places[0]
    return [*blocks[:first], blocks[first].model_copy(update={"level": 1}), *blocks[first + 1 :]]
