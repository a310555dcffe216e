"""`quoteweave show`: shows a quote and its box on the page."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from quoteweave.cli.console import console, place, plain, print_json
from quoteweave.cli.options.collection import CollectionOption, JsonOption, PasswordOption, valid_text
from quoteweave.collection.collection import Collection
from quoteweave.core.answers import Span
from quoteweave.core.files.whole_files import output_file
from quoteweave.core.records import Quote
from quoteweave.generation.sentences import text_of
from quoteweave.pipeline.highlighting import evidence_for
from quoteweave.pipeline.pictures_for_people import crop, marked_page

JSON = """--json prints one object: quote (the whole record), crop and page (paths of the pictures
written, null where the document has no pictures of its pages), and spans: with --claim the words that
support it (start, end, boxes in points, estimated)."""


def show(
    quote_id: Annotated[
        str, typer.Argument(help="The quote's id, as search and ask give it.", metavar="QUOTE_ID", parser=valid_text)
    ],
    collection: CollectionOption,
    out: Annotated[Path | None, typer.Option(help="Folder for the pictures; the default is a temporary one.")] = None,
    password: PasswordOption = None,
    claim: Annotated[
        str | None,
        typer.Option(help="Mark the words of the quote that support this sentence.", metavar="TEXT", parser=valid_text),
    ] = None,
    open_it: Annotated[bool, typer.Option("--open", help="Open the page's picture.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Show a quote: its words, its crop, and its page with the box drawn."""
    with Collection.open(collection) as opened:
        quote = opened.quote(quote_id)
        spans = evidence_for(claim, quote, opened) if claim else ()
        boxes = [box for span in spans for box in span.boxes]
        pictures = {
            "crop": crop(opened, quote, password=password),
            "page": marked_page(opened, quote, boxes, password=password),
        }
    paths = _write(pictures, quote, out)
    if as_json:
        path_texts = {name: str(path) if path else None for name, path in paths.items()}
        span_records = [span.model_dump(mode="json") for span in spans]
        print_json({"quote": quote.model_dump(mode="json"), **path_texts, "spans": span_records})
    else:
        _print(quote, paths)
        if claim:
            _print_spans(quote, spans)
    if open_it and paths["page"] is not None:
        typer.launch(str(paths["page"]))


def _write(pictures: dict[str, bytes | None], quote: Quote, out: Path | None) -> dict[str, Path | None]:
    if not any(pictures.values()):
        return dict.fromkeys(pictures)
    folder = out or Path(tempfile.mkdtemp(prefix="quoteweave-"))
    paths: dict[str, Path | None] = {}
    for name, picture in pictures.items():
        paths[name] = None
        if picture is not None:
            suffix = ".jpg" if picture.startswith(b"\xff\xd8") else ".png"
            path = folder / f"{quote.id.replace(':', '-')}-{name}{suffix}"
            with output_file(path) as file:
                file.write(picture)
            paths[name] = path
    return paths


def _print(quote: Quote, paths: dict[str, Path | None]) -> None:
    stdout = console()
    stdout.print(plain(place(quote), "bold"), plain(f"  {quote.layout}  {quote.id}", "dim"))
    if quote.section:
        stdout.print(plain(f"under: {quote.section}", "dim"))
    stdout.print(plain(quote.shown_text))
    for name, path in paths.items():
        if path is not None:
            stdout.print(plain(f"{name}: {path}"), soft_wrap=True)


def _print_spans(quote: Quote, spans: Sequence[Span]) -> None:
    stdout = console()
    if not spans:
        stdout.print(plain("supports it: not sure which words; the quote is to be read as a whole"))
    for span in spans:
        words = " ".join(text_of(quote)[span.start : span.end].split())
        stdout.print(plain(f"supports it: “{words}”{'' if span.boxes else ' (not found on the page)'}"))
