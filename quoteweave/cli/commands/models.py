"""`quoteweave models`: the catalogue of models."""

from collections.abc import Mapping, Sequence
from typing import Annotated

import typer
from rich.table import Table

from quoteweave.cli.console import console, plain, print_json
from quoteweave.cli.options.collection import JsonOption
from quoteweave.cli.tables import make_table, show_table
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.retrievers.catalogue import ModelRow, catalogue
from quoteweave.retrievers.rerankers import RerankerRow, reranker_rows
from quoteweave.retrievers.spec import unknown_name_error

JSON = """--json prints two lists, retrievers and rerankers; each entry holds the model's row: name,
checkpoint, revision, loader, prefixes, lengths, dimension, licence, sizes in GB, and source."""

# A remark in brackets after a licence, which says to what part it applies, or who says so.
_REMARK = lazy_regex(r" \([^)]*\)")
# Characters of a line that all other columns take.
WITHOUT_CHECKPOINT = 76


def models(
    name: Annotated[str | None, typer.Argument(help="Show all that is known of this model.", metavar="NAME")] = None,
    as_json: JsonOption = False,
) -> None:
    """List the models that retrieve and rerank by name, and what each takes.

    Any name takes another checkpoint, as in bge=/path/to/folder. The sparse
    retrievers lexical, bm25 and tfidf need no model.
    """
    rows, rerankers = catalogue(), reranker_rows()
    if name is not None and name not in {**rows, **rerankers}:
        raise unknown_name_error("model", name, [*rows, *rerankers])
    if as_json:
        print_json(
            {
                "retrievers": [row.model_dump(mode="json") for row in rows.values() if name in (None, row.name)],
                "rerankers": [row.model_dump(mode="json") for row in rerankers.values() if name in (None, row.name)],
            }
        )
    elif name is None:
        _show_all(list(rows.values()), list(rerankers.values()))
    else:
        row = rows[name] if name in rows else rerankers[name]
        _show_one(row.model_dump(mode="json"))


def _show_all(rows: list[ModelRow], rerankers: list[RerankerRow]) -> None:
    stdout = console()
    # Checkpoints are shown only if all of them have room, as a cut one is of no use.
    wide = stdout.width >= WITHOUT_CHECKPOINT + max(len(row.checkpoint) for row in rows)
    vectors = [f"{'many' if row.multi_vector else 'one'} × {row.dimension}" for row in rows]
    retrieve = _table("retriever", rows, {"reads": [row.reads for row in rows], "vectors": vectors}, wide)
    for table in (retrieve, _table("reranker", rerankers, {}, wide)):
        show_table(stdout, table)
        stdout.print()
    stdout.print("quoteweave models NAME shows all that is known of one.")


def _table(
    title: str, rows: Sequence[ModelRow | RerankerRow], extra_columns: Mapping[str, Sequence[str]], wide: bool
) -> Table:
    columns = {
        title: [row.name for row in rows],
        **extra_columns,
        "download": [f"{row.download_gb:g} GB" for row in rows],
        "GPU": [f"{row.gpu_gb:g} GB" for row in rows],
        "licence": [_REMARK.sub("", row.licence) for row in rows],
        **({"checkpoint": [row.checkpoint for row in rows]} if wide else {}),
    }
    # Names are not among the columns that may fold, as people copy them.
    table = make_table(list(columns), words=[title, "licence"], ruled=False)
    for column in table.columns:
        column.justify = "left"
    for row_cells in zip(*columns.values(), strict=True):
        table.add_row(*map(plain, row_cells))
    return table


def _show_one(fields: dict[str, object]) -> None:
    stdout, widest = console(), max(map(len, fields))
    for field, value in fields.items():
        part = field.removesuffix("_revision")
        has_none = part != field and fields[part if part in fields else f"{part}_checkpoint"] is None
        if value not in (None, "") and not has_none:
            # Such values are quoted, as spaces and line breaks at the end of a prefix matter.
            exact = isinstance(value, str) and value != " ".join(value.split())
            value_text = plain(repr(value) if exact else str(value))
            stdout.print(plain(f"{field:<{widest}}  ", "bold").append_text(value_text), soft_wrap=True)
