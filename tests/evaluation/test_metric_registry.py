"""The table of metrics: each by its own name, no figure or column twice, and all scored at once."""

from pathlib import Path

from made_answers import gold
from made_selection import answered

from quoteweave.core.answers import Usage
from quoteweave.core.examples import Reference
from quoteweave.evaluation.metrics.registry import METRICS, MetricOptions, list_metrics


def test_each_is_listed_by_its_own_name_with_figures_and_a_line() -> None:
    rows = list_metrics()
    assert [row.name for row in rows] == list(METRICS)
    assert all(row.figures and row.says for row in rows)


def test_the_page_of_metrics_has_each_of_them() -> None:
    page = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text("utf-8")
    assert [row.name for row in list_metrics() if f"| [{row.name}](#" not in page] == []


def test_no_two_metrics_share_a_figure_or_a_column() -> None:
    figures = [figure for row in list_metrics() for figure in row.figures]
    assert len(figures) == len(set(figures))
    metrics = [make(MetricOptions()) for make in METRICS.values()]
    columns = [{column for figure in metric.aggregates for column in figure.columns} for metric in metrics]
    assert sum(map(len, columns)) == len(set().union(*columns))


def test_an_answer_is_scored_by_all_of_them_at_once() -> None:
    prediction = answered("It rose [1].").model_copy(update={"usage": Usage(input_tokens=9, output_tokens=3)})
    example = gold("It rose [1].", "rose").model_copy(
        update={"reference": Reference(answer="It rose [1].", short_answer="rose", relevant={"text1": 1})}
    )
    rows = [make(MetricOptions()).row(prediction, example) for make in METRICS.values()]
    scored = {column: value for row in rows for column, value in row.items()}
    assert (scored["rouge_l.f1"], scored["overall.f1"], scored["token_f1"], scored["words"]) == (1, 1, 2 / 3, 2)
    assert "page_recall@1" not in scored
