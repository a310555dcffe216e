"""`quoteweave models` and `plan`: the catalogue of models, and what an index by one of them takes."""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated

import typer
from rich.table import Table

from quoteweave.cli.console import console, plain, print_json
from quoteweave.cli.options.collection import CollectionOption, JsonOption
from quoteweave.cli.options.derive import make_settings
from quoteweave.cli.options.models import BatchSizeOption, DeviceOption, TrustOption
from quoteweave.cli.progress import TerminalProgress
from quoteweave.cli.tables import make_table, show_table
from quoteweave.collection.collection import Collection
from quoteweave.pipeline.runs.build import plan_indexes
from quoteweave.pipeline.settings import ResourceSettings
from quoteweave.retrievers.build_estimate import BuildEstimate, combine_estimates
from quoteweave.retrievers.catalogue import ModelRow, catalogue
from quoteweave.retrievers.rerankers import RerankerRow, reranker_rows
from quoteweave.retrievers.spec import unknown_name_error

JSON = """--json prints two lists, retrievers and rerankers; each entry holds the model's row: name,
checkpoint, revision, loader, prefixes, lengths, dimension, licence, sizes in GB, and source."""

# What stands in brackets behind a licence: of which part it is, or who says so.
_REMARK = re.compile(r" \([^)]*\)")
# Characters of a line that all else takes.
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
    out = console()
    # A checkpoint that is cut is of no use, so where one has no room none is shown.
    wide = out.width >= WITHOUT_CHECKPOINT + max(len(row.checkpoint) for row in rows)
    vectors = [f"{'many' if row.many else 'one'} × {row.dimension}" for row in rows]
    retrieve = _table("retriever", rows, {"reads": [row.reads for row in rows], "vectors": vectors}, wide)
    for table in (retrieve, _table("reranker", rerankers, {}, wide)):
        show_table(out, table)
        out.print()
    out.print("quoteweave models NAME shows all that is known of one.")


def _table(title: str, rows: Sequence[ModelRow | RerankerRow], more: Mapping[str, Sequence[str]], wide: bool) -> Table:
    columns = {
        title: [row.name for row in rows],
        **more,
        "download": [f"{row.download_gb:g} GB" for row in rows],
        "GPU": [f"{row.gpu_gb:g} GB" for row in rows],
        "licence": [_REMARK.sub("", row.licence) for row in rows],
        **({"checkpoint": [row.checkpoint for row in rows]} if wide else {}),
    }
    # Names are there to be typed, so they are never folded: they have no spaces.
    table = make_table(list(columns), words=[title, "licence"], ruled=False)
    for column in table.columns:
        column.justify = "left"
    for row_cells in zip(*columns.values(), strict=True):
        table.add_row(*map(plain, row_cells))
    return table


def _show_one(fields: dict[str, object]) -> None:
    out, widest = console(), max(map(len, fields))
    for field, value in fields.items():
        part = field.removesuffix("_revision")
        has_none = part != field and fields[part if part in fields else f"{part}_checkpoint"] is None
        if value not in (None, "") and not has_none:
            # Spaces and line breaks at the end of a prefix count.
            exact = isinstance(value, str) and value != " ".join(value.split())
            written = plain(repr(value) if exact else str(value))
            out.print(plain(f"{field:<{widest}}  ", "bold").append_text(written), soft_wrap=True)


PLAN_JSON = """--json prints a list with one object a retriever: retriever, items, left_out, to_encode,
dimension, vectors_an_item, rate, seconds, unmeasured (why there is no rate), download_bytes,
disk_bytes, memory_bytes, tokens, price_usd, destination, forms (how an
endpoint is told questions from quotes); null for what is not known."""


def plan(
    retriever: Annotated[str, typer.Argument(help="As quoteweave index build takes it.", metavar="NAME")],
    collection: CollectionOption,
    seconds: Annotated[float, typer.Option(min=0, help="How long to measure the speed.", metavar="N")] = 10.0,
    usd_per_million: Annotated[
        float | None, typer.Option(help="What an endpoint asks for a million tokens.", metavar="USD")
    ] = None,
    device: DeviceOption = None,
    batch_size: BatchSizeOption = None,
    trust_remote_code: TrustOption = False,
    as_json: JsonOption = False,
) -> None:
    """Say what an index will take: time, disk, memory, and an endpoint's price.

    What is missing is counted, and a sample of it encoded for ten seconds.
    Nothing is stored, sent or downloaded: without a model's weights the time is
    not known.
    """
    given = {"device": device, "batch_size": batch_size, "trust_remote_code": trust_remote_code}
    settings = make_settings(ResourceSettings, given)
    with Collection.open(collection) as opened:
        plans = plan_indexes(
            opened,
            retriever,
            settings,
            seconds=seconds,
            usd_per_million=usd_per_million,
            progress=TerminalProgress(quiet=as_json),
        )
    if as_json:
        print_json([found.model_dump(mode="json") for found in plans])
        return
    for found in plans:
        _print_estimate(found)
    if len(plans) > 1:
        _print_estimate(combine_estimates(plans, retriever))


def _print_estimate(plan: BuildEstimate) -> None:
    left_out = f", {plan.left_out} have nothing that it reads" if plan.left_out else ""
    typer.echo(f"{plan.retriever}: {plan.to_encode} of {plan.items} to encode{left_out}")
    if plan.download_bytes is not None:
        typer.echo(f"  download {_size(plan.download_bytes)}")
    if plan.unmeasured is not None:
        typer.echo(f"  time     not known: {plan.unmeasured}")
    elif plan.seconds:
        rate = "" if plan.rate is None else f" at {plan.rate:.1f} a second"
        typer.echo(f"  time     {_duration(plan.seconds)}{rate} on this machine")
    if plan.forms is not None:
        typer.echo(f"  form     {plan.forms}")
    _show_sizes(plan)
    if plan.destination is not None and plan.to_encode:
        typer.echo(
            f"  tokens   about {plan.tokens:,}, which would be sent to {plan.destination}: {_price(plan.price_usd)}"
        )


def _show_sizes(plan: BuildEstimate) -> None:
    if plan.disk_bytes is None or plan.memory_bytes is None:
        typer.echo("  disk     not known before anything is encoded")
        return
    roughly = "roughly " if plan.unmeasured else ""
    each = "" if plan.dimension is None else f": {plan.vectors_an_item:.1f} vectors of {plan.dimension} each"
    typer.echo(f"  disk     {roughly}{_size(plan.disk_bytes)}{each}")
    typer.echo(f"  memory   {roughly}{_size(plan.memory_bytes)} at most while searching, mapped files counted")


def _price(usd: float | None) -> str:
    if usd is None:
        return "price unknown; say it with --usd-per-million"
    return "less than $0.01" if 0 < usd < 0.01 else f"${usd:.2f}"


def _duration(seconds: float) -> str:
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min {rest} s"


def _size(bytes_: int) -> str:
    if bytes_ >= 1e8:
        return f"{bytes_ / 1e9:.2f} GB"
    return f"{bytes_ / 1e6:.1f} MB" if bytes_ >= 1e5 else f"{bytes_ / 1e3:.1f} kB"
