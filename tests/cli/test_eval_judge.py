"""`quoteweave eval judge` against a scripted model server over real HTTP: prices, faults, kill and resume."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import typer
from builders import write_json_lines
from forked_programs import ForkedProgram
from typer.testing import CliRunner, Result

from quoteweave.cli.eval import judge as eval_judge
from quoteweave.cli.eval import paid
from quoteweave.core.answers import Usage
from quoteweave.core.errors import DatasetError, EndpointError, UsageError
from quoteweave.core.examples import Prediction
from quoteweave.core.runs import RunRecord, open_run
from quoteweave.evaluation.judges.judgements import ASPECTS, load_judgements
from quoteweave.testing import ModelServer, Reply

Judge = Callable[..., Result]

NAMES = ("ant", "bee", "cat", "dog")
MODEL = "judge-1"
AT_ONCE = {"retry-after-ms": "1"}
COMMAND = "import typer; from quoteweave.cli.eval.judge import judge; app = typer.Typer(); app.command()(judge); app()"


def said(score: int) -> str:
    return f"Sound. {json.dumps(dict.fromkeys(ASPECTS, score))}"


def question_of(request: Mapping[str, Any]) -> str:
    """The name of the question that a request is about."""
    text = str(request["messages"][0]["content"])
    return next(name for name in NAMES if f"What does the {name} eat?" in text)


def scripted(**replies: Sequence[Reply]) -> Callable[[Mapping[str, Any]], Reply]:
    """Replies to the requests about a question, in turn; to all others, a whole judgement."""
    left = {name: list(given) for name, given in replies.items()}

    def script(request: Mapping[str, Any]) -> Reply:
        given = left.get(question_of(request))
        return given.pop(0) if given else Reply(text=said(4), usage=Usage(input_tokens=1000, output_tokens=100))

    return script


def made_example(name: str, **changed: object) -> dict[str, object]:
    """A question as MMDocRAG's files hold it, with its 12 text quotes and 8 image quotes."""
    texts = [{"type": "text", "text": f"The {name} eats leaves ({n}).", "quote_id": f"text{n}"} for n in range(1, 13)]
    images = [
        {"type": "image", "img_path": f"{n}.jpg", "img_description": f"a {name} eating", "quote_id": f"image{n}"}
        for n in range(1, 9)
    ]
    return {
        "q_id": name,
        "doc_name": "animals",
        "domain": "Guidebook",
        "question": f"What does the {name} eat?",
        "evidence_modality_type": ["text"],
        "question_type": "Descriptive",
        "text_quotes": [{**quote, "page_id": 3, "layout_id": n} for n, quote in enumerate(texts)],
        "img_quotes": [{**quote, "page_id": 4, "layout_id": n} for n, quote in enumerate(images, 20)],
        "gold_quotes": ["text1"],
        "answer_short": "leaves",
        "answer_interleaved": "It eats leaves [1].",
        **changed,
    }


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    with open_run(folder, RunRecord(configuration={"dataset": "mmdocrag-20"})) as opened:
        for name in NAMES:
            opened.append(Prediction(example=name, scope="context", response=f"The {name} eats leaves [1]."))
    return folder


@pytest.fixture
def judge(tmp_path: Path, run: Path, monkeypatch: pytest.MonkeyPatch) -> Judge:
    for name in ("QUOTEWEAVE_MODEL", "OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "200")
    write_json_lines(tmp_path / "data.jsonl", [made_example(name) for name in NAMES])
    app = typer.Typer()
    app.command(epilog=eval_judge.JSON)(eval_judge.judge)

    def invoke(server: ModelServer | None, *options: object, subject: Path = run, typed: str | None = None) -> Result:
        where = [] if server is None else ["--model", MODEL, "--base-url", server.base_url]
        arguments = [*asking(subject, tmp_path / "data.jsonl"), *where, *options]
        return CliRunner().invoke(app, list(map(str, arguments)), input=typed)

    return invoke


def asking(run: Path, references: Path) -> list[object]:
    return [run, "--dataset", "mmdocrag-20", "--references", references]


def found(result: Result) -> Any:
    assert result.exit_code in (0, 1), result.output
    return json.loads(result.stdout)


def test_every_answer_is_judged_kept_and_summed_up(judge: Judge, run: Path) -> None:
    script = scripted(bee=[Reply(text=said(1), usage=Usage(input_tokens=500, output_tokens=50))])
    with ModelServer(script) as server:
        value = found(judge(server, "--json", "--usd-per-million", 10, 100))
    assert {name: value[name] for name in ("model", "asked", "judged", "failed", "no_answer", "errors")} == {
        **{"model": MODEL, "asked": 4, "judged": 4, "failed": 0},
        **{"no_answer": 0, "errors": {}},
    }
    assert value["judge"] == dict.fromkeys((*ASPECTS, "average"), 13 / 4)
    assert value["tokens"] == {"input": 3500, "output": 350}
    assert value["price_usd"] == pytest.approx(0.035 + 0.035)
    assert load_judgements(run / "judgements.jsonl")["bee"] == dict.fromkeys(ASPECTS.values(), 1)
    assert sorted(map(question_of, server.requests)) == list(NAMES)
    text = server.requests[0]["messages"][0]["content"]
    assert all(
        part in text for part in ("eats leaves (12).", "image8 (animals", "It eats leaves [1].", "eats leaves [1].")
    )


def test_tokens_price_and_destination_are_said_before(judge: Judge) -> None:
    with ModelServer(scripted()) as server:
        result = judge(server, "--usd-per-million", 1000, 0)
    host = server.base_url.removeprefix("http://").removesuffix("/v1")
    assert f"are sent to {host}\n" in result.stderr
    assert f"4 answers to judge with {MODEL}\n" in result.stderr
    characters = sum(len(request["messages"][0]["content"]) for request in server.requests)
    tokens = int(result.stderr.partition("about ")[2].partition(" tokens")[0].replace(",", ""))
    assert tokens == pytest.approx(characters / 4, abs=4)
    assert f"about ${tokens / 1000:.2f}" in result.stderr
    assert "citation quality" in result.stdout


def test_quotes_that_are_cut_for_the_judge_are_counted(judge: Judge, tmp_path: Path) -> None:
    examples = [made_example(name) for name in NAMES]
    with ModelServer(scripted()) as server:
        assert "where the judge sees them" not in judge(server).stderr
        examples[0]["text_quotes"][2]["text"] = "word " * 1300  # type: ignore[index]
        examples[1]["text_quotes"][2]["text"] = "word " * 1300  # type: ignore[index]
        write_json_lines(tmp_path / "data.jsonl", examples)
        assert "\n2 quotes are cut to 6,000 characters where the judge sees them\n" in judge(server).stderr


def test_without_a_price_tokens_alone_are_said(judge: Judge) -> None:
    with ModelServer(scripted()) as server:
        result = judge(server)
    assert "price not known" in result.stderr
    assert "$" not in result.stderr


@pytest.mark.parametrize(
    ("typed", "options", "asked"), [("n\n", (), 0), ("", (), 0), ("y\n", (), 4), ("", ("--yes",), 4)]
)
def test_on_a_terminal_it_asks_before_it_sends(
    judge: Judge, run: Path, monkeypatch: pytest.MonkeyPatch, typed: str, options: tuple[str, ...], asked: int
) -> None:
    monkeypatch.setattr(paid, "on_terminal", lambda: True)
    with ModelServer(scripted()) as server:
        result = judge(server, *options, typed=typed)
    assert len(server.requests) == asked
    assert result.exit_code == (0 if asked else 1)
    assert (run / "judgements.jsonl").exists() == bool(asked)


@pytest.mark.parametrize("price", ["-1", "nan", "inf"])
def test_a_price_that_is_none_is_refused_before_anything_is_sent(judge: Judge, price: str) -> None:
    with ModelServer(scripted()) as server:
        result = judge(server, "--usd-per-million", price, 1)
    assert isinstance(result.exception, UsageError)
    assert "--usd-per-million" in str(result.exception)
    assert server.requests == []


def test_faults_are_failed_judgements_and_only_they_are_asked_again(judge: Judge, run: Path) -> None:
    prose, cut = Reply(text="A fine answer, four out of five."), Reply(text=said(4)[:30], finish_reason="length")
    script = scripted(
        ant=[prose, cut],
        bee=[Reply(status=500, text="down", headers=AT_ONCE)] * 3,
        cat=[Reply(status=429, text="slowly", headers=AT_ONCE), prose, Reply(text=said(2))],
    )
    with ModelServer(script) as server:
        first = judge(server, "--json")
        value = found(first)
        assert (first.exit_code, value["judged"], value["failed"]) == (1, 2, 2)
        assert "cut short at the limit" in value["errors"]["ant"]
        assert "500" in value["errors"]["bee"]
        assert value["judge"]["fluency"] == 3
        assert load_judgements(run / "judgements.jsonl")["ant"] == {}
        before = len(server.requests)
        second = judge(server, "--json")
    assert sorted(map(question_of, server.requests[before:])) == ["ant", "bee"]
    value = found(second)
    assert (second.exit_code, value["asked"], value["judged"]) == (0, 2, 4)
    assert value["tokens"] == {"input": 2000, "output": 200}
    assert value["judge"]["fluency"] == 3.5


def test_people_are_told_why_a_judgement_failed(judge: Judge) -> None:
    with ModelServer(scripted(dog=[Reply(text="\x1b[31mno"), Reply(text='{"fluency": "\x1b[31m"}')])) as server:
        result = judge(server)
    assert "3 answers judged by judge-1, 1 failed" in result.stdout
    assert "question 'dog' failed: the judge's reply cannot be read: fluency is" in result.stderr
    assert "\x1b[31m" not in result.stderr + result.stdout


def test_when_all_is_judged_nothing_is_asked_or_sent(judge: Judge) -> None:
    with ModelServer(scripted()) as server:
        judge(server)
        result = judge(server, "--json")
    assert (len(server.requests), result.stderr) == (4, "")
    value = found(result)
    assert (value["asked"], value["judged"], value["tokens"]) == (0, 4, {"input": 0, "output": 0})


def test_an_answer_that_changed_is_judged_anew(judge: Judge, run: Path) -> None:
    with ModelServer(scripted()) as server:
        judge(server)
        with open_run(run, RunRecord(configuration={"dataset": "mmdocrag-20"})) as opened:
            opened.append(Prediction(example="cat", scope="context", response="It eats mice."))
        judge(server)
    assert list(map(question_of, server.requests[4:])) == ["cat"]


@pytest.mark.parametrize(("how", "code"), [(signal.SIGKILL, -signal.SIGKILL), (signal.SIGINT, 130)])
def test_what_was_judged_before_the_end_is_kept(
    judge: Judge, run: Path, tmp_path: Path, how: signal.Signals, code: int
) -> None:
    running: list[ForkedProgram] = []
    started = threading.Event()

    def script(request: Mapping[str, Any]) -> Reply:
        if len(server.requests) == 3:
            assert started.wait(60)
            os.kill(running[0].pid, how)
            return Reply(delay_s=60)
        return Reply(text=said(4))

    with ModelServer(script) as server:
        options = ("--model", MODEL, "--base-url", server.base_url, "--concurrency", 1)
        arguments = [sys.executable, "-c", COMMAND, *asking(run, tmp_path / "data.jsonl"), *options]
        with ForkedProgram(arguments, stderr=subprocess.PIPE) as process:
            running.append(process)
            started.set()
            process.communicate()
    assert process.returncode == code
    assert list(load_judgements(run / "judgements.jsonl")) == ["ant", "bee"]
    with ModelServer(scripted()) as server:
        assert found(judge(server, "--json"))["judged"] == 4
    assert sorted(map(question_of, server.requests)) == ["cat", "dog"]


def test_a_judge_that_cannot_be_had_stops_the_work(judge: Judge, tmp_path: Path, run: Path) -> None:
    names = [f"q{number}" for number in range(30)]
    write_json_lines(tmp_path / "data.jsonl", [made_example(name) for name in names])
    answers = write_json_lines(
        tmp_path / "answers.jsonl", [{"q_id": n, "response": "x", "in_tok": 1, "out_tok": 1} for n in names]
    )
    with ModelServer(lambda _: Reply(status=401, text="who are you?")) as server:
        result = judge(server, "--out", tmp_path / "j.jsonl", "--concurrency", 1, subject=answers)
    assert isinstance(result.exception, EndpointError)
    assert "check the API key" in str(result.exception)
    assert len(server.requests) == 10


def test_answers_in_a_file_need_a_place_for_their_judgements(judge: Judge, tmp_path: Path) -> None:
    rows = [{"q_id": name, "response": "Leaves [1].", "in_tok": 9, "out_tok": 2} for name in NAMES[:2]]
    answers = write_json_lines(tmp_path / "answers.jsonl", rows)
    with ModelServer(scripted()) as server:
        result = judge(server, subject=answers)
        assert isinstance(result.exception, UsageError)
        assert "--out" in str(result.exception)
        value = found(judge(server, "--json", "--limit", 1, "--out", tmp_path / "new" / "j.jsonl", subject=answers))
    assert (value["asked"], value["judgements"]) == (1, str(tmp_path / "new" / "j.jsonl"))
    assert list(load_judgements(tmp_path / "new" / "j.jsonl")) == ["ant"]


def test_judgements_of_other_answers_are_neither_added_to_nor_summed_up(
    judge: Judge, tmp_path: Path, run: Path
) -> None:
    kept = tmp_path / "j.jsonl"
    other = write_json_lines(tmp_path / "other.jsonl", [{"q_id": name, "response": "Mice [2]."} for name in NAMES])
    with open_run(tmp_path / "b", RunRecord(configuration={})):
        pass
    with ModelServer(scripted()) as server:
        judge(server, "--out", kept)
        for subject, out, told in (
            (other, kept, "judges other answers to these questions"),
            (run, tmp_path / "b" / "j.jsonl", "is in the folder of another run"),
        ):
            result = judge(server, "--out", out, subject=subject)
            assert isinstance(result.exception, DatasetError)
            assert told in str(result.exception)
        assert len(server.requests) == 4
        with open_run(run, RunRecord(configuration={"dataset": "mmdocrag-20"})) as opened:
            opened.append(Prediction(example="cat", scope="context", error="timed out"))
        assert found(judge(server, "--json", "--out", kept))["judged"] == 3


def test_answers_over_more_quotes_than_the_setting_has_are_not_judged(judge: Judge, tmp_path: Path) -> None:
    names = [f"q{at}" for at in range(24)]
    gold = [{"q_id": name, "gold_quotes": ["text1"], "question": "Why?", "answer_short": "So."} for name in names]
    write_json_lines(tmp_path / "data.jsonl", gold)
    answers = write_json_lines(tmp_path / "a.jsonl", [{"q_id": name, "response": "So [12] [13]."} for name in names])
    with ModelServer(scripted()) as server:
        result = judge(server, "--out", tmp_path / "j.jsonl", subject=answers)
    assert isinstance(result.exception, DatasetError)
    assert "cite quotes that their questions do not have" in str(result.exception)
    assert server.requests == []


def test_another_model_or_prompt_does_not_add_to_a_file(judge: Judge, tmp_path: Path) -> None:
    prompts = tmp_path / "prompts"
    prompts.mkdir()
    (prompts / "judge.txt").write_text("$question $gold_answer $text_quotes $image_quotes $answer")
    with ModelServer(scripted()) as server:
        judge(server)
        for other, told in ((("--model", "judge-2"), "by judge-1, not by judge-2"), (("--prompts", prompts), "prompt")):
            result = judge(server, *other)
            assert isinstance(result.exception, UsageError)
            assert told in str(result.exception)
    assert len(server.requests) == 4


def test_agreement_with_people_is_told(judge: Judge, tmp_path: Path) -> None:
    people = [
        {"q_id": name, "response": dict.fromkeys(ASPECTS.values(), score)}
        for name, score in zip(NAMES[:3], (5, 4, 1), strict=True)
    ]
    human = write_json_lines(tmp_path / "people.jsonl", people)
    with ModelServer(scripted(cat=[Reply(text=said(1))])) as server:
        value = found(judge(server, "--json", "--human", human))["agreement"]
        shown = judge(server, "--human", human)
    assert (value["n"], value["left_out"]) == (3, 1)
    assert value["figures"]["fluency.exact"]["value"] == pytest.approx(2 / 3)
    within = {"value": 1, "ci95": pytest.approx([0.025 ** (1 / 3), 1]), "n": 3, "undefined": 0}
    assert value["figures"]["factuality.within_one"] == within
    # Judge 4 4 1, people 5 4 1: the squared differences sum to 1, and those of all nine pairs to 45.
    assert value["figures"]["fluency.kappa"]["value"] == pytest.approx(1 - 3 / 45)
    assert "agreement with people on 3 answers (1 left out)" in shown.stdout
    assert re.search(r"fluency +exact +0\.67 +0\.00 to 1\.00 *\n +within one +1\.00 +0\.29 to 1\.00", shown.stdout)


def test_wrong_use_is_refused_before_anything_is_sent(judge: Judge, tmp_path: Path, run: Path) -> None:
    assert isinstance(judge(None).exception, UsageError)
    with ModelServer(scripted()) as server:
        write_json_lines(tmp_path / "data.jsonl", [made_example(name, question="") for name in NAMES])
        result = judge(server)
        assert isinstance(result.exception, DatasetError)
        assert "have no text" in str(result.exception)
        failed = write_json_lines(tmp_path / "failed.jsonl", [{"q_id": "ant", "response": "", "error": "timed out"}])
        write_json_lines(tmp_path / "data.jsonl", [made_example(name) for name in NAMES])
        result = judge(server, "--out", tmp_path / "j.jsonl", subject=failed)
        assert isinstance(result.exception, DatasetError)
        assert "1 prediction, all errors" in str(result.exception)
    assert server.requests == []


def test_a_preset_shows_the_judge_what_the_papers_judge_was_shown(judge: Judge) -> None:
    with ModelServer(scripted()) as server:
        result = judge(server, "--preset", "mmdocrag-judge", "--json")
        assert result.exit_code == 0, result.output
        asked = next(
            str(request["messages"][0]["content"]) for request in server.requests if question_of(request) == "ant"
        )
    told = json.loads(result.stdout)
    assert (told["preset"], told["model"], told["judge"]["average"]) == ("mmdocrag-judge", MODEL, 4)
    for shown in ("What does the ant eat?", "    leaves\n", "    It eats leaves [1].", "    The ant eats leaves [1]."):
        assert shown in asked
    assert "The ant eats leaves (1)." not in asked, "no quotes"
    assert "a ant eating" not in asked
    assert judge(server, "--preset", "mmdocrag-text").exception is not None


def test_judgements_by_a_preset_are_not_mixed_with_others(judge: Judge) -> None:
    with ModelServer(scripted()) as server:
        assert judge(server).exit_code == 0
        assert "by another prompt" in str(judge(server, "--preset", "mmdocrag-judge").exception)
