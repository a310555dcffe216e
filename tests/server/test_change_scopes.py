"""Which keys may change which collections; the jobs of others are not there for them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from made_collections import stored_collection
from test_access import kind, made

from quoteweave.interchange.responses import Job
from quoteweave.server.access.keys import KeyStore
from quoteweave.server.app import make_app
from quoteweave.server.jobs.records import RemoveWork
from quoteweave.server.settings import ServerSettings

FILES = [("files", ("a.txt", b"Text."))]


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    folders = {}
    for name in ("port", "secret"):
        (tmp_path / name).mkdir()
        folders[name] = stored_collection(tmp_path / name, {"port.md": ["The harbour shipped grain."]})
    (tmp_path / "made").mkdir()
    settings = ServerSettings(collections=folders, collections_folder=tmp_path / "made", state=tmp_path / "state")
    with TestClient(make_app(settings), base_url="http://127.0.0.1:8321") as client:
        yield client


@pytest.fixture
def secret_job(client: TestClient, tmp_path: Path) -> str:
    """The address of a job of the other collection, which has ended."""
    store = client.app.state.jobs.store  # type: ignore[attr-defined]
    work = RemoveWork(root=tmp_path, names=("port.md",))
    job = store.add(Job(kind="remove", collection="secret", created=0.0, status="cancelled"), work)
    return f"/v1/jobs/{job.id}"


@pytest.mark.parametrize(
    ("scopes", "collections", "expected"),
    [
        (("read",), None, (403, "missing-scope")),
        (("read", "write"), ("secret",), (404, "no-such-collection")),
    ],
)
def test_only_a_key_that_may_write_to_a_collection_changes_it(
    client: TestClient, tmp_path: Path, scopes: tuple[str, ...], collections: tuple[str, ...] | None, expected: object
) -> None:
    header = made(KeyStore(tmp_path / "state"), scopes=scopes, collections=collections)
    at = "/v1/collections/port"
    assert kind(client.post(f"{at}/documents", files=FILES, headers=header)) == expected
    assert kind(client.delete(f"{at}/documents/port.md", headers=header)) == expected
    assert kind(client.post(f"{at}/indexes", json={"retriever": "bm25"}, headers=header)) == expected
    assert not (tmp_path / "state" / "uploads").exists()
    assert client.get("/v1/jobs", headers=header).json() == {"jobs": []}


def test_only_an_admin_makes_and_deletes_collections_and_only_those_of_the_key(
    client: TestClient, tmp_path: Path
) -> None:
    keys = KeyStore(tmp_path / "state")
    writer, admin = made(keys, "writer", scopes=("read", "write")), made(keys, "admin", scopes=("read", "admin"))
    bound = made(keys, "bound", scopes=("read", "admin"), collections=("mine",))
    new, mine = {"name": "new"}, {"name": "mine"}
    assert kind(client.post("/v1/collections", json=new, headers=writer)) == (403, "missing-scope")
    assert kind(client.post("/v1/collections", json=new, headers=bound)) == (403, "other-collection")
    assert [client.post("/v1/collections", json=mine, headers=bound).status_code] == [201]
    assert client.post("/v1/collections", json=new, headers=admin).status_code == 201
    assert kind(client.delete("/v1/collections/new", headers=writer)) == (403, "missing-scope")
    assert kind(client.delete("/v1/collections/new", headers=bound)) == (404, "no-such-collection")
    assert client.delete("/v1/collections/new", headers=admin).json()["name"] == "new"


def test_a_job_is_seen_by_who_sees_its_collection_and_cancelled_by_who_may_write(
    client: TestClient, tmp_path: Path, secret_job: str
) -> None:
    keys = KeyStore(tmp_path / "state")
    reader, other = made(keys, "reader"), made(keys, "other", scopes=("read", "write"), collections=("port",))
    assert client.get(secret_job, headers=reader).json()["collection"] == "secret"
    assert len(client.get("/v1/jobs", headers=reader).json()["jobs"]) == 1
    assert kind(client.delete(secret_job, headers=reader)) == (403, "missing-scope")
    assert client.get("/v1/jobs", headers=other).json() == {"jobs": []}
    for response in (
        client.get(secret_job, headers=other),
        client.get(f"{secret_job}/events", headers=other),
        client.delete(secret_job, headers=other),
    ):
        assert kind(response) == (404, "no-such-job")
