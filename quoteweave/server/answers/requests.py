"""The bodies of requests: a question, a filter, and the settings that a request may choose."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, create_model
from pydantic_core import PydanticCustomError

from quoteweave.core.records import Filter, Record
from quoteweave.interchange.problems import EMPTY_QUESTION
from quoteweave.pipeline.follow_ups.rewriting import Message
from quoteweave.pipeline.settings import AnswerSettings

RETRIEVAL_FIELDS = ("retriever", "fusion", "expand", "rerank", "explain")
ANSWER_FIELDS = (
    *RETRIEVAL_FIELDS, "size", "model", "images", "temperature", "max_tokens", "thinking", "gate", "check",
    "abstain", "check_topic", "window", "sentence_scorer",
)  # fmt: skip
"""Settings that a request may choose. Others, of files, addresses, keys and hardware, are for the server to set."""
MAX_RETURNED = 200
"""Hits of one search, at most."""
MAX_RETRIEVERS = 8
"""Retrievers that one request names, at most."""
ABSTAIN = (
    "abstain below the confidence of this calibration of the server's, as /v1/models names them; off: never abstain"
)


def _choices(name: str, fields: Sequence[str]) -> type[Record]:
    """Make a record of these settings, with their types, bounds and descriptions; each is optional."""
    optional: dict[str, Any] = {}
    for field in fields:
        field_info = AnswerSettings.model_fields[field]
        kind: Any = field_info.annotation
        for bound in field_info.metadata:
            kind = Annotated[kind, bound]
        if field == "retriever":  # a single retriever may be given without a list
            kind = Annotated[kind, Field(max_length=MAX_RETRIEVERS)]
            kind = Annotated[kind, BeforeValidator(lambda value: [value] if isinstance(value, str) else value)]
        description = field_info.description
        if field == "abstain":  # calibration files are the server's, and requests name them
            kind, description = Annotated[str, Field(max_length=100)], ABSTAIN
        optional[field] = (kind | None, Field(default=None, description=description))
    docstring = "Settings that a request may choose; what it leaves out is as the server has it."
    record: type[Record] = create_model(name, __base__=Record, __doc__=docstring, **optional)
    return record


RetrievalChoices = _choices("RetrievalChoices", RETRIEVAL_FIELDS)
AnswerChoices = _choices("AnswerChoices", ANSWER_FIELDS)
NO_CHOICES = AnswerChoices()


def chosen_settings(choices: Record) -> Mapping[str, object]:
    """Return the settings that a request chose, by their names."""
    return {key: value for key in choices.model_fields_set if (value := getattr(choices, key)) is not None}


def _check_not_empty(question: str) -> str:
    if not question.strip():
        raise PydanticCustomError(EMPTY_QUESTION, "it is empty: ask a question, or give words to search for")
    return question


Question = Annotated[str, AfterValidator(_check_not_empty), Field(json_schema_extra={"pattern": r"\S"})]
"""A question that holds more than white space; its length is checked where it is answered."""


class SearchRequest(Record):
    """What to search for."""

    question: Question = Field(description="a question or words", examples=["How much grain was shipped in May?"])
    k: int = Field(default=10, ge=1, le=MAX_RETURNED, description="how many quotes")
    filters: Filter = Field(default=Filter(), description="where to search")
    settings: RetrievalChoices = Field(  # type: ignore[valid-type]
        default=RetrievalChoices(), description="how to search"
    )


class AnswerRequest(Record):
    """What to answer, and how."""

    question: Question = Field(description="the question", examples=["How much grain was shipped in May?"])
    history: tuple[Message, ...] = Field(
        default=(), max_length=200, description="what was asked and answered before, oldest first"
    )
    conversation: str | None = Field(
        default=None, max_length=100, description="the stored conversation that the question belongs to"
    )
    filters: Filter = Field(default=Filter(), description="where to search")
    settings: AnswerChoices = Field(  # type: ignore[valid-type]
        default=NO_CHOICES, description="how to search and answer"
    )
    stream: bool = Field(default=False, description="send the answer as events while it is written")
    format: Literal["events", "vercel"] = Field(
        default="events", description="of a stream: our events, or Vercel's UI message stream"
    )
    store: bool | None = Field(
        default=None, description="keep question and answer in a conversation; else as the server is set"
    )
