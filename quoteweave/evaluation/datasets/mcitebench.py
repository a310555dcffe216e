"""MCiteBench (arXiv 2503.02589): questions on research papers, each with pieces of evidence and distractors.

What is shown to a model is numbered by kind: texts as `[1]`, pictures as `Figure 3`, tables as `Table 2`. The example's
quotes go by these names. Pages and boxes are not told: quotes stand on page 0 under the label `?`, in an empty box.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, JsonValue

from quoteweave.core.answers import Context
from quoteweave.core.errors import DatasetError
from quoteweave.core.examples import Example, Reference
from quoteweave.core.files.jsonl import iter_records
from quoteweave.core.records import Hit, Kind, Layout, Query, Quote
from quoteweave.evaluation.datasets.mmdocrag import NOWHERE

_GOLD = "Gold"


class _Line(BaseModel):
    # Fields that we do not read may come and go between releases of the dataset.
    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True)

    question_id: str
    question: str
    pdf_id: str | None = None
    question_type: str | None = None
    answer: str | None = None
    evidence_keys: tuple[str, ...] = ()
    evidence_contents: tuple[str, ...] = ()
    evidence_modal: tuple[str, ...] = ()
    idx_2_text: Mapping[str, str] = {}
    idx_2_image: Mapping[str, str] = {}
    idx_2_table: Mapping[str, str] = {}
    meta_data: Mapping[str, JsonValue] | None = None


def load_mcitebench(path: Path) -> list[Example]:
    """The questions of a file, in its order. Locating questions have choices, and the right letter as short answer.

    Raises DatasetError, naming file, line and field, for what cannot be read, a repeated question, and evidence that is
    not among what is shown.
    """
    examples: list[Example] = []
    seen: dict[str, int] = {}
    for number, line in iter_records(path, _Line):
        where = f"{path}, line {number}"
        first = seen.setdefault(line.question_id, number)
        if first != number:
            raise DatasetError(f"{where}, question_id: {line.question_id!r} is on line {first} already")
        examples.append(_example(line, where))
    return examples


def _example(line: _Line, where: str) -> Example:
    texts, images = (tuple(_ranked(line, kind)) for kind in ("text", "image"))
    choices = {letter: str(text) for letter, text in (line.meta_data or {}).items() if letter != _GOLD}
    right = (line.meta_data or {}).get(_GOLD)
    return Example(
        id=line.question_id,
        query=Query(text=line.question),
        document=line.pdf_id,
        question_type=line.question_type,
        evidence_types=line.evidence_modal,
        context=Context(texts=texts, images=images),
        choices=choices,
        reference=Reference(
            answer=line.answer,
            short_answer=right if isinstance(right, str) else None,
            relevant=dict.fromkeys(_gold(line, where), 1),
        ),
    )


def _shown(line: _Line) -> Iterator[tuple[str, str, Layout]]:
    """Id, content and layout of all that is shown, texts first."""
    yield from ((number, text, "paragraph") for number, text in line.idx_2_text.items())
    yield from ((f"Figure {number}", path, "figure") for number, path in line.idx_2_image.items())
    yield from ((f"Table {number}", path, "table") for number, path in line.idx_2_table.items())


def _ranked(line: _Line, kind: Kind) -> Iterator[Hit]:
    of_kind = [shown for shown in _shown(line) if (shown[2] == "paragraph") == (kind == "text")]
    for rank, (name, content, layout) in enumerate(of_kind, start=1):
        quote = Quote(
            id=name,
            document=line.pdf_id or "",
            page=0,
            page_label="?",
            bbox=NOWHERE,
            kind=kind,
            layout=layout,
            text=content if kind == "text" else "",
            image=content if kind == "image" else None,
        )
        yield Hit(rank=rank, score=1 / rank, quote=quote)


def _gold(line: _Line, where: str) -> Iterator[str]:
    """Ids of the evidence: by its content, else by its key."""
    names, by_content = {name for name, _, _ in _shown(line)}, {content: name for name, content, _ in _shown(line)}
    for place, key in enumerate(line.evidence_keys):
        content = line.evidence_contents[place] if place < len(line.evidence_contents) else None
        name = by_content.get(content or "", key)
        if name not in names:
            raise DatasetError(f"{where}, evidence_keys: {key!r} is not among what is shown")
        yield name
