"""Output of the command line: JSON for programs, plain text for people, notes on stderr."""

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from quoteweave.core.files.whole_files import output_file
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.messages import pluralize, shorten_to_line
from quoteweave.core.urls import without_credentials

if TYPE_CHECKING:  # for annotations alone, so that `--help` need not import these
    from rich.console import Console
    from rich.text import Text

    from quoteweave.core.records import Quote
    from quoteweave.pipeline.search import Trace

MAX_CLAUSE = 80  # characters of a clause that are printed, at most
MAX_FAILURES_SHOWN = 5  # failures whose reasons are printed, at most
MAX_NOTES_SHOWN = 5  # notes on several questions that are printed, at most
# The last two ranges change the direction of text, and so can make it look different from what it is.
_CONTROLS = lazy_regex("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def print_json(value: object, *, indent: int | None = 2) -> None:
    """Print a JSON value on stdout with control characters escaped, as some terminals act even on those beyond ASCII.

    If stdout's encoding is not UTF-8, all characters beyond ASCII are escaped. Without an indent, it is one line.
    """
    utf_8 = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().replace("-", "") == "utf8"
    text = json.dumps(value, ensure_ascii=not utf_8, indent=indent)
    typer.echo(_CONTROLS.sub(lambda control: f"\\u{ord(control[0]):04x}", text))


def printable(text: str) -> str:
    """Remove the control characters by which text of documents and models could control a terminal."""
    return _CONTROLS.sub("", text)


def print_message(line: str) -> None:
    """Print a line for people on stderr."""
    typer.echo(printable(without_credentials(line)), err=True)


def print_notes(notes: Iterable[str]) -> None:
    """Print each note as a line on stderr."""
    for note in notes:
        print_message(f"note: {note}")


def print_frequent_notes(notes: Mapping[str, int]) -> None:
    """Print on stderr the first of these notes, each with the number of questions that have it."""
    for note, count in list(notes.items())[:MAX_NOTES_SHOWN]:
        print_message(f"note, for {pluralize(count, 'question')}: {note}")
    if len(notes) > MAX_NOTES_SHOWN:
        print_message(f"and {pluralize(len(notes) - MAX_NOTES_SHOWN, 'other note')}")


def print_failures(errors: Mapping[str, str], noun: str = "question", *, again: bool = True) -> None:
    """Print on stderr why the first of these failed, by name, and how many more did.

    `noun` is the word for them; with `again`, the message says that the same command asks these again.
    """
    for name, reason in list(errors.items())[:MAX_FAILURES_SHOWN]:
        print_message(f"{noun} '{name}' failed: {reason}")
    if len(errors) > MAX_FAILURES_SHOWN:
        remainder = pluralize(len(errors) - MAX_FAILURES_SHOWN, "other")
        print_message(f"and {remainder}" + ("; the same command asks again" if again else ""))


def on_terminal() -> bool:
    """Return whether stdin is a terminal, so that a person can be asked."""
    return sys.stdin.isatty()


def shown_name(name: str) -> str:
    """A document's name on one line; quoted and escaped if it has invisible characters."""
    return name if name.isprintable() else repr(name)


class WordWrap:
    """Wraps a text that comes in parts at spaces; a word is held back until it ends."""

    def __init__(self, width: int) -> None:
        self._width, self._column = width, 0
        self._blank = self._word = ""

    def feed(self, part: str) -> str:
        """Add a part of the text; return what can be shown now."""
        finished = []
        for char in part:
            if not char.isspace():
                self._word += char
                continue
            finished.append(self.end())
            self._blank = "" if char == "\n" else self._blank + char
            if char == "\n":
                finished.append(char)
                self._column = 0
        return "".join(finished)

    def end(self) -> str:
        """End the word that was held back, and return it with what stands before it."""
        from rich.cells import cell_len

        if not self._word:
            return ""
        leading, word_width = self._blank, cell_len(self._word)
        if self._column and self._column + len(leading) + word_width > self._width:
            leading, self._column = "\n", -1
        word, self._column = leading + self._word, self._column + len(leading) + word_width
        self._blank = self._word = ""
        return word


def plain(text: str, style: str = "") -> "Text":
    """Return the text for a rich console, never interpreted as markup."""
    from rich.text import Text

    return Text(printable(text), style=style)


def console() -> "Console":
    """Return a console for stdout. Text of documents and models must be printed as `plain` text."""
    from rich.console import Console

    return Console(highlight=False, soft_wrap=False)


def place(quote: "Quote") -> str:
    """Return the document and page of a quote as people read them."""
    return f"{shown_name(quote.document)}, {quote.place}"


def snippet(words: str, layout: str) -> str:
    """The first words of a quote of this layout on one line."""
    return shorten_to_line(words or f"({layout} without words)", 160)


def write_text(path: Path, text: str) -> None:
    """Write the file, and the folders above it that are missing. Raises StorageError if that is not possible."""
    with output_file(path) as file:
        file.write(text.encode())


def read_by_ocr(pages: int, pictures: int) -> str:
    """Return, for example, `read by OCR: 3 pages, 1 picture on other pages`; "" if nothing was read by OCR."""
    counts = [(pages, "page", ""), (pictures, "picture", " on other pages")]
    parts = [f"{count} {noun}{'s' if count > 1 else ''}{where}" for count, noun, where in counts if count]
    return f"read by OCR: {', '.join(parts)}" if parts else ""


def print_trace(trace: "Trace") -> None:
    """Print on stderr the clauses of an expanded question, how it was interpreted, and the notes of the search."""
    if trace.expander is not None:
        for clause in trace.clauses:
            first_line, _, more_lines = clause.partition("\n")  # the clause of rm3 has a line for each word
            is_cut = bool(more_lines) or len(first_line) > MAX_CLAUSE
            print_message(f"searched for: {first_line[:MAX_CLAUSE]}{' …' if is_cut else ''}")
    for line in trace.interpretation:
        print_message(f"question read: {line}")
    print_notes(trace.notes)
