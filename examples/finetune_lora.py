"""Fine-tune a chat model with LoRA on conversations that `quoteweave sft export` wrote.

    pip install "quoteweave[train]"
    quoteweave sft export --preset mmdocrag-text --dataset mmdocrag-15 --references dev_15.jsonl \
        --dataset mmdocrag-20 --references dev_20.jsonl --out sft.jsonl
    python examples/finetune_lora.py --model Qwen/Qwen2.5-7B-Instruct --data sft.jsonl --out adapter

What is learnt from pictures is exported with `--mode multimodal --image-folder DIR`, for a model that sees. The adapter
is served by any server that loads LoRA, such as `vllm serve Qwen/Qwen2.5-7B-Instruct --enable-lora --lora-modules
mine=adapter`, and then answers as `quoteweave ask --model mine --base-url http://localhost:8000/v1 …`.

Settings are those of MMDocRAG: arXiv 2505.16470, appendix C.2 (rank, alpha, length, one epoch), and train_swift_qwen.py
of MMDocRAG/MMDocRAG at a1618d7 (learning rate, cosine schedule, warm-up over a twentieth of the updates, weight decay,
eight conversations an update, seed, all linear layers). The authors train with ms-swift and keep back a thousandth of
the conversations to watch the loss; here trl trains on all of them.
"""

import argparse
import json
from itertools import chain
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset, Image, List
from peft import LoraConfig
from transformers import AutoProcessor, AutoTokenizer
from trl import SFTConfig, SFTTrainer

TEXT_TOKENS = 8 * 1024
VISION_TOKENS = 32 * 1024  # pictures take more tokens than words
WARM_UP = 0.05  # of all updates


def train(model: str, data: Path, out: Path, *, epochs: float = 1, learning_rate: float = 1e-4) -> list[float]:
    """Train an adapter over `model`, save it in `out`, and return the mean loss of each update."""
    rows = [json.loads(line) for line in data.read_text("utf-8").splitlines()]
    sees = "images" in rows[0]
    reader = (AutoProcessor if sees else AutoTokenizer).from_pretrained(model)
    max_tokens = VISION_TOKENS if sees else TEXT_TOKENS
    trainer = SFTTrainer(
        model=model,
        processing_class=reader,
        train_dataset=fitting(dataset_of(rows), reader, max_tokens),
        peft_config=LoraConfig(
            r=16,
            lora_alpha=32,
            target_modules="all-linear",
            # Most servers load adapters of the language model alone.
            exclude_modules=r".*(visual|vision).*" if sees else None,
            task_type="CAUSAL_LM",
        ),
        args=SFTConfig(
            output_dir=str(out),
            num_train_epochs=epochs,
            learning_rate=learning_rate,
            lr_scheduler_type="cosine",
            warmup_steps=WARM_UP,
            weight_decay=0.1,
            seed=42,
            per_device_train_batch_size=1,
            gradient_accumulation_steps=8,
            max_length=max_tokens,
            model_init_kwargs={"dtype": "auto"},
            bf16=torch.cuda.is_available(),
            completion_only_loss=True,
            logging_steps=1,
            save_strategy="no",
            report_to="none",
        ),
    )
    trainer.train()
    trainer.save_model()
    return [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]


def dataset_of(rows: list[dict[str, Any]]) -> Dataset:
    """Prompts and answers apart, as loss is on the answers alone."""
    parted = [{**row, "prompt": row["messages"][:-1], "completion": row["messages"][-1:]} for row in rows]
    dataset = Dataset.from_list(parted).remove_columns("messages")
    return dataset.cast_column("images", List(Image())) if "images" in rows[0] else dataset


def fitting(dataset: Dataset, reader: Any, max_tokens: int) -> Dataset:
    """The conversations that are not too long: of a longer one, the answer would be cut off."""

    def fits(row: dict[str, Any]) -> bool:
        messages, pictures = row["prompt"] + row["completion"], iter(row.get("images", ()))
        contents = (message["content"] for message in messages if isinstance(message["content"], list))
        for part in chain.from_iterable(contents):
            if part["type"] == "image":
                part["image"] = next(pictures)
        tokens = reader.apply_chat_template(messages, tokenize=True, return_dict=True, return_tensors="pt")
        return bool(tokens["input_ids"].shape[-1] <= max_tokens)

    return dataset.filter(fits)


def main() -> None:
    """Run from a command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="a chat model: a folder, or a name on the hub")
    parser.add_argument("--data", required=True, type=Path, help="what quoteweave sft export wrote")
    parser.add_argument("--out", required=True, type=Path, help="folder for the adapter")
    parser.add_argument("--epochs", type=float, default=1)
    parser.add_argument("--learning-rate", type=float, default=1e-4)
    options = parser.parse_args()
    train(options.model, options.data, options.out, epochs=options.epochs, learning_rate=options.learning_rate)


if __name__ == "__main__":
    main()
