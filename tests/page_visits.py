"""Chromium, and visits to the server's page in it that record what the page asks for and complains of."""

import json
import shutil
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Dialog, Locator, Page, Request

# Each window would load two pages for the suggestions of an address bar that nobody sees: 40 % of what a visit costs.
# Of several lists of features Chromium takes the last, so those that Playwright turns off stand here too.
UNUSED_FEATURES = (
    *("WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "WebUIOmniboxFullPopup"),
    *("AimEnabled", "AvoidCorsURLLoaderRestartOnRedirect", "AvoidUnnecessaryBeforeUnloadCheckSync"),
    *("DestroyProfileOnBrowserClose", "HttpsFirstBalancedModeAutoEnable", "HttpsUpgrades", "LensOverlay"),
    *("MediaRouter", "NetworkTimeServiceQuerying", "OptimizationHints", "PaintHolding", "PreconnectToSearch"),
    "ThirdPartyStoragePartitioning",
)
FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    f"--disable-features={','.join(UNUSED_FEATURES)}",
)
# The shell is Chromium without its windows: pages are the same, and a visit costs two thirds.
PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
WIDE, TABLET, PHONE = (1440, 900), (820, 1180), (390, 844)
PATIENCE_MS = 60_000


@pytest.fixture(scope="module")
def chromium() -> Iterator["Browser"]:
    """A browser; each visit has a context of its own in it.

    Of one file's tests, as Playwright's loop lets neither a second one nor tests of async code run beside it.
    """
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        pytest.skip("no Chromium on this machine")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=FLAGS)
        yield browser
        browser.close()


class RecordedPage:
    """A page, with what it asks for and complains of."""

    def __init__(self, page: "Page") -> None:
        self.page = page
        self.requests: list[str] = []
        self.complaints: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))


class PageVisit(RecordedPage):
    """The page of a server in a fresh browser context."""

    def __init__(self, page: "Page", url: str) -> None:
        super().__init__(page)
        self.url = url
        page.set_default_timeout(PATIENCE_MS)
        page.on("dialog", self._refuse)

    def _refuse(self, dialog: "Dialog") -> None:
        self.complaints.append(dialog.message)
        dialog.dismiss()

    def open(self, path: str = "/") -> "PageVisit":
        """Open the page, and wait until it knows the documents."""
        self.page.goto(self.url + path)
        self.page.locator(".volume, .library .empty").first.wait_for(state="attached")
        return self

    def ask(self, question: str) -> "Locator":
        """Ask, wait for the whole answer, and return its turn."""
        turns = self.page.locator(".turn")
        before = turns.count()
        self.page.fill("#question", question)
        self.page.press("#question", "Enter")
        turn = turns.nth(before)
        turn.locator(".after, .notice.error").first.wait_for()
        return turn

    def cite(self, chip: "Locator") -> "Locator":
        """Press a mark, and return the regions that are drawn."""
        chip.click()
        drawn = self.page.locator(".region")
        drawn.first.wait_for()
        return drawn


def sent_json(request: "Request") -> dict[str, Any]:
    """The JSON of a request that the page sent."""
    body: dict[str, Any] = json.loads(request.post_data or "null")
    return body


Visit = Callable[..., PageVisit]


@pytest.fixture
def visit(chromium: "Browser") -> Iterator[Visit]:
    """Begins a visit to a server's address; all end with the test."""
    contexts = []

    def begin(url: str, size: tuple[int, int] = WIDE, *, scale: float = 1, theme: str = "light") -> PageVisit:
        context = chromium.new_context(
            viewport={"width": size[0], "height": size[1]},
            device_scale_factor=scale,
            color_scheme="dark" if theme == "dark" else "light",
            reduced_motion="reduce",
            permissions=["clipboard-read", "clipboard-write"],
        )
        contexts.append(context)
        return PageVisit(context.new_page(), url)

    yield begin
    for context in contexts:
        context.close()
