"""A report's files: a page that is whole and safe, Markdown and CSV with the same numbers, plots as vectors."""

import csv
import io
import re
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from builders import make_context, make_example, make_quote, write_json_lines
from made_report import GOLD, GOOD, HOSTILE, POOR, Html, gathered, questions
from PIL import Image

from quoteweave.core.answers import Context
from quoteweave.core.errors import MissingExtra, StorageError
from quoteweave.core.examples import Prediction, Scope
from quoteweave.evaluation.report.plots import distributions_plot, tokens_plot
from quoteweave.evaluation.report.questions import MAX_CHARACTERS, PictureFolder, extreme_questions, shown_quotes
from quoteweave.evaluation.report.runs import Report, make_report
from quoteweave.evaluation.report.writing import csv_files, write_report
from quoteweave.evaluation.scoring.saved_runs import ScoringRequest

pytest.importorskip("matplotlib", reason="matplotlib is not installed")

FAILING: dict[str, str | None] = {**POOR, "q1": None}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("report")


@pytest.fixture(scope="module")
def report(folder: Path) -> Report:
    return gathered(folder, {"good.jsonl": GOOD, f"{HOSTILE[:8]}.jsonl": FAILING})


@pytest.fixture(scope="module")
def files(report: Report, folder: Path) -> dict[str, Path]:
    (folder / "images").mkdir()
    Image.new("RGB", (2000, 1000), "teal").save(folder / "images" / "1.png")
    written = write_report(report, folder / "out", pictures=PictureFolder(folder).data_url)
    return {str(path.relative_to(folder / "out")): path for path in written}


@pytest.fixture(scope="module")
def page(files: dict[str, Path]) -> Html:
    return Html(files["report.html"].read_text("utf-8"))


def test_the_page_is_well_formed_and_every_link_leads_somewhere(page: Html) -> None:
    assert page.wrong == []
    ids = list(page.values("id"))
    assert len(set(ids)) == len(ids)
    links = [link for name in ("href", "xlink:href") for link in page.values(name) if not link.startswith("data:")]
    assert links
    assert {link.removeprefix("#") for link in links} <= set(ids)


def test_the_page_loads_nothing_and_runs_nothing(page: Html, files: dict[str, Path]) -> None:
    assert {tag for tag, _ in page.elements} & {"script", "iframe", "object", "embed", "base", "form"} == set()
    assert all(source.startswith("data:image/jpeg") for source in page.values("src"))
    assert not [name for _, found in page.elements for name in found if name.startswith("on")]
    text = files["report.html"].read_text("utf-8")
    assert not re.search(r"url\((?!#)|@import", text)
    (policy,) = [str(found["content"]) for _, found in page.elements if found.get("http-equiv")]
    assert policy.startswith("default-src 'none'; img-src data:")


def test_what_models_and_datasets_say_is_shown_as_it_is(page: Html) -> None:
    shown = "".join(page.text)
    assert f"[1] {HOSTILE}" in shown
    assert f"What of q0? {HOSTILE}" in shown
    assert f"Words of text 1. {HOSTILE}" in shown
    assert f"timed out {HOSTILE} (1)" in shown
    # Plots: the name of a group, cut to its length, and no formula made of it.
    assert HOSTILE[:30] in shown


def test_each_question_shows_what_is_gold_and_what_was_cited(report: Report) -> None:
    good, failing = (extreme_questions(run, report.main, lambda _: None) for run in report.runs)
    assert [question.id for question in (*good.worst, *good.best)] == ["q0", "q1", "q2"]
    (worst,), (best,) = failing.worst, failing.best
    assert (worst.id, worst.gold, worst.cited, worst.scores) == ("q0", "text 1, image 1", "text 1", "overall F1 66.7 %")
    assert [(quote.name, quote.verdict) for quote in worst.quotes] == [
        ("text 1", "cited, and gold"),
        ("image 1", "gold, not cited"),
    ]
    assert (best.id, best.cited, best.gold_answer) == ("q2", "image 1", "grain")


def test_reasons_of_failures_that_are_not_shown_are_counted(report: Report) -> None:
    run = report.runs[0]
    (asked, *_) = run.scores.questions
    failed = tuple(asked.model_copy(update={"error": f"reason {min(number, 7)}"}) for number in range(9))
    scores = run.scores.model_copy(update={"questions": failed})
    shown = extreme_questions(replace(run, scores=scores), None, lambda _: None)
    assert shown.errors == ("reason 7 (2)", *(f"reason {number} (1)" for number in range(4)), "other reasons (3)")


def test_marks_without_quote_and_gold_that_was_not_given_are_told(tmp_path: Path) -> None:
    one = gathered(tmp_path, {"one.jsonl": {"q0": "[1] [13]"}}, partial=True)
    (run,) = one.runs
    retrieved = Context(texts=run.examples["q0"].context.texts[1:2]) if run.examples["q0"].context else None
    scope: Scope = "context"
    changed = run.predictions["q0"].model_copy(update={"context": retrieved, "scope": scope})
    (asked,) = extreme_questions(run, one.main, lambda _: None).worst
    assert [(quote.name, quote.verdict, quote.right) for quote in asked.quotes] == [
        ("text 1", "cited, and gold", True),
        ("text 13", "cited, but there is no such quote", False),
        ("image 1", "gold, not cited", False),
    ]
    (asked,) = extreme_questions(replace(run, predictions={"q0": changed}), one.main, lambda _: None).worst
    assert asked.gold == "none; 2 more that the model was not given"
    assert (asked.quotes[0].name, asked.quotes[0].verdict) == ("text 1", "cited, not gold")


def test_images_at_hand_are_shown_small_and_nothing_outside_the_folder(folder: Path, files: dict[str, Path]) -> None:
    assert files
    read = PictureFolder(folder / "images").data_url
    found = read("1.png")
    assert found is not None
    assert found.startswith("data:image/jpeg;base64,")
    (folder / "images" / "no.png").write_text("no picture")
    assert [read(name) for name in ("../images/1.png", "no.png", "none.png", "a\0b", "", None)] == [found, *[None] * 5]
    (folder / "outside.png").write_bytes((folder / "images" / "1.png").read_bytes())
    assert read("../outside.png") is None
    assert read(str(folder / "outside.png")) is None


def test_tables_hold_unrounded_numbers_of_every_run(report: Report, files: dict[str, Path]) -> None:
    read = {
        name: list(csv.DictReader(io.StringIO(files[f"tables/{name}"].read_text("utf-8"))))
        for name in ("runs.csv", "figures.csv", "breakdowns.csv", "differences.csv", "questions.csv")
    }
    assert [(row["questions"], row["failed"]) for row in read["runs.csv"]] == [("3", "0"), ("3", "1")]
    overall = [row for row in read["figures.csv"] if row["figure"] == "overall.f1"]
    assert [(row["convention"], row["n"]) for row in overall] == [
        ("strict", "3"),
        ("strict", "2"),
        ("published", "3"),
        ("published", "3"),
    ]
    assert float(overall[1]["value"]) == pytest.approx((2 / 3 + 1) / 2)
    assert float(overall[3]["value"]) == pytest.approx((2 / 3 + 1) / 3)
    assert {row["group"] for row in read["breakdowns.csv"] if row["breakdown"] == "domain"} == {"News", HOSTILE}
    assert {row["second"] for row in read["differences.csv"]} == {"good"}
    assert len(read["questions.csv"]) == 6
    assert csv_files(report)["runs.csv"] == files["tables/runs.csv"].read_text("utf-8")


def test_a_spreadsheet_runs_nothing_of_the_tables(tmp_path: Path) -> None:
    one = gathered(tmp_path, {"=HYPERLINK(1).jsonl": GOOD})
    assert all(line.startswith(("run,", "'=HYPERLINK")) for line in csv_files(one)["figures.csv"].splitlines())


def test_markdown_has_the_same_tables_and_no_markup_of_others(files: dict[str, Path]) -> None:
    text = files["report.md"].read_text("utf-8")
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        "## Overview",
        "## Which quotes are cited",
        "## How good the answers are",
        "## Length, answers and citations",
        "## Do the runs differ?",
        "## Kinds of questions",
        "## Place in the context",
        "## How it was counted",
    ]
    row = next(line for line in text.splitlines() if line.startswith("| good |"))
    assert row.startswith("| good | **100.0**")
    assert not re.search(r"(?<!\\)<", text)
    for name in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text):
        assert name in files
    tables = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    assert tables
    for table in tables:
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1


def test_plots_are_whole_vector_files(files: dict[str, Path]) -> None:
    drawn = {name: path for name, path in files.items() if name.endswith(".svg")}
    assert {"selection", "f1-by-tokens", "recall-by-position", "by-domain", "by-question-type", "by-evidence"} <= {
        Path(name).stem for name in drawn
    }
    for name, path in drawn.items():
        assert ElementTree.fromstring(path.read_bytes()).tag.endswith("svg"), name
        assert path.with_suffix(".pdf").read_bytes().startswith(b"%PDF")


def test_one_run_without_quotes_or_intervals_is_a_whole_report_and_the_same_each_time(tmp_path: Path) -> None:
    one = gathered(tmp_path, {"one.jsonl": {"q0": "No idea."}}, plain=True, partial=True)
    written, again = (write_report(one, tmp_path / name) for name in ("out", "again"))
    page = Html(written[0].read_text("utf-8"))
    assert page.wrong == []
    assert "One run on mmdocrag-20" in page.text
    assert {"html", "md", "svg", "pdf", "csv"} == {path.suffix[1:] for path in written}
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in written]


def test_a_run_that_only_retrieved_is_shown_by_its_ranking(tmp_path: Path) -> None:
    ranked = [{"example": name, "items": {"text1": 1.0, "text2": 0.5}} for name in GOLD]
    source = ScoringRequest(
        run=write_json_lines(tmp_path / "bm25.jsonl", ranked),
        dataset="mmdocrag-20",
        references=questions(tmp_path, plain=True),
    )
    report = make_report([source])
    text = "".join(Html(write_report(report, tmp_path / "out")[0].read_text("utf-8")).text)
    assert report.main == "recall@5"
    assert "What was retrieved" in text
    # Gold among the first five: one of two, one of two, none.
    assert "33.3" in text
    assert "Response" not in text


def test_answers_that_took_no_tokens_are_plotted_without_a_word_of_matplotlib(
    tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    usage = {"input_tokens": 0, "output_tokens": 0}
    answered = [{"example": name, "response": "[1]", "usage": usage} for name in GOLD]
    source = ScoringRequest(
        run=write_json_lines(tmp_path / "run.jsonl", answered),
        dataset="mmdocrag-20",
        references=questions(tmp_path, plain=True),
    )
    report = make_report([source])
    assert tokens_plot(report) is not None
    distributions_plot(report)
    assert [str(warning.message) for warning in recwarn] == []


def test_a_run_of_which_every_answer_failed_is_told(tmp_path: Path) -> None:
    one = gathered(tmp_path, {"one.jsonl": dict.fromkeys(GOOD)})
    text = "".join(Html(write_report(one, tmp_path / "out")[0].read_text("utf-8")).text)
    assert "Failed, and not among these" in text
    assert "3 predictions are errors, left out" in text


def test_without_matplotlib_the_extra_is_named(report: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtra, match=r"quoteweave\[report\]"):
        write_report(report, tmp_path)


def test_a_folder_that_cannot_be_written_is_named(report: Report, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="file"):
        write_report(report, tmp_path / "file")


def test_words_of_quotes_that_are_cut_end_with_an_ellipsis(tmp_path: Path) -> None:
    context = make_context(make_quote("grain " * MAX_CHARACTERS))
    prediction = Prediction(example="q", response="Grain [1].", context=context)
    (shown,) = shown_quotes(prediction, make_example("q"), PictureFolder(tmp_path).data_url)
    assert shown.words.endswith("…")
