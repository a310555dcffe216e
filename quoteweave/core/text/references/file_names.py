"""Names of documents' files in questions: "What does notes.md say about grain?"."""

import re
from collections.abc import Iterable
from pathlib import PurePosixPath
from unicodedata import normalize

from quoteweave.core.lazy_regex import lazy_regex

_ENDING = r"\.(?i:pdf|md|markdown|txt|html?|csv|tsv|png|jpe?g|tiff?)\b"
FILE_ENDING = lazy_regex(_ENDING)
"""How each name of a file ends that is recognised within a text."""
FILE_NAME = lazy_regex(rf"(?<![\w./\\-])(?!//)[\w./\\-]*\w{_ENDING}")
"""The name of a document's file within a text, with its folder if that is given, and without spaces; no web address."""


def names_of(document: str) -> set[str]:
    """The names by which a question may call a document, in lower case: with all, some or none of its folders."""
    parts = PurePosixPath(document).parts
    return {_folded(document), *(_folded("/".join(parts[start:])) for start in range(len(parts)))}


def files_named_in(question: str, documents: Iterable[str]) -> dict[str, str]:
    """The names of files in a question, in lower case, each with how it is written there.

    A name with spaces is recognised only if one of the documents has it.

    >>> files_named_in("Is barley in My notes.md or b.md?", ["2024/my notes.md"])
    {'my notes.md': 'My notes.md', 'b.md': 'b.md'}
    """
    composed = normalize("NFC", question)
    return {_folded(match[0]): match[0] for match in _names_pattern(composed, documents).finditer(composed)}


def with_files_as_documents(question: str, documents: Iterable[str], texts: Iterable[str] = ()) -> str:
    """Write "the document" for the names of these documents' files in a question.

    A name that one of the texts mentions stays: "Where is notes.md stored?" may ask about that file.

    >>> with_files_as_documents("What does notes.md say about grain?", ["2024/notes.md"])
    'What does the document say about grain?'
    """
    if FILE_ENDING.search(question) is None:
        return question
    question, documents = normalize("NFC", question), list(dict.fromkeys(documents))
    known = set[str]().union(*map(names_of, documents))
    mentioned = {name for text in texts for name in files_named_in(text, documents)}
    replaced, pattern = known - mentioned, _names_pattern(question, documents)
    return pattern.sub(lambda match: "the document" if _folded(match[0]) in replaced else match[0], question)


def _names_pattern(text: str, documents: Iterable[str]) -> re.Pattern[str]:
    """A pattern of names of files, and of these documents' names with spaces or brackets that the text has."""
    folded, usual = _folded(text), FILE_NAME.pattern
    unusual = {name for document in documents for name in names_of(document) if name in folded}
    unusual = {name for name in unusual if FILE_ENDING.search(name) and not FILE_NAME.fullmatch(name)}
    if not unusual:
        return re.compile(usual)
    longest_first = "|".join(map(re.escape, sorted(unusual, key=len, reverse=True)))
    return re.compile(rf"(?<![\w./\\-])(?i:{longest_first})\b|{usual}")


def _folded(name: str) -> str:
    """A name in lower case, with slashes between folders, and each letter with its accent as one character."""
    return normalize("NFC", name).casefold().replace("\\", "/").removeprefix("./")
