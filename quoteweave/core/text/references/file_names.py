"""Names of documents' files in questions: "What does notes.md say about grain?"."""

from collections.abc import Iterable
from pathlib import PurePosixPath

from quoteweave.core.lazy_regex import lazy_regex

FILE_NAME = lazy_regex(r"(?<![\w./-])(?!//)[\w./-]*\w\.(?i:pdf|md|markdown|txt|html?|csv|tsv|png|jpe?g|tiff?)\b")
"""The name of a document's file within a text, with its folder if that is given, and without spaces; no web address."""


def names_of(document: str) -> set[str]:
    """The names by which a question may call a document, in lower case: with and without its folder."""
    return {document.casefold(), PurePosixPath(document).name.casefold()}


def with_files_as_documents(question: str, documents: Iterable[str], texts: Iterable[str] = ()) -> str:
    """Write "the document" for the names of these documents' files in a question.

    A name that one of the texts mentions stays: "Where is notes.md stored?" may ask about that file.

    >>> with_files_as_documents("What does notes.md say about grain?", ["2024/notes.md"])
    'What does the document say about grain?'
    """
    if FILE_NAME.search(question) is None:
        return question
    known = set[str]().union(*map(names_of, documents))
    mentioned = {name.casefold() for text in texts for name in FILE_NAME.findall(text)}
    replaced = known - mentioned
    return FILE_NAME.sub(lambda match: "the document" if match[0].casefold() in replaced else match[0], question)
