"""Source selection by hand, and the citation style of MCiteBench."""

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_selection import answered, example

from quoteweave.evaluation.metrics.citations.source_selection import SourceSelection
from quoteweave.evaluation.text.source_marks import cited_items, item_name, source_marks


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("It rose [1].", "1"),
        ("It rose [1][3] and [1, 2], see [4-6].", "1 3 2 4 5 6"),
        ("See Figure 3 and Table 2.", "Figure 3|Table 2"),
        ("See Figure 1a, Figure 1(b) and figure 1 (c).", "Figure 1"),
        ("See Fig. 3, fig 4, FIGURE 5, Tab. 6.", "Figure 3|Figure 4|Figure 5|Table 6"),
        ("See Figures 1, 2a, and 4 as in Tables 1 & 3.", "Figure 1|Figure 2|Figure 4|Table 1|Table 3"),
        ("See Figures 2-4.", "Figure 2|Figure 3|Figure 4"),
        ("Figure 2, 3 models and Figure 1 and 7 others.", "Figure 2|Figure 1"),
        ("As shown [Figure 3; 1] and [Table 2a].", "Figure 3|1|Table 2"),
        ("See Table 4.2. See Table 4. Two.", "Table 4.2|Table 4"),
        ("Figure\n7 and Figure~8", "Figure 7|Figure 8"),
        ("Configure 3, figured 4, stable 5, Figure 0, [a], [see 3], [], Figure S1", ""),
        ("[1-999999999] [3-1]", "1 999999999 3"),
    ],
)
def test_what_is_cited(text: str, items: str) -> None:
    expected = items.split("|") if "F" in items or "T" in items else items.split()
    assert list(cited_items(text)) == expected


@given(st.text(alphabet="[]()0129 ,;-–afgFiureTblsnd.\n", max_size=80))
def test_marks_lie_in_the_text_in_order_without_overlap(text: str) -> None:
    marks = source_marks(text)
    assert all(mark.items and 0 <= mark.start < mark.end <= len(text) for mark in marks)
    assert all(one.end <= other.start for one, other in pairwise(marks))


@pytest.mark.parametrize("part", ["[", "[1,", "Figure ", "Figures 1, ", "[1][", "Figure 1 (", "Figure 1-", "[[1]"])
def test_hostile_text_is_read_in_linear_time(part: str) -> None:
    def seconds(length: int) -> float:
        text, began = part * length, time.process_time()
        cited_items(text)
        return time.process_time() - began

    short, long = (min(seconds(length) for _ in range(2)) for length in (1_500, 15_000))
    assert long < 30 * short + 0.05  # ten times the text; in quadratic time it would take a hundred times as long


def test_a_name_by_itself_may_be_short_and_a_number_begin_with_zeros() -> None:
    assert [item_name(name) for name in ("Tab 1", "tab3", "FIG 03", "Figure  3", "01", "1-3")] == [
        "Table 1",
        "Table 3",
        "Figure 3",
        "Figure 3",
        "1",
        "1-3",
    ]
    assert cited_items("Open tab 1.") == ()


def test_short_names_and_leading_zeros_of_a_splitter_name_the_items_in_strict_too() -> None:
    gold = example("q", ["1", "Table 1"])
    row = SourceSelection("own", splits={"q": ("01", "Tab 1")}).row(answered("Up."), gold)
    assert row["source.f1"] == 1.0


def test_names() -> None:
    assert [item_name(name) for name in ("Figure 1a", "fig. 2 (b)", " Table 3 ", "7", "image3")] == [
        "Figure 1",
        "Figure 2",
        "Table 3",
        "7",
        "image3",
    ]


def test_two_of_three_cited_are_gold() -> None:
    row = SourceSelection("own").row(
        answered("<think>[9]</think>Calls rose [1], as Figure 1b shows, and Table 2."),
        example(gold=["1", "Figure 1", "Figure 2"]),
    )
    assert row == {
        "source_by_rule.cited": 3,
        "source_by_rule.gold": 3,
        "source_by_rule.common": 2,
        "source_by_rule.precision": pytest.approx(2 / 3),
        "source_by_rule.recall": pytest.approx(2 / 3),
        "source_by_rule.f1": pytest.approx(2 / 3),
        "source_by_rule.exact_match": 0,
    }


def test_parts_of_a_figure_are_the_figure_in_gold_too() -> None:
    metric = SourceSelection("own")
    row = metric.row(answered("Figure 1."), example(gold={"Figure 1a": 1, "Figure 1b": 1, "2": 0}))
    assert (row["source_by_rule.gold"], row["source_by_rule.exact_match"]) == (1, 1)


def test_nothing_cited_and_nothing_said_and_no_gold() -> None:
    strict, published = SourceSelection("own"), SourceSelection("own", "published")
    question = example(gold=["1"])
    assert strict.row(answered("Who knows."), question)["source_by_rule.precision"] is None
    assert strict.row(answered("Who knows."), question)["source_by_rule.f1"] == 0
    assert published.row(answered(""), question) == published.row(answered("Who knows."), question) == {}
    assert strict.row(answered(None), question) == {}
    assert strict.row(answered("[1]"), example(gold=None)) == {}
    assert strict.row(answered("[1]"), example(gold=["text1"])) == {}


def test_means_over_questions_and_over_all_pairs() -> None:
    metric = SourceSelection("own")
    rows = [
        metric.row(answered("[1]"), example(gold=["1"])),
        metric.row(answered("[1] [2] [3]"), example(gold=["4", "5"])),
    ]
    figures = {figure.name.removeprefix("source_by_rule."): figure.of(rows) for figure in metric.aggregates}
    assert figures == {
        "precision": 0.5,
        "recall": 0.5,
        "f1": 0.5,
        "exact_match": 0.5,
        "precision.pooled": 1 / 4,
        "recall.pooled": pytest.approx(1 / 3),
        "f1.pooled": pytest.approx(2 / 7),
    }


def test_what_a_splitter_found_stands_under_another_name() -> None:
    metric = SourceSelection("own", splits={"q": ["Figure 2b"]})
    assert metric.row(answered("Unlike Figure 1, Figure 2b."), example(gold=["Figure 2"]))["source.exact_match"] == 1
    assert metric.row(answered("Figure 2.", "other"), example("other", ["Figure 2"])) == {}
    assert metric.row(answered("", "other"), example("other", ["Figure 2"]))["source.f1"] == 0
    assert {figure.name.partition(".")[0] for figure in metric.aggregates} == {"source"}
