"""Expanders and rerankers by name: what is made, what is refused and why, and what is told of text that is sent."""

from pathlib import Path

import pytest
from made_collections import make_collection

from quoteweave.collection.collection import Collection
from quoteweave.core.errors import UsageError
from quoteweave.retrievers.chat_models import ChatModels
from quoteweave.retrievers.make_expander import make_expander
from quoteweave.retrievers.make_reranker import make_reranker
from quoteweave.retrievers.make_retriever import Resources
from quoteweave.testing import FakeChat

CHAT = FakeChat([])
pytestmark = pytest.mark.usefixtures("bare_environment")


@pytest.fixture
def port(tmp_path: Path) -> Collection:
    return make_collection(tmp_path, {"a.txt": ["grain ships"]})


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("bge-reranker", "bge-reranker"),
        ("bge-reranker=/models/mine", "bge-reranker"),
        ("cross-encoder=/models/mine", "/models/mine"),
        ("endpoint:org/m@v1@http://127.0.0.1:8000", "org/m@v1"),
        ("chat", "fake"),
        ("chat:m@http://127.0.0.1:8000/v1", "m"),
        ("chat:local=/models/m", "local=/models/m"),
    ],
)
def test_rerankers_by_name(text: str, name: str) -> None:
    assert make_reranker(text, chats=ChatModels(CHAT)).name == name


@pytest.mark.parametrize(
    ("text", "name"), [("rules", "rules"), ("rm3", "rm3"), ("chat", "chat:fake"), ("chat:m@http://h.test", "chat:m")]
)
def test_expanders_by_name(text: str, name: str, port: Collection) -> None:
    assert make_expander(text, ["bm25"], port, chats=ChatModels(CHAT)).name == name


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("magic", "no reranker 'magic'; choose one of: bge-reranker, "),
        ("BGE-Reranker", r"did you mean 'bge-reranker'\?$"),
        ("qwen3-reranker", "did you mean 'qwen3-reranker-0.6b'"),
        ("cross-encoder", "did you mean 'cross-encoder=PATH'"),
        ("cross-encoder=", "'cross-encoder=' names no checkpoint; write cross-encoder=PATH"),
        ("bge-reranker=", "names no checkpoint"),
        ("endpoint:", "'endpoint:' names no model; write endpoint:MODEL, or endpoint:MODEL@URL"),
        ("chat:@http://127.0.0.1", "names no model; write chat:MODEL"),
        ("chat", "which chat model"),
        ("chat:m", "OPENAI_BASE_URL"),
        ("endpoint:m", "QUOTEWEAVE_RERANK_URL"),
    ],
)
def test_what_is_no_reranker_is_refused_with_the_reason(text: str, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        make_reranker(text)


@pytest.mark.parametrize(
    ("text", "complaint"), [("rule", "no expansion 'rule'; did you mean 'rules'"), ("x", "rules, rm3, chat")]
)
def test_what_is_no_expansion_is_refused_with_the_reason(text: str, complaint: str, port: Collection) -> None:
    with pytest.raises(UsageError, match=complaint):
        make_expander(text, ["bm25"], port)


def test_what_is_sent_is_told_with_host_and_port_and_without_secrets(port: Collection) -> None:
    told: list[str] = []
    resources = Resources(notify=told.append)
    make_expander("chat:m@http://me:secret@127.0.0.1:8000/v1", ["bm25"], port, resources=resources)
    make_reranker("chat:m@https://api.test/v1", resources=resources)
    make_reranker("endpoint:m@http://127.0.0.1:8001", resources=resources)
    make_expander("chat:local=owner/m", ["bm25"], port, resources=resources)  # stays here
    assert told == [
        "the question is sent to 127.0.0.1:8000",
        "the question and the quotes found are sent to api.test",
        "the question and the quotes found are sent to 127.0.0.1:8001",
    ]
