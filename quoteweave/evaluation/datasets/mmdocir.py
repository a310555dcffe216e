"""MMDocIR (Dong et al., arXiv 2501.08828): questions about long PDFs, with the pages and boxes that hold the evidence.

A folder contains `annotations.jsonl`, or `MMDocIR_annotations.jsonl` as published, with one document per line, and the
documents in `pdf/`.
"""

import ast
import math
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, ConfigDict, Field

from quoteweave.core.boxes import Box
from quoteweave.core.errors import DatasetError
from quoteweave.core.examples import Example, GoldBox, Reference
from quoteweave.core.records import Query
from quoteweave.evaluation.datasets.rows import FileRecord, iter_unique_records

ANNOTATIONS = "annotations.jsonl"
PUBLISHED_ANNOTATIONS = "MMDocIR_annotations.jsonl"
DOCUMENTS = "pdf"

# The names of the two sources from which MMDocIR takes questions: MMLongBench-Doc above, DocBench below. The paper
# counts DocBench's questions on metadata with those on layout ("Layout/Meta").
EVIDENCE_TYPES = {
    "Pure-text (Plain-text)": "text",
    "Generalized-text (Layout)": "layout",
    "Table": "table",
    "Chart": "chart",
    "Figure": "figure",
    "text-only": "text",
    "meta-data": "layout",
    "multimodal-t": "table",
    "multimodal-f": "figure",
}


def written_list(raw: object) -> object:
    """Convert `"['Chart', 'Table']"` and `"Chart"` to lists; the string is parsed, not executed. Raises ValueError."""
    if not isinstance(raw, str):
        return raw
    if not raw.lstrip().startswith("["):
        return [raw]
    try:
        return ast.literal_eval(raw.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
        raise ValueError(f"not a list written as a string: {raw[:80]!r}") from error


_ROUNDING = 1.0
"""Points by which a box may extend beyond its page."""


class _Line(FileRecord):
    model_config = ConfigDict(allow_inf_nan=False)


class _LayoutBox(_Line):
    page: int = Field(ge=0)
    bbox: Box
    page_size: tuple[float, float] = (math.inf, math.inf)

    @property
    def is_usable(self) -> bool:
        """Whether the box has an area and lies within the page as annotated."""
        left, top, right, bottom = self.bbox
        width, height = self.page_size
        return -_ROUNDING <= left < right <= width + _ROUNDING and -_ROUNDING <= top < bottom <= height + _ROUNDING


class _Question(_Line):
    Q: str
    A: str | None = None
    type: Annotated[tuple[str, ...], BeforeValidator(written_list)]
    page_id: tuple[Annotated[int, Field(ge=0)], ...]
    layout_mapping: tuple[_LayoutBox, ...] = ()


class _Document(_Line):
    doc_name: str = Field(min_length=1)
    domain: str | None = None
    questions: tuple[_Question, ...]


def annotations_file(folder: Path) -> Path:
    """The file of the questions: the given one, or `annotations.jsonl` or that of the published name in the folder."""
    if folder.is_file():
        return folder
    published = folder / PUBLISHED_ANNOTATIONS
    return published if published.is_file() and not (folder / ANNOTATIONS).is_file() else folder / ANNOTATIONS


def load_mmdocir(folder: Path) -> list[Example]:
    """Every question of the folder's `annotations_file`, or of that file itself, in the order of the file.

    An example's id is `<doc_name>#<n>`, with n from 0 among its document's questions, and its document is `doc_name`:
    the name of the file in a collection to which `folder/pdf` was added. Gold pages count from 0. Gold boxes are in
    points from the page's top left and are kept as annotated: if the annotated `page_size` differs from the page's own,
    they are not rescaled. Boxes that are reversed, without area or outside that size are left out, and counted
    (`Reference.unusable_boxes`). Evidence types are shortened by `EVIDENCE_TYPES`; others keep their names.

    Raises DatasetError, naming file, line (from 1) and field, for missing or malformed content.
    """
    path = annotations_file(folder)
    if not path.is_file():
        raise DatasetError(f"no {ANNOTATIONS} in {folder}; name the folder that holds it beside {DOCUMENTS}/")
    examples = [
        _example(document, index)
        for _, document in iter_unique_records(path, _Document, "doc_name")
        for index in range(len(document.questions))
    ]
    if not examples:
        raise DatasetError(f"{path} holds no question")
    return examples


def _example(document: _Document, index: int) -> Example:
    question = document.questions[index]
    return Example(
        id=f"{document.doc_name}#{index}",
        query=Query(text=question.Q),
        document=document.doc_name,
        domain=document.domain,
        evidence_types=tuple(dict.fromkeys(EVIDENCE_TYPES.get(name, name) for name in question.type)),
        reference=Reference(
            answer=question.A,
            pages=tuple(dict.fromkeys(question.page_id)),
            boxes=tuple(GoldBox(page=box.page, bbox=box.bbox) for box in question.layout_mapping if box.is_usable),
            unusable_boxes=sum(not box.is_usable for box in question.layout_mapping),
        ),
    )
