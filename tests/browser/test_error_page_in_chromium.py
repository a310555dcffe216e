"""The page on which people label errors, in a real browser: keys, undo, what it keeps and exports, hostile answers."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from page_visits import RecordedPage

from quoteweave.core.examples import Example, Prediction, Reference
from quoteweave.core.records import Query
from quoteweave.evaluation.judges.error_judge import ERROR_KINDS, read_error_labels
from quoteweave.evaluation.report.errors import write_error_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

HOSTILE = "</script><!--<script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">"
EXCESSIVE, INADEQUATE, *_ = (kind.name for kind in ERROR_KINDS)


PAIRS = [
    (
        Prediction(example=name, response=f"It rose [1]. {HOSTILE}"),
        Example(id=name, query=Query(text=f"How far, {name}? {HOSTILE}"), reference=Reference(answer=HOSTILE)),
    )
    for name in ("a", "b", "c")
]


@pytest.fixture
def page(tmp_path: Path) -> Path:
    file = tmp_path / "page.html"
    write_error_page(PAIRS, file, run=f"run {HOSTILE}")
    return file


def progress(shown: "Page") -> str:
    return shown.locator("#progress").inner_text()


def pressed(shown: "Page") -> list[str]:
    return [text.splitlines()[0] for text in shown.locator("button[aria-pressed=true]").all_inner_texts()]


def test_keys_label_go_back_and_undo_and_labels_stay_and_are_exported(
    chromium: "Browser", page: Path, tmp_path: Path
) -> None:
    context = chromium.new_context(accept_downloads=True, viewport={"width": 1280, "height": 800})
    shown = context.new_page()
    recorded = RecordedPage(shown)
    shown.goto(page.as_uri())
    for key in ("1", "2", "Enter", "0"):
        shown.keyboard.press(key)
    assert progress(shown) == "Answer 3 of 3 · 2 labelled"
    shown.keyboard.press("4")
    shown.keyboard.press("u")
    assert progress(shown) == "Answer 3 of 3 · 2 labelled"
    for _ in range(5):
        shown.keyboard.press("ArrowLeft")
    assert pressed(shown) == ["1 excessive citation", "2 inadequate citation"]
    shown.keyboard.press("2")
    shown.reload()
    assert progress(shown) == "Answer 1 of 3 · 2 labelled"
    assert pressed(shown) == ["1 excessive citation"]
    shown.keyboard.press("1")
    assert progress(shown) == "Answer 1 of 3 · 1 labelled", "no kind and no 0 is no label"
    shown.keyboard.press("u")
    with shown.expect_download() as download:
        shown.keyboard.press("e")
    labels = tmp_path / "labels.jsonl"
    download.value.save_as(labels)
    head = json.loads(labels.read_text("utf-8").splitlines()[0])
    counts = head["counts"]
    assert (counts["labelled"], counts["of"], counts[EXCESSIVE], counts["none"]) == (2, 3, 1, 1)
    assert read_error_labels(labels, PAIRS) == {"a": (EXCESSIVE,), "b": ()}
    assert [url for url in recorded.requests if not url.startswith("blob:")] == [page.as_uri()] * 2
    assert (recorded.complaints, "taken" in shown.title()[:6]) == ([], False)
    assert HOSTILE in shown.locator("#answer").inner_text()
    context.close()


def test_buttons_do_what_keys_do_and_a_narrow_screen_holds_all(chromium: "Browser", page: Path) -> None:
    shown = chromium.new_page(viewport={"width": 390, "height": 800})
    shown.goto(page.as_uri())
    shown.get_by_role("button", name="inadequate citation").click()
    shown.get_by_role("button", name="Next").click()
    assert progress(shown) == "Answer 2 of 3 · 1 labelled"
    shown.get_by_role("button", name="Undo").click()
    assert progress(shown) == "Answer 1 of 3 · 0 labelled"
    assert shown.evaluate("document.documentElement.scrollWidth") == 390
    assert INADEQUATE == "inadequate_citation"
    shown.close()
