"""`quoteweave run` over CiteME: an agent looks for each paper; its trajectories are kept, resumed and scored."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from made_collections import made_quote, make_collection, put
from typer.testing import CliRunner, Result

from quoteweave.attribution.agent.trajectory import read_trajectory
from quoteweave.cli.app import app
from quoteweave.core.answers import Usage
from quoteweave.core.runs import read_run, read_run_record
from quoteweave.testing import ModelServer, Reply

TABLE = (
    "id,excerpt,target_paper_title,target_paper_url,source_paper_title,source_paper_url,year,split\n"
    "1,Blur hurts [CITATION].,Deep Blur,https://arxiv.org/abs/1701.00001,Our Paper,http://y,2020,test\n"
    "a/b,Noise helps [CITATION].,Loud Noise,https://doi.org/10.1/noise,Our Paper,http://y,2020,test\n"
)
PAPERS = {
    "blur.md": ("Deep Blur", "Blur hurts networks.", {"year": "2017", "arxiv": "1701.00001"}),
    "noise.md": ("Loud Noise", "Noise helps networks.", {"year": "2018", "doi": "10.1/noise"}),
    "later.md": ("Later Blur and Noise", "Blur and noise.", {"year": "2022"}),
    "own.md": ("Our Paper", "Blur and noise hurt and help.", {"year": "2020"}),
}


def does(name: str, **fields: str) -> Reply:
    return Reply(text=json.dumps({"rationale": "So.", "action": {"name": name, **fields}}))


def agent(request: Mapping[str, Any]) -> Reply:
    """Searches, reads and selects the paper of the excerpt, by what it has been shown so far."""
    said = [message["content"] for message in request["messages"] if message["role"] != "system"]
    topic, document = ("blur", "blur.md") if "Blur hurts" in said[0] else ("noise", "noise.md")
    return [
        does("search_relevance", query=topic),
        does("read", paper_id=document),
        does("select", paper_id=document),
    ][len(said) // 2]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("library")
    with make_collection(folder, {}) as made, made.writer() as writer:
        for name, (title, text, metadata) in PAPERS.items():
            put(writer, folder, name, [made_quote(text)], metadata={"title": title, **metadata})
    return made.root


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "DATASET.csv"
    path.write_text(TABLE)
    return path


class Runs:
    """Runs and scores over the table, with what the server says."""

    def __init__(self, table: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked = ["--dataset", "citeme", "--references", str(table)]
        self.folder, self.server = table.parent / "run", server
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("QUOTEWEAVE_MODEL", "m")

    def run(self, *options: object) -> Result:
        given = ["run", *self.asked, "--out", str(self.folder), *map(str, options)]
        return CliRunner().invoke(app, given)

    def score(self, *options: str) -> dict[str, Any]:
        scored = CliRunner().invoke(app, ["eval", "score", str(self.folder), *self.asked, "--json", *options])
        assert scored.exit_code == 0, scored.output
        found: dict[str, Any] = json.loads(scored.stdout)
        return found

    def figures(self, *options: str) -> dict[str, float]:
        return {name: figure["value"] for name, figure in self.score(*options)["figures"].items()}


def test_without_commands_the_model_names_the_paper_and_is_told_nothing_else(
    table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ModelServer(lambda _: Reply(text="It is:\n**Deep Blur**")) as server:
        runs = Runs(table, server, monkeypatch)
        result = runs.run("--preset", "citeme-no-commands-zero-shot")
    assert result.exit_code == 0, (result.output, result.exception)
    told = json.dumps(server.requests)
    assert ("Blur hurts [CITATION]." in told, "Our Paper" in told, "Deep Blur" in told) == (True, False, False)
    assert {request["temperature"] for request in server.requests} == {0.95}
    found = runs.figures()
    assert (found["title_match"], found["title_match.exact"], found["technical_errors"]) == (0.5, 0.5, 0.0)
    assert "target_found" not in found
    assert "open_access_only" not in read_run_record(runs.folder).configuration  # nothing is searched
    # By the authors' reading the whole reply is the title.
    assert runs.figures("--convention", "published")["title_match"] == 0.0


def test_the_agent_finds_the_papers_in_a_collection_and_is_scored(
    table: Path, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ModelServer(agent) as server:
        runs = Runs(table, server, monkeypatch)
        result = runs.run("--preset", "citeme", "--source", library)
    assert result.exit_code == 0, (result.output, result.exception)
    found = runs.figures("--convention", "published")
    assert {name: found[name] for name in ("title_match", "identifier_match", "target_found", "technical_errors")} == {
        "title_match": 1.0,
        "identifier_match": 1.0,
        "target_found": 1.0,
        "technical_errors": 0.0,
    }
    assert (found["actions"], found["reads_failed"]) == (3.0, 0.0)
    told = json.dumps(server.requests)
    assert "Loud Noise" in told
    assert "Later Blur" not in told
    assert "Our Paper" not in told
    first, second = read_run(runs.folder)[1]
    assert first.scope == "collection"
    search = first.paper_search
    assert search is not None
    assert [(step.action, step.argument) for step in search.steps] == [
        ("search_relevance", "blur"),
        ("read", "blur.md"),
        ("select", "blur.md"),
    ]
    assert search.selected is not None
    assert search.selected.identifiers == {"arxiv": "1701.00001", "document": "blur.md"}
    assert (second.response, second.usage.input_tokens) == ("Loud Noise", 3)
    assert read_trajectory(runs.folder / "trajectories" / "1.jsonl").outcome == "selected"
    record = read_run_record(runs.folder)
    assert record.configuration["condition"] == "search_and_read"
    assert {"source", "documents", "prompt find_paper_system"} <= record.fingerprints.keys()


def test_a_run_that_was_broken_off_goes_on_at_its_step_and_repeats_no_call(
    table: Path, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails_once_it_has_read(request: Mapping[str, Any]) -> Reply:
        said = [message["content"] for message in request["messages"] if message["role"] != "system"]
        return Reply(status=401, text="no credit") if "Noise" in said[0] and len(said) == 5 else agent(request)

    with ModelServer(fails_once_it_has_read) as server:
        runs = Runs(table, server, monkeypatch)
        stopped = runs.run("--preset", "citeme", "--source", library)
        assert stopped.exit_code == 1
        assert "question 'a/b' failed: endpoint: " in stopped.stderr
    scored = runs.score()
    assert scored["figures"]["title_match"]["n"] == 1
    assert scored["figures"]["technical_errors.endpoint"]["value"] == 0.5
    with ModelServer(agent) as server:
        resumed = Runs(table, server, monkeypatch)
        assert resumed.run("--preset", "citeme", "--source", library).exit_code == 0
        assert len(server.requests) == 1
    assert resumed.figures()["title_match"] == 1.0
    with ModelServer([]) as server:  # the trajectories alone give the run again
        replayed = Runs(table, server, monkeypatch)
        (replayed.folder / "predictions.jsonl").unlink()
        (replayed.folder / "run.json").unlink()
        assert replayed.run("--preset", "citeme", "--source", library).exit_code == 0
        assert server.requests == []
    assert replayed.figures()["title_match"] == 1.0


def test_a_budget_that_is_spent_ends_the_run_and_more_goes_on_with_it(
    table: Path, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = table.with_name("config.toml")
    limits = "[limits]\nconcurrency = 1\nmax_tokens = "

    def counted(request: Mapping[str, Any]) -> Reply:
        return agent(request).model_copy(update={"usage": Usage(input_tokens=2000, output_tokens=1)})

    with ModelServer(counted) as server:
        runs = Runs(table, server, monkeypatch)
        file.write_text(limits + "6000")
        stopped = runs.run("--preset", "citeme", "--source", library, "--config", file)
        assert "the next call" in str(stopped.exception)
        asked = len(server.requests)
        assert 0 < asked < 6
        file.write_text(limits + "1000000")
        assert runs.run("--preset", "citeme", "--source", library, "--config", file).exit_code == 0
        assert len(server.requests) == 6
    assert runs.figures()["title_match"] == 1.0


def test_what_is_no_action_is_a_technical_error_and_no_wrong_answer(
    table: Path, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ModelServer(lambda _: Reply(text="I believe that it is Deep Blur.")) as server:
        runs = Runs(table, server, monkeypatch)
        assert runs.run("--preset", "citeme-search", "--source", library).exit_code == 1
        again = runs.run("--preset", "citeme-search", "--source", library)
        assert again.exit_code == 1
        assert "goes on where the endpoint or the source failed; others are kept" in again.stderr
        assert "0 questions to answer with m; 2 are done already" in again.stderr
        assert len(server.requests) == 6  # each asked anew twice, and not again by the second command
    strict, published = runs.figures(), runs.figures("--convention", "published")
    assert "title_match" not in strict
    assert (strict["technical_errors.bad_format"], published["title_match"]) == (1.0, 0.0)


@pytest.mark.parametrize(
    ("config", "options", "said"),
    [
        ("", [], "condition 'search_and_read' searches for papers: name where with --source or the key source"),
        ('condition = "read"', [], "condition"),
        ("most_action = 3", [], "most_action is no key; did you mean most_actions?"),
        ("most_actions = 0", [], "most_actions"),
        ('order = "shuffled"', [], "order is of quotes, and citeme asks of an excerpt, without any: leave it out"),
        ('quotes = "dataset"', [], "quotes is of quotes"),
        ('preset = "mmdocrag-text"', [], "preset 'mmdocrag-text': it is for answers; there are: citeme,"),
        ("", ["-c", "x"], "citeme searches papers, not quotes: name the collection with --source, not with -c"),
        ("", ["--source", "nowhere"], "nowhere"),
        ("ranking = true", [], "ranking searches for papers: name where with --source or the key source"),
        ('ranking = true\nmodel = "m"', [], "model is of a model that looks for papers, and ranking asks none"),
        ('ranking = true\ncondition = "search"', [], "condition is of a model that looks for papers"),
    ],
)
def test_what_cannot_be_as_it_is_set_is_named(
    table: Path, monkeypatch: pytest.MonkeyPatch, config: str, options: list[str], said: str
) -> None:
    file = table.with_name("config.toml")
    file.write_text(config)
    with ModelServer([]) as server:
        result = Runs(table, server, monkeypatch).run("--config", file, *options)
        assert server.requests == []
    assert said in str(result.exception)


def test_it_is_said_where_the_table_does_not_tell_what_is_to_be_hidden(
    table: Path, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ModelServer(agent) as server:
        runs = Runs(table, server, monkeypatch)
        assert "is not hidden" not in runs.run("--preset", "citeme", "--source", library).stderr
        table.write_text("id,excerpt,target_paper_title\n1,Blur hurts [CITATION].,Deep Blur\n")
        runs.folder = table.parent / "other"
        told = runs.run("--preset", "citeme", "--source", library).stderr
    assert "1 excerpt without source_paper_title: the paper that they are from is not hidden" in told
    assert "1 excerpt without year: papers up to 2024 are shown" in told


def test_without_a_model_nothing_is_asked(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ModelServer([]) as server:
        runs = Runs(table, server, monkeypatch)
        monkeypatch.delenv("QUOTEWEAVE_MODEL")
        result = runs.run("--preset", "citeme")
    assert "citeme asks for a paper, and only a model names one; set model" in str(result.exception)


@pytest.mark.parametrize("retriever", ["lexical", "bm25"])
def test_papers_are_ranked_without_a_model_and_scored_by_the_first(
    table: Path, library: Path, monkeypatch: pytest.MonkeyPatch, retriever: str
) -> None:
    (table.with_name("config.toml")).write_text(f'ranking = true\nretriever = ["{retriever}"]\nresults = 3')
    with ModelServer([]) as server:
        runs = Runs(table, server, monkeypatch)
        ran = runs.run("--config", table.with_name("config.toml"), "--source", library)
        assert (ran.exit_code, server.requests) == (0, []), ran.output
        assert "2 questions to answer with a ranking of papers" in ran.stderr
    reviewed = CliRunner().invoke(app, ["eval", "trajectories", str(runs.folder)])
    assert "holds no trajectories" in str(reviewed.exception)
    figures = runs.figures("--convention", "published")
    assert (figures["title_match"], figures["identifier_match"], figures["target_found"]) == (1.0, 1.0, 1.0)
    assert (figures["technical_errors"], figures["actions"]) == (0.0, 1.0)
    for one in read_run(runs.folder)[1]:
        assert one.paper_search is not None
        titles = {paper.title for paper in one.paper_search.shown()}
        assert titles <= {"Deep Blur", "Loud Noise"}, "the excerpt's own paper and the later one are hidden"
        assert one.model == retriever


def test_a_source_is_of_citeme_alone(tmp_path: Path) -> None:
    asked = ["run", "--dataset", "mmdocrag-20", "--references", "x", "--out", str(tmp_path), "--preset", "citeme"]
    result = CliRunner().invoke(app, [*asked, "--source", "y"])
    assert "--source is of citeme; mmdocrag-20 takes its quotes from -c DIR" in str(result.exception)


def test_accuracy_is_told_by_tag_year_and_number_of_actions_and_who_gives_up_is_counted(
    table: Path, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = table.read_text().replace(",split\n", ",split,tags\n").replace(",test\n", ",test,vision; networks\n", 1)
    table.write_text(rows.replace(",test\n", ",test,networks\n"))

    def half_right(request: Mapping[str, Any]) -> Reply:
        said = [message["content"] for message in request["messages"] if message["role"] != "system"]
        right = "Blur hurts" in said[0]
        taken = [does("search_relevance", query="networks"), does("select", paper_id="blur.md")]
        return taken[len(said) // 2] if right else [taken[0], taken[0], taken[1]][len(said) // 2]

    def gives_up(_: Mapping[str, Any]) -> Reply:
        return does("search_relevance", query="networks")

    with ModelServer(gives_up) as server:
        told = Runs(table, server, monkeypatch).run("--preset", "citeme", "--source", library)
        shutil.rmtree(table.parent / "run")
    assert "2 questions, 0 answered, 2 abstained, 0 failed" in told.stdout
    with ModelServer(half_right) as server:
        runs = Runs(table, server, monkeypatch)
        assert runs.run("--preset", "citeme", "--source", library).exit_code == 0
    found = runs.score("--by", "tag", "--by", "year", "--by", "actions", "--convention", "published")
    groups = {
        by: {group: figures["title_match"]["value"] for group, figures in groups.items()}
        for by, groups in found["breakdowns"].items()
    }
    assert groups == {
        "tag": {"vision": 1.0, "networks": 0.5},
        "year": {"2020": 0.5},
        "actions": {"2": 1.0, "3": 0.0},
    }
