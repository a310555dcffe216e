from pathlib import Path

import pytest
from made_collections import make_collection
from pydantic import ValidationError

from quoteweave.core.errors import CollectionError, UsageError
from quoteweave.endpoints.call_cache import CachedChat
from quoteweave.endpoints.chat import OpenAIChat
from quoteweave.generation.chat_generator import CitedGenerator
from quoteweave.generation.extractive.generator import ExtractiveGenerator
from quoteweave.generation.prompt_pictures import InlinePictures, LinkedPictures
from quoteweave.models.chat import LocalChat
from quoteweave.pipeline.composition.make_rag import make_chat, make_generator
from quoteweave.pipeline.settings import ChatSettings

VARIABLES = ("QUOTEWEAVE_MODEL", "OPENAI_BASE_URL", "OPENAI_API_KEY")


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


def test_the_environment_fills_up_what_is_not_given(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.setenv(name, f"http://of.{name.lower()}")  # the key stays there: the client knows where it may go
    settings = ChatSettings(model="given", images=False).with_environment()
    assert settings == ChatSettings(model="given", base_url="http://of.openai_base_url", images=False)


def test_an_empty_variable_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.setenv(name, "")
    assert ChatSettings().with_environment() == ChatSettings()


def test_the_key_is_not_shown() -> None:
    assert "secret" not in repr(ChatSettings(model="m", api_key="secret"))


@pytest.mark.parametrize(
    ("settings", "destination"),
    [
        (ChatSettings(), None),
        (ChatSettings(base_url="http://localhost:8000/v1", api_key="k"), None),
        (ChatSettings(model="m"), "api.openai.com"),
        (ChatSettings(model="m", base_url="https://user:pw@models.example:8443/v1"), "models.example:8443"),
        (ChatSettings(model="local=owner/m", base_url="https://models.example"), None),
    ],
)
def test_where_questions_go(settings: ChatSettings, destination: str | None) -> None:
    assert settings.destination == destination


def test_a_model_s_name_decides_who_writes_the_answer(tmp_path: Path) -> None:
    with make_collection(tmp_path, {}) as collection:
        assert isinstance(make_generator(ChatSettings(), collection), ExtractiveGenerator)
        assert isinstance(make_generator(ChatSettings(model="m"), collection), CitedGenerator)


def test_a_model_s_name_says_where_it_runs(tmp_path: Path) -> None:
    here = make_chat(ChatSettings(model="local=owner/m", temperature=0.5, max_tokens=9))
    assert isinstance(here, LocalChat)
    assert (here.name, here.request_settings()) == (
        "local=owner/m",
        {"weights": "owner/m@main", "temperature": 0.5, "max_tokens": 9},
    )
    assert isinstance(make_chat(ChatSettings(model="m")), OpenAIChat)
    assert make_chat(ChatSettings()) is None
    kept = make_chat(ChatSettings(model="local=owner/m"), tmp_path)
    assert isinstance(kept, CachedChat)
    assert kept.request_settings() == {"weights": "owner/m@main", "max_tokens": 1024}


@pytest.mark.parametrize(
    ("model", "extra", "told"),
    [("local=", {}, "names no model"), ("local=m", {"top_k": 1}, "no request takes top_k")],
)
def test_what_a_model_on_this_machine_cannot_be(model: str, extra: dict[str, int], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        make_chat(ChatSettings(model=model, extra=extra))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"timeout_s": 0}, r"timeout_s\n  Input should be greater"),
        ({"retries": -1}, "retries"),
        ({"temperature": -1}, "temperature"),
    ],
)
def test_what_cannot_be_is_named(given: dict[str, float], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        ChatSettings.model_validate(given)


@pytest.mark.parametrize("images", [True, False])
def test_pictures_are_read_from_the_collection_if_they_are_sent(images: bool, tmp_path: Path) -> None:
    with make_collection(tmp_path, {}) as collection:
        key = collection.images.put(b"picture", suffix=".png")
        generator = make_generator(ChatSettings(model="m", images=images), collection)
        assert isinstance(generator, CitedGenerator)
        shower = generator.pictures
        assert (shower is not None) is images
        read = shower.images if isinstance(shower, InlinePictures) else None
        if read is not None:
            assert read(key) == b"picture"
            collection.images.path(key).unlink()
            with pytest.raises(CollectionError, match="is missing"):
                read(key)


def test_prompts_that_cannot_be_read_are_told_at_once(tmp_path: Path) -> None:
    with make_collection(tmp_path, {}) as collection, pytest.raises(UsageError, match="prompts"):
        make_generator(ChatSettings(model="m", prompts=tmp_path / "prompts"), collection)


def test_pictures_may_be_fetched_by_the_model_s_server_if_it_is_no_local_one(tmp_path: Path) -> None:
    with make_collection(tmp_path, {}) as collection:
        linked = ChatSettings(model="m", image_urls="https://host/crops")
        generator = make_generator(linked, collection)
        assert isinstance(generator, CitedGenerator)
        assert isinstance(generator.pictures, LinkedPictures)
        assert generator.pictures.base_url == "https://host/crops/"
        with pytest.raises(UsageError, match="fetches no pictures"):
            make_generator(linked.model_copy(update={"model": "local=/nowhere"}), collection)
        with pytest.raises(UsageError, match="no address of a folder"):
            make_generator(linked.model_copy(update={"image_urls": "crops"}), collection)
