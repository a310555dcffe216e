"""Pairs of runs: what changes from the first to the second, and what papers printed of the same."""

import json
import re
from pathlib import Path
from typing import get_args

import pytest
from made_report import GOOD, POOR, answers, judgements, questions

from quoteweave.core.errors import UsageError
from quoteweave.core.examples import Prediction
from quoteweave.core.runs import RunRecord, open_run
from quoteweave.evaluation.published import published_table
from quoteweave.evaluation.report.pairs import (
    PAIR_LAYOUTS,
    PairName,
    RunPair,
    concerns,
    make_pairs,
    pairs_table,
    printed_row,
)
from quoteweave.evaluation.report.writing import write_pairs
from quoteweave.evaluation.scoring.saved_runs import ScoringRequest


def requests(folder: Path) -> list[ScoringRequest]:
    """Overall F1 5/9 with 100 tokens out and a judge's 4, 2 and 3; then 1 with 40 and 5 throughout."""
    made = {"poor": (POOR, 100, {"q0": 4, "q1": 2, "q2": 3}), "good": (GOOD, 40, dict.fromkeys(GOOD, 5))}
    return [
        ScoringRequest(
            run=answers(folder / f"{name}.jsonl", said, tokens=tokens),
            dataset="mmdocrag-20",
            references=questions(folder),
            judgements=judgements(folder / f"{name}.judged", scores),
        )
        for name, (said, tokens, scores) in made.items()
    ]


def paired(folder: Path, layout: str, printed: tuple[str, str] | None = None, table: str = "mmdocrag-20") -> RunPair:
    rows = [] if printed is None else [printed_row(published_table(table), name) for name in printed]
    (pair,) = make_pairs(requests(folder), PAIR_LAYOUTS[layout], printed=rows)
    return pair


def test_each_name_has_a_layout() -> None:
    assert get_args(PairName) == tuple(PAIR_LAYOUTS)


def test_changes_are_the_second_less_the_first(tmp_path: Path) -> None:
    pair = paired(tmp_path, "fine-tuning")
    assert [run.name for run in pair.runs] == ["poor", "good"]
    assert pair.changes["overall.f1"].difference == pytest.approx(1 - 5 / 9)
    assert pair.changes["judge.average"].difference == pytest.approx(2)
    assert pair.changes["judge.average"].n == 3


def test_relative_changes_are_divided_by_the_first(tmp_path: Path) -> None:
    pair = paired(tmp_path, "thinking")
    assert list(pair.changes) == ["tokens.output", "overall.f1", "judge.average"]
    assert pair.changes["tokens.output"].difference == pytest.approx(-0.6)
    assert pair.changes["judge.average"].difference == pytest.approx(2 / 3)
    low, high = pair.changes["judge.average"].low, pair.changes["judge.average"].high
    assert low is not None
    assert high is not None
    assert low < 2 / 3 < high


def test_a_table_has_three_lines_a_pair_and_those_printed(tmp_path: Path) -> None:
    layout = PAIR_LAYOUTS["thinking"]
    table = pairs_table([paired(tmp_path, "thinking")], layout)
    assert table.head == ("run", "tokens out", "overall F1", "judge's average")
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["poor", "100", "55.6", "3.00"],
        ["good", "40", "100.0", "5.00"],
        ["relative change, %", "−60.0", "+80.0", "+66.7"],
    ]
    assert [row[0].detail for row in table.rows] == ["thinking", "not thinking", ""]
    names = ("Qwen3-4B, thinking", "Qwen3-4B, not thinking")
    beside = pairs_table([paired(tmp_path, "thinking", names, "mmdocrag-thinking-20")], layout)
    # Table 11, 20 quotes, line 1, with the changes that it prints.
    assert [[cell.text for cell in row] for row in beside.rows[3:]] == [
        ["printed: Qwen3-4B", "1072", "58.2", "3.58"],
        ["printed: Qwen3-4B", "271", "51.1", "3.14"],
        ["printed: relative change, %", "−74.7", "−12.2", "−12.3"],
    ]


def test_the_changes_that_table_4_prints_are_those_of_its_figures(tmp_path: Path) -> None:
    names = ("GPT-4.1, multimodal", "GPT-4.1, pure-text")
    table = pairs_table([paired(tmp_path, "multimodal", names)], PAIR_LAYOUTS["multimodal"])
    assert [cell.text for cell in table.rows[-1]] == ["printed: relative change, %", "−48.5", "−2.7", "−1.7"]


def test_changes_tell_their_unit_and_their_questions(tmp_path: Path) -> None:
    for name, told in (
        ("fine-tuning", "change, points"),
        ("thinking", "relative change, %"),
        ("thinking-full", "change, points or tokens"),
    ):
        row = pairs_table([paired(tmp_path, name)], PAIR_LAYOUTS[name]).rows[2]
        assert row[0].text == told
        assert row[-1].detail.endswith("; n = 3")


def test_notes_are_of_the_run_or_of_a_figure_that_is_shown(tmp_path: Path) -> None:
    layout = PAIR_LAYOUTS["fine-tuning"]
    for run in paired(tmp_path, "fine-tuning").runs:
        named = {note.partition(": ")[0] for note in run.notes}
        assert named & set(run.figures) <= set(layout.figures)


@pytest.mark.parametrize(
    ("note", "shown"),
    [
        ("overall.f1 (0.5) is the mean over questions", True),
        ("exact_match and token_f1 compare answers of 90 words (median) with gold of 2", False),
        ("bleu and overall.f1 compare answers", True),
        ("rouge_l.f1: 0.3 by the strict convention", False),
        ("12 malformed judgements (a score missing): left out", True),
        ("only 3 documents: intervals are wide", True),
    ],
)
def test_a_note_on_figures_that_a_layout_lacks_is_left_out(note: str, shown: bool) -> None:
    assert concerns(note, PAIR_LAYOUTS["fine-tuning"]) == shown


def test_the_closest_row_is_named_instead_of_all() -> None:
    with pytest.raises(UsageError) as caught:
        printed_row(published_table("mmdocrag-20"), "gpt-4.1, multimodel")
    assert "did you mean 'GPT-4.1, multimodal'" in str(caught.value)
    assert len(str(caught.value)) < 250


def test_an_odd_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="1 run: name two for each pair, first base, then fine-tuned"):
        make_pairs(requests(tmp_path)[:1], PAIR_LAYOUTS["fine-tuning"])


@pytest.mark.parametrize(
    ("layout", "key", "first", "second"),
    [
        ("multimodal", "images", True, False),
        ("image-text", "view", "vlm_text", "ocr_text"),
        ("image-text-full", "view", "vlm_text", "ocr_text"),
        ("thinking", "thinking", True, False),
        ("thinking-full", "thinking", True, False),
    ],
)
def test_runs_the_wrong_way_round_are_refused(
    layout: str, key: str, first: object, second: object, tmp_path: Path
) -> None:
    asked = requests(tmp_path)
    for value in (first, second):
        record = RunRecord(configuration={"dataset": "mmdocrag-20", key: value})
        with open_run(tmp_path / f"{value}", record) as writer:
            for question in GOOD:
                writer.append(Prediction(example=question, response="Said."))
    runs = [asked[0].model_copy(update={"run": tmp_path / f"{value}", "judgements": None}) for value in (first, second)]
    (pair,) = make_pairs(runs, PAIR_LAYOUTS[layout], intervals=None)
    assert pair.runs[0].name.endswith(json.dumps(first).strip('"'))
    told = re.escape(f"{second} was made with {key} = {json.dumps(second)}, and stands where it has to be")
    for wrong in (runs[::-1], [runs[1], runs[1]]):
        with pytest.raises(UsageError, match=told):
            make_pairs(wrong, PAIR_LAYOUTS[layout], intervals=None)


@pytest.mark.parametrize(
    ("layout", "first", "second"),
    [
        ("multimodal", "gpt_multimodal_quotes20.jsonl", "gpt_pure-text_quotes20.jsonl"),
        ("thinking", "qwen_pure-text_quotes20.jsonl", "qwen-no-think_pure-text_quotes20.jsonl"),
        ("fine-tuning", "qwen_pure-text_quotes20.jsonl", "qwen-ft_pure-text_quotes20.jsonl"),
    ],
)
def test_published_files_the_wrong_way_round_are_refused(layout: str, first: str, second: str, tmp_path: Path) -> None:
    asked = requests(tmp_path)[:2]
    runs = [
        one.model_copy(update={"run": one.run.rename(tmp_path / name)})
        for one, name in zip(asked, (first, second), strict=True)
    ]
    assert make_pairs(runs, PAIR_LAYOUTS[layout], intervals=None)
    told = f"{PAIR_LAYOUTS[layout].second} by its name, and stands where {PAIR_LAYOUTS[layout].first} has to be"
    with pytest.raises(UsageError, match=told):
        make_pairs(runs[::-1], PAIR_LAYOUTS[layout], intervals=None)


@pytest.mark.parametrize(
    ("name", "told"),
    [("GPT-4.1", "has several rows 'GPT-4.1'; there are: GPT-4.1, "), ("GPT-9", "has no row 'GPT-9'")],
)
def test_a_row_that_is_not_one_is_told_with_those_there_are(name: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        printed_row(published_table("mmdocrag-20"), name)


def test_a_report_holds_the_table_and_the_plot(tmp_path: Path) -> None:
    pair = paired(tmp_path, "fine-tuning")
    files = write_pairs([pair], PAIR_LAYOUTS["fine-tuning"], tmp_path / "out")
    names = [str(path.relative_to(tmp_path / "out")) for path in files]
    assert names == ["report.html", "report.md", "plots/pairs.svg", "plots/pairs.pdf", "tables/pairs.csv"]
    assert "| change, points |" in files[1].read_text("utf-8")
    assert "poor" in files[2].read_text("utf-8")
    first = files[4].read_text("utf-8").splitlines()[1].split(",")
    assert first[:4] == ["1", "poor", "good", "overall.f1"]
