"""What hostile programs send: bytes that are no text, shapes that nobody expects, and far too much of everything."""

import json
import socket

import pytest
from live_server import LiveServer

from quoteweave.core.text.grammar import split_into_questions

SEARCH, ANSWERS = "/v1/collections/port/search", "/v1/collections/port/answers"
DOCUMENTS = "/v1/collections/port/documents"
JSON = {"Content-Type": "application/json"}
HALF = '"\\ud800 grain"'
"""Text in JSON that is half of a character: no text that can be stored or sent."""


def refused(live: LiveServer, path: str, body: str | bytes, headers: dict[str, str] | None = None) -> str:
    """What is said of a body that is refused for what it is."""
    response = live.client.post(path, content=body, headers=headers or JSON)
    assert response.headers["content-type"] in ("application/problem+json", "application/json")
    found = response.json()
    assert response.status_code in (400, 422), found
    return str(found["error"]["message"] if "error" in found else found["detail"])


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (SEARCH, f'{{"question": {HALF}}}'),
        (SEARCH, f'{{"question": "grain", "filters": {{"metadata": {{{HALF}: "x"}}}}}}'),
        (ANSWERS, f'{{"question": {HALF}, "store": true, "stream": true}}'),
        (ANSWERS, f'{{"question": {HALF}, "stream": true, "format": "vercel"}}'),
        (ANSWERS, f'{{"question": "grain", "history": [{{"role": "user", "content": {HALF}}}]}}'),
        ("/v1/conversations", f'{{"collection": "port", "title": {HALF}}}'),
        ("/v1/session", f'{{"key": {HALF}}}'),
        ("/v1/chat/completions", f'{{"model": "port", "messages": [{{"role": "user", "content": {HALF}}}]}}'),
        ("/v1/responses", f'{{"model": "port", "input": {HALF}}}'),
    ],
)
def test_half_a_character_is_refused_everywhere(live: LiveServer, path: str, body: str) -> None:
    assert "half of a character" in refused(live, path, body)


@pytest.mark.parametrize(
    ("address", "detail"),
    [
        ("/v1/jobs?limits=5", "limits: no such parameter of the address; those of this request are collection, limit"),
        ("/v1/collections?collection=port", "collection: no such parameter of the address; this request takes none"),
        (f"/v1/jobs?limit=5&{'x' * 5000}=1", f"{'x' * 59}…: no such parameter"),
        ("/v1/collections?=5", "'': no such parameter"),
        ("/v1/jobs?limit=5&%6Cimit=6", "limit: the address has this parameter more than once"),
    ],
)
def test_a_parameter_that_no_request_has_is_refused(live: LiveServer, address: str, detail: str) -> None:
    response = live.client.get(address)
    assert response.status_code == 422
    assert response.json()["detail"].startswith(detail)


def test_clients_of_other_apis_and_links_to_the_page_may_have_parameters_of_their_own(live: LiveServer) -> None:
    assert live.client.get("/?utm_source=mail").status_code == 200
    assert live.client.get("/healthz?at=5").status_code == 200
    assert live.client.get("/v1/models?api-version=2026-01-01").status_code == 200


def test_both_halves_of_a_character_are_text(live: LiveServer) -> None:
    response = live.client.post(SEARCH, content='{"question": "\\ud83d\\ude00 grain"}', headers=JSON)
    assert response.json()["question"] == "\U0001f600 grain"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"question": "\xff\xfe"}', "UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"k": ' + b"9" * 5000 + b"}", "too many digits"),
        (b'{"question": "gra', "no JSON"),
        (b'{"question": "grain", "question": "coal"}', "the key 'question' twice"),
        (b'{"question": "grain", "k": 1e999}', "k: "),
        (b'{"question": "grain", "k": NaN}', "k: "),
        (b'{"question": "grain", "k": -1}', "k: "),
        (b'{"question": "grain", "k": 201}', "k: "),
        (b'{"question": ["grain"]}', "question: "),
        (b'{"question": "grain", "filters": {"first_page": 99999999999999999999999}}', "filters.first_page: "),
        (b'{"question": "grain", "filters": {"documents": ["\\u0000"]}}', "no document is named"),
        (b'{"question": "grain", "settings": {"base_url": "http://169.254.169.254"}}', "settings.base_url: "),
        (b'{"question": "grain", "settings": {"retriever": "bge=/etc/passwd"}}', "retriever: "),
        (b"null", "body: "),
        (b"", "body: "),
    ],
)
def test_a_body_that_is_not_as_it_has_to_be_is_told_by_its_field(live: LiveServer, body: bytes, said: str) -> None:
    told = refused(live, SEARCH, body)
    assert said in told
    assert "at character 0" not in told


def test_a_request_names_few_retrievers(live: LiveServer) -> None:
    many = json.dumps({"question": "grain", "settings": {"retriever": ["bm25"] * 20_000}})
    assert "at most 8" in refused(live, SEARCH, many)


def test_only_some_of_many_unknown_documents_are_named(live: LiveServer) -> None:
    many = json.dumps({"question": "grain", "filters": {"documents": [f"d{i}" for i in range(60_000)]}})
    said = refused(live, SEARCH, many)
    assert "59,995 others" in said
    assert len(said) < 1000


def test_metadata_and_boundaries_of_uploads_are_refused_like_other_bodies(live: LiveServer) -> None:
    part = b'--B\r\nContent-Disposition: form-data; name="files"; filename="x.md"\r\n\r\n# grain\r\n'
    field = b'--B\r\nContent-Disposition: form-data; name="metadata"\r\n\r\n'
    kind = {"Content-Type": "multipart/form-data; boundary=B"}
    for metadata, said in ((f'{{"a": {HALF}}}', "half of a character"), ('{"a":' * 10_000, "nested too deeply")):
        assert said in refused(live, DOCUMENTS, part + field + metadata.encode() + b"\r\n--B--\r\n", kind)
    long = {"Content-Type": f"multipart/form-data; boundary={'B' * 5000}"}
    assert "exceeds maximum" in refused(live, DOCUMENTS, b"x", long)


@pytest.mark.parametrize(
    "path",
    [
        "/page/../settings.py",
        "/page/%2e%2e/settings.py",
        "/page/..%2fsettings.py",
        "/page/%252e%252e%252fsettings.py",
        "/page//etc/passwd",
        "/page/a%00.js",
        f"{DOCUMENTS}/../../../../etc/passwd",
        f"{DOCUMENTS}/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
        f"{DOCUMENTS}/%252e%252e%252fetc%252fpasswd",
        f"{DOCUMENTS}/%ff%fe",
        "/v1/collections/port/pages/..%2f..%2fcollection.json/0",
        "/v1/collections/port/pages/%00/0/image",
        "/v1/collections/port/quotes/..%2f..%2fcollection.json/image",
        "/v1/collections/port/quotes/%ed%a0%80",
        "/v1/collections/%2e%2e",
        "/v1/collections/%00",
        "/v1/conversations/..%2fkeys.json",
        "/v1/jobs/..%2f..%2fx",
        "/v1/models/..%2fx",
        "/c/..%2f..%2fetc/q/1",
        "//v1/collections",
    ],
)
def test_no_path_leads_out_of_what_is_served(live: LiveServer, path: str) -> None:
    status, body = exchange(live, f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
    assert status == 404
    assert "request_id" in body


@pytest.mark.parametrize(
    "head",
    [
        b"Content-Length: 2\r\nContent-Length: 4\r\n",
        b"Content-Length: -1\r\n",
        b"Content-Length: +2\r\n",
        b"Content-Length: 99999999999999999999999999\r\n",
        b"Transfer-Encoding: xchunked\r\n",
        b"X-Request-Id: a\nb\r\n",
        b"Host: evil.example\r\n",
        b"X: " + b"a" * 200_000 + b"\r\n",
    ],
)
def test_what_two_servers_could_read_differently_is_refused(live: LiveServer, head: bytes) -> None:
    request = f"POST {SEARCH} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n".encode()
    status, _ = exchange(live, request + head + b"\r\n{}")
    assert status == 400


def test_a_request_behind_a_chunked_one_is_not_taken_out_of_its_body(live: LiveServer) -> None:
    head = f"POST {SEARCH} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"
    inner = "0\r\n\r\nGET /v1/collections HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    status, body = exchange(live, (head + inner).encode())
    assert status == 400
    assert "retrievers" not in body


def exchange(live: LiveServer, request: bytes) -> tuple[int, str]:
    """The status, and all that comes until the server closes the connection."""
    with socket.create_connection(("127.0.0.1", live.port), timeout=30) as connection:
        received = b""
        try:
            connection.sendall(request)
            while part := connection.recv(1 << 16):
                received += part
        except ConnectionResetError:
            pass  # of a request that was not read to its end
    head, _, body = received.partition(b"\r\n\r\n")
    return int(head.split()[1]), body.decode()


def test_a_run_of_spaces_is_no_work() -> None:
    assert split_into_questions("How much grain" + " " * 90_000 + "and how much coal?") == [
        "How much grain",
        "how much coal?",
    ]
