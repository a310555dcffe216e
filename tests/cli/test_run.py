"""`quoteweave run` against a scripted model server: settings, kill and resume, limits, and scores known beforehand."""

import json
import os
import re
import signal
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from builders import write_json_lines
from forked_programs import ForkedProgram
from made_runs import GOODS, RunIt, asking, row, score, scripted_reply, timeless, value
from typer.testing import CliRunner

from quoteweave.cli.app import app
from quoteweave.core.errors import EndpointUnreachable, UsageError
from quoteweave.core.files.jsonl import open_for_append
from quoteweave.core.runs import read_run
from quoteweave.pipeline.runs.config import read_run_file
from quoteweave.retrievers.catalogue import catalogue as models
from quoteweave.retrievers.rerankers import reranker_rows
from quoteweave.testing import ModelServer, Reply

AT_ONCE = {"retry-after-ms": "1"}
TABLE_7 = """
model = "scripted"

[[setting]]
name = "perfect"
quotes = "dataset"

[[setting]]
name = "original"
retriever = ["bm25"]

[[setting]]
name = "clauses"
retriever = ["bm25"]
expand = "chat"

[[setting]]
name = "ensemble"
retriever = ["bm25", "tfidf", "lexical"]
expand = "chat"
rerank = "endpoint:reranker@URL"
"""


def test_the_four_settings_of_table_7_give_known_scores(run_it: RunIt, port: Path, dataset: Path) -> None:
    with ModelServer(lambda request: scripted_reply(request) if "messages" in request else Reply()) as server:
        outcomes = value(run_it(TABLE_7, "-c", port, "--json", url=server.base_url))
    assert [outcome["setting"] for outcome in outcomes] == ["perfect", "original", "clauses", "ensemble"]
    perfect, *retrieved = outcomes
    assert (perfect["answered"], perfect["abstained"], perfect["failed"]) == (6, 0, 0)
    assert perfect["tokens"] == {"input": 600, "output": 60}
    scores = score(Path(perfect["run"]), dataset)
    assert [scores["image"]["f1"], scores["text"]["f1"], scores["overall"]["f1"]] == [1, 1, 1]
    for outcome in retrieved:
        # Of wool nothing is found, and the model says so; all other gold is found and cited, and nothing else.
        assert (outcome["answered"], outcome["abstained"]) == (5, 1), outcome
        scores = score(Path(outcome["run"]), dataset)
        assert scores["image"]["recall"] == pytest.approx(5 / 6)
        assert scores["figures"]["context.recall"]["value"] == pytest.approx(5 / 6)
        assert scores["figures"]["context.image.recall"]["value"] == pytest.approx(5 / 6)
        assert scores["text"]["precision"] == 1
        assert scores["figures"]["overall.f1"]["value"] == pytest.approx(5 / 6)


def lines_of(folder: Path) -> list[str]:
    """The run's own lines, without the times in them and the checksums over these."""
    text = re.sub(r',"xxh3":"[0-9a-f]+"', "", (folder / "predictions.jsonl").read_text("utf-8"))
    return [re.sub(r'"seconds":[\d.e-]+', '"seconds":0', line) for line in text.splitlines()]


@pytest.mark.parametrize("moment", [2, 5])
def test_a_run_of_several_questions_at_once_has_the_same_file_when_killed_and_resumed(
    run_it: RunIt, dataset: Path, tmp_path: Path, moment: int
) -> None:
    config = 'model = "scripted"\nquotes = "dataset"\n[limits]\nconcurrency = 4\n'
    victim: list[ForkedProgram] = []
    started = threading.Event()

    def killing(request: Mapping[str, Any]) -> Reply:
        if len(server.requests) == moment:
            assert started.wait(60)
            os.kill(victim[0].pid, signal.SIGKILL)
        return scripted_reply(request)

    with ModelServer(killing) as server:
        arguments = map(str, asking(tmp_path, dataset, "killed"))
        (tmp_path / "config.toml").write_text(config)
        environment = {**os.environ, "OPENAI_BASE_URL": server.base_url}
        victim.append(ForkedProgram([sys.executable, "-m", "quoteweave", *arguments], env=environment))
        started.set()
        assert victim[0].wait() == -signal.SIGKILL
        assert run_it(config, url=server.base_url, out="killed").exit_code == 0
    with ModelServer(scripted_reply) as server:
        assert run_it(config, url=server.base_url, out="whole").exit_code == 0
    assert lines_of(tmp_path / "killed") == lines_of(tmp_path / "whole")
    assert [json.loads(line)["example"] for line in lines_of(tmp_path / "whole")] == list(GOODS)


def test_a_run_killed_and_resumed_is_the_same_but_for_times(run_it: RunIt, dataset: Path, tmp_path: Path) -> None:
    config = 'model = "scripted"\nquotes = "dataset"\norder = "shuffled"\n[limits]\nconcurrency = 1\n'
    with ModelServer(scripted_reply) as server:
        assert run_it(config, url=server.base_url, out="whole").exit_code == 0
    for moment in (1, 3, 5):
        victim: list[ForkedProgram] = []
        started = threading.Event()

        def killing(
            request: Mapping[str, Any],
            moment: int = moment,
            victim: list[Any] = victim,
            started: threading.Event = started,
        ) -> Reply:
            if len(server.requests) == moment:
                assert started.wait(60)
                os.kill(victim[0].pid, signal.SIGKILL)
            return scripted_reply(request)

        with ModelServer(killing) as server:
            arguments = map(str, asking(tmp_path, dataset, f"killed{moment}"))
            environment = {**os.environ, "OPENAI_BASE_URL": server.base_url}
            victim.append(ForkedProgram([sys.executable, "-m", "quoteweave", *arguments], env=environment))
            started.set()
            assert victim[0].wait() == -signal.SIGKILL
            asked = len(server.requests)
            assert run_it(config, url=server.base_url, out=f"killed{moment}").exit_code == 0
            assert asked + 6 - (moment - 1) == len(server.requests), "what was answered is not asked again"
        assert timeless(tmp_path / f"killed{moment}") == timeless(tmp_path / "whole")


def test_failures_are_kept_as_failures_and_asked_again(run_it: RunIt, tmp_path: Path) -> None:
    broken = [True]

    def faulty(request: Mapping[str, Any]) -> Reply:
        if broken[0] and "much coal was" in str(request):
            return Reply(status=400, text="this context is too long")
        return scripted_reply(request)

    config = 'model = "scripted"\nquotes = "dataset"\n'
    with ModelServer(faulty) as server:
        first = run_it(config, url=server.base_url)
        assert first.exit_code == 1
        assert "6 questions, 5 answered, 0 abstained, 1 failed" in first.stdout
        assert "question 'coal' failed: " in first.stderr
        assert "this context is too long" in first.stderr
        assert "EndpointRefused" not in first.stderr
        broken[0] = False
        second = value(run_it(config, "--json", url=server.base_url))
    assert (second[0]["asked"], second[0]["failed"], second[0]["answered"]) == (1, 0, 6)
    assert len(read_run(tmp_path / "runs")[1]) == 6


def test_a_dead_endpoint_ends_the_run_soon(run_it: RunIt, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quoteweave.pipeline.runs.answerer.MAX_FAILURES", 2)
    config = 'model = "scripted"\nquotes = "dataset"\n[limits]\nconcurrency = 1\n'
    with ModelServer(lambda _: Reply(status=401, text="key expired")) as server:
        result = run_it(config, url=server.base_url)
    assert isinstance(result.exception, EndpointUnreachable)
    assert "2 questions in a row failed" in str(result.exception)
    assert "key expired" in str(result.exception)
    assert len(server.requests) == 2


def test_a_budget_ends_the_run_and_more_of_it_goes_on(run_it: RunIt) -> None:
    config = 'model = "scripted"\nquotes = "dataset"\n[limits]\nconcurrency = 1\nmax_tokens = LEFT\n'
    with ModelServer(scripted_reply) as server:
        result = run_it(config.replace("LEFT", "1_000"), url=server.base_url)
        assert isinstance(result.exception, UsageError)
        assert "tokens are spent of the 1,000 tokens allowed" in str(result.exception)
        answered = len(server.requests)
        assert 0 < answered < 6
        again = value(run_it(config.replace("LEFT", "100_000"), "--json", url=server.base_url))
    assert (again[0]["asked"], again[0]["answered"]) == (6 - answered, 6)


def test_calls_that_were_kept_are_replayed_without_a_server(run_it: RunIt, tmp_path: Path) -> None:
    config = f'model = "scripted"\nquotes = "dataset"\n[limits]\ncalls = "{tmp_path / "calls"}"\n'
    with ModelServer(scripted_reply) as server:
        first = value(run_it(config, "--json", url=server.base_url))
    again = value(run_it(config, "--json", url=server.base_url, out="again"))
    assert (first[0]["answered"], again[0]["answered"], again[0]["failed"]) == (6, 6, 0)
    assert timeless(tmp_path / "again") == timeless(tmp_path / "runs")


EXPANDING = 'model = "scripted"\nexpand = "chat"\nrerank = "chat"\nretriever = ["bm25"]\n'


def test_calls_of_expansion_and_reranking_are_the_runs_own(run_it: RunIt, port: Path, tmp_path: Path) -> None:
    config = f'{EXPANDING}[limits]\ncalls = "{tmp_path / "calls"}"\n'
    with ModelServer(
        lambda request: scripted_reply(request) if "Passages" not in str(request) else Reply(text="[1]")
    ) as server:
        first = value(run_it(config, "-c", port, "--json", url=server.base_url))
        asked = {str(request["messages"][0]["content"])[:20] for request in server.requests}
    again = value(run_it(config, "-c", port, "--json", url=server.base_url, out="again"))
    assert len(asked) == 3, "one asks to expand, one to rerank, one to answer"
    assert (first[0]["answered"], again[0]["answered"], again[0]["failed"]) == (first[0]["answered"], 5, 0)
    assert timeless(tmp_path / "again") == timeless(tmp_path / "runs")
    prompts = [name for name in read_run(tmp_path / "runs")[0].fingerprints if name.startswith("prompt ")]
    assert {"prompt expand_system", "prompt rerank_user", "prompt cited_answer_user"} <= set(prompts)


def test_prompts_of_one_s_own_expand_too_and_are_part_of_what_a_run_is(
    run_it: RunIt, port: Path, tmp_path: Path
) -> None:
    config = 'model = "scripted"\nexpand = "chat"\nretriever = ["bm25"]\nprompts = "PROMPTS"\n'
    config = config.replace("PROMPTS", str(tmp_path / "prompts"))
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "expand_system.txt").write_text("Make at most $most clauses, in verse.")
    with ModelServer(scripted_reply) as server:
        assert run_it(config, "-c", port, url=server.base_url).exit_code == 0
        systems = {str(request["messages"][0]["content"]) for request in server.requests}
        (tmp_path / "prompts" / "expand_system.txt").write_text("Make at most $most clauses, in prose.")
        refused = run_it(config, "-c", port, url=server.base_url)
    assert any(system.endswith("clauses, in verse.") for system in systems)
    assert isinstance(refused.exception, UsageError)
    assert "prompt expand_system" in str(refused.exception)


def test_an_expansion_that_fails_is_told_of_with_the_answer(run_it: RunIt, port: Path, tmp_path: Path) -> None:
    def script(request: Mapping[str, Any]) -> Reply:
        expands = str(request["messages"][-1]["content"]).startswith("Question: ")
        return Reply(status=400, text="no") if expands else scripted_reply(request)

    with ModelServer(script) as server:
        run_it('model = "scripted"\nexpand = "chat"\nretriever = ["bm25"]\n', "-c", port, url=server.base_url)
    for prediction in read_run(tmp_path / "runs")[1]:
        assert any("was searched for alone" in note for note in prediction.notes)


def test_quotes_are_cut_to_the_window_and_counted(run_it: RunIt, dataset: Path, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in dataset.read_text().splitlines()]
    for one in rows:
        one["text_quotes"][7]["text"] = "barley " * 5000
    write_json_lines(dataset, rows)
    with ModelServer(scripted_reply) as server:
        config = 'model = "scripted"\nquotes = "dataset"\nwindow = 4000\n'
        (outcome,) = value(run_it(config, "--json", url=server.base_url))
        assert all(len(str(request)) < 4 * 4000 for request in server.requests)
    assert (outcome["cut_quotes"], outcome["answered"]) == (6, 6)
    assert {one.cut_quotes for one in read_run(tmp_path / "runs")[1]} == {1}


def test_gold_can_be_put_at_a_place(run_it: RunIt, tmp_path: Path, dataset: Path) -> None:
    with ModelServer(scripted_reply) as server:
        run_it('model = "scripted"\nquotes = "dataset"\norder = "gold_at"\nplace = 12\n', url=server.base_url)
    for prediction in read_run(tmp_path / "runs")[1]:
        assert prediction.context is not None
        assert prediction.context.texts[11].quote.id == "text3"
        assert prediction.context.images[7].quote.id == "image2"
        assert (prediction.response or "").endswith("[12] ![chart](image8).")
    assert score(tmp_path / "runs", dataset)["overall"]["f1"] == 1


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ("size = 17", "size"),
        ('order = "gold_at"', "wants a place"),
        ("sise = 15", "sise"),
        ("a = = 1", "is no TOML"),
        ("[[setting]]\nsize = 15\n[[setting]]\nsize = 20", "name of its own"),
        ('quotes = "retrieved"', "name it with -c"),
        ('model = "m"', 'or answer from the dataset\'s own with quotes = "dataset"'),
        ('model = "m"\nimages = true\nquotes = "dataset"', "--image-folder"),
    ],
)
def test_a_configuration_that_cannot_be_followed_is_told(run_it: RunIt, config: str, said: str) -> None:
    result = run_it(config)
    assert isinstance(result.exception, UsageError)
    assert said in str(result.exception)


def test_another_configuration_wants_another_folder(run_it: RunIt) -> None:
    assert run_it('quotes = "dataset"\n').exit_code == 0
    result = run_it('quotes = "dataset"\nview = "ocr_text"\n')
    assert isinstance(result.exception, UsageError)
    assert "view is 'all' there and 'ocr_text' here" in str(result.exception)


def test_a_judge_gives_its_verdict_beside_the_gate_and_is_part_of_the_run(run_it: RunIt, tmp_path: Path) -> None:
    def judging(request: Mapping[str, Any]) -> Reply:
        if "supported" not in str(request["messages"]):
            return scripted_reply(request)
        doubts = "So much coal" in str(request["messages"][-1]["content"])
        return Reply(text='{"supported": "no"}' if doubts else '{"supported": "yes"}')

    config = 'model = "scripted"\nquotes = "dataset"\ncheck = "chat"\n'
    with ModelServer(judging) as server:
        assert run_it(config, url=server.base_url).exit_code == 0
        assert len(server.requests) == 12
        other = run_it(config.replace('"chat"', f'"chat:other@{server.base_url}"'), url=server.base_url)
    run, predictions = read_run(tmp_path / "runs")
    assert run.configuration["check"] == "chat"
    assert run.fingerprints["checker"].startswith("chat:scripted check_claim ")
    for prediction in predictions:
        assert prediction.answer is not None
        assert {one.checker_verdict for one in prediction.answer.citations} == {prediction.example != "coal"}
        assert bool(prediction.answer.warnings) == (prediction.example == "coal")
    assert isinstance(other.exception, UsageError)
    assert "check is 'chat' there" in str(other.exception)


def test_a_judge_that_is_named_is_kept_within_the_limits_too(run_it: RunIt, tmp_path: Path) -> None:
    with ModelServer(lambda _: Reply(text='{"supported": "yes"}')) as judge, ModelServer(scripted_reply) as server:
        config = (
            f'model = "scripted"\nquotes = "dataset"\ncheck = "chat:judge@{judge.base_url}"\n'
            f'[limits]\ncalls = "{tmp_path / "calls"}"\n'
        )
        first = run_it(config, url=server.base_url)
        assert "cited sentences and their quotes are sent to 127.0.0.1:" in first.stderr
        assert len(judge.requests) == 6
    # Both are answered from what was kept.
    assert value(run_it(config, "--json", url=server.base_url, out="again"))[0]["answered"] == 6
    assert timeless(tmp_path / "again") == timeless(tmp_path / "runs")


def test_a_checker_that_is_not_there_is_told_before_anything_is_asked(run_it: RunIt) -> None:
    result = run_it('quotes = "dataset"\ncheck = "gpt-9"\n')
    assert isinstance(result.exception, UsageError)
    assert "there is no checker 'gpt-9'" in str(result.exception)
    assert "which chat model" in str(run_it('quotes = "dataset"\ncheck = "chat"\n').exception)


def test_no_ranking_is_scored_where_a_run_kept_none(run_it: RunIt, tmp_path: Path, dataset: Path, port: Path) -> None:
    with ModelServer(scripted_reply) as server:
        run_it('model = "scripted"\nretriever = ["bm25"]\n', "-c", port, url=server.base_url)
    said = ["eval", "score", tmp_path / "runs", "--dataset", "mmdocrag-20", "--references", dataset, "--json"]
    figures = value(CliRunner().invoke(app, [str(part) for part in said]))["figures"]
    assert figures["context.text.recall"]["value"] > 0
    assert {"recall@20", "map", "page_recall@10", "text.recall@20"}.isdisjoint(figures)


@pytest.mark.parametrize("config", ['[setting]\nname = "x"', "setting = 3", 'setting = ["a"]', "setting = []"])
def test_settings_that_are_no_tables_are_told(run_it: RunIt, config: str) -> None:
    result = run_it(config)
    assert result.exit_code == 2 or isinstance(result.exception, UsageError)
    assert "[[setting]]" in f"{result.output} {result.exception}"


def test_a_run_ends_where_its_calls_cannot_be_kept(run_it: RunIt) -> None:
    with ModelServer(scripted_reply) as server:
        config = 'model = "scripted"\nquotes = "dataset"\n[limits]\nconcurrency = 1\ncalls = "/proc/calls"\n'
        result = run_it(config, url=server.base_url)
        assert result.exit_code != 0
        assert len(server.requests) == 1


def test_marks_out_of_range_do_not_keep_a_run_from_its_scores(run_it: RunIt, tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    path.write_text("".join(json.dumps({**row("tin"), "q_id": f"tin{n}"}) + "\n" for n in range(20)))
    with ModelServer(lambda _: Reply(text="So much tin [3] and [27].")) as server:
        run_it('model = "scripted"\nquotes = "dataset"\n', url=server.base_url)
    said = ["eval", "score", tmp_path / "runs", "--dataset", "mmdocrag-20", "--references", path, "--json"]
    assert value(CliRunner().invoke(app, [str(part) for part in said]))["out_of_range"] == 20


def test_the_example_of_table_7_is_a_configuration_of_four_settings() -> None:
    read = read_run_file(Path(__file__).parents[2] / "examples" / "mmdocrag_table7.toml")
    assert [one.name for one in read.settings] == ["perfect", "original", "clauses", "ensemble"]
    assert [(one.quotes, one.expand, bool(one.rerank)) for one in read.settings] == [
        ("dataset", None, False),
        ("retrieved", None, False),
        ("retrieved", "chat", True),
        ("retrieved", "chat", True),
    ]
    named = {name for one in read.settings for name in one.retriever} | {one.rerank for one in read.settings}
    assert named - {None, "bm25", "lexical"} <= {*models(), *reranker_rows()}


def test_two_commands_do_not_write_one_run(run_it: RunIt, tmp_path: Path) -> None:
    with ModelServer(scripted_reply) as server:
        config = 'model = "scripted"\nquotes = "dataset"\n'
        run_it(config, "--limit", 1, url=server.base_url)
        with open_for_append(tmp_path / "runs" / "predictions.jsonl"):
            refused = run_it(config, url=server.base_url)
    assert isinstance(refused.exception, UsageError)
    assert "is being written by another command" in str(refused.exception)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("config", "told_as"),
    [
        ("[limits]\nconcurency = 3", "limits.concurency is no key; did you mean concurrency?"),
        ('modle = "x"', "config.toml: modle is no key; did you mean model?"),
        ('retriever = "bm25"', 'such as ["bm25"]'),
        ('[[setting]]\nname = "a"\n[[setting]]\nname = "b"\nsize = 17', "[[setting]] size: "),
    ],
)
def test_what_is_wrong_in_a_configuration_is_told_in_its_own_words(run_it: RunIt, config: str, told_as: str) -> None:
    refused = run_it(config)
    assert told_as in str(refused.exception)
    assert len(str(refused.exception).split("there are")) <= 2
