"""BibTeX entries, read back by a strict parser: they have what the source said, and no LaTeX commands from it."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.attribution.drafts.bibtex import bibtex_entry, bibtex_keys, missing_fields
from quoteweave.attribution.literature.sources.papers import Paper, PublicationDate

UNESCAPED = {
    r"\textbackslash{}": "\\",
    r"\textbraceleft{}": "{",
    r"\textbraceright{}": "}",
    r"\textasciitilde{}": "~",
    r"\textasciicircum{}": "^",
    **{f"\\{char}": char for char in "&%$#_"},
}
_COMMAND = re.compile(r"\\(?:[a-zA-Z]+\{\}|.)")


class Entry(NamedTuple):
    kind: str
    key: str
    fields: dict[str, str]


def bibtex(papers: Sequence[Paper]) -> str:
    return "\n".join(map(bibtex_entry, papers, bibtex_keys(papers)))


def read(text: str) -> list[Entry]:
    """Entries as BibTeX reads them: braces are counted whatever stands before them. AssertionError for all else."""
    entries = []
    while text.strip():
        head = re.match(r"\s*@(\w+)\{([^\s,{}]+),\n", text)
        assert head is not None, text[:80]
        text, fields = text[head.end() :], dict[str, str]()
        while not text.startswith("}\n"):
            name = re.match(r"  (\w+) = ", text)
            assert name is not None, text[:80]
            value, text = value_of(text[name.end() :])
            assert text.startswith(",\n")
            assert name[1] not in fields
            fields[name[1]], text = value, text[2:]
        entries.append(Entry(head[1], head[2], fields))
        text = text[2:]
    return entries


def value_of(text: str) -> tuple[str, str]:
    macro = re.match("[a-z]{3}", text)
    if macro is not None:
        return macro[0], text[3:]
    assert text[0] == "{"
    depth = 0
    for place, char in enumerate(text):
        depth += (char == "{") - (char == "}")
        if depth == 0:
            return text[1:place], text[place + 1 :]
    raise AssertionError("braces are not closed")


def printed(value: str) -> str:
    """What LaTeX prints of a field. AssertionError for a command that is no escape."""
    for command in _COMMAND.findall(value):
        assert command in UNESCAPED, command
    parts = re.split(r"(\\(?:[a-zA-Z]+\{\}|.))", value)
    return "".join(UNESCAPED.get(part) or re.sub("[{}]", "", part) for part in parts)


def paper(title: str, *authors: str, **known: object) -> Paper:
    year = known.pop("published", None)
    published = None if year is None else PublicationDate.parse(str(year))
    return Paper.model_validate({"id": "1", "title": title, "authors": authors, "published": published, **known})


def test_an_entry_has_what_the_source_knows() -> None:
    known = paper(
        "BERT: Pre-training in C4",
        "Jacob Devlin",
        "van der Berg, Jan",
        "Łukasz Müller",
        published="2019-06-02",
        venue="North American Chapter of the ACL",
        identifiers={"doi": "https://doi.org/10.18653/v1/N19-1423", "arxiv": "arXiv:1810.04805"},
        url="https://example.org/a_b",
    )
    (entry,) = read(bibtex([known]))
    assert entry == Entry(
        "inproceedings",
        "devlin2019bert",
        {
            "title": "{BERT}: Pre-training in {C4}",
            "author": "Jacob Devlin and van der Berg, Jan and Łukasz Müller",
            "booktitle": "North American Chapter of the ACL",
            "year": "2019",
            "doi": "10.18653/v1/N19-1423",
            "eprint": "1810.04805",
            "archivePrefix": "arXiv",
            "url": "https://example.org/a_b",
            "month": "jun",
        },
    )


@pytest.mark.parametrize(
    ("venue", "kind", "field"),
    [
        ("International Conference on Learning Representations", "inproceedings", "booktitle"),
        ("Advances in Neural Information Processing Systems", "inproceedings", "booktitle"),
        ("Proceedings of the National Academy of Sciences", "article", "journal"),
        ("Nature", "article", "journal"),
        ("arXiv.org", "misc", "howpublished"),
        (None, "misc", None),
    ],
)
def test_the_type_is_that_of_the_venues_name(venue: str | None, kind: str, field: str | None) -> None:
    (entry,) = read(bibtex([paper("Grain", "Ada Reed", venue=venue)]))
    assert (entry.kind, entry.fields.get(field or "")) == (kind, venue)


@pytest.mark.parametrize(
    ("authors", "title", "key"),
    [
        (("Ada Reed", "Bo Lee"), "On the Étude of Grain", "reed2016etude"),
        (("van der Berg, Jan",), "Grain", "berg2016grain"),
        (("Jan van der Berg",), "Grain", "berg2016grain"),
        (("Søren Ærø",), "Grain", "aero2016grain"),
        (("The ATLAS Collaboration",), "Grain", "atlas2016grain"),
        (("王伟",), "注意力", "2016"),
        ((), "The of", "2016"),
    ],
)
def test_keys_are_of_author_year_and_title(authors: tuple[str, ...], title: str, key: str) -> None:
    assert bibtex_keys([paper(title, *authors, published=2016)]) == (key,)


def test_keys_differ_from_each_other_and_from_those_taken() -> None:
    papers = [paper("Grain", "Ada Reed", published=2016)] * 30
    keys = bibtex_keys(papers, used_keys={"reed2016grain", "reed2016grainb"})
    assert len(set(keys)) == 30
    assert keys[:2] == ("reed2016graina", "reed2016grainc")
    assert keys[-1] == "reed2016grainae"
    assert bibtex_keys([paper("注意力")]) == ("paper",)


def test_names_that_bibtex_would_split_stand_in_braces() -> None:
    (entry,) = read(bibtex([paper("Grain", "Reed and Sons", "The ATLAS Collaboration", "Smith, Jr., Al", "?")]))
    assert entry.fields["author"] == "{Reed and Sons} and {The ATLAS Collaboration} and Smith, Jr., Al"


@pytest.mark.parametrize("url", ["javascript:alert(1)", "file:///etc/passwd", "http//x"])
def test_only_addresses_of_the_web_are_urls(url: str) -> None:
    assert "url" not in read(bibtex([paper("Grain", url=url)]))[0].fields


@given(st.text(max_size=40), st.lists(st.text(max_size=15), max_size=3))
def test_whatever_a_source_says_is_printed_and_never_run(title: str, authors: list[str]) -> None:
    said = paper(title, *authors, venue=title, identifiers={"doi": title, "arxiv": title}, url=f"https://x.org/{title}")
    for entry in read(bibtex([said, said])):
        for name in ("title", "author", "howpublished", "journal", "booktitle"):
            value = printed(entry.fields.get(name, ""))
            assert value.isprintable()
        shown = "".join(char if char.isprintable() else " " for char in title)
        assert printed(entry.fields.get("title", "")).split() == shown.split()
        for name in ("doi", "eprint", "url"):
            assert re.search(r"[\\{}\s]", entry.fields.get(name, "")) is None


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("annual-report_2023.pdf", "annual report 2023"),
        ("a/b c.md", "b c"),
        (".md", ".md"),
        ("v1.2 notes", "v1.2 notes"),
    ],
)
def test_a_document_without_a_title_is_named_by_its_file(name: str, title: str) -> None:
    (entry,) = read(bibtex([Paper(id=name, title=name, identifiers={"document": name})]))
    shown = {
        field: "".join(UNESCAPED.get(part, part) for part in re.split(r"(\\\\\W)", value))
        for field, value in entry.fields.items()
    }
    assert (entry.kind, shown["title"].replace("\\_", "_")) == ("misc", title)
    assert "howpublished" in shown


def test_what_an_entry_lacks_is_told() -> None:
    named = Paper(id="a.pdf", title="a.pdf", identifiers={"document": "a.pdf"})
    assert missing_fields(named) == ("title", "authors", "year")
    told = {"title": "Grain", "authors": ("Ada Reed",), "published": PublicationDate(year=2019)}
    assert missing_fields(named.model_copy(update=told)) == ()
