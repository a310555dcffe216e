"""PDFs of papers, for the tests of what fetches and keeps them."""

import io
import textwrap
from collections.abc import Sequence


def paper_pdf(title: str, authors: Sequence[str] = (), pages: Sequence[str] = ("Nothing else.",)) -> bytes:
    """A paper with its title in large type, its authors, and a page of each text; the same for the same."""
    from reportlab.pdfgen.canvas import Canvas

    file = io.BytesIO()
    canvas = Canvas(file, pagesize=(612, 360), invariant=True)
    height = 288
    canvas.setFont("Times-Bold", 18)
    for line in textwrap.wrap(title, 40):
        canvas.drawString(72, height, line)
        height -= 22
    canvas.setFont("Times-Roman", 10)
    canvas.drawString(72, height - 10, ", ".join(authors))
    height -= 50
    for text in pages:
        canvas.setFont("Times-Roman", 10)
        for line in textwrap.wrap(text, 90):
            canvas.drawString(72, height, line)
            height -= 12
        canvas.showPage()
        height = 288
    canvas.save()
    return file.getvalue()
