"""The page's highlights in Chromium: at the words, whatever the page, the window and the screen."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from live_server import LiveServer
from page_visits import PHONE, TABLET, WIDE, PageVisit, Visit

from quoteweave.collection.collection import Collection
from quoteweave.core.boxes import Box
from quoteweave.documents.ingest import add
from quoteweave.server.settings import ServerSettings
from quoteweave.testing import box_cases, check_highlights, fractions_of, write_cases

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Route

pytestmark = pytest.mark.browser

CASES = {case.name: case for case in box_cases()}
SHOWN = ("rotate-90", "crop-box-rotate-270", "sideways-90", "user-unit", "tiny-page", "continued")
EDGES = "elements => elements.map(e => e.getBoundingClientRect()).map(r => [r.left, r.top, r.right, r.bottom])"
WITHIN = """element => {
  const box = element.getBoundingClientRect();
  const view = element.closest(".pages").getBoundingClientRect();
  const [left, right] = [view.left - 8, view.right + 8];
  return box.height > 0 && box.top >= view.top && box.bottom <= view.bottom && box.left >= left && box.right <= right;
}"""


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    """A server of the documents of the conformance test of boxes."""
    base = tmp_path_factory.mktemp("page-boxes")
    write_cases(base / "cases")
    with Collection.create(base / "boxes") as made:
        assert add(made, [base / "cases" / f"{name}.pdf" for name in SHOWN]).failed == ()
    settings = ServerSettings(collections={"boxes": base / "boxes"}, state=base / "state")
    with LiveServer(settings) as server:
        yield server


PICTURE_AND_WORDS = """paper => ["img", ".word"].map(kind => [...paper.querySelectorAll(kind)]
  .map(e => e.getBoundingClientRect()).map(r => [r.left, r.top, r.right, r.bottom]))"""


def word_fractions(paper: "Locator") -> list[Box]:
    """Where words are highlighted, as fractions of the page's picture.

    Both are measured in one call: a page that is resized between two would give one of each size.
    """
    (picture,), words = paper.evaluate(PICTURE_AND_WORDS)
    return fractions_of(tuple(picture), [tuple(word) for word in words])


def edges(found: "Locator") -> list[Box]:
    boxes: list[Box] = [tuple(box) for box in found.evaluate_all(EDGES)]
    return boxes


def ask_of(seen: PageVisit, document: str, question: str) -> "Locator":
    if seen.page.locator(".right:not(.open)").count() and not seen.page.locator(".library").is_visible():
        seen.page.click("#open-documents")
    seen.page.get_by_label(f"Ask only {document}", exact=True).check()
    if seen.page.locator("#left[inert]").count():
        seen.page.keyboard.press("Escape")
    return seen.ask(question)


def shown_words(seen: PageVisit, pages: set[int]) -> dict[int, list[Box]]:
    """Where words are highlighted on the pages, as fractions of each."""
    found = {}
    for page in pages:
        paper = seen.page.locator(".sheet").nth(page).locator(".paper")
        paper.locator(".word").first.wait_for(state="attached")
        found[page] = word_fractions(paper)
    return found


@pytest.mark.parametrize("name", SHOWN)
def test_the_cited_words_are_highlighted_where_they_stand(cases: LiveServer, visit: Visit, name: str) -> None:
    case = CASES[name]
    seen = visit(cases.url).open()
    answer = ask_of(seen, case.file, case.question)
    seen.cite(answer.locator(".prose .chip").first)
    pages = {region.page for region in case.regions}
    check_highlights(case, shown_words(seen, pages))
    for size in (PHONE, TABLET):
        seen.page.set_viewport_size({"width": size[0], "height": size[1]})
        check_highlights(case, shown_words(seen, pages))


@pytest.mark.parametrize(("size", "scale"), [(WIDE, 1), (WIDE, 2), (TABLET, 1), (PHONE, 3)])
def test_a_citation_is_brought_into_view_at_exactly_its_region(
    live: LiveServer, visit: Visit, size: tuple[int, int], scale: float
) -> None:
    seen = visit(live.url, size, scale=scale).open()
    with seen.page.expect_response("**/answers") as answered:
        answer = seen.ask("How many vessel calls did the port receive?")
    assert answered.value.ok
    seen.cite(answer.locator(".prose .chip").first)
    body = {"question": "How many vessel calls did the port receive?"}
    (region,) = live.client.post("/v1/collections/port/answers", json=body).json()["answer"]["citations"][0]["regions"]
    paper = seen.page.locator(".sheet").nth(region["page"]).locator(".paper")
    (picture,) = edges(paper.locator("img"))
    for kind, right in ((".region", [region["bbox_fraction"]]), (".word", region["words_fraction"])):
        drawn = edges(paper.locator(kind))
        assert len(drawn) == len(right)
        for box, fraction in zip(drawn, right, strict=True):
            width, height = picture[2] - picture[0], picture[3] - picture[1]
            whole = [picture[side % 2] + share * (height if side % 2 else width) for side, share in enumerate(fraction)]
            assert box == pytest.approx(whole, abs=1)
    assert seen.page.locator(".word").first.evaluate(WITHIN)


def test_boxes_keep_their_place_at_every_size_of_the_pages(live: LiveServer, visit: Visit) -> None:
    seen = visit(live.url).open()
    answer = seen.ask("How many vessel calls did the port receive?")
    seen.cite(answer.locator(".prose .chip").first)

    paper = seen.page.locator(".paper:has(.word)")
    before, sizes = word_fractions(paper), [edges(paper)]
    for zoom in ("page", "75", "200"):
        seen.page.get_by_label("Size of the pages").select_option(zoom)
        sizes.append(edges(paper))
        assert sizes[-1] != sizes[-2]
        for box, again in zip(before, word_fractions(paper), strict=True):
            assert box == pytest.approx(again, abs=0.002)


def test_evidence_on_two_pages_is_marked_on_both(cases: LiveServer, visit: Visit) -> None:
    case = CASES["continued"]
    seen = visit(cases.url).open()
    seen.cite(ask_of(seen, case.file, case.question).locator(".prose .chip").first)
    for region in case.regions:
        seen.page.locator(".sheet").nth(region.page).locator(".region").wait_for(state="attached")
    assert "on another page" in seen.page.locator(".evidence").inner_text()


def test_no_words_are_guessed_where_none_are_known(live: LiveServer, visit: Visit) -> None:
    seen = visit(live.url).open()
    sources = seen.ask("How many vessel calls did the port receive?").locator(".sources")
    sources.locator("summary").click()
    sources.locator(".where").nth(2).click()
    seen.page.locator(".region").wait_for()
    assert seen.page.locator(".word").count() == 0


def test_an_image_is_framed_and_keeps_its_colours(live: LiveServer, visit: Visit, sample_collection: Path) -> None:
    seen = visit(live.url).open()
    answer = seen.ask("Show the chart of vessel calls by quarter.")
    (region,) = seen.cite(answer.locator("figcaption .chip").first).all()
    assert region.evaluate("element => getComputedStyle(element).backgroundColor") == "rgba(0, 0, 0, 0)"
    shadow = "element => getComputedStyle(element).boxShadow"
    assert "inset" not in region.evaluate(shadow)
    with Collection.open(sample_collection) as collection:
        whole = next(q for q in collection.document_quotes("field-notes-scan.pdf") if q.layout == "page")
    seen.page.goto(f"{live.url}/c/port/q/{whole.id}")
    assert "inset" in seen.page.locator(".region").evaluate(shadow)  # what lies outside the page is not seen


def test_boxes_wait_for_the_picture_and_take_no_presses(live: LiveServer, visit: Visit) -> None:
    seen = visit(live.url)
    held: list[Route] = []
    holds = True
    seen.page.route("**/pages/**/image", lambda route: held.append(route) if holds else route.continue_())
    seen.open()
    answer = seen.ask("How many vessel calls did the port receive?")
    answer.locator(".prose .chip").first.click()
    seen.page.locator(".evidence").wait_for()
    assert seen.page.locator(".region").count() == 0
    holds = False
    for route in held:
        route.continue_()
    region = seen.page.locator(".region").first
    region.wait_for()
    assert region.evaluate("element => getComputedStyle(element).pointerEvents") == "none"


def test_the_address_of_a_quote_opens_its_page_at_the_box(
    live: LiveServer, visit: Visit, sample_collection: Path
) -> None:
    with Collection.open(sample_collection) as collection:
        quote = next(q for q in collection.document_quotes("harbour-report.pdf") if q.page == 3 and q.retrievable)
    seen = visit(live.url)
    seen.page.goto(f"{live.url}/c/port/q/{quote.id}")
    region = seen.page.locator(".region")
    region.wait_for()
    assert region.evaluate(WITHIN)
    assert seen.page.locator(".sheet").nth(3).locator(".region").count() == 1
    assert seen.page.get_by_label("Page", exact=True).input_value() == "4"
    pictures = [request for request in seen.requests if "/pages/" in request and "/image" in request]
    assert pictures
    assert all("/harbour-report.pdf/" in picture for picture in pictures)  # and not the covers of all documents
