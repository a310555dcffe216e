"""A conformance test of boxes: whether a viewer or server shows a citation where its words are on the page.

    for case in box_cases():
        answer = ask(case.pdf, case.question)  # for a server: the citation that it returns
        check_regions(case, answer.citations[0].regions)

    for case in box_cases():
        found = highlights(case.pdf, case.question)  # for a viewer: page numbers, and boxes as fractions of the page
        check_highlights(case, found)

The right boxes are known from how the pages are made, not from a parser. All checks raise AssertionError, which says
what is wrong where. A highlight is right if it covers at least `MIN_COVERED` of the phrase, and at most `MAX_BESIDE` of
it is further from the phrase than `REACH` font sizes: a third of a letter less or a letter more does no harm, and a
highlighted line may extend up to the next one.
"""
# ruff: noqa: S101 - what holds is asserted

import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from pydantic import Field

from quoteweave.core.answers import Region
from quoteweave.core.boxes import Box, area, fraction_of, hull, intersection, union_area
from quoteweave.core.records import Record, Rotation

REACH = 0.6
"""How far a highlight may extend beyond the phrase, in font sizes: one letter of its text."""
MIN_COVERED = 0.85
"""The least share of each line of the phrase, without its edge, that must be highlighted."""
EDGE = 0.25
"""The width of that edge, as a share of the line's shorter side, which is the font size or one letter."""
MAX_BESIDE = 0.1
"""The largest share of the highlighted area that may be further than `REACH` from the phrase."""
ROUNDING = 1.0
"""How far, in points, boxes given in points and in fractions may differ, and a page's sides from the right ones."""
MAX_NOISE = 8
"""How far a channel (0 to 255) of a pixel that is not highlighted may differ, because pictures are compressed."""
MAX_INK = 0.02
"""The most of a row of pixels that a letter covers, as a share of the page's width."""

Against = Literal["phrase", "paragraph", "page"]
"""What a highlight may not go beyond: the phrase, its paragraph, or nothing but the page, if the phrase is covered."""


class ExpectedRegion(Record):
    """Where the phrase, or a part of it, is on a page. Fractions are of the page as shown, from its top left."""

    page: int = Field(ge=0, description="from 0")
    page_size: tuple[float, float] = Field(description="width and height as shown, in units of user space")
    rotation: Rotation = Field(description="degrees clockwise by which the file turns the page; applied already")
    font_size: float = Field(gt=0, description="in units of user space")
    lines: tuple[str, ...] = Field(description="what of the phrase stands in each line")
    lines_fraction: tuple[Box, ...] = Field(description="its box, one font size high: 0.8 of it above the baseline")
    bbox_fraction: Box = Field(description="all lines in one box")
    element_fraction: Box = Field(description="the whole paragraph")
    mistakes: Mapping[str, tuple[Box, ...]] = Field(
        description="where a viewer that makes a common mistake shows these lines, by mistake"
    )
    scanned: bool = Field(default=False, description="whether the page is a picture of its text")


class BoxCase(Record):
    """A document, a question, and the place of the phrase that answers it."""

    name: str
    about: str = Field(description="what is unusual about its pages")
    question: str
    phrase: str = Field(description="the sentence that answers the question, as the document has it")
    regions: tuple[ExpectedRegion, ...] = Field(description="one for each page on which the phrase stands")
    pdf: bytes = Field(repr=False)

    @property
    def file(self) -> str:
        """The name of its file."""
        return f"{self.name}.pdf"


def check_regions(case: BoxCase, regions: Iterable[Region], *, words: bool = True) -> None:
    """Check the regions of a citation whose claim is the case's phrase.

    `words`: whether the regions must show which words support the claim, in elements of any size, such as a scanned
    page; if not, the paragraph is enough. Regions of several citations are checked together, so all of them must cite
    this phrase. Raises AssertionError.
    """
    cited = list(regions)
    pages = {region.page for region in cited}
    assert cited, f"{case.name}: the citation has no regions"
    _check_pages(case, pages)
    for region in cited:
        _check_region(case, region)
    elements = {page: [region.bbox_fraction for region in cited if region.page == page] for page in pages}
    check_highlights(case, elements, against="page" if words else "paragraph")
    marked = {page: [box for region in cited if region.page == page for box in region.words_fraction] for page in pages}
    if words or any(marked.values()):
        check_highlights(case, marked)


def check_highlights(case: BoxCase, shown: Mapping[int, Sequence[Box]], *, against: Against = "phrase") -> None:
    """Check the highlights that a viewer shows: boxes by page (from 0), as fractions of the page as it is shown.

    All must cover the phrase; `against` says what they may not go beyond. Raises AssertionError.
    """
    _check_pages(case, {page for page, boxes in shown.items() if boxes})
    for expected in case.regions:
        problem = _problem(expected, shown[expected.page], against)
        if problem is not None:
            message = f"{case.name} ({case.about}): page {expected.page + 1}: {problem}"
            raise AssertionError(f"{message}{_known_mistake(expected, shown[expected.page])}")


def fractions_of(page: Box, boxes: Iterable[Box]) -> list[Box]:
    """Turn boxes on a screen into fractions of the page that is shown there.

    All are (left, top, right, bottom) in one unit, such as the edges of a browser's `getBoundingClientRect()`.
    """
    left, top, right, bottom = page
    size = (right - left, bottom - top)
    return [fraction_of((x1 - left, y1 - top, x2 - left, y2 - top), size) for x1, y1, x2, y2 in boxes]


def changed_boxes(plain: bytes, highlighted: bytes) -> list[Box]:
    """Find what a highlight changes between two pictures of a whole page, without and with it: fractions of the page.

    There is one box for each run of changed pixels in a row. Letters that the highlight leaves unchanged are counted as
    changed. Raises ValueError where the pictures differ in size.
    """
    import numpy as np
    from PIL import Image

    before, after = (np.asarray(Image.open(io.BytesIO(data)).convert("RGB"), np.int16) for data in (plain, highlighted))
    if before.shape != after.shape:
        raise ValueError(f"the pictures differ in size: {before.shape[1::-1]} and {after.shape[1::-1]} pixels")
    height, width = before.shape[:2]
    changed = np.any(np.abs(before - after) > MAX_NOISE, axis=2)
    boxes = []
    for row in map(int, np.flatnonzero(changed.any(axis=1))):
        columns = np.flatnonzero(changed[row])
        for run in np.split(columns, np.flatnonzero(np.diff(columns) > MAX_INK * width) + 1):
            boxes.append((run[0] / width, row / height, (run[-1] + 1) / width, (row + 1) / height))
    return boxes


def _check_pages(case: BoxCase, pages: set[int]) -> None:
    right = {expected.page for expected in case.regions}
    assert pages == right, (
        f"{case.name} ({case.about}): {_pages(pages)} highlighted, and the phrase {case.phrase!r} is on {_pages(right)}"
    )


def _pages(pages: set[int]) -> str:
    return " and ".join(f"page {page + 1}" for page in sorted(pages)) or "no page"


def _check_region(case: BoxCase, region: Region) -> None:
    expected = next(candidate for candidate in case.regions if candidate.page == region.page)
    where = f"{case.name} ({case.about}): page {region.page + 1}"
    (width, height), (right_width, right_height) = region.page_size, expected.page_size
    # A page's size may be given in points or in its own units, and rounded to a whole pixel.
    scale = width / right_width
    assert abs(height - scale * right_height) <= ROUNDING * max(1, scale), (
        f"{where}: its size is {width:g} x {height:g}, and should be in the ratio of {right_width:g} x {right_height:g}"
    )
    assert region.rotation in (None, expected.rotation), (
        f"{where}: its rotation is {region.rotation}, and should be {expected.rotation}"
    )
    pairs = [(region.bbox, region.bbox_fraction), *zip(region.words, region.words_fraction, strict=True)]
    for points, fraction in pairs:
        again = (fraction[0] * width, fraction[1] * height, fraction[2] * width, fraction[3] * height)
        assert max(abs(a - b) for a, b in zip(points, again, strict=True)) <= ROUNDING, (
            f"{where}: {_edges(points)} in points and {_edges(fraction)} as a fraction are two places"
        )


def _problem(expected: ExpectedRegion, shown: Sequence[Box], against: Against) -> str | None:
    """What is wrong with the highlights of a page, in a sentence; None where nothing is."""
    boxes = [_scaled(box, expected.page_size) for box in shown]
    lines = [_scaled(box, expected.page_size) for box in expected.lines_fraction]
    for text, line, fraction in zip(expected.lines, lines, expected.lines_fraction, strict=True):
        inner = _grown(line, -EDGE * min(line[2] - line[0], line[3] - line[1]))
        covered = union_area([intersection(box, inner) for box in boxes]) / area(inner)
        if covered < MIN_COVERED:
            return (
                f"{covered:.0%} of {text!r} at {_edges(fraction)} is highlighted, and {MIN_COVERED:.0%} should be; "
                f"the highlight is at {_edges(hull(shown))}"
            )
    if against == "page":
        return None
    around = lines if against == "phrase" else [_scaled(expected.element_fraction, expected.page_size)]
    reach = [_grown(box, REACH * expected.font_size) for box in around]
    highlighted = union_area(boxes)
    within = union_area([intersection(box, place) for box in boxes for place in reach])
    beside = 1 - within / highlighted
    if beside > MAX_BESIDE:
        right = expected.bbox_fraction if against == "phrase" else expected.element_fraction
        return (
            f"{beside:.0%} of the highlight at {_edges(hull(shown))} is beside the {against} at {_edges(right)}, and "
            f"{MAX_BESIDE:.0%} may be"
        )
    return None


def _known_mistake(expected: ExpectedRegion, shown: Sequence[Box]) -> str:
    for kind, lines in expected.mistakes.items():
        mistaken = expected.model_copy(update={"lines_fraction": lines})
        if lines != expected.lines_fraction and _problem(mistaken, shown, "phrase") is None:
            return f". It is where it would be if {kind}"
    return ""


def _scaled(box: Box, size: tuple[float, float]) -> Box:
    return (box[0] * size[0], box[1] * size[1], box[2] * size[0], box[3] * size[1])


def _grown(box: Box, by: float) -> Box:
    return (box[0] - by, box[1] - by, box[2] + by, box[3] + by)


def _edges(box: Box) -> str:
    return f"({', '.join(f'{edge:.4g}' for edge in box)})"
