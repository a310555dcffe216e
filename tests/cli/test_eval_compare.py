import json
import re
from pathlib import Path

import pytest
from builders import write_json_lines
from command_line import Quoteweave


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "gold.jsonl"
    lines = [{"q_id": n, "gold_quotes": ["text1", "image2"], "answer_short": "x"} for n in range(20)]
    write_json_lines(path, lines)
    return path


def responses(path: Path, said: str) -> Path:
    path.write_text("".join(json.dumps({"q_id": n, "response": said}) + "\n" for n in range(20)))
    return path


@pytest.fixture
def runs(tmp_path: Path) -> tuple[Path, Path]:
    return responses(tmp_path / "good.jsonl", "Yes [1]. ![it](image2)"), responses(
        tmp_path / "bad.jsonl", "Yes [1] [3]."
    )


def test_two_runs_and_a_published_table(quoteweave: Quoteweave, gold: Path, runs: tuple[Path, Path]) -> None:
    asked = ("--dataset", "mmdocrag-20", "--references", gold, "--published", "mmdocrag-views-20", "--json")
    got = quoteweave("eval", "compare", *runs, *asked)
    assert (got.code, got.err) == (0, "")
    value = json.loads(got.out)
    how = [value[name] for name in ("dataset", "convention", "marks", "clusters")]
    assert how == ["mmdocrag-20", "strict", "own", "question"]
    assert [run["name"] for run in value["runs"]] == ["good", "bad"]
    by_figure = {one["figure"]: one for one in value["comparisons"]}
    overall = by_figure["overall.f1"]
    assert (overall["first_value"], overall["second_value"], overall["difference"]) == (1.0, 0.5, 0.5)
    assert (overall["n"], overall["clusters"]) == (20, 20)
    assert 0 < overall["low"] < 0.5 < overall["high"] <= 1
    assert overall["p"] < 0.001 <= overall["p_holm"] * 10
    assert by_figure["text.f1.pooled"]["second_value"] == pytest.approx(2 / 3)
    published = value["published"]
    assert published["source"] == "MMDocRAG, arXiv 2505.16470, Table 5, 20 quotes"
    ours = {line["system"]: line["rank"] for line in published["standings"] if line["ours"]}
    assert ours["good"] == 1 < ours["bad"]


def test_people_see_tables(quoteweave: Quoteweave, gold: Path, runs: tuple[Path, Path]) -> None:
    asked = ("--dataset", "mmdocrag-20", "--references", gold, "--published", "mmdocrag-views-20")
    got = quoteweave("eval", "compare", *runs, *asked)
    assert got.code == 0
    assert "first good\nsecond bad" in got.out
    assert re.search(r"overall\.f1 +100\.00 +50\.00 +50\.00 +\d+\.\d-\d+\.\d ", got.out), (
        "a row of a table, at 80 columns"
    )
    assert got.out.startswith("mmdocrag-20: convention strict, marks own; 95 % intervals and p are over questions")
    assert "- as effect: the figure is pooled" in got.out
    assert got.out.count("[1, 2] and [1-3] are read too") == 1, "a note on both runs is printed once"
    assert "units: %" in got.out
    assert re.search(r"^\d+ more figures in common: name any with --figure$", got.out, re.MULTILINE)
    assert "- as 95 %" not in got.out
    assert "1 * good" in got.out
    assert "< 0.0001" in got.out


def test_runs_without_a_figure_in_common_are_told(
    quoteweave: Quoteweave, gold: Path, runs: tuple[Path, Path], tmp_path: Path
) -> None:
    failed = tmp_path / "failed.jsonl"
    lines = [json.loads(line) for line in runs[0].read_text().splitlines()]
    failed.write_text("".join(json.dumps({**line, "response": "", "error": "timed out"}) + "\n" for line in lines))
    got = quoteweave("eval", "compare", runs[0], failed, "--dataset", "mmdocrag-20", "--references", gold)
    assert (got.code, got.out.splitlines()[0]) == (0, "nothing is compared: the runs have no figure in common")


@pytest.fixture
def own(tmp_path: Path) -> tuple[str | Path, ...]:
    """Two runs over 20 questions on two documents; arguments that compare them."""
    path = tmp_path / "questions.jsonl"
    lines = [{"id": str(n), "question": "How?", "document": f"{n % 2}.pdf", "short_answer": "yes"} for n in range(20)]
    write_json_lines(path, lines)
    runs = responses(tmp_path / "ours.jsonl", "yes"), responses(tmp_path / "theirs.jsonl", "well yes")
    return ("eval", "compare", *runs, "--dataset", "questions", "--references", path)


def test_figures_in_common_that_are_not_compared_unasked_are_named(
    quoteweave: Quoteweave, own: tuple[str | Path, ...]
) -> None:
    got = quoteweave(*own)
    told = " ".join(got.out.split())
    assert "name a figure with --figure; those that the runs have in common are bleu, " in told


def test_few_documents_and_units_are_told(quoteweave: Quoteweave, own: tuple[str | Path, ...]) -> None:
    got = quoteweave(*own, "--figure", "token_f1", "--figure", "words", "--figure", "words.std")
    told = " ".join(got.out.split())
    few = "only 2 documents: intervals are wide, and their level of 95 % is approximate"
    assert few in told
    assert "units: token_f1 (%); words (a question); words.std (words)" in told
    assert re.search(r"words +1\.00 +2\.00 +-1\.00 ", got.out)


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ((), "one run cannot be compared"),
        (("--published", "nature"), "there is no published table 'nature'"),
        (("--published", "mmdocrag-views-20", "--by", "luck"), "does not print 'luck'"),
        (
            ("--published", "mmdocrag-views-20", "--judgements", "a", "--judgements", "b"),
            "2 files of judgements for 1 run;",
        ),
        (("--published", "mmdocrag-views-20", "--figure", "luck"), "there is no figure 'luck'; there are: recall@1"),
    ],
)
def test_wrong_use_is_told(
    more: tuple[str, ...], told: str, quoteweave: Quoteweave, gold: Path, runs: tuple[Path, Path]
) -> None:
    got = quoteweave("eval", "compare", runs[0], "--dataset", "mmdocrag-20", "--references", gold, *more)
    assert got.code == 2
    assert told in got.err
