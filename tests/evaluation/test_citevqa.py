"""Figures of CiteVQA by hand, and those of its own script on the same inputs."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_citevqa import BOX, RECORDED, answered, asked, question, tag, written
from made_collections import made_quote

from quoteweave.core.answers import Context
from quoteweave.core.boxes import Box
from quoteweave.core.examples import PageBoxes, Prediction
from quoteweave.core.records import Hit
from quoteweave.evaluation.datasets.citevqa import load_citevqa
from quoteweave.evaluation.metrics.answers.bleu import Bleu
from quoteweave.evaluation.metrics.answers.expense import Expense
from quoteweave.evaluation.metrics.answers.judge_scores import AttributedAccuracy, attributed
from quoteweave.evaluation.metrics.answers.rouge import RougeL
from quoteweave.evaluation.metrics.answers.short_answer import ShortAnswer
from quoteweave.evaluation.metrics.citations.citevqa import CiteVqa
from quoteweave.evaluation.metrics.metric import Convention
from quoteweave.evaluation.text.responses import boxed_response, cited_boxes, scored_text, transposed, without_boxes

STRICT, PUBLISHED = CiteVqa(), CiteVqa("published")
FIGURES = ("recall", "page_recall", "precision", "f1")
OTHER: Box = (100, 600, 500, 700)


@pytest.mark.parametrize("case", RECORDED["boxes"], ids=lambda case: case["name"])
def test_the_published_figures_are_those_of_the_authors_script(case: dict[str, Any], tmp_path: Path) -> None:
    several = "doc=" in case["answer_bboxes"]
    asks = question(documents=2 if several else 1, answer_bboxes=case["answer_bboxes"])
    (example,) = load_citevqa(written(tmp_path / "q.json", asks))
    row = PUBLISHED.row(answered(case["model_predict"]), example)
    assert {name: row[f"citevqa.{name}"] for name in FIGURES} == {name: case[name] for name in FIGURES}
    assert without_boxes(case["model_predict"]) == case["without_boxes"]


def strict(text: str, *gold: tuple[str, int, Box], documents: tuple[str, ...] = ("a.pdf",)) -> list[float | None]:
    row = STRICT.row(answered(text), asked(*gold, documents=documents))
    return [row[f"citevqa.{name}"] for name in FIGURES]


def test_recall_is_of_gold_and_precision_of_cited_boxes() -> None:
    text = f"So {tag(1)} and {tag(9)} and {tag(2, OTHER)}."
    assert strict(text, ("a.pdf", 0, BOX), ("a.pdf", 4, BOX)) == [0.5, 0.5, 1 / 3, pytest.approx(0.4)]


def test_one_box_that_meets_two_gold_regions_has_a_precision_of_1_and_not_of_2() -> None:
    gold = (("a.pdf", 0, BOX), ("a.pdf", 0, (100.0, 100.0, 500.0, 260.0)))
    assert strict(tag(1, (100, 100, 500, 290)), *gold) == [1, 1, 1, 1]


def test_a_box_that_is_cited_twice_counts_once() -> None:
    assert strict(tag(1) + tag(1), ("a.pdf", 0, BOX))[2] == 1


def test_f1_is_0_where_nothing_right_is_cited_and_undefined_without_gold() -> None:
    assert strict(tag(7), ("a.pdf", 0, BOX)) == [0, 0, 0, 0]
    assert strict("No idea.", ("a.pdf", 0, BOX)) == [0, 0, None, 0]
    assert strict(tag(7)) == [None, None, None, None]


def test_an_iou_of_exactly_a_half_meets() -> None:
    assert strict(tag(1, (100, 100, 500, 200)), ("a.pdf", 0, BOX))[0] == 1


def test_the_right_page_of_another_document_is_wrong() -> None:
    gold = ("b.pdf", 0, BOX)
    assert strict(tag(1, doc=1), gold, documents=("a.pdf", "b.pdf")) == [0, 0, 0, 0]
    assert strict(tag(1, doc=2), gold, documents=("a.pdf", "b.pdf")) == [1, 1, 1, 1]


def test_of_several_documents_a_box_that_names_none_is_of_none() -> None:
    example = asked(("a.pdf", 0, BOX), documents=("a.pdf", "b.pdf"))
    row = STRICT.row(answered(tag(1)), example)
    assert (row["citevqa.recall"], row["citevqa.unusable_boxes"]) == (0, 1)
    assert PUBLISHED.row(answered(tag(1)), example)["citevqa.recall"] == 1


@pytest.mark.parametrize("box", [(500, 300, 100, 100), (100, 100, 100, 300), (100, 100, 1500, 300)])
def test_a_cited_box_that_no_page_can_have_meets_nothing_and_is_counted(box: Box) -> None:
    row = STRICT.row(answered(tag(1, box) + tag(1)), asked(("a.pdf", 0, BOX)))
    assert (row["citevqa.recall"], row["citevqa.precision"], row["citevqa.unusable_boxes"]) == (1, 0.5, 1)


@pytest.mark.parametrize("box", [(500.0, 300.0, 100.0, 100.0), (5.0, 5.0, 5.0, 9.0), (-1.0, 0.0, 500.0, 300.0)])
def test_gold_that_no_box_can_meet_is_left_out_and_counted(box: Box) -> None:
    row = STRICT.row(answered(tag(1)), asked(("a.pdf", 0, BOX), ("a.pdf", 3, box)))
    assert (row["citevqa.recall"], row["citevqa.page_recall"], row["citevqa.unusable_gold"]) == (1, 1, 1)
    alone = STRICT.row(answered(tag(1)), asked(("a.pdf", 3, box)))
    assert (alone["citevqa.recall"], alone["citevqa.precision"], alone["citevqa.f1"]) == (None, None, None)


def test_a_page_on_which_only_an_unusable_box_is_cited_is_not_found() -> None:
    assert strict(tag(1, (500, 300, 100, 100)), ("a.pdf", 0, BOX)) == [0, 0, 0, 0]
    assert strict(tag(1, (100, 100, 100, 300)), ("a.pdf", 0, BOX)) == [0, 0, 0, 0]


def test_by_the_published_convention_gold_outside_its_page_is_met_and_reversed_gold_is_not() -> None:
    outside, turned = (100.0, 100.0, 1500.0, 300.0), (500.0, 300.0, 100.0, 100.0)
    for box, recall in ((outside, 1), (turned, 0)):
        assert PUBLISHED.row(answered(tag(1, box)), asked(("a.pdf", 0, box)))["citevqa.recall"] == recall


def test_boxes_that_cannot_be_used_are_counted_where_they_are_read() -> None:
    wrong = tag(1, (500, 300, 100, 100))
    said, example = answered(f"<think>{wrong} <bbox></think>{wrong}{wrong}"), asked(("a.pdf", 0, BOX))
    rows = (metric.row(said, example) for metric in (STRICT, PUBLISHED))
    assert [(row["citevqa.unusable_boxes"], row["citevqa.unread_tags"]) for row in rows] == [(1, 0), (3, 1)]


def test_tags_in_another_form_are_counted() -> None:
    row = STRICT.row(answered(f"<BBox page=3> {tag(1)}"), asked(("a.pdf", 0, BOX)))
    assert (row["citevqa.unread_tags"], row["citevqa.recall"]) == (1, 1)


def test_boxes_in_thinking_count_by_the_published_convention_alone() -> None:
    text = f"<think>{tag(1)}</think> So it was."
    example = asked(("a.pdf", 0, BOX))
    assert STRICT.row(answered(text), example)["citevqa.recall"] == 0
    assert PUBLISHED.row(answered(text), example)["citevqa.recall"] == 1


def searched(response: str, **update: object) -> Prediction:
    """An answer over two quotes: a paragraph, and a table with a caption."""
    paragraph = made_quote("Grain.").model_copy(update={"id": "p", "document": "a.pdf"})
    table = made_quote("Tonnes.", layout="table").model_copy(update={"id": "t", "document": "a.pdf", "page": 1})
    prediction = Prediction(
        example="q1",
        scope="document",
        response=response,
        context=Context(texts=(Hit(rank=1, score=1, quote=paragraph),), images=(Hit(rank=1, score=1, quote=table),)),
        quote_boxes={"p": (BOX,), "t": (OTHER, (100, 560, 500, 590))},
        gold_pages=(PageBoxes(document="a.pdf", page=0, boxes=(BOX, OTHER)),),
    )
    return prediction.model_copy(update=update)


def test_marks_stand_for_the_boxes_of_their_quotes_and_captions() -> None:
    gold = (("a.pdf", 0, BOX), ("a.pdf", 1, (100.0, 560.0, 500.0, 590.0)))
    row = STRICT.row(searched("Grain [1]. ![tonnes](image1)").model_copy(update={"gold_pages": None}), asked(*gold))
    assert row["citevqa.recall"] == 1
    assert row["citevqa.precision"] == pytest.approx(2 / 3)  # the caption is gold, its table is not


def test_a_mark_without_a_quote_is_a_wrong_citation() -> None:
    row = STRICT.row(searched("Grain [1] [7]."), asked(("a.pdf", 0, BOX)))
    assert (row["citevqa.recall"], row["citevqa.precision"], row["out_of_range"]) == (1, 0.5, 1)


def test_the_ceilings_tell_where_gold_was_lost() -> None:
    parsed_alone: Box = (600, 100, 900, 300)
    pages = (PageBoxes(document="a.pdf", page=0, boxes=(BOX, parsed_alone)),)
    gold = (("a.pdf", 0, BOX), ("a.pdf", 0, parsed_alone), ("a.pdf", 0, (0.0, 900.0, 999.0, 999.0)))
    row = STRICT.row(searched("Nothing.", gold_pages=pages), asked(*gold))
    figures = [row[f"citevqa.{name}"] for name in ("ceiling.parser", "ceiling.context", "recall")]
    assert figures == [pytest.approx(2 / 3), pytest.approx(1 / 3), 0]


def test_gold_on_a_page_that_the_document_lacks_is_left_out_and_counted() -> None:
    row = STRICT.row(searched("Grain [1]."), asked(("a.pdf", 0, BOX), ("a.pdf", 40, BOX)))
    assert (row["citevqa.recall"], row["citevqa.gold_on_lacking_pages"]) == (1, 1)


def test_gold_in_a_document_that_the_collection_lacks_is_missed_and_counted() -> None:
    example = asked(("a.pdf", 0, BOX), ("b.pdf", 0, BOX), documents=("a.pdf", "b.pdf"))
    pages = (PageBoxes(document="a.pdf", page=0, boxes=(BOX,)), PageBoxes(document="b.pdf", page=0, boxes=()))
    row = STRICT.row(searched("Grain [1].", gold_pages=pages), example)
    figures = [row[f"citevqa.{name}"] for name in ("recall", "page_recall", "ceiling.parser")]
    assert figures == [0.5, 0.5, 0.5]
    assert row["citevqa.gold_on_pages_without_quotes"] == 1


def test_the_words_of_an_answer_are_without_its_boxes() -> None:
    example, said = asked(), answered(f"4,210 tonnes {tag(1)}.")
    for metric in (Bleu("own"), RougeL("own"), ShortAnswer("own"), Expense("own", lambda _: None)):
        assert metric.row(said, example) == metric.row(answered("4,210 tonnes ."), example)
    assert scored_text(said, "own") == "4,210 tonnes ."
    assert scored_text(said, "own", marks_kept=True) == said.response


def test_other_datasets_have_none_of_these_figures() -> None:
    assert STRICT.row(answered(tag(1)), asked().model_copy(update={"documents": ()})) == {}


@pytest.mark.parametrize("case", RECORDED["saa"], ids=str)
def test_the_published_attributed_accuracy_is_that_of_the_authors_script(case: dict[str, float | None]) -> None:
    found = attributed(case["answer"], case["relevance"], case["recall"], convention="published")
    assert found == case["saa"]


@pytest.mark.parametrize(
    ("answer", "relevance", "recall", "right"),
    [
        (3, None, None, 0),  # wrong whatever its evidence is
        (4, 4, None, 1),
        (4, None, 0.6, 1),
        (4, None, 0.5, None),  # the judge may find the evidence right
        (4, 3, None, None),
        (4, 3, 0.5, 0),
        (None, 5, 1.0, None),
    ],
)
def test_attributed_accuracy_is_undefined_only_where_it_depends_on_what_is_missing(
    answer: float | None, relevance: float | None, recall: float | None, right: float | None
) -> None:
    assert attributed(answer, relevance, recall) == right


def test_judged_figures_are_fractions_of_their_scale() -> None:
    example, said = asked(("a.pdf", 0, BOX)), answered(tag(1))
    row = AttributedAccuracy({"q1": {"answer": 4.0, "relevance": 2.0}}).row(said, example)
    assert row == {"citevqa.answer": 0.8, "citevqa.relevance": 0.4, "citevqa.saa": 1}
    assert AttributedAccuracy({"q1": {"answer": 5.0}}).row(answered("No box."), example)["citevqa.saa"] is None
    assert AttributedAccuracy({}).row(said, example) == {}


@pytest.mark.parametrize("convention", ["strict", "published"])
@pytest.mark.parametrize("off", [80.0, -1.0])
def test_scores_off_the_scale_are_undefined_by_either_convention(convention: Convention, off: float) -> None:
    example, said = asked(("a.pdf", 0, BOX)), answered(tag(1))
    row = AttributedAccuracy({"q1": {"answer": off, "relevance": 2.0}}, convention).row(said, example)
    assert row == {"citevqa.answer": None, "citevqa.relevance": 0.4, "citevqa.saa": None}


def test_the_released_script_divides_what_its_prompts_ask_for_by_20() -> None:
    """So that none of its answers is right: the reason why this is not done here."""
    scores = {case["reply"]: case["score"] for case in RECORDED["replies"]}
    assert scores["<qa_acc>5</qa_acc>"] == 0.25
    assert attributed(0.25, 0.25, 1.0, convention="published") == 0


EDGES = st.integers(0, 40).map(lambda edge: 25.0 * edge)
BOXES = st.tuples(EDGES, EDGES, EDGES, EDGES)


@given(st.lists(BOXES, min_size=1, max_size=4), st.lists(BOXES, max_size=4), st.sampled_from(["strict", "published"]))
def test_figures_of_boxes_do_not_depend_on_the_order_in_which_both_are_written(
    gold: list[Box], cited: list[Box], convention: Convention
) -> None:
    """What a dataset and its answers write y first is scored as if both were written x first."""
    example = asked(*(("a.pdf", 0, box) for box in gold))
    turned = asked(*(("a.pdf", 0, transposed(box)) for box in gold))
    y_first = turned.model_copy(update={"reference": turned.reference.model_copy(update={"y_first": True})})
    text = " ".join(tag(1, box) for box in cited)
    metric = CiteVqa(convention)
    assert metric.row(answered(text), example) == metric.row(answered(text), y_first)


@given(st.lists(BOXES, min_size=1, max_size=4), st.lists(BOXES, max_size=4))
def test_strict_figures_are_shares(gold: list[Box], cited: list[Box]) -> None:
    figures = strict(" ".join(tag(1, box) for box in cited), *(("a.pdf", 0, box) for box in gold))
    assert all(value is None or 0 <= value <= 1 for value in figures)


@given(st.lists(BOXES, min_size=1, max_size=4), st.booleans(), st.booleans())
def test_the_boxes_of_marks_are_read_as_they_are_written(boxes: list[Box], y_first: bool, several: bool) -> None:
    example = asked(("a.pdf", 0, BOX), documents=("b.pdf", "a.pdf") if several else ("a.pdf",))
    example = example.model_copy(update={"reference": example.reference.model_copy(update={"y_first": y_first})})
    text = boxed_response(searched("Grain [1].", quote_boxes={"p": tuple(boxes)}), example)
    assert text is not None
    read = cited_boxes(text)
    assert [transposed(one.box) if y_first else one.box for one in read] == boxes
    assert {(one.document, one.page) for one in read} == {(2 if several else None, 1)}
    assert without_boxes(text, "") == "Grain ."
