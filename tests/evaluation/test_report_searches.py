"""A report on searches for papers: figures of what was named, and how price, time and actions are spread."""

from pathlib import Path

import pytest

from quoteweave.core.answers import Usage
from quoteweave.core.chat.usage import Price
from quoteweave.core.examples import PaperSearch, Prediction, SearchStep
from quoteweave.evaluation.report.plots import distributions_plot, quantile
from quoteweave.evaluation.report.runs import Report, make_report
from quoteweave.evaluation.report.sections import sections
from quoteweave.evaluation.scoring.saved_runs import ScoringRequest

TABLE = "id,excerpt,target_paper_title\n" + "".join(f"{n},Of {n} [CITATION].,Deep {n}\n" for n in range(10))


def prediction(number: int, *, actions: int, seconds: float) -> Prediction:
    steps = tuple(SearchStep(action="search_relevance", argument=str(n)) for n in range(actions))
    return Prediction(
        example=str(number),
        response=f"Deep {number}",
        paper_search=PaperSearch(outcome="selected", steps=steps),
        model="m",
        usage=Usage(input_tokens=1000 * (number + 1), output_tokens=1),
        seconds=seconds,
    )


@pytest.fixture
def report(tmp_path: Path) -> Report:
    table = tmp_path / "DATASET.csv"
    table.write_text(TABLE)
    requests = []
    for name, factor in (("slow", 10.0), ("fast", 1.0)):
        path = tmp_path / f"{name}.jsonl"
        made = [prediction(n, actions=n % 5 + 1, seconds=factor * (n + 1)) for n in range(10)]
        path.write_text("".join(f"{one.model_dump_json()}\n" for one in made))
        requests.append(ScoringRequest(run=path, dataset="citeme", references=table))
    return make_report(requests, prices=lambda _: Price(input=1.0, output=1.0))


def test_the_distributions_are_drawn_and_told(report: Report) -> None:
    plot = distributions_plot(report)
    assert plot is not None
    assert plot.svg.count("seconds a question") == 1
    assert "US dollars a question" in plot.svg
    assert "actions an excerpt" in plot.svg
    assert "slow: US dollars 0.005 (90 %: 0.009), seconds 50 (90 %: 90), actions 3 (90 %: 5)" in plot.says
    assert "fast: US dollars 0.005 (90 %: 0.009), seconds 5 (90 %: 9), actions 3 (90 %: 5)." in plot.says


def test_a_run_of_which_nothing_is_known_has_no_line_and_is_named(report: Report, tmp_path: Path) -> None:
    bare = [Prediction(example=str(n), response=f"Deep {n}") for n in range(10)]
    (tmp_path / "bare.jsonl").write_text("".join(f"{one.model_dump_json()}\n" for one in bare))
    requests = [
        ScoringRequest(run=tmp_path / f"{name}.jsonl", dataset="citeme", references=tmp_path / "DATASET.csv")
        for name in ("slow", "fast", "bare")
    ]
    plot = distributions_plot(make_report(requests))
    assert plot is not None
    assert "slow" in plot.svg
    assert "bare" not in plot.svg
    assert plot.says.endswith(" Not known of bare.")


def test_a_report_has_a_section_on_what_was_named_and_what_it_took(report: Report) -> None:
    found = {section.id: section for section in sections(report)}
    assert {"overview", "papers", "distributions", "groups"} <= found.keys()
    (table,) = found["papers"].tables
    assert any("title match" in heading for heading in table.head)
    assert "by-actions" in {plot.name for plot in found["groups"].plots}
    assert report.main == "title_match"
    assert "marks" not in found["overview"].says[0], "papers are named without citation marks"


def test_a_single_value_has_no_distribution(report: Report, tmp_path: Path) -> None:
    path = tmp_path / "one.jsonl"
    path.write_text(prediction(0, actions=1, seconds=1.0).model_dump_json() + "\n")
    request = ScoringRequest(run=path, dataset="citeme", references=tmp_path / "DATASET.csv", partial=True)
    assert distributions_plot(make_report([request])) is None


@pytest.mark.parametrize(("share", "value"), [(0.0, 1.0), (0.5, 2.0), (0.51, 3.0), (0.9, 4.0), (1.0, 4.0)])
def test_quantiles_are_values_that_there_are(share: float, value: float) -> None:
    assert quantile([1.0, 2.0, 3.0, 4.0], share) == value
