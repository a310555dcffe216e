from collections.abc import Sequence
from pathlib import Path

import pytest
from command_line import Quoteweave
from made_collections import made_quote, make_collection, stored_collection

from quoteweave.core.records import Quote

HIT_KEYS = [
    *("rank", "score", "quote_id", "document", "page", "page_label", "bbox"),
    *("kind", "layout", "section", "has_pages", "text", "image"),
]


@pytest.fixture
def port(tmp_path: Path) -> Path:
    """A collection of two documents, one of which has a name and text that look like markup."""
    documents: dict[str, list[Quote] | list[str]] = {
        "[bold]x[/].md": ["Grain in [red]silos[/red] \x1b[31mby\x1b]0;title\x07 ship."],
        "b.pdf": [made_quote("Grain by rail.", page=n) for n in range(5)]
        + [made_quote("Berths", page=2, layout="chart", caption="Figure 1: Grain")],
    }
    return stored_collection(tmp_path, documents)


def pages(hits: Sequence[dict[str, object]]) -> list[object]:
    return sorted({hit["page"] for hit in hits}, key=str)


def test_json_has_the_documented_keys_and_nothing_else_is_on_stdout(quoteweave: Quoteweave, port: Path) -> None:
    got = quoteweave("search", "grain", "-c", port, "--json")
    assert (got.code, got.err) == (0, "")
    value = got.json()
    assert list(value) == ["question", "hits", "trace"]
    assert list(value["trace"]) == [
        "clauses",
        "notes",
        "interpretation",
        "reasons",
        "candidates",
        "expander",
        "reranker",
        "seconds",
        "standalone_question",
        "rewritten_by",
    ]
    assert value["question"] == "grain"
    assert all(list(hit) == HIT_KEYS for hit in value["hits"])
    assert [hit["rank"] for hit in value["hits"]] == list(range(1, 8))
    chart = next(hit for hit in value["hits"] if hit["kind"] == "image")
    assert (chart["document"], chart["page"], chart["page_label"]) == ("b.pdf", 2, "3")
    assert (chart["bbox"], chart["layout"], chart["image"]) == ([72, 72, 540, 90], "chart", None)
    assert chart["text"] == "Figure 1: Grain\nBerths"


def test_the_path_of_a_crop_is_given(quoteweave: Quoteweave, sample_collection: Path) -> None:
    got = quoteweave("search", "vessel calls", "-c", sample_collection, "--kind", "image", "-k", 1, "--json")
    (hit,) = got.json()["hits"]
    assert Path(hit["image"]).is_file()


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (["--doc", "b.pdf", "--pages", "3"], [2]),
        (["--doc", "b.pdf", "--pages", "2-4"], [1, 2, 3]),
        (["--pages", " 4 - 9 "], [3, 4]),
        (["--kind", "image"], [2]),
        (["--doc", "[bold]x[/].md"], [0]),
        (["--doc", "[bold]x[/].md", "--doc", "b.pdf", "--pages", "5-999999999"], [4]),
        (["--meta", "year=2023"], []),
    ],
)
def test_options_narrow(options: list[str], found: list[int], quoteweave: Quoteweave, port: Path) -> None:
    got = quoteweave("search", "grain", "-c", port, "--json", *options)
    assert got.code == 0
    assert pages(got.json()["hits"]) == found


def test_k_is_the_most_that_is_given(quoteweave: Quoteweave, port: Path) -> None:
    assert len(quoteweave("search", "grain", "-c", port, "-k", 2, "--json").json()["hits"]) == 2
    assert quoteweave("search", "grain", "-c", port, "-k", 0).code == 2


@pytest.mark.parametrize("pages", ["0", "x", "3-", "-3", "4-2", "1-2-3", "1.5", "99999999999999999999", ""])
def test_pages_that_cannot_be_read(pages: str, quoteweave: Quoteweave, port: Path) -> None:
    got = quoteweave("search", "grain", "-c", port, f"--pages={pages}", "--json")
    assert (got.code, got.out) == (2, "")
    assert got.err.startswith(f"error: --pages {pages!r}")


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--kind", "table"], "'table' is not one of 'text', 'image'"),
        (["--meta", "year"], "error: --meta 'year': write it as KEY=VALUE"),
        (["--meta", "=2023"], "error: --meta '=2023': write it as KEY=VALUE"),
        (["--retriever", "dense"], "error: there is no retriever 'dense'; choose one of: lexical, bm25, tfidf"),
        (["--doc", "B.PDF"], "error: no document is named 'B.PDF'; did you mean 'b.pdf'?"),
    ],
)
def test_wrong_use_is_told_on_stderr(options: list[str], complaint: str, quoteweave: Quoteweave, port: Path) -> None:
    got = quoteweave("search", "grain", "-c", port, "--json", *options)
    assert (got.code, got.out) == (2, "")
    assert complaint in got.err


def test_text_that_is_no_unicode_is_refused(quoteweave: Quoteweave, port: Path) -> None:
    for arguments in (["\udcff"], ["grain", "--doc", "\udcff"], ["grain", "--meta", "a=\udcff"]):
        got = quoteweave("search", *arguments, "-c", port)
        assert (got.code, got.out) == (2, "")
        assert "it is not valid text" in got.err


def test_text_of_documents_is_printed_as_it_is_but_cannot_steer_the_terminal(
    quoteweave: Quoteweave, port: Path
) -> None:
    got = quoteweave("search", "grain", "-c", port)
    assert got.code == 0
    assert "[bold]x[/].md, page 1" in got.out
    assert "Grain in [red]silos[/red] [31mby]0;title ship." in got.out
    assert "b.pdf, page 3  chart" in got.out
    assert "\x1b" not in got.out
    assert "\x07" not in got.out


def test_a_long_quote_is_cut(quoteweave: Quoteweave, tmp_path: Path) -> None:
    make_collection(tmp_path, {"a.txt": ["grain " * 100]}).close()
    shown = quoteweave("search", "grain", "-c", tmp_path / "collection").out.splitlines()[1].strip()
    assert len(shown) == 160
    assert shown.endswith("grain gra…")


@pytest.mark.parametrize("as_json", [True, False])
def test_finding_nothing_is_no_error(as_json: bool, quoteweave: Quoteweave, port: Path) -> None:
    got = quoteweave("search", "zeppelin", "-c", port, *(["--json"] if as_json else []))
    assert got.code == 0
    if as_json:
        assert (got.json()["question"], got.json()["hits"]) == ("zeppelin", [])
    else:
        assert (got.out, got.err) == ("", "nothing found\n")
        here = quoteweave("search", "grain", "-c", port, "--pages", "77")
        assert "nothing found; --pages counts the pages of a file from 1" in here.err
        asked = quoteweave("ask", "How much grain is there?", "-c", port, "--pages", "77")
        assert "note: --pages counts the pages of a file from 1" in asked.err


def test_no_collection_is_told_with_the_command_that_makes_one(quoteweave: Quoteweave, tmp_path: Path) -> None:
    got = quoteweave("search", "grain", "-c", tmp_path / "none", "--json")
    assert (got.code, got.out) == (1, "")
    assert (
        got.err
        == f"error: no collection is at {tmp_path}/none; make one with: quoteweave add PATH -c {tmp_path}/none\n"
    )
    assert not (tmp_path / "none").exists()


def test_a_question_of_a_thousand_words_is_not_echoed_whole(quoteweave: Quoteweave, port: Path) -> None:
    got = quoteweave("search", "grain " * 1_000, "-c", port, "--expand", "rules")
    assert got.code == 0
    assert got.err == f"searched for: {('grain ' * 20)[:80]} …\n"


def test_a_collection_without_quotes_is_no_collection_about_something_else(
    quoteweave: Quoteweave, tmp_path: Path
) -> None:
    make_collection(tmp_path, {"a.txt": []}).close()
    for command in ("search", "ask"):
        got = quoteweave(command, "grain", "-c", tmp_path / "collection")
        assert "no document of the collection has any quotes" in got.err


def test_the_lines_of_a_hit_begin_behind_its_rank(
    quoteweave: Quoteweave, port: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    lines = quoteweave("search", "grain by rail", "--doc", "b.pdf", "-k", "1", "-c", port).out.splitlines()
    assert lines[0].startswith(" 1  b.pdf, page 1")
    assert len(lines) > 2
    assert all(line.startswith("    ") and line[4] != " " and not line.endswith(" ") for line in lines[1:])
