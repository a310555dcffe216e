"""Text of a page that its text layer lacks, outside of figures: a picture of text on white, or half of a scan."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from made_pages import GREY, canvas, fill, ink_words, line, picture, prose

from quoteweave.collection.stores.content import ImageStore
from quoteweave.documents.layout.page import DRAWN, UNREAD, PageReader
from quoteweave.documents.layout.unread import pictures, text_layer
from quoteweave.documents.layout.unread.text_layer import has_more_text, is_shown_twice, unread_areas
from quoteweave.documents.sources.lines import Line
from quoteweave.documents.sources.ocr import Ocr
from quoteweave.documents.sources.raw_page import Raster, RawPage

LAYER = prose(50, 100)
DRAWN_LINES = [line("herring was sold for silver behind the chapel", 50, y) for y in (500, 520)]


class OneLineOcr:
    """Reads these texts one after the other, and the last of them again and again."""

    def __init__(self, *texts: str, sureness: float = 1.0) -> None:
        self.texts, self.sureness = list(texts), sureness

    def read(self, picture: Raster) -> list[Line]:
        text = self.texts.pop(0) if len(self.texts) > 1 else self.texts[0]
        return [replace(line(text, 4, 3), sureness=self.sureness)] if text and picture.size else []


def page_with(lines: Sequence[Line]) -> RawPage:
    """A page with the lines of LAYER as its text layer, which also shows others."""
    pixels = canvas()
    ink_words(pixels, [*LAYER, *lines])
    return RawPage(2, picture(pixels), lines=LAYER)


def test_text_beside_the_text_layer_becomes_a_figure_that_ocr_reads(images: ImageStore) -> None:
    text, figure = PageReader(images, OneLineOcr("Herring for silver")).read(page_with(DRAWN_LINES)).elements
    assert (text.found_as, figure.found_as, figure.ocr_text) == ("text", "figure", "Herring for silver")
    assert figure.box[1::2] == pytest.approx((500, 530), abs=6)


@pytest.mark.parametrize(
    ("in_layers_place", "figures"),
    [("the harbour was dredged again in early spring", 1), ("winter of the old pilots", 0), ("", 0)],
)
def test_known_words_are_a_figure_if_the_page_also_shows_them_where_the_layer_has_them(
    in_layers_place: str, figures: int, images: ImageStore
) -> None:
    heading = "the harbour was dredged again"
    page = PageReader(images, OneLineOcr(heading, in_layers_place)).read(page_with([line(heading, 50, 500)]))
    assert (len(page.elements) - 1, page.warnings) == (figures, ())


def test_known_words_are_no_figure_where_they_overlap_those_of_the_layer() -> None:
    read = [line("harbour was dredged again", 52, 105)]
    assert not is_shown_twice(read, LAYER, picture(canvas()), OneLineOcr("the harbour was dredged again"))


@pytest.mark.parametrize(("read", "sureness", "missed"), [("", 1.0, 78), ("Herning far sliver", 0.6, 16)])
def test_what_ocr_does_not_read_surely_is_kept_as_a_figure_and_told(
    read: str, sureness: float, missed: int, images: ImageStore
) -> None:
    page = PageReader(images, OneLineOcr(read, sureness=sureness)).read(page_with(DRAWN_LINES))
    assert [element.ocr_text for element in page.elements] == [None, read]
    (warning,) = page.warnings
    said, _, count = warning.partition(": ")
    assert said == f"page 3 {UNREAD}"
    assert int(count) >= missed


def test_a_crop_without_words_and_with_few_letters_is_no_figure(
    images: ImageStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pictures, "count_unread", lambda *_: 3)  # as of the dots of a table of contents
    page = PageReader(images, OneLineOcr("")).read(page_with(DRAWN_LINES))
    assert ([element.found_as for element in page.elements], page.warnings) == (["text"], ())


@pytest.mark.parametrize(
    ("read", "is_new"),
    [
        ("dredged the harbour", True),
        ("again dredged", True),
        ("harbour was dredged", False),
        ("the harbour was dredged again and the iong winter of", False),
        ("dredged", False),
        ("arbour was dred", False),
        ("theharbour wasdredged", False),
        ("pilot", False),
        ("win", True),
    ],
)
def test_known_words_in_another_order_are_new_as_in_headings(read: str, is_new: bool) -> None:
    layer = [line("The harbour was dredged again and the long winter of the old pilots was over", 0, 0)]
    layer += [line("as the harbour was dredged again and again", 0, 20)]
    assert has_more_text([line(read, 0, 0)], layer) == is_new


def test_without_ocr_such_text_is_told(images: ImageStore) -> None:
    page = PageReader(images, None).read(page_with(DRAWN_LINES))
    assert (len(page.elements), page.warnings) == (1, (f"page 3 {DRAWN}: 1",))


@pytest.mark.parametrize("ocr", [None, OneLineOcr("Noise")])
def test_a_page_whose_text_layer_has_all_its_text_says_nothing(ocr: Ocr | None, images: ImageStore) -> None:
    page = PageReader(images, ocr).read(page_with([line("12", 300, 780)]))
    assert (len(page.elements), page.warnings) == (1, ())


def test_very_many_such_texts_are_read_as_one(images: ImageStore) -> None:
    lines = [line("herring was sold for silver", x, y) for x in (50, 350) for y in range(200, 700, 40)]
    figures = PageReader(images, OneLineOcr("Herring for silver")).read(page_with(lines)).elements[1:]
    assert [figure.ocr_text for figure in figures] == ["Herring for silver"]


@pytest.mark.parametrize(("rows", "is_told"), [(10, True), (1, False)])
def test_many_letters_of_a_figure_that_ocr_does_not_read_are_told(rows: int, is_told: bool, images: ImageStore) -> None:
    pixels = canvas()
    fill(pixels, (40, 300, 400, 520), GREY)
    ink_words(pixels, [*LAYER, *(line("herring was sold for silver", 50, 310 + 20 * row) for row in range(rows))])
    page = PageReader(images, OneLineOcr("")).read(RawPage(2, picture(pixels), lines=LAYER))
    assert [element.ocr_text for element in page.elements] == [None, ""]
    assert [warning.startswith(f"page 3 {UNREAD}: ") for warning in page.warnings] == [True] * is_told


def test_more_shapes_than_are_grouped_are_read_as_one(images: ImageStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_layer, "MAX_GROUPED", 20)
    lines = [line("herring was sold for silver", 50, y) for y in (300, 600)]
    figures = PageReader(images, OneLineOcr("Herring for silver")).read(page_with(lines)).elements[1:]
    assert [figure.ocr_text for figure in figures] == ["Herring for silver"]


def test_words_that_extend_into_a_figure_are_whole() -> None:
    pixels, title = canvas(), line("Many ports are uncertain about herring", 50, 400)
    ink_words(pixels, [title])
    occupied = (0.0, 300.0, title.words[2].box[0] + 3, 500.0)  # within "are"
    ((x1, y1, x2, y2),) = unread_areas(picture(pixels), [], [occupied])
    assert (x1, x2) == pytest.approx((title.words[2].box[0], title.box[2]), abs=4)
    assert 397 < y1 < y2 < 413


def test_what_stands_in_a_known_place_is_no_unread_text() -> None:
    pixels, title = canvas(), line("Many ports are uncertain about herring", 50, 400)
    ink_words(pixels, [title])
    assert unread_areas(picture(pixels), [], [title.box]) == []
