"""The table of docs/changing.md leads to every file that a new thing changes.

What there is already of a kind stands for the new thing: wherever the code names that one, the row links to the file or
names its folder. `apart` are folders of other things that name it too. All fifteen rows are complete in this sense.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "quoteweave"
TABLE = (ROOT / "docs" / "changing.md").read_text("utf-8")


def row_of(new: str) -> str:
    (row,) = re.findall(rf"^\| {re.escape(new)}.*$", TABLE, re.MULTILINE)
    return str(row)


def places_in(row: str) -> set[str]:
    """Paths of the files to which a row links, and of the folders that it names, relative to the package."""
    files = re.findall(r"\]\(\.\./quoteweave/([^)]+)\)", row)
    return {*files, *re.findall(r"`([a-z_/]+/)`", row)}


@pytest.mark.parametrize(
    ("new", "named", "apart"),
    [
        ("layout type", r'layout\w*\b.*"caption"|"title".*"caption"', ("evaluation/", "pipeline/runs/")),
        ("vector store", r"\bmilvus\b|MILVUS", ("index/milvus/",)),
        ("gate rule", r"\bcheck_(?:sentence|citations)\(", ("attribution/",)),
        ("metric with a judge", r"\bJudgeScores\b", ()),
        ("dataset", r"\bload_citevqa\b", ()),
        ("answer block", r"\bImageBlock\b|\banswer\.blocks\b", ("testing/",)),
        ("source of papers", r'^(?!.*>>>).*"openalex"', ("testing/",)),
        ("chat vendor", r"import OpenAIChat$|\bdef check_address\(", ()),
        ("form of answers for another system", r"\bopenai_responses\b|\berror_format_of\b", ()),
        ("export", r'"docx"', ()),
        ("parser for slides", r"Format\.PNG", ()),
        ("permission for a document", r"\bwhere\.admits\(", ()),
        ("stop words of a language", r"^STOP_WORDS\b", ()),
        ("kind of question", r'\breading\.asks (?:==|in|not in)|\bAnswerType\b|"reckon"', ()),
        ("sign that a page answers", r'"front page"', ()),
    ],
)
def test_a_row_names_every_file_that_knows_one_of_its_kind(new: str, named: str, apart: tuple[str, ...]) -> None:
    places = places_in(row_of(new))
    assert places
    knowing = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if re.search(named, path.read_text("utf-8"), re.MULTILINE)
    }
    assert knowing
    folders = (*apart, *(place for place in places if place.endswith("/")))
    assert [path for path in sorted(knowing - places) if not path.startswith(folders)] == []
