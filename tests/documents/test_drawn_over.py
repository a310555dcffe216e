"""What is drawn over the text of a PDF page: lines that strike it out, and corrections that take its place."""

from pathlib import Path

import pytest
from made_files import HELVETICA, LETTER, one_page_pdf, page_pdf

from quoteweave.documents.sources.drawn import covered, in_one_place, objects, strikes
from quoteweave.documents.sources.pdf import open_pdf

# In Helvetica of 10 points, "100" reaches from 116.7 to 133.4 points, and "80" after it, without a space, to 144.5.
FEE = "BT /F1 10 Tf 100 600 Td (fee 100) Tj (80 now) Tj ET"
NOT_EXAMINED = (
    "page 1 has lines, rectangles, notes or words that are too many to examine, or over too many letters; text that "
    "they strike out or cover was read"
)
RULED = "q {} w {} m {} l S Q"


def read(folder: Path, content: str, *, annotations: str = "") -> tuple[list[str], tuple[str, ...]]:
    page = f"/MediaBox [0 0 612 792] /Annots [{annotations}]"
    with open_pdf(one_page_pdf(folder / "a.pdf", content, page=page), None) as pages:
        raw = pages.read(0)
        return [line.text for line in raw.lines], raw.warnings


@pytest.mark.parametrize(
    "line",
    [
        "116.7 602.8 16.7 0.5 re f",
        RULED.format(0.5, "116.7 602.8", "133.4 602.8"),
        "116.7 602.8 5.6 0.5 re f 122.3 602.8 11.1 0.5 re f",  # letter by letter
        RULED.format(0.5, "116.7 602.8", "133.4 602.8 l 300 400 m 350 400"),  # with another one in one path
    ],
)
def test_what_a_line_goes_through_is_struck_out(tmp_path: Path, line: str) -> None:
    assert read(tmp_path, f"{FEE} {line}") == (["fee ~~100~~ 80 now"], ())


@pytest.mark.parametrize(
    "line",
    [
        RULED.format(0.5, "116.7 598.6", "133.4 598.6"),  # below
        RULED.format(0.5, "60 602.8", "300 602.8"),  # the grid line of a chart goes on beside its labels
        RULED.format(0.5, "125 602.8", "140 602.8"),  # from the middle of a letter
        RULED.format(0.5, "137 602.8", "146 602.8"),
        RULED.format(0.5, "114.3 602.8", "116.5 602.8"),  # before a number, as a minus sign may be drawn
        RULED.format(11, "116.7 602.8", "133.4 602.8"),  # the ground of the words
        "1 g 116.7 602.8 16.7 0.5 re f",  # nothing is seen of it
        "300 300 9 9 re W n 116.7 602.8 16.7 0.5 re f",  # cut off
    ],
)
def test_other_lines_strike_nothing_out(tmp_path: Path, line: str) -> None:
    assert read(tmp_path, f"q {line} Q {FEE} q {line} Q") == (["fee 10080 now"], ())


def test_any_number_of_lines_and_rectangles_is_examined_or_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    struck = "116.7 602.8 16.7 0.5 re f"
    rows = [f"BT /F1 10 Tf 50 {620 + 9 * row} Td ({'word ' * 20}) Tj ET" for row in range(18)]
    dots = [f"{50 + 3 * at} {622.8 + 9 * row} 2.1 0.2 re f" for row in range(18) for at in range(180)]
    assert read(tmp_path, " ".join([FEE, *rows, *dots, struck]))[0][0] == "fee ~~100~~ 80 now"
    path = " ".join(f"300 {300 + at} m 350 {300 + at} l" for at in range(40))
    assert read(tmp_path, f"{FEE} 0.5 w {path} 116.7 602.8 m 133.4 602.8 l S")[0] == ["fee ~~100~~ 80 now"]
    monkeypatch.setattr(objects, "MAX_DRAWN", 2)
    told = f"{NOT_EXAMINED}: 2"
    assert read(tmp_path, f"{FEE} {struck} {struck} {struck} {struck}")[1] == (told,)
    monkeypatch.setattr(strikes, "MAX_PAIRS", 1)  # of lines and letters, of which a large one is near all lines
    assert read(tmp_path, f"{FEE} {struck}")[1] == (f"{told[:-1]}1",)


@pytest.mark.parametrize(("flags", "text"), [("", "fee ~~100~~ 80 now"), ("/F 2", "fee 10080 now")])
def test_an_annotation_strikes_out_if_it_is_shown(tmp_path: Path, flags: str, text: str) -> None:
    places = "/Rect [116 597 134 609] /QuadPoints [116.6 609 133.5 609 116.6 597 133.5 597]"
    assert read(tmp_path, FEE, annotations=f"<</Type /Annot /Subtype /StrikeOut {flags} {places}>>") == ([text], ())


def test_annotations_that_are_not_examined_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strikes, "MAX_ANNOTATIONS", 1)
    places = "/Rect [116 597 134 609] /QuadPoints [116.6 609 133.5 609 116.6 597 133.5 597]"
    link = "<</Type /Annot /Subtype /Link /Rect [10 10 20 20]>>"
    texts, warnings = read(tmp_path, FEE, annotations=f"{link} <</Type /Annot /Subtype /StrikeOut {places}>>")
    assert (texts, warnings) == (["fee 10080 now"], (f"{NOT_EXAMINED}: 1",))


OLD, NEW = "BT /F1 10 Tf 100 600 Td (fee 100 now) Tj ET", "BT 0 g /F1 10 Tf 116.7 600 Td (80) Tj ET"
WHITE = "1 g 115 597 20 11 re f"
LEFT_OUT = "page 1 has text that is covered and has other text in its place, which was left out: 1"
ALL_CHANGED = ["fee 180 now"], (LEFT_OUT.replace(": 1", ": 3"),)
ALL_READ = "page 1 has words over other words in the same place, all of which were read: 1"


@pytest.mark.parametrize(
    ("content", "texts", "warnings"),
    [
        (f"{OLD} {WHITE} {NEW}", ["fee 80 now"], (LEFT_OUT,)),
        (f"{OLD} {NEW}", ["fee 100 now 80"], (ALL_READ,)),
        (f"{WHITE} 0 g {OLD} {NEW}", ["fee 100 now 80"], (ALL_READ,)),
        (f"{OLD} 300 300 50 50 re W n {WHITE} {NEW}", ["fee 100 now 80"], (ALL_READ,)),  # the rectangle is cut off
        # pdfium gives none of the letters that are in the place of the same ones.
        (f"{OLD} {WHITE} {NEW.replace('(80)', '(180)')}", ["fee 180 now"], (LEFT_OUT,)),
        (f"{OLD} 1 g 95 597 70 11 re f {NEW.replace('116.7', '100').replace('80', 'fee 180 now')}", *ALL_CHANGED),
        (f"{OLD} {WHITE} {NEW} {WHITE} {NEW.replace('80', '90')}", ["fee 90 now"], (LEFT_OUT.replace(": 1", ": 2"),)),
        (f"{OLD} 1 g 95 597 70 11 re f 0 g {OLD.replace('100 600', '101 600')}", ["fee 100 now"], ()),  # the same again
        (f"{OLD} 1 g 100 500 m 300 500 l 100 700 l h f {NEW}", ["fee 100 now 80"], (ALL_READ,)),  # no rectangle
        (f"{OLD} 30 500 5 5 re 300 700 5 5 re W n {WHITE} {NEW}", ["fee 100 now 80"], (ALL_READ,)),  # not seen
        (f"{OLD.replace('/F1', '3 Tr /F1')} {WHITE} {NEW}", ["fee 100 now 80"], (ALL_READ,)),  # words read by OCR
        (f"{OLD} 1 g 70 550 90 80 re f {NEW}", ["80"], (LEFT_OUT.replace(": 1", ": 3"),)),  # over the whole line
        (f"{OLD} {WHITE}", ["fee 100 now"], ()),
        (f"{OLD} {OLD}", ["fee 100 now"], ()),  # as bold
        (f"{OLD} {NEW.replace('(80)', '(1000)').replace('116.7', '115')}", ["fee 100 now 1000"], (ALL_READ,)),
    ],
)
def test_what_other_text_takes_the_place_of_is_left_out_or_told(
    tmp_path: Path, content: str, texts: list[str], warnings: tuple[str, ...]
) -> None:
    assert read(tmp_path, content) == (texts, warnings)


@pytest.mark.parametrize("limit", ["MAX_LETTERS", "MAX_PAIRS"])
def test_covers_that_are_not_examined_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    monkeypatch.setattr(covered, limit, 1)
    told = f"{NOT_EXAMINED}: 1"
    assert told in read(tmp_path, f"{OLD} {WHITE} {NEW}")[1]


def test_words_in_one_place_are_found_in_any_number_of_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_one_place, "MAX_COMPARED", 1)
    line = f"BT /F1 10 Tf 200 600 Td ({'a ' * 30}) Tj ET"
    assert read(tmp_path, f"{line} {OLD} {NEW}")[1] == (ALL_READ,)


def test_words_that_are_not_compared_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_one_place, "MAX_COMPARED", 0)
    assert read(tmp_path, f"{OLD} {NEW}")[1] == (f"{NOT_EXAMINED}: 1",)


def test_each_word_in_the_place_of_others_is_counted_once(tmp_path: Path) -> None:
    others = [
        NEW.replace("(80)", f"({number})").replace("116.7", at) for number, at in (("8000", "112"), ("45", "118"))
    ]
    assert read(tmp_path, " ".join((OLD, NEW, *others)))[1] == (ALL_READ.replace(": 1", ": 2"),)


def test_words_under_a_note_are_told(tmp_path: Path) -> None:
    note = "<</Type /Annot /Subtype /FreeText /Rect [114 596 136 610] /Contents (80) /AP <</N 7 0 R>>>>"
    appearance = "1 g 0 0 22 14 re f BT 0 g /F1 10 Tf 2.7 4 Td (80) Tj ET"
    form = f"<</Subtype /Form /BBox [0 0 22 14] /Resources <</Font <</F1 5 0 R>>>> /Length {len(appearance)}>>"
    shown = f"{form}\nstream\n{appearance}\nendstream"
    path = page_pdf(tmp_path / "a.pdf", OLD, HELVETICA, "null", shown, page=f"{LETTER} /Annots [{note}]")
    with open_pdf(path, None) as pages:
        assert pages.read(0).warnings == ("page 1 has words under notes or form fields, which were read: 1",)
