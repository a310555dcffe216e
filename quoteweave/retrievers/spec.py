"""Parse and format the one-word spec of a retriever, for the command line, configuration files and HTTP.

    bge                        a model of the catalogue, with the default index, which searches exactly
    bge@hnsw                   with another kind of index
    colpali@page               whole pages in place of quotes
    bge@vlm_text               another view of image quotes
    bge=/models/my-bge         another checkpoint in place of the catalogue's
    colpali@mixed              text quotes as words, image quotes as crops
    colpali@bfloat16           computed in another number type
    bge@mmdocir                as a published experiment ran the model
    openai:MODEL@http://host/v1   an embeddings endpoint; without an address that of the environment
    openai:MODEL@as:e5         with the query and passage prefixes that the catalogue has for `e5`
    openai:MODEL@input_type    with the field "input_type" in each request: "query" or "passage"
    openai:MODEL@input_type:search_query,search_document   with the values that the endpoint expects
    openai:MODEL@queries:OTHER questions are encoded by another model of the endpoint
    openai:MODEL@256d          vectors of 256 dimensions, where the endpoint can shorten them

Suffixes may follow each other in any order.
"""

from collections.abc import Iterable
from typing import Literal, get_args

from pydantic import Field

from quoteweave.collection.views import TextView, Unit
from quoteweave.core.errors import UsageError
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.messages import similar_names
from quoteweave.core.records import Record
from quoteweave.core.urls import without_secrets
from quoteweave.index.kinds import MULTI_VECTOR_KINDS, SINGLE_VECTOR_KINDS
from quoteweave.models.checkpoints import DType

SpecView = TextView | Literal["mixed"]
Experiment = Literal["mmdocir"]

_PREFIXES = "as:"
_QUERIES = "queries:"
_INPUT_TYPES = lazy_regex(r"input_type(?::(?P<query>[^,@\s]+),(?P<passage>[^,@\s]+))?")
_WITH_USER = lazy_regex(r"@(https?://[^@/]*@[^@]+)$")
_USUAL_TYPES = "query", "passage"
_DIMENSIONS = lazy_regex(r"[1-9][0-9]{0,4}d")
_FIELDS: dict[str, tuple[str, ...]] = {
    "kind": (*SINGLE_VECTOR_KINDS, *MULTI_VECTOR_KINDS),
    "unit": get_args(Unit),
    "view": (*get_args(TextView), "mixed"),
    "dtype": get_args(DType),
    "experiment": get_args(Experiment),
}


class RetrieverSpec(Record):
    """A parsed retriever spec; parts that are None are left to the model's defaults.

    >>> spec = parse_spec("bge@hnsw")
    >>> spec.name, spec.kind
    ('bge', 'hnsw')
    """

    name: str = Field(description="of the catalogue, or lexical, bm25, tfidf, openai, sentence-transformers")
    checkpoint: str | None = Field(default=None, description="folder or hub name that is used instead")
    endpoint: str | None = Field(default=None, description="the model's name at an embeddings endpoint")
    url: str | None = Field(default=None, description="the endpoint's address; None for OPENAI_BASE_URL")
    prefixes: str | None = Field(
        default=None, description="model of the catalogue whose query and passage prefixes are used with the endpoint"
    )
    input_types: tuple[str, str] | None = Field(
        default=None,
        description="values of the request field `input_type` for questions and passages; None where it is not sent",
    )
    query_model: str | None = Field(
        default=None, description="name of the model that encodes questions, where it is a different one"
    )
    dimensions: int | None = Field(default=None, description="vector dimensions to request from the endpoint")
    kind: str | None = Field(default=None, description="kind of index, such as flat or hnsw")
    unit: Unit = Field(default="quote", description="what gets one entry in the index")
    view: SpecView | None = Field(default=None, description="how image quotes are shown to the encoder")
    dtype: DType | None = Field(default=None, description="number type that the model computes in")
    experiment: Experiment | None = Field(
        default=None, description="published experiment whose row of the model is used"
    )

    def __str__(self) -> str:
        """The one-word form of the spec, which `parse_spec` reads."""
        name = f"{self.name}={self.checkpoint}" if self.checkpoint else self.name
        if self.endpoint:
            name = f"{self.name}:{self.endpoint}"
        unit = None if self.unit == "quote" else self.unit
        prefixes = self.prefixes and f"{_PREFIXES}{self.prefixes}"
        types = self.input_types and f"input_type:{','.join(self.input_types)}"
        types = "input_type" if self.input_types == _USUAL_TYPES else types
        queries = self.query_model and f"{_QUERIES}{self.query_model}"
        dimensions = self.dimensions and f"{self.dimensions}d"
        parts = (self.url, prefixes, types, queries, dimensions, self.kind, unit, self.view, self.dtype)
        suffixes = [suffix for suffix in (self.experiment, *parts) if suffix]
        return "@".join([name, *suffixes])

    @property
    def shown(self) -> str:
        """The one-word form without any secrets in its URL, for messages and files."""
        return str(self if self.url is None else self.model_copy(update={"url": without_secrets(self.url)}))


def parse_spec(text: str) -> RetrieverSpec:
    """Parse a spec; text after an `@` that is no known suffix belongs to the checkpoint's path or the model's name.

    Raises UsageError for a spec that cannot be parsed, or for an unknown suffix after a bare name. Whether the name
    exists is checked by `make_retriever`.
    """
    remaining = text.strip()
    fields: dict[str, str | tuple[str, str]] = {}
    while True:
        before, at, suffix = remaining.rpartition("@")
        field = _field(suffix)
        if field is None and (url := _WITH_USER.search(remaining)):
            before, suffix, field = remaining[: url.start()], url[1], "url"
        if not at or field is None:
            break
        if field in fields:
            raise UsageError(f"{text!r} says its {field} twice: @{suffix} is one time too many")
        remaining, fields[field] = before, _value(field, suffix)
    name, equals, checkpoint = remaining.partition("=")
    name, colon, endpoint = (name, "", "") if equals else remaining.partition(":")
    if not name or (equals and not checkpoint) or (colon and not endpoint):
        raise UsageError(f"{text!r} is no retriever; write it as NAME, NAME=CHECKPOINT or openai:MODEL")
    for suffix in name.split("@")[1:]:
        if _field(suffix) is None:
            raise unknown_suffix_error(text, suffix)
    return RetrieverSpec.model_validate(
        {"name": name, "checkpoint": checkpoint or None, "endpoint": endpoint or None, **fields}
    )


def with_suffixes(spec: RetrieverSpec, suffixes: Iterable[str]) -> RetrieverSpec:
    """Return the spec with these suffixes, except where it has one of the same kind."""
    fields = {_field(suffix) or "": suffix for suffix in suffixes}
    return spec.model_copy(update={field: suffix for field, suffix in fields.items() if getattr(spec, field) is None})


def unknown_suffix_error(text: str, suffix: str) -> UsageError:
    """Return the error for a spec with an unknown `suffix`."""
    known_suffixes = [value for values in _FIELDS.values() for value in values]
    similar = similar_names(suffix, known_suffixes)
    hint = f"did you mean @{' or @'.join(similar)}? " if similar else ""
    ends = "and for an endpoint @URL, @as:NAME, @input_type, @queries:NAME and @256d"
    return UsageError(f"{text!r}: @{suffix} is no suffix; {hint}There are @{', @'.join(known_suffixes)}, {ends}")


def unknown_name_error(name_kind: str, text: str, known_names: Iterable[str]) -> UsageError:
    """Return the error for a name that is not among the `known_names` of its kind, such as "reranker"."""
    similar = similar_names(text, known_names)
    hint = f"did you mean {' or '.join(map(repr, similar))}?" if similar else f"choose one of: {', '.join(known_names)}"
    return UsageError(f"there is no {name_kind} {text!r}; {hint}")


def _field(suffix: str) -> str | None:
    if suffix.startswith(("http://", "https://")):
        return "url"
    if suffix.startswith(_PREFIXES):
        return "prefixes"
    if suffix.startswith(_QUERIES) and suffix != _QUERIES:
        return "query_model"
    if _INPUT_TYPES.fullmatch(suffix):
        return "input_types"
    if _DIMENSIONS.fullmatch(suffix):
        return "dimensions"
    return next((field for field, values in _FIELDS.items() if suffix in values), None)


def _value(field: str, suffix: str) -> str | tuple[str, str]:
    if field == "prefixes":
        return suffix.removeprefix(_PREFIXES)
    if field == "query_model":
        return suffix.removeprefix(_QUERIES)
    if field == "input_types" and (types := _INPUT_TYPES.fullmatch(suffix)):
        return types["query"] or _USUAL_TYPES[0], types["passage"] or _USUAL_TYPES[1]
    return suffix.removesuffix("d") if field == "dimensions" else suffix
