"""The `published` convention of MCiteBench's figures against what its own scripts make of the same responses."""

import json
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

import pytest
from made_selection import answered
from recorded_mcitebench import CASES, FIGURES, RANDOM_CASES, TABLES, TEXTS, Case

from quoteweave.core.examples import Example
from quoteweave.core.protocols import Grade
from quoteweave.evaluation.datasets import load_dataset
from quoteweave.evaluation.judges.evidence_verdicts import (
    ACCURACY_SCALE,
    RELEVANCE_SCALE,
    SUPPORT_SCALE,
    EvidenceVerdict,
    SentenceVerdict,
)
from quoteweave.evaluation.metrics.metric import Convention
from quoteweave.evaluation.metrics.registry import MetricOptions, evidence_metrics
from quoteweave.evaluation.text.source_marks import item_name

COLUMNS = {
    "recall": "citation.recall.cited",
    "precision": "citation.precision",
    "f1": "citation.f1.cited",
    "source_recall": "source.recall",
    "source_precision": "source.precision",
    "source_f1": "source.f1",
    "exact_match": "source.exact_match",
    "accuracy": "accuracy",
}
ITEMS = {*TEXTS, *(f"Figure {number}" for number in FIGURES), *(f"Table {number}" for number in TABLES)}


def example_of(case: Case, folder: Path) -> Example:
    line = {
        "question_id": case.name,
        "question": "What?",
        "question_type": case.kind,
        "answer": case.answer,
        "evidence_keys": case.keys,
        "evidence_contents": case.contents,
        "idx_2_text": TEXTS,
        "idx_2_image": FIGURES,
        "idx_2_table": TABLES,
        "meta_data": {"explanation": case.explanation} if case.explanation else {},
    }
    path = folder / "data.jsonl"
    path.write_text(json.dumps(line) + "\n")
    (example,) = load_dataset("mcitebench", path)
    return example


def grade(field: str, score: float | None, scale: Sequence[float]) -> Grade:
    """A judge's grade as it is kept: of a reply off the scale, its text alone."""
    raw = None if score is None else json.dumps({field: score})
    known = score if score in scale else None
    return Grade(score=known, error="away" if known is None else None, raw=raw, model="m", prompt="0")


def sentence_of(case: Case, place: int) -> SentenceVerdict:
    written, support = tuple(case.cited[place]), case.recall[place]
    cited = tuple(dict.fromkeys(map(item_name, written)))
    scores = {item_name(name): score for name, score in case.precision[place].items()}
    known = [name for name in cited if name in ITEMS]
    return SentenceVerdict(
        text="It is so.",
        cited=cited,
        written=written,
        support=grade("support", None if support is None else support / 2, SUPPORT_SCALE) if known else None,
        relevance={name: grade("relevance", scores.get(name, 1), RELEVANCE_SCALE) for name in known},
    )


def verdict_of(case: Case) -> EvidenceVerdict:
    return EvidenceVerdict(
        example=case.name,
        judge="judge",
        splitter="splitter",
        by_rule=False,
        request="0",
        sentences=tuple(sentence_of(case, place) for place in range(len(case.cited))),
        accuracy=grade("accuracy", case.rating, ACCURACY_SCALE) if case.answer else None,
    )


def row_of(case: Case, folder: Path, convention: Convention) -> dict[str, float | None]:
    metrics = evidence_metrics({case.name: verdict_of(case)}, MetricOptions(convention=convention))
    example, row = example_of(case, folder), dict[str, float | None]()
    for metric in metrics:
        row |= metric.row(answered(case.response, case.name), example)
    return {name: row.get(column) for name, column in COLUMNS.items()}


@pytest.mark.parametrize("case", [*CASES, *RANDOM_CASES], ids=lambda case: case.name)
def test_every_response_has_the_published_figures(case: Case, tmp_path: Path) -> None:
    expected = {name: None if value is None else pytest.approx(value / 100) for name, value in _figures(case).items()}
    assert row_of(case, tmp_path, "published") == expected


def test_means_over_all_responses_are_those_of_the_scripts(tmp_path: Path) -> None:
    rows = [row_of(case, tmp_path, "published") for case in CASES]
    for name in COLUMNS:
        theirs = [value for case in CASES if (value := _figures(case)[name]) is not None]
        ours = [value for row in rows if (value := row[name]) is not None]
        assert 100 * fmean(ours) == pytest.approx(fmean(theirs)), name
        assert len(ours) == len(theirs), name


def test_where_strict_differs(tmp_path: Path) -> None:
    strict = {case.name: row_of(case, tmp_path, "strict") for case in CASES}
    assert strict["an item named twice"]["f1"] == 0.5, "where the scripts have 57.1"
    assert strict["an item in two spellings"]["f1"] == 0.5, "where the scripts have 57.1"
    assert strict["an item in two spellings"]["source_f1"] == pytest.approx(2 / 3), "where the scripts have 50"
    assert strict["an irrelevant item named three times"]["precision"] == 0.5, "where the scripts have 25"
    assert strict["gold evidence in two spellings"]["exact_match"] == 1, "where the scripts have 0"
    assert strict["lower case"]["source_f1"] == strict["Fig with stop"]["source_f1"] == 1
    assert strict["sentences without citations"]["source_f1"] == 0
    assert strict["a failed support"]["recall"] is None
    assert strict["a failed support"]["source_f1"] == pytest.approx(2 / 3)
    assert strict["support off the scale"]["recall"] is None
    assert [strict[name]["accuracy"] for name in ("rating failed", "rating off the scale")] == [None, None]
    assert strict["locating without explanation"]["accuracy"] == 1


def _figures(case: Case) -> dict[str, float | None]:
    return case.expected._asdict()
