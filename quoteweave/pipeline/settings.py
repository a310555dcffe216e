"""Declares all settings of retrieval, chat model, gate and window, once.

These fields are the command-line options, the keys of TOML files and the records of runs: a field's description is its
help text, its default applies everywhere, and its bounds are checked wherever a value comes from. Fields marked
`exclude` do not change the result of a run, and are not part of its record.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, JsonValue, ValidationInfo, field_validator, model_validator

from quoteweave.core.answers import CONTEXT_SIZES, ContextSize
from quoteweave.core.chat.usage import LOCAL_PREFIX
from quoteweave.core.errors import UsageError
from quoteweave.core.records import Record
from quoteweave.endpoints.connection import RetryOptions
from quoteweave.generation.prompt_pictures import PictureLimits
from quoteweave.models.checkpoints import Hardware
from quoteweave.pipeline.presets import PresetKind, PresetSettings, load_preset
from quoteweave.pipeline.window import Window

_PICTURES = PictureLimits()


class ResourceSettings(Record):
    """Hardware for models on this machine, and timeouts and retries for endpoints."""

    device: str | None = Field(
        default=None, exclude=True, description="where models run: cuda, mps or cpu; the default is the best available"
    )
    batch_size: int | None = Field(default=None, ge=1, exclude=True, description="items that a model takes at once")
    trust_remote_code: bool = Field(
        default=False,
        exclude=True,
        description="run code that comes with a checkpoint, which some models need",
    )
    timeout_s: float | None = Field(
        default=None,
        gt=0,
        allow_inf_nan=False,
        exclude=True,
        description="seconds that an endpoint may send nothing (120); comments in a stream count as nothing",
    )
    call_limit_s: float | None = Field(
        default=None,
        gt=0,
        allow_inf_nan=False,
        exclude=True,
        description="seconds for a whole call, retries included (five times the timeout)",
    )
    retries: int | None = Field(
        default=None, ge=0, exclude=True, description="retries when an endpoint fails (2; for embeddings 5)"
    )

    @property
    def hardware(self) -> Hardware:
        """The hardware that models on this machine run on."""
        return Hardware(device=self.device, batch_size=self.batch_size, trust_remote_code=self.trust_remote_code)

    @property
    def retry_options(self) -> RetryOptions:
        """Timeouts and retries for endpoints, only those that are set, as each client has its own defaults."""
        options = RetryOptions()
        if self.timeout_s is not None:
            options["timeout_s"] = self.timeout_s
        if self.call_limit_s is not None:
            options["call_limit_s"] = self.call_limit_s
        if self.retries is not None:
            options["max_retries"] = self.retries
        return options


class RetrievalSettings(PresetSettings, ResourceSettings):
    """Settings of retrieval.

    >>> RetrievalSettings(retriever=("lexical", "bm25")).retriever
    ('lexical', 'bm25')
    """

    PRESET_KINDS: ClassVar[tuple[PresetKind, ...]] = ("retrieval",)

    retriever: tuple[str, ...] = Field(
        default=("lexical",),
        min_length=1,
        description="how quotes are found: lexical, bm25, tfidf, a name that quoteweave models lists, or A+B of text "
        "and pictures; the rankings of several are fused",
    )
    fusion: str | None = Field(
        default=None,
        description="how several are fused: pages (each adds to the evidence for a page; the default with lexical), "
        "rrf (by ranks; the default without) or scores; with weights as in scores:0.7,0.3",
    )
    terms: tuple[Path, ...] = Field(
        default=(),
        description="TOML files with terms of your field for lexical to search by; docs/retrieval.md explains their "
        "form",
    )
    synonyms: bool = Field(
        default=True,
        description="have lexical search for synonyms of English words that no page has; the default",
    )
    expand: str | None = Field(
        default=None,
        description="turn the question into several clauses: by rules (rules), from a first search (rm3), or with "
        "a chat model (chat, or chat:MODEL@URL)",
    )
    rerank: str | None = Field(
        default=None,
        description="rerank the results: with a name that quoteweave models lists, cross-encoder=PATH, "
        "endpoint:MODEL@URL, or a chat model (chat, or chat:MODEL@URL)",
    )
    explain: bool = Field(
        default=False,
        exclude=True,
        description="say why each quote ranks where it does: words, references, terms, structure",
    )

    @model_validator(mode="before")
    @classmethod
    def _name_retriever(cls, values: object) -> object:
        """Refuse a preset of retrieval without a retriever, as such a preset names none."""
        if isinstance(values, Mapping) and isinstance(values.get("preset"), str) and values.get("retriever") is None:
            preset = load_preset(values["preset"], *cls.PRESET_KINDS)
            if preset.kind == "retrieval":
                raise UsageError(
                    f"preset {preset.name!r} says how a retriever is run: name a retriever with -r, or as retriever in "
                    "the configuration, such as bge"
                )
        return values

    @field_validator("retriever")
    @classmethod
    def _as_published(cls, retrievers: tuple[str, ...], validation: ValidationInfo) -> tuple[str, ...]:
        if validation.data.get("preset") is None:
            return retrievers
        preset = load_preset(validation.data["preset"])
        suffixes = {"of_text": preset.text_suffixes, "of_pictures": preset.picture_suffixes}
        if not any(suffixes.values()):
            return retrievers
        # Imported here, as this imports all retrievers, which takes longer than importing all settings.
        from quoteweave.retrievers.make_retriever import with_published_suffixes

        return tuple(with_published_suffixes(text, **suffixes) for text in retrievers)


class ChatSettings(ResourceSettings):
    """Settings of the chat model. Without the name of a model, nothing is sent."""

    model: str | None = Field(
        default=None,
        description="the chat model, by default that of QUOTEWEAVE_MODEL; local=PATH is a model on this machine",
    )
    base_url: str | None = Field(
        default=None, description="the model's OpenAI-compatible endpoint, by default OPENAI_BASE_URL"
    )
    api_key: str | None = Field(
        default=None, repr=False, exclude=True, description="the endpoint's key, by default OPENAI_API_KEY"
    )
    images: bool = Field(default=True, description="show the model pictures, not only their words")
    max_pictures: int | None = Field(
        default=None,
        ge=1,
        description=f"pictures that one prompt shows ({_PICTURES.max_pictures}); words stand for the others",
    )
    max_pixels: int | None = Field(
        default=None,
        ge=1,
        description=f"pixels of one picture ({_PICTURES.max_pixels:_}); larger ones are shrunk",
    )
    max_total_pixels: int | None = Field(
        default=None, ge=1, description=f"pixels of all pictures of one prompt ({_PICTURES.max_total_pixels:_})"
    )
    image_urls: str | None = Field(
        default=None,
        description="address from which the model's server fetches pictures, by their names in the images folder; "
        "otherwise pictures are sent",
    )
    prompts: Path | None = Field(
        default=None,
        description="folder whose prompt files replace ours, or quoteweave:mmdocrag, :alce or :aliice, ours for a "
        "benchmark",
    )
    quote_sources: bool = Field(default=True, description="tell the model the document, page and section of each quote")
    temperature: float | None = Field(
        default=None, ge=0, allow_inf_nan=False, description="how freely the model chooses words"
    )
    max_tokens: int | None = Field(default=None, ge=1, description="tokens that the model may write")
    thinking: bool | None = Field(
        default=None,
        description="have the model think first or not, if its chat template can; the default is the template's",
    )
    extra: Mapping[str, JsonValue] = Field(default_factory=dict, description="further fields of each request")

    def with_environment(self) -> Self:
        """Return settings with the model and address of QUOTEWEAVE_MODEL and OPENAI_BASE_URL if none are set.

        OPENAI_API_KEY is left to the client, which decides where it may be sent, as an address may come from somebody
        else's file. Raises UsageError for an invalid address.
        """
        values = {
            "model": self.model or os.environ.get("QUOTEWEAVE_MODEL") or None,
            "base_url": self.base_url or os.environ.get("OPENAI_BASE_URL") or None,
        }
        try:
            urlsplit(values["base_url"] or "")
        except ValueError:  # such as an unclosed bracket
            raise UsageError("base_url is no URL; it must look like http://localhost:8000/v1") from None
        return self.model_copy(update=values)

    @property
    def picture_limits(self) -> PictureLimits:
        """How many pictures are shown, and how large."""
        keys = PictureLimits.model_fields
        return PictureLimits(**{key: value for key in keys if (value := getattr(self, key)) is not None})

    @property
    def checkpoint(self) -> str | None:
        """The checkpoint of a model on this machine; None for a model behind an endpoint, and without a model."""
        if self.model is None or not self.model.startswith(LOCAL_PREFIX):
            return None
        return self.model.removeprefix(LOCAL_PREFIX)

    @property
    def destination(self) -> str | None:
        """The host and port to which questions and quotes are sent; None if there is no model or it runs in-process."""
        if self.model is None or self.checkpoint is not None:
            return None
        return urlsplit(self.base_url).netloc.rpartition("@")[2] if self.base_url else "api.openai.com"

    def check_address(self) -> None:
        """Raise UsageError if the endpoint cannot be asked: without address and key, or with a malformed one."""
        if self.destination is not None and self.model is not None:
            from quoteweave.endpoints.address import openai_address

            openai_address(self.model, self.base_url, self.api_key)


class JudgeSettings(PresetSettings, ChatSettings):
    """Settings of a chat model that judges answers.

    >>> JudgeSettings(preset="mmdocrag-judge").model
    'gpt-4o-2024-08-06'
    """

    PRESET_KINDS = ("judge",)


class GateSettings(Record):
    """Settings of the gate, which checks answers before they are shown."""

    gate: Literal["report", "drop", "refuse", "off"] = Field(
        default="report",
        description="what becomes of sentences whose numbers, dates or quoted words are not in what they cite: report "
        "them, drop them, refuse the answer, or off",
    )
    check: str | None = Field(
        default=None,
        description="have each cited sentence checked by chat (the model that answers), chat:MODEL@URL, or an "
        "entailment model: folder or hub name",
    )
    abstain: Path | None = Field(
        default=None, description="abstain below the confidence that eval calibrate wrote into this file"
    )
    check_topic: bool | None = Field(
        default=None,
        description="abstain without asking the model where what was found is about something else; the default is "
        "true, but false for runs",
    )


class AnswerSettings(RetrievalSettings, ChatSettings, GateSettings):
    """All settings for answering a question, as `quoteweave ask` and each setting of a run take them.

    >>> settings = AnswerSettings(retriever=("bm25",), size=20, gate="drop")
    >>> make_rag(collection, settings).answer("What went by rail?").text.splitlines()[0]
    'Timber went by rail [1].'
    """

    PRESET_KINDS: ClassVar[tuple[PresetKind, ...]] = ("answers", "retrieval")

    size: Literal[15, 20] = Field(default=15, description="quotes retrieved: 10 texts and 5 images, or 12 and 8")
    window: int | None = Field(
        default=None, ge=2000, description="tokens that the model reads; quotes are cut to it, the longest first"
    )
    sentence_scorer: str | None = Field(
        default=None,
        description="without a model: have this encoder of text or reranker order the sentences that answer, as "
        "minilm; or reader=PATH, a reading model",
    )

    @property
    def context_size(self) -> ContextSize:
        """Quotes of each kind that are retrieved."""
        return CONTEXT_SIZES[f"c{self.size}"]

    @property
    def reading_window(self) -> Window | None:
        """The context window of the model; None if it is not set."""
        if self.window is None:
            return None
        shows_pictures = self.images and self.model is not None
        return Window(
            tokens=self.window, answer=self.max_tokens or 0, pictures=shows_pictures, limits=self.picture_limits
        )


class Limits(Record):
    """Limits on concurrency, tokens and cost, shared by all settings of a run."""

    concurrency: int = Field(default=8, ge=1, description="questions asked at once")
    tokens_per_minute: int | None = Field(default=None, ge=1, description="tokens per minute of all calls")
    max_usd: float | None = Field(default=None, gt=0, description="ends the run before the call that would exceed it")
    max_tokens: int | None = Field(default=None, ge=1, description="tokens in and out together; ends the run likewise")
    calls: Path | None = Field(default=None, description="folder that keeps every call, so that none is paid twice")
