"""Footnotes and hyperlinks of Word documents, which python-docx reads but does not write."""

from typing import TYPE_CHECKING

from docx.opc.constants import CONTENT_TYPE, RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import XmlPart
from docx.oxml.ns import nsdecls, qn
from docx.oxml.parser import OxmlElement, parse_xml

from quoteweave.interchange.exports import without_control_characters

if TYPE_CHECKING:
    from docx.document import Document
    from docx.oxml.xmlchemy import BaseOxmlElement
    from docx.text.paragraph import Paragraph

# Word requires the two lines that separate notes from the text to be among the notes.
_EMPTY_FOOTNOTES = f"""<w:footnotes {nsdecls("w", "r")}>
  <w:footnote w:type="separator" w:id="-1"><w:p><w:r><w:separator/></w:r></w:p></w:footnote>
  <w:footnote w:type="continuationSeparator" w:id="0"><w:p><w:r><w:continuationSeparator/></w:r></w:p></w:footnote>
</w:footnotes>"""
_LINK_COLOUR = "0563C1"


class Footnotes:
    """The footnotes of a document; the part of the file that holds them is added with the first."""

    def __init__(self, document: "Document") -> None:
        self._document = document
        self._part: XmlPart | None = None
        self._number = 0

    def add(self, paragraph: "Paragraph", title: str, url: str | None, words: str) -> None:
        """Add a footnote at the end of a paragraph: the title, linked where there is a URL, and words after it."""
        part = self._part = self._part or self._new_part()
        self._number += 1
        reference = _run(superscript=True)
        reference.append(_element("w:footnoteReference", id=str(self._number)))
        paragraph._p.append(reference)
        note, content = _element("w:footnote", id=str(self._number)), OxmlElement("w:p")
        own_number = _run(superscript=True)
        own_number.append(OxmlElement("w:footnoteRef"))
        content.append(own_number)
        content.append(_run(" "))
        content.append(_run(title) if url is None else _hyperlink(part, url, title))
        if words:
            content.append(_run(words))
        note.append(content)
        part.element.append(note)

    def _new_part(self) -> XmlPart:
        package = self._document.part.package
        name = PackURI("/word/footnotes.xml")
        part = XmlPart(name, CONTENT_TYPE.WML_FOOTNOTES, parse_xml(_EMPTY_FOOTNOTES), package)
        self._document.part.relate_to(part, RELATIONSHIP_TYPE.FOOTNOTES)
        return part


def _hyperlink(part: XmlPart, url: str, text: str) -> "BaseOxmlElement":
    link = OxmlElement("w:hyperlink")
    link.set(qn("r:id"), part.relate_to(url, RELATIONSHIP_TYPE.HYPERLINK, is_external=True))
    link.append(_run(text, link=True))
    return link


def _run(text: str = "", *, superscript: bool = False, link: bool = False) -> "BaseOxmlElement":
    run, properties = OxmlElement("w:r"), OxmlElement("w:rPr")
    if link:
        properties.append(_element("w:color", val=_LINK_COLOUR))
        properties.append(_element("w:u", val="single"))
    if superscript:
        properties.append(_element("w:vertAlign", val="superscript"))
    if len(properties):
        run.append(properties)
    if text:
        written = OxmlElement("w:t")
        written.set(qn("xml:space"), "preserve")
        written.text = without_control_characters(text)
        run.append(written)
    return run


def _element(tag: str, **attributes: str) -> "BaseOxmlElement":
    element = OxmlElement(tag)
    for name, value in attributes.items():
        element.set(qn(f"w:{name}"), value)
    return element
