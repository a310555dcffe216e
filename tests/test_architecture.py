"""What the README and the pages on the code say of it is there: each file, and each name in it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ARCHITECTURE = ROOT / "docs" / "architecture.md"
OF_THE_CODE = [ARCHITECTURE, ROOT / "docs" / "server.md", ROOT / "docs" / "changing.md"]
PAGES = [ROOT / "README.md", *OF_THE_CODE]

Links = list[tuple[str, Path]]


def links(text: str, folder: Path) -> Links:
    """The text of each link that leads to a file, and that file."""
    matches = re.findall(r"(?<!!)\[([^\]]+)\]\((?!https?:)([^)#]+)[^)]*\)", text)
    return [(shown, (folder / target).resolve()) for shown, target in matches]


def names_in(body: list[ast.stmt]) -> Iterator[str]:
    """The names that a module or class defines, those of its classes as `Class.name`."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.ClassDef):
            yield node.name
            yield from (f"{node.name}.{name}" for name in names_in(node.body))
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_to_files_that_are_called_so(page: Path) -> None:
    page_links = links(page.read_text("utf-8"), page.parent)
    assert page_links
    assert [str(file) for _, file in page_links if not file.exists()] == []
    paths = [(shown.partition(":")[0], file) for shown, file in page_links if re.match(r"[\w/]+\.(?:py|toml)\b", shown)]
    assert [(shown, str(file)) for shown, file in paths if not f"/{file}".endswith(f"/{shown}")] == []


@pytest.mark.parametrize("page", OF_THE_CODE, ids=lambda page: page.stem)
def test_every_name_is_defined_in_the_file_that_it_links_to(page: Path) -> None:
    page_links = links(page.read_text("utf-8"), page.parent)
    named = [(name, file) for shown, file in page_links for name in re.findall(r"`([\w.]+)`", shown)]
    assert len(named) > 20
    missing = [
        (name, str(file.relative_to(ROOT)))
        for name, file in named
        if name not in set(names_in(ast.parse(file.read_text("utf-8")).body))
    ]
    assert missing == []


def test_the_architecture_draws_the_layers_that_are_checked() -> None:
    contract = (ROOT / "pyproject.toml").read_text("utf-8").partition("layers = [")[2].partition("]")[0]
    checked = [set(re.findall(r"quoteweave\.(\w+)", line)) for line in contract.splitlines() if "quoteweave" in line]
    drawing = ARCHITECTURE.read_text("utf-8").partition("```text\n")[2].partition("```")[0]
    assert [set(re.findall(r"\w+", line[:39])) for line in drawing.splitlines()] == checked
