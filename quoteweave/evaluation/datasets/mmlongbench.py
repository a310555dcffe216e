"""MMLongBench-Doc (Ma et al., arXiv 2407.01523): questions about long PDFs with short answers, or with none.

There is one question per line in `samples.jsonl`, or one list of them, as in the authors' `samples.json`; each has the
pages that contain the evidence and the format of its answer. About a fifth cannot be answered from their document. A
folder contains the file, and the documents in `pdf/`.
"""

from collections import Counter
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from quoteweave.core.errors import DatasetError
from quoteweave.core.examples import AnswerFormat, Example, Reference
from quoteweave.core.records import Query
from quoteweave.evaluation.datasets.mmdocir import EVIDENCE_TYPES, written_list
from quoteweave.evaluation.datasets.rows import FileRecord, iter_items
from quoteweave.evaluation.text.abstentions import is_abstention

SAMPLES = "samples.jsonl"

FORMATS: dict[str, AnswerFormat] = {"Int": "int", "Float": "float", "Str": "str", "List": "list", "None": "str"}


class _Line(FileRecord):
    doc_id: str = Field(min_length=1)
    doc_type: str | None = None
    question: str = Field(min_length=1)
    answer: str = Field(min_length=1)
    answer_format: Literal["Int", "Float", "Str", "List", "None"]
    evidence_pages: Annotated[tuple[Annotated[int, Field(ge=0)], ...], BeforeValidator(written_list)]
    evidence_sources: Annotated[tuple[str, ...], BeforeValidator(written_list)]


def load_mmlongbench(path: Path) -> list[Example]:
    """Every question of a file, or of `samples.jsonl` in a folder, in its order; a `.gz` file is unpacked.

    An example's id is `<doc_id>#<n>`, with n from 0 among its document's questions, and its document is `doc_id`: the
    name of the file in a collection to which `pdf/` was added. Pages are written from 1 and stored from 0; page 0,
    which the published file names once, is no page of the document and is left out, but not that of several questions,
    as the pages of such a file may be written from 0. Evidence types are as for MMDocIR.

    A question whose answer is `Not answerable` has the answer format `none`, no answer and no gold pages: the few pages
    that are named for such questions contain no answer. An answer that is given although its format is `None` is a
    text, as the authors score it.

    Raises DatasetError, naming file, line and field, for missing or malformed content.
    """
    question_counts = Counter[str]()
    examples, names_page_0 = list[Example](), False
    for place, line in iter_items(samples_of(path), _Line):
        if 0 in line.evidence_pages:
            if names_page_0:
                raise DatasetError(f"{samples_of(path)}, {place}, evidence_pages: a second page 0; write pages from 1")
            names_page_0 = True
        examples.append(_example(line, question_counts[line.doc_id]))
        question_counts[line.doc_id] += 1
    return examples


def samples_of(path: Path) -> Path:
    """The file of the questions: the given one, or that of the given folder."""
    return path / SAMPLES if path.is_dir() else path


def _example(line: _Line, number: int) -> Example:
    if is_abstention(line.answer):
        reference = Reference(answer_format="none")
    else:
        reference = Reference(
            short_answer=line.answer.strip(),
            answer_format=FORMATS[line.answer_format],
            pages=tuple(dict.fromkeys(page - 1 for page in line.evidence_pages if page > 0)),
        )
    return Example(
        id=f"{line.doc_id}#{number}",
        query=Query(text=line.question),
        document=line.doc_id,
        domain=line.doc_type,
        evidence_types=tuple(dict.fromkeys(EVIDENCE_TYPES.get(name, name) for name in line.evidence_sources)),
        reference=reference,
    )
