"""`attribute` and `cite`: what they print, write and refuse."""

from pathlib import Path

import pytest
from command_line import Quoteweave
from made_collections import made_quote, make_collection, stored_collection

from quoteweave.cli.attribution import cite
from quoteweave.testing import ModelServer, Reply


@pytest.fixture
def port(tmp_path: Path) -> Path:
    quotes = [made_quote(f"In 202{n} the port shipped {n},210 tonnes of grain.", page=n) for n in range(2, 4)]
    return stored_collection(tmp_path, {"report.pdf": quotes})


def test_the_source_of_a_sentence_is_printed_with_its_passage(quoteweave: Quoteweave, port: Path) -> None:
    got = quoteweave("attribute", "The port shipped 3,210 tonnes of grain [CITATION].", "-c", port)
    assert (got.code, got.err) == (0, "")
    assert "supported by" in got.out
    assert "report.pdf, page 4" in got.out
    assert "In 2023 the port shipped 3,210 tonnes" in got.out


def test_a_long_passage_is_printed_from_the_sentence_that_is_like_the_claim(
    quoteweave: Quoteweave, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    sold = f"In 1999 it sold 812 loads of timber, {', '.join(f'{n} of wood {n}' for n in range(9))}."
    long = [made_quote(f"{'The harbour is old and has seen ships of every land. ' * 6}{sold}")]
    make_collection(tmp_path, {"report.pdf": long}).close()
    got = quoteweave("attribute", "It sold 812 loads of timber in 1999.", "-c", tmp_path / "collection")
    passage = got.out[got.out.index("      … In 1999 it sold 812 loads of timber") :].splitlines()
    assert "every land" not in got.out
    assert len(passage) > 1
    assert all(line.startswith("      ") for line in passage), "a line that is broken goes on below its beginning"


def test_what_is_not_found_is_said_with_the_reason(quoteweave: Quoteweave, port: Path) -> None:
    got = quoteweave("attribute", "The port shipped 8,888 tonnes of grain.", "-c", port)
    assert got.code == 0
    assert "not found; the closest passages are in" in got.out
    assert "8,888 tonnes does not occur in the passage." in got.out


def test_json_has_candidates_with_document_page_and_box(quoteweave: Quoteweave, port: Path) -> None:
    got = quoteweave("attribute", "The port shipped 3,210 tonnes of grain.", "-c", port, "--json")
    (found,) = got.json()["attributions"]
    assert list(found) == ["excerpt", "outcome", "reason", "candidates", "signals", "confidence", "trace"]
    best = found["candidates"][0]
    own = ["rank", "title", "identifiers", "score", "outcome", "coverage", "kind", "passage", "closest", "citation"]
    assert list(best) == [*own, "rejection", "paper", "read", "note"]
    assert best["closest"] in best["passage"]
    assert best["rejection"] is None
    assert (best["paper"], best["read"], best["note"]) == (None, None, None)
    assert (best["citation"]["document"], best["citation"]["page"]) == ("report.pdf", 3)
    assert len(best["citation"]["bbox"]) == 4


@pytest.mark.parametrize(
    ("says", "outcome", "status"), [("yes", "supported", "cited"), ("no", "not_found", "no_source")]
)
def test_a_model_confirms_passages_or_not(
    quoteweave: Quoteweave, port: Path, tmp_path: Path, says: str, outcome: str, status: str
) -> None:
    draft = tmp_path / "draft.md"
    draft.write_text("The port sent out 3,210 tonnes of grain.")
    with ModelServer(lambda _: Reply(text=f'{{"supported": "{says}"}}')) as server:
        check = ("--check", f"chat:judge@{server.base_url}", "--json")
        got = quoteweave("attribute", draft.read_text(), "-c", port, *check)
        cited = quoteweave("cite", draft, "-c", port, *check)
        asked = str(server.requests[0]["messages"])
    (found,) = got.json()["attributions"]
    assert (found["outcome"], found["candidates"][0]["citation"]["checker_verdict"]) == (outcome, says == "yes")
    assert "3,210 tonnes" in asked
    assert "are sent to 127.0.0.1" in got.err
    assert [one["status"] for one in cited.json()["sentences"]] == [status]


def test_the_page_is_written(quoteweave: Quoteweave, port: Path, tmp_path: Path) -> None:
    page = tmp_path / "new" / "source.html"
    got = quoteweave("attribute", "The port shipped 3,210 tonnes of grain.", "-c", port, "--html", page)
    assert str(page) in got.err
    assert "3,210 tonnes" in page.read_text("utf-8")


def test_an_empty_sentence_is_refused(quoteweave: Quoteweave, port: Path) -> None:
    got = quoteweave("attribute", " ", "-c", port)
    assert got.code == 2
    assert "no words" in got.err


def test_a_draft_is_printed_with_marks_and_what_was_not_cited_is_named(
    quoteweave: Quoteweave, port: Path, tmp_path: Path
) -> None:
    draft = tmp_path / "draft.md"
    draft.write_text("The port shipped 3,210 tonnes of grain.\n\nIt employs 9,411 people.\n\nThanks to all.\n")
    got = quoteweave("cite", draft, "-c", port)
    assert got.code == 0
    assert got.out.startswith(
        "The port shipped 3,210 tonnes of grain [1].\n\nIt employs 9,411 people.\n\nThanks to all.\n\n## References"
    )
    assert "1 sentence cited, from 1 passage" in got.err
    assert "1 sentence not looked up, as needing no source (--every-sentence looks up all)" in got.err
    assert "not cited, “It employs 9,411 people.”: Nothing in these documents has words of the claim" in got.err


def test_a_source_is_looked_for_of_every_sentence_where_that_is_asked_for(
    quoteweave: Quoteweave, port: Path, tmp_path: Path
) -> None:
    draft = tmp_path / "draft.md"
    draft.write_text("Thanks to all who helped.\n")
    got = quoteweave("cite", draft, "-c", port, "--every-sentence")
    assert "not looked up" not in got.err
    assert "not cited, “Thanks to all who helped.”" in got.err


def test_a_draft_is_written_to_a_file_and_described_as_json(quoteweave: Quoteweave, port: Path, tmp_path: Path) -> None:
    draft, out = tmp_path / "draft.txt", tmp_path / "cited.md"
    draft.write_text("The port shipped 3,210 tonnes of grain.\n")
    got = quoteweave("cite", draft, "-c", port, "--out", out, "--json")
    value = got.json()
    assert list(value) == ["draft", "form", "sentences", "references", "stopped", "text", "bibtex"]
    assert out.read_text("utf-8") == value["text"]
    assert [(one["status"], one["number"]) for one in value["sentences"]] == [("cited", 1)]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "cannot be read"),
        (b"\xff\xfe\x00", "no text in UTF-8"),
        (b"Gr\x00in", "byte 3 is 0"),
        (b"", "no words"),
        (b"Grain [3].", "numbered"),
    ],
)
def test_a_draft_that_cannot_be_cited_is_refused_with_the_reason(
    quoteweave: Quoteweave, port: Path, tmp_path: Path, content: bytes | None, said: str
) -> None:
    draft = tmp_path / "draft.md"
    if content is not None:
        draft.write_bytes(content)
    got = quoteweave("cite", draft, "-c", port)
    assert got.code == 2
    assert said in got.err


def test_no_more_of_a_draft_is_read_than_a_draft_may_have(
    quoteweave: Quoteweave, port: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cite, "MAX_DRAFT_BYTES", 2_000_000)
    got = quoteweave("cite", "/dev/zero", "-c", port)
    assert got.code == 2
    assert "/dev/zero has more than 2 MB, the most of a draft; split it" in got.err


def test_keys_are_set_and_their_entries_written_to_a_new_file(
    quoteweave: Quoteweave, port: Path, tmp_path: Path
) -> None:
    draft, bib, out = tmp_path / "draft.tex", tmp_path / "found.bib", tmp_path / "cited.tex"
    draft.write_bytes(b"The port shipped 3,210 tonnes of grain.\r\n")
    refused = quoteweave("cite", draft, "-c", port)
    assert (refused.code, "with --bib" in refused.err) == (2, True)
    got = quoteweave("cite", draft, "-c", port, "--bib", bib, "--out", out)
    assert got.code == 0
    assert out.read_bytes().startswith(b"The port shipped 3,210 tonnes of grain~\\cite{report}.\r\n\r\n% ")
    assert bib.read_text("utf-8").startswith("@misc{report,\n")
    again = quoteweave("cite", draft, "-c", port, "--bib", bib)
    assert (again.code, "is there already" in again.err) == (2, True)


def test_what_is_written_takes_the_place_of_a_file_whole(quoteweave: Quoteweave, port: Path, tmp_path: Path) -> None:
    draft, out, page = (tmp_path / name for name in ("draft.md", "cited.md", "page.html"))
    draft.write_text("The port shipped 3,210 tonnes of grain in 2023.")
    for path in (out, page):
        path.write_text("old")
        path.with_suffix(".old").hardlink_to(path)  # another name of the file, whose content must not change
    assert quoteweave("cite", draft, "-c", port, "--out", out, "--html", page).code == 0
    assert "[1]" in out.read_text("utf-8")
    assert [path.with_suffix(".old").read_text() for path in (out, page)] == ["old", "old"]
