"""`quoteweave plan`: estimates the time, disk, memory and price of an index."""

from typing import Annotated

import typer

from quoteweave.cli.console import print_json
from quoteweave.cli.options.collection import CollectionOption, JsonOption
from quoteweave.cli.options.derive import make_settings
from quoteweave.cli.options.models import BatchSizeOption, DeviceOption, TrustOption
from quoteweave.cli.progress import TerminalProgress
from quoteweave.collection.collection import Collection
from quoteweave.pipeline.runs.build import plan_indexes
from quoteweave.pipeline.settings import ResourceSettings
from quoteweave.retrievers.build_estimate import BuildEstimate, combine_estimates

JSON = """--json prints a list with one object a retriever: retriever, items, left_out, to_encode,
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
        _show(found)
    if len(plans) > 1:
        _show(combine_estimates(plans, retriever))


def _show(plan: BuildEstimate) -> None:
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
