"""`quoteweave eval errors` against a scripted model server: judged, resumed, labelled by people, and compared."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from builders import write_json_lines
from made_runs import GOODS
from typer.testing import CliRunner, Result

from quoteweave.cli.app import app
from quoteweave.cli.eval import paid
from quoteweave.core.errors import DatasetError, UsageError
from quoteweave.core.examples import Prediction
from quoteweave.core.runs import RunRecord, open_run
from quoteweave.evaluation.judges.error_judge import ERROR_KINDS, ERRORS
from quoteweave.testing import ModelServer, Reply

NAMES = [kind.name for kind in ERROR_KINDS]


def verdict(*found: str) -> Reply:
    return Reply(text=json.dumps({name: int(name in found) for name in NAMES}))


def about(request: Mapping[str, Any]) -> str:
    asked = str(request["messages"][0]["content"])
    return next(good for good in GOODS if f"How much {good} was shipped?" in asked)


def script(request: Mapping[str, Any]) -> Reply:
    return verdict("excessive_citation") if about(request) in ("grain", "tin") else verdict()


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    with open_run(folder, RunRecord(configuration={"dataset": "mmdocrag-20"})) as opened:
        for good in GOODS:
            opened.append(Prediction(example=good, scope="context", response=f"Much {good} [3], [5]."))
    return folder


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("QUOTEWEAVE_MODEL", "OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "160")


def errors(run: Path, dataset: Path, *options: object, server: ModelServer | None = None) -> Result:
    asked = [] if server is None else ["--model", "j", "--base-url", server.base_url]
    named = ["eval", "errors", run, "--dataset", "mmdocrag-20", "--references", dataset, *asked, *options]
    return CliRunner().invoke(app, list(map(str, named)))


def labelled(tmp_path: Path, **kinds: list[str]) -> Path:
    path = tmp_path / "labels.jsonl"
    hashes = {name: hashlib.sha256(f"Much {name} [3], [5].".encode()).hexdigest() for name in kinds}
    lines = ({"example": name, "answer": hashes[name], "kinds": found} for name, found in kinds.items())
    write_json_lines(path, lines)
    return path


def test_a_judge_names_the_kinds_once_and_is_compared_with_people(run: Path, dataset: Path, tmp_path: Path) -> None:
    people = labelled(tmp_path, grain=["excessive_citation"], tin=[], coal=[])
    with ModelServer(script) as server:
        first = errors(run, dataset, "--call-limit", 60, "--json", server=server)
        again = errors(run, dataset, "--labels", people, "--json", server=server)
        assert len(server.requests) == len(GOODS)
        asked = str(server.requests[0]["messages"][0]["content"])
    assert "repetitive_citation: " in asked
    assert "    text3, image2" in asked, "the gold quotes"
    told = json.loads(first.stdout)
    assert (told["asked"], told["failed"], told["people"], told["agreement"]) == (6, 0, None, None)
    assert told["judge"]["total"] == {"answers": 6, "sound": 4, "kinds": {**dict.fromkeys(NAMES, 0), NAMES[0]: 2}}
    assert told["judge"]["groups"]["domain"]["Report"]["answers"] == 6
    told = json.loads(again.stdout)
    assert (told["asked"], told["people"]["total"]["answers"]) == (0, 3)
    assert (told["agreement"]["n"], told["agreement"]["left_out"]) == (3, 3)
    assert told["agreement"]["figures"]["excessive_citation.exact"]["value"] == pytest.approx(2 / 3)


def test_a_verdict_that_cannot_be_read_fails_and_is_asked_for_again(run: Path, dataset: Path) -> None:
    def broken(request: Mapping[str, Any]) -> Reply:
        return Reply(text="It is fine.") if about(request) == "salt" else script(request)

    with ModelServer(broken) as server:
        result = errors(run, dataset, "--json", server=server)
    assert result.exit_code == 1
    told = json.loads(result.stdout)
    assert list(told["errors"]) == ["salt"]
    assert told["judge"]["total"]["answers"] == 5
    with ModelServer(script) as server:
        assert errors(run, dataset, server=server).exit_code == 0
        assert [about(request) for request in server.requests] == ["salt"]


def test_other_kinds_want_another_file(run: Path, dataset: Path, tmp_path: Path) -> None:
    kinds = tmp_path / "kinds.toml"
    kinds.write_text('rude = "It is rude."\n')
    with ModelServer(script) as server:
        errors(run, dataset, server=server)
        assert "by another prompt or kinds (its" in str(errors(run, dataset, "--kinds", kinds, server=server).exception)


def test_labels_alone_are_counted_without_a_model(run: Path, dataset: Path, tmp_path: Path) -> None:
    result = errors(run, dataset, "--labels", labelled(tmp_path, grain=["excessive_citation"], tin=[]))
    assert result.exit_code == 0, result.output
    assert "by people, of 2 answers" in result.stdout
    assert "domain: Report" in result.stdout
    strange = errors(run, dataset, "--labels", labelled(tmp_path, gold=[]))
    assert isinstance(strange.exception, DatasetError)


def test_counts_are_a_table_on_a_terminal_of_usual_width(
    run: Path, dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    printed = errors(run, dataset, "--labels", labelled(tmp_path, grain=["excessive_citation"], tin=[])).stdout
    (row,) = [line.split() for line in printed.splitlines() if line.split()[:1] == ["all"]]
    assert row == ["all", "2", "1", "1", "0", "0", "0"]
    assert "question_type" not in printed


def test_labels_of_another_run_are_refused(run: Path, dataset: Path, tmp_path: Path) -> None:
    path = labelled(tmp_path, grain=[], tin=[])
    other = tmp_path / "other"
    with open_run(other, RunRecord(configuration={"dataset": "mmdocrag-20"})) as opened:
        for good in GOODS:
            opened.append(Prediction(example=good, scope="context", response=f"Little {good}."))
    assert errors(run, dataset, "--labels", path).exit_code == 0
    assert "line 1, answer: the label on 'grain' is of another" in str(
        errors(other, dataset, "--labels", path).exception
    )


def test_the_page_holds_a_sample_and_lost_pictures_are_told(run: Path, dataset: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    result = errors(run, dataset, "--page", page, "--sample", 2, "--json")
    assert json.loads(result.stdout) == {"page": str(page), "answers": 2, "of": len(GOODS), "lost_pictures": 1}
    text = page.read_text("utf-8")
    assert text.count('"gold_answer"') == 2
    assert sum(hashlib.sha256(f"Much {good} [3], [5].".encode()).hexdigest() in text for good in GOODS) == 2
    result = errors(run, dataset, "--page", page, "--sample", 2)
    assert result.stderr.startswith("1 picture of quotes cannot be shown")
    assert f": 2 answers to label, drawn of {len(GOODS)}; --sample takes another number. Open" in result.stdout
    assert "drawn" not in errors(run, dataset, "--page", page).stdout


def test_somebody_has_to_look(run: Path, dataset: Path) -> None:
    result = errors(run, dataset)
    assert isinstance(result.exception, UsageError)
    assert "with --model, or people with --page" in str(result.exception)


def test_a_page_and_labels_are_not_for_one_command(run: Path, dataset: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    result = errors(run, dataset, "--page", page, "--labels", labelled(tmp_path, grain=[]))
    assert isinstance(result.exception, UsageError)
    assert "give one of them" in str(result.exception)
    assert not page.exists()


def test_people_too_need_the_questions(run: Path, tmp_path: Path) -> None:
    gold = tmp_path / "gold.jsonl"
    gold.write_text("".join(json.dumps({"q_id": good, "gold_quotes": ["text1"]}) + "\n" for good in GOODS))
    result = errors(run, gold, "--page", tmp_path / "page.html")
    assert isinstance(result.exception, DatasetError)
    assert "a model or people, needs the dataset's own file" in str(result.exception)


def test_what_another_command_judged_meanwhile_is_not_paid_again(
    run: Path, dataset: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ModelServer(script) as server:
        errors(run, dataset, server=server)
        whole = (run / ERRORS).read_bytes().splitlines(keepends=True)
        (run / ERRORS).unlink()
        # Another command ends while this one asks whether to go on.
        monkeypatch.setattr(paid, "confirm_price", lambda *_, **__: (run / ERRORS).write_bytes(b"".join(whole[:4])))
        result = errors(run, dataset, "--json", server=server)
        assert len(server.requests) == len(GOODS) + 2
    assert "4 answers were judged by another command meanwhile, and not judged again\n" in result.stderr
    assert (json.loads(result.stdout)["asked"], json.loads(result.stdout)["judge"]["total"]["answers"]) == (2, 6)


def test_a_file_that_judges_other_answers_is_left_alone(run: Path, dataset: Path, tmp_path: Path) -> None:
    other, kept = tmp_path / "other", tmp_path / "kept.jsonl"
    with open_run(other, RunRecord(configuration={"dataset": "mmdocrag-20"})) as opened:
        for good in GOODS:
            opened.append(Prediction(example=good, scope="context", response=f"Little {good}."))
    with ModelServer(script) as server:
        errors(run, dataset, "--out", kept, server=server)
        refused = errors(other, dataset, "--out", kept, server=server).exception
        assert "judges other answers to these questions" in str(refused)
        assert len(server.requests) == len(GOODS)
