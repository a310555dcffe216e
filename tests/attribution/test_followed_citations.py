"""A sentence like the claim, with a mark, points to what it cites."""

from made_collections import made_quote

from quoteweave.attribution.literature.followed_citations import cited_for, is_secondhand, numbered_references
from quoteweave.core.records import Hit, Quote

REFERENCES = {
    "a.pdf": {1: "Reed. Blur and networks. 2016.", 2: "Lee. Fog. 2019.", 3: "Ho. Noise. 2020."},
    "b.pdf": {1: "Kim. Harbours. 2001."},
}


def hits(document: str, *texts: str) -> list[Hit]:
    quotes = [made_quote(text).model_copy(update={"document": document}) for text in texts]
    return [Hit(rank=rank, score=1 / rank, quote=quote) for rank, quote in enumerate(quotes, 1)]


def references(*texts: str, section: str | None = "References") -> list[Quote]:
    return [made_quote(text).model_copy(update={"section": section}) for text in texts]


def test_what_a_sentence_like_the_claim_cites_is_found_by_its_number() -> None:
    found = hits("a.pdf", "Ships sail [3]. Blur misleads deep networks [1, 2]. Nobody minds.")
    assert cited_for("Deep networks are misled by blur", found, REFERENCES) == [
        "Reed. Blur and networks. 2016.",
        "Lee. Fog. 2019.",
    ]


def test_the_most_alike_sentence_comes_first_whichever_document_has_it() -> None:
    found = [*hits("a.pdf", "Blur misleads people [3]."), *hits("b.pdf", "Blur misleads deep networks [1].")]
    assert cited_for("Blur misleads deep networks", found, REFERENCES) == ["Kim. Harbours. 2001.", "Ho. Noise. 2020."]


def test_nothing_is_followed_from_other_sentences_unknown_numbers_and_documents_without_a_list() -> None:
    found = [
        *hits("a.pdf", "Ships sail [1].", "Blur misleads networks [9]."),
        *hits("c.pdf", "Blur misleads networks [1]."),
    ]
    assert cited_for("Blur misleads networks", found, REFERENCES) == []


def test_entries_are_read_by_number_over_lines_and_quotes() -> None:
    quotes = references("[1] A. Reed. Blur and\nnetworks. 2016.\n[2] B. Lee.", "Fog. 2019.\n[3] C. Ho. Noise.")
    assert numbered_references(quotes) == {
        1: "A. Reed. Blur and networks. 2016.",
        2: "B. Lee. Fog. 2019.",
        3: "C. Ho. Noise.",
    }
    assert numbered_references(references("1. Reed. Blur.\n2. Lee. Fog.", section="7 References")) == {
        1: "Reed. Blur.",
        2: "Lee. Fog.",
    }
    assert numbered_references(references("[1] A note.", section="Results")) == {}
    assert numbered_references(references("Reed (2016). Blur.")) == {}
    assert numbered_references([]) == {}


def test_a_passage_is_secondhand_where_its_sentence_cites_another_paper() -> None:
    text = "Ships sail [2]. We measured that blur misleads networks. Fog was seen [3]."
    assert not is_secondhand("Blur misleads networks", text)
    assert is_secondhand("Fog was seen", text)
    assert not is_secondhand("Gluons", text), "no sentence of it says anything of this"
    assert not is_secondhand("Gluons", "")
