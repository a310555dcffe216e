"""Small files of MCiteBench's form, with their pictures, and what a scripted model is sent of them."""

import base64
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from builders import write_json_lines
from PIL import Image

TEXTS = {"1": "Trains run daily.", "2": "Coal came by rail."}
COLOURS = {"f3": (200, 0, 0), "t1": (0, 200, 0), "t2": (0, 0, 200)}


def line(name: str = "q", /, **changes: object) -> dict[str, object]:
    """A question with five sources, two texts, a figure and two tables, of which the figure is gold."""
    pictures = [f"images/{name}-{picture}.png" for picture in COLOURS]
    return {
        "question_id": name,
        "pdf_id": f"paper-{name}.pdf",
        "question_type": "explanation",
        "question": f"What rose in {name}?",
        "answer": "Coal.",
        "evidence_keys": ["Figure 3"],
        "evidence_contents": pictures[:1],
        "evidence_modal": ["figure"],
        "evidence_count": 1,
        "distractor_contents": [TEXTS["2"], *pictures[1:], TEXTS["1"]],
        "text_2_idx": {text: number for number, text in TEXTS.items()},
        "idx_2_text": dict(reversed(TEXTS.items())),
        "idx_2_image": {"3": pictures[0]},
        "idx_2_table": {"2": pictures[2], "1": pictures[1]},
        "meta_data": {},
        **changes,
    }


def locating(name: str = "q", /, **changes: object) -> dict[str, object]:
    """The same as a question with four answers to choose from, of which B is right."""
    choices = {"A": "Salt.", "B": "Coal.", "C": "Tin.", "D": "Wool.", "Gold": "B", "page_idx": 3}
    why = {"explanation": "The curve of coal goes up."}
    return line(name, question_type="locating", meta_data={**choices, **why}, **changes)


def write(folder: Path, lines: Sequence[Mapping[str, object]], *, pictures: bool = True) -> Path:
    """The dataset's file; its pictures, each of one colour, in `folder/resources` as the authors lay them out."""
    path = folder / "data.jsonl"
    write_json_lines(path, lines)
    for question in lines if pictures else ():
        place = folder / "resources" / str(question["pdf_id"]).removesuffix(".pdf") / "images"
        place.mkdir(parents=True, exist_ok=True)
        for name, colour in COLOURS.items():
            Image.new("RGB", (4, 4), colour).save(place / f"{question['question_id']}-{name}.png")
    return path


def shown(request: Any) -> list[str]:
    """What a request shows, in order: `[1]`, `Figure 3`…, each picture by the name of the file it was made of."""
    content: Any = request["messages"][-1]["content"]
    parts: Any = [{"type": "text", "text": content}] if isinstance(content, str) else content
    shown_parts: list[str] = []
    for part in parts:
        if part["type"] == "text":
            lines = part["text"].splitlines()
            shown_parts += [text_line for text_line in lines if text_line.startswith(("[", "Figure ", "Table "))]
        else:
            shown_parts.append(_file_of(str(part["image_url"]["url"])))
    return shown_parts


def _file_of(url: str) -> str:
    data: bytes = base64.b64decode(url.partition("base64,")[2])
    colour = Image.open(io.BytesIO(data)).convert("RGB").getpixel((0, 0))
    return next(name for name, known in COLOURS.items() if known == colour)
