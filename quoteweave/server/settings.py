"""Declares all settings of the server, once: options, keys of its TOML file and the table in the documentation."""

import ipaddress
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, Field, ValidationError, field_validator, model_validator

from quoteweave.core.errors import UsageError
from quoteweave.core.files.jsonl import describe_validation_error
from quoteweave.core.files.toml import read_toml
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.messages import join_names, similar_names
from quoteweave.core.records import Record
from quoteweave.pipeline.settings import AnswerSettings, ChatSettings
from quoteweave.server.access.keys import ByteCount, QuestionLength, RequestCount
from quoteweave.server.state.state_folder import default_state

NAME = lazy_regex(r"[\w][\w.-]{0,99}")
NAME_RULE = "letters, digits, dots, hyphens and underscores, the first no dot or hyphen, 100 at most"
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
MEGABYTE = 2**20
OFF = "off"
"""The name with which a request asks for no calibration."""


class ServerSettings(Record):
    """Settings of `quoteweave serve`.

    >>> ServerSettings(collections={"reports": Path("my-collection")}, port=9000).port
    9000
    """

    collections: Mapping[str, Path] = Field(default_factory=dict, description="folder of each collection, by its name")
    collections_folder: Path | None = Field(
        default=None, description="folder in which collections may be made and removed; its collections are served too"
    )
    state: Path = Field(
        default_factory=default_state,
        description="folder of keys, jobs, uploads and conversations (QUOTEWEAVE_STATE, else "
        "~/.local/state/quoteweave)",
    )
    host: str = Field(default="127.0.0.1", description="address to listen on; other than loopback only with keys")
    port: int = Field(default=8321, ge=0, le=65535, description="port to listen on; 0 takes a free one")
    workers: int = Field(default=1, ge=1, le=64, description="processes that answer; each has the indexes in memory")
    public_url: str | None = Field(
        default=None, description="address in links, where a proxy has another than the server itself"
    )
    trusted_proxies: tuple[str, ...] = Field(
        default=(),
        description="addresses and networks, as 10.0.0.0/8, of the proxies whose X-Forwarded-For and "
        "X-Forwarded-Proto are believed",
    )
    allowed_hosts: tuple[str, ...] = Field(
        default=(), description="further names in the Host header that are answered, as reports.example.org"
    )
    cors_origins: tuple[str, ...] = Field(default=(), description="origins whose pages may call the server")
    frame_ancestors: tuple[str, ...] = Field(default=(), description="origins whose pages may embed ours in a frame")
    requests_per_minute: RequestCount | None = Field(
        default=None, description="requests of one key, or of one address without keys; none by default"
    )
    concurrency: RequestCount = Field(default=64, description="requests of one key at the same time")
    max_body: ByteCount = Field(default=MEGABYTE, description="bytes of a request that is no upload")
    max_question: QuestionLength = Field(default=10_000, description="characters of a question, some three pages")
    max_upload: ByteCount = Field(default=200 * MEGABYTE, description="bytes of one file that is uploaded")
    max_upload_request: ByteCount = Field(
        default=1000 * MEGABYTE, description="bytes of an upload, all its files together"
    )
    job_niceness: int = Field(
        default=10, ge=0, le=19, description="added to the niceness of processes that add documents and build indexes"
    )
    job_processes: int = Field(
        default=0,
        ge=0,
        le=64,
        description="processes that read files for a job; 0: four at most, and a core stays free",
    )
    answer_seconds: float = Field(default=120.0, gt=0, description="seconds that an answer may take")
    answer_usd: float | None = Field(
        default=None, gt=0, description="US dollars that one answer may cost; the call that would exceed it is not made"
    )
    answer_tokens: int | None = Field(
        default=None, ge=1, description="tokens that the models of one answer may read and write together"
    )
    shutdown_seconds: int = Field(default=20, ge=0, description="seconds that answers under way have to end")
    store: Literal["asked", "always", "never"] = Field(
        default="asked",
        description="whether answers are kept in conversations: where the request asks for it, as the page does; also "
        "where it does not say; or never",
    )
    log_text: bool = Field(
        default=False, description="put questions into the spans of OpenTelemetry; the log never holds them"
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="the least that is logged"
    )
    retrievers: tuple[str, ...] = Field(
        default=(),
        description="retrievers that requests may name, besides lexical, bm25, tfidf and those that have an index",
    )
    rerankers: tuple[str, ...] = Field(default=(), description="rerankers that requests may name")
    calibrations: Mapping[str, Path] = Field(
        default_factory=dict,
        description="files of eval calibrate that requests may name as abstain, by their names",
    )
    weaker_gates: bool = Field(
        default=True,
        description="requests may choose a gate that withholds less than that of answers: another gate, check or "
        "abstain, or no check_topic; false refuses them",
    )
    answers: AnswerSettings = Field(
        default_factory=AnswerSettings, description="how questions are answered, where a request does not say"
    )
    models: Mapping[str, ChatSettings] = Field(
        default_factory=dict, description="further chat models that requests may name"
    )

    @field_validator("collections")
    @classmethod
    def _names_fit(cls, collections: Mapping[str, Path]) -> Mapping[str, Path]:
        for name in collections:
            if not NAME.fullmatch(name):
                raise ValueError(
                    f"{name!r} cannot be a collection's name in addresses: {NAME_RULE}; name it with NAME=DIR"
                )
        return collections

    @field_validator("calibrations")
    @classmethod
    def _no_calibration_is_off(cls, calibrations: Mapping[str, Path]) -> Mapping[str, Path]:
        if OFF in calibrations:
            raise ValueError(f"{OFF!r} cannot be a calibration's name: by it a request asks for none; choose another")
        return calibrations

    @field_validator("trusted_proxies")
    @classmethod
    def _proxies_are_addresses(cls, proxies: tuple[str, ...]) -> tuple[str, ...]:
        for proxy in proxies:
            try:
                ipaddress.ip_network(proxy)
            except ValueError:
                raise ValueError(
                    f"{proxy!r} is neither an address nor a network; write the proxy's own, as 127.0.0.1 or 10.0.0.0/8"
                ) from None
        return proxies

    @model_validator(mode="after")
    def _a_file_fits_into_an_upload(self) -> "ServerSettings":
        if self.max_upload > self.max_upload_request:
            raise ValueError(
                f"max_upload_request: {self.max_upload_request} bytes are fewer than max_upload, the {self.max_upload} "
                "of one file; raise it, or lower max_upload"
            )
        return self

    @property
    def on_loopback(self) -> bool:
        """Whether only this machine can reach the server."""
        return self.host in LOOPBACK

    @property
    def behind_proxy(self) -> bool:
        """Whether a proxy shows the server to other machines."""
        public = None if self.public_url is None else urlsplit(self.public_url).hostname
        return bool(self.trusted_proxies) or (public is not None and public not in LOOPBACK)


def named_collections(texts: Sequence[str]) -> dict[str, Path]:
    """Return the folders given as `NAME=DIR` or `DIR`, by name; `DIR` alone is named like its folder.

    Raises UsageError for a name that is given twice.
    """
    folders: dict[str, Path] = {}
    for text in texts:
        name, equals, folder = text.partition("=")
        path = Path(folder) if equals and NAME.fullmatch(name) else Path(text)
        name = name if equals and NAME.fullmatch(name) else path.resolve().name
        if name in folders:
            raise UsageError(f"two collections are named {name!r}; give one another name: NAME={path}")
        folders[name] = path
    return folders


def read_server_settings(path: Path | None, overrides: Mapping[str, object]) -> ServerSettings:
    """Return the settings of a TOML file, overridden by those of `overrides` that are not None.

    Paths in the file are relative to it. Raises UsageError, naming file and key, for what cannot be read.
    """
    values: dict[str, object] = {} if path is None else _table(path)
    values |= {key: value for key, value in overrides.items() if value is not None}
    try:
        return ServerSettings.model_validate(values)
    except ValidationError as error:
        where = "" if path is None else f"{path}: "
        raise UsageError(f"{where}{_describe(error)}") from error


def _describe(error: ValidationError) -> str:
    """Describe the first problem; for an unknown key, suggest the closest known one."""
    first_error = error.errors(include_url=False, include_context=False)[0]
    if first_error["type"] != "extra_forbidden":
        return describe_validation_error(error)
    *tables, key = (str(part) for part in first_error["loc"])
    record: type[BaseModel] = {"answers": AnswerSettings, "models": ChatSettings}.get(
        next(iter(tables), ""), ServerSettings
    )
    near = similar_names(key, record.model_fields)
    hint = f"did you mean {near[0]}?" if near else f"there are: {join_names(sorted(record.model_fields), most=60)}"
    return f"{'.'.join((*tables, key))} is no setting; {hint}"


def _table(path: Path) -> dict[str, object]:
    values: dict[str, object] = read_toml(path)
    for key in ("state", "collections_folder"):
        if isinstance(values.get(key), str):
            values[key] = path.parent / str(values[key])
    for key in ("collections", "calibrations"):
        places = values.get(key)
        if isinstance(places, dict):
            values[key] = {name: path.parent / str(place) for name, place in places.items()}
    models = values.get("models")
    for table in (values.get("answers"), *(models.values() if isinstance(models, dict) else ())):
        if isinstance(table, dict):
            _place_paths(table, path.parent)
    return values


def _place_paths(table: dict[str, object], folder: Path) -> None:
    """Make the paths in a table of answers or of a model relative to the folder of their file."""
    for key in ("prompts", "abstain"):
        if isinstance(table.get(key), str):
            table[key] = folder / str(table[key])
    terms = table.get("terms")
    if isinstance(terms, list):
        table["terms"] = [folder / str(path) for path in terms]
