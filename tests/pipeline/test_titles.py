"""What a document is called, by the headings of its first page."""

from pathlib import Path

import pytest
from made_collections import made_quote, make_collection

from quoteweave.core.records import Filter, Quote
from quoteweave.pipeline.filtered_pages import FilteredPages

SENTENCE = "The port was built in two years."


def heading(text: str, section: str | None = None, *, has_pages: bool = True) -> Quote:
    return made_quote(text, layout="title").model_copy(update={"section": section, "has_pages": has_pages})


def title(folder: Path, quotes: list[Quote | str]) -> str | None:
    with make_collection(folder, {"port.pdf": quotes}) as collection:
        return FilteredPages(collection, Filter()).titles(["port.pdf"]).get("port.pdf")


@pytest.mark.parametrize(
    ("quotes", "expected"),
    [
        ([heading("The Port"), heading("A Report"), SENTENCE], "The Port"),
        ([heading("User Guide"), heading("Crane 1500"), SENTENCE], "Crane 1500"),
        ([heading("User Guide"), SENTENCE, heading("Cranes")], "User Guide"),
        ([heading("Contents"), "Cranes 3"], None),
        ([heading("(Cite as: 12 P 3)"), heading("Holm v. Rowe"), SENTENCE], "Holm v. Rowe"),
        (["Holm, 3 May", heading("The Port"), heading("Contents")], "The Port"),
        ([SENTENCE, heading("The Port")], "The Port"),
    ],
)
def test_the_title_is_the_first_heading_that_says_what_a_document_is_about(
    tmp_path: Path, quotes: list[Quote | str], expected: str | None
) -> None:
    assert title(tmp_path, quotes) == expected


def test_a_heading_below_the_text_of_a_file_without_pages_is_no_title_unless_others_stand_under_it(
    tmp_path: Path,
) -> None:
    early, late = heading("EARLY LIFE", has_pages=False), heading("LEGACY", has_pages=False)
    assert title(tmp_path / "a", [SENTENCE, early, SENTENCE, late]) is None
    assert title(tmp_path / "b", [SENTENCE, early, heading("School", "EARLY LIFE", has_pages=False)]) == "EARLY LIFE"
    assert title(tmp_path / "c", [heading("Ada Holm", has_pages=False), SENTENCE, early]) == "Ada Holm"


@pytest.mark.parametrize(
    ("first", "expected"),
    [("Crane 1500, a crane for ports\nProduct sheet", "Crane 1500, a crane for ports"), ("Dear Ida,", None)],
)
def test_a_plain_text_is_called_by_the_line_with_which_it_begins(
    tmp_path: Path, first: str, expected: str | None
) -> None:
    quotes = [one.model_copy(update={"has_pages": False}) for one in (made_quote(first), made_quote(SENTENCE))]
    assert title(tmp_path, [*quotes]) == expected


def test_all_titles_are_told_by_headings_alone(tmp_path: Path) -> None:
    documents = {"a.pdf": [heading("Contents"), heading("The Port")], "b.pdf": [heading("Contents")]}
    with make_collection(tmp_path, documents) as collection:
        assert FilteredPages(collection, Filter()).all_titles() == {"a.pdf": "The Port"}
