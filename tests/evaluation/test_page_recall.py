"""Page recall by hand, and what holds for any ranking."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.core.protocols import Metric
from quoteweave.core.records import PageHit, Prediction, Reference
from quoteweave.evaluation.metrics.pages import PageRecall

METRIC = PageRecall({"q": "report.pdf"})


def ranking(*pages: int | tuple[str, int]) -> Prediction:
    named = [page if isinstance(page, tuple) else ("report.pdf", page) for page in pages]
    hits = [
        PageHit(rank=rank, score=-rank, document=document, page=page)
        for rank, (document, page) in enumerate(named, start=1)
    ]
    return Prediction(example="q", pages=tuple(hits))


def test_share_of_gold_pages_among_the_first_k() -> None:
    row = METRIC.row(ranking(4, 7, 9, 1, 2, 3), Reference(pages=(7, 2, 5)))
    assert row == {
        "gold_pages": 3,
        "page_recall@1": 0,
        "page_recall@3": pytest.approx(1 / 3),
        "page_recall@5": pytest.approx(2 / 3),
        "page_recall@10": pytest.approx(2 / 3),
    }


def test_the_same_page_number_of_another_document_does_not_count() -> None:
    row = METRIC.row(ranking(("other.pdf", 7), 7), Reference(pages=(7,)))
    assert row["page_recall@1"] == 0
    assert row["page_recall@3"] == 1


def test_a_page_ranked_or_annotated_twice_counts_once() -> None:
    row = METRIC.row(ranking(7, 7, 8), Reference(pages=(7, 7, 8)))
    assert row["gold_pages"] == 2
    assert row["page_recall@1"] == 0.5
    assert row["page_recall@3"] == 1


def test_nothing_found_is_zero() -> None:
    row = METRIC.row(ranking(), Reference(pages=(7,)))
    assert [row[name] for name in METRIC.names] == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("metric", "reference"),
    [(METRIC, Reference()), (PageRecall({"q": None}), Reference(pages=(7,))), (PageRecall({}), Reference(pages=(7,)))],
    ids=["no gold page", "no document", "unknown question"],
)
def test_without_gold_it_is_undefined(metric: Metric, reference: Reference) -> None:
    row = metric.row(ranking(7), reference)
    assert row["page_recall@1"] is None
    assert metric.summarise([row])["page_recall@1"] is None


def test_summary_is_the_mean_over_questions_whatever_their_number_of_gold_pages() -> None:
    rows = [
        METRIC.row(ranking(1), Reference(pages=(1,))),
        METRIC.row(ranking(1), Reference(pages=(1, 2, 3, 4))),
        METRIC.row(ranking(1), Reference()),
    ]
    assert METRIC.summarise(rows)["page_recall@1"] == pytest.approx((1 + 0.25) / 2)


PAGES = st.lists(st.integers(0, 12), max_size=15)


@given(gold=st.lists(st.integers(0, 12), min_size=1, max_size=6), found=PAGES, more=PAGES)
def test_within_bounds_and_never_lower_with_depth_or_with_more_pages(
    gold: list[int], found: list[int], more: list[int]
) -> None:
    reference = Reference(pages=tuple(gold))
    before, after = METRIC.row(ranking(*found), reference), METRIC.row(ranking(*found, *more), reference)
    shares = [before[name] for name in METRIC.names]
    assert shares == sorted(shares, key=lambda share: share or 0.0)
    for name in METRIC.names:
        low, high = before[name], after[name]
        assert low is not None
        assert high is not None
        assert 0 <= low <= high <= 1
