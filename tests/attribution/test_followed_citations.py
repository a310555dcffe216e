"""A sentence like the claim, with a mark, points to what it cites."""

import pytest
from made_collections import made_quote

from quoteweave.attribution.literature.followed_citations import ReferenceList, entries_cited_for, is_secondhand
from quoteweave.core.records import Hit, Quote


def hits(document: str, *texts: str) -> list[Hit]:
    quotes = [made_quote(text).model_copy(update={"document": document}) for text in texts]
    return [Hit(rank=rank, score=1 / rank, quote=quote) for rank, quote in enumerate(quotes, 1)]


def references(*texts: str, section: str | None = "References") -> list[Quote]:
    return [made_quote(text).model_copy(update={"section": section}) for text in texts]


REFERENCES = {
    "a.pdf": ReferenceList(references("[1] Reed. Blur and networks. 2016.\n[2] Lee. Fog. 2019.\n[3] Ho. Noise. 2020.")),
    "b.pdf": ReferenceList(references("[1] Kim. Harbours. 2001.")),
}


def test_what_a_sentence_like_the_claim_cites_is_found_by_its_number() -> None:
    found = hits("a.pdf", "Ships sail [3]. Blur misleads deep networks [1, 2]. Nobody minds.")
    assert list(entries_cited_for("Deep networks are misled by blur", found, REFERENCES)) == [
        "Reed. Blur and networks. 2016.",
        "Lee. Fog. 2019.",
    ]


def test_the_most_alike_sentence_comes_first_whichever_document_has_it() -> None:
    found = [*hits("a.pdf", "Blur misleads people [3]."), *hits("b.pdf", "Blur misleads deep networks [1].")]
    cited = entries_cited_for("Blur misleads deep networks", found, REFERENCES)
    assert list(cited) == ["Kim. Harbours. 2001.", "Ho. Noise. 2020."]
    assert cited["Kim. Harbours. 2001."] == 1, "the sentence has each word of the claim"
    assert 0.3 <= cited["Ho. Noise. 2020."] < 1


def test_nothing_is_followed_from_other_sentences_unknown_numbers_and_documents_without_a_list() -> None:
    found = [
        *hits("a.pdf", "Ships sail [1].", "Blur misleads networks [9]."),
        *hits("c.pdf", "Blur misleads networks [1]."),
    ]
    assert entries_cited_for("Blur misleads networks", found, REFERENCES) == {}


def test_entries_are_read_by_number_over_lines_and_quotes() -> None:
    quotes = references("[1] A. Reed. Blur and\nnetworks. 2016.\n[2] B. Lee.", "Fog. 2019.\n[3] C. Ho. Noise.")
    assert ReferenceList(quotes).numbered == {
        1: "A. Reed. Blur and networks. 2016.",
        2: "B. Lee. Fog. 2019.",
        3: "C. Ho. Noise.",
    }
    assert ReferenceList(references("1. Reed. Blur.\n2. Lee. Fog.", section="7 References")).numbered == {
        1: "Reed. Blur.",
        2: "Lee. Fog.",
    }
    assert not ReferenceList(references("[1] A note.", section="Results"))
    assert not ReferenceList(references("To be added."))
    assert not ReferenceList([])


NAMED = """Ho, C. and Kim, D. (2020). Noise in
harbours of the north. Nature.
Reed, A., Kim, C., and
Lee, B. (2016). Blur and networks.
Reed, A. (2016). Fog.
Ada Stone, Bo Lee. Sound at sea. Science, 2019a."""


@pytest.mark.parametrize(
    ("text", "cited"),
    [
        ("Ships are loud (Ho and Kim, 2020).", ["Ho, C. and Kim, D. (2020). Noise in harbours of the north. Nature."]),
        (
            "Reed et al. (2016) saw blur.",
            ["Reed, A., Kim, C., and Lee, B. (2016). Blur and networks.", "Reed, A. (2016). Fog."],
        ),
        ("Sound travels (Stone et al., 2019a).", ["Ada Stone, Bo Lee. Sound at sea. Science, 2019a."]),
        ("Sound travels (Stone et al., 2019; Kim, 2020; Lee, 2016) [1].", []),
    ],
)
def test_authors_and_years_name_the_entries_of_a_list_without_numbers(text: str, cited: list[str]) -> None:
    assert ReferenceList(references(NAMED)).cited_in(text) == cited


def test_marks_of_authors_and_years_are_followed() -> None:
    found = hits("a.pdf", "Ships sail (Stone et al., 2019a). Harbours are loud (Ho and Kim, 2020).")
    entries = entries_cited_for("Harbours are loud", found, {"a.pdf": ReferenceList(references(NAMED))})
    assert list(entries) == ["Ho, C. and Kim, D. (2020). Noise in harbours of the north. Nature."]


def test_a_passage_is_secondhand_where_its_sentence_cites_another_paper() -> None:
    text = "Ships sail [2]. We measured that blur misleads networks. Fog was seen [3]."
    assert not is_secondhand("Blur misleads networks", text)
    assert is_secondhand("Fog was seen", text)
    assert not is_secondhand("Gluons", text), "no sentence of it says anything of this"
    assert not is_secondhand("Gluons", "")


@pytest.mark.parametrize(
    "sentence",
    [
        "Earlier work reported that blur misleads networks.",
        "It is well known that blur misleads networks.",
        "It has long been shown that blur misleads networks.",
        "Blur misleads networks, as was shown previously.",
        "Blur misleads networks, as was observed before.",
        "It was reported earlier that blur misleads networks.",
        "Unlike fog, blur misleads networks [3].",
        "Reed et al. (2016) say that blur misleads networks.",
        "We build on the result that blur misleads networks.",
        "Blur misleads networks (Reed and Lee, 2016).",
    ],
)
def test_what_a_sentence_has_from_others_is_secondhand(sentence: str) -> None:
    assert is_secondhand("Blur misleads networks", f"Ships sail. {sentence}")


@pytest.mark.parametrize(
    "sentence",
    [
        "It was found that blur misleads networks.",
        "It is shown that blur misleads networks.",
        "Blur misleads networks.",
        "Blur that misleads networks was found before the first frost.",
        "Blur that misleads networks was observed earlier in the season.",
        "We found previously unknown blur that misleads networks.",
        "Contrary to earlier reports, blur misleads networks.",
        "In contrast to previous work (Reed, Lee and Ho, 2016), blur misleads networks.",
        "Blur misleads networks, unlike in earlier studies.",
        "Blur misleads networks more often than in previous studies.",
        "As in our earlier work, blur misleads networks.",
        "It has never been shown that blur misleads networks.",
    ],
)
def test_what_may_be_its_own_result_is_not(sentence: str) -> None:
    assert not is_secondhand("Blur misleads networks", f"Earlier work is about ships. {sentence}")
