import sys
from io import BytesIO
from zipfile import ZipFile

import pytest
from builders import make_context, make_quote
from cited_answers import CONTEXT, URLS, made_answer
from PIL import Image

from quoteweave.core.answers import Answer
from quoteweave.core.errors import MissingExtra
from quoteweave.core.files.pictures import encode_picture
from quoteweave.generation.citations import build_answer, with_citations
from quoteweave.interchange.exports import ExportedTurn
from quoteweave.interchange.exports.word import to_word

PICTURE = encode_picture(Image.new("RGB", (1200, 300), "navy"), "PNG")


def plain(text: str) -> Answer:
    return build_answer("What?", text, CONTEXT, model="m")


def footnotes(file: bytes) -> list[tuple[str, str | None]]:
    """The text of each footnote in order, and where its link leads."""
    import docx
    from docx.opc.constants import RELATIONSHIP_TYPE
    from docx.oxml.ns import qn
    from docx.oxml.parser import parse_xml

    part = docx.Document(BytesIO(file)).part.part_related_by(RELATIONSHIP_TYPE.FOOTNOTES)
    found: list[tuple[str, str | None]] = []
    for note in parse_xml(part.blob).findall(qn("w:footnote")):
        if note.get(qn("w:type")) is None:
            link = note.find(f".//{qn('w:hyperlink')}")
            target = None if link is None else part.rels[str(link.get(qn("r:id")))].target_ref
            found.append(("".join(text.text or "" for text in note.iter(qn("w:t"))).strip(), target))
    return found


def references(file: bytes) -> list[str]:
    import docx
    from docx.oxml.ns import qn

    body = docx.Document(BytesIO(file)).element.body
    return [str(each.get(qn("w:id"))) for each in body.iter(qn("w:footnoteReference"))]


def test_an_answer_is_written_with_its_footnotes_and_its_image_in_place() -> None:
    import docx

    answer = made_answer()
    file = to_word(answer, title="Port", pictures={"d1:0:7": PICTURE})
    document = docx.Document(BytesIO(file))
    assert [(each.style.name if each.style else "", each.text) for each in document.paragraphs] == [
        ("Title", "Port"),
        ("Heading 1", "What was shipped?"),
        ("Normal", "Grain 🌾 was shipped. It went by rail or by ship:"),
        ("Normal", ""),
        ("Caption", "freight by month"),
        ("List Bullet", "dues rose, "),
        ("List Bullet", "and so on"),
    ]
    (picture,) = document.inline_shapes
    assert (picture.width.inches, picture.height.inches) == (6.0, 1.5)
    assert references(file) == ["1", "2", "3", "4", "5", "6"]
    assert [url for _, url in footnotes(file)] == [citation.url for citation in answer.citations]
    assert footnotes(file)[1] == ("port.pdf, page 1: “Timber went by rail.”", URLS.quote("d1:0:2"))
    assert (document.core_properties.title, document.core_properties.author) == ("Port", "")


def test_turns_tables_and_bold_words() -> None:
    import docx

    table = plain("Dues:\n\n| **port** | dues |\n| --- | --- |\n| Grain [1] | 3 |")
    turns = [
        ExportedTurn(question="First?", answer=plain("**Yes** [2].")),
        ExportedTurn(question="Dues?", answer=table),
    ]
    document = docx.Document(BytesIO(to_word(turns)))
    assert [each.text for each in document.paragraphs] == ["First?", "Yes.", "Dues?", "Dues:"]
    assert [run.bold for run in document.paragraphs[1].runs if run.text] == [True, None]
    (rows,) = document.tables
    assert [[cell.text for cell in row.cells] for row in rows.rows] == [["port", "dues"], ["Grain", "3"]]


@pytest.mark.parametrize(
    ("pictures", "named"),
    [
        ({}, "Image: freight"),
        *(({"d1:0:7": data}, "Image that cannot be read: freight") for data in (b"no picture", b"")),
    ],
)
def test_an_image_that_cannot_be_shown_is_named(pictures: dict[str, bytes], named: str) -> None:
    import docx

    file = to_word(plain("Look:\n\n![freight](image1)"), pictures=pictures)
    document = docx.Document(BytesIO(file))
    assert [each.text for each in document.paragraphs][1:] == ["Look:", named]
    assert footnotes(file) == [("port.pdf, page 1", None)]


def test_a_table_that_can_be_seen_nowhere_is_named_with_its_footnote() -> None:
    import docx

    table = make_quote("Grain | 12", kind="image", id="t:0:0").model_copy(update={"has_pages": False})
    answer = build_answer("What?", "It lists grain. ![freight](image1)", make_context(table), model="m")
    file = to_word(answer)
    assert "It lists grain.\u00a0“freight”" in [each.text for each in docx.Document(BytesIO(file)).paragraphs]
    assert len(references(file)) == len(footnotes(file)) == 1


def test_other_formats_of_pictures_are_converted() -> None:
    webp = BytesIO()
    Image.new("RGBA", (30, 20)).save(webp, "WEBP")
    file = to_word(plain("![freight](image1)"), pictures={"d1:0:7": webp.getvalue()})
    assert any(name.endswith(".png") for name in ZipFile(BytesIO(file)).namelist())


def test_warnings_and_verdicts_are_written() -> None:
    import docx

    answer = plain("Grain [1].")
    refused = answer.citations[0].model_copy(update={"verdict": "unsupported", "reason": "No number."})
    file = to_word(with_citations(answer, [refused], warnings=["Check it."]))
    assert docx.Document(BytesIO(file)).paragraphs[-1].text == "Check it."
    assert footnotes(file)[0][0] == "port.pdf, page 1: Not supported by the source: No number."


def test_characters_that_xml_cannot_hold_are_left_out() -> None:
    import docx

    file = to_word(plain("Gra\x00in\x0b & <b> [1]").model_copy(update={"question": "a\x01?"}), title="\ufffet")
    assert [each.text for each in docx.Document(BytesIO(file)).paragraphs] == ["t", "a?", "Grain & <b>"]


def test_an_answer_without_citations_has_no_footnotes() -> None:
    assert "word/footnotes.xml" not in ZipFile(BytesIO(to_word(plain("No idea.")))).namelist()


def test_without_python_docx_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "docx", None)
    with pytest.raises(MissingExtra, match=r"quoteweave\[server\]"):
        to_word(plain("Grain [1]."))
