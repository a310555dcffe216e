"""The page in Chromium where something is unusual: errors, keys, uploads, history, foreign text, themes, assistance."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import pytest
from live_server import LiveServer, Serve
from made_collections import make_collection
from page_visits import PHONE, TABLET, WIDE, Visit, sent_json

from quoteweave.collection.collection import Collection
from quoteweave.documents.ingest import AddOptions, add
from quoteweave.server.access.keys import KeyRequest, KeyStore
from quoteweave.server.settings import ServerSettings

if TYPE_CHECKING:
    from playwright.sync_api import Route

pytestmark = pytest.mark.browser

QUESTION = "How many vessel calls did the port receive?"
ATTACK = "<img src=x onerror=alert(1)>"
NOTES = f"""# Notes {ATTACK}

The crane lifted 412 containers in June 🏗 for the yard. {ATTACK}

| berth | depth in metres |
|-------|-----------------|
| Ossel | 7.5             |
| Skarn | 11.2            |

# ملاحظات

وصلت السفينة إلى الميناء في شهر مايو.
"""


def problem(status: int, kind: str, title: str, detail: str) -> dict[str, Any]:
    body = {"type": f"urn:quoteweave:problem:{kind}", "title": title, "status": status, "detail": detail}
    body |= {"fallback": "extractive"} if kind == "model-unavailable" else {}
    return {"status": status, "content_type": "application/problem+json", "body": json.dumps(body)}


def events(*named: tuple[str, Any]) -> dict[str, Any]:
    body = "".join(f"event: {name}\r\ndata: {json.dumps(data)}\r\n\r\n" for name, data in named)
    return {"status": 200, "content_type": "text/event-stream", "body": body}


@pytest.fixture(scope="module")
def foreign(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    """A document without pages, with markup in its name, its text and what is said of it."""
    base = tmp_path_factory.mktemp("page-foreign")
    (base / "files").mkdir()
    (base / "files" / f"{ATTACK.replace('/', '')}.md").write_text(NOTES, "utf-8")
    with Collection.create(base / "notes") as made:
        assert add(made, [base / "files"], AddOptions(metadata={"title": ATTACK})).failed == ()
    with LiveServer(ServerSettings(collections={"notes": base / "notes"}, state=base / "state")) as server:
        yield server


def test_a_document_without_pages_is_shown_as_text_with_the_words_marked_and_nothing_of_it_runs(
    foreign: LiveServer, visit: Visit
) -> None:
    seen = visit(foreign.url).open()
    seen.page.locator(".volume .kind").first.wait_for()
    assert [url for url in seen.requests if "/image" in url] == seen.complaints == []  # there is no picture
    turn = seen.ask("How many containers did the crane lift in June?")
    turn.locator(".prose .chip").first.hover()
    assert ATTACK in seen.page.locator("#card").inner_text()
    turn.locator(".prose .chip").first.click()
    cited = seen.page.locator(".written .cited-quote")
    cited.wait_for()
    assert "412 containers in June 🏗" in cited.locator("mark").first.inner_text()
    assert seen.page.locator(".written > *").count() > 1
    assert seen.page.locator(".pager").is_hidden()
    turn.locator(".sources summary").click()
    assert ATTACK in turn.locator(".source .document").first.inner_text()
    assert ATTACK in seen.page.locator(".volume label").first.inner_text()
    assert seen.page.locator("img[src='x'], img[onerror]").count() == 0
    assert [text for text in seen.complaints if "Failed to load" not in text] == []  # a cover that there is not


def test_a_table_of_a_document_without_pages_is_cited_by_its_words_and_no_picture_of_it_is_asked_for(
    foreign: LiveServer, visit: Visit
) -> None:
    seen = visit(foreign.url).open()
    turn = seen.ask("What is the depth at Ossel?")
    chip = turn.locator(".prose .chip")
    chip.hover()
    assert "Ossel | 7.5" in seen.page.locator("#card").inner_text()
    chip.click()
    rows = seen.page.locator(".written .cited-quote tr")
    rows.first.wait_for()
    cells = [rows.nth(at).locator("td").all_inner_texts() for at in range(rows.count())]
    assert cells == [["berth", "depth in metres"], ["Ossel", "7.5"], ["Skarn", "11.2"]]
    assert "7.5" in seen.page.locator(".written mark").all_inner_texts()
    turn.locator(".sources summary").click()
    turn.locator(".source").first.wait_for()
    assert [url for url in seen.requests if "/image" in url] == seen.complaints == []


def test_the_stop_behind_a_mark_stands_on_its_line(live: LiveServer, visit: Visit) -> None:
    seen = visit(live.url).open()
    seen.ask(QUESTION)
    apart = """width => { document.querySelector(".prose").style.width = `${width}px`;
        return [...document.querySelectorAll(".prose .unbroken")].filter(each => {
            const stop = document.createRange(); stop.selectNodeContents(each.lastChild);
            const chip = each.querySelector(".chip").getBoundingClientRect();
            return stop.getBoundingClientRect().left < chip.right - 4; }).length }"""
    assert seen.page.locator(".prose .unbroken").first.inner_text().endswith(".")
    assert sum(seen.page.evaluate(apart, width) for width in range(180, 420, 4)) == 0


def test_text_from_right_to_left_is_set_so(foreign: LiveServer, visit: Visit) -> None:
    seen = visit(foreign.url).open()
    turn = seen.ask("وصلت السفينة إلى الميناء")
    direction = "element => getComputedStyle(element).direction"
    assert turn.locator(".question").evaluate(direction) == "rtl"
    assert seen.page.locator("html").evaluate(direction) == "ltr"


def test_a_server_that_is_gone_is_told_and_asked_again(live: LiveServer, visit: Visit) -> None:
    seen = visit(live.url).open()
    seen.page.route("**/answers", lambda route: route.abort())
    turn = seen.ask(QUESTION)
    assert "cannot be reached" in turn.get_by_role("alert").inner_text()
    seen.page.unroute("**/answers")
    turn.get_by_role("button", name="Ask again").click()
    seen.page.locator(".turn").nth(1).locator(".after").wait_for()


def test_a_problem_is_told_with_what_can_be_done(live: LiveServer, visit: Visit) -> None:
    seen = visit(live.url).open()
    problems = [
        (413, "question-too-long", "Shorten the question"),
        (503, "model-unavailable", "can still be asked without the model"),
        (503, "busy", "Wait a moment"),
        (409, "index-missing", "Choose another one"),
        (429, "too-many", "Wait a moment"),
        (403, "missing-scope", "does not allow this"),
    ]
    waiting = [problem(status, kind, "What it is", "What happened") for status, kind, _ in problems]
    seen.page.route("**/answers", lambda route: route.fulfill(**waiting.pop(0)))
    for _, kind, advice in problems:
        alert = seen.ask(QUESTION).get_by_role("alert")
        told = alert.inner_text()
        assert [words for words in ("What it is", "What happened", advice) if words not in told] == []
        assert alert.get_by_role("button", name="own sentences").count() == (kind == "model-unavailable")


def test_a_stream_that_ends_without_an_answer_is_no_answer(live: LiveServer, visit: Visit) -> None:
    seen = visit(live.url).open()
    begun = events(("text", {"type": "text", "text": "The port received"}))
    seen.page.route("**/answers", lambda route: route.fulfill(**begun))
    turn = seen.ask(QUESTION)
    assert turn.locator(".prose").inner_text() == "The port received"
    assert "not complete" in turn.get_by_role("alert").inner_text()


def test_an_abstention_and_places_to_look_at_are_explained(live: LiveServer, visit: Visit) -> None:
    seen = visit(live.url).open()
    turn = seen.ask("Which zebra plays the xylophone?")
    assert turn.locator(".status").inner_text() == "Not answered"
    assert "No answer was found in these documents" in turn.inner_text()
    located = seen.ask("Show the chart of vessel calls by quarter.")
    assert located.locator(".status").inner_text() == "Places to look at"
    assert "not an answer" in located.inner_text()
    assert located.locator("li figure .chip").count() >= 1  # below what is said of it, not below the list
    seen.cite(seen.ask("How is timber stored at the port?").locator(".prose .chip").first)
    note = seen.page.locator(".evidence .note").inner_text()
    assert "marked" in note
    assert "claim" not in note


def test_a_follow_up_is_shown_as_it_was_understood_at_once_and_when_it_is_opened_again(
    live: LiveServer, visit: Visit
) -> None:
    seen = visit(live.url).open()
    first = seen.ask("How many vessel calls did the port receive in 2022?")
    assert not first.locator(".understood").is_visible()
    understood = "Understood as: How many vessel calls did the port receive in 2023?"
    assert seen.ask("And in 2023?").locator(".understood").inner_text() == understood
    seen.page.get_by_role("button", name="New conversation").click()
    seen.page.get_by_role("button", name="Earlier conversations").click()
    seen.page.get_by_role("dialog").get_by_text("How many vessel calls", exact=False).first.click()
    seen.page.locator(".turn .understood", has_text=understood).wait_for()


HELD_OPEN = """
const send = window.fetch;
window.fetch = async (...asked) => {
  const response = await send(...asked);
  if (!String(asked[0]).endsWith("/answers")) return response;
  const { readable, writable } = new TransformStream();
  response.body.pipeTo(writable, { preventClose: true });
  return new Response(readable, response);
};
"""
"""Keeps the connection of an answer open after its last event, as a slow proxy may."""


def test_a_question_asked_at_once_after_an_answer_belongs_to_its_conversation(live: LiveServer, visit: Visit) -> None:
    seen = visit(live.url)
    seen.page.add_init_script(HELD_OPEN)
    seen.open()
    first = seen.ask("How many vessel calls did the port receive in 2022?")
    seen.ask("And in 2023?")
    assert [first.get_by_text("You stopped").count(), seen.page.locator(".turn").count()] == [0, 2]
    conversation = parse_qs(urlsplit(seen.page.url).query)["conversation"]
    kept = live.client.get(f"/v1/conversations/{conversation[0]}").json()["turns"]
    assert [turn["question"] for turn in kept] == [
        "How many vessel calls did the port receive in 2022?",
        "And in 2023?",
    ]


def test_what_a_search_could_not_do_is_noted_on_its_answer(live: LiveServer, visit: Visit) -> None:
    seen = visit(live.url).open()

    def with_note(route: "Route") -> None:
        response = route.fetch()
        route.fulfill(response=response, body=response.text().replace('"notes":[]', '"notes":["The index is behind."]'))

    seen.page.route("**/answers", with_note)
    assert "The index is behind." in seen.ask(QUESTION).get_by_role("note").inner_text()


def test_whoever_has_no_key_is_asked_for_one(serve: Serve, visit: Visit, tmp_path: Path) -> None:
    keys = KeyStore(tmp_path / "state")
    key, secret = keys.add(KeyRequest(name="Ada", scopes=("read",)))
    server = serve()
    seen = visit(server.url)
    seen.page.goto(server.url)
    dialog = seen.page.get_by_role("dialog", name="Sign in")
    dialog.get_by_label("Key").fill("qw_1_wrong")
    dialog.get_by_role("button", name="Sign in").click()
    dialog.get_by_text("does not know this key").wait_for()
    assert [text for text in seen.complaints if "[DOM]" in text] == []  # of what the browser misses in the form
    dialog.get_by_label("Key").fill(secret)
    dialog.get_by_role("button", name="Sign in").click()
    seen.page.locator(".volume").first.wait_for()
    assert seen.page.locator(".drop").is_hidden()  # the key may only read
    seen.ask(QUESTION)
    assert not any(secret in url for url in seen.requests)
    assert secret not in json.dumps(seen.page.evaluate("[document.cookie, {...localStorage}]"))
    keys.revoke(key.name)
    seen.page.fill("#question", QUESTION)
    seen.page.press("#question", "Enter")
    dialog.wait_for()  # in the middle of a conversation too


def test_files_are_added_and_watched_page_by_page(live: LiveServer, visit: Visit, tmp_path: Path) -> None:
    seen = visit(live.url).open()
    for name in ("slow.pdf", "new.pdf", "broken.pdf"):
        (tmp_path / name).write_bytes(b"%PDF")
    progress = {"document": "slow.pdf", "page": 3, "pages": 8, "files_done": 0, "files_total": 1}
    report = {"added": ["new.pdf"], "failed": [{"name": "broken.pdf", "reason": "It is damaged."}], "unchanged": []}
    jobs = ["j1", "j2"]
    sent: list[bytes] = []

    def documents(route: "Route") -> None:
        if route.request.method != "POST":
            return route.continue_()
        sent.append(route.request.post_data_buffer or b"")
        return route.fulfill(status=202, json={"job": {"id": jobs.pop(0)}, "unchanged": []})

    seen.page.route("**/collections/port/documents", documents)
    seen.page.route("**/v1/jobs/j1/events", lambda route: route.fulfill(**events(("progress", progress))))
    seen.page.route("**/v1/jobs/j1", lambda _: None)  # never answers: the job goes on
    ended: dict[str, Any] = {"status": "done", "report": report, "notes": [], "error": None}
    seen.page.route("**/v1/jobs/j2/events", lambda route: route.fulfill(**events(("job", ended))))
    files, rows = seen.page.locator("input[type=file]"), seen.page.locator(".reading li")
    files.set_input_files([tmp_path / "slow.pdf"])
    rows.filter(has_text="page 3 of 8").wait_for()
    assert seen.page.get_by_role("progressbar", name="Reading slow.pdf").get_attribute("value") == "3"
    files.set_input_files([tmp_path / "new.pdf", tmp_path / "broken.pdf"])
    rows.filter(has_text="1 file is ready to be asked").wait_for()
    assert "It is damaged." in rows.filter(has_text="broken.pdf").inner_text()
    assert b'name="files"; filename="new.pdf"' in sent[1]


def test_a_file_that_is_dropped_in_can_be_asked_and_removed(serve: Serve, visit: Visit, tmp_path: Path) -> None:
    make_collection(tmp_path, {"port.md": ["The harbour shipped 4,210 tonnes of grain in May."]}).close()
    server = serve(collections={"own": tmp_path / "collection"})
    (tmp_path / "pilots.md").write_text("# Pilots\n\nNine pilots carried out 1,312 acts of pilotage.\n", "utf-8")
    seen = visit(server.url).open()
    seen.page.set_input_files("input[type=file]", [tmp_path / "pilots.md"])
    seen.page.get_by_role("button", name="Read pilots.md").wait_for()
    turn = seen.ask("How many acts of pilotage were there?")
    assert "1,312" in turn.locator(".prose").inner_text()
    seen.page.get_by_role("button", name="Remove pilots.md").click()
    seen.page.get_by_role("button", name="Remove", exact=True).click()
    seen.page.get_by_role("button", name="Read pilots.md").wait_for(state="detached")
    names = [each["name"] for each in server.client.get("/v1/collections/own/documents").json()["documents"]]
    assert names == ["port.md"]
    turn.locator(".prose .chip").first.click()
    assert "1,312" in seen.page.locator(".kept mark").first.inner_text(), "as it was cited, and that it is gone"


def test_each_file_that_is_refused_is_told_once(serve: Serve, visit: Visit, tmp_path: Path) -> None:
    make_collection(tmp_path, {"port.md": ["The harbour shipped 4,210 tonnes of grain in May."]}).close()
    (tmp_path / "letter.docx").write_bytes(b"PK\x03\x04")
    seen = visit(serve(collections={"own": tmp_path / "collection"}).url).open()
    seen.page.set_input_files("input[type=file]", [tmp_path / "letter.docx"])
    seen.page.locator(".reading li.failed").wait_for()
    (told,) = seen.page.locator(".reading li").all_inner_texts()
    assert told.startswith("letter.docx")
    assert "save it as PDF" in told
    seen.open()
    seen.page.get_by_text("1 file could not be read").click()
    assert "save it as PDF" in seen.page.locator(".doubts li", has_text="letter.docx").inner_text()
    seen.page.get_by_role("button", name="Remove letter.docx").click()
    seen.page.get_by_role("dialog", name="Forget this file?").get_by_role("button", name="Forget").click()
    seen.page.locator(".doubts").wait_for(state="hidden")


def test_no_document_is_removed_without_a_question(live: LiveServer, visit: Visit) -> None:
    seen = visit(live.url).open()
    seen.page.get_by_role("button", name="Remove visitor-guide.pdf").click()
    dialog = seen.page.get_by_role("dialog", name="Remove this document?")
    assert seen.page.evaluate("document.activeElement.textContent") == "Cancel"
    seen.page.keyboard.press("Enter")
    assert dialog.count() == 0
    assert not any(url.endswith("/documents/visitor-guide.pdf") for url in seen.requests)


def test_an_earlier_conversation_is_opened_with_its_boxes_found_renamed_and_deleted(serve: Serve, visit: Visit) -> None:
    server = serve()
    first = visit(server.url).open()
    first.ask(QUESTION)
    first.page.get_by_role("button", name="Copy link").click()
    first.page.locator(".toast").wait_for()
    link = first.page.evaluate("navigator.clipboard.readText()")
    seen = visit(server.url).open(link.removeprefix(server.url))
    turn = seen.page.locator(".turn")
    turn.locator(".after").wait_for()
    assert turn.locator(".question").inner_text() == QUESTION
    seen.cite(turn.locator(".prose .chip").first)
    seen.page.locator(".word").first.wait_for(state="attached")
    seen.page.get_by_role("button", name="Earlier conversations").click()
    assert "1 question" in seen.page.get_by_role("button", name=QUESTION).inner_text()
    field = seen.page.get_by_role("searchbox", name="Find conversations")
    field.fill("vessel zeppelin")
    seen.page.get_by_text("No conversation has these words.").wait_for()
    field.fill("VESSEL")
    seen.page.get_by_text("1 conversation with these words.").wait_for()
    seen.page.get_by_role("button", name="Rename").click()
    seen.page.keyboard.press("Escape")
    seen.page.get_by_role("button", name=QUESTION).wait_for()
    seen.page.get_by_role("button", name="Rename").click()
    seen.page.get_by_role("textbox", name="Title of the conversation").fill("Ships of the year")
    seen.page.keyboard.press("Enter")
    seen.page.get_by_role("button", name="Ships of the year").wait_for()
    assert [one["title"] for one in server.client.get("/v1/conversations").json()["conversations"]] == [
        "Ships of the year"
    ]
    with seen.page.expect_download() as saved:
        seen.page.get_by_role("link", name="Save").click()
    assert saved.value.suggested_filename.endswith(".docx")
    seen.page.get_by_role("button", name="Delete", exact=True).click()
    seen.page.get_by_role("dialog", name="Delete this conversation?").get_by_role("button", name="Delete").click()
    seen.page.locator(".welcome").wait_for(state="attached")
    assert server.client.get("/v1/conversations").json()["conversations"] == []
    assert "conversation" not in seen.page.url


def test_what_was_cited_of_a_document_that_changed_is_shown_without_a_box(serve: Serve, visit: Visit) -> None:
    server = serve()
    first = visit(server.url).open()
    first.ask(QUESTION)
    seen = visit(server.url)
    gone = problem(404, "no-such-quote", "There is no such quote", "Its document may have been changed.")
    seen.page.route("**/collections/port/quotes/*", lambda route: route.fulfill(**gone))
    seen.open(first.page.url.removeprefix(server.url))
    seen.page.locator(".turn .prose .chip").first.click()
    kept = seen.page.locator(".kept")
    kept.wait_for()
    assert "1,058" in kept.locator("mark").first.inner_text()
    assert seen.page.locator(".region").count() == 0


def test_a_server_without_a_collection_says_how_to_make_one(serve: Serve, visit: Visit, tmp_path: Path) -> None:
    server = serve(collections={}, collections_folder=tmp_path / "none-yet")
    seen = visit(server.url)
    seen.page.goto(server.url)
    alert = seen.page.get_by_role("alert")
    alert.wait_for()
    assert "There is no collection yet" in alert.inner_text()
    assert "quoteweave add FILES -c FOLDER" in alert.inner_text()


def test_a_quote_that_is_gone_is_told(live: LiveServer, visit: Visit) -> None:
    seen = visit(live.url)
    seen.page.goto(f"{live.url}/c/port/q/ffff:0:0")
    seen.page.get_by_role("alert").wait_for()
    assert "no quote" in seen.page.get_by_role("alert").inner_text().lower()
    seen.page.locator(".library").wait_for()


def test_settings_are_kept_and_sent_and_none_where_nothing_is_chosen(live: LiveServer, visit: Visit) -> None:
    seen = visit(live.url).open()
    with seen.page.expect_request("**/answers") as sent:
        seen.ask(QUESTION)
    assert sent_json(sent.value)["settings"].keys() <= {"model"}
    seen.page.get_by_role("button", name="Settings").click()
    seen.page.get_by_text("Dark", exact=True).click()
    seen.page.get_by_text("20", exact=True).click()
    seen.page.get_by_text("Leave out", exact=True).click()
    seen.page.keyboard.press("Escape")
    seen.page.reload()
    seen.page.locator(".volume").first.wait_for()
    seen.page.locator(".turn .after").wait_for()
    assert seen.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(26, 29, 33)"
    with seen.page.expect_request("**/answers") as sent:
        seen.ask(QUESTION)
    settings = sent_json(sent.value)["settings"]
    assert (settings["size"], settings["gate"]) == (20, "drop")


@pytest.mark.parametrize(("size", "theme"), [(WIDE, "light"), (TABLET, "light"), (PHONE, "dark")])
def test_axe_finds_nothing(live: LiveServer, visit: Visit, size: tuple[int, int], theme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    seen = visit(live.url, size, theme=theme).open()

    def check(where: str) -> None:
        found = axe.run(seen.page, options={"resultTypes": ["violations"]}).response["violations"]
        assert found == [], f"{where}: {json.dumps(found)[:2000]}"

    check("empty")
    turn = seen.ask(QUESTION)
    turn.locator(".sources summary").click()
    check("answered")
    seen.cite(turn.locator(".prose .chip").first)
    check("citation")
    if size != WIDE:
        seen.page.get_by_role("button", name="Close", exact=True).click()
    seen.page.get_by_role("button", name="Settings").click()
    check("settings")
    seen.page.keyboard.press("Escape")
    seen.ask("Which zebra plays the xylophone?")
    check("abstained")
