"""Requests that come together: what waits for files keeps no other request waiting, and each gets what it asked for."""

import asyncio
import gc
import os
import shutil
import stat
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from live_server import LiveServer, Serve

from quoteweave.collection.collection import Collection
from quoteweave.interchange.responses import ErrorEvent, Job
from quoteweave.pipeline.settings import ChatSettings
from quoteweave.server.answers.requests import AnswerChoices
from quoteweave.server.jobs.records import RemoveWork
from quoteweave.server.jobs.store import JobStore, job_events
from quoteweave.server.routes import jobs as job_routes
from quoteweave.server.served import Served
from quoteweave.server.settings import ServerSettings

ANSWERS = "/v1/collections/port/answers"
SEARCH = "/v1/collections/port/search"
QUESTION = "How many vessel calls did the port receive?"


def test_lists_and_pictures_are_not_read_on_the_event_loop(live: LiveServer, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[str, bool]] = []

    def watched(owner: type, name: str) -> None:
        plain: Callable[..., Any] = getattr(owner, name)

        def watching(*arguments: Any, **named: Any) -> Any:
            try:
                asyncio.get_running_loop()
            except RuntimeError:
                seen.append((name, False))
            else:
                seen.append((name, True))
            return plain(*arguments, **named)

        monkeypatch.setattr(owner, name, watching)

    # Short questions are another matter: what they read takes less time than a thread does (`run_inline_if_short`).
    quote = live.client.post(SEARCH, json={"question": QUESTION}).json()["hits"][0]["quote_id"]
    watched(Served, "folders")
    for name in ("page", "page_quotes", "document", "quote"):
        watched(Collection, name)
    live.client.get("/v1/collections")
    live.client.get(f"/v1/collections/port/quotes/{quote}/image")
    live.client.get("/v1/collections/port/pages/harbour-report.pdf/2/image")
    assert {name for name, _ in seen} >= {"folders", "page", "document", "quote"}
    assert [name for name, on_loop in seen if on_loop] == []


def test_a_browser_asks_whether_a_picture_is_still_the_page_of_that_name(live: LiveServer) -> None:
    at = "/v1/collections/port/pages/harbour-report.pdf/1/image"
    first = live.client.get(at)
    assert first.headers["cache-control"] == "private, no-cache"
    for told in (f"W/{first.headers['etag']}", f'"other", {first.headers["etag"]}'):
        assert live.client.get(at, headers={"if-none-match": told}).status_code == 304
    assert live.client.get(at, headers={"if-none-match": '"other"'}).status_code == 200


def test_models_that_differ_in_their_key_alone_are_asked_with_their_own(sample_collection: Path, state: Path) -> None:
    models = {
        name: ChatSettings(model="m", base_url="http://127.0.0.1:9/v1", api_key=key)
        for name, key in (("first", "key-of-first"), ("second", "key-of-second"))
    }
    served = Served(ServerSettings(collections={"port": sample_collection}, state=state, models=models))
    collection = served.collection("port")
    first, second = (
        collection.rag(served.answer_settings(collection, AnswerChoices.model_validate({"model": name})))
        for name in models
    )
    again = collection.rag(served.answer_settings(collection, AnswerChoices.model_validate({"model": "first"})))
    assert first is not second
    assert again is first
    served.close()


def test_made_up_methods_are_counted_as_one(serve: Serve) -> None:
    server = serve()
    for method in ("FROB", "NICATE"):
        server.client.request(method, "/healthz")
    figures = server.client.get("/metrics").text
    assert 'method="other"' in figures
    assert "FROB" not in figures


@pytest.mark.skipif(os.name != "posix", reason="other systems have no such permissions")
def test_nobody_else_reads_the_server_s_state(state: Path) -> None:
    JobStore(state).close()
    assert stat.S_IMODE(state.stat().st_mode) == 0o700
    assert stat.S_IMODE((state / "jobs.sqlite").stat().st_mode) == 0o600


def test_watching_a_job_of_a_collection_that_is_deleted_ends_with_the_problem(state: Path) -> None:
    store, root = JobStore(state), state / "gone"
    job = Job(kind="remove", collection="gone", documents=("a",), created=0.0)
    store.add(job, RemoveWork(root=root, names=("a",)))

    async def watch() -> list[str]:
        names = []
        sent: AsyncIterator[Any] = job_routes.as_event_stream(job_events(store, job.id, poll_s=0.01))
        async for event in sent:
            names.append(event.event)
            store.forget(root)
            if event.event == "error":
                problem = ErrorEvent.model_validate_json(event.data).problem
                assert (problem.status, problem.kind) == (404, "no-such-job")
        return names

    assert asyncio.run(watch()) == ["progress", "error"]
    store.close()


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "new" / "state"


def test_a_collection_that_is_made_anew_is_opened_anew_and_the_old_one_closed(state: Path, tmp_path: Path) -> None:
    folder = tmp_path / "made"
    Collection.create(folder).close()
    served = Served(ServerSettings(collections={"made": folder}, state=state))
    before = served.collection("made")
    assert served.opened("made") is before
    old = before.collection
    shutil.rmtree(folder)
    assert served.opened("made") is None
    Collection.create(folder).close()
    after = served.collection("made")
    assert after is not before
    assert old.documents() is not None  # a request under way still has it
    del before
    gc.collect()
    with pytest.raises(ValueError, match="closed"):
        old.documents()
    assert after.collection.counts().documents == 0
    served.close()
