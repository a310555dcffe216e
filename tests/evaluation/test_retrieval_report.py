"""Predictions become rows, rows become groups; failures are counted and never scored."""

import pytest

from quoteweave.core.errors import DatasetError
from quoteweave.core.examples import Example, GoldBox, Prediction, Reference, Scope
from quoteweave.core.records import Hit, PageHit, Query, Quote
from quoteweave.evaluation.scoring.retrieval_report import score_retrieval
from quoteweave.evaluation.statistics.bootstrap import paired_difference


def example(name: str, *types: str, document: str = "a.pdf", gold: tuple[int, ...] = (1,)) -> Example:
    boxes = tuple(GoldBox(page=page, bbox=(0, 0, 10, 10)) for page in gold)
    return Example(
        id=name,
        query=Query(text="?"),
        document=document,
        evidence_types=types,
        reference=Reference(pages=gold, boxes=boxes),
    )


def finds(name: str, *pages: int, scope: Scope = "document", document: str = "a.pdf") -> Prediction:
    """A prediction with one quote on each page, its box the upper half of the gold box."""
    quotes = [
        Quote(
            id=f"{document}:{page}:0",
            document=document,
            page=page,
            page_label="",
            bbox=(0, 0, 10, 5),
            kind="text",
            layout="paragraph",
        )
        for page in pages
    ]
    return Prediction(
        example=name,
        scope=scope,
        hits=tuple(Hit(rank=rank, score=0, quote=quote) for rank, quote in enumerate(quotes, start=1)),
        pages=tuple(
            PageHit(rank=rank, score=0, document=document, page=page) for rank, page in enumerate(pages, start=1)
        ),
    )


def test_both_scopes_are_scored_and_types_overlap() -> None:
    examples = [example("q1", "text"), example("q2", "text", "chart", gold=(1, 2)), example("q3", document="b.pdf")]
    report = score_retrieval(
        examples,
        [
            finds("q1", 1),
            finds("q2", 5, 2),
            finds("q3", 9, document="b.pdf"),
            finds("q1", 1, scope="collection"),
            finds("q2", 1, scope="collection", document="b.pdf"),
            finds("q3", 1, scope="collection", document="b.pdf"),
        ],
    )
    near, far = report.overall.in_document, report.overall.collection
    assert near.mean_over_questions["page_recall@1"] == pytest.approx((1 + 0 + 0) / 3)
    assert near.mean_over_questions["page_recall@3"] == pytest.approx((1 + 0.5 + 0) / 3)
    assert near.mean_over_questions["box_recall@5"] == pytest.approx((0.5 + 0.25 + 0) / 3)
    assert near.mean_over_questions["box_precision@5"] == pytest.approx((1 + 0.5 + 0) / 3)
    assert far.mean_over_questions["page_recall@1"] == pytest.approx((1 + 0 + 1) / 3)
    assert set(far.mean_over_questions) == {f"page_recall@{k}" for k in (1, 3, 5, 10)}

    assert {name: group.n for name, group in report.by_evidence_type.items()} == {"chart": 1, "text": 2}
    assert report.by_evidence_type["chart"].in_document.mean_over_questions["page_recall@3"] == 0.5
    assert report.by_evidence_type["text"].in_document.mean_over_questions["page_recall@3"] == 0.75

    interval = near.intervals["page_recall@1"]
    assert interval is not None
    assert (interval.n, interval.clusters) == (3, 2)


def test_a_failed_question_is_counted_and_left_out_of_its_scope_alone() -> None:
    report = score_retrieval(
        [example("q1", "text"), example("q2", "text")],
        [
            Prediction(example="q1", scope="document", error="IndexError: broken"),
            finds("q1", 1, scope="collection"),
            finds("q2", 1),
            finds("q2", 7, scope="collection"),
        ],
    )
    assert report.failed == 1
    assert report.rows[0].error == "IndexError: broken"
    assert report.rows[0].in_document is None
    assert report.overall.n == 2
    assert report.overall.in_document.n == 1
    assert report.overall.in_document.mean_over_questions["page_recall@1"] == 1
    assert report.overall.collection.mean_over_questions["page_recall@1"] == 0.5


def test_nothing_found_is_zero_and_no_gold_is_undefined() -> None:
    report = score_retrieval([example("q1"), example("q2", gold=())], [finds("q1"), finds("q2", 1)])
    near = report.overall.in_document
    assert near.mean_over_questions["page_recall@10"] == 0
    assert near.undefined["page_recall@10"] == 1
    assert near.mean_over_questions["box_precision@5"] is None
    assert near.undefined["box_precision@5"] == 2
    assert near.intervals["box_precision@5"] is None


def test_questions_not_asked_yet_are_not_scored() -> None:
    report = score_retrieval([example("q1"), example("q2")], [finds("q1", 1)])
    assert (report.overall.n, report.overall.in_document.n, report.overall.collection.n) == (2, 1, 0)
    assert report.overall.collection.mean_over_questions["page_recall@1"] is None
    assert report.failed == 0


def test_the_last_prediction_of_a_question_and_scope_counts() -> None:
    failed = Prediction(example="q1", scope="document", error="timeout")
    report = score_retrieval([example("q1")], [failed, finds("q1", 1)])
    assert report.failed == 0
    assert report.overall.in_document.mean_over_questions["page_recall@1"] == 1


def test_a_run_of_another_dataset_is_refused() -> None:
    with pytest.raises(DatasetError, match="'elsewhere#0'"):
        score_retrieval([example("q1")], [finds("elsewhere#0", 1)])


def test_rows_of_two_reports_can_be_compared_question_by_question() -> None:
    examples = [example("q1"), example("q2", document="b.pdf")]
    ours = score_retrieval(examples, [finds("q1", 1), finds("q2", 1, document="b.pdf")])
    theirs = score_retrieval(examples, [finds("q1", 1), finds("q2", 2, 1, document="b.pdf")])
    gain = paired_difference(ours.in_document("page_recall@1"), theirs.in_document("page_recall@1"), ["a", "b"])
    assert gain is not None
    assert gain.mean == 0.5
