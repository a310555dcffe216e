"""Small datasets, a collection whose quotes they name, and `quoteweave run` over them against a scripted server."""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from made_collections import made_quote, put
from typer.testing import CliRunner, Result

from quoteweave.cli.app import app
from quoteweave.collection.collection import Collection
from quoteweave.core.answers import Usage
from quoteweave.core.records import Quote
from quoteweave.core.runs import read_run
from quoteweave.testing import Reply

RunIt = Callable[..., Result]
GOODS = ("grain", "timber", "coal", "salt", "wool", "tin")


def row(good: str) -> dict[str, object]:
    """A question with 12 text quotes and 8 image quotes, of which text 3 and image 2 are gold."""
    texts = [
        {"quote_id": f"text{n}", "type": "text", "text": f"The port says {n}.", "page_id": 0, "layout_id": 100 + n}
        for n in range(1, 13)
    ]
    texts[2] = {**texts[2], "text": f"Of {good} so much was shipped.", "layout_id": GOODS.index(good)}
    images = [
        {"quote_id": f"image{n}", "type": "image", "img_path": f"{n}.jpg", "img_description": f"a chart {n}"}
        | {"page_id": 0, "layout_id": 200 + n}
        for n in range(1, 9)
    ]
    images[1] = {**images[1], "img_description": f"a chart of {good}", "layout_id": 10 + GOODS.index(good)}
    return {
        "q_id": good,
        "doc_name": "port",
        "domain": "Report",
        "question": f"How much {good} was shipped? And who paid?",
        "evidence_modality_type": ["text"],
        "question_type": "Descriptive",
        "text_quotes": texts,
        "img_quotes": images,
        "gold_quotes": ["text3", "image2"],
        "answer_short": good,
        "answer_interleaved": f"So much {good} [3] ![chart](image2).",
    }


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    path = tmp_path / "data.jsonl"
    path.write_text("".join(json.dumps(row(good)) + "\n" for good in GOODS))
    return path


@pytest.fixture
def port(tmp_path: Path) -> Path:
    """A document whose quotes have the layout ids of the dataset's; that of wool is not in it."""
    goods = [good for good in GOODS if good != "wool"]
    texts = [numbered(made_quote(f"Of {good} so much was shipped."), GOODS.index(good)) for good in goods]
    images = [numbered(made_quote(f"a chart of {good}", layout="chart"), 10 + GOODS.index(good)) for good in goods]
    fillers = [numbered(made_quote(f"Nothing of note, number {n}."), 100 + n) for n in range(30)]
    with Collection.create(tmp_path / "c") as collection, collection.writer() as writer:
        put(writer, tmp_path, "port.pdf", [*texts, *images, *fillers])
    return tmp_path / "c"


def numbered(quote: Quote, layout_id: int) -> Quote:
    return quote.model_copy(update={"layout_id": layout_id})


@pytest.fixture
def run_it(tmp_path: Path, dataset: Path, monkeypatch: pytest.MonkeyPatch) -> RunIt:
    for name in ("QUOTEWEAVE_MODEL", "OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "200")

    def invoke(config: str, *options: object, url: str = "", out: str = "runs") -> Result:
        (tmp_path / "config.toml").write_text(config.replace("URL", url))
        arguments = [*asking(tmp_path, dataset, out), *options]
        if url:
            monkeypatch.setenv("OPENAI_BASE_URL", url)
        return CliRunner().invoke(app, [str(part) for part in arguments])

    return invoke


def asking(folder: Path, dataset: Path, out: str) -> list[object]:
    return [
        "run",
        "--dataset",
        "mmdocrag-20",
        "--references",
        dataset,
        "--config",
        folder / "config.toml",
        "--out",
        folder / out,
    ]


def scripted_reply(request: Mapping[str, Any]) -> Reply:
    """Cites every quote that it is shown which names the good that is asked about; or makes clauses of the question."""
    text = str(request["messages"][-1]["content"])
    if text.startswith("Question: "):
        return Reply(text='["' + text.removeprefix("Question: ").replace("? ", '?", "') + '"]', usage=Usage())
    match = re.search(r"How much (\w+) was", text)
    assert match is not None
    marks = re.findall(rf"^(\[\d+\]|image\d+) [^\n]*\n    [^\n]*\b{match[1]}\b", text, re.MULTILINE)
    cited = " ".join(mark if mark.startswith("[") else f"![chart]({mark})" for mark in marks)
    usage = Usage(input_tokens=100, output_tokens=10)
    return Reply(
        text=f"So much {match[1]} {cited}." if cited else "The quotes do not answer this question.", usage=usage
    )


def value(result: Result) -> Any:
    assert result.exit_code in (0, 1), (result.output, result.exception)
    return json.loads(result.stdout)


def score(run: Path, dataset: Path) -> Any:
    arguments = ["eval", "score", run, "--dataset", "mmdocrag-20", "--references", dataset, "--json"]
    return value(CliRunner().invoke(app, [str(part) for part in arguments]))


def timeless(folder: Path) -> list[object]:
    def without_times(record: Any) -> Any:
        if isinstance(record, dict):
            return {key: without_times(part) for key, part in record.items() if key not in ("seconds", "spent")}
        return record

    # Answered a few at a time, they end in any order.
    predictions = sorted(read_run(folder)[1], key=lambda prediction: prediction.example)
    return [without_times(prediction.model_dump(mode="json")) for prediction in predictions]
