"""`quoteweave run --preset mmdocrag-ocr` over a file as it is published, whose pictures' words are not in it."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw, ImageFont
from typer.testing import CliRunner, Result

from quoteweave.cli.app import app
from quoteweave.core.errors import DatasetError
from quoteweave.core.runs import read_run_record
from quoteweave.testing import ModelServer, Reply

DESCRIBED = "A vision model's description"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Runs the command over a question with pictures, on the first of which OCR finds a word."""
    (tmp_path / "images").mkdir()
    named, blank = Image.new("RGB", (300, 80), "white"), Image.new("RGB", (300, 80), "white")
    ImageDraw.Draw(named).text((20, 20), "HARBOUR", font=ImageFont.load_default(size=36), fill="black")
    named.save(tmp_path / "images" / "a.png")
    blank.save(tmp_path / "images" / "b.png")
    pictures = [
        {"quote_id": f"image{place}", "img_path": f"images/{name}.png", "img_description": DESCRIBED, "page_id": 0}
        for place, name in enumerate("abbbbbbb", start=1)
    ]
    texts = [{"quote_id": f"text{place}", "text": "It rained.", "page_id": 0} for place in range(1, 13)]
    question = {
        "q_id": 0,
        "question": "Where?",
        "text_quotes": texts,
        "img_quotes": pictures,
        "gold_quotes": ["image1"],
    }
    (tmp_path / "data.jsonl").write_text(json.dumps(question) + "\n")
    (tmp_path / "config.toml").write_text('model = "m"')

    def invoke(*options: object, url: str = "http://127.0.0.1:9/v1") -> Result:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        said: list[object] = ["run", "--dataset", "mmdocrag-20", "--references", tmp_path / "data.jsonl"]
        said += ["--preset", "mmdocrag-ocr", "--config", tmp_path / "config.toml", "--out", tmp_path / "run", *options]
        return CliRunner().invoke(app, [str(part) for part in said])

    return invoke


def answer(request: Mapping[str, Any]) -> Reply:
    return Reply(text="There. ![It](image1)")


def test_pictures_are_read_by_ocr_and_shown_by_nothing_else(run: Callable[..., Result], tmp_path: Path) -> None:
    with ModelServer(answer) as server:
        result = run("--image-folder", tmp_path, url=server.base_url)
    assert result.exit_code == 0, (result.output, result.exception)
    assert "reading the dataset's pictures by OCR, each once" in result.stderr
    (request,) = server.requests
    asked = json.dumps(request["messages"])
    assert "HARBOUR" in asked
    assert DESCRIBED not in asked, "not even of the picture on which OCR reads nothing"
    assert read_run_record(tmp_path / "run").fingerprints["ocr"].startswith("rapidocr ")


def test_without_the_pictures_it_says_what_is_missing(run: Callable[..., Result], tmp_path: Path) -> None:
    result = run()
    assert result.exit_code == 1
    assert "no image quote of this question has ocr_text; name the folder of a dataset's pictures" in result.stderr


def test_a_picture_that_is_not_there_is_an_error_before_anything_is_asked(
    run: Callable[..., Result], tmp_path: Path
) -> None:
    (tmp_path / "images" / "b.png").unlink()
    result = run("--image-folder", tmp_path)
    assert isinstance(result.exception, DatasetError)
    assert "7 pictures are not in" in str(result.exception)
    assert "images/b.png" in str(result.exception)
