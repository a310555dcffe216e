"""Why quotes rank where they do: on the terminal, in JSON, and on the answer page."""

import re
from pathlib import Path

import pytest
from command_line import Quoteweave

QUESTION = "How many vessel calls does Figure 1 show, on page two? Answer as an integer in list format."


@pytest.fixture
def folder(tmp_path: Path, quoteweave: Quoteweave) -> Path:
    (tmp_path / "port.md").write_text("# Merrow\n\n## Ships\n\nVessel calls rose.\n\n## Timber\n\nTonnes of oak.\n")
    quoteweave("add", tmp_path / "port.md", "-c", tmp_path / "c")
    return tmp_path


def test_search_says_what_speaks_for_each_quote(folder: Path, quoteweave: Quoteweave) -> None:
    got = quoteweave("search", QUESTION, "-c", folder / "c", "--explain")
    assert "question read: refers to page 2, which was not found in the documents" in got.err
    assert "question read: only says how to answer: Answer as an integer in list format." in got.err
    lines = [line.strip() for line in got.out.splitlines()]
    assert any("words: " in line and "vessel" in line and "calls" in line for line in lines)
    plain = quoteweave("search", QUESTION, "-c", folder / "c")
    assert "words: " not in plain.out


def test_what_a_question_refers_to_and_the_document_does_not_have_is_said(folder: Path, quoteweave: Quoteweave) -> None:
    got = quoteweave("search", "What do page 1 and the appendix say of oak?", "-c", folder / "c", "--explain")
    assert "question read: refers to: page 1" in got.err
    assert "question read: refers to appendix, but no heading of that name was found" in got.err


def test_words_that_only_texts_have_are_not_said_to_be_missing(tmp_path: Path, quoteweave: Quoteweave) -> None:
    (tmp_path / "day.md").write_text(
        "# Day\n\nSession 1 begins at nine, by\narticle\n2 of the law.\n\nStep 3. Press it.\n"
    )
    quoteweave("add", tmp_path / "day.md", "-c", tmp_path / "c")
    question = "When does session 1 begin, and what do step 3, article 2 and session 3 say?"
    got = quoteweave("search", question, "-c", tmp_path / "c", "--explain")
    assert "question read: refers to session 3, but no heading of that name was found" in got.err
    assert got.err.count("refers to") == 1


def test_a_figure_that_is_nowhere_is_said_beside_what_is_found(folder: Path, quoteweave: Quoteweave) -> None:
    got = quoteweave("search", "Compare Figure 99 with page 1", "-c", folder / "c", "--explain")
    assert "question read: refers to: page 1\n" in got.err
    assert "question read: refers to figure 99, which was not found in the documents" in got.err


def test_json_has_the_reasons_by_quote(folder: Path, quoteweave: Quoteweave) -> None:
    found = quoteweave("search", "vessel calls", "-c", folder / "c", "--explain", "--json").json()
    reasons = found["trace"]["reasons"][found["hits"][0]["quote_id"]]
    assert {"words", "best quote"} <= {reason["part"] for reason in reasons}
    assert [reason["points"] for reason in reasons] == sorted((r["points"] for r in reasons), reverse=True)
    assert next(reason for reason in reasons if reason["part"] == "words")["detail"] == "calls, vessel"
    assert quoteweave("search", "vessel calls", "-c", folder / "c", "--json").json()["trace"]["reasons"] == {}


def test_a_retriever_that_cannot_say_why_says_so(folder: Path, quoteweave: Quoteweave) -> None:
    got = quoteweave("search", "vessel calls", "-c", folder / "c", "--explain", "--retriever", "bm25")
    assert "This retriever does not say why its hits rank where they do" in got.err


def test_of_several_retrievers_each_says_its_rank(folder: Path, quoteweave: Quoteweave) -> None:
    got = quoteweave("search", "calls", "-c", folder / "c", "--explain", "--retriever", "bm25", "--retriever", "tfidf")
    assert {"bm25: rank 1", "tfidf: rank 1"} <= set(re.findall(r"\w+: rank 1", got.out))
    assert got.err == ""


def test_an_answer_says_it_below_each_quote_that_it_cites(folder: Path, quoteweave: Quoteweave) -> None:
    lines = quoteweave("ask", "What do vessel calls do?", "-c", folder / "c", "--explain").out.splitlines()
    cited = next(at for at, line in enumerate(lines) if line.startswith("[1]") and "port.md" in line)
    assert any(re.match(r" +\d\.\d\d  words: .*vessel", line) for line in lines[cited + 1 :])
    assert "words: " not in quoteweave("ask", "What do vessel calls do?", "-c", folder / "c").out


def test_the_answer_page_shows_why_on_demand(folder: Path, quoteweave: Quoteweave) -> None:
    page = folder / "answer.html"
    quoteweave("ask", "What rose, in <b>vessel calls</b>?", "-c", folder / "c", "--explain", "--html", page)
    html = page.read_text("utf-8")
    assert '<details class="why">' in html
    assert "<b>" not in html
    quoteweave("ask", "What rose?", "-c", folder / "c", "--html", page)
    assert '<details class="why">' not in page.read_text("utf-8")
