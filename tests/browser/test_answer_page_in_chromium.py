"""The answer page in a real browser: what is clicked is shown, nothing leaves, and nothing foreign runs."""

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from example_answers import HOSTILE, abstained_view, checked_view, hostile_view, moorings_view, tidal_view
from page_visits import RecordedPage
from PIL import Image
from pypdfium2 import PdfDocument

from quoteweave.pipeline.answer_page.render import render_answers
from quoteweave.pipeline.answer_page.sections import AnswerView

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

WIDE, NARROW = (1440, 900), (390, 844)
WORDS = (
    "h1, h2, .facts li, .prose p, .chip, .unresolved, figcaption, .warnings li, .notice p, .document, .page, .tag, "
    ".written p, .says, .label, .number, .tally li, .sentence, .finding, .finding span, .chip .verdict, #count, footer"
)
IN_VIEW = """element => {
  const box = element.getBoundingClientRect();
  return box.height > 0 && box.top >= 0 && box.bottom <= innerHeight;
}"""
# One call for all elements: a call for each takes ten seconds.
CONTRASTS = """elements => {
  const parts = (colour) => [...colour.match(/[\\d.]+/g).map(Number), 1].slice(0, 4);
  const light = (colour) => {
    const [r, g, b] = colour.map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const over = (front, back) => front.slice(0, 3).map((part, at) => part * front[3] + back[at] * (1 - front[3]));
  const behind = (each) => {
    const own = parts(getComputedStyle(each).backgroundColor);
    return own[3] === 1 ? own.slice(0, 3) : over(own, behind(each.parentElement));
  };
  const contrast = (element) => {
    const pair = [parts(getComputedStyle(element).color).slice(0, 3), behind(element)].map(light);
    return (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
  };
  return elements.map((element) => [contrast(element), element.textContent]);
}"""


class Visit(RecordedPage):
    """A page opened from a file."""

    def __init__(self, page: "Page", address: str) -> None:
        super().__init__(page)
        page.goto(address)

    def active(self) -> list[str]:
        """Ids of what is marked as active on the pages."""
        return [str(found.get_attribute("id")) for found in self.page.locator(".active").all()]

    def in_view(self, name: str) -> bool:
        return bool(self.page.locator(f"#{name}").evaluate(IN_VIEW))


class Opener:
    """Opens answers in fresh windows."""

    def __init__(self, chromium: "Browser", folder: Path) -> None:
        self.chromium, self.file = chromium, folder / "answer.html"

    def __call__(
        self, *views: AnswerView, size: tuple[int, int] = WIDE, dark: bool = False, script: bool = True
    ) -> Visit:
        self.file.write_text(render_answers(views, "Answers"), encoding="utf-8")
        context = self.chromium.new_context(
            viewport={"width": size[0], "height": size[1]},
            color_scheme="dark" if dark else "light",
            reduced_motion="reduce",
            java_script_enabled=script,
        )
        return Visit(context.new_page(), self.file.as_uri())


@pytest.fixture
def visit(chromium: "Browser", tmp_path: Path) -> Iterator[Opener]:
    yield Opener(chromium, tmp_path)
    for context in chromium.contexts:
        context.close()


def test_nothing_is_asked_of_the_network_and_nothing_is_complained_of(visit: Opener) -> None:
    seen = visit(tidal_view(), moorings_view(), hostile_view(), abstained_view())
    seen.page.locator(".chip").first.click()
    seen.page.wait_for_load_state("networkidle")
    assert [url for url in seen.requests if not url.startswith("data:")] == [visit.file.as_uri()]
    assert seen.complaints == []


def test_page_pictures_are_drawn(visit: Opener) -> None:
    seen = visit(tidal_view())
    # A chart's bar, which the page picture alone can have coloured.
    shot = seen.page.locator(".paper svg").first.screenshot()
    colours = Image.open(io.BytesIO(shot)).convert("RGB").getcolors(1 << 24)
    assert colours is not None
    assert (0x3C, 0x7A, 0x89) in [colour for _, colour in colours]


def test_a_box_lies_where_its_quote_stands_on_the_picture(visit: Opener) -> None:
    view = tidal_view()
    seen = visit(view)
    paper, box = (seen.page.locator(place).first.bounding_box() for place in (".paper", "#answer-1-image-1-box"))
    assert paper is not None
    assert box is not None
    scale = paper["width"] / view.pages[0].page.width
    assert (box["x"] - paper["x"]) / scale == pytest.approx(120, abs=0.5)
    assert (box["y"] - paper["y"]) / scale == pytest.approx(270, abs=0.5)
    assert box["width"] / scale == pytest.approx(380, abs=0.5)


@pytest.mark.parametrize("size", [WIDE, NARROW])
def test_clicking_a_citation_brings_its_box_into_view_and_marks_it(visit: Opener, size: tuple[int, int]) -> None:
    seen = visit(tidal_view(), size=size)
    assert not seen.in_view("answer-1-text-4-box")
    chip = seen.page.locator(".prose .chip[href='#answer-1-text-4-box']").first
    chip.click()
    assert seen.active() == ["answer-1-text-4-box"]
    assert seen.in_view("answer-1-text-4-box")
    assert chip.get_attribute("aria-current") == "true"
    assert seen.page.locator("#spoken").text_content() == chip.get_attribute("aria-label")


def test_clicking_a_shown_image_goes_to_its_page(visit: Opener) -> None:
    seen = visit(tidal_view())
    seen.page.locator("figure .frame").nth(1).click()
    assert seen.active() == ["answer-1-image-2-box"]
    assert seen.in_view("answer-1-image-2-box")


def test_a_box_leads_back_to_its_citation(visit: Opener) -> None:
    seen = visit(tidal_view(), size=NARROW)
    seen.page.locator("#answer-1-text-5-box .tag").click()
    focused = seen.page.locator(".chip:focus")
    assert focused.get_attribute("href") == "#answer-1-text-5-box"
    assert focused.evaluate(IN_VIEW)


def test_keys_step_through_the_citations_and_enter_moves(visit: Opener) -> None:
    seen = visit(tidal_view())
    keys = seen.page.keyboard
    keys.press("n")
    assert seen.active() == ["answer-1-text-1-box"]
    keys.press("ArrowRight")
    assert seen.active() == ["answer-1-text-2-box"]
    keys.press("p")
    keys.press("ArrowLeft")
    assert seen.page.locator("#count").text_content() == "10 of 10"
    assert seen.active() == ["answer-1-text-4-box"]
    keys.press("Escape")
    assert seen.active() == []
    seen.page.locator(".chip").nth(4).focus()
    keys.press("Enter")
    assert seen.active() == ["answer-1-text-5-box"]
    assert seen.in_view("answer-1-text-5-box")


def test_steps_go_on_from_one_answer_to_the_next(visit: Opener) -> None:
    seen = visit(moorings_view(), tidal_view())
    for _ in range(3):
        seen.page.keyboard.press("n")
    assert seen.active() == ["answer-2-text-1-box"]
    assert seen.in_view("answer-2-text-1-box")


def test_a_card_tells_document_page_and_words_on_hover_and_on_focus(visit: Opener) -> None:
    seen = visit(tidal_view())
    card = seen.page.locator("#card")
    chip = seen.page.locator(".chip").first
    chip.hover()
    assert card.is_visible()
    told = card.inner_text()
    assert "reports/harbour-tidal-pilot-2023.pdf" in told
    assert "page iv" in told
    assert "two floating turbines" in told
    assert chip.get_attribute("aria-describedby") == "card"
    seen.page.keyboard.press("Escape")
    assert card.is_hidden()
    seen.page.keyboard.press("Tab")
    assert card.is_visible()


def test_a_card_tells_the_verdicts_on_its_own_citation_alone(visit: Opener) -> None:
    seen = visit(checked_view())
    card = seen.page.locator("#card")
    for place, told in [
        (0, ["By rule: supported", "By the checker: supported"]),
        (1, ["By rule: not supported. 1.32 GWh does not occur in what it cites.", "By the checker: not supported"]),
        (3, ["By rule: supported", "By the checker: not supported"]),
    ]:
        seen.page.locator(".chip").nth(place).hover()
        assert [" ".join(one.split()) for one in card.locator(".finding").all_inner_texts()] == told


def test_verdicts_are_told_apart_by_colour_and_by_sign(visit: Opener) -> None:
    seen = visit(checked_view())
    chips = seen.page.locator(".prose .chip")
    grounds = [chip.evaluate("element => getComputedStyle(element).backgroundColor") for chip in chips.all()]
    signs = [chip.locator(".verdict use").get_attribute("href") for chip in chips.all()]
    assert (grounds[0] == grounds[2], grounds[0] == grounds[1], grounds[1] == grounds[3]) == (True, False, True)
    assert signs[:3] == ["#icon-supported", "#icon-unsupported", "#icon-unchecked"]
    sizes = [chip.locator(".verdict").bounding_box() for chip in chips.all()]
    assert all(size is not None and size["width"] > 6 for size in sizes)


def test_a_citation_whose_page_is_not_shown_opens_its_source(visit: Opener) -> None:
    view = tidal_view()
    seen = visit(view.model_copy(update={"pages": view.pages[:1]}))
    seen.page.locator(".prose .chip[href='#answer-1-text-5']").click()
    assert seen.active() == ["answer-1-text-5"]
    assert seen.in_view("answer-1-text-5")


@pytest.mark.parametrize("view", [tidal_view, checked_view, hostile_view, abstained_view])
@pytest.mark.parametrize("size", [NARROW, (1000, 700), WIDE])
def test_nothing_is_wider_than_the_window(visit: Opener, view: Callable[[], AnswerView], size: tuple[int, int]) -> None:
    seen = visit(view(), size=size)
    seen.page.locator("summary").click()
    for place in ("html", ".answer"):
        assert seen.page.locator(place).evaluate("element => element.scrollWidth - element.clientWidth") <= 0


def test_hostile_text_runs_nothing_and_is_read_as_it_stands(visit: Opener) -> None:
    seen = visit(hostile_view())
    for chip in seen.page.locator(".prose .chip").all():
        chip.hover()
        chip.click()
    assert seen.page.evaluate("typeof window.canary") == "undefined"
    assert HOSTILE in str(seen.page.locator("h1").text_content())
    assert seen.complaints == []


def test_the_policy_stops_what_the_file_did_not_bring(visit: Opener) -> None:
    seen = visit(tidal_view())
    seen.page.evaluate(
        """() => {
          const script = document.createElement("script");
          try { script.textContent = "window.canary = 1"; document.body.append(script); } catch {}
          const image = new Image();
          image.src = "http://127.0.0.1:9/x.png";
          document.body.append(image);
        }"""
    )
    assert seen.page.evaluate("typeof window.canary") == "undefined"
    assert any("Content Security Policy" in complaint for complaint in seen.complaints)


@pytest.mark.parametrize("dark", [False, True])
def test_words_stand_out_from_what_is_behind_them(visit: Opener, dark: bool) -> None:
    seen = visit(checked_view(), tidal_view(), moorings_view(), abstained_view(), dark=dark)
    seen.page.locator("summary").first.click()
    for place in (0, 1):
        seen.page.locator(".chip").nth(place).click()
        contrasts = seen.page.locator(WORDS).evaluate_all(CONTRASTS)
        assert len(contrasts) > 50
        assert [text for contrast, text in contrasts if not contrast >= 4.5] == []


def test_the_printed_page_holds_answer_sources_and_pages(visit: Opener) -> None:
    seen = visit(tidal_view())
    document = PdfDocument(seen.page.pdf(format="A4"))
    sides = [document[place].get_textpage().get_text_bounded() for place in range(len(document))]
    assert "How did the tidal pilot perform" in sides[0]
    assert any("Inspection divers visited" in side for side in sides)
    assert ["page iv" in sides[-3], "page 9" in sides[-2], "Site visit" in sides[-1]] == [True, True, True]


def test_without_script_the_marks_are_plain_links(visit: Opener) -> None:
    seen = visit(tidal_view(), script=False)
    seen.page.locator(".prose .chip[href='#answer-1-text-4-box']").first.click()
    assert seen.page.locator(".box:target").get_attribute("id") == "answer-1-text-4-box"
    assert seen.in_view("answer-1-text-4-box")
    assert not seen.page.locator("#stepper").is_visible()
