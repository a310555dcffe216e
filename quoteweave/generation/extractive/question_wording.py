"""Puts a question into the words of the quotes that were found for it."""

import re

from quoteweave.core.answers import Context
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.foreign_languages import in_forms_of
from quoteweave.core.text.grammar import in_numerals_of
from quoteweave.core.text.question_words import with_phrases_as_words
from quoteweave.core.text.references.file_names import with_files_as_documents
from quoteweave.core.text.spelling_variants import in_spelling_of

_WHERE_TO_LOOK = lazy_regex(
    r"\s*(?:according\s+to|based\s+on|from|in|within|per|as\s+(?:stated|shown|reported|described)\s+in)\s+(?:the|this)\s+"
    r"(?:(?:given|provided|attached|whole|entire|following|above)\s+)?"
    r"(?:document|report|paper|text|article|presentation|pdf|file|guidebook),\s*(\w)",
    re.IGNORECASE,
)


def about_the_document(context: Context, question: str) -> str:
    """The question about "the document" instead of its file's name, unless the context's texts mention that file.

    "According to the document, where is barley stored?" begins with what asks.
    """
    documents = (hit.quote.document for hit in context.hits)
    asked = with_files_as_documents(question, documents, _texts_of(context))
    where = _WHERE_TO_LOOK.match(asked)
    return asked if where is None else where[1].upper() + asked[where.end() :]


def in_words_of(context: Context, question: str) -> str:
    """The question in words that the context has: "register" for "sign up", "color" for "colour", "2" for "two"."""
    texts = _texts_of(context)
    in_words = in_forms_of(in_spelling_of(with_phrases_as_words(question, texts), texts), texts)
    return in_numerals_of(in_words, texts)


def _texts_of(context: Context) -> list[str]:
    return [text for hit in context.hits for text in (hit.quote.text, hit.quote.section or "", hit.quote.caption or "")]
