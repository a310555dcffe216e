"""The agent over a server that speaks Semantic Scholar's and OpenAlex's APIs, with a made library of papers."""

import asyncio
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from scripted_agents import does
from scripted_sources import NamingReader, Time

from quoteweave.attribution.agent.actions import Condition, actions_of
from quoteweave.attribution.agent.diagnosis import find_leaks
from quoteweave.attribution.agent.loop import CiteAgent
from quoteweave.attribution.agent.trajectory import AgentSettings, Trajectory, read_trajectory
from quoteweave.attribution.literature.sources.make_source import SourceName
from quoteweave.attribution.literature.sources.openalex import OPENALEX, OpenAlex
from quoteweave.attribution.literature.sources.papers import Paper, PublicationDate
from quoteweave.attribution.literature.sources.semantic_scholar import SEMANTIC_SCHOLAR, SemanticScholar
from quoteweave.attribution.literature.sources.service import SourcePace
from quoteweave.attribution.literature.sources.source_client import SourceClient
from quoteweave.attribution.literature.sources.unseen import HidingRule
from quoteweave.core.chat.completions import Completion
from quoteweave.testing.literature import MadeExcerpt
from quoteweave.testing.literature_server import LibraryServer


@pytest.fixture(scope="module")
def server() -> Iterator[LibraryServer]:
    with LibraryServer() as running:
        yield running


@pytest.fixture(params=["semantic-scholar", "openalex"])
def source(request: pytest.FixtureRequest, server: LibraryServer) -> SemanticScholar | OpenAlex:
    name: SourceName = request.param
    return make(server, name)


def make(server: LibraryServer, name: SourceName) -> SemanticScholar | OpenAlex:
    """A source that asks the server, on a clock of its own."""
    pace = SourcePace(Time().timing())
    if name == "semantic-scholar":
        address = SEMANTIC_SCHOLAR.address(server.semantic_scholar_url, None)
        return SemanticScholar(SourceClient(SEMANTIC_SCHOLAR, address, pace=pace), NamingReader())
    address = OPENALEX.address(server.openalex_url, None)
    return OpenAlex(SourceClient(OPENALEX, address, pace=pace), NamingReader())


class Wanderer:
    """Makes every action that it may, with words of the excerpt and papers that it was shown, and selects the last."""

    name = "wanderer"

    def __init__(self, condition: Condition = "search_and_read") -> None:
        self._condition = condition
        self.asked = 0

    def request_settings(self) -> Mapping[str, object]:
        return {}

    async def complete(self, messages: Sequence[Mapping[str, object]]) -> Completion:
        self.asked += 1
        said = [str(message["content"]) for message in messages]
        excerpt = said[1].partition("\n\n")[2]
        if self._condition == "no_commands":
            return Completion(text="A Paper From Memory", model=self.name)
        long = sorted(set(re.findall(r"[a-z]{5,}", excerpt)), key=lambda word: (-len(word), word))
        shown = re.findall(r"- id: (\S+)", "\n".join(said))
        actions = actions_of(self._condition, extra=True)
        made = len(messages) // 2 - 1
        name = actions[made] if made < len(actions) else "select"
        fields = {"query": " ".join(long[:2]), "paper_id": shown[-1] if shown else "nothing"}
        wanted = {"read": ["paper_id"], "find_in_text": ["paper_id", "query"], "select": ["paper_id"]}
        return Completion(text=does(name, **{key: fields[key] for key in wanted.get(name, ["query"])}), model=self.name)


def rule_of(server: LibraryServer, excerpt: MadeExcerpt) -> HidingRule:
    own = server.library.paper(excerpt.source)
    assert own.published is not None
    return HidingRule(own=Paper(id="own", title=own.title), before=own.published)


def find_all(
    agent: CiteAgent, server: LibraryServer, excerpts: Sequence[MadeExcerpt], saved: Path | None = None
) -> list[Trajectory]:
    async def run() -> list[Trajectory]:
        return await asyncio.gather(
            *(
                agent.find(one.text, id=one.id, rule=rule_of(server, one), saved=saved and saved / f"{one.id}.jsonl")
                for one in excerpts
            )
        )

    return asyncio.run(run())


def test_no_action_of_any_excerpt_shows_what_is_to_be_hidden(
    server: LibraryServer, source: SemanticScholar | OpenAlex, tmp_path: Path
) -> None:
    excerpts = server.library.excerpts[:12]  # two of each kind

    found = find_all(CiteAgent(Wanderer(), source), server, excerpts, tmp_path)

    ways = {(trajectory.outcome, bool(trajectory.shown)) for trajectory in found}
    assert ("selected", True) in ways
    assert ways <= {("selected", True), ("loops", False)}  # it selects in vain where nothing was shown
    saved = [read_trajectory(tmp_path / f"{one.id}.jsonl") for one in excerpts]
    assert saved == found
    assert [str(leak) for trajectory in saved for leak in find_leaks(trajectory)] == []
    shown = [paper for trajectory in saved for paper in trajectory.shown.values()]
    assert len(shown) > 2 * len(excerpts)
    notes = {note for trajectory in saved for step in trajectory.steps for note in step.notes}
    assert any(note.startswith("Not shown: ") for note in notes)


def test_without_the_rule_the_same_searches_leak(server: LibraryServer) -> None:
    agent = CiteAgent(Wanderer(), make(server, "semantic-scholar"))
    excerpts = server.library.excerpts[:12]

    leaks = [
        leak
        for excerpt in excerpts
        for leak in find_leaks(asyncio.run(agent.find(excerpt.text)), rule_of(server, excerpt))
    ]

    assert {leak.reason for leak in leaks} >= {"later", "own_paper"}


@pytest.mark.parametrize("condition", ["no_commands", "search", "search_and_read"])
@pytest.mark.parametrize("demonstration", [True, False])
def test_every_condition_runs_over_the_library(
    server: LibraryServer, condition: Condition, demonstration: bool
) -> None:
    settings = AgentSettings(condition=condition, demonstration=demonstration)
    agent = CiteAgent(Wanderer(condition), make(server, "semantic-scholar"), settings)

    found = find_all(agent, server, server.library.excerpts[:4])

    assert [trajectory.outcome for trajectory in found] == ["selected"] * 4
    made = {step.action.name for trajectory in found for step in trajectory.steps}
    assert made == set(settings.actions or ["name_paper"])


def test_broken_off_after_any_line_it_asks_the_source_and_the_model_for_the_rest_alone(
    server: LibraryServer, tmp_path: Path
) -> None:
    excerpt, path = server.library.excerpts[0], tmp_path / "1.jsonl"

    def run() -> tuple[Trajectory, int, int]:
        before, model = len(server.requests), Wanderer()
        agent = CiteAgent(model, make(server, "semantic-scholar"))
        found = asyncio.run(agent.find(excerpt.text, rule=rule_of(server, excerpt), saved=path))
        return found, model.asked, len(server.requests) - before

    whole, replies, requests = run()
    lines = path.read_bytes().splitlines(keepends=True)
    asked = []
    for count in range(len(lines) + 1):
        path.write_bytes(b"".join(lines[:count]))
        found, now_replies, now_requests = run()
        assert [step.observed for step in found.steps] == [step.observed for step in whole.steps]
        assert found.selected == whole.selected
        had = sum(json.loads(line)["line"] == "reply" for line in lines[:count])
        assert now_replies == replies - had
        asked.append(now_requests)

    assert asked[0] == requests
    assert asked == sorted(asked, reverse=True)
    assert asked[-1] == 0


def test_the_limit_of_dates_is_that_of_the_excerpts_paper(server: LibraryServer) -> None:
    excerpt = server.library.excerpts[0]
    early = HidingRule(before=PublicationDate(year=1990))

    agent = CiteAgent(Wanderer("search"), make(server, "semantic-scholar"), AgentSettings(condition="search"))

    found = asyncio.run(agent.find(excerpt.text, rule=early))

    assert all(paper.published and paper.published.year <= 1990 for paper in found.shown.values())
