"""`quoteweave models`: the catalogue of models."""

from typing import TYPE_CHECKING, Annotated

import typer

from quoteweave.cli.options import JsonOption
from quoteweave.cli.output import console, plain, print_json

if TYPE_CHECKING:
    from quoteweave.retrievers.catalogue import ModelRow
    from quoteweave.retrievers.rerankers import RerankerRow

JSON = """--json prints two lists, retrievers and rerankers; each entry holds the model's row: name,
checkpoint, revision, loader, prefixes, lengths, dimension, licence, sizes in GB, and source."""


def models(
    name: Annotated[str | None, typer.Argument(help="Show all that is known of this model.", metavar="NAME")] = None,
    as_json: JsonOption = False,
) -> None:
    """List the models that retrieve and rerank by name, and what each takes.

    Any name takes another checkpoint, as in bge=/path/to/folder. The sparse
    retrievers lexical, bm25 and tfidf need no model.
    """
    from quoteweave.core.errors import UsageError
    from quoteweave.retrievers.catalogue import catalogue
    from quoteweave.retrievers.rerankers import reranker_rows

    rows, rerankers = catalogue(), reranker_rows()
    if as_json:
        print_json(
            {
                "retrievers": [row.model_dump(mode="json") for row in rows.values() if name in (None, row.name)],
                "rerankers": [row.model_dump(mode="json") for row in rerankers.values() if name in (None, row.name)],
            }
        )
    elif name is None:
        _show_all(list(rows.values()), list(rerankers.values()))
    elif name in {**rows, **rerankers}:
        row = rows[name] if name in rows else rerankers[name]
        _show_one(row.model_dump(mode="json"))
    else:
        raise UsageError(f"no model is named {name!r}; quoteweave models lists them")


def _show_all(rows: "list[ModelRow]", rerankers: "list[RerankerRow]") -> None:
    from rich.table import Column, Table

    # Names are there to be typed, so they are never cut, however narrow the terminal.
    table = Table(
        Column("retriever", min_width=max(len(row.name) for row in rows)),
        "reads",
        "vectors",
        "dimension",
        "download",
        "GPU",
        "licence",
        "checkpoint",
        box=None,
        pad_edge=False,
    )
    for row in rows:
        table.add_row(
            row.name,
            row.reads,
            "many" if row.many else "one",
            str(row.dimension),
            f"{row.download_gb:g} GB",
            f"{row.gpu_gb:g} GB",
            plain(row.licence),
            plain(row.checkpoint),
        )
    longest = max(len(row.name) for row in rerankers)
    rest = Table(
        Column("reranker", min_width=longest), "download", "GPU", "licence", "checkpoint", box=None, pad_edge=False
    )
    for other in rerankers:
        sizes = (f"{other.download_gb:g} GB", f"{other.gpu_gb:g} GB")
        rest.add_row(other.name, *sizes, plain(other.licence), plain(other.checkpoint))
    console().print(table, "", rest)


def _show_one(fields: dict[str, object]) -> None:
    for field, value in fields.items():
        if value not in (None, ""):
            console().print(
                plain(f"{field:<18}", "bold").append_text(plain(repr(value) if value == "" else str(value)))
            )
