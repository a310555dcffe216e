"""The evidence for a page, part by part, in small examples."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from made_collections import made_quote, make_collection

from quoteweave.collection.collection import Collection
from quoteweave.collection.segments.builder import SegmentBuilder
from quoteweave.core.place_names import PlaceName
from quoteweave.core.records import Filter, Page, Quote
from quoteweave.index import lexical
from quoteweave.retrievers.lexical import LexicalRetriever
from quoteweave.retrievers.pages.evidence import EvidenceScorer, PageEvidence
from quoteweave.retrievers.pages.page_feedback import PageFeedback, is_continued

Told = dict[str, list[int]]


def evidence(collection: Collection, question: str, where: Filter | None = None) -> PageEvidence:
    return LexicalRetriever(collection).evidence(lexical.current_lexical_index(collection), question, where)


def told(tmp_path: Path, quotes: Sequence[Quote], question: str, part: str) -> list[int]:
    """Pages for which a part speaks, in a document of its own."""
    with make_collection(tmp_path, {"a.pdf": quotes}) as collection:
        index = lexical.current_lexical_index(collection)
        points = evidence(collection, question).parts[part]
        numbers = sorted({quote.page for quote in quotes})
        assert len(points) == len(numbers) == index.page_count
        return [number for number, point in zip(numbers, points, strict=True) if point > 0]


PLAIN = [made_quote("timber", page=page) for page in range(5)]


@pytest.mark.parametrize(
    ("question", "others", "text", "found"),
    [
        ("How much does it weigh?", "timber", "Weight: 12 kg", True),
        ("How tall is it?", "timber", "Height: 46 cm", True),
        ("Where does she live?", "timber", "Address: 12 Mill Lane", True),
        ("What does it cost?", "timber", "Price: 90 euros", True),
        ("What does it cost?", "It costs nothing", "Price: 90 euros", False),
        ("How do I prune roses?", "timber", "Rents increased", False),  # they are no "rose" of "rise"
    ],
)
def test_a_word_that_no_page_has_is_looked_for_by_others_that_say_the_same(
    question: str, others: str, text: str, found: bool, tmp_path: Path
) -> None:
    quotes = [made_quote(others, page=1), made_quote(text, page=2)]
    assert (2 in told(tmp_path, quotes, question, "best quote")) == found


@pytest.mark.parametrize(
    ("question", "pages"),
    [
        ("What is on the second page?", [1]),
        ("What is on the last slide?", [4]),
        ("What is on the second to last page?", [3]),
        ("What do pages two to four say?", [1, 2, 3]),
        ("What is on the cover?", [0]),
        ("What is on the ninth page?", []),
        ("What is said of timber?", []),
    ],
)
def test_pages_are_referred_to_by_their_place(question: str, pages: list[int], tmp_path: Path) -> None:
    assert told(tmp_path, PLAIN, question, "reference") == pages


def test_what_a_document_is_about_decides_for_none_of_its_pages(tmp_path: Path) -> None:
    manual = ["jq is small", "To build it, run make", "jq, more of jq", "jq and jq", "jq mail", "jq ends"]
    documents = {name: [f"{name} is built by make", "To build it"] for name in ("tmux.pdf", "wget.pdf", "sed.pdf")}
    pages = [made_quote(text, page=page) for page, text in enumerate(manual)]
    with make_collection(tmp_path, {"jq.pdf": pages, **documents}) as collection:
        index = lexical.current_lexical_index(collection)
        found = evidence(collection, "How do I build jq?")
        own = index.pages_of(int(index.document_of[int(found.total.argmax())]))
        assert found.total[own].argmax() == 1
        assert (found.total[own] > 0).all()
        np.testing.assert_allclose(sum(found.parts.values()), found.total, rtol=1e-5)


def test_words_of_grammar_of_another_language_do_not_outweigh_a_reference(tmp_path: Path) -> None:
    quotes = [*PLAIN[:4], made_quote("oak", page=4), made_quote("O que mostra? Que sera.", page=0)]
    quotes.sort(key=lambda quote: quote.page)
    with make_collection(tmp_path, {"a.pdf": quotes}) as collection:
        total = evidence(collection, "O que é que há no penúltimo slide?").total
        assert int(total.argmax()) == 3
        assert evidence(collection, "O que sera?").total[0] > 0


def test_sections_last_until_the_next_one(tmp_path: Path) -> None:
    quotes = [
        made_quote("1 Ships", page=0, layout="title"),
        made_quote("2 Timber", page=1, layout="title"),
        made_quote("Kinds of wood", page=2, layout="title"),
        made_quote("oak", page=3),
        made_quote("2.1 Oak", page=4, layout="title"),
        made_quote("elm", page=5),
        made_quote("References", page=5, layout="title"),
        made_quote("Appendix A. Tables", page=6, layout="title"),
    ]
    asked = {
        "What does chapter 2 say?": [1, 2, 3, 4, 5],
        "What is in Section 2.1?": [4, 5],
        "What stands in the appendix?": [6],
        "What do the references in this paper say?": [5],
    }
    for number, (question, pages) in enumerate(asked.items()):
        # The last one ends on the page with the heading of the next one, unless that begins the page.
        assert told(tmp_path / str(number), quotes, question, "reference") == pages, question


@pytest.mark.parametrize(
    ("question", "pages"),
    [
        ("Which ships does “Northern Harbours” list?", [1, 2]),
        ("Which ships are in the Northern Harbours section?", [1, 2]),
        ("Which ships are in the “Harbours” section?", [1, 2, 3]),
    ],
)
def test_a_section_is_called_by_its_title(question: str, pages: list[int]) -> None:
    headings = ("The north", "Harbours of the northern coast", "Northern Harbours", "Harbours")
    builder = SegmentBuilder()
    made = [
        Page(number=n, label=str(n + 1), width=600, height=800, text_source="none", headings=(each,))
        for n, each in enumerate(headings)
    ]
    builder.add("a.pdf", [(n, made_quote("oak", page=n)) for n in range(len(made))], made)
    segment = builder.segment()
    assert segment is not None
    scorer = EvidenceScorer(
        lexical.LexicalIndex({"x": segment}),
        lambda at: [made_quote("oak")] * len(at),
        lambda *_: np.zeros(4, dtype=np.bool_),
    )
    assert np.flatnonzero(scorer.score(question, None).parts["reference"]).tolist() == pages


def test_kinds_of_pictures_are_looked_for(tmp_path: Path) -> None:
    quotes = [
        made_quote("timber", page=0),
        made_quote("", page=1, layout="chart"),
        made_quote("", page=2, layout="table"),
        made_quote("", page=3, layout="figure"),
    ]
    assert told(tmp_path / "1", quotes, "How many bar charts are there?", "picture type") == [1, 3]
    assert told(tmp_path / "2", quotes, "What does the table list?", "picture type") == [2]
    assert told(tmp_path / "3", quotes, "Who wears a hat in the photo?", "picture type") == [1, 3]


def test_kinds_alone_tell_nothing_of_many_documents(tmp_path: Path) -> None:
    documents = {
        "a.pdf": [made_quote("timber", page=0), made_quote("", page=1, layout="chart")],
        "b.pdf": [made_quote("grain", page=0), made_quote("", page=1, layout="chart")],
    }
    with make_collection(tmp_path, documents) as collection:
        assert evidence(collection, "the charts on zinc").total.max() == 0
        assert (evidence(collection, "the charts on grain").parts["picture type"] > 0).tolist() == [
            False,
            False,
            False,
            True,
        ]
        within = evidence(collection, "the charts on zinc", Filter(documents=("a.pdf",)))
        assert (within.parts["picture type"] > 0).tolist() == [False, True, False, False]


def test_a_document_of_the_subject_is_worth_more_than_one_that_names_it_once(tmp_path: Path) -> None:
    documents = {
        "about.pdf": [
            made_quote("timber trade", page=0),
            made_quote("timber prices", page=1),
            made_quote("timber", page=2),
        ],
        "other.pdf": [made_quote("timber", page=0), *(made_quote(f"grain {page}", page=page) for page in (1, 2, 3))],
    }
    with make_collection(tmp_path, documents) as collection:
        parts = evidence(collection, "timber").parts["document"]
        assert parts[2] > parts[3] > 0
        assert parts[4] == 0
        assert "document" not in evidence(collection, "timber", Filter(documents=("about.pdf",))).parts


def test_a_word_is_as_rare_as_it_is_among_the_pages_that_are_searched(tmp_path: Path) -> None:
    documents = {
        "a.pdf": [made_quote("acme timber", page=0), made_quote("acme ships", page=1), made_quote("acme", page=2)],
        "b.pdf": [made_quote(f"grain timber {page}", page=page) for page in range(6)],
    }
    with make_collection(tmp_path, documents) as collection:
        everywhere = evidence(collection, "acme timber").parts["words"]
        within = evidence(collection, "acme timber", Filter(documents=("a.pdf",))).parts["words"]
        assert within[0] / within[2] > everywhere[0] / everywhere[2]
        assert within[3:].max() == 0


def test_page_feedback_finds_what_shares_rare_words_and_what_stands_beside(
    tmp_path: Path,
) -> None:
    quotes = [
        made_quote("harvest of zinc at Quarry Hill by lorry", page=0),
        made_quote("what goes on", page=1),
        made_quote("nothing", page=2),
        made_quote("lorry drivers at Quarry Hill met", page=3),
        made_quote("other", page=4),
    ]
    with make_collection(tmp_path, {"a.pdf": quotes}) as collection:
        found = evidence(collection, "Where is zinc won?")
    look, total = found.parts["page feedback"], found.total
    assert total.argmax() == 0
    assert look[3] > look[2] + 0.1  # the rare words
    assert look[1] > look[2] + 0.1  # the next page
    assert (total > 0).all()  # where few pages match, others of the document follow


def test_where_a_kind_of_picture_alone_is_asked_for_no_page_without_it_comes_before_those_with_it(
    tmp_path: Path,
) -> None:
    quotes = [
        made_quote("A report on hives", page=0),
        made_quote("hives at Quarry Hill", page=1),
        made_quote("hives", page=2, layout="chart"),
        made_quote("hives at Quarry Hill", page=3),
        made_quote("honey", page=4),
        made_quote("honey", page=5, layout="chart"),
    ]
    for number, question in enumerate(("What does the pie chart show?", "How many bar charts are in the report?")):
        with make_collection(tmp_path / str(number), {"a.pdf": quotes}) as collection:
            found = evidence(collection, question).total
            assert set(np.argsort(-found)[:2].tolist()) == {2, 5}, question
    # Where no page shows one, the words are all that there is.
    with make_collection(
        tmp_path / "none", {"a.pdf": [quote for quote in quotes if quote.kind == "text"]}
    ) as collection:
        assert evidence(collection, "How many bar charts are in the report?").total.argmax() == 0
    # What is said of the kind is a topic, and leads to further pages.
    with make_collection(tmp_path / "topic", {"a.pdf": quotes}) as collection:
        found = evidence(collection, "Which chart shows honey?").total
        assert np.argsort(-found)[:2].tolist() == [5, 4]


def test_the_words_of_a_page_that_is_found_by_its_place_are_not_looked_for(tmp_path: Path) -> None:
    quotes = [made_quote("Libtasn, version 4", page=0), made_quote("grain", page=1)]
    quotes += [made_quote("The title page of a version: the title page itself. State the title.", page=2)]
    question = "Which version is on the title page?"
    with make_collection(tmp_path / "1", {"a.pdf": quotes}) as collection:
        assert evidence(collection, question).total.argmax() == 0
    with make_collection(tmp_path / "2", {"a.pdf": quotes}) as collection:
        assert evidence(collection, "What is said of the title?").total.argmax() == 2


def test_each_side_of_a_comparison_is_looked_for(tmp_path: Path) -> None:
    quotes = [
        made_quote("growth of timber and of grain, growth of all", page=0),
        *(made_quote(f"sum {page}", page=page) for page in range(1, 5)),
        made_quote("timber", page=5),
        *(made_quote(f"sum {page}", page=page) for page in range(6, 11)),
        made_quote("grain " + "bread " * 30, page=12),
    ]
    with make_collection(tmp_path, {"a.pdf": quotes}) as collection:
        plain = evidence(collection, "growth of timber and grain").parts["page feedback"]
        compared = evidence(collection, "growth between timber and grain").parts["page feedback"]
    assert (compared > plain + 0.1).nonzero()[0].tolist() == [5, 11]


def test_each_side_is_looked_for_among_the_pages_that_are_searched(tmp_path: Path) -> None:
    quotes = [made_quote("growth of timber and of grain, growth of all", page=0)]
    quotes += [made_quote(f"sum {page}", page=page) for page in range(1, 12)] + [made_quote("grain", page=12)]
    other = [made_quote("growth grain growth timber", page=0)]
    with make_collection(tmp_path, {"a.pdf": quotes, "b.pdf": other}) as collection:
        found = evidence(collection, "growth between timber and grain", Filter(documents=("a.pdf",)))
    assert found.parts["page feedback"][12] > 0.1
    assert found.total[13] == 0


def test_repeated_lines_weigh_words_and_references_alike(tmp_path: Path) -> None:
    with make_collection(tmp_path, {"a.pdf": PLAIN}) as collection:
        once, thrice = (evidence(collection, "\n".join(["timber on page 3"] * times)) for times in (1, 3))
    for part in ("words", "reference"):
        assert thrice.parts[part] == pytest.approx(3 * once.parts[part], rel=1e-5)


def test_pages_are_scored_in_units(tmp_path: Path) -> None:
    from quoteweave.core.records import Query

    with make_collection(tmp_path, {"a.pdf": PLAIN}) as collection:
        retriever = LexicalRetriever(collection)
        pages = [("a.pdf", 1), ("a.pdf", 99), ("b.pdf", 0)]
        assert retriever.page_scores(Query(text="the second page"), pages)[1:] == [0, 0]
        assert retriever.page_scores(Query(text="the second page"), pages)[0] >= 1


def test_acronyms_that_a_document_defines_lead_to_what_they_stand_for_and_back(tmp_path: Path) -> None:
    quotes = [
        made_quote("The mean time to failure (MTTF) is told by the maker.", page=0),
        made_quote("Lamps: the time until a failure is, in the mean, a year.", page=1),
        made_quote("MTTF of pumps: two years.", page=2),
        made_quote("Other things.", page=3),
    ]
    with make_collection(tmp_path, {"a.pdf": quotes, "b.pdf": [made_quote("mean time to failure")]}) as collection:
        short = evidence(collection, "What is the MTTF?")
        long = evidence(collection, "What is the mean time to failure?")
        assert (short.parts["acronyms"] > 0).tolist() == [False, True, False, False, False]  # b defines nothing
        assert (long.parts["acronyms"] > 0).tolist() == [False, False, True, False, False]
        assert list(short.sources["acronyms"]) == ["mttf = mean time to failure"]
        assert list(long.sources["acronyms"]) == ["mean time failure = MTTF"]
        words = short.parts["words"]
        assert 0 < short.parts["acronyms"][1] < words[2]


def test_the_plural_of_an_acronym_is_the_same_acronym(tmp_path: Path) -> None:
    for defined, other, at in (("LLMs", "LLM", 1), ("LLM", "LLMs", 1)):
        quotes = [
            made_quote(f"Abstract—Large language models ({defined}) write.", page=0),
            made_quote(f"An index helps each {other} of ours.", page=1),
            made_quote("Models that are large speak a language.", page=2),
            made_quote("Other things.", page=3),
        ]
        assert told(tmp_path / defined / "1", quotes, "What is a large language model?", "acronyms") == [at]
        assert told(tmp_path / defined / "2", quotes, f"What do {other} do?", "acronyms") == [0, 2]
        assert told(tmp_path / defined / "3", quotes, f"What do {defined} do?", "acronyms") == [1, 2]
        assert told(tmp_path / defined / "4", quotes, f"what do {other.lower()} do?", "acronyms") == [0, 2]
        for asked in (defined, other):
            with make_collection(tmp_path / defined / asked, {"a.pdf": quotes}) as collection:
                found = evidence(collection, f"What do {asked} do?")
                assert int(found.total.argmax()) == (0 if asked == defined else 1)


def test_acronyms_are_known_by_lists_and_tables_of_abbreviations(tmp_path: Path) -> None:
    quotes = [
        made_quote("LOS: length of stay. MRI: magnetic resonance imaging.", page=0),
        made_quote("The mean LOS was 5.1 days.", page=1),
        made_quote("Abbreviation | Meaning\nED | emergency department", page=2, layout="table"),
        made_quote("The ED saw 41,000 patients.", page=3),
    ]
    assert told(tmp_path / "1", quotes, "What was the length of stay?", "acronyms") == [1]
    assert told(tmp_path / "2", quotes, "Whom did the emergency department see?", "acronyms") == [3]


def test_acronyms_are_those_of_the_documents_that_are_searched(tmp_path: Path) -> None:
    own = [made_quote("the mean time to failure (MTTF)", page=0), made_quote("failure: the mean of its time", page=1)]
    meanings = ("many tall trees fell", "much tin to find", "most teams think first")
    others = {f"{number}.pdf": [f"{meaning} (MTTF) " * 9] for number, meaning in enumerate(meanings)}
    with make_collection(tmp_path, {"z.pdf": own, **others}) as collection:
        within = Filter(documents=("z.pdf",))
        found = evidence(collection, "What is the MTTF?", within)
        assert list(found.sources["acronyms"]) == ["mttf = mean time to failure"]
        alone = found.parts["acronyms"].max()
    with make_collection(tmp_path / "alone", {"z.pdf": own}) as collection:
        assert evidence(collection, "What is the MTTF?", within).parts["acronyms"].max() > 0
    assert alone > 0


def test_few_headings_among_many_pages_weigh_as_much_as_they_do_within_a_filter(tmp_path: Path) -> None:
    with make_collection(tmp_path, {"a.pdf": [made_quote(f"page {page}", page=page) for page in range(200)]}) as made:
        pages = made.pages("a.pdf")
        pages[7] = pages[7].model_copy(update={"headings": ("Winter timber",)})
        builder = SegmentBuilder()
        builder.add("a.pdf", enumerate(made.document_quotes("a.pdf")), pages)
        segment = builder.segment()
    assert segment is not None
    index = lexical.LexicalIndex({"x": segment})
    everywhere = index.scores("outline", ["timber"])
    assert everywhere[7] == pytest.approx(index.scores("outline", ["timber"], within=np.ones(200, dtype=np.bool_))[7])
    assert everywhere[7] > 1


@pytest.mark.parametrize(
    ("question", "pages"),
    [
        ("On what page does the first part end?", [0, 1, 2]),
        ("What is on the first page of part two?", [3, 4]),
        ("What is in the last part?", [3, 4]),
    ],
)
def test_parts_are_found_by_numbers_in_words(question: str, pages: list[int], tmp_path: Path) -> None:
    headings = {0: "Part One", 3: "Part Two"}
    quotes = [made_quote(headings[page], page=page, layout="title") for page in headings]
    quotes = sorted([*quotes, *(made_quote("timber", page=page) for page in range(5))], key=lambda quote: quote.page)
    assert told(tmp_path, quotes, question, "reference") == pages


@pytest.mark.parametrize(
    ("headings", "pages"),
    [
        (["1 Ships", "2 Cranes", "50 Years of the Harbour"], [1]),
        (["Chapter 1", "Chapter 2", "Chapter 4"], [2]),
        (["Chapter 12", "Chapter 13"], [1]),
        (["50 Years of the Harbour"], []),
        (["Chapter 1", "Chapter 2", "Final Chapter"], [2]),
        (["Chapter A", "Chapter B"], [1]),
    ],
)
def test_the_last_chapter_is_the_one_whose_number_follows_the_others(
    headings: list[str], pages: list[int], tmp_path: Path
) -> None:
    quotes = [made_quote(heading, page=page, layout="title") for page, heading in enumerate(headings)]
    assert told(tmp_path, quotes, "What is in the last chapter?", "reference") == pages


def test_each_document_has_its_own_last_chapter(tmp_path: Path) -> None:
    texts = {"a": ["1 Ships", "2 Cranes"], "b": ["Chapter 1", "Last Chapter"], "c": ["1 Ships", "9 Cranes"], "d": ["x"]}
    quotes = {
        name: [made_quote(text, page=page, layout="title") for page, text in enumerate(found)]
        for name, found in texts.items()
    }
    with make_collection(tmp_path, quotes) as collection:
        index = lexical.current_lexical_index(collection)
        assert index.pages_meant_by(PlaceName.parse("chapter last")).tolist() == [1, 3, 4]
        assert index.pages_meant_by(PlaceName.parse("chapter last #1")).tolist() == [1, 3, 4]


@pytest.mark.parametrize(("question", "page"), [("Where does part 1 end?", 2), ("Where does part 2 begin?", 3)])
def test_the_page_on_which_a_part_ends_or_begins_counts_most(question: str, page: int, tmp_path: Path) -> None:
    headings = {0: "Part 1", 3: "Part 2"}
    quotes = [
        made_quote(headings.get(at, "timber"), page=at, layout="title" if at in headings else "paragraph")
        for at in range(5)
    ]
    with make_collection(tmp_path, {"a.pdf": quotes}) as collection:
        assert evidence(collection, question).parts["reference"].argmax() == page


def test_the_words_of_a_part_are_not_looked_for_where_a_page_of_it_is_asked_for(tmp_path: Path) -> None:
    texts = [
        "Part I: Ships",
        "The first ships part where they end. The first end.",
        "Oak",
        "Elm",
        "Part II: Cranes",
        "Rails",
    ]
    quotes = [
        made_quote(text, page=page, layout="title" if "Part" in text else "paragraph")
        for page, text in enumerate(texts)
    ]
    with make_collection(tmp_path, {"a.pdf": quotes}) as collection:
        for question, page in (("On what page does the first part end?", 3), ("What is the first part about?", 0)):
            assert int(evidence(collection, question).total.argmax()) == page


def test_what_stands_in_quotation_marks_is_looked_for_together(tmp_path: Path) -> None:
    quotes = [
        made_quote("The harbour was deep.", page=0),
        made_quote("Made of timber.", page=0),
        made_quote("A deep harbour of timber", page=1),
    ]
    assert told(tmp_path / "1", quotes, 'What is a "deep harbour of timber"?', "quotation") == [1]
    assert told(tmp_path / "2", quotes, 'What is "timber"?', "quotation") == []  # one word is found as a word


def test_what_is_quoted_to_the_letter_is_worth_more_than_its_words(tmp_path: Path) -> None:
    quotes = [made_quote("Timber of the deep harbour", page=0), made_quote("the DEEP\nharbour’s  timber", page=1)]
    with make_collection(tmp_path, {"a.pdf": quotes}) as collection:
        found = evidence(collection, 'Where does it say "deep harbour\'s timber."?').parts["quotation"]
    assert found[1] > found[0] > 0


@pytest.mark.parametrize("odd", ["--", "C++", ".NET", "§", '"\\"', "**", "[?]", "]"])
def test_a_quoted_string_of_marks_is_found(odd: str, tmp_path: Path) -> None:
    quotes = [made_quote(f"grain {odd} 7", page=0), made_quote("c net grain 7", page=1), made_quote("grain", page=2)]
    assert told(tmp_path, quotes, f"What does “{odd}” mean?", "quotation") == [0]


@pytest.mark.parametrize("odd", ["--", ")", "_", "." * 20, "." * 30])
def test_symbols_are_found_in_the_index_and_longer_runs_of_them_in_the_records(
    odd: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quotes = [made_quote(f"grain ({odd}). 7", page=0), made_quote("grain .. -", page=1)]
    read: list[str] = []

    def rows_containing(_: Collection, text: str, **__: int) -> object:
        read.append(text)
        return np.array([1])

    monkeypatch.setattr(Collection, "rows_containing", rows_containing)
    assert told(tmp_path, quotes, f"What does “{odd}” mean?", "quotation") == [0]
    assert read == ([odd] if len(odd) > 20 else [])


def test_symbols_of_pages_that_an_earlier_version_stored_are_found_in_the_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lexical.LexicalIndex, "knows_symbols", np.array([False, True, True]))
    monkeypatch.setattr(lexical.LexicalIndex, "pages_with_symbols", lambda *_: np.array([False, True, False]))
    quotes = [made_quote(f"grain {symbols}", page=i) for i, symbols in enumerate(("--", "--", ""))]
    assert told(tmp_path, quotes, "What does “--” mean?", "quotation") == [0, 1]


def test_a_quoted_string_of_marks_is_looked_for_in_the_documents_that_are_searched(tmp_path: Path) -> None:
    documents = {name: [made_quote("grain -- 7", page=0), made_quote("grain", page=1)] for name in ("a.pdf", "b.pdf")}
    with make_collection(tmp_path, documents) as collection:
        retriever, index = LexicalRetriever(collection), lexical.current_lexical_index(collection)
        found = retriever.evidence(index, "Where is “--”?", Filter(documents=("b.pdf",))).parts["quotation"]
        page = index.page("b.pdf", 0)
    assert page is not None
    assert np.flatnonzero(found).tolist() == [page]


def test_a_code_is_looked_for_together_without_quotation_marks(tmp_path: Path) -> None:
    quotes = [
        made_quote("Case 21–CV–1234 was heard.", page=0),
        made_quote("In 1234 cases of 21, the cv was missing.", page=1),
        made_quote("Case 21. cv", page=2),
    ]
    with make_collection(tmp_path, {"a.pdf": quotes}) as collection:
        found = evidence(collection, "Who won case 21-cv-1234?").parts["quotation"]
    assert found[0] > found[1] > found[2] == 0


@pytest.mark.parametrize(
    ("amount", "written"),
    [
        ("5 km", "5km away"),
        ("5km", "5 kilometres away"),
        ("4.2 million", "4.2mn in all"),
        ("4.2 million", "4,200,000 in all"),
        ("a 12-month lease", "12 months"),
        ("230 volts", "230V mains"),
        ("16 A", "16A fuse"),
        ("70 °F", "70 degrees Fahrenheit"),
        ("$5m", "5 million dollars"),
        ("€1,200,000", "€1.2m in all"),
    ],
)
def test_an_amount_is_found_however_it_is_written(amount: str, written: str, tmp_path: Path) -> None:
    quotes = [made_quote(written, page=0), made_quote("5 of 12, and 4.2", page=1), made_quote("in all", page=1)]
    assert told(tmp_path, quotes, f"What is {amount}?", "amount") == [0]


def test_millions_of_a_currency_are_no_metres(tmp_path: Path) -> None:
    quotes = [made_quote("5 metres of rope", page=0), made_quote("a rope", page=1)]
    assert told(tmp_path / "1", quotes, "Who spent $5m?", "amount") == []
    assert told(tmp_path / "2", quotes, "Who has 5m of rope?", "amount") == [0]


@pytest.mark.parametrize(
    ("asked", "written"),
    [
        ("Illinois", "The state of lllinois"),  # as OCR reads it
        ("box 101", "Box lO1"),
        ("information", "more infor- mation"),
        ("long-term", "the longterm lease"),
        ("database", "a data base"),
        ("pump XR200", "Pump XR 200 failed"),
        ("E07", "the fault E-07"),
        ("GK2290A", "Valve GK-2290/A is obsolete"),
        ("GK-2290-A", "Valve GK2290A is obsolete"),
        ("7741B09", "Part 7741.B-09"),
        ("+442079460018", "Call +44 20 7946 0018"),
        ("+44 20 7946 0018", "Call +442079460018"),
    ],
)
def test_what_is_nowhere_as_asked_is_found_in_another_spelling(asked: str, written: str, tmp_path: Path) -> None:
    quotes = [made_quote(written, page=0), made_quote("grain", page=1)]
    assert told(tmp_path / "1", quotes, f"Where is {asked}?", "spelling") == [0]
    # Where a page searched has it as asked, no other spelling counts.
    quotes.append(made_quote(asked, page=2))
    assert told(tmp_path / "2", quotes, f"Where is {asked}?", "spelling") == []


def test_a_spelling_that_is_seldom_used_is_no_better_evidence_than_the_one_asked(tmp_path: Path) -> None:
    quotes = [made_quote("A license.", page=page) for page in range(4)]
    with make_collection(tmp_path, {"a.pdf": [*quotes, made_quote("A licence.", page=4)]}) as collection:
        total = evidence(collection, "Where is the license?").total
    assert total[4] < total[:4].min()


@pytest.mark.parametrize(
    ("asked", "written"), [("licence", "a license"), ("colors", "the coloured map"), ("organised", "organized in May")]
)
def test_british_and_american_spellings_count_on_pages_without_the_word_as_asked(
    asked: str, written: str, tmp_path: Path
) -> None:
    quotes = [made_quote(written, page=0), made_quote("grain", page=1), made_quote(asked, page=2)]
    quotes.append(made_quote(f"{written}, {asked}", page=3))
    assert told(tmp_path, quotes, f"Where is {asked}?", "spelling") == [0]


@pytest.mark.parametrize(
    ("question", "written"),
    [
        ("Wer darf einen Hund halten?", "Hunde, die wir gehalten haben"),
        ("Qui a présidé la séance ?", "la séance a été présidée"),
        ("¿Cómo se prepara la tortilla?", "Preparación de la tortilla"),
    ],
)
def test_other_forms_of_a_word_in_another_language_count(question: str, written: str, tmp_path: Path) -> None:
    quotes = [made_quote(written, page=0), made_quote("grain", page=1)]
    assert told(tmp_path, quotes, question, "spelling") == [0]


@pytest.mark.parametrize(
    ("asked", "written"),
    [
        ("12.5", "12 points"),  # "12.s" would be 12, as s is a stop word
        ("XR200", "200 valves of the XR pump"),
        ("16A", "16 parts of a pump"),
        ("7946001", "7946 valves and 001 pumps"),
    ],
)
def test_another_number_or_code_is_no_spelling_of_it(asked: str, written: str, tmp_path: Path) -> None:
    quotes = [made_quote(written, page=0), made_quote("grain", page=1)]
    assert told(tmp_path, quotes, f"Where is {asked}?", "spelling") == []


def test_parts_of_a_word_that_only_stand_on_the_same_page_are_no_spelling_of_it(tmp_path: Path) -> None:
    quotes = [made_quote("a base for data", page=0), made_quote("grain", page=1)]
    assert told(tmp_path, quotes, "Where is the database?", "spelling") == []


def test_a_label_that_no_caption_has_is_found_where_a_text_begins_with_it(tmp_path: Path) -> None:
    quotes = [
        made_quote("Wie Abbildung 3 zeigt", page=0),
        made_quote("Abb. 3: Umschlag", page=1),
        made_quote("Abb. 4: Tiefe", page=2),
    ]
    assert told(tmp_path / "1", quotes, "Was zeigt Abbildung 3?", "reference") == [1]
    assert told(tmp_path / "2", quotes, "What does Figure 3 show?", "reference") == [1]


def table(text: str, *, page: int = 0, caption: str | None = None) -> Quote:
    return made_quote(text, page=page, layout="table", caption=caption)


@pytest.mark.parametrize(
    ("following", "goes_on"),
    [
        (table("Port | Tonnes\nSölmatt | 3"), True),  # the same header
        (table("Sölmatt | 3", caption="Table 2 (continued)"), True),
        (table("Sölmatt | 3", caption="Table 2"), True),
        (table("Sölmatt | 3", caption="Fortsetzung"), True),
        (table("Port | Tonnes\nSölmatt | 3", caption="Table 3: Others"), False),
        (table("Ship | Length\nHope | 3"), False),
        (table(""), False),
    ],
)
def test_whether_a_table_goes_on(following: Quote, goes_on: bool) -> None:
    assert is_continued(table("Port | Tonnes\nGrünegg | 5", caption="Table 2: Grain"), following) is goes_on
    assert not is_continued(table(""), table(""))


def test_a_table_is_followed_over_pages_of_one_document(tmp_path: Path) -> None:
    header = "Port | Tonnes"
    of_a = [made_quote("Ports", page=0), *(table(f"{header}\nport | {page}", page=page) for page in (1, 2, 3))]
    of_a += [made_quote("Others", page=4), table(f"{header}\nport | 5", page=5)]
    with make_collection(tmp_path, {"a.pdf": of_a, "b.pdf": [table(header)]}) as collection:
        index = lexical.current_lexical_index(collection)
        look = PageFeedback(index, lambda at: [q for q in collection.quotes_at(index.rows[at].tolist()) if q])
        assert {page: sorted(look.continued(page)) for page in (0, 1, 2, 5)} == {0: [], 1: [2, 3], 2: [1, 3], 5: []}
        assert next(look.reasons([1], 3)) == "the table of page 2 goes on"
        assert next(look.reasons([0], 1)) == "next to page 1"
