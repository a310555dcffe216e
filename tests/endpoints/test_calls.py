"""Calls that are kept: found again whatever the order of fields, made once, replayed without a model."""

import asyncio
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.core.answers import Usage
from quoteweave.core.chat.completions import Completion
from quoteweave.core.errors import EndpointUnreachable, StorageError
from quoteweave.core.protocols import ChatModel
from quoteweave.endpoints.call_cache import CachedChat, request_key
from quoteweave.testing.fakes import FakeChat

ASKED = [{"role": "system", "content": "Cite."}, {"role": "user", "content": "Did sales grow?"}]
SHOWN = [
    {
        "role": "user",
        "content": [
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
            {"type": "text", "text": "What is shown?"},
        ],
    }
]

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
messages = st.lists(st.dictionaries(st.text(), values, max_size=3), max_size=3)


class Sampled(FakeChat):
    def __init__(self, replies: Sequence[str], temperature: float) -> None:
        super().__init__(replies)
        self._temperature = temperature

    def request_settings(self) -> Mapping[str, object]:
        return {"temperature": self._temperature}


class Held:
    """Answers once it is let go."""

    def __init__(self) -> None:
        self.name = "held"
        self.asked, self.go = asyncio.Event(), asyncio.Event()
        self.calls = 0

    def request_settings(self) -> Mapping[str, object]:
        return {}

    async def complete(self, messages: Sequence[Mapping[str, object]]) -> Completion:
        self.calls += 1
        self.asked.set()
        await self.go.wait()
        return Completion(text=f"answer {self.calls}", model=self.name)


def ask(chat: ChatModel, asked: Sequence[Mapping[str, object]] = ASKED) -> Completion:
    return asyncio.run(chat.complete(asked))


def reversed_fields(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: reversed_fields(value[key]) for key in reversed(value)}
    return [reversed_fields(item) for item in value] if isinstance(value, list) else value


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


@given(messages)
def test_the_order_of_fields_does_not_matter(asked: list[dict[str, object]]) -> None:
    assert request_key("m", asked, {"a": 1, "b": 2}) == request_key("m", reversed_fields(asked), {"b": 2, "a": 1})


@given(messages, messages)
def test_keys_are_equal_just_where_requests_are(one: list[dict[str, object]], other: list[dict[str, object]]) -> None:
    same = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    assert (request_key("m", one, {}) == request_key("m", other, {})) == same


@given(st.text(), st.text(), st.text())
def test_other_words_in_another_message_or_another_order_are_another_call(name: str, one: str, other: str) -> None:
    asked = [{"role": "user", "content": one}, {"role": "user", "content": other}]
    assert (request_key(name, asked, {}) == request_key(name, asked[::-1], {})) == (one == other)
    assert request_key(name, asked, {}) != request_key(f"{name}2", asked, {})
    assert request_key(name, asked, {}) != request_key(name, asked, {"temperature": 0})


def test_a_call_is_paid_once_and_replayed_without_a_model(tmp_path: Path) -> None:
    said = Completion(
        text="Yes [1].", reasoning="hm", model="m-2025", finish_reason="stop", usage=Usage(input_tokens=9)
    )
    model = FakeChat([said])
    assert ask(CachedChat(model, tmp_path)) == ask(CachedChat(model, tmp_path)) == said
    assert ask(CachedChat(FakeChat([]), tmp_path)) == said
    (path,) = files(tmp_path)
    key = request_key("fake", ASKED, {})
    assert path == tmp_path / key[:2] / f"{key}.json"
    kept = json.loads(path.read_text("utf-8"))
    assert (kept["request"], Completion.model_validate(kept["completion"])) == (key, said)
    assert set(kept) == {"request", "completion", "when", "xxh3"}


def test_other_settings_and_other_pictures_are_other_calls(tmp_path: Path) -> None:
    assert ask(CachedChat(Sampled(["cold"], 0.0), tmp_path)).text == "cold"
    assert ask(CachedChat(Sampled(["warm"], 1.0), tmp_path)).text == "warm"
    other = json.loads(json.dumps(SHOWN).replace("AAAA", "AAAB"))
    chat = CachedChat(FakeChat(["one", "two"]), tmp_path)
    assert [ask(chat, each).text for each in (SHOWN, other, SHOWN)] == ["one", "two", "one"]


@pytest.mark.parametrize("damage", [b"", b"{", b"\xff\xfe", b"null", b'{"request": "0"}'])
def test_a_damaged_file_is_replaced(tmp_path: Path, damage: bytes) -> None:
    ask(CachedChat(FakeChat(["old"]), tmp_path))
    (path,) = files(tmp_path)
    path.write_bytes(damage)
    assert ask(CachedChat(FakeChat(["new"]), tmp_path)).text == "new"
    assert ask(CachedChat(FakeChat([]), tmp_path)).text == "new"


def test_a_changed_word_is_not_taken_for_what_the_model_said(tmp_path: Path) -> None:
    ask(CachedChat(FakeChat(["It grew by 5."]), tmp_path))
    (path,) = files(tmp_path)
    path.write_bytes(path.read_bytes().replace(b"by 5", b"by 6"))
    assert ask(CachedChat(FakeChat(["It grew by 5."]), tmp_path)).text == "It grew by 5."


def test_a_file_of_another_call_is_not_taken(tmp_path: Path) -> None:
    chat = CachedChat(FakeChat(["grew", "fell"]), tmp_path)
    ask(chat)
    (path,) = files(tmp_path)
    key = request_key("fake", SHOWN, {})
    (tmp_path / key[:2]).mkdir(exist_ok=True)
    path.rename(tmp_path / key[:2] / f"{key}.json")
    assert ask(chat, SHOWN).text == "fell"


def test_a_failed_call_is_not_kept(tmp_path: Path) -> None:
    chat = CachedChat(FakeChat([EndpointUnreachable("no answer"), "now"]), tmp_path)
    with pytest.raises(EndpointUnreachable, match="no answer"):
        ask(chat)
    assert files(tmp_path) == []
    assert ask(chat).text == "now"


def test_equal_calls_at_the_same_time_are_one(tmp_path: Path) -> None:
    async def twice() -> tuple[list[Completion], int]:
        model = Held()
        chat = CachedChat(model, tmp_path)
        calls = [asyncio.create_task(chat.complete(asked)) for asked in (ASKED, ASKED, reversed_fields(ASKED))]
        await model.asked.wait()
        model.go.set()
        return await asyncio.gather(*calls), model.calls

    completions, calls = asyncio.run(twice())
    assert calls == 1
    assert {completion.text for completion in completions} == {"answer 1"}
    assert len(files(tmp_path)) == 1


def test_where_the_first_of_equal_calls_is_given_up_the_next_asks(tmp_path: Path) -> None:
    async def first_cancelled() -> tuple[Completion, int]:
        model = Held()
        chat = CachedChat(model, tmp_path)
        first, second = (asyncio.create_task(chat.complete(ASKED)) for _ in range(2))
        await model.asked.wait()
        first.cancel()
        model.go.set()
        return await second, model.calls

    completion, calls = asyncio.run(first_cancelled())
    assert (completion.text, calls) == ("answer 2", 2)


@pytest.mark.skipif(os.name == "nt", reason="POSIX says so")
def test_a_folder_that_cannot_be_says_so(tmp_path: Path) -> None:
    (tmp_path / "calls").write_text("a file")
    with pytest.raises(StorageError, match="calls"):
        ask(CachedChat(FakeChat(["x"]), tmp_path / "calls"))
