"""Who is let in: keys and sessions, scopes and collections, foreign pages and names, and what a damaged file opens."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from made_collections import stored_collection

from quoteweave.core.errors import UsageError
from quoteweave.server.access.control import AccessControl
from quoteweave.server.access.keys import KEYS_FILE, KeyRequest, KeyStore
from quoteweave.server.access.sessions import SESSIONS_FILE, SessionStore
from quoteweave.server.app import make_app
from quoteweave.server.depends import Admin, Writable
from quoteweave.server.settings import ServerSettings

URL = "http://127.0.0.1:8321"
SEARCH = "/v1/collections/port/search"
WORDS = {"question": "grain"}
Made = Callable[..., TestClient]


@pytest.fixture(scope="module")
def collections(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folders = {}
    for name in ("port", "secret"):
        folder = tmp_path_factory.mktemp(name)
        folders[name] = stored_collection(folder, {"port.md": ["The harbour shipped 4,210 tonnes of grain in May."]})
    return folders


@pytest.fixture
def keys(tmp_path: Path) -> KeyStore:
    return KeyStore(tmp_path / "state")


@pytest.fixture
def client(collections: dict[str, Path], tmp_path: Path) -> Made:
    """Makes a client of an application with these settings, as a program on this machine sees it."""

    def make(url: str = URL, **settings: object) -> TestClient:
        values = {"collections": collections, "state": tmp_path / "state", **settings}
        app = make_app(ServerSettings.model_validate(values))
        add_routes(app)
        return TestClient(app, base_url=url)

    return make


def add_routes(app: FastAPI) -> None:
    """Routes that want more than to read."""

    @app.post("/v1/collections/{collection}/written")
    def write(collection: Writable) -> str:
        return collection.name

    @app.post("/v1/administered")
    def administer(grant: Admin) -> str | None:
        return grant.owner


def made(keys: KeyStore, name: str = "reader", **wanted: Any) -> dict[str, str]:
    """The header of a new key."""
    return {"Authorization": f"Bearer {keys.add(KeyRequest(name, **wanted))[1]}"}


def kind(response: Any) -> tuple[int, str]:
    """The status and the kind of a problem."""
    body = response.json()
    assert response.headers["content-type"] == "application/problem+json", body
    assert (body["status"], body["request_id"]) == (response.status_code, response.headers["x-request-id"])
    return response.status_code, body["type"].rpartition(":")[2]


def test_without_keys_this_machine_may_do_everything(client: Made) -> None:
    asking = client()
    assert asking.post(SEARCH, json=WORDS).json()["hits"]
    assert asking.post("/v1/administered").json() is None
    session = asking.get("/v1/session").json()
    assert (session["key_needed"], session["scopes"]) == (False, ["read", "write", "admin"])


def test_once_there_is_a_key_every_request_needs_one(client: Made, keys: KeyStore) -> None:
    asking = client()
    assert asking.post(SEARCH, json=WORDS).status_code == 200
    header = made(keys)
    refused = asking.post(SEARCH, json=WORDS)
    assert kind(refused) == (401, "missing-key")
    assert refused.headers["www-authenticate"] == 'Bearer realm="quoteweave"'
    assert asking.post(SEARCH, json=WORDS, headers=header).json()["hits"]
    keys.path.unlink()  # what was closed does not open by itself
    assert kind(asking.post(SEARCH, json=WORDS)) == (401, "missing-key")


def test_what_is_the_same_for_all_needs_no_key_and_every_other_path_does(client: Made, keys: KeyStore) -> None:
    made(keys)
    asking = client()
    public = ("/healthz", "/readyz", "/openapi.json", "/v1/session")
    assert [asking.get(path).status_code for path in public] == [200] * 4
    for path in ("/v1/collections", "/v1/models", "/v1/conversations", "/metrics", "/mcp", "/unknown"):
        assert kind(asking.get(path)) == (401, "missing-key"), path
    at = "/c/port/q/0:0:0"
    assert kind(asking.get(at, headers={"Accept": "application/json"})) == (401, "missing-key")


@pytest.mark.parametrize(
    "authorization",
    ["Bearer", "Bearer ", "Bearer qw_00000000_00", f"Bearer qw_00000000_{'0' * 64}", "bearer x", "Bearer \xe9\xff"],
)
def test_wrong_keys_are_refused(client: Made, keys: KeyStore, authorization: str) -> None:
    made(keys)
    headers = {"Authorization": authorization.encode("latin-1")}
    refused = client().post(SEARCH, json=WORDS, headers=headers)  # type: ignore[arg-type]
    assert kind(refused) == (401, "refused-key")
    assert 'error="invalid_token"' in refused.headers["www-authenticate"]


def test_a_wrong_key_is_refused_even_where_none_is_needed(client: Made) -> None:
    assert kind(client().post(SEARCH, json=WORDS, headers={"Authorization": "Bearer qw_no"})) == (401, "refused-key")


def test_a_key_of_another_service_is_refused_only_where_one_is_needed(client: Made, keys: KeyStore) -> None:
    foreign = {"Authorization": "Bearer sk-none"}
    assert client().post(SEARCH, json=WORDS, headers=foreign).status_code == 200
    made(keys)
    assert kind(client().post(SEARCH, json=WORDS, headers=foreign)) == (401, "refused-key")


def test_revoked_and_expired_keys_are_refused_at_the_next_request(client: Made, keys: KeyStore, tmp_path: Path) -> None:
    asking, header = client(), made(keys)
    assert asking.post(SEARCH, json=WORDS, headers=header).status_code == 200
    KeyStore(tmp_path / "state").revoke("reader")
    assert kind(asking.post(SEARCH, json=WORDS, headers=header)) == (401, "refused-key")
    yesterday = KeyStore(tmp_path / "state", clock=lambda: datetime.now(UTC) - timedelta(days=2))
    old = made(yesterday, "old", expires=datetime.now(UTC) - timedelta(days=1))
    assert kind(asking.post(SEARCH, json=WORDS, headers=old)) == (401, "refused-key")


def test_a_collection_that_a_key_does_not_open_is_as_one_that_is_not_there(client: Made, keys: KeyStore) -> None:
    asking, header = client(), made(keys, collections=["port"])
    listed = asking.get("/v1/collections", headers=header).json()["collections"]
    assert [each["name"] for each in listed] == ["port"]
    told = []
    for name in ("secret", "nothing"):
        for path in ("search", "answers"):
            refused = asking.post(f"/v1/collections/{name}/{path}", json=WORDS, headers=header)
            assert kind(refused) == (404, "no-such-collection")
            told.append({**refused.json(), "request_id": "", "instance": ""})
        for path in ("", "/documents", "/quotes/0:0:0", "/pages/port.md/0", "/pages/port.md/0/image"):
            assert kind(asking.get(f"/v1/collections/{name}{path}", headers=header)) == (404, "no-such-collection")
        json = {**header, "Accept": "application/json"}
        assert kind(asking.get(f"/c/{name}/q/0:0:0", headers=json)) == (404, "no-such-collection")
        begun = asking.post("/v1/conversations", json={"collection": name}, headers=header)
        assert kind(begun) == (404, "no-such-collection")
    details = {str(each).replace("'secret'", "'nothing'") for each in told}
    assert len(details) == 1, details


def test_figures_that_name_all_collections_are_not_for_a_key_of_some(client: Made, keys: KeyStore) -> None:
    asking, some, every = client(), made(keys, "some", collections=["port"]), made(keys, "every")
    assert kind(asking.get("/metrics", headers=some)) == (403, "missing-scope")
    assert "secret" in asking.get("/metrics", headers=every).text


def test_scopes_say_what_a_key_may_do(client: Made, keys: KeyStore) -> None:
    asking = client()
    reader, writer, admin = (made(keys, scope, scopes=[scope]) for scope in ("read", "write", "admin"))
    write, administer = "/v1/collections/port/written", "/v1/administered"
    refused = asking.post(write, headers=reader)
    assert kind(refused) == (403, "missing-scope")
    assert 'scope="write"' in refused.headers["www-authenticate"]
    assert asking.post(write, headers=writer).json() == "port"
    assert kind(asking.post(administer, headers=writer)) == (403, "missing-scope")
    assert asking.post(administer, headers=admin).status_code == 200
    assert asking.post(SEARCH, json=WORDS, headers=admin).status_code == 200
    own = made(keys, "own", scopes=["write"], collections=["secret"])
    assert kind(asking.post(write, headers=own)) == (404, "no-such-collection")


def test_people_sign_in_with_a_cookie_that_no_script_and_no_other_site_has(client: Made, keys: KeyStore) -> None:
    asking, header = client(), made(keys, "Ada", collections=["port"])
    token = header["Authorization"].removeprefix("Bearer ")
    assert kind(asking.post("/v1/session", json={"key": f"{token}0"})) == (401, "refused-key")
    signed = asking.post("/v1/session", json={"key": token}, headers={"Origin": URL})
    assert signed.json() == {
        "key_needed": True,
        "name": "Ada",
        "scopes": ["read"],
        "collections": ["port"],
        "expires": None,
    }
    cookie = signed.headers["set-cookie"]
    assert cookie.startswith("quoteweave_8321=")
    assert {"HttpOnly", "Path=/", "SameSite=strict"} <= set(cookie.split("; "))
    assert "Secure" not in cookie
    assert token not in cookie
    assert asking.post(SEARCH, json=WORDS, headers={"Origin": URL}).json()["hits"]
    assert asking.get("/v1/session").json()["name"] == "Ada"
    kept = dict(asking.cookies)
    assert asking.delete("/v1/session", headers={"Origin": URL}).status_code == 204
    asking.cookies.update(kept)  # a copy of the cookie
    assert kind(asking.get("/v1/collections")) == (401, "missing-key")


def test_a_cookie_goes_over_encrypted_connections_only_where_there_are_some(client: Made, keys: KeyStore) -> None:
    token = made(keys)["Authorization"].removeprefix("Bearer ")
    for url, settings in (("https://127.0.0.1", {}), (URL, {"public_url": "https://docs.example.org"})):
        signed = client(url, **settings).post("/v1/session", json={"key": token})
        assert "Secure" in signed.headers["set-cookie"].split("; ")


def test_a_session_ends_with_its_key_and_with_its_time(keys: KeyStore, tmp_path: Path, client: Made) -> None:
    asking, header = client(), made(keys)
    key = keys.list()[0]
    asking.post("/v1/session", json={"key": header["Authorization"].removeprefix("Bearer ")})
    assert asking.get("/v1/collections").status_code == 200
    now = datetime.now(UTC)
    store = SessionStore(tmp_path / "state", clock=lambda: now)
    token = store.begin(key.id)
    assert store.key_of(token) == key.id
    now += timedelta(days=7, seconds=1)
    assert store.key_of(token) is None
    keys.revoke(key.id)
    assert kind(asking.get("/v1/collections")) == (401, "missing-key")


@pytest.mark.parametrize("damage", ["expires = expires + 1000000000", "key = 'another'", "checksum = checksum - 1"])
def test_a_session_that_says_something_else_than_was_written_is_none(tmp_path: Path, damage: str) -> None:
    store = SessionStore(tmp_path / "state")
    token = store.begin("a-key")
    with closing(sqlite3.connect(store.path)) as db, db:
        db.execute(f"UPDATE checked_sessions SET {damage}")
    assert store.key_of(token) is None


def test_a_page_of_another_origin_cannot_act_for_whoever_is_signed_in(client: Made, keys: KeyStore) -> None:
    asking, header = client(), made(keys)
    asking.post("/v1/session", json={"key": header["Authorization"].removeprefix("Bearer ")})
    foreign: list[dict[str, str]] = [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:9999"},
        {"Origin": "http://127.0.0.1"},
        {"Origin": f"{URL}.evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {},  # no browser
    ]
    for headers in foreign:
        assert kind(asking.post(SEARCH, json=WORDS, headers=headers)) == (403, "foreign-origin"), headers
        assert kind(asking.delete("/v1/session", headers=headers)) == (403, "foreign-origin")
        with_key = asking.post(SEARCH, json=WORDS, headers={**headers, **header})
        assert with_key.status_code == 200  # a foreign page has no key to send
    for headers in ({"Origin": URL}, {"Sec-Fetch-Site": "same-origin"}):
        assert asking.post(SEARCH, json=WORDS, headers=headers).status_code == 200


def test_a_page_of_another_origin_cannot_use_a_server_without_keys(client: Made) -> None:
    asking = client()
    for headers in ({"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}):
        refused = asking.post("/v1/administered", headers=headers)
        assert kind(refused) == (403, "foreign-origin")
        assert "access-control-allow-origin" not in refused.headers
    loaded = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
    assert kind(asking.get("/v1/collections/port/pages/port.md/0/image", headers=loaded)) == (403, "foreign-origin")
    followed = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert asking.get("/v1/session", headers=followed).status_code == 200
    assert asking.post("/v1/administered").status_code == 200  # a program


def test_other_origins_are_served_where_the_settings_name_them(client: Made, keys: KeyStore) -> None:
    named = "https://app.example.org"
    preflight = {"Origin": named, "Access-Control-Request-Method": "POST"}
    assert "access-control-allow-origin" not in client().options(SEARCH, headers=preflight).headers
    asking = client(cors_origins=[named])
    allowed = asking.options(SEARCH, headers=preflight)
    assert allowed.headers["access-control-allow-origin"] == named
    assert "access-control-allow-credentials" not in allowed.headers
    sent = asking.post(SEARCH, json=WORDS, headers={"Origin": named, "Sec-Fetch-Site": "cross-site"})
    assert (sent.status_code, sent.headers["access-control-allow-origin"]) == (200, named)
    other = asking.post(SEARCH, json=WORDS, headers={"Origin": "https://evil.example"})
    assert kind(other) == (403, "foreign-origin")
    assert "access-control-allow-origin" not in other.headers
    made(keys)
    refused = asking.post(SEARCH, json=WORDS, headers={"Origin": named})
    assert (refused.status_code, refused.headers["access-control-allow-origin"]) == (401, named)


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8321",
        "127.0.0.1.evil.example",
        "localhost@evil.example",
        "",
        "[::2]",
        "localhost:x",
    ],
)
def test_names_that_are_rebound_to_this_machine_are_refused(client: Made, host: str) -> None:
    for path in ("/", "/v1/collections", "/v1/session"):
        assert kind(client().get(path, headers={"Host": host})) == (421, "unknown-host")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:8321", "LOCALHOST", "[::1]:8321", "docs.local"])
def test_names_of_this_machine_and_named_ones_are_answered(client: Made, host: str) -> None:
    assert client(allowed_hosts=["docs.local"]).get("/v1/models", headers={"Host": host}).status_code == 200


def test_a_server_that_others_reach_needs_keys_and_answers_under_any_name(
    client: Made, keys: KeyStore, tmp_path: Path
) -> None:
    settings = ServerSettings(host="0.0.0.0", state=tmp_path / "state")
    with pytest.raises(UsageError, match="make one with: quoteweave keys add NAME"):
        AccessControl(settings).check_start()
    asking = client(host="0.0.0.0")
    assert kind(asking.get("/v1/models", headers={"Host": "docs.example.org"})) == (401, "missing-key")
    header = made(keys)
    AccessControl(settings).check_start()
    assert asking.get("/v1/models", headers={"Host": "docs.example.org", **header}).status_code == 200
    named = client(host="0.0.0.0", allowed_hosts=["docs.example.org"])
    assert named.get("/v1/models", headers={"Host": "docs.example.org", **header}).status_code == 200
    assert kind(named.get("/v1/models", headers={"Host": "10.0.0.7", **header})) == (421, "unknown-host")
    for host in ("docs.example.org/page/?", "docs.example.org/page/#", "x:99999", "a@b", "[::"):
        assert asking.get("/v1/models", headers={"Host": host}).status_code == 401, host
        assert asking.get("/v1/models", headers={"Host": host, **header}).status_code == 200
        assert asking.get("/v1/session", headers={"Host": host, "Cookie": "quoteweave=x"}).status_code == 200
    assert named.get("/healthz", headers={"Host": "10.0.0.7"}).status_code == 200  # a load balancer's probe


def test_requests_are_limited_by_key_by_the_servers_limit_or_their_own(client: Made, keys: KeyStore) -> None:
    asking = client(requests_per_minute=2)
    slow, fast = made(keys, "slow"), made(keys, "fast", limits={"requests_per_minute": 4})
    for header, allowed in ((slow, 2), (fast, 4)):
        answers = [asking.get("/v1/models", headers=header) for _ in range(allowed + 1)]
        assert [each.status_code for each in answers[:-1]] == [200] * allowed
        assert kind(answers[-1]) == (429, "too-many-requests")
        assert 1 <= int(answers[-1].headers["retry-after"]) <= 60
    assert asking.get("/healthz").status_code == 200
    guesses = [asking.post("/v1/session", json={"key": "qw_guess"}) for _ in range(3)]
    assert [each.status_code for each in guesses] == [401, 401, 429]


def test_wrong_keys_count_against_the_address_that_sends_them(client: Made, keys: KeyStore) -> None:
    header, asking = made(keys), client(requests_per_minute=2)
    wrong = [asking.get("/v1/models", headers={"Authorization": "Bearer guess"}) for _ in range(3)]
    assert [each.status_code for each in wrong] == [401, 401, 429]
    assert asking.get("/v1/models", headers=header).status_code == 200


def test_a_body_beyond_the_limit_is_refused(client: Made) -> None:
    long = {"question": "x" * 2000}
    for refused in (
        client(max_body=1024).post(SEARCH, json=long),
        client(max_body=1024).post(SEARCH, content=iter([b"x" * 600] * 2)),
    ):
        assert kind(refused) == (413, "body-too-large")


@pytest.mark.parametrize("file", [KEYS_FILE, SESSIONS_FILE])
def test_a_damaged_file_lets_nobody_in(client: Made, keys: KeyStore, tmp_path: Path, file: str) -> None:
    asking, header = client(), made(keys)
    asking.post("/v1/session", json={"key": header["Authorization"].removeprefix("Bearer ")})
    (tmp_path / "state" / file).write_bytes(b"{" * 5000)
    refused = asking.get("/v1/models")
    # Sessions are made anew, and people sign in again.
    assert kind(refused) == ((503, "unreadable-state") if file == KEYS_FILE else (401, "missing-key"))
    assert str(tmp_path) not in refused.text
    assert asking.get("/healthz").status_code == 200
