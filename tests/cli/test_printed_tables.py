"""Tables on narrow and wide terminals: every number and every name is shown whole, in any width."""

import io
import json
import re
from collections import Counter
from pathlib import Path

import pytest
from builders import write_json_lines
from command_line import Quoteweave
from hypothesis import given
from hypothesis import strategies as st
from made_collections import make_collection
from rich.console import Console

from quoteweave.cli.tables import make_table, show_table

ROOT = Path(__file__).parents[2]
NUMBERS = st.one_of(
    st.floats(-1000, 1000, allow_nan=False).map(lambda value: f"{value:.4f}"),
    st.integers(0, 10**12).map(lambda value: f"{value:,}"),
    st.tuples(st.floats(0, 100), st.floats(0, 100)).map(lambda pair: f"{pair[0]:.1f}\n({pair[0]:.1f}-{pair[1]:.1f})"),
)
WORDS = st.text(st.sampled_from("abc é漢[]/. "), max_size=40)


def shown(width: int, columns: int, rows: list[list[str]], words: list[str]) -> str:
    headings = [f"figure\n{'x' * number}" for number in range(columns)]
    table = make_table(["what", *headings, "told"], words=["what", "told"], title="A title of some words")
    for number, cells in enumerate(rows):
        table.add_row(words[number].replace("[", "("), *cells, words[number].replace("[", "("))
    out = Console(file=io.StringIO(), width=width, highlight=False)
    show_table(out, table)
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue()


@given(data=st.data(), width=st.integers(20, 200), columns=st.integers(1, 10))
def test_every_number_is_whole_in_every_width(data: st.DataObject, width: int, columns: int) -> None:
    rows = data.draw(st.lists(st.lists(NUMBERS, min_size=columns, max_size=columns), min_size=1, max_size=4))
    words = data.draw(st.lists(WORDS, min_size=len(rows), max_size=len(rows)))
    printed = shown(width, columns, rows, words)
    due = Counter(part for cells in rows for cell in cells for part in cell.split())
    assert Counter(part for part in printed.split() if re.search(r"\d", part)) == due
    letters = Counter("".join(words)) - Counter(" ")
    assert all(printed.count(letter) >= 2 * count for letter, count in letters.items() if letter in "bé漢/")


def numbers(text: str) -> Counter[str]:
    return Counter(re.findall(r"-?\d[\d.,]*", text))


@pytest.fixture
def comparing(tmp_path: Path) -> list[object]:
    gold, runs = tmp_path / "gold.jsonl", [tmp_path / "good.jsonl", tmp_path / "bad.jsonl"]
    lines = [{"q_id": n, "gold_quotes": ["text1", "image2"], "answer_short": "x"} for n in range(20)]
    write_json_lines(gold, lines)
    for run, said in zip(runs, ("Yes [1]. ![it](image2)", "Yes [1] [3]."), strict=True):
        run.write_text("".join(json.dumps({"q_id": n, "response": said}) + "\n" for n in range(20)))
    return [*runs, "--dataset", "mmdocrag-20", "--references", gold]


WIDTHS = (20, 33, 48, 60, 68, 71, 73, 75, 80, 91, 120)


def test_a_heading_that_a_table_cuts_is_whole_beside_its_value() -> None:
    table = make_table(["figure", "differ-\nence"], words=["figure"])
    table.add_row("overall.f1", "-7.81")
    out = Console(file=io.StringIO(), width=10, highlight=False)
    show_table(out, table)
    assert isinstance(out.file, io.StringIO)
    assert "difference: -7.81" in out.file.getvalue()


def test_scores_are_whole_in_every_width(
    quoteweave: Quoteweave, comparing: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = (
        ["eval", "compare", *comparing, "--published", "mmdocrag-20"],
        ["eval", "score", *comparing[:1], *comparing[2:]],
    )
    for command in commands:
        monkeypatch.setenv("COLUMNS", "300")
        wide = quoteweave(*command)
        assert wide.code == 0, wide.err
        for width in WIDTHS:
            monkeypatch.setenv("COLUMNS", str(width))
            narrow = quoteweave(*command)
            assert "…" not in narrow.out
            assert numbers(wide.out) - numbers(narrow.out) == Counter()


def test_documents_and_models_are_whole_in_every_width(
    quoteweave: Quoteweave, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "reports/a-name-that-is-longer-than-a-narrow-terminal-is-wide-2024.txt"
    make_collection(tmp_path, {name: ["text"] * 1234, "b.txt": ["text"]}).close()
    for width in WIDTHS:
        monkeypatch.setenv("COLUMNS", str(width))
        listed = quoteweave("list", "-c", tmp_path / "collection").out
        assert "1234" in listed
        assert name in listed
        models = quoteweave("models")
        assert "…" not in listed + models.out
        assert {"1.34", "0.88", "768"} <= set(models.out.split())


def test_all_tables_are_shown_in_this_way() -> None:
    others = [path for path in (ROOT / "quoteweave" / "cli").rglob("*.py") if path.name != "tables.py"]
    assert [
        path.name for path in others if re.search(r"\bTable\(|Table\.grid|add_column", path.read_text("utf-8"))
    ] == []
