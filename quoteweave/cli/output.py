"""How the command line writes: JSON for programs, plain readable text for people, progress on stderr."""

import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID
    from rich.text import Text

    from quoteweave.core.records import Quote
    from quoteweave.documents.ingest import Progress

# The last two ranges turn the direction of text around, and so can make it read otherwise than it is.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def print_json(value: object, *, indent: int | None = 2) -> None:
    """One JSON value on stdout, its control characters escaped: some terminals heed those beyond ASCII too.

    So is all beyond ASCII where stdout has another encoding than UTF-8. Without an indent it is one line.
    """
    utf_8 = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().replace("-", "") == "utf8"
    text = json.dumps(value, ensure_ascii=not utf_8, indent=indent)
    typer.echo(_CONTROLS.sub(lambda control: f"\\u{ord(control[0]):04x}", text))


def printable(text: str) -> str:
    """What documents and models say, without the control characters by which they could steer a terminal."""
    return _CONTROLS.sub("", text)


def shown_name(name: str) -> str:
    """A document's name on one line; in quotation marks and escaped where some of its characters cannot be seen."""
    return name if name.isprintable() else repr(name)


class WordWrap:
    """Breaks lines between words, of a text that comes in parts: a word is held back until it ends."""

    def __init__(self, width: int) -> None:
        self._width, self._column = width, 0
        self._blank = self._word = ""

    def feed(self, part: str) -> str:
        """What can be shown now."""
        shown = []
        for char in part:
            if not char.isspace():
                self._word += char
                continue
            shown.append(self._ended())
            self._blank = "" if char == "\n" else self._blank + char
            if char == "\n":
                shown.append(char)
                self._column = 0
        return "".join(shown)

    def end(self) -> str:
        """The last word."""
        return self._ended()

    def _ended(self) -> str:
        from rich.cells import cell_len

        if not self._word:
            return ""
        before, wide = self._blank, cell_len(self._word)
        if self._column and self._column + len(before) + wide > self._width:
            before, self._column = "\n", -1
        shown, self._column = before + self._word, self._column + len(before) + wide
        self._blank = self._word = ""
        return shown


def plain(text: str, style: str = "") -> "Text":
    """The same for a console: never read as markup."""
    from rich.text import Text

    return Text(printable(text), style=style)


def console() -> "Console":
    """For text on stdout. What documents and models say must go in as `plain` text."""
    from rich.console import Console

    return Console(highlight=False, soft_wrap=False)


def place(quote: "Quote") -> str:
    """Where a quote stands, in people's words."""
    return f"{shown_name(quote.document)}, {quote.place}"


def snippet(quote: "Quote", length: int = 160) -> str:
    """The quote's first words on one line."""
    text = " ".join((quote.words() or f"({quote.layout} without words)").split())
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


@contextmanager
def writing_output(path: Path) -> Iterator[None]:
    """Raises StorageError, which names `path`, where the block cannot write it."""
    from quoteweave.core.errors import StorageError

    try:
        yield
    except OSError as error:
        raise StorageError(f"{path} cannot be written ({error.strerror or error})") from error


class Bar:
    """Counts what is done."""

    def __init__(self, progress: "RichProgress", task: "TaskID") -> None:
        self._progress, self._task = progress, task

    def advance(self, description: str | None = None) -> None:
        """One more; the description stands before the bar from now on."""
        self._progress.update(self._task, advance=1, description=description)


@contextmanager
def counting(description: str, total: int) -> Iterator[Bar]:
    """A bar on stderr, on a terminal only."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    stderr = Console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=stderr, transient=True, disable=not stderr.is_terminal) as progress:
        yield Bar(progress, progress.add_task(description, total=total))


@contextmanager
def adding_progress(*, quiet: bool) -> "Iterator[Progress]":
    """A bar of pages on stderr, on a terminal only."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as RichProgress

    from quoteweave.cli.remaining import TimeLeft
    from quoteweave.documents.ingest import Progress

    stderr = Console(stderr=True)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        "pages",
        TimeLeft(),
    )
    with RichProgress(*columns, console=stderr, transient=True, disable=quiet or not stderr.is_terminal) as bar:
        task = bar.add_task("looking at files", total=None)
        expected = [0]

        def on_total(pages: int) -> None:
            expected[0] += pages
            bar.update(task, total=expected[0], description="reading")

        def on_pages(name: str, pages: int) -> None:
            bar.update(task, advance=pages, description=f"reading {printable(name)[-40:]}")

        yield Progress(on_total, on_pages, lambda: bar.update(task, description="indexing"))
