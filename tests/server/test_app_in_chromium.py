"""The examples of docs/serving.md for an app of one's own: a page of another origin that asks, and one that embeds."""

import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from live_server import Serve
from page_visits import Visit

GUIDE = (Path(__file__).parents[2] / "docs" / "serving.md").read_text("utf-8")
QUESTION = "How many vessel calls did the port receive?"


class App:
    """An app on a port of its own, whose files are these texts."""

    def __init__(self) -> None:
        self.files: dict[str, tuple[str, str]] = {}
        files = self.files

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                media, text = files.get(self.path, ("text/plain", ""))
                self.send_response(200)
                self.send_header("Content-Type", media)
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.origin = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def app() -> Iterator[App]:
    made = App()
    threading.Thread(target=made.server.serve_forever, daemon=True).start()
    yield made
    made.server.shutdown()
    made.server.server_close()


def example(language: str) -> str:
    (found,) = re.findall(rf"^```{language}\n(.*?)^```", GUIDE, re.DOTALL | re.MULTILINE)
    return str(found)


def test_the_example_asks_from_another_origin_and_marks_the_words(serve: Serve, visit: Visit, app: App) -> None:
    code = example("js")
    assert len(code.splitlines()) <= 30
    server = serve(cors_origins=[app.origin])
    app.files["/ask.js"] = ("text/javascript", code.replace("http://127.0.0.1:8321", server.url))
    script = f"import {{ ask }} from '/ask.js'; await ask({QUESTION!r}, document.querySelector('main'));"
    app.files["/"] = (
        "text/html",
        f"<!doctype html><main style='width: 600px'></main><script type=module>{script}</script>",
    )
    page = visit(app.origin).page
    page.goto(app.origin)
    mark = page.locator("mark").first
    mark.wait_for()
    picture = page.locator("img").first
    picture.evaluate("picture => picture.decode()")
    (citation,) = server.client.post("/v1/collections/port/answers", json={"question": QUESTION}).json()["answer"][
        "citations"
    ]
    left, top, right, bottom = citation["regions"][0]["words_fraction"][0]
    shown, drawn = picture.bounding_box(), mark.bounding_box()
    assert shown is not None
    assert drawn is not None
    assert shown["width"] == 600
    placed = (drawn["x"] - shown["x"], drawn["y"] - shown["y"], drawn["width"], drawn["height"])
    wide, high = shown["width"], shown["height"]
    assert placed == pytest.approx((left * wide, top * high, (right - left) * wide, (bottom - top) * high), abs=1)


def test_the_page_stands_in_a_frame_of_the_origin_that_may_embed_it(serve: Serve, visit: Visit, app: App) -> None:
    server = serve(frame_ancestors=[app.origin])
    app.files["/"] = ("text/html", example("html").replace("https://docs.example.org", server.url))
    page = visit(app.origin).page
    page.goto(app.origin)
    framed = page.frame_locator("iframe")
    framed.locator("#question").fill(QUESTION)
    framed.locator("#question").press("Enter")
    framed.locator(".turn .chip").first.click()
    framed.locator(".region").first.wait_for()
