"""Papers that are hidden while the source of an excerpt is looked for: no search, snippet or reading shows them."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_sources import MadeSource

from quoteweave.attribution.literature.sources.papers import (
    Paper,
    PaperText,
    PublicationDate,
    Snippet,
    SnippetsFound,
    identifiers_of,
)
from quoteweave.attribution.literature.sources.unseen import (
    MAX_REQUESTED,
    HidingRule,
    Unseen,
    has_excerpt,
    is_same_title,
)
from quoteweave.evaluation.text.titles import MIN_RATIO, letters, ratio
from quoteweave.testing import make_library

OWN = Paper(
    id="own", title="Grain Ships of the Skarn Coast", identifiers={"doi": "10.1/SKARN", "arxiv": "2005.01234v2"}
)
BEFORE = PublicationDate(year=2020, month=5)
RULE = HidingRule(own=OWN, before=BEFORE)
NEUTRAL = ("Cranes of Mole {}", "Tides and timber, part {}", "Quay {}: a survey", "{}")
OF_OWN = (
    "Grain Ships of the Skarn Coast",
    "grain ships of the SKARN coast.",
    "Grain ships of the Skarn-Coast (extended)",
    "Data and Code for “Grain Ships of the Skarn Coast”: Supplementary Material",
)


@st.composite
def libraries(draw: st.DrawFn) -> tuple[list[Paper], list[Paper]]:
    """A library in an order of its own, and those of it that may be shown."""
    papers, shown = [], []
    for number in range(draw(st.integers(0, 30))):
        own = draw(st.sampled_from(("no", "no", "no", "title", "doi", "arxiv", "link")))
        year = draw(st.integers(2017, 2023) | st.none())
        month = draw(st.integers(1, 12) | st.none()) if year else None
        word = draw(st.sampled_from(("Anchor", "Bell", "Lighthouse", "Rope and Sail")))
        title = draw(st.sampled_from(OF_OWN)) if own == "title" else draw(st.sampled_from(NEUTRAL)).format(word)
        paper = Paper(
            id=f"p{number}",
            title=title,
            published=PublicationDate(year=year, month=month) if year else None,
            identifiers={"doi": "https://doi.org/10.1/skarn"} if own == "doi" else {"doi": f"10.1/{number}"},
            url="https://arxiv.org/abs/2005.01234v1" if own == "arxiv" else f"https://made.example/{number}",
            pdf_url="http://arxiv.org/pdf/2005.01234.pdf" if own == "link" else None,
        )
        papers.append(paper)
        if own == "no" and year is not None and (year < 2020 or (year == 2020 and month is not None and month <= 5)):
            shown.append(paper)
    return papers, shown


@given(libraries(), st.integers(1, 8))
def test_a_source_that_filters_nothing_leaks_nothing_and_k_are_given(
    library: tuple[list[Paper], list[Paper]], k: int
) -> None:
    papers, allowed = library
    unseen = Unseen(MadeSource(papers), RULE)

    async def everything() -> tuple[tuple[Paper, ...], tuple[Snippet, ...]]:
        found = await unseen.search("grain", k)
        return found.papers, (await unseen.search_snippets("grain", k)).snippets

    found, snippets = asyncio.run(everything())

    assert list(found) == allowed[:k]
    assert [snippet.paper for snippet in snippets] == allowed[:k]


@given(libraries())
def test_what_is_hidden_cannot_be_read_and_the_source_is_not_asked_for_it(
    library: tuple[list[Paper], list[Paper]],
) -> None:
    papers, allowed = library
    source = MadeSource(papers)
    unseen = Unseen(source, RULE)

    async def read_all() -> dict[str, str]:
        return {paper.id: (await unseen.read(paper)).outcome for paper in papers}

    outcomes = asyncio.run(read_all())

    assert {id for id, outcome in outcomes.items() if outcome == "full_text"} == {paper.id for paper in allowed}
    assert set(outcomes.values()) <= {"full_text", "withheld"}
    assert source.read_ids == [paper.id for paper in allowed]


def test_a_hidden_paper_cannot_be_read_under_another_title_and_date() -> None:
    later = Paper(id="7", title="Cranes", published=PublicationDate(year=2022))
    unseen = Unseen(MadeSource([later]), RULE)
    asyncio.run(unseen.search("cranes"))

    read = asyncio.run(unseen.read(Paper(id="7", title="Timber", published=PublicationDate(year=1999))))

    assert read.outcome == "withheld"


def test_a_short_title_within_another_hides_nothing() -> None:
    rule = HidingRule(own=Paper(id="own", title="Grain by Rail"))
    assert rule.reason(Paper(id="1", title="Moving Grain by Rail and by Ship in Winter")) is None


def test_a_copy_of_a_rule_hides_its_own_paper_and_not_that_of_the_first() -> None:
    other = Paper(id="b", title="Cranes of the Outer Mole")
    assert RULE.reason(OWN) == "own_paper"
    copied = HidingRule(own=None).model_copy(update={"own": other})
    again = RULE.model_copy(update={"own": other, "before": None})
    assert [(rule.reason(other), rule.reason(OWN)) for rule in (copied, again)] == [("own_paper", None)] * 2


def test_what_was_hidden_is_counted_by_reason_and_not_named() -> None:
    papers = [
        Paper(id="1", title=OF_OWN[1], published=PublicationDate(year=2019)),
        Paper(id="2", title="Later Cranes", published=PublicationDate(year=2021)),
        Paper(id="3", title="Later Tides", published=PublicationDate(year=2020)),
        Paper(id="4", title="Undated Timber"),
        Paper(id="5", title="Early Quays", published=PublicationDate(year=2001)),
    ]
    source = MadeSource(papers, notes=["This library is small.", "Undated timber has no date.", f"See {OWN.title}!"])
    unseen = Unseen(source, RULE)

    found = asyncio.run(unseen.search("quays"))
    again = asyncio.run(unseen.search_snippets("quays"))

    assert [paper.id for paper in found.papers] == ["5"]
    assert found.notes == (
        "This library is small.",
        "Not shown: 1 paper with the title or an identifier of the paper that the excerpt is from.",
        "Not shown: 2 papers that may have been published after 2020-05.",
        "Not shown: 1 paper without a date, where nothing that was published after 2020-05 may be seen.",
    )
    assert again.notes == found.notes
    assert unseen.hidden == {"own_paper": 1, "later": 2, "undated": 1}


def test_the_source_is_asked_once_where_a_few_are_hidden_and_for_more_where_many_are() -> None:
    early = [Paper(id=f"e{n}", title=f"Quay number {n}", published=PublicationDate(year=1999)) for n in range(20)]
    late = [Paper(id=f"l{n}", title=f"Crane number {n}", published=PublicationDate(year=2022)) for n in range(50)]
    few, many, all_hidden = MadeSource([*late[:3], *early]), MadeSource([*late, *early]), MadeSource(late)

    for source in (few, many, all_hidden):
        asyncio.run(Unseen(source, RULE).search("port", 10))

    assert [k for k, _ in few.asked] == [20]
    assert [k for k, _ in many.asked] == [20, 40, 80]
    assert [k for k, _ in all_hidden.asked] == [20, 40, 80, 160]  # the last gave no more than the one before


def test_no_more_than_a_thousand_are_asked_for() -> None:
    late = [Paper(id=str(n), title=f"Crane {n}", published=PublicationDate(year=2022)) for n in range(3_000)]
    source = MadeSource(late)

    found = asyncio.run(Unseen(source, RULE).search("port", 10))

    assert (found.papers, source.asked[-1][0]) == ((), MAX_REQUESTED)


@pytest.mark.parametrize(
    ("before", "asked"),
    [
        (None, BEFORE),
        (PublicationDate(year=2021), BEFORE),
        (PublicationDate(year=2019), PublicationDate(year=2019)),
        (PublicationDate(year=2020, month=5, day=1), PublicationDate(year=2020, month=5, day=1)),
    ],
)
def test_of_two_limits_the_earlier_holds(before: PublicationDate | None, asked: PublicationDate) -> None:
    in_2019 = Paper(id="1", title="Cranes", published=PublicationDate(year=2020, month=2))
    source = MadeSource([in_2019])

    found = asyncio.run(Unseen(source, RULE).search_snippets("cranes", before=before))

    assert source.asked[0][1] == asked
    assert len(found.snippets) == (asked.year == 2020)


def test_without_a_limit_of_date_only_the_own_paper_is_hidden() -> None:
    papers = [OWN, Paper(id="1", title="Undated"), Paper(id="2", title="Late", published=PublicationDate(year=2099))]

    found = asyncio.run(Unseen(MadeSource(papers), HidingRule(own=OWN)).search("port"))

    assert [paper.id for paper in found.papers] == ["1", "2"]


@pytest.mark.parametrize(
    ("title", "other", "same"),
    [
        ("Ships of Skarn", "SHIPS OF SKARN!", True),
        ("Zürich by Rail", "Zurich: by rail", True),
        ("Learning to Sail, Part I", "Learning to Sail, Part II", True),  # CiteME's match takes them for one
        ("Ships of Skarn", "Cranes", False),
        ("", "", False),
        ("???", "!!!", False),
        ("谷物运输", "谷物运输", True),
        ("谷物运输", "木材", False),
    ],
)
def test_titles_that_are_taken_for_one(title: str, other: str, same: bool) -> None:
    assert is_same_title(title, other) is same
    assert is_same_title(other, title) is same


def test_titles_that_cannot_match_are_told_apart_as_the_match_itself_would() -> None:
    titles = [paper.title for paper in make_library().papers[:60]]
    titles += [f"{title[: 3 * number]}, {title[number:]}" for number, title in enumerate(titles)]
    for one in titles[::14]:
        for other in titles:
            near = letters(one) == letters(other) or max(ratio(one, other), ratio(other, one)) > MIN_RATIO
            assert is_same_title(one, other) is near, (one, other)


@pytest.mark.parametrize(
    ("paper", "identifiers"),
    [
        (
            {"identifiers": {"DOI": "https://doi.org/10.18653/V1/2020.acl-main.1"}},
            {"doi:10.18653/v1/2020.acl-main.1", "acl:2020.acl-main.1"},
        ),
        ({"identifiers": {"arxiv": "arXiv:cs/0601001v3"}}, {"arxiv:cs/0601001"}),
        (
            {"identifiers": {"doi": "doi:10.48550/arXiv.2407.12861"}},
            {"doi:10.48550/arxiv.2407.12861", "arxiv:2407.12861"},
        ),
        ({"identifiers": {"openalex": "https://openalex.org/W42"}}, {"openalex:w42"}),
        ({"identifiers": {"doi": " "}}, set()),
        ({"url": "https://www.semanticscholar.org/paper/Some-title/" + "ab" * 20}, {"semantic_scholar:" + "ab" * 20}),
        ({"url": "http://export.arxiv.org/abs/2407.12861v2"}, {"arxiv:2407.12861"}),
        ({"pdf_url": "https://arxiv.org/pdf/2407.12861.pdf"}, {"arxiv:2407.12861"}),
        ({"url": "https://aclanthology.org/P16-1162.pdf"}, {"acl:p16-1162"}),
        ({"url": "https://openreview.net/forum?id=AbC-1"}, {"openreview:AbC-1"}),
        ({"url": "https://example.org/?of=https://arxiv.org/abs/2407.12861"}, set()),
        ({"url": "https://notarxiv.org/abs/2407.12861"}, set()),
        ({"identifiers": {"document": "Report.PDF"}}, {"document:Report.PDF"}),
    ],
)
def test_identifiers_have_one_form(paper: dict[str, object], identifiers: set[str]) -> None:
    made = Paper.model_validate({"id": "1", "title": "", **paper})

    assert identifiers_of(made) == identifiers


EXCERPT = (
    "As [CITATION] had foretold, shipments of grain from the harbour of Skarn doubled between May and the end of June."
)
PRINTED = EXCERPT.replace("[CITATION]", "Reed et al. [7, 9]")


class Preprint(MadeSource):
    """Sends the excerpt's own paper under another title, without an identifier in common."""

    async def search_snippets(self, query: str, k: int = 10, *, before: PublicationDate | None = None) -> SnippetsFound:
        del query, k, before
        texts = ("Grain went by rail.", f"We begin. {PRINTED}")
        snippets = [Snippet(paper=paper, text=text) for paper, text in zip(self.papers, texts, strict=True)]
        return SnippetsFound(snippets=tuple(snippets))

    async def read(self, paper: Paper) -> PaperText:
        return PaperText(outcome="full_text", text=PRINTED if paper == self.papers[1] else "Grain went by rail.")


def test_a_paper_with_the_excerpts_own_words_is_its_own_whatever_the_title() -> None:
    papers = [Paper(id=f"p{at}", title=f"Notes, part {at}", published=PublicationDate(year=2019)) for at in range(2)]
    for first in ("read", "search_snippets"):
        unseen = Unseen(Preprint(papers), RULE, EXCERPT)
        if first == "read":
            assert asyncio.run(unseen.read(papers[1])).outcome == "withheld"
        else:
            assert [one.paper.id for one in asyncio.run(unseen.search_snippets("grain")).snippets] == ["p0"]
        assert [one.id for one in asyncio.run(unseen.search("grain")).papers] == ["p0"], "nor by what is searched later"
        assert asyncio.run(unseen.read(papers[0])).outcome == "full_text"
        assert unseen.hidden == {"own_paper": 1}


@pytest.mark.parametrize(
    "text",
    [
        "Grain shipments from the harbour of Skarn doubled between May and the end of June, as foretold.",
        "Shipments of grain from the harbour of Skarn doubled.",
        "",
    ],
)
def test_a_paper_that_says_the_same_in_other_words_is_not_the_excerpts_own(text: str) -> None:
    assert has_excerpt(PRINTED, EXCERPT)
    assert not has_excerpt(text, EXCERPT)


def test_what_an_excerpt_quotes_may_stand_in_the_paper_that_it_cites() -> None:
    quoted = "shipments of grain from the harbour of Skarn doubled between May and the end of June of every single year"
    assert not has_excerpt(f"We find that {quoted}.", f"According to Reed [CITATION], “{quoted}”, which we doubt.")
