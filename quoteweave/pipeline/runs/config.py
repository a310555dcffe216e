"""Reads the configuration file of a run: one setting, or several to compare, as in MMDocRAG's Table 7."""

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import ClassVar, Literal, Self, TypeVar

from pydantic import BaseModel, Field, ValidationError, model_validator

from quoteweave.core.errors import UsageError, by_setting
from quoteweave.core.examples import Task
from quoteweave.core.files.jsonl import describe_validation_error
from quoteweave.core.files.toml import read_toml
from quoteweave.core.records import Record
from quoteweave.pipeline.presets import load_preset
from quoteweave.pipeline.runs.arrangement import Arrangement, ImageView, Order
from quoteweave.pipeline.settings import AnswerSettings, Limits

NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"
NOT_IN_FILES = {
    "api_key": "a key does not belong in a file; set OPENAI_API_KEY",
    "trust_remote_code": "code of a checkpoint is run only where the command itself allows it",
    "explain": "it is asked of one question",
}
"""Settings that a file may not hold, as files are passed on to others; with the reasons."""


class RunSettings(AnswerSettings):
    """How the questions of a run are answered; omitted keys take their defaults."""

    name: str = Field(default="run", pattern=NAME_PATTERN, description="also the name of the run's folder")
    quotes: Literal["dataset", "retrieved", "document"] = Field(
        default="retrieved",
        description="dataset: its own candidate quotes; retrieved: those found in a collection; document: all quotes "
        "of the documents that the question is about, in their order, as many as the window holds",
    )
    passages: int | None = Field(
        default=None,
        ge=1,
        description="only the first so many of the dataset's text quotes, as ALCE's 5 or 10 of 100",
    )
    size: Literal[15, 20] = Field(default=20, description="quotes retrieved: 10 texts and 5 images, or 12 and 8")
    within: Literal["document", "collection"] = Field(default="document", description="where quotes are retrieved")
    order: Order = Field(
        default="kept",
        description="the order of quotes: as they are, shuffled by `seed` (MCiteBench's unless set), the first gold "
        "one at `place`, or MCiteBench's own for models behind an API, or for local ones",
    )
    seed: int = Field(default=0, description="seed of the shuffled order")
    place: int | None = Field(default=None, ge=1, description="with gold_at: the place of the first gold quote, from 1")
    view: ImageView = Field(default="all", description="the words that stand for image quotes")
    captions: bool | None = Field(
        default=None, description="false: MCiteBench's pictures without the captions that are printed in them"
    )
    images: bool = Field(default=False, description="show the model pictures (multimodal), or words alone")

    @model_validator(mode="after")
    def _fits(self) -> "RunSettings":
        self.arrangement  # noqa: B018  # raises if order and place do not fit together
        if self.passages is not None and self.quotes != "dataset":
            raise ValueError(
                "passages are the dataset's own quotes: set quotes = 'dataset', or size for retrieved ones"
            )
        if self.order == "gold_at" and self.quotes != "dataset":
            raise ValueError("order 'gold_at' is for the dataset's own quotes: of retrieved ones it is not known")
        if self.quotes == "document" and self.within == "collection":
            raise ValueError("quotes 'document' are of the documents that are asked; within 'collection' does not fit")
        return self

    def for_task(self, task: Task, dataset: str) -> "RunSettings":
        """Return the settings completed for a task. The task of citing sources uses the dataset's quotes as pictures,
        shuffled.

        Raises UsageError for settings that the task does not allow.
        """
        if task == "name_paper":
            raise UsageError(
                f"setting {self.name}: {dataset} asks for papers, which `quoteweave.attribution.answer_excerpts` finds"
            )
        if task == "answer":
            if self.order.startswith("published"):
                raise UsageError(f"setting {self.name}: order {self.order!r} is MCiteBench's, not of {dataset}")
            if self.captions is not None:
                raise UsageError(f"setting {self.name}: captions is of MCiteBench's pictures, not of {dataset}")
            return self
        usual = {"quotes": "dataset", "order": "shuffled", "images": self.model is not None}
        completed = self.model_copy(
            update={key: value for key, value in usual.items() if key not in self.model_fields_set}
        )
        if completed.quotes != "dataset":
            raise UsageError(f'setting {self.name}: {dataset} asks for its own sources; set quotes = "dataset"')
        if completed.model is None and task != "cite_sources":
            raise UsageError(
                f"setting {self.name}: {dataset} asks for a letter, and only a model chooses one; set model"
            )
        return completed

    @property
    def arrangement(self) -> Arrangement:
        """The order of quotes."""
        return Arrangement(order=self.order, seed=self.seed, place=self.place)


RUN_ONLY_SETTINGS = tuple(key for key in RunSettings.model_fields if key not in AnswerSettings.model_fields)
"""Settings that only a run over a dataset has."""


class RunFile(Record):
    """A configuration file: what all settings share, and each setting."""

    SETTING: ClassVar[type[RunSettings]] = RunSettings
    settings: tuple[RunSettings, ...] = Field(description="one, or one for each [[setting]]")
    limits: Limits = Field(default=Limits(), description="what all settings together may spend")

    def chosen(self, names: Sequence[str] | None, source: Path | str = "the configuration") -> list[RunSettings]:
        """Return the settings of these names, or all of them for None. Raises UsageError for unknown names."""
        chosen = [setting for setting in self.settings if names is None or setting.name in names]
        if not chosen:
            existing = ", ".join(setting.name for setting in self.settings)
            raise UsageError(f"{source} has no setting {', '.join(names or [])}; there are: {existing}")
        return chosen

    def with_default(self, field: str, value: object) -> Self:
        """Return the file with this value of a field in each setting that has none of its own."""
        settings = [
            setting if getattr(setting, field) else setting.model_copy(update={field: value})
            for setting in self.settings
        ]
        return self.model_copy(update={"settings": tuple(settings)})


File = TypeVar("File", bound=RunFile)


def read_run_file(path: Path | str, preset: str | None = None) -> RunFile:
    """Read the settings of a TOML file: keys of `RunSettings`, with a `[[setting]]` for each setting if it has several.

    Keys above these apply to all of them. `preset` fills each setting that names no preset itself; keys of the file
    take precedence over it. Raises UsageError, naming file and key, for what cannot be read, and for an unknown preset.
    """
    return read_run_file_as(RunFile, path, preset)


def read_run_file_as(form: type[File], path: Path | str, preset: str | None = None) -> File:
    """Read a file as `read_run_file` does, with the keys of another kind of run."""
    content, settings = _tables(Path(path))
    if preset is not None:
        settings = [{"preset": preset, **table} for table in settings]
        other_preset = next((table["preset"] for table in settings if table["preset"] != preset), None)
        if other_preset is not None:
            raise UsageError(f"{path} says preset {other_preset!r}, the command {preset!r}; name one of them")
    try:
        file = form.model_validate({"settings": settings, "limits": content})
    except ValidationError as error:
        raise UsageError(f"{path}: {_describe_error(error, settings, form.SETTING)}") from error
    names = [setting.name for setting in file.settings]
    if len(set(names)) != len(names):
        raise UsageError(f"{path}: each [[setting]] wants a name of its own; there are {', '.join(names)}")
    return file


def preset_run_file(form: type[File], preset: str) -> File:
    """Return a preset as a file with one setting, for a kind of run.

    Raises UsageError for an unknown preset, and for one of retrieval, as a configuration has to name the retriever.
    """
    loaded = load_preset(preset, *form.SETTING.PRESET_KINDS)
    if loaded.kind == "retrieval":
        raise UsageError(
            f"preset {preset!r} says how a retriever is run: name a retriever in the configuration (--config FILE)"
        )
    return form(settings=(form.SETTING(preset=loaded.name, name=loaded.name),))


def read_answer_settings(path: Path | str, setting: str | None = None) -> tuple[dict[str, object], Limits]:
    """Return the keys of `AnswerSettings` that a configuration file sets, and its limits.

    Keys that are only for datasets (`RUN_ONLY_SETTINGS`) are checked and left out. Raises UsageError as `read_run_file`
    does, and if the file has several settings and `setting` names none of them.
    """
    file = read_run_file(path)
    if setting is None and len(file.settings) > 1:
        names = ", ".join(known_setting.name for known_setting in file.settings)
        raise UsageError(f"{path} has several settings: choose one with --setting; there are: {names}")
    (chosen, *_) = file.chosen(None if setting is None else [setting], path)
    values = {key: getattr(chosen, key) for key in chosen.model_fields_set if key not in RUN_ONLY_SETTINGS}
    return values, file.limits


def _tables(path: Path) -> tuple[object, list[dict[str, object]]]:
    """Return the table of limits and the table of each setting."""
    content = read_toml(path)
    limits, several = content.pop("limits", {}), content.pop("setting", None)
    tables = isinstance(several, list) and several and all(isinstance(table, dict) for table in several)
    if several is not None and not tables:
        raise UsageError(f"{path}: setting: each is a table of its own, under [[setting]] in two pairs of brackets")
    settings = [{**content, **table} for table in several] if several is not None else [content]
    for key, reason in NOT_IN_FILES.items():
        if any(key in table for table in settings):
            raise UsageError(f"{path}: {key}: {reason}", remedy=by_setting("give {} instead", key))
    return limits, settings


def _describe_error(error: ValidationError, settings: Sequence[object], setting: type[RunSettings]) -> str:
    """Describe the error with the file's own key names, and suggest the closest key for an unknown one."""
    first = error.errors(include_url=False, include_context=False)[0]
    is_limit = first["loc"][0] == "limits"
    text = describe_validation_error(error)
    if not is_limit:
        text = re.sub(r"^settings\.\d+\.?", "[[setting]] " if len(settings) > 1 else "", text)
    if first["type"] == "tuple_type":
        text += ', such as ["terms.toml"]' if first["loc"][-1] == "terms" else ', such as ["bm25"]'
    if first["type"] != "extra_forbidden":
        return text.replace("valid tuple", "list")
    record: type[BaseModel] = Limits if is_limit else setting
    known_keys = [key for key in record.model_fields if key not in NOT_IN_FILES]
    return f"{text.partition(':')[0]} is no key; {_hint(str(first['loc'][-1]), known_keys)}"


def _hint(key: str, known_keys: Iterable[str]) -> str:
    names = list(known_keys)
    similar = get_close_matches(key.lower(), names, n=1)
    return f"did you mean {similar[0]}?" if similar else f"there are: {', '.join(names)}"
