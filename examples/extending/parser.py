"""A parser of mails (.eml): each paragraph of the plain text becomes a quote, headed by the mail's subject."""

import re
from email import message_from_bytes
from email.policy import default
from pathlib import Path

from quoteweave import DocumentError, Page, ParsedDocument, Quote


class MailParser:
    """Parses a mail into one virtual page; its sender and date are its first quote."""

    fingerprint = "mail-1"  # counted up whenever the same mail would give other quotes

    def parse(self, path: Path) -> ParsedDocument:
        """Parse a mail. Raises DocumentError for one without plain text."""
        mail = message_from_bytes(path.read_bytes(), policy=default)
        body = mail.get_body(("plain",))
        if body is None:
            raise DocumentError(f"{path.name!r} has no plain text")
        paragraphs = [f"From {mail['from']}, {mail['date']}", *re.split(r"\n\s*\n", body.get_content().strip())]
        page = Page(number=0, label="1", width=612, height=792, text_source="file")
        quotes = (
            Quote(
                id=f"0:{ordinal}",
                document=path.name,
                page=0,
                page_label=page.label,
                bbox=(0, 0, page.width, page.height),  # a mail has no places on a page
                kind="text",
                layout="paragraph",
                section=mail["subject"],
                text=paragraph,
                has_pages=False,
            )
            for ordinal, paragraph in enumerate(paragraphs)
        )
        return ParsedDocument(pages=(page,), quotes=tuple(quotes))
