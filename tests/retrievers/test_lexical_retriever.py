"""What the tuned default finds beyond plain BM25, by small examples; no score is asserted."""

import tempfile
from collections.abc import Sequence
from operator import itemgetter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_collections import made_quote, make_collection

from quoteweave.collection.collection import Collection
from quoteweave.core.records import Filter, Hit, Layout, Query, Quote
from quoteweave.documents.ingest import add
from quoteweave.index import lexical
from quoteweave.index.lexical import FEW_WORDS, MANY_WORDS
from quoteweave.retrievers.lexical import LexicalRetriever
from quoteweave.retrievers.pages.page_fusion import rank_pages


def search(collection: Collection, question: str, *, where: Filter | None = None) -> list[Hit]:
    return LexicalRetriever(collection).search([Query(text=question)], 20, where=where)[0]


def first_page(tmp_path: Path, quotes: Sequence[Quote], question: str) -> int:
    with make_collection(tmp_path, {"a.pdf": quotes}) as collection:
        return rank_pages(search(collection, question))[0].page


def test_a_label_leads_to_its_page_however_it_is_written(tmp_path: Path) -> None:
    quotes = [made_quote("", page=n, layout="table", caption=f"Table {n}: Tonnes") for n in range(1, 5)]
    quotes += [made_quote("", page=n + 10, layout="figure", caption=f"Fig. {n}. Tonnes") for n in range(1, 5)]
    assert first_page(tmp_path / "1", quotes, "What are the tonnes in table II?") == 2
    assert first_page(tmp_path / "2", quotes, "What are the tonnes of Chart IV?") == 14


def test_a_label_leads_to_a_caption_that_has_no_picture(tmp_path: Path) -> None:
    quotes = [made_quote(f"Figure {n}: Tonnes", page=n, layout="caption") for n in range(1, 5)]
    assert first_page(tmp_path, quotes, "tonnes of figure III") == 3


def test_a_page_is_found_by_its_place_and_by_its_printed_label(tmp_path: Path) -> None:
    quotes = [made_quote("Tonnes of grain.", page=n) for n in range(14)]
    assert first_page(tmp_path / "1", quotes, "How much grain, on page 12?") == 11
    labelled = [quote.model_copy(update={"page_label": f"A{quote.page}"}) for quote in quotes]
    labelled[3] = labelled[3].model_copy(update={"page_label": "112"})
    assert first_page(tmp_path / "2", labelled, "How much grain, on p. 112?") == 3


def test_a_picture_without_words_is_found_through_the_text_around_it(tmp_path: Path) -> None:
    quotes = [
        made_quote("Timber is stored in the yard.", page=0),
        made_quote("", page=0, layout="chart"),
        made_quote("Vessel calls are shown below, by quarter.", page=1),
        made_quote("", page=1, layout="chart"),
    ]
    with make_collection(tmp_path, {"a.pdf": quotes}) as collection:
        hits = search(collection, "How many vessel calls?", where=Filter(kind="image"))
    assert hits[0].quote.page == 1


def test_the_words_of_a_caption_bring_its_picture_before_text_that_speaks_of_other_things_too(tmp_path: Path) -> None:
    talk = "The board met in March. Vessel calls were one of many points; the next was the budget, then the roof."
    quotes = [
        made_quote(talk, page=0),
        made_quote("", page=1, layout="chart", caption="Figure 2: Vessel calls by quarter"),
        made_quote("Nothing else.", page=1),
    ]
    with make_collection(tmp_path, {"a.pdf": quotes}) as collection:
        best = search(collection, "vessel calls by quarter")[0].quote
    assert (best.page, best.kind) == (1, "image")


FENCE = made_quote("Paint a fence", layout="title")
BOARDS, TIN = made_quote("Cut the boards to length"), made_quote("Stir the tin well")


def test_what_stands_under_a_heading_is_found_by_it(tmp_path: Path) -> None:
    with make_collection(tmp_path, {"a.pdf": [BOARDS, FENCE, TIN]}) as collection:
        hits = search(collection, "How do I paint a fence?")
    assert [hit.quote.text for hit in hits] == [FENCE.text, TIN.text, BOARDS.text]


def test_steps_are_kept_together_where_they_are_asked_for(tmp_path: Path) -> None:
    other = made_quote("Paint: a fence of oak needs none")
    with make_collection(tmp_path, {"a.pdf": [other, FENCE, TIN, made_quote("Let it dry")]}) as collection:
        asked = [hit.quote.text for hit in search(collection, "How do I paint a fence?")]
        told = [hit.quote.text for hit in search(collection, "Paint on a fence")]
    assert asked.index("Let it dry") < asked.index(other.text)
    assert told.index("Let it dry") > told.index(other.text)


def test_the_step_that_fits_best_is_kept_together_with_the_first_ones(tmp_path: Path) -> None:
    steps = [made_quote(f"Coat number {number}") for number in ("one", "two", "six", "ten", "red", "dry", "wet", "old")]
    last = [made_quote("Paint the gate of a fence"), made_quote("Close it")]
    with make_collection(tmp_path, {"a.pdf": [made_quote("Oak"), FENCE, *steps, *last]}) as collection:
        scores = {hit.quote.text: hit.score for hit in search(collection, "How do I paint the gate of a fence?")}
    assert {scores[one.text] for one in (*steps, *last)} == {max(scores.values())}


def test_a_heading_ends_where_another_begins(tmp_path: Path) -> None:
    another = made_quote("Sharpen a saw", layout="title")
    with make_collection(tmp_path, {"a.pdf": [BOARDS, FENCE, another, TIN]}) as collection:
        scores = {hit.quote.text: hit.score for hit in search(collection, "How do I paint a fence?")}
    assert scores[TIN.text] == scores[BOARDS.text] == scores[another.text] < scores[FENCE.text]


def test_a_text_with_a_contact_comes_first_of_its_like_where_one_is_asked_for(tmp_path: Path) -> None:
    quotes = [
        made_quote("The harbour office opens at nine.", layout="paragraph"),
        made_quote("Bridge Road 4, Tel: 01983 873 655", layout="paragraph"),
        made_quote("The board met in March.", layout="paragraph"),
    ]
    with make_collection(tmp_path, {"a.pdf": quotes}) as collection:
        called = [hit.quote.text for hit in search(collection, "What is the telephone number of the harbour office?")]
        opened = {hit.quote.text: hit.score for hit in search(collection, "When does the harbour office open?")}
    assert called == [quotes[0].text, quotes[1].text, quotes[2].text]
    assert opened[quotes[1].text] == opened[quotes[2].text]


@pytest.mark.parametrize(
    ("question", "heading"),
    [
        ("What does chapter two say?", "2. Rails"),
        ("What is in the last chapter?", "3. Tides"),
        ("What does section 1 say?", "1. Cranes"),
        ("What does the appendix contain?", "Appendix A. Names"),
    ],
)
def test_of_several_parts_on_a_page_the_one_that_is_named_comes_first(
    question: str, heading: str, tmp_path: Path
) -> None:
    quotes: list[Quote] = []
    for title in ("1. Cranes", "2. Rails", "3. Tides", "Appendix A. Names"):
        quotes += [
            made_quote(title, layout="title"),
            made_quote(f"Of {title[-4:]}: rain from the west.").model_copy(update={"section": title}),
        ]
    with make_collection(tmp_path, {"a.md": quotes}) as collection:
        first, second, third, *_ = search(collection, question)
    assert {first.quote.text, second.quote.section} == {heading}
    assert third.score < second.score


def test_a_document_may_have_any_number_of_chapters(tmp_path: Path) -> None:
    quotes = [made_quote(f"Chapter {number} Tides", layout="title", page=number - 1) for number in range(1, 136)]
    with make_collection(tmp_path, {"moby.pdf": quotes}) as collection:
        assert search(collection, "What is in the last chapter?")[0].quote.text == "Chapter 135 Tides"


def test_a_heading_without_a_number_does_not_end_a_part_and_each_document_has_its_own_last(tmp_path: Path) -> None:
    ships = [
        made_quote("Chapter 1 Cranes", layout="title"),
        made_quote("The planks of cranes cost 3.").model_copy(update={"section": "Chapter 1 Cranes"}),
        made_quote("Chapter 2 Ships", layout="title"),
        made_quote("Hulls", layout="title").model_copy(update={"section": "Chapter 2 Ships"}),
        made_quote("The planks cost 9.").model_copy(update={"section": "Hulls"}),
    ]
    rails = [
        made_quote(text, layout="title").model_copy(update={"document": "b.md"})
        for text in ("Chapter 1 Steel", "Chapter 2 Iron", "Chapter 3 Wood")
    ]
    with make_collection(tmp_path, {"a.md": ships, "b.md": rails}) as collection:
        first, *_ = search(collection, "What do the planks cost in chapter 2?")
        last = search(collection, "What is in the last chapter?", where=Filter(documents=("b.md",)))
        everywhere = search(collection, "What is in the last chapter?")
    assert first.quote.text == "The planks cost 9."
    assert last[0].quote.text == "Chapter 3 Wood"
    assert {hit.quote.text for hit in everywhere[:4]} >= {"Chapter 2 Ships", "Chapter 3 Wood"}


@pytest.mark.parametrize(
    ("titles", "last"),
    [
        (("Chapter 1 Alder", "Chapter 2 Beech", "50 Years of the Harbour"), "Chapter 2 Beech"),
        (("Chapter 1 Alder", "Final Chapter", "Words of thanks"), "Final Chapter"),
        (("Chapter A Alder", "Chapter B Beech"), "Chapter B Beech"),
    ],
)
def test_the_last_chapter_is_the_same_for_pages_and_for_what_stands_on_them(
    titles: Sequence[str], last: str, tmp_path: Path
) -> None:
    quotes: list[Quote] = []
    for title in titles:
        quotes += [
            made_quote(title, layout="title"),
            made_quote(f"Rain from {title[-5:]}.").model_copy(update={"section": title}),
        ]
    with make_collection(tmp_path, {"a.md": quotes}) as collection:
        first, *_ = search(collection, "What is in the last chapter?")
    assert first.quote.text == last


@pytest.mark.parametrize(
    "question",
    [
        '"--"',
        'Which captains "CAN BE" in a run?',
        'Which option has "--dry-run"?',
        'Who wrote "the captain’s run."',
        'What is "low-high"?',
    ],
)
def test_the_quote_that_has_a_quotation_to_the_letter_comes_first_on_its_page(question: str, tmp_path: Path) -> None:
    texts = [
        "Each option has a dry run, low or high, of the captains.",
        "A run can be dry, low–high: build --dry-run, the captain's run",
        "Options of the captain and the run are listed, high and low.",
    ]
    with make_collection(tmp_path, {"a.pdf": [made_quote(text) for text in texts]}) as collection:
        assert search(collection, question)[0].quote.text == texts[1]


def test_what_ocr_read_is_found_where_there_is_no_text(tmp_path: Path) -> None:
    read = made_quote("", layout="figure").model_copy(update={"ocr_text": "Depth of the bore hole"})
    with make_collection(tmp_path, {"a.pdf": [read, made_quote("Grain.", page=1)]}) as collection:
        assert search(collection, "bore hole")[0].quote.layout == "figure"


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Der Zug fährt nach Zürich.", "zurich"),
        ("Der Zug fahrt nach Zurich.", "Zürich"),
        ("東京都の人口は千四百万人です。", "東京の人口"),
        ("Население города", "НАСЕЛЕНИЕ"),
    ],
)
def test_other_scripts_and_accents(text: str, question: str, tmp_path: Path) -> None:
    with make_collection(tmp_path, {"a.txt": [text], "b.txt": ["Grain by ship."]}) as collection:
        assert [hit.quote.text for hit in search(collection, question)] == [text]


def test_a_quote_set_on_a_picture_does_not_count_twice_for_its_page(tmp_path: Path) -> None:
    inside = made_quote("grain", page=0, bbox=(80, 80, 200, 100))
    around = made_quote("grain", page=0, layout="figure", bbox=(72, 72, 540, 400))
    once = made_quote("grain", page=1)
    with make_collection(tmp_path, {"a.pdf": [inside, around, once]}) as collection:
        index = lexical.current_lexical_index(collection)
        words = LexicalRetriever(collection).evidence(index, "grain").parts["words"]
    assert words[0] == words[1] > 0


@pytest.mark.parametrize(
    ("question", "document", "page"),
    [
        ("At what depth did the rod meet wood?", "field-notes-scan.pdf", 0),  # a scan: only OCR has its words
        ("When does the 10:40 from Sölmatt arrive at Grünegg?", "visitor-guide.pdf", 2),
        ("vessel calls in each quarter, 2022 and 2023", "harbour-report.pdf", 2),
        ("What does Figure 1 of the LagStage paper show?", "two-column-paper.pdf", 0),
    ],
)
def test_the_page_that_answers_comes_first(question: str, document: str, page: int, sample_collection: Path) -> None:
    with Collection.open(sample_collection) as collection:
        hits = search(collection, question)
        assert hits == search(collection, question)
    best = rank_pages(hits)[0]
    assert (best.document, best.page) == (document, page)
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert scores[-1] > 0
    assert len({hit.quote.id for hit in hits}) == len(hits) == 20


def test_the_words_counted_are_those_of_the_pages_searched_and_of_the_likeliest_document(tmp_path: Path) -> None:
    texts = {"a.pdf": "Tonnes of grain.", "b.pdf": "Grain by rail, road and river in barges from Basel to Antwerp."}
    with make_collection(tmp_path, {name: [text] for name, text in texts.items()}) as collection:
        retriever, query = LexicalRetriever(collection), Query(text="tonnes")
        in_a, in_both, in_all = ((FEW_WORDS + count) / (FEW_WORDS + MANY_WORDS) for count in (2, (2 * 8 + 2) // 3, 8))
        assert retriever.explain(query, []).variety == pytest.approx(in_both)
        assert retriever.explain(query, [], where=Filter(documents=("a.pdf",))).variety == pytest.approx(in_a)
        assert retriever.explain(Query(text="zeppelin"), []).variety == pytest.approx(in_all)


def test_places_of_the_question_that_documents_have_are_explained(tmp_path: Path) -> None:
    with make_collection(tmp_path, {"a.pdf": [made_quote("Grain.", page=n) for n in range(3)]}) as collection:
        explained = LexicalRetriever(collection).explain(Query(text="What is on the last page, and in chapter 9?"), [])
    assert explained.places == ("page #-1",)


WORDS = ("grain", "timber", "quay", "rail", "crane", "pool")
LAYOUTS: tuple[Layout, ...] = ("paragraph", "title", "list", "figure", "table")
PLACED = st.tuples(
    st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join),
    st.integers(0, 4),  # the page
    st.sampled_from(LAYOUTS),
)


@given(
    st.lists(st.lists(PLACED, min_size=1, max_size=8), min_size=1, max_size=3),
    st.lists(st.sampled_from((*WORDS, "How do I", "figures", "telephone", "page 2")), min_size=1, max_size=4),
    st.sampled_from(
        (None, Filter(kind="image"), Filter(kind="text"), Filter(layouts=("title",)), Filter(documents=("0.pdf",)))
    ),
)
def test_the_best_hits_are_the_same_however_many_are_asked_for(
    documents: list[list[tuple[str, int, Layout]]], asked: list[str], where: Filter | None
) -> None:
    held = {
        f"{at}.pdf": [
            made_quote(text, page=page, layout=layout) for text, page, layout in sorted(own, key=itemgetter(1))
        ]
        for at, own in enumerate(documents)
    }
    with tempfile.TemporaryDirectory() as folder, make_collection(Path(folder), held) as collection:
        retriever, query = LexicalRetriever(collection), Query(text=" ".join(asked))
        every = retriever.search([query], 50, where=where)[0]
        for k in range(1, len(every)):
            assert retriever.search([query], k, where=where)[0] == every[:k]


def test_steps_under_the_best_heading_come_before_those_under_one_above_it(tmp_path: Path) -> None:
    text = "# Starting the crane\n\n" + "\n\n".join(f"The crane has part {number}." for number in range(12))
    text += "\n\n## Starting the crane in fog\n\nSound the horn, and press the lever.\n\n## Boats\n\nThey wait."
    (tmp_path / "crane.md").write_text(text)
    with Collection.create(tmp_path / "made") as made:
        add(made, [tmp_path / "crane.md"])
        texts = [hit.quote.text for hit in search(made, "How do I start the crane in fog?")]
    assert texts.index("Sound the horn, and press the lever.") < texts.index("The crane has part 0.")


GRAIN_ON_TWO_PAGES = [
    made_quote("Grain was shipped from Merrow in May.", page=0),
    made_quote("Grain was shipped in June, when the quay at Merrow was closed for some days.", page=0),
    made_quote("Grain was shipped in July, when the quay at Merrow was closed to all but the smallest boats.", page=0),
    made_quote("Timber is stored in the yard behind the old customs house.", page=0),
    made_quote("Of all that Merrow sent abroad that year, grain was the least, and coal the most.", page=1),
    made_quote("The crane is new.", page=2),
    made_quote("The lock is old.", page=3),
]


def test_the_first_hits_are_of_several_pages(tmp_path: Path) -> None:
    with make_collection(tmp_path, {"a.pdf": GRAIN_ON_TWO_PAGES}) as collection:
        hits = search(collection, "Which grain was shipped from Merrow?")
    assert [hit.quote.page for hit in hits[:3]] == [0, 1, 0]


def test_quotes_that_fit_alike_stay_alike(tmp_path: Path) -> None:
    quotes = [made_quote("Grain.", page=0) for _ in range(4)] + [made_quote("Coal.", page=1)]
    with make_collection(tmp_path, {"a.pdf": quotes}) as collection:
        hits = search(collection, "grain")
    assert len({hit.score for hit in hits[:4]}) == 1


def test_what_stands_first_under_the_name_of_a_thing_is_found_for_what_it_does(tmp_path: Path) -> None:
    quotes = [
        made_quote("Purge valve", layout="title", page=0),
        made_quote("It lets air out of the boiler.", page=0),
        made_quote("The purge valve of boiler 3 leaks, and the purge valve of boiler 4 sticks.", page=0),
        made_quote("Whoever opens the purge valve writes it down.", page=0),
        made_quote("The purge valve was bought in May.", page=1),
    ]
    with make_collection(tmp_path, {"a.pdf": quotes}) as collection:
        hits = search(collection, "What does the purge valve do?", where=Filter(kind="text"))
    best = max(hit.score for hit in hits)
    assert "It lets air out of the boiler." in [hit.quote.text for hit in hits if hit.score == best]


def test_how_rare_a_word_is_is_told_of_its_other_spelling_too(tmp_path: Path) -> None:
    texts = [*(f"ship {number}" for number in range(9)), "the export license"]
    quotes = [made_quote(text, page=page) for page, text in enumerate(texts)]
    with make_collection(tmp_path, {"a.pdf": quotes}) as collection:
        told, as_written = (LexicalRetriever(collection).explain(Query(text=f"licen{end}"), []) for end in ("ce", "se"))
        assert told.spellings == {"licence": ("license",)}
        assert told.rarity["licenc"] == 0.5, "as if rare, and not as if in no document"
        assert told.rarity["licens"] == as_written.rarity["licens"] < 1


def test_a_synonym_is_searched_for_where_no_page_has_the_word_and_the_trace_says_so(tmp_path: Path) -> None:
    quotes = [made_quote("Parts are sent by post.", page=0), made_quote("The motor is guaranteed.", page=1)]
    query = Query(text="Which engine?")
    with make_collection(tmp_path, {"a.pdf": quotes}) as collection:
        retriever = LexicalRetriever(collection)
        (hits,) = retriever.search([query], 5)
        told = retriever.explain(query, hits)
        assert hits[0].quote.page == 1
        assert told.synonyms == {"engine": ("motor",)}
        assert told.interpretation == ("on no page: engine; searched for motor",)
        assert LexicalRetriever(collection, synonyms=False).search([query], 5) == [[]]


def test_of_a_comparison_the_trace_says_what_is_compared(tmp_path: Path) -> None:
    questions = ("How did grain change from 2019 to 2021?", "Compare the grain of Varna and Oslo")
    with make_collection(tmp_path, {"a.pdf": [made_quote("Grain.", page=0)]}) as collection:
        told = [LexicalRetriever(collection).explain(Query(text=each), []).interpretation for each in questions]
    assert told == [("compares: 2019, 2021",), ("compares: Varna, Oslo",)]


def test_a_word_that_only_a_name_has_leads_to_the_pages_of_that_document_that_have_the_others(tmp_path: Path) -> None:
    documents = {
        "manual.pdf": [made_quote("The stream may end. At its end, the end is told.", page=0)],
        "lease.pdf": [made_quote("The keys are with the landlord.", page=0), made_quote("It may end in May.", page=1)],
    }
    query = Query(text="When does the lease end?")
    with make_collection(tmp_path, documents) as collection:
        retriever = LexicalRetriever(collection, synonyms=False)
        (hits,) = retriever.search([query], 5)
        told = retriever.explain(query, hits)
    assert (hits[0].quote.document, hits[0].quote.page) == ("lease.pdf", 1)
    assert ("document's name", "lease") in {(reason.part, reason.detail) for reason in told.reasons[hits[0].quote.id]}
