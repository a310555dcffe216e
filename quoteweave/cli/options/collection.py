"""Options that commands share for the collection, its filters, and the output format."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from quoteweave.core.errors import UsageError
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.records import Filter

_PAGES = lazy_regex(r"\s*(\d{1,9})\s*(?:-\s*(\d{1,9})\s*)?")


def valid_text(value: str) -> str:
    """Return the value. Raises BadParameter for lone surrogates, which the shell passes for invalid text."""
    try:
        value.encode()
    except UnicodeEncodeError:
        raise typer.BadParameter("it is not valid text; check your terminal's encoding") from None
    return value


def parse_question(value: str) -> str:
    """Return the question. Raises BadParameter for an empty one, which often lacks quotation marks."""
    if not value.strip():
        raise typer.BadParameter("the question is empty; write it in quotation marks")
    return valid_text(value)


def parse_path(value: str) -> Path:
    """Return the path. Raises BadParameter for an empty one, which comes from an unset variable."""
    if not value:
        raise typer.BadParameter("the path is empty; write . for this folder")
    return Path(value)


QuestionArgument = Annotated[
    str, typer.Argument(help="What you want to know.", parser=parse_question, metavar="QUESTION")
]
_COLLECTION = typer.Option(
    "--collection",
    "-c",
    envvar="QUOTEWEAVE_COLLECTION",
    help="The collection's folder.",
    metavar="DIR",
    parser=parse_path,
)
CollectionOption = Annotated[Path, _COLLECTION]
OptionalCollectionOption = Annotated[Path | None, _COLLECTION]
"""The option for commands that do not need a collection."""
AttachOption = Annotated[
    list[str] | None,
    typer.Option(
        "--meta",
        help="Attach this metadata to each document; can be repeated.",
        metavar="KEY=VALUE",
        parser=valid_text,
    ),
]
WaitOption = Annotated[bool, typer.Option("--wait", help="Wait while another process writes to the collection.")]
HtmlOption = Annotated[Path | None, typer.Option(help="Write the answer and its pages here.", metavar="FILE")]
OpenOption = Annotated[bool, typer.Option("--open", help="Open the page in the browser.")]


@dataclass(frozen=True, slots=True)
class PageOptions:
    """Whether a page is made of what was found: written to a file, opened, or both."""

    html: HtmlOption = None
    open_it: OpenOption = False

    @property
    def wanted(self) -> bool:
        """Whether a page is asked for."""
        return self.open_it or self.html is not None


JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON value on stdout instead of text.")]
DocumentOption = Annotated[
    list[str] | None,
    typer.Option("--doc", help="Only in this document; can be repeated.", metavar="NAME", parser=valid_text),
]
PagesOption = Annotated[
    str | None, typer.Option("--pages", help="Only on these pages of the file, counted from 1.", metavar="N or N-M")
]
MetaOption = Annotated[
    list[str] | None,
    typer.Option(
        "--meta",
        help="Only in documents with this metadata; can be repeated.",
        metavar="KEY=VALUE",
        parser=valid_text,
    ),
]
PasswordOption = Annotated[
    str | None,
    typer.Option(help="For encrypted PDFs.", metavar="TEXT", envvar="QUOTEWEAVE_PASSWORD", show_envvar=True),
]


def make_filter(documents: Sequence[str] | None, pages: str | None, meta: Sequence[str] | None) -> Filter:
    """Make the filter of --doc, --pages and --meta. Raises UsageError for malformed values."""
    first, last = parse_page_range(pages) if pages is not None else (None, None)
    return Filter(
        documents=tuple(documents) if documents else None, first_page=first, last_page=last, metadata=pairs(meta)
    )


def parse_page_range(text: str) -> tuple[int, int]:
    """'3' or '3-7', counted from 1, as first and last page from 0. Raises UsageError."""
    match = _PAGES.fullmatch(text)
    if match is None:
        raise UsageError(f"--pages {text!r}: give one page or a range, such as 3 or 3-7")
    start, end = int(match[1]), int(match[2] or match[1])
    if not 1 <= start <= end:
        raise UsageError(f"--pages {text!r}: pages count from 1, and the first is not after the last")
    return start - 1, end - 1


def pairs(meta: Sequence[str] | None) -> dict[str, str]:
    """['key=value', …] as a dictionary. Raises UsageError for one without a key or '='."""
    metadata: dict[str, str] = {}
    for text in meta or ():
        key, equals, value = text.partition("=")
        if not key.strip() or not equals:
            raise UsageError(f"--meta {text!r}: write it as KEY=VALUE")
        metadata[key.strip()] = value
    return metadata
