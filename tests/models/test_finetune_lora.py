"""From a dataset to an answer: exported, trained with the example that comes with the project, loaded and asked."""

import asyncio
import base64
import importlib.util
import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from builders import write_json_lines
from tiny_chat import TEMPLATE, byte_tokenizer, make_chat, make_seeing_chat
from typer.testing import CliRunner

from quoteweave.cli.app import app
from quoteweave.models.chat import LocalChat

pytestmark = pytest.mark.skipif(
    not all(map(find_spec, ("trl", "peft"))), reason="trl or peft is not installed; they come with the extra train"
)

EXAMPLE = Path(__file__).parents[2] / "examples" / "finetune_lora.py"
PROMPTS = {
    "cited_answer_system.txt": "Cite, or say: $abstention",
    "cited_answer_user.txt": "$text_quotes\n$image_quotes\n$question",
}


@pytest.fixture(scope="module")
def example() -> Any:
    spec = importlib.util.spec_from_file_location("finetune_lora", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    from PIL import Image

    (tmp_path / "prompts").mkdir()
    for name, text in PROMPTS.items():
        (tmp_path / "prompts" / name).write_text(text)
    for number in range(1, 6):
        Image.new("RGB", (40, 30), (50 * number, 0, 0)).save(tmp_path / f"{number}.png")
    texts = [{"quote_id": f"text{n}", "text": f"said {n}", "page_id": n} for n in range(1, 11)]
    images = [{"quote_id": f"image{n}", "img_path": f"{n}.png", "page_id": n} for n in range(1, 6)]
    lines = (
        {
            "q_id": number,
            "question": "How many?",
            "text_quotes": texts,
            "img_quotes": images,
            "gold_quotes": ["text3"],
            "answer_interleaved": "Twelve ships [3].",
        }
        for number in range(2)
    )
    file = tmp_path / "dev_15.jsonl"
    write_json_lines(file, lines)
    return file


def exported(dataset: Path, *options: object) -> Path:
    out = dataset.with_name("train.jsonl")
    named = ["--dataset", "mmdocrag-15", "--references", dataset, "--prompts", dataset.parent / "prompts", "--out", out]
    result = CliRunner().invoke(app, list(map(str, ["sft", "export", *named, *options])))
    assert result.exit_code == 0, result.output
    return out


def answered(checkpoint: Path, line: Any) -> str:
    """What the model says to the prompt of a line, with its pictures as they are sent to models."""
    pictures = iter(line.get("images", ()))

    def part(given: Any) -> Any:
        if given["type"] == "text":
            return given
        data = base64.b64encode(Path(next(pictures)).read_bytes()).decode()
        return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}

    messages = [
        message if isinstance(message["content"], str) else {**message, "content": [*map(part, message["content"])]}
        for message in line["messages"][:-1]
    ]
    return asyncio.run(LocalChat(str(checkpoint), max_tokens=12).complete(messages)).text


def test_loss_is_on_the_answer_alone(
    example: Any, dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learnt = set()

    class Watched(example.SFTTrainer):  # type: ignore[misc]
        def compute_loss(self, model: Any, inputs: Any, *rest: Any, **named: Any) -> Any:
            learnt.add(tuple(inputs["labels"][inputs["labels"] >= 0].tolist()))
            return super().compute_loss(model, inputs, *rest, **named)

    monkeypatch.setattr(example, "SFTTrainer", Watched)
    for number, make in enumerate((make_chat, make_seeing_chat)):
        data = exported(dataset, *(["--mode", "multimodal", "--image-folder", tmp_path] if number else []))
        example.train(str(make(tmp_path / f"m{number}")), data, tmp_path / f"a{number}")
        rows = [json.loads(line)["messages"][-1]["content"] for line in data.read_text().splitlines()]
        answers = {row if isinstance(row, str) else row[0]["text"] for row in rows}
        assert {byte_tokenizer(None).decode(labels) for labels in learnt} == {f"{one}<|im_end|>\n" for one in answers}
        learnt.clear()


@pytest.mark.parametrize("sees", [False, True], ids=["words", "pictures"])
def test_the_loss_falls_and_the_adapter_answers_as_it_was_taught(
    sees: bool, example: Any, dataset: Path, tmp_path: Path
) -> None:
    data = exported(dataset, *(["--mode", "multimodal", "--image-folder", tmp_path] if sees else []))
    model, adapter = (make_seeing_chat if sees else make_chat)(tmp_path / "model"), tmp_path / "adapter"
    losses = example.train(str(model), data, adapter, epochs=14, learning_rate=2e-2)
    assert len(losses) == 14
    assert losses[-1] < losses[0] / 2
    settings = json.loads((adapter / "adapter_config.json").read_text())
    assert (settings["r"], settings["lora_alpha"], settings["base_model_name_or_path"]) == (16, 32, str(model))
    line = json.loads(data.read_text().splitlines()[0])
    assert answered(adapter, line).startswith("Twelve")
    assert not answered(model, line).startswith("Twelve")


def test_the_schedule_is_the_papers(
    example: Any, dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = []

    class Watched(example.SFTTrainer):  # type: ignore[misc]
        def train(self) -> None:
            begun.append(self.args)

    monkeypatch.setattr(example, "SFTTrainer", Watched)
    example.train(str(make_chat(tmp_path / "model")), exported(dataset), tmp_path / "adapter")
    (args,) = begun
    assert (args.lr_scheduler_type, args.weight_decay, args.learning_rate) == ("cosine", 0.1, 1e-4)
    assert args.get_warmup_steps(100) == 5
    assert args.per_device_train_batch_size * args.gradient_accumulation_steps == 8
    assert args.num_train_epochs == 1


def test_conversations_that_are_too_long_are_passed_over(example: Any) -> None:
    tokenizer = byte_tokenizer(TEMPLATE)
    said = [{"prompt": [{"role": "user", "content": "a" * n}], "completion": []} for n in (10, 500, 20)]
    kept = example.fitting(example.Dataset.from_list(said), tokenizer, 100)
    assert [len(row["prompt"][0]["content"]) for row in kept] == [10, 20]
