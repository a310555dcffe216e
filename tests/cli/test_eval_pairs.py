"""`quoteweave eval pairs` and `quoteweave eval statistics`."""

import re
from pathlib import Path

import pytest
from builders import write_json_lines
from command_line import Quoteweave
from made_collections import make_collection


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[object]:
    monkeypatch.setenv("COLUMNS", "100")
    gold = tmp_path / "gold.jsonl"
    lines = [{"q_id": n, "gold_quotes": ["text1", "image2"], "answer_short": "x"} for n in range(20)]
    write_json_lines(gold, lines)
    runs = []
    for name, said, tokens in (("base", "Yes [1] [3].", 100), ("tuned", "Yes [1]. ![it](image2)", 50)):
        runs.append(tmp_path / f"{name}.jsonl")
        rows = [{"q_id": n, "response": said, "in_tok": 10, "out_tok": tokens} for n in range(20)]
        write_json_lines(runs[-1], rows)
    return [*runs, "--dataset", "mmdocrag-20", "--references", gold]


def test_a_pair_as_a_table_and_as_json(quoteweave: Quoteweave, asked: list[object]) -> None:
    shown = quoteweave("eval", "pairs", *asked, "--layout", "thinking")
    assert shown.code == 0, shown.err
    assert "From thinking to not thinking" in shown.out
    assert "−50.0" in shown.out
    found = quoteweave("eval", "pairs", *asked, "--layout", "thinking", "--json").json()
    assert (found["layout"], found["relative"], found["files"]) == ("thinking", True, [])
    (pair,) = found["pairs"]
    assert (pair["first"]["name"], pair["second"]["name"]) == ("base", "tuned")
    assert pair["changes"]["tokens.output"]["change"] == -0.5
    assert pair["changes"]["overall.f1"]["change"] == pytest.approx(1.0)


def test_a_pair_fits_a_terminal_of_usual_width(
    quoteweave: Quoteweave, asked: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    layout = ("--layout", "thinking", "--published", "mmdocrag-20")
    shown = quoteweave("eval", "pairs", *asked, *layout, "--printed", "Qwen2.5-72B-Inst", "--printed", "-").out
    assert re.search(r"^ +tokens out +overall F1 *$", shown, re.M), "a table, not a list"
    listed = quoteweave("eval", "pairs", *asked, "--layout", "thinking-full").out
    assert re.search(r"^  image F1 %: 100\.0 \(\d+\.\d–100\.0\)$", listed, re.M), "values are told from intervals"


def test_printed_rows_stand_beside_runs(quoteweave: Quoteweave, asked: list[object]) -> None:
    printed = ("--published", "mmdocrag-20", "--printed", "Qwen2.5-72B-Inst", "--printed", "-")
    shown = quoteweave("eval", "pairs", *asked, "--layout", "fine-tuning", *printed)
    assert "printed: Qwen2.5-72B-Inst" in shown.out
    assert "59.1" in shown.out


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (("--published", "mmdocrag-20"), "give both, or neither"),
        (("--printed", "GPT-4.1"), "give both, or neither"),
        (("--published", "mmdocrag-20", "--printed", "Qwen2.5-72B-Inst"), "1 row of --printed for 2 runs"),
    ],
)
def test_rows_that_do_not_fit_are_told(
    more: tuple[str, ...], told: str, quoteweave: Quoteweave, asked: list[object]
) -> None:
    got = quoteweave("eval", "pairs", *asked, "--layout", "fine-tuning", *more)
    assert (got.code, told in got.err) == (2, True), got.err


def test_a_dataset_and_a_collection_are_counted(
    quoteweave: Quoteweave, asked: list[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("QUOTEWEAVE_COLLECTION", raising=False)
    make_collection(tmp_path, {"a.txt": ["some text"] * 3, "b.txt": ["text"]}).close()
    out, both = tmp_path / "out", [*asked[2:], "-c", tmp_path / "collection"]
    found = quoteweave("eval", "statistics", *both, "--out", out, "--json").json()
    dataset, collection = found["statistics"]
    assert (dataset["counts"]["questions"], dataset["gold_at"]) == (20, {"text1": 20, "image2": 20})
    assert (collection["counts"]["documents"], collection["counts"]["text quotes"]) == (2, 4)
    assert collection["distributions"]["words per text quote"]["total"] == 7
    assert str(out / "plots" / "2-documents.svg") in found["files"]
    shown = quoteweave("eval", "statistics", *asked[2:])
    assert "Questions by number of gold quotes" in shown.out


def test_nothing_to_count_is_told(quoteweave: Quoteweave, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("QUOTEWEAVE_COLLECTION", raising=False)
    got = quoteweave("eval", "statistics")
    assert (got.code, "name what is to be counted" in got.err) == (2, True)
