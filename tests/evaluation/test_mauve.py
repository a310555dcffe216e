"""What is handed to mauve-text, by which ALCE's fluency is computed, and what is told without it."""

import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from builders import write_json_lines
from typer.testing import CliRunner

from quoteweave.cli.app import app
from quoteweave.core.errors import DatasetError, MissingExtra, ModelFailed, UsageError
from quoteweave.core.examples import Example, Prediction, Reference
from quoteweave.core.records import Query
from quoteweave.evaluation.metrics.answers.mauve import mauve_score

LONG = " ".join(f"w{number}" for number in range(200))


def pair(response: str | None, gold: str | None = "It sank.", **more: Any) -> tuple[Prediction, Example]:
    example = Example(id="q", query=Query(text="What sank?"), reference=Reference(answer=gold))
    return Prediction(example="q", scope="context", response=response, **more), example


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """A library of the same name, which keeps what it is asked."""
    calls: list[dict[str, Any]] = []

    def compute_mauve(**asked: Any) -> SimpleNamespace:
        calls.append(asked)
        return SimpleNamespace(mauve=0.75)

    module = ModuleType("mauve")
    module.compute_mauve = compute_mauve  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "mauve", module)
    return calls


def test_what_is_compared(library: list[dict[str, Any]]) -> None:
    pairs = [
        pair("  A ship\n[1] did [2]!?"),
        pair(LONG, LONG + "."),
        pair(None, error="x"),
        pair("No gold.", None),
    ]
    found = mauve_score(pairs, convention="published", device=0)
    assert (found.mauve, found.n, found.left_out, found.checkpoint) == (0.75, 2, 2, "gpt2-large")
    (asked,) = library
    shortened = f"What sank? {' '.join(LONG.split()[:98])}"
    assert asked == {
        "p_text": ["What sank? It sank", shortened],
        "q_text": ["What sank? A ship", shortened],
        "device_id": 0,
        "max_text_length": 512,
        "verbose": False,
        "batch_size": 8,
        "featurize_model_name": "gpt2-large",
    }
    mauve_score(pairs[:1])
    assert library[1]["q_text"] == ["What sank? A ship did "]


def test_nothing_to_compare(library: list[dict[str, Any]]) -> None:
    with pytest.raises(DatasetError, match="no answer with a gold answer"):
        mauve_score([pair("Said.", None)])
    assert library == []


def test_the_library_is_wanting_or_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mauve", None)
    with pytest.raises(MissingExtra, match=r"mauve-text is not installed; .*quoteweave\[mauve\]"):
        mauve_score([pair("Said.")])
    module = ModuleType("mauve")
    module.compute_mauve = lambda **_: 1 / 0  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "mauve", module)
    with pytest.raises(ModelFailed, match="MAUVE by gpt2-large: division by zero"):
        mauve_score([pair("Said.")])


def test_a_model_that_the_library_does_not_load(library: list[dict[str, Any]]) -> None:
    with pytest.raises(UsageError, match="'models/gpt' has neither"):
        mauve_score([pair("Said.")], checkpoint="models/gpt")
    assert library == []


def test_the_command(library: list[dict[str, Any]], tmp_path: Path) -> None:
    rows = [{"question": "What?", "sample_id": name, "docs": [], "answer": "Ships."} for name in "ab"]
    (tmp_path / "asked.json").write_text(json.dumps(rows))
    said = [{"q_id": "a", "response": "Ships [1]."}, {"q_id": "b", "error": "timed out"}]
    write_json_lines(tmp_path / "run.jsonl", said)
    named = ["eval", "mauve", tmp_path / "run.jsonl", "--dataset", "alce", "--references", tmp_path / "asked.json"]
    result = CliRunner().invoke(app, [str(part) for part in named])
    assert (result.exit_code, result.stdout) == (0, "mauve 0.7500, of 1 answer by gpt2-large\n")
    assert result.stderr == "1 answer left out: failed, or without a gold answer\n"
    value = json.loads(CliRunner().invoke(app, [str(part) for part in [*named, "--json"]]).stdout)
    assert value == {"mauve": 0.75, "n": 1, "left_out": 1, "checkpoint": "gpt2-large"}
    assert len(library) == 2
