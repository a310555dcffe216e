"""Questions about the documents and the boxes that answer them, in the form of the MMDocIR annotations."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from samples.sheet import Mark, Point

TEXT, LAYOUT, TABLE, CHART, FIGURE = (
    "Pure-text (Plain-text)",
    "Generalized-text (Layout)",
    "Table",
    "Chart",
    "Figure",
)


@dataclass(frozen=True)
class Question:
    """A question, its answer, the kinds of evidence, and the names under which the evidence was marked."""

    text: str
    answer: str
    kinds: tuple[str, ...]
    evidence: tuple[str, ...]


@dataclass(frozen=True)
class Sample:
    """A finished document and what was asked about it."""

    doc_name: str
    domain: str
    page_size: Point
    marks: dict[str, list[Mark]]
    questions: Sequence[Question]


def write_annotations(samples: Sequence[Sample], path: Path) -> None:
    """Write one line for each document."""
    lines = [json.dumps(_document(sample), ensure_ascii=False) + "\n" for sample in samples]
    path.write_text("".join(lines), encoding="utf-8", newline="\n")


def _document(sample: Sample) -> dict[str, Any]:
    questions = [_question(sample, question) for question in sample.questions]
    return {"doc_name": sample.doc_name, "domain": sample.domain, "questions": questions}


def _question(sample: Sample, question: Question) -> dict[str, Any]:
    marks = [mark for name in question.evidence for mark in sample.marks[name]]
    return {
        "Q": question.text,
        "A": question.answer,
        "page_id": sorted({mark.page for mark in marks}),
        # The published annotations hold a list written as a string; readers must cope with that, so we do the same.
        "type": str(list(question.kinds)),
        "layout_mapping": [_layout(sample, mark) for mark in marks],
    }


def _layout(sample: Sample, mark: Mark) -> dict[str, Any]:
    box = mark.box
    edges = (box.x, box.top, box.right, box.bottom)
    return {
        "page": mark.page,
        "page_size": [round(length, 2) for length in sample.page_size],
        "bbox": [round(edge, 2) for edge in edges],
    }
