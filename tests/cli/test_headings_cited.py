"""Documents without pages are cited by their headings wherever a place is shown to people."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from quoteweave.cli.app import app

LIMITS = """<title>Limits</title><h1>Limits In Stores</h1><p>Limits are explained here.</p>
<h2>Maximum Number Of Columns</h2><p>The maximum number of columns in a table is 2000 by default.</p>
<h2>Maximum Length Of A Statement</h2><p>A statement holds a million bytes at most.</p>"""
QUESTION = "What is the maximum number of columns in a table?"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "limits.html").write_text(LIMITS)
    result = CliRunner().invoke(app, ["add", str(tmp_path / "docs"), "-c", str(tmp_path / "c")])
    assert result.exit_code == 0, result.output
    return tmp_path


def run(*words: str) -> str:
    result = CliRunner().invoke(app, list(words))
    assert result.exit_code == 0, result.output
    return result.stdout


def test_search_show_and_ask_name_the_heading(folder: Path) -> None:
    collection = str(folder / "c")
    assert "limits.html, Maximum Number Of Columns" in run("search", QUESTION, "-c", collection)
    answer = run("ask", QUESTION, "-c", collection)
    assert "This is from “Maximum Number Of Columns” of limits.html." in " ".join(answer.split())
    assert "limits.html, Maximum Number Of Columns" in answer
    assert "page 1" not in answer


def test_json_has_the_section_beside_the_page(folder: Path) -> None:
    told = json.loads(run("ask", QUESTION, "-c", str(folder / "c"), "--json"))
    citation = told["citations"][0]
    assert (citation["page"], citation["page_label"], citation["section"], citation["has_pages"]) == (
        0,
        "1",
        "Maximum Number Of Columns",
        False,
    )


def test_the_answer_page_names_the_heading(folder: Path) -> None:
    run("ask", QUESTION, "-c", str(folder / "c"), "--html", str(folder / "answer.html"))
    page = (folder / "answer.html").read_text()
    assert 'aria-label="Citation 1' in page
    assert ": limits.html, Maximum Number Of Columns" in page
    assert "page <bdi>1" not in page
