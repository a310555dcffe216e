"""The file that says how questions are answered: one setting, or several to be compared, as in MMDocRAG's Table 7."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from pydantic import Field, JsonValue, ValidationError, model_validator

from quoteweave.core.context_sizes import C15, C20, Split
from quoteweave.core.errors import UsageError
from quoteweave.core.jsonl import reason
from quoteweave.core.records import Record
from quoteweave.pipeline.arranging import Arrangement, ImageView

SPLITS: Mapping[int, Split] = {15: C15, 20: C20}
LETTERS = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"


class RunSetting(Record):
    """How the questions of a run are answered. What is left out is the default."""

    name: str = Field(default="run", pattern=LETTERS, description="also the name of the run's folder")
    quotes: Literal["dataset", "retrieved"] = Field(
        default="retrieved", description="the dataset's own candidate quotes, or what is found in a collection"
    )
    size: Literal[15, 20] = Field(default=20, description="quotes retrieved: 10 texts and 5 images, or 12 and 8")
    retriever: tuple[str, ...] = Field(default=("lexical",), min_length=1)
    fusion: str | None = None
    terms: tuple[Path, ...] = Field(default=(), description="files of terms of a field, for the retriever lexical")
    expand: str | None = None
    rerank: str | None = None
    within: Literal["document", "collection"] = Field(default="document", description="where quotes are retrieved")
    order: Literal["kept", "shuffled", "gold_at"] = "kept"
    seed: int = 0
    place: int | None = Field(default=None, ge=1, description="with gold_at: where the first gold quote stands")
    view: ImageView = Field(default="all", description="the words that stand for image quotes")
    model: str | None = Field(default=None, description="the chat model; without one, answers are extracted")
    answer_with: str | None = Field(default=None, description="what orders extracted sentences, as `ask` takes it")
    base_url: str | None = None
    images: bool = Field(default=False, description="show the model pictures (multimodal), or words alone")
    max_pictures: int | None = Field(default=None, ge=1, description="shown of one prompt; words stand for the others")
    max_pixels: int | None = Field(default=None, ge=1, description="of one picture; larger ones are shrunk")
    max_total_pixels: int | None = Field(default=None, ge=1, description="of all pictures of one prompt")
    image_urls: str | None = Field(default=None, description="where the model's server fetches pictures: an address")
    prompts: Path | None = None
    temperature: float | None = Field(default=None, ge=0)
    max_tokens: int | None = Field(default=None, ge=1)
    thinking: bool | None = Field(default=None, description="have the model think first or not")
    extra: Mapping[str, JsonValue] = Field(default_factory=dict, description="further fields of each request")
    timeout_s: float | None = Field(
        default=None,
        gt=0,
        allow_inf_nan=False,
        exclude=True,
        description="seconds without a sign of life; no part of what a run is",
    )
    call_limit_s: float | None = Field(
        default=None, gt=0, allow_inf_nan=False, exclude=True, description="seconds of a whole call; likewise"
    )
    retries: int | None = Field(default=None, ge=0, exclude=True, description="further attempts of a call; likewise")
    gate: Literal["report", "drop", "refuse", "off"] = Field(
        default="report", description="what becomes of sentences that their quotes do not support"
    )
    check: str | None = Field(default=None, description="who else gives a verdict on each cited sentence")
    abstain: Path | None = Field(default=None, description="a calibration: abstains where answers are not sure enough")
    window: int | None = Field(default=None, ge=2000, description="tokens that the model reads; quotes are cut to it")

    @model_validator(mode="after")
    def _fits(self) -> "RunSetting":
        self.arrangement  # noqa: B018  # raises where order and place do not fit
        if self.order == "gold_at" and self.quotes == "retrieved":
            raise ValueError("order 'gold_at' is for the dataset's own quotes: of retrieved ones it is not known")
        return self

    @property
    def arrangement(self) -> Arrangement:
        """The order of quotes."""
        return Arrangement(order=self.order, seed=self.seed, place=self.place)

    @property
    def split(self) -> Split:
        """Quotes of each kind that are retrieved."""
        return SPLITS[self.size]


class Limits(Record):
    """What a run may take; of all its settings together."""

    concurrency: int = Field(default=8, ge=1, description="questions under way at once")
    tokens_per_minute: int | None = Field(default=None, ge=1)
    max_usd: float | None = Field(default=None, gt=0)
    max_tokens: int | None = Field(default=None, ge=1)
    calls: Path | None = Field(default=None, description="folder that keeps every call, so that none is paid twice")


class RunFile(Record):
    """A configuration file: what all settings share, and each setting."""

    settings: tuple[RunSetting, ...]
    limits: Limits = Limits()


def read_run_file(path: Path) -> RunFile:
    """The settings of a TOML file: keys of `RunSetting`, and where there are several, a `[[setting]]` for each.

    What stands above these holds for all of them. Raises UsageError, naming file and key, for what cannot be read.
    """
    try:
        content = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is no TOML: {error}") from error
    limits, several = content.pop("limits", {}), content.pop("setting", None)
    tables = isinstance(several, list) and several and all(isinstance(own, dict) for own in several)
    if several is not None and not tables:
        raise UsageError(f"{path}: setting: each is a table of its own, under [[setting]] in two pairs of brackets")
    settings = [{**content, **own} for own in several] if several is not None else [content]
    try:
        read = RunFile.model_validate({"settings": settings, "limits": limits})
    except ValidationError as error:
        raise UsageError(f"{path}: {_told(error, settings)}") from error
    names = [setting.name for setting in read.settings]
    if len(set(names)) != len(names):
        raise UsageError(f"{path}: each [[setting]] wants a name of its own; there are {', '.join(names)}")
    return read


def _told(error: ValidationError, settings: Sequence[object]) -> str:
    """What is wrong, with the names that the file has, and the keys that there are where one is unknown."""
    first = error.errors(include_url=False, include_context=False)[0]
    of_limits = first["loc"][0] == "limits"
    said = reason(error)
    if not of_limits:
        said = re.sub(r"^settings\.\d+\.?", "[[setting]] " if len(settings) > 1 else "", said)
    if first["type"] == "tuple_type":
        said += ', such as ["terms.toml"]' if first["loc"][-1] == "terms" else ', such as ["bm25"]'
    if first["type"] != "extra_forbidden":
        return said.replace("valid tuple", "list")
    known = Limits.model_fields if of_limits else RunSetting.model_fields
    return f"{said.partition(':')[0]} is no key; there are: {', '.join(known)}"
