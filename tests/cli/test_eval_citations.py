"""`quoteweave eval citations` against a scripted model server over real HTTP, and the figures made of what it keeps."""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from builders import write_json_lines
from typer.testing import CliRunner, Result

from quoteweave.cli.app import app
from quoteweave.cli.eval import paid
from quoteweave.core.answers import Usage
from quoteweave.core.errors import DatasetError, UsageError
from quoteweave.testing import ModelServer, Reply

Ask = Callable[..., Result]

ANSWERS = {"a": "Calls rose [1]. They fell, as Figure 2 shows.", "b": "Grain fell [1]. So it is."}
CROP = b"\x89PNG crop"


def line(name: str) -> dict[str, object]:
    """A question as MCiteBench's file holds it."""
    return {
        "question_id": name,
        "question": "What happened?",
        "question_type": "explanation",
        "answer": "Calls rose.",
        "evidence_keys": ["1"],
        "evidence_contents": ["Calls rose in May."],
        "evidence_modal": ["text"],
        "idx_2_text": {"1": "Calls rose in May."},
        "idx_2_image": {"2": "images/two.png"},
    }


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ask:
    for name in ("QUOTEWEAVE_MODEL", "OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(line(name)) + "\n" for name in ANSWERS))
    said = [json.dumps({"q_id": name, "response": answer}) for name, answer in ANSWERS.items()]
    (tmp_path / "run.jsonl").write_text("\n".join(said) + "\n")
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "two.png").write_bytes(CROP)

    def invoke(command: str, *options: object) -> Result:
        asked = [
            "eval",
            command,
            tmp_path / "run.jsonl",
            "--dataset",
            "mcitebench",
            "--references",
            tmp_path / "data.jsonl",
        ]
        return CliRunner().invoke(app, [str(part) for part in (*asked, *options)])

    return invoke


def text_of(request: Mapping[str, Any]) -> str:
    content = request["messages"][-1]["content"]
    return content if isinstance(content, str) else str(content[0]["text"])


def judged(request: Mapping[str, Any]) -> Reply:
    """Splits as it should be; supports and finds relevant what rose; every answer is half right."""
    text, usage = text_of(request), Usage(input_tokens=100, output_tokens=10)
    if "JSON array" in text:
        rows = [{"sentence": "Calls rose.", "sources": ["1"]}]
        rows += [{"sentence": "They fell, as Figure 2 shows.", "sources": ["Figure 2a"]}]
        if "Grain" in text:
            rows = [{"sentence": "Grain fell.", "sources": ["1"]}, {"sentence": "So it is.", "sources": []}]
        return Reply(text=f"```json\n{json.dumps(rows)}\n```", usage=usage)
    if '{"accuracy"' in text:
        return Reply(text='{"accuracy": 1}', usage=usage)
    field = "support" if '{"support"' in text else "relevance"
    statement = text.partition("Statement:")[2].partition("Evidence:")[0]
    return Reply(text=json.dumps({field: float("rose" in statement)}), usage=usage)


def test_sentences_are_split_judged_kept_and_scored(ask: Ask, tmp_path: Path) -> None:
    kept = tmp_path / "kept.jsonl"
    options = ("--out", kept, "--image-folder", tmp_path, "--usd-per-million", 10, 100, "--json")
    with ModelServer(judged) as server:
        result = ask("citations", "--model", "m", "--base-url", server.base_url, *options)
        assert result.exit_code == 0, result.output
        asked = len(server.requests)
        seen = [request for request in server.requests if not isinstance(request["messages"][-1]["content"], str)]
        again = json.loads(ask("citations", "--model", "m", "--base-url", server.base_url, *options).stdout)
        assert len(server.requests) == asked, "nothing is asked twice"
    value = json.loads(result.stdout)
    # A split and an accuracy for each answer; support and relevance for three sentences with citations.
    assert asked == 2 + 2 + 2 * 3
    assert len(seen) == 2, "the figure is shown for support and for relevance"
    assert (value["asked"], value["judged"], value["failed"], value["errors"]) == (2, 2, 0, {})
    figures = value["figures"]
    assert figures == again["figures"]
    assert (again["asked"], again["price_usd"]) == (0, 0)
    assert figures["citation.recall.cited"] == pytest.approx((1 / 2 + 0) / 2)
    assert figures["citation.recall.all"] == pytest.approx((1 / 2 + 0) / 2)
    assert figures["citation.precision"] == pytest.approx((1 / 2 + 0) / 2)
    assert figures["accuracy"] == 0.5
    assert value["n"]["citation.recall.cited"] == 2
    assert figures["source.f1"] == pytest.approx((2 / 3 + 1) / 2)
    assert value["tokens"] == {"input": 800, "output": 80}
    assert value["price_usd"] == pytest.approx((800 * 10 + 80 * 100) / 1e6)
    scores = json.loads(ask("score", "--citations", kept, "--json").stdout)
    assert scores["figures"]["citation.f1.cited"]["value"] == figures["citation.f1.cited"]
    assert scores["figures"]["citation.f1.cited"]["ci95"] is not None
    assert set(scores["breakdowns"]["mcitebench_task"]) == {"explanation, single-source"}


def test_what_citations_score_is_printed_by_modality(ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    kept = tmp_path / "kept.jsonl"
    with ModelServer(judged) as server:
        ask("citations", "--model", "m", "--base-url", server.base_url, "--image-folder", tmp_path, "--out", kept)
    printed = ask("score", "--citations", kept, "--by", "modality").stdout
    table = printed.partition("By modality")[2]
    assert re.findall(r"citation|source|exact|accuracy", table.partition("───")[0]) == [
        "citation",
        "source",
        "exact",
        "accuracy",
    ]
    assert "by rule" in ask("score", "--by", "modality").stdout.partition("By modality")[2], "without a judge, by rule"


def test_a_perfect_citer_is_not_scored_by_marks_of_another_dataset(ask: Ask) -> None:
    figures = json.loads(ask("score", "--json").stdout)["figures"]
    assert "overall.f1" not in figures
    assert figures["source_by_rule.recall"]["value"] == 1


def test_verdicts_on_other_answers_are_left_out_and_told(ask: Ask, tmp_path: Path) -> None:
    kept = tmp_path / "kept.jsonl"
    options = ("--out", kept, "--image-folder", tmp_path, "--split", "rule")
    with ModelServer(judged) as server:
        ask("citations", "--model", "m", "--base-url", server.base_url, *options)
    run = tmp_path / "run.jsonl"
    rows = [json.loads(line) for line in run.read_text().splitlines()]
    rows[0]["response"] = "Something else."
    write_json_lines(run, rows)
    scores = json.loads(ask("score", "--citations", kept, "--json").stdout)
    assert any("1 verdict on sentences of other answers" in note for note in scores["notes"])
    assert scores["figures"]["accuracy"]["n"] == 1
    compared = ask("judges", "--citations", kept, "--against", kept)
    assert f"note: {kept}: 1 verdict on sentences of other answers than these, left out\n" in compared.stderr
    rows[1]["response"] = "Nor this."
    write_json_lines(run, rows)
    refused = ask("score", "--citations", kept)
    assert isinstance(refused.exception, DatasetError)
    assert "judges other answers" in str(refused.exception)


def test_before_anything_is_sent_tokens_and_unseen_pictures_are_said(ask: Ask, tmp_path: Path) -> None:
    with ModelServer(judged) as server:
        result = ask("citations", "--model", "m", "--base-url", server.base_url, "--out", tmp_path / "k.jsonl")
    assert "2 answers to check with m" in result.stderr
    assert "price not known" in result.stderr
    assert "2 pictures have no words, and the judge sees none" in result.stderr
    assert re.search(r"citation\.precision +\d\.\d{3}  \(n = \d\)", result.stdout)


def test_what_failed_is_told_and_asked_again(ask: Ask, tmp_path: Path) -> None:
    broken = [True]

    def faulty(request: Mapping[str, Any]) -> Reply:
        if broken[0] and '{"support"' in text_of(request) and "Grain" in text_of(request):
            return Reply(text="I would rather not.")
        return judged(request)

    options = ("--out", tmp_path / "k.jsonl", "--image-folder", tmp_path)
    with ModelServer(faulty) as server:
        where = ("--model", "m", "--base-url", server.base_url)
        first = ask("citations", *where, *options)
        assert first.exit_code == 1
        assert "question 'b' failed: the judge's reply cannot be read" in first.stderr
        broken[0] = False
        second = ask("citations", *where, *options, "--json")
    assert (second.exit_code, json.loads(second.stdout)["asked"]) == (0, 1)


def test_a_judge_off_the_scale_is_counted_where_it_leaves_no_figure(ask: Ask, tmp_path: Path) -> None:
    def wild(request: Mapping[str, Any]) -> Reply:
        reply = judged(request)
        return reply if "JSON array" in text_of(request) else Reply(text=re.sub(r"[\d.]+", "9", str(reply.text)))

    kept = tmp_path / "k.jsonl"
    with ModelServer(wild) as server:
        where = ("--model", "m", "--base-url", server.base_url)
        assert ask("citations", *where, "--out", kept, "--image-folder", tmp_path).exit_code == 1
    for convention, how in (("strict", "undefined for these answers; a figure that"), ("published", "as the authors'")):
        value = json.loads(ask("score", "--citations", kept, "--convention", convention, "--json").stdout)
        (told,) = [note for note in value["notes"] if "off the scale" in note]
        assert re.match(rf"\d+ judgements failed or off the scale: .* are {how}", told)
        assert ("accuracy" in value["figures"]) == (convention == "published")


def test_split_by_rule_costs_nothing_and_says_so(ask: Ask, tmp_path: Path) -> None:
    options = ("--out", tmp_path / "k.jsonl", "--image-folder", tmp_path, "--split", "rule", "--json")
    with ModelServer(judged) as server:
        value = json.loads(ask("citations", "--model", "m", "--base-url", server.base_url, *options).stdout)
        assert not any("JSON array" in text_of(request) for request in server.requests)
    assert value["splitter"] == "rule"
    assert value["figures"]["citation_by_rule.recall.cited"] == pytest.approx(0.25)
    notes = json.loads(ask("score", "--citations", tmp_path / "k.jsonl", "--json").stdout)["notes"]
    assert any("not comparable with published" in note for note in notes)


def test_without_a_judge_it_says_how_to_name_one(ask: Ask, tmp_path: Path) -> None:
    result = ask("citations", "--out", tmp_path / "k.jsonl")
    assert isinstance(result.exception, UsageError)
    assert "--model" in str(result.exception)


def test_published_shows_the_judge_why_a_located_answer_is_right_and_both_conventions_are_told(
    ask: Ask, tmp_path: Path
) -> None:
    gold = {"evidence_keys": ["Figure 2"], "evidence_contents": ["images/two.png"]}
    located = {**line("a"), **gold, "question_type": "locating", "meta_data": {"explanation": "May is above April."}}
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(one) + "\n" for one in (located, line("b"))))
    kept = tmp_path / "k.jsonl"
    options = ("--out", kept, "--image-folder", tmp_path, "--json")
    with ModelServer(judged) as server:
        where = ("--model", "m", "--base-url", server.base_url)
        ask("citations", *where, *options)
        assert not any("May is above April." in text_of(request) for request in server.requests)
        anew = json.loads(ask("citations", *where, *options, "--convention", "published").stdout)
        explained = [text_of(request) for request in server.requests if "May is above April." in text_of(request)]
    assert (anew["asked"], len(explained)) == (1, 1)
    assert '{"accuracy"' in explained[0]
    for convention in ("strict", "published"):
        scores = json.loads(ask("score", "--citations", kept, "--convention", convention, "--json").stdout)
        assert scores["figures"]["accuracy"]["n"] == 2, "judgements with the explanation are of these answers"
        # "Figure 2a" is Figure 2 to us, and another name to the scripts.
        said = next(note for note in scores["notes"] if note.startswith("source.f1: "))
        assert f"by the {convention} convention" in said


def test_pictures_that_the_folder_lacks_are_an_error_before_anything_is_asked(ask: Ask, tmp_path: Path) -> None:
    (tmp_path / "images" / "two.png").unlink()
    with ModelServer(judged) as server:
        where = ("--model", "m", "--base-url", server.base_url)
        result = ask("citations", *where, "--image-folder", tmp_path, "--out", tmp_path / "k.jsonl")
        assert server.requests == []
    assert isinstance(result.exception, DatasetError)
    assert "2 pictures are not in" in str(result.exception)
    assert "images/two.png of question 'a'" in str(result.exception)


def test_judges_are_compared_with_each_other_and_with_people(ask: Ask, tmp_path: Path) -> None:
    kept, other, form = tmp_path / "k.jsonl", tmp_path / "other.jsonl", tmp_path / "form.jsonl"

    def generous(request: Mapping[str, Any]) -> Reply:
        found = judged(request)
        return Reply(text='{"accuracy": 2}') if '{"accuracy"' in text_of(request) else found

    for model, out in ((judged, kept), (generous, other)):
        with ModelServer(model) as server:
            where = ("--model", "m", "--base-url", server.base_url)
            ask("citations", *where, "--out", out, "--image-folder", tmp_path)
    found = json.loads(ask("judges", "--citations", kept, "--against", other, "--json").stdout)
    (one,) = found["runs"]
    assert (found["figure"], one["n"], one["first"], one["second"]) == ("accuracy", 2, 0.5, 1)
    assert one["agreement"]["figures"]["all"]["exact"] == 1
    assert json.loads(ask("judges", "--citations", kept, "--form", form, "--json").stdout)["answers"] == 2
    lines = [json.loads(text) for text in form.read_text().splitlines()]
    for line in lines:
        for sentence in line["sentences"]:
            sentence |= {"support": 1, "relevance": dict.fromkeys(sentence["relevance"], 1)}
    write_json_lines(form, lines)
    shown = ask("judges", "--citations", kept, "--against", form)
    assert shown.exit_code == 0, shown.exception
    assert "explanation.support" in shown.stdout
    people = json.loads(ask("judges", "--citations", kept, "--against", form, "--json").stdout)["runs"][0]
    # Of three sentences the judge finds one supported, and of four items those of "Calls rose" relevant.
    assert people["agreement"]["figures"]["all.support"]["exact"] == pytest.approx(1 / 3)
    nothing = ask("judges", "--citations", kept)
    assert isinstance(nothing.exception, UsageError)
    assert "--against" in str(nothing.exception)


def test_what_another_command_judged_meanwhile_is_neither_asked_nor_counted(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "kept.jsonl"
    options = ("--out", kept, "--image-folder", tmp_path, "--usd-per-million", 10, 100, "--json")
    with ModelServer(judged) as server:
        ask("citations", "--model", "m", "--base-url", server.base_url, *options)
        asked, whole = len(server.requests), kept.read_bytes()
        kept.unlink()
        # Another command ends while this one asks whether to go on.
        monkeypatch.setattr(paid, "confirm_price", lambda *_, **__: kept.write_bytes(whole))
        result = ask("citations", "--model", "m", "--base-url", server.base_url, *options)
        assert len(server.requests) == asked
    assert "2 answers were judged by another command meanwhile, and not judged again\n" in result.stderr
    value = json.loads(result.stdout)
    assert (value["asked"], value["judged"], value["price_usd"]) == (0, 2, 0)
