"""The source of a claim: the passage that supports it, in whichever document; and none where none does."""

import asyncio
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from lxml import html
from made_collections import made_quote, make_collection, put

from quoteweave import Collection, LexicalRetriever, add, attribute
from quoteweave.attribution.as_answers import CLAIM_WORDING, attribution_as_answer
from quoteweave.attribution.attribute import Attributor
from quoteweave.attribution.checked_passages import DENIED, check_passage
from quoteweave.core.errors import ModelFailed, UsageError
from quoteweave.core.records import Filter, Hit, Quote
from quoteweave.core.text.tokens import words
from quoteweave.generation.gate.contraries.opposite_words import Contrary
from quoteweave.pipeline.answer_page.render import render_answers, view_answered
from quoteweave.pipeline.search import Search

GUIDE = (Path(__file__).parents[2] / "docs" / "attribution.md").read_text("utf-8")

CONTRARIES: dict[Contrary, str] = {
    "direction": "Of the claim and the passage one says that something rises, and the other that it falls.",
    "opposite_word": "The passage has the opposite of a word of the claim.",
    "denial": "Of the claim and the passage one denies what the other says.",
}


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collection]:
    """Two annual reports that say the same of two years, and notes on something else."""
    folder = tmp_path_factory.mktemp("port")
    documents: dict[str, list[Quote] | list[str]] = {
        "report-2022.pdf": [
            made_quote("In 2022 the port shipped 3,870 tonnes of grain, most of it by rail."),
            made_quote("Timber went by ship.", page=1),
        ],
        "report-2023.pdf": [
            made_quote("In 2023 the port shipped 4,210 tonnes of grain, most of it by rail."),
            made_quote("Quay,Calls\nSkarn Quay,212\nWest Mole,94", layout="table", caption="Table 1: Calls", page=2),
        ],
        "notes.md": ["The choir sang in the church on Sunday."],
    }
    with make_collection(folder, documents) as made:
        yield made


def test_the_passage_with_the_claims_numbers_is_the_source_and_its_words_are_marked(port: Collection) -> None:
    (found,) = attribute(port, "Grain shipped by the port in 2022: 3,870 tonnes [CITATION].")
    assert (found.outcome, found.reason, found.excerpt.mark) == ("supported", None, "[CITATION]")
    best = found.candidates[0]
    assert (best.rank, best.title, best.identifiers) == (1, "report-2022.pdf", {"document": "report-2022.pdf"})
    assert (best.citation.document, best.citation.page, best.citation.verdict) == ("report-2022.pdf", 0, "supported")
    (region,) = best.citation.regions
    assert region.bbox == best.citation.bbox
    assert "3,870 tonnes" in "".join(
        (best.citation.quoted or "")[span.start : span.end] for span in best.citation.spans
    )


@pytest.mark.parametrize("opening", ["``` ", "```", "[[1]1] ", "![a](image1) ", "`"])
def test_a_claim_with_code_or_marks_within_is_checked_like_any_other(port: Collection, opening: str) -> None:
    (found,) = attribute(port, f"{opening}Most of the grain, 4,210 tonnes, was shipped by rail.")[-1:]
    assert found.candidates[0].title == "report-2023.pdf"


def test_a_number_alone_does_not_show_that_a_passage_says_what_is_claimed(tmp_path: Path) -> None:
    texts = ["Skarn shipped 4,210 tonnes of rye by rail, and ferries took barley.", "Coal is sold in Skarn."]
    with make_collection(tmp_path, {"a.md": texts}) as made:
        (found,) = attribute(made, "Ferries shipped 4,210 tonnes of coal to distant northern islands.")
        (none,) = attribute(made, "Ferries took 9,999 tonnes of barley by rail.")
    assert (found.outcome, found.reason) == (
        "not_found",
        "The closest sentence of the passage lacks “distant”, “northern”, “islands” and 1 more.",
    )
    assert found.candidates[0].citation.verdict == "unchecked"
    assert (none.outcome, none.reason) == ("not_found", "9,999 tonnes does not occur in the passage.")


@pytest.mark.parametrize(
    ("claim", "outcome", "reason"),
    [
        ("Oats rose by 12 % in the mild winter of 2019.", "supported", None),
        ("Oats fell by 12 % in the mild winter of 2019.", "not_found", CONTRARIES["direction"]),
        ("Oats fell in the mild winter.", "not_found", CONTRARIES["direction"]),
        (
            "Barley rose by 12 % in the mild winter of 2019.",
            "likely",
            "The closest sentence of the passage has “oats” where the claim has “barley”.",
        ),
        (
            "Spring barley rose by 12 % in that mild winter of 2019.",
            "likely",
            "The closest sentence of the passage has “oats” where the claim has “spring barley”.",
        ),
        (
            "In the mild winter of 2019 barley rose by 12 %.",
            "likely",
            "The closest sentence of the passage lacks “barley”.",
        ),
        ("Oats rose by 13 % in the mild winter of 2019.", "not_found", "13 % does not occur in the passage."),
    ],
)
def test_what_is_said_of_something_else_or_the_other_way_round_is_not_supported(
    tmp_path: Path, claim: str, outcome: str, reason: str | None
) -> None:
    texts = ["Barley was sold. Oats rose by 12 % in the mild winter of 2019.", "Rye was rare."]
    with make_collection(tmp_path, {"a.md": texts}) as made:
        (found,) = attribute(made, claim)
    assert (found.outcome, found.reason) == (outcome, reason)


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        (
            "Voltage loss fell by 12 % with and without a coating.",
            "Voltage loss rose by 12 % with and without a coating.",
        ),
        (
            "A vaccine raised infections by 40 percent.",
            "Nurses were asked. A vaccine lowered infections by 40 percent.",
        ),
    ],
)
def test_the_contrary_is_no_source_whatever_else_both_say(tmp_path: Path, claim: str, passage: str) -> None:
    with make_collection(tmp_path, {"a.md": [passage]}) as made:
        (found,) = attribute(made, claim)
    assert (found.outcome, found.reason) == ("not_found", CONTRARIES["direction"])


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        (
            "Older people slept more, by 12 %, in the quiet rooms.",
            "Older people slept more, by 12 %, in the quiet rooms.",
        ),
        (
            "Older people slept 12 % more in quiet rooms.",
            "Sleep loss is common. Older people slept 12 % more in quiet rooms.",
        ),
        ("Over 40 % of older people had sleep loss.", "More than 40 % of older people had sleep loss."),
        (
            "More than half of 40 older people slept badly.",
            "Half of 40 older people slept badly, as their sleep dropped.",
        ),
        ("Rents did not fall by 12 % in 2019 in Skarn.", "Rents rose by 12 % in 2019 in Skarn."),
        ("Rents fell by 12 % in 2019 in Skarn.", "Rents rose by 12 % in 2018 in Skarn, and fell by 12 % in 2019."),
        ("Rents fell by 12 % in 2019 in Skarn.", "In Skarn wages rose by 12 %."),
    ],
)
def test_the_contrary_is_not_declared_of_what_says_the_same_or_something_else(
    tmp_path: Path, claim: str, passage: str
) -> None:
    quote = made_quote(passage).model_copy(update={"section": "Sleep loss and lower rents"})
    with make_collection(tmp_path, {"a.pdf": [quote, made_quote("Rye was rare.", page=1)]}) as made:
        (found,) = attribute(made, claim)
    assert found.candidates[0].passage == passage
    assert found.candidates[0].rejection is None


@pytest.mark.parametrize(
    ("claim", "passage", "contrary"),
    [
        (
            "The ferry to Skarn is certified for winter ice.",
            "Similarly, the ferry to Skarn isn't certified for winter ice, but sailed anyway.",
            "denial",
        ),
        ("The barges are not insured in Skarn.", "Since 1990 the barges are insured in Skarn.", "denial"),
        ("The new quay handles grain worse than the old one.", "The new quay handles grain better.", "opposite_word"),
        ("Coated ropes last a shorter time at sea.", "Coated ropes last a longer time at sea.", "opposite_word"),
        ("The harbour archive compresses its maps.", "The harbour archive decompresses its maps.", "opposite_word"),
    ],
)
def test_what_the_passage_denies_or_says_by_the_opposite_word_has_no_source(
    tmp_path: Path, claim: str, passage: str, contrary: Contrary
) -> None:
    with make_collection(tmp_path, {"a.md": [passage, "Rye was rare."]}) as made:
        (found,) = attribute(made, claim)
    assert (found.outcome, found.reason) == ("not_found", CONTRARIES[contrary])
    assert found.candidates[0].rejection == "contrary"


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        (
            "Without the stage term the error with four strings climbs.",
            "Leaving out the stage term raises the error with four strings.",
        ),
        ("The old barges lack a deck crane.", "The old barges do not have a deck crane."),
        ("The quay is open in winter.", "The tower is not lit, and the quay is open in winter."),
        ("Barges sail only with a pilot at night.", "Barges do not sail at night without a pilot."),
        ("The ferry not only carries grain but mail.", "The ferry carries grain and mail."),
        ("The quay is not lit at night.", "The quay is not lit at night, as no lamp stands on it."),
    ],
)
def test_what_denies_the_same_or_something_else_is_no_contrary(tmp_path: Path, claim: str, passage: str) -> None:
    with make_collection(tmp_path, {"a.md": [passage, "Rye was rare."]}) as made:
        (found,) = attribute(made, claim)
    assert found.candidates[0].rejection is None


def test_a_passage_that_says_the_contrary_outweighs_one_that_is_less_close(tmp_path: Path) -> None:
    texts = [
        "The memory of the old harbour crane shrinks linearly with each lift.",
        "The memory of the harbour crane depends linearly on the tide, as the engineers found.",
    ]
    with make_collection(tmp_path, {"a.md": texts}) as made:
        (found,) = attribute(made, "The memory of the old harbour crane grows linearly with each lift.")
    assert (found.outcome, found.reason) == ("not_found", CONTRARIES["direction"])


def test_numbers_of_a_table_are_not_said_to_be_in_place_of_words() -> None:
    cells = "Item | 2024 | 2023 | Change\nWater | 12 | 11 | 9%\nEnergy | 188 | 231 | 18.6%"
    quote = made_quote(cells, layout="table", caption="Income and costs of the port")
    claim = "Energy costs rose by 18.6%."
    found = check_passage(claim, Hit(quote=quote, rank=1, score=1.0), dict.fromkeys(words(claim), 1.0))
    assert found.citation.reason == "The closest sentence of the passage lacks “rose”."


def test_words_that_a_likely_passage_has_in_several_sentences_are_said_to_be_missing_in_each(tmp_path: Path) -> None:
    texts = ["The queen lays eggs in spring. Honey is sold in glass jars. Old colonies survive.", "Rye was rare."]
    with make_collection(tmp_path, {"a.md": texts}) as made:
        (found,) = attribute(made, "Old queens survive on honey in glass jars in cold spring barns.")
    assert found.outcome == "likely"
    assert "The closest sentence of the passage lacks “" in (found.reason or "")


def test_a_likely_source_of_a_claim_of_words_alone_is_said_to_lack_the_words_that_it_lacks(tmp_path: Path) -> None:
    with make_collection(tmp_path, {"a.md": ["Hemp is based on the northern method and slow drying.", "Rye."]}) as made:
        (found,) = attribute(made, "Linen is based on the northern method and slow drying.")
    assert found.outcome == "likely"
    assert (found.reason or "").endswith("The closest sentence of the passage has “hemp” where the claim has “linen”.")


def test_of_passages_that_do_not_support_the_claim_one_that_has_its_number_is_shown(tmp_path: Path) -> None:
    texts = ["The ferry, the ship and the rail line of Skarn were old.", "Some 40 % fewer rode it."]
    with make_collection(tmp_path, {"a.md": texts}) as made:
        (found,) = attribute(made, "The ferry, the rail line and the bus of Skarn lost 40 % of their riders.")
    assert found.outcome == "not_found"
    assert found.candidates[0].passage == texts[1]


def test_a_document_that_supports_the_claim_stands_before_one_that_is_only_alike(port: Collection) -> None:
    (found,) = attribute(port, "Most of the grain, 4,210 tonnes, was shipped by rail.")
    assert [one.title for one in found.candidates[:2]] == ["report-2023.pdf", "report-2022.pdf"]
    assert [one.citation.verdict for one in found.candidates[:2]] == ["supported", "unsupported"]


def test_marks_have_sources_of_their_own(port: Collection) -> None:
    text = "The port shipped 3,870 tonnes of grain in 2022 [1], and 4,210 tonnes of grain in 2023 [2]."
    found = attribute(port, text)
    assert [(one.excerpt.mark, one.candidates[0].title, one.outcome) for one in found] == [
        ("[1]", "report-2022.pdf", "supported"),
        ("[2]", "report-2023.pdf", "supported"),
    ]


def test_the_cell_of_a_table_is_a_passage(port: Collection) -> None:
    (found,) = attribute(port, "Skarn Quay had 212 calls.")
    assert (found.candidates[0].kind, found.candidates[0].citation.page) == ("image", 2)


@pytest.mark.parametrize(
    "claim",
    [
        "In 2023 the port shipped 9,999 tonnes of grain, most of it by rail.",
        "Quarks interact by the exchange of gluons.",
        "Der Erzbischof weihte 1880 die neue Orgel.",
    ],
)
def test_what_no_document_says_is_not_found_and_the_reason_is_given(port: Collection, claim: str) -> None:
    (found,) = attribute(port, claim)
    assert found.outcome == "not_found"
    assert found.reason


def test_of_a_claim_of_words_alone_it_is_said_that_they_do_not_show_it(port: Collection) -> None:
    (found,) = attribute(port, "Most of the grain that farmers brought in autumn was stored in wooden sheds.")
    assert found.outcome == "not_found"
    assert found.reason == "The claim has no number or date to compare, and its words alone do not show it."


def test_of_a_claim_with_a_year_it_is_not_said_that_it_has_no_date(tmp_path: Path) -> None:
    with make_collection(tmp_path, {"crane.md": ["The crane was built in 1962 by Holm and Sons."]}) as own:
        (found,) = attribute(own, "The wooden crane was built in 1962.")
    reason = found.candidates[0].citation.reason
    assert reason is not None
    assert reason.startswith("The claim has nothing to compare but a year, and its words alone do not show it.")


def test_the_closest_passages_stand_in_the_order_of_the_search(port: Collection) -> None:
    (found,) = attribute(port, "In 2023 the port shipped 9,999 tonnes of grain, most of it by rail, not by ship.")
    scores = [one.score for one in found.candidates]
    assert len(scores) > 1
    assert scores == sorted(scores, reverse=True)


def test_what_shares_no_word_with_any_document_has_no_candidates(port: Collection) -> None:
    (found,) = attribute(port, "Zxqwv vbnmk.")
    assert (found.outcome, found.candidates) == ("not_found", ())
    assert attribution_as_answer(found, port).answer.status == "abstained"


def test_filters_and_the_number_of_candidates_hold(port: Collection) -> None:
    claim = "In 2023 the port shipped 4,210 tonnes of grain, most of it by rail."
    (found,) = attribute(port, claim, where=Filter(documents=("report-2022.pdf",)))
    assert {one.title for one in found.candidates} == {"report-2022.pdf"}
    assert found.outcome == "not_found"
    (found,) = attribute(port, claim, k=1)
    assert len(found.candidates) == 1


def test_as_an_answer_the_claim_cites_what_supports_it(port: Collection) -> None:
    (found,) = attribute(port, "In 2023 the port shipped 4,210 tonnes of grain.")
    answered = attribution_as_answer(found, port)
    assert answered.answer.status == "answered"
    (citation,) = answered.answer.citations
    quote = answered.context.quote(citation.kind, citation.number)
    assert quote is not None
    assert (quote.id, citation.verdict, citation.regions) == (
        found.candidates[0].citation.quote_id,
        "supported",
        found.candidates[0].citation.regions,
    )


def test_as_an_answer_what_was_not_found_shows_the_closest_passages_as_places(port: Collection) -> None:
    (found,) = attribute(port, "In 2023 the port shipped 9,999 tonnes of grain.")
    answered = attribution_as_answer(found, port)
    assert answered.answer.status == "located"
    assert len(answered.answer.citations) == len(found.candidates)
    assert {one.verdict for one in answered.answer.citations} == {one.citation.verdict for one in found.candidates}


def test_a_source_has_the_title_and_the_identifiers_of_its_metadata(tmp_path: Path) -> None:
    with make_collection(tmp_path, {}) as made:
        with made.writer() as writer:
            metadata = {"title": "On timber", "doi": "10.1/x"}
            put(writer, tmp_path / "files", "a.md", [made_quote("Timber went by ship.")], metadata=metadata)
        (found,) = attribute(made, "Timber went by ship in all of the years.")
    assert found.candidates[0].title == "On timber"
    assert found.candidates[0].identifiers == {"document": "a.md", "title": "On timber", "doi": "10.1/x"}


def test_the_page_calls_documents_by_their_titles_and_that_of_answers_by_their_names(tmp_path: Path) -> None:
    with make_collection(tmp_path, {}) as made:
        with made.writer() as writer:
            metadata = {"title": "On <b>timber</b>"}
            put(writer, tmp_path / "files", "a.md", [made_quote("Timber went by ship.")], metadata=metadata)
        (found,) = attribute(made, "Timber went by ship in all of the years.")
        views, _ = view_answered([attribution_as_answer(found, made)], made)

    pages = [html.fromstring(render_answers(views, "x", wording=wording)) for wording in (CLAIM_WORDING, None)]

    names = [page.xpath("//article[@class='sheet']//*[@class='document']") for page in pages]
    assert [(one.text_content(), one.get("title")) for (one,) in names] == [
        ("On <b>timber</b>", "a.md"),
        ("a.md", "a.md"),
    ]
    assert "On <b>timber</b>" in pages[0].xpath("//article[@class='sheet']/@aria-label")[0]


def test_the_example_of_the_guide_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "port.md").write_text("# Freight in May\n\nThe harbour shipped 4,210 tonnes of grain in May.\n")
    with Collection.create("my-collection") as made:
        add(made, [Path("port.md")])
    for block in re.finditer(r"```python\n(.*?)```", GUIDE, re.DOTALL):
        exec(compile(block[1], "docs/attribution.md", "exec"), {})
        printed = [line.partition("#")[2].strip() for line in block[1].splitlines() if "print(" in line]
        assert capsys.readouterr().out.splitlines() == printed
    assert Path("cited.md").read_text("utf-8").startswith("The harbour shipped 4,210 tonnes of grain [1].\n")


class ScriptedChecker:
    """Confirms premises that have a word, and fails where that is None; keeps what it was asked."""

    name = "scripted"

    def __init__(self, word: str | None) -> None:
        self.word, self.asked = word, list[tuple[str, str]]()

    async def check(self, pairs: Sequence[tuple[str, str]]) -> list[bool | None]:
        self.asked += pairs
        if self.word is None:
            raise ModelFailed("out of memory")
        return [self.word in premise for premise, _ in pairs]


GERMAN = [made_quote("Im Jahr 2023 gingen 486 Tonnen Getreide durch den Hafen Skarn.")]
COAL = [made_quote("In 2023 the port of Skarn shipped 486 tonnes of coal.")]


@pytest.mark.parametrize(
    ("word", "outcomes", "reason"),
    [
        ("coal", ["supported"], None),
        ("grain", ["not_found"], DENIED),
        (None, ["likely"], "has “coal” where the claim has “grain”. The checker gave no verdict: out of memory"),
    ],
)
def test_a_checker_decides_what_the_rules_cannot_tell(
    tmp_path: Path, word: str | None, outcomes: list[str], reason: str | None
) -> None:
    checker, said = ScriptedChecker(word), "In 2023 the port of Skarn shipped 486 tonnes of grain."
    with make_collection(tmp_path, {"b.md": COAL}) as collection:
        attributor = Attributor(collection, Search(LexicalRetriever(collection)), checker)
        (found,) = asyncio.run(attributor.attribute(said))
    assert [one.outcome for one in found.candidates] == outcomes
    assert found.outcome == outcomes[0]
    assert (found.reason is None) if reason is None else reason in str(found.reason)
    assert [claim for _, claim in checker.asked] == [said]


def test_a_passage_in_another_language_that_a_checker_confirms_stands_first(tmp_path: Path) -> None:
    checker, said = ScriptedChecker("Getreide"), "In 2023 the port of Skarn shipped 486 tonnes of grain."
    with make_collection(tmp_path, {"a.md": GERMAN, "b.md": COAL}) as collection:
        attributor = Attributor(collection, Search(LexicalRetriever(collection)), checker)
        (found,) = asyncio.run(attributor.attribute(said))
    assert [(one.rank, one.title, one.outcome) for one in found.candidates] == [
        (1, "a.md", "supported"),
        (2, "b.md", "not_found"),
    ]


def test_what_the_rules_refuse_is_not_asked_of_a_checker(tmp_path: Path) -> None:
    checker = ScriptedChecker("coal")
    with make_collection(tmp_path, {"b.md": COAL}) as collection:
        attributor = Attributor(collection, Search(LexicalRetriever(collection)), checker)
        (found,) = asyncio.run(attributor.attribute("In 2023 the port of Skarn shipped 9,999 tonnes of coal."))
    assert (found.outcome, checker.asked) == ("not_found", [])


def test_no_candidate_at_all_cannot_be_asked_for(port: Collection) -> None:
    with pytest.raises(UsageError, match="k is 0: at least one candidate"):
        attribute(port, "The harbour shipped 4,210 tonnes of grain.", 0)


@pytest.mark.parametrize(("own", "its"), [("test", "training"), ("child", "parent"), ("Distillation", "Transfer")])
def test_one_exchanged_word_of_a_long_claim_is_named(tmp_path: Path, own: str, its: str) -> None:
    passage = (
        "Transfer from a related parent language increased the training time to convergence in Quechua translation by"
        " 32.6 percent."
    )
    with make_collection(tmp_path, {"a.md": ["Quechua was studied.", passage]}) as made:
        (found,) = attribute(made, passage.replace(its, own))
        (as_written,) = attribute(made, passage)
    reason = f"The closest sentence of the passage has “{its.lower()}” where the claim has “{own.lower()}”."
    assert (found.outcome, found.reason) == ("likely", reason)
    assert as_written.outcome == "supported"


@pytest.mark.parametrize(
    ("claim", "own", "its"),
    [
        (
            "We measured lithium plating in lithium-sulphur pouch cells with an additive: a drop of 52.9 percent.",
            "lithium plating",
            "interfacial resistance",
        ),
        (
            "We measured the hardness in lithium-sulphur pouch cells with an additive: a drop of 52.9 percent.",
            "hardness",
            "interfacial resistance",
        ),
    ],
)
def test_a_few_words_in_place_of_others_are_named_although_one_of_them_occurs_elsewhere(
    tmp_path: Path, claim: str, own: str, its: str
) -> None:
    passage = (
        "We measured interfacial resistance in lithium-sulphur pouch cells with an additive: a drop of 52.9 percent."
    )
    with make_collection(tmp_path, {"a.md": ["Pouch cells were studied.", passage]}) as made:
        (found,) = attribute(made, claim)
    assert found.outcome == "likely"
    assert found.reason == f"The closest sentence of the passage has “{its}” where the claim has “{own}”."


def test_the_sentence_of_which_the_reason_speaks_is_named(tmp_path: Path) -> None:
    passage = (
        "Little is known about the error rate on names in Wolof subtitles. On the Tatra Bitext, the error rate on names"
        " in Wolof subtitles fell by 43.2 percent."
    )
    with make_collection(tmp_path, {"a.md": [passage]}) as made:
        (found,) = attribute(made, "The error rate on names in Wolof subtitles went down by about two fifths.")
    assert (found.outcome, found.reason) == ("likely", "two fifths is rounded from the passage.")
    assert found.candidates[0].closest.startswith("On the Tatra Bitext")
