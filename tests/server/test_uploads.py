"""Documents are uploaded, replaced and removed while the server answers, and what cannot be taken leaves nothing."""

import errno
import json
import os
import shutil
import socket
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from filelock import FileLock
from job_runs import pdf_pages
from live_server import LiveServer
from test_served_answers import problem, read_events

from quoteweave.collection.collection import Collection
from quoteweave.server.jobs.runner import jobs_lock
from quoteweave.server.jobs.uploads import UploadLimits, Uploads
from quoteweave.server.problems import ProblemError
from quoteweave.server.settings import ServerSettings

LIMIT = 1 << 20
Files = dict[str, bytes]


@pytest.fixture(scope="module")
def server(forked_jobs: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    """A server of an empty collection `port`, of a folder in which others may be made."""
    base = tmp_path_factory.mktemp("served")
    Collection.create(base / "named").close()
    (base / "made").mkdir()
    settings = ServerSettings(
        collections={"named": base / "named"},
        collections_folder=base / "made",
        state=base / "state",
        max_upload=LIMIT,
        max_upload_request=3 * LIMIT,
        job_niceness=0,
        job_processes=1,
    )
    with LiveServer(settings) as live:
        yield live


@pytest.fixture
def port(server: LiveServer, request: pytest.FixtureRequest) -> str:
    """The address of a new collection's documents."""
    name = f"c{abs(hash(request.node.name))}"
    made = server.client.post("/v1/collections", json={"name": name})
    assert (made.status_code, made.json()["counts"]["documents"]) == (201, 0)
    return f"/v1/collections/{name}"


def upload(server: LiveServer, port: str, files: Files, **fields: str) -> Any:
    parts = [("files", (name, content)) for name, content in files.items()]
    return server.client.post(f"{port}/documents", files=parts, data=fields)


def events_of(server: LiveServer, job: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return read_events(server.client.get(f"/v1/jobs/{job['id']}/events").text)


def finished(server: LiveServer, response: Any) -> dict[str, Any]:
    assert response.status_code == 202, response.text
    name, job = events_of(server, response.json()["job"])[-1]
    assert name == "job"
    assert server.client.get(f"/v1/jobs/{job['id']}").json() == job
    return job


def listed(server: LiveServer, port: str) -> list[str]:
    return [document["name"] for document in server.client.get(f"{port}/documents").json()["documents"]]


def found(server: LiveServer, port: str, question: str) -> list[str]:
    hits = server.client.post(f"{port}/search", json={"question": question, "k": 5}).json()["hits"]
    return [hit["document"] for hit in hits]


def kept(server: LiveServer) -> list[Path]:
    """Files of uploads that are in the server's state."""
    state = server.app.state.served.settings.state
    return [path for path in (state / "uploads").rglob("*") if path.is_file()]


def settle(server: LiveServer, name: str) -> None:
    """Waits until nothing runs for a collection, nor is cleared away."""
    served = server.app.state.served
    with jobs_lock(served.settings.state, served.folders()[name].resolve(), wait_s=60):
        assert kept(server) == []


def test_documents_are_uploaded_replaced_and_removed_while_the_server_answers(server: LiveServer, port: str) -> None:
    assert found(server, port, "harbour cranes") == []
    files = {"long.pdf": pdf_pages(7), "quay.txt": b"The north quay was dredged by a barge."}
    response = upload(server, port, files, folder="manuals/2024", metadata='{"year": "2024"}')
    assert response.json()["job"]["documents"] == ["manuals/2024/long.pdf", "manuals/2024/quay.txt"]
    events = events_of(server, response.json()["job"])
    assert {name for name, _ in events[:-1]} == {"progress"}
    pages = [data["page"] for name, data in events if name == "progress" and data["page"] is not None]
    assert pages == sorted(pages)
    assert (events[-2][1]["page"], events[-2][1]["pages"], events[-2][1]["files_done"]) == (8, 8, 2)
    job = events[-1][1]
    assert (job["status"], job["report"]["added"]) == ("done", ["manuals/2024/long.pdf", "manuals/2024/quay.txt"])
    assert listed(server, port) == ["manuals/2024/long.pdf", "manuals/2024/quay.txt"]
    assert found(server, port, "harbour cranes")[0] == "manuals/2024/long.pdf"
    assert found(server, port, "barge") == ["manuals/2024/quay.txt"]

    again = upload(server, port, files, folder="manuals/2024")
    assert (again.status_code, again.json()) == (
        200,
        {"job": None, "unchanged": ["manuals/2024/long.pdf", "manuals/2024/quay.txt"]},
    )

    changed = {**files, "quay.txt": b"The south quay was built of granite."}
    response = upload(server, port, changed, folder="manuals/2024")
    assert response.json()["unchanged"] == ["manuals/2024/long.pdf"]
    assert finished(server, response)["report"]["updated"] == ["manuals/2024/quay.txt"]
    assert (found(server, port, "barge"), found(server, port, "granite")) == ([], ["manuals/2024/quay.txt"])
    document = server.client.get(f"{port}/documents/manuals/2024/quay.txt").json()
    assert document["metadata"] == {"year": "2024"}

    gone = finished(server, server.client.delete(f"{port}/documents/manuals/2024/quay.txt"))
    assert gone["report"]["removed"] == ["manuals/2024/quay.txt"]
    assert (listed(server, port), found(server, port, "granite")) == (["manuals/2024/long.pdf"], [])
    problem(server.client.delete(f"{port}/documents/manuals/2024/quay.txt"), 404, "no-such-document")
    jobs = server.client.get("/v1/jobs", params={"collection": port.rpartition("/")[2]}).json()["jobs"]
    assert [one["kind"] for one in jobs] == ["remove", "add", "add"]


def test_a_quote_keeps_its_address_when_its_document_is_added_or_indexed_again(server: LiveServer, port: str) -> None:
    quay: Files = {"quay.txt": b"The north quay was dredged by a barge."}
    finished(server, upload(server, port, quay))
    asked = {"question": "barge", "k": 1}
    before = server.client.post(f"{port}/search", json=asked).json()["hits"][0]
    address, as_json = before["url"], {"accept": "application/json"}
    shown = server.client.get(address, headers=as_json).json()
    finished(server, server.client.post(f"{port}/indexes", json={"retriever": "bm25", "replace": True}))
    assert server.client.get(address, headers=as_json).json() == shown
    finished(server, server.client.delete(f"{port}/documents/quay.txt"))
    gone = problem(server.client.get(address, headers=as_json), 404, "no-such-quote")
    assert "its document may have been changed or removed since" in gone["detail"]
    finished(server, upload(server, port, quay))
    assert server.client.get(address, headers=as_json).json() == shown
    assert server.client.post(f"{port}/search", json=asked).json()["hits"][0] == before


def test_a_change_under_way_is_not_mistaken_for_what_is_there(server: LiveServer, port: str) -> None:
    finished(server, upload(server, port, {"a.txt": b"first"}))
    root = server.app.state.served.folders()[port.rpartition("/")[2]]
    with Collection.open(root) as collection, collection.writer():
        second = upload(server, port, {"a.txt": b"second"})
        back = upload(server, port, {"a.txt": b"first"})
    assert [finished(server, response)["report"]["updated"] for response in (second, back)] == [["a.txt"]] * 2
    with Collection.open(root) as collection:
        assert [quote.text for quote in collection.document_quotes("a.txt")] == ["first"]
    settle(server, port.rpartition("/")[2])


def test_names_lead_nowhere(server: LiveServer) -> None:
    root = server.app.state.served.folders()["named"]
    names = ("../../../one.txt", "/two.txt", "C:\\x\\three.txt", "..\\four.txt")
    with Collection.open(root) as collection, collection.writer():  # so that the files wait to be read
        job = upload(server, "/v1/collections/named", dict.fromkeys(names, b"Text.")).json()["job"]
        assert job["documents"] == ["one.txt", "two.txt", "three.txt", "four.txt"]
        assert {path.name for path in kept(server)} == set(job["documents"])
        assert server.client.delete(f"/v1/jobs/{job['id']}").status_code == 202
        # While the collection cannot be written to: else the job may end before its process is.
        assert events_of(server, job)[-1][1]["status"] == "cancelled"
    settle(server, "named")


def multipart(body: bytes) -> dict[str, Any]:
    return {"content": body, "headers": {"content-type": "multipart/form-data; boundary=b"}}


def part(name: str, content: str, filename: str | None = None, *, more: str = "") -> bytes:
    file = "" if filename is None else f'; filename="{filename}"'
    return f'--b\r\nContent-Disposition: form-data; name="{name}"{file}{more}\r\n\r\n{content}\r\n'.encode()


FILE, END = part("files", "Text.", "a.txt"), b"--b--\r\n"
BASE64 = part("files", "VGV4dC4=", "a.txt", more="\r\nContent-Transfer-Encoding: base64")


@pytest.mark.parametrize(
    ("sent", "status", "kind", "said"),
    [
        ({"json": {}}, 415, "not-multipart", "sent as multipart/form-data"),
        ({"content": b"x", "headers": {"content-type": "multipart/form-data"}}, 415, "not-multipart", "sent as"),
        (multipart(b"nonsense"), 400, "malformed-upload", "no multipart/form-data"),
        (multipart(FILE), 400, "malformed-upload", "cut off"),
        (multipart(FILE[:-3]), 400, "malformed-upload", "cut off"),
        (multipart(END), 422, "invalid-request", "no file in it"),
        (multipart(FILE + FILE + END), 422, "invalid-request", "two of its files would be the document 'a.txt'"),
        (multipart(part("files", "x", "..") + END), 422, "invalid-request", "'..' is no name of a file"),
        (multipart(part("file", "x", "a.txt") + END), 422, "invalid-request", "'file' is no field of it"),
        (multipart(FILE + part("colour", "x") + END), 422, "invalid-request", "'colour' is no field of it"),
        (
            multipart(part("files", "a.txt") + END),
            422,
            "invalid-request",
            "'files' came as text",
        ),
        (multipart(FILE + part("folder", "x", "x") + END), 422, "invalid-request", "'folder' came as a file"),
        (multipart(FILE + 2 * part("folder", "x") + END), 422, "invalid-request", "'folder' is there twice"),
        (multipart(BASE64 + END), 422, "invalid-request", "encoded as 'base64'"),
        (multipart(FILE + part("folder", "../x") + END), 422, "invalid-request", "'../x' cannot stand before names"),
        (multipart(FILE + part("folder", "x" * 70_000) + END), 422, "invalid-request", "longer than 65536 bytes"),
        (multipart(FILE + part("metadata", "{") + END), 422, "invalid-request", "metadata is no JSON"),
        (multipart(FILE + part("metadata", '{"a": "1", "a": "2"}') + END), 422, "invalid-request", "the key 'a' twice"),
        (multipart(FILE + part("metadata", '{"a": 1}') + END), 422, "invalid-request", "JSON object of texts"),
    ],
)
def test_what_is_no_upload_is_refused(
    server: LiveServer, sent: dict[str, Any], status: int, kind: str, said: str
) -> None:
    response = server.client.post("/v1/collections/named/documents", **sent)
    assert said in problem(response, status, kind)["detail"]
    assert kept(server) == []


def test_a_file_that_is_too_large_is_refused_before_the_rest_of_it_comes(server: LiveServer) -> None:
    head = part("files", "", "a.txt").removesuffix(b"\r\n")
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        connection.sendall(
            b"POST /v1/collections/named/documents HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99000000000\r\n"
            b"Content-Type: multipart/form-data; boundary=b\r\n\r\n" + head + bytes(LIMIT + 1)
        )
        received = b""
        while more := connection.recv(65536):
            received += more
    headers, _, body = received.partition(b"\r\n\r\n")
    assert headers.startswith(b"HTTP/1.1 413 ")
    assert f"larger than the {LIMIT:,} bytes" in json.loads(body)["detail"]
    assert kept(server) == []


def test_files_that_are_too_large_together_are_refused_before_the_rest_of_them_comes(server: LiveServer) -> None:
    files = b"".join(
        part("files", "", f"{name}.txt").removesuffix(b"\r\n") + bytes(LIMIT - 10) + b"\r\n" for name in "abc"
    )
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        connection.sendall(
            b"POST /v1/collections/named/documents HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99000000000\r\n"
            b"Content-Type: multipart/form-data; boundary=b\r\n\r\n" + files
        )
        received = b""
        while more := connection.recv(65536):
            received += more
    headers, _, body = received.partition(b"\r\n\r\n")
    assert headers.startswith(b"HTTP/1.1 413 ")
    assert f"larger than the {3 * LIMIT:,} bytes that are taken at once here" in json.loads(body)["detail"]
    assert kept(server) == []


def test_a_full_disk_keeps_nothing_of_an_upload(
    server: LiveServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class FullFile:
        def write(self, data: bytes) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        def close(self) -> None:
            pass

    made = Path.open

    def full(path: Path, mode: str = "r", **named: Any) -> Any:
        opened = made(path, mode, **named)
        if mode != "xb":
            return opened
        opened.close()
        return FullFile()

    monkeypatch.setattr(Path, "open", full)
    response = upload(server, "/v1/collections/named", {"a.txt": b"Text."})
    assert "its disk is full; make room there" in problem(response, 507, "storage")["detail"]
    assert kept(server) == []


def test_a_small_disk_that_fills_up_is_empty_again(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], check=False).returncode:
        pytest.skip("needs the right to mount a small disk of its own")
    try:
        with pytest.raises(ProblemError, match="disk is full"):
            anyio.run(receive, Uploads(disk), [FILE, part("files", "x" * (2 << 20), "b.txt"), END])
        assert [path for path in disk.rglob("*") if path.is_file()] == []
    finally:
        subprocess.run(["umount", "-l", disk], check=True)


async def receive(uploads: Uploads, chunks: list[bytes]) -> None:
    async def stream() -> AsyncIterator[bytes]:
        for chunk in chunks:
            yield chunk

    limits = UploadLimits(file=1 << 30, together=1 << 30)
    async with uploads.receive("port", "multipart/form-data; boundary=b", stream(), limits) as upload:
        # Another server that starts meanwhile leaves it alone.
        uploads.sweep(lambda _: False)
        assert (upload.folder / "a.txt").read_bytes() == b"Text."


def test_what_a_dead_server_left_of_uploads_is_removed(tmp_path: Path) -> None:
    uploads = Uploads(tmp_path)
    anyio.run(receive, uploads, [FILE, END])
    left, wanted = uploads.root / "port" / "left", uploads.root / "port" / "wanted"
    for folder in (left, wanted):
        folder.mkdir(parents=True)
        (folder / ".0").write_bytes(b"half a fi")
    FileLock(left.with_name("left.lock")).acquire().lock.release()
    uploads.sweep(lambda folder: folder == wanted)
    assert [path.name for path in sorted(uploads.root.rglob("*"))] == ["port", "wanted", ".0"]


def test_collections_are_made_and_deleted_in_their_folder_alone(server: LiveServer, port: str) -> None:
    name = port.rpartition("/")[2]
    client, folder = server.client, server.app.state.served.folders()[name]
    finished(server, upload(server, port, {"a.txt": b"Text."}))
    problem(client.post("/v1/collections", json={"name": name}), 409, "collection-exists")
    problem(client.post("/v1/collections", json={"name": "named"}), 409, "collection-exists")
    for wrong in ("", "../x", "a/b", ".hidden", "x" * 101):
        told = problem(client.post("/v1/collections", json={"name": wrong}), 422, "invalid-request")
        assert told["detail"].startswith("name: it cannot be a collection's name in addresses: letters, digits")
    problem(client.delete("/v1/collections/named"), 403, "collections-fixed")
    with Collection.open(folder) as collection, collection.writer():
        problem(client.delete(port), 409, "collection-locked")
    assert listed(server, port) == ["a.txt"]
    deleted = client.delete(port).json()
    assert (deleted["name"], deleted["counts"]["documents"], deleted["cancelled_jobs"]) == (name, 1, 0)
    assert not folder.exists()
    assert [path.name for path in folder.parent.glob(".*")] == []
    problem(client.get(port), 404, "no-such-collection")
    problem(client.delete(port), 404, "no-such-collection")
    assert client.post("/v1/collections", json={"name": name}).status_code == 201
    assert listed(server, port) == []
    assert client.get("/v1/jobs", params={"collection": name}).json() == {"jobs": []}


def test_a_collection_is_deleted_with_the_jobs_that_wait(server: LiveServer, port: str, tmp_path: Path) -> None:
    folder = server.app.state.served.folders()[port.rpartition("/")[2]]
    with Collection.open(folder) as collection, collection.writer():
        waits = upload(server, port, {"a.txt": b"Text."}).json()["job"]
        moved = shutil.move(folder, tmp_path / "elsewhere")
        shutil.copytree(moved, folder)
    assert server.client.delete(port).json()["cancelled_jobs"] == 1
    problem(server.client.get(f"/v1/jobs/{waits['id']}"), 404, "no-such-job")
    assert kept(server) == []


def test_indexes_are_built_of_retrievers_that_may_be_named(server: LiveServer, port: str) -> None:
    job = finished(server, server.client.post(f"{port}/indexes", json={"retriever": "bm25"}))
    assert (job["kind"], job["retriever"], job["status"], job["report"]) == ("index", "bm25", "done", None)
    for wrong in ("minilm=/etc", "endpoint:m@http://10.0.0.1", "nothing"):
        problem(server.client.post(f"{port}/indexes", json={"retriever": wrong}), 422, "not-possible")


def test_a_server_without_a_folder_of_collections_makes_none(live: LiveServer) -> None:
    problem(live.client.post("/v1/collections", json={"name": "x"}), 403, "collections-fixed")
    problem(live.client.delete("/v1/collections/port"), 403, "collections-fixed")
    problem(live.client.get("/v1/jobs/nope"), 404, "no-such-job")
    problem(live.client.get("/v1/jobs/nope/events"), 404, "no-such-job")
    problem(live.client.delete("/v1/jobs/nope"), 404, "no-such-job")
