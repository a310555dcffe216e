"""Answers and conversations as Word documents (.docx), with footnotes that link to the cited quotes.

Needs python-docx, which the extra `server` installs.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from io import BytesIO
from typing import TYPE_CHECKING

from quoteweave.core.answers import Answer, Citation, ImageBlock
from quoteweave.core.errors import MissingExtra
from quoteweave.core.files.pictures import UnfitPicture, encode_picture, load_pixels, open_picture
from quoteweave.interchange.exports import (
    ExportedTurn,
    footnote_words,
    turns_of,
    without_control_characters,
)
from quoteweave.interchange.quotes import citation_title
from quoteweave.pipeline.answer_page.markup import Passage, Run, passages

if TYPE_CHECKING:
    from docx.document import Document
    from docx.text.paragraph import Paragraph


MAX_PICTURE_INCHES = (6.0, 7.5)
"""Greatest width and height of a shown image."""


def to_word(
    exported: Answer | Sequence[ExportedTurn],
    *,
    title: str | None = None,
    pictures: Mapping[str, bytes] | None = None,
) -> bytes:
    """Write an answer, or the turns of a conversation, as a .docx file.

    Each question is a heading above its answer and the answer's warnings. `pictures` are the images of quotes by the
    quote's id; a shown image that is not among them, or cannot be read, which is said, is named by its summary.
    Each citation is a footnote. Raises MissingExtra without python-docx.
    """
    try:
        import docx
    except ImportError as error:
        raise MissingExtra("python-docx", "server") from error
    document = docx.Document()
    properties = document.core_properties
    properties.title, properties.author, properties.comments = without_control_characters(title or ""), "", ""
    properties.created = properties.modified = datetime.now(UTC)
    if title:
        document.add_heading(without_control_characters(title), level=0)
    writer = _Writer(document, pictures or {})
    for turn in turns_of(exported):
        writer.turn(turn)
    file = BytesIO()
    document.save(file)
    return file.getvalue()


class _Writer:
    """Writes turns into a document."""

    def __init__(self, document: "Document", pictures: Mapping[str, bytes]) -> None:
        from quoteweave.interchange.exports.word_links import Footnotes

        self._document, self._pictures = document, pictures
        self._footnotes: Footnotes = Footnotes(document)

    def turn(self, turn: ExportedTurn) -> None:
        """Write a question, its answer and the answer's warnings."""
        self._document.add_heading(without_control_characters(turn.question), level=1)
        for passage in passages(turn.answer):
            self._passage(passage)
        for warning in turn.answer.warnings:
            self._document.add_paragraph(without_control_characters(warning), style="Intense Quote")

    def _passage(self, passage: Passage) -> None:
        if passage.rows:
            self._table(passage.rows)
        elif passage.bulleted:
            for line in passage.lines:
                self._runs(self._document.add_paragraph(style="List Bullet"), line)
        elif passage.lines:
            paragraph = self._document.add_paragraph()
            for number, line in enumerate(passage.lines):
                if number:
                    paragraph.add_run().add_break()
                self._runs(paragraph, line)
        for figure in passage.figures:
            self._figure(figure)

    def _table(self, rows: Sequence[Sequence[Sequence[Run]]]) -> None:
        table = self._document.add_table(rows=0, cols=max(len(row) for row in rows), style="Table Grid")
        for row in rows:
            cells = table.add_row().cells
            for cell, runs in zip(cells, row, strict=False):
                self._runs(cell.paragraphs[0], runs)

    def _runs(self, paragraph: "Paragraph", runs: Sequence[Run]) -> None:
        for run, following in zip(runs, [*runs[1:], None], strict=True):
            images = [citation for citation in run.citations if citation.kind == "image"]
            if run.citations and not images:
                self._refer(paragraph, run.citations)
                continue
            # An image's mark is replaced by its summary; the image and the footnote follow the paragraph.
            text = _summary(run.text) if images else run.text
            if following is not None and any(citation.kind == "text" for citation in following.citations):
                text = text.rstrip()  # no space before the number of a footnote
            paragraph.add_run(without_control_characters(text)).bold = run.bold or None
            self._refer(paragraph, (citation for citation in images if not citation.has_picture))

    def _refer(self, paragraph: "Paragraph", citations: Iterable[Citation]) -> None:
        for number, citation in enumerate(citations):
            if number:
                paragraph.add_run(", ").font.superscript = True
            words = footnote_words(citation)
            self._footnotes.add(paragraph, citation_title(citation), citation.url, f": {words}" if words else "")

    def _figure(self, figure: ImageBlock) -> None:
        citation = figure.citation
        picture = self._pictures.get(citation.quote_id)
        shown = self._add_picture(picture)
        summary = without_control_characters(figure.summary or citation_title(citation))
        caption = self._document.add_paragraph(style="Caption")
        without = "Image" if picture is None else "Image that cannot be read"
        caption.add_run(summary if shown else f"{without}: {summary}")
        self._refer(caption, [citation])

    def _add_picture(self, data: bytes | None) -> bool:
        """Add a picture in a paragraph of its own; return whether there is one that can be read."""
        from docx.shared import Inches

        if data is None:
            return False
        try:
            file = _readable(data)
        except UnfitPicture:
            return False
        paragraph = self._document.add_paragraph()
        paragraph.paragraph_format.keep_with_next = True
        picture = paragraph.add_run().add_picture(BytesIO(file))
        widest, highest = (Inches(side) for side in MAX_PICTURE_INCHES)
        share = min(1.0, widest / picture.width, highest / picture.height)
        picture.width, picture.height = (Inches(side.inches * share) for side in (picture.width, picture.height))
        return True


def _readable(data: bytes) -> bytes:
    """The picture in a format that Word reads. Raises UnfitPicture."""
    with open_picture(data) as image:
        load_pixels(image)
        if image.format in ("PNG", "JPEG"):
            return data
        return encode_picture(image.convert("RGBA" if image.has_transparency_data else "RGB"), "PNG")


def _summary(mark: str) -> str:
    return f"“{mark[2 : mark.rindex('](')]}”"
