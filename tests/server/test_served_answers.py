"""The server's own API: search, answers whole and streamed, quotes, pages and pictures, over real HTTP."""

import io
import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from live_server import LiveServer, Serve
from PIL import Image
from starlette.types import Message, Receive, Scope, Send

from quoteweave.collection.collection import Collection
from quoteweave.core.answers import Answer, AnswerEvent, Citation, CitationEvent, Context, Event, ImageEvent, TextEvent
from quoteweave.core.boxes import fraction_of
from quoteweave.documents.ingest import add
from quoteweave.server.request_context import HeadAsGet
from quoteweave.testing.conformance import check_answer, check_events

QUESTION = "How many vessel calls did the port receive?"
ANSWERS = "/v1/collections/port/answers"
KINDS: dict[str, type[Event | ImageEvent]] = {"text": TextEvent, "citation": CitationEvent, "image": ImageEvent}


def read_events(text: str) -> list[tuple[str, dict[str, Any]]]:
    """The events of a body of server-sent events, by name."""
    found = []
    for block in text.replace("\r\n", "\n").split("\n\n"):
        lines = [line.partition(": ") for line in block.splitlines() if not line.startswith(":")]
        fields = {name: value for name, _, value in lines}
        if fields:
            found.append((fields["event"], json.loads(fields["data"])))
    return found


def problem(response: Any, status: int, kind: str) -> dict[str, Any]:
    body: dict[str, Any] = response.json()
    assert (response.status_code, body["status"], body["type"].rpartition(":")[2]) == (status, status, kind), body
    assert response.headers["content-type"] == "application/problem+json"
    assert body["request_id"] == response.headers["x-request-id"]
    return body


def test_an_answer_cites_its_quotes_with_boxes_and_urls(live: LiveServer) -> None:
    body = live.client.post(ANSWERS, json={"question": QUESTION}).json()
    answer, context = Answer.model_validate(body["answer"]), Context.model_validate(body["context"])
    check_answer(answer, context)
    (citation,) = answer.citations
    (region,) = citation.regions
    assert "1,058" in answer.text
    assert citation.url == f"{live.url}/c/port/q/{citation.quote_id}"
    assert region.bbox_fraction == fraction_of(region.bbox, region.page_size)
    assert region.words
    assert answer.blocks[0].type == "text"
    assert answer.blocks[0].citations == answer.citations


def test_the_streamed_answer_is_the_whole_one(live: LiveServer) -> None:
    whole = live.client.post(ANSWERS, json={"question": QUESTION}).json()
    streamed = read_events(live.client.post(ANSWERS, json={"question": QUESTION, "stream": True}).text)
    (first, sources), *rest = streamed
    assert first == "sources"
    assert sources["context"] == whole["context"]
    events = [
        AnswerEvent.model_validate(data) if name == "answer" else KINDS[name].model_validate(data)
        for name, data in rest
    ]
    answer = check_events(events, Context.model_validate(sources["context"]))
    told = next(event.citation for event in events if isinstance(event, CitationEvent))
    assert told.url == answer.citations[0].url
    assert told.regions[0].bbox == answer.citations[0].regions[0].bbox
    assert answer.model_copy(update={"seconds": 0.0}) == Answer.model_validate(whole["answer"]).model_copy(
        update={"seconds": 0.0}
    )


def test_an_image_that_the_answer_shows_is_an_event_with_its_address(live: LiveServer) -> None:
    asked = {"question": "Show the chart of vessel calls by quarter.", "stream": True}
    events = read_events(live.client.post(ANSWERS, json=asked).text)
    shown = [data for name, data in events if name == "image"]
    assert shown, [name for name, _ in events]
    citation = Citation.model_validate(shown[0]["citation"])
    picture = live.client.get(str(citation.image_url))
    assert picture.headers["content-type"] in ("image/png", "image/jpeg")
    assert len(picture.content) > 1000


def test_search_finds_what_the_command_line_finds(live: LiveServer, sample_collection: Path) -> None:
    asked = {"question": "vessel calls", "k": 3, "filters": {"kind": "text"}, "settings": {"retriever": "bm25"}}
    hits = live.client.post("/v1/collections/port/search", json=asked).json()["hits"]
    assert [hit["rank"] for hit in hits] == [1, 2, 3]
    with Collection.open(sample_collection) as collection:
        first = collection.quote(hits[0]["quote_id"])
    assert (hits[0]["document"], hits[0]["bbox"], hits[0]["text"]) == (
        first.document,
        list(first.bbox),
        first.all_text(),
    )
    assert hits[0]["regions"][0]["bbox"] == list(first.bbox)


def test_a_quote_is_read_with_what_stands_beside_it(live: LiveServer) -> None:
    hit = live.client.post("/v1/collections/port/search", json={"question": "vessel calls", "k": 1}).json()["hits"][0]
    body = live.client.get(f"/v1/collections/port/quotes/{hit['quote_id']}").json()
    assert body["quote"]["id"] == hit["quote_id"]
    before, behind = body["neighbours"]["previous"], body["neighbours"]["next"]
    ordinals = [int(quote["id"].rpartition(":")[2]) for quote in (*before, body["quote"], *behind)]
    assert len(ordinals) > 3
    assert body["url"] == hit["url"]


def test_a_page_is_shown_with_its_quotes_its_words_and_its_picture(live: LiveServer) -> None:
    at = "/v1/collections/port/pages/harbour-report.pdf/2"
    page = live.client.get(at).json()
    assert (page["page"]["label"], page["has_pages"]) == ("3", True)
    words = live.client.get(f"{at}/words").json()["words"]
    assert "1,058" in [word["text"] for word in words]
    assert all(0 <= edge <= 1 for word in words for edge in word["bbox_fraction"])
    plain = live.client.get(f"{at}/image")
    marked = live.client.get(f"{at}/image", params={"quote": page["quotes"][3]["id"]})
    assert plain.content.startswith(b"\x89PNG")
    assert marked.content != plain.content
    small = [Image.open(io.BytesIO(live.client.get(f"{at}/image?format=jpeg&width={w}").content)) for w in (60, 9999)]
    full = Image.open(io.BytesIO(plain.content))
    assert [(image.format, image.size) for image in small] == [
        ("JPEG", (60, round(60 * full.height / full.width))),
        ("JPEG", full.size),
    ]
    again = live.client.get(f"{at}/image", headers={"if-none-match": plain.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_the_stable_url_shows_people_a_page_and_programs_json(live: LiveServer) -> None:
    hit = live.client.post("/v1/collections/port/search", json={"question": "vessel calls", "k": 1}).json()["hits"][0]
    program = live.client.get(hit["url"], headers={"accept": "application/json"})
    assert program.json()["quote"]["id"] == hit["quote_id"]


@pytest.mark.parametrize(
    ("path", "body", "status", "kind"),
    [
        ("/v1/collections/nope/answers", {"question": "x"}, 404, "no-such-collection"),
        (ANSWERS, {"question": "x" * 10_001}, 413, "question-too-long"),
        (ANSWERS.replace("answers", "search"), {"question": "x" * 10_001}, 413, "question-too-long"),
        (ANSWERS, {"question": 7}, 422, "invalid-request"),
        (ANSWERS, {"question": "x", "colour": "red"}, 422, "invalid-request"),
        (ANSWERS, {"question": "x", "settings": {"size": 17}}, 422, "invalid-request"),
        (ANSWERS, {"question": "x", "settings": {"model": "gpt-5"}}, 422, "not-possible"),
        (ANSWERS, {"question": "x", "settings": {"retriever": "minilm=/etc"}}, 422, "not-possible"),
        (ANSWERS, {"question": "x", "settings": {"expand": "chat:m@http://10.0.0.1"}}, 422, "not-possible"),
        (ANSWERS, {"question": "x", "settings": {"rerank": "cross-encoder=/etc"}}, 422, "not-possible"),
        (ANSWERS, {"question": "x", "settings": {"check": "/etc/model"}}, 422, "not-possible"),
        (ANSWERS, {"question": "x", "settings": {"base_url": "http://10.0.0.1"}}, 422, "invalid-request"),
        (ANSWERS, {"question": "x", "filters": {"documents": ["nope.pdf"]}}, 422, "not-possible"),
    ],
)
def test_what_cannot_be_is_told_as_a_problem(
    live: LiveServer, path: str, body: dict[str, object], status: int, kind: str
) -> None:
    problem(live.client.post(path, json=body), status, kind)


@pytest.mark.parametrize("question", ["", " \n\t", "\u3000"])
@pytest.mark.parametrize("more", [{}, {"stream": True}, {"stream": True, "format": "vercel"}])
def test_an_empty_question_is_refused_by_its_field(live: LiveServer, question: str, more: dict[str, object]) -> None:
    for path, fields in ((ANSWERS, more), ("/v1/collections/port/search", {})):
        body = problem(live.client.post(path, json={"question": question, **fields}), 422, "question-empty")
        (wrong,) = body["errors"]
        assert (wrong["field"], wrong["reason"].partition(":")[0]) == ("question", "it is empty")
        assert body["detail"].startswith("question: it is empty")


def test_a_document_or_page_that_is_not_there_is_a_problem(live: LiveServer) -> None:
    problem(live.client.get("/v1/collections/port/pages/nope.pdf/0"), 404, "no-such-page")
    problem(live.client.get("/v1/collections/port/pages/harbour-report.pdf/999/image"), 404, "no-such-page")
    problem(live.client.get("/v1/collections/port/documents/nope.pdf"), 404, "no-such-document")
    problem(live.client.get("/v1/collections/port/quotes/0:0:0"), 404, "no-such-quote")
    body = problem(live.client.get("/v1/collections/port/pages/../../etc/0"), 404, "blank")
    assert body["title"] == "Not Found"
    assert "is no request of this server; /openapi.json describes all" in body["detail"]
    assert problem(live.client.put("/v1/collections"), 405, "blank")["detail"].startswith("PUT /v1/collections is no")


def test_a_body_that_is_no_json_is_told_with_the_place(live: LiveServer) -> None:
    sent = live.client.post(ANSWERS, content='{"question": }', headers={"content-type": "application/json"})
    body = problem(sent, 422, "invalid-request")
    assert body["errors"] == [{"field": "body", "reason": "is no JSON: Expecting value, at character 13"}]


@pytest.mark.parametrize(
    ("content", "header", "field", "reason"),
    [
        ('{"question": "x"}', "application/x-www-form-urlencoded", "body", "header content-type: application/json"),
        ("[]", "application/json", "body", "Input should be a JSON object"),
        ('{"question": "x", "history": "y"}', "application/json", "history", "Input should be a list"),
        (
            '{"question": "x", "filters": {"first_page": 5, "last_page": 2}}',
            *("application/json", "filters", "first_page 5 lies after last_page 2"),
        ),
    ],
)
def test_what_is_wrong_with_a_field_is_said_in_the_words_of_json(
    live: LiveServer, content: str, header: str, field: str, reason: str
) -> None:
    (wrong,) = live.client.post(ANSWERS, content=content, headers={"content-type": header}).json()["errors"]
    assert wrong["field"] == field
    assert reason in wrong["reason"]
    assert not [word for word in ("Value error", "tuple", "dictionary") if word in wrong["reason"]]


def test_head_answers_as_get_without_the_body(live: LiveServer) -> None:
    for path in ("/healthz", "/", "/v1/collections/port/documents"):
        got, asked = live.client.get(path), live.client.head(path)
        assert (asked.status_code, asked.headers["content-type"]) == (200, got.headers["content-type"])
        assert asked.headers["content-length"] == str(len(got.content))
        assert asked.content == b""
    assert live.client.head(ANSWERS).status_code == 405


def test_head_of_a_stream_that_goes_on_ends() -> None:
    sent: list[str] = []

    async def stream(scope: Scope, receive: Receive, send: Send) -> None:
        async def begin() -> None:
            await send({"type": "http.response.start", "status": 200, "headers": []})

        async with anyio.create_task_group() as group:
            group.start_soon(begin)
            group.start_soon(anyio.sleep_forever)

    async def silence() -> Message:
        await anyio.sleep_forever()
        return {}

    async def keep(message: Message) -> None:
        sent.append(message["type"])

    async def ask() -> None:
        with anyio.fail_after(60):
            await HeadAsGet(stream)({"type": "http", "method": "HEAD"}, silence, keep)

    anyio.run(ask)
    assert sent == ["http.response.start", "http.response.body"]


def test_collections_and_models_are_listed(live: LiveServer) -> None:
    (found,) = live.client.get("/v1/collections").json()["collections"]
    assert (found["name"], found["error"], found["retrievers"][:1]) == ("port", None, ["lexical"])
    assert live.client.get("/v1/models").json()["models"] == [
        {"name": "extractive", "default": True, "destination": None}
    ]


def test_of_files_that_could_not_be_read_the_name_and_the_reason_are_told_and_no_folder(
    serve: Serve, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "empty.pdf").touch()
    with Collection.create(tmp_path / "notes") as made:
        add(made, [tmp_path / "files"])
    server = serve(collections={"notes": tmp_path / "notes"})
    listed = server.client.get("/v1/collections/notes/documents")
    (unread,) = listed.json()["failures"]
    assert (unread["name"], unread["reason"]) == ("empty.pdf", "'empty.pdf' is empty")
    assert str(tmp_path) not in listed.text
    answered = server.client.post("/v1/collections/notes/answers", json={"question": "How deep is it?"})
    assert "1 file could not be read" in answered.text
    assert str(tmp_path) not in answered.text
    logged = [record.getMessage() for record in caplog.records if "1 file could not be read" in record.getMessage()]
    assert len(logged) == 1  # though the search and the answer both say so


def test_a_damaged_collection_does_not_stop_the_others(serve: Serve, sample_collection: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.mkdir()
    server = serve(collections={"port": sample_collection, "broken": broken})
    assert server.client.get("/readyz").json() == {"status": "degraded", "unreadable": 1}
    by_name = {one["name"]: one for one in server.client.get("/v1/collections").json()["collections"]}
    assert by_name["port"]["error"] is None
    assert "broken" in by_name["broken"]["error"]
    whole = server.client.get("/v1/collections/broken/documents")
    assert str(tmp_path) not in by_name["broken"]["error"] + whole.json()["detail"]  # where it lies is for the log
    assert server.client.post(ANSWERS, json={"question": QUESTION}).status_code == 200


def test_a_request_may_leave_the_model_out_though_the_server_has_one(serve: Serve) -> None:
    server = serve(answers={"model": "m", "base_url": "http://127.0.0.1:9/v1", "retries": 0})
    body = problem(server.client.post(ANSWERS, json={"question": QUESTION}), 503, "model-unavailable")
    assert body["fallback"] == "extractive"
    asked = {"question": QUESTION, "settings": {"model": "extractive"}}
    assert server.client.post(ANSWERS, json=asked).json()["answer"]["model"] == "extractive"
    streamed = read_events(server.client.post(ANSWERS, json={"question": QUESTION, "stream": True}).text)
    assert [name for name, _ in streamed] == ["sources", "error"]
    assert streamed[-1][1]["problem"]["type"].endswith("model-unavailable")
    assert streamed[-1][1]["problem"]["fallback"] == "extractive"


def test_an_answer_without_the_model_is_offered_for_a_follow_up_too(serve: Serve, tmp_path: Path) -> None:
    server = serve(answers={"model": f"local={tmp_path / 'gone'}"})
    asked = {"question": "And in 2022?", "history": [{"role": "user", "content": QUESTION}]}
    body = problem(server.client.post(ANSWERS, json=asked), 503, "model-unavailable")
    assert body["fallback"] == "extractive"


@pytest.mark.parametrize("stream", [False, True])
def test_what_only_the_operator_can_do_stands_in_the_log_and_not_in_the_problem(
    serve: Serve, caplog: pytest.LogCaptureFixture, stream: bool
) -> None:
    server = serve(answers={"model": "m", "base_url": "http://127.0.0.1:9/v1", "retries": 0})
    response = server.client.post(ANSWERS, json={"question": QUESTION, "stream": stream})
    told = read_events(response.text)[-1][1]["problem"] if stream else response.json()
    assert told["detail"].startswith("No answer from http://127.0.0.1:9/v1: ")
    assert told["detail"].endswith("; whoever runs the server finds in its log what can be done")
    assert told["request_id"] == response.headers["x-request-id"]
    (line,) = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert line.startswith(f"request {told['request_id']}: No answer from")
    assert line.endswith("check that the server runs, and the address and port")


def test_a_remedy_of_a_warning_stands_in_the_log_and_not_in_the_answer(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    server = serve(answers={"expand": "chat:m@http://127.0.0.1:9/v1", "retries": 0})
    body = server.client.post(ANSWERS, json={"question": QUESTION})
    (note,) = body.json()["trace"]["notes"]
    assert note.startswith("The question was searched for alone: No answer from http://127.0.0.1:9/v1: ")
    (line,) = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    remedy = "check that the server runs, and the address and port"
    assert line == f"request {body.headers['x-request-id']}: {note}; {remedy}"


def test_every_response_has_security_headers_and_an_id(live: LiveServer) -> None:
    headers = live.client.get("/healthz", headers={"x-request-id": "from-the-proxy"}).headers
    assert headers["x-request-id"] == "from-the-proxy"
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    strange = live.client.get("/healthz", headers={"x-request-id": "a b\tc"}).headers["x-request-id"]
    assert strange != "a b\tc"
