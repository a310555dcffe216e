"""Conversations and their answers as documents: Markdown and Word."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from pydantic import Field

from quoteweave.core.answers import Answer, Citation
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.records import Record
from quoteweave.generation.gate.policies import citation_failure
from quoteweave.interchange.quotes import excerpt

ExportFormat = Literal["markdown", "docx", "json"]
"""The formats in which the server exports a conversation."""
_CONTROL = lazy_regex(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class ExportedTurn(Record):
    """A question of a conversation, as it was asked, with its answer."""

    question: str
    answer: Answer
    asked: datetime | None = Field(default=None, description="when it was asked")


def turns_of(exported: Answer | Sequence[ExportedTurn]) -> list[ExportedTurn]:
    """The turns to export: a single answer counts as a conversation of one turn."""
    if isinstance(exported, Answer):
        return [ExportedTurn(question=exported.question, answer=exported)]
    return list(exported)


def footnote_words(citation: Citation) -> str:
    """The words of a footnote after the title of its source: why it fails, if it does, and the cited words."""
    failure = citation_failure(citation)
    reason = f": {failure.rstrip('.')}" if failure else ""
    verdict = f"Not supported by the source{reason}." if failure is not None else ""
    words = excerpt(citation)
    return " ".join(filter(None, [verdict, f"“{words}”" if words else ""]))


def without_control_characters(text: str) -> str:
    """The text without the characters that XML cannot hold."""
    return _CONTROL.sub("", text)
