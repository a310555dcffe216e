"""Page recall: examples worked out by hand, and properties for any ranking."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.core.examples import Example, Prediction, Reference
from quoteweave.core.records import PageHit, Query
from quoteweave.evaluation.metrics.rankings import PageRecall
from quoteweave.evaluation.statistics.aggregates import Row

METRIC = PageRecall()
NAMES = [figure.name for figure in METRIC.aggregates]


def ranking(*pages: int | tuple[str, int]) -> Prediction:
    named = [page if isinstance(page, tuple) else ("report.pdf", page) for page in pages]
    hits = [
        PageHit(rank=rank, score=-rank, document=document, page=page)
        for rank, (document, page) in enumerate(named, start=1)
    ]
    return Prediction(example="q", pages=tuple(hits))


def row(prediction: Prediction, *gold: int, document: str | None = "report.pdf") -> Row:
    example = Example(id="q", query=Query(text="?"), document=document, reference=Reference(pages=gold))
    return METRIC.row(prediction, example)


def test_share_of_gold_pages_among_the_first_k() -> None:
    assert row(ranking(4, 7, 9, 1, 2, 3), 7, 2, 5) == {
        "gold_pages": 3,
        "page_recall@1": 0,
        "page_recall@3": pytest.approx(1 / 3),
        "page_recall@5": pytest.approx(2 / 3),
        "page_recall@10": pytest.approx(2 / 3),
    }


def test_the_same_page_number_of_another_document_does_not_count() -> None:
    found = row(ranking(("other.pdf", 7), 7), 7)
    assert (found["page_recall@1"], found["page_recall@3"]) == (0, 1)


def test_a_page_ranked_or_annotated_twice_counts_once() -> None:
    found = row(ranking(7, 7, 8), 7, 7, 8)
    assert (found["gold_pages"], found["page_recall@1"], found["page_recall@3"]) == (2, 0.5, 1)


def test_k_is_chosen_as_for_other_metrics_of_rankings() -> None:
    example = Example(id="q", query=Query(text="?"), document="report.pdf", reference=Reference(pages=(7,)))
    metric = PageRecall(cutoffs=(2,))
    assert [figure.name for figure in metric.aggregates] == ["page_recall@2"]
    assert metric.row(ranking(4, 7), example) == {"gold_pages": 1, "page_recall@2": 1}


def test_nothing_found_is_zero() -> None:
    assert [row(ranking(), 7)[name] for name in NAMES] == [0, 0, 0, 0]


@pytest.mark.parametrize(
    "found",
    [
        row(ranking(7)),
        row(ranking(7), 7, document=None),
        row(Prediction(example="q", scope="context"), 7),
        row(Prediction(example="q", items={"d7": 1.0}), 7),
    ],
    ids=["no gold page", "no document", "nothing searched", "a ranking of other items"],
)
def test_without_gold_or_a_search_it_is_undefined(found: Row) -> None:
    assert [figure.of([found]) for figure in METRIC.aggregates] == [None] * 4


def test_summary_is_the_mean_over_questions_whatever_their_number_of_gold_pages() -> None:
    rows = [row(ranking(1), 1), row(ranking(1), 1, 2, 3, 4), row(ranking(1))]
    assert METRIC.aggregates[0].of(rows) == pytest.approx((1 + 0.25) / 2)


PAGES = st.lists(st.integers(0, 12), max_size=15)


@given(gold=st.lists(st.integers(0, 12), min_size=1, max_size=6), found=PAGES, more=PAGES)
def test_within_bounds_and_never_lower_with_depth_or_with_more_pages(
    gold: list[int], found: list[int], more: list[int]
) -> None:
    before, after = row(ranking(*found), *gold), row(ranking(*found, *more), *gold)
    shares = [before[name] for name in NAMES]
    assert shares == sorted(shares, key=lambda share: share or 0.0)
    for name in NAMES:
        low, high = before[name], after[name]
        assert low is not None
        assert high is not None
        assert 0 <= low <= high <= 1
