import pytest
from builders import make_context, make_quote
from pydantic import ValidationError

from quoteweave.core.answers import Answer, Citation, ImageBlock, TextBlock


def citation(mark: str, start: int) -> Citation:
    return Citation(
        mark=mark,
        start=start,
        end=start + len(mark),
        kind="text",
        number=1,
        quote_id="text1",
        document="d.pdf",
        page=0,
        page_label="1",
        bbox=(0, 0, 1, 1),
    )


def answer(text: str, *citations: Citation) -> Answer:
    return Answer(
        question="q",
        status="answered",
        text=text,
        blocks=(TextBlock(text=text, citations=citations),),
        citations=citations,
        model="m",
        seconds=0,
    )


def test_marks_number_the_quotes_of_each_kind_from_1() -> None:
    context = make_context(make_quote(id="text1"), make_quote(id="text2"), make_quote(id="image1", kind="image"))
    found = [context.quote("text", number) for number in (1, 2)] + [context.quote("image", 1)]
    assert [quote.id for quote in found if quote] == ["text1", "text2", "image1"]
    assert context.quote("text", 0) is None
    assert context.quote("text", 3) is None
    assert context.quote("image", 2) is None
    assert context.quote("text", -1) is None


def test_a_citation_stands_where_it_says() -> None:
    assert answer("So it is [1].", citation("[1]", 9)).citations[0].end == 12
    with pytest.raises(ValidationError, match=r"citation '\[1\]' is not at 8:11 of the text"):
        answer("So it is [1].", citation("[1]", 8))


def test_a_citation_of_a_picture_is_named_without_the_words_of_its_mark() -> None:
    image = citation("![The table of fees](image1)", 0).model_copy(update={"kind": "image"})
    assert (image.name, citation("[1, 2]", 0).name) == ("image1", "[1]")


def test_blocks_are_told_apart_by_their_type() -> None:
    image = ImageBlock(summary="a map", image=None, citation=citation("![a map](image1)", 0))
    whole = answer("x").model_copy(update={"blocks": (TextBlock(text="x"), image)})
    again = Answer.model_validate_json(whole.model_dump_json())
    assert [type(block) for block in again.blocks] == [TextBlock, ImageBlock]
    assert again == whole
