"""Shows answers: prints them streamed or whole with the source of each mark, as JSON, or writes them as a page."""

import tempfile
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from types import MappingProxyType
from typing import Literal, Protocol

import typer
from rich.console import Console

from quoteweave.cli.console import (
    WordWrap,
    console,
    plain,
    print_json,
    print_notes,
    print_trace,
    printable,
    shown_name,
    write_text,
)
from quoteweave.cli.hits import PAGES_COUNTED, indented_behind, reasons_below
from quoteweave.cli.options.collection import PageOptions
from quoteweave.collection.collection import Collection
from quoteweave.core.answers import Answer, AnswerEvent, TextEvent, ThoughtEvent
from quoteweave.core.concurrency.sync_bridge import run_sync
from quoteweave.core.messages import pluralize
from quoteweave.core.protocols import Reason
from quoteweave.core.records import Filter
from quoteweave.core.text.marks import parse_marks
from quoteweave.generation.extractive.whole_document.structure_answer import is_counted
from quoteweave.generation.gate.policies import citation_failure
from quoteweave.pipeline.answer_page.render import render_answers, view_answered
from quoteweave.pipeline.answer_page.sections import Wording
from quoteweave.pipeline.rag import Answered, SourcesEvent, StreamEvent


def write_answer_page(
    answers: Mapping[Collection, Sequence[Answered]],
    title: str,
    page: PageOptions,
    *,
    wording: Wording | None = None,
) -> None:
    """Write the page of these answers to its file, or to a temporary one if it is only to be opened; then open it.

    Does nothing if no page is asked for. `wording` is for pages of something else than answers. Raises StorageError if
    the page cannot be written.
    """
    if not page.wanted:
        return
    target = page.html or Path(tempfile.mkdtemp(prefix="quoteweave-")) / "answer.html"
    views = []
    for collection, answered in answers.items():
        answer_views, notes = view_answered(answered, collection)
        views += answer_views
        print_notes(notes)
    write_text(target, render_answers(views, title, wording=wording))
    typer.echo(f"\n{target}", err=True)
    if page.open_it:
        typer.launch(str(target))


def answer_json(answered: Answered) -> dict[str, object]:
    """The documented JSON object: the answer's record, its context, and how the context was found."""
    context, trace = (part.model_dump(mode="json") for part in (answered.context, answered.trace))
    return {**answered.answer.model_dump(mode="json"), "context": context, "trace": trace}


AnswerFormat = Literal["written", "whole", "json", "events"]
"""How an answer is printed."""


class RagOrServer(Protocol):
    """What answers questions: a `Rag`, or a server."""

    def stream(self, question: str) -> AsyncGenerator[StreamEvent, None]:
        """Yield the events of the answer."""
        ...

    def answer_with_context(self, question: str) -> Answered:
        """Return the whole answer with its context."""
        ...


def ask_and_print(
    form: AnswerFormat,
    rag: RagOrServer,
    question: str,
    *,
    model: str | None,
    where: Filter,
    pictures: Callable[[str], None] | None = None,
) -> Answered:
    """Ask the question, which `where` narrows, and print the answer in this format.

    `pictures` is for `print_sources`, in text formats.

    Raises what `Rag.answer_async` raises.
    """
    if form == "written":
        with _StreamPrinter(model) as show:
            answered = run_sync(_consume_events(rag.stream(question), show))
        print_sources(answered.answer, pictures, answered.trace.reasons)
    elif form == "events":
        answered = run_sync(_consume_events(rag.stream(question), _print_event))
    else:
        answered = rag.answer_with_context(question)
        print_trace(answered.trace)
        if form == "json":
            print_json(answer_json(answered))
        else:
            print_answer(answered.answer, pictures, answered.trace.reasons)
    if answered.answer.status == "abstained" and where.first_page is not None:
        print_notes([PAGES_COUNTED])
    return answered


class _StreamPrinter:
    """Prints an answer's text on stdout as it comes; on a terminal, stderr shows what the program is waiting for."""

    def __init__(self, model: str | None) -> None:
        self._model, self._thought_characters, self._has_begun = model, 0, False
        stdout = Console()
        self._wrap = WordWrap(stdout.width) if stdout.is_terminal else None
        self._status = Console(stderr=True).status("searching")

    def __enter__(self) -> "_StreamPrinter":
        self._status.start()  # shown only on a terminal
        return self

    def __exit__(self, *_: object) -> None:
        self._status.stop()
        if self._has_begun:
            typer.echo("" if self._wrap is None else self._wrap.end())

    def __call__(self, event: StreamEvent) -> None:
        """Show the next event."""
        if isinstance(event, TextEvent):
            self._status.stop()
            self._has_begun = True
            text = printable(without_pictures(event.text))
            typer.echo(text if self._wrap is None else self._wrap.feed(text), nl=False)
        elif isinstance(event, ThoughtEvent):
            self._thought_characters += len(event.text)
            self._status.update(plain(f"{self._model} is thinking: {self._thought_characters:,} characters so far"))
        elif isinstance(event, SourcesEvent):
            self._status.stop()
            print_trace(event.trace)
            self._status.update(plain(f"waiting for {self._model}"))
            self._status.start()


def _print_event(event: StreamEvent) -> None:
    """Print an event as a JSON object on a line of its own."""
    print_json(event.model_dump(mode="json"), indent=None)


async def _consume_events(events: AsyncGenerator[StreamEvent, None], show: Callable[[StreamEvent], None]) -> Answered:
    """Show each event as it comes, and return the complete answer. Raises what the events raise."""
    sources = answer = None
    async with aclosing(events) as coming:
        async for event in coming:
            show(event)
            if isinstance(event, SourcesEvent):
                sources = event
            elif isinstance(event, AnswerEvent):
                answer = event.answer
    if sources is None or answer is None:
        raise AssertionError("the events ended without an answer")
    return Answered(answer=answer, context=sources.context, trace=sources.trace)


def print_answer(
    answer: Answer,
    pictures: Callable[[str], None] | None = None,
    reasons: Mapping[str, Sequence[Reason]] = MappingProxyType({}),
) -> None:
    """Print the answer and the source of each mark as text on stdout; other parameters are those of `print_sources`."""
    console().print(plain(without_pictures(answer.text)))
    print_sources(answer, pictures, reasons)


def without_pictures(text: str) -> str:
    """Return the text with `[image1: summary]` in place of each picture."""
    for mark in reversed(parse_marks(text)):
        if mark.kind == "image":
            summary = f": {mark.summary}" if mark.summary else ""
            text = f"{text[: mark.start]}[image{mark.numbers[0]}{summary}]{text[mark.end :]}"
    return text


def print_sources(
    answer: Answer,
    pictures: Callable[[str], None] | None = None,
    reasons: Mapping[str, Sequence[Reason]] = MappingProxyType({}),
) -> None:
    """Print the source of each mark on stdout, and notes on the answer on stderr.

    `pictures` shows an image quote, given its id, below its line. `reasons` say why quotes were found, by their ids.
    """
    stdout = console()
    if answer.citations:
        stdout.print()
    by_mark = {citation.name: citation for citation in answer.citations}  # a quote may be cited several times
    for mark, citation in by_mark.items():
        source = plain(f"{shown_name(citation.document)}, {citation.place}").append(
            f"  {citation.quote_id}", style="dim"
        )
        source.append_text(reasons_below(reasons.get(citation.quote_id, ())))
        stdout.print(indented_behind(f"{mark:<9} ", source, stdout.width))
        if citation.kind == "image" and pictures is not None:
            pictures(citation.quote_id)
    failures = [(citation.mark, citation_failure(citation)) for citation in answer.citations]
    print_notes([f"{mark} does not support what cites it: {why}" for mark, why in failures if why is not None])
    unchecked = sum(
        citation.verdict == "unchecked" and citation.checker_verdict is None and not is_counted(citation)
        for citation in answer.citations
    )
    if unchecked:
        share = f"{unchecked} of {pluralize(len(answer.citations), 'citation')}"
        print_notes([f"{share} could not be checked by rule; with the setting check, a model checks them"])
    print_notes(answer.warnings)
