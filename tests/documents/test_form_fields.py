"""What form fields, notes and stamps show is text of their page: beside its label, with its place, as it is drawn."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from made_files import raw_pdf, stream
from made_pages import canvas, line, picture

from quoteweave.collection.stores.content import ImageStore
from quoteweave.core.records import ParsedDocument
from quoteweave.core.text.packed_words import unpack_words
from quoteweave.documents.layout.field_lines import with_fields
from quoteweave.documents.layout.used_lines import used_lines
from quoteweave.documents.parser import DocumentParser, ParserSettings
from quoteweave.documents.sources import annotations
from quoteweave.documents.sources.lines import Line
from quoteweave.documents.sources.pdf import open_pdf
from quoteweave.documents.sources.pdf_text.tags import FIRST_FIELD, ItemTag
from quoteweave.documents.sources.raw_page import Raster, RawPage

HEADING = "The harbour master keeps this list of moorings"
UNREAD = "page 1 has notes or filled form fields, whose text was not read: {}"
PLACE = (130, 300)


def field(y: int, entries: str, *, x: tuple[int, int] = PLACE, height: int = 16) -> str:
    """A field at a height of the page, without an appearance unless the entries have one."""
    return f"<</Type /Annot /Subtype /Widget /Rect [{x[0]} {y} {x[1]} {y + height}] {entries}>>"


def shown(text: str, size: int = 11) -> str:
    """What an appearance draws."""
    return f"BT /F1 {size} Tf 2 4 Td ({text}) Tj ET"


def form(
    path: Path,
    labels: Sequence[tuple[int, str]],
    fields: Sequence[str],
    appearances: Sequence[str] = (),
    *,
    page: str = "",
    is_form: bool = True,
) -> Path:
    """A page of labels and fields; the appearances are objects from 6 on, the fields those behind them."""
    first = 6 + len(appearances)
    kids = " ".join(f"{first + at} 0 R" for at in range(len(fields)))
    printed = " ".join(f"1 0 0 1 72 {y} Tm ({text}) Tj" for y, text in ((740, HEADING), *labels))
    fonts = "/Resources <</Font <</F1 5 0 R>>>>"
    drawn = f"/Type /XObject /Subtype /Form /BBox [0 0 170 16] {fonts}"
    acroform = f"/AcroForm <</Fields [{kids}] /DR <</Font <</F1 5 0 R>>>> /DA (/F1 11 Tf 0 g)>>"
    return raw_pdf(
        path,
        [
            f"<</Type /Catalog /Pages 2 0 R {acroform if is_form else ''}>>",
            "<</Type /Pages /Kids [3 0 R] /Count 1>>",
            f"<</Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] {page} /Contents 4 0 R {fonts} /Annots [{kids}]>>",
            stream(f"BT /F1 11 Tf {printed} ET"),
            "<</Type /Font /Subtype /Type1 /BaseFont /Helvetica>>",
            *(stream(each).replace("<<", f"<<{drawn} ", 1) for each in appearances),
            *fields,
        ],
    )


def parsed(path: Path) -> ParsedDocument:
    return DocumentParser(ImageStore(path.parent / "images"), ParserSettings(ocr=False)).parse(path)


def texts(path: Path) -> list[str]:
    return [quote.text for quote in parsed(path).quotes if quote.kind == "text"]


@pytest.mark.parametrize("turn", [0, 90, 270])
def test_a_value_is_read_beside_its_label_where_it_is_drawn(tmp_path: Path, turn: int) -> None:
    labels = ((700, "Name:"), (670, "Vessel"))
    fields = [field(696, "/FT /Tx /T (a) /V (Agnes Rowe)"), field(666, "/FT /Tx /T (b) /AP <</N 6 0 R>> /V (Tern II)")]
    path = form(tmp_path / "a.pdf", labels, fields, [shown("Tern II")], page=f"/Rotate {turn}")
    document = parsed(path)
    read = "\n".join(quote.text for quote in document.quotes)
    assert "Name: Agnes Rowe" in read
    assert "Vessel Tern II" in read
    assert document.warnings == ()
    (placed,) = (word for word in unpack_words(document.page_words[0].packed) if word[0] == "Agnes")
    with open_pdf(path, None) as pages:
        drawn = pages.draw(0)
    assert int(drawn.cut(placed[1]).min()) < 100


def test_boxes_say_whether_they_are_ticked(tmp_path: Path) -> None:
    labels = ((700, "Shore power"), (670, "Live on board"), (640, "       monthly"))
    box, states = (160, 172), "/AP <</N <</Yes 6 0 R>>>>"
    fields = [
        field(698, f"/FT /Btn /T (a) /V /Yes /AS /Yes {states}", x=box, height=12),
        field(668, f"/FT /Btn /T (b) /V /Off /AS /Off {states}", x=box, height=12),
        field(638, f"/FT /Btn /Ff 32768 /T (c) /V /Yes /AS /Yes {states}", x=(74, 86), height=12),
    ]
    path = form(tmp_path / "a.pdf", labels, fields, ["0 0 9 9 re f"])
    assert texts(path) == [HEADING, "Shore power ☑", "Live on board ☐", "◉ monthly"]
    assert parsed(path).warnings == ()


@pytest.mark.parametrize("place", ["[0 0 0 0]", "[900 900 912 912]", f"[-1{'0' * 38} 10 1{'0' * 38} 22]"])
def test_a_box_without_a_place_on_the_page_is_not_read_and_told_if_ticked(tmp_path: Path, place: str) -> None:
    box = "<</Type /Annot /Subtype /Widget /Rect {} /FT /Btn /T (a) /AS /{} /AP <</N <</Yes 6 0 R>>>>>>"
    for state, warnings in (("Off", ()), ("Yes", (UNREAD.format(1),))):
        path = form(tmp_path / f"{state}.pdf", [], [box.format(place, state)], ["0 0 9 9 re f"])
        assert texts(path) == [HEADING]
        assert parsed(path).warnings == warnings


@pytest.mark.parametrize("is_form", [True, False])
def test_the_words_of_a_button_are_no_value(tmp_path: Path, is_form: bool) -> None:
    fields = [
        field(696, "/FT /Btn /Ff 65536 /T (a) /AP <</N 6 0 R>>"),
        field(666, "/FT /Btn /Ff 65536 /T (b) /MK <</CA (Submit)>>"),
        field(636, "/FT /Tx /T (c) /V (Tern II) /AP <</N 7 0 R>>"),
    ]
    labels = ((700, "Name:"), (670, "Port:"), (640, "Vessel:"))
    path = form(tmp_path / "a.pdf", labels, fields, [shown("Submit"), shown("Tern II")], is_form=is_form)
    assert "\n".join(texts(path)).split("\n")[-3:] == ["Name:", "Port:", "Vessel: Tern II"]
    assert parsed(path).warnings == ()


def test_characters_that_stand_apart_are_words_as_in_the_value(tmp_path: Path) -> None:
    fields = [field(696, "/FT /Tx /T (a) /Ff 16777216 /MaxLen 10 /V (AB 12 CD)")]
    assert texts(form(tmp_path / "a.pdf", [(700, "Number:")], fields)) == [HEADING, "Number: AB 12 CD"]


def test_what_is_cut_off_is_no_value_of_the_field_below(tmp_path: Path) -> None:
    value = r"\n".join(f"row {number}" for number in range(12))
    fields = [
        field(676, f"/FT /Tx /T (a) /Ff 4096 /V ({value})", height=30),
        field(640, "/FT /Tx /T (b) /V (Tern II)"),
    ]
    path = form(tmp_path / "a.pdf", [(644, "Vessel:")], fields)
    assert texts(path)[-1] == "Vessel: Tern II"
    assert parsed(path).warnings == (UNREAD.format(1),)


def test_nothing_is_printed_of_a_form_in_xfa_and_no_logging_set_up_on_import(tmp_path: Path) -> None:
    fields = [field(696, "/FT /Tx /T (a) /V (Agnes Rowe)")]
    path = form(tmp_path / "a.pdf", [(700, "Name:")], fields)
    path.write_bytes(path.read_bytes().replace(b"/AcroForm <<", b"/AcroForm <</XFA 99 0 R "))
    code = """if True:
        import logging, pathlib, sys
        from quoteweave.documents.sources.pdf import open_pdf
        assert not logging.getLogger("pypdfium2").handlers
        with open_pdf(pathlib.Path(sys.argv[1]), None) as pages:
            print(pages.read(0).fields[0].text)
    """
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("Agnes Rowe\n", "")


def test_a_list_says_what_is_chosen(tmp_path: Path) -> None:
    fields = [field(640, "/FT /Ch /T (a) /V (Pear) /Opt [(Apple) (Pear) (Plum) (Fig) (Quince)]", height=28)]
    assert texts(form(tmp_path / "a.pdf", [], fields)) == [HEADING, "☐ Apple\n☑ Pear"]


@pytest.mark.parametrize("flags", [1, 2, 32])
def test_what_is_not_shown_is_not_read_and_told(tmp_path: Path, flags: int) -> None:
    fields = [field(696, f"/FT /Tx /T (a) /F {flags} /V (Agnes Rowe) /AP <</N 6 0 R>>")]
    path = form(tmp_path / "a.pdf", [(700, "Name:")], fields, [shown("Agnes Rowe")])
    assert texts(path) == [HEADING, "Name:"]
    assert parsed(path).warnings == (UNREAD.format(1),)
    with open_pdf(path, None) as pages:
        assert int(pages.draw(0).cut((130, 80, 300, 96)).min()) == 255


def test_notes_and_stamps_are_read_and_comments_on_them_told(tmp_path: Path) -> None:
    drawn = "/AP <</N 6 0 R>>"
    fields = [
        field(600, f"/Contents (Seen by the clerk) {drawn}").replace("/Widget", "/FreeText"),
        field(500, f"/Contents (but see my letter) {drawn}").replace("/Widget", "/Stamp"),
        field(400, "/Contents (a comment)").replace("/Widget", "/Text"),
    ]
    path = form(tmp_path / "a.pdf", [], fields, [shown("Seen by the clerk")], is_form=False)
    assert texts(path) == [HEADING, "Seen by the clerk", "Seen by the clerk"]
    assert parsed(path).warnings == (UNREAD.format(2),)


def test_fields_of_a_page_that_was_cut_out_of_its_form_are_read(tmp_path: Path) -> None:
    fields = [field(696, "/FT /Tx /T (a) /V (Agnes Rowe) /AP <</N 6 0 R>>")]
    path = form(tmp_path / "a.pdf", [(700, "Name:")], fields, [shown("Agnes Rowe")], is_form=False)
    assert texts(path) == [HEADING, "Name: Agnes Rowe"]


def test_of_too_many_fields_those_are_read_that_have_an_appearance(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fields = [field(696, "/FT /Tx /T (a) /V (Agnes Rowe) /AP <</N 6 0 R>>"), field(666, "/FT /Tx /T (b) /V (Tern II)")]
    path = form(tmp_path / "a.pdf", [(700, "Name:")], fields, [shown("Agnes Rowe")])
    monkeypatch.setattr("quoteweave.documents.sources.pdf.MAX_FIELDS", 1)
    monkeypatch.setattr(annotations, "MAX_FIELDS", 1)
    assert texts(path) == [HEADING, "Name: Agnes Rowe"]
    assert parsed(path).warnings == (UNREAD.format(1),)


@pytest.mark.parametrize("most", [0, None])
def test_a_value_that_is_not_shown_is_told_where_another_part_of_the_field_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int | None
) -> None:
    fields = [field(696, "/Parent 7 0 R"), "<</FT /Tx /T (a) /V (Agnes Rowe)>>"]
    path = form(tmp_path / "a.pdf", [(700, "Name:")], fields, is_form=most is not None)
    monkeypatch.setattr(annotations, "MAX_FIELDS", most)
    assert texts(path) == [HEADING, "Name:"]
    assert parsed(path).warnings == (UNREAD.format(1),)


def test_of_too_many_stamps_those_are_drawn_that_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stamps = [field(y, "/AP <</N 6 0 R>>").replace("/Widget", "/Stamp") for y in (600, 500)]
    path = form(tmp_path / "a.pdf", [], stamps, [shown("Seen")], is_form=False)
    monkeypatch.setattr(annotations, "MAX_ANNOTATIONS", 1)
    assert texts(path) == [HEADING, "Seen"]
    assert parsed(path).warnings == (UNREAD.format(1),)
    with open_pdf(path, None) as pages:
        drawn = pages.draw(0)
    assert [int(drawn.cut((130, 776 - y, 300, 792 - y)).min()) < 100 for y in (600, 500)] == [True, False]


def test_an_annotation_that_lacks_its_appearance_does_no_harm(tmp_path: Path) -> None:
    lost = field(600, "/AP <</N <</Off 99 0 R /Yes 6 0 R>>>>").replace("/Widget", "/Watermark")
    fields = [lost, field(696, "/FT /Tx /T (a) /V (Agnes Rowe)")]
    assert texts(form(tmp_path / "a.pdf", [(700, "Name:")], fields, [shown("lost")])) == [HEADING, "Name: Agnes Rowe"]


def in_field(text: str, x: float, y: float) -> Line:
    one = line(text, x, y)
    return Line(one.words, one.box, one.size, one.baseline, tag=ItemTag(FIRST_FIELD))


def test_a_value_within_a_sentence_stands_in_it() -> None:
    rows = with_fields([line("I,", 72, 100), line("apply", 125, 100)], [in_field("Agnes", 90, 100)])
    assert [(row.text, row.tag) for row in rows] == [("I, Agnes apply", None)]


def test_values_of_a_table_stay_in_their_columns() -> None:
    printed = [line("Do you sail in winter?", 72, 100)]
    rows = with_fields(printed, [in_field("☑", 300, 100), in_field("☐", 350, 100)])
    assert [row.text for row in rows] == ["Do you sail in winter?", "☑", "☐"]
    rows = with_fields([line("Rope", 72, 100), line("5.00", 150, 100)], [in_field("3", 300, 100)])
    assert [row.text for row in rows] == ["Rope", "5.00", "3"]


def test_in_a_row_that_reads_from_the_right_the_label_stands_right_of_its_field() -> None:
    rows = with_fields([line("שם:", 400, 100), line("גיל:", 200, 100)], [in_field("Agnes", 300, 100)])
    assert [row.text for row in rows] == ["שם: Agnes", "גיל:"]


def test_each_of_many_boxes_in_a_row_belongs_to_its_words() -> None:
    printed = [line(f"berth {number}", 72 + 200 * number, 100) for number in range(300)]
    rows = with_fields(printed, [in_field("☐", 52 + 200 * number, 100) for number in range(300)])
    assert [row.text for row in rows] == [f"☐ berth {number}" for number in range(300)]


def test_a_value_that_is_printed_too_is_read_once() -> None:
    rows = with_fields([line("Name: Agnes", 72, 100)], [line("Name: Agnes", 72.5, 100)])
    assert [row.text for row in rows] == ["Name: Agnes"]


class Reader:
    """Reads the same on every picture."""

    def read(self, picture: Raster) -> list[Line]:
        return [line("Name:", 72, 100), line("Aqnes", 131, 101), line("The harbour master keeps this list", 72, 300)]


def test_fields_on_a_scan_are_read_as_they_are_and_the_scan_by_ocr() -> None:
    scan = picture(canvas())
    raw = RawPage(0, scan, fields=[in_field("Agnes", 130, 100)])
    scan.pixels[::7] = 0
    used = used_lines(raw, Reader())
    assert [row.text for row in used.lines] == ["Name: Agnes", "The harbour master keeps this list"]
