import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reranked_hits import made_hits, ordinals, text_quote

from quoteweave.core.protocols import Reranker, Reranking
from quoteweave.core.records import Hit, Query
from quoteweave.retrievers.make_reranker import make_local_reranker
from quoteweave.retrievers.rerankers import (
    passage_text,
    reorder_by_scores,
    rerank_by_scores,
    reranker_row_for_path,
    reranker_rows,
)
from quoteweave.testing import check_reranker


@pytest.mark.parametrize("name", reranker_rows())
def test_each_row_makes_a_reranker_of_its_name_without_loading_it(name: str) -> None:
    made: Reranker = make_local_reranker(reranker_rows()[name])
    assert made.name == name


def test_every_row_says_what_a_user_must_know_and_pins_its_checkpoint() -> None:
    rows = reranker_rows().values()
    qwen = {f"qwen3-reranker-{size}" for size in ("0.6b", "4b", "8b")}
    assert {row.name for row in rows} == {"bge-reranker", "minilm-reranker", *qwen}
    for row in rows:
        assert len(row.revision) == 40
        assert row.licence != "unknown"
        assert 0 < row.download_gb < row.gpu_gb
        assert row.source.startswith("https://")


def test_another_checkpoint_takes_the_place_of_the_rows_own() -> None:
    row = reranker_rows()["bge-reranker"]
    assert row.at(None) == row.at(row.checkpoint) == row
    assert (row.at("/models/mine").checkpoint, row.at("/models/mine").revision) == ("/models/mine", "main")
    assert reranker_row_for_path("/models/mine").loader == "cross-encoder"


def test_a_passage_is_the_words_of_a_quote_and_the_section_of_an_image_quote() -> None:
    text = text_quote("Sales grew.").model_copy(update={"section": "Results"})
    assert passage_text(text) == "Sales grew."
    chart = text.model_copy(update={"kind": "image", "layout": "chart", "caption": "Figure 1", "vlm_text": "A chart."})
    assert passage_text(chart) == "Results\nFigure 1\nSales grew.\nA chart."
    assert passage_text(chart.model_copy(update={"section": None, "caption": None})) == "Sales grew.\nA chart."
    assert passage_text(text_quote("")) == ""


def test_equal_scores_keep_the_order_there_was() -> None:
    assert ordinals(reorder_by_scores(made_hits(), [1.0, 3.0, 1.0, 3.0, 2.0])) == [1, 3, 4, 0, 2]


@given(st.lists(st.floats(allow_nan=False), max_size=8))
def test_any_scores_give_every_hit_once(scores: list[float]) -> None:
    class Given:
        name = "given"

        async def rerank(self, query: Query, hits: Sequence[Hit]) -> Reranking:
            return await rerank_by_scores(query, hits, score)

    async def score(question: str, passages: list[str]) -> Sequence[float]:
        assert len(passages) == len(scores)
        return scores

    hits = made_hits([f"text {i}" for i in range(len(scores))])
    asyncio.run(check_reranker(Given(), Query(text="grain"), hits))


@pytest.mark.parametrize("question", ["", " \n"])
def test_a_blank_question_leaves_hits_as_they_are_and_asks_no_model(question: str) -> None:
    async def score(question: str, passages: list[str]) -> Sequence[float]:
        raise AssertionError("not to be asked")

    hits = made_hits()[::-1]  # their scores rise, as those of a hybrid may
    got = asyncio.run(rerank_by_scores(Query(text=question), hits, score)).hits
    assert ordinals(got) == [4, 3, 2, 1, 0]
    assert [(hit.rank, hit.score) for hit in got] == [(1, 6), (2, 7), (3, 8), (4, 9), (5, 10)]
