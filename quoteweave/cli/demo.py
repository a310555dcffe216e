"""`quoteweave demo`: the main job on the sample documents, from PDF files to a page of cited answers."""

from pathlib import Path
from typing import Annotated

import typer

from quoteweave.cli.options import JsonOption
from quoteweave.cli.output import print_json

JSON = "--json prints a list of answers, each as ask --json prints it."
QUESTIONS = (
    "How many vessel calls did the port receive in 2023, and how did the quarters compare?",
    "At which station did the rod meet a layer of wood, and at what depth?",
    "Which quarter of 2023 had the most vessel calls?",
    "What colour are the bars of 2023 in the chart of vessel calls?",
    "Who won the football world cup in 2022?",
)
"""A sentence and a chart; a scanned page; a chart's values; a chart to look at; and what the documents do not tell."""


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the collection and the page.", metavar="DIR")] = Path("demo"),
    open_it: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Build a collection from the sample documents, ask five questions, and write a page with the answers."""
    from importlib.resources import as_file, files

    from quoteweave.cli.add import add_paths
    from quoteweave.cli.answer_output import answer_json, print_answer
    from quoteweave.cli.ask import write_page
    from quoteweave.collection.collection import Collection
    from quoteweave.pipeline.gating import Gate
    from quoteweave.pipeline.rag import Rag
    from quoteweave.pipeline.settings import ModelSettings, make_generator
    from quoteweave.retrievers.registry import DEFAULT, make_retriever

    collection, page = out / "collection", out / "answers.html"
    with as_file(files("quoteweave") / "samples" / "pdf") as samples:
        report = add_paths(collection, [samples], quiet=as_json)
    typer.echo(f"{len(report.added)} sample documents added, {len(report.unchanged)} were there", err=True)
    with Collection.open(collection) as opened:
        generator = make_generator(ModelSettings(), opened)
        rag = Rag(make_retriever(DEFAULT, opened), generator, gate=Gate(pages=opened))
        answers = [rag.answer_with_context(question) for question in QUESTIONS]
        write_page(answers, opened, page, title="Four documents, five questions")
    if as_json:
        print_json([answer_json(answered) for answered in answers])
    else:
        for answered in answers:
            typer.secho(f"\n{answered.answer.question}", bold=True)
            print_answer(answered.answer)
        typer.echo(f"\nThe answers beside their pages: {page.resolve().as_uri()}")
    if open_it:
        typer.launch(str(page))
