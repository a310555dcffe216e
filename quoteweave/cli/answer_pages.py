"""Writes the page of answers, where --html or --open asks for it."""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Annotated

import typer

from quoteweave.cli.console import print_notes, writing_output
from quoteweave.collection.collection import Collection
from quoteweave.pipeline.answer_page.render import render_answers, view_answered
from quoteweave.pipeline.rag import Answered

HtmlOption = Annotated[Path | None, typer.Option(help="Write the answer and its pages here.", metavar="FILE")]


def write_answer_page(
    answers: Sequence[Answered],
    collection: Collection,
    title: str,
    *,
    html: Path | None,
    open_it: bool,
    others: Mapping[Collection, Sequence[Answered]] = MappingProxyType({}),
) -> Path | None:
    """Write the page of these answers to `html`, or to a temporary file where it is only to be opened.

    `others` are answers over other collections, which follow them.
    Returns its path, None where neither was asked for. Raises StorageError where it cannot be written.
    """
    if html is None and not open_it:
        return None
    target = html or Path(tempfile.mkdtemp(prefix="quoteweave-")) / "answer.html"
    views = []
    for over, given in ((collection, answers), *others.items()):
        shown, notes = view_answered(given, over)
        views += shown
        print_notes(notes)
    page = render_answers(views, title)
    with writing_output(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(page, "utf-8")
    typer.echo(f"\n{target}", err=True)
    return target
