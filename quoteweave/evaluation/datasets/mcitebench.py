"""MCiteBench (arXiv 2503.02589): questions on research papers, each with pieces of evidence and distractors.

What is shown to a model is numbered by kind: texts as `[1]`, pictures as `Figure 3`, tables as `Table 2`. The example's
quotes go by these names, in the order of their numbers; `Example.sources` has them as the file lists them: evidence,
then distractors. Pictures lie at `<pdf_id>/images/…`, as the authors publish them. Pages and boxes are not told: quotes
stand on page 0 under the label `?`, in an empty box.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, JsonValue

from quoteweave.core.answers import Context
from quoteweave.core.errors import DatasetError
from quoteweave.core.examples import Example, Reference
from quoteweave.core.files.jsonl import iter_records
from quoteweave.core.messages import pluralize
from quoteweave.core.records import Hit, Kind, Layout, Query, Quote
from quoteweave.evaluation.datasets.mmdocrag import NOWHERE

_GOLD, _EXPLANATION = "Gold", "explanation"
_TYPES = ("explanation", "locating")
_FIGURE, _TABLE = (re.compile(rf"{kind}\s*\d+", re.IGNORECASE) for kind in ("figure", "table"))


class _Line(BaseModel):
    # Fields that we do not read may come and go between releases of the dataset.
    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True)

    question_id: str
    question: str
    pdf_id: str | None = None
    question_type: str | None = None
    answer: Annotated[
        str | None, BeforeValidator(lambda said: "; ".join(map(str, said)) if isinstance(said, list) else said)
    ] = None
    evidence_keys: tuple[str, ...] = ()
    evidence_contents: tuple[str, ...] = ()
    evidence_count: int | None = None
    distractor_contents: tuple[str, ...] = ()
    evidence_modal: Annotated[tuple[str, ...], BeforeValidator(lambda one: [one] if isinstance(one, str) else one)] = ()
    idx_2_text: Mapping[str, str] = {}
    idx_2_image: Mapping[str, str] = {}
    idx_2_table: Mapping[str, str] = {}
    meta_data: Mapping[str, JsonValue] | None = None


def load_mcitebench(path: Path) -> list[Example]:
    """The questions of a file, in its order. Locating questions have choices, and the right letter as short answer.

    Raises DatasetError, naming file, line and field, for what cannot be read, a repeated question, a type of question
    that the benchmark does not have, and evidence or distractors that are not among what is shown.
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
    if line.question_type not in (None, *_TYPES):
        raise DatasetError(f"{where}, question_type: {line.question_type!r} is none of {', '.join(_TYPES)}")
    if line.evidence_count is not None and line.evidence_keys and line.evidence_count != len(line.evidence_keys):
        count = pluralize(len(line.evidence_keys), "piece is", "pieces are")
        raise DatasetError(f"{where}, evidence_count: {line.evidence_count}, where {count} named by evidence_keys")
    texts, images = (tuple(_ranked(line, kind)) for kind in ("text", "image"))
    meta = line.meta_data or {}
    right, why = meta.get(_GOLD), meta.get(_EXPLANATION)
    gold = tuple(_gold(line, where))
    return Example(
        id=line.question_id,
        query=Query(text=line.question),
        document=line.pdf_id,
        question_type=line.question_type,
        evidence_types=tuple("mixed" if modality == "mix" else modality for modality in line.evidence_modal),
        context=Context(texts=texts, images=images),
        choices={letter: str(text) for letter, text in meta.items() if len(letter) == 1},
        task="cite_sources",
        sources=tuple(_listed(line, gold, where)),
        reference=Reference(
            answer=line.answer,
            short_answer=right if isinstance(right, str) else None,
            explanation=why if isinstance(why, str) else None,
            script_names=tuple(_script_names(line)),
            relevant=dict.fromkeys(gold, 1),
        ),
    )


def _shown(line: _Line) -> Iterator[tuple[str, str, Layout]]:
    """Id, content and layout of all that is shown, texts first, each kind in the order of its numbers."""
    yield from ((number, text, "paragraph") for number, text in _by_number(line.idx_2_text))
    yield from ((f"Figure {number}", path, "figure") for number, path in _by_number(line.idx_2_image))
    yield from ((f"Table {number}", path, "table") for number, path in _by_number(line.idx_2_table))


def _by_number(numbered: Mapping[str, str]) -> list[tuple[str, str]]:
    return sorted(numbered.items(), key=lambda item: (not item[0].isdecimal(), len(item[0]), item[0]))


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
            image=f"{(line.pdf_id or '.').removesuffix('.pdf')}/{content}" if kind == "image" else None,
        )
        yield Hit(rank=rank, score=1 / rank, quote=quote)


def _listed(line: _Line, gold: tuple[str, ...], where: str) -> Iterator[str]:
    """Ids of the evidence, then of the distractors; none where the file does not list these."""
    by_content = {content: name for name, content, _ in _shown(line)}
    if not line.distractor_contents:
        return
    yield from gold
    for content in line.distractor_contents:
        if content not in by_content:
            raise DatasetError(f"{where}, distractor_contents: {content[:60]!r} is not among what is shown")
        yield by_content[content]


def _script_names(line: _Line) -> Iterator[str]:
    """Names of the evidence as the authors' script reads them: of pictures from the key, as that is written.

    Source: caiyuhu/MCiteBench at d9d41d3, evaluation/eval_citation_f1_source_f1_em/calculate_citation_source_score.py.
    """
    by_text = {text: number for number, text in line.idx_2_text.items()}
    for key, content in zip(line.evidence_keys, line.evidence_contents, strict=False):
        if not content.startswith("images/"):
            yield from [by_text[content]] if content in by_text else []
        elif named := _FIGURE.search(key) or _TABLE.search(key):
            yield named[0]


def _gold(line: _Line, where: str) -> Iterator[str]:
    """Ids of the evidence: by its content, else by its key."""
    names, by_content = {name for name, _, _ in _shown(line)}, {content: name for name, content, _ in _shown(line)}
    for place, key in enumerate(line.evidence_keys):
        content = line.evidence_contents[place] if place < len(line.evidence_contents) else None
        name = by_content.get(content or "", key)
        if name not in names:
            raise DatasetError(f"{where}, evidence_keys: {key!r} is not among what is shown")
        yield name
