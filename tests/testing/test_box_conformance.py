"""The conformance test of boxes: that its boxes are right, that this package passes it, and that mistakes do not."""

import io
import json
import re
from collections.abc import Iterator
from pathlib import Path

import lxml.html
import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image, ImageChops, ImageDraw

from quoteweave.collection.collection import Collection
from quoteweave.core.answers import Answer, Context, Region
from quoteweave.core.boxes import Box
from quoteweave.core.records import Query
from quoteweave.documents.ingest import AddOptions, add
from quoteweave.generation.citations import build_answer
from quoteweave.pipeline.answer_page.render import render_answered
from quoteweave.pipeline.composition.make_rag import make_rag
from quoteweave.pipeline.gate import Gate
from quoteweave.pipeline.pictures_for_people import FILL, marked_page, page_picture
from quoteweave.pipeline.rag import Answered, Rag
from quoteweave.retrievers.lexical import LexicalRetriever
from quoteweave.testing import (
    BoxCase,
    ExpectedRegion,
    box_cases,
    changed_boxes,
    check_highlights,
    check_regions,
    fractions_of,
    write_cases,
)

Pixels = npt.NDArray[np.uint8]
CASES = {case.name: case for case in box_cases()}
PLAIN = CASES["plain"]
# All cases are drawn by the same code, and drawing takes long, so a few suffice.
SHOWN = ("rotate-90", "crop-box-rotate-270", "sideways-90", "user-unit", "tiny-page", "continued")
some_cases = pytest.mark.parametrize("case", [CASES[name] for name in SHOWN], ids=SHOWN)
every_case = pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("boxes") / "cases"
    write_cases(folder)
    return folder


@pytest.fixture(scope="module")
def collection(written: Path) -> Iterator[Collection]:
    with Collection.create(written.parent / "collection") as made:
        assert add(made, sorted(written.glob("*.pdf")), AddOptions(processes=1)).failed == ()
        yield made


class Repeater:
    """Repeats the phrase of a case, and cites the text that begins it."""

    def __init__(self, case: BoxCase) -> None:
        self.case = case

    async def answer(self, query: Query, context: Context) -> Answer:
        begins = self.case.regions[0].lines[0]
        texts = [hit.quote for hit in context.texts]
        (number, *_) = (at for at, one in enumerate(texts, 1) if one.document == self.case.file and begins in one.text)
        return build_answer(query.text, f"{self.case.phrase} [{number}]", context, model="repeater")


def answered(case: BoxCase, collection: Collection) -> Answered:
    rag = Rag(LexicalRetriever(collection), Repeater(case), gate=Gate(pages=collection))
    return rag.answer_with_context(case.question)


def regions_of(case: BoxCase, collection: Collection) -> tuple[Region, ...]:
    (citation,) = answered(case, collection).answer.citations
    return citation.regions


def pixels_of(case: BoxCase, page: int, collection: Collection) -> Pixels:
    picture = page_picture(collection, case.file, page)
    assert picture is not None
    return picture.pixels


def png(pixels: Pixels) -> bytes:
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    return file.getvalue()


def letters(case: BoxCase, region: ExpectedRegion, pixels: Pixels) -> Iterator[tuple[str, int]]:
    """The letters of the phrase, each with the ink that stands where it should."""
    height, width = pixels.shape[:2]
    turn = {"sideways-90": 1, "sideways-270": -1}.get(case.name, 0)
    for text, (x1, y1, x2, y2) in zip(region.lines, region.lines_fraction, strict=True):
        strip = pixels[round(y1 * height) : round(y2 * height), round(x1 * width) : round(x2 * width)]
        strip = np.rot90(strip, turn)
        edges = np.linspace(0, strip.shape[1], len(text) + 1).round().astype(int)
        drawn = reversed(text) if case.name == "right-to-left" else text
        for letter, start, end in zip(drawn, edges[:-1], edges[1:], strict=True):
            yield letter, int((strip[:, start:end].min(axis=2) < 215).sum())


@every_case
def test_each_letter_is_drawn_where_the_case_says_and_spaces_are_empty(case: BoxCase, collection: Collection) -> None:
    for region in case.regions:
        found = list(letters(case, region, pixels_of(case, region.page, collection)))
        assert all(ink > 0 for letter, ink in found if letter != " ")
        assert sum(ink for letter, ink in found if letter == " ") < 0.01 * sum(ink for _, ink in found)


def test_the_phrase_stands_on_its_lines_once(collection: Collection) -> None:
    for case in CASES.values():
        assert " ".join(line for region in case.regions for line in region.lines) == case.phrase
        texts = " ".join(quote.text for quote in collection.document_quotes(case.file) if quote.kind == "text")
        assert texts.count(case.phrase) == 1 or case.name == "continued"


@every_case
def test_citations_of_this_package_pass(case: BoxCase, collection: Collection) -> None:
    regions = regions_of(case, collection)
    check_regions(case, regions)
    assert [region.rotation for region in regions] == [expected.rotation for expected in case.regions]
    assert all(region.estimated == expected.scanned for region, expected in zip(regions, case.regions, strict=True))


def test_answers_without_a_model_pass(collection: Collection) -> None:
    rag = make_rag(collection)
    for case in CASES.values():
        if case.name == "right-to-left":  # it shows two places of that document, and answers nothing
            continue
        answer = rag.answer(case.question)
        assert answer.status == "answered", case.name
        check_regions(case, [region for citation in answer.citations for region in citation.regions])


@some_cases
def test_the_page_with_its_words_marked_passes(case: BoxCase, collection: Collection) -> None:
    (citation,) = answered(case, collection).answer.citations
    quote = collection.quote(citation.quote_id)
    shots = [marked_page(collection, quote, words) for words in ((), citation.regions[0].words)]
    assert shots[0] is not None
    assert shots[1] is not None
    only_its_page = case.model_copy(update={"regions": case.regions[:1]})
    check_highlights(only_its_page, {citation.page: changed_boxes(shots[0], shots[1])})


@some_cases
def test_the_answer_page_passes(case: BoxCase, collection: Collection) -> None:
    html, notes = render_answered([answered(case, collection)], collection, "Boxes")
    assert notes == []
    found: dict[int, list[Box]] = {}
    for sheet in lxml.html.fromstring(html).iterfind(".//article[@class='sheet']"):
        (drawing,) = sheet.iterfind("./div[@class='paper']/svg")
        page = [float(edge) for edge in drawing.attrib["viewbox"].split()]
        sides = [
            [float(box.attrib[side]) for side in ("x", "y", "width", "height")] for box in drawing.iterfind("rect")
        ]
        number = int(sheet.attrib["aria-label"].split()[-1]) - 1
        found[number] = fractions_of((0, 0, page[2], page[3]), [(x, y, x + w, y + h) for x, y, w, h in sides])
    check_highlights(case, found)


MISTAKES = [(case, region, kind) for case in CASES.values() for region in case.regions for kind in region.mistakes]


def right_places(case: BoxCase) -> dict[int, list[Box]]:
    return {region.page: list(region.lines_fraction) for region in case.regions}


@pytest.mark.parametrize(
    ("case", "region", "kind"), MISTAKES, ids=[f"{case.name}: {kind}" for case, _, kind in MISTAKES]
)
def test_a_viewer_that_makes_a_common_mistake_fails_and_is_told_which(
    case: BoxCase, region: ExpectedRegion, kind: str
) -> None:
    check_highlights(case, right_places(case))
    with pytest.raises(AssertionError, match=rf"page {region.page + 1}: .*It is where it would be if {kind}$"):
        check_highlights(case, {**right_places(case), region.page: list(region.mistakes[kind])})


def test_every_unusual_page_has_a_mistake_that_only_it_reveals() -> None:
    def revealed(kind: str) -> set[str]:
        return {case.name for case in CASES.values() for region in case.regions if kind in region.mistakes}

    assert revealed("the page's rotation is ignored") == {
        *("rotate-90", "rotate-180", "rotate-270", "rotate-inherited", "sideways-90", "sideways-270"),
        *("crop-box-rotate-270", "second-page", "scan-rotate-90"),
    }
    assert revealed("the crop box is ignored") == {"crop-box", "crop-box-rotate-270", "rotate-inherited", "continued"}
    assert revealed("the box is in units of the page and the page in points") == {"user-unit"}
    assert revealed("y is counted from the bottom") == set(CASES)


@every_case
def test_too_much_too_little_and_another_line_fail(case: BoxCase) -> None:
    region, right = case.regions[0], right_places(case)
    (x1, y1, x2, y2), *others = region.lines_fraction
    half = (x1, y1, (x1 + x2) / 2, y2) if x2 - x1 > y2 - y1 else (x1, y1, x2, (y1 + y2) / 2)
    below = [(a, b + 2 * (y2 - y1), c, d + 2 * (y2 - y1)) for a, b, c, d in region.lines_fraction]
    with pytest.raises(AssertionError, match="is highlighted, and 85% should be"):
        check_highlights(case, {**right, region.page: [half, *others]})
    with pytest.raises(AssertionError, match=r"of the highlight at .* is beside the phrase"):
        check_highlights(case, {**right, region.page: [(0, 0, 1, 1)]})
    with pytest.raises(AssertionError):
        check_highlights(case, {**right, region.page: below})


def test_a_highlight_of_the_paragraph_passes_where_that_is_asked() -> None:
    paragraph = {0: [PLAIN.regions[0].element_fraction]}
    check_highlights(PLAIN, paragraph, against="paragraph")
    with pytest.raises(AssertionError, match="beside the phrase"):
        check_highlights(PLAIN, paragraph)
    with pytest.raises(AssertionError, match="beside the paragraph"):
        check_highlights(PLAIN, {0: [(0, 0, 1, 1)]}, against="paragraph")


def test_highlights_on_other_pages_or_on_none_fail() -> None:
    case = CASES["second-page"]
    boxes = right_places(case)[1]
    with pytest.raises(AssertionError, match=r"page 1 highlighted, and the phrase 'The grain silo .*' is on page 2"):
        check_highlights(case, {0: boxes})
    with pytest.raises(AssertionError, match="page 1 and page 2 highlighted"):
        check_highlights(case, {0: boxes, 1: boxes})
    with pytest.raises(AssertionError, match="no page highlighted"):
        check_highlights(case, {1: []})
    with pytest.raises(AssertionError, match=r"page 1 highlighted, and the phrase .* is on page 1 and page 2"):
        check_highlights(CASES["continued"], {0: right_places(CASES["continued"])[0]})


def test_regions_that_contradict_themselves_or_their_page_fail(collection: Collection) -> None:
    case = CASES["rotate-90"]
    (region,) = regions_of(case, collection)
    wrong: dict[str, dict[str, object]] = {
        "its size is 612 x 792, and should be in the ratio of 792 x 612": {"page_size": (612.0, 792.0)},
        "its rotation is 0, and should be 90": {"rotation": 0},
        "are two places": {"bbox": region.bbox_fraction},
        "is highlighted, and 85% should be": {
            "bbox": (0.0, 0.0, 99.0, 99.0),
            "bbox_fraction": (0.0, 0.0, 0.125, 0.161765),
        },
        "no page highlighted": {"words": (), "words_fraction": ()},
        "page 2 highlighted": {"page": 1},
    }
    for said, update in wrong.items():
        with pytest.raises(AssertionError, match=said):
            check_regions(case, [region.model_copy(update=update)])
    with pytest.raises(AssertionError, match="the citation has no regions"):
        check_regions(case, [])
    bare = region.model_copy(update={"words": (), "words_fraction": (), "rotation": None})
    check_regions(case, [bare], words=False)
    # A larger element is accepted if its words are given too, but not if it is all that is given.
    whole: dict[str, object] = {"bbox": (0.0, 0.0, *region.page_size), "bbox_fraction": (0.0, 0.0, 1.0, 1.0)}
    check_regions(case, [region.model_copy(update=whole)])
    with pytest.raises(AssertionError, match="is beside the paragraph"):
        check_regions(case, [bare.model_copy(update=whole)], words=False)


def test_a_highlight_is_found_between_two_screenshots(collection: Collection) -> None:
    case = CASES["crop-box-rotate-270"]
    plain = Image.fromarray(pixels_of(case, 0, collection))
    fill = Image.new("RGB", plain.size, "white")
    width, height = plain.size
    for x1, y1, x2, y2 in case.regions[0].lines_fraction:
        ImageDraw.Draw(fill).rectangle((x1 * width, y1 * height, x2 * width, y2 * height), fill=FILL)
    shots = [png(np.asarray(one)) for one in (plain, ImageChops.multiply(plain, fill), plain.rotate(90, expand=True))]
    check_highlights(case, {0: changed_boxes(shots[0], shots[1])})
    assert changed_boxes(shots[0], shots[0]) == []
    with pytest.raises(ValueError, match=r"the pictures differ in size: \(1380, 840\) and \(840, 1380\) pixels"):
        changed_boxes(shots[0], shots[2])


def test_boxes_on_a_screen_become_fractions_of_the_page() -> None:
    assert fractions_of((100, 50, 300, 450), [(150, 50, 200, 250), (90, 0, 400, 500)]) == [
        (0.25, 0, 0.5, 0.5),
        (0, 0, 1, 1),
    ]


def test_the_guide_prints_what_its_comments_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    guide = (Path(__file__).parents[2] / "docs" / "boxes.md").read_text("utf-8")
    code = "\n".join(re.findall(r"```python\n(.*?)```", guide, re.DOTALL))
    said = re.findall(r"print\(.*\)  # (.*)", code)
    assert len(said) == code.count("print(") == 2
    exec(compile(code, "docs/boxes.md", "exec"), {})
    assert capsys.readouterr().out.splitlines() == said
    assert set(re.findall(r"`([a-z0-9-]+)`", guide.partition("| case |")[2].partition("\n\n")[0])) == set(CASES)


def test_the_cases_are_written_with_what_is_right_for_checks_in_other_languages(written: Path) -> None:
    told = json.loads((written / "cases.json").read_text("utf-8"))
    assert [one["file"] for one in told] == [case.file for case in CASES.values()]
    for one, case in zip(told, CASES.values(), strict=True):
        assert (written / one.pop("file")).read_bytes() == case.pdf
        assert BoxCase.model_validate({**one, "pdf": case.pdf}) == case
