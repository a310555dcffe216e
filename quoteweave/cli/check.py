"""`quoteweave check`: whether a collection's folder is as it should be."""

from pathlib import Path
from typing import Annotated

import typer

from quoteweave.cli.options import CollectionOption, JsonOption, valid_text
from quoteweave.cli.output import print_json, printable

JSON = """--json prints one object: name, traces and mentions (sentences, names of documents), files
and size (how many files and bytes were searched), remains (sentences)."""


def check(
    collection: CollectionOption,
    removed: Annotated[
        str,
        typer.Option(help="Prove that nothing is left of this document.", metavar="NAME", parser=valid_text),
    ],
    file: Annotated[
        Path | None,
        typer.Option(
            help="The file that was removed, where you still have it: its words are searched for.", metavar="PATH"
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Search every byte of a collection's folder for a document that was removed.

    A removal that a kill, or another command that was reading, has left
    unfinished is finished first. Traces give exit code 1.
    """
    from quoteweave.index.removal_check import check_removed

    remains = _finish(collection)
    texts, content = ([], None) if file is None else _read(file)
    found = check_removed(collection, removed, texts, content)
    if as_json:
        print_json({**found.model_dump(mode="json"), "remains": remains})
    else:
        for line in (*remains, *found.traces):
            typer.echo(printable(f"left: {line}"))
        for name in found.mentions:
            typer.echo(printable(f"note: {name} names it in words of its own"))
        state = "something is left" if found.traces else "nothing is left"
        typer.echo(printable(f"{state} of {removed!r} in {found.files} files, {found.size / 1e6:.1f} MB"))
    if found.traces:
        raise typer.Exit(1)


def _finish(collection: Path) -> tuple[str, ...]:
    """Finishes removals, unless another process writes; what remains of them."""
    from quoteweave.core.errors import CollectionLocked, StorageError
    from quoteweave.index.collection import Collection
    from quoteweave.index.upkeep import finish_removals

    with Collection.open(collection) as opened:
        if not opened.may_have_traces():
            return ()
        try:
            with opened.writer() as writer:
                return finish_removals(opened, writer)
        except (CollectionLocked, StorageError) as error:
            return (f"a removal could not be finished: {error}",)


def _read(file: Path) -> tuple[list[str], str]:
    """The text of a file's quotes, and its hash. Raises a DocumentError where it cannot be read."""
    import hashlib
    from tempfile import TemporaryDirectory

    from quoteweave.core.errors import UsageError
    from quoteweave.documents.parse import DocumentParser, ParserSettings
    from quoteweave.index.images import ImageStore

    if not file.is_file():
        raise UsageError(f"{file} is no file")
    with TemporaryDirectory() as folder:
        parsed = DocumentParser(ImageStore(Path(folder)), ParserSettings(ocr=False)).parse(file)
    return [quote.text for quote in parsed.quotes], hashlib.sha256(file.read_bytes()).hexdigest()
