"""Who wrote a document, when, and what it is called: by what stands above its text, and by nothing else."""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from builders import make_context

from quoteweave.collection.collection import Collection
from quoteweave.core.answers import Answer
from quoteweave.core.records import Filter
from quoteweave.core.text.structure_questions import read_front_matter_request
from quoteweave.documents.ingest import add
from quoteweave.generation.extractive import ExtractiveGenerator
from quoteweave.generation.extractive.whole_document.front_matter_answer import front_matter_answer
from quoteweave.pipeline.rag import Rag
from quoteweave.pipeline.search import Search
from quoteweave.retrievers.lexical import LexicalRetriever

PROSE = (
    "The tides of the sound were gauged at nine piers for two years, and the heights that were found there are told",
    "in this paper together with the winds of each day and with the hours at which the ferries were late by them.",
)
Line = tuple[str, int, str]
"""Font, left edge in points, and text; lines that follow each other at 14 points are one block."""


def write_pdf(path: Path, blocks: Sequence[Sequence[Line]]) -> Path:
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(path))
    y = 760.0
    for block in blocks:
        for font, left, text in block:
            canvas.setFont(font, 18 if font == "Helvetica-Bold" else 11)
            canvas.drawString(left, y, text)
            y -= 14
        y -= 26
    canvas.save()
    return path


def paper(title: str, *below: Sequence[str]) -> list[list[Line]]:
    heading: list[Line] = [("Helvetica-Bold", 72, title)]
    return [heading, *([("Helvetica", 72, line) for line in block] for block in (*below, PROSE))]


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collection]:
    folder = tmp_path_factory.mktemp("papers")
    write_pdf(
        folder / "tides.pdf",
        paper(
            "Tides of the Sound",
            ["Ada Brask*, Jon van Dell2 and M. C. Okoro", "University of Tolland", "brask@tolland.example"],
            ["3 May 2019"],
            ["Abstract"],
        ),
    )
    write_pdf(folder / "wrecks.pdf", paper("Wrecks off Skarn", ["BY Lea Holm and Per Ost"], ["Skarn Quay"]))
    write_pdf(folder / "guide.pdf", paper("Harbour Guide", ["Skarn Authority", "Tolland Sound"], ["Ferry Times"]))
    with Collection.create(folder / "made") as made:
        add(made, [folder / name for name in ("tides.pdf", "wrecks.pdf", "guide.pdf")])
        yield made


def ask(collection: Collection, question: str, document: str | None = None) -> Answer:
    search = Search(LexicalRetriever(collection), collection=collection)
    where = Filter(documents=(document,)) if document else None
    return Rag(search, ExtractiveGenerator(), where=where).answer(question)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Who wrote it?", "Ada Brask, Jon van Dell and M. C. Okoro"),
        ("What are the names of the authors?", "Ada Brask, Jon van Dell and M. C. Okoro"),
        ("When was this paper published?", "3 May 2019"),
        ("What is the title of this document?", "Tides of the Sound"),
        ("Which institution are the authors from?", "University of Tolland"),
        ("What is the e-mail address of the author?", "brask@tolland.example"),
    ],
)
def test_the_front_matter_answers_what_is_asked_of_the_document(
    collection: Collection, question: str, said: str
) -> None:
    answer = ask(collection, question, "tides.pdf")
    assert answer.status == "answered"
    assert answer.text.splitlines()[0] == f"{said} {answer.citations[0].mark}."
    assert all(citation.page == 0 for citation in answer.citations)


def test_names_after_by_are_the_authors_and_a_place_below_them_is_none(collection: Collection) -> None:
    assert ask(collection, "Who wrote this report?", "wrecks.pdf").text.startswith("Lea Holm and Per Ost [")


@pytest.mark.parametrize("question", ["Who wrote it?", "Who is the author of this guide?", "When was it published?"])
def test_lines_that_may_be_anything_are_shown_and_not_called_authors(collection: Collection, question: str) -> None:
    answer = ask(collection, question, "guide.pdf")
    assert answer.status == "located"
    assert "Harbour Guide" in answer.text


def test_of_several_documents_the_one_that_is_named_is_meant(collection: Collection) -> None:
    assert ask(collection, "Who wrote the paper on wrecks?").text.startswith("Lea Holm and Per Ost [")
    assert ask(collection, "Who wrote it?").text.startswith("Which document is meant?")
    assert ask(collection, "Who wrote the paper on lighthouses?").status != "answered"


def test_names_that_raised_letters_touch_are_not_given(tmp_path: Path) -> None:
    written = write_pdf(tmp_path / "rain.pdf", paper("Rain", ["Yun Gaoa , Xi Diab , Bo Panc"], ["Abstract"]))
    with Collection.create(tmp_path / "made") as made:
        add(made, [written])
        assert ask(made, "Who wrote it?").status == "located"


@pytest.mark.parametrize("role", ["Keynote Speakers", "Members of the Committee", "Editors"])
def test_those_below_a_role_are_no_authors_and_a_day_alone_is_no_date(tmp_path: Path, role: str) -> None:
    below = [role], ["Lea Holm and Per Ost", "University of Tolland"], ["3 May 2019"]
    written = write_pdf(tmp_path / "fair.pdf", paper("Ferry Conference", *below))
    with Collection.create(tmp_path / "made") as made:
        add(made, [written])
        for question in ("Who wrote it?", "When was it published?"):
            assert ask(made, question).status == "located"


@pytest.mark.parametrize("line", ["Ada" + "-Bo" * 40 + " Holm!", "{" + "a," * 50_000, "a" * 100_000, "A." * 50_000])
def test_a_long_line_is_read_in_no_time(line: str) -> None:
    given = make_context(line)
    given = given.model_copy(update={"front_matter": {given.texts[0].quote.id: (line,)}})
    start = time.perf_counter()
    for question in ("Who wrote it?", "When was it published?", "What is the e-mail address of the author?"):
        assert front_matter_answer(question, given, "made") is None
    assert time.perf_counter() - start < 5


@pytest.mark.parametrize(
    "question",
    [
        "How many authors are there?",
        "When was the bridge built?",
        "Who published it?",
        "What is the title of section 3?",
        "Is Ada Brask the author?",
        "Which e-mail address should I write to?",
        "What does the author say?",
        "Summarise what the authors say",
        "Tell me about the author",
        "Where do the authors come from?",
        "Who is not the author?",
        "Who isn't an author?",
        "What works do the authors name?",
        "What title does the author have?",
        "Whom does the author mention?",
        "Who gave it the title?",
        "Who wrote it and when was it published?",
        "Who wrote it? In which year was it published?",
        "What are the title and the author of this paper?",
        "What was released?",
    ],
)
def test_other_questions_are_not_about_the_front_matter(question: str) -> None:
    assert read_front_matter_request(question) is None


@pytest.mark.parametrize(
    ("question", "part"),
    [
        ("List the authors", "author"),
        ("What is the author's name?", "author"),
        ("By whom was it written?", "author"),
        ("When was it written?", "date"),
        ("What is the publication date of this paper?", "date"),
        ("In which year was it released?", "date"),
        ("Which university do the authors come from?", "institution"),
        ("¿Quién es el autor?", "author"),
        ("Nenne die Autoren", "author"),
    ],
)
def test_a_question_for_a_part_of_the_front_matter_is_read(question: str, part: str) -> None:
    request = read_front_matter_request(question)
    assert request is not None
    assert (request.part, request.document_words) == (part, ())


@pytest.mark.parametrize("question", ["What does the author say?", "Who does the author work with?"])
def test_what_an_author_does_is_not_answered_by_names(collection: Collection, question: str) -> None:
    assert "Ada Brask" not in ask(collection, question, "tides.pdf").text


def test_a_part_or_another_thing_is_named_in_the_request() -> None:
    request = read_front_matter_request("Who wrote the foreword?")
    assert request is not None
    assert request.document_words == ("foreword",)
    german, french = (read_front_matter_request(text) for text in ("Wer sind die Autoren?", "Qui a écrit ce rapport?"))
    assert german is not None
    assert french is not None
    assert (german.document_words, french.document_words) == ((), ())
