"""The documents of the conformance test of boxes, each of which has pages that are unusual in one way."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from quoteweave.core.boxes import Box, hull
from quoteweave.testing.box_pages import LEADING, MadePage, Paragraph, Sheet, make_pdf
from quoteweave.testing.boxes import BoxCase, ExpectedRegion


def box_cases() -> list[BoxCase]:
    """Make all cases, the same each time. The two scans are drawn by pdfium, which takes a moment."""
    return list(_cases())


def write_cases(folder: Path) -> list[Path]:
    """Write the PDF of each case into a folder, made if needed, and what is right for all of them to `cases.json`.

    This is for checks in other languages. The JSON is a list of cases with all fields of `BoxCase` except the bytes of
    the PDF, and with `file`, its name. Returns the paths of the PDFs. Raises OSError if the folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    paths, described = list[Path](), list[dict[str, object]]()
    for case in box_cases():
        path = folder / case.file
        path.write_bytes(case.pdf)
        paths.append(path)
        described.append({"file": case.file, **case.model_dump(mode="json", exclude={"pdf"})})
    (folder / "cases.json").write_text(json.dumps(described, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return paths


@dataclass(frozen=True, slots=True)
class _Fact:
    """A question, and the sentence that answers it, which is placed between two others."""

    question: str
    before: str
    phrase: str
    after: str

    @property
    def text(self) -> str:
        return f"{self.before} {self.phrase} {self.after}"


@dataclass(frozen=True, slots=True)
class _CasePage:
    """A page of a case, with the paragraph and the part of the phrase that are on it, if any."""

    page: MadePage
    paragraph: Paragraph | None = None
    part: str = ""


@cache
def _cases() -> tuple[BoxCase, ...]:
    sheets = {**_TURNED, **_CROPPED, **_SCALED}
    digital = [_on_one_page(name, about, sheet) for name, (about, sheet) in sheets.items()]
    sideways = [_sideways(name, about, sheet) for name, (about, sheet) in _SIDEWAYS.items()]
    scans = [_on_one_page(name, about, sheet, scan=True) for name, (about, sheet) in _SCANNED.items()]
    return (*digital, *sideways, _two_columns(), _second_page(), _continued(), _right_to_left(), *scans)


_TURNED: dict[str, tuple[str, Sheet]] = {
    "plain": ("nothing is unusual", Sheet()),
    "rotate-90": ("/Rotate 90; the text is upright on the page as shown", Sheet(rotation=90)),
    "rotate-180": ("/Rotate 180; the text is upright on the page as shown", Sheet(rotation=180)),
    "rotate-270": ("/Rotate 270; the text is upright on the page as shown", Sheet(rotation=270)),
    "rotate-inherited": (
        "boxes and /Rotate 90 stand at the page's parent, from which it inherits them",
        Sheet((0, 0, 595, 842), (40, 60, 555, 700), rotation=90, inherited=True),
    ),
}
_SIDEWAYS: dict[str, tuple[str, Sheet]] = {
    "sideways-90": ("/Rotate 90; the text runs down the page as shown", Sheet(rotation=90, text_turn=90)),
    "sideways-270": ("/Rotate 270; the text runs up the page as shown", Sheet(rotation=270, text_turn=270)),
}
_CROPPED: dict[str, tuple[str, Sheet]] = {
    "crop-box": ("a crop box within the media box", Sheet(crop=(90, 130, 560, 700))),
    "media-box-offset": ("a media box that does not begin at 0, 0", Sheet((-200, -150, 412, 642))),
    "crop-box-rotate-270": ("a crop box, and /Rotate 270", Sheet(crop=(120, 70, 540, 760), rotation=270)),
}
_SCALED: dict[str, tuple[str, Sheet]] = {
    "user-unit": ("/UserUnit 2: a unit of user space is 1/36 inch", Sheet((0, 0, 306, 396), user_unit=2)),
    "large-page": ("a poster of 84 by 119 cm (A0)", Sheet((0, 0, 2384, 3370))),
    "tiny-page": ("a label of 60 by 42 mm", Sheet((0, 0, 170, 119))),
}
_SCANNED: dict[str, tuple[str, Sheet]] = {
    "scan": ("a page that is a picture of its text", Sheet()),
    "scan-rotate-90": ("a scan that lies on its side in the file, with /Rotate 90", Sheet(rotation=90)),
}


def _on_one_page(name: str, about: str, sheet: Sheet, *, scan: bool = False) -> BoxCase:
    """Two paragraphs, away from the middle of the page, so that any turn moves the phrase to another place."""
    fact = _FACTS[name]
    width, height = sheet.frame
    size, x, y = min(width / 46, height / 36), 0.11 * width, 0.09 * height
    first = Paragraph(_INTRODUCTION, (x, y), size, 36)
    second = Paragraph(f"{fact.text} {_FILLERS[2]}", (x, y + (len(first.lines) * LEADING + 2) * size), size, 36)
    return _case(name, about, fact, [_CasePage(MadePage(sheet, (first, second), scan), second, fact.phrase)])


def _sideways(name: str, about: str, sheet: Sheet) -> BoxCase:
    """Each sentence is a paragraph of one line: whether lines that run up or down make paragraphs is not checked."""
    fact = _FACTS[name]
    width, height = sheet.frame
    size = width / 70
    paragraphs = [
        Paragraph(text, (0.11 * width, 0.09 * height + 4 * row * size), size, 60)
        for row, text in enumerate((_FILLERS[3], fact.before, fact.phrase, fact.after))
    ]
    return _case(name, about, fact, [_CasePage(MadePage(sheet, tuple(paragraphs)), paragraphs[2], fact.phrase)])


def _two_columns() -> BoxCase:
    fact, sheet = _FACTS["two-columns"], Sheet((0, 0, 595, 842))
    left = Paragraph(" ".join((_INTRODUCTION, *_FILLERS[:2])), (60, 120), 9, 40)
    right = Paragraph(f"{_FILLERS[2]} {fact.text}", (320, 120), 9, 40)
    page = _CasePage(MadePage(sheet, (left, right)), right, fact.phrase)
    return _case("two-columns", "the phrase is in the right of two columns", fact, [page])


def _second_page() -> BoxCase:
    fact = _FACTS["second-page"]
    first = MadePage(Sheet(), (Paragraph(f"{_INTRODUCTION} {_FILLERS[0]}", (72, 90), 11, 60),))
    paragraph = Paragraph(fact.text, (60, 70), 10, 50)
    second = MadePage(Sheet((0, 0, 420, 595), rotation=90), (paragraph,))
    about = "the phrase is on the second page, which is of another size than the first, and turned"
    return _case("second-page", about, fact, [_CasePage(first), _CasePage(second, paragraph, fact.phrase)])


def _continued() -> BoxCase:
    """A paragraph that is continued on the next page, cut before the line in which the phrase ends."""
    fact, sheet, size = _FACTS["continued"], Sheet((0, 0, 500, 700), (20, 20, 480, 680)), 10
    columns, bottom = 56, sheet.frame[1] - 50
    lines = Paragraph(f"{_FILLERS[0]} {fact.text}", (0, 0), size, columns).lines
    cut = next(at for at in range(len(lines)) if fact.phrase in " ".join(lines[: at + 1]))
    begins, ends = " ".join(lines[:cut]), " ".join(lines[cut:])
    part = begins[begins.index(fact.phrase[:20]) :]
    above = Paragraph(f"{_INTRODUCTION} {_FILLERS[1]}", (50, 60), size, columns)
    head = Paragraph(begins, (50, bottom - cut * LEADING * size), size, columns)
    tail = Paragraph(ends, (50, 60), size, columns)
    below = Paragraph(_FILLERS[2], (50, 300), size, columns)
    about = "the phrase begins at the foot of a page, and ends at the head of the next"
    pages = [
        _CasePage(MadePage(sheet, (above, head)), head, part),
        _CasePage(MadePage(sheet, (tail, below)), tail, fact.phrase[len(part) + 1 :]),
    ]
    return _case("continued", about, fact, pages)


def _right_to_left() -> BoxCase:
    """The text layer has Hebrew letters, which are drawn as capitals, so that the file needs no embedded font."""
    fact, sheet = _FACTS["right-to-left"], Sheet((0, 0, 595, 842))
    paragraph = Paragraph(fact.text, (200, 100), 12, 40, right_to_left=True)
    page = _CasePage(MadePage(sheet, (paragraph,)), paragraph, fact.phrase)
    return _case("right-to-left", "lines of Hebrew, which begin at the right", fact, [page])


def _case(name: str, about: str, fact: _Fact, pages: Sequence[_CasePage]) -> BoxCase:
    return BoxCase(
        name=name,
        about=about,
        question=fact.question,
        phrase=fact.phrase,
        pdf=make_pdf([case_page.page for case_page in pages]),
        regions=tuple(_region(at, case_page) for at, case_page in enumerate(pages) if case_page.paragraph is not None),
    )


def _region(number: int, case_page: _CasePage) -> ExpectedRegion:
    sheet, paragraph = case_page.page.sheet, case_page.paragraph
    if paragraph is None:
        raise ValueError(f"nothing is to be found on page {number}")
    parts = list(paragraph.find(case_page.part))
    boxes = [box for _, box in parts]
    fractions = tuple(map(sheet.fraction, boxes))
    mistaken = [sheet.mistaken(box) for box in boxes]
    mistakes = {kind: tuple(places[kind] for places in mistaken) for kind in mistaken[0]}
    return ExpectedRegion(
        page=number,
        page_size=sheet.size,
        rotation=sheet.rotation,
        font_size=paragraph.size,
        lines=tuple(text for text, _ in parts),
        lines_fraction=fractions,
        bbox_fraction=hull(fractions),
        element_fraction=sheet.fraction(paragraph.box),
        mistakes={kind: places for kind, places in mistakes.items() if not _are_same(places, fractions)},
        scanned=case_page.page.scan,
    )


def _are_same(first: Sequence[Box], second: Sequence[Box]) -> bool:
    return all(abs(a - b) < 1e-9 for boxes in zip(first, second, strict=True) for a, b in zip(*boxes, strict=True))


_INTRODUCTION = "Notes of the harbour office, kept by the clerk on duty and read at the end of each month."
_FILLERS = (
    "The clerk wrote down the weather at noon, and the wind at dusk. Fog was rare in these weeks, and rain was not.",
    "Letters were sorted by the day on which they came. Most asked about dues, and were sent on to the town hall.",
    "The yard was swept on Fridays. Nobody complained about the noise, although the windows stood open.",
    "A bell is rung when the office closes.",
)
_FACTS = {
    "plain": _Fact(
        "How high is the lighthouse on the north mole?",
        "Its keeper retired in spring.",
        "The lighthouse on the north mole is thirty-one metres high.",
        "Visitors may climb it on Sundays.",
    ),
    "rotate-90": _Fact(
        "How many tonnes does the floating crane lift?",
        "It was built in another town.",
        "The floating crane lifts eighty tonnes in calm water.",
        "Four people work on it.",
    ),
    "rotate-180": _Fact(
        "How fast do pilot boats sail?",
        "They are washed each week.",
        "Pilot boats sail at twenty-five knots in a calm sea.",
        "Two of them are always ready.",
    ),
    "rotate-270": _Fact(
        "When was the dry dock flooded?",
        "Nobody was hurt on that day.",
        "The dry dock was flooded in the storm of 1953.",
        "Its gate has been replaced since.",
    ),
    "sideways-90": _Fact(
        "How many fishing nets are repaired in a week?",
        "The work takes most of a winter.",
        "About thirty fishing nets are repaired in a week.",
        "They are hung up to dry.",
    ),
    "sideways-270": _Fact(
        "How long is the railway siding?",
        "It is used by night alone.",
        "The railway siding is four hundred metres long.",
        "Weeds grow between its sleepers.",
    ),
    "rotate-inherited": _Fact(
        "How wide is the gate of the customs shed?",
        "It has a roof of tin.",
        "The gate of the customs shed is four metres wide.",
        "It is locked at six.",
    ),
    "crop-box": _Fact(
        "How deep is the ferry basin at low tide?",
        "It is dredged every other year.",
        "The ferry basin is seven metres deep at low tide.",
        "Swimming in it is forbidden.",
    ),
    "media-box-offset": _Fact(
        "How large is the oyster bank?",
        "Pipes run close to it.",
        "The oyster bank behind the breakwater is fourteen hectares large.",
        "Only two licences are given out.",
    ),
    "crop-box-rotate-270": _Fact(
        "How fast may tugs sail in the inner channel?",
        "A sign says so at its mouth.",
        "Tugs may sail at five knots in the inner channel.",
        "Others must wait for them.",
    ),
    "user-unit": _Fact(
        "What does the tide gauge measure?",
        "It is read by telephone.",
        "The tide gauge measures the level of water every minute.",
        "A second one is kept as a spare.",
    ),
    "large-page": _Fact(
        "How many panes does the glass pavilion have?",
        "It is heated in winter.",
        "The glass pavilion has nine hundred panes in iron frames.",
        "Concerts are given in it.",
    ),
    "tiny-page": _Fact(
        "How should the varnish be stored?",
        "It dries within a day.",
        "The varnish should be stored in a cool and dark room.",
        "Keep it away from children.",
    ),
    "two-columns": _Fact(
        "How many workers does the rope factory have?",
        "Its chimney can be seen from afar.",
        "The rope factory has forty workers in two shifts.",
        "Most of them live nearby.",
    ),
    "second-page": _Fact(
        "When was the grain silo built?",
        "It can be seen from the road.",
        "The grain silo was built in 1911 by two brothers.",
        "Swallows nest under its roof.",
    ),
    "continued": _Fact(
        "How many anchors did the divers find below the old bridge?",
        "The search began at dawn.",
        "Below the old bridge the divers found nine anchors of unknown ships, together with a bronze bell, which had "
        "been lost when the chapel on the bridge burned down.",
        "They are shown in the museum.",
    ),
    "right-to-left": _Fact(
        "כמה סירות דיג עוגנות בנמל הישן?",
        "השומר סוגר את השער בשקיעה.",
        "בנמל הישן עוגנות 9 סירות דיג.",
        "המגדלור נבנה לפני מאה שנה. פקיד הנמל רשם את מזג האוויר בכל יום ואת הרוח בכל ערב.",
    ),
    "scan": _Fact(
        "How many steps does the signal tower have?",
        "It has not been used for years.",
        "The signal tower has eighty-eight steps.",
        "A ladder leads to its top.",
    ),
    "scan-rotate-90": _Fact(
        "How many passengers does the steam launch carry?",
        "It was saved from the scrap heap.",
        "The steam launch carries sixteen passengers.",
        "Its boiler is tested each May.",
    ),
}
