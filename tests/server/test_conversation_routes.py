"""Conversations over HTTP: what is kept of answers, for whom, and a quote that is shown as it was when it was cited."""

import asyncio
import io
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from live_server import LiveServer
from made_collections import made_quote, put, stored_collection

from quoteweave.collection.checksums import row_checksum
from quoteweave.collection.collection import Collection
from quoteweave.core.answers import AnswerEvent
from quoteweave.core.errors import CollectionError
from quoteweave.server.access.control import Grant
from quoteweave.server.access.keys import KeyRequest, KeyStore
from quoteweave.server.answers.requests import AnswerRequest
from quoteweave.server.answers.stored_answers import AnswerRecorder
from quoteweave.server.app import make_app
from quoteweave.server.served import Served
from quoteweave.server.settings import ServerSettings
from quoteweave.server.state.conversation_file import CONVERSATIONS_FILE

QUESTION = "How much grain was shipped in May?"
ANSWERS = "/v1/collections/port/answers"


@pytest.fixture
def port(tmp_path: Path) -> Path:
    return stored_collection(tmp_path, {"port.md": ["The harbour shipped 4,210 tonnes of grain in May."]})


@pytest.fixture
def client(port: Path, tmp_path: Path) -> TestClient:
    settings = ServerSettings(collections={"port": port, "other": port}, state=tmp_path / "state", store="always")
    return TestClient(make_app(settings), base_url="http://localhost")


def ask(client: TestClient, headers: dict[str, str] | None = None, **more: object) -> dict[str, Any]:
    response = client.post(ANSWERS, json={"question": QUESTION, **more}, headers=headers)
    assert response.status_code == 200, response.text
    body: dict[str, Any] = response.json()
    return body


def header(tmp_path: Path, name: str, **wanted: Any) -> dict[str, str]:
    return {"Authorization": f"Bearer {KeyStore(tmp_path / 'state').add(KeyRequest(name, **wanted))[1]}"}


def test_answers_are_kept_in_a_conversation(client: TestClient) -> None:
    first = ask(client)
    second = ask(client, conversation=first["conversation"], settings={"gate": "drop"})
    assert second["conversation"] == first["conversation"]
    kept = client.get(f"/v1/conversations/{first['conversation']}").json()
    assert [turn["id"] for turn in kept["turns"]] == [first["turn"], second["turn"]]
    assert kept["turns"][0]["answered"] == {key: first[key] for key in ("answer", "context", "trace")}
    assert kept["turns"][1]["settings"] == {"gate": "drop"}
    assert (kept["title"], kept["questions"], kept["owner"]) == (QUESTION, 2, None)
    (listed,) = client.get("/v1/conversations", params={"collection": "port", "words": "GRAIN may"}).json()[
        "conversations"
    ]
    assert listed == {key: value for key, value in kept.items() if key != "turns"}
    assert client.get("/v1/conversations", params={"words": "timber"}).json()["conversations"] == []


def test_a_streamed_answer_is_kept_and_its_headers_say_where(client: TestClient) -> None:
    streamed = client.post(ANSWERS, json={"question": QUESTION, "stream": True})
    last = streamed.text.replace("\r\n", "\n").strip().split("\n\n")[-1].split("\n")
    told = AnswerEvent.model_validate_json(last[1].removeprefix("data: "))
    assert last[0] == "event: answer"
    (turn,) = client.get(f"/v1/conversations/{streamed.headers['x-conversation-id']}").json()["turns"]
    assert turn["id"] == streamed.headers["x-turn-id"]
    assert turn["answered"]["answer"] == told.answer.model_dump(mode="json")
    assert turn["answered"]["context"]["texts"]
    passed = client.post(ANSWERS, json={"question": QUESTION, "stream": True, "store": False})
    assert "x-conversation-id" not in passed.headers


def test_an_answer_that_is_not_to_be_kept_leaves_nothing(client: TestClient, tmp_path: Path) -> None:
    assert ask(client, store=False)["conversation"] is None
    assert not (tmp_path / "state" / CONVERSATIONS_FILE).exists()


def test_a_server_keeps_what_is_asked_for_unless_it_is_set_otherwise(port: Path, tmp_path: Path) -> None:
    def serving(store: str) -> TestClient:
        settings = {"collections": {"port": port}, "state": tmp_path / store, "store": store}
        return TestClient(make_app(ServerSettings.model_validate(settings)), base_url="http://127.0.0.1")

    asked, never = serving("asked"), serving("never")
    assert ask(asked)["conversation"] is None
    assert ask(asked, store=True)["conversation"] is not None
    assert ask(never, store=True)["conversation"] is None
    refused = never.post(ANSWERS, json={"question": QUESTION, "conversation": "any"})
    assert (refused.status_code, "keeps none" in refused.json()["detail"]) == (422, True)


def test_the_job_that_removes_a_document_says_what_the_server_keeps_of_it(port: Path, tmp_path: Path) -> None:
    with Collection.open(port) as collection, collection.writer() as writer:
        put(writer, tmp_path, "quay.md", [made_quote("The pier is closed.")])
    settings = ServerSettings(collections={"port": port, "other": port}, state=tmp_path / "state", store="always")
    with TestClient(make_app(settings), base_url="http://localhost") as client:
        first = ask(client)
        ask(client, conversation=first["conversation"])
        ask(client)
        assert {hit["quote"]["document"] for hit in first["context"]["texts"]} == {"port.md"}
        gone = client.delete("/v1/collections/port/documents/port.md").json()["job"]
        quay = client.delete("/v1/collections/port/documents/quay.md").json()["job"]
    names = "the server's list of jobs keeps the document's name until 1,000 later jobs have ended"
    assert gone["notes"] == [names, "2 conversations keep what was shown of it until they are deleted"]
    assert quay["notes"] == [names]


def test_conversations_are_deleted_with_their_collection(tmp_path: Path) -> None:
    folder = tmp_path / "collections"
    folder.mkdir()
    settings = ServerSettings(collections_folder=folder, state=tmp_path / "state", store="always")
    app = make_app(settings)
    with TestClient(app, base_url="http://localhost") as client:
        for name in ("port", "other"):
            assert client.post("/v1/collections", json={"name": name}).status_code == 201
        first = ask(client)
        ask(client, conversation=first["conversation"])
        other = client.post("/v1/conversations", json={"collection": "other"}).json()
        under_way = app.state.served.collection("port")
        grant, request = Grant(is_open=True), AnswerRequest(question=QUESTION)
        keeper = AnswerRecorder(app.state.served, grant, collection="port", request=request)
        answered = under_way.rag(app.state.served.defaults).answer_with_context(QUESTION)
        assert client.delete("/v1/collections/port").json()["conversations"] == 1
        assert client.get(f"/v1/conversations/{first['conversation']}").status_code == 404
        # What is answered after that is not kept under a name that may be another collection's soon.
        kept = asyncio.run(keeper.keep(answered))
        assert (kept.conversation, kept.answered.answer.warnings[-1]) == (
            None,
            "The answer could not be kept in its conversation.",
        )
        assert client.post("/v1/collections", json={"name": "port"}).status_code == 201
        (listed,) = client.get("/v1/conversations").json()["conversations"]
        assert listed == other


def test_conversations_are_begun_renamed_exported_and_deleted(client: TestClient) -> None:
    import docx

    made = client.post("/v1/conversations", json={"collection": "port", "title": "Freight"})
    assert made.status_code == 201
    at = f"/v1/conversations/{made.json()['id']}"
    ask(client, conversation=made.json()["id"])
    ask(client, conversation=made.json()["id"], filters={"metadata": {"year": "2031"}})
    told = "No quote passes the filter, so that nothing was searched."
    assert client.patch(at, json={"title": "Grain"}).json()["title"] == "Grain"
    exported = client.get(f"{at}/export", params={"format": "json"})
    assert exported.json() == client.get(at).json()
    assert exported.headers["content-disposition"].startswith('attachment; filename="conversation-')
    markdown = client.get(f"{at}/export").text
    assert markdown.startswith(f"# Grain\n\n## {QUESTION}\n")
    assert "4,210 tonnes of grain in May" in markdown
    assert "[^1]: " in markdown
    assert f"> {told}" in markdown
    word = client.get(f"{at}/export", params={"format": "docx"})
    text = "\n".join(paragraph.text for paragraph in docx.Document(io.BytesIO(word.content)).paragraphs)
    assert QUESTION in text
    assert "4,210 tonnes of grain in May" in text
    assert told in text
    assert client.get(f"{at}/export", params={"format": "pdf"}).status_code == 422
    assert client.delete(at).status_code == 204
    gone = client.get(at)
    assert (gone.status_code, gone.json()["type"]) == (404, "urn:quoteweave:problem:no-such-conversation")


def test_a_question_is_refused_before_it_is_asked_where_its_conversation_cannot_keep_it(client: TestClient) -> None:
    made = client.post("/v1/conversations", json={"collection": "other"}).json()["id"]
    wrong: list[tuple[dict[str, object], int]] = [
        ({"conversation": made}, 422),
        ({"conversation": "unknown"}, 404),
        ({"conversation": made, "store": False}, 422),
    ]
    for more, status in wrong:
        response = client.post(ANSWERS, json={"question": QUESTION, **more})
        assert (response.status_code, response.json()["status"]) == (status, status)
    assert client.get(f"/v1/conversations/{made}").json()["turns"] == []


def test_keys_see_their_own_conversations_and_an_admin_all(client: TestClient, tmp_path: Path) -> None:
    before = ask(client)["conversation"]
    ada, ben = header(tmp_path, "Ada"), header(tmp_path, "Ben", collections=["port"])
    admin = header(tmp_path, "admin", scopes=["admin"])
    mine, theirs = ask(client, ada)["conversation"], ask(client, ben)["conversation"]

    def listed(headers: dict[str, str]) -> set[str]:
        return {each["id"] for each in client.get("/v1/conversations", headers=headers).json()["conversations"]}

    assert (listed(ada), listed(ben), listed(admin)) == ({mine}, {theirs}, {before, mine, theirs})
    for path in ("", "/export"):
        assert client.get(f"/v1/conversations/{theirs}{path}", headers=ada).status_code == 404
    assert client.delete(f"/v1/conversations/{theirs}", headers=ada).status_code == 404
    assert client.patch(f"/v1/conversations/{theirs}", json={"title": "x"}, headers=ada).status_code == 404
    asked = client.post(ANSWERS, json={"question": QUESTION, "conversation": theirs}, headers=ada)
    assert asked.status_code == 404
    assert client.get(f"/v1/conversations/{theirs}", headers=admin).json()["questions"] == 1


def test_a_quote_is_shown_as_it_was_cited_after_its_document_changed(
    client: TestClient, port: Path, tmp_path: Path
) -> None:
    ada, ben = header(tmp_path, "Ada"), header(tmp_path, "Ben")
    asked = ask(client, ada)
    (citation,) = asked["answer"]["citations"]
    at = f"/v1/collections/port/quotes/{citation['quote_id']}"
    now = client.get(at, headers=ada).json()
    assert now["cited_in"] is None
    with Collection.open(port) as collection, collection.writer() as writer:
        put(writer, tmp_path / "files", "port.md", [made_quote("Corrected: 4,190 tonnes.")])
    kept = client.get(at, headers=ada).json()
    assert kept["quote"] == now["quote"]
    assert kept["cited_in"]["turn"] == asked["turn"]
    assert kept["url"] == citation["url"]
    stable = client.get(f"/c/port/q/{citation['quote_id']}", headers={**ada, "Accept": "application/json"})
    assert stable.json() == kept
    assert client.get(at, headers=ben).status_code == 404


def test_an_answer_that_cannot_be_kept_is_given_with_a_warning(client: TestClient, tmp_path: Path) -> None:
    (tmp_path / "state" / CONVERSATIONS_FILE).mkdir(parents=True)
    body = ask(client)
    assert (body["conversation"], body["turn"]) == (None, None)
    assert "4,210" in body["answer"]["text"]
    assert body["answer"]["warnings"] == ["The answer could not be kept in its conversation."]


def test_a_conversation_in_the_form_of_another_version_says_so_and_hinders_no_other(
    client: TestClient, tmp_path: Path
) -> None:
    old = ask(client)
    with closing(sqlite3.connect(tmp_path / "state" / CONVERSATIONS_FILE)) as db, db:
        ((turn, record),) = db.execute("SELECT id, record FROM turns").fetchall()
        record = record.replace('"checker_verdict":', '"entailed":')
        db.execute("UPDATE turns SET record = ?, checksum = ?", (record, row_checksum(record, turn)))
    new = ask(client)
    at = f"/v1/conversations/{old['conversation']}"
    for refused in (
        client.get(at),
        client.post(ANSWERS, json={"question": QUESTION, "conversation": old["conversation"]}),
    ):
        assert (refused.status_code, refused.json()["type"]) == (503, "urn:quoteweave:problem:state")
        for said in (old["conversation"], "another version of quoteweave wrote it", "delete the conversation and ask"):
            assert said in refused.json()["detail"]
    assert client.get(f"/v1/conversations/{new['conversation']}").json()["questions"] == 1
    listed = client.get("/v1/conversations").json()["conversations"]
    assert {each["id"] for each in listed} == {old["conversation"], new["conversation"]}
    assert client.delete(at).status_code == 204
    assert client.get(at).status_code == 404


def test_what_came_before_in_a_conversation_is_its_history(client: TestClient) -> None:
    first = ask(client)

    def history(**more: object) -> list[tuple[str, str]]:
        request = AnswerRequest.model_validate({"question": "And timber?", **more})
        keeper = AnswerRecorder(client.app.state.served, Grant(is_open=True), collection="port", request=request)  # type: ignore[attr-defined]
        asyncio.run(keeper.find_conversation())
        return [(message.role, message.content) for message in keeper.history()]

    kept = [("user", QUESTION), ("assistant", first["answer"]["text"])]
    own = {"role": "user", "content": "What of May?"}
    assert history(conversation=first["conversation"]) == kept
    assert history(conversation=first["conversation"], history=[own]) == history(history=[own])
    assert history() == []


def refuse(*_: object) -> None:
    raise CollectionError("it is damaged")


def test_pictures_that_an_answer_shows_are_in_the_word_file(live: LiveServer, monkeypatch: pytest.MonkeyPatch) -> None:
    import docx

    asked = live.client.post(
        ANSWERS, json={"question": "Show the chart of vessel calls by quarter.", "store": True}
    ).json()
    at = f"/v1/conversations/{asked['conversation']}"
    word = live.client.get(f"{at}/export", params={"format": "docx"}).content
    shown = [block for block in asked["answer"]["blocks"] if block["type"] == "image"]
    assert len(docx.Document(io.BytesIO(word)).inline_shapes) == len(shown) > 0
    monkeypatch.setattr("quoteweave.server.routes.conversations.stored_crops", lambda *_: ({}, ["damaged"]))
    word = live.client.get(f"{at}/export", params={"format": "docx"}).content
    captions = [paragraph.text for paragraph in docx.Document(io.BytesIO(word)).paragraphs]
    assert sum(caption.startswith("Image that cannot be read: ") for caption in captions) == len(shown)
    monkeypatch.setattr(Served, "collection", refuse)
    without_collection = live.client.get(f"{at}/export", params={"format": "docx"}).content
    assert [paragraph.text for paragraph in docx.Document(io.BytesIO(without_collection)).paragraphs] == captions
    live.client.delete(at)
