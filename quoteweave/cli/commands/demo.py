"""`quoteweave demo`: asks about the sample documents, and writes a page with the answers."""

from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated

import typer

from quoteweave.cli.answers import answer_json, print_answer
from quoteweave.cli.console import print_failures, print_json, print_notes, write_text
from quoteweave.cli.options.collection import JsonOption, OpenOption
from quoteweave.cli.progress import TerminalProgress
from quoteweave.collection.collection import Collection
from quoteweave.pipeline.answer_page.render import render_answered
from quoteweave.pipeline.composition.add_documents import add_documents
from quoteweave.pipeline.composition.make_rag import make_generator
from quoteweave.pipeline.gate import Gate
from quoteweave.pipeline.rag import Rag
from quoteweave.pipeline.settings import ChatSettings
from quoteweave.retrievers.make_retriever import DEFAULT_RETRIEVER, make_retriever

JSON = "--json prints a list of answers, each as ask --json prints it."
QUESTIONS = (
    "How many vessel calls did the port receive in 2023, and how did the quarters compare?",
    "At which station did the rod meet a layer of wood, and at what depth?",
    "Which quarter of 2023 had the most vessel calls?",
    "What colour are the bars of 2023 in the chart of vessel calls?",
    "Who won the football world cup in 2022?",
)
"""Questions that are answered by a sentence and a chart, by a scanned page, by a chart's values, by a chart to look at,
and by none of the documents."""


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the collection and the page.", metavar="DIR")] = Path("demo"),
    open_it: OpenOption = False,
    as_json: JsonOption = False,
) -> None:
    """Build a collection from the sample documents, ask five questions, and write a page with the answers."""
    collection, page = out / "collection", out / "answers.html"
    with as_file(files("quoteweave") / "samples" / "pdf") as samples:
        report = add_documents(collection, [samples], progress=TerminalProgress(quiet=as_json))
    typer.echo(f"{len(report.added)} sample documents added, {len(report.unchanged)} were there", err=True)
    print_failures({refused.name: refused.reason for refused in report.failed}, "document", again=False)
    with Collection.open(collection) as opened:
        generator = make_generator(ChatSettings(), opened)
        rag = Rag(make_retriever(DEFAULT_RETRIEVER, opened), generator, gate=Gate(pages=opened))
        answers = [rag.answer_with_context(question) for question in QUESTIONS]
        content, notes = render_answered(answers, opened, "Four documents, five questions")
    print_notes(notes)
    write_text(page, content)
    if as_json:
        print_json([answer_json(answered) for answered in answers])
    else:
        for answered in answers:
            typer.secho(f"\n{answered.answer.question}", bold=True)
            print_answer(answered.answer)
        typer.echo(f"\nThe answers beside their pages: {page.resolve().as_uri()}")
    if open_it:
        typer.launch(str(page))
