"""`quoteweave sft export`: the file, what is said of it, and what cannot be written."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from builders import write_json_lines
from typer.testing import CliRunner, Result

from quoteweave.cli.app import app
from quoteweave.core.errors import DatasetError, QuoteweaveError, StorageError, UsageError

Export = Callable[..., Result]


def question(number: int, answer: str | None = "Twelve [3]. ![ships](image2)") -> dict[str, object]:
    texts = [{"quote_id": f"text{n}", "text": f"said {n}", "page_id": n} for n in range(1, 11)]
    images = [
        {"quote_id": f"image{n}", "img_path": f"images/{n}.png", "img_description": "A chart.", "page_id": 7}
        for n in range(1, 6)
    ]
    gold = {"gold_quotes": ["text3", "image2"], "answer_interleaved": answer}
    return {"q_id": number, "question": "How many?", "text_quotes": texts, "img_quotes": images, **gold}


@pytest.fixture
def export(tmp_path: Path) -> Export:
    questions = [*(question(number) for number in range(20)), question(20, None), question(21, "Twelve [11].")]
    write_json_lines(tmp_path / "dev_15.jsonl", questions)
    (tmp_path / "pictures" / "images").mkdir(parents=True)
    for number in range(1, 6):
        (tmp_path / "pictures" / "images" / f"{number}.png").write_bytes(b"a picture")

    def invoke(*options: object, out: object = tmp_path / "new" / "train.jsonl") -> Result:
        named = ["--dataset", "mmdocrag-15", "--references", tmp_path / "dev_15.jsonl", "--out", out]
        return CliRunner().invoke(app, list(map(str, ("sft", "export", *named, *options))))

    return invoke


def lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def raised(result: Result) -> str:
    assert isinstance(result.exception, QuoteweaveError), result.output
    return str(result.exception)


def test_writes_a_conversation_a_line_and_says_what_it_left_out(export: Export, tmp_path: Path) -> None:
    result = export()
    assert result.exit_code == 0, result.output
    written = lines(tmp_path / "new" / "train.jsonl")
    assert len(written) == 20
    assert [message["role"] for message in written[0]["messages"]] == ["system", "user", "assistant"]
    assert list(written[0]) == ["messages"]
    assert "each of 10 text places 2 to 2 times and each of 5 image places 4 to 4 times" in result.stdout
    assert "left out 1: it has no gold answer" in result.stderr
    assert "left out 1: its answer has a mark that names none of its quotes" in result.stderr
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["train.jsonl"]


def test_json_and_seed(export: Export, tmp_path: Path) -> None:
    told = json.loads(export("--json", "--seed", 5, out=tmp_path / "a").stdout)
    assert (told["file"], told["mode"], told["seed"], told["examples"]) == (str(tmp_path / "a"), "pure-text", 5, 20)
    assert told["gold_at"] == {"text": [2] * 10, "image": [4] * 5}
    assert sum(told["left_out"].values()) == 2
    export("--seed", 5, out=tmp_path / "b")
    export("--seed", 6, out=tmp_path / "c")
    a, b, c = ((tmp_path / name).read_bytes() for name in "abc")
    assert a == b != c


@pytest.mark.parametrize("form", ["trl", "llama-factory"])
def test_pictures_are_named_by_the_folder_given(form: str, export: Export, tmp_path: Path) -> None:
    folder = tmp_path / "pictures"
    assert export("--mode", "multimodal", "--image-folder", folder, "--form", form).exit_code == 0
    written = lines(tmp_path / "new" / "train.jsonl")
    assert sorted(written[0]["images"]) == [str(folder / f"images/{number}.png") for number in range(1, 6)]
    user = written[0]["messages"][1]["content"]
    assert (user.count("<image>") if form == "llama-factory" else user.count({"type": "image"})) == 5


def test_nothing_to_train_with_leaves_the_file_that_was_there(export: Export, tmp_path: Path) -> None:
    before = tmp_path / "train.jsonl"
    before.write_text("mine\n")
    (tmp_path / "pictures" / "images" / "3.png").write_bytes(b"")
    result = export("--mode", "multimodal", "--image-folder", tmp_path / "pictures", out=before)
    assert isinstance(result.exception, DatasetError)
    assert "holds nothing to train with: a picture of its image quotes is missing (20); it has no gold" in raised(
        result
    )
    assert before.read_text() == "mine\n"
    assert not list(tmp_path.glob(".train*"))


def test_options_that_do_not_go_together(export: Export, tmp_path: Path) -> None:
    for options in (
        ["--mode", "multimodal"],
        ["--image-folder", tmp_path],
        ["--mode", "multimodal", "--image-folder", "nowhere"],
    ):
        result = export(*options)
        assert isinstance(result.exception, UsageError)
        assert "--image-folder" in raised(result)


def test_a_picture_outside_the_folder_is_not_there(tmp_path: Path) -> None:
    from quoteweave.cli.commands.sft import files_in

    (tmp_path / "in").mkdir()
    for name in ("out.png", "in/a.png"):
        (tmp_path / name).write_bytes(b"a picture")
    find = files_in(tmp_path / "in")
    assert find("a.png") == tmp_path / "in" / "a.png"
    assert (find("../out.png"), find(str(tmp_path / "out.png")), find("b.png"), find(".")) == (None,) * 4


def test_a_file_that_cannot_be_written(export: Export, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = export(out=tmp_path / "file" / "train.jsonl")
    assert isinstance(result.exception, StorageError)
    assert "train.jsonl cannot be written" in raised(result)


def test_learns_from_15_and_20_quotes_by_the_papers_prompts(export: Export, tmp_path: Path) -> None:
    wider = question(0)
    wider["text_quotes"] = [{"quote_id": f"text{n}", "text": f"said {n}", "page_id": n} for n in range(1, 13)]
    wider["img_quotes"] = [
        {"quote_id": f"image{n}", "img_path": f"images/{n}.png", "img_description": "A chart.", "page_id": 7}
        for n in range(1, 9)
    ]
    (tmp_path / "dev_20.jsonl").write_text(json.dumps(wider) + "\n")
    both = ("--dataset", "mmdocrag-20", "--references", tmp_path / "dev_20.jsonl")
    result = export(*both, "--preset", "mmdocrag-text", "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert (told["examples"], told["preset"], told["mode"]) == (21, "mmdocrag-text", "pure-text")
    first, *_, last = lines(tmp_path / "new" / "train.jsonl")
    assert "at least one image" in first["messages"][0]["content"]
    assert "[10]\n" in first["messages"][1]["content"]
    assert "[11]\n" not in first["messages"][1]["content"]
    assert "[12]\n" in last["messages"][1]["content"]
    assert "[1] (" not in last["messages"][1]["content"], "the model is not told where a quote stands"


def test_what_does_not_go_together_is_refused(export: Export) -> None:
    assert "as often as --dataset" in raised(export("--dataset", "mmdocrag-20"))
    assert "it is for judge" in raised(export("--preset", "mmdocrag-judge"))
    assert "--image-folder DIR go together" in raised(export("--preset", "mmdocrag-multimodal"))


def test_examples_without_the_words_of_the_view_are_left_out(export: Export) -> None:
    assert "nothing to train with: none of its image quotes has the words" in raised(export("--preset", "mmdocrag-ocr"))
