"""The demo, over a copy of the sample collection, so that nothing has to be read again."""

import shutil
from pathlib import Path

import pytest
import typer
from command_line import Quoteweave

from quoteweave.cli.commands.demo import QUESTIONS
from quoteweave.core.answers import Answer, Context, ImageBlock
from quoteweave.documents.file_reading import FileIssue
from quoteweave.documents.ingest import AddReport


@pytest.fixture
def out(sample_collection: Path, tmp_path: Path) -> Path:
    shutil.copytree(sample_collection, tmp_path / "demo" / "collection")
    return tmp_path / "demo"


def test_the_answers_cite_the_right_pages_and_weave_in_a_picture(quoteweave: Quoteweave, out: Path) -> None:
    got = quoteweave("demo", "--out", out, "--json")
    assert (got.code, got.err) == (0, "0 sample documents added, 4 were there\n")
    answers = []
    for value in got.json():
        Context.model_validate(value.pop("context"))
        del value["trace"]
        answers.append(Answer.model_validate(value))
    assert tuple(answer.question for answer in answers) == QUESTIONS
    assert [answer.status for answer in answers] == ["answered", "answered", "answered", "located", "abstained"]
    harbour, notes, quarters, located, abstained = answers
    assert {(c.document, c.page, c.kind) for c in harbour.citations} == {
        ("harbour-report.pdf", 2, "text"),
        ("harbour-report.pdf", 2, "image"),
    }
    assert "1,058 vessel calls" in harbour.text
    (picture,) = [block for block in harbour.blocks if isinstance(block, ImageBlock)]
    assert picture.summary == "Vessel calls by quarter in 2022 and 2023"
    assert picture.image is not None
    assert {(c.document, c.page) for c in notes.citations} == {("field-notes-scan.pdf", 0)}
    assert "290 cm" in notes.text
    assert "July–September is the highest of 4 rows: 294" in quarters.text
    assert [citation.verdict for citation in quarters.citations] == ["unchecked"]
    assert located.citations[0].quote_id == picture.citation.quote_id
    assert abstained.citations == ()
    assert all(citation.evidence for answer in answers for citation in answer.citations)
    assert (out / "answers.html").read_text().count("<h2") >= 2


def test_a_sample_that_cannot_be_read_is_named(
    quoteweave: Quoteweave, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = AddReport(failed=(FileIssue(name="field-notes-scan.pdf", reason="OCR cannot be loaded"),))
    monkeypatch.setattr("quoteweave.cli.commands.demo.add_documents", lambda *_, **__: report)
    assert "document 'field-notes-scan.pdf' failed: OCR cannot be loaded\n" in quoteweave("demo", "--out", out).err


def test_people_see_questions_answers_and_where_the_page_is(
    quoteweave: Quoteweave, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    launched: list[str] = []
    monkeypatch.setattr(typer, "launch", launched.append)
    got = quoteweave("demo", "--out", out, "--open")
    assert got.code == 0
    for question in QUESTIONS:
        assert question in got.out
    assert "field-notes-scan.pdf, page 1" in got.out
    assert got.out.endswith(f"The answers beside their pages: {(out / 'answers.html').as_uri()}\n")
    assert launched == [str(out / "answers.html")]


def test_a_folder_that_holds_other_things_is_left_alone(quoteweave: Quoteweave, tmp_path: Path) -> None:
    (tmp_path / "collection").mkdir()
    (tmp_path / "collection" / "thesis.tex").write_text("")
    got = quoteweave("demo", "--out", tmp_path)
    assert (got.code, got.out) == (1, "")
    assert "holds other things ('thesis.tex')" in got.err
