"""Questions about what a document consists of: what is counted in a collection, and what the answer says of it."""

import asyncio
import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from made_collections import made_quote, make_collection

from quoteweave.collection.collection import Collection
from quoteweave.collection.records import Origin
from quoteweave.core.answers import Answer
from quoteweave.core.place_names import PlaceName
from quoteweave.core.records import Filter, Page, ParsedDocument, Query, Quote
from quoteweave.core.text.references.mentions import heading_names
from quoteweave.generation.extractive.generator import ExtractiveGenerator
from quoteweave.generation.extractive.whole_document.structure_answer import COUNTED_REASON
from quoteweave.pipeline.gate import Gate
from quoteweave.pipeline.rag import Rag
from quoteweave.pipeline.search import Search
from quoteweave.pipeline.whole_document import document_structure
from quoteweave.pipeline.whole_document.document_structure import structure_context
from quoteweave.retrievers.lexical import LexicalRetriever


def title(text: str, page: int) -> Quote:
    return made_quote(text, page=page, layout="title")


PORT = [
    title("1 Cargo", 0),
    title("1.1 Grain", 0),
    made_quote("Figure 1: Grain by month.", layout="caption"),
    made_quote("", layout="chart", caption="Figure 1: Grain by month."),
    title("Summary", 1),
    title("2 Ships", 1),
    title("12 V battery", 1),
    made_quote("Figure 3: The new crane.", page=1, layout="caption"),
    made_quote("Table 1: Ships by size.", page=1, layout="caption"),
    title("3 Finances", 2),
    made_quote("", page=2, layout="figure", caption="Part 1 of 2"),
    made_quote("", page=2, layout="figure"),
    made_quote("The last words.", page=2),
]
GUIDE = [made_quote("Trains run daily."), made_quote("Bring a coat.", page=1)]


@pytest.fixture
def collection(tmp_path: Path) -> Iterator[Collection]:
    with make_collection(tmp_path / "made", {"port.md": PORT, "guide.md": GUIDE}) as made:
        yield made


def ask(collection: Collection, question: str, *documents: str) -> Answer:
    search = Search(LexicalRetriever(collection), collection=collection)
    return Rag(search, ExtractiveGenerator()).answer(question, where=Filter(documents=documents or None))


def test_figures_are_counted_by_their_captions_and_gaps_are_told(collection: Collection) -> None:
    answer = ask(collection, "How many figures does the document have?", "port.md")
    assert answer.status == "answered"
    assert answer.text.startswith("port.md has 2 figures, by numbered captions:")
    assert "- Figure 1: Grain by month (page 1) [1]." in answer.text
    assert "No caption was found of Figure 2." in answer.text
    assert "the parser found 1 picture without a numbered caption, on page 3" in answer.text
    assert {(one.verdict, one.reason) for one in answer.citations} == {("unchecked", COUNTED_REASON)}
    assert [one.page for one in answer.citations] == [0, 1]


def test_a_figure_of_a_caption_and_a_picture_counts_once(collection: Collection) -> None:
    context = structure_context("How many figures are there?", collection, Filter(documents=("port.md",)))
    assert context is not None
    assert context.structure is not None
    (count,) = context.structure.counts
    assert [element.label for element in count.elements] == [PlaceName("figure", "1"), PlaceName("figure", "3")]


def test_chapters_follow_each_other_and_what_only_looks_numbered_is_none(collection: Collection) -> None:
    answer = ask(collection, "How many chapters are there?", "port.md")
    assert answer.text.startswith("port.md has 3 chapters, by the numbers of its headings:")
    assert "battery" not in answer.text
    sections = ask(collection, "How many sections are there?", "port.md")
    assert sections.text.startswith("port.md has 3 sections and 1 within these, by the numbers of its headings:")


PAPER = [
    title("1 Method", 0),
    title("A. Data", 0),
    made_quote("We drew 12 charts of the river.", page=0),
    title("References", 1),
    title("A Prompts", 1),
    title("B.1 Tests", 2),
    title("B.2 More tests", 2),
]
HANDBOOK = [title("Appendix A: Forms", 0), title("Appendix C: Fees", 1), made_quote("Fees are due.", page=1)]


def test_appendices_are_counted_by_their_letters(tmp_path: Path) -> None:
    with make_collection(tmp_path / "made", {"paper.md": PAPER, "handbook.md": HANDBOOK, "port.md": PORT}) as made:
        found = ask(made, "How many appendices are there?", "paper.md")
        assert (found.status, found.text.splitlines()[0]) == (
            "answered",
            "paper.md has 2 appendices, by the numbers of its headings:",
        )
        assert "Data" not in found.text
        gap = ask(made, "Which appendices does the handbook have?", "handbook.md")
        assert (gap.status, gap.text.splitlines()[0]) == ("located", "The parser found 2 appendices in handbook.md:")
        assert ask(made, "¿Cuántos anexos hay?", "port.md").text == "The parser found no appendices in port.md."


def test_a_single_number_of_a_chapter_says_no_count(tmp_path: Path) -> None:
    with make_collection(tmp_path / "made", {"paper.md": PAPER}) as made:
        answer = ask(made, "How many chapters are there?", "paper.md")
    assert (answer.status, answer.text.splitlines()[0]) == ("located", "The parser found 1 chapter in paper.md:")


@pytest.mark.parametrize(
    ("headings", "status", "said"),
    [
        (("Chapter 1", "Chapter 2", "Chapter 4"), "located", "The parser found 3 chapters in book.md:"),
        (("1 Oak", "2 Elm", "4 Ash", "5 Fir", "6 Yew"), "located", "The parser found 5 chapters in book.md:"),
        (("1 Oak", "2 Elm", "4 Ash"), "located", "The parser found 2 chapters in book.md:"),
        (("1 Oak", "2 Elm", "12 V", "3 Ash"), "answered", "book.md has 3 chapters, by the numbers of its headings:"),
        (("Chapter 5", "Chapter 6"), "answered", "book.md has 2 chapters, by the numbers of its headings:"),
        (
            ("Part I", "Chapter 1", "Chapter 2", "Part II", "Chapter 1", "Chapter 2"),
            "answered",
            "book.md has 4 chapters, by the numbers of its headings:",
        ),
        (
            ("Chapter 1", "Chapter 1", "Chapter 2"),
            "answered",
            "book.md has 2 chapters, by the numbers of its headings:",
        ),
    ],
)
def test_chapters_that_are_missing_or_begin_anew_are_told(
    tmp_path: Path, headings: tuple[str, ...], status: str, said: str
) -> None:
    with make_collection(tmp_path / "made", {"book.md": [title(text, 0) for text in headings]}) as made:
        answer = ask(made, "How many chapters are there?")
    assert (answer.status, answer.text.splitlines()[0]) == (status, said)
    assert ("No heading was found of Chapter" in answer.text) == (len(answer.citations) > 2 and status == "located")


def test_sections_know_a_chapter_without_its_own_heading_and_those_of_one_chapter_are_counted(tmp_path: Path) -> None:
    quotes = [title(text, 0) for text in ("1 A", "1.1 Aa", "2 B", "2.1 Ba", "2.2 Bb", "3.1 Ca", "4 D")]
    with make_collection(tmp_path / "made", {"book.md": quotes}) as made:
        whole = ask(made, "How many sections are there?").text
        assert whole.startswith("book.md has 4 sections and 4 within these, by the numbers of its headings:")
        assert "- 3, known by 3.1 Ca (page 1)" in whole
        within = ask(made, "How many sections are in chapter 2?").text
        assert within.startswith("book.md has 2 sections in chapter 2, by the numbers of its headings:")


CHAPTERS = [title(f"Chapter {number}", number - 1) for number in range(1, 6)]


def test_chapters_on_some_pages_are_numbered_over_the_whole_document(tmp_path: Path) -> None:
    with make_collection(tmp_path / "made", {"book.md": CHAPTERS}) as made:
        for question in ("How many chapters are on pages 3 to 5?", "How many chapters are on pages 3 to 99?"):
            assert ask(made, question).text.startswith("book.md has 3 chapters on pages 3 to ")
        assert ask(made, "How many chapters are on page 4?").text.startswith("book.md has 1 chapter on page 4, by")
        search = Search(LexicalRetriever(made), collection=made)
        where = Filter(documents=("book.md",), first_page=2, last_page=3)
        rag = Rag(search, ExtractiveGenerator(), where=where)
        said = "book.md has 2 chapters on pages 3 to 4, by the numbers of its headings:"
        assert rag.answer("How many chapters are there?").text.startswith(said)
        assert rag.answer("How many pages are there?").text == "book.md has 5 pages, of which 2 are asked about [1]."
        said = "book.md has 5 pages, and none of those that the question names is on pages 3 to 4."
        assert rag.answer("How many figures are on page 1?").text == said


def test_chapters_of_a_part_are_those_up_to_the_next(tmp_path: Path) -> None:
    quotes = [title(text, 0) for text in ("Part I", "Chapter 1", "Part II", "Chapter 1", "Chapter 2")]
    with make_collection(tmp_path / "made", {"book.md": quotes}) as made:
        assert ask(made, "How many chapters are in part II?").text.startswith("book.md has 2 chapters in part 2")


def test_the_words_of_each_heading_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def counted(heading: str) -> list[PlaceName]:
        read.append(heading)
        return heading_names(heading)

    monkeypatch.setattr(document_structure, "heading_names", counted)
    with make_collection(tmp_path / "made", {"book.md": [title("2 Beech", 0) for _ in range(50)]}) as made:
        structure_context("How many figures are in chapter 2?", made, Filter())
    assert len(read) == 50


@pytest.mark.parametrize(
    ("headings", "status", "said"),
    [
        # The table of contents, and then the text.
        (
            ("Part I", "Chapter 1 Oak", "Chapter 2 Elm", "Part II", "Chapter 3 Ash") * 2,
            "answered",
            "book.md has 3 chapters",
        ),
        (("1 Oak", "2 Elm", "Part 1 of the kit", "1 Lid", "2 Box", "3 Ash", "4 Fir"), "located", "found 4 chapters"),
        (("1 Oak", "2 Elm", "3 Ash", "1 Lid", "2 Box", "4 Fir"), "answered", "book.md has 4 chapters"),
        (("Part A", "1 Oak", "2 Elm", "Part B", "1 Yew", "2 Ash"), "answered", "book.md has 4 chapters"),
        (("Teil I", "Kapitel 1", "Kapitel 2", "Teil II", "Kapitel 1", "Kapitel 2"), "answered", "has 4 chapters"),
        (("Partie 1", "Chapitre 1", "Chapitre 2", "Partie 2", "Chapitre 1"), "answered", "has 3 chapters"),
        (("Parte I", "Capítulo 1", "Capítulo 2", "Parte II", "Capítulo 1"), "answered", "has 3 chapters"),
        (("Book I", "Chapter 1 Oak", "Chapter 2", "Book II", "Chapter 1 Yew"), "located", "found 3 chapters"),
        (("North", "Chapter 1 Oak", "Chapter 2", "South", "Chapter 1 Yew"), "located", "found 3 chapters"),
        (("1 Oak", "2 Elm", "1 Yew", "2 Ash"), "located", "found 2 chapters"),
        (
            ("Part I", "Chapter 1 Oak", "Chapter 2 Elm", "Part II", "Chapter 2 Ash", "Chapter 3 Fir"),
            "located",
            "found 4 chapters",
        ),
    ],
)
def test_numbers_that_begin_anew_count_only_where_it_is_sure_that_they_are_chapters(
    tmp_path: Path, headings: tuple[str, ...], status: str, said: str
) -> None:
    with make_collection(tmp_path / "made", {"book.md": [title(text, 0) for text in headings]}) as made:
        answer = ask(made, "How many chapters are there?")
    assert answer.status == status
    assert said in answer.text


def test_of_what_is_missing_the_first_are_named_and_none_between_places_apart(tmp_path: Path) -> None:
    tables = [made_quote("", layout="table", caption=caption) for caption in ("Table 1: Oak", "Table 999: Elm")]
    with make_collection(tmp_path / "made", {"book.md": CHAPTERS, "trees.md": tables}) as made:
        assert "was found" not in ask(made, "How many chapters are on pages 3 and 5?", "book.md").text
        said = ask(made, "How many tables are there?", "trees.md").text
        assert said.endswith("Table 8, Table 9 and 989 more.")
        rag = Rag(Search(LexicalRetriever(made), collection=made), ExtractiveGenerator())
        none = rag.answer("How many pages are there?", where=Filter(documents=("book.md",), first_page=9))
        assert none.text == "book.md has 5 pages, and none that the filter leaves."


@pytest.mark.parametrize("word", ["available", "visible", "given"])
def test_words_of_being_there_are_not_what_a_question_is_about(tmp_path: Path, word: str) -> None:
    with make_collection(tmp_path / "made", {"paper.md": PAPER}) as made:
        answer = ask(made, f"How many charts are {word}?", "paper.md")
    assert answer.status == "located"
    assert "12 charts" in answer.text


def test_headings_of_a_chapter_end_where_the_next_begins(collection: Collection) -> None:
    answer = ask(collection, "List the headings of chapter 1", "port.md")
    assert answer.text.splitlines() == [
        "The parser found 2 headings in chapter 1 in port.md:",
        "",
        "- 1.1 Grain (page 1) [1].",
        "- Summary (page 2) [2].",
    ]


def test_charts_are_said_to_be_found_by_the_parser_and_shown(collection: Collection) -> None:
    answer = ask(collection, "How many charts are on page 1?", "port.md")
    assert answer.status == "located"
    assert answer.text.startswith("The parser found 1 chart on page 1 in port.md:")
    assert [one.kind for one in answer.citations] == ["image"]


def test_pages_are_counted_of_the_document_that_is_named(collection: Collection) -> None:
    answer = ask(collection, "How many pages does the port report have?")
    assert answer.text == "port.md has 3 pages [1]."
    assert answer.citations[0].page == 2


def test_pages_that_are_counted_are_shown_without_marking_words_of_the_last(sample_collection: Path) -> None:
    with Collection.open(sample_collection) as samples:
        rag = Rag(LexicalRetriever(samples), ExtractiveGenerator(), gate=Gate(pages=samples))
        (cited,) = rag.answer("How many pages does harbour-report.pdf have?").citations
    assert (cited.evidence, cited.spans, cited.quoted) == ("element", (), "")
    assert [region.bbox_fraction for region in cited.regions] == [(0, 0, 1, 1)]


@pytest.mark.parametrize(
    ("question", "documents", "said"),
    [
        ("How many tables are on pages 100-120?", ("port.md",), "port.md has 3 pages, and none of those"),
        ("How many figures are there?", ("guide.md",), "The parser found no figures in guide.md."),
        ("How many pages are there?", (), "Which document is meant?"),
    ],
)
def test_what_is_not_there_is_declined(
    collection: Collection, question: str, documents: tuple[str, ...], said: str
) -> None:
    answer = ask(collection, question, *documents)
    assert (answer.status, answer.citations) == ("abstained", ())
    assert answer.text.startswith(said)


def test_other_questions_and_unknown_chapters_are_searched_for(collection: Collection) -> None:
    where = Filter(documents=("port.md",))
    for question in (
        "How many figures of cranes are there?",
        "List the headings of chapter 9",
        "What is a crane?",
        "List the headings of chapters 1 to 3",
        "How many figures are on the first page of chapter 1?",
    ):
        assert structure_context(question, collection, where) is None
    search = Search(LexicalRetriever(collection), collection=collection)
    found = asyncio.run(search.context(Query(text="How many ships are there?"), where=where))
    assert found.context.structure is None
    assert found.context.texts


FAIR = [
    made_quote("In the hall there are 12 tables in total, and 42 large wall charts are available."),
    made_quote("Hundreds of pictures were taken.", page=1),
    made_quote("Es gibt 12 Tabellen insgesamt.", page=1),
    made_quote("", page=1, layout="table", caption="Opening times"),
]


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("How many tables are there in total?", "12 tables"),
        ("How many charts are available?", "42 large wall charts"),
        ("How many pictures are there?", "Hundreds of pictures"),
        ("How many charts are in this document?", "42 large wall charts"),  # it has none
        ("Wie viele Tabellen gibt es?", "12 Tabellen"),
    ],
)
def test_a_number_that_the_text_says_comes_before_parts(tmp_path: Path, question: str, said: str) -> None:
    with make_collection(tmp_path / "made", {"fair.md": FAIR}) as made:
        answer = ask(made, question)
    assert answer.status == "located"
    assert said in answer.text


def test_slides_that_a_text_is_about_are_not_its_pages(tmp_path: Path) -> None:
    park, deck = (
        [made_quote("The playground has a slide.")],
        [made_quote("The tower is shown on slide 2, as on the next slide.")],
    )
    with make_collection(tmp_path / "made", {"park.md": park}) as made:
        assert ask(made, "How many slides are there?").status != "answered"
        assert ask(made, "How many slides does the document have?").text == "park.md has 1 page [1]."
    with make_collection(tmp_path / "deck", {"deck.md": deck}) as made:
        assert ask(made, "How many slides are there?").text == "deck.md has 1 page [1]."


def test_a_number_that_a_text_says_is_found_among_several_documents(tmp_path: Path) -> None:
    with make_collection(tmp_path / "made", {"fair.md": FAIR, "guide.md": GUIDE}) as made:
        assert "12 tables" in ask(made, "How many tables are there in total?").text


def test_parts_are_counted_where_the_question_names_the_document_that_has_them(tmp_path: Path) -> None:
    with make_collection(tmp_path / "made", {"fair.md": FAIR}) as made:
        for question in ("How many tables are in this document?", "How many tables are on page 2?"):
            assert ask(made, question).text.startswith("The parser found 1 table")
        assert ask(made, "How many figures are on page 1?").text == "The parser found no figures on page 1 in fair.md."


def test_a_filter_by_page_narrows_what_is_counted(collection: Collection) -> None:
    search = Search(LexicalRetriever(collection), collection=collection)
    where = Filter(documents=("port.md",), first_page=1, last_page=1)
    found = asyncio.run(search.context(Query(text="How many figures are there?"), where=where)).context.structure
    assert found is not None
    assert [element.label for element in found.counts[0].elements] == [PlaceName("figure", "3")]


def test_a_caption_that_mentions_a_table_is_none_and_missing_numbers_of_chapters_are_told(tmp_path: Path) -> None:
    captions = ("Table 1.1: Oak", "Table 2.1: Elm", "Table 2.3: Elm", "See Table 1.1 for oak")
    tables = [made_quote("", layout="table", caption=caption) for caption in captions]
    with make_collection(tmp_path / "made", {"book.md": tables}) as made:
        text = ask(made, "How many tables are there?").text
    assert text.startswith("book.md has 3 tables, by numbered captions:")
    assert "No caption was found of Table 2.2." in text
    assert "the parser found 1 table without a numbered caption" in text


def outlined(folder: Path, headings: Sequence[tuple[str, ...]], quotes: Sequence[Quote] = ()) -> Collection:
    """A collection of one document, `guide.md`, with the headings of its outline that each page has."""
    pages = [
        Page(number=n, label=str(n + 1), width=600, height=800, text_source="text_layer", headings=own)
        for n, own in enumerate(headings)
    ]
    made = Collection.create(folder / "made")
    file = folder / "guide.md"
    file.write_text("Fares")
    with made.writer() as writer:
        parsed = ParsedDocument(pages=tuple(pages), quotes=tuple(quotes))
        origin = Origin(root=folder, content=hashlib.sha256(b"Fares").hexdigest(), parser="made/1", metadata={})
        writer.store([writer.prepare(file, name="guide.md", format="text", origin=origin, parsed=parsed)])
    return made


@pytest.mark.parametrize(
    ("headings", "status", "said"),
    [
        # Cover, preface and index are no chapters, and the last one begins on the last page.
        ([("Cover",), ("Cover", "Preface"), ("Preface", "Oak"), ("Oak", "Elm"), ("Elm", "Index")], "answered", "has 2"),
        ([("Oak",), ("Oak", "Elm"), ("Elm", "Ash")], "answered", "has 3"),
        ([("Oak", "Bark"), ("Oak", "Elm"), ("Elm", "Leaf")], "located", "found 2"),
    ],
)
def test_chapters_of_an_outline_are_those_that_are_surely_some(
    tmp_path: Path, headings: Sequence[tuple[str, ...]], status: str, said: str
) -> None:
    with outlined(tmp_path, headings) as made:
        answer = ask(made, "How many chapters are there?")
    assert f"{said} chapters" in answer.text
    assert answer.status == status


def test_chapters_without_numbers_are_those_of_the_outline(tmp_path: Path) -> None:
    headings = [("Welcome",), ("Welcome", "Luggage", "Fares"), ("Fares",)]
    with outlined(tmp_path, headings, [title("2 Fares", 1).model_copy(update={"id": "1:0"})]) as made:
        answer = ask(made, "How many chapters are there?")
        second = ask(made, "What is the title of chapter 2?")
    # "Luggage" may be a part of "Welcome", or a chapter that ends on its page.
    assert answer.text.splitlines() == [
        "The parser found 2 chapters in guide.md:",
        "",
        "- Welcome (page 1).",
        "- Fares (page 2) [1].",
    ]
    assert (answer.status, second.status) == ("located", "located")


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("What is the title of chapter 3?", "This is chapter 3 of port.md:\n\n- 3 Finances (page 3) [1]."),
        ("What is the heading of chapter 2?", "- 2 Ships (page 2) [1]."),
        ("What is chapter 3 called?", "- 3 Finances (page 3) [1]."),
        ("What is the last chapter?", "This is the last chapter of port.md:\n\n- 3 Finances (page 3) [1]."),
        ("On what page does chapter 2 begin?", "- 2 Ships (page 2) [1]."),
        ("What is the title of section 1.1?", "This is section 1.1 of port.md:\n\n- 1.1 Grain (page 1) [1]."),
        ("What comes after chapter 2?", "This is chapter 3 of port.md:\n\n- 3 Finances (page 3) [1]."),
        ("What comes after chapter 3?", None),
        ("On what page does the chapter Finances begin?", "port.md has this heading:\n\n- 3 Finances (page 3) [1]."),
        ("On what page does the chapter Lighthouses begin?", None),
        ("What are the chapters?", "port.md has 3 chapters, by the numbers of its headings:"),
        ("Show me the table of contents", "port.md has 3 chapters, by the numbers of its headings:"),
        ("What is the title of chapter 4?", None),
        ("What is the title of chapter 12?", None),
        ("What is section 1.2 called?", None),
    ],
)
def test_the_title_of_a_chapter_is_its_heading(collection: Collection, question: str, says: str | None) -> None:
    answer = ask(collection, question, "port.md")
    assert (answer.status == "answered") == (says is not None)
    assert says is None or says in answer.text
    assert ask(collection, question, "guide.md").status != "answered"


def test_chapters_of_an_outline_are_called_by_their_places_and_cited(tmp_path: Path) -> None:
    quotes = [
        made_quote(text, page=page).model_copy(update={"id": f"{page}:0"})
        for page, text in enumerate(["Trains run daily.", "FARES of all trains", "No refunds."])
    ]
    with outlined(tmp_path, [("Welcome",), ("Fares",), ("Fares", "Rules")], quotes) as made:
        answer = ask(made, "What is the title of chapter 2?", "guide.md")
    assert answer.text == "This is chapter 2 of guide.md:\n\n- Fares (page 2) [1]."
    assert [citation.quote_id.partition(":")[2] for citation in answer.citations] == ["1:0"]


def test_an_appendix_is_shown_or_said_to_be_missing(tmp_path: Path) -> None:
    book = [title("1 Oak", 0), title("2 Elm", 1), title("References", 2), title("A Leaves", 3), title("B Roots", 4)]
    hut = [title("Doors", 0), title("Appendix", 1)]
    with make_collection(tmp_path / "made", {"book.md": book, "guide.md": GUIDE, "hut.md": hut}) as made:
        begins = ask(made, "On what page does the appendix begin?", "book.md")
        has = ask(made, "Does it have an appendix?", "guide.md")
        one = ask(made, "On what page does the appendix begin?", "hut.md")
    assert one.text == "This is the appendix of hut.md:\n\n- Appendix (page 2) [1]."
    # "The appendix" may be either of the two.
    listed = "book.md has 2 appendices, by the numbers of its headings:\n\n- A Leaves (page 4) [1].\n- B Roots (page 5)"
    assert begins.text.startswith(listed)
    assert (has.status, has.text) == ("abstained", "The parser found no appendices in guide.md.")


def test_a_table_of_contents_that_a_document_has_is_searched_for(tmp_path: Path) -> None:
    book = [title("Contents", 0), made_quote("1 Oak . . . 2"), title("1 Oak", 1), title("2 Elm", 2)]
    with make_collection(tmp_path / "made", {"book.md": book}) as made:
        assert structure_context("Show me the table of contents", made, Filter()) is None


def test_a_chapters_heading_below_that_of_its_first_section_is_read(tmp_path: Path) -> None:
    book = [title("1 Oak", 0), title("2.1 Leaves", 1), title("2 Elm", 1), title("3 Ash", 2)]
    recipe = [title("1 Oak", 0), title("2.1 Leaves", 1), title("2 eggs", 1), title("3 Ash", 2)]
    with make_collection(tmp_path / "made", {"book.md": book, "recipe.md": recipe}) as made:
        answer = ask(made, "What is chapter 2 called?", "book.md")
        assert ask(made, "What is chapter 2 called?", "recipe.md").status != "answered"
    assert answer.text == "This is chapter 2 of book.md:\n\n- 2 Elm (page 2) [1]."


def test_a_heading_on_several_pages_is_searched_for(tmp_path: Path) -> None:
    book = [title("Oak", 0), title("Leaves", 0), title("Elm", 1), title("Leaves", 1)]
    with make_collection(tmp_path / "made", {"book.md": book}) as made:
        assert structure_context("On what page does the section Leaves begin?", made, Filter()) is None
        once = structure_context("On what page does the section Elm begin?", made, Filter())
    assert once is not None
    assert [hit.quote.text for hit in once.texts] == ["Elm"]
