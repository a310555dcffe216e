"""Saved trajectories: interrupted anywhere, they resume to the same end, and finished ones send no request."""

import asyncio
import json
import os
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from killed_processes import in_a_process
from made_sources import MadeSource
from scripted_agents import EXCERPT, LATER, OTHER, OWN, PAPERS, RULE, SEARCH, SELECT, TARGET, does, find

from quoteweave.attribution.agent.actions import Condition, Read, SearchRelevance, SearchSnippets
from quoteweave.attribution.agent.diagnosis import find_leaks
from quoteweave.attribution.agent.loop import CiteAgent
from quoteweave.attribution.agent.trajectory import (
    AgentSettings,
    Ending,
    Reply,
    Step,
    Trajectory,
    TrajectorySetup,
    read_trajectory,
)
from quoteweave.attribution.literature.sources.papers import (
    Paper,
    PapersFound,
    PaperText,
    PublicationDate,
    SnippetsFound,
)
from quoteweave.attribution.literature.sources.unseen import HidingRule
from quoteweave.core.answers import Usage
from quoteweave.core.chat.completions import Completion
from quoteweave.core.errors import DatasetError, EndpointUnreachable, SourceUnreachable, UsageError
from quoteweave.testing.fakes import FakeChat

SCRIPT = (
    "I would search.",
    SEARCH,
    does("read", paper_id="own"),
    does("search_snippets", query="freight"),
    SEARCH,
    does("read", paper_id="t1"),
    "Hm.",
    does("find_in_text", paper_id="t1", query="all"),
    SELECT,
)
"""Replies of an agent that makes some mistakes."""


class Scripted:
    """Replies by how many replies it has been shown, so that it goes on where the conversation does."""

    name = "scripted"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def request_settings(self) -> Mapping[str, object]:
        return {}

    async def complete(self, messages: Sequence[Mapping[str, object]]) -> Completion:
        conversation = json.dumps(list(messages))
        self.asked.append(conversation)
        return Completion(text=SCRIPT[_place(messages)], model=self.name, usage=Usage(input_tokens=7, output_tokens=3))


def _place(messages: Sequence[Mapping[str, object]]) -> int:
    """Where in the script a conversation stands: prose is not shown again once it was mended."""
    said = [str(message["content"]) for message in messages if message["role"] == "assistant"]
    done = sum(text.startswith("{") for text in said)
    actions = [place for place, reply in enumerate(SCRIPT) if reply.startswith("{")]
    first = actions[done - 1] + 1 if done else 0
    return first + len(said) - done


def timeless(trajectory: Trajectory) -> dict[str, Any]:
    """A trajectory as JSON, without its times."""

    def without(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: without(one) for key, one in value.items() if key != "seconds"}
        return [without(one) for one in value] if isinstance(value, list) else value

    found: dict[str, Any] = without(trajectory.model_dump(mode="json"))
    return found


WHOLE = find(Scripted())


def test_the_script_is_followed_to_its_end() -> None:
    assert [step.action.name for step in WHOLE.steps] == [
        *("search_relevance", "read", "search_snippets", "search_relevance", "read", "find_in_text", "select")
    ]
    assert (WHOLE.selected, len(WHOLE.replies)) == (TARGET, len(SCRIPT))


def test_a_saved_trajectory_reads_back_and_is_replayed_without_a_model_or_a_source(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "7.jsonl"
    made = find(Scripted(), saved=path)
    before = path.read_bytes()

    nobody = FakeChat([], name="scripted")
    again = find(nobody, source=MadeSource([]), saved=path)

    assert read_trajectory(path) == made == again
    assert nobody.requests == []
    assert path.read_bytes() == before


@given(cut=st.floats(0, 1))
def test_a_trajectory_cut_at_any_byte_goes_on_to_the_same_end_without_repeating_a_call(cut: float) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "7.jsonl"
        find(Scripted(), saved=path)
        content = path.read_bytes()
        kept = content[: round(cut * len(content))]
        path.write_bytes(kept)
        had = sum(json.loads(line)["line"] == "reply" for line in kept.splitlines(keepends=True) if line[-1:] == b"\n")
        model = Scripted()

        resumed = find(model, saved=path)

        assert timeless(resumed) == timeless(WHOLE)
        assert read_trajectory(path) == resumed
        assert len(model.asked) == len(SCRIPT) - had


class Killing(MadeSource):
    """Kills its process when it is asked to do this."""

    def __init__(self, at: str) -> None:
        super().__init__(PAPERS)
        self._at = at

    def _die(self, asked: str) -> None:
        if asked == self._at:
            os.kill(os.getpid(), signal.SIGKILL)

    async def search(self, query: str, k: int = 10, *, by: Any = "relevance", before: Any = None) -> PapersFound:
        self._die("search")
        return await super().search(query, k, by=by, before=before)

    async def search_snippets(self, query: str, k: int = 10, *, before: Any = None) -> SnippetsFound:
        self._die("search_snippets")
        return await super().search_snippets(query, k, before=before)

    async def read(self, paper: Paper) -> PaperText:
        self._die("read")
        return await super().read(paper)


def find_until_killed(at: str, path: Path) -> None:
    find(Scripted(), source=Killing(at), saved=path)


@pytest.mark.parametrize(("at", "steps"), [("search", 0), ("search_snippets", 2), ("read", 4)])
def test_a_killed_process_is_resumed_at_its_step(at: str, steps: int, tmp_path: Path) -> None:
    path = tmp_path / "7.jsonl"
    status = in_a_process(find_until_killed, at, path)
    half = read_trajectory(path)
    resumed = find(model := Scripted(), saved=path)

    assert status == -signal.SIGKILL
    assert (half.ending, len(half.steps)) == (None, steps)
    assert half.pending[-1].problem is None  # the reply was saved before anything was done with it
    assert timeless(resumed) == timeless(WHOLE)
    assert len(model.asked) == len(SCRIPT) - len(half.replies)


@pytest.mark.parametrize("failures", [1, 3])
def test_a_failed_endpoint_is_asked_again_when_the_trajectory_is_resumed(failures: int, tmp_path: Path) -> None:
    path = tmp_path / "7.jsonl"
    gone = EndpointUnreachable("gone")
    for before in [[SEARCH], *[[]] * (failures - 1)]:
        assert find(FakeChat([*before, gone]), saved=path).outcome == "endpoint"

    resumed = find(FakeChat([SELECT]), saved=path)

    assert (resumed.outcome, len(resumed.steps)) == ("selected", 2)
    assert read_trajectory(path) == resumed


def test_a_failed_source_is_asked_again_for_the_action_that_was_paid_for(tmp_path: Path) -> None:
    class Gone(MadeSource):
        async def search(self, query: str, k: int = 10, *, by: Any = "relevance", before: Any = None) -> PapersFound:
            raise SourceUnreachable("gone")

    path = tmp_path / "7.jsonl"
    failed = find(FakeChat([SEARCH]), source=Gone([]), saved=path)

    resumed = find(FakeChat([SELECT]), saved=path)

    assert failed.outcome == "source"
    assert [step.action.name for step in resumed.steps] == ["search_relevance", "select"]
    assert resumed.selected == TARGET


@pytest.mark.parametrize("condition", ["search", "no_commands"])
@pytest.mark.parametrize("text", ["{", SELECT])
def test_a_reply_that_a_filter_broke_off_ends_a_resumed_trajectory_too(
    tmp_path: Path, condition: Condition, text: str
) -> None:
    path, settings = tmp_path / "7.jsonl", AgentSettings(condition=condition)
    filtered = Completion(text=text, model="scripted", finish_reason="content_filter")
    whole = find(FakeChat([filtered], name="scripted"), settings, saved=path)
    *begun, _ending = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(begun))

    resumed = find(FakeChat([], name="scripted"), settings, saved=path)

    assert resumed == whole
    assert resumed.outcome == "content_filter"


@given(cut=st.floats(0, 1))
def test_a_named_paper_is_resumed_too(cut: float) -> None:
    settings = AgentSettings(condition="no_commands")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "7.jsonl"
        whole = find(FakeChat(["Freight in May"]), settings, saved=path)
        content = path.read_bytes()
        path.write_bytes(content[: round(cut * len(content))])

        assert timeless(find(FakeChat(["Freight in May"]), settings, saved=path)) == timeless(whole)


def test_another_trajectory_in_the_file_is_refused_by_what_differs(tmp_path: Path) -> None:
    path = tmp_path / "7.jsonl"
    find(FakeChat([SEARCH, SELECT]), saved=path)

    with pytest.raises(UsageError, match=r"another trajectory: excerpt is '.*' there and 'Other .*' here"):
        find(FakeChat([]), saved=path, excerpt="Other [CITATION]")
    with pytest.raises(UsageError, match="model is 'fake' there and 'new' here"):
        find(FakeChat([], name="new"), saved=path)
    with pytest.raises(UsageError, match="settings is"):
        find(FakeChat([]), AgentSettings(window=5_000), saved=path)


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ([], "holds no trajectory"),
        ([1], "line 1: a trajectory begins with a line `setup`"),
        ([0, 0], "line 2: a second trajectory begins here"),
        ([0, 1, 4], "line 3: step 2 cannot follow 0 steps"),
        ([0, -1, 1], "line 3: nothing can follow the ending 'selected'"),
    ],
)
def test_a_file_that_is_no_trajectory_is_told_by_its_line(lines: list[int], problem: str, tmp_path: Path) -> None:
    path = tmp_path / "7.jsonl"
    find(FakeChat([SEARCH, SELECT]), saved=path)
    whole = path.read_bytes().splitlines(keepends=True)
    assert [json.loads(line)["line"] for line in whole] == ["setup", "reply", "step", "reply", "step", "ending"]
    path.write_bytes(b"".join(whole[line] for line in lines))

    with pytest.raises(DatasetError, match=problem):
        read_trajectory(path)


def test_many_excerpts_are_looked_for_at_once(tmp_path: Path) -> None:
    most = under_way = 0

    class Slow(Scripted):
        def request_settings(self) -> Mapping[str, object]:
            return {}

        async def complete(self, messages: Sequence[Mapping[str, object]]) -> Completion:
            nonlocal most, under_way
            under_way += 1
            most = max(most, under_way)
            await asyncio.sleep(0)
            under_way -= 1
            return await super().complete(messages)

    async def all_of_them() -> list[Trajectory]:
        agent = CiteAgent(Slow(), MadeSource(PAPERS))
        ids = [str(number) for number in range(16)]
        return await asyncio.gather(
            *(agent.find(EXCERPT, id=id, rule=RULE, saved=tmp_path / f"{id}.jsonl") for id in ids)
        )

    found = asyncio.run(all_of_them())

    assert most == 16
    assert [trajectory.setup.id for trajectory in found] == [str(number) for number in range(16)]
    assert all(timeless(trajectory)["steps"] == timeless(WHOLE)["steps"] for trajectory in found)


def trajectory_of(*steps: Step, selected: Paper | None = None) -> Trajectory:
    setup = TrajectorySetup(excerpt=EXCERPT, model="m", source="made", settings=AgentSettings(), prompts={})
    return Trajectory(setup=setup, steps=steps, ending=Ending(kind="selected", selected=selected))


def step_of(number: int, *shown: Paper, text: str = "") -> Step:
    reply = Reply(text=SEARCH, seconds=0)
    action = SearchRelevance(query="grain") if not text else Read(paper_id=shown[0].id)
    return Step(number=number, replies=(reply,), rationale="", action=action, observed=text or "x", shown=shown)


def test_each_leak_of_a_trajectory_is_named_with_its_step_and_reason() -> None:
    undated = Paper(id="u", title="Undated")
    copied = f"Preprint. {OWN.title.upper()}. By N. N."
    trajectory = trajectory_of(
        step_of(1, OTHER, LATER, TARGET), step_of(2, OWN, undated), step_of(3, OTHER, text=copied), selected=LATER
    )

    leaks = find_leaks(trajectory, RULE)

    assert [(leak.step, leak.kind, leak.paper.id, leak.reason) for leak in leaks] == [
        (1, "shown", "l3", "later"),
        (2, "shown", "own", "own_paper"),
        (2, "shown", "u", "undated"),
        (3, "own_text", "o2", "own_paper"),
        (3, "selected", "l3", "later"),
    ]
    assert str(leaks[0]) == "step 1: “Freight in June”, published 2023 was shown (later than it)"


LONG = (
    "As [CITATION] had foretold, shipments of grain from the harbour of Skarn doubled between May and the end of June."
)


def test_the_excerpts_own_words_in_what_was_shown_are_a_leak_whatever_the_title() -> None:
    printed = f"Introduction. {LONG.replace('[CITATION]', 'Reed [7]')} We ask why."
    read = step_of(1, OTHER, text=printed)
    searched = step_of(2, OTHER, TARGET, text=f"- {OTHER.title}\n  Wood.\n\n- {TARGET.title}\n  {printed}")
    found = searched.model_copy(update={"action": SearchSnippets(query="grain")})
    made = trajectory_of(read, found)
    trajectory = made.model_copy(update={"setup": made.setup.model_copy(update={"excerpt": LONG})})

    assert [(leak.step, leak.kind, leak.paper.id) for leak in find_leaks(trajectory, RULE)] == [
        (1, "own_text", "o2"),
        (2, "own_text", "t1"),
    ]
    assert find_leaks(made, RULE) == (), "of another excerpt"
    assert find_leaks(trajectory) == (), "no rule hides the paper that it is from"


def test_a_list_of_references_may_name_the_papers_own_title() -> None:
    references = f"Timber by rail. {'wood ' * 500} [4] {OWN.title}. 2020."

    assert find_leaks(trajectory_of(step_of(1, OTHER, text=references)), RULE) == ()


def test_a_trajectory_is_checked_by_its_own_rule_unless_another_is_given() -> None:
    assert WHOLE.setup.rule == RULE
    assert find_leaks(WHOLE) == ()
    stricter = HidingRule(before=PublicationDate(year=2017))
    assert {leak.paper.id for leak in find_leaks(WHOLE, stricter)} == {"t1"}


def test_without_the_wrapper_the_check_would_have_found_what_the_library_holds() -> None:
    unguarded = asyncio.run(CiteAgent(Scripted(), MadeSource(PAPERS)).find(EXCERPT))

    assert {leak.paper.id for leak in find_leaks(unguarded, RULE)} == {"l3", "own"}
