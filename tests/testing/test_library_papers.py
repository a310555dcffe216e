"""The made library: its papers, their citations and dates, and the excerpts."""

import re
from pathlib import Path

import pytest

from quoteweave.attribution.excerpts import read_excerpts
from quoteweave.attribution.literature.sources.papers import PublicationDate
from quoteweave.evaluation.datasets.citeme import load_citeme
from quoteweave.testing import MadeExcerpt, make_library, write_citeme
from quoteweave.testing.literature.library import COLUMNS

LIBRARY = make_library()
KINDS = ("plain", "restated", "same_group", "survey", "full_text", "old")


def of_kind(kind: str) -> list[MadeExcerpt]:
    return [excerpt for excerpt in LIBRARY.excerpts if excerpt.kind == kind]


def runs_of_words(text: str, length: int) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    return {tuple(words[at : at + length]) for at in range(len(words) - length + 1)}


def test_it_has_500_papers_of_twenty_topics_and_several_sciences() -> None:
    assert len(LIBRARY.papers) == 500
    assert len({paper.topic for paper in LIBRARY.papers}) == 20
    assert len({paper.field for paper in LIBRARY.papers}) > 5
    for name in ("id", "corpus_id", "openalex", "title"):
        assert len({getattr(paper, name) for paper in LIBRARY.papers}) == 500, name
    for name in ("doi", "arxiv"):
        known = [getattr(paper, name) for paper in LIBRARY.papers if getattr(paper, name)]
        assert len(known) == len(set(known)), name
        assert 50 < len(known) < 500, name


def test_making_it_again_gives_the_same_and_another_seed_another() -> None:
    make_library.cache_clear()
    again = make_library()
    assert again is not LIBRARY
    assert again == LIBRARY
    other = make_library(3)
    assert len(other.papers) == 500
    assert {paper.id for paper in other.papers}.isdisjoint(LIBRARY.by_id)


def test_papers_cite_earlier_papers_alone() -> None:
    for paper in LIBRARY.papers:
        cited = [LIBRARY.paper(id) for id in paper.references]
        assert len(cited) == len(set(paper.references))
        assert all(other.day < paper.day for other in cited)
        known = [(other.published, paper.published) for other in cited if other.published and paper.published]
        assert all(earlier.year <= later.year for earlier, later in known)


def test_what_services_know_of_a_date_is_true_and_at_times_little() -> None:
    known = [(paper.published, paper.day) for paper in LIBRARY.papers]
    days = [(date, day) for date, day in known if date is not None and date.day is not None]
    years = [(date, day) for date, day in known if date is not None and date.month is None]
    assert (len(days) > 300, len(years) > 40, len(known) - len(days) - len(years) > 10) == (True, True, True)
    assert all((date.year, date.month, date.day) == (day.year, day.month, day.day) for date, day in days)
    assert all(date.year == day.year for date, day in years)


def test_services_lack_some_abstracts_of_papers_that_no_excerpt_cites() -> None:
    lacking = {paper.id for paper in LIBRARY.papers if not paper.abstract_known}
    assert 10 < len(lacking) < 50
    assert lacking.isdisjoint(excerpt.target for excerpt in LIBRARY.excerpts)


def test_the_full_text_says_more_than_the_abstract() -> None:
    for paper in LIBRARY.papers:
        for finding in paper.findings:
            assert f"{finding.percent:g}" in paper.full_text
        if paper.role in ("study", "citing"):
            assert not re.search(rf"\b{re.escape(paper.findings[2].factor.original)}\b", paper.abstract, re.IGNORECASE)


def test_there_are_ten_excerpts_of_each_kind_and_twelve_without_a_source() -> None:
    assert {kind: len(of_kind(kind)) for kind in KINDS} == dict.fromkeys(KINDS, 10)
    assert (len(LIBRARY.excerpts), len(LIBRARY.absent)) == (60, 12)
    assert [each.target for each in LIBRARY.absent] == [None] * 12


def test_each_excerpt_has_one_mark_which_is_read() -> None:
    for excerpt in (*LIBRARY.excerpts, *LIBRARY.absent):
        (read,) = read_excerpts(excerpt.text)
        assert read.mark == "[CITATION]"


def test_the_target_of_an_excerpt_was_published_before_its_source() -> None:
    for excerpt in LIBRARY.excerpts:
        source, target = LIBRARY.paper(excerpt.source), LIBRARY.paper(str(excerpt.target))
        assert target.id in source.references
        assert source.published is not None
        assert target.published is not None
        assert not target.published.may_follow(source.published)


def test_no_excerpt_copies_eight_words_in_a_row_of_its_targets_abstract() -> None:
    for excerpt in LIBRARY.excerpts:
        target = LIBRARY.paper(str(excerpt.target))
        assert not runs_of_words(excerpt.text, 8) & runs_of_words(f"{target.title}. {target.abstract}", 8)


def test_an_excerpt_stands_in_the_full_text_of_its_source() -> None:
    for excerpt in (*LIBRARY.excerpts, *LIBRARY.absent):
        source = LIBRARY.paper(excerpt.source)
        before, after = excerpt.text.split("[CITATION]")
        found = re.search(re.escape(before) + r"\[(\d+)\]" + re.escape(after), source.full_text)
        assert found is not None
        number = int(found[1]) - 1
        if excerpt.target is None:
            assert number - len(source.references) < len(source.other_references)
        else:
            assert source.references[number] == excerpt.target


@pytest.mark.parametrize("kind", ["restated", "survey"])
def test_a_trap_restates_the_finding_and_cites_the_source(kind: str) -> None:
    for excerpt in of_kind(kind):
        target, (trap,) = LIBRARY.paper(str(excerpt.target)), map(LIBRARY.paper, excerpt.traps)
        assert trap.day < LIBRARY.paper(excerpt.source).day
        assert target.id in trap.references
        assert f"{target.findings[0].percent:g} percent" in trap.abstract
        assert target.findings[0].subject.cited in trap.abstract


def test_a_group_publishes_the_same_of_another_dataset() -> None:
    for excerpt in of_kind("same_group"):
        target, (trap,) = LIBRARY.paper(str(excerpt.target)), map(LIBRARY.paper, excerpt.traps)
        own, other = target.findings[0], trap.findings[0]
        assert target.group == trap.group
        assert (own.subject, own.factor, own.outcome) == (other.subject, other.factor, other.outcome)
        assert own.dataset in excerpt.text
        assert f"{own.percent:g}%" in excerpt.text
        assert (own.dataset, own.percent) != (other.dataset, other.percent)


def test_the_number_of_some_excerpts_stands_in_the_full_text_alone() -> None:
    for excerpt in of_kind("full_text"):
        target = LIBRARY.paper(str(excerpt.target))
        numbers = re.findall(r"[\d.]+(?=%)", excerpt.text)
        assert len(numbers) == 1
        assert f"by {numbers[0]} percent" not in target.abstract
        assert re.search(rf"\b{re.escape(numbers[0])} percent", target.full_text)
        assert target.open_access


def test_old_papers_are_known_by_their_year_alone() -> None:
    for excerpt in of_kind("old"):
        published = LIBRARY.paper(str(excerpt.target)).published
        assert published is not None
        assert (published.year < 2000, published.month) == (True, None)


def test_papers_from_after_an_excerpt_restate_what_it_says() -> None:
    for excerpt in LIBRARY.excerpts:
        source, target = LIBRARY.paper(excerpt.source), LIBRARY.paper(str(excerpt.target))
        (later,) = map(LIBRARY.paper, excerpt.later)
        assert isinstance(source.published, PublicationDate)
        assert later.published is not None
        assert later.published.may_follow(source.published)
        assert target.findings[0].factor.cited in later.abstract or target.findings[0].factor.original in later.abstract
        assert f"{target.findings[0].percent:g} percent" in later.abstract
    same_year = [
        excerpt
        for excerpt in LIBRARY.excerpts
        if LIBRARY.paper(excerpt.source).day.year == LIBRARY.paper(excerpt.later[0]).day.year
    ]
    assert len(same_year) >= 10  # a filter by year lets these through


def test_excerpts_are_written_as_citeme_has_them(tmp_path: Path) -> None:
    path = tmp_path / "citeme.csv"
    write_citeme(LIBRARY, path)
    assert path.read_text("utf-8").splitlines()[0] == ",".join(COLUMNS)
    examples = load_citeme(path)
    assert [example.id for example in examples] == [excerpt.id for excerpt in LIBRARY.excerpts]
    assert [example.query.text for example in examples] == [excerpt.text for excerpt in LIBRARY.excerpts]
    for example, excerpt in zip(examples, LIBRARY.excerpts, strict=True):
        assert example.reference.short_answer == LIBRARY.paper(str(excerpt.target)).title
        assert example.document == LIBRARY.paper(excerpt.source).title
        assert example.year == LIBRARY.paper(excerpt.source).day.year
    assert {example.subset for example in examples} == {"train", "test"}
