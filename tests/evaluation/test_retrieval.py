"""Retrieval is scored in both scopes; failures are counted and never scored; domains count alike in their mean."""

import pytest

from quoteweave.core.errors import DatasetError
from quoteweave.core.examples import Example, GoldBox, Prediction, Reference, Scope
from quoteweave.core.records import Hit, PageHit, Query, Quote
from quoteweave.evaluation.scoring.comparison import compare_scores
from quoteweave.evaluation.scoring.scorer import domain_means, score_retrieval, search_errors
from quoteweave.evaluation.scoring.scores import Scores
from quoteweave.evaluation.statistics.aggregates import mean_of
from quoteweave.evaluation.statistics.paired_tests import paired_difference


def example(
    name: str, *types: str, document: str = "a.pdf", gold: tuple[int, ...] = (1,), domain: str | None = None
) -> Example:
    boxes = tuple(GoldBox(page=page, bbox=(0, 0, 10, 10)) for page in gold)
    return Example(
        id=name,
        query=Query(text="?"),
        document=document,
        domain=domain,
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


def values(scores: Scores) -> dict[str, float | None]:
    return {name: estimate.value for name, estimate in scores.figures.items()}


def test_both_scopes_are_scored_and_types_overlap() -> None:
    examples = [example("q1", "text"), example("q2", "text", "chart", gold=(1, 2)), example("q3", document="b.pdf")]
    scores = score_retrieval(
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
    near, far = values(scores["document"]), values(scores["collection"])
    assert near["page_recall@1"] == pytest.approx((1 + 0 + 0) / 3)
    assert near["page_recall@3"] == pytest.approx((1 + 0.5 + 0) / 3)
    assert near["box_recall@5"] == pytest.approx((0.5 + 0.25 + 0) / 3)
    assert near["box_precision@5"] == pytest.approx((1 + 0.5 + 0) / 3)
    assert near["layout_recall@5"] == near["box_recall@5"], "no two quotes overlap"
    assert far["page_recall@1"] == pytest.approx((1 + 0 + 1) / 3)
    assert set(far) == {f"page_recall@{k}" for k in (1, 3, 5, 10)}

    evidence = scores["document"].breakdowns["evidence"]
    assert {name: found["page_recall@3"].n for name, found in evidence.items()} == {"chart": 1, "text": 2}
    assert evidence["chart"]["page_recall@3"].value == 0.5
    assert evidence["text"]["page_recall@3"].value == 0.75

    estimate = scores["document"].figures["page_recall@1"]
    assert (estimate.n, estimate.low is not None) == (3, True)
    assert scores["document"].clusters == "document"


def test_a_failed_question_is_counted_and_left_out_of_its_scope_alone() -> None:
    scores = score_retrieval(
        [example("q1", "text"), example("q2", "text")],
        [
            Prediction(example="q1", scope="document", error="IndexError: broken"),
            finds("q1", 1, scope="collection"),
            finds("q2", 1),
            finds("q2", 7, scope="collection"),
        ],
    )
    assert search_errors(scores) == {"q1": "IndexError: broken"}
    assert (scores["document"].failed, scores["collection"].failed) == (1, 0)
    assert values(scores["document"])["page_recall@1"] == 1
    assert values(scores["collection"])["page_recall@1"] == 0.5


def test_nothing_found_is_zero_and_no_gold_is_undefined() -> None:
    near = score_retrieval([example("q1"), example("q2", gold=())], [finds("q1"), finds("q2", 1)])["document"]
    assert near.figures["page_recall@10"].value == 0
    assert near.figures["page_recall@10"].undefined == 1
    assert "box_precision@5" not in near.figures, "it is nowhere defined"


def test_questions_not_asked_yet_are_not_scored() -> None:
    scores = score_retrieval([example("q1"), example("q2")], [finds("q1", 1)])
    assert [(each.missing, len(each.questions)) for each in scores.values()] == [(1, 1), (2, 0)]
    assert scores["collection"].figures == {}
    assert search_errors(scores) == {}


def test_the_last_prediction_of_a_question_and_scope_counts() -> None:
    failed = Prediction(example="q1", scope="document", error="timeout")
    near = score_retrieval([example("q1")], [failed, finds("q1", 1)])["document"]
    assert near.failed == 0
    assert values(near)["page_recall@1"] == 1


def test_a_run_of_another_dataset_is_refused() -> None:
    with pytest.raises(DatasetError, match="'elsewhere#0'"):
        score_retrieval([example("q1")], [finds("elsewhere#0", 1)])


def test_domains_count_alike_however_many_questions_they_have() -> None:
    examples = [
        example("q1", domain="news"),
        example("q2", domain="news", document="b.pdf"),
        example("q3", domain="news", document="c.pdf"),
        example("q4", domain="law", document="d.pdf"),
        example("q5", document="e.pdf"),  # of no known domain
        example("q6", domain="law", document="f.pdf", gold=()),  # undefined
    ]
    documents = [str(one.document) for one in examples]
    found = [1, 1, 5, 5, 1, 1]
    predictions = [
        finds(one.id, page, document=document) for one, page, document in zip(examples, found, documents, strict=True)
    ]
    figures = score_retrieval(examples, predictions)["document"].figures
    assert figures["page_recall@1"].value == pytest.approx(3 / 5)
    mean = figures["page_recall@1.mean_over_domains"]
    assert mean.value == pytest.approx((2 / 3 + 0) / 2)
    assert (mean.n, mean.undefined) == (4, 2)
    assert mean.low is not None
    assert mean.high is not None
    assert mean.low <= (2 / 3) / 2 <= mean.high
    assert "box_recall@5.mean_over_domains" not in figures


def test_a_mean_over_domains_is_compared_question_by_question() -> None:
    examples = [example("q1", domain="news"), example("q2", domain="law", document="b.pdf")]
    ours = score_retrieval(examples, [finds("q1", 1), finds("q2", 1, document="b.pdf")])["document"]
    theirs = score_retrieval(examples, [finds("q1", 1), finds("q2", 2, 1, document="b.pdf")])["document"]
    (mean,) = domain_means([mean_of("page_recall@1", by_domain=True)], ours.questions)
    (compared,) = compare_scores([ours, theirs], [mean])
    assert (compared.first_value, compared.second_value, compared.difference) == (1, 0.5, 0.5)
    assert (compared.n, compared.left_out) == (2, 0)


def test_rows_of_two_runs_can_be_compared_question_by_question() -> None:
    examples = [example("q1"), example("q2", document="b.pdf")]
    ours = score_retrieval(examples, [finds("q1", 1), finds("q2", 1, document="b.pdf")])["document"]
    theirs = score_retrieval(examples, [finds("q1", 1), finds("q2", 2, 1, document="b.pdf")])["document"]
    first, second = ([question.row["page_recall@1"] for question in each.questions] for each in (ours, theirs))
    gain = paired_difference(first, second, ["a", "b"])
    assert gain is not None
    assert gain.mean == 0.5
