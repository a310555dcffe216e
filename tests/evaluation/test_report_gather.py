"""What a report is made of: runs scored alike, their differences, and the tables that people see."""

from dataclasses import replace
from pathlib import Path

import pytest
from made_report import GOOD, HOSTILE, POOR, answers, gathered, judgements, questions

from quoteweave.core.chat.usage import Price
from quoteweave.core.errors import UsageError
from quoteweave.core.examples import Example, Prediction
from quoteweave.evaluation.metrics.answers.bleu import Bleu
from quoteweave.evaluation.report.labels import SELECTION
from quoteweave.evaluation.report.runs import Report, make_report
from quoteweave.evaluation.report.sections import sections
from quoteweave.evaluation.report.tables import (
    OVERVIEW,
    Table,
    breakdown_table,
    conventions_table,
    counts_table,
    difference_tables,
    report_groups,
    runs_table,
    undefined_table,
)
from quoteweave.evaluation.scoring.saved_runs import ScoringRequest
from quoteweave.evaluation.statistics.aggregates import Row
from quoteweave.evaluation.statistics.intervals import Estimate


@pytest.fixture(autouse=True)
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaves plots blank: what stands beside them is asked here, and to draw them takes 0.4 s each."""
    monkeypatch.setattr("matplotlib.figure.Figure.savefig", lambda figure, file, **named: file.write(b""))


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return gathered(tmp_path_factory.mktemp("two"), {"poor.jsonl": POOR, "good.jsonl": GOOD})


def columns(table: Table | None) -> dict[str, list[str]]:
    """Heading to what stands below it."""
    assert table is not None
    return {name: [row[at].text for row in table.rows] for at, name in enumerate(table.head)}


def test_figures_are_those_of_each_run(two: Report) -> None:
    found = columns(runs_table(two, "", SELECTION))
    assert found["run"] == ["poor", "good"]
    # Poor: F1 of 2/3, 0 and 1; of 3 gold images one is cited, of 2 gold texts one, and 1 of 2 cited texts is gold.
    assert found["overall F1"] == ["55.6", "100.0"]
    assert (found["image R"], found["image P"]) == (["33.3", "100.0"], ["100.0", "100.0"])
    assert (found["text R"], found["text P"]) == (["50.0", "100.0"], ["50.0", "100.0"])
    assert two.main == "overall.f1"


def test_the_best_of_a_column_is_marked_where_more_is_better(two: Report) -> None:
    table = runs_table(two, "", OVERVIEW)
    assert table is not None
    marked = {name: [row[at].best for row in table.rows] for at, name in enumerate(table.head)}
    assert marked["overall F1"] == [False, True]
    assert marked["tokens out"] == [False, False]


def test_one_run_has_no_best_and_no_differences(tmp_path: Path) -> None:
    one = gathered(tmp_path, {"one.jsonl": GOOD})
    table = runs_table(one, "", OVERVIEW)
    assert table is not None
    assert not any(cell.best for row in table.rows for cell in row)
    assert difference_tables(one.comparisons) == []
    assert "differences" not in [part.id for part in sections(one)]


def test_differences_are_of_later_runs_less_the_first_corrected_over_all(two: Report) -> None:
    assert [(one.first, one.second, one.figure) for one in two.comparisons] == [
        ("good", "poor", name) for name in ("overall.f1", "image.f1.pooled", "text.f1.pooled")
    ]
    assert two.comparisons[0].difference == pytest.approx(1 - 5 / 9)
    smallest = min(one.p or 0 for one in two.comparisons)
    assert min(one.p_holm or 0 for one in two.comparisons) == pytest.approx(min(1, 3 * smallest))
    assert columns(difference_tables(two.comparisons)[0])["difference"] == ["+44.4"]


def test_what_is_worse_has_a_minus_and_bounds_that_can_be_read(tmp_path: Path) -> None:
    report = gathered(tmp_path, {"good.jsonl": GOOD, "poor.jsonl": POOR})
    (cell,) = [row[3] for row in difference_tables(report.comparisons)[0].rows]
    assert cell.text == "−44.4"
    low, high = cell.detail.split(" to ")
    assert low.startswith("−")
    assert "-" not in low + high


def test_groups_show_the_main_figure(two: Report) -> None:
    found = columns(breakdown_table(two, "domain"))
    assert found["domain"] == [HOSTILE, "News"]
    assert (found["n"], found["poor"]) == (["1*", "2*"], ["100.0", "33.3"])
    assert columns(breakdown_table(two, "gold_images"))["number of gold images"] == ["one"]
    assert columns(breakdown_table(two, "position"))["poor"] == ["100.0", "0.0", "50.0", "0.0"]
    assert report_groups(two, "position") == ["text1", "text2", "image1", "image2"]


def test_places_stand_in_the_order_of_the_context_whichever_run_has_them(two: Report) -> None:
    at = two.runs[0].scores.breakdowns["position"]["text1"]
    held = (["text2", "image1"], ["text1", "text10", "image10", "image2"])
    runs = [
        replace(run, scores=run.scores.model_copy(update={"breakdowns": {"position": dict.fromkeys(places, at)}}))
        for run, places in zip(two.runs, held, strict=True)
    ]
    assert report_groups(replace(two, runs=runs), "position") == [
        "text1",
        "text2",
        "text10",
        "image1",
        "image2",
        "image10",
    ]


def test_what_mcitebench_measures_stands_in_its_report(two: Report) -> None:
    names = ("citation.f1.cited", "source.f1", "source.exact_match", "accuracy", "source_by_rule.f1")
    figures = {name: Estimate(value=value, n=3) for name, value in zip(names, (0.1, 0.2, 0.3, 0.4, 0.5), strict=True)}
    runs = [replace(run, scores=run.scores.model_copy(update={"figures": figures})) for run in two.runs]
    made = {section.id: section for section in sections(replace(two, runs=runs, comparisons=()))}
    found = columns(made["sources"].tables[0])
    told = [found[name][0] for name in ("citation F1", "source F1", "sources, exact match", "accuracy")]
    assert told == ["10.0", "20.0", "30.0", "40.0"]
    assert "source F1, by rule" not in found, "where a judge has told what is cited, that counts"
    assert columns(made["overview"].tables[0])["accuracy"] == ["40.0", "40.0"]


def test_an_overview_begins_with_what_the_benchmark_measures(two: Report) -> None:
    for name, heading in (("citevqa.saa", "attributed accuracy"), ("mmlongbench.accuracy", "short answers, accuracy")):
        figures = {"rouge_l.f1": Estimate(value=0.1, n=3), name: Estimate(value=0.2, n=3)}
        runs = [replace(run, scores=run.scores.model_copy(update={"figures": figures})) for run in two.runs]
        table = runs_table(replace(two, runs=runs, comparisons=()), "", OVERVIEW)
        assert table is not None
        assert table.head == ("run", heading, "ROUGE-L F1")


def test_what_contexts_held_stands_beside_the_answers_made_of_them(two: Report) -> None:
    figures = {
        name: Estimate(value=value, n=3)
        for name, value in (
            *(("context.text.recall", 0.1), ("context.image.recall", 0.2), ("context.recall", 0.3)),
            *(("text.recall@20", 0.4), ("layout_recall@1", 0.5), ("gold_box_recall.c15", 0.6)),
            ("citevqa.page_recall", 0.7),
        )
    }
    runs = [replace(two.runs[0], scores=two.runs[0].scores.model_copy(update={"figures": figures})), two.runs[1]]
    made = {section.id: section for section in sections(replace(two, runs=runs, comparisons=()))}
    context, ranked = map(columns, made["retrieval"].tables)
    assert context["context, text recall"] == ["10.0", "–"]
    assert [context[name][0] for name in ("context, image recall", "context, recall")] == ["20.0", "30.0"]
    shown = ("text recall@20", "layout recall@1", "gold box recall c15")
    assert [ranked[name][0] for name in shown] == ["40.0", "50.0", "60.0"]
    assert columns(made["answers"].tables[0])["boxes, page recall"][0] == "70.0"


def test_failures_and_missing_questions_are_counted_by_both_conventions(tmp_path: Path) -> None:
    report = gathered(tmp_path, {"a.jsonl": {"q0": GOOD["q0"], "q1": None}}, partial=True)
    assert columns(counts_table(report)) == {
        "run": ["a"],
        "answers": ["2"],
        "of which failed": ["1"],
        "questions without answer": ["1"],
        "marks that name no quote": ["0"],
    }
    table = conventions_table(report)
    found = columns(table)
    assert found["overall F1"] == ["100.0 (n = 1)"]
    assert table is not None
    assert table.rows[0][table.head.index("overall F1")].detail == "50.0 (n = 2)"
    assert any("1 prediction is an error" in note for note in report.first.notes)
    assert not any("convention," in note for note in report.first.notes)


def test_conventions_that_agree_are_not_told_apart(two: Report) -> None:
    assert conventions_table(two) is None or "overall F1" not in columns(conventions_table(two))


def test_undefined_figures_are_counted(tmp_path: Path) -> None:
    report = gathered(tmp_path, {"a.jsonl": {**GOOD, "q2": "I do not know."}})
    found = columns(undefined_table(report))
    assert dict(zip(found["figure"], found["a"], strict=True))["overall P"] == "1"


def test_judgements_and_prices_join_the_overview(tmp_path: Path) -> None:
    sources = ScoringRequest(
        run=answers(tmp_path / "a.jsonl", GOOD),
        dataset="mmdocrag-20",
        references=questions(tmp_path),
        judgements=judgements(tmp_path / "j.jsonl", {"q0": 5, "q1": 4, "q2": 3}),
    )
    report = make_report([sources], prices=lambda _: Price(input=1, output=10))
    found = columns(runs_table(report, "", OVERVIEW))
    assert (found["judge's average"], found["US dollars"]) == (["4.00"], ["0.0020"])


def test_no_run_and_a_run_named_twice_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="at least one"):
        make_report([])
    source = ScoringRequest(run=tmp_path / "a.jsonl", dataset="mmdocrag-20")
    with pytest.raises(UsageError, match="twice"):
        make_report([source, source])


def test_crossed_groups_are_a_table_and_correlations_too(tmp_path: Path) -> None:
    references = questions(tmp_path)
    source = ScoringRequest(
        run=answers(tmp_path / "poor.jsonl", POOR),
        dataset="mmdocrag-20",
        references=references,
        # Overall F1 is 2/3, 0 and 1: the judge ranks the answers alike.
        judgements=judgements(tmp_path / "judged.jsonl", {"q0": 4, "q1": 2, "q2": 5}),
        by=("domain", "evidence,gold_quotes"),
    )
    report = make_report([source])
    parts = {part.id: part for part in sections(report)}
    (crossed,) = parts["groups"].tables
    assert all(table.head[1] == "n" for table in parts["groups"].folded)
    assert len(parts["groups"].folded) == len(parts["groups"].plots)
    assert crossed.title == "overall F1, %, by evidence modality × number of gold quotes"
    assert [[cell.text for cell in row] for row in crossed.rows] == [
        ["chart × 1", "1*", "100.0"],
        ["chart × 2", "2*", "33.3"],
        ["text × 1", "1*", "100.0"],
        ["text × 2", "2*", "33.3"],
    ]
    (table,) = parts["correlations"].tables
    assert table.rows[0][1].text == "1.00"


def test_answers_are_scored_once_by_each_convention(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scored = []
    row = Bleu.row

    def counted(self: Bleu, prediction: Prediction, example: Example) -> Row:
        scored.append(example.id)
        return row(self, prediction, example)

    monkeypatch.setattr(Bleu, "row", counted)
    report = gathered(tmp_path, {"good.jsonl": GOOD})
    assert sorted(scored) == sorted(2 * list(report.runs[0].examples))
