"""`quoteweave sft export`: a dataset's gold answers as conversations to fine-tune a chat model with."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

import typer

from quoteweave.cli.console import print_json
from quoteweave.cli.options.collection import JsonOption
from quoteweave.cli.options.settings import ImageFolderOption, PresetOption, PromptsOption
from quoteweave.cli.progress import TerminalProgress
from quoteweave.core.errors import DatasetError, UsageError
from quoteweave.core.files.whole_files import output_file
from quoteweave.core.messages import pluralize
from quoteweave.core.records import Kind
from quoteweave.evaluation.datasets import load_dataset
from quoteweave.pipeline.presets import load_preset
from quoteweave.pipeline.runs.config import RunSettings
from quoteweave.pipeline.runs.sft import ExampleSkipped, TrainingFormat, TrainingLines

JSON = """--json prints one object:

file, preset (null without one), mode, seed; examples: lines that were written;

left_out: reason to how many examples it kept out;

gold_at: for text and image, how often gold stands at each place, from the first on."""


def export(
    dataset: Annotated[list[str], typer.Option(help="Datasets to learn from: mmdocrag-15, mmdocrag-20, or both.")],
    references: Annotated[list[Path], typer.Option(help="The file of each dataset.", metavar="FILE")],
    out: Annotated[Path, typer.Option(help="JSONL file to write.", metavar="FILE")],
    preset: PresetOption = None,
    mode: Annotated[
        Literal["pure-text", "multimodal"] | None,
        typer.Option(help="Image quotes as words, or (multimodal) as pictures; the default is the preset's, or words."),
    ] = None,
    image_folder: ImageFolderOption = None,
    form: Annotated[
        TrainingFormat,
        typer.Option(
            help="How lines name pictures: parts of messages (trl), or <image> in the text (also for ms-swift)."
        ),
    ] = "trl",
    seed: Annotated[int, typer.Option(help="Seed for shuffling the quotes.")] = 0,
    prompts: PromptsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write questions, quotes and gold answers as conversations, one a line.

    Prompts are those that quoteweave ask uses. Quotes are shuffled, the
    answer's marks follow them, and gold stands at each place equally often.
    Lines name pictures by DIR as given here. Examples that cannot be used for
    training are left out and counted. Give --dataset and --references twice to
    learn from 15 and 20 quotes together, as MMDocRAG does.
    """
    if len(dataset) != len(references):
        raise UsageError("name --references as often as --dataset, each file in the order of its dataset")
    settings = RunSettings(preset=None if preset is None else load_preset(preset, "answers").name)
    mode = mode or ("multimodal" if settings.images else "pure-text")
    if (mode == "multimodal") != (image_folder is not None):
        raise UsageError("--mode multimodal and --image-folder DIR go together: name both, or neither")
    pictures = None if image_folder is None else files_in(image_folder)
    lines = TrainingLines(
        seed=seed,
        prompts_folder=prompts or settings.prompts,
        pictures=pictures,
        form=form,
        sources=settings.quote_sources,
        view=settings.view,
    )
    examples = [example for name, file in zip(dataset, references, strict=True) for example in load_dataset(name, file)]
    left_out: Counter[str] = Counter()
    with output_file(out) as file:
        with TerminalProgress().task("writing", len(examples)) as bar:
            for example in examples:
                try:
                    file.write(f"{json.dumps(lines.line(example), ensure_ascii=False)}\n".encode())
                except ExampleSkipped as skipped:
                    left_out[str(skipped)] += 1
                bar.advance()
        if left_out.total() == len(examples):
            reasons = "; ".join(f"{reason} ({count})" for reason, count in left_out.items())
            raise DatasetError(f"{' and '.join(map(str, references))} holds nothing to train with: {reasons}")
    count, places = len(examples) - left_out.total(), lines.places
    if as_json:
        summary = {"file": str(out), "preset": preset, "mode": mode, "seed": seed, "examples": count}
        print_json({**summary, "left_out": dict(left_out), "gold_at": places})
        return
    typer.echo(f"{out}: {pluralize(count, 'example')}{_spread(places)}")
    for reason, kept_out in left_out.items():
        typer.echo(f"left out {kept_out}: {reason}", err=True)


def files_in(folder: Path) -> Callable[[str], Path | None]:
    """Return a function that finds pictures in this folder only; it returns None if a file is missing or empty.

    Raises UsageError without a folder.
    """
    if not folder.is_dir():
        raise UsageError(f"--image-folder {folder}: there is no such folder")
    root = folder.resolve()

    def find(name: str) -> Path | None:
        path = folder / name
        inside = path.resolve().is_relative_to(root)
        return path if inside and path.is_file() and path.stat().st_size else None

    return find


def _spread(places: dict[Kind, list[int]]) -> str:
    """How often gold is at each position, in words."""
    lines = [
        f"each of {len(counts)} {kind} places {min(counts)} to {max(counts)} times"
        for kind, counts in places.items()
        if counts
    ]
    return f"; gold stands at {' and '.join(lines)}" if lines else ""
