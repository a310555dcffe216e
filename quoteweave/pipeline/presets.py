"""Named settings of published experiments, fixed in `presets.toml`, as a configuration file could have them."""

from collections.abc import Mapping
from functools import cache
from typing import ClassVar, Literal

from pydantic import Field, JsonValue, model_validator

from quoteweave.core.errors import UsageError
from quoteweave.core.files.toml import shipped_toml
from quoteweave.core.messages import similar_names
from quoteweave.core.records import Record

PresetKind = Literal["answers", "retrieval", "judge", "papers", "post_hoc"]
"""What a preset is for, in this order: `run` (and training data for it), `eval retrieval`, `eval judge`, `run` over
CiteME, and `run` with citations that are set after the answer is written."""


class Preset(Record):
    """A named set of settings, as a published experiment used them."""

    name: str
    kind: PresetKind
    says: str = Field(description="what it sets, in one line")
    source: str = Field(description="where the settings were published: paper and place, repository and commit")
    settings: Mapping[str, JsonValue] = Field(
        default_factory=dict, description="the keys of a configuration file, with their values"
    )
    text_suffixes: tuple[str, ...] = Field(default=(), description="suffixes added to specs of text retrievers")
    picture_suffixes: tuple[str, ...] = Field(default=(), description="suffixes added to specs of visual retrievers")


@cache
def list_presets() -> tuple[Preset, ...]:
    """Every preset, in the order of the file.

    >>> [preset.name for preset in list_presets() if preset.kind == "retrieval"]
    ['mmdocir', 'mmdocir-ocr', 'mmdocir-mixed']
    """
    tables = shipped_toml("quoteweave.pipeline", "presets.toml")
    return tuple(Preset(name=name, **table) for name, table in tables.items())


def load_preset(name: str, *kinds: PresetKind) -> Preset:
    """Return the preset of that name. Raises UsageError for an unknown one, and for one that is of none of `kinds`."""
    presets = {preset.name: preset for preset in list_presets() if preset.kind in kinds or not kinds}
    if name not in presets:
        named = next((preset for preset in list_presets() if preset.name == name), None)
        reason = "there is no such preset" if named is None else f"it is for {named.kind}"
        similar = similar_names(name, presets) if named is None else []
        hint = f"did you mean {' or '.join(map(repr, similar))}? " if similar else ""
        raise UsageError(f"preset {name!r}: {reason}; {hint}there are: {', '.join(presets) or 'none'}")
    return presets[name]


class PresetSettings(Record):
    """Settings that a preset may fill; settings that are given as well take precedence.

    A record takes those of the preset's settings that are its fields. Raises UsageError for an unknown preset, and for
    one of a kind that the record does not take.
    """

    PRESET_KINDS: ClassVar[tuple[PresetKind, ...]]
    """The kinds of presets that the record takes."""

    preset: str | None = Field(
        default=None,
        description="settings of a published experiment, by name; what is set beside it takes precedence",
    )

    @model_validator(mode="before")
    @classmethod
    def _fill_from_preset(cls, values: object) -> object:
        if not (isinstance(values, Mapping) and isinstance(values.get("preset"), str)):
            return values
        preset_values = load_preset(values["preset"], *cls.PRESET_KINDS).settings
        return {**{key: value for key, value in preset_values.items() if key in cls.model_fields}, **values}
