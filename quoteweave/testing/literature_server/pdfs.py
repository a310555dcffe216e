"""The PDFs of the made library's papers, made when they are asked for."""

import textwrap
from collections.abc import Iterator, Sequence
from functools import lru_cache

from quoteweave.testing.box_pages import ASCENT, LEADING, MadePage, Paragraph, Sheet, make_pdf
from quoteweave.testing.literature.records import MadeLibrary, MadePaper

_SIZE, _COLUMNS, _LEFT, _TOP, _BOTTOM = 10, 78, 63, 60, 740


class PaperFiles:
    """Makes the PDF of each paper once: title, authors, abstract, sections, and the list of references."""

    def __init__(self, library: MadeLibrary) -> None:
        self._library = library
        self._made: dict[str, bytes] = {}

    def of(self, paper: MadePaper) -> bytes:
        """The PDF of a paper, two to four pages."""
        if paper.id not in self._made:
            self._made[paper.id] = make_pdf(_pages(list(self._paragraphs(paper))))
        return self._made[paper.id]

    def _paragraphs(self, paper: MadePaper) -> Iterator[tuple[str, int]]:
        """The texts of a paper in order, with their sizes in points."""
        yield paper.title, 16
        yield ", ".join(paper.authors), _SIZE
        yield f"{paper.venue}, {paper.day.year}", _SIZE
        yield "Abstract", 13
        yield paper.abstract, _SIZE
        for section in paper.sections:
            yield section.heading, 13
            for text in section.text.split("\n\n"):
                yield text, _SIZE
        yield "References", 13
        cited = [_entry(self._library.paper(id)) for id in paper.references]
        for number, entry in enumerate([*cited, *paper.other_references], 1):
            yield f"[{number}] {entry}", _SIZE


def _entry(paper: MadePaper) -> str:
    return f"{', '.join(paper.authors)}. {paper.title}. {paper.venue}, {paper.day.year}."


def _pages(texts: Sequence[tuple[str, int]]) -> list[MadePage]:
    """Pages of one column, broken between lines."""
    pages: list[list[Paragraph]] = [[]]
    y = float(_TOP)
    for text, size in texts:
        columns = _COLUMNS * _SIZE // size
        lines = textwrap.wrap(text, columns, break_long_words=False, break_on_hyphens=False)
        while lines:
            room = int((_BOTTOM - y) / (LEADING * size))
            if room < 1:
                pages.append([])
                y = float(_TOP)
                continue
            part, lines = lines[:room], lines[room:]
            pages[-1].append(Paragraph(" ".join(part), (_LEFT, y), size, columns))
            y += (len(part) * LEADING + ASCENT) * size
    return [MadePage(Sheet(), tuple(paragraphs)) for paragraphs in pages]


@lru_cache(maxsize=1)
def many_pages(count: int) -> bytes:
    """A PDF of so many pages, each with one line."""
    lines = (Paragraph(f"Page {number} of {count}.", (_LEFT, _TOP), _SIZE, _COLUMNS) for number in range(1, count + 1))
    return make_pdf([MadePage(Sheet(), (line,)) for line in lines])
