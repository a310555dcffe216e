"""The settings and the configuration file of runs over CiteME."""

from pathlib import Path
from typing import ClassVar

from pydantic import Field, model_validator

from quoteweave.attribution.agent.trajectory import AgentSettings
from quoteweave.attribution.literature.sources.papers import FieldOfStudy
from quoteweave.core.errors import UsageError
from quoteweave.core.examples import Task
from quoteweave.pipeline.presets import PresetKind
from quoteweave.pipeline.runs.config import RunFile, RunSettings
from quoteweave.pipeline.settings import ChatSettings, RetrievalSettings

_OF_QUOTES = RunSettings.model_fields.keys() - {
    "name", "window", *RetrievalSettings.model_fields, *ChatSettings.model_fields
}  # fmt: skip
"""Settings of which quotes an answer is made of and how it is checked; they mean nothing here."""
_OF_AGENTS = (AgentSettings.model_fields.keys() | ChatSettings.model_fields.keys()) - {"results"}
"""Settings of a model that looks for papers."""


class PaperRunSettings(RunSettings, AgentSettings):
    """How the papers that excerpts cite are looked for. `retriever` and the like apply to a collection of one's own."""

    PRESET_KINDS: ClassVar[tuple[PresetKind, ...]] = ("papers",)

    source: str | None = Field(
        default=None,
        exclude=True,  # a run records what was searched, and not where it was
        description="where papers are searched for: semantic-scholar, openalex, or the folder of a collection",
    )
    papers: Path | None = Field(
        default=None,
        exclude=True,
        description="folder that keeps the papers of a service that were read, else that of QUOTEWEAVE_PAPERS",
    )
    per_second: float | None = Field(
        default=None, gt=0, le=1000, exclude=True, description="most requests of a service a second"
    )
    open_access_only: bool | None = Field(
        default=False, description="whether a service leaves out papers that may not be read freely"
    )
    field: FieldOfStudy | None = Field(default=None, description="of which papers alone a service is searched for")
    ranking: bool | None = Field(
        default=None, description="true: rank papers by `retriever` without a model, and take the first as the answer"
    )
    window: int = Field(default=AgentSettings().window, ge=2_000, description="tokens of a conversation at most")

    @model_validator(mode="after")
    def _ranks_or_asks(self) -> "PaperRunSettings":
        unused = sorted(self.model_fields_set & _OF_AGENTS) if self.ranking else []
        if unused:
            raise ValueError(f"{unused[0]} is of a model that looks for papers, and ranking asks none: leave it out")
        return self

    @property
    def agent(self) -> AgentSettings:
        """What the agent may do."""
        return AgentSettings(**{key: getattr(self, key) for key in AgentSettings.model_fields})

    def for_task(self, task: Task, dataset: str) -> "PaperRunSettings":
        """Return the settings. Raises UsageError for another task, without a model, and for settings of quotes."""
        if task != "name_paper":
            raise UsageError(f"setting {self.name}: {dataset} asks for no paper, so that no agent looks for one")
        unused = sorted(self.model_fields_set & _OF_QUOTES)
        if unused:
            raise UsageError(
                f"setting {self.name}: {unused[0]} is of quotes, and {dataset} asks of an excerpt, without any: leave "
                "it out"
            )
        if self.ranking:
            return self.model_copy(update={"model": None})  # QUOTEWEAVE_MODEL may have set one
        if self.model is None:
            raise UsageError(
                f"setting {self.name}: {dataset} asks for a paper, and only a model names one; set model. Without one, "
                "`ranking = true` ranks papers, and takes the first"
            )
        return self if self.actions else self.model_copy(update={"open_access_only": None})  # nothing is searched


class PaperRunFile(RunFile):
    """A configuration file of runs over CiteME."""

    SETTING: ClassVar[type[RunSettings]] = PaperRunSettings
    settings: tuple[PaperRunSettings, ...]
