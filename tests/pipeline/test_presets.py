"""Presets hold settings that their commands know, fill what is not given, and are refused where they do not fit."""

from pathlib import Path

import pytest

from quoteweave.attribution.agent.run_settings import PaperRunSettings
from quoteweave.attribution.drafts.post_hoc_runs import PostHocSettings
from quoteweave.core.errors import UsageError
from quoteweave.pipeline.presets import Preset, PresetSettings, list_presets, load_preset
from quoteweave.pipeline.runs.config import RunFile, RunSettings, preset_run_file, read_run_file
from quoteweave.pipeline.settings import AnswerSettings, JudgeSettings, RetrievalSettings

RECORDS: dict[str, type[PresetSettings]] = {
    "answers": RunSettings,
    "retrieval": RetrievalSettings,
    "judge": JudgeSettings,
    "papers": PaperRunSettings,
    "post_hoc": PostHocSettings,
}


@pytest.mark.parametrize("preset", list_presets(), ids=lambda preset: str(preset.name))
def test_every_key_of_a_preset_is_a_setting_of_its_command(preset: Preset) -> None:
    record = RECORDS[preset.kind]
    assert set(preset.settings) <= set(record.model_fields)
    named = {"retriever": ("colbert",)} if preset.kind == "retrieval" else {}
    filled = record.model_validate({"preset": preset.name, **named})
    assert filled.model_fields_set == {"preset", *named, *preset.settings}


def test_a_preset_of_retrieval_says_how_retrievers_are_run() -> None:
    assert RetrievalSettings(preset="mmdocir", retriever=("bge",)).retriever == ("bge@mmdocir@vlm_text",)
    mixed = RetrievalSettings(preset="mmdocir-mixed", retriever=("colpali+colbert", "e5=/m/e5@ocr_text"))
    assert mixed.retriever == ("colpali@mmdocir@mixed+colbert@mmdocir@vlm_text", "e5=/m/e5@mmdocir@ocr_text")
    again = RetrievalSettings(preset="mmdocir-mixed", retriever=mixed.retriever)
    assert again == mixed, "what a run has recorded is read as it was"


@pytest.mark.parametrize("name", ["mmdocir", "mmdocir-ocr", "mmdocir-mixed"])
def test_a_preset_of_retrieval_runs_no_retriever_that_nobody_named(name: str) -> None:
    with pytest.raises(UsageError, match=r"name a retriever with -r, or as retriever in the configuration"):
        RetrievalSettings(preset=name)
    with pytest.raises(UsageError, match=r"name a retriever in the configuration"):
        preset_run_file(RunFile, name)


def test_a_retriever_that_was_not_published_is_refused_with_those_that_were() -> None:
    with pytest.raises(UsageError, match="mmdocir has no 'lexical'; it has: dpr, bge"):
        RetrievalSettings(preset="mmdocir", retriever=("lexical",))


def test_what_is_given_comes_before_the_preset() -> None:
    held = RunSettings(preset="mmdocrag-text")
    assert (held.quotes, held.view, held.quote_sources, held.gate) == ("dataset", "vlm_text", False, "off")
    assert RunSettings(preset="mmdocrag-text", view="all").view == "all"


def test_a_record_takes_only_the_settings_that_it_has() -> None:
    asked = AnswerSettings(preset="mmdocrag-text")
    assert (asked.gate, asked.quote_sources) == ("off", False)
    assert asked.model_fields_set == {"preset", "images", "prompts", "quote_sources", "gate"}


def test_the_closest_preset_is_named() -> None:
    with pytest.raises(UsageError, match=r"did you mean .*'mmdocrag-text'.*\? there are: "):
        load_preset("mmdocrag-texts")


@pytest.mark.parametrize("given", ["", "mmdocrag", "mmdocrag-texts"])
def test_an_unknown_preset_is_refused_with_those_that_there_are(given: str) -> None:
    with pytest.raises(UsageError, match=r"there is no such preset; .*there are: .*mmdocrag-text"):
        RunSettings(preset=given)


def test_a_preset_of_another_kind_is_refused() -> None:
    with pytest.raises(UsageError, match="it is for answers; there are: "):
        load_preset("mmdocrag-text", "judge")


def test_retrieval_takes_presets_of_retrieval_alone_and_answers_take_both() -> None:
    with pytest.raises(UsageError, match="'alce-5': it is for answers; there are: mmdocir, mmdocir-ocr"):
        RetrievalSettings(preset="alce-5")
    with pytest.raises(UsageError, match="it is for judge"):
        AnswerSettings(preset="mmdocrag-judge")
    assert AnswerSettings(preset="mmdocir", retriever=("bge",)).retriever == ("bge@mmdocir@vlm_text",)
    assert AnswerSettings(preset="alce-5").preset == "alce-5"


def test_a_file_names_a_preset_or_the_command_does(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('model = "m"\n[[setting]]\nname = "a"\n[[setting]]\nname = "b"\nview = "ocr_text"\n')
    read = read_run_file(file, "mmdocrag-text").settings
    assert [(one.preset, one.view, one.gate) for one in read] == [
        ("mmdocrag-text", "vlm_text", "off"),
        ("mmdocrag-text", "ocr_text", "off"),
    ]
    file.write_text('preset = "mmdocrag-ocr"\nmodel = "m"\n')
    assert read_run_file(file).settings[0].view == "ocr_text"
    with pytest.raises(UsageError, match="says preset 'mmdocrag-ocr', the command 'mmdocrag-text'"):
        read_run_file(file, "mmdocrag-text")


def test_a_preset_alone_is_a_configuration() -> None:
    (only,) = preset_run_file(RunFile, "mmdocrag-multimodal").settings
    assert (only.name, only.images, only.quotes) == ("mmdocrag-multimodal", True, "dataset")
