"""Every route that the server describes: who is let in, and that a collection of others is as if it were not there."""

import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from made_collections import stored_collection

from quoteweave.server.access.keys import KeyRequest, KeyStore, Scope
from quoteweave.server.app import make_app
from quoteweave.server.served import Served
from quoteweave.server.settings import ServerSettings

PUBLIC = {"/v1/session", "/healthz", "/readyz"}
BODIES: dict[tuple[str, str], dict[str, Any]] = {
    ("post", "/v1/collections/{collection}/search"): {"question": "grain"},
    ("post", "/v1/collections/{collection}/answers"): {"question": "grain", "stream": True},
    ("post", "/v1/collections/{collection}/indexes"): {"retriever": "bm25"},
    ("patch", "/v1/conversations/{conversation}"): {"title": "grain"},
}
NAMING = [
    ("post", "/v1/conversations", {"collection": "{collection}"}),
    ("post", "/v1/chat/completions", {"model": "{collection}", "messages": [{"role": "user", "content": "grain"}]}),
    ("post", "/v1/responses", {"model": "{collection}", "input": "grain"}),
    ("get", "/v1/jobs?collection={collection}", None),
    ("get", "/v1/conversations?collection={collection}", None),
]
"""Requests that name a collection elsewhere than in their path."""
UNKNOWN = "0" * 32
Route = tuple[str, str]


class Server:
    """Two collections behind one server; one key opens the first of them, the other key both."""

    def __init__(self, folder: Path) -> None:
        documents = {"port.md": ["The harbour shipped 4,210 tonnes of grain in May."]}
        collections = {name: stored_collection(folder / name, documents) for name in ("port", "secret")}
        self.keys = KeyStore(folder / "state")
        settings = ServerSettings(collections=collections, collections_folder=folder, state=folder / "state")
        self.app = make_app(settings)
        self.client = TestClient(self.app, base_url="http://127.0.0.1").__enter__()
        scopes: tuple[Scope, ...] = ("read", "write", "admin")
        self.own = self.header(KeyRequest("own", scopes=scopes, collections=("port",)))
        self.all = self.header(KeyRequest("all", scopes=scopes))
        self.reader = self.header(KeyRequest("reader", collections=("port",)))
        described = self.client.get("/openapi.json").json()["paths"]
        self.routes: list[Route] = [(method, path) for path, methods in described.items() for method in methods]
        made = self.ask("post", "/v1/conversations", {"collection": "secret"}, self.all).json()
        self.conversation: str = made["id"]
        self.quote: str = self.ask("post", "/v1/collections/port/search", {"question": "grain"}, self.all).json()[
            "hits"
        ][0]["quote_id"]
        index = {"retriever": "bm25"}
        self.job: str = self.ask("post", "/v1/collections/secret/indexes", index, self.all).json()["job"]["id"]

    def header(self, wanted: KeyRequest) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.keys.add(wanted)[1]}"}

    def ask(self, method: str, path: str, body: object, headers: dict[str, str]) -> Any:
        return self.client.request(method, path, json=body, headers=headers)

    def told(self, method: str, path: str, body: object, *names: str) -> tuple[int, object]:
        """The status and the body of a response to the first key, without the names and the request's id."""
        response = self.ask(method, path, body, self.own)
        text = response.text
        for name in names:
            text = text.replace(name, "NAME")
        return response.status_code, json.loads(re.sub(r'"request_id":"\w+"', '"request_id":""', text))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    made = Server(tmp_path_factory.mktemp("every-route"))
    yield made
    made.client.__exit__()


def filled(path: str, **values: str) -> str:
    """The path with these values, and with some for the rest."""
    known = {"collection": "port", "document": "port.md", "page": "0", "model": "port", "quote_id": "0:0:0"}
    return path.format(**{"conversation": UNKNOWN, "id": UNKNOWN, **known, **values})


def test_every_route_but_the_public_ones_refuses_what_is_no_key(server: Server) -> None:
    revoked, now = KeyRequest("revoked"), datetime.now(UTC)
    earlier = KeyStore(server.keys.path.parent, clock=lambda: now - timedelta(days=2))
    _, expired = earlier.add(KeyRequest("expired", expires=now - timedelta(seconds=1)))
    headers = {
        "none": {},
        "wrong": {"Authorization": f"Bearer qw_00000000_{'0' * 64}"},
        "basic": {"Authorization": "Basic YTpi"},
        "revoked": server.header(revoked),
        "expired": {"Authorization": f"Bearer {expired}"},
        "session": {"Cookie": "quoteweave=0000"},
    }
    server.keys.revoke("revoked")
    for method, path in server.routes:
        if path in PUBLIC:
            continue
        for what, header in headers.items():
            response = server.ask(method, filled(path), BODIES.get((method, path)), header)
            assert response.status_code == 401 or (what == "session" and response.status_code == 403), (
                method,
                path,
                what,
                response.text,
            )
            assert "no-such" not in response.text


def test_a_collection_of_others_is_as_if_it_were_not_there_on_every_route(server: Server) -> None:
    routes = [(method, path) for method, path in server.routes if "{collection}" in path or "{model}" in path]
    assert len(routes) >= 14
    for method, path in routes:
        values = {"quote_id": server.quote}
        body = BODIES.get((method, path))
        hidden = server.told(method, filled(path, collection="secret", model="secret", **values), body, "secret")
        absent = server.told(method, filled(path, collection="absent", model="absent", **values), body, "absent")
        assert hidden == absent, (method, path)
        assert hidden[0] == 404, (method, path, hidden)


def test_a_collection_of_others_is_not_looked_for_so_that_no_time_tells_of_it(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_for: list[str] = []
    for look in ("opened", "collection"):
        really = getattr(Served, look)

        def noting(served: Served, name: str, really: Callable[[Served, str], object] = really) -> object:
            looked_for.append(name)
            return really(served, name)

        monkeypatch.setattr(Served, look, noting)
    for method, path in server.routes:
        if "{collection}" in path or "{model}" in path:
            values = {"quote_id": server.quote, "collection": "secret", "model": "secret"}
            server.ask(method, filled(path, **values), BODIES.get((method, path)), server.own)
    for method, path, body in NAMING:
        named = json.loads(json.dumps(body).replace("{collection}", "secret"))
        server.ask(method, path.replace("{collection}", "secret"), named, server.own)
    assert "secret" not in looked_for
    server.ask("get", "/v1/collections/port", None, server.own)
    assert "port" in looked_for


def test_a_collection_that_a_body_or_a_query_names_is_hidden_as_well(server: Server) -> None:
    for method, path, body in NAMING:
        told = []
        for name in ("secret", "absent"):
            named = json.loads(json.dumps(body).replace("{collection}", name))
            told.append(server.told(method, path.replace("{collection}", name), named, name))
        assert told[0] == told[1], path
        assert method == "get" or told[0][0] == 404, told


def test_conversations_and_jobs_of_others_are_as_if_they_were_not_there(server: Server) -> None:
    for method, path in server.routes:
        if "{conversation}" not in path and "{id}" not in path:
            continue
        body, there = BODIES.get((method, path)), server.conversation if "{conversation}" in path else server.job
        hidden = server.told(method, filled(path, conversation=there, id=there), body, there)
        absent = server.told(method, filled(path), body, UNKNOWN)
        assert hidden == absent, (method, path)
        assert hidden[0] == 404
    asked = {"question": "grain", "conversation": server.conversation}
    at = "/v1/collections/port/answers"
    hidden = server.told("post", at, asked, server.conversation)
    assert hidden == server.told("post", at, {**asked, "conversation": UNKNOWN}, UNKNOWN)
    assert hidden[0] == 404


@pytest.mark.parametrize("path", ["/v1/collections", "/v1/models", "/v1/jobs", "/v1/conversations", "/readyz"])
def test_no_list_tells_of_the_collections_of_others(server: Server, path: str) -> None:
    for header in (server.own, server.reader):
        assert "secret" not in server.ask("get", path, None, header).text


def test_the_page_of_a_quote_is_the_same_for_a_collection_that_is_hidden(server: Server) -> None:
    paths = [f"/c/{name}/q/{server.quote}" for name in ("secret", "absent")]
    one, other = (server.client.get(path, headers={"Accept": "text/html"}) for path in paths)
    assert (one.status_code, one.text) == (other.status_code, other.text)
    assert server.told("get", paths[0], None, "secret") == server.told("get", paths[1], None, "absent")


def test_a_key_that_reads_changes_nothing(server: Server) -> None:
    changing = {
        *(route for route in server.routes if route[0] in ("put", "delete") or route[1].endswith("/indexes")),
        ("post", "/v1/collections"),
        ("post", "/v1/collections/{collection}/documents"),
    }
    own = {"/v1/session", "/v1/conversations/{conversation}"}
    for method, path in sorted(changing):
        if path in own:
            continue
        body = {"name": "new"} if path == "/v1/collections" else BODIES.get((method, path))
        response = server.ask(method, filled(path), body, server.reader)
        assert (response.status_code, response.json()["type"].rpartition(":")[2]) == (403, "missing-scope"), path


def test_no_key_is_in_what_is_sent_or_logged(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    secret = server.own["Authorization"].rpartition("_")[2]
    wrong = f"qw_00000000_{'f' * 64}"
    with caplog.at_level("DEBUG", "quoteweave"):
        sent = [
            server.ask("get", "/v1/session", None, server.own).text,
            server.ask("get", f"/v1/jobs/{UNKNOWN}", None, server.own).text,
            server.ask("get", "/metrics", None, server.all).text,
            server.ask("get", "/v1/models", None, {"Authorization": f"Bearer {wrong}"}).text,
            server.ask("post", "/v1/session", {"key": wrong}, {}).text,
        ]
    assert not any(secret in text or wrong in text for text in (*sent, caplog.text))
