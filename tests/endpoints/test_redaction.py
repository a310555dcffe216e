"""Secrets of an address that its server sends back are taken out before anything else sees them."""

import asyncio
import html
import json
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.core.chat.completions import Completion
from quoteweave.core.errors import EndpointError
from quoteweave.core.urls import without_credentials
from quoteweave.endpoints.call_cache import CachedChat
from quoteweave.endpoints.chat import OpenAIChat
from quoteweave.endpoints.embeddings import EmbeddingsClient
from quoteweave.endpoints.redaction import REDACTED, StreamRedactor, endpoint_redactor
from quoteweave.endpoints.rerank import RerankClient
from quoteweave.testing import ModelServer, Reply

KEY, PASSWORD = "sk-secret-0123456789", "hunter2&/ü"
URL = f"http://user:{quote(PASSWORD, safe='')}@host/v1?api-version=2024-02-01&sig=s1gnature-x"
MESSAGES = [{"role": "user", "content": "?"}]
BASIC = b64encode(f"user:{PASSWORD}".encode()).decode()
FORMS = [
    KEY,
    f"Bearer {KEY}",
    b64encode(KEY.encode()).decode(),
    b64encode(f"a Bearer {KEY} in a header".encode()).decode(),
    urlsafe_b64encode(f"x{PASSWORD}".encode()).decode(),
    PASSWORD,
    quote(PASSWORD),
    quote(PASSWORD, safe=""),
    quote(PASSWORD, safe="").lower(),
    json.dumps(PASSWORD),
    f"Basic {BASIC}",
    "s1gnature-x",
]


# As other programs write them: PHP, .NET and Python in JSON, templates in pages, addresses within addresses.
ESCAPED = [
    json.dumps(PASSWORD).replace("/", r"\/"),
    json.dumps(json.dumps(json.dumps(PASSWORD))),
    PASSWORD.replace("&", r"\u0026").replace("ü", r"\u00FC"),
    repr(PASSWORD.encode()),
    html.escape(PASSWORD),
    "".join(f"&#{ord(character)};" for character in PASSWORD),
    quote(quote(PASSWORD, safe=""), safe=""),
    "".join(f"%{byte:02x}" for byte in PASSWORD.encode()),
    quote(f"Basic {BASIC}", safe=""),
    b64encode(json.dumps({"password": PASSWORD}).encode()).decode(),
]


REDACTOR = endpoint_redactor(URL, KEY)


def told(form: str) -> str:
    return f"you sent {form}, is that right?"


@pytest.mark.parametrize("form", [*FORMS, *ESCAPED])
def test_a_secret_is_taken_out_in_whatever_form(form: str) -> None:
    cleaned = endpoint_redactor(URL, KEY).clean(told(form))
    assert REDACTED in cleaned
    assert not [secret for secret in (KEY, PASSWORD, "secret-01", "s1gnature", form[8:-4] or form) if secret in cleaned]
    assert cleaned.startswith("you sent ")
    assert cleaned.endswith(", is that right?")


@given(st.sampled_from([*FORMS, *ESCAPED]), st.lists(st.integers(1, 9), min_size=1))
def test_a_secret_cut_in_parts_is_taken_out_as_one_that_is_whole(form: str, sizes: list[int]) -> None:
    redactor = endpoint_redactor(URL, KEY)
    stream, text, got, turn = StreamRedactor(redactor), told(form), "", 0
    while text:
        size = sizes[turn % len(sizes)]
        got, text, turn = got + stream.feed(text[:size]), text[size:], turn + 1
    assert got + stream.end() == redactor.clean(told(form))


@given(st.text(max_size=4), st.text(max_size=4), st.sampled_from([b64encode, urlsafe_b64encode]))
def test_of_a_secret_in_base64_no_bit_is_left(before: str, after: str, code: Callable[[bytes], bytes]) -> None:
    other, others = before.encode("utf-8", "replace"), after.encode("utf-8", "replace")
    coded = code(other + KEY.encode() + others).decode().rstrip("=")
    cleaned = REDACTOR.clean(f"<{coded}>")
    assert cleaned.startswith(f"<{coded[: len(other) * 8 // 6]}{REDACTED}")
    assert cleaned.endswith(f"{REDACTED}{coded[-(-(len(other) + len(KEY)) * 8 // 6) :]}>")


@given(st.text(max_size=12), st.lists(st.integers(1, 30), min_size=1))
def test_basic_authentication_leaves_nothing_behind(password: str, sizes: list[int]) -> None:
    url = f"http://someone:{quote(password.encode('utf-8', 'replace'), safe='')}@host"
    basic = b64encode(f"someone:{password}".encode("utf-8", "replace")).decode()
    redactor = endpoint_redactor(url, "none")
    assert redactor.clean(f"Basic {basic}, you sent") == f"Basic {REDACTED}, you sent"
    stream, left, got = StreamRedactor(redactor), f"Basic {basic}", ""
    for size in [*sizes, len(left)]:
        got, left = got + stream.feed(left[:size]), left[size:]
    assert got + stream.end() == f"Basic {REDACTED}"


@given(st.text())
@pytest.mark.parametrize(
    ("url", "key"),
    [("http://host/v1", "none"), ("http://host/v1?api-version=2024-02-01", "ollama"), ("http://@host", "")],
)
def test_without_secrets_nothing_is_changed(url: str, key: str, text: str) -> None:
    redactor = endpoint_redactor(url, key)
    stream = StreamRedactor(redactor)
    assert redactor.clean(text) == stream.feed(text) + stream.end() == text


def test_a_short_password_is_taken_out_with_its_user_alone() -> None:
    redactor = endpoint_redactor("http://me:pw@host", "none")
    assert redactor.clean("me:pw " + b64encode(b"me:pw").decode()).count(REDACTED) == 2
    assert redactor.clean("a pw of me") == "a pw of me"
    assert endpoint_redactor("http://me:two%20words@host", "none").clean("two+words") == REDACTED
    assert endpoint_redactor("http://t0ken-t0ken@host", "none").clean("t0ken-t0ken") == REDACTED


SECRETS = (KEY, PASSWORD, quote(PASSWORD), BASIC, b64encode(KEY.encode()).decode()[:-4])


def test_a_key_is_taken_out_of_the_page_of_a_proxy_before_its_tags_are() -> None:
    key = 'sk-1<7>"zebra'
    page = f"<html><p>no such key: {key}</p></html>"
    with ModelServer(lambda _: Reply(status=400, body=page.encode(), headers={"content-type": "text/html"})) as server:
        chat = OpenAIChat("m", base_url=server.base_url, api_key=key, max_retries=0)
        with pytest.raises(EndpointError, match=r"no such key: \[redacted\]"):
            asyncio.run(chat.complete(MESSAGES))


@pytest.mark.parametrize("said", ["pass<br>word<br>one", "<b>pass </b>word<br/>\n one"])
def test_a_key_that_the_tags_of_a_page_cut_is_taken_out_of_it(said: str) -> None:
    page = f"<html><p>no such key: {said}</p></html>"
    headers = {"content-type": "text/html"}
    with ModelServer(lambda _: Reply(status=400, body=page.encode(), headers=headers)) as server:
        chat = OpenAIChat("m", base_url=server.base_url, api_key="pass word one", max_retries=0)
        with pytest.raises(EndpointError, match=r"no such key: \[redacted\]"):
            asyncio.run(chat.complete(MESSAGES))


def test_a_key_is_taken_out_of_arguments_of_tools_that_are_json_within_json() -> None:
    key = 'sk-1<7>"zebra'
    arguments = json.dumps({"said": json.dumps({"key": key})})
    with ModelServer(lambda _: Reply(tool_calls=(("look", arguments),))) as server:
        completion = asyncio.run(OpenAIChat("m", base_url=server.base_url, api_key=key).complete(MESSAGES))
    assert "zebra" not in str(completion)


def secrets_in(text: str) -> list[str]:
    return [secret for secret in SECRETS if secret in text]


def address(server: ModelServer) -> str:
    return server.base_url.replace("http://", f"http://user:{quote(PASSWORD, safe='')}@")


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize("form", FORMS[:-1])
def test_a_server_that_echoes_gets_no_secret_into_an_answer_or_a_kept_call(
    form: str, size: int, tmp_path: Path
) -> None:
    said = Reply(text=told(form), reasoning=told(form), finish_reason=form, sizes=(size,))

    async def read(chat: CachedChat) -> tuple[Completion, Completion, str]:
        *pieces, last = [item async for item in chat.stream(MESSAGES)]
        assert isinstance(last, Completion)
        return last, await chat.complete([*MESSAGES, *MESSAGES]), "".join(map(str, pieces))

    with ModelServer(lambda _: said) as server:
        chat = CachedChat(OpenAIChat("m", base_url=address(server), api_key=KEY), tmp_path)
        streamed, whole, pieces = asyncio.run(read(chat))
    kept = [path.read_text("utf-8") for path in tmp_path.rglob("*.json")]
    assert len(kept) == 2
    assert not secrets_in("".join([str(streamed), str(whole), pieces, *kept]))
    assert streamed.text == whole.text
    assert REDACTED in streamed.text
    assert REDACTED in (streamed.reasoning or "")


REPLIES = {
    "error": lambda form: Reply(status=400, text=told(form)),
    "failure": lambda form: Reply(status=503, text=told(form)),
    "page": lambda form: Reply(status=401, body=f"<p>{told(form)}</p>".encode()),
    "refusal": lambda form: Reply(refusal=told(form)),
    "error with 200": lambda form: Reply(body=json.dumps({"error": {"message": told(form)}}).encode()),
    "amid a stream": lambda form: Reply(
        body=b"data: %s\n\n" % json.dumps({"error": {"message": told(form)}}).encode(),
        headers={"content-type": "text/event-stream"},
    ),
    "redirect": lambda form: Reply(status=307, headers={"location": f"http://127.0.0.1:9/{quote(form)}/x"}),
    "type": lambda form: Reply(body=b"{}", headers={"content-type": quote(form)}),
}


@pytest.mark.parametrize("form", FORMS[:-1])
@pytest.mark.parametrize("name", REPLIES)
def test_nor_into_a_message(name: str, form: str) -> None:
    async def read(url: str) -> list[EndpointError]:
        chat = OpenAIChat("m", base_url=url, api_key=KEY, max_retries=0)
        asked = [
            chat.complete(MESSAGES),
            anext(chat.stream(MESSAGES)),
            EmbeddingsClient("m", base_url=url, api_key=KEY, max_retries=0).embed(["a"]),
            RerankClient("m", base_url=url, api_key=KEY, max_retries=0).score("a", ["b"]),
        ]
        found = await asyncio.gather(*asked, return_exceptions=True)
        return [one for one in found if isinstance(one, EndpointError)]

    with ModelServer(lambda _: REPLIES[name](form)) as server:
        failures = asyncio.run(read(address(server)))
    assert failures
    assert not [found for error in failures for found in secrets_in(f"{error}{error!r}{error.__cause__}")]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("http://h/v1?key=a'b&x=1", "http://h/v1?x=1"),
        ("http://h/v1?x=1&key=a@B2", "http://h/v1?x=1"),
        ("'http://h/v1?api_key=abc', then", "'http://h/v1', then"),
        ("http://h:80/v1?key=abc@hnsw", "http://h:80/v1@hnsw"),
        ('{"url":"http://h?key=abc","x":1}', '{"url":"http://h","x":1}'),
    ],
)
def test_keys_in_the_query_of_an_address_are_taken_out_whole(text: str, shown: str) -> None:
    assert without_credentials(text) == shown
