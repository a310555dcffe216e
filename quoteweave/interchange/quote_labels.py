"""How a quote is presented to other systems: its title, its words, and a summary of its image."""

from quoteweave.core.answers import Citation
from quoteweave.core.records import Quote
from quoteweave.generation.answer_text import clip, escape_marks

MAX_SUMMARY_CHARACTERS = 120
MAX_EXCERPT_CHARACTERS = 300


def quote_title(quote: Quote) -> str:
    """The document and the quote's place in it: `port.pdf, page 3`."""
    return f"{quote.document}, {quote.place}"


def citation_title(citation: Citation) -> str:
    """The document and the cited quote's place in it, as `quote_title`."""
    return f"{citation.document}, {citation.place}"


def quote_words(quote: Quote) -> str:
    """All text of a quote; of one without any, what it is and where, since an empty text is refused by many systems."""
    words = quote.words()
    return words if words.strip() else f"{quote.layout.capitalize()} without readable text ({quote_title(quote)})."


def image_summary(quote: Quote) -> str:
    """What an image mark says of an image quote: its caption, else its title, on one line without brackets."""
    line = " ".join((quote.caption or "").split()) or f"{quote.layout.capitalize()}, {quote_title(quote)}"
    plain = escape_marks(line).translate(str.maketrans("[]", "()"))
    return clip(plain, MAX_SUMMARY_CHARACTERS)


def excerpt(citation: Citation) -> str:
    """The cited words on one line: those that support the claim where they are known, else the beginning of the quote.

    Empty where the citation does not carry the quote's words.
    """
    quoted = citation.quoted or ""
    words = " … ".join(quoted[span.start : span.end] for span in citation.spans) or quoted
    return clip(" ".join(words.split()), MAX_EXCERPT_CHARACTERS)
