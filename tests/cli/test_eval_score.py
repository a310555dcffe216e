"""`quoteweave eval score` over files of answers, references and judgements: JSON, tables, what is told of failures."""

import gzip
import json
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import typer
from builders import write_json_lines
from typer.testing import CliRunner, Result

from quoteweave.cli.eval.score import JSON
from quoteweave.cli.eval.score import score as command
from quoteweave.cli.eval.score_tables import show
from quoteweave.core.errors import QuoteweaveError
from quoteweave.core.examples import Prediction
from quoteweave.core.runs import PREDICTIONS_FILE, RunRecord, open_run
from quoteweave.evaluation.scoring.saved_runs import ScoringRequest, load_run, score_run
from quoteweave.evaluation.scoring.scores import Scores
from quoteweave.evaluation.statistics.intervals import Estimate

Score = Callable[..., Result]

FIRST = 100

GOLD = {0: ["text1", "image1"], 1: ["text1", "text2", "image2"], 2: ["image1"]}
JUDGED = {
    "Fluency": 5,
    "Citation Quality": 4,
    "Text-Image Coherence": 3,
    "Reasoning Logic": 2,
    "Factuality": 1,
}
ANSWERS: list[dict[str, Any]] = [
    {"q_id": 0, "response": "[1] ![a [red]](image1)", "in_tok": 9, "out_tok": 2},
    {"q_id": 1, "response": "<think>[7]</think>\n\n[1, 2] ![b](image1)", "in_tok": 9, "out_tok": 2},
    {"q_id": 2, "response": " ", "in_tok": 0, "out_tok": 0, "error": "timed out"},
]


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    gold = [{"q_id": name, "gold_quotes": quotes, "answer_short": ""} for name, quotes in GOLD.items()]
    judged = [{"q_id": name, "response": JUDGED if name != 1 else {" Fluency": 5}} for name in GOLD]
    return {
        "run": write_json_lines(tmp_path / "answers.jsonl", ANSWERS),
        "references": write_json_lines(tmp_path / "gold.jsonl", gold),
        "judgements": write_json_lines(tmp_path / "judge.jsonl", judged),
    }


@pytest.fixture
def score(files: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> Score:
    monkeypatch.setenv("COLUMNS", "200")
    app = typer.Typer()
    app.command(epilog=JSON)(command)

    def run(*options: object, judged: bool = True) -> Result:
        arguments: list[object] = [files["run"], "--dataset", "mmdocrag-20", "--references", files["references"]]
        arguments += ["--judgements", files["judgements"]] if judged else []
        return CliRunner().invoke(app, list(map(str, (*arguments, *options))))

    return run


def test_strict_json_leaves_out_what_failed(score: Score) -> None:
    result = score("--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert (found["convention"], found["marks"], found["clusters"]) == ("strict", "own", "question")
    assert (found["questions"], found["failed"], found["missing"]) == (3, 1, 0)
    # Questions 0 and 1: cited images 1 and 1, of which the first is gold; cited texts 1 and 1, 2, all gold.
    assert [found["image"][name] for name in ("precision", "recall", "f1")] == [0.5, 0.5, 0.5]
    assert [found["text"][name] for name in ("precision", "recall", "f1")] == [1, 1, 1]
    assert found["overall"]["f1"] == pytest.approx((1 + 2 / 3) / 2)
    assert found["overall"]["mean_of_kinds_f1"] == 0.75
    assert found["overall"]["pooled"]["f1"] == pytest.approx(4 / 5)
    assert found["judge"] == {
        **{"fluency": 5, "citation_quality": 4, "text_image_coherence": 3, "reasoning_logic": 2, "factuality": 1},
        "average": 3,
        "ci95": found["judge"]["ci95"],
    }
    for part in ("image", "text", "overall"):
        low, high = found[part]["ci95"]["f1"]
        assert low <= found[part]["f1"] <= high
    assert found["figures"]["judge.fluency"] == {
        **{"value": 5, "ci95": None, "n": 1, "clusters": 1, "undefined": 1},
    }
    assert found["breakdowns"]["position"]["text1"]["recall"]["value"] == 1


def test_published_json_counts_errors_as_empty_and_missing_scores_as_0(score: Score) -> None:
    found = json.loads(score("--json", "--convention", "published").stdout)
    assert found["marks"] == "published"
    # `[1, 2]` cites nothing here, and question 2 is an empty answer whose gold image is not found.
    assert [found["image"][name] for name in ("precision", "recall")] == [0.5, pytest.approx(1 / 3)]
    assert [found["text"][name] for name in ("precision", "recall")] == [1, pytest.approx(1 / 3)]
    assert found["overall"]["f1"] == pytest.approx((1 + 0 + 0) / 3)
    assert found["judge"]["fluency"] == pytest.approx(10 / 3)
    assert any("overall.f1" in note and "strict" in note for note in found["notes"])


def test_the_grammar_can_be_named_apart_from_the_convention(score: Score) -> None:
    found = json.loads(score("--json", "--convention", "published", "--marks", "own").stdout)
    assert (found["marks"], found["text"]["recall"]) == ("own", 1)


def test_tables_tell_intervals_and_what_was_left_out(score: Score) -> None:
    result = score()
    assert result.exit_code == 0, result.output
    for said in (
        "pooled",
        "50.0 (",
        "83.3 (",
        "citation_quality",
        "95 % intervals are over questions",
        "1 prediction is an error, left out",
        "1 malformed judgement",
        "by the published one",
        "section 4.1",
    ):
        assert said in result.stdout, said


def test_correlations_that_are_all_undefined_are_no_empty_table(score: Score) -> None:
    # Of three answers only one is judged in full, and no line goes through one point.
    assert "Pearson" not in score().stdout


def test_without_judgements_there_are_no_judge_figures(score: Score) -> None:
    found = json.loads(score("--json", judged=False).stdout)
    assert "judge" not in found
    assert not [name for name in found["figures"] if name.startswith("judge")]


def test_a_run_of_some_questions_is_scored_only_when_asked(score: Score, files: dict[str, Path]) -> None:
    write_json_lines(files["run"], ANSWERS[:2])
    assert isinstance(score("--json").exception, QuoteweaveError)
    found = json.loads(score("--json", "--partial").stdout)
    assert (found["questions"], found["missing"]) == (2, 1)


def test_a_run_that_was_stopped_in_a_line_says_so(score: Score, files: dict[str, Path], tmp_path: Path) -> None:
    with open_run(tmp_path / "run", RunRecord(configuration={})) as run:
        for number in range(2):
            run.append(Prediction(example=str(number), scope="context", response="[1]"))
    path = tmp_path / "run" / PREDICTIONS_FILE
    path.write_bytes(path.read_bytes() + b'{"example": "2", "resp')
    files["run"] = tmp_path / "run"
    refused = score()
    assert isinstance(refused.exception, QuoteweaveError)
    assert "1 not answered ('2')" in str(refused.exception)
    assert "was cut short" in str(refused.exception)
    assert any("was cut short" in note for note in json.loads(score("--partial", "--json").stdout)["notes"])


def test_a_run_of_two_scopes_is_scored_by_one_of_them(score: Score, files: dict[str, Path], tmp_path: Path) -> None:
    with open_run(tmp_path / "run", RunRecord(configuration={"dataset": "mmdocir"})) as run:
        for number in range(3):
            run.append(Prediction(example=str(number), scope="document", response="[1]"))
            run.append(Prediction(example=str(number), scope="collection", response=""))
    files["run"] = tmp_path / "run"
    refused = score()
    assert isinstance(refused.exception, QuoteweaveError)
    assert "searched several scopes (collection, document); name one with --scope" in str(refused.exception)
    value = json.loads(score("--scope", "document", "--json").stdout)
    assert value["questions"] == 3
    assert any("asked of mmdocir, not of mmdocrag-20" in note for note in value["notes"])


def test_judgements_of_other_questions_are_refused(score: Score, files: dict[str, Path]) -> None:
    write_json_lines(files["judgements"], [{"q_id": 77, "response": JUDGED}])
    error = score("--json").exception
    assert isinstance(error, QuoteweaveError)
    assert "'77'" in str(error)


@pytest.mark.data
def test_published_files_are_scored_as_they_are_in_python(research_data: Path, tmp_path: Path) -> None:
    """The first of them: that all 2,000 give the published figures is of tests/evaluation/test_reproduction.py."""
    name = "gpt-4.1_multimodal_quotes20.jsonl.gz"
    folder = research_data / "mmdocrag"
    source = ScoringRequest(
        run=first_lines(folder / "responses" / name, tmp_path / "answers.jsonl.gz"),
        dataset="mmdocrag-20",
        references=first_lines(folder / "gold_quotes20.jsonl.gz", tmp_path / "gold.jsonl.gz"),
        judgements=first_lines(folder / "judge" / name, tmp_path / "judge.jsonl.gz"),
        convention="published",
    )
    app = typer.Typer()
    app.command()(command)
    arguments = [source.run, "--dataset", source.dataset, "--convention", "published", "--json"]
    arguments += ["--references", source.references, "--judgements", source.judgements]
    found = json.loads(CliRunner().invoke(app, list(map(str, arguments))).stdout)
    figures = score_run(load_run(source), source).scores.figures
    for kind in ("image", "text"):
        for ratio in ("precision", "recall", "f1"):
            assert found[kind][ratio] == figures[f"{kind}.{ratio}.pooled"].value
    assert found["overall"]["f1"] == figures["overall.f1"].value
    assert found["judge"]["average"] == figures["judge.average"].value
    assert (found["questions"], found["missing"]) == (FIRST, 0)


def first_lines(published: Path, path: Path) -> Path:
    with gzip.open(published) as lines, gzip.open(path, "wb") as first:
        first.writelines(islice(lines, FIRST))
    return path


def test_breakdowns_without_a_figure_to_show_are_not_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    run = write_json_lines(
        tmp_path / "own.jsonl", [{"question": "What?", "id": "q", "domain": "News", "answer": "grain"}]
    )
    app = typer.Typer()
    app.command(epilog=JSON)(command)
    answers = write_json_lines(tmp_path / "answers.jsonl", [{"q_id": "q", "response": "much grain"}])
    arguments = [str(part) for part in (answers, "--dataset", "questions", "--references", run)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, (result.output, result.exception)
    assert "token_f1" in result.stdout
    assert "By domain" not in result.stdout
    named = CliRunner().invoke(app, [*arguments, "--by", "domain"]).stdout
    assert "note: no table by domain, as its columns are undefined here; --json has figures" in " ".join(named.split())
    figures = json.loads(CliRunner().invoke(app, [*arguments, "--json"]).stdout)["breakdowns"]["domain"]["News"]
    assert figures["token_f1"]["n"] == 1


def test_figures_are_broken_down_by_what_is_asked_alone(score: Score) -> None:
    found = json.loads(score("--json", "--by", "gold_quotes,gold_images", "--by", "gold_quotes").stdout)["breakdowns"]
    assert list(found) == ["gold_quotes,gold_images", "gold_quotes"]
    assert found["gold_quotes,gold_images"]["2 × single"]["overall.f1"]["n"] == 1
    shown = score("--by", "gold_quotes,gold_images").stdout
    assert "By gold quotes × gold images" in shown
    assert "By gold quotes;" not in shown
    assert "judge 0 to 5" in shown
    assert "judge 0 to 5" not in score("--by", "gold_quotes,gold_images", judged=False).stdout
    assert "1*" in shown
    assert "* fewer than 30 questions or 10 documents" in shown


def test_bounds_below_zero_are_told_from_the_dash_between_them(capsys: pytest.CaptureFixture[str]) -> None:
    r = Estimate(value=-0.81, low=-0.9, high=-0.8, n=40)
    head = {"name": "a", "dataset": "mmdocrag-20", "convention": "strict", "marks": "own", "clusters": "document"}
    figures = {"correlation.judge.average": r}
    show(Scores.model_validate({**head, "failed": 0, "missing": 0, "figures": figures}), as_json=False)
    assert "(-0.90 to -0.80)" in capsys.readouterr().out


def test_what_nothing_can_be_broken_down_by_is_told(score: Score) -> None:
    found = json.loads(score("--json", "--by", "domain,evidence").stdout)
    assert found["breakdowns"] == {}
    assert any("nothing is broken down by domain,evidence" in note for note in found["notes"])
    assert isinstance(score("--by", "colour").exception, QuoteweaveError)
