"""Terms of a field: what a question leads to, what a file of them must be, and which pages are found by them."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from made_collections import made_quote, make_collection

from quoteweave.collection.collection import Collection
from quoteweave.core.errors import UsageError
from quoteweave.core.records import Hit, Query, Quote
from quoteweave.core.text.tokens import words
from quoteweave.index import lexical
from quoteweave.retrievers.lexical import LexicalRetriever
from quoteweave.retrievers.pages.page_fusion import rank_pages
from quoteweave.retrievers.terms.terms import MAX_FILE_BYTES, Term, Terms, finance, read_terms

SEA = Terms(
    [
        Term(name="cargo statement", made_of=("tonnes loaded", "tonnes landed")),
        Term(name="throughput", also=("TPT", "port throughput"), made_of=("tonnes loaded", "landings")),
        Term(name="throughput growth", made_of=("throughput",)),
        Term(name="landings", made_of=("tonnes landed", "transit"), stands_in=("cargo statement",)),
    ],
    places=1,
)


def said(terms: Terms, question: str) -> list[str]:
    return [str(expansion) for expansion in terms.expansions(words(question))]


def test_a_term_leads_to_its_other_names_its_parts_and_their_places() -> None:
    (found,) = SEA.expansions(words("What was the throughput of 2023?"))
    assert found.words_asked == ("throughput",)
    assert found.parts == ("TPT", "port throughput", "tonnes loaded", "landings", "tonnes landed", "transit")
    assert found.places == ("cargo statement",)


def test_an_acronym_leads_to_the_name_and_to_all_that_the_name_leads_to() -> None:
    assert said(SEA, "TPT of 2023") == [
        "TPT = throughput, port throughput, tonnes loaded, landings, tonnes landed, transit (in cargo statement)"
    ]


def test_of_names_in_one_another_the_longest_is_meant() -> None:
    assert [found.name for found in SEA.expansions(words("the throughput growth of the port"))] == ["throughput growth"]
    assert [found.name for found in SEA.expansions(words("growth of throughput and landings"))] == [
        "throughput",
        "landings",
    ]


def test_parts_are_gone_into_in_turn_and_each_stands_behind_what_is_made_of_it() -> None:
    (found,) = SEA.expansions(words("throughput growth"))
    assert found.parts == ("throughput", "tonnes loaded", "landings", "tonnes landed", "transit")


def test_a_place_leads_to_itself_alone() -> None:
    assert said(SEA, "Show the cargo statement.") == ["cargo statement (in cargo statement)"]


@pytest.mark.parametrize("question", ["Landing?", "LANDINGS!", "the landed tonnes' landing"])
def test_words_match_in_all_their_forms(question: str) -> None:
    assert [found.name for found in SEA.expansions(words(question))] == ["landings"]


def test_a_term_that_is_asked_for_twice_counts_once_and_other_questions_lead_nowhere() -> None:
    assert [found.name for found in SEA.expansions(words("throughput, that is TPT, and throughput"))] == ["throughput"]
    assert SEA.expansions(words("Who owns the port?")) == []
    assert SEA.expansions([]) == []


def test_terms_that_are_made_of_themselves_do_not_loop() -> None:
    alone = Terms([Term(name="tide", made_of=("tide",))])
    assert said(alone, "tide") == ["tide"]
    ring = Terms([Term(name="ebb", made_of=("flood", "slack")), Term(name="flood", made_of=("ebb", "surge"))])
    assert said(ring, "ebb") == ["ebb = flood, surge, slack"]


def test_parts_that_are_shared_many_times_over_are_gone_into_once() -> None:
    # If terms were expanded wherever they occur, these would have 2 to the power of 60 parts.
    layers = [Term(name=f"{side}{n}", made_of=(f"a{n + 1}", f"b{n + 1}")) for n in range(60) for side in "ab"]
    (found,) = Terms(layers).expansions(["a0"])
    assert len(found.parts) == 120


def test_a_long_chain_of_parts_is_followed_to_its_end() -> None:
    (found,) = Terms([Term(name=f"a{n}", made_of=(f"a{n + 1}",)) for n in range(5000)]).expansions(["a0"])
    assert found.parts[-1] == "a5000"


def test_a_name_that_several_terms_have_means_the_first_of_them() -> None:
    both = Terms([Term(name="berth", made_of=("quay",)), Term(name="bed", also=("berth",), made_of=("mattress",))])
    assert said(both, "berth") == ["berth = quay"]
    assert said(Terms([Term(name="berth", made_of=("quay",)), Term(name="berth")]), "berth") == ["berth = quay"]


# The shipped terms


def test_the_shipped_places_are_the_three_statements() -> None:
    assert list(finance().places) == ["balance sheet", "cash flow statement", "income statement"]
    assert finance().least_places == 2


def test_return_on_assets_leads_to_the_balance_sheet_and_the_income_statement() -> None:
    for question in ("What is the return on assets?", "ROA in 2023", "What are its returns on total assets?"):
        (found,) = finance().expansions(words(question))
        assert found.name == "return on assets"
        assert {"net income", "total assets"} <= set(found.parts)
        assert found.places == ("income statement", "balance sheet")


def test_every_ratio_and_line_item_leads_to_a_statement() -> None:
    # Components must be spelt like the terms that they mean, or their places would not be found.
    for term in finance():
        (found, *_) = finance().expansions(words(term.name))
        assert (found.name, bool(found.places)) == (term.name, True)


def test_what_the_shipped_ratios_are_made_of_are_terms_too() -> None:
    # Of statements and of groups of debts parts may be plain words; a ratio of words alone leads to no statement.
    names = {" ".join(words(name)) for term in finance() for name in (term.name, *term.also)}
    ratios = [term for term in finance() if term.made_of and term.name not in finance().places]
    assert {part for term in ratios for part in term.made_of if " ".join(words(part)) not in names} == set()


# Files


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "terms.toml"
    path.write_text(text, "utf-8")
    return path


def test_a_file_says_what_the_terms_are(tmp_path: Path) -> None:
    text = """
        places = 1
        [[term]]
        name = "throughput"
        also = ["TPT"]
        stands_in = ["cargo statement"]
        [[term]]
        name = "cargo statement"
        made_of = ["tonnes loaded"]
    """
    read = read_terms(write(tmp_path, text))
    assert read.least_places == 1
    assert said(read, "TPT") == ["TPT = throughput (in cargo statement)"]


def test_terms_are_recorded_by_what_they_say_and_not_by_how_it_is_written(tmp_path: Path) -> None:
    first = read_terms(write(tmp_path, '[[term]]\nname = "tide"\nmade_of = ["ebb"]\n')).fingerprint
    noted = read_terms(write(tmp_path, '# Noted.\n[[term]]\nmade_of = ["ebb",]\nname = "tide"\n')).fingerprint
    other = read_terms(write(tmp_path, '[[term]]\nname = "tide"\nmade_of = ["flood"]\n')).fingerprint
    assert first == noted != other


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: tide", "is no TOML: Expected '=' after a key"),
        ("places = " + "9" * 6000, "is no TOML: Exceeds the limit"),
        ("term = " + "[" * 5000, "is no file of terms: it nests too deep; see docs/retrieval.md"),
        ("", ": term: Field required; see docs/retrieval.md for the form of terms"),
        ("term = []", ": term: Tuple should have at least 1 item after validation, not 0; see docs"),
        ('[term]\nname = "tide"', ": term: write each under [[term]]; see docs"),
        ("places = -1\n[[term]]\nname = 'tide'", ": places: Input should be greater than or equal to 0; see docs"),
        ("place = 1\n[[term]]\nname = 'tide'", ": place is no key; there are: places, term; see docs"),
        ("[[term]]\nname = 'tide'\n[[term]]\nalso = ['ebb']", ": [[term]] 2, name: Field required; see docs"),
        ("[[term]]\nname = 5", ": [[term]] 1, name: Input should be a valid string; see docs"),
        ("[[term]]\nname = 'tide'\nalso = 'ebb'", ': [[term]] 1, also: write a list, such as ["ROA"]; see docs'),
        (
            "[[term]]\nname = 'tide'\nmade_of = ['ebb', 5]",
            ": [[term]] 1, made_of.1: Input should be a valid string; see docs",
        ),
        (
            "[[term]]\nname = 'tide'\nin = ['sea']",
            ": [[term]] 1, in is no key; there are: name, also, made_of, stands_in; see docs",
        ),
        (
            "[[term]]\nname = 'tide'\nstands_in = ['sea']",
            ": term 'tide' stands in 'sea', which is no term: add a [[term]] for it",
        ),
        (
            "[[term]]\nname = 'tide'\nstands_in = ['sea']\n[[term]]\nname = 'sea'",
            ": term 'sea' is a place, which is known by what it is made of: add made_of to it",
        ),
        (
            "[[term]]\nname = 'information technology'\nalso = ['IT']",
            ": term 'information technology': search looks for no word of 'IT': write it in full",
        ),
        ("[[term]]\nname = '…'", ": term '…': search looks for no word of '…': write it in full"),
        (
            "places = 2\n[[term]]\nname = 'tide'",
            ": a document is to show 2 places, and there are 0: lower places, or name more terms in stands_in",
        ),
    ],
)
def test_a_file_that_is_not_as_it_should_be_is_told_with_the_place(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(UsageError) as error:
        read_terms(path)
    assert str(error.value).startswith(str(path))
    assert message in str(error.value)


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    path = tmp_path / "terms.toml"
    with pytest.raises(UsageError, match=r"terms\.toml cannot be read: No such file or directory"):
        read_terms(path)
    with pytest.raises(UsageError, match="cannot be read: Is a directory"):
        read_terms(tmp_path)
    path.write_bytes(b"[[term]]\nname = '\xff'")
    with pytest.raises(UsageError, match=r"terms\.toml is no TOML: it is not UTF-8"):
        read_terms(path)


def test_a_file_of_more_than_a_megabyte_is_refused(tmp_path: Path) -> None:
    text = '[[term]]\nname = "tide"\n#'
    assert said(read_terms(write(tmp_path, text + "x" * (MAX_FILE_BYTES - len(text)))), "tide") == ["tide"]
    path = write(tmp_path, text + "x" * (MAX_FILE_BYTES - len(text) + 1))
    with pytest.raises(UsageError, match=r"terms\.toml: a file of terms has at most 1 MB; name several files instead"):
        read_terms(path)


# What is found by them

BALANCE, INCOME = 4, 6
RATIO = "What is the return on assets?"
ASSETS = """Cash and cash equivalents 40. Accounts receivable 60. Total current assets 120. Total assets 500.
Accounts payable 30. Total current liabilities 70. Total liabilities 210. Retained earnings 190."""
EARNED = """Revenue 900. Operating income 80. Interest expense 9. Income before income taxes 71.
Income taxes 18. Net income 53. Per share, basic 1.06. Per share, diluted 1.05."""
PROSE = [
    "To our shareholders: assets well kept return the trust that you have put in us.",
    "Containers are returned to their lessors. Leased assets are listed below.",
    "The board met six times, and returned two proposals on the sale of assets.",
    "Our pilots guide ships of all sizes, by day and by night.",
    "",
    "Each quay was surveyed, and two cranes were mended.",
    "",
    "The winter was mild, and no day was lost to ice.",
    "Pensions are paid by a fund, whose assets return what markets do.",
]


def report(*tables: tuple[int, str], notes: Sequence[str] = ()) -> list[Quote]:
    """A report whose pages are prose, but for some tables, and the notes on pages of their own at the end."""
    quotes = [made_quote(text, page=page) for page, text in enumerate(PROSE) if text]
    quotes += [made_quote(text, page=page, layout="table") for page, text in tables]
    return quotes + [made_quote(text, page=len(PROSE) + n) for n, text in enumerate(notes)]


def pages_found(collection: Collection, question: str, terms: Sequence[Terms] = ()) -> list[int]:
    return [page.page for page in rank_pages(search(collection, question, terms))]


def search(collection: Collection, question: str, terms: Sequence[Terms] = ()) -> list[Hit]:
    return LexicalRetriever(collection, terms=terms).search([Query(text=question)], 20)[0]


def test_a_ratio_is_found_in_the_statements_that_show_what_it_is_made_of(tmp_path: Path) -> None:
    quotes = report((BALANCE, ASSETS), (INCOME, EARNED), notes=["Rents fell.", "Wages rose."])
    with make_collection(tmp_path, {"annual.pdf": quotes}) as collection:
        for question in (RATIO, "ROA?"):
            assert set(pages_found(collection, question)[:2]) == {BALANCE, INCOME}
        assert pages_found(collection, "What was the pretax income?")[0] == INCOME


def test_a_page_that_says_the_term_word_for_word_comes_with_the_statements_before_all_others(tmp_path: Path) -> None:
    quotes = report((BALANCE, ASSETS), (INCOME, EARNED), notes=["Key figures: the return on assets was 10.6 %."])
    with make_collection(tmp_path, {"annual.pdf": quotes}) as collection:
        evidence = LexicalRetriever(collection).evidence(lexical.current_lexical_index(collection), RATIO)
        assert set(pages_found(collection, RATIO)[:3]) == {len(PROSE), BALANCE, INCOME}
    gained = evidence.parts["terms"]
    assert {page for page in range(len(gained)) if gained[page] > 0} == {len(PROSE), BALANCE, INCOME}


def test_a_statement_is_known_by_its_title_where_its_rows_are_not_all_in_tables(tmp_path: Path) -> None:
    rows = (
        "Revenue 900. Interest expense 9. Net income 53. Per share, basic 1.06."  # one less than the note on taxes has
    )
    taxes = "Operating income 80. Income before income taxes 71. Income taxes 18. Net income 53. Revenue 900."
    title = made_quote("Consolidated Statements of Income (in thousands)", page=INCOME, layout="title")
    quotes = [*report((BALANCE, ASSETS), (INCOME, rows)), title, made_quote(taxes, page=len(PROSE), layout="table")]
    with make_collection(tmp_path, {"annual.pdf": quotes}) as collection:
        gained = LexicalRetriever(collection).evidence(
            lexical.current_lexical_index(collection), "What was the pretax income?"
        )
        assert gained.parts["terms"].argmax() == INCOME


def test_a_page_that_states_what_else_is_asked_beside_a_term_comes_before_the_statements(tmp_path: Path) -> None:
    cards = "Revenue from gift cards is recognized when the card is used, and net of what is never used."
    quotes = report((BALANCE, ASSETS), (INCOME, EARNED), notes=[cards, "Gift cards are sold on the quay."])
    with make_collection(tmp_path, {"annual.pdf": quotes}) as collection:
        assert pages_found(collection, "When is revenue from gift cards recognized?")[0] == len(PROSE)
        assert pages_found(collection, "What was the revenue?")[0] == INCOME


def test_a_document_that_shows_no_statements_is_searched_as_without_terms(tmp_path: Path) -> None:
    # One statement is not enough, nor are both in running text.
    talk = [made_quote(text, page=page) for page, text in ((BALANCE, ASSETS), (INCOME, EARNED))]
    documents = {"one.pdf": report((BALANCE, ASSETS)), "talk.pdf": [*report(), *talk]}
    for name, quotes in documents.items():
        with make_collection(tmp_path / name, {name: quotes}) as collection:
            evidence = LexicalRetriever(collection).evidence(lexical.current_lexical_index(collection), RATIO)
            assert not evidence.parts["terms"].any()
            assert pages_found(collection, RATIO)[0] not in {BALANCE, INCOME}


def test_terms_apply_to_the_documents_that_show_their_places_and_to_no_others(tmp_path: Path) -> None:
    documents = {"annual.pdf": report((BALANCE, ASSETS), (INCOME, EARNED)), "minutes.pdf": report()}
    with make_collection(tmp_path, documents) as collection:
        index = lexical.current_lexical_index(collection)
        gained = LexicalRetriever(collection).evidence(index, RATIO).parts["terms"]
        assert {page.document for page in rank_pages(search(collection, RATIO))[:2]} == {"annual.pdf"}
    assert sorted(set(index.document_of[gained > 0].tolist())) == [0]


def test_of_several_reports_that_of_the_company_asked_for_comes_first(tmp_path: Path) -> None:
    def of(company: str) -> list[Quote]:
        return report((BALANCE, ASSETS), (INCOME, EARNED), notes=[f"{company} is a company.", f"{company} grew."])

    with make_collection(tmp_path, {f"{company}.pdf": of(company) for company in ("Ada", "Bertha")}) as collection:
        for company in ("Ada", "Bertha"):
            found = rank_pages(search(collection, f"What was the return on assets of {company}?"))
            assert {(page.document, page.page) for page in found[:2]} == {
                (f"{company}.pdf", BALANCE),
                (f"{company}.pdf", INCOME),
            }
        # Where nothing but the term is asked, all count alike.
        index = lexical.current_lexical_index(collection)
        gained = LexicalRetriever(collection).evidence(index, "return on assets?").parts["terms"]
        assert [gained[index.document_of == document].max() for document in (0, 1)] == [gained.max()] * 2


def test_a_file_of_one_s_own_needs_no_places(tmp_path: Path) -> None:
    own = read_terms(write(tmp_path, '[[term]]\nname = "draught"\nmade_of = ["depth of the keel"]\n'))
    keels = "Depth of the keel, in metres: Ada 3.1, Bertha 4.7."
    quotes = report((BALANCE, keels), notes=["The draught horse is stabled at the quay."])
    with make_collection(tmp_path, {"ships.pdf": quotes}) as collection:
        without = LexicalRetriever(collection).evidence(lexical.current_lexical_index(collection), "draught")
        with_own = LexicalRetriever(collection, terms=[own]).evidence(
            lexical.current_lexical_index(collection), "draught"
        )
        assert without.parts["terms"].max() == 0
        assert set(pages_found(collection, "draught", [own])[:2]) == {BALANCE, len(PROSE)}
    assert with_own.parts["terms"].argmax() == BALANCE
    assert [str(expansion) for expansion in with_own.expansions] == ["draught = depth of the keel"]


DAMPER = '[[term]]\nname = "shock absorber"\nalso = ["damper", "spring unit"]\n'


def test_other_names_are_found_in_texts_too_after_what_was_asked(tmp_path: Path) -> None:
    own = read_terms(write(tmp_path, DAMPER))
    quotes = [made_quote("The chain needs wax.", page=page) for page in range(4)]
    quotes += [made_quote("Bike notes", page=4), made_quote("The damper leaks oil.", page=4)]
    quotes += [made_quote("The unit has a spring.", page=5), made_quote("A new spring unit.", page=6)]
    with make_collection(tmp_path / "1", {"bike.md": quotes}) as collection:
        assert not search(collection, "shock absorber")
        hits = search(collection, "shock absorber", [own])
        assert hits[0].quote.text in ("The damper leaks oil.", "A new spring unit.")
        index = lexical.current_lexical_index(collection)
        found = LexicalRetriever(collection, terms=[own]).evidence(index, "shock absorber").parts["other names"]
        assert np.flatnonzero(found).tolist() == [4, 6]  # as an exact phrase
    quotes.append(made_quote("A shock absorber is dear, and so it is kept in the cellar, with the chain.", page=7))
    with make_collection(tmp_path / "2", {"bike.md": quotes}) as collection:
        assert pages_found(collection, "shock absorber", [own])[0] == 7
        retriever = LexicalRetriever(collection, terms=[own])
        hits = search(collection, "shock absorber", [own])
        explained = retriever.explain(Query(text="shock absorber"), hits)
    assert explained.interpretation == ("term: shock absorber = damper, spring unit",)
    of_damper = next(hit.quote.id for hit in hits if hit.quote.text.startswith("The damper"))
    assert ("other names", "damper") in {(reason.part, reason.detail) for reason in explained.reasons[of_damper]}


def test_a_page_with_another_name_of_a_ratio_that_no_page_names_comes_before_the_statements(tmp_path: Path) -> None:
    quotes = report((BALANCE, ASSETS), (INCOME, EARNED), notes=["Key figures: the return on assets was 10.6 %."])
    with make_collection(tmp_path, {"annual.pdf": quotes}) as collection:
        first, *next_ones = pages_found(collection, "What was the ROA?")[:3]
        assert (first, set(next_ones)) == (len(PROSE), {BALANCE, INCOME})
        hits = search(collection, "What was the ROA?")
        explained = LexicalRetriever(collection).explain(Query(text="What was the ROA?"), hits)
    details = {hit.quote.page: explained.reasons[hit.quote.id] for hit in hits}
    shown = {page: {reason.part: reason.detail for reason in reasons} for page, reasons in details.items()}
    # Each page is explained by what it has.
    assert shown[BALANCE]["terms"] == "balance sheet; total assets"
    assert shown[INCOME]["terms"] == "income statement; net income"
    assert shown[len(PROSE)]["other names"] == "return on assets"
