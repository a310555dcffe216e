import asyncio
import socket
from collections.abc import Sequence
from contextlib import aclosing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.core.answers import Usage
from quoteweave.core.chat.completions import Completion, CompletionDelta
from quoteweave.core.chat.streams import ReasoningSplitter
from quoteweave.core.errors import EndpointBadResponse, EndpointRefused, EndpointUnreachable
from quoteweave.core.protocols import StreamingChatModel
from quoteweave.endpoints.chat import OpenAIChat
from quoteweave.testing import ModelServer, Reply

MESSAGES = [{"role": "user", "content": "Did sales grow?"}]
EVENTS = {"content-type": "text/event-stream"}


async def read(chat: StreamingChatModel) -> tuple[list[CompletionDelta], Completion]:
    *pieces, last = [item async for item in chat.stream(MESSAGES)]
    assert isinstance(last, Completion)
    return [piece for piece in pieces if isinstance(piece, CompletionDelta)], last


def ask(*replies: Reply, max_retries: int = 0, timeout_s: float = 20) -> tuple[list[CompletionDelta], Completion]:
    with ModelServer(replies) as server:
        chat = OpenAIChat("m", base_url=server.base_url, max_retries=max_retries, timeout_s=timeout_s)
        return asyncio.run(read(chat))


def test_pieces_come_as_they_are_sent_and_then_the_completion() -> None:
    pieces, completion = ask(Reply(text="Yes, by 4 % [1].", sizes=(4, 1), usage=Usage(input_tokens=9, output_tokens=5)))
    assert [piece.text for piece in pieces] == ["Yes,", " ", "by 4", " ", "% [1", "]", "."]
    assert completion == Completion(
        text="Yes, by 4 % [1].", model="m", finish_reason="stop", usage=Usage(input_tokens=9, output_tokens=5)
    )


def test_it_asks_for_a_stream_with_usage_and_does_without_it() -> None:
    with ModelServer([Reply(usage=None)]) as server:
        _, completion = asyncio.run(read(OpenAIChat("m", base_url=server.base_url, temperature=0)))
    assert server.requests == [
        {
            "model": "m",
            "messages": MESSAGES,
            "temperature": 0,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
    ]
    assert (completion.text, completion.usage) == ("ok", Usage())


def test_a_piece_is_there_before_the_next_is_sent() -> None:
    async def first(server: ModelServer) -> CompletionDelta | Completion:
        async with aclosing(OpenAIChat("m", base_url=server.base_url).stream(MESSAGES)) as stream:
            return await anext(stream)

    # The second half is never sent: the server waits with it until it is closed.
    with ModelServer([Reply(text="Yes, it did", sizes=(4,), delays_s=(0, 0, 600))]) as server:
        assert asyncio.run(first(server)) == CompletionDelta(text="Yes,")


@pytest.mark.parametrize(
    "reply",
    [
        Reply(text="It grew.", reasoning="Hm, 4 > 3."),
        Reply(text="It grew.", reasoning="Hm, 4 > 3.", reasoning_field="reasoning"),
        Reply(text="\n<think>Hm, 4 > 3.</think>\n\nIt grew."),
    ],
)
@pytest.mark.parametrize("size", [1, 3, 1000])
def test_reasoning_is_apart_from_the_answer_however_it_is_sent(reply: Reply, size: int) -> None:
    pieces, completion = ask(reply.model_copy(update={"sizes": (size,)}))
    assert (completion.text, completion.reasoning) == ("It grew.", "Hm, 4 > 3.")
    assert "".join(piece.text for piece in pieces) == completion.text
    assert "".join(piece.reasoning for piece in pieces) == completion.reasoning
    with ModelServer([reply]) as server:
        assert asyncio.run(OpenAIChat("m", base_url=server.base_url).complete(MESSAGES)) == completion


def split(parts: Sequence[str], *, opened: bool = False) -> tuple[str, str]:
    splitter = ReasoningSplitter(opened=opened)
    pieces = [*(splitter.feed(part) for part in parts), splitter.end()]
    return "".join(piece.text for piece in pieces), "".join(piece.reasoning for piece in pieces)


@pytest.mark.parametrize(
    ("text", "answer", "reasoning"),
    [
        ("Yes.", "Yes.", ""),
        (" Yes. ", " Yes. ", ""),
        ("<think>a</think>b", "b", "a"),
        ("\n<think>a < b</thin</think> \n b ", "b ", "a < b</thin"),
        ("<think></think>b</think>", "b</think>", ""),
        ("<think>never done </thi", "", "never done </thi"),
        ("a <think>b</think>", "a <think>b</think>", ""),
        ("<thin", "<thin", ""),
        ("", "", ""),
    ],
)
def test_thoughts_stand_between_tags_at_the_beginning(text: str, answer: str, reasoning: str) -> None:
    assert split([text]) == split(list(text)) == (answer, reasoning)


@pytest.mark.parametrize(
    ("text", "answer", "reasoning"),
    [
        ("a </thin</think> \nb</think>", "b</think>", "a </thin"),
        ("<think>a</think>b", "b", "a"),
        ("</think>b", "b", ""),
        ("Yes.", "Yes.", ""),
        ("<think>never done", "", "never done"),
        ("", "", ""),
    ],
)
def test_a_template_may_have_opened_the_thought(text: str, answer: str, reasoning: str) -> None:
    assert split([text], opened=True) == split(list(text), opened=True) == (answer, reasoning)


@pytest.mark.parametrize(
    "reply",
    [
        Reply(text="Hm, 4 > 3.</think>\nIt grew.", sizes=(3,)),
        Reply(text="It grew.", reasoning="Hm, 4 > 3.", sizes=(3,)),
    ],
)
def test_a_model_that_is_told_to_think_may_close_its_thoughts_alone(reply: Reply) -> None:
    with ModelServer([reply]) as server:
        pieces, completion = asyncio.run(read(OpenAIChat("m", base_url=server.base_url, thinking=True)))
    assert (completion.text, completion.reasoning) == ("It grew.", "Hm, 4 > 3.")
    assert "".join(piece.text for piece in pieces) == "It grew."


@given(st.lists(st.sampled_from(["<think>", "</think>", "<", "/", "thi", "nk>", " ", "\n", "a", "é"]), max_size=12))
def test_a_text_is_split_alike_wherever_it_is_cut(parts: list[str]) -> None:
    assert split(parts) == split(["".join(parts)])
    assert split(parts, opened=True) == split(["".join(parts)], opened=True)


@pytest.mark.parametrize(
    "reply",
    [
        Reply(text="Sales grew", sizes=(5,), cut_after=2),
        Reply(body=b'data: {"choices": [{"delta": {"content": "Sales"}}]}\n\n', headers=EVENTS),
        Reply(
            body=b'data: {"choices": [{"delta": {"content": "Sales"}}]}\n\ndata: {"error": "oom"}\n\n', headers=EVENTS
        ),
    ],
)
def test_a_stream_that_breaks_off_is_unreachable_and_says_how_much_had_come(reply: Reply) -> None:
    with pytest.raises(EndpointUnreachable, match=r"; the answer broke off after 5 characters; "):
        ask(reply)


def test_the_pieces_before_the_break_have_come() -> None:
    async def listen(server: ModelServer) -> list[CompletionDelta | Completion]:
        async with aclosing(OpenAIChat("m", base_url=server.base_url).stream(MESSAGES)) as stream:
            heard = [await anext(stream) for _ in range(2)]
            with pytest.raises(EndpointUnreachable):
                await anext(stream)
            return heard

    with ModelServer([Reply(text="Sales grew", sizes=(5,), cut_after=3), Reply()]) as server:
        assert asyncio.run(listen(server)) == [CompletionDelta(text="Sales"), CompletionDelta(text=" grew")]
    assert len(server.requests) == 1


def test_a_finished_answer_needs_no_end_of_the_stream() -> None:
    # One chunk opens, one has the text, one the finish reason; that with the usage is lost.
    assert ask(Reply(cut_after=3))[1] == Completion(text="ok", model="m", finish_reason="stop")


def test_a_stream_that_ends_at_once_is_unreachable() -> None:
    with pytest.raises(EndpointUnreachable, match=r"ended its answer for the model m early"):
        ask(Reply(body=b"", headers=EVENTS))


def test_a_first_token_too_late_is_unreachable() -> None:
    with pytest.raises(EndpointUnreachable, match="timed out"):
        ask(Reply(delays_s=(600,)), timeout_s=0.05)


def test_a_stream_is_tried_again_before_it_begins() -> None:
    at_once = {"retry-after-ms": "1"}
    replies = Reply(status=429, headers=at_once), Reply(status=500, headers=at_once), Reply(text="at last")
    assert ask(*replies, max_retries=2)[1].text == "at last"


def test_events_without_data_are_none() -> None:
    said = b'data: {"choices": [{"delta": {"content": "ok"}, "finish_reason": "stop"}]}\n\n'
    body = b"retry: 3000\n\nevent: ping\n\nid: 1\n\n: comment\n\n" + said + b"event: ping\n\ndata: [DONE]\n\n"
    pieces, completion = ask(Reply(body=body, headers=EVENTS))
    assert ([piece.text for piece in pieces], completion.text) == (["ok"], "ok")


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (Reply(malformed=True), "an event is no JSON"),
        (Reply(empty=True), "it holds no choices"),
        (Reply(body=b"data: 3\n\n", headers=EVENTS), "body: "),
        (Reply(body=b'data: {"choices": [{"delta": {"content": 3}}]}\n\n', headers=EVENTS), "delta.content: "),
        (Reply(body=b'data: {"choices": [{"delta": {"content": "\\ud800"}}]}\n\n', headers=EVENTS), "delta.content: "),
        (Reply(body=b"data: \xff\n\n", headers=EVENTS), "an event is no JSON"),
        (Reply(body=b'{"choices": []}'), "it is no stream of events, but application/json"),
        (Reply(text=" "), "empty answer"),
        (Reply(text="<think>on and on", finish_reason="length"), r"finish reason: length, after reasoning"),
    ],
)
def test_what_is_no_completion_is_a_bad_response(reply: Reply, problem: str) -> None:
    with pytest.raises(EndpointBadResponse, match=problem):
        ask(reply)


def test_an_error_amid_the_stream_that_is_the_requests_fault_is_a_refusal() -> None:
    body = b'data: {"error": {"message": "the prompt has 9000 tokens", "code": 400}}\n\n'
    with pytest.raises(EndpointRefused, match=r"answered 400 .* 9000 tokens") as caught:
        ask(Reply(body=body, headers=EVENTS))
    assert caught.value.status == 400


def test_a_model_that_declines_refuses() -> None:
    with pytest.raises(EndpointRefused, match="declines to answer: I will not do that"):
        ask(Reply(refusal="I will not do that."))


def test_an_enormous_answer_comes_whole() -> None:
    text = "sales grew [1] " * 70_000
    pieces, completion = ask(Reply(text=text, sizes=(4000,)))
    assert completion.text == text == "".join(piece.text for piece in pieces)


def test_nobody_at_the_address_is_unreachable() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        chat = OpenAIChat("m", base_url=f"http://127.0.0.1:{closed.getsockname()[1]}/v1", max_retries=0)
        with pytest.raises(EndpointUnreachable, match="No answer from"):
            asyncio.run(read(chat))
