"""Plain text becomes quotes: a paragraph is what stands between blank lines."""

from collections.abc import Iterator
from pathlib import Path

from quoteweave.core.records import ParsedDocument
from quoteweave.documents.decoding import read_text
from quoteweave.documents.flow import Block, set_on_pages

MAX_MEGABYTES = 64


def parse_text(path: Path) -> ParsedDocument:
    """The paragraphs of a plain text file, as text quotes on virtual pages.

    Raises DocumentError when the file cannot be read, is larger than 64 MB, or holds more than 200,000 quotes.
    """
    text, warnings = read_text(path, megabytes=MAX_MEGABYTES)
    blocks = (Block(layout="paragraph", text=paragraph) for paragraph in _paragraphs(text))
    return set_on_pages(blocks, name=path.name, warnings=warnings)


def _paragraphs(text: str) -> Iterator[str]:
    lines: list[str] = []
    for line in _lines(text):
        if line.strip():
            lines.append(line.rstrip())
        elif lines:
            yield "\n".join(lines)
            lines = []
    if lines:
        yield "\n".join(lines)


def _lines(text: str) -> Iterator[str]:
    """One at a time: a list of them, or a StringIO, would take several times as much memory as the text."""
    start = 0
    while (end := text.find("\n", start)) >= 0:
        yield text[start:end]
        start = end + 1
    yield text[start:]
