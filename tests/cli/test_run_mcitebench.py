"""`quoteweave run` over MCiteBench: what a recording server is sent, and that answers by printed names score."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from made_mcitebench import line, locating, shown, write
from typer.testing import CliRunner, Result

from quoteweave.cli.app import app
from quoteweave.core.errors import DatasetError, UsageError
from quoteweave.core.runs import read_run
from quoteweave.testing import ModelServer, Reply

Run = Callable[..., Result]
NAMES = ["[1]", "[2]", "Figure 3", "Table 1", "Table 2"]
PICTURES = {"Figure 3": "f3", "Table 1": "t1", "Table 2": "t2"}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    for name in ("QUOTEWEAVE_MODEL", "OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)

    def invoke(*options: object, config: str = 'model = "m"', dataset: str = "mcitebench", url: str = "") -> Result:
        (tmp_path / "config.toml").write_text(config)
        if url:
            monkeypatch.setenv("OPENAI_BASE_URL", url)
        said: list[object] = ["run", "--dataset", dataset, "--references", tmp_path / "data.jsonl"]
        said += ["--config", tmp_path / "config.toml", "--out", tmp_path / "run", *options]
        return CliRunner().invoke(app, [str(part) for part in said])

    return invoke


def citing(request: Mapping[str, Any]) -> Reply:
    return Reply(text="Coal rose, as Figure 3 shows.")


def names_of(request: Mapping[str, Any]) -> list[str]:
    return [name for name in shown(request) if name in NAMES]


def test_sources_are_sent_by_their_printed_names_with_their_pictures_and_answers_score(
    run: Run, tmp_path: Path
) -> None:
    write(tmp_path, [line("q"), line("r")])
    with ModelServer(citing) as server:
        result = run("--image-folder", tmp_path / "resources", url=server.base_url)
    assert result.exit_code == 0, (result.output, result.exception)
    orders = []
    for request in server.requests:
        found = shown(request)
        names = names_of(request)
        assert set(names) == set(NAMES)
        assert all(found[found.index(name) + 1] == picture for name, picture in PICTURES.items()), found
        orders.append(names)
    assert orders[0] != orders[1], "each question has an order of its own"
    record, predictions = read_run(tmp_path / "run")
    assert record.seeds == {"order": 0}
    assert {"prompt cite_sources_system", "prompt cite_sources_user"} <= record.fingerprints.keys()
    assert [prediction.context for prediction in predictions] == [None, None], "the dataset's own sources"
    said = ["eval", "score", tmp_path / "run", "--dataset", "mcitebench", "--references", tmp_path / "data.jsonl"]
    scores = json.loads(CliRunner().invoke(app, [*map(str, said), "--json"]).stdout)
    assert scores["figures"]["source_by_rule.f1"]["value"] == 1


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        # Evidence, then distractors: Figure 3, [2], Table 1, Table 2, [1]; shuffled to the 4th, 2nd, 3rd, 5th and 1st.
        ('order = "published"', ["Table 2", "[1]", "Table 1", "[2]", "Figure 3"]),
        ('preset = "mcitebench"', ["Table 2", "[1]", "Table 1", "[2]", "Figure 3"]),
        ('preset = "mcitebench-local"', ["[1]", "[2]", "Figure 3", "Table 1", "Table 2"]),
        ('order = "kept"', NAMES),
    ],
)
def test_orders(run: Run, tmp_path: Path, config: str, expected: list[str]) -> None:
    write(tmp_path, [line("q")])
    with ModelServer(citing) as server:
        config = f'model = "m"\n{config}'
        result = run("--image-folder", tmp_path / "resources", config=config, url=server.base_url)
    assert result.exit_code == 0, (result.output, result.exception)
    assert names_of(server.requests[0]) == expected


def test_a_published_order_wants_the_dataset_to_list_its_distractors(run: Run, tmp_path: Path) -> None:
    write(tmp_path, [line("q", distractor_contents=[])])
    with ModelServer(citing) as server:
        config = 'model = "m"\norder = "published"'
        result = run("--image-folder", tmp_path / "resources", config=config, url=server.base_url)
    assert isinstance(result.exception, UsageError)
    assert "distractor_contents" in str(result.exception)
    assert server.requests == []


def test_a_picture_that_is_not_there_is_an_error_or_its_question_is_left_out(run: Run, tmp_path: Path) -> None:
    write(tmp_path, [line("q"), line("r")])
    (tmp_path / "resources" / "paper-r" / "images" / "r-t1.png").unlink()
    with ModelServer(citing) as server:
        refused = run("--image-folder", tmp_path / "resources", url=server.base_url)
        assert isinstance(refused.exception, DatasetError)
        assert "1 picture is not in" in str(refused.exception)
        assert "paper-r/images/r-t1.png of question 'r'" in str(refused.exception)
        assert server.requests == []
        partial = run("--image-folder", tmp_path / "resources", "--partial", "--json", url=server.base_url)
    (outcome,) = json.loads(partial.stdout)
    assert (outcome["questions"], outcome["left_out"], len(server.requests)) == (1, 1, 1)


def test_a_wrong_folder_and_none_are_refused(run: Run, tmp_path: Path) -> None:
    write(tmp_path, [line("q")])
    with ModelServer(citing) as server:
        wrong = run("--image-folder", tmp_path / "resources" / "paper-q" / "images", url=server.base_url)
        assert "3 pictures are not in" in str(wrong.exception)
        none = run(url=server.base_url)
        assert isinstance(none.exception, UsageError)
        assert "--image-folder" in str(none.exception)
        assert server.requests == []


def test_a_picture_that_cannot_be_read_fails_its_question(run: Run, tmp_path: Path) -> None:
    write(tmp_path, [line("q")])
    (tmp_path / "resources" / "paper-q" / "images" / "q-t1.png").write_bytes(b"GIF8")
    with ModelServer(citing) as server:
        result = run("--image-folder", tmp_path / "resources", url=server.base_url)
    assert result.exit_code == 1
    assert "paper-q/images/q-t1.png, Table 1 of question 'q'" in " ".join(result.stderr.split())


def test_the_source_probe_sends_sources_options_and_asks_for_a_letter(run: Run, tmp_path: Path) -> None:
    write(tmp_path, [line("q"), locating("r")])
    with ModelServer(lambda _: Reply(text="A")) as server:
        result = run("--image-folder", tmp_path / "resources", dataset="mcitebench-source", url=server.base_url)
    assert result.exit_code == 0, (result.output, result.exception)
    (request,) = server.requests
    assert set(names_of(request)) == set(NAMES)
    asked = request["messages"][-1]["content"][-1]["text"]
    options = dict(one.split(". ", 1) for one in asked.splitlines() if one[1:2] == ".")
    assert (list(options), set(options.values())) == (list("ABCDE"), set(NAMES))
    assert "letter" in request["messages"][0]["content"]
    said = [
        "eval",
        "score",
        tmp_path / "run",
        "--dataset",
        "mcitebench-source",
        "--references",
        tmp_path / "data.jsonl",
    ]
    scores = json.loads(CliRunner().invoke(app, [*map(str, said), "--json"]).stdout)
    figures = {name for name, one in scores["figures"].items() if one["value"] is not None}
    assert "source_identification" in figures
    assert not figures & {"bleu", "rouge_l.f1", "exact_match", "token_f1"}, "a letter is no text to compare"
    assert not any("--marks" in note for note in scores["notes"])
    judged = CliRunner().invoke(app, ["eval", "citations", *map(str, said[2:]), "--model", "m"])
    assert isinstance(judged.exception, UsageError)
    assert "are letters, which eval score counts without a judge" in str(judged.exception)


def test_only_a_model_chooses_and_only_own_sources_are_asked_for(run: Run, tmp_path: Path) -> None:
    write(tmp_path, [line("q")])
    probe = run(config="", dataset="mcitebench-source")
    assert isinstance(probe.exception, UsageError)
    assert "only a model chooses" in str(probe.exception)
    retrieved = run(config='quotes = "retrieved"')
    assert isinstance(retrieved.exception, UsageError)
    assert 'quotes = "dataset"' in str(retrieved.exception)


def test_without_captions_a_picture_that_has_none_fails_its_question(run: Run, tmp_path: Path) -> None:
    write(tmp_path, [line("q")])
    with ModelServer(citing) as server:
        config = 'model = "m"\ncaptions = false'
        result = run("--image-folder", tmp_path / "resources", config=config, url=server.base_url)
    assert result.exit_code == 1
    assert "has no caption printed in it" in " ".join(result.stderr.split())
    assert server.requests == []
