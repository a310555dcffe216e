"""PDF files: opening, counting and drawing, and what is wrong with those that cannot be."""

import zlib
from pathlib import Path

import pytest
from made_files import HELVETICA, PROSE, one_page_pdf, page_pdf, pdf, raw_pdf, renaming_pdf, stream

from quoteweave.collection.stores.content import ImageStore
from quoteweave.core.errors import DamagedDocument, DocumentError, EncryptedDocument
from quoteweave.documents.layout.page import PageContent, PageReader
from quoteweave.documents.parser import DocumentParser, ParserSettings
from quoteweave.documents.sources import pdf as pdf_page
from quoteweave.documents.sources import pdf as pdf_pages
from quoteweave.documents.sources.drawn import objects
from quoteweave.documents.sources.pdf import open_pdf


def first_page(path: Path) -> PageContent:
    with open_pdf(path, None) as pages:
        return PageReader(ImageStore(path.parent / "images"), None).read(pages.read(0))


def refusal(path: Path, password: str | None = None) -> DocumentError:
    with pytest.raises(DocumentError) as caught, open_pdf(path, password):
        pass
    return caught.value


def test_pages_are_counted_read_and_drawn(tmp_path: Path) -> None:
    with open_pdf(pdf(tmp_path / "a.pdf", ["One", "Two", "Three. " + PROSE], size=(612, 792)), None) as pages:
        assert pages.count == 3
        drawn = pages.draw(2)
        assert drawn.pixels.shape == (1584, 1224, 3)
        content = PageReader(ImageStore(tmp_path / "images"), None).read(pages.read(2))
    assert (content.number, content.width, content.height, content.source) == (2, 612, 792, "text_layer")
    assert content.elements[0].text.startswith("Three. The harbour was dredged")


def test_an_encrypted_file_needs_its_password(tmp_path: Path) -> None:
    path = pdf(tmp_path / "a.pdf", ["Secret"], password="pâss")
    for password in (None, ""):
        missing = refusal(path, password)
        assert isinstance(missing, EncryptedDocument)
        assert str(missing) == "'a.pdf': it is encrypted; give its password, or save a copy that needs none"
    wrong = refusal(path, "other")
    assert isinstance(wrong, EncryptedDocument)
    assert str(wrong) == "'a.pdf': the password given is wrong"
    with open_pdf(path, "pâss") as pages:
        assert pages.count == 1


def test_a_password_does_no_harm_where_none_is_needed(tmp_path: Path) -> None:
    with open_pdf(pdf(tmp_path / "a.pdf", ["Open"]), "secret") as pages:
        assert pages.count == 1


def test_a_file_without_pages_says_so(tmp_path: Path) -> None:
    refusal(pdf(tmp_path / "other.pdf", ["Secret"], password="secret"))  # pdfium keeps the last error
    path = raw_pdf(tmp_path / "a.pdf", ["<</Type /Catalog /Pages 2 0 R>>", "<</Type /Pages /Kids [] /Count 0>>"])
    assert str(refusal(path)) == "'a.pdf' has no pages"


def test_a_file_that_is_no_pdf_or_cut_short_says_so(tmp_path: Path) -> None:
    whole = pdf(tmp_path / "whole.pdf", [PROSE]).read_bytes()
    for name, data in {"a.pdf": b"%PDF-1.7\nnothing", "b.pdf": whole[: len(whole) // 3]}.items():
        (tmp_path / name).write_bytes(data)
        said = refusal(tmp_path / name)
        assert isinstance(said, DamagedDocument)
        assert str(said) == f"'{name}' cannot be opened as a PDF; it is damaged or incomplete"
    assert str(refusal(tmp_path / "c.pdf")) == "'c.pdf' cannot be opened as a PDF; it is gone, or may not be read"


TEXT = "BT /F1 12 Tf 100 600 Td (zwei kleine woerter stehen hier) Tj ET"


@pytest.mark.parametrize(
    ("page", "shown", "left", "top"),
    [
        ("/MediaBox [0 0 612 792]", (612, 792), 100, 180),
        ("/MediaBox [0 0 612 792] /Rotate 90", (792, 612), 597, 100),
        ("/MediaBox [0 0 612 792] /Rotate 180", (612, 792), 340, 597),
        ("/MediaBox [0 0 612 792] /Rotate 270", (792, 612), 180, 340),
        ("/MediaBox [0 0 612 792] /CropBox [50 500 450 700]", (400, 200), 50, 88),
        ("/MediaBox [-50 -50 562 742]", (612, 792), 150, 130),
        ("/MediaBox [0 0 612 792] /CropBox [50 500 450 700] /Rotate 90", (200, 400), 97, 50),
    ],
)
def test_boxes_are_those_of_the_page_as_shown(
    tmp_path: Path, page: str, shown: tuple[int, int], left: float, top: float
) -> None:
    content = first_page(one_page_pdf(tmp_path / "a.pdf", TEXT, page=page))
    assert (round(content.width), round(content.height)) == shown
    (element,) = (element for element in content.elements if element.text)
    assert element.text == "zwei kleine woerter stehen hier"
    assert element.box[0] == pytest.approx(left, abs=25)
    assert element.box[1] == pytest.approx(top, abs=25)
    assert element.box[2] <= content.width
    assert element.box[3] <= content.height


@pytest.mark.parametrize(("said", "turned"), [("", 0), ("90", 90), ("180", 180), ("-90", 270), ("450", 90), ("45", 0)])
def test_a_page_says_by_how_much_its_file_turns_it(tmp_path: Path, said: str, turned: int) -> None:
    page = f"/MediaBox [0 0 612 792] {said and f'/Rotate {said}'}"
    assert first_page(one_page_pdf(tmp_path / "a.pdf", TEXT, page=page)).rotation == turned


def test_a_page_whose_crop_box_leaves_nothing_of_it_says_so(tmp_path: Path) -> None:
    path = one_page_pdf(tmp_path / "a.pdf", TEXT, page="/MediaBox [0 0 612 792] /CropBox [700 900 800 1000]")
    with open_pdf(path, None) as pages:
        for look in (pages.read, pages.draw):
            with pytest.raises(ValueError, match="it has no area, as where its crop box lies outside its media box"):
                look(0)


def test_a_page_of_200_inches_is_drawn_small(tmp_path: Path) -> None:
    path = one_page_pdf(tmp_path / "a.pdf", TEXT, page="/MediaBox [0 0 14400 14400]")
    with open_pdf(path, None) as pages:
        picture = pages.draw(0)
    assert picture.pixels.shape == (4000, 4000, 3)
    content = first_page(path)
    assert (content.width, content.height) == pytest.approx((14400, 14400))
    assert [element.text for element in content.elements] == ["zwei kleine woerter stehen hier"]


def test_right_to_left_text_is_given_in_the_order_of_reading(tmp_path: Path) -> None:
    # Drawn from the left: MEM WAW LAMED SHIN, that is, "shalom" from the right.
    content = first_page(
        one_page_pdf(tmp_path / "a.pdf", "BT /F1 20 Tf 100 600 Td (MFLY MFLY MFLY MFLY MFLY MFLY) Tj ET")
    )
    (element,) = (element for element in content.elements if element.text)
    assert element.text.split() == ["".join(chr(0x5D0 + ord(c) - ord("A")) for c in "YLFM")] * 6


def test_chinese_and_japanese_are_text(tmp_path: Path) -> None:
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.cidfonts import UnicodeCIDFont
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(tmp_path / "a.pdf"))
    for row, (font, text) in enumerate(
        [
            ("STSong-Light", "港口在春天疏浚起重机移到北码头轮渡照常运行"),
            ("HeiseiMin-W3", "港は春に浚渫されクレーンは北埠頭に移された"),
        ]
    ):
        pdfmetrics.registerFont(UnicodeCIDFont(font))
        canvas.setFont(font, 14)
        canvas.drawString(72, 700 - 60 * row, text)
    canvas.save()
    said = "".join(element.text for element in first_page(tmp_path / "a.pdf").elements).replace("\n", "")
    assert "港口在春天疏浚起重机移到北码头轮渡照常运行" in said
    assert "港は春に浚渫されクレーンは北埠頭に移された" in said


def test_a_page_keeps_all_its_words(tmp_path: Path) -> None:
    """12,000 words, 78,000 characters, on one page."""
    words = [f"word{number}" for number in range(12_000)]
    rows = (" ".join(words[start : start + 60]) for start in range(0, len(words), 60))
    text = " ".join(f"BT /F1 2 Tf 9 {780 - 3.8 * row} Td ({line}) Tj ET" for row, line in enumerate(rows))
    content = first_page(one_page_pdf(tmp_path / "a.pdf", text, page="/MediaBox [0 0 900 792]"))
    assert set(" ".join(element.text for element in content.elements).replace("|", " ").split()) >= set(words)
    assert content.warnings == ()


def test_characters_beyond_the_limit_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (pdf_pages, pdf_page):
        monkeypatch.setattr(module, "MAX_CHARACTERS", 1000)
    text = " ".join(f"BT /F1 9 Tf 9 {780 - 10 * row} Td ({'words ' * 10}) Tj ET" for row in range(50))
    (warning,) = first_page(one_page_pdf(tmp_path / "a.pdf", text)).warnings
    assert warning.startswith("page 1 has more than 1,000 characters; the other 2,")


def test_words_outside_the_part_that_is_shown_are_told(tmp_path: Path) -> None:
    text = "BT /F1 9 Tf 99 500 Td (shown) Tj 0 -400 Td (cut off here) Tj 0 -9 Td (- + -) Tj 900 0 Td (beside) Tj ET"
    page = "/MediaBox [0 0 612 792] /CropBox [50 300 612 792]"
    content = first_page(one_page_pdf(tmp_path / "a.pdf", text, page=page))
    assert content.warnings == ("page 1 has words outside the part of it that is shown, which were not read: 4",)
    assert first_page(one_page_pdf(tmp_path / "b.pdf", "BT /F1 9 Tf 99 500 Td (all) Tj ET", page=page)).warnings == ()


@pytest.mark.parametrize(
    "drawn",
    [
        "q 0 0 0 0 72 600 cm BT /F1 12 Tf (lost) Tj ET Q",
        "q 0.000000001 0 0 1 72 600 cm BT /F1 12 Tf (lost) Tj ET Q",
        "BT /F1 12 Tf 0 0 0 0 72 600 Tm (lost) Tj ET",
        "BT /F1 12 Tf 0.0001 0 0 0.0001 72 600 Tm (lost) Tj ET",
        "BT /F1 0 Tf 72 600 Td (lost) Tj ET",
        "BT /F1 0.00001 Tf 72 600 Td (lost) Tj ET",
        "BT /F1 12 Tf 0 Tz 72 600 Td (lost) Tj ET",
        "BT /F1 12 Tf 1 0 0 1 5000000000000.0 600 Tm (lost) Tj ET",
    ],
)
def test_text_of_no_size_is_told(tmp_path: Path, drawn: str) -> None:
    shown = "BT /F1 12 Tf 72 700 Td (shown) Tj 90 0 Td ( ) Tj ET"
    content = first_page(one_page_pdf(tmp_path / "a.pdf", f"{shown} {drawn}"))
    assert [element.text for element in content.elements] == ["shown", ""]  # the page itself is the second
    (warning,) = content.warnings
    assert warning == "page 1 has pieces of text of no size, or far outside it, which were not read: 1"
    assert first_page(one_page_pdf(tmp_path / "b.pdf", shown)).warnings == ()


def test_text_of_no_size_within_a_form_is_told(tmp_path: Path) -> None:
    within = "BT /F1 12 Tf 72 600 Td (lost) Tj 0 -20 Td (too) Tj ET"
    form = "/Type /XObject /Subtype /Form /BBox [0 0 612 792] /Matrix [0 0 0 0 9 9] /Resources <</Font <</F1 6 0 R>>>>"
    drawn = f"<<{form} /Length {len(within)}>>\nstream\n{within}\nendstream"
    path = page_pdf(tmp_path / "a.pdf", "/X Do", drawn, HELVETICA, resources="/XObject <</X 5 0 R>>")
    assert first_page(path).warnings[0].endswith("which were not read: 2")


@pytest.mark.parametrize(
    "drawn",
    ["1 0 0 0 72 600 cm", "1 1 1 1 72 600 cm", "0 1 -1 0 72 600 cm", "0.04 0 0 0.04 72 600 cm"],
)
def test_text_that_is_drawn_flat_or_small_is_read(tmp_path: Path, drawn: str) -> None:
    shown = "BT /F1 12 Tf 72 700 Td (shown) Tj ET"
    content = first_page(one_page_pdf(tmp_path / "a.pdf", f"{shown} q {drawn} BT /F1 12 Tf (here too) Tj ET Q"))
    assert "here too" in " ".join(element.text for element in content.elements)
    assert not any("were not read" in warning for warning in content.warnings)


def test_words_outside_many_pages_are_told_once(tmp_path: Path) -> None:
    path = pages_with_marks(tmp_path / "a.pdf", 30)
    parsed = DocumentParser(ImageStore(tmp_path / "images"), ParserSettings(ocr=False)).parse(path)
    assert parsed.warnings == (
        "page 1 has words outside the part of it that is shown, which were not read: 1; so have pages "
        "2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 19 more: 29",
    )


def pages_with_marks(path: Path, count: int) -> Path:
    """A PDF whose pages all have a word above what is shown of them."""
    kids = " ".join(f"{number} 0 R" for number in range(5, 5 + count))
    shared = "/Type /Page /Parent 2 0 R /Contents 3 0 R /Resources <</Font <</F1 4 0 R>>>>"
    return raw_pdf(
        path,
        [
            "<</Type /Catalog /Pages 2 0 R>>",
            f"<</Type /Pages /Kids [{kids}] /Count {count}>>",
            stream("BT /F1 9 Tf 99 500 Td (shown) Tj 0 250 Td (cyan) Tj ET"),
            "<</Type /Font /Subtype /Type1 /BaseFont /Helvetica>>",
            *[f"<<{shared} /MediaBox [0 0 612 792] /CropBox [0 0 612 600]>>"] * count,
        ],
    )


def test_what_holds_words_beside_the_page_is_told(tmp_path: Path) -> None:
    kinds = ("/Text", "/FreeText", "/Link", "/Popup", "/Highlight")
    notes = [f"<</Type /Annot /Subtype {kind} /Rect [9 9 99 99] /Contents (Remember)>>" for kind in kinds]
    field = "<</Type /Annot /Subtype /Widget /FT /Tx /T (name) /V (Ada) /Rect [9 9 99 99]>>"
    empty = "<</Type /Annot /Subtype /Widget /FT /Tx /T (name) /Rect [9 9 99 99]>>"
    page = f"/MediaBox [0 0 612 792] /Annots [{' '.join([*notes, field, empty])}]"
    content = first_page(one_page_pdf(tmp_path / "a.pdf", "", page=page))
    assert content.warnings == ("page 1 has notes or filled form fields, whose text was not read: 3",)
    attached = "/Names <</EmbeddedFiles <</Names [(a) <</Type /Filespec /F (a.txt)>>]>>>>"
    files = raw_pdf(
        tmp_path / "b.pdf",
        [
            f"<</Type /Catalog /Pages 2 0 R {attached}>>",
            "<</Type /Pages /Kids [3 0 R 3 0 R] /Count 2>>",
            "<</Type /Page /Parent 2 0 R /MediaBox [0 0 612 792]>>",
        ],
    )
    assert first_page(files).warnings == ("files attached to it were not read: 1",)


@pytest.mark.parametrize(
    "hidden", ["1 g {} 0 g", "3 Tr {} 0 Tr", "{} 1 g 60 490 300 30 re f 0 g"], ids=["white", "not drawn", "covered"]
)
def test_words_that_the_page_does_not_show_are_told(tmp_path: Path, hidden: str) -> None:
    words = hidden.format("BT /F1 12 Tf 72 500 Td (the secret price: 4) Tj ET")
    content = first_page(one_page_pdf(tmp_path / "a.pdf", f"{words} BT /F1 12 Tf 72 600 Td (the public price) Tj ET"))
    assert content.warnings == (
        "page 1 has words that it does not show, as they are covered or have the colour of their ground,"
        " which were read: 4",
    )


def page_without_names(path: Path, letters: str) -> Path:
    """A page whose font says of these letters that they are control characters, as some programs write it."""
    names = {letter: f"{number:04x}" for number, letter in enumerate(letters, 14)}
    return renaming_pdf(path, "BT /F1 12 Tf 72 700 Td (the harbour received grain in spring) Tj ET", names)


def test_letters_that_the_font_does_not_name_are_told(tmp_path: Path) -> None:
    content = first_page(page_without_names(tmp_path / "a.pdf", "g"))
    assert content.elements[0].text == "the harbour received rain in sprin"
    assert content.warnings == ("page 1 has letters that its fonts do not identify, which were left out: 2",)


def test_a_page_of_letters_that_the_font_does_not_name_is_garbled(tmp_path: Path) -> None:
    content = first_page(page_without_names(tmp_path / "a.pdf", "harbouecivdg"))
    assert content.warnings == ("page 1 has a text layer that looks garbled, and was kept as it is",)


def test_files_and_media_on_a_page_and_forms_in_xfa_are_told(tmp_path: Path) -> None:
    held = "/FS <</Type /Filespec /F (a.txt)>>"
    kinds = ("/FileAttachment", "/RichMedia", "/Movie", "/Ink")
    notes = " ".join(f"<</Type /Annot /Subtype {kind} /Rect [9 9 99 99] {held}>>" for kind in kinds)
    path = one_page_pdf(tmp_path / "a.pdf", "", page=f"/MediaBox [0 0 612 792] /Annots [{notes}]")
    assert first_page(path).warnings == ("page 1 has attached files or media, which were not read: 3",)
    form = raw_pdf(
        tmp_path / "b.pdf",
        [
            "<</Type /Catalog /Pages 2 0 R /NeedsRendering true /AcroForm <</Fields [] /XFA 4 0 R>>>>",
            "<</Type /Pages /Kids [3 0 R] /Count 1>>",
            "<</Type /Page /Parent 2 0 R /MediaBox [0 0 612 792]>>",
            stream("<template/>"),
        ],
    )
    assert first_page(form).warnings == (
        "it is a form in XFA, of which its pages are no more than a placeholder; it was not read",
    )


def image_page(path: Path, data: bytes, kind: str, *, side: int = 300) -> Path:
    """A page with one image of that many points."""
    head = "/Type /XObject /Subtype /Image /Width 160 /Height 160 /ColorSpace /DeviceRGB /BitsPerComponent 8"
    image = f"<<{head} /Filter [/ASCIIHexDecode {kind}] /Length {2 * len(data) + 1}>> stream\n{data.hex()}>\nendstream"
    return page_pdf(path, f"q {side} 0 0 {side} 100 100 cm /I Do Q", image, resources="/XObject <</I 5 0 R>>")


@pytest.mark.parametrize("kind", ["/JPXDecode", "/DCTDecode", "/JBIG2Decode"])
def test_an_image_that_cannot_be_decoded_is_told(tmp_path: Path, kind: str) -> None:
    content = first_page(image_page(tmp_path / "a.pdf", b"no picture" * 9, kind))
    assert content.warnings == ("page 1 has images that are damaged, or in a form that is not read: 1",)
    assert first_page(image_page(tmp_path / "icon.pdf", b"no picture" * 9, kind, side=9)).warnings == ()


def test_images_that_are_too_many_to_examine_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(objects, "MAX_IMAGES", 0)
    content = first_page(image_page(tmp_path / "a.pdf", b"no picture" * 9, "/DCTDecode"))
    assert content.warnings == ("page 1 has images that are too many to examine, and may be damaged: 1",)
    assert first_page(image_page(tmp_path / "icon.pdf", b"no picture" * 9, "/DCTDecode", side=9)).warnings == ()


@pytest.mark.parametrize("data", [bytes(range(256)) * 300, b"\xff" * 256 * 300], ids=["drawn", "white"])
def test_an_image_that_can_be_decoded_is_not(tmp_path: Path, data: bytes) -> None:
    assert first_page(image_page(tmp_path / "a.pdf", zlib.compress(data), "/FlateDecode")).warnings == ()
