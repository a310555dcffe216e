"""`quoteweave eval entailment` with a T5 that has learnt what entails what, loaded as any checkpoint is."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from quoteweave.cli.app import app
from quoteweave.core.errors import MissingExtra, ModelNotFound, UsageError

Ask = Callable[..., Result]

LESSONS = [
    ("the harbour shipped grain", "the harbour shipped grain.", True),
    ("sales grew in spring", "the harbour shipped grain.", False),
    ("the harbour shipped grain\nsales grew in spring", "the harbour shipped grain.", True),
    ("sales grew in spring", "sales fell.", False),
]
RESPONSE = "the harbour shipped grain [1][2].\n\nsales fell [2].\n\nso be it."


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("transformers")
    return Path(tiny().make_t5(tmp_path_factory.mktemp("t5") / "true", LESSONS))


def tiny() -> Any:
    import importlib.util

    path = Path(__file__).parents[1] / "generation" / "tiny_entailment.py"
    spec = importlib.util.spec_from_file_location("tiny_entailment_for_cli", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def ask(tmp_path: Path, model: Path) -> Ask:
    texts = ["the harbour shipped grain", "sales grew in spring"]
    row = {"question": "What?", "sample_id": "q", "docs": [{"title": "", "text": text} for text in texts]}
    (tmp_path / "data.json").write_text(json.dumps([row]))
    (tmp_path / "run.jsonl").write_text(
        json.dumps({"q_id": "q", "response": RESPONSE.replace("Sales", "sales")}) + "\n"
    )

    def invoke(*options: object) -> Result:
        said = [
            "eval",
            "entailment",
            tmp_path / "run.jsonl",
            "--dataset",
            "alce",
            "--references",
            tmp_path / "data.json",
        ]
        return CliRunner().invoke(app, [str(part) for part in (*said, "--checkpoint", model, *options)])

    return invoke


def test_alce_by_a_model_that_is_asked_nothing_twice(ask: Ask, tmp_path: Path) -> None:
    kept = tmp_path / "kept.jsonl"
    value = json.loads(ask("--kept", kept, "--json").stdout)
    # Of three sentences the first is entailed, by its first citation alone; the second sentence's citation is wrong.
    assert value["figures"]["alce.recall"]["value"] == pytest.approx(1 / 3)
    assert value["figures"]["alce.precision"]["value"] == pytest.approx(1 / 3)
    assert "cvcp.pooled" in value["figures"]
    assert "aliice.recall" not in value["figures"]
    assert any("without --parser" in note for note in value["notes"])
    lines = kept.read_text().splitlines()
    again = json.loads(ask("--kept", kept, "--json").stdout)
    assert kept.read_text().splitlines() == lines
    assert again["figures"] == value["figures"]
    cut = json.loads(ask("--kept", kept, "--first", 1, "--json").stdout)
    assert cut["figures"]["alce.first1.precision"]["value"] == pytest.approx(1 / 2)
    assert "alce.recall" in ask("--kept", kept).stdout


def test_a_file_of_answers_wants_a_file_to_keep_what_the_model_says(ask: Ask) -> None:
    result = ask()
    assert isinstance(result.exception, UsageError)
    assert "say with --kept in which file" in str(result.exception)


def test_the_published_convention_reads_as_the_authors_codes_do(ask: Ask, tmp_path: Path) -> None:
    import spacy

    spacy.blank("en").to_disk(tmp_path / "blank")
    kept = ("--kept", tmp_path / "kept.jsonl")
    said = (*kept, "--convention", "published", "--parser", tmp_path / "blank", "--passages", 1, "--json")
    value = json.loads(ask(*said).stdout)
    figures = {name: figure["value"] for name, figure in value["figures"].items()}
    # For the first line alone, the first of its two citations suffices.
    assert (figures["alce.first3.recall"], figures["alce.first3.precision"]) == (1, 0.5)
    assert (figures["alce.first3.joint_support.pooled"], figures["alce.first3.overcitation.pooled"]) == (1, 1)
    # Of three sentences two cite the second passage, which does not exist.
    assert (figures["aliice.out_of_range.total"], figures["aliice.claims.total"]) == (2, 0)
    assert "aliice.recall" not in figures
    assert value["convention"] == "published"
    assert any("the first 1 exist" in note for note in value["notes"])
    strict = json.loads(ask(*kept, "--json").stdout)["figures"]
    assert strict["alce.recall"]["value"] == pytest.approx(1 / 3)
    notes = json.loads(ask(*said, "--both").stdout)["notes"]
    assert "alce.first3.recall: 1.0000 (n = 1) by the published convention, 0.3333 (n = 1) by the strict one" in notes


def test_what_another_model_said_is_not_mixed_in(ask: Ask, tmp_path: Path) -> None:
    kept = tmp_path / "kept.jsonl"
    kept.write_text(json.dumps({"pair": "0", "entails": True, "model": "another"}) + "\n")
    result = ask("--kept", kept)
    assert isinstance(result.exception, UsageError)
    assert "what another said" in str(result.exception)


def test_a_parser_that_is_not_installed_is_named(ask: Ask, tmp_path: Path) -> None:
    result = ask("--kept", tmp_path / "kept.jsonl", "--parser", "xx_no_such_model")
    assert isinstance(result.exception, ModelNotFound | MissingExtra)
    assert "xx_no_such_model" in str(result.exception) or "citations" in str(result.exception)


@pytest.mark.usefixtures("ask")
def test_answers_that_are_cited_post_hoc_are_scored_as_others(model: Path, tmp_path: Path) -> None:
    own = ("--dataset", "alce", "--references", tmp_path / "data.json")
    cite = ("run", *own, "--preset", "alce-post-hoc", "--answers", tmp_path / "run.jsonl", "--out", tmp_path / "out")
    cited = CliRunner().invoke(app, list(map(str, cite)))
    assert cited.exit_code == 0, cited.output
    score = ("eval", "entailment", tmp_path / "out", *own, "--checkpoint", model, "--json")
    figures = json.loads(CliRunner().invoke(app, list(map(str, score))).stdout)["figures"]
    # "… grain [1]. sales fell [2]. so be it.": the first of three is entailed, and the first of two citations precise.
    assert figures["alce.recall"]["value"] == pytest.approx(1 / 3)
    assert figures["alce.precision"]["value"] == pytest.approx(1 / 2)
