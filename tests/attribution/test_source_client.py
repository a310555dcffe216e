"""Asking a source: again where that helps, not for ever, with errors that say what to do, and keys that stay home."""

import asyncio
import gzip
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import ClassVar

import httpx2
import pytest
from pydantic import BaseModel
from scripted_server import Scripted, ScriptedServer
from scripted_sources import NamingReader, Reply, Script, reply

from quoteweave.attribution.literature.sources.make_source import SourceOptions, make_source
from quoteweave.attribution.literature.sources.openalex import OPENALEX
from quoteweave.attribution.literature.sources.semantic_scholar import SEMANTIC_SCHOLAR
from quoteweave.attribution.literature.sources.service import SourcePace, count_waiting, reply_key
from quoteweave.attribution.literature.sources.source_client import SourceClient, SourceLimits, SourceRequest
from quoteweave.core.errors import SourceBadResponse, SourceError, SourceRefused, SourceUnreachable, UsageError
from quoteweave.endpoints.http_client import BoundedClient
from quoteweave.testing import LibraryServer

KEY = "s2-secret-0123456789"
REQUEST = SourceRequest("/paper/search", {"query": "ships"})
GOOD = {"total": 3}


class Total(BaseModel):
    total: int


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for service in (SEMANTIC_SCHOLAR, OPENALEX):
        monkeypatch.delenv(service.key_variable, raising=False)
        monkeypatch.delenv(service.url_variable, raising=False)


def ask(script: Script, *, limits: SourceLimits | None = None, key: str | None = None) -> int:
    client = script.client(SEMANTIC_SCHOLAR, limits=limits, key=key)
    return asyncio.run(client.read(REQUEST, Total)).total


def too_many(pause: str | None = None, **headers: str) -> httpx2.Response:
    told = {"message": "Too Many Requests. Please wait and try again.", "code": "429"}
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return reply(told, 429, sent | ({} if pause is None else {"Retry-After": pause}))


@pytest.mark.parametrize(
    "fault",
    [
        too_many(),
        reply({"message": "Internal Server Error"}, 500),
        reply(b"<html><body>502 Bad Gateway</body></html>", 502),
        reply({"message": "Endpoint request timed out"}, 504),
        reply(b"", 408),
        httpx2.ConnectError("refused"),
        httpx2.ReadError("reset"),
        httpx2.RemoteProtocolError("closed without a reply"),
        httpx2.ReadTimeout("slow"),
    ],
)
def test_what_may_pass_is_tried_again(fault: Reply) -> None:
    script = Script(fault, reply(GOOD))
    assert ask(script) == 3
    assert script.at == [0.0, 1.0]


def test_pauses_double_and_are_shorter_by_chance_and_end() -> None:
    script = Script(*(reply({"message": "down"}, 503) for _ in range(6)))
    with pytest.raises(SourceUnreachable, match=r"answered 503: down\. Semantic Scholar failed on its side"):
        ask(script)
    assert script.time.slept == [1.0, 2.0, 4.0, 8.0, 16.0]

    script = Script(*(reply({}, 503) for _ in range(3)))
    client = script.client(SEMANTIC_SCHOLAR, limits=SourceLimits(attempts=3, per_second=1000), jitter=1.0)
    with pytest.raises(SourceUnreachable):
        asyncio.run(client.read(REQUEST, Total))
    assert script.time.slept == [0.5, 1.0]


def test_a_source_that_cannot_be_connected_to_is_given_up_sooner_and_it_says_what_still_works() -> None:
    script = Script(*(httpx2.ConnectError("[Errno -2] Name or service not known") for _ in range(3)))
    with pytest.raises(SourceUnreachable, match=r"No answer from https://api\.semanticscholar\.org/graph/v1: .*known"):
        ask(script)
    script = Script(*(httpx2.ConnectError("refused") for _ in range(3)))
    with pytest.raises(SourceUnreachable, match=r"Check the network .*SEMANTIC_SCHOLAR_BASE_URL.*Your own documents"):
        ask(script)


def test_a_source_that_stays_silent_is_given_up_sooner() -> None:
    with pytest.raises(SourceUnreachable, match="no reply came in time"):
        ask(Script(*(httpx2.ReadTimeout("slow") for _ in range(3))))


def test_a_reply_without_end_is_given_up() -> None:
    tried: list[httpx2.Request] = []

    async def never(request: httpx2.Request) -> httpx2.Response:
        tried.append(request)
        await asyncio.Event().wait()
        return reply(GOOD)

    client = Script().client(
        SEMANTIC_SCHOLAR,
        limits=SourceLimits(attempt_s=0.001),
        http=BoundedClient(transport=httpx2.MockTransport(never)),
    )
    with pytest.raises(SourceUnreachable, match="no reply came in time"):
        asyncio.run(client.read(REQUEST, Total))
    assert len(tried) == 3


def test_all_pauses_of_a_request_are_bounded_together() -> None:
    script = Script(*(reply({}, 500) for _ in range(50)))
    with pytest.raises(SourceUnreachable):
        ask(script, limits=SourceLimits(attempts=50, pauses_s=60))
    assert sum(script.time.slept) <= 60
    assert max(script.time.slept) <= 30


@pytest.mark.parametrize("status", [429, 503])
def test_the_source_is_asked_again_when_it_says(status: int) -> None:
    script = Script(reply({"message": "busy"}, status, {"Retry-After": "17"}), reply(GOOD))
    assert ask(script) == 3
    assert script.at == [0.0, 17.0]


def test_it_may_say_when_by_a_date() -> None:
    at = format_datetime(datetime.now(UTC) + timedelta(seconds=40), usegmt=True)
    script = Script(too_many(at), reply(GOOD))
    assert ask(script) == 3
    assert 30 < script.at[1] <= 40

    script = Script(too_many(format_datetime(datetime(2020, 1, 1, tzinfo=UTC), usegmt=True)), reply(GOOD))
    assert ask(script) == 3
    assert script.at == [0.0, 1.0]  # by the pace alone


def test_what_the_source_asks_for_holds_for_all_who_use_the_key() -> None:
    script = Script(too_many("10"), reply(GOOD), reply(GOOD))
    client = script.client(SEMANTIC_SCHOLAR)

    async def run() -> None:
        await asyncio.gather(*(client.read(REQUEST, Total) for _ in range(2)))

    asyncio.run(run())
    assert script.at == [0.0, 10.0, 11.0]


def test_another_pause_is_of_its_request_alone() -> None:
    script = Script(reply({}, 500), reply(GOOD), reply({}, 500), reply(GOOD), reply(GOOD))
    client = script.client(SEMANTIC_SCHOLAR, limits=SourceLimits(per_second=4))

    async def run() -> None:
        await asyncio.gather(*(client.read(REQUEST, Total) for _ in range(3)))

    asyncio.run(run())
    assert script.at == [0.0, 0.25, 0.5, 1.0, 1.5]


def test_the_interval_counts_from_when_a_request_is_sent_however_long_it_took_to_connect() -> None:
    script = Script()

    async def connect_and_answer(request: httpx2.Request) -> httpx2.Response:
        script.time.now += 0.3
        await request.extensions["trace"]("http11.send_request_headers.started", {})
        script.at.append(script.time.now)
        return reply(GOOD)

    client = script.client(SEMANTIC_SCHOLAR, http=BoundedClient(transport=httpx2.MockTransport(connect_and_answer)))

    async def run() -> None:
        for _ in range(2):
            await client.read(REQUEST, Total)

    asyncio.run(run())
    assert script.at == [0.3, pytest.approx(1.6)]


def test_the_http_client_says_when_a_request_is_sent() -> None:
    class Counting(SourcePace):
        held: ClassVar[list[float]] = []

        def hold(self, seconds: float) -> None:
            self.held.append(seconds)

    with ScriptedServer(Scripted(b'{"total": 3}')) as server:
        client = SourceClient(OPENALEX, OPENALEX.address(server.url), pace=Counting())
        assert asyncio.run(client.read(SourceRequest("/works"), Total)).total == 3
    assert Counting.held == [1.0]


@pytest.mark.parametrize(
    ("pause", "told"),
    [("3600", "60 minutes"), ("86400", "24 hours"), ("9" * 400, "more than two days"), ("119.5", "1 s")],
)
def test_a_source_that_wants_to_be_asked_far_later_is_not_waited_for(pause: str, told: str) -> None:
    script = Script(too_many(pause), reply(GOOD))
    if pause == "119.5":  # neither form of the header: as if it were not there
        assert ask(script) == 3
        return
    with pytest.raises(SourceRefused, match=rf"asked again in .*{told}, which is not waited for") as error:
        ask(script)
    assert error.value.status == 429
    assert script.at == [0.0]


def test_openalex_says_by_headers_of_its_own_that_the_limit_of_a_day_is_spent() -> None:
    spent = too_many(None, X_RateLimit_Remaining="0", X_RateLimit_Reset="11987")
    client = (script := Script(spent)).client(OPENALEX)
    with pytest.raises(
        SourceRefused, match=r"midnight UTC\. No key was sent; set OPENALEX_API_KEY.*asked again in 3 h"
    ):
        asyncio.run(client.read(SourceRequest("/works"), Total))
    assert len(script.asked) == 1


def test_too_many_requests_to_the_end_are_refused_with_what_to_do() -> None:
    with pytest.raises(SourceRefused, match=r"429: Too Many Requests.*set SEMANTIC_SCHOLAR_API_KEY") as error:
        ask(Script(*(too_many() for _ in range(6))))
    assert error.value.status == 429
    with pytest.raises(SourceRefused, match=r"Wait and ask again") as error:
        ask(Script(*(too_many() for _ in range(6))), key=KEY)
    assert "SEMANTIC_SCHOLAR_API_KEY" not in str(error.value)


@pytest.mark.parametrize(
    ("status", "body", "told"),
    [
        (403, {"message": "Forbidden"}, r"answered 403: Forbidden\. Check the key in SEMANTIC_SCHOLAR_API_KEY"),
        (401, {"message": "Unauthorized"}, r"Check the key in SEMANTIC_SCHOLAR_API_KEY"),
        (400, {"error": "Unacceptable query params: [k=1]"}, r"answered 400: Unacceptable query params: \[k=1\]\. "),
        (404, {"error": "Not found", "message": "No route"}, r"Not found: No route\. Check the address"),
        (414, b"<html><h1>Request-URI Too Large</h1></html>", r"answered 414: Request-URI Too Large"),
        (418, b"", r"answered 418: I'm a teapot"),
    ],
)
def test_what_no_retry_mends_is_refused_at_once(status: int, body: object, told: str) -> None:
    script = Script(reply(body, status))
    with pytest.raises(SourceRefused, match=told) as error:
        ask(script, key=KEY)
    assert (error.value.status, len(script.asked)) == (status, 1)


def test_openalex_says_too_fast_by_403() -> None:
    script = Script(reply({"error": "Rate limit exceeded", "message": "Slow down"}, 403), reply(GOOD))
    client = script.client(OPENALEX, key=KEY)
    assert asyncio.run(client.read(SourceRequest("/works"), Total)).total == 3

    refusals = [reply({"error": "Forbidden"}, 403) for _ in range(6)]
    client = Script(*refusals).client(OPENALEX, key=KEY)
    with pytest.raises(SourceRefused, match=r"ask less at once.*Check the key in OPENALEX_API_KEY"):
        asyncio.run(client.read(SourceRequest("/works"), Total))


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"<!doctype html><title>Log in</title>", "Invalid JSON"),
        (b'{"total": 3, "data": [', "Invalid JSON"),
        (b"", "Invalid JSON"),
        (b"\xff\xfe", "Invalid JSON"),
        (b"[" * 100_000, "Invalid JSON"),
        (b"[]", "object"),
        (b'{"total": "many"}', "total: Input should be a valid integer"),
        (b'{"error": "index is being rebuilt"}', "it says 'index is being rebuilt'"),
    ],
)
def test_what_the_source_does_not_document_is_no_result(body: bytes, told: str) -> None:
    script = Script(reply(body))
    with pytest.raises(SourceBadResponse, match=told) as error:
        ask(script)
    assert "Semantic Scholar documents" in str(error.value)
    assert len(script.asked) == 1


def test_a_reply_of_more_than_10_mb_is_refused() -> None:
    assert ask(Script(reply(b'{"total": 3, "x": "' + b"a" * 9_000_000 + b'"}'))) == 3
    with pytest.raises(SourceBadResponse, match="more than 10 MB"):
        ask(Script(reply(b'{"total": 3, "x": "' + b"a" * 10_000_000 + b'"}')))
    packed = gzip.compress(b'{"total": 3, "x": "' + b"a" * 17_000_000 + b'"}')
    with pytest.raises(SourceBadResponse, match="more than 16 MiB"):
        ask(Script(reply(packed, headers={"Content-Encoding": "gzip"})))


def test_a_redirect_is_followed_within_the_origin_with_the_key_and_in_the_pace() -> None:
    moved = reply(b"", 301, {"Location": "/works/W2?select=id"})
    script = Script(moved, reply(GOOD))
    client = script.client(OPENALEX, key=KEY, limits=SourceLimits(per_second=1))
    assert asyncio.run(client.read(SourceRequest("/works/W1", {"select": "id"}), Total)).total == 3
    assert script.asked[1].url.path == "/works/W2"
    assert script.params() == {"select": "id", "api_key": KEY}
    assert script.at == [0.0, 1.0]


@pytest.mark.parametrize("service", [SEMANTIC_SCHOLAR, OPENALEX])
@pytest.mark.parametrize(
    "location",
    [
        "https://elsewhere.example/works",
        "http://127.0.0.1/",
        "//elsewhere.example/",
        "http://api.openalex.org/",
        "",
        "::",
    ],
)
def test_a_redirect_elsewhere_is_not_followed(service: object, location: str) -> None:
    assert service in (SEMANTIC_SCHOLAR, OPENALEX)
    one = SEMANTIC_SCHOLAR if service is SEMANTIC_SCHOLAR else OPENALEX
    script = Script(reply(b"", 302, {"Location": location} if location else {}), *(reply(b"", 404) for _ in range(9)))
    with pytest.raises(SourceError) as error:
        asyncio.run(script.client(one, key=KEY).read(REQUEST, Total))
    assert {request.url.host for request in script.asked} == {httpx2.URL(one.url).host}
    assert KEY not in str(error.value)


def test_redirects_without_end_are_a_bad_reply() -> None:
    script = Script(*(reply(b"", 301, {"Location": "/again"}) for _ in range(5)))
    with pytest.raises(SourceBadResponse, match="redirects without end"):
        ask(script)


def test_the_key_is_sent_as_each_source_takes_it_and_shown_to_nobody() -> None:
    script = Script(reply(GOOD))
    asyncio.run(script.client(SEMANTIC_SCHOLAR, key=KEY).read(REQUEST, Total))
    assert script.asked[0].headers["x-api-key"] == KEY
    assert KEY not in str(script.asked[0].url)

    script = Script(reply({"error": f"bad parameter api_key={KEY}"}, 400))
    with pytest.raises(SourceRefused) as error:
        asyncio.run(script.client(OPENALEX, key=KEY).read(SourceRequest("/works"), Total))
    assert script.params()["api_key"] == KEY
    assert "x-api-key" not in script.asked[0].headers
    assert KEY not in str(error.value)


def test_without_a_key_none_is_sent() -> None:
    script = Script(reply(GOOD))
    ask(script)
    assert "x-api-key" not in script.asked[0].headers
    script = Script(reply(GOOD))
    asyncio.run(script.client(OPENALEX).read(SourceRequest("/works"), Total))
    assert "api_key" not in script.params()


def test_the_key_of_the_environment_goes_to_its_own_address_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEMANTIC_SCHOLAR_API_KEY", KEY)
    assert SEMANTIC_SCHOLAR.address().key == KEY
    other = SEMANTIC_SCHOLAR.address("http://127.0.0.1:9/graph/v1")
    assert other.key == "none"
    assert SEMANTIC_SCHOLAR.address("http://127.0.0.1:9/graph/v1", "given-for-it").key == "given-for-it"

    script = Script(reply({"message": "Forbidden"}, 403))
    client = script.client(SEMANTIC_SCHOLAR, base_url="http://127.0.0.1:9/graph/v1")
    with pytest.raises(SourceRefused, match="No key was sent, as SEMANTIC_SCHOLAR_API_KEY goes to"):
        asyncio.run(client.read(REQUEST, Total))
    assert "x-api-key" not in script.asked[0].headers

    monkeypatch.setenv("SEMANTIC_SCHOLAR_BASE_URL", "http://127.0.0.1:9/graph/v1")
    assert SEMANTIC_SCHOLAR.address().url == "http://127.0.0.1:9/graph/v1"
    assert SEMANTIC_SCHOLAR.address().key == KEY
    assert SEMANTIC_SCHOLAR.address("https://api.semanticscholar.org/graph/v1").key == "none"


@pytest.mark.parametrize(("url", "key"), [("not a url", None), (None, "two\nlines"), (None, "ключ")])
def test_an_address_or_key_that_cannot_be_used_is_told(url: str | None, key: str | None) -> None:
    with pytest.raises(UsageError, match="SEMANTIC_SCHOLAR_API_KEY") as error:
        SEMANTIC_SCHOLAR.address(url, key)
    assert key is None or key not in str(error.value)


def test_a_reply_that_is_kept_is_not_asked_for_again(tmp_path: Path) -> None:
    script = Script(reply(GOOD), reply({"total": 5}))

    async def twice(*requests: SourceRequest, key: str) -> list[int]:
        client = script.client(SEMANTIC_SCHOLAR, cache=tmp_path, key=key)
        return [(await client.read(request, Total)).total for request in requests]

    assert asyncio.run(twice(REQUEST, REQUEST, key=KEY)) == [3, 3]
    other = SourceRequest("/paper/search", {"query": "boats"})
    assert asyncio.run(twice(REQUEST, other, REQUEST, key="another-key-0123")) == [3, 5, 3]  # a resumed run
    assert len(script.asked) == 2
    assert all(KEY not in path.read_text() for path in tmp_path.rglob("*.json"))


def test_of_equal_requests_at_once_one_is_sent(tmp_path: Path) -> None:
    script = Script(reply(GOOD))
    client = script.client(SEMANTIC_SCHOLAR, cache=tmp_path)

    async def run() -> list[Total]:
        return await asyncio.gather(*(client.read(REQUEST, Total) for _ in range(8)))

    assert {found.total for found in asyncio.run(run())} == {3}


def test_requests_that_differ_in_what_is_posted_are_not_equal(tmp_path: Path) -> None:
    script = Script(reply(GOOD), reply({"total": 4}))
    client = script.client(SEMANTIC_SCHOLAR, cache=tmp_path)

    async def run() -> list[int]:
        requests = (SourceRequest("/paper/batch", {}, {"ids": [name]}) for name in "ab")
        return [(await client.read(request, Total)).total for request in requests]

    assert asyncio.run(run()) == [3, 4]
    assert [request.method for request in script.asked] == ["POST", "POST"]
    assert script.asked[0].content == b'{"ids":["a"]}'


def test_neither_rubbish_nor_errors_are_kept_and_a_damaged_file_is_asked_for_anew(tmp_path: Path) -> None:
    script = Script(reply(b"<html>"), reply({"total": None}), reply({}, 400), *[reply(GOOD)] * 3)
    client = script.client(SEMANTIC_SCHOLAR, cache=tmp_path)
    for _ in range(3):
        with pytest.raises(SourceError):
            asyncio.run(client.read(REQUEST, Total))
    assert list(tmp_path.rglob("*.json")) == []
    assert asyncio.run(client.read(REQUEST, Total)).total == 3
    (kept,) = tmp_path.rglob("*.json")
    kept.write_bytes(kept.read_bytes()[:-9])
    assert asyncio.run(client.read(REQUEST, Total)).total == 3
    assert len(script.asked) == 5
    kept.write_bytes(kept.read_bytes().replace(b"3", b"4", 1))
    assert asyncio.run(client.read(REQUEST, Total)).total == 3
    assert len(script.asked) == 6


def test_a_reply_under_the_name_of_another_request_is_not_taken_for_its_own(tmp_path: Path) -> None:
    script = Script(reply(GOOD), reply({"total": 4}))
    client, other = script.client(SEMANTIC_SCHOLAR, cache=tmp_path), SourceRequest("/paper/search", {"query": "boats"})
    asyncio.run(client.read(REQUEST, Total))
    (kept,) = tmp_path.rglob("*.json")
    key = reply_key(f"{SEMANTIC_SCHOLAR.url}{other.path}", other.params, None)
    (tmp_path / key[:2]).mkdir(exist_ok=True)
    (tmp_path / key[:2] / f"{key}.json").write_bytes(kept.read_bytes())
    assert asyncio.run(client.read(other, Total)).total == 4


def test_without_a_cache_each_request_is_sent() -> None:
    script = Script(reply(GOOD), reply({"total": 4}))
    client = script.client(SEMANTIC_SCHOLAR)
    assert [asyncio.run(client.read(REQUEST, Total)).total for _ in range(2)] == [3, 4]


def test_what_one_sentence_waits_for_a_source_is_limited_in_all_requests_together() -> None:
    script = Script(too_many(), reply(GOOD), too_many(), too_many())
    client = script.client(SEMANTIC_SCHOLAR, limits=SourceLimits(in_all_s=3.5))

    async def sentence() -> None:
        with count_waiting() as waited:
            assert (await client.read(REQUEST, Total)).total == 3  # after a pause of 1 second
            with pytest.raises(SourceUnreachable) as raised:
                await client.read(REQUEST, Total)  # pauses of 1 and 2 seconds would be beyond it
        assert waited.seconds(script.time.now) == 2
        said = str(raised.value)
        assert "Semantic Scholar" in said
        assert "was given up after 3.5 s" in said
        assert "429" in said
        assert "SourceOptions.timeout_s" in said

    asyncio.run(sentence())
    assert len(script.asked) == 4


def test_what_is_waited_for_at_the_same_time_counts_once() -> None:
    script = Script(*(reply({"message": "down"}, 503) for _ in range(4)), *(reply(GOOD) for _ in range(4)))
    client = script.client(SEMANTIC_SCHOLAR, limits=SourceLimits(in_all_s=2, per_second=1000))
    requests = [SourceRequest("/paper/search", {"query": name}) for name in "abcd"]

    async def sentence() -> None:
        with count_waiting() as waited:
            await asyncio.gather(*(client.read(one, Total) for one in requests))  # each after a pause of a second
        assert waited.seconds(script.time.now) == pytest.approx(1, abs=0.01)

    asyncio.run(sentence())
    assert len(script.asked) == 8


def test_a_wait_that_is_under_way_counts_for_what_is_asked_meanwhile() -> None:
    now = 0.0
    with count_waiting() as waited, waited.wait(lambda: now):
        now = 3.0
        with waited.wait(lambda: now):
            now = 5.0
            assert waited.seconds(now) == 5
        now = 6.0
        assert waited.seconds(now) == 6
    now = 9.0
    assert waited.seconds(now) == 6


def test_a_silent_source_is_given_up_and_then_not_asked_for_the_same_sentence() -> None:
    with LibraryServer() as server:
        server.hold("/graph/v1/paper/search")
        options = SourceOptions(base_url=server.semantic_scholar_url, per_second=1000, timeout_s=0.2)
        source = make_source("semantic-scholar", NamingReader(), options)

        async def sentence() -> None:
            with count_waiting():
                for said in ("no reply came in time", "it was too slow before"):
                    with pytest.raises(SourceUnreachable, match=rf"given up after 0\.2 s: {said}"):
                        await source.search("ships")

        asyncio.run(sentence())
        assert len(server.requests) == 1
