"""An answer as plain text for systems that do not know image marks, with Markdown images in their place.

`[1]` stays as it is; `![summary](image2)` becomes `![summary](https://…)`, or `(Image: summary)` if the image has no
URL. Offsets count characters (Unicode code points) of that text, so that the text from a citation's `start` to its
`end` is the citation's `mark`.
"""

from collections.abc import Iterable

from pydantic import Field

from quoteweave.core.answers import Answer, Citation, CitationEvent, TextEvent, replay_events
from quoteweave.core.records import Record
from quoteweave.core.text.marks import parse_marks


class ShownText(Record):
    """Text of an answer as it is shown, or the next part of it, with the citations of the marks in it."""

    text: str
    citations: tuple[Citation, ...] = Field(default=(), description="their `mark`, `start` and `end` are of the text")


class ShownTextStream:
    """Turns the events of an answer into the parts of the text that is shown.

    All parts together have the whole text and all of its citations. If a mark was sent before its citation came, the
    citation comes in a part without text.
    """

    def __init__(self) -> None:
        self._length = 0
        self._pending_mark = ""  # an image mark, held until its citation brings the URL

    def take(self, event: object) -> list[ShownText]:
        """Take the next event; return what it adds. Events that add no text or citation release what was held."""
        if isinstance(event, CitationEvent):
            return [self._cite(event.citation)]
        parts = self.end()
        if isinstance(event, TextEvent):
            if is_image_mark(event.text):
                self._pending_mark = event.text
            else:
                parts += self._add(event.text)
        return parts

    def end(self) -> list[ShownText]:
        """Return what is still held."""
        mark, self._pending_mark = self._pending_mark, ""
        return self._add(mark)

    def _cite(self, citation: Citation) -> ShownText:
        if not self._pending_mark:
            start = self._length - len(citation.mark)
            return ShownText(text="", citations=(_moved(citation, citation.mark, start),))
        start, shown, self._pending_mark = self._length, shown_image(citation), ""
        self._length += len(shown)
        return ShownText(text=shown, citations=(_moved(citation, shown, start),))

    def _add(self, text: str) -> list[ShownText]:
        self._length += len(text)
        return [ShownText(text=text)] if text else []


def shown_text(answer: Answer) -> ShownText:
    """Return the whole answer as text, with its citations."""
    stream = ShownTextStream()
    parts = [part for event in replay_events(answer) for part in stream.take(event)]
    return joined([*parts, *stream.end()])


def joined(parts: Iterable[ShownText]) -> ShownText:
    """Join the parts of a text that was streamed."""
    all_parts = list(parts)
    citations = tuple(citation for part in all_parts for citation in part.citations)
    return ShownText(text="".join(part.text for part in all_parts), citations=citations)


def shown_image(citation: Citation) -> str:
    """The image of an image citation in Markdown, or its summary in words if it has no URL."""
    if citation.image_url is not None:
        return f"{citation.mark[: citation.mark.rindex('](')]}]({citation.image_url})"
    summary = parse_marks(citation.mark)[0].summary or citation.document
    return f"(Image: {summary})"


def _moved(citation: Citation, mark: str, start: int) -> Citation:
    return citation.model_copy(update={"mark": mark, "start": start, "end": start + len(mark)})


def is_image_mark(text: str) -> bool:
    """Whether the text is one image mark and nothing else."""
    if not text.startswith("!["):
        return False
    marks = parse_marks(text)
    return len(marks) == 1 and marks[0].mark == text
