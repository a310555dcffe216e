"""Page recall of each question as a row, groups of rows, and the mean of each group with its 95 % interval."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from page_retrieval import PAGES
from pydantic import BaseModel, ConfigDict, TypeAdapter

from quoteweave.core.examples import Example, Prediction
from quoteweave.evaluation.scoring.scorer import score_retrieval
from quoteweave.evaluation.statistics.intervals import Interval, clustered_interval
from quoteweave.evaluation.statistics.paired_tests import paired_difference

Scope = Literal["in_document", "collection"]
SCOPES: tuple[Scope, ...] = ("in_document", "collection")
Intervals = Mapping[str, Interval | None]
"""By figure."""
LENGTHS = ((20, "under 20"), (50, "20 to 49"), (100, "50 to 99"))
LONGEST = "100 and more"
GOLD_PAGES = ("one", "two or three", "four or more")


class QuestionRow(BaseModel):
    """One question: where it is from, and the figures of one retriever. A scope is None where its search failed."""

    model_config = ConfigDict(frozen=True)

    example: str
    document: str
    set: str
    domain: str
    pages: int
    """Of the document."""
    evidence_types: tuple[str, ...]
    gold_pages: int
    in_document: Mapping[str, float | None] | None
    collection: Mapping[str, float | None] | None


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Questions, and the folder that holds the PDFs that they are asked of in its `pdf/`."""

    folder: Path
    examples: Sequence[Example]

    @property
    def name(self) -> str:
        """The name of the folder."""
        return self.folder.name


def rows_of(
    sets: Sequence[QuestionSet], predictions: Iterable[Prediction], lengths: Mapping[str, int]
) -> list[QuestionRow]:
    """The rows of one retriever; `lengths` are pages of documents, by name."""
    examples = [(questions.name, example) for questions in sets for example in questions.examples]
    scores = score_retrieval([example for _, example in examples], predictions, intervals=None)
    near, far = (
        {question.example: question.row for question in scores[scope].questions if question.error is None}
        for scope in ("document", "collection")
    )
    return [
        QuestionRow(
            example=example.id,
            document=example.document or "",
            set=name,
            domain=example.domain or "not said",
            pages=lengths.get(example.document or "", 0),
            evidence_types=example.evidence_types or ("not said",),
            gold_pages=len(example.reference.pages),
            in_document=near.get(example.id),
            collection=far.get(example.id),
        )
        for name, example in examples
    ]


def read_rows(path: Path) -> dict[str, list[QuestionRow]]:
    """The rows of each retriever, as `retrieval_mmdocir.py --json` printed them."""
    try:
        return TypeAdapter(dict[str, list[QuestionRow]]).validate_python(json.loads(path.read_text("utf-8"))["rows"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SystemExit(
            f"{path} cannot be read as what this script prints with --json: {type(error).__name__}"
        ) from error


def by_set(rows: Sequence[QuestionRow]) -> dict[str, list[QuestionRow]]:
    """Each set, then all together where there are several."""
    groups = {name: [row for row in rows if row.set == name] for name in dict.fromkeys(row.set for row in rows)}
    return groups if len(groups) == 1 else {**groups, "together": list(rows)}


def breakdowns(rows: Sequence[QuestionRow]) -> dict[str, dict[str, list[QuestionRow]]]:
    """The groups of rows by each property. A question with several types of evidence counts in each of them."""
    domains, types = sorted({row.domain for row in rows}), sorted({name for row in rows for name in row.evidence_types})
    lengths = [*(name for _, name in LENGTHS), LONGEST]
    return {
        "domain": {name: [row for row in rows if row.domain == name] for name in domains},
        "pages of the document": {name: [row for row in rows if _length(row) == name] for name in lengths},
        "type of evidence": {name: [row for row in rows if name in row.evidence_types] for name in types},
        "gold pages": {name: [row for row in rows if _gold(row) == name] for name in GOLD_PAGES},
    }


def intervals(rows: Sequence[QuestionRow], scope: Scope, figures: Sequence[str] = PAGES) -> dict[str, Interval | None]:
    """The mean of each figure over questions, with its interval, over documents."""
    documents = [row.document for row in rows]
    return {figure: clustered_interval(_values(rows, scope, figure), documents) for figure in figures}


def differences(ours: Sequence[QuestionRow], theirs: Sequence[QuestionRow], scope: Scope) -> dict[str, Interval | None]:
    """Our page recall minus theirs, paired by question; questions that they lack are left out."""
    known = {row.example: row for row in theirs}
    pairs = [(row, known[row.example]) for row in ours if row.example in known]
    first, second = [row for row, _ in pairs], [row for _, row in pairs]
    documents = [row.document for row in first]
    return {
        figure: paired_difference(_values(first, scope, figure), _values(second, scope, figure), documents)
        for figure in PAGES
    }


def _values(rows: Sequence[QuestionRow], scope: Scope, figure: str) -> list[float | None]:
    return [(getattr(row, scope) or {}).get(figure) for row in rows]


def _length(row: QuestionRow) -> str:
    return next((name for limit, name in LENGTHS if row.pages < limit), LONGEST)


def _gold(row: QuestionRow) -> str:
    return GOLD_PAGES[0 if row.gold_pages <= 1 else 1 if row.gold_pages <= 3 else 2]
