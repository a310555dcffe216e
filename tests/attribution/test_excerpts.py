"""Citation marks of papers and drafts, and the claim that each belongs to."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from quoteweave.attribution import excerpts
from quoteweave.attribution.excerpts import (
    MAX_EXCERPT_CHARACTERS,
    cited_works,
    has_citation_mark,
    read_excerpts,
    without_marks,
)
from quoteweave.core.errors import QuestionTooLong, UsageError


@pytest.mark.parametrize(
    "mark",
    [
        *("[CITATION]", "[CITATION1, CITATION2]", "[REF]", "[4]", "[3, 5]", "[1-3]", "[1–3; 7]", "[@reed2016]"),
        *("(Reed et al., 2016)", "(Reed and Lee, 2016; Hahn, 2020a)", "(see Reed et al. 2016)"),
        *("(e.g., Reed 2016)", "(see also Reed 2016; Lee 2019)"),
        *(r"\cite{reed}", r"\citep[p. 3]{reed,lee}"),
    ],
)
def test_each_form_of_mark_is_found_and_taken_out_of_the_claim(mark: str) -> None:
    (found,) = read_excerpts(f"Blur hurts neural networks {mark}.")
    assert (found.mark, found.claim, found.text) == (mark, "Blur hurts neural networks.", "Blur hurts neural networks.")
    assert has_citation_mark(mark)


@pytest.mark.parametrize(
    "text",
    [
        "Grain rose (May 2019).",
        "Grain rose (Q3 2019).",
        "Grain rose (Spring, 2019).",
        "A chip (Pentium 2000) was sold.",
        "Games (Beijing 2008; London 2012) cost much.",
        "Grain rose (see Figure 2010).",
        "A chip (cf. Directive 2004) was sold.",
        "Spain and Portugal (2016) exported 40 tonnes of cork.",
        "The cork of Spain and Portugal (2016, 2017) went by ship.",
        "Cork was bought by Bell and Sons (1952) in Lisbon.",
    ],
)
def test_a_time_or_a_name_with_a_number_is_no_mark(text: str) -> None:
    (found,) = read_excerpts(text)
    assert (found.mark, found.claim) == (None, text)


@pytest.mark.parametrize("text", ["In (2016) it rained.", "An array [x] of 3.", "See section (iv).", "f(0, 1) holds"])
def test_what_is_no_mark_stays(text: str) -> None:
    assert not has_citation_mark(text)
    assert read_excerpts(text)[0].claim == text


def test_marks_in_one_sentence_are_looked_for_by_themselves() -> None:
    text = "Grain went by rail in May [1], whereas all of the timber went by ship [2]."
    assert [(one.mark, one.claim) for one in read_excerpts(text)] == [
        ("[1]", "Grain went by rail in May"),
        ("[2]", "whereas all of the timber went by ship."),
    ]


def test_a_year_before_an_initial_stays_in_the_claim() -> None:
    (found,) = read_excerpts("In 2016 J. Reed showed that blur fools networks [4].")
    assert found.claim == "In 2016 J. Reed showed that blur fools networks."


def test_a_part_of_few_words_has_the_whole_sentence_as_its_claim() -> None:
    first, second = read_excerpts("Models [1] and people [2] were both asked to read blurred pictures.")
    assert first.claim == "Models and people were both asked to read blurred pictures."
    assert second.claim == "and people were both asked to read blurred pictures."


def test_a_mark_behind_a_full_stop_belongs_to_the_sentence_before() -> None:
    (found,) = read_excerpts("Timber went by ship last year. Grain went by rail in May. [1] Oil did not move at all.")
    assert found.claim == "Grain went by rail in May."
    assert "Oil did not move" in found.text


def test_a_long_text_is_searched_for_around_its_mark_and_says_so() -> None:
    far = "The weather was fine over all of the bay. " * 200
    (found,) = read_excerpts(f"{far}Grain went by rail in May [1]. {far}")
    assert found.cut
    assert found.claim == "Grain went by rail in May."
    assert "Grain went by rail" in found.text
    assert len(found.text) <= MAX_EXCERPT_CHARACTERS


def test_a_long_sentence_is_searched_for_by_its_end() -> None:
    (found,) = read_excerpts("grain and " * 300 + "timber went by rail in May [1].")
    assert found.cut
    assert len(found.text) <= MAX_EXCERPT_CHARACTERS
    assert found.text.endswith("timber went by rail in May.")


def test_each_sentence_of_a_text_without_marks_is_a_claim() -> None:
    found = read_excerpts("Grain went by rail. Timber went by ship.")
    assert [one.claim for one in found] == ["Grain went by rail.", "Timber went by ship."]
    assert {one.text for one in found} == {"Grain went by rail. Timber went by ship."}


@pytest.mark.parametrize("text", ["", "  \n", "[1]", "?!"])
def test_a_text_without_words_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="no words"):
        read_excerpts(text)


def test_a_long_text_without_a_mark_is_refused_with_what_to_do() -> None:
    with pytest.raises(UsageError, match=r"put \[CITATION\] after the sentence"):
        read_excerpts("Grain went by rail in May. " * 100)
    with pytest.raises(QuestionTooLong):
        read_excerpts("x" * 100_001)


def test_a_mark_that_is_the_subject_belongs_to_what_follows() -> None:
    found = read_excerpts("[CITATION] shows that blur hurts networks. People see well. [4] found that they do not.")
    assert [(one.mark, one.claim) for one in found] == [
        ("[CITATION]", "Blur hurts networks."),
        ("[4]", "found that they do not."),
    ]
    both = read_excerpts("[4], [5] say that blur hurts networks.")
    assert [one.claim for one in both] == ["Blur hurts networks."] * 2


@example("[0]0")
@given(st.text(alphabet="ab .[]1,(Ré et al., 2016)@\\cite{}\n", max_size=80))
def test_whatever_is_written_a_claim_has_no_mark_and_each_mark_is_where_it_is_said_to_be(text: str) -> None:
    try:
        found = read_excerpts(text)
    except UsageError:
        return
    for one in found:
        assert one.claim == without_marks(one.claim)
        assert one.mark is None or text[one.start : one.start + len(one.mark)] == one.mark


@pytest.mark.parametrize(
    "bracket", ["(see e.g. [CITATION])", "([4])", "(cf. [4] and [5])", "([@reed], see also [@lee])"]
)
def test_a_bracket_that_holds_marks_alone_is_no_part_of_the_claim(bracket: str) -> None:
    assert read_excerpts(f"Blur hurts neural networks {bracket}.")[-1].claim == "Blur hurts neural networks."
    assert read_excerpts(f"Blur (a filter) hurts f() of networks {bracket}.")[-1].claim.startswith("Blur (a filter)")


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("Blur hurts networks [4], but people see well [7, 9].", ["Blur hurts networks", "but people see well."]),
        ("Bees lived longer [1]; a crane was built there [2].", ["Bees lived longer", "a crane was built there."]),
        ("Ants sting people [1] while bees rarely do [2].", ["Ants sting people", "while bees rarely do."]),
        ("BERT [1] outperforms GPT [2].", ["BERT outperforms GPT."] * 2),
        ("Models, BERT [1], T5 [2] and GPT [3], read.", ["Models, BERT, T5 and GPT, read."] * 3),
    ],
)
def test_a_short_clause_with_a_mark_of_its_own_is_a_claim_and_a_name_is_none(text: str, claims: list[str]) -> None:
    assert [one.claim for one in read_excerpts(text)] == claims


def test_no_space_is_left_before_a_full_stop_of_chinese() -> None:
    assert read_excerpts("蜜蜂活得更长[1]。")[0].claim == "蜜蜂活得更长。"


def test_halves_of_a_bracket_that_marks_were_cut_out_of_are_no_part_of_a_claim() -> None:
    found = read_excerpts("Ports grew (see also [3], and [4]; [5]) in the north.")
    assert [one.claim for one in found] == ["Ports grew in the north."] * 3


def test_abbreviations_of_that_is_and_for_example_are_no_words_of_the_claim() -> None:
    (found,) = read_excerpts("Some fish, e.g., sharks, lack a bladder, i. e. sink [4].")
    assert found.claim == "Some fish, sharks, lack a bladder, sink."


def test_words_that_introduce_a_mark_are_no_part_of_the_claim() -> None:
    (according,) = read_excerpts("According to [CITATION], blur hurts networks more than people.")
    (following,) = read_excerpts("In [4], the authors say that blur hurts networks.")
    (kept,) = read_excerpts("In summer, blur hurts networks more than people [4].")
    assert [one.claim for one in (according, following, kept)] == [
        "Blur hurts networks more than people.",
        "The authors say that blur hurts networks.",
        "In summer, blur hurts networks more than people.",
    ]


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("Reed et al. (2016) showed that blur hurts networks.", "Reed et al. (2016)"),
        (
            "People see well. Reed and Lee (2016, 2018) also found that blur hurts networks.",
            "Reed and Lee (2016, 2018)",
        ),
        ("Reed (2016) argues that blur hurts networks.", "Reed (2016)"),
        ("As Reed et al. [4] showed, blur hurts networks.", "[4]"),
        ("According to Reed and Lee (2016), blur hurts networks.", "Reed and Lee (2016)"),
        ("As shown by Reed (2016), blur hurts networks.", "Reed (2016)"),
        ("It is now well known that blur hurts networks [4].", "[4]"),
        ("Previous studies have shown that blur hurts networks [4].", "[4]"),
        ("It has long been known that blur hurts networks (Reed et al., 2016, 2018).", "(Reed et al., 2016, 2018)"),
    ],
)
def test_who_said_it_and_when_is_no_part_of_the_claim(text: str, mark: str) -> None:
    (found,) = read_excerpts(text)
    assert (found.mark, found.claim) == (mark, "Blur hurts networks.")


@pytest.mark.parametrize(
    "text",
    [
        "It has not been shown that blur hurts networks.",
        "It has never been shown that blur hurts networks.",
        "It is hardly known that blur hurts networks.",
        "It was wrongly reported that blur hurts networks.",
        "It has seldom been found that blur hurts networks.",
        "We found that blur hurts networks.",
        "The games of London (2012) were large.",
        "Found objects hurt people.",
    ],
)
def test_what_is_said_of_something_else_stays_in_the_claim(text: str) -> None:
    assert read_excerpts(text)[0].claim == text


@pytest.mark.parametrize(
    "text",
    [
        "Blur hurts networks [0[0]].",
        "Blur hurts networks [1, [2, [3]]].",
        "Blur hurts networks (see [3] Reed et al., 2016).",
        "Blur hurts networks [e.g. 3].",
        f"Blur hurts networks {'[0' * 3_000}{']' * 3_000}.",
    ],
)
def test_what_is_left_around_a_mark_is_none_either(text: str) -> None:
    for one in read_excerpts(text):
        assert not has_citation_mark(one.claim)
        assert not has_citation_mark(one.text)


def test_authors_who_study_or_propose_something_are_a_mark() -> None:
    text = "Reed and Lee (2016) propose blurred pictures, and later Ho (2020) examined people."
    assert [one.mark for one in read_excerpts(text)] == ["Reed and Lee (2016)", "Ho (2020)"]


def test_works_are_named_by_first_author_and_year() -> None:
    text = (
        "Blur hurts (see Reed et al., 2016a; Lee, 2019), as Ho and Kim (2020, 2021) say, not in May (Summer, 2019) [3]."
    )
    assert cited_works(text) == [("Reed", "2016a"), ("Lee", "2019"), ("Ho", "2020"), ("Ho", "2021")]


def test_a_long_text_with_many_marks_is_read_in_proportion_to_its_length(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []

    def counted(text: str) -> str:
        read.append(len(text))
        return without_marks(text)

    monkeypatch.setattr(excerpts, "without_marks", counted)
    text = "Grain was shipped in May by rail and by sea [1]. " * 300
    found = excerpts.read_excerpts(text)
    assert [one.claim for one in found] == ["Grain was shipped in May by rail and by sea."] * 300
    assert sum(read) < 60 * len(text)  # some twelve hundred characters around each mark
