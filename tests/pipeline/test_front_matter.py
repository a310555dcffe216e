"""Who wrote a document, when, and what it is called: by what stands above its text, and by nothing else."""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from builders import make_context

from quoteweave.collection.collection import Collection
from quoteweave.core.answers import C15, Answer, Context
from quoteweave.core.concurrency.sync_bridge import run_sync
from quoteweave.core.records import Filter, Query
from quoteweave.core.text.whole_document.front_matter_questions import read_front_matter_request
from quoteweave.documents.ingest import add
from quoteweave.generation.extractive.generator import ExtractiveGenerator
from quoteweave.generation.extractive.whole_document.front_matter_answer import front_matter_answer
from quoteweave.generation.extractive.whole_document.front_matter_lines import says_date
from quoteweave.generation.extractive.whole_document.front_matter_reader import FrontMatterReader, FrontQuote
from quoteweave.pipeline.filtered_pages import FilteredPages
from quoteweave.pipeline.rag import Rag
from quoteweave.pipeline.search import Search
from quoteweave.pipeline.whole_document.front_matter import add_front_matter
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
        ("Who wrote it? Answer briefly.", "Ada Brask, Jon van Dell and M. C. Okoro"),
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


@pytest.mark.parametrize(
    "question",
    ["Who wrote it and when?", "Who wrote it? In which year was it published?", "Wer hat es geschrieben, und wann?"],
)
def test_two_questions_for_the_front_matter_are_answered_together(collection: Collection, question: str) -> None:
    text = ask(collection, question, "tides.pdf").text
    assert text.startswith("- Ada Brask, Jon van Dell and M. C. Okoro [")
    assert "\n- 3 May 2019 [" in text


def test_of_two_questions_that_which_is_not_surely_answered_is_shown(tmp_path: Path) -> None:
    with written(tmp_path, rails="# Rails\n\nby Ada Brask\n\nRails are long.") as made:
        answer = ask(made, "Who wrote it and when?")
        assert answer.status == "answered"
        assert answer.text.startswith("Ada Brask [")
        assert "bear on what else is asked:" in answer.text


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


def test_what_is_said_of_several_documents_at_once_is_asked_of_one(tmp_path: Path) -> None:
    (tmp_path / "ice.md").write_text("# River ice\n\nShort notes.\n\n" + " ".join(PROSE) + "\n\nIt lasts.\n")
    (tmp_path / "boats.md").write_text(
        "# Boats\n\nBoats can be hired by the day at the quay, in all seasons of the year.\n"
    )
    with Collection.open_or_create(tmp_path / "c") as both:
        add(both, [tmp_path / "ice.md", tmp_path / "boats.md"])
        for question in ("What is this document about?", "What is it about?", "What are these documents about?"):
            assert ask(both, question).text.startswith("Which document is meant?")
        found = ask(both, "What is this about?", "ice.md")
    assert "The tides of the sound were gauged at nine piers" in found.text


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


@pytest.mark.parametrize(
    "line",
    [
        "by Oak Harbour" + " ·" * 500 + " x",
        "by Oak Harbour" + " , " * 600 + "x",
        "Ada" + "-Bo" * 40 + " Holm!",
        "{" + "a," * 50_000,
        "a" * 100_000,
        "A." * 50_000,
    ],
)
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
        "Who wrote it and when does the ferry leave?",
        "Who wrote it and who wrote the paper on wrecks?",
        "Who wrote it and when and when?",
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
    assert (request.parts, request.naming_words) == ((part,), ())


@pytest.mark.parametrize("question", ["What does the author say?", "Who does the author work with?"])
def test_what_an_author_does_is_not_answered_by_names(collection: Collection, question: str) -> None:
    assert "Ada Brask" not in ask(collection, question, "tides.pdf").text


@pytest.mark.parametrize(
    "question",
    [
        "Who wrote the foreword?",
        "Who wrote the foreword of this report?",
        "Who wrote a report?",
        "When was each report issued?",
        "Who wrote Hamlet?",
        "When was Hamlet written?",
        "When was the Kestrel router released?",
        "When were the harbour bonds issued?",
        "When is a fishing licence issued?",
        "What is the title of the chief of the firm?",
        "Who must give written notice?",
        "Who is this guide written for?",
        "For whom is this guide written?",
        "To whom was it written?",
        "Who wrote in?",
        "Who wrote with the author?",
        "When must the written report be made?",
        "When will the report be published?",
        "When is the report issued each year?",
        "What university did the authors of the paper study?",
        "What is the date of the meeting?",
        "Für wen ist dieser Bericht geschrieben?",
        "Wann wird der Bericht veröffentlicht?",
        "Wer hat Faust geschrieben?",
        "Qui a écrit Candide ?",
        "¿Quién escribió el Quijote?",
        "¿Cuándo se publica el informe?",
    ],
)
def test_other_things_and_what_is_to_be_done_are_not_the_document(question: str) -> None:
    assert read_front_matter_request(question) is None


@pytest.mark.parametrize(
    ("question", "part"),
    [
        ("What is its title?", "title"),
        ("Who are its authors?", "author"),
        ("Who wrote this study guide?", "author"),
        ("Qui sont ses auteurs ?", "author"),
        ("What is the date of this document?", "date"),
        ("What are the authors’ names?", "author"),
        ("Can you tell me who wrote this annual report?", "author"),
        ("e-mail of the author", "email"),
        ("Wer hat diesen Bericht geschrieben?", "author"),
        ("Wann ist die Studie erschienen?", "date"),
        ("Wie lautet der Titel des Dokuments?", "title"),
        ("An welcher Universität arbeiten die Autoren?", "institution"),
        ("Wie lautet die E-Mail-Adresse des Autors?", "email"),
        ("Qui est l’auteur de cet article ?", "author"),
        ("Quand ce rapport a-t-il été publié ?", "date"),
        ("Quel est le titre du document ?", "title"),
        ("De quelle université viennent les auteurs ?", "institution"),
        ("¿Quién escribió este informe?", "author"),
        ("¿Cuándo se publicó?", "date"),
        ("¿Cuál es el correo electrónico del autor?", "email"),
    ],
)
def test_the_document_is_meant_by_a_pronoun_or_what_documents_are_called(question: str, part: str) -> None:
    request = read_front_matter_request(question)
    assert request is not None
    assert (request.parts, request.naming_words) == ((part,), ())


def test_a_later_version_of_a_preprint_is_dated_as_that_and_a_year_tells_a_report() -> None:
    stamps = {"arXiv:1706.03762v7 [cs.CL] 2 Aug 2023": False, "arXiv:1706.03762v1 [cs.CL] 12 Jun 2017": True}
    assert {stamp: says_date("published", stamp) for stamp in stamps} == stamps
    request = read_front_matter_request("Who wrote this 1999 report?")
    assert request is not None
    assert request.naming_words == ("1999",)


def test_the_words_by_which_a_document_is_told_from_others_are_read() -> None:
    request = read_front_matter_request("Who wrote the annual report on wrecks?")
    assert request is not None
    assert request.naming_words == ("annual", "wreck")


COVERS = {
    "accounts": ("Annual Accounts", "Skarn Shipping", "31 December 2019"),
    "product": ("Installation Guide", "Nordic Breeze", "3 May 2019"),
    "invitation": ("Invitation", "Grand Harbour Ball", "3 May 2019"),
    "rent": ("Rent", "Dear Lea Holm", "3 May 2019"),
    "addressee": ("Notice of Rent Rise", "Lea Holm", "3 May 2019"),
    "minutes": ("Minutes", "Ada Brask, Jon Dell, Lea Holm", "Skarn Institute, Room 3", "3 May 2019"),
    "keywords": ("Silt", "Ada Brask", "Harbour Silt, Tide Gauges", "Abstract"),
    "letters": ("Kelp", "Sea Letters", "Ada Brask", "Abstract"),
    "air": ("Letter to the Quay", "By Air Mail", "3 May 2019"),
    "post": ("Rent Again", "BY REGISTERED POST", "3 May 2019"),
    "royal": ("Biscuits", "By Royal Appointment", "Since 1890"),
    "steam": ("By Steam Ferry", "A guide for walkers"),
    "places": ("Ferry Lines", "Tolland Sound, Skarn Quay", "University of Tolland", "3 May 2019"),
    "foreword": ("Sea Poems", "Foreword", "by Jon Dell"),
    "chapter": ("Harbour Essays", "## The first pier", "by Jon Dell"),
    "lecture": ("Guest Lecture", "Lea Holm\\\nUniversity of Tolland\\\nlea@tolland.example", "3 May 2019"),
    "deadline": ("Call for Cranes", "By Friday Noon", "3 May 2019"),
    "form": ("Record of Wrecks", "Author: See Appendix", "3 May 2019"),
    "books": ("New Books", "Hamlet, published 2019", "Faust, published 2020"),
    "edited": ("The Sea Reader", "Edited by Ada Brask", "Jon Dell, University of Tolland", "Abstract"),
    "column": ("Two Piers", "Ada Brask\\\nSkarn Shipping", "Abstract"),
    "journal": ("Copper", "Ada Brask, Jon Dell\\\nCarbon Conversion, 2009", "Abstract"),
    "german": ("Bericht", "Von Juni bis August", "3. Mai 2019"),
    "consent": ("Resolution of the Pilots", "By Unanimous Consent"),
    "consent of": ("Resolution of the Pilots", "By Unanimous Consent of the Faculty"),
    "messenger": ("Claim for Kelp", "By Overnight Messenger", "3 May 2019"),
    "addressed": ("Claim for Silt", "By Overnight Messenger\\\nUniversity of Tolland", "3 May 2019"),
    "receipt": ("Claim for Sand", "By Certified Letter, Return Receipt Requested"),
    "stamp": ("Claim for Ice", "By U.S. Postage Stamp"),
    "candle": ("Harbour Dinner", "by Candle Light"),
    "lettre": ("Mise en demeure", "Par Lettre Recommandée"),
    "haus": ("Umzug", "Von Haus zu Haus"),
    "vez": ("Gran estreno", "Por Primera Vez"),
    "translated": ("The Magic Mountain", "Thomas Mann", "Translated from the German", "by J. M. Cohen"),
    "drawn": ("Pride and Prejudice", "Jane Austen", "With illustrations", "by H. M. Brock"),
    "approved": ("Harbour report", "Reviewed and approved", "by Dr. Lea Holm"),
    "subtitle": ("Harbour report anew", "Preliminary Findings", "Abstract"),
    "fields": ("Harbour report again", "Machine Learning, Deep Networks", "Abstract"),
    "disease": ("Medical Guide", "Von Willebrand Disease and Bleeding Disorders"),
    "paid": ("Payment form", "By Direct Debit, Credit Card and Postal Cheque"),
    "harbours": ("Cruise guide", "By Oak Harbour and Green Bay"),
    "moon": ("Harbour Supper", "By Candle Light and Moon Shine"),
    "method": ("Recipes", "By Mrs. Beeton's Method"),
    "written consent": ("Resolution of the Pilots", "Written by Unanimous Consent"),
    "written foreword": ("The Magic Mountain", "Thomas Mann", "With a foreword", "Written by J. M. Cohen"),
    "letter": ("Harbour report", "This cover letter was", "written by Lea Holm"),
    "engraved": ("The Magic Mountain", "With engravings", "by J. M. Cohen"),
    "income": ("Guide to Costs", "By Per Capita Income"),
    "boulevard": ("Payment form", "By Martin Luther King Boulevard"),
    "tools": ("Guide to Cranes", "By Robert Bosch Power Tools"),
    "bay": ("Cruise guide", "By St. John Harbour and Paul Bay"),
    "biology": ("Harbour report", "Marine Biology, Harbour Ecology", "Abstract"),
    "learning": ("Harbour report", "Machine Learning, Thomas Bayes", "Abstract"),
    "charity": ("Ethics", "Christian Charity", "Abstract"),
    "cities": ("Harbour report", "New York, Los Angeles", "University of Tolland", "Abstract"),
    "french": ("Rapport annuel", "Skarn Transport", "Résumé", "3 mai 2019"),
}
"""Documents of which the lines above the text name no author surely, and say no date of publication."""
SURE = {
    "listed": (("Elms", "by Jon Dell and Elizabeth Holm"), "Jon Dell and Elizabeth Holm"),
    "given": (("Hollies", "by Ada Brask"), "Ada Brask"),
    "double": (("Rowans", "by Anne-Marie Øst"), "Anne-Marie Øst"),
    "family": (("Lindens", "by Mingyue Zhang"), "Mingyue Zhang"),
    "white": (("Oaks", "by Ada Brask, Ben White and Lea Holm"), "Ada Brask, Ben White and Lea Holm"),
    "lukasz": (("Beeches", "by Ada Brask, Łukasz Kaiser and Jon Dell"), "Ada Brask, Łukasz Kaiser and Jon Dell"),
    "simon": (("Ash Trees", "written by Šimon Čapek"), "Šimon Čapek"),
    "degrees": (("Firs", "by Ada Brask, PhD, and Jon Dell, MD"), "by Ada Brask, PhD, and Jon Dell, MD"),
    "etal": (("Larches", "by Ada Brask et al."), "by Ada Brask et al"),
    "role": (
        ("Yews", "By Ada Brask, Senior Economist, University of Tolland"),
        "By Ada Brask, Senior Economist, University of Tolland",
    ),
    "run in": (("Planes", "Ada Brask", f"Abstract. {' '.join(PROSE)}"), "Ada Brask"),
    "labelled": (("Elders", "Authors: Ada Brask; Jon Dell"), "Authors: Ada Brask; Jon Dell"),
    "paper": (("Limes", "Kenneth Dell and Ai West", "University of Tolland", "Abstract"), "Kenneth Dell and Ai West"),
    "deutsch": (("Über Silt", "Von Ada Brask und Jon Dell"), "Ada Brask und Jon Dell"),
    "français": (("Le sable", "Rédigé par Ada Brask"), "Ada Brask"),
    "of tides": (("Junipers", "A study of tides", "by Dr. Ada Brask"), "Dr. Ada Brask"),
    "number": (("Cypresses", "Technical Report 12", "by Ada Brask and Lea Holm"), "Ada Brask and Lea Holm"),
    "second": (("Laurels", "Version 2", "by Ada Brask and Oksana Dell"), "Ada Brask and Oksana Dell"),
    "doctor": (("Cedars", "By Dr. Ada Brask"), "Dr. Ada Brask"),
    "initial": (("Poplars", "By M. C. Okoro"), "M. C. Okoro"),
    "raised": (("Willows", "By Ada Brask*"), "Ada Brask"),
    "abstract": (("Alders", "By Ada Brask", "Abstract"), "Ada Brask"),
    "affiliated": (("Hazels", "by Ada Brask (University of Tolland)"), "by Ada Brask (University of Tolland)"),
    "author": (("Maples", "Author: Ada Brask"), "Ada Brask"),
    "español": (("La arena", "Por María José Núñez y Łukasz Brask"), "María José Núñez y Łukasz Brask"),
}
DATED = {
    "printed": (
        ("Gulls", "by Dr. Ada Brask", "Version history since May 2001", "Published June 2020"),
        "Published June 2020",
    ),
    "alone": (("Terns", "by Dr. Ada Brask", "3 May 2019"), "3 May 2019"),
    "revised": (("Ducks", "by Dr. Ada Brask", "Revised 3 May 2018"), "Revised 3 May 2018"),
    "accepted": (("Geese", "Accepted 3 May 2018; published 2 June 2019"), "Accepted 3 May 2018; published 2 June 2019"),
    "erschienen": (("Möwen", "Erschienen am 3. Mai 2019"), "Erschienen am 3. Mai 2019"),
    "publié": (("Mouettes", "Publié le 3 mai 2019"), "Publié le 3 mai 2019"),
    "year": (("Auks", "First published 2015"), "First published 2015"),
    "bar": (("Skuas", "Ada Brask | Published 3 May 2019"), "Ada Brask | Published 3 May 2019"),
    "version": (("Loons", "Version of 3 May 2019"), "Version of 3 May 2019"),
    "publicado": (("Gaviotas", "Publicado el 3 de mayo de 2019"), "Publicado el 3 de mayo de 2019"),
}
UNDATED = {
    "stand": ("Fair", "by Dr. Ada Brask", "Stand 12, Hall 3, 7 June 2021"),
    "online": ("Swans", "by Dr. Ada Brask", "Presented at the Online Workshop, 7 June 2021"),
    "tables": ("Tides", "by Dr. Ada Brask", "Updated tide tables for 3 May 2019"),
    "history": ("Herons", "by Dr. Ada Brask", "Version history since May 2001"),
    "received": ("Cranes", "Ada Brask", "University of Tolland", "Revised version received 3 May 2018", "Abstract"),
    "range": ("Rooks", "by Dr. Ada Brask", "Published May 2001 – June 2020"),
    "figures": ("Larks", "by Dr. Ada Brask", "Published May 2019 figures"),
    "standard": ("Quality Handbook", "Based on ISO 9001 (version 2015)"),
    "system": ("Owls", "Runs on Windows (version 2004)"),
    "system below": ("Kites", "Runs on Windows\\\nVersion 2004"),
    "reprint": ("Harriers", "Reprint of the novel (first published 1813)"),
    "broken": ("Eagles", "Reprint of the novel, first\\\npublished 1813"),
    "act": ("Falcons", "Tariff Act (revised 1999)", "Charter (issued 3 May 1604)"),
    "passport": ("Hawks", "Passport; issued 2015", "Licence; issued 3 May 2015"),
    "charter": ("Shrikes", "Charter (issued 1604)"),
    "meeting": ("Finches", "by Dr. Ada Brask", "Next meeting", "3 May 2019"),
    "closing": ("Tits", "by Dr. Ada Brask", "Applications close", "3 May 2019"),
    "misread": ("Jays", "by Dr. Ada Brask", "Published 99 May 2019"),
    "days": ("Wrens", "by Dr. Ada Brask", "3 May 2019", "4 June 2020"),
}


@pytest.fixture(scope="module")
def covers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collection]:
    folder = tmp_path_factory.mktemp("covers")
    sure = {name: lines for name, (lines, _) in (SURE | DATED).items()}
    for name, (title, *below) in (COVERS | sure | UNDATED).items():
        text = "\n\n".join((f"# {title}", *below, " ".join(PROSE)))
        (folder / f"{name}.md").write_text(text, "utf-8")
    with Collection.create(folder / "made") as made:
        add(made, sorted(folder.glob("*.md")))
        yield made


@pytest.mark.parametrize("name", COVERS)
@pytest.mark.parametrize(
    "question", ["Who wrote it?", "When was it published?", "Which institution are the authors from?"]
)
def test_words_with_capitals_are_no_authors_and_a_date_signs_nothing(
    covers: Collection, name: str, question: str
) -> None:
    assert ask(covers, question, f"{name}.md").status == "located"


@pytest.mark.parametrize("name", SURE)
def test_no_author_is_left_out_and_a_line_not_understood_is_given_as_it_is(covers: Collection, name: str) -> None:
    answer = ask(covers, "Who wrote it?", f"{name}.md")
    assert answer.text.splitlines()[0] == f"{SURE[name][1]} {answer.citations[0].mark}."


@pytest.mark.parametrize("name", DATED)
def test_a_verb_of_publication_directly_before_a_date_says_when(covers: Collection, name: str) -> None:
    answer = ask(covers, "When was it published?", f"{name}.md")
    assert answer.text.splitlines()[0] == f"{DATED[name][1]} {answer.citations[0].mark}."


@pytest.mark.parametrize("name", UNDATED)
def test_dates_of_events_and_of_other_things_are_not_those_of_publication(covers: Collection, name: str) -> None:
    assert ask(covers, "When was it published?", f"{name}.md").status == "located"


def written(folder: Path, **texts: str) -> Collection:
    made = Collection.create(folder / "made")
    for name, text in texts.items():
        (folder / f"{name}.md").write_text(text, "utf-8")
    add(made, sorted(folder.glob("*.md")))
    return made


def test_a_list_of_names_is_read_in_no_time() -> None:
    lines = ("by Ada Brask,", *["Lea Holm,"] * 4000)
    start = time.perf_counter()
    FrontMatterReader([FrontQuote("1", ("Tides",), is_title=True), FrontQuote("2", lines)]).read("author")
    assert time.perf_counter() - start < 2


def test_a_page_full_of_small_names_is_no_cover(tmp_path: Path) -> None:
    written = write_pdf(tmp_path / "names.pdf", [[("Helvetica", 72, "Ada Brask, Lea Holm, " * 300)] for _ in range(10)])
    with Collection.create(tmp_path / "made") as made:
        add(made, [written])
        assert ask(made, "Who wrote it?").status != "answered"


def test_what_is_said_of_a_thing_comes_before_the_byline_of_a_document_on_it(tmp_path: Path) -> None:
    router = (
        "# Kestrel Router\n\nby Ada Brask\n\nPublished 3 May 2021\n\nThe Kestrel router was released in March 2017."
    )
    play = "# Hamlet: a Study Guide\n\nby Lea Holm\n\nHamlet was written by William Shakespeare in the year 1601."
    with written(tmp_path, router=router, hamlet=play) as made:
        for question, document, said in (
            ("When was the Kestrel router released?", "router.md", "The Kestrel router was released in March 2017"),
            ("Who wrote Hamlet?", "hamlet.md", "Hamlet was written by William Shakespeare in the year 1601"),
            ("When was Hamlet written?", "hamlet.md", "Hamlet was written by William Shakespeare in the year 1601"),
        ):
            for asked_within in (document, None):
                assert ask(made, question, asked_within).text.startswith(said)


def test_of_this_document_what_is_said_besides_has_to_be_true(tmp_path: Path) -> None:
    handbook = "# Quality Handbook\n\nAuthor: Ada Brask\n\nPublished 3 May 2019\n\nPumps are tested each day."
    wrecks = "# Wrecks off Skarn\n\nAuthor: Lea Holm\n\nNine ships lie there."
    with written(tmp_path, handbook=handbook, skarn=wrecks) as made:
        for question in (
            "Who wrote this book about Napoleon?",
            "Who wrote this earlier report?",
            "Who wrote this other report?",
            "When was this cited report published?",
            "Wer hat dieses Buch über Napoleon geschrieben?",
        ):
            assert ask(made, question, "handbook.md").status != "answered"
        for question in ("Who wrote this annual report?", "Who wrote this handbook on quality?"):
            assert ask(made, question, "handbook.md").text.startswith("Ada Brask [")
        assert ask(made, "Who wrote this report on wrecks?", "skarn.md").text.startswith("Lea Holm [")


def test_of_two_documents_of_a_name_none_is_meant_however_few_are_found(tmp_path: Path) -> None:
    said = "\n\n".join(f"## Berth {n}\n\nWho wrote the harbour report of berth {n} is not said." for n in range(29))
    texts = {
        "a": f"# Harbour report 2018\n\nby Ada Brask\n\n{said}",
        "b": "# Harbour report 2019\n\nby Jon Dell\n\nFog.",
    }
    with written(tmp_path, **texts) as made:
        assert ask(made, "Who wrote the harbour report?").status != "answered"
        assert ask(made, "Who wrote the harbour report?", "a.md").text.startswith("Ada Brask [")


def test_only_what_stands_with_the_authors_is_theirs(tmp_path: Path) -> None:
    thesis = ("# Silt", "Ada Brask", "Prof. Lea Holm, University of Tolland", "May 2019", "Abstract", *PROSE)
    leaflet = ("# Kelp", "Jon Dell", "Abstract", "Subscriptions: sales@press.example", *PROSE)
    with written(tmp_path, thesis="\n\n".join(thesis), leaflet="\n\n".join(leaflet)) as made:
        assert ask(made, "Which institution are the authors from?", "thesis.md").status != "answered"
        assert ask(made, "What is the e-mail address of the author?", "leaflet.md").status != "answered"


def test_a_name_that_is_read_after_the_abstract_or_stands_in_a_picture_is_not_left_out() -> None:
    quotes = (
        FrontQuote("1", ("Tides",), is_title=True),
        FrontQuote("2", ("Ada Brask", "University of Tolland"), is_title=False),
        FrontQuote("3", ("Abstract",), is_title=False),
        FrontQuote("4", ("Jon Dell", "Skarn Quay"), is_title=False),
    )
    assert FrontMatterReader(quotes).read("author") == []
    assert [line.text for line in FrontMatterReader(quotes[:3]).read("author")] == ["Ada Brask"]
    inside = FrontQuote("5", ("Jon Dell", "Lea Holm", "Flow of silt"), is_title=False)
    assert FrontMatterReader((*quotes[:2], inside, quotes[2])).read("author") == []


@pytest.mark.parametrize(
    ("above", "said"),
    [("ON THE MARL SLATE", ["G. A. Brask"]), ("TRANSLATED FROM THE GERMAN", []), ("On the marl slate", [])],
)
def test_without_a_title_capitals_above_a_byline_are_one(above: str, said: list[str]) -> None:
    quotes = FrontQuote("1", ("165",)), FrontQuote("2", (above,)), FrontQuote("3", ("By G. A. Brask",))
    assert [line.text for line in FrontMatterReader(quotes).read("author")] == said


@pytest.mark.parametrize(
    ("above", "said"),
    [
        (("THE MAGIC MOUNTAIN",), ["J. M. Cohen"]),
        (("THE MAGIC MOUNTAIN", "TRANSLATED FROM THE GERMAN"), []),
        (("THE MAGIC MOUNTAIN", "THOMAS MANN"), []),
        (("THE MAGIC MOUNTAIN", "WITH ENGRAVINGS"), []),
        (("Translated from the German",), []),
        ((), []),
    ],
)
def test_a_byline_above_the_first_heading_may_be_of_a_part(above: Sequence[str], said: list[str]) -> None:
    lines = [FrontQuote(text, (text,)) for text in (*above, "by J. M. Cohen")]
    heading = FrontQuote("1", ("Introduction",), is_title=True, is_heading=True)
    assert [line.text for line in FrontMatterReader([*lines, heading]).read("author")] == said


def test_a_cover_takes_at_most_half_of_a_context_and_no_prohibition_leaves_it(tmp_path: Path) -> None:
    cover = "\n\n".join(f"Cover line {number}" for number in range(12))
    said = "\n\n".join(f"The report of pier {number} was published in May 20{number}." for number in range(10, 22))
    denied = "Never do any of the following when this report was published:\n\n- Dive in.\n- Row out."
    text = f"# Harbour\n\n{cover}\n\n{' '.join(PROSE)}\n\n{said}\n\n{denied}\n"
    with written(tmp_path, harbour=text) as made:
        question = "When was this report published?"
        lexical, where = LexicalRetriever(made), Filter(documents=("harbour.md",))
        found = lexical.search([Query(text=question)], 10, where=where)[0]
        context = run_sync(Search(lexical, collection=made).context(Query(text=question), C15, where=where)).context
        own = [hit.quote.text for hit in context.texts if hit.quote.id in context.front_matter]
        assert len(context.texts) == C15.texts
        assert 0 < len(own) <= C15.texts // 2
        assert context.texts[0].quote == found[0].quote
        assert any(hit.quote.text.startswith("Never do") for hit in context.texts)


def test_a_document_that_is_removed_while_its_context_is_made_is_left_out(tmp_path: Path) -> None:
    with written(tmp_path, rails="# Rails\n\nby Bo Panc\n\nRails are long.") as made:
        pages = FilteredPages(made, Filter(documents=("rails.md",)))
        with made.writer() as writer:
            writer.remove("rails.md")
        assert add_front_matter("Who wrote it?", Context(), pages, C15) == Context()
