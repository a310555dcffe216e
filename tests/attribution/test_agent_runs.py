"""Runs over CiteME's excerpts: over the services of a made library, and what of a trajectory evaluation reads."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from scripted_agents import OWN, SEARCH, SELECT, TARGET, does, find

from quoteweave.attribution.agent.actions import Condition
from quoteweave.attribution.agent.diagnosis import find_leaks
from quoteweave.attribution.agent.ranking import hiding_rule
from quoteweave.attribution.agent.run_settings import PaperRunFile, PaperRunSettings
from quoteweave.attribution.agent.runs import answer_excerpts, file_name, paper_search_of
from quoteweave.attribution.agent.trajectory import AgentSettings, read_trajectory
from quoteweave.attribution.literature.sources.make_source import SourceName
from quoteweave.core.answers import Usage
from quoteweave.core.errors import BudgetSpent, EndpointUnreachable
from quoteweave.core.examples import Example, Reference
from quoteweave.core.records import Query
from quoteweave.core.runs import read_run
from quoteweave.evaluation import ScoringRequest, score
from quoteweave.evaluation.datasets import load_dataset
from quoteweave.pipeline.runs.search_dataset import Questions
from quoteweave.pipeline.settings import Limits
from quoteweave.testing import FakeChat, ModelServer, Reply, make_library, write_citeme
from quoteweave.testing.literature_server import LibraryServer

EXCERPTS = 12


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "DATASET.csv"
    write_citeme(make_library(), path)
    return path


def finder(table: Path) -> Any:
    """A model that searches by words of its excerpt, and selects the paper cited where it was shown."""
    examples = {example.query.text: example for example in load_dataset("citeme", table)}

    def reply(request: Mapping[str, Any]) -> Reply:
        said = [str(message["content"]) for message in request["messages"] if message["role"] != "system"]
        example = next(found for text, found in examples.items() if text in said[0])
        if len(said) == 1:
            query = " ".join(re.findall(r"[a-z]{5,}", example.query.text)[:4])
            return Reply(text=does("search_relevance", query=query))
        shown = re.findall(r"id: (\S+)\n  title: (.*)", said[-1])
        right = next((id for id, title in shown if title == example.reference.short_answer), None)
        chosen = right or (shown[0][0] if shown else "none")
        return Reply(text=does("select", paper_id=chosen))

    return reply


def make_run(
    table: Path,
    source: str,
    model_url: str,
    *,
    excerpts: int = EXCERPTS,
    limits: Limits | None = None,
    **settings: object,
) -> Path:
    made = PaperRunSettings.model_validate(
        {"model": "m", "base_url": model_url, "condition": "search", "source": source, "per_second": 1000}
        | {"most_actions": 3, "choose_at": 3, "asked_again": 0, "retries": 0, "papers": table.with_name("papers")}
        | settings
    )
    examples = load_dataset("citeme", table)[:excerpts]
    out = table.with_name("run")
    file = PaperRunFile(settings=(made,), limits=limits or Limits(concurrency=4))
    answer_excerpts(file, Questions("citeme", examples, table), out)
    return out


def make_ranking(table: Path, source: str, excerpts: int = EXCERPTS) -> Path:
    made = PaperRunSettings(ranking=True, source=source, per_second=1000, papers=table.with_name("papers"))
    examples, out = load_dataset("citeme", table)[:excerpts], table.with_name("run")
    answer_excerpts(PaperRunFile(settings=(made,)), Questions("citeme", examples, table), out)
    return out


@pytest.mark.parametrize("source", ["semantic-scholar", "openalex"])
def test_excerpts_are_answered_over_a_service_without_a_leak(
    library_server: LibraryServer, table: Path, monkeypatch: pytest.MonkeyPatch, source: SourceName
) -> None:
    monkeypatch.setenv("SEMANTIC_SCHOLAR_BASE_URL", library_server.semantic_scholar_url)
    monkeypatch.setenv("OPENALEX_BASE_URL", library_server.openalex_url)
    with ModelServer(finder(table)) as server:
        run = make_run(table, source, server.base_url)
        asked, searched = len(server.requests), len(library_server.requests)
        (run / "predictions.jsonl").unlink()
        (run / "run.json").unlink()
        assert make_run(table, source, server.base_url) == run
        assert (len(server.requests), len(library_server.requests)) == (asked, searched), "nothing is asked twice"
    predictions = read_run(run)[1]
    assert len(predictions) == EXCERPTS
    request = ScoringRequest(run=run, dataset="citeme", references=table, partial=True)
    figures = score(request, intervals=None).figures
    found, named = (figures[name].value for name in ("target_found.exact", "title_match.exact"))
    assert found is not None
    assert found > 0
    assert named == found  # it selects the right paper wherever it is shown
    assert figures["technical_errors"].value == 0.0
    if source == "semantic-scholar":  # by which the table's addresses are
        assert figures["identifier_match"].value == named
    trajectories = sorted((run / "trajectories").glob("[!.]*.jsonl"))
    assert len(trajectories) == EXCERPTS
    assert [leak for path in trajectories for leak in find_leaks(read_trajectory(path))] == []


@pytest.mark.parametrize("source", ["semantic-scholar", "openalex"])
def test_what_a_service_finds_is_ranked_without_a_model_and_nothing_hidden_is_among_it(
    library_server: LibraryServer, table: Path, monkeypatch: pytest.MonkeyPatch, source: SourceName
) -> None:
    monkeypatch.setenv("SEMANTIC_SCHOLAR_BASE_URL", library_server.semantic_scholar_url)
    monkeypatch.setenv("OPENALEX_BASE_URL", library_server.openalex_url)
    run = make_ranking(table, source, excerpts=4)
    examples = load_dataset("citeme", table)[:4]
    dates = {paper.title: paper.day.year for paper in make_library().papers}
    for example, one in zip(examples, read_run(run)[1], strict=True):
        assert one.paper_search is not None
        assert one.paper_search.selected is not None
        shown = [paper.title for paper in one.paper_search.shown()]
        assert (one.response, one.model, len(shown)) == (shown[0], "lexical", 10)
        assert example.document not in shown
        assert all(dates[title] <= (example.year or 0) for title in shown)
    request = ScoringRequest(run=run, dataset="citeme", references=table, partial=True)
    found = score(request, intervals=None).figures["target_found"].value
    assert found is not None
    assert found > 0


def test_a_service_that_fails_is_a_technical_error_of_a_ranking_too(
    library_server: LibraryServer, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEMANTIC_SCHOLAR_BASE_URL", library_server.semantic_scholar_url)
    library_server.reply("/graph/v1/*", b"{}", times=None, status=403)
    try:
        with pytest.raises(EndpointUnreachable, match="10 questions in a row"):
            make_ranking(table, "semantic-scholar")
    finally:
        library_server.clear_faults()
    predictions = read_run(table.with_name("run"))[1]
    assert {one.paper_search.outcome for one in predictions if one.paper_search is not None} == {"source"}


def test_a_source_that_fails_is_a_technical_error_and_ends_a_run_that_goes_on_so(
    library_server: LibraryServer, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEMANTIC_SCHOLAR_BASE_URL", library_server.semantic_scholar_url)
    library_server.reply("/graph/v1/paper/search*", b"{}", times=None, status=403)
    try:
        with ModelServer(finder(table)) as server, pytest.raises(EndpointUnreachable, match="10 questions in a row"):
            make_run(table, "semantic-scholar", server.base_url)
    finally:
        library_server.clear_faults()
    predictions = read_run(table.with_name("run"))[1]
    assert {one.paper_search.outcome for one in predictions if one.paper_search is not None} == {"source"}
    assert all((one.error or "").startswith("source: step 1, search_relevance(") for one in predictions)


def test_what_a_killed_trajectory_has_spent_counts_when_it_is_resumed(
    library_server: LibraryServer, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENALEX_BASE_URL", library_server.openalex_url)
    answer, dear = finder(table), Usage(input_tokens=1_000_000, output_tokens=1)
    with ModelServer(lambda request: answer(request).model_copy(update={"usage": dear})) as server:

        def run(max_tokens: int) -> Path:
            return make_run(table, "openalex", server.base_url, excerpts=1, limits=Limits(max_tokens=max_tokens))

        with pytest.raises(BudgetSpent, match="1,000,001 tokens are spent"):
            run(1_001_000)  # between its two calls, so that no prediction tells of the first
        with pytest.raises(BudgetSpent, match="1,000,001 tokens are spent"):
            run(1_001_000)
        assert len(server.requests) == 1, "the budget was spent before"
        folder = run(3_000_000)
        assert len(server.requests) == 2, "the reply that was paid for is not asked for again"
        (found,) = read_run(folder)[1]
        assert found.spent is not None
        assert (found.spent.calls, found.spent.input_tokens) == (2, 2_000_000)
        (folder / "predictions.jsonl").write_text(found.model_copy(update={"error": "broken"}).model_dump_json() + "\n")
        run(3_000_000)
        assert read_run(folder)[1][0].spent is None, "what a prediction has recorded counts once"
        (folder / "trajectories" / f"{found.example}.jsonl").write_text("{")
        run(3_000_000)


def test_a_trajectory_is_read_as_a_search() -> None:
    model = FakeChat([SEARCH, does("select", paper_id="unknown"), does("read", paper_id="t1"), SELECT])
    search = paper_search_of(find(model))
    assert (search.outcome, search.technical) == ("selected", False)
    assert search.selected is not None
    assert search.selected.title == TARGET.title
    assert [(step.action, step.argument, step.problem) for step in search.steps] == [
        ("search_relevance", "grain", None),
        ("select", "unknown", "never_shown"),
        ("read", "t1", None),
        ("select", "t1", None),
    ]
    assert [paper.title for paper in search.shown()] == ["Timber by Rail", "Freight in May"]


@pytest.mark.parametrize(
    ("replies", "outcome", "technical"),
    [(["prose"] * 3, "bad_format", True), ([SEARCH] * 4, "loops", False)],
)
def test_endings_are_outcomes(replies: list[str], outcome: str, technical: bool) -> None:
    search = paper_search_of(find(FakeChat(replies)))
    assert (search.outcome, search.technical) == (outcome, technical)


def test_the_own_paper_and_later_ones_are_hidden_also_of_excerpts_without_a_year() -> None:
    address = "https://arxiv.org/abs/2005.01234"
    example = Example(id="1", query=Query(text="x"), document=OWN.title, address=address, reference=Reference())
    rule = hiding_rule(example.model_copy(update={"year": 2020}))
    assert rule.own is not None
    assert (rule.own.title, rule.own.url, str(rule.before)) == (OWN.title, address, "2020")
    assert str(hiding_rule(example).before) == "2024"


@pytest.mark.parametrize("demonstration", [True, False])
@pytest.mark.parametrize("condition", ["search_and_read", "search", "no_commands"])
def test_the_presets_are_the_published_conditions(condition: Condition, demonstration: bool) -> None:
    names = {"search_and_read": "citeme", "search": "citeme-search", "no_commands": "citeme-no-commands"}
    setting = PaperRunSettings(preset=names[condition] + ("" if demonstration else "-zero-shot"))
    published = AgentSettings(condition=condition, demonstration=demonstration, extra_actions=False, form="json")
    assert setting.agent == published
    assert setting.temperature == 0.95  # CiteME, section 4
    searches = condition != "no_commands"
    assert setting.open_access_only == searches  # as the authors' code searches
    assert setting.field == ("Computer Science" if searches else None)


def test_trajectories_have_names_that_are_files() -> None:
    assert file_name("17") == "17"
    names = [file_name(id) for id in ("..", "a/b", "con:", "x" * 200, "\ud800")]
    assert all(re.fullmatch(r"[0-9a-f]{64}", name) for name in names)
    assert len(set(names)) == 5
    assert json.dumps(names)
