"""Actions as calls of tools, where an endpoint takes them, and as JSON where it refuses them."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import pytest
from made_sources import MadeSource
from scripted_agents import EXCERPT, PAPERS, RULE, SEARCH, SELECT, TARGET, find

from quoteweave.attribution.agent.loop import CiteAgent
from quoteweave.attribution.agent.trajectory import AgentSettings
from quoteweave.core.answers import Usage
from quoteweave.core.chat.completions import Completion, ToolCall
from quoteweave.core.chat.tools import Tool, offer_tools
from quoteweave.core.chat.usage import estimate_message_tokens, usage_or_estimate
from quoteweave.core.errors import EndpointUnreachable, UsageError
from quoteweave.endpoints.budget import Budget, BudgetedChat
from quoteweave.endpoints.call_cache import CachedChat
from quoteweave.endpoints.chat import OpenAIChat
from quoteweave.testing import ModelServer, Reply
from quoteweave.testing.fakes import FakeChat

ARGUMENTS = '{"rationale": "It says so.", "query": "grain"}'
CHOICE = '{"rationale": "This is it.", "paper_id": "t1"}'
pytestmark = pytest.mark.usefixtures("bare_environment")


class FakeTools(FakeChat):
    """A FakeChat that is offered tools."""

    offered: tuple[Tool, ...] = ()

    def with_tools(self, tools: Sequence[Tool]) -> Self:
        self.offered = tuple(tools)
        return self


def calls(*made: tuple[str, str], text: str = "") -> Completion:
    return Completion(text=text, model="m", tool_calls=tuple(ToolCall(name=n, arguments=a) for n, a in made))


def test_actions_are_read_from_calls_of_tools_and_told_as_such() -> None:
    model = FakeTools([calls(("search_relevance", ARGUMENTS)), calls(("select", CHOICE))])

    found = find(model)

    assert (found.outcome, found.selected) == ("selected", TARGET)
    assert [reply.form for reply in found.replies] == ["tools", "tools"]
    assert found.steps[0].rationale == "It says so."
    *_, call, result = model.requests[1]
    made: Any = call["tool_calls"]
    assert made[0]["function"]["name"] == "search_relevance"
    assert json.loads(made[0]["function"]["arguments"]) == json.loads(ARGUMENTS)
    assert result == {"role": "tool", "tool_call_id": made[0]["id"], "content": found.steps[0].observed}
    assert len(made[0]["id"]) == 9
    assert "Call one tool in each step" in str(model.requests[0][0]["content"])
    assert "Reply in each step with one JSON object" not in str(model.requests[0][0]["content"])


def test_each_action_of_a_condition_is_offered_with_its_fields_and_a_rationale() -> None:
    model = FakeTools([calls(("search_relevance", ARGUMENTS)), calls(("select", CHOICE))])

    find(model, AgentSettings(condition="search"))

    assert {tool.name: tool.parameters["required"] for tool in model.offered} == {
        "search_relevance": ["rationale", "query"],
        "search_citation_count": ["rationale", "query"],
        "search_snippets": ["rationale", "query"],
        "select": ["rationale", "paper_id"],
    }


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (calls(("browse", ARGUMENTS)), "there is no action 'browse'"),
        (calls(("read", "{")), "the arguments of 'read' are no JSON"),
        (calls(("read", "[1]")), "the arguments of 'read' are no JSON object"),
        (calls(("read", CHOICE.replace("paper_id", "paper"))), "action read.paper_id: Field required"),
        (calls(("read", '{"paper_id": "t1"}')), "rationale: Input should be a valid string"),
        (calls(("read", "[" * 100_000)), "the arguments of 'read' are no JSON"),
        (Completion(text="I would search.", model="m"), "it holds no JSON object"),
    ],
)
def test_a_call_that_is_no_action_is_asked_for_again(reply: Completion, problem: str) -> None:
    model = FakeTools([reply, calls(("search_relevance", ARGUMENTS)), calls(("select", CHOICE))])

    found = find(model)

    assert problem in str(found.steps[0].replies[0].problem)
    assert found.selected == TARGET
    said, again = model.requests[1][2:]
    assert (said["role"], "tool_calls" in said, bool(said["content"])) == ("assistant", False, True)
    assert str(again["content"]).endswith("Call one of the tools, with all of its arguments.")


def test_of_several_calls_the_first_is_taken_and_an_action_in_the_text_is_read() -> None:
    several = calls(("search_relevance", ARGUMENTS), ("select", CHOICE))

    found = find(FakeTools([several, Completion(text=SELECT, model="m")]))

    assert found.steps[0].notes[0] == "The reply held 2 actions; the first was taken."
    assert found.selected == TARGET


def test_a_model_without_tools_and_the_published_settings_are_asked_for_json() -> None:
    plain, published = FakeChat([SEARCH, SELECT]), FakeTools([SEARCH, SELECT])

    find(plain)
    found = find(published, AgentSettings(extra_actions=False, form="json"))

    assert published.offered == ()
    assert [reply.form for reply in found.replies] == ["json", "json"]
    with pytest.raises(UsageError, match="cannot be offered tools"):
        find(FakeChat([]), AgentSettings(form="tools"))


class ToolsRefused:
    """A server's script: refuses tools, and follows its replies without them."""

    def __init__(self, refusal: Reply) -> None:
        self._refusal = refusal
        self._left = [SEARCH, SELECT] * 2

    def __call__(self, request: Mapping[str, Any]) -> Reply:
        return self._refusal if "tools" in request else Reply(text=self._left.pop(0))


@pytest.mark.parametrize(
    "refusal",
    [
        Reply(status=400, text="m does not support tools"),
        Reply(status=422, text="extra fields not permitted"),
        Reply(status=500, text="tools param requires --jinja flag"),
    ],
)
def test_an_endpoint_that_refuses_tools_is_asked_for_json_from_then_on_which_is_noted(refusal: Reply) -> None:
    with ModelServer(ToolsRefused(refusal)) as server:
        model = OpenAIChat("m", base_url=server.base_url, max_retries=0)
        agent = CiteAgent(model, MadeSource(PAPERS))
        first, second = (asyncio.run(agent.find(EXCERPT, rule=RULE)) for _ in range(2))

    assert (first.selected, second.selected) == (TARGET, TARGET)
    assert ["tools" in request for request in server.requests] == [True, False, False, False, False]
    for found in (first, second):
        note = found.replies[0].notes[0]
        assert note.startswith("Actions are asked for as JSON, as the endpoint refused tools: http://127.0.0.1")
        assert refusal.text in note
        assert found.replies[1].notes == ()


@pytest.mark.parametrize("status", [401, 403, 500])
def test_an_endpoint_that_fails_for_another_reason_is_not_asked_again(status: int) -> None:
    with ModelServer([Reply(status=status, text="no")]) as server:
        found = find(OpenAIChat("m", base_url=server.base_url, max_retries=0))

    assert (found.outcome, len(server.requests)) == ("endpoint", 1)


def test_what_fails_with_tools_and_without_is_no_refusal_of_tools() -> None:
    bad = Reply(status=400, text="no such thing")
    with ModelServer([bad, bad, Reply(tool_calls=(("search_relevance", ARGUMENTS),)), bad, bad]) as server:
        agent = CiteAgent(OpenAIChat("m", base_url=server.base_url, max_retries=0), MadeSource(PAPERS))
        first, second = (asyncio.run(agent.find(EXCERPT, rule=RULE)) for _ in range(2))

    assert (first.outcome, second.outcome) == ("endpoint", "endpoint")
    assert ["tools" in request for request in server.requests] == [True, False, True, True, False]
    assert [reply.form for reply in second.replies] == ["tools"]


def test_a_trajectory_that_went_on_without_tools_is_resumed_without_them(tmp_path: Path) -> None:
    path = tmp_path / "7.jsonl"
    find(FakeChat([SEARCH, EndpointUnreachable("gone")]), saved=path)

    found = find(model := FakeTools([SELECT]), saved=path)

    assert found.selected == TARGET
    assert [reply.form for reply in found.replies] == ["json", "json"]
    assert not any("tool_calls" in message for message in model.requests[0])


def test_steps_taken_with_tools_are_told_as_json_where_tools_are_refused_later() -> None:
    script = iter(
        [Reply(tool_calls=(("search_relevance", ARGUMENTS),)), Reply(status=400, text="no tools"), Reply(text=SELECT)]
    )
    with ModelServer(lambda _: next(script)) as server:
        found = find(OpenAIChat("m", base_url=server.base_url, max_retries=0))

    assert found.selected == TARGET
    assert [message["role"] for message in server.requests[-1]["messages"]] == ["system", "user", "assistant", "user"]


def test_wrapped_models_keep_their_limits_and_caches_with_tools(tmp_path: Path) -> None:
    budget = Budget(max_tokens=100_000)
    reply = Reply(tool_calls=(("search_relevance", ARGUMENTS),), usage=Usage(input_tokens=30, output_tokens=5))
    choice = Reply(tool_calls=(("select", CHOICE),), usage=Usage(input_tokens=40, output_tokens=5))
    with ModelServer([reply, choice]) as server:
        model = CachedChat(BudgetedChat(OpenAIChat("m", base_url=server.base_url), budget), tmp_path)
        found = find(model)
        again = find(CachedChat(OpenAIChat("m", base_url="http://127.0.0.1:9/v1"), tmp_path))

    assert budget.spent.tokens == 80
    assert again.selected == found.selected == TARGET
    assert server.requests[0]["tool_choice"] == "required"
    assert "max_tokens" not in server.requests[0]
    assert offer_tools(CachedChat(FakeChat([]), tmp_path), found_tools()) is None


def found_tools() -> tuple[Tool, ...]:
    return (Tool(name="t", description="d", parameters={}),)


def test_calls_of_tools_are_counted_among_tokens() -> None:
    call = {"function": {"name": "x", "arguments": "a" * 400}}

    assert estimate_message_tokens([{"role": "assistant", "content": "", "tool_calls": [call]}]) > 100
    assert usage_or_estimate(calls(("x", "a" * 400)), 7).output_tokens == 101


def test_no_conversation_with_tools_exceeds_the_window() -> None:
    searches = [calls(("search_relevance", json.dumps({"rationale": "r", "query": f"{n}"}))) for n in range(8)]
    papers = [paper.model_copy(update={"abstract": "grain " * 500}) for paper in PAPERS]
    model = FakeTools([*searches, calls(("select", CHOICE))])

    found = find(model, AgentSettings(window=3_000, demonstration=False), source=MadeSource(papers * 3))

    tools = sum(len(tool.model_dump_json()) for tool in model.offered) // 4
    assert found.selected is not None
    assert any(reply.notes for reply in found.replies)
    assert max(estimate_message_tokens(request) for request in model.requests) + tools <= 3_000
