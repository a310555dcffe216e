"""`Client` where it changes what a server holds: documents, jobs, collections and conversations; and what keys may."""

import asyncio
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from live_server import LiveServer
from made_collections import make_collection

from quoteweave import AsyncClient, Client
from quoteweave.client.uploads import FileToSend
from quoteweave.core import errors
from quoteweave.interchange.responses import JobProgress
from quoteweave.server.access.keys import KeyRequest, KeyStore
from quoteweave.server.settings import ServerSettings

GRAIN = "# Freight in May\n\nThe harbour shipped 4,210 tonnes of grain in May.\n"
QUESTION = "How much grain was shipped in May?"


@pytest.fixture(scope="module")
def server(forked_jobs: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    """A server of one collection, and of a folder in which others may be made."""
    base = tmp_path_factory.mktemp("served")
    make_collection(base, {"port.md": ["The harbour shipped 4,210 tonnes of grain in May."]}).close()
    (base / "made").mkdir()
    settings = ServerSettings(
        collections={"port": base / "collection"},
        collections_folder=base / "made",
        state=base / "state",
        job_niceness=0,
        job_processes=1,
    )
    with LiveServer(settings) as live:
        yield live


@pytest.fixture
def reports(tmp_path: Path) -> Path:
    folder = tmp_path / "reports"
    (folder / "2024").mkdir(parents=True)
    (folder / "2024" / "mäi & june.md").write_text(GRAIN)
    (folder / "timber.txt").write_text("Timber went by rail.")
    (folder / "picture.gif").write_bytes(b"GIF89a")
    return folder


def test_documents_are_added_found_and_removed(server: LiveServer, reports: Path) -> None:
    client, told = Client(server.url, collection="added"), list[JobProgress]()
    made = client.create_collection("added")
    assert made.counts is not None
    assert made.counts.documents == 0
    with pytest.raises(errors.CollectionExists):
        client.create_collection("added")
    sent = client.add([reports], folder="harbour", metadata={"year": "2024"}, progress=told.append)
    assert ([job.status for job in sent.jobs], sent.unchanged) == (["done", "done"], ())
    names = ["harbour/2024/mäi & june.md", "harbour/timber.txt"]
    listed = client.documents().documents
    assert [document.name for document in listed] == names
    assert {document.metadata["year"] for document in listed} == {"2024"}
    assert told[-1].files_done == told[-1].files_total == 1
    assert client.answer(QUESTION).citations[0].document == names[0]
    assert client.page(names[0], 0).document == names[0]
    assert client.job(sent.jobs[-1].id) == client.jobs(collection="added")[0] == sent.jobs[-1]
    again = client.add([reports], folder="harbour", metadata={"year": "2024"})
    assert (again.jobs, sorted(again.unchanged)) == ((), names)
    assert client.remove(names[0]).documents == (names[0],)
    assert [document.name for document in client.documents().documents] == names[1:]
    with pytest.raises(errors.UsageError, match="no document"):
        client.remove(names[0])
    assert client.remove_collection("added").name == "added"
    with pytest.raises(errors.CollectionNotFound):
        client.documents()


def test_a_job_that_fails_is_an_error_with_its_reason(server: LiveServer, tmp_path: Path) -> None:
    client = Client(server.url)
    client.create_collection("damaged")
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.7 and no more")
    with pytest.raises(errors.JobFailed, match=r"no file could be read: a\.pdf"):
        client.add([tmp_path / "a.pdf"], collection="damaged")
    (failed,) = client.jobs(collection="damaged")
    with pytest.raises(errors.JobFailed, match=failed.id):
        client.wait_for_job(failed.id)
    with pytest.raises(errors.UsageError, match="no job"):
        client.job("nope")
    assert client.cancel_job(failed.id).status == "failed"  # one that has ended stays as it is
    assert client.remove("a.pdf", collection="damaged").status == "done", "a file that could not be read is forgotten"
    with pytest.raises(errors.UsageError, match=r"no document is named 'a\.pdf'"):
        client.remove("a.pdf", collection="damaged")


def test_what_cannot_be_sent_is_told_before_anything_is_sent(server: LiveServer, tmp_path: Path) -> None:
    client = Client(server.url, collection="port")
    with pytest.raises(errors.UsageError, match="no document below"):
        client.add([tmp_path])
    with pytest.raises(errors.UsageError, match="nope"):
        client.add([tmp_path / "nope.pdf"])
    with pytest.raises(errors.UsageError, match="a list of paths is needed"):
        client.add(str(tmp_path / "report.pdf"))
    if os.geteuid():
        (tmp_path / "a.md").touch(0o000)
        with pytest.raises(errors.DocumentError, match=r"a\.md cannot be read"):
            client.add([tmp_path])


def test_what_of_a_folder_is_not_sent_is_counted(server: LiveServer, tmp_path: Path) -> None:
    client = Client(server.url, collection="passed")
    client.create_collection("passed")
    (tmp_path / ".git").mkdir()
    (tmp_path / "a.py").touch()
    with pytest.raises(errors.UsageError, match=r"nothing was sent; passed over: 1 \.py, 1 hidden folders"):
        client.add([tmp_path])
    (tmp_path / "a.md").write_text("Auks.", "utf-8")
    assert client.add([tmp_path]).passed_over == {".py": 1, "hidden folders": 1}


def test_a_file_is_open_only_while_it_is_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"12345")
    file = FileToSend(tmp_path / "a")
    assert (file.tell(), file.seek(0, os.SEEK_END), file.seek(0)) == (0, 5, 0)
    assert [file.read(3), file.read(3), file.read(3)] == [b"123", b"45", b""]
    file.seek(0)
    assert file.read(9) == b"12345"


def test_a_conversation_is_begun_continued_exported_and_removed(server: LiveServer) -> None:
    client = Client(server.url, collection="port")
    begun = client.begin_conversation("Grain")
    asked = client.ask(QUESTION, conversation=begun.id)
    events = list(client.stream("And timber?", conversation=begun.id))
    assert events[-1].type == "answer"
    kept = client.conversation(begun.id)
    assert [turn.question for turn in kept.turns] == [QUESTION, "And timber?"]
    assert (asked.conversation, asked.turn) == (begun.id, kept.turns[0].id)
    assert kept.turns[0].answered.answer == asked.answer
    assert "4,210 tonnes" in client.export_conversation(begun.id).decode()
    assert json.loads(client.export_conversation(begun.id, "json"))["id"] == begun.id
    assert [found.id for found in client.conversations(words="grain", collection="port")] == [begun.id]
    client.remove_conversation(begun.id)
    with pytest.raises(errors.ConversationNotFound):
        client.conversation(begun.id)
    assert client.ask(QUESTION, conversation=False).conversation is None
    assert client.conversations(collection="port") == ()


def test_both_clients_have_the_same_methods() -> None:
    one, other = ({name for name in dir(kind) if not name.startswith("_")} for kind in (Client, AsyncClient))
    assert one == other


def test_a_key_opens_what_it_may_and_no_more(server: LiveServer, tmp_path: Path) -> None:
    state = tmp_path / "state"
    reader = KeyStore(state).add(KeyRequest("reader", scopes=("read",), limits={"requests_per_minute": 5}))[1]
    collections = {"port": server.app.state.served.settings.collections["port"]}
    with LiveServer(ServerSettings(collections=collections, state=state)) as locked:
        with pytest.raises(errors.KeyRefused, match="no key was sent"):
            Client(locked.url).collections()
        with pytest.raises(errors.KeyRefused, match="check the key") as refused:
            Client(locked.url, "qw_01234567_" + "0" * 64).collections()
        assert "0" * 64 not in str(refused.value)
        client = Client(locked.url, reader)
        assert asyncio.run(AsyncClient(locked.url, reader).answer(QUESTION)).status == "answered"
        with pytest.raises(errors.PermissionDenied, match="scope write"):
            client.remove("port.md")
        asked = [Client(locked.url, reader, max_retries=0).models for _ in range(6)]
        with pytest.raises(errors.TooManyRequests, match="requests a minute"):
            _ = [models() for models in asked]
