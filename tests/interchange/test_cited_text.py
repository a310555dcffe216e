from collections.abc import Sequence

import pytest
from cited_answers import CONTEXT, TEXT, made_answer
from hypothesis import example, given
from hypothesis import strategies as st

from quoteweave.core.answers import Citation
from quoteweave.core.records import Kind
from quoteweave.generation.citations import build_answer
from quoteweave.interchange.cited_text import CitedSource, CitedTextWriter, add_evidence, statements

Part = tuple[str, Sequence[tuple[Kind, int]]]


def written(parts: Sequence[Part]) -> tuple[str, CitedTextWriter]:
    writer, text = CitedTextWriter(CONTEXT), ""
    for said, sources in parts:
        text += writer.text(said) + writer.cite(CitedSource(kind=kind, number=number) for kind, number in sources)
    return text + writer.end(), writer


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ([("Grain was shipped.", [("text", 1)])], "Grain was shipped [1]."),
        ([("Grain ", [("text", 2), ("text", 1)]), ("and rail", [])], "Grain [2, 1] and rail"),
        ([("Grain", [("text", 1)]), ("(in May)", [])], "Grain [1] (in May)"),
        ([("See", [("image", 1)]), (".", [])], "See ![Freight by month](image1)."),
        ([("As [1] says", [("text", 2)])], "As (1) says [2]"),
        ([("So ![x](image2) shows", [("text", 2)])], "So (x) shows [2]"),
        ([("Run `pip", [("text", 1)]), (" install`.", [])], "Run `pip install` [1]."),
        ([("```\npip", [("text", 1)]), ("\n```\nDone.", [])], "```\npip\n```\n[1] Done."),
        ([("```\npip", [("text", 1)])], "```\npip\n```\n[1]"),
        ([("One", [("text", 1)]), (". ", [("text", 2)])], "One [1]. [2]"),
        ([("One", []), (".", [])], "One."),
    ],
)
def test_a_mark_follows_what_it_supports(parts: Sequence[Part], text: str) -> None:
    assert written(parts)[0] == text


SOURCES = st.lists(st.sampled_from([("text", 1), ("text", 3), ("image", 1)]), max_size=3)
PARTS = st.lists(st.tuples(st.text("ab .!?[](),12\n`!image", max_size=12), SOURCES), max_size=6)


@given(PARTS)
@example([("", [("text", 1)]), ("![](image1)", [])])  # no link of the mark and what is no mark
@example([("![a", [("text", 1)]), ("](image1)", [])])
@example([("[1", [("text", 1)]), ("]", [])])
@example([("```\n``", [("text", 1)]), ("`\n[1]", [("text", 3)])])
def test_every_citation_becomes_one_of_the_answer_and_nothing_else_does(parts: list[Part]) -> None:
    text, writer = written(parts)
    answer = build_answer("?", text, CONTEXT, model="m")
    assert [(c.kind, c.number) for c in answer.citations] == [(s.kind, s.number) for s in writer.written]
    assert {source for _, sources in parts for source in sources} == {(s.kind, s.number) for s in writer.written}
    assert not answer.unresolved


@given(PARTS)
def test_how_text_is_cut_changes_nothing(parts: list[Part]) -> None:
    letters: list[Part] = []
    for said, sources in parts:
        letters += [(letter, ()) for letter in said]
        letters.append(("", sources))
    assert written(letters)[0] == written(parts)[0]


def test_an_answer_is_the_same_after_its_marks_were_taken_out_and_written_again() -> None:
    parts: list[Part] = [
        (statement.text, [(citation.kind, citation.number) for citation in statement.citations])
        for statement in statements(made_answer())
    ]
    assert not any("[" in said for said, _ in parts)
    # An image is shown behind the sentence that cites it.
    expected = TEXT.replace("[2][3]", "[2, 3]").replace(
        "\n\n![freight by month](image1)", " ![Freight by month](image1)\n\n"
    )
    assert written(parts)[0] == expected


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("4,210 tonnes", "4,210 tonnes"),
        ("The harbour shipped 4,210 tonnes of grain in May.", None),
        ("a", None),
        ("copper", None),
        ("", None),
    ],
)
def test_words_are_marked_where_they_are_part_of_the_quote_and_found_once(words: str, found: str | None) -> None:
    citation, quote = made_answer().citations[0], CONTEXT.texts[0].quote
    told: Citation = add_evidence(citation, quote, CitedSource(kind="text", number=1, words=words))
    assert told.quoted == quote.text
    assert [quote.text[span.start : span.end] for span in told.spans] == ([found] if found else [])
    assert told.evidence == ("words" if found else "element")
