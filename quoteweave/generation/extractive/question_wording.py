"""Puts a question into the words of the quotes that were found for it."""

import re

from quoteweave.core.answers import Context
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.foreign_languages import foreign_language, in_forms_of
from quoteweave.core.text.grammar import in_numerals_of
from quoteweave.core.text.question_words import with_phrases_as_words
from quoteweave.core.text.references.file_names import FILE_ENDING, FILE_NAME, with_files_as_documents
from quoteweave.core.text.spelling_variants import in_spelling_of

_WHERE_TO_LOOK = lazy_regex(
    r"\s*(?:according\s+to|based\s+on|from|in|within|per|as\s+(?:stated|shown|reported|described)\s+in)\s+(?:the|this)\s+"
    r"(?:(?:given|provided|attached|whole|entire|following|above)\s+)?"
    r"(?:document|report|paper|text|article|presentation|pdf|file|guidebook),\s*(\w)",
    re.IGNORECASE,
)
_WHERE_ASKED = lazy_regex(
    rf"\b(?:in|from|within|per|to|of|by)\s+(?:the\s+)?(?:file\s+)?{FILE_NAME.pattern}|{FILE_NAME.pattern}\s+(?:and|about|says?"
    r"|states?|mentions?|tells?|describes?|gives?|reports?|lists?|contains?|explains?|defines?|recommends?|has|have"
    rf"|(?:(?:first|last)\s+)?(?:written|published|issued|updated|revised))\b|\b(?:wrote|published|issued)\s+{FILE_NAME.pattern}",
    re.IGNORECASE,
)
_OF_DOCUMENTS = lazy_regex(r"(?<!\bthis )\bdocuments?\b", re.IGNORECASE)


def about_the_document(context: Context, question: str) -> str:
    """The question about "the document" instead of its file's name, unless the context's texts mention that file.

    "According to the document, where is barley stored?" begins with what asks. A question about the file itself keeps
    its name if the texts tell of other documents: "When was scan.pdf printed?" is not about a passport. So does one in
    another language, as English words would be looked for in the texts.
    """
    if foreign_language(question) is not None:
        return question
    asked = _without_files(context, question) if FILE_ENDING.search(question) else question
    where = _WHERE_TO_LOOK.match(asked)
    return asked if where is None else where[1].upper() + asked[where.end() :]


def _without_files(context: Context, question: str) -> str:
    """The question with "the document" for the names of files, if it says with these where to look."""
    texts = _texts_of(context)
    if not _WHERE_ASKED.search(question) and any(map(_OF_DOCUMENTS.search, texts)):
        return question
    return with_files_as_documents(question, (hit.quote.document for hit in context.hits), texts)


def in_words_of(context: Context, question: str) -> str:
    """The question in words that the context has: "register" for "sign up", "color" for "colour", "2" for "two"."""
    texts = _texts_of(context)
    in_words = in_forms_of(in_spelling_of(with_phrases_as_words(question, texts), texts), texts)
    return in_numerals_of(in_words, texts)


def _texts_of(context: Context) -> list[str]:
    return [text for hit in context.hits for text in (hit.quote.text, hit.quote.section or "", hit.quote.caption or "")]
