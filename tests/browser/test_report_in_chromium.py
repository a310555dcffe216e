"""A report in a real browser: it loads nothing, complains of nothing, and fits narrow screens, light and dark."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest
from builders import write_json_lines
from page_visits import RecordedPage

from quoteweave.evaluation.report.runs import make_report
from quoteweave.evaluation.report.writing import write_report
from quoteweave.evaluation.scoring.saved_runs import ScoringRequest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser
pytest.importorskip("matplotlib", reason="matplotlib is not installed")

LONG = "A_very_long_name_of_a_run_which_no_line_of_a_small_screen_can_hold"
HOSTILE = "<script>document.title = 'taken'</script><img src=x onerror=\"document.title = 'taken'\">"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    gold = folder / "gold.jsonl"
    gold.write_text("".join(json.dumps({"q_id": n, "gold_quotes": ["text1", "image2"]}) + "\n" for n in range(4)))
    runs = [folder / f"{LONG}{number}.jsonl" for number in range(4)]
    for run in runs:
        rows = [{"q_id": n, "response": f"[1] {HOSTILE}", "in_tok": 9, "out_tok": 9} for n in range(4)]
        write_json_lines(run, rows)
    sources = [ScoringRequest(run=run, dataset="mmdocrag-20", references=gold) for run in runs]
    return write_report(make_report(sources), folder / "out")[0]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_it_is_whole_quiet_and_as_wide_as_the_screen(
    chromium: "Browser", page: Path, width: int, scheme: Literal["light", "dark"]
) -> None:
    shown = chromium.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    recorded = RecordedPage(shown)
    shown.goto(page.as_uri())
    shown.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    assert [url for url in recorded.requests if not url.startswith("data:")] == [page.as_uri()]
    assert (recorded.complaints, shown.title()) == ([], "4 runs on mmdocrag-20")
    assert shown.evaluate("document.documentElement.scrollWidth") == width
    assert shown.locator("figure svg text").first.is_visible()
    colours = shown.evaluate(
        "[getComputedStyle(document.querySelector('figure svg text')).fill, getComputedStyle(document.body).color]"
    )
    assert colours[0] == colours[1]
    shown.close()
