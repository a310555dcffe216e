"""Citations that say which words of their quotes support them, over real pages."""

import asyncio
import threading
from pathlib import Path

import lxml.html
import pytest
from test_arranging import quote

from quoteweave.collection.collection import Collection
from quoteweave.core.answers import EXTRACTIVE, Answer, Context
from quoteweave.core.boxes import Box
from quoteweave.core.errors import UsageError
from quoteweave.core.protocols import PageSource
from quoteweave.core.records import Hit, Page, PageWord, PageWords, Quote
from quoteweave.documents.ingest import add
from quoteweave.generation.citations import build_answer
from quoteweave.generation.extractive.generator import ExtractiveGenerator
from quoteweave.pipeline import highlighting
from quoteweave.pipeline.gate import Gate
from quoteweave.pipeline.highlighting import add_highlights, evidence_for
from quoteweave.pipeline.rag import Answered, Rag
from quoteweave.pipeline.search import Search
from quoteweave.retrievers.lexical import LexicalRetriever
from quoteweave.testing.box_pages import MadePage, Paragraph, Sheet, make_pdf


@pytest.fixture(scope="module")
def harbour(sample_collection: Path) -> Collection:
    return Collection.open(sample_collection)


def asked(question: str, collection: Collection) -> Answered:
    rag = Rag(LexicalRetriever(collection), ExtractiveGenerator(), gate=Gate(pages=collection))
    return rag.answer_with_context(question)


def test_a_sentence_that_is_repeated_is_boxed_on_its_line(harbour: Collection) -> None:
    (citation,) = asked("How many vessel calls did the port receive?", harbour).answer.citations
    assert citation.evidence == "words"
    (span,) = citation.spans
    assert citation.quoted is not None
    assert citation.quoted[span.start : span.end].startswith("The port received 1,058 vessel calls")
    assert citation.page_size == (595.5, 842.0)
    (box,) = span.boxes
    x1, y1, x2, y2 = citation.bbox
    assert x1 - 1 <= box[0] < box[2] <= x2 + 1
    assert y1 - 1 <= box[1] < box[3] <= y2 + 1
    assert box[3] - box[1] < 0.4 * (y2 - y1)
    assert not span.estimated


def test_words_that_ocr_read_have_estimated_boxes(harbour: Collection) -> None:
    (citation,) = asked("At what depth did the rod meet a layer of wood?", harbour).answer.citations
    assert citation.evidence == "words"
    assert all(span.boxes and span.estimated for span in citation.spans)


HEBREW = (
    "הנמל הישן נפתח לפני מאה שנה. הגשר שופץ פעמיים, והרציף הצפוני הורחב ב 1998 ושוב ב 2012 לאורך של 340 אמות. "
    "עגנו בו 1,204 אוניות ומהן 37 אוניות של נוסעים, ועוד 12.5 אלף סירות קטנות. השומר סוגר את השער בשקיעה."
)
"""No font that is sure to be there has Hebrew letters: they are so in the text layer, and look like capitals."""


@pytest.fixture(scope="module")
def hebrew(tmp_path_factory: pytest.TempPathFactory) -> tuple[Collection, Paragraph]:
    folder = tmp_path_factory.mktemp("hebrew")
    paragraph = Paragraph(HEBREW, (120, 100), 12, 40, right_to_left=True)
    (folder / "port.pdf").write_bytes(make_pdf([MadePage(Sheet((0, 0, 595, 842)), (paragraph,))]))
    collection = Collection.open_or_create(folder / "collection")
    add(collection, [folder / "port.pdf"])
    return collection, paragraph


@pytest.mark.parametrize(
    ("claim", "marked"),
    [
        ("“הגשר שופץ פעמיים”", "הגשר שופץ פעמיים"),
        ("הרציף הצפוני הורחב ב 2012 לאורך 340 אמות.", "והרציף הצפוני הורחב ב 1998 ושוב ב 2012 לאורך של 340 אמות"),
        ("ומהן 37 אוניות של נוסעים", "ומהן 37 אוניות של נוסעים"),
        ("סירות קטנות היו 12.5 אלף.", "ועוד 12.5 אלף סירות קטנות"),
    ],
)
def test_words_from_right_to_left_are_boxed_where_they_are_drawn(
    hebrew: tuple[Collection, Paragraph], claim: str, marked: str
) -> None:
    collection, paragraph = hebrew
    (cited,) = (one for one in collection.page_quotes("port.pdf", 0) if marked in one.text)
    (span,) = evidence_for(claim, cited, collection)
    found = cited.text[span.start : span.end].rstrip(".")
    assert found == marked
    drawn = [box for _, box in paragraph.find(found)]
    assert len(drawn) == len(span.boxes)
    for box, expected in zip(span.boxes, drawn, strict=True):
        # The ink is narrower than the letters' steps, and a stop belongs to its word.
        assert box[0] == pytest.approx(expected[0], abs=8)
        assert box[2] == pytest.approx(expected[2], abs=4)
        assert expected[1] - 2 < box[1] < box[3] < expected[3] + 2


def test_places_that_are_shown_are_supported_by_what_is_repeated_of_them(harbour: Collection) -> None:
    answer = asked("What did timber come to in 2022?", harbour).answer
    assert answer.status == "located"
    first = answer.citations[0]
    assert first.quoted is not None
    said = [first.quoted[span.start : span.end] for span in first.spans]
    assert "Timber and forest products" in said
    assert "318" in said


class NoPages:
    def page(self, name: str, number: int) -> Page:
        raise UsageError(f"{name!r} has no page {number}")

    def page_quotes(self, name: str, number: int) -> list[Quote]:
        return []

    def page_words(self, name: str, number: int) -> PageWords | None:
        return None


class TwoPages(NoPages):
    """A sentence that begins at the foot of a page of 600 by 800 points, and ends at the head of the next."""

    TEXTS = ("Dues rose. The port has nine pilots, of whom", "three retired in May. Cranes rust.")

    def page(self, name: str, number: int) -> Page:
        return Page(number=number, label=f"{number + 7}", width=600, height=800, text_source="text_layer", rotation=90)

    def page_quotes(self, name: str, number: int) -> list[Quote]:
        text, box = self.TEXTS[number], self.box(number)
        found = quote("text", f"q{number}", text=text)
        return [found.model_copy(update={"page": number, "page_label": f"{number + 7}", "bbox": box})]

    def page_words(self, name: str, number: int) -> PageWords | None:
        x1, y1, _, y2 = self.box(number)
        words = self.TEXTS[number].split()
        boxes = [(x1 + 50 * at, y1, x1 + 50 * at + 40, y2) for at in range(len(words))]
        return PageWords.of(number, [PageWord(word, box, 0) for word, box in zip(words, boxes, strict=True)])

    def box(self, number: int) -> Box:
        return (60.0, 720.0, 540.0, 740.0) if number == 0 else (60.0, 80.0, 540.0, 100.0)


def test_a_sentence_that_goes_on_at_the_next_page_has_a_region_on_both() -> None:
    pages = TwoPages()
    (cited,) = pages.page_quotes("", 0)
    given = Context(texts=(Hit(rank=1, score=1, quote=cited),))
    answer = build_answer("q", "The port has nine pilots, of whom [1].", given, model="m")
    (citation,) = add_highlights(answer, given, pages).citations
    first, second = citation.regions
    assert (first.page, first.page_label, second.page, second.page_label) == (0, "7", 1, "8")
    assert first.page_size == (600, 800)
    assert first.rotation == 90
    assert first.bbox_fraction == (0.1, 0.9, 0.9, 0.925)
    assert second.bbox == (60, 80, 540, 100)
    # "Dues rose." stands before, and "Cranes rust." after what the claim repeats.
    assert first.words == ((160.0, 720.0, 500.0, 740.0),)
    assert first.words_fraction == ((0.266667, 0.9, 0.833333, 0.925),)
    assert second.words == ((60.0, 80.0, 250.0, 100.0),)


def test_the_end_of_a_sentence_has_a_region_where_it_begins() -> None:
    pages = TwoPages()
    (cited,) = pages.page_quotes("", 1)
    given = Context(texts=(Hit(rank=1, score=1, quote=cited),))
    answer = build_answer("q", "Of the pilots “three retired in May” [1].", given, model="m")
    (citation,) = add_highlights(answer, given, pages).citations
    own, other = citation.regions
    assert (own.page, own.words) == (1, ((60.0, 80.0, 250.0, 100.0),))
    assert (other.page, other.words) == (0, ((160.0, 720.0, 500.0, 740.0),))


class TwoColumns(NoPages):
    """The same sentence parted by a column: it goes on at the top of the right one, with a picture between."""

    PARTS: tuple[tuple[str, Box], ...] = (
        (TwoPages.TEXTS[0], (60.0, 720.0, 540.0, 740.0)),
        (TwoPages.TEXTS[1], (560.0, 80.0, 1000.0, 100.0)),
    )

    def page(self, name: str, number: int) -> Page:
        return Page(number=0, label="1", width=1000, height=800, text_source="text_layer")

    def page_quotes(self, name: str, number: int) -> list[Quote]:
        if number:
            raise UsageError("there is no such page")
        texts = [
            quote("text", f"q{at}", text=text).model_copy(update={"bbox": box})
            for at, (text, box) in enumerate(self.PARTS)
        ]
        return [texts[0], quote("image", "i").model_copy(update={"bbox": (560.0, 20.0, 1000.0, 70.0)}), texts[1]]

    def page_words(self, name: str, number: int) -> PageWords | None:
        words = [
            PageWord(word, (x1 + 50 * at, y1, x1 + 50 * at + 40, y2), line)
            for line, (text, (x1, y1, _, y2)) in enumerate(self.PARTS)
            for at, word in enumerate(text.split())
        ]
        return PageWords.of(number, words)


def test_a_sentence_that_goes_on_in_the_next_column_has_a_region_in_both() -> None:
    pages = TwoColumns()
    cited = pages.page_quotes("", 0)[0]
    given = Context(texts=(Hit(rank=1, score=1, quote=cited),))
    answer = build_answer("q", "The port has nine pilots, of whom [1].", given, model="m")
    (citation,) = add_highlights(answer, given, pages).citations
    assert [(region.page, region.bbox) for region in citation.regions] == [(0, box) for _, box in TwoColumns.PARTS]
    assert citation.regions[1].words == ((560.0, 80.0, 750.0, 100.0),)


class FinishedColumns(TwoColumns):
    """A column that ends with a whole sentence."""

    PARTS = ((TwoColumns.PARTS[0][0] + " three stay.", TwoColumns.PARTS[0][1]), TwoColumns.PARTS[1])


def test_a_sentence_that_ends_in_its_column_has_one_region() -> None:
    pages = FinishedColumns()
    cited = pages.page_quotes("", 0)[0]
    given = Context(texts=(Hit(rank=1, score=1, quote=cited),))
    answer = build_answer("q", "The port has nine pilots, of whom three stay [1].", given, model="m")
    (citation,) = add_highlights(answer, given, pages).citations
    assert len(citation.regions) == 1


def test_a_sentence_that_ends_on_its_page_has_one_region() -> None:
    pages = TwoPages()
    (cited,) = pages.page_quotes("", 0)
    given = Context(texts=(Hit(rank=1, score=1, quote=cited),))
    answer = build_answer("q", "Dues rose [1].", given, model="m")
    (citation,) = add_highlights(answer, given, pages).citations
    assert [region.page for region in citation.regions] == [0]


def answered(text: str) -> tuple[Answer, Context]:
    given = Context(
        texts=(Hit(rank=1, score=1, quote=quote("text", "t", text="The port has nine pilots. Dues rose by 5 %.")),)
    )
    return build_answer("q", text, given, model="m"), given


def test_where_words_have_no_boxes_the_characters_are_told_all_the_same() -> None:
    answer, given = answered("The port has nine pilots [1].")
    (citation,) = add_highlights(answer, given, NoPages()).citations
    assert (citation.evidence, citation.page_size) == ("words", None)
    assert [(span.start, span.end, span.boxes) for span in citation.spans] == [(0, 24, ())]


@pytest.mark.parametrize(
    ("text", "nine"),
    [
        ("1. The port has nine pilots. Dues rose [1].", [True]),
        ("- The port has nine pilots [1]. Dues rose [1].", [True, False]),
        ("The port has nine pilots. Dues rose [1].", [False]),
    ],
    ids=["one mark at the end of an item", "a mark for each sentence", "no item"],
)
def test_a_mark_at_the_end_of_an_item_is_for_all_of_its_sentences(text: str, nine: list[bool]) -> None:
    answer, given = answered(text)
    quoted = given.texts[0].quote.text
    shown = [
        " ".join(quoted[span.start : span.end] for span in citation.spans)
        for citation in add_highlights(answer, given, NoPages()).citations
    ]
    assert ["nine pilots" in words for words in shown] == nine
    assert "Dues rose" in shown[-1]


def test_where_it_is_not_sure_the_element_is_the_evidence() -> None:
    answer, given = answered("Whales sing in winter [1].")
    (citation,) = add_highlights(answer, given, NoPages()).citations
    assert (citation.evidence, citation.spans) == ("element", ())


def test_what_the_gate_does_not_support_has_no_words() -> None:
    answer, given = answered("The port has nine pilots [1].")
    wrong = answer.citations[0].model_copy(update={"verdict": "unsupported"})
    (citation,) = add_highlights(answer.model_copy(update={"citations": (wrong,)}), given, NoPages()).citations
    assert (citation.evidence, citation.spans) == ("element", ())


def test_the_page_shows_the_element_lightly_and_the_words_darker(harbour: Collection) -> None:
    from example_answers import rendered

    from quoteweave.pipeline.pictures_for_people import cited_pages

    found = asked("How many vessel calls did the port receive?", harbour)
    pages, _ = cited_pages(harbour, found.answer)
    page = lxml.html.fromstring(rendered(found.answer, found.context, pages))
    (words,) = page.xpath("//rect[@class='words']")
    (box,) = found.answer.citations[0].spans[0].boxes
    assert [float(words.get(side)) for side in ("x", "y", "width", "height")] == pytest.approx(
        [box[0], box[1], box[2] - box[0], box[3] - box[1]]
    )
    assert words.get("data-box") == page.xpath("//a[contains(@class, 'box')]")[0].get("id")


class CountedPages(TwoPages):
    """Counts how often the quotes of each page are read."""

    def __init__(self) -> None:
        self.read: list[int] = []

    def page_quotes(self, name: str, number: int) -> list[Quote]:
        self.read.append(number)
        return super().page_quotes(name, number)


NINE, DUES, THREE = "The port has nine pilots, of whom [1].", "“Dues rose.” [1]", "So “three retired in May” [1]."


@pytest.mark.parametrize(
    ("cited", "text", "read"), [(0, f"{NINE} {NINE}", [0, 1]), (1, f"{THREE} {THREE}", [1, 0]), (0, DUES, [])]
)
def test_the_quotes_of_a_page_are_read_once_and_only_where_a_sentence_may_go_on(
    cited: int, text: str, read: list[int]
) -> None:
    pages = CountedPages()
    (own,) = TwoPages().page_quotes("", cited)
    given = Context(texts=(Hit(rank=1, score=1, quote=own),))
    answer = add_highlights(build_answer("q", text, given, model="m"), given, pages)
    assert all(citation.evidence == "words" for citation in answer.citations)
    assert pages.read == read


def test_an_extracted_answer_is_marked_where_it_was_made_however_much_it_quotes(
    harbour: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = {threading.get_ident()}

    def note_thread(answer: Answer, context: Context, pages: PageSource) -> Answer:
        threads.add(threading.get_ident())
        return answer

    monkeypatch.setattr(highlighting, "add_highlights", note_thread)
    long = build_answer("q", "It is said. " * 200, Context(), model=EXTRACTIVE)
    asyncio.run(Gate(pages=harbour).apply(long, Context()))
    assert len(threads) == 1


def test_a_long_quote_is_searched_in_a_thread(harbour: Collection, monkeypatch: pytest.MonkeyPatch) -> None:
    threads = set[int]()

    def note_thread(answer: Answer, context: Context, pages: PageSource) -> Answer:
        threads.add(threading.get_ident())
        return answer

    monkeypatch.setattr(highlighting, "add_highlights", note_thread)
    given = Context(texts=(Hit(rank=1, score=1, quote=quote("text", "1", text="It is said. " * 2000)),))
    asyncio.run(Gate(pages=harbour).apply(build_answer("q", "It is said [1].", given, model=EXTRACTIVE), given))
    assert len(threads) == 1
    assert threading.get_ident() not in threads


def two_pages(path: Path, first: list[str], then: list[str]) -> None:
    """Write a PDF with these lines on two pages."""
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(path))
    for lines in (first, then):
        for at, line in enumerate(lines):
            canvas.setFont("Helvetica", 11)
            canvas.drawString(72, 760 - 14 * at, line)
        canvas.showPage()
    canvas.save()


def test_a_sentence_over_two_pages_is_one_answer_with_a_region_on_each(tmp_path: Path) -> None:
    first = ["The harbour was dredged in the spring of that year, and the pilots were told of it by letter."] * 12
    cut = ["The lighthouse on the northern mole was built by the brothers Holm with"]
    then = ["granite from the quarry at Skarn, and it cost 48,000 crowns in 1871.", "Its lamp was lit each evening."]
    two_pages(tmp_path / "mole.pdf", [*first, *cut], then)
    with Collection.create(tmp_path / "made") as made:
        add(made, [tmp_path / "mole.pdf"])
        search = Search(LexicalRetriever(made), collection=made)
        rag = Rag(search, ExtractiveGenerator(), gate=Gate(pages=made))
        answer = rag.answer("How much did the lighthouse on the northern mole cost?")
        shown = rag.answer("Which bird sits on the lighthouse of the northern mole?")
    assert answer.text.startswith(f"{cut[0]} {then[0]}".rstrip("."))
    assert [region.page for region in answer.citations[0].regions] == [0, 1]
    assert then[0] in shown.text


def test_of_a_sentence_that_is_cut_on_the_next_page_no_more_is_marked_than_is_said(tmp_path: Path) -> None:
    first = [
        "The dam of the Osk reservoir was built by two brothers over eleven years, and when it was finished",
        "in 1934 the valley with its two villages, its mill, its narrow railway and the old stone bridge over",
        "the river was flooded within five months, so that four hundred and twelve people of both villages",
    ]
    then = ["had to move to the new town of Oskby, which the board had built for them on the eastern shore."]
    two_pages(tmp_path / "dam.pdf", first, then)
    with Collection.create(tmp_path / "made") as made:
        add(made, [tmp_path / "dam.pdf"])
        search = Search(LexicalRetriever(made), collection=made)
        answer = Rag(search, ExtractiveGenerator(), gate=Gate(pages=made)).answer("When was the Osk dam finished?")
    assert "eastern" not in answer.text
    _, after = answer.citations[0].regions
    (box,) = after.words
    assert box[2] - box[0] < 0.7 * (after.bbox[2] - after.bbox[0])


class TableOfWeeks(NoPages):
    """Two columns whose heads begin alike, line by line: "Weeks ended" twice, then "29 August" and "30 August"."""

    ROWS = (("", "Weeks ended", "Weeks ended"), ("", "29 August", "30 August"), ("Costs", "170,684", "144,939"))

    def page_words(self, name: str, number: int) -> PageWords | None:
        words = []
        for line, row in enumerate(self.ROWS):
            for column, cell in enumerate(row):
                for at, word in enumerate(cell.split()):
                    x, y = 200 * column + 50 * at, 100 + 20 * line
                    words.append(PageWord(word, (x, y, x + 45, y + 10), 3 * line + column))
        return PageWords.of(number, words)


def test_a_head_that_begins_as_another_is_marked_in_its_own_column() -> None:
    text = " | Weeks ended 29 August | Weeks ended 30 August\nCosts | 170,684 | 144,939"
    table = quote("image", "t", text=text, layout="table").model_copy(update={"bbox": (0.0, 90.0, 550.0, 160.0)})
    spans = evidence_for("The table lists Costs (Weeks ended 29 August: 170,684).", table, TableOfWeeks())
    boxes = [box for span in spans for box in span.boxes if box[1] < 140]
    assert boxes
    assert all(200 <= box[0] < 400 for box in boxes)
