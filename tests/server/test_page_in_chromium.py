"""The page in Chromium: a question is asked, its answer watched, and its citations opened."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from live_server import LiveServer
from made_collections import make_collection
from page_visits import PHONE, PageVisit, Visit, sent_json
from pypdfium2 import PdfDocument

from quoteweave.core.records import place_of
from quoteweave.pipeline.settings import AnswerSettings
from quoteweave.testing.model_server import ModelServer, Reply

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page, Route

pytestmark = pytest.mark.browser

QUESTION = "How many vessel calls did the port receive?"
BEGUN = "## Vessel calls\n\nThe port received **1,058** vessel calls [1].\n\n"
REST = (
    "- It had 17 sheds [1, 2].\n- A second item.\n\n| Year | Calls |\n|---|---:|\n| 2023 | 1,058 |\n\n"
    "![The calls by quarter](image1)\n\nThe harbour master resigned [2], and so did [97]."
)
HOSTILE = (
    "<script>alert('script')</script> <img src=x onerror=alert('image')> [words](javascript:alert('link')) "
    "<style>body { display: none }</style> **<b onclick=alert(1)>bold</b>** [1].\n\n"
    "| <svg onload=alert('cell')> |\n|---|\n| <iframe src=https://example.com></iframe> |\n\n"
    "![<img src=x onerror=alert('summary')>](image1)"
)
HOUR = 3600.0


def reply(request: Any) -> Reply:
    """What the model says, by the last question."""
    asked = json.dumps(request["messages"][-1])
    if "hostile" in asked:
        return Reply(text=HOSTILE)
    if "stall" in asked:  # after what it has begun with, for longer than any test
        sizes = (len(BEGUN), 8)
        return Reply(text=BEGUN + REST, reasoning="Reading the quotes.", sizes=sizes, delays_s=(0, 0, 0, 0, HOUR))
    if "breaks" in asked:
        return Reply(text=BEGUN + REST, sizes=(len(BEGUN), 8), cut_after=4)
    return Reply(text=BEGUN + REST)


@pytest.fixture(scope="module")
def written(live: LiveServer) -> Iterator[LiveServer]:
    """The samples, served with a model that writes the answers above."""
    with ExitStack() as stack:
        model = stack.enter_context(ModelServer(reply))
        answers = AnswerSettings(model="writer", base_url=model.base_url, api_key="k", retries=0, check_topic=False)
        settings = live.app.state.served.settings.model_copy(update={"answers": answers})
        yield stack.enter_context(LiveServer(settings))


def chip(turn: "Locator", place: int) -> "Locator":
    return turn.locator(f'.prose .chip[data-citation="{place}"]')


def test_an_answer_is_written_with_marks_tables_and_images_in_place(written: LiveServer, visit: Visit) -> None:
    seen = visit(written.url).open()
    turn = seen.ask(QUESTION)
    prose = turn.locator(".prose")
    assert prose.locator("h3").inner_text() == "Vessel calls"
    assert prose.locator("strong").inner_text() == "1,058"
    assert prose.locator("li").count() == 2
    assert prose.locator("td").all_inner_texts() == ["2023", "1,058"]
    assert prose.locator("figure img").evaluate("image => image.decode().then(() => image.naturalWidth > 0)")
    assert prose.locator("figcaption").inner_text().endswith("The calls by quarter")
    assert [each.get_attribute("data-citation") for each in prose.locator(".chip").all()] == list("01234")
    assert "[1]" not in prose.inner_text()
    assert seen.complaints == []


@pytest.mark.parametrize("label", ["3", "iv", "21", "?"])
def test_the_page_calls_a_page_as_the_other_answers_do(written: LiveServer, visit: Visit, label: str) -> None:
    quote = {"page": 2, "page_label": label, "has_pages": True}
    said = (
        visit(written.url)
        .open()
        .page.evaluate("async (quote) => (await import('/page/js/records.js')).placeOf(quote)", quote)
    )
    assert said == place_of(label, 2, None, has_pages=True)


def test_what_the_gate_did_not_confirm_is_told_with_its_reason(written: LiveServer, visit: Visit) -> None:
    seen = visit(written.url).open()
    turn = seen.ask(QUESTION)
    assert "supported" in str(chip(turn, 0).get_attribute("class"))
    assert "unsupported" in str(chip(turn, 1).get_attribute("class"))
    assert "Not confirmed" in str(chip(turn, 1).get_attribute("aria-label"))
    doubts = turn.get_by_role("note").filter(has_text="could not be confirmed")
    assert "17" in doubts.inner_text()
    assert "[97]" in doubts.inner_text()
    chip(turn, 1).hover()
    assert "Not confirmed" in seen.page.locator("#card").inner_text()


def test_what_the_checker_refuses_is_not_confirmed_whatever_the_gate_says(written: LiveServer, visit: Visit) -> None:
    page = visit(written.url).open().page
    script = "async (found) => { const { verdictOf, reasonOf } = await import('/page/js/marks.js'); "
    script += "return found.map((citation) => [verdictOf(citation), reasonOf(citation)]); }"
    given = [
        ("supported", None, False),
        ("unchecked", "No word.", True),
        ("unsupported", "No 17.", True),
        ("unchecked", "No word.", None),
        (None, None, None),
    ]
    names = ("verdict", "reason", "checker_verdict")
    assert page.evaluate(script, [dict(zip(names, values, strict=True)) for values in given]) == [
        ["unsupported", "The checker does not find it supported by what it cites."],
        ["supported", "The checker finds it supported by what it cites."],
        ["unsupported", "No 17."],
        ["unchecked", "No word."],
        [None, None],
    ]


def test_the_answer_is_watched_while_it_is_written_and_can_be_stopped(written: LiveServer, visit: Visit) -> None:
    seen = visit(written.url).open()
    seen.page.fill("#question", "stall, please")
    seen.page.press("#question", "Enter")
    turn = seen.page.locator(".turn")
    begun = turn.locator(".prose .chip")
    begun.wait_for()
    assert turn.get_attribute("aria-busy") == "true"
    assert "1,058" in turn.locator(".prose").inner_text()
    assert turn.locator(".thoughts").is_visible()
    seen.cite(begun)  # a citation can be opened before the answer is whole
    seen.page.get_by_role("button", name="Stop").click()
    turn.get_by_text("You stopped this answer").wait_for()
    assert seen.page.locator("#send").get_attribute("aria-label") == "Ask"
    seen.page.reload()
    seen.page.wait_for_load_state("networkidle")
    assert question_of(seen) == "stall, please"


def test_an_answer_that_breaks_off_stays_and_says_so(written: LiveServer, visit: Visit) -> None:
    seen = visit(written.url).open()
    turn = seen.ask("It breaks off.")
    assert "1,058" in turn.locator(".prose").inner_text()
    assert turn.get_by_role("alert").is_visible()
    turn.get_by_role("button", name="Answer from the documents’ own sentences").click()
    again = seen.page.locator(".turn").nth(1)
    again.locator(".after").wait_for()
    assert "own sentences" in again.locator(".facts").inner_text()


def test_opening_a_citation_asks_for_nothing_that_is_shown_already(written: LiveServer, visit: Visit) -> None:
    seen = visit(written.url).open()
    turn = seen.ask(QUESTION)
    seen.cite(chip(turn, 0))
    seen.cite(chip(turn, 1))
    seen.page.wait_for_load_state("networkidle")
    before = list(seen.requests)
    figure = turn.locator("figure img").element_handle()
    seen.cite(chip(turn, 0))
    seen.cite(chip(turn, 1))
    seen.page.wait_for_load_state("networkidle")
    assert seen.requests == before
    assert figure.evaluate("image => image.isConnected")


def test_nothing_of_a_model_runs_and_nothing_leaves_the_server(written: LiveServer, visit: Visit) -> None:
    seen = visit(written.url).open()
    turn = seen.ask(f"{QUESTION} Be hostile.")
    prose = turn.locator(".prose")
    assert "<script>alert('script')</script>" in prose.inner_text()
    assert prose.locator("script, style, iframe, svg[onload], a, img:not(figure img)").count() == 0
    seen.cite(chip(turn, 0))
    seen.page.wait_for_load_state("networkidle")
    assert seen.complaints == []
    assert [url for url in seen.requests if not url.startswith((written.url, "blob:"))] == []


def test_a_follow_up_goes_with_what_came_before(written: LiveServer, visit: Visit) -> None:
    seen = visit(written.url).open()
    seen.ask(QUESTION)
    with seen.page.expect_request("**/answers") as sent:
        seen.ask("And the year before?")
    body = sent_json(sent.value)
    assert body["question"] == "And the year before?"
    assert body.get("conversation") or [each["role"] for each in body["history"]] == ["user", "assistant"]
    assert seen.page.locator(".turn").count() == 2


def test_only_ticked_documents_are_asked_with_the_chosen_retriever(live: LiveServer, visit: Visit) -> None:
    seen = visit(live.url).open()
    seen.page.get_by_label("Ask only visitor-guide.pdf").check()
    assert seen.page.locator("#scope-documents").inner_text() == "1 of 4 documents"
    seen.page.locator("#retriever").select_option("bm25")
    with seen.page.expect_request("**/answers") as sent:
        turn = seen.ask("How long does the ride take?")
    body = sent_json(sent.value)
    assert (body["filters"]["documents"], body["settings"]["retriever"]) == (["visitor-guide.pdf"], ["bm25"])
    turn.locator(".sources summary").click()
    assert set(turn.locator(".source .document").all_inner_texts()) == {"visitor-guide.pdf"}


@pytest.fixture
def two(written: LiveServer, tmp_path: Path) -> Iterator[LiveServer]:
    """A server of the collection `port` and of another, `notes`."""
    make_collection(tmp_path, {"notes.md": ["The lighthouse stands on a rock off the north quay."]}).close()
    before = written.app.state.served.settings
    both = {"collections": {**before.collections, "notes": tmp_path / "collection"}, "state": tmp_path / "state"}
    with LiveServer(before.model_copy(update=both)) as server:
        yield server


def test_another_collection_and_another_model_are_chosen(two: LiveServer, visit: Visit) -> None:
    seen = visit(two.url).open()
    seen.page.locator("#collection").select_option("notes")
    seen.page.get_by_role("button", name="Read notes.md").wait_for()
    assert seen.page.title() == "notes · quoteweave"
    seen.page.locator("#model").select_option("extractive")
    with seen.page.expect_request("**/answers") as sent:
        turn = seen.ask("Where does the lighthouse stand?")
    assert sent.value.url == f"{two.url}/v1/collections/notes/answers"
    assert sent_json(sent.value)["settings"]["model"] == "extractive"
    assert "on a rock off the north quay" in turn.locator(".prose").inner_text()


class Held:
    """Requests of a page that the server does not see until they are released, one by one."""

    def __init__(self, page: "Page") -> None:
        self._page = page
        self._routes: list[Route] = []

    def hold(self, pattern: str) -> None:
        """Hold what is asked for from now on."""
        self._page.route(pattern, lambda route: self._routes.append(route))  # noqa: PLW0108 - Playwright sets attributes

    def release(self) -> None:
        """Let the last one through; what the page asks for after it has answered has been seen."""
        route = self._routes.pop()
        with self._page.expect_event("requestfinished", lambda request: request == route.request):
            route.continue_()
        self._page.evaluate("fetch('/v1/session').then((response) => response.text())")


def test_what_comes_late_takes_nothing_back_that_was_done_meanwhile(two: LiveServer, visit: Visit) -> None:
    seen = visit(two.url).open()
    held, choose = Held(seen.page), seen.page.locator("#collection").select_option
    held.hold("**/collections/notes/documents")
    choose("notes")
    seen.page.locator("#model").select_option("extractive")
    turn = seen.ask("Where does the lighthouse stand?")
    assert seen.page.locator(".volume, .library .empty").count() == 0, "what is not known is not shown as empty"
    held.release()
    seen.page.get_by_role("button", name="Read notes.md").wait_for()
    assert "on a rock off the north quay" in turn.locator(".prose").inner_text()

    choose("port")
    seen.page.get_by_role("button", name="Read harbour-report.pdf").wait_for()
    choose("notes")
    choose("port")
    seen.page.get_by_role("button", name="Read harbour-report.pdf").wait_for()
    held.release()
    assert seen.page.get_by_role("button", name="Read notes.md").count() == 0

    held.hold("**/pages/harbour-report.pdf/0")
    with seen.page.expect_request("**/pages/harbour-report.pdf/0"):
        seen.page.get_by_role("button", name="Read harbour-report.pdf").click()
    seen.page.get_by_role("button", name="Read visitor-guide.pdf").click()
    seen.page.locator(".viewbar .name", has_text="visitor-guide.pdf").wait_for()
    held.release()
    assert seen.page.locator(".viewbar .name").inner_text() == "visitor-guide.pdf"


def test_what_is_asked_while_the_page_opens_is_kept(two: LiveServer, visit: Visit) -> None:
    seen = visit(two.url).open()
    held = Held(seen.page)
    seen.page.locator("#model").select_option("extractive")
    seen.ask("How many sheds are there?")
    held.hold("**/v1/conversations/*")
    with seen.page.expect_request("**/v1/conversations/*"):
        seen.page.reload()
    seen.ask("How many cranes are there?")
    held.release()
    assert seen.page.locator(".question").all_inner_texts() == ["How many cranes are there?"]

    held.hold("**/v1/collections")
    with seen.page.expect_request("**/v1/collections"):
        seen.page.goto(two.url)
    seen.page.fill("#question", "How many sheds are there?")
    seen.page.press("#question", "Enter")
    held.release()
    seen.page.locator(".turn .after, .turn .notice").first.wait_for()
    assert seen.page.locator(".question").all_inner_texts() == ["How many sheds are there?"]


def test_the_document_is_searched_and_paged_from_there(live: LiveServer, visit: Visit) -> None:
    seen = visit(live.url).open()
    seen.page.get_by_role("button", name="Read harbour-report.pdf").click()
    number = seen.page.get_by_label("Page", exact=True)
    seen.page.get_by_role("button", name="Next page").click()
    assert number.input_value() == "2"
    number.fill("99")
    number.press("Enter")
    assert number.input_value() == "5"
    seen.page.get_by_role("button", name="Search in this document").click()
    seen.page.keyboard.type("grain terminal")
    seen.page.keyboard.press("Enter")
    found = seen.page.locator(".find li button").first
    found.click()
    seen.page.locator(".region").wait_for()
    assert number.input_value() == found.locator(".page").inner_text().removeprefix("page ")


def test_all_can_be_done_with_the_keyboard(written: LiveServer, visit: Visit) -> None:
    seen = visit(written.url).open()
    keys = seen.page.keyboard
    seen.page.locator("#question:focus").wait_for()  # once the page knows the models too
    keys.type(QUESTION)
    keys.press("Enter")
    seen.page.locator(".after").wait_for()
    seen.page.locator("#turns").focus()
    keys.press("n")
    seen.page.locator(".region").first.wait_for()
    keys.press("n")
    assert seen.page.locator(".steps span").inner_text() == "2 of 5"
    seen.page.locator(".pages").focus()
    keys.press("ArrowRight")
    keys.press("Escape")
    assert seen.page.evaluate("document.activeElement.dataset.citation") == "1"
    keys.press("?")
    assert seen.page.get_by_role("dialog").get_by_text("Next, previous citation").is_visible()
    keys.press("Escape")
    keys.press("/")
    assert seen.page.evaluate("document.activeElement.id") == "question"
    keys.type("n?")
    assert seen.page.input_value("#question") == "n?"


def test_an_answer_is_copied_and_saved_with_its_sources(written: LiveServer, visit: Visit) -> None:
    seen = visit(written.url).open()
    turn = seen.ask(QUESTION)
    turn.get_by_role("button", name="Copy", exact=True).click()
    seen.page.locator(".toast").wait_for()
    copied = seen.page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith(f"# {QUESTION}\n\n## Vessel calls")
    assert f"<{written.url}/c/port/q/" in copied
    turn.get_by_role("button", name="Save").click()
    with seen.page.expect_download() as saved:
        turn.get_by_role("button", name="JSON").click()
    assert saved.value.suggested_filename == "How-many-vessel-calls-did-the-port-receive.json"
    assert json.loads(saved.value.path().read_text("utf-8"))["question"] == QUESTION
    printed = PdfDocument(seen.page.pdf())
    assert "harbour-report.pdf" in "".join(side.get_textpage().get_text_bounded() for side in printed)


def test_on_a_phone_the_pages_are_a_sheet_over_the_answer(written: LiveServer, visit: Visit) -> None:
    seen = visit(written.url, PHONE).open()
    turn = seen.ask(QUESTION)
    seen.cite(chip(turn, 0))
    assert seen.page.locator("#left").evaluate("element => element.inert")
    seen.page.get_by_role("button", name="Close", exact=True).click()
    assert seen.page.evaluate("document.activeElement.dataset.citation") == "0"
    assert seen.page.locator("#viewer").is_hidden()
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
    seen.page.keyboard.press("Escape")
    seen.page.get_by_role("button", name="Settings").click()
    lines = "labels => labels.map(label => label.clientHeight / parseFloat(getComputedStyle(label).lineHeight))"
    assert max(seen.page.locator(".parts label").evaluate_all(lines)) < 2  # no word is broken


def test_questions_to_begin_with_are_answered(live: LiveServer, visit: Visit) -> None:
    seen = visit(live.url).open()
    example = seen.page.locator(".examples button").first
    question = example.inner_text().strip()
    example.click()
    seen.page.locator(".turn .after").wait_for()
    assert seen.page.locator(".turn .question").inner_text() == question
    assert seen.page.locator(".turn .prose .chip").count()
    assert "No sentence was found" not in seen.page.locator(".turn").inner_text()


def question_of(seen: PageVisit) -> str:
    return seen.page.locator("#question").input_value()


def test_a_link_may_bring_a_question_that_is_not_asked_by_itself(live: LiveServer, visit: Visit) -> None:
    seen = visit(live.url).open("/?collection=port&q=How%20deep%20is%20it%3F")
    seen.page.wait_for_load_state("networkidle")
    assert question_of(seen) == "How deep is it?"
    assert seen.page.locator(".turn").count() == 0
