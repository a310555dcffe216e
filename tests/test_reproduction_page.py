"""docs/reproduction.md has a row for each table and figure of the papers whose text is at hand, and no empty cell."""

import re
from pathlib import Path

import pytest

from quoteweave.cli.app import COMMANDS
from quoteweave.evaluation.datasets import DATASETS
from quoteweave.pipeline.presets import list_presets

PAGE = (Path(__file__).parents[1] / "docs" / "reproduction.md").read_text("utf-8")
VERDICT = re.compile(r"(?:reproduced|runs|data|not here)\b[:, ]")


def rows(paper: str) -> dict[str, str]:
    """The cells of a paper's table: what it is of, and what becomes of it here."""
    section = re.search(rf"^## {re.escape(paper)}.*?\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE)
    assert section is not None
    cells = [re.split(r"\s*\|\s*", line.strip("| ")) for line in section[1].splitlines() if line.startswith("| ")]
    assert all(len(row) == 3 and all(row) for row in cells[1:]), "an empty cell"
    return {row[0]: row[2] for row in cells[1:]}


def numbers(kind: str, names: list[str]) -> set[int]:
    """The numbers of the tables or figures that these names tell."""
    all_numbers: set[int] = set()
    for name in names:
        for listed in re.findall(rf"{kind}s? ([\d, to]+)", name):
            first = [int(number) for number in re.findall(r"\d+", listed)]
            all_numbers |= set(range(first[0], first[-1] + 1)) if "to" in listed else set(first)
    return all_numbers


@pytest.mark.parametrize(
    ("paper", "tables", "figures"), [("MMDocRAG", 14, 12), ("MCiteBench", 14, 10), ("CiteME", 8, 13)]
)
def test_each_table_and_figure_of_a_paper_has_a_row(paper: str, tables: int, figures: int) -> None:
    names = list(rows(paper))
    assert numbers("Table", names) == set(range(1, tables + 1))
    assert numbers("Figure", names) == set(range(1, figures + 1))


@pytest.mark.parametrize("paper", re.findall(r"^## (.*?) \(", PAGE, re.MULTILINE))
def test_each_row_says_what_becomes_of_it(paper: str) -> None:
    assert [name for name, outcome in rows(paper).items() if not VERDICT.match(outcome)] == []


def test_commands_datasets_and_presets_that_are_named_exist() -> None:
    commands = {
        command for command in re.findall(r"`(?:quoteweave )?([a-z]+)(?: [a-z]+)?[ `]", PAGE) if command in COMMANDS
    }
    assert {"run", "eval", "import", "sft"} <= commands
    evaluations = set(re.findall(r"`eval ([a-z]+)", PAGE))
    assert evaluations <= set(COMMANDS["eval"].commands)
    assert set(re.findall(r"--dataset ([\w-]+)", PAGE)) <= set(DATASETS)
    assert set(re.findall(r"--preset ([\w-]+)", PAGE)) <= {preset.name for preset in list_presets()}
