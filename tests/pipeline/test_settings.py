from pathlib import Path

import pytest
from made_collections import make_collection

from quoteweave.core.errors import UsageError
from quoteweave.generation.cited import CitedGenerator
from quoteweave.generation.extractive import ExtractiveGenerator
from quoteweave.pipeline.settings import ModelSettings, make_generator

VARIABLES = ("QUOTEWEAVE_MODEL", "OPENAI_BASE_URL", "OPENAI_API_KEY")


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


def test_the_environment_fills_up_what_is_not_given(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.setenv(name, f"http://of.{name.lower()}")
    settings = ModelSettings.from_environment({"model": "given", "base_url": None, "images": False})
    assert settings == ModelSettings(
        model="given", base_url="http://of.openai_base_url", api_key="http://of.openai_api_key", images=False
    )


def test_an_empty_variable_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.setenv(name, "")
    assert ModelSettings.from_environment({}) == ModelSettings()


def test_the_key_is_not_shown() -> None:
    assert "secret" not in repr(ModelSettings(model="m", api_key="secret"))


@pytest.mark.parametrize(
    ("settings", "destination"),
    [
        (ModelSettings(), None),
        (ModelSettings(base_url="http://localhost:8000/v1", api_key="k"), None),
        (ModelSettings(model="m"), "api.openai.com"),
        (ModelSettings(model="m", base_url="https://user:pw@models.example:8443/v1"), "models.example:8443"),
    ],
)
def test_where_questions_go(settings: ModelSettings, destination: str | None) -> None:
    assert settings.destination == destination


def test_a_model_s_name_decides_who_writes_the_answer(tmp_path: Path) -> None:
    with make_collection(tmp_path, {}) as collection:
        assert isinstance(make_generator(ModelSettings(), collection), ExtractiveGenerator)
        assert isinstance(make_generator(ModelSettings(model="m"), collection), CitedGenerator)


@pytest.mark.parametrize("images", [True, False])
def test_pictures_are_read_from_the_collection_if_they_are_sent(images: bool, tmp_path: Path) -> None:
    with make_collection(tmp_path, {}) as collection:
        key = collection.images.put(b"picture", suffix=".png")
        generator = make_generator(ModelSettings(model="m", images=images), collection)
        assert isinstance(generator, CitedGenerator)
        read = generator.images
        assert (read is not None) is images
        if read is not None:
            assert read(key) == b"picture"
            collection.images.path(key).unlink()
            with pytest.raises(OSError, match="No such file"):
                read(key)


def test_prompts_that_cannot_be_read_are_told_at_once(tmp_path: Path) -> None:
    with make_collection(tmp_path, {}) as collection, pytest.raises(UsageError, match="prompts"):
        make_generator(ModelSettings(model="m", prompts=tmp_path / "prompts"), collection)
