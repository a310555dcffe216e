"""Parses the light markup of an answer's text: paragraphs, bullet lines, tables, fenced code, bold, and marks.

All other characters are literal. Images are put after the paragraph whose mark shows them, so that no sentence is cut
in two.
"""

import itertools
from collections import defaultdict
from collections.abc import Iterator

from pydantic import Field

from quoteweave.core.answers import Answer, Citation, ImageBlock, UnresolvedMark
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.records import Record

_BULLET = lazy_regex(r"[-*•][ \t]+")
_RULE = lazy_regex(r"\|(?:\s*:?-+:?\s*\|)*\s*:?-+:?\s*\|?")
_FENCE = lazy_regex(r" {0,3}```")
_BOLD = lazy_regex(r"\*\*(?=\S)(.+?)(?<=\S)\*\*")
# Replaces marks while lines and bold text are looked for, as the summary within a mark is no markup.
_MASK = "\ufffc"

_SENTENCE_ENDS = (".", "!", "?", "…", "。", "！", "？", "\n")

Span = tuple[int, int]


class Run(Record):
    """A run of characters with one style, or one mark with its citations."""

    text: str
    bold: bool = False
    citations: tuple[Citation, ...] = ()
    unresolved: tuple[UnresolvedMark, ...] = ()

    @property
    def is_mark(self) -> bool:
        """Whether it stands for a mark."""
        return bool(self.citations or self.unresolved)


class Passage(Record):
    """A paragraph, a bullet list, a table or code, followed by the images that its marks show."""

    bulleted: bool
    code: str | None = Field(default=None, description="the lines between fences; None for anything else")
    lines: tuple[tuple[Run, ...], ...] = Field(description="of a table none")
    rows: tuple[tuple[tuple[Run, ...], ...], ...] = Field(default=(), description="of a table, its headings first")
    figures: tuple[ImageBlock, ...] = ()


def passages(answer: Answer) -> list[Passage]:
    """Split the answer's text into paragraphs, lists, tables and code; a list may hold empty lines between bullets."""
    return _Text(answer).passages()


def without_markup(line: str) -> str:
    """Return the line without its bullet and without the markup of bold words."""
    return _BOLD.sub(r"\1", _BULLET.sub("", line, count=1) if _BULLET.match(line) else line)


class _Text:
    def __init__(self, answer: Answer) -> None:
        self.text = answer.text
        self.images = {
            (block.citation.start, block.citation.end): block
            for block in answer.blocks
            if block.type == "image" and block.citation.has_picture
        }
        self.marks: defaultdict[Span, list[Citation | UnresolvedMark]] = defaultdict(list)
        # Marks that were taken out are skipped: their positions refer to the model's text, not to the shown text.
        marks_in_text = [mark for mark in answer.unresolved if answer.text[mark.start : mark.end] == mark.mark]
        marks: tuple[Citation | UnresolvedMark, ...] = (*answer.citations, *marks_in_text)
        for mark in marks:
            self.marks[mark.start, mark.end].append(mark)
        masked = list(self.text)
        for start, end in self.marks:
            masked[start:end] = _MASK * (end - start)
        self.masked = "".join(masked)

    def passages(self) -> list[Passage]:
        answer_passages: list[Passage] = []
        for fenced, start, end in self._stretches():
            if fenced:
                answer_passages.append(Passage(bulleted=False, lines=(), code=self.text[start:end]))
            else:
                answer_passages += [self._passage(bulleted, spans) for bulleted, spans in self._groups(start, end)]
        return answer_passages

    def _stretches(self) -> Iterator[tuple[bool, int, int]]:
        """The stretches of fenced code and of other text; code that is never closed extends to the end."""
        fenced, begin, at = False, 0, 0
        for line in self.masked.split("\n"):
            if _FENCE.match(line):
                yield fenced, begin, max(begin, at - 1) if fenced else at
                fenced, begin = not fenced, min(at + len(line) + 1, len(self.masked))
            at += len(line) + 1
        yield fenced, begin, len(self.masked)

    def _groups(self, begin: int, end: int) -> list[tuple[bool, list[Span]]]:
        groups: list[tuple[bool, list[Span]]] = []
        after_blank = True
        for first, stop in self._lines(begin, end):
            bullet = _BULLET.match(self.masked, first, stop)
            start = bullet.end() if bullet else first
            if start == stop:
                after_blank = True
                continue
            continues = bool(groups) and groups[-1][0] == bool(bullet) and bool(bullet or not after_blank)
            # A list is split after an item that shows a picture, so that the picture follows the item and not the list.
            continues = continues and not (bullet and self._shown_within(*groups[-1][1][-1]))
            if continues:
                groups[-1][1].append((start, stop))
            else:
                groups.append((bool(bullet), [(start, stop)]))
            after_blank = False
        return groups

    def _lines(self, start: int, stop: int) -> Iterator[Span]:
        for line in self.masked[start:stop].split("\n"):
            end = start + len(line.rstrip())
            yield min(start + len(line) - len(line.lstrip()), end), end
            start += len(line) + 1

    def _passage(self, bulleted: bool, spans: list[Span]) -> Passage:
        shown_images = [self.images[place] for span in spans for place in self._shown_within(*span)]
        if not bulleted and self._is_table(spans):
            rows = tuple(self._cells(span) for at, span in enumerate(spans) if at != 1)
            return Passage(bulleted=False, lines=(), rows=rows, figures=tuple(shown_images))
        lines = [tuple(self._runs(span)) for span in spans]
        return Passage(bulleted=bulleted, lines=tuple(filter(self._has_text, lines)), figures=tuple(shown_images))

    def _is_table(self, spans: list[Span]) -> bool:
        """Whether these lines are a Markdown table: all begin with a bar, and the second separates the header."""
        texts = [self.masked[start:end] for start, end in spans]
        return len(texts) > 1 and all(line.startswith("|") for line in texts) and _RULE.fullmatch(texts[1]) is not None

    def _cells(self, line: Span) -> tuple[tuple[Run, ...], ...]:
        start, end = line
        cuts = [at for at in range(start, end) if self.masked[at] == "|"]
        cuts = cuts if cuts[-1] == end - 1 else [*cuts, end]
        cells = []
        for left_bar, right_bar in itertools.pairwise(cuts):
            texts = self.masked[left_bar + 1 : right_bar]
            begin = left_bar + 1 + len(texts) - len(texts.lstrip())
            cells.append(tuple(self._runs((begin, max(begin, left_bar + 1 + len(texts.rstrip()))))))
        return tuple(cells)

    def _has_text(self, line: tuple[Run, ...]) -> bool:
        """Whether a line has more than shown images and the punctuation around them."""
        for run in line:
            if run.is_mark and not all((c.start, c.end) in self.images for c in run.citations):
                return True
            if run.unresolved or (not run.is_mark and any(c.isalnum() for c in run.text)):
                return True
        return False

    def _runs(self, line: Span) -> Iterator[Run]:
        cursor = line[0]
        for bold_match in _BOLD.finditer(self.masked, *line):
            yield from self._plain(cursor, bold_match.start(), bold=False)
            yield from self._plain(*bold_match.span(1), bold=True)
            cursor = bold_match.end()
        yield from self._plain(cursor, line[1], bold=False)

    def _plain(self, start: int, end: int, *, bold: bool) -> Iterator[Run]:
        for place in self._marks_within(start, end):
            # After a sentence, an image's mark is left out, as the figure below shows it; within one, it is kept.
            is_shown_below = place in self.images and self._ends_a_sentence(place[0])
            if place[0] > start:
                before = self.text[start : place[0]]
                yield Run(text=before if is_shown_below else _tied(before), bold=bold)
            start = place[1]
            if is_shown_below:
                continue
            marks = self.marks[place]
            yield Run(
                text=self.text[slice(*place)],
                bold=bold,
                citations=tuple(mark for mark in marks if isinstance(mark, Citation)),
                unresolved=tuple(mark for mark in marks if isinstance(mark, UnresolvedMark)),
            )
        if start < end:
            yield Run(text=self.text[start:end], bold=bold)

    def _ends_a_sentence(self, place: int) -> bool:
        before = self.text[:place].rstrip(" ")
        return before.endswith(_SENTENCE_ENDS)

    def _shown_within(self, start: int, end: int) -> list[Span]:
        return [place for place in self._marks_within(start, end) if place in self.images]

    def _marks_within(self, start: int, end: int) -> list[Span]:
        return sorted(place for place in self.marks if start <= place[0] and place[1] <= end)


def _tied(text: str) -> str:
    """Replace a final space by a no-break space, so that a mark never begins a line without its sentence."""
    return text[:-1] + "\u00a0" if text.endswith(" ") else text
