"""Pieces and pages made by hand, for what the whole document tells."""

from quoteweave.core.boxes import Box
from quoteweave.documents.layout.page import FoundLayout, PageContent, PageElement

SENTENCE = "The harbour was dredged again in early spring, and the cranes were moved to the northern quay. "


def text(
    words: str, y: float = 100, *, x: float = 50, size: float = 10, bold: bool = False, lines: int = 1
) -> PageElement:
    """A element of text 200 points wide; it is prose where it has two lines or more."""
    return PageElement("text", (x, y, x + 200, y + 12 * lines), words, size, bold, lines, lines > 1)


def body(y: float = 100, *, x: float = 50) -> PageElement:
    return text(SENTENCE * 3, y, x=x, lines=5)


def image(found_as: FoundLayout, box: Box, words: str = "", *, part: str = "") -> PageElement:
    return PageElement(found_as, box, words, image="ab/ab.png", part=part)


def page(number: int, *elements: PageElement, label: str | None = None) -> PageContent:
    return PageContent(number, 600, 800, label, "text_layer", elements)
