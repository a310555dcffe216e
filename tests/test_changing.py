"""The lists of docs/changing.md lead to every file that names a thing of the same kind as the new one.

What there is already stands for the new thing: each file in which a pattern finds it has to be linked in the list, or
to lie in a folder that the list names. `apart` are folders of other things that are named alike. A file that has to
change without naming such a thing is not found so: the patterns name what such files share, as far as they do.
"""

import re
from pathlib import Path

import pytest

from quoteweave.core.records import Filter

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "quoteweave"
PAGE = (ROOT / "docs" / "changing.md").read_text("utf-8")
SOURCES = {
    path.relative_to(PACKAGE).as_posix(): path.read_text("utf-8")
    for suffix in ("py", "js", "css", "toml")
    for path in PACKAGE.rglob(f"*.{suffix}")
}


def list_for(new: str) -> str:
    (section,) = re.findall(rf"^## {re.escape(new)}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    return str(section)


def places_in(text: str) -> set[str]:
    """Paths of the files to which a list links, and of the folders that it names, relative to the package."""
    files = re.findall(r"\]\(\.\./quoteweave/([^)]+)\)", text)
    return {*files, *re.findall(r"`([a-z_/]+/)`", text)}


@pytest.mark.parametrize(
    ("new", "named", "apart"),
    [
        (
            "Layout type",
            r'(?<!self)\.layout (?:==|!=|in|not)|layouts?\b.*"(?:caption|title)"|\b(?:IMAGE|BODY)_LAYOUTS\b|'
            r"HEADERS_AND_FOOTERS|\.(?:layout|written)-caption|\bPictureType\b|"
            r"\bquote\.layout\}|layout.?[:=] ?quote\.layout",
            ("evaluation/", "testing/"),
        ),
        (
            "Retriever, reranker or expander",
            r"\bSPARSE_RETRIEVERS\b|\bLoader\b|\bFUSION_RULES\b|def make_(?:expander|reranker)\b",
            (),
        ),
        (
            "Vector store",
            r"\bmilvus\b|MILVUS|EXACT_KINDS|SINGLE_VECTOR_KINDS",
            ("index/milvus/",),
        ),
        ("Gate rule", r"\bcheck_(?:sentence|citations)\(|\bapply_policy\(|\bStreamingFilter\(", ("testing/",)),
        (
            "Metric with a judge",
            r"\bJudgeScores\b|\b(?:request|loaded|one)\.judgements\b|\bjudgements: .*Option|\"judge\.(?!py)|"
            r"\bJudgesAnswers\[|\.judge\.average",
            (),
        ),
        ("Dataset", r"\bload_citevqa\b", ()),
        (
            "Answer block",
            r"\bImageBlock\b|\bImageEvent\b|\bTextBlock\b|\bimage_event\b|\banswer\.blocks\b|block\.type",
            (),
        ),
        ("Action of the agent", r"\bSearchSnippets\b", ()),
        ("Source of papers", r'^(?!.*>>>).*"openalex"', ("testing/",)),
        (
            "Chat vendor",
            r"import (?:OpenAI|Local)Chat$|\bcheck_address\(|def with_tools|\bopen_chat_model\(|\bLOCAL_PREFIX\b",
            (),
        ),
        ("Route", r"\broutes\.health\b|\bhealth\b.*router", ()),
        ("Form of answers for another system", r"\bopenai_responses\b|\berror_format_of\b|\bShownTextStream\(", ()),
        ("Export", r'"docx"|\bto_word\(|format=docx|\bcitevqa_answers\b|\bdef mteb_result\b', ()),
        ("Parser for slides", r"\bFormat\.PNG|\bPAGED_FORMATS\b|\b(?<!_)SUFFIXES\b|\bsniff\(", ()),
        (
            "Permission for a document",
            r"\bwhere\.admits\(|\bwhere\.first_page\b|\bfilters: Filter = Field|, Filter\(\)\)$",
            ("testing/", "cli/answers.py", "cli/hits.py"),  # these two only say how pages are counted
        ),
        (
            "Stop words of a language",
            r"^STOP_WORDS\b|\bFINGERPRINT\b|\bStemmer\b|^FORMAT\b|\bENGLISH_STOP_WORDS\b",
            (),
        ),
        ("Question about a document's structure", r"\bStructureKind\b", ()),
        ("Question about front matter", r"\bFrontMatterPart\b|\bFrontLine\b", ()),
        ("Language", r"^\[(?:de|fr)\]$|^_NEGATION\b|^_ENCLOSING\b", ()),
        ("Kind of question", r'\.asks (?:==|in|not in|!=)|\bAnswerType\b|"calculation"', ()),
        ("Sign that a page answers", r'"front page", self', ()),
    ],
)
def test_a_list_leads_to_every_file_that_knows_one_of_its_kind(new: str, named: str, apart: tuple[str, ...]) -> None:
    places = places_in(list_for(new))
    assert places
    # A search for a word's boundary tries every place, one for its letters only those where they begin.
    begun = re.sub(r"(^|\||\(\?:)\\b", r"\1", named)
    tried = [path for path, text in SOURCES.items() if re.search(begun, text, re.MULTILINE)]
    knowing = {path for path in tried if re.search(named, SOURCES[path], re.MULTILINE)}
    assert knowing
    folders = (*apart, *(place for place in places if place.endswith("/")))
    assert [path for path in sorted(knowing - places) if not path.startswith(folders)] == []


def test_the_table_has_a_row_for_each_list() -> None:
    rows = re.findall(r"^\| \[([^]]+)\]\(#([^)]+)\) \|", PAGE, re.MULTILINE)
    lists = re.findall(r"^## (.*)$", PAGE, re.MULTILINE)
    assert [name.capitalize() for name, _ in rows] == [heading.capitalize() for heading in lists]
    assert [anchor for _, anchor in rows] == [
        re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in lists
    ]


@pytest.mark.parametrize("path", ["collection/filters.py", "index/milvus/schema.py"])
def test_each_search_looks_at_every_field_of_a_filter(path: str) -> None:
    assert [field for field in Filter.model_fields if f"where.{field}" not in SOURCES[path]] == []
