"""MMDocIR's page and layout recall against what the authors' functions gave on made rankings."""

import json
from pathlib import Path
from typing import Any

import pytest

from quoteweave.core.examples import Example, GoldBox, Prediction, Reference
from quoteweave.core.records import Hit, PageHit, Query, Quote
from quoteweave.evaluation.metrics.box_recall import LayoutRecall
from quoteweave.evaluation.metrics.rankings import PageRecall
from quoteweave.evaluation.statistics.aggregates import Row, mean_of, mean_over_domains, with_domain

RECORDED = json.loads((Path(__file__).parent / "recorded" / "mmdocir.json").read_text("utf-8"))
QUESTIONS: list[dict[str, Any]] = RECORDED["questions"]


def ranked(scores: list[int]) -> list[int]:
    return sorted(range(len(scores)), key=lambda at: -scores[at])


def row_of(question: dict[str, Any]) -> Row:
    boxes = tuple(GoldBox(page=gold["page"], bbox=tuple(gold["bbox"])) for gold in question["layout_mapping"])
    reference = Reference(pages=tuple(question["page_id"]), boxes=boxes)
    example = Example(id="q", query=Query(text="?"), document="d", domain=question["domain"], reference=reference)
    hits = [
        Hit(
            rank=rank,
            score=question["scores_layout"][at],
            quote=Quote(
                id=str(at),
                document="d",
                page=question["layouts"][at]["page"],
                page_label="",
                bbox=tuple(question["layouts"][at]["bbox"]),
                kind="text",
                layout="paragraph",
            ),
        )
        for rank, at in enumerate(ranked(question["scores_layout"]), start=1)
    ]
    pages = [
        PageHit(rank=rank, score=question["scores_page"][page], document="d", page=page)
        for rank, page in enumerate(ranked(question["scores_page"]), start=1)
    ]
    prediction = Prediction(example="q", scope="document", hits=tuple(hits), pages=tuple(pages))
    found = {**PageRecall().row(prediction, example), **LayoutRecall().row(prediction, example)}
    return with_domain(found, example.domain)


@pytest.mark.parametrize("question", QUESTIONS)
def test_each_question_scores_as_by_the_authors_functions(question: dict[str, Any]) -> None:
    row = row_of(question)
    for figure in ("page_recall", "layout_recall"):
        assert {k: row[f"{figure}@{k}"] for k in question[figure]} == pytest.approx(question[figure])


@pytest.mark.parametrize("figure", RECORDED["means"])
def test_means_over_questions_and_domains_are_theirs(figure: str) -> None:
    rows, mean = [row_of(question) for question in QUESTIONS], mean_of(figure, by_domain=True)
    domains = sorted({question["domain"] for question in QUESTIONS})
    found = {"over_domains": mean_over_domains(mean, domains).of(rows), "over_questions": mean.of(rows)}
    assert found == pytest.approx(RECORDED["means"][figure])
