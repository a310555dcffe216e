"""`quoteweave index` and `plan`: builds, lists and removes vector indexes, and estimates what one takes."""

from collections.abc import Mapping
from typing import Annotated

import typer

from quoteweave.cli.console import print_json, print_message, print_notes, printable, shown_name
from quoteweave.cli.indexes import index_json, index_line
from quoteweave.cli.options.collection import CollectionOption, JsonOption, WaitOption
from quoteweave.cli.options.settings import RESOURCES, OptionValues, make_settings, takes_options
from quoteweave.cli.progress import TerminalProgress
from quoteweave.collection.collection import Collection
from quoteweave.core.messages import MAX_NAMED, join_names, pluralize
from quoteweave.core.records import page_number
from quoteweave.core.urls import without_credentials
from quoteweave.index.encoder_index import IndexReport
from quoteweave.pipeline.composition.manage_indexes import (
    EXACT,
    Recall,
    build_index,
    index_specs,
    list_indexes,
    measure_recall,
    plan_indexes,
    remove_indexes,
)
from quoteweave.pipeline.settings import ResourceSettings
from quoteweave.retrievers.build_estimate import BuildEstimate, combine_estimates

JSON = """--json prints a list with one object an index: retriever, items (quotes or pages in it),
encoded (now), skipped (left out), left_out (list of {quote, document, page, page_label,
reason}: all that are skipped), unreadable (list of {quote, reason}: of these, pictures
that could not be had and texts that were refused now); null for one without vectors. With --recall also recall: recall
(share of exact search's first ten that it finds, null where there are too few items to
tell), items (measured on), and said, the same in words."""
LIST_JSON = """--json prints a list with one object an index: name, fingerprint, up_to_date, spec, kind, items, skipped,
left_out (how many for each reason); the last five are null where the index is damaged."""
REMOVE_JSON = "--json prints one object: removed, the number of indexes."
TOO_FEW = "there are too few items to measure its recall: most or all are compared exactly"

DtypeOption = Annotated[
    str | None,
    typer.Option(help="Compute in float32, float16 or bfloat16; the same as NAME@DTYPE.", metavar="DTYPE"),
]


@takes_options(*RESOURCES)
def build(
    collection: CollectionOption,
    option_values: OptionValues,
    retriever: Annotated[
        str | None,
        typer.Argument(
            help="A name that quoteweave models lists; the default is all existing indexes.", metavar="NAME"
        ),
    ] = None,
    recall: Annotated[
        bool, typer.Option("--recall", help="Measure how much of an exact index's result this one finds.")
    ] = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace an index that was made with other settings.")
    ] = False,
    dtype: DtypeOption = None,
    wait: WaitOption = False,
    as_json: JsonOption = False,
) -> None:
    """Encode a collection's quotes with a model, for searching with it.

    Only what is missing is encoded; if interrupted, run the same command again
    to continue. The kind of index stands after an @: flat (the
    default), fp16, hnsw, ivfpq and milvus for models with one vector per quote;
    exact (the default), two-stage, pool2, pool3 and binary for models with many.
    Other suffixes: @page encodes whole pages, @ocr_text and @vlm_text read
    those of image quotes. NAME=/path takes another checkpoint; A+B builds both.
    """
    settings, progress = make_settings(ResourceSettings, option_values), TerminalProgress(quiet=as_json)
    with Collection.open(collection) as opened:
        specs = index_specs(opened, retriever, dtype, progress)
        if not specs:
            print_message("there is no index to bring up to date; name a retriever to build one")
        reports = {
            spec: build_index(opened, spec, settings, wait=wait, replace=replace, progress=progress) for spec in specs
        }
        recalls = {spec: measure_recall(opened, spec, settings) for spec in specs} if recall else {}
    if as_json:
        print_json([{**_json(spec, report), "recall": _recall_json(spec, recalls)} for spec, report in reports.items()])
    else:
        for spec, report in reports.items():
            _show(spec, report, _in_words(recalls[spec]) if spec in recalls else None)


def list_all(collection: CollectionOption, as_json: JsonOption = False) -> None:
    """List the indexes of models that a collection has."""
    with Collection.open(collection) as opened:
        indexes = [index_json(opened, state, manifest) for state, manifest in list_indexes(opened)]
    if as_json:
        print_json(indexes)
        return
    for index in indexes:
        typer.echo(printable(index_line(index)))
    if not indexes:
        typer.echo("there are no indexes of models; build one with: quoteweave index build NAME -c DIR", err=True)


def remove(
    collection: CollectionOption,
    retriever: Annotated[
        str | None, typer.Argument(help="As given to index build; the default is all existing indexes.", metavar="NAME")
    ] = None,
    dtype: DtypeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remove an index, and its vectors."""
    with Collection.open(collection) as opened:
        progress = TerminalProgress(quiet=as_json)
        count = remove_indexes(opened, index_specs(opened, retriever, dtype, progress), progress)
    if as_json:
        print_json({"removed": count})
    else:
        typer.echo(f"removed {pluralize(count, 'index', 'indexes')}")


def _json(spec: str, report: IndexReport | None) -> dict[str, object]:
    fields = report.model_dump(mode="json") if report else dict.fromkeys(IndexReport.model_fields)
    return {"retriever": without_credentials(spec), **fields}


def _recall_json(spec: str, recalls: Mapping[str, Recall]) -> dict[str, object] | None:
    if spec not in recalls:
        return None
    measured = recalls[spec]
    numbers = {name: getattr(measured, name, None) for name in ("recall", "items")}
    return {**numbers, "recall": 1.0 if measured == EXACT else numbers["recall"], "said": _in_words(measured)}


def _in_words(measured: Recall) -> str:
    return TOO_FEW if measured is None else str(measured)


def _show(spec: str, report: IndexReport | None, recall: str | None) -> None:
    spec = without_credentials(spec)
    if report is None:
        typer.echo(f"{spec}: up to date")
        return
    for item in report.left_out[:MAX_NAMED]:
        quote = "" if item.quote in item.reason else f", quote {item.quote}"
        page = page_number(item.page_label, item.page)
        print_message(f"left out: {shown_name(item.document)}, page {page}{quote}: {item.reason}")
    if len(report.left_out) > MAX_NAMED:
        print_message(f"left out: {len(report.left_out) - MAX_NAMED:,} more; --json lists all")
    skipped = f", {report.skipped} left out" if report.skipped else ""
    typer.echo(f"{spec}: {report.items} in the index, {report.encoded} encoded now{skipped}")
    if recall is not None:
        typer.echo(f"  {recall}")


PLAN_JSON = """--json prints a list with one object a retriever: retriever, items, left_out, left_out_of
(document to how many), lacking (what these lack), to_encode, dimension, vectors_an_item,
rate, seconds, unmeasured (why there is no rate), download_bytes,
disk_bytes, memory_bytes, tokens, price_usd, destination, forms (how an
endpoint is told questions from quotes); null for what is not known."""


@takes_options("device", "batch_size", "trust_remote_code")
def plan(
    retriever: Annotated[str, typer.Argument(help="As quoteweave index build takes it.", metavar="NAME")],
    collection: CollectionOption,
    option_values: OptionValues,
    seconds: Annotated[float, typer.Option(min=0, help="How long to measure the speed.", metavar="N")] = 10.0,
    usd_per_million: Annotated[
        float | None, typer.Option(help="An endpoint's price in US dollars per million tokens.", metavar="USD")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Estimate an index's time, disk, memory and price.

    The missing vectors are counted, and a sample of them is made for ten seconds.
    Nothing is stored, sent or downloaded; without a model's weights the time is
    not known.
    """
    settings = make_settings(ResourceSettings, option_values)
    with Collection.open(collection) as opened:
        estimates = plan_indexes(
            opened,
            retriever,
            settings,
            seconds=seconds,
            usd_per_million=usd_per_million,
            progress=TerminalProgress(quiet=as_json),
        )
        unread = opened.unread_files_note()
    if as_json:
        print_json([estimate.model_dump(mode="json") for estimate in estimates])
        return
    for estimate in estimates:
        _print_estimate(estimate)
    if len(estimates) > 1:
        _print_estimate(combine_estimates(estimates, retriever))
    if unread is not None:
        print_notes([unread])


def _print_estimate(estimate: BuildEstimate) -> None:
    of_documents = join_names([f"{count} of {shown_name(name)}" for name, count in estimate.left_out_of.items()])
    left_out = f", {estimate.left_out} left out with {estimate.lacking}: {of_documents}" if estimate.left_out else ""
    typer.echo(f"{estimate.retriever}: {estimate.to_encode} of {estimate.items} to encode{left_out}")
    if estimate.download_bytes is not None:
        typer.echo(f"  download {_size(estimate.download_bytes)}")
    if estimate.unmeasured is not None:
        typer.echo(f"  time     not known: {estimate.unmeasured}")
    elif estimate.seconds:
        rate = "" if estimate.rate is None else f" at {estimate.rate:.1f} a second"
        typer.echo(f"  time     {_duration(estimate.seconds)}{rate} on this machine")
    if estimate.forms is not None:
        typer.echo(f"  form     {estimate.forms}")
    _show_sizes(estimate)
    if estimate.destination is not None and estimate.to_encode:
        price = _price(estimate.price_usd)
        typer.echo(f"  tokens   about {estimate.tokens:,}, which would be sent to {estimate.destination}: {price}")


def _show_sizes(estimate: BuildEstimate) -> None:
    if estimate.disk_bytes is None or estimate.memory_bytes is None:
        typer.echo("  disk     not known before anything is encoded")
        return
    roughly = "roughly " if estimate.unmeasured else ""
    typer.echo(f"  disk     {roughly}{_size(estimate.disk_bytes)}{_vectors(estimate)}")
    typer.echo(f"  memory   {roughly}{_size(estimate.memory_bytes)} at most while searching, mapped files counted")


def _vectors(estimate: BuildEstimate) -> str:
    if estimate.dimension is None or estimate.vectors_an_item is None:
        return ""
    vectors = "one vector" if estimate.vectors_an_item == 1 else f"{estimate.vectors_an_item:.1f} vectors"
    return f": {vectors} of {estimate.dimension} numbers each"


def _price(usd: float | None) -> str:
    if usd is None:
        return "price unknown; say it with --usd-per-million"
    return "less than $0.01" if 0 < usd < 0.01 else f"${usd:.2f}"


def _duration(seconds: float) -> str:
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, remaining_seconds = divmod(round(seconds), 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min {remaining_seconds} s"


def _size(bytes_: int) -> str:
    if bytes_ >= 1e8:
        return f"{bytes_ / 1e9:.2f} GB"
    return f"{bytes_ / 1e6:.1f} MB" if bytes_ >= 1e5 else f"{bytes_ / 1e3:.1f} kB"
