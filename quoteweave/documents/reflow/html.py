"""Parses HTML into quotes.

The page is read once, as a stream of tags and text, so that neither deep nesting nor huge elements cost more than their
length. Nothing is downloaded, no entity is resolved beyond HTML's own, and scripts, styles, navigation and form
controls are left out; so is what browsers hide, but words in it are reported. What only leads through pages, such as a
line of links at the beginning or end, becomes headers and footers (`html_page.roles`), which are stored, not searched.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from quoteweave.collection.stores.content import ImageStore
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.records import ParsedDocument
from quoteweave.documents.reflow.encodings import DECLARED_IN_HTML
from quoteweave.documents.reflow.html_page.blocks import BlockCollector
from quoteweave.documents.reflow.html_page.elements import (
    BOLD,
    CELLS,
    HEADINGS,
    INLINE,
    ITEMS,
    KNOWN_NAMES,
    LISTS,
    ROLES,
    ROW_GROUPS,
)
from quoteweave.documents.reflow.html_page.losses import (
    CODE,
    DROPPED,
    EMPTY,
    REPORTED_WITH_WORDS,
    SVG_WORDS,
    html_losses,
    is_missed,
    writes_words,
)
from quoteweave.documents.reflow.html_page.roles import (
    BoldScopes,
    PageLinks,
    assign_roles,
    bold_heading,
    mark_bars,
    titled,
)
from quoteweave.documents.reflow.html_page.set_apart import (
    SetApartText,
    display_math,
    with_del,
    without_sections,
)
from quoteweave.documents.reflow.html_page.styles import PageStyles, integer, number_style, numbering, spans
from quoteweave.documents.reflow.linked_images import LinkedImages, addresses_of
from quoteweave.documents.reflow.paginate import FlowBlock, paginate_blocks
from quoteweave.documents.reflow.text_files import read_text, text_blocks, without_unstorable

MAX_MEGABYTES = 32
MIN_FIGURE_PIXELS = 32
"""Pictures with fewer pixels in width or height are icons or rules, not evidence."""

_SPACE, _WORD = lazy_regex(r"\s+"), lazy_regex(r"[^\W_]")
# Soft hyphens and the like, which only say where a word may be broken.
_INVISIBLE = lazy_regex("[\u00ad\u200b\u2060\ufeff]+")
# "[edit]" behind a heading.
_BRACKETED = lazy_regex(r"(?<![^\w\s)])\s*\[([^\[\]]*)\]\Z")

# A list whose first number has to be counted.
_REVERSED = lazy_regex(r"<ol\s[^>]{0,500}\breversed\b", re.IGNORECASE)
_MARKED = lazy_regex(r"list-style(?:-type)?\s{0,9}:([^;]*)", re.IGNORECASE)


def parse_html(path: Path, images: ImageStore) -> ParsedDocument:
    """Parse an HTML file: its text, tables and local pictures become quotes on virtual pages.

    Raises DocumentError when the file cannot be read, is larger than 32 MB, or holds more than 200,000 quotes.
    """
    text, warnings = read_text(path, megabytes=MAX_MEGABYTES, declared=DECLARED_IN_HTML)
    if path.suffix.lower() == ".xhtml" or text.lstrip("\ufeff \n").startswith("<?xml"):
        text = without_sections(text)
    pictures = LinkedImages(path.parent, images)
    blocks = mark_bars(html_blocks(text, name=path.name, pictures=pictures))
    return paginate_blocks(
        blocks, name=path.name, warnings=(*warnings, *pictures.warnings), linked_files=pictures.files
    )


def html_blocks(text: str, *, name: str, pictures: LinkedImages | None = None) -> list[FlowBlock]:
    """Return the blocks of an HTML page or fragment, in order; pictures are left out unless `pictures` is given.

    Raises DocumentError, with the file's name, when it holds more than 200,000 blocks.
    """
    encoded, styles, lengths = with_del(without_unstorable(text)), PageStyles(text), list[int]()
    if _REVERSED.search(text):
        counted = BlockCollector(name)
        _read(encoded, _Reader(counted, None, styles, name))
        lengths = counted.list_lengths
    outline = BlockCollector(name, lengths)
    reader = _Reader(outline, pictures, styles, name)
    _read(encoded, reader)
    if pictures is not None:
        pictures.doubt(*styles.doubts)
        pictures.leave_out(*html_losses(text, encoded, has_text=bool(outline.blocks)))
    if reader.preformatted and reader.preformatted == [block.text for block in outline.blocks]:  # as a man page
        below = text_blocks("\n\n".join(reader.preformatted))
        blocks = [block.model_copy(update={"level": block.level + bool(reader.title)}) for block in below]
    else:
        blocks = assign_roles(outline.blocks, reader.other_bold, reader.scopes.ends)
    return titled(blocks, reader.title)


def _read(encoded: bytes, reader: "_Reader") -> None:
    from lxml import etree

    parser = etree.HTMLParser(encoding="utf-8", no_network=True, huge_tree=True, target=reader)
    parser.feed(encoded)
    parser.close()


class _OpenElement(NamedTuple):
    """An open element: what it is read as, why its words may be wrong, where a formula that it draws may begin."""

    tag: str
    is_inline: bool
    doubt: str | None = None
    drawn_from: int | None = None
    is_struck: bool = False


class _Reader:
    """Receives the parser's events and passes blocks on to the outline."""

    def __init__(self, outline: BlockCollector, pictures: LinkedImages | None, styles: PageStyles, page: str) -> None:
        self.title = ""
        self.preformatted: list[str] = []
        self.other_bold = 0  # number of paragraphs in bold that are no headings
        self._styles = styles
        self._outline = outline
        self._pictures = pictures
        self._text: list[str] = []
        self._links, self.scopes = PageLinks(page), BoldScopes()
        self._bold = 0  # number of open elements that show text in bold
        self._is_bold: bool | None = None  # whether all words of the paragraph are in bold, None before the first
        self._role: str | None = None  # the open element that determines the role of its text
        self._dropped: str | None = None  # the open element that is left out with everything in it
        self._dropped_depth = 0
        self._is_reported = False  # whether it was reported that what is left out contains words
        self._if_words: str | None = None  # how to report the open element that is left out, if it contains words
        self._is_code = False  # whether the text in what is left out is a script or a style sheet
        self._rubies = 0  # number of open rubies
        self._set_apart = SetApartText()
        self._open = dict[str, list[_OpenElement]]()  # the open elements of each name of which one is read as another
        self._doubts: list[str] = []  # why the words of the open elements may be wrong
        self._drawn_from: int | None = None  # where what is hidden from screen readers begins, if it was shown last
        self._is_after_formula = False  # whether nothing was shown since a formula

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        is_hidden = self._styles.enter(tag, attributes)
        if tag in EMPTY:
            if self._dropped is None and self._pictures is not None and not is_hidden:
                self._pictures.leave_out(tag)
            return
        if self._dropped is None:
            self._rubies += tag == "ruby"
            if self._is_dropped(tag) or is_hidden:
                self._dropped = tag
                self._if_words = "hidden " + tag if is_hidden else tag if tag in REPORTED_WITH_WORDS else None
                is_text = tag == "rt" and not self._rubies  # which browsers show
                if self._pictures is not None and (is_text or is_missed(tag, attributes)) and not is_hidden:
                    self._pictures.leave_out(tag)
        elif self._pictures is not None and not self._is_reported and (loss := self._words_within(tag)):
            self._pictures.leave_out(loss)
            self._is_reported = True
        if self._dropped is not None:
            self._dropped_depth += tag == self._dropped
            self._is_code = tag in CODE
        elif self._is_after_formula and tag in INLINE and attributes.get("aria-hidden") == "true":
            self._dropped, self._dropped_depth = tag, 1  # the formula again, drawn
        else:
            self._start_element(tag, attributes)

    def _start_element(self, tag: str, attributes: Mapping[str, str]) -> None:
        shown, is_inline = tag, tag in INLINE
        if tag in self._open or tag not in KNOWN_NAMES or self._styles.may_change(tag, attributes):
            opened = self._open_element(tag, attributes)
            shown, is_inline = opened.tag, opened.is_inline
            if "alttext" not in attributes:  # such an element is left out but for that
                self._open.setdefault(tag, []).append(opened)
                self._doubts += filter(None, (opened.doubt,))
                self._text += [self._set_apart.start("s")] if opened.is_struck else []
        if is_inline:
            self._start_inline(shown, attributes)
        else:
            self._end_paragraph()
            self._start_block(shown, attributes)

    def _open_element(self, tag: str, attributes: Mapping[str, str]) -> _OpenElement:
        shown = self._styles.shown_as(tag, attributes)
        local_name = tag.partition(":")[2]  # of an element of another program, which stands within a line
        is_foreign = tag.startswith("mjx-") or (local_name != "" and local_name not in KNOWN_NAMES - INLINE)
        is_inline = shown in INLINE or is_foreign
        drawn_from = len(self._text) if is_inline and attributes.get("aria-hidden") == "true" else None
        signs = "a font of other signs" if shown == "wingdings" else None
        doubt = "styles that hide them" if self._styles.are_unseen(tag, attributes) else signs
        is_struck = shown != "s" and self._styles.strikes_out(tag, attributes)
        return _OpenElement(shown, is_inline, doubt, drawn_from, is_struck)

    def _is_dropped(self, tag: str) -> bool:
        """Whether an element is left out; not the button of a heading, which folds what is below and has its words."""
        return tag in DROPPED and not (tag == "button" and self._role in HEADINGS)

    def _words_within(self, tag: str) -> str | None:
        """How to report what is left out, if `tag` begins in it and shows that it contains words."""
        if self._dropped == "svg":
            return "svg" if tag in SVG_WORDS else None
        is_more = tag == "ruby" or tag not in INLINE.union(("rp", "rt"))
        return "rt" if self._dropped == "rt" and is_more else None

    def data(self, text: str) -> None:
        if self._dropped is None:
            text = self._set_apart.shown(text if text.isascii() else _INVISIBLE.sub("", text))
            self._is_after_formula, self._drawn_from = False, None
            if self._doubts and self._pictures is not None and _WORD.search(text):
                self._pictures.doubt(self._doubts[-1])
            self._text.append(text if self._role == "pre" else _SPACE.sub(" ", text))
            self._links.read(text)
            self._is_bold = self._is_bold is not False and self._bold > 0 if text.strip() else self._is_bold
        elif self._if_words and self._pictures and not (self._is_reported or self._is_code) and _WORD.search(text):
            self._pictures.leave_out(self._if_words)
            self._is_reported = True

    def end(self, tag: str) -> None:
        self._styles.leave()
        if tag in EMPTY:
            return
        if self._dropped is not None:
            self._dropped_depth -= tag == self._dropped
            self._dropped = self._dropped if self._dropped_depth else None
            self._is_reported = self._is_reported and self._dropped is not None
            self._is_code = False
            shown = tag
        else:
            shown = self._end_element(tag)
        if shown == self._role:
            self._end_paragraph()
            self._role = None
        self._is_after_formula = self._is_after_formula or (tag == "math" and self._dropped is None)

    def _end_element(self, tag: str) -> str:
        """End an element that is read, and return what it was read as."""
        shown, is_inline, drawn_from, is_struck = tag, tag in INLINE, None, False
        if (open_elements := self._open.get(tag)) is not None:
            shown, is_inline, doubt, drawn_from, is_struck = open_elements.pop()
            del self._doubts[len(self._doubts) - (doubt is not None) :]
            if not open_elements:
                del self._open[tag]
        self._text += [self._set_apart.end("s")] if is_struck else []
        if tag == "ruby":
            self._rubies = max(0, self._rubies - 1)
        elif not is_inline:
            self._end_paragraph()
            self._end_block(shown)
        else:
            self._text += filter(None, (self._set_apart.end("link" if tag == "a" and self._links.is_open else shown),))
            if tag == "a":
                self._links.end(self._text)
            self._bold -= tag in BOLD and self._bold > 0
        self._drawn_from = self._drawn_from if drawn_from is None else drawn_from
        return shown

    def close(self) -> None:
        self._end_paragraph()
        self._outline.close()

    def _start_inline(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._text += filter(None, (self._set_apart.start("link" if "href" in attributes else tag),))
        self._bold += tag in BOLD
        if tag == "br":
            self._text.append("\n")
        elif tag == "img":
            self._picture(attributes)
        elif tag == "a":
            if (is_neighbour := self._links.begin(attributes, len(self._text))) is not None:
                self._outline.add_link(is_neighbour=is_neighbour)
        elif tag in ("meter", "progress") and self._pictures and "value" in attributes:
            self._pictures.leave_out(tag)
        elif tag == "math":
            if self._drawn_from is not None:  # the same formula
                del self._text[self._drawn_from :]
            if attributes.get("display") == "block" and self._role is None:
                self._end_paragraph()
                self._role = "math"
            if "alttext" in attributes:
                self._text.append(attributes["alttext"])
                self._dropped, self._dropped_depth = "math", 1

    def _start_block(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._role = self._role or (tag if tag in ROLES else None)
        if tag == "link":
            self._links.declare(attributes)
        if tag in HEADINGS or tag == "table":
            self._outline.mark_arranging()
        self.scopes.begin(tag)
        if tag in ("table", "figure"):
            self._outline.open_frame(tag, arranges_page=attributes.get("role") == "presentation")
        elif tag in LISTS:
            self._report_marks(attributes)
            self._outline.open_list(numbering(attributes) if tag == "ol" else None)
        elif tag in ITEMS:
            self._report_marks(attributes)
            self._outline.open_item(ITEMS[tag], integer(attributes.get("value", "")), number_style(attributes))
        elif self._outline.innermost == "table" and tag in ROW_GROUPS:
            self._outline.open_row_group()
        elif self._outline.innermost == "table" and tag == "tr":
            self._outline.open_row()
        elif self._outline.innermost == "table" and tag in CELLS:
            self._outline.open_cell(*spans(attributes), is_header=tag == "th")

    def _report_marks(self, attributes: Mapping[str, str]) -> None:
        """Report words that the style of a list or item puts before its items."""
        written = _MARKED.search(attributes.get("style", ""))
        if written and self._pictures and writes_words(written[1]):
            self._pictures.leave_out("CSS content")

    def _end_block(self, tag: str) -> None:
        self.scopes.end(tag, len(self._outline.blocks))
        if tag == self._outline.innermost:
            self._outline.close_frame()
        elif tag in LISTS:
            self._outline.close_list()
        elif tag in CELLS:
            self._outline.close_cell()

    def _picture(self, attributes: Mapping[str, str]) -> None:
        addresses = addresses_of(attributes)
        picture = self._pictures.at_one_of(addresses) if self._pictures and addresses else None
        alt, title = (" ".join(attributes.get(name, "").split()) for name in ("alt", "title"))
        if picture and min(picture.width, picture.height) >= MIN_FIGURE_PIXELS:
            caption = alt or title or None
            size = (picture.width, picture.height)
            self._outline.add_picture(FlowBlock(layout="figure", caption=caption, image=picture.key, size=size))
            return
        self._outline.add_picture(None)
        if alt:  # replaces the picture in the text, as in browsers
            follows_word = bool(self._text) and self._text[-1][-1:].isalnum()
            self._text.append(f" {alt}" if follows_word else alt)

    def _end_paragraph(self) -> None:
        self._drawn_from, self._is_after_formula = None, False
        joined = "".join((*self._text, self._set_apart.end_mark()))
        self._text = []
        if self._role == "pre":
            text = joined.strip("\n").rstrip()
        else:
            text = "\n".join(" ".join(line.split()) for line in joined.split("\n")).strip()
        if text:
            self._add_text(text)
        self._links.end_paragraph()
        self._is_bold = None
        self._outline.end_paragraph()

    def _add_text(self, text: str) -> None:
        if self._role == "title":
            self.title = self.title or text
        elif self._role in ("caption", "figcaption"):
            self._outline.add_caption(text)
        elif self._role in HEADINGS:
            actions = _BRACKETED.search(text)
            if actions and actions.start() and self._links.are_all_letters_of(actions[1]):
                text = text[: actions.start()]
            self._outline.add(FlowBlock(layout="title", text=" ".join(text.split()), level=HEADINGS[self._role]))
        elif self._role == "pre":
            self.preformatted.append(text)
            self._outline.add(FlowBlock(layout="paragraph", text=text))
        elif formula := text if self._role == "math" else display_math(text):
            self._outline.add(FlowBlock(layout="equation", text=formula))
        elif self._is_bold and self._outline.is_running_text and (heading := bold_heading(text)):
            self._outline.add(heading)
            self.scopes.add_heading(len(self._outline.blocks))
        else:
            self.other_bold += self._is_bold is True and self._outline.is_running_text
            links = self._links.target_of(text, is_item=self._outline.is_in_list)
            self._outline.add_paragraph(text, links=links)
