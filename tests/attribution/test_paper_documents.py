"""Descriptions of papers as Markdown, and whether a file is the paper that was meant."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_collections import made_quote

from quoteweave.attribution.literature.library.paper_documents import as_markdown, is_paper_meant
from quoteweave.attribution.literature.sources.papers import Paper
from quoteweave.collection.stores.content import ImageStore
from quoteweave.core.records import Quote
from quoteweave.documents.parser import DocumentParser

# What Markdown, HTML and front matter are made of.
HOSTILE = st.text(st.sampled_from("ab 1.)(-+=:#*_`~|!$<>&[]\\/\"'\n\t\r\0\ud800é"), max_size=40)


@given(HOSTILE, HOSTILE)
def test_a_description_reads_back_as_it_was_whatever_is_in_it(title: str, abstract: str) -> None:
    paper = Paper.model_construct(id="7", title=title, abstract=abstract)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "paper.md"
        file.write_text(as_markdown(paper), "utf-8")
        parsed = DocumentParser(ImageStore(Path(folder) / "images")).parse(file)

    def words(text: str) -> list[str]:
        return text.encode("utf-8", "replace").decode().replace("\0", " ").split()

    first, *rest = parsed.quotes
    assert (first.layout, first.text.split()) == ("title", words(title) or ["7"])
    assert [word for quote in rest for word in quote.text.split()] == words(abstract)
    assert {quote.layout for quote in rest} <= {"paragraph"}
    assert (parsed.warnings, parsed.linked_files) == ((), {})


def test_what_is_cut_ends_with_an_ellipsis() -> None:
    paper = Paper(id="7", title="Grain " * 400, abstract="rail " * 8000)
    title, abstract, _, snippet = as_markdown(paper, ["ship " * 8000]).strip().split("\n\n")
    assert all(text.endswith("…") for text in (title, abstract, snippet))


def page(*texts: str, number: int = 0, section: str | None = None) -> list[Quote]:
    return [made_quote(text, page=number).model_copy(update={"section": section}) for text in texts]


TITLE = "Counting the Grain Ships of the Skarn Coast"


@pytest.mark.parametrize(
    ("title", "quotes"),
    [
        (TITLE, page("COUNTING THE GRAIN SHIPS\nOF THE SKARN COAST", "Ada Reed")),
        (TITLE, page("Counting the Grain", "Ships of the Skarn Coast", "Ada Reed")),
        (TITLE, page("Countlng the Graln Ships of the Skarn Coast", "Ada Reed")),  # as OCR reads
        (TITLE, [*page("Repository of Mole"), *page(f"Port Letters 7 {TITLE} Ada Reed", number=1)]),
        ("Ferry", page("Ferry", "Ada Reed")),
        ("Grain by Rail", [made_quote("Grain by Rail: Ten Years of Counting", layout="title")]),
        (f"{TITLE}: A Long Survey", [made_quote(TITLE, layout="title")]),
        ("", page("Anything")),
    ],
)
def test_a_file_with_the_title_on_its_first_pages_is_the_paper(title: str, quotes: list[Quote]) -> None:
    assert is_paper_meant(Paper(id="1", title=title), quotes)


@pytest.mark.parametrize(
    ("title", "quotes"),
    [
        (TITLE, page("On cranes", "Ships and grain of the coast are counted.")),
        (TITLE, page(f"Reed. {TITLE}. 2019.", section="References")),
        (TITLE, page(TITLE, number=2)),
        (TITLE, []),
        ("Ferry", page("The ferry went by the quay, as each ferry does.")),
        ("Learning to Sail, Part 1", page("Learning to Sail, Part 2")),
        ("Learning to Sail, Part 1", [made_quote("Learning to Sail, Part 12", layout="title")]),
        ("Counting the Grain Ships, Part I", page("Counting the Grain Ships, Part II")),
        ("Counting the Grain Ships of 201", page("Counting the Grain Ships of 2019 by rail")),
    ],
)
def test_a_file_without_it_is_another_paper(title: str, quotes: list[Quote]) -> None:
    assert not is_paper_meant(Paper(id="1", title=title), quotes)
